#include "cli/model.h"

#include "base/clock.h"
#include "base/text.h"
#include "base/utf8.h"
#include "llm/answer.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const ae_cli_levels[] = {"L1", "L2", "L3", NULL};
const char *const ae_cli_languages[] = {"cuda", "c", "cpp", NULL};

static const struct {
    const char *store, *ending;
} languages[AE_PROMPT_LANGUAGE_COUNT] = {
    [AE_PROMPT_CUDA] = {"cuda", "cu"}, [AE_PROMPT_C] = {"c", "c"}, [AE_PROMPT_CPP] = {"cpp", "cpp"}};

/* --- prompts ---------------------------------------------------------------------------------------------- */

int ae_cli_prompt(const struct ae_context *context, const struct ae_task *task, enum ae_prompt_level level,
                  enum ae_prompt_language language, const char *device, const char *recipe, char **ret,
                  char ret_hash[AE_SHA256_HEX], struct ae_error *err)
{
    struct ae_bytes statement = {0}, hints = {0}, reference = {0};
    int rc = ae_context_read(context, task, "statement.md", &statement, err);
    if (rc == AE_OK)
        rc = ae_context_read(context, task, "hints.md", &hints, err);
    if (rc == AE_OK)
        rc = ae_context_read(context, task, "reference.c", &reference, err);
    if (rc == AE_OK) {
        const struct ae_prompt_texts texts = {.statement = (const char *)statement.data,
                                              .hints = (const char *)hints.data,
                                              .reference = (const char *)reference.data,
                                              .device = device,
                                              .language = language,
                                              .recipe = recipe};
        rc = ae_prompt_make(task, level, &texts, ret, err);
    }
    if (rc == AE_OK && (rc = ae_sha256(*ret, strlen(*ret), ret_hash, err)) != AE_OK)
        free(*ret);
    ae_bytes_release(&statement);
    ae_bytes_release(&hints);
    ae_bytes_release(&reference);
    return rc;
}

int ae_cli_recipe(const char *recipe_path, const char *control_path, char **ret, struct ae_error *err)
{
    struct ae_bytes bytes;
    *ret = NULL;
    if (recipe_path && control_path)
        return ae_error_set(err, AE_E_USAGE, "a prompt has a recipe or a control, not both");
    if (!recipe_path && !control_path)
        return AE_OK;
    int rc = ae_file_read(recipe_path ? recipe_path : control_path, 65536, &bytes, err);
    if (rc != AE_OK)
        return rc;
    /* A NUL would end it in silence, and a request has no place for broken bytes. */
    rc = memchr(bytes.data, 0, bytes.size) || !ae_utf8_valid((const char *)bytes.data)
             ? ae_error_set(err, AE_E_INPUT, "%s is no text in UTF-8: a recipe says in words what a program does",
                            recipe_path ? recipe_path : control_path)
             : ae_recipe_check((const char *)bytes.data, err);
    if (rc == AE_OK) {
        *ret = recipe_path ? strdup((const char *)bytes.data) : ae_recipe_control((const char *)bytes.data);
        if (!*ret)
            rc = ae_error_set(err, AE_E_NOMEM, "no memory for a recipe");
    }
    ae_bytes_release(&bytes);
    return rc;
}

/* --- the session ------------------------------------------------------------------------------------------ */

int ae_cli_real(const char *text, const char *name, double lo, double hi, double *ret, struct ae_error *err)
{
    char *end;
    const double value = strtod(text, &end);
    if (end == text || *end || !(value >= lo && value <= hi))
        return ae_error_set(err, AE_E_USAGE, "--%s takes a number from %g to %g, not '%.40s'", name, lo, hi, text);
    *ret = value;
    return AE_OK;
}

/* What tells rows of a leaderboard apart is part of the name. */
static int name_entrant(struct ae_model_session *s, const char *suffix, struct ae_error *err)
{
    const struct ae_model_values *v = s->values;
    char variant[32] = "", hash[AE_SHA256_HEX], name[256], warmth[32] = "";
    int rc = AE_OK;
    if (s->recipe && (rc = ae_sha256(s->recipe, strlen(s->recipe), hash, err)) != AE_OK)
        return rc;
    if (s->recipe)
        snprintf(variant, sizeof variant, "-%s-%.6s", v->recipe ? "recipe" : "control", hash);
    if (v->temperature)
        snprintf(warmth, sizeof warmth, "-t%.10s", v->temperature);
    if (v->entrant)
        snprintf(name, sizeof name, "%.200s%s", v->entrant, suffix);
    else
        snprintf(name, sizeof name, "%s-%s%s%s%s%s%s", s->model.name, ae_cli_levels[v->level],
                 v->language == AE_PROMPT_CUDA ? "" : "-",
                 v->language == AE_PROMPT_CUDA ? "" : languages[v->language].ending, variant, warmth, suffix);
    if (!*name || *name == '.' || *name == '-' || strpbrk(name, "/\\ \t\r\n") || strlen(name) >= sizeof s->entrant)
        return ae_error_set(err, AE_E_USAGE,
                            "'%.80s' cannot be an entrant's name: it takes up to %zu characters, no slash, no "
                            "blank (--entrant gives another)",
                            name, sizeof s->entrant - 1);
    snprintf(s->entrant, sizeof s->entrant, "%s", name);
    snprintf(s->folder, sizeof s->folder, "%.3900s/%s", v->out, name);
    return AE_OK;
}

int ae_cli_model(const char *models_path, const char *name, struct ae_models *ret_models, struct ae_model *ret,
                 struct ae_error *err)
{
    if (!name)
        return ae_error_set(err, AE_E_USAGE, "--model says which model of %s is meant", models_path);
    const int rc = ae_models_read(models_path, ret_models, err);
    if (rc == AE_E_NOTFOUND)
        return ae_error_set(err, AE_E_NOTFOUND,
                            "there is no %s; docs/models.md shows how to write one (--models names another "
                            "file)",
                            models_path);
    if (rc != AE_OK)
        return rc;
    const struct ae_model *model = ae_models_find(ret_models, name, err);
    if (!model)
        return err->code;
    *ret = *model;
    return AE_OK;
}

int ae_model_session_open(struct ae_model_session *s, const struct ae_model_values *values, const char *suffix,
                          struct ae_error *err)
{
    *s = (struct ae_model_session){.values = values, .max_cost = AE_UNSET};
    int rc = ae_cli_model(values->models_path, values->model, &s->models, &s->model, err);
    if (rc != AE_OK)
        return rc;
    if (values->device && values->language != AE_PROMPT_CUDA)
        ae_cli_note("--prompt-device changes nothing: a prompt for a CPU program names no GPU");
    if (values->temperature)
        rc = ae_cli_real(values->temperature, "temperature", 0, 2, &s->model.temperature, err);
    if (rc == AE_OK && values->max_cost)
        rc = ae_cli_real(values->max_cost, "max-cost", 0, 1e9, &s->max_cost, err);
    if (values->in_flight)
        s->model.in_flight = (int)values->in_flight;
    if (rc == AE_OK)
        rc = ae_cli_recipe(values->recipe, values->control, &s->recipe, err);
    if (rc == AE_OK)
        rc = name_entrant(s, suffix, err);
    if (rc == AE_OK && !values->dry_run)
        rc = ae_key_read(&s->model, values->models_path, &s->key, err);
    if (rc == AE_OK && !(s->parameters = ae_model_parameters(&s->model)))
        rc = ae_error_set(err, AE_E_NOMEM, "no memory for the parameters of a model");
    if (rc == AE_OK)
        rc = ae_cli_context(&s->context, &s->progress, err);
    if (rc == AE_OK)
        rc = ae_store_open(&s->store, NULL, AE_STORE_WRITE, err);
    if (rc == AE_OK && !values->dry_run)
        rc = ae_folder_make(s->folder, err);
    return rc;
}

void ae_model_session_close(struct ae_model_session *s)
{
    ae_progress_clear(&s->progress);
    ae_key_release(&s->key);
    ae_store_close(s->store);
    ae_context_close(&s->context);
    ae_models_release(&s->models);
    free(s->parameters);
    free(s->recipe);
    *s = (struct ae_model_session){0};
}

int ae_model_session_tasks(const struct ae_model_session *s, const struct ae_task ***ret, size_t *ret_count,
                           struct ae_error *err)
{
    const struct ae_task_list *given = &s->values->tasks;
    const size_t count = given->count ? given->count : (size_t)ae_task_count;
    const struct ae_task **tasks = calloc(count + 1, sizeof(*tasks));
    if (!tasks)
        return ae_error_set(err, AE_E_NOMEM, "no memory for a list of tasks");
    for (size_t i = 0; i < count; i++)
        tasks[i] = given->count ? given->items[i] : ae_tasks[i];
    *ret = tasks;
    *ret_count = count;
    return AE_OK;
}

/* --- asking ----------------------------------------------------------------------------------------------- */

volatile sig_atomic_t ae_cli_stop;

static void on_stop(int signal)
{
    static const char text[] = "\nacceleval: waiting for what is under way; interrupt again to break it off\n";
    const int saved = errno;
    (void)signal;
    ae_cli_stop = ae_cli_stop + 1;
    if (ae_cli_stop == 1)
        (void)!write(STDERR_FILENO, text, sizeof text - 1);
    errno = saved;
}

void ae_cli_stop_on_signals(void)
{
    const struct sigaction action = {.sa_handler = on_stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    (void)signal(SIGPIPE, SIG_IGN); /* a server that hangs up is an error of one request */
}

static int on_sent(void *data, const size_t *questions, const int *numbers, size_t count, struct ae_error *err)
{
    struct ae_model_session *s = data;
    int64_t *ids = calloc(count + 1, sizeof *ids);
    (void)numbers;
    if (!ids)
        return ae_error_set(err, AE_E_NOMEM, "no memory to note what is sent");
    for (size_t i = 0; i < count; i++)
        ids[i] = s->asked[questions[i]]->wanted.id;
    const int rc = ae_store_attempts_sent(s->store, ids, count, ae_wall_ns(), err);
    free(ids);
    return rc;
}

/* Keeps the program of an answer (or what stands for the lack of one) and fills the fields of g that tell about it. */
static int keep_source(struct ae_model_session *s, const struct ae_attempt *a, struct ae_generation *g,
                       char hash[AE_SHA256_HEX], char *notes_text, size_t notes_size, char *detail, size_t detail_size,
                       struct ae_error *err)
{
    char *source = NULL;
    size_t size = 0;
    unsigned notes = 0;
    struct ae_error none = {0};
    g->answer = a->reply.text ? a->reply.text : "";
    g->answer_size = a->reply.size;
    const int rc = ae_answer_extract(g->answer, g->answer_size, &source, &size, &notes, &none);
    if (rc == AE_E_NOMEM)
        return ae_error_set(err, rc, "%s", none.text);
    if (rc == AE_OK) {
        g->notes = ae_answer_notes_text(notes, notes_text, notes_size);
        g->repaired = (notes & AE_ANSWER_REPAIRS) != 0;
    } else {
        snprintf(detail, detail_size, "%s", a->detail[0] ? a->detail : none.text);
        g->detail = detail;
        if (asprintf(&source, "/* The model's answer holds no program that defines solution_compute. */\n") < 0)
            return ae_error_set(err, AE_E_NOMEM, "no memory for a source");
        size = strlen(source);
    }
    struct ae_submission submission = {.source = source, .size = size, .first_seen_ns = ae_wall_ns()};
    snprintf(submission.language, sizeof submission.language, "%s", languages[s->values->language].store);
    int code = ae_sha256(source, size, hash, err);
    snprintf(submission.sha256, sizeof submission.sha256, "%s", hash);
    if (code == AE_OK)
        code = ae_store_submission_put(s->store, &submission, err);
    g->source = hash;
    s->repaired += g->repaired;
    free(source);
    return code;
}

static int on_ended(void *data, size_t question, const struct ae_attempt *a, enum ae_ask_state state,
                    struct ae_error *err)
{
    struct ae_model_session *s = data;
    const struct ae_cli_question *q = s->asked[question];
    char hash[AE_SHA256_HEX] = "", notes[128] = "", detail[600] = "";
    struct ae_generation g = {0};
    int rc = AE_OK;
    s->exposed += a->exposed;
    if (state == AE_ASK_DONE) {
        g.state = a->outcome == AE_ATTEMPT_ANSWERED  ? "answered"
                  : a->outcome == AE_ATTEMPT_REFUSED ? "refused"
                                                     : "empty";
        g.finish = ae_finish_name(a->reply.finish);
        g.answered_by = a->reply.model;
        rc = keep_source(s, a, &g, hash, notes, sizeof notes, detail, sizeof detail, err);
        s->answered += a->outcome == AE_ATTEMPT_ANSWERED;
        s->refused += a->outcome == AE_ATTEMPT_REFUSED;
        s->empty += a->outcome == AE_ATTEMPT_EMPTY;
    } else if (state == AE_ASK_FAILED) {
        g.state = "failed";
        g.detail = a->detail;
    }
    const struct ae_attempt_record record = {
        .outcome = ae_attempt_outcome_name(a->outcome),
        .detail = a->detail,
        .status = a->status,
        .wall_ns = a->wall_ns,
        .input_tokens = a->reply.input_tokens,
        .output_tokens = a->reply.output_tokens,
        .reasoning_tokens = a->reply.reasoning_tokens,
        .cost = a->cost,
        .billed = s->model.provider != AE_PROVIDER_COMMAND && a->outcome != AE_ATTEMPT_RATE_LIMITED &&
                  a->outcome != AE_ATTEMPT_SERVER_ERROR && a->outcome != AE_ATTEMPT_REJECTED,
        .response = a->response,
        .response_size = a->response_size,
    };
    if (rc == AE_OK)
        rc = ae_store_attempt_ended(s->store, q->wanted.id, &record, g.state ? &g : NULL, err);
    if (a->detail[0])
        ae_context_say(&s->context, "%s: %s (%s)", q->label, ae_attempt_outcome_name(a->outcome), a->detail);
    else
        ae_context_say(&s->context, "%s: %s", q->label, ae_attempt_outcome_name(a->outcome));
    return rc;
}

/* A prompt of several messages is kept as one text, each message under a line that says whose it is. */
static char *prompt_text(const struct ae_cli_question *q)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = q->message_count == 1 ? NULL : open_memstream(&text, &size);
    if (q->message_count == 1)
        return strdup(q->messages[0].text);
    for (size_t i = 0; out && i < q->message_count; i++)
        fprintf(out, "=== %s ===\n%s\n", q->messages[i].role == AE_MESSAGE_USER ? "USER" : "ASSISTANT",
                q->messages[i].text);
    if (out && fclose(out) != 0) {
        free(text);
        text = NULL;
    }
    return text;
}

static int look_up(struct ae_model_session *s, struct ae_cli_question *questions, size_t count, bool make,
                   struct ae_error *err)
{
    struct ae_generation *wanted = calloc(count + 1, sizeof *wanted);
    struct ae_wanted *found = calloc(count + 1, sizeof *found);
    int rc = wanted && found ? AE_OK : ae_error_set(err, AE_E_NOMEM, "no memory for %zu questions", count);
    for (size_t i = 0; rc == AE_OK && i < count; i++) {
        struct ae_cli_question *q = &questions[i];
        ae_autofree char *text = prompt_text(q);
        if (!text)
            rc = ae_error_set(err, AE_E_NOMEM, "no memory for a prompt");
        if (rc == AE_OK)
            rc = ae_sha256(text, strlen(text), q->prompt, err);
        if (q->turn == 0)
            snprintf(q->chain, sizeof q->chain, "%s", q->prompt);
        /* samples of one task share their prompt */
        if (rc == AE_OK && make && (i == 0 || strcmp(q->prompt, questions[i - 1].prompt) != 0))
            rc = ae_store_prompt_put(s->store, q->prompt, text, err);
        wanted[i] = (struct ae_generation){
            .key = {s->model.name, s->parameters, s->entrant, q->task->id, q->sample, q->turn, q->chain},
            .level = ae_cli_levels[s->values->level],
            .prompt = q->prompt,
            .created_ns = ae_wall_ns(),
        };
    }
    if (rc == AE_OK)
        rc = ae_store_generations_want(s->store, wanted, count, make, found, err);
    for (size_t i = 0; rc == AE_OK && i < count; i++)
        questions[i].wanted = found[i];
    free(wanted);
    free(found);
    return rc;
}

int ae_model_hidden_folders(const struct ae_context *context, const struct ae_model *model, const char *models_path,
                            char *ret[AE_HIDDEN_MAX + 1], struct ae_error *err)
{
    const char *given[2] = {context->bank.folder, ae_cache_root(context->cache)};
    int count = 0;
    for (int i = 0; i < 2; i++)
        if (given[i] && *given[i] && (ret[count] = realpath(given[i], NULL)))
            count++;
    for (char **hide = model->hide; hide && *hide && count < AE_HIDDEN_MAX; hide++)
        if (!(ret[count++] = realpath(*hide, NULL)))
            return ae_error_errno(err, AE_E_INPUT, errno, "%s: cannot hide %s", models_path, *hide);
    return AE_OK;
}

int ae_model_session_ask(struct ae_model_session *s, struct ae_cli_question *questions, size_t count,
                         struct ae_error *err)
{
    char *hidden[AE_HIDDEN_MAX + 1] = {0};
    size_t open = 0;
    int rc = look_up(s, questions, count, true, err);
    struct ae_question *asked = calloc(count + 1, sizeof *asked);
    s->asked = calloc(count + 1, sizeof(*s->asked));
    if (rc == AE_OK && (!asked || !s->asked))
        rc = ae_error_set(err, AE_E_NOMEM, "no memory for %zu questions", count);
    for (size_t i = 0; rc == AE_OK && i < count; i++) {
        if (questions[i].wanted.settled)
            continue;
        s->asked[open] = &questions[i];
        asked[open++] = (struct ae_question){questions[i].messages, questions[i].message_count, questions[i].label};
    }
    s->there_already += count - open;
    if (rc == AE_OK && open)
        rc = ae_model_hidden_folders(&s->context, &s->model, s->values->models_path, hidden, err);
    if (rc == AE_OK && open) {
        struct ae_ask_counts counts = {0};
        const double spent = s->counts.cost + s->counts.assumed;
        const struct ae_ask_options options = {.model = &s->model,
                                               .key = &s->key,
                                               .max_cost = s->max_cost == AE_UNSET ? AE_UNSET : s->max_cost - spent,
                                               .stop = &ae_cli_stop,
                                               .hidden = (const char *const *)hidden,
                                               .data = s,
                                               .sent = on_sent,
                                               .ended = on_ended};
        rc = ae_ask(&options, asked, open, &counts, err);
        s->counts.done += counts.done;
        s->counts.failed += counts.failed;
        s->counts.left += counts.left;
        s->counts.attempts += counts.attempts;
        s->counts.cost += counts.cost;
        s->counts.assumed += counts.assumed;
        s->counts.over_budget |= counts.over_budget;
        s->counts.interrupted |= counts.interrupted;
    }
    for (int i = 0; i < AE_HIDDEN_MAX; i++)
        free(hidden[i]);
    free(asked);
    free(s->asked);
    s->asked = NULL;
    ae_progress_clear(&s->progress);
    return rc;
}

int ae_model_session_estimate(struct ae_model_session *s, struct ae_cli_question *questions, size_t count,
                              struct ae_error *err)
{
    int64_t input = 0, earlier = 0;
    double mean = 0;
    size_t open = 0;
    int rc = look_up(s, questions, count, false, err);
    if (rc == AE_OK)
        rc = ae_store_mean_output(s->store, s->model.name, &mean, &earlier, err);
    if (rc != AE_OK)
        return rc;
    for (size_t i = 0; i < count; i++)
        if (!questions[i].wanted.settled) {
            const struct ae_question q = {questions[i].messages, questions[i].message_count, NULL};
            input += ae_question_tokens(&q);
            open++;
        }
    const int64_t most = (int64_t)open * s->model.max_tokens;
    printf("%s would ask %s for %zu %s (%zu %s there already)\n", s->entrant, s->model.name, open,
           ae_text_plural((int64_t)open, "answer", "answers"), count - open,
           ae_text_plural((int64_t)(count - open), "is", "are"));
    printf("  tokens: about %lld in, at most %lld out", (long long)input, (long long)most);
    if (earlier)
        printf(", about %.0f by the mean of %lld earlier %s", mean * (double)open, (long long)earlier,
               ae_text_plural(earlier, "answer", "answers"));
    printf("\n");
    if (ae_model_cost(&s->model, 0, 0) == AE_UNSET)
        printf("  cost: not known (set price_input and price_output in %s)\n", s->values->models_path);
    else if (earlier)
        printf("  cost: at most %.4g, about %.4g\n", ae_model_cost(&s->model, input, most),
               ae_model_cost(&s->model, input, (int64_t)(mean * (double)open)));
    else
        printf("  cost: at most %.4g\n", ae_model_cost(&s->model, input, most));
    return AE_OK;
}

static int take_tokens(void *data, const struct ae_answer_totals *t)
{
    int64_t *sums = data;
    sums[0] += t->input_tokens;
    sums[1] += t->output_tokens;
    sums[2] += t->reasoning_tokens;
    return 0;
}

bool ae_model_session_summary(struct ae_model_session *s, size_t wanted)
{
    const struct ae_ask_counts *c = &s->counts;
    int64_t tokens[3] = {0};
    (void)ae_store_answer_totals(s->store, s->entrant, take_tokens, tokens, NULL);
    ae_progress_clear(&s->progress);
    printf("%s: %zu wanted, %zu there already, %zu answered", s->entrant, wanted, s->there_already, s->answered);
    if (s->refused)
        printf(", %zu refused", s->refused);
    if (s->empty)
        printf(", %zu empty", s->empty);
    if (c->failed)
        printf(", %zu failed", c->failed);
    if (c->left)
        printf(", %zu not asked", c->left);
    printf("\n");
    if (s->repaired)
        printf("  %zu %s repaired to find a program in %s\n", s->repaired,
               ae_text_plural((int64_t)s->repaired, "answer was", "answers were"),
               ae_text_plural((int64_t)s->repaired, "it (see the record)", "them (see the records)"));
    if (tokens[0] + tokens[1])
        printf("  tokens of this entrant so far: %lld in, %lld out (%lld of them reasoning)\n", (long long)tokens[0],
               (long long)tokens[1], (long long)tokens[2]);
    if (c->cost > 0 || c->assumed > 0)
        printf("  cost of this call: %.4g%s", c->cost, c->assumed > 0 ? "" : "\n");
    if (c->assumed > 0)
        printf(", and up to %.4g for requests that broke off\n", c->assumed);
    if (c->over_budget)
        printf("  --max-cost is reached: the same call with a higher one goes on\n");
    if (c->interrupted)
        printf("  interrupted: the same call goes on\n");
    else if (c->failed)
        printf("  the same call tries the failed ones again\n");
    if (s->exposed)
        fprintf(
            stderr,
            "acceleval: this machine cannot hide folders from a command: it could have read the secret instances in "
            "%s\n",
            s->context.bank.folder);
    fflush(stdout);
    return c->failed == 0 && c->left == 0;
}

/* --- files ------------------------------------------------------------------------------------------------ */

static json_t *count_json(int64_t value)
{
    return value < 0 ? json_null() : json_integer(value);
}

int ae_model_write_files(struct ae_model_session *s, const char *folder, const char *name,
                         const struct ae_generation *g, struct ae_error *err)
{
    char path[4400];
    struct ae_submission submission;
    int rc = ae_store_submission_get(s->store, g->source, &submission, err);
    if (rc != AE_OK)
        return rc;
    snprintf(path, sizeof path, "%s/%s.%s", folder, name, languages[s->values->language].ending);
    rc = ae_file_write(path, submission.source, submission.size, err);
    ae_submission_release(&submission);
    if (rc != AE_OK)
        return rc;
    json_t *json =
        json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:s, s:s, s:s, s:s, s:s, s:b, s:s, s:s, s:i}", "schema", 1,
                  "entrant", g->key.entrant, "model", g->key.model, "answered_by", g->answered_by, "level", g->level,
                  "task", g->key.task, "sample", g->key.sample, "turn", g->key.turn, "prompt_sha256", g->prompt,
                  "state", g->state, "finish", g->finish, "source_sha256", g->source, "extraction", g->notes,
                  "repaired", g->repaired, "detail", g->detail, "tool_version", AE_VERSION, "attempts", g->attempts);
    int bad = json ? 0 : 1;
    if (json) {
        json_t *parameters = json_loads(g->key.parameters, 0, NULL);
        bad |= json_object_set_new(json, "parameters", parameters ? parameters : json_null());
        bad |= json_object_set_new(json, "input_tokens", count_json(g->input_tokens));
        bad |= json_object_set_new(json, "output_tokens", count_json(g->output_tokens));
        bad |= json_object_set_new(json, "reasoning_tokens", count_json(g->reasoning_tokens));
        bad |= json_object_set_new(json, "cost", g->cost_known ? json_real(g->cost) : json_null());
        if (*g->verdict) {
            bad |= json_object_set_new(json, "practice_verdict", json_string(g->verdict));
            bad |= json_object_set_new(json, "practice_speedup",
                                       isfinite(g->speedup) ? json_real(g->speedup) : json_null());
        }
    }
    char *text = bad ? NULL : json_dumps(json, JSON_INDENT(2) | JSON_ENSURE_ASCII);
    json_decref(json);
    if (!text)
        return ae_error_set(err, AE_E_NOMEM, "no memory for the record of an answer");
    snprintf(path, sizeof path, "%s/%s.json", folder, name);
    const size_t length = strlen(text);
    text[length] = '\n'; /* in place of the NUL */
    rc = ae_file_write(path, text, length + 1, err);
    free(text);
    return rc;
}

/* --- other subcommands ------------------------------------------------------------------------------------ */

int ae_cli_subcommand(const char *const *arguments)
{
    struct ae_error err = {0};
    int count = 0;
    while (arguments[count])
        count++;
    const struct ae_command *command = ae_command_find(ae_commands, arguments[0], &err);
    char **argv = calloc((size_t)count + 1, sizeof *argv);
    if (!command || !argv) {
        free(argv);
        return command ? AE_EXIT_ENVIRONMENT : ae_cli_fail(&err);
    }
    for (int i = 0; i < count; i++)
        argv[i] = (char *)(uintptr_t)arguments[i];
    fflush(stdout);
    const int status = command->run(command, count, argv);
    free(argv);
    return status;
}

int ae_cli_evaluate(const char *folder, const char *entrant, const struct ae_task_list *tasks, unsigned sizes,
                    bool quick, int64_t seed, int64_t timeout_s, bool require_sandbox, int64_t device, const char *arch)
{
    char device_text[32];
    const char *eval[28 + 2 * 64] = {"eval", folder, "--resume"}, *report[16] = {"report", "--entrant", entrant};
    char seed_text[32], timeout_text[32];
    int count = 3, report_count = 3;
    for (int size = 0; size < AE_SIZE_COUNT; size++)
        if (sizes & AE_AT(size)) {
            eval[count++] = report[report_count++] = "--size";
            eval[count++] = report[report_count++] = ae_size_name((enum ae_size)size);
        }
    for (size_t i = 0; i < tasks->count && i < 64; i++) {
        eval[count++] = "--task";
        eval[count++] = tasks->items[i]->id;
    }
    if (quick)
        eval[count++] = "--quick";
    if (seed) {
        snprintf(seed_text, sizeof seed_text, "%lld", (long long)seed);
        eval[count++] = "--seed";
        eval[count++] = seed_text;
    }
    if (timeout_s) {
        snprintf(timeout_text, sizeof timeout_text, "%lld", (long long)timeout_s);
        eval[count++] = "--timeout";
        eval[count++] = timeout_text;
    }
    if (device) { /* 0 is the default, of which there may be none */
        snprintf(device_text, sizeof device_text, "%lld", (long long)device);
        eval[count++] = "--device";
        eval[count++] = device_text;
    }
    if (arch) {
        eval[count++] = "--arch";
        eval[count++] = arch;
    }
    if (require_sandbox)
        eval[count++] = "--require-sandbox";
    const int status = ae_cli_subcommand(eval);
    if (status != AE_EXIT_OK && status != AE_EXIT_FAILED && status != AE_EXIT_ENVIRONMENT)
        return status;
    printf("\n");
    const int shown = ae_cli_subcommand(report);
    return shown == AE_EXIT_OK ? status : shown;
}
