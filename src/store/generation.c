#include "store/generation.h"

#include "store/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int ae_store_prompt_put(struct ae_store *store, const char *sha256, const char *text, struct ae_error *err)
{
    static const char action[] = "keep the prompt";
    ae_autostatement sqlite3_stmt *statement = NULL;
    const int r =
        ae_store_prepare(store, "INSERT INTO prompts (sha256, text) VALUES (?1, ?2) ON CONFLICT (sha256) DO NOTHING",
                         &statement, action, err);
    if (r != AE_OK)
        return r;
    ae_bind_text(statement, 1, sha256);
    ae_bind_text(statement, 2, text);
    return ae_store_step_done(store, statement, action, err);
}

int ae_store_prompt_get(struct ae_store *store, const char *sha256, char **ret, struct ae_error *err)
{
    static const char action[] = "look up the prompt";
    ae_autostatement sqlite3_stmt *statement = NULL;
    const int r = ae_store_prepare(store, "SELECT text FROM prompts WHERE sha256 = ?1", &statement, action, err);
    if (r != AE_OK)
        return r;
    ae_bind_text(statement, 1, sha256);
    const int rc = sqlite3_step(statement);
    if (rc == SQLITE_DONE)
        return ae_error_set(err, AE_E_NOTFOUND, "there is no prompt %.64s in %s", sha256, store->path);
    if (rc != SQLITE_ROW)
        return ae_store_error(store, rc, action, err);
    *ret = strdup(ae_column_text(statement, 0));
    return *ret ? AE_OK : ae_error_set(err, AE_E_NOMEM, "no memory for a prompt");
}

static void bind_key(sqlite3_stmt *statement, const struct ae_generation_key *key)
{
    ae_bind_text(statement, 1, key->model);
    ae_bind_text(statement, 2, key->parameters);
    ae_bind_text(statement, 3, key->entrant);
    ae_bind_text(statement, 4, key->task);
    (void)sqlite3_bind_int(statement, 5, key->sample);
    (void)sqlite3_bind_int(statement, 6, key->turn);
    ae_bind_text(statement, 7, key->chain);
}

static int want_one(struct ae_store *store, sqlite3_stmt *insert, sqlite3_stmt *find,
                    const struct ae_generation *wanted, struct ae_wanted *ret, const char *action, struct ae_error *err)
{
    *ret = (struct ae_wanted){0};
    if (insert) {
        bind_key(insert, &wanted->key);
        ae_bind_text(insert, 8, wanted->level);
        ae_bind_text(insert, 9, wanted->prompt);
        (void)sqlite3_bind_int64(insert, 10, wanted->created_ns);
        const int r = ae_store_step_done(store, insert, action, err);
        (void)sqlite3_reset(insert);
        if (r != AE_OK)
            return r;
    }
    bind_key(find, &wanted->key);
    const int rc = sqlite3_step(find);
    if (rc == SQLITE_ROW) {
        const char *state = ae_column_text(find, 1);
        ret->id = sqlite3_column_int64(find, 0);
        ret->settled = strcmp(state, "answered") == 0 || strcmp(state, "empty") == 0 || strcmp(state, "refused") == 0;
    }
    (void)sqlite3_reset(find);
    return rc == SQLITE_ROW || (rc == SQLITE_DONE && !insert)
               ? AE_OK
               : ae_store_error(store, rc == SQLITE_DONE ? SQLITE_CORRUPT : rc, action, err);
}

int ae_store_generations_want(struct ae_store *store, const struct ae_generation *wanted, size_t count, bool make,
                              struct ae_wanted *ret, struct ae_error *err)
{
    static const char action[] = "keep what is asked";
    ae_autostatement sqlite3_stmt *insert = NULL, *find = NULL;
    int r =
        ae_store_prepare(store,
                         "SELECT id, state FROM generations WHERE model = ?1 AND parameters = ?2 AND entrant = ?3 AND"
                         " task = ?4 AND sample = ?5 AND turn = ?6 AND chain = ?7",
                         &find, action, err);
    if (r == AE_OK && make)
        r = ae_store_prepare(
            store,
            "INSERT INTO generations (model, parameters, entrant, task, sample, turn, chain, level, prompt,"
            " created_ns, state) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'asked')"
            " ON CONFLICT (model, parameters, entrant, task, sample, turn, chain) DO NOTHING",
            &insert, action, err);
    if (r == AE_OK && make)
        r = ae_store_begin(store, action, err);
    if (r != AE_OK)
        return r;
    for (size_t i = 0; r == AE_OK && i < count; i++)
        r = want_one(store, insert, find, &wanted[i], &ret[i], action, err);
    if (r == AE_OK && make)
        r = ae_store_commit(store, action, err);
    if (r != AE_OK)
        ae_store_rollback(store);
    return r;
}

int ae_store_attempts_sent(struct ae_store *store, const int64_t *generations, size_t count, int64_t now_ns,
                           struct ae_error *err)
{
    static const char action[] = "note what is sent";
    ae_autostatement sqlite3_stmt *statement = NULL;
    int r = ae_store_begin(store, action, err);
    if (r != AE_OK)
        return r;
    r = ae_store_prepare(store,
                         "INSERT INTO attempts (generation, number, sent_ns, outcome)"
                         " VALUES (?1, (SELECT count(*) + 1 FROM attempts WHERE generation = ?1), ?2, 'sent')",
                         &statement, action, err);
    for (size_t i = 0; r == AE_OK && i < count; i++) {
        (void)sqlite3_bind_int64(statement, 1, generations[i]);
        (void)sqlite3_bind_int64(statement, 2, now_ns);
        r = ae_store_step_done(store, statement, action, err);
        (void)sqlite3_reset(statement);
    }
    if (r == AE_OK)
        r = ae_store_commit(store, action, err);
    if (r != AE_OK)
        ae_store_rollback(store);
    return r;
}

static void bind_count(sqlite3_stmt *statement, int parameter, int64_t value)
{
    (void)(value < 0 ? sqlite3_bind_null(statement, parameter) : sqlite3_bind_int64(statement, parameter, value));
}

static int end_attempt(struct ae_store *store, int64_t generation, const struct ae_attempt_record *attempt,
                       const char *action, struct ae_error *err)
{
    ae_autostatement sqlite3_stmt *statement = NULL;
    const int r =
        ae_store_prepare(store,
                         "UPDATE attempts SET outcome = ?2, detail = ?3, status = ?4, wall_ns = ?5, input_tokens = ?6, "
                         "output_tokens = ?7,"
                         " reasoning_tokens = ?8, cost = ?9, billed = ?10, response = ?11 WHERE generation = ?1"
                         " AND number = (SELECT max(number) FROM attempts WHERE generation = ?1)",
                         &statement, action, err);
    if (r != AE_OK)
        return r;
    (void)sqlite3_bind_int64(statement, 1, generation);
    ae_bind_text(statement, 2, attempt->outcome);
    ae_bind_text(statement, 3, attempt->detail);
    (void)sqlite3_bind_int(statement, 4, attempt->status);
    (void)sqlite3_bind_int64(statement, 5, attempt->wall_ns);
    bind_count(statement, 6, attempt->input_tokens);
    bind_count(statement, 7, attempt->output_tokens);
    bind_count(statement, 8, attempt->reasoning_tokens);
    if (attempt->cost >= 0)
        (void)sqlite3_bind_double(statement, 9, attempt->cost);
    (void)sqlite3_bind_int(statement, 10, attempt->cost >= 0 || attempt->billed);
    if (attempt->response)
        (void)sqlite3_bind_blob64(statement, 11, attempt->response, attempt->response_size, SQLITE_STATIC);
    return ae_store_step_done(store, statement, action, err);
}

static int set_result(struct ae_store *store, int64_t generation, const struct ae_generation *g, const char *action,
                      struct ae_error *err)
{
    ae_autostatement sqlite3_stmt *statement = NULL;
    const int r =
        ae_store_prepare(store,
                         "UPDATE generations SET state = ?2, finish = ?3, answered_by = ?4, answer = ?5, source = ?6,"
                         " notes = ?7, repaired = ?8, detail = ?9 WHERE id = ?1",
                         &statement, action, err);
    if (r != AE_OK)
        return r;
    (void)sqlite3_bind_int64(statement, 1, generation);
    ae_bind_text(statement, 2, g->state);
    ae_bind_text(statement, 3, g->finish ? g->finish : "");
    ae_bind_text(statement, 4, g->answered_by ? g->answered_by : "");
    if (g->answer)
        (void)sqlite3_bind_blob64(statement, 5, g->answer, g->answer_size, SQLITE_STATIC);
    ae_bind_text(statement, 6, g->source ? g->source : "");
    ae_bind_text(statement, 7, g->notes ? g->notes : "");
    (void)sqlite3_bind_int(statement, 8, g->repaired);
    ae_bind_text(statement, 9, g->detail ? g->detail : "");
    return ae_store_step_done(store, statement, action, err);
}

int ae_store_attempt_ended(struct ae_store *store, int64_t generation, const struct ae_attempt_record *attempt,
                           const struct ae_generation *result, struct ae_error *err)
{
    static const char action[] = "keep the answer";
    int r = ae_store_begin(store, action, err);
    if (r != AE_OK)
        return r;
    r = end_attempt(store, generation, attempt, action, err);
    if (r == AE_OK && result)
        r = set_result(store, generation, result, action, err);
    if (r == AE_OK)
        r = ae_store_commit(store, action, err);
    if (r != AE_OK)
        ae_store_rollback(store);
    return r;
}

int ae_store_generation_judged(struct ae_store *store, int64_t generation, const char *verdict, const char *detail,
                               double speedup, struct ae_error *err)
{
    static const char action[] = "keep how a version did";
    ae_autostatement sqlite3_stmt *statement = NULL;
    const int r =
        ae_store_prepare(store, "UPDATE generations SET verdict = ?2, verdict_detail = ?3, speedup = ?4 WHERE id = ?1",
                         &statement, action, err);
    if (r != AE_OK)
        return r;
    (void)sqlite3_bind_int64(statement, 1, generation);
    ae_bind_text(statement, 2, verdict);
    ae_bind_text(statement, 3, detail);
    if (isfinite(speedup))
        (void)sqlite3_bind_double(statement, 4, speedup);
    return ae_store_step_done(store, statement, action, err);
}

int ae_store_generations(struct ae_store *store, const struct ae_generation_filter *filter,
                         int (*visit)(void *data, const struct ae_generation *generation), void *data,
                         struct ae_error *err)
{
    static const char action[] = "list the generations";
    ae_autostatement sqlite3_stmt *statement = NULL;
    /* Each way to ask has its own condition, so that each finds its index. */
    static const char select[] =
        "SELECT g.id, g.model, g.parameters, g.entrant, g.task, g.sample, g.turn, g.chain, g.level, g.prompt,"
        " g.created_ns, g.state, g.finish, g.answered_by, g.answer, g.source, g.notes, g.repaired, g.detail, g.verdict,"
        " g.verdict_detail, g.speedup, count(a.number), sum(a.input_tokens), sum(a.output_tokens),"
        " sum(a.reasoning_tokens), sum(a.cost), sum(a.cost IS NULL AND a.billed)"
        " FROM generations g LEFT JOIN attempts a ON a.generation = g.id WHERE ";
    char sql[1200];
    snprintf(sql, sizeof sql,
             "%s%s AND (?3 IS NULL OR g.model = ?3) GROUP BY g.id ORDER BY g.entrant, g.task, g.sample,"
             " g.turn, g.id",
             select,
             filter->id        ? "g.id = ?1 AND (?2 IS NULL OR g.entrant = ?2)"
             : filter->entrant ? "g.entrant = ?2"
                               : "TRUE");
    int r = ae_store_prepare(store, sql, &statement, action, err);
    if (r != AE_OK)
        return r;
    (void)sqlite3_bind_int64(statement, 1, filter->id);
    ae_bind_text(statement, 2, filter->entrant);
    ae_bind_text(statement, 3, filter->model);
    int rc;
    while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
#define COUNT(column)                                                                                                  \
    (sqlite3_column_type(statement, column) == SQLITE_NULL ? -1 : sqlite3_column_int64(statement, column))
        const struct ae_generation g = {
            .id = sqlite3_column_int64(statement, 0),
            .key = {.model = ae_column_text(statement, 1),
                    .parameters = ae_column_text(statement, 2),
                    .entrant = ae_column_text(statement, 3),
                    .task = ae_column_text(statement, 4),
                    .sample = ae_column_int(statement, 5),
                    .turn = ae_column_int(statement, 6),
                    .chain = ae_column_text(statement, 7)},
            .level = ae_column_text(statement, 8),
            .prompt = ae_column_text(statement, 9),
            .created_ns = sqlite3_column_int64(statement, 10),
            .state = ae_column_text(statement, 11),
            .finish = ae_column_text(statement, 12),
            .answered_by = ae_column_text(statement, 13),
            .answer = sqlite3_column_blob(statement, 14),
            .answer_size = (size_t)sqlite3_column_bytes(statement, 14),
            .source = ae_column_text(statement, 15),
            .notes = ae_column_text(statement, 16),
            .repaired = ae_column_int(statement, 17) != 0,
            .detail = ae_column_text(statement, 18),
            .verdict = ae_column_text(statement, 19),
            .verdict_detail = ae_column_text(statement, 20),
            .speedup = sqlite3_column_type(statement, 21) == SQLITE_NULL ? NAN : sqlite3_column_double(statement, 21),
            .attempts = ae_column_int(statement, 22),
            .input_tokens = COUNT(23),
            .output_tokens = COUNT(24),
            .reasoning_tokens = COUNT(25),
            .cost = sqlite3_column_double(statement, 26),
            .cost_known = sqlite3_column_type(statement, 26) != SQLITE_NULL && sqlite3_column_int64(statement, 27) == 0,
        };
#undef COUNT
        if ((r = visit(data, &g)) != 0)
            return r;
    }
    return rc == SQLITE_DONE ? AE_OK : ae_store_error(store, rc, action, err);
}

int ae_store_answer_totals(struct ae_store *store, const char *entrant,
                           int (*visit)(void *data, const struct ae_answer_totals *totals), void *data,
                           struct ae_error *err)
{
    static const char action[] = "add up the answers";
    ae_autostatement sqlite3_stmt *statement = NULL;
    int r = ae_store_prepare(
        store,
        "WITH newest AS (SELECT max(id) AS id FROM generations WHERE entrant = ?1 OR ?1 IS NULL GROUP BY entrant, "
        "model, task, sample, turn),"
        " answers AS (SELECT g.*, EXISTS (SELECT 1 FROM measurements m WHERE m.submission = g.source AND m.task = "
        "g.task"
        "   AND m.entrant = g.entrant AND m.sample = g.sample AND m.verdict = 'pass') AS passed"
        "   FROM generations g JOIN newest n ON n.id = g.id),"
        " bills AS (SELECT g.entrant AS entrant, g.model AS model, count(*) AS attempts, total(a.input_tokens) AS "
        "input,"
        "   total(a.output_tokens) AS output, total(a.reasoning_tokens) AS reasoning, total(a.cost) AS cost,"
        "   sum(a.cost IS NULL AND a.billed) AS unknown"
        "   FROM generations g JOIN attempts a ON a.generation = g.id WHERE g.entrant = ?1 OR ?1 IS NULL"
        "   GROUP BY g.entrant, g.model)"
        " SELECT s.entrant, s.model, count(*), sum(state = 'answered'), sum(state = 'empty'), sum(state = 'refused'),"
        "  sum(state = 'failed'), sum(state = 'asked'), sum(state = 'answered' AND detail <> ''), sum(repaired), "
        "sum(passed),"
        "  sum(passed AND repaired), b.attempts, b.input, b.output, b.reasoning, b.cost, b.unknown"
        " FROM answers s LEFT JOIN bills b ON b.entrant = s.entrant AND b.model = s.model"
        " GROUP BY s.entrant, s.model ORDER BY s.entrant, s.model",
        &statement, action, err);
    if (r != AE_OK)
        return r;
    ae_bind_text(statement, 1, entrant);
    int rc;
    while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
        const struct ae_answer_totals totals = {
            .entrant = ae_column_text(statement, 0),
            .model = ae_column_text(statement, 1),
            .wanted = sqlite3_column_int64(statement, 2),
            .answered = sqlite3_column_int64(statement, 3),
            .empty = sqlite3_column_int64(statement, 4),
            .refused = sqlite3_column_int64(statement, 5),
            .failed = sqlite3_column_int64(statement, 6),
            .open = sqlite3_column_int64(statement, 7),
            .no_program = sqlite3_column_int64(statement, 8),
            .repaired = sqlite3_column_int64(statement, 9),
            .passed = sqlite3_column_int64(statement, 10),
            .passed_repaired = sqlite3_column_int64(statement, 11),
            .attempts = sqlite3_column_int64(statement, 12),
            .input_tokens = sqlite3_column_int64(statement, 13),
            .output_tokens = sqlite3_column_int64(statement, 14),
            .reasoning_tokens = sqlite3_column_int64(statement, 15),
            .cost = sqlite3_column_double(statement, 16),
            .cost_unknown = sqlite3_column_int64(statement, 17),
        };
        if ((r = visit(data, &totals)) != 0)
            return r;
    }
    return rc == SQLITE_DONE ? AE_OK : ae_store_error(store, rc, action, err);
}

int ae_store_mean_output(struct ae_store *store, const char *model, double *ret, int64_t *ret_count,
                         struct ae_error *err)
{
    static const char action[] = "look at earlier answers";
    ae_autostatement sqlite3_stmt *statement = NULL;
    const int r = ae_store_prepare(store,
                                   "SELECT avg(a.output_tokens), count(a.output_tokens) FROM attempts a"
                                   " JOIN generations g ON g.id = a.generation WHERE g.model = ?1",
                                   &statement, action, err);
    if (r != AE_OK)
        return r;
    ae_bind_text(statement, 1, model);
    const int rc = sqlite3_step(statement);
    if (rc != SQLITE_ROW)
        return ae_store_error(store, rc, action, err);
    *ret = sqlite3_column_double(statement, 0);
    *ret_count = sqlite3_column_int64(statement, 1);
    return AE_OK;
}
