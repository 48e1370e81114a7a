/* Generations in the store: asked once, kept whole, counted with every attempt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "store/generation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROMPT "1111111111111111111111111111111111111111111111111111111111111111"
#define SOURCE "2222222222222222222222222222222222222222222222222222222222222222"

static char folder[64], path[128];
static struct ae_store *store;
static struct ae_error err;

static int setup(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/ae-generation-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/results.db", folder);
    return ae_store_open(&store, path, AE_STORE_WRITE, &err);
}

static int teardown(void **state)
{
    (void)state;
    ae_store_close(store);
    return ae_folder_remove(folder, NULL);
}

static void ok(int rc)
{
    if (rc != AE_OK)
        fail_msg("%s", err.text);
}

static struct ae_generation wanted(const char *entrant, int sample, int turn)
{
    return (struct ae_generation){.key = {"m", "{\"temperature\":1}", entrant, "alpha", sample, turn, PROMPT},
                                  .level = "L3", .prompt = PROMPT, .created_ns = 7};
}

static void a_question_is_asked_once(void **state)
{
    (void)state;
    struct ae_generation want[3] = {wanted("e", 0, 0), wanted("e", 1, 0), wanted("e", 0, 1)};
    struct ae_wanted got[3], again[3];
    assert_int_not_equal(ae_store_generations_want(store, want, 3, true, got, &err), AE_OK); /* no such prompt yet */
    ok(ae_store_prompt_put(store, PROMPT, "the prompt", &err));
    ok(ae_store_prompt_put(store, PROMPT, "the prompt", &err));
    ok(ae_store_generations_want(store, want, 3, false, got, &err));
    assert_int_equal(got[0].id, 0); /* looking makes nothing */
    ok(ae_store_generations_want(store, want, 3, true, got, &err));
    assert_true(got[0].id > 0 && got[1].id > got[0].id && got[2].id > got[1].id && !got[0].settled);
    const int64_t ids[] = {got[0].id, got[1].id};
    ok(ae_store_attempts_sent(store, ids, 2, 9, &err));
    const struct ae_attempt_record failed = {.outcome = "server_error",
                                             .detail = "oops",
                                             .status = 500,
                                             .input_tokens = -1,
                                             .output_tokens = -1,
                                             .reasoning_tokens = -1,
                                             .cost = -1};
    ok(ae_store_attempt_ended(store, ids[0], &failed, NULL, &err));
    ok(ae_store_attempts_sent(store, ids, 1, 10, &err));
    static const char answer[] = "an \0 answer";
    const struct ae_generation result = {.state = "answered",
                                         .finish = "stop",
                                         .answered_by = "m-1",
                                         .answer = answer,
                                         .answer_size = sizeof answer - 1,
                                         .source = SOURCE,
                                         .notes = "open_fence",
                                         .repaired = true};
    const struct ae_attempt_record good = {.outcome = "answered",
                                           .detail = "",
                                           .status = 200,
                                           .wall_ns = 5,
                                           .input_tokens = 100,
                                           .output_tokens = 50,
                                           .reasoning_tokens = 30,
                                           .cost = 0.5,
                                           .response = "{}",
                                           .response_size = 2};
    ok(ae_store_attempt_ended(store, ids[0], &good, &result, &err));
    /* the process may die now: what was settled stays so, what was only sent is open and may have been billed */
    ae_store_close(store);
    ok(ae_store_open(&store, path, AE_STORE_WRITE, &err));
    ok(ae_store_generations_want(store, want, 3, true, again, &err));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(again[i].id, got[i].id);
        assert_int_equal(again[i].settled, i == 0);
    }
    /* another model, setting, prompt or entrant is another question */
    struct ae_generation other = wanted("e", 0, 0);
    other.key.parameters = "{}";
    ok(ae_store_generations_want(store, &other, 1, true, again, &err));
    assert_true(again[0].id > got[2].id && !again[0].settled);
}

struct sum {
    int count, attempts, known;
    char answer[16];
    size_t answer_size;
    int64_t input, output, reasoning;
    double cost, speedup;
    char verdict[16], notes[16];
    bool repaired;
};

static int add(void *data, const struct ae_generation *g)
{
    struct sum *sum = data;
    if (sum->count++ == 0) {
        sum->attempts = g->attempts;
        sum->answer_size = g->answer_size;
        memcpy(sum->answer, g->answer, g->answer_size);
        sum->input = g->input_tokens;
        sum->output = g->output_tokens;
        sum->reasoning = g->reasoning_tokens;
        sum->cost = g->cost;
        sum->known = g->cost_known;
        sum->speedup = g->speedup;
        sum->repaired = g->repaired;
        snprintf(sum->verdict, sizeof sum->verdict, "%s", g->verdict);
        snprintf(sum->notes, sizeof sum->notes, "%s", g->notes);
    }
    return 0;
}

static int check_totals(void *data, const struct ae_answer_totals *t)
{
    ++*(int *)data;
    assert_string_equal(t->entrant, "e");
    assert_int_equal(t->wanted, 3); /* the fourth has other settings for the first question: the newer one counts */
    assert_int_equal(t->open, 3);
    assert_int_equal(t->answered, 0);
    assert_int_equal(t->attempts, 3);
    assert_int_equal(t->output_tokens, 50);
    assert_int_equal(t->cost_unknown, 1); /* sent, and never heard of again */
    assert_true(t->cost == 0.5);
    return 0;
}

static void everything_comes_back(void **state)
{
    a_question_is_asked_once(state);
    struct sum sum = {0};
    const struct ae_generation_filter filter = {.entrant = "e", .model = "m"};
    ok(ae_store_generations(store, &filter, add, &sum, &err));
    assert_int_equal(sum.count, 4);
    assert_int_equal(sum.attempts, 2);
    assert_int_equal(sum.answer_size, 11);
    assert_memory_equal(sum.answer, "an \0 answer", 11);
    assert_int_equal(sum.input, 100);
    assert_int_equal(sum.output, 50);
    assert_int_equal(sum.reasoning, 30);
    assert_true(sum.cost == 0.5 && sum.known && isnan(sum.speedup) && sum.repaired);
    assert_string_equal(sum.notes, "open_fence");
    ok(ae_store_generation_judged(store, 1, "pass", "", 2.5, &err));
    sum = (struct sum){0};
    ok(ae_store_generations(store, &(struct ae_generation_filter){.id = 1}, add, &sum, &err));
    assert_int_equal(sum.count, 1);
    assert_string_equal(sum.verdict, "pass");
    assert_true(sum.speedup == 2.5);
    int rows = 0;
    ok(ae_store_answer_totals(store, "e", check_totals, &rows, &err));
    assert_int_equal(rows, 1);
    ok(ae_store_answer_totals(store, NULL, check_totals, &rows, &err));
    ok(ae_store_answer_totals(store, "nobody", check_totals, &rows, &err));
    assert_int_equal(rows, 2);
    double mean;
    int64_t count;
    ok(ae_store_mean_output(store, "m", &mean, &count, &err));
    assert_true(mean == 50 && count == 1);
    char *text;
    ok(ae_store_prompt_get(store, PROMPT, &text, &err));
    assert_string_equal(text, "the prompt");
    free(text);
    assert_int_equal(ae_store_prompt_get(store, SOURCE, &text, &err), AE_E_NOTFOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_question_is_asked_once, setup, teardown),
        cmocka_unit_test_setup_teardown(everything_comes_back, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
