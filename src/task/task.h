/* What a task is: its descriptor, its instances and the hooks that a task's folder supplies.
 * Everything else (buffers, the call, comparison, the printed prototype, JSON) derives from the argument table. */
#ifndef AE_TASK_TASK_H
#define AE_TASK_TASK_H

#include "base/error.h"
#include "base/rng.h"
#include "base/types.h"
#include "call/call.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AE_PARAMS_MAX   12
#define AE_FAMILIES_MAX 12
#define AE_AUX_MAX      4

enum ae_size {
    AE_SMALL,
    AE_MEDIUM,
    AE_LARGE,
    AE_SIZE_COUNT
};

/* Masks for struct ae_family::sizes. */
#define AE_AT(size) (1u << (size))
#define AE_ALL_SIZES 7u

enum ae_domain {
    AE_HPC,
    AE_SIMULATION,
    AE_GRAPH,
    AE_SPATIAL,
    AE_FINANCE,
    AE_OR,
    AE_DOMAIN_COUNT
};

enum ae_role {
    AE_SCALAR, /* by value */
    AE_IN,     /* const pointer */
    AE_OUT,    /* pointer; poisoned before the call, judged after it */
    AE_INOUT,  /* pointer; holds the start value, judged after the call */
};

/* How one output is compared. The tolerance of element i is
 *     AE_EXACT     none: equal, element by element
 *     AE_CLOSE     atol + rtol * |expected_i|
 *     AE_SCALED    rtol * |expected_i| + what the task's tolerance() hook says for i
 *     AE_PROPERTY  the task's check() hook judges it
 * and passes only if both values are finite and the difference is <= the tolerance. */
enum ae_rule_kind {
    AE_RULE_NONE, /* inputs */
    AE_EXACT,
    AE_CLOSE,
    AE_SCALED,
    AE_PROPERTY,
};

struct ae_rule {
    enum ae_rule_kind kind;
    double atol, rtol;
    const char *reason; /* for the tolerance card: why these numbers, what an honest program uses of them */
    const char *atol_reason; /* needed where atol exceeds 1e-3 of the median magnitude */
};

struct ae_arg {
    const char *name;
    enum ae_type type;
    enum ae_role role;
    const char *shape;     /* in words of other arguments: "n+1", "rows*cols row-major"; NULL for scalars */
    const char *unit;      /* "currency", "1/year", "vertex id"; NULL where there is none */
    const char *meaning;   /* one line */
    const char *published; /* its name in published containers, where that differs from name */
    struct ae_rule rule;   /* AE_OUT and AE_INOUT only */
};

struct ae_size_def {
    int64_t param[AE_PARAMS_MAX]; /* nominal values, in the order of ae_task::params */
    bool not_as_published;        /* differs from what the published generator makes */
    const char *note;             /* why, or NULL */
};

struct ae_family {
    const char *name;    /* "grid", "irregular" */
    const char *meaning; /* one line: what it is and what it catches */
    unsigned sizes;      /* mask of AE_AT(): the sizes whose evaluation includes it */
};

struct ae_array {
    void *data;
    size_t count;
    enum ae_type type;
};

struct ae_task;

/* Concrete input arrays and scalars. Output-only arguments have a count and no data. */
struct ae_instance {
    const struct ae_task *task;
    enum ae_size size;
    int family; /* index into task->families; 0 is the timed one */
    uint64_t seed;
    int64_t param[AE_PARAMS_MAX]; /* nominal values of the size; generators vary what they make of them */
    union ae_scalar scalar[AE_ARGS_MAX];
    struct ae_array array[AE_ARGS_MAX];
};

/* The right answer: by argument index for outputs, and what the task's checker needs besides. */
struct ae_expected {
    struct ae_array out[AE_ARGS_MAX];
    struct ae_array aux[AE_AUX_MAX];
};

/* What comparing one output found. Values may be shown only for practice instances. */
struct ae_output_judgement {
    int arg;
    size_t count;
    size_t wrong;     /* elements outside the tolerance, non-finite ones included */
    size_t nan, inf;  /* where the expected value is finite */
    double max_abs;   /* largest |got - expected| over finite pairs */
    double max_rel;   /* largest |got - expected| / |expected| where expected != 0 */
    double max_share; /* largest |got - expected| / tolerance; inf where the tolerance is 0 and they differ */
    size_t first;     /* index of the first wrong element */
    double got, expected;
};

#define AE_JUDGEMENT_TEXT 320

struct ae_judgement {
    bool right;
    int output_count;
    struct ae_output_judgement output[AE_ARGS_MAX];
    char text[AE_JUDGEMENT_TEXT]; /* kind and counts of what is wrong; never an expected value */
};

/* What the device has to do at least; bytes to and from it default to the sizes of the argument arrays. */
struct ae_work {
    double bytes_in, bytes_out; /* that must cross the bus */
    double operations;          /* arithmetic operations of a good algorithm */
    double steps;               /* length of the chain of dependent steps (barriers, rows, sweeps) */
};

/* A container in the published format, already validated; see task/published.h. */
struct ae_published;

struct ae_task {
    const char *id;
    const char *title;
    enum ae_domain domain;
    const char *lineage;
    int version; /* raised whenever inputs, semantics or tolerances change: it keys every cached answer */

    const struct ae_arg *args;
    int arg_count;
    const char *params[AE_PARAMS_MAX]; /* names of the size parameters, NULL-terminated where fewer */
    struct ae_size_def sizes[AE_SIZE_COUNT];
    struct ae_family families[AE_FAMILIES_MAX]; /* [0] is timed, the others are judged only; ended by name NULL */

    /* The tolerance of published results, for imports only. */
    double published_atol, published_rtol;
    const char *published_note; /* where published semantics or data differ from ours; NULL */
    bool published_by_check;    /* published text is no output: import_expected() fills aux, and check() judges by it */
    bool published_differs;     /* our reference cannot reproduce published answers, for the reason in the note */

    /* Fills inst->scalar and inst->array from inst->param, ->family, ->size and rng (seeded with inst->seed,
     * stream 0; further streams by ae_rng_seed). Pure: same arguments, same bytes. Returns AE_OK or a code. */
    int (*generate)(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err);

    /* Sets the element count of every AE_OUT argument from scalars and inputs (ae_set_output); called after
     * generate() and after an import that validate() has accepted. */
    void (*outputs)(struct ae_instance *inst);

    /* Are the inputs legal? Checks every length, index and range that reference, checks and hooks rely on: imported
     * arrays are hostile. Generated instances pass it by construction (a test sees to that). */
    int (*validate)(const struct ae_instance *inst, struct ae_error *err);

    /* Optional, AE_SCALED: adds the element tolerances of output `arg`, elements first..first+count-1, to tol. */
    void (*tolerance)(const struct ae_instance *inst, const struct ae_expected *expected, int arg, size_t first,
                      size_t count, double *tol);

    /* Optional, AE_PROPERTY: judges got[arg] (exactly inst->array[arg].count elements, hostile bytes) for every
     * AE_PROPERTY output. Must not trust any value in it. Sets j->output[k] (one per such output, in argument
     * order, prepared by the caller) and returns true where all is right; false with j->text filled.
     * In a task without AE_PROPERTY outputs it is a further condition on the outputs as a whole ("they add up to
     * 1"), asked once every element is right. */
    bool (*check)(const struct ae_instance *inst, const struct ae_expected *expected, const void *const got[],
                  struct ae_judgement *j);

    /* Optional: fills expected->aux after the reference's outputs are known (ae_array_alloc); untimed, but within
     * 10 % of the reference's time or a second. */
    int (*make_aux)(const struct ae_instance *inst, struct ae_expected *expected, struct ae_error *err);

    /* Work model; the caller has set bytes_in and bytes_out from the argument arrays. */
    void (*work)(const struct ae_instance *inst, struct ae_work *work);

    /* Optional: builds an instance from a published container. Without it every scalar argument is looked up as
     * a parameter and every input array as a tensor, by published name. */
    int (*import)(const struct ae_published *published, struct ae_instance *inst, struct ae_error *err);

    /* Optional: text of a published expected_output.txt to expected->out. Without it the numbers of the file are
     * the outputs one after the other. */
    int (*import_expected)(const struct ae_instance *inst, const char *text, struct ae_expected *expected,
                           struct ae_error *err);
};

/* --- registry ------------------------------------------------------------------------------------------- */

extern const struct ae_task *const ae_tasks[];
extern const int ae_task_count;

/* By exact id, as programs write it; NULL: there is none. */
const struct ae_task *ae_task_named(const char *id);
/* By exact id, else by unique prefix, as people write it. On failure err names the nearest ids. */
const struct ae_task *ae_task_find(const char *name, struct ae_error *err);

const char *ae_size_name(enum ae_size size);
const char *ae_domain_name(enum ae_domain domain);
/* AE_SIZE_COUNT where name is none. */
enum ae_size ae_size_find(const char *name);

int ae_task_param_count(const struct ae_task *task);
int ae_task_family_count(const struct ae_task *task);

/* The C prototype as prompts show it, without a trailing semicolon. The caller frees it. */
char *ae_task_prototype(const struct ae_task *task);

/* --- instances ------------------------------------------------------------------------------------------ */

/* Makes the instance of (task, size, family, seed). *inst is overwritten; free it with ae_instance_release(),
 * also after a failure. */
int ae_instance_make(struct ae_instance *inst, const struct ae_task *task, enum ae_size size, int family,
                     uint64_t seed, struct ae_error *err);
void ae_instance_release(struct ae_instance *inst);

/* For generators and imports. Each checks the argument's declared role and type. */
void ae_set_i32(struct ae_instance *inst, int arg, int64_t value); /* value must fit */
void ae_set_u32(struct ae_instance *inst, int arg, uint32_t value);
void ae_set_u64(struct ae_instance *inst, int arg, uint64_t value);
void ae_set_f32(struct ae_instance *inst, int arg, double value);
void ae_set_f64(struct ae_instance *inst, int arg, double value);
/* Memory for an input (or inout) array of `count` elements, uninitialised; NULL with err set where it is not
 * to be had. The instance owns it. Calling it again replaces the array. */
void *ae_new_array(struct ae_instance *inst, int arg, size_t count, struct ae_error *err);
/* After drawing into a larger array: keeps its first `count` elements. */
void ae_shrink_array(struct ae_instance *inst, int arg, size_t count);
/* The number of elements of an output. */
void ae_set_output(struct ae_instance *inst, int arg, size_t count);

/* Read access with types, for hooks. */
const int32_t *ae_in_i32(const struct ae_instance *inst, int arg);
const float *ae_in_f32(const struct ae_instance *inst, int arg);
const double *ae_in_f64(const struct ae_instance *inst, int arg);

bool ae_arg_is_output(const struct ae_arg *arg);
size_t ae_instance_bytes(const struct ae_instance *inst); /* of all arrays, outputs included */
void ae_instance_work(const struct ae_instance *inst, struct ae_work *work);
/* A 64-bit FNV-1a hash over scalars, counts and input bytes: for golden tests, not for secrets. */
uint64_t ae_instance_digest(const struct ae_instance *inst);

int ae_array_alloc(struct ae_array *array, enum ae_type type, size_t count, struct ae_error *err);
void ae_array_release(struct ae_array *array);
/* Allocates the outputs of inst in expected->out (inout ones start as a copy of the input). */
int ae_expected_alloc(struct ae_expected *expected, const struct ae_instance *inst, struct ae_error *err);
void ae_expected_release(struct ae_expected *expected);

/* Calls function with inst's inputs and out's arrays, in this process: for our own references in tests and for
 * hooks; submissions run in the worker. Returns AE_OK or AE_E_INTERNAL. */
int ae_instance_call(const struct ae_instance *inst, struct ae_expected *out, void (*function)(void),
                     struct ae_error *err);

#endif
