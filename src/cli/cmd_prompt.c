/* acceleval prompt */
#include "cli/model.h"

#include <stdlib.h>

static const char *const levels[] = {"L1", "L2", "L3", NULL};

static const char *const languages[] = {"cuda", "c", "cpp", NULL};

struct values {
    int level, language;
    const char *device, *recipe, *control;
    bool hash;
};

const struct ae_option ae_prompt_options[] = {
    {.name = "level",
     .letter = 'l',
     .kind = AE_OPTION_CHOICE,
     .choices = levels,
     .fallback = "L3",
     .help = "L1: with a full plan; L2: with brief directions; L3: statement and reference alone",
     .offset = offsetof(struct values, level)},
    {.name = "device",
     .kind = AE_OPTION_STRING,
     .argument = "NAME",
     .help = "what the prompt calls the GPU",
     .offset = offsetof(struct values, device)},
    {.name = "language",
     .kind = AE_OPTION_CHOICE,
     .choices = languages,
     .help = "language of the program; c and cpp are for the CPU target",
     .offset = offsetof(struct values, language)},
    {.name = "with-recipe",
     .kind = AE_OPTION_STRING,
     .argument = "FILE",
     .help = "add this strategy, told in words",
     .offset = offsetof(struct values, recipe)},
    {.name = "control-for",
     .kind = AE_OPTION_STRING,
     .argument = "FILE",
     .help = "add as many words as this recipe has, which say nothing about the task",
     .offset = offsetof(struct values, control)},
    {.name = "hash",
     .kind = AE_OPTION_FLAG,
     .help = "only the SHA-256 of the prompt, which is its version; without a task: of every prompt",
     .offset = offsetof(struct values, hash)},
    {0},
};

/* The version of every prompt. */
static int print_hashes(const struct ae_context *context, const struct values *values, const char *recipe,
                        struct ae_error *err)
{
    for (int i = 0; i < ae_task_count; i++)
        for (int level = 0; level < AE_PROMPT_LEVEL_COUNT; level++) {
            char *text = NULL, hash[AE_SHA256_HEX];
            const int rc =
                ae_cli_prompt(context, ae_tasks[i], (enum ae_prompt_level)level,
                              (enum ae_prompt_language)values->language, values->device, recipe, &text, hash, err);
            if (rc != AE_OK)
                return rc;
            free(text);
            printf("%s %s %s\n", hash, ae_tasks[i]->id, ae_prompt_level_name((enum ae_prompt_level)level));
        }
    return AE_OK;
}

int ae_cmd_prompt(const struct ae_command *self, int argc, char **argv)
{
    struct values values = {0};
    struct ae_list rest = {0};
    struct ae_context context = {0};
    struct ae_progress progress;
    struct ae_error err = {0};
    char *text = NULL, *recipe = NULL, hash[AE_SHA256_HEX];
    uint64_t given = 0;
    const int done = ae_cli_parse_given(self, argc, argv, &values, &rest, &given);
    if (done >= 0)
        return done;
    const struct ae_task *task = NULL;
    const bool all = values.hash && rest.count == 0;
    if (rest.count == 1)
        task = ae_task_find(rest.items[0], &err);
    else if (!all)
        ae_error_set(&err, AE_E_USAGE, "prompt takes one task");
    if (all && ae_option_given(ae_prompt_options, given, "level"))
        ae_error_set(&err, AE_E_USAGE, "without a task, --hash tells of all levels: --level cannot be given");
    if (values.device && values.language != AE_PROMPT_CUDA)
        ae_cli_note("--device changes nothing: a prompt for a CPU program names no GPU");
    int rc = err.code == AE_OK ? ae_cli_context_quiet(&context, &progress, &err) : err.code;
    if (rc == AE_OK)
        rc = ae_cli_recipe(values.recipe, values.control, &recipe, &err);
    if (rc == AE_OK && all)
        rc = print_hashes(&context, &values, recipe, &err);
    else if (rc == AE_OK)
        rc = ae_cli_prompt(&context, task, (enum ae_prompt_level)values.level, (enum ae_prompt_language)values.language,
                           values.device, recipe, &text, hash, &err);
    if (rc == AE_OK && values.hash && !all)
        printf("%s\n", hash);
    else if (rc == AE_OK && !all)
        fputs(text, stdout);
    free(text);
    free(recipe);
    ae_context_close(&context);
    ae_options_release(ae_prompt_options, &values);
    ae_list_release(&rest);
    return rc == AE_OK ? AE_EXIT_OK : ae_cli_fail(&err);
}
