/* acceleval list */
#include "cli/cli.h"

#include "run/answers.h"

#include <jansson.h>
#include <string.h>

static const char *const domains[] = {"all", "hpc", "simulation", "graph", "spatial", "finance", "or", NULL};

struct values {
    int domain;
    bool json;
};

const struct ae_option ae_list_options[] = {
    {.name = "domain", .letter = 'd', .kind = AE_OPTION_CHOICE, .help = "only tasks of this domain",
     .choices = domains, .offset = offsetof(struct values, domain)},
    {.name = "json", .kind = AE_OPTION_FLAG, .help = "as JSON", .offset = offsetof(struct values, json)},
    {0},
};

/* How many of the answers that eval needs at this size are cached; negative where the cache cannot be asked. */
static void count_cached(struct ae_context *context, const struct ae_task *task, enum ae_size size, int *ret_have,
                         int *ret_need)
{
    struct ae_case_name names[64];
    const struct ae_bank_plan *plan = ae_bank_plan(size);
    const int fresh = (plan->first_trials + plan->trials_per_group - 1) / plan->trials_per_group;
    *ret_need = ae_cases_of(task, size, false, plan->first_trials, fresh, names);
    *ret_have = 0;
    for (int i = 0; i < *ret_need; i++)
        *ret_have += ae_case_cached(context, &names[i], names[i].kind == AE_TRIAL_TIMED);
}

static json_t *task_json(struct ae_context *context, const struct ae_task *task)
{
    json_t *sizes = json_object();
    for (int s = 0; s < AE_SIZE_COUNT; s++) {
        int have = 0, need = 0;
        json_t *params = json_object();
        for (int p = 0; p < ae_task_param_count(task); p++)
            json_object_set_new(params, task->params[p], json_integer(task->sizes[s].param[p]));
        if (context)
            count_cached(context, task, (enum ae_size)s, &have, &need);
        json_object_set_new(sizes, ae_size_name((enum ae_size)s),
                            json_pack("{s:o, s:b, s:i, s:i}", "parameters", params, "as_published",
                                      !task->sizes[s].not_as_published, "cached", have, "needed", need));
    }
    return json_pack("{s:s, s:s, s:s, s:i, s:o}", "id", task->id, "title", task->title, "domain",
                     ae_domain_name(task->domain), "version", task->version, "sizes", sizes);
}

int ae_cmd_list(const struct ae_command *self, int argc, char **argv)
{
    struct values values = {0};
    struct ae_context context;
    struct ae_progress progress;
    struct ae_error err = {0};
    const int done = ae_cli_parse(self, argc, argv, &values, NULL);
    if (done >= 0)
        return done;
    const bool ready = ae_cli_context_quiet(&context, &progress, &err) == AE_OK;
    json_t *array = json_array();
    if (!values.json)
        printf("%-34s %-11s %s\n", "task", "domain", "cached: small medium large   title");
    for (int i = 0; i < ae_task_count; i++) {
        const struct ae_task *task = ae_tasks[i];
        if (values.domain > 0 && strcmp(domains[values.domain], ae_domain_name(task->domain)) != 0)
            continue;
        if (values.json) {
            json_array_append_new(array, task_json(ready ? &context : NULL, task));
            continue;
        }
        char cached[AE_SIZE_COUNT][16];
        for (int s = 0; s < AE_SIZE_COUNT; s++) {
            int have = 0, need = 0;
            if (ready)
                count_cached(&context, task, (enum ae_size)s, &have, &need);
            snprintf(cached[s], sizeof cached[s], "%s", have == 0 ? "-" : have == need ? "yes" : "part");
        }
        printf("%-34s %-11s         %-5s %-6s %-5s   %s\n", task->id, ae_domain_name(task->domain), cached[0],
               cached[1], cached[2], task->title);
    }
    if (!ready)
        fprintf(stderr, "acceleval: %s\n", err.text);
    ae_context_close(&context);
    if (values.json)
        return ae_cli_print_json(json_pack("{s:i, s:o}", "schema", 1, "tasks", array));
    json_decref(array);
    return AE_EXIT_OK;
}
