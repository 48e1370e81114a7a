/* Submissions as a user names them: files, folders of files, built-in entrants. */
#ifndef AE_CLI_SUBMISSION_H
#define AE_CLI_SUBMISSION_H

#include "cli/cli.h"
#include "judge/measurement.h"
#include "run/evaluate.h"

struct ae_submission_item {
    const struct ae_task *task;
    enum ae_target target;
    enum ae_build_kind kind;
    char entrant[256]; /* whole, as a folder is called: what a result can be kept under is for 'eval' to say */
    int sample;
    char path[4096];
    bool built_in;        /* ours: headers of tasks/common may be included */
    bool single;          /* the reference: one thread */
    struct ae_bytes source;
    struct ae_build_result build; /* after ae_items_build() */
};

struct ae_submission_list {
    struct ae_submission_item *items;
    size_t count;
};

/* reference, parallel, naive, tuned: the file of each in a task's folder. NULL where name is none of them. */
const char *ae_built_in_file(const char *entrant);

/* Adds one source file. task NULL: its name says, TASK.ext or TASK.K.ext. entrant NULL: the folder's name, "me" where
 * there is none. */
int ae_items_add_file(struct ae_submission_list *list, const char *path, const struct ae_task *task,
                      const char *entrant, struct ae_error *err);
/* Every TASK[.K].ext in the folder; tasks NULL or empty: all. Files whose names say no task are reported in err and
 * passed over (AE_OK as long as one file fits). */
int ae_items_add_folder(struct ae_submission_list *list, const char *path, const struct ae_task_list *tasks,
                        const char *entrant, struct ae_error *err);
/* A built-in entrant on the given tasks; those whose folder lacks its file are passed over. */
int ae_items_add_built_in(struct ae_submission_list *list, const struct ae_context *context, const char *entrant,
                          const struct ae_task_list *tasks, struct ae_error *err);
/* A path of either sort. */
int ae_items_add_path(struct ae_submission_list *list, const char *path, const struct ae_task_list *tasks,
                      const char *entrant, struct ae_error *err);
void ae_items_release(struct ae_submission_list *list);

/* Notes on standard error which of --device and --arch are of no use, since none of the programs is for a GPU. */
void ae_items_note_useless(const struct ae_submission_list *list, const struct ae_option *options, uint64_t given);

/* Compiles all, at most `jobs` at a time (0: as many as cores). arch NULL: what the device has, else sm_90. */
int ae_items_build(struct ae_submission_list *list, struct ae_context *context, int jobs, const char *arch,
                   struct ae_error *err);

#endif
