/* What a task asks for, read off its reference and its work model: by these numbers tasks are found alike. */
#ifndef AE_STRATEGY_FEATURES_H
#define AE_STRATEGY_FEATURES_H

#include "strategy/strategy.h"

enum ae_feature {
    /* By the syntax tree of the reference. Accesses and loops count 4 times as much with each loop around them, callers'
     * loops included, since that is where the time goes. */
    AE_FEATURE_DEPTH,       /* loops inside one another at most, through calls */
    AE_FEATURE_STRIDE_ONE,  /* share, of the accesses that move with their innermost loop, that move by one element */
    AE_FEATURE_INDIRECTION, /* ... whose place is itself read from memory */
    AE_FEATURE_REDUCTION,   /* share of the loops that add up, or keep the least or largest */
    AE_FEATURE_RECURRENCE,  /* share of the loops in which a turn needs what the one before made */
    AE_FEATURE_UNBOUNDED,   /* share of the loops that run until something holds (while, do) */
    AE_FEATURE_BRANCHES,    /* share of the loops with a choice (if, ?:) */
    AE_FEATURE_FUNCTIONS,   /* share of the loops that call exp, log, sqrt or their like */
    /* By the work model at one size. */
    AE_FEATURE_INTENSITY, /* log2 of operations for each byte that crosses the bus */
    AE_FEATURE_BYTES,     /* log2 of these bytes */
    AE_FEATURE_STEPS,     /* log2 of the steps that depend on one another */
    AE_FEATURE_COUNT
};

const char *ae_feature_name(enum ae_feature feature); /* "loop depth" */

/* Those of the syntax tree; the others, and what the source has none of (no access in a loop), become NaN. A source that
 * is no C is read as far as it makes sense. AE_E_INPUT: too long; AE_E_NOMEM. */
int ae_features_read(struct ae_finder *finder, const char *source, size_t size, double ret[AE_FEATURE_COUNT],
                     struct ae_error *err);

/* Those of the work model: bytes both ways, operations, dependent steps. What is not above 0 stays NaN. */
void ae_features_work(double bytes, double operations, double steps, double ret[AE_FEATURE_COUNT]);

#endif
