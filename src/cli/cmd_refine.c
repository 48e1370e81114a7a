/* acceleval refine: a model improves its own programs. Versions are judged on the practice bank and timed on instances
 * of a known seed, so that nothing of the secret bank reaches the model; the fastest right version of each sample is
 * then evaluated like any other program, by a measurement that took no part in choosing it. */
#include "cli/model.h"

#include "base/clock.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/submission.h"
#include "profile/profile.h"
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAID_MAX    4000 /* bytes of an answer without a program that go back */
#define TIMING_SEED 1 /* of the instances that versions are timed on */

struct values {
    struct ae_model_values model; /* first */
    unsigned sizes;
    int64_t turns, gpu, timeout_s, seed;
    const char *arch;
    bool evaluate, quick;
};

const struct ae_option ae_refine_options[] = {
    AE_MODEL_OPTIONS,
    {.name = "turns",
     .kind = AE_OPTION_INTEGER,
     .help = "answers in a row, the first included",
     .fallback = "4",
     .lo = 1,
     .hi = 100,
     .offset = offsetof(struct values, turns)},
    {.name = "size",
     .letter = 's',
     .kind = AE_OPTION_SIZE,
     .one = true,
     .help = "size that versions are judged and timed at",
     .fallback = "small",
     .offset = offsetof(struct values, sizes)},
    {.name = "device",
     .kind = AE_OPTION_INTEGER,
     .help = "ordinal of the GPU",
     .fallback = "0",
     .lo = 0,
     .hi = 63,
     .offset = offsetof(struct values, gpu)},
    {.name = "arch",
     .kind = AE_OPTION_STRING,
     .argument = "sm_NN",
     .help = "architecture to compile .cu for; default: the device's own, else sm_90",
     .offset = offsetof(struct values, arch)},
    {.name = "timeout",
     .kind = AE_OPTION_INTEGER,
     .argument = "SECONDS",
     .help = "limit of one call; 0: the larger of 10 s and twice the reference",
     .fallback = "0",
     .lo = 0,
     .hi = 86400,
     .offset = offsetof(struct values, timeout_s)},
    {.name = "evaluate",
     .kind = AE_OPTION_FLAG,
     .help = "evaluate and report the best versions at the end; --no-evaluate leaves that out",
     .fallback = "true",
     .offset = offsetof(struct values, evaluate)},
    {.name = "quick",
     .letter = 'q',
     .kind = AE_OPTION_FLAG,
     .help = "in that evaluation: three timed calls only",
     .offset = offsetof(struct values, quick)},
    {.name = "seed",
     .kind = AE_OPTION_INTEGER,
     .help = "in that evaluation: instances from this seed instead of the secret bank; results say so",
     .lo = 1,
     .hi = INT64_MAX,
     .offset = offsetof(struct values, seed)},
    {0},
};

/* One sample of one task on its way. */
struct chain {
    const struct ae_task *task;
    int sample;
    bool over;              /* an answer did not come */
    char chain[AE_SHA256_HEX];
    struct ae_message messages[3]; /* prompt, last version, feedback */
    int64_t version;        /* generation of the turn under way */
    int64_t best, last;     /* generations; 0: none */
    double best_speedup;    /* NaN: no right version */
    int versions;
};

struct refinement {
    struct values values;
    struct ae_model_session session;
    struct ae_context timing; /* the session's, with a bank of its own */
    enum ae_size size;
    struct chain *chains;
    size_t count;
};

/* What goes to a provider is UTF-8, whatever a compiler or program printed. */
static char *valid_copy(const char *text)
{
    char *copy = text ? strdup(text) : NULL;
    for (char *p = copy; p && *p;) {
        uint32_t character;
        const size_t n = ae_utf8_decode(p, &character);
        if (n == 0 || ((unsigned char)*p < 0x20 && *p != '\n' && *p != '\t'))
            *p++ = '?';
        else
            p += n;
    }
    return copy;
}

#define SENTENCES 3 /* of a profile that go back to the model */

/* --- one version ------------------------------------------------------------------------------------------- */

struct judgement {
    char verdict[32], detail[AE_DETAIL_TEXT], mismatch[256];
    char notes[2048]; /* where the wait of a right version goes; "": not known */
    char *log;
    double speedup, call_ms, fresh_ms; /* NaN */
};

static double median_ms(const struct ae_measurement *m, enum ae_trial_kind kind)
{
    double values[AE_TIMINGS_MAX];
    size_t n = 0;
    for (int i = 0; i < m->trial_count && n < AE_TIMINGS_MAX; i++)
        if (m->trials[i].kind == kind && m->trials[i].verdict == AE_PASS && m->trials[i].call_ns > 0)
            values[n++] = (double)m->trials[i].call_ns * 1e-6;
    ae_sort(values, n);
    return ae_median(values, n);
}

static void take_verdict(const struct ae_measurement *m, const struct ae_mismatch *mismatch, struct judgement *ret)
{
    snprintf(ret->verdict, sizeof ret->verdict, "%s", ae_verdict_name(m->verdict));
    snprintf(ret->detail, sizeof ret->detail, "%s%s%s",
             m->verdict == AE_VIOLATION ? ae_violation_name(m->violation) : "", m->verdict == AE_VIOLATION ? ": " : "",
             m->detail);
    if (mismatch && mismatch->known)
        snprintf(ret->mismatch, sizeof ret->mismatch, "family %s, %s[%zu] = %.9g, expected %.9g",
                 m->task->families[mismatch->family].name, m->task->args[mismatch->arg].name, mismatch->index,
                 mismatch->got, mismatch->expected);
    if (m->log && m->verdict != AE_PASS) {
        free(ret->log);
        ret->log = valid_copy(m->log);
    }
}

/* Shares of the phases, and the first sentences with their mends; on the practice bank. Without it the version is worth the
 * same, so nothing here fails. */
static void take_profile(struct refinement *r, const struct ae_submission_info *info, struct judgement *ret)
{
    struct ae_profile p;
    struct ae_error ignored;
    const struct ae_profile_options options = {.timeout_ns = r->values.timeout_s * AE_SEC, .quick = true};
    size_t used = 0;
    if (ae_profile_run(&r->session.context, info, r->size, &options, &p, &ignored) == AE_OK && p.profiled_calls > 0) {
        for (int phase = 0; phase < AE_PHASE_COUNT; phase++) {
            const double share = p.facts.call_ns > 0 ? (double)p.facts.phase[phase].own_ns / (double)p.facts.call_ns : 0;
            if (share >= 0.005 && used < sizeof ret->notes / 2)
                used += (size_t)snprintf(ret->notes + used, sizeof ret->notes - used, "%s%s %.0f %%",
                                         used ? ", " : "Where the time of a profiled call goes: ",
                                         ae_phase_name((enum ae_phase)phase), 100 * share);
        }
        used += (size_t)snprintf(ret->notes + used, sizeof ret->notes - used, "%s", used ? ".\n" : "");
        for (int i = 0; i < p.bottleneck_count && i < SENTENCES && used < sizeof ret->notes - 1; i++)
            used += (size_t)snprintf(ret->notes + used, sizeof ret->notes - used, "- %s (%s)\n", p.bottlenecks[i].text,
                                     p.bottlenecks[i].rule->mend);
    }
    ae_profile_release(&p);
}

static int judge_version(struct refinement *r, const struct chain *chain, const struct ae_submission *submission,
                         struct judgement *ret, struct ae_error *err)
{
    struct ae_submission_item item = {
        .task = chain->task,
        .kind = r->values.model.language == AE_PROMPT_CUDA ? AE_BUILD_CUDA
                : r->values.model.language == AE_PROMPT_C  ? AE_BUILD_C
                                                           : AE_BUILD_CPP,
        .sample = chain->sample,
        .source = {(unsigned char *)submission->source, submission->size},
    };
    struct ae_submission_list list = {&item, 1};
    struct ae_measurement m;
    struct ae_mismatch mismatch;
    *ret = (struct judgement){.speedup = NAN, .call_ms = NAN, .fresh_ms = NAN};
    item.target = item.kind == AE_BUILD_CUDA ? AE_CUDA : AE_CPU;
    snprintf(item.entrant, sizeof item.entrant, "%s", r->session.entrant);
    snprintf(item.path, sizeof item.path, "%s.%d", chain->task->id, chain->sample);
    const int rc = ae_items_build(&list, &r->session.context, 1, r->values.arch, err);
    if (rc != AE_OK)
        return rc;
    const struct ae_submission_info info = {item.task, item.target, item.entrant, item.sample, item.path, &item.build};
    struct ae_evaluate_options options = {
        .practice = true, .timeout_ns = r->values.timeout_s * AE_SEC};
    ae_context_say(&r->session.context, "judging %s.%d", chain->task->id, chain->sample);
    cpu_set_t cores; /* pinned for the measurement only: compilers and requests use the whole machine */
    const bool known = sched_getaffinity(0, sizeof cores, &cores) == 0;
    if (known)
        ae_context_pin(&r->session.context);
    ae_evaluate(&r->session.context, &info, r->size, &options, &m, &mismatch);
    take_verdict(&m, &mismatch, ret);
    const bool right = m.verdict == AE_PASS;
    ae_measurement_release(&m);
    if (right) {
        options.practice = false;
        options.quick = true;
        ae_evaluate(&r->timing, &info, r->size, &options, &m, NULL);
        take_verdict(&m, NULL, ret); /* a race, or state that is carried, may show only now */
        if (m.verdict == AE_PASS) {
            struct ae_speedup speedup;
            ae_cli_speedup(&m, &speedup);
            ret->speedup = speedup.s;
            ret->call_ms = median_ms(&m, AE_TRIAL_TIMED);
            ret->fresh_ms = median_ms(&m, AE_TRIAL_FRESH);
            take_profile(r, &info, ret);
        }
        ae_measurement_release(&m);
    }
    if (known)
        (void)sched_setaffinity(0, sizeof cores, &cores);
    ae_build_result_release(&item.build);
    return AE_OK;
}

/* The device is held while versions are judged, and free while the model thinks. */
static int hold_device(struct refinement *r, bool hold, struct ae_error *err)
{
    if (r->values.model.language != AE_PROMPT_CUDA)
        return AE_OK;
    const int rc = ae_context_device(&r->session.context, (int)r->values.gpu, hold, err);
    r->timing.device = r->session.context.device;
    snprintf(r->timing.no_device, sizeof r->timing.no_device, "%s", r->session.context.no_device);
    return rc == AE_E_TIMEOUT ? rc : AE_OK; /* no device is a verdict of each version */
}

/* --- one turn ---------------------------------------------------------------------------------------------- */

struct answer { /* what is needed of a generation after the walk */
    bool found;
    char *text; /* where it holds no program: the beginning of what was said */
    char source[AE_SHA256_HEX], state[16], detail[600];
};

static int take_answer(void *data, const struct ae_generation *g)
{
    struct answer *a = data;
    a->found = *g->source != 0;
    snprintf(a->source, sizeof a->source, "%s", g->source);
    snprintf(a->state, sizeof a->state, "%s", g->state);
    snprintf(a->detail, sizeof a->detail, "%s", g->detail);
    free(a->text);
    a->text =
        *g->detail ? strndup(g->answer ? g->answer : "", g->answer_size < SAID_MAX ? g->answer_size : SAID_MAX) : NULL;
    return AE_OK;
}

static void set_text(struct ae_message *message, enum ae_role_of_message role, char *text)
{
    free(message->text);
    *message = (struct ae_message){role, text};
}

static int finish_turn(struct refinement *r, struct chain *c, int turn, struct ae_error *err)
{
    struct answer answer = {0};
    struct ae_submission submission = {0};
    struct judgement judgement;
    const struct ae_generation_filter filter = {.id = c->version};
    int rc = ae_store_generations(r->session.store, &filter, take_answer, &answer, err);
    if (rc != AE_OK || !answer.found) {
        c->over = true;
        free(answer.text);
        return rc;
    }
    rc = ae_store_submission_get(r->session.store, answer.source, &submission, err);
    if (rc == AE_OK)
        rc = judge_version(r, c, &submission, &judgement, err);
    if (rc != AE_OK) {
        ae_submission_release(&submission);
        free(answer.text);
        return rc;
    }
    rc = ae_store_generation_judged(r->session.store, c->version, judgement.verdict, judgement.detail,
                                    judgement.speedup, err);
    c->versions++;
    if (!answer.text || !c->last)
        c->last = c->version;
    if (isfinite(judgement.speedup) && !(judgement.speedup <= c->best_speedup)) {
        c->best_speedup = judgement.speedup;
        c->best = c->version;
    }
    ae_progress_clear(&r->session.progress);
    if (isfinite(judgement.speedup))
        printf("%-34s %d  V%d  %-15s %8.2fx\n", c->task->id, c->sample, turn, judgement.verdict, judgement.speedup);
    else {
        ae_autofree char *detail = ae_cli_printable(*answer.detail ? answer.detail : judgement.detail);
        printf("%-34s %d  V%d  %-15s %.120s\n", c->task->id, c->sample, turn, judgement.verdict, detail ? detail : "");
    }
    fflush(stdout);
    const struct ae_feedback feedback = {
        .verdict = *answer.detail ? NULL : judgement.verdict,
        .detail = *answer.detail ? answer.detail : judgement.detail,
        .log = judgement.log,
        .mismatch = judgement.mismatch[0] ? judgement.mismatch : NULL,
        .speedup = judgement.speedup,
        .best_speedup = c->best_speedup,
        .call_ms = judgement.call_ms,
        .fresh_ms = judgement.fresh_ms,
        .notes = judgement.notes,
        .turn = turn + 2,
        .turns = (int)r->values.turns,
    };
    char *said = NULL, *shown = valid_copy(answer.text ? answer.text : submission.source);
    ae_autofree char *raw = ae_prompt_feedback(&feedback);
    char *asked = valid_copy(raw);
    if (rc == AE_OK &&
        (!shown || !asked ||
         (answer.text ? asprintf(&said, "%s\n", shown) : asprintf(&said, "~~~~~~\n%s\n~~~~~~\n", shown)) < 0))
        rc = ae_error_set(err, AE_E_NOMEM, "no memory for the next turn");
    free(answer.text);
    free(shown);
    if (rc == AE_OK) {
        set_text(&c->messages[1], AE_MESSAGE_ASSISTANT, said);
        set_text(&c->messages[2], AE_MESSAGE_USER, asked);
    } else {
        free(said);
        free(asked);
    }
    free(judgement.log);
    ae_submission_release(&submission);
    return rc;
}

static int ask_turn(struct refinement *r, int turn, struct ae_error *err)
{
    struct ae_cli_question *questions = calloc(r->count + 1, sizeof *questions);
    size_t n = 0;
    if (!questions)
        return ae_error_set(err, AE_E_NOMEM, "no memory for the questions");
    for (size_t i = 0; i < r->count; i++) {
        struct chain *c = &r->chains[i];
        if (c->over)
            continue;
        struct ae_cli_question *q = &questions[n++];
        *q = (struct ae_cli_question){.task = c->task, .sample = c->sample, .turn = turn, .messages = c->messages,
                                      .message_count = turn ? 3 : 1};
        snprintf(q->chain, sizeof q->chain, "%s", c->chain);
        snprintf(q->label, sizeof q->label, "%s.%d.%d", c->task->id, c->sample, turn);
    }
    int rc;
    if (r->values.model.dry_run)
        rc = ae_model_session_estimate(&r->session, questions, n, err);
    else
        rc = ae_model_session_ask(&r->session, questions, n, err);
    n = 0;
    for (size_t i = 0; i < r->count; i++) {
        struct chain *c = &r->chains[i];
        if (c->over)
            continue;
        snprintf(c->chain, sizeof c->chain, "%s", questions[n].chain);
        c->version = questions[n++].wanted.id;
    }
    free(questions);
    return rc;
}

static int make_chains(struct refinement *r, struct ae_error *err)
{
    const struct ae_model_values *v = &r->values.model;
    const struct ae_task **tasks = NULL;
    size_t task_count = 0;
    int rc = ae_model_session_tasks(&r->session, &tasks, &task_count, err);
    if (rc != AE_OK)
        return rc;
    r->chains = calloc(task_count * (size_t)v->samples + 1, sizeof *r->chains);
    if (!r->chains)
        rc = ae_error_set(err, AE_E_NOMEM, "no memory for the samples");
    for (size_t t = 0; rc == AE_OK && t < task_count; t++)
        for (int k = 0; rc == AE_OK && k < v->samples; k++) {
            struct chain *c = &r->chains[r->count++];
            *c = (struct chain){.task = tasks[t], .sample = k, .best_speedup = NAN};
            rc = ae_cli_prompt(&r->session.context, tasks[t], (enum ae_prompt_level)v->level,
                               (enum ae_prompt_language)v->language, v->device, r->session.recipe, &c->messages[0].text,
                               c->chain, err);
        }
    free(tasks);
    return rc;
}

struct writing {
    struct refinement *r;
    const char *folder;
    bool version;
    struct ae_error *err;
};

static int write_one(void *data, const struct ae_generation *g)
{
    const struct writing *w = data;
    char name[128];
    if (!*g->source)
        return AE_OK;
    if (w->version)
        snprintf(name, sizeof name, "%.100s.%d.V%d", g->key.task, g->key.sample, g->key.turn);
    else
        snprintf(name, sizeof name, "%.100s.%d", g->key.task, g->key.sample);
    return ae_model_write_files(&w->r->session, w->folder, name, g, w->err);
}

static int write_version(struct refinement *r, int64_t generation, const char *folder, bool version,
                         struct ae_error *err)
{
    struct writing w = {r, folder, version, err};
    const struct ae_generation_filter filter = {.id = generation};
    return generation ? ae_store_generations(r->session.store, &filter, write_one, &w, err) : AE_OK;
}

static int turns(struct refinement *r, struct ae_error *err)
{
    char versions[4200];
    snprintf(versions, sizeof versions, "%s/versions", r->session.folder);
    int rc = ae_folder_make(versions, err);
    for (int turn = 0; rc == AE_OK && turn < r->values.turns && !ae_cli_stop; turn++) {
        rc = ask_turn(r, turn, err);
        if (rc == AE_OK)
            rc = hold_device(r, true, err);
        for (size_t i = 0; rc == AE_OK && i < r->count && !ae_cli_stop; i++) {
            struct chain *c = &r->chains[i];
            if (c->over)
                continue;
            rc = finish_turn(r, c, turn, err);
            if (rc == AE_OK && !c->over)
                rc = write_version(r, c->version, versions, true, err);
        }
        (void)hold_device(r, false, NULL);
    }
    for (size_t i = 0; rc == AE_OK && i < r->count; i++) /* no right one: the last stands for the sample */
        rc = write_version(r, r->chains[i].best ? r->chains[i].best : r->chains[i].last, r->session.folder, false, err);
    return rc;
}

static void note_useless(const struct values *values, uint64_t given)
{
    static const char *const of_gpu[] = {"device", "arch"}, *const of_evaluation[] = {"quick", "seed"};
    for (int i = 0; i < 2; i++) {
        if (values->model.language != AE_PROMPT_CUDA && ae_option_given(ae_refine_options, given, of_gpu[i]))
            ae_cli_note("--%s changes nothing: the programs are for the CPU", of_gpu[i]);
        if (!values->evaluate && ae_option_given(ae_refine_options, given, of_evaluation[i]))
            ae_cli_note("--%s changes nothing: it is for the evaluation at the end, which --no-evaluate leaves out",
                        of_evaluation[i]);
    }
}

int ae_cmd_refine(const struct ae_command *self, int argc, char **argv)
{
    struct refinement r = {0};
    struct ae_error err = {0};
    bool complete = false;
    char folder[4096] = "", entrant[64] = "";
    uint64_t given = 0;
    const int done = ae_cli_parse_given(self, argc, argv, &r.values, NULL, &given);
    if (done >= 0)
        return done;
    const bool for_gpu = r.values.model.language == AE_PROMPT_CUDA;
    note_useless(&r.values, given);
    while (!(r.values.sizes & AE_AT(r.size)))
        r.size++;
    ae_cli_stop_on_signals();
    int rc = ae_model_session_open(&r.session, &r.values.model, "-refined", &err);
    if (rc == AE_OK)
        rc = make_chains(&r, &err);
    if (rc == AE_OK && r.values.model.dry_run) {
        rc = ask_turn(&r, 0, &err);
        printf("  this is one of %lld %s; each later one also carries the last version and what became of it\n",
               (long long)r.values.turns, ae_text_plural(r.values.turns, "turn", "turns"));
        complete = true;
    } else if (rc == AE_OK) {
        r.timing = r.session.context;
        ae_bank_from_seed(&r.timing.bank, TIMING_SEED);
        rc = turns(&r, &err);
        size_t right = 0, with_version = 0;
        for (size_t i = 0; i < r.count; i++) {
            right += r.chains[i].best != 0;
            with_version += r.chains[i].versions > 0;
        }
        /* a budget that is spent is an end as good as the last turn, as long as every sample has something to show */
        complete = ae_model_session_summary(&r.session, r.count * (size_t)r.values.turns) ||
                   (r.session.counts.over_budget && r.session.counts.failed == 0 && with_version == r.count);
        complete = complete && !ae_cli_stop;
        printf("  %zu of %zu %s a right version\n", right, r.count,
               ae_text_plural((int64_t)r.count, "sample has", "samples have"));
        snprintf(folder, sizeof folder, "%s", r.session.folder);
        snprintf(entrant, sizeof entrant, "%s", r.session.entrant);
    }
    for (size_t i = 0; i < r.count; i++)
        for (int k = 0; k < 3; k++)
            free(r.chains[i].messages[k].text);
    free(r.chains);
    ae_model_session_close(&r.session);
    int status = rc != AE_OK ? ae_cli_fail(&err) : complete ? AE_EXIT_OK : ae_cli_stop ? AE_EXIT_FAILED : AE_EXIT_ENVIRONMENT;
    if (status == AE_EXIT_OK && !r.values.model.dry_run && r.values.evaluate)
        status = ae_cli_evaluate(folder, entrant, &r.values.model.tasks, r.values.sizes, r.values.quick, r.values.seed,
                                 r.values.timeout_s, false, for_gpu ? r.values.gpu : 0, for_gpu ? r.values.arch : NULL);
    ae_options_release(ae_refine_options, &r.values);
    return status;
}
