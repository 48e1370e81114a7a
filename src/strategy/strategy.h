/* Strategies: the catalogue of decisions that make a program fast, and the search for them in a program. A finding ties
 * a strategy to a program and names the evidence that it rests on. */
#ifndef AE_STRATEGY_STRATEGY_H
#define AE_STRATEGY_STRATEGY_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* --- the catalogue: strategies/strategies.def lists the ids --- */

enum ae_strategy_id {
#define AE_STRATEGY(id) AE_STRATEGY_##id,
#include "../../strategies/strategies.def"
#undef AE_STRATEGY
    AE_STRATEGY_COUNT
};

enum ae_strategy_class { AE_CLASS_MEMORY, AE_CLASS_COMPUTE, AE_CLASS_PARALLEL, AE_CLASS_BALANCE, AE_CLASS_HOST };

enum ae_strategy_kind {
    AE_STRATEGY_STRUCTURAL, /* which work is done where, in what order, where data live */
    AE_STRATEGY_LOCAL,      /* details inside one kernel or one call */
};

/* What a finding rests on; as a mask: by what a strategy can be decided. */
enum ae_evidence {
    AE_EVIDENCE_SOURCE = 1,  /* the syntax tree of the program */
    AE_EVIDENCE_BINARY = 2,  /* machine code and resource usage of the object */
    AE_EVIDENCE_RUN = 4,     /* the profile of a call */
    AE_EVIDENCE_READING = 8, /* a person or a model, reference and program side by side; never made by this module */
};

struct ae_strategy {
    const char *id, *name; /* "M03", "shared-memory tiling" */
    enum ae_strategy_class class;
    enum ae_strategy_kind kind;
    unsigned evidence;      /* mask of ae_evidence by which it can be decided */
    const char *definition; /* one sentence each */
    const char *pays;       /* when it pays */
    const char *is_not;     /* look-alikes that are not it */
};

extern const struct ae_strategy ae_strategies[AE_STRATEGY_COUNT]; /* indexed by ae_strategy_id */

const char *ae_class_name(enum ae_strategy_class class); /* "memory access and reuse" */
const char *ae_kind_name(enum ae_strategy_kind kind);    /* "structural" */
const char *ae_evidence_name(enum ae_evidence evidence); /* "source" */

/* By id, any case ("m03"); -1 with err naming the nearest where there is none. */
int ae_strategy_by_id(const char *id, struct ae_error *err);

/* --- findings --- */

enum ae_presence { AE_ABSENT, AE_PRESENT, AE_UNKNOWN };
const char *ae_presence_name(enum ae_presence presence); /* "absent", "present", "unknown" */

struct ae_lines {
    int first, last; /* from 1, both included */
};

#define AE_FINDING_LINES 16

/* At most one a strategy and sort of evidence. */
struct ae_finding {
    enum ae_strategy_id strategy;
    enum ae_evidence evidence;
    enum ae_presence
        presence;       /* ABSENT only where the evidence speaks against it, as spills do against register tiles */
    double confidence;  /* 0..1, that presence is right; 0 for UNKNOWN */
    char sentence[256]; /* plain; valid UTF-8 without control characters, though made of hostile names */
    struct ae_lines lines[AE_FINDING_LINES]; /* of the source, ascending; empty where evidence has no lines */
    int line_count;
};

struct ae_findings {
    struct ae_finding *items; /* by strategy, then by evidence */
    size_t count;
    /* All evidence taken together: UNKNOWN where what was given cannot decide. */
    enum ae_presence presence[AE_STRATEGY_COUNT];
    double confidence[AE_STRATEGY_COUNT];
    bool contradicted[AE_STRATEGY_COUNT]; /* one sort of evidence claims it, another speaks against it: UNKNOWN */
    double unread; /* share of the source's bytes that the grammar could not make sense of */
};

struct ae_facts;       /* profile/facts.h */
struct ae_explanation; /* judge/phase.h */

/* What is known of a program. All but the source may be NULL. Every text is taken as hostile. */
struct ae_strategy_input {
    const char *source;
    size_t source_size;
    const char *reference; /* the task's reference.c: lets "narrower than the reference" be decided */
    size_t reference_size;
    const char *sass;      /* what `cuobjdump -sass` prints of the object */
    const char *resources; /* what `cuobjdump -res-usage` prints */
    const struct ae_facts *facts;             /* of a traced call */
    const struct ae_explanation *explanation; /* what was kept of one; beside facts only its sentences count */
    const char *run_where;                    /* which call that was ("medium, NVIDIA H200"), for sentences */
};

/* Longest source that is looked at. */
#define AE_STRATEGY_SOURCE_MAX ((size_t)1 << 20)

/* The finder holds grammar and queries; make one and use it for many sources, by one thread at a time. AE_E_ENV in a
 * build without the grammar; AE_E_INTERNAL where a query does not fit the grammar. Free with ae_finder_free(). */
struct ae_finder;
int ae_finder_new(struct ae_finder **ret, struct ae_error *err);
void ae_finder_free(struct ae_finder *finder);

/* Looks for all strategies. A source that does not compile is read as far as it makes sense. AE_E_INPUT: too long;
 * AE_E_NOMEM. Release ret with ae_findings_release(). */
int ae_strategy_find(struct ae_finder *finder, const struct ae_strategy_input *input, struct ae_findings *ret,
                     struct ae_error *err);
void ae_findings_release(struct ae_findings *findings);

#endif
