/* What bounds a call and what is left to gain: floors from the task's work and the machine's ceilings, and a table of
 * rules, each with an id, the evidence in a sentence and an estimated gain. docs/bottlenecks.md is made from the table. */
#ifndef AE_PROFILE_RULES_H
#define AE_PROFILE_RULES_H

#include "profile/ceilings.h"
#include "profile/facts.h"

/* What is known of one profiled call. */
struct ae_call_view {
    const struct ae_facts *facts;
    const struct ae_ceilings *ceilings; /* known false: rules that need them do not fire */
    struct ae_work work;                /* of the instance */
    int64_t baseline_ns;                /* of the CPU reference on the same instance; 0: not known */
    int cores;                          /* that the submission may use */
    int64_t profiled_ns; /* this call by the parent's clock, and the slowest without the tracer; 0: not known */
    int64_t slowest_ns;
};

/* Phase floors: the least that this machine needs for each phase of the task's call; 0: not known. (docs/methodology.md
 * tells the three kinds of floors apart.) */
struct ae_floors {
    double in_ns, out_ns;      /* what must cross the link, at its rate */
    double kernel_ns;          /* memory or arithmetic, whichever is longer */
    const char *kernel_bound;  /* "memory", "arithmetic"; NULL: not known */
    double alloc_ns, launch_ns;
    double call_ns; /* their sum: nothing overlapped */
};

void ae_floors_of(const struct ae_call_view *view, struct ae_floors *ret);
/* The call floor, which a report compares whole calls with: the longest of both ways over the link and the arithmetic,
 * all of which may overlap, then the dependent steps at the cheapest exchange that a device has, then 20 us for
 * everything else. The program that reaches it need not exist. 0: not known. */
int64_t ae_floor_ns(const struct ae_ceilings *ceilings, const struct ae_work *work);
/* The phase floor; 0 where there is none. */
double ae_floor_of_phase(const struct ae_floors *floors, enum ae_phase phase);

#define AE_BOTTLENECK_TEXT 320

struct ae_bottleneck {
    const struct ae_bottleneck_rule *rule;
    double share;   /* of the call that it concerns, 0..1 */
    double gain_ns; /* estimated; 0: a limit is reached, nothing is to be had by this means */
    char text[AE_BOTTLENECK_TEXT]; /* one sentence with the evidence */
};

struct ae_bottleneck_rule {
    const char *id;
    const char *title;
    const char *when;  /* the condition, for people */
    const char *gain;  /* how it is estimated */
    const char *mend;
    const char *provoked_by; /* a program in tests/profile/programs or device */
    /* Fills share, gain_ns and text. */
    bool (*match)(const struct ae_call_view *view, struct ae_bottleneck *ret);
    bool headline; /* said first, whatever it gains */
};

extern const struct ae_bottleneck_rule ae_bottleneck_rules[];
extern const int ae_bottleneck_rule_count;

#define AE_BOTTLENECKS_MAX 48

/* Those that fire: headlines, then the largest gain first, reached limits last. Returns their number. */
int ae_bottlenecks_of(const struct ae_call_view *view, struct ae_bottleneck ret[AE_BOTTLENECKS_MAX]);

/* Whether the data carry the sentence: what it is about would still be worth one if all that the tracer (or a machine
 * that is not quiet) makes the call longer by fell there, and is longer than the tracer's own records are exact. */
bool ae_bottleneck_supported(const struct ae_call_view *view, const struct ae_bottleneck *bottleneck);

/* Blocks of the kernel that fit on a multiprocessor, and the threads in them as a share of what it holds; 0: unknown. */
int ae_blocks_a_multiprocessor(const struct ae_ceilings *ceilings, const struct ae_kernel_facts *kernel,
                               double *ret_occupancy);

#endif
