/* acceleval generate, run: from a model's name to its programs, and to its row in the leaderboard. */
#include "cli/model.h"

#include <stdlib.h>
#include <string.h>

struct values {
    struct ae_model_values model; /* first */
    unsigned sizes;
    int64_t seed, timeout_s;
    bool quick, require_sandbox;
};

const struct ae_option ae_generate_options[] = {
    AE_MODEL_OPTIONS,
    {0},
};

const struct ae_option ae_run_options[] = {
    AE_MODEL_OPTIONS,
    {.name = "size", .letter = 's', .kind = AE_OPTION_SIZE, .help = "sizes to evaluate at", .fallback = "small",
     .offset = offsetof(struct values, sizes)},
    {.name = "quick", .letter = 'q', .kind = AE_OPTION_FLAG, .help = "three timed calls only, for a first look",
     .offset = offsetof(struct values, quick)},
    {.name = "timeout", .kind = AE_OPTION_INTEGER, .argument = "SECONDS",
     .help = "limit of one call; 0: the larger of 10 s and twice the reference", .fallback = "0", .lo = 0, .hi = 86400,
     .offset = offsetof(struct values, timeout_s)},
    {.name = "seed", .kind = AE_OPTION_INTEGER, .help = "instances from this seed instead of the secret bank; results say so",
     .lo = 1, .hi = INT64_MAX, .offset = offsetof(struct values, seed)},
    {.name = "require-sandbox", .kind = AE_OPTION_FLAG, .help = "refuse to run where a layer of the sandbox is missing",
     .offset = offsetof(struct values, require_sandbox)},
    {0},
};

struct questions {
    struct ae_cli_question *items;
    struct ae_message *messages;
    size_t count, message_count;
};

static void questions_release(struct questions *q)
{
    for (size_t i = 0; i < q->message_count; i++)
        free(q->messages[i].text);
    free(q->messages);
    free(q->items);
    *q = (struct questions){0};
}

/* One message a task, shared by its samples. */
static int make_questions(struct ae_model_session *s, struct questions *ret, struct ae_error *err)
{
    const struct ae_task **tasks = NULL;
    const size_t samples = (size_t)s->values->samples;
    size_t task_count = 0;
    int rc = ae_model_session_tasks(s, &tasks, &task_count, err);
    if (rc != AE_OK)
        return rc;
    ret->items = calloc(task_count * samples + 1, sizeof *ret->items);
    ret->messages = calloc(task_count + 1, sizeof *ret->messages);
    if (!ret->items || !ret->messages)
        rc = ae_error_set(err, AE_E_NOMEM, "no memory for the questions");
    for (size_t t = 0; rc == AE_OK && t < task_count; t++) {
        struct ae_message *message = &ret->messages[t];
        char hash[AE_SHA256_HEX];
        rc = ae_cli_prompt(&s->context, tasks[t], (enum ae_prompt_level)s->values->level,
                           (enum ae_prompt_language)s->values->language, s->values->device, s->recipe, &message->text,
                           hash, err);
        if (rc != AE_OK)
            break;
        ret->message_count++;
        for (size_t k = 0; k < samples; k++) {
            struct ae_cli_question *q = &ret->items[ret->count++];
            *q = (struct ae_cli_question){.task = tasks[t], .sample = (int)k, .messages = message, .message_count = 1};
            snprintf(q->label, sizeof q->label, "%s.%zu", tasks[t]->id, k);
        }
    }
    free(tasks);
    return rc;
}

struct writing {
    struct ae_model_session *session;
    struct ae_error *err;
};

static int write_one(void *data, const struct ae_generation *g)
{
    const struct writing *w = data;
    char name[128];
    if (!*g->source)
        return AE_OK;
    snprintf(name, sizeof name, "%.100s.%d", g->key.task, g->key.sample);
    return ae_model_write_files(w->session, w->session->folder, name, g, w->err);
}

/* The answers of these questions as files; what another prompt or setting gave before is replaced. */
static int write_files(struct ae_model_session *s, const struct questions *q, struct ae_error *err)
{
    struct writing w = {s, err};
    for (size_t i = 0; i < q->count; i++) {
        const struct ae_generation_filter filter = {.id = q->items[i].wanted.id};
        if (filter.id == 0)
            continue;
        const int rc = ae_store_generations(s->store, &filter, write_one, &w, err);
        if (rc != AE_OK)
            return rc;
    }
    return AE_OK;
}

/* AE_EXIT_*; *ret_folder receives the entrant's folder, *ret_entrant its name (both freed by the caller). */
static int generate(const struct ae_model_values *values, char **ret_folder, char **ret_entrant)
{
    struct ae_model_session session;
    struct questions questions = {0};
    struct ae_error err = {0};
    bool complete = false;
    ae_cli_stop_on_signals();
    int rc = ae_model_session_open(&session, values, "", &err);
    if (rc == AE_OK)
        rc = make_questions(&session, &questions, &err);
    if (rc == AE_OK && values->dry_run) {
        rc = ae_model_session_estimate(&session, questions.items, questions.count, &err);
        complete = true;
    } else if (rc == AE_OK) {
        struct ae_error writing = {0};
        rc = ae_model_session_ask(&session, questions.items, questions.count, &err);
        const int written = write_files(&session, &questions, &writing); /* what is there, whatever went wrong */
        complete = ae_model_session_summary(&session, questions.count);
        if (rc == AE_OK && written != AE_OK) {
            rc = written;
            err = writing;
        }
        if (ret_folder)
            *ret_folder = strdup(session.folder);
        if (ret_entrant)
            *ret_entrant = strdup(session.entrant);
    }
    questions_release(&questions);
    ae_model_session_close(&session);
    if (rc != AE_OK)
        return ae_cli_fail(&err);
    return complete ? AE_EXIT_OK : ae_cli_stop ? AE_EXIT_FAILED : AE_EXIT_ENVIRONMENT;
}

int ae_cmd_generate(const struct ae_command *self, int argc, char **argv)
{
    struct ae_model_values values = {0};
    const int done = ae_cli_parse(self, argc, argv, &values, NULL);
    if (done >= 0)
        return done;
    const int status = generate(&values, NULL, NULL);
    ae_options_release(ae_generate_options, &values);
    return status;
}

int ae_cmd_run(const struct ae_command *self, int argc, char **argv)
{
    struct values values = {0};
    char *folder = NULL, *entrant = NULL;
    const int done = ae_cli_parse(self, argc, argv, &values, NULL);
    if (done >= 0)
        return done;
    int status = generate(&values.model, &folder, &entrant);
    if (status == AE_EXIT_OK && folder && entrant)
        status = ae_cli_evaluate(folder, entrant, &values.model.tasks, values.sizes, values.quick, values.seed,
                                 values.timeout_s, values.require_sandbox, 0, NULL);
    free(folder);
    free(entrant);
    ae_options_release(ae_run_options, &values);
    return status;
}
