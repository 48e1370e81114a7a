/* acceleval prompt */
#include "cli/cli.h"

#include "llm/prompt.h"

#include <stdlib.h>

static const char *const levels[] = {"L1", "L2", "L3", NULL};

struct values {
    int level;
    const char *device;
};

const struct ae_option ae_prompt_options[] = {
    {.name = "level", .letter = 'l', .kind = AE_OPTION_CHOICE, .choices = levels, .fallback = "L3",
     .help = "L1: with a full plan; L2: with brief directions; L3: statement and reference alone",
     .offset = offsetof(struct values, level)},
    {.name = "device", .kind = AE_OPTION_STRING, .argument = "NAME", .help = "what the prompt calls the GPU",
     .offset = offsetof(struct values, device)},
    {0},
};

int ae_cmd_prompt(const struct ae_command *self, int argc, char **argv)
{
    struct values values = {0};
    struct ae_list rest = {0};
    struct ae_context context = {0};
    struct ae_progress progress;
    struct ae_bytes statement = {0}, hints = {0}, reference = {0};
    struct ae_error err = {0};
    char *text = NULL;
    const int done = ae_cli_parse(self, argc, argv, &values, &rest);
    if (done >= 0)
        return done;
    const struct ae_task *task = NULL;
    if (rest.count == 1)
        task = ae_task_find(rest.items[0], &err);
    else
        ae_error_set(&err, AE_E_USAGE, "prompt takes one task");
    int rc = task ? ae_cli_context(&context, &progress, &err) : err.code;
    if (rc == AE_OK)
        rc = ae_context_read(&context, task, "statement.md", &statement, &err);
    if (rc == AE_OK)
        rc = ae_context_read(&context, task, "hints.md", &hints, &err);
    if (rc == AE_OK)
        rc = ae_context_read(&context, task, "reference.c", &reference, &err);
    if (rc == AE_OK) {
        const struct ae_prompt_texts texts = {(const char *)statement.data, (const char *)hints.data,
                                              (const char *)reference.data, values.device};
        rc = ae_prompt_make(task, (enum ae_prompt_level)values.level, &texts, &text, &err);
    }
    if (rc == AE_OK)
        fputs(text, stdout);
    free(text);
    ae_bytes_release(&statement);
    ae_bytes_release(&hints);
    ae_bytes_release(&reference);
    ae_context_close(&context);
    ae_options_release(ae_prompt_options, &values);
    ae_list_release(&rest);
    return rc == AE_OK ? AE_EXIT_OK : ae_cli_fail(&err);
}
