/* One search: the code, what the queries matched, and what the rules say. For src/strategy. */
#ifndef AE_STRATEGY_HUNT_H
#define AE_STRATEGY_HUNT_H

#include "strategy/code.h"
#include "strategy/strategy.h"

/* --- queries --- */


/* What a match captured, as nodes of the code; -1: nothing. The first capture of a pattern is the place that is
 * reported. */
struct ae_match {
    int pattern;
    int at;   /* capture @at, else the first */
    int what; /* capture @what; -1 */
    int a, b; /* captures @a and @b; -1 */
};

struct ae_query; /* all of strategies/ as one */
int ae_query_new(const struct ae_grammar *grammar, struct ae_query **ret, struct ae_error *err);
void ae_query_free(struct ae_query *query);

/* The value that a pattern sets (`#set! role copy`); NULL: it does not. */
const char *ae_query_setting(const struct ae_query *query, int pattern, const char *key);

/* The text of strategies/ID.scm, all of them, each after a line "; strategy ID". */
const char *ae_query_text(size_t *ret_size);

/* --- the search --- */

struct ae_tally {
    double confidence;
    char sentence[256];
    struct ae_lines lines[AE_FINDING_LINES];
    int line_count;
    char doubt[256]; /* why it is unknown; "" */
    int doubt_line;
};

struct ae_hunt {
    struct ae_program *code;
    const struct ae_query *query;
    const struct ae_strategy_input *input;
    struct ae_match *matches; /* by strategy */
    int match_count;
    int first[AE_STRATEGY_COUNT], end[AE_STRATEGY_COUNT]; /* of each strategy's matches */
    struct ae_tally tally[AE_STRATEGY_COUNT];
    int64_t deadline; /* of the thread's processor time, in ns */
    bool expired;
};

/* Is the time up that a source may cost? Rules look at it once a candidate: some compare each with all others, which a
 * hostile source has many of. What is not found by then is unknown. */
bool ae_expired(struct ae_hunt *hunt);

/* A source as code, by the finder's grammar. AE_E_INPUT: too long; AE_E_NOMEM. Release with ae_code_release(). */
int ae_finder_code(struct ae_finder *finder, const char *source, size_t size, struct ae_program *ret, struct ae_error *err);

/* Fills matches; AE_E_NOMEM. */
int ae_query_run(const struct ae_query *query, struct ae_hunt *hunt, struct ae_error *err);

/* The strategy is here. The sentence of the surest place is kept, and the lines of all. */
void ae_say(struct ae_hunt *hunt, enum ae_strategy_id id, int node, double confidence, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* It cannot be told. */
void ae_doubt(struct ae_hunt *hunt, enum ae_strategy_id id, int node, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Has the match's pattern this role? */
bool ae_role(const struct ae_hunt *hunt, const struct ae_match *match, const char *role);

#define AE_EACH_MATCH(hunt, id, match)                                                                                 \
    for (const struct ae_match *match = (hunt)->matches + (hunt)->first[id],                                           \
                               *match##_end = (hunt)->matches + (hunt)->end[id];                                       \
         match < match##_end && !ae_expired(hunt); match++)

/* The array that an access is to, pointers followed; -1. */
int ae_array_of(const struct ae_program *code, const struct ae_access *access);

/* Does device code read what the variable of the host or of a kernel points to, under any name that launches, swaps and
 * assignments give it? writer: a node that does not count. */
bool ae_read_on_device(const struct ae_program *code, int variable, int writer);

/* The loop that a node is; -1. */
int ae_loop_at(const struct ae_program *code, int node);

/* Rules, one function a strategy that queries alone cannot decide. */
void ae_rules_memory(struct ae_hunt *hunt);
void ae_rules_compute(struct ae_hunt *hunt);
void ae_rules_parallel(struct ae_hunt *hunt);
void ae_rules_host(struct ae_hunt *hunt);

/* --- other evidence --- */

struct ae_findings_list {
    struct ae_finding *items;
    size_t count;
};
int ae_findings_add(struct ae_findings_list *list, const struct ae_finding *finding, struct ae_error *err);

/* What dumps of cuobjdump say. */
int ae_binary_find(const char *sass, const char *resources, struct ae_findings_list *list, struct ae_error *err);
/* What a profile says; facts, explanation, where: as in struct ae_strategy_input. */
int ae_run_find(const struct ae_facts *facts, const struct ae_explanation *explanation, const char *where,
                struct ae_findings_list *list, struct ae_error *err);

#endif
