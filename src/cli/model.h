/* What the subcommands around models share: finding a model and its key, making prompts, asking and keeping answers. */
#ifndef AE_CLI_MODEL_H
#define AE_CLI_MODEL_H

#include "base/hash.h"
#include "cli/cli.h"
#include "llm/ask.h"
#include "llm/prompt.h"
#include "store/generation.h"

/* The prompt of a task and its hash; the caller frees *ret. */
int ae_cli_prompt(const struct ae_context *context, const struct ae_task *task, enum ae_prompt_level level,
                  enum ae_prompt_language language, const char *device, const char *recipe, char **ret,
                  char ret_hash[AE_SHA256_HEX], struct ae_error *err);

/* The text of --with-recipe, or the control for --control-for (at most one of them); *ret NULL where neither is given.
 * The caller frees it. */
int ae_cli_recipe(const char *recipe_path, const char *control_path, char **ret, struct ae_error *err);

/* The model of that name (NULL: AE_E_USAGE) in the file; ret shares the texts of ret_models, which the caller releases. */
int ae_cli_model(const char *models_path, const char *name, struct ae_models *ret_models, struct ae_model *ret,
                 struct ae_error *err);

/* The number of an option; AE_E_USAGE where it is none from lo to hi. */
int ae_cli_real(const char *text, const char *name, double lo, double hi, double *ret, struct ae_error *err);

/* What a command must not see, by its real path: bank, cache, and what models.yaml names, which must be there. ret holds
 * NULLs before; the caller frees each, also after a failure. */
#define AE_HIDDEN_MAX 18
int ae_model_hidden_folders(const struct ae_context *context, const struct ae_model *model, const char *models_path,
                            char *ret[AE_HIDDEN_MAX + 1], struct ae_error *err);

/* Options that generate, run and refine have in common; a struct of values begins with these. */
struct ae_model_values {
    const char *model, *models_path, *temperature, *max_cost, *device, *recipe, *control, *entrant, *out;
    struct ae_task_list tasks;
    int level, language;
    int64_t samples, in_flight;
    bool dry_run;
};

#define AE_MODEL_OPTIONS                                                                                               \
    {.name = "model",                                                                                                  \
     .letter = 'm',                                                                                                    \
     .kind = AE_OPTION_STRING,                                                                                         \
     .argument = "NAME",                                                                                               \
     .help = "which model of models.yaml",                                                                             \
     .offset = offsetof(struct ae_model_values, model)},                                                               \
        {.name = "models",                                                                                             \
         .kind = AE_OPTION_STRING,                                                                                     \
         .argument = "FILE",                                                                                           \
         .env = "ACCELEVAL_MODELS",                                                                                    \
         .fallback = "models.yaml",                                                                                    \
         .help = "the file that describes models",                                                                     \
         .offset = offsetof(struct ae_model_values, models_path)},                                                     \
        {.name = "task",                                                                                               \
         .letter = 't',                                                                                                \
         .kind = AE_OPTION_TASK,                                                                                       \
         .help = "only these tasks",                                                                                   \
         .offset = offsetof(struct ae_model_values, tasks)},                                                           \
        {.name = "level",                                                                                              \
         .letter = 'l',                                                                                                \
         .kind = AE_OPTION_CHOICE,                                                                                     \
         .choices = ae_cli_levels,                                                                                     \
         .fallback = "L3",                                                                                             \
         .help = "L1: with a full plan; L2: with brief directions; L3: statement and reference alone",                 \
         .offset = offsetof(struct ae_model_values, level)},                                                           \
        {.name = "samples",                                                                                            \
         .letter = 'k',                                                                                                \
         .kind = AE_OPTION_INTEGER,                                                                                    \
         .help = "answers for each task",                                                                              \
         .fallback = "1",                                                                                              \
         .lo = 1,                                                                                                      \
         .hi = 1000,                                                                                                   \
         .offset = offsetof(struct ae_model_values, samples)},                                                         \
        {.name = "language",                                                                                           \
         .kind = AE_OPTION_CHOICE,                                                                                     \
         .choices = ae_cli_languages,                                                                                  \
         .help = "language of the programs; c and cpp are for the CPU target",                                         \
         .offset = offsetof(struct ae_model_values, language)},                                                        \
        {.name = "temperature",                                                                                        \
         .kind = AE_OPTION_STRING,                                                                                     \
         .argument = "T",                                                                                              \
         .help = "instead of that of models.yaml",                                                                     \
         .offset = offsetof(struct ae_model_values, temperature)},                                                     \
        {.name = "max-cost",                                                                                           \
         .kind = AE_OPTION_STRING,                                                                                     \
         .argument = "AMOUNT",                                                                                         \
         .help = "stop before this much is spent, in the unit of the prices of models.yaml",                           \
         .offset = offsetof(struct ae_model_values, max_cost)},                                                        \
        {.name = "in-flight",                                                                                          \
         .kind = AE_OPTION_INTEGER,                                                                                    \
         .help = "requests at a time; 0: as models.yaml says",                                                         \
         .fallback = "0",                                                                                              \
         .lo = 0,                                                                                                      \
         .hi = 1000,                                                                                                   \
         .offset = offsetof(struct ae_model_values, in_flight)},                                                       \
        {.name = "prompt-device",                                                                                      \
         .kind = AE_OPTION_STRING,                                                                                     \
         .argument = "NAME",                                                                                           \
         .help = "what the prompt calls the GPU",                                                                      \
         .offset = offsetof(struct ae_model_values, device)},                                                          \
        {.name = "with-recipe",                                                                                        \
         .kind = AE_OPTION_STRING,                                                                                     \
         .argument = "FILE",                                                                                           \
         .help = "add this strategy, told in words",                                                                   \
         .offset = offsetof(struct ae_model_values, recipe)},                                                          \
        {.name = "control-for",                                                                                        \
         .kind = AE_OPTION_STRING,                                                                                     \
         .argument = "FILE",                                                                                           \
         .help = "add as many words as this recipe has, which say nothing about the task",                             \
         .offset = offsetof(struct ae_model_values, control)},                                                         \
        {.name = "entrant",                                                                                            \
         .letter = 'e',                                                                                                \
         .kind = AE_OPTION_STRING,                                                                                     \
         .argument = "NAME",                                                                                           \
         .help = "what to call the entrant; default: by model, level and variant",                                     \
         .offset = offsetof(struct ae_model_values, entrant)},                                                         \
        {.name = "out",                                                                                                \
         .letter = 'o',                                                                                                \
         .kind = AE_OPTION_STRING,                                                                                     \
         .argument = "FOLDER",                                                                                         \
         .help = "where ENTRANT/TASK.K.cu go",                                                                         \
         .fallback = ".",                                                                                              \
         .offset = offsetof(struct ae_model_values, out)},                                                             \
    {                                                                                                                  \
        .name = "dry-run", .letter = 'n', .kind = AE_OPTION_FLAG,                                                      \
        .help = "say what would be asked and what it may cost", .offset = offsetof(struct ae_model_values, dry_run)    \
    }

extern const char *const ae_cli_levels[], *const ae_cli_languages[];

/* One answer that is wanted. */
struct ae_cli_question {
    const struct ae_task *task;
    int sample, turn;
    char chain[AE_SHA256_HEX], prompt[AE_SHA256_HEX];
    char label[96];
    struct ae_message *messages; /* the texts belong to the session */
    size_t message_count;
    struct ae_wanted wanted; /* of the store */
};

/* One invocation. */
struct ae_model_session {
    const struct ae_model_values *values;
    struct ae_models models;
    struct ae_model model; /* a copy with the options' changes; shares the texts of models */
    struct ae_key key;
    char *parameters, *recipe;
    double max_cost;
    char entrant[64];
    char folder[4096]; /* out/entrant */
    struct ae_context context;
    struct ae_progress progress;
    struct ae_store *store;
    struct ae_ask_counts counts; /* of all askings since it was opened */
    size_t there_already, answered, empty, refused, repaired, exposed;
    /* while asking */
    struct ae_cli_question **asked;
};

/* Finds and opens everything. suffix goes at the end of the entrant's name ("", "-refined"). Closed with
 * ae_model_session_close(), after failures too. */
int ae_model_session_open(struct ae_model_session *session, const struct ae_model_values *values, const char *suffix,
                          struct ae_error *err);
void ae_model_session_close(struct ae_model_session *session);

/* Every task of the options. The caller frees *ret. */
int ae_model_session_tasks(const struct ae_model_session *session, const struct ae_task ***ret, size_t *ret_count,
                           struct ae_error *err);

/* Looks all questions up, keeps the prompts and asks what has no answer yet. AE_OK also where some failed or the money
 * ended: session->counts says so. */
int ae_model_session_ask(struct ae_model_session *session, struct ae_cli_question *questions, size_t count,
                         struct ae_error *err);
/* What asking them would come to, on standard output. */
int ae_model_session_estimate(struct ae_model_session *session, struct ae_cli_question *questions, size_t count,
                              struct ae_error *err);
/* Prints what became of it; true where every answer is there. */
bool ae_model_session_summary(struct ae_model_session *session, size_t wanted);

/* Writes FOLDER/NAME.ext and FOLDER/NAME.json for an answered generation. Where the answer holds no program, a source
 * without one stands for it, so that the sample counts as failed. */
int ae_model_write_files(struct ae_model_session *session, const char *folder, const char *name,
                         const struct ae_generation *generation, struct ae_error *err);

/* First SIGINT: nothing new is asked; second: broken off. */
extern volatile sig_atomic_t ae_cli_stop;
void ae_cli_stop_on_signals(void);

/* Runs another subcommand in this process, on a NULL-terminated list of arguments, argv[0] its name. */
int ae_cli_subcommand(const char *const *arguments);
/* eval FOLDER --resume (only these tasks; none: all) and report --entrant ENTRANT, as a user would call them; the exit
 * status of eval where the report could be made. */
int ae_cli_evaluate(const char *folder, const char *entrant, const struct ae_task_list *tasks, unsigned sizes,
                    bool quick, int64_t seed, int64_t timeout_s, bool require_sandbox, int64_t device, const char *arch);

#endif
