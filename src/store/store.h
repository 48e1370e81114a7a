/* Results in one SQLite file: one function a query. Several processes may write to one file; a store handle belongs
 * to one thread and must not be carried across fork(). Text that comes back may come from a hostile file: enums are
 * checked, strings are cut to their field, nothing else is promised.
 * Codes: AE_E_INPUT (foreign or damaged file), AE_E_ENV (permission, disk space), AE_E_TIMEOUT (another writer
 * keeps the file locked), AE_E_NOTFOUND, AE_E_USAGE (asked for something that cannot be). */
#ifndef AE_STORE_STORE_H
#define AE_STORE_STORE_H

#include "base/error.h"
#include "judge/measurement.h"
#include "judge/phase.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ae_store;

#define AE_STORE_PATH_MAX 4096
#define AE_STORE_BUSY_MS  30000 /* how long a call waits for other writers */

enum ae_store_mode {
    AE_STORE_READ,  /* must exist; works in read-only places too */
    AE_STORE_WRITE, /* made where missing, folders included */
};

/* $ACCELEVAL_STORE, else $XDG_DATA_HOME/acceleval/results.db, else ~/.local/share/acceleval/results.db. */
int ae_store_default_path(char ret_path[AE_STORE_PATH_MAX], struct ae_error *err);

/* path NULL: the default. An older file is migrated, in both modes; AE_E_ENV where it cannot be written.
 * AE_STORE_READ of a missing file: AE_E_NOTFOUND. *ret is set on success only; close it with ae_store_close(). */
int ae_store_open(struct ae_store **ret, const char *path, enum ae_store_mode mode, struct ae_error *err);
void ae_store_close(struct ae_store *store); /* NULL is fine */
const char *ae_store_path(const struct ae_store *store);
/* "wal"; "delete" on network file systems, where shared memory between hosts does not work. */
const char *ae_store_journal(const struct ae_store *store);

/* --- environments: facts of the machine that a time depends on, and nothing that changes from run to run ---- */

/* Results are compared within one environment only, so the JSON holds CPU, memory, device, driver, toolkit and
 * compiler, but no load, temperature or date. */
struct ae_environment {
    char id[65];   /* SHA-256 of the JSON text, hex; by the caller */
    char name[96]; /* one line for tables: "H200, Xeon 8480+ x16, CUDA 12.4" */
    char *json;
};

void ae_environment_release(struct ae_environment *environment);
/* Keeps the first JSON under an id. */
int ae_store_environment_put(struct ae_store *store, const struct ae_environment *environment,
                             struct ae_error *err);
/* id may be a unique prefix. The caller releases *ret. */
int ae_store_environment_get(struct ae_store *store, const char *id, struct ae_environment *ret,
                             struct ae_error *err);
int ae_store_environments(struct ae_store *store,
                          int (*visit)(void *data, const struct ae_environment *environment), void *data,
                          struct ae_error *err);

/* --- submissions ----------------------------------------------------------------------------------------- */

struct ae_submission {
    char sha256[65];   /* of the source; by the caller */
    char language[16]; /* "c", "cpp", "cuda"; what older stores and archives call "c++" is read and kept as "cpp" */
    char *source;      /* size bytes, followed by a NUL that size does not count; may contain NULs itself */
    size_t size;
    int64_t first_seen_ns; /* CLOCK_REALTIME */
};

void ae_submission_release(struct ae_submission *submission);
/* Fine where it is there already. */
int ae_store_submission_put(struct ae_store *store, const struct ae_submission *submission, struct ae_error *err);
int ae_store_submission_get(struct ae_store *store, const char *sha256, struct ae_submission *ret,
                            struct ae_error *err);

/* --- runs ------------------------------------------------------------------------------------------------ */

struct ae_run {
    int64_t id;              /* set by ae_store_run_begin() */
    int64_t started_ns;      /* CLOCK_REALTIME */
    int64_t finished_ns;     /* 0: still running, or killed */
    const char *command;     /* command line; for people */
    const char *options;     /* effective options, JSON */
    const char *version;     /* of the tool */
    const char *environment; /* id of one that was put before */
    const char *bank;      /* names the bank of instances (changes with `bank renew`), or the seed: measurements of
                              equal banks saw the same instances and are compared in pairs */
    bool seeded;           /* instances from a given seed, not from the secret bank */
    int measurement_count; /* on reading only */
    const char *environment_name; /* on reading only */
};

int ae_store_run_begin(struct ae_store *store, const struct ae_run *run, int64_t *ret_id, struct ae_error *err);
int ae_store_run_end(struct ae_store *store, int64_t id, int64_t finished_ns, struct ae_error *err);
/* Newest first. The run and its strings live until visit returns; a nonzero return of visit ends the walk and is
 * returned. */
int ae_store_runs(struct ae_store *store, int (*visit)(void *data, const struct ae_run *run), void *data,
                  struct ae_error *err);

/* --- measurements ---------------------------------------------------------------------------------------- */

/* Stores the measurement with all its trials in one transaction, on the disk when it returns AE_OK. The submission
 * and the run must be there. options_key: canonical text (or hash) of the options that a result depends on, for
 * ae_store_measurement_exists(). Putting the same (run, submission, entrant, sample, task, size, target) twice is
 * AE_E_USAGE. ret_id may be NULL. */
int ae_store_measurement_put(struct ae_store *store, int64_t run, const struct ae_measurement *measurement,
                             const char *options_key, int64_t *ret_id, struct ae_error *err);

/* Keeps what a profile found out of a measurement, once: AE_E_USAGE where there is one already, or no such measurement.
 * One transaction. */
int ae_store_explanation_put(struct ae_store *store, int64_t measurement, const struct ae_explanation *explanation,
                             struct ae_error *err);

/* The explanation of a program on a device, by the digest of its source: of the largest size, of these the newest.
 * *ret_there: is there one? ret_environment: name of the machine. */
int ae_store_explanation_find(struct ae_store *store, const char *submission, struct ae_explanation *ret,
                              enum ae_size *ret_size, char ret_environment[96], bool *ret_there, struct ae_error *err);

/* Of the measurements of these numbers, those that are explained; `number` is the place in ids. A nonzero return of visit
 * ends the walk and is returned. */
int ae_store_explanations(struct ae_store *store, const int64_t *ids, size_t count,
                          int (*visit)(void *data, size_t number, const struct ae_explanation *explanation), void *data,
                          struct ae_error *err);

struct ae_measurement_key {
    int64_t run;             /* 0: any */
    const char *environment; /* NULL: any */
    const char *submission;
    const char *task;
    int task_version;
    enum ae_size size;
    enum ae_target target;
    const char *options_key;
    const char *entrant; /* NULL: anyone's. With an entrant, `sample` counts too: two samples may be equal byte for byte */
    int sample;
};

/* For --resume. not_run and host_error do not count: they are worth another try. *ret_id (may be NULL): the newest
 * match, 0 where there is none. */
int ae_store_measurement_exists(struct ae_store *store, const struct ae_measurement_key *key, bool *ret,
                                int64_t *ret_id, struct ae_error *err);

/* What to walk over; zero and NULL mean "all". */
struct ae_measurement_filter {
    int64_t id;
    int64_t run;
    const char *environment;
    const char *entrant;
    const char *task;
    unsigned sizes; /* mask of AE_AT(); 0: all */
    bool by_target; /* only `target` */
    enum ae_target target;
    /* Of each (environment, entrant, target, task, size, sample) the newest only. not_run and host_error give way
     * to a result of the same submission, and measurements from given seeds to those from the secret bank. */
    bool latest;
    bool with_log;   /* read `log`, else NULL */
    bool explained;  /* read the explanation where there is one */
    unsigned trials; /* mask of 1u << enum ae_trial_kind: the trials to read */
};

#define AE_TRIALS_ALL ((1u << AE_TRIAL_KIND_COUNT) - 1)

/* A measurement read back. measurement.task is NULL where this program does not know the task. */
struct ae_stored {
    int64_t id, run;
    const char *task;
    int task_version;
    const char *environment; /* id */
    const char *environment_name;
    const char *bank;
    const char *options_key;
    const struct ae_explanation *explanation; /* NULL: none, or not asked for; times in it are nothing negative */
    struct ae_measurement measurement;
};

/* In the order of environment, size, task, entrant, target, sample, id. Everything lives until visit returns; a
 * nonzero return of visit ends the walk and is returned. visit must not write to the store. */
int ae_store_measurements(struct ae_store *store, const struct ae_measurement_filter *filter,
                          int (*visit)(void *data, const struct ae_stored *stored), void *data,
                          struct ae_error *err);

#endif
