/* models.yaml, keys, and the limit of rates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/rng.h"
#include "llm/model.h"
#include "llm/rate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ae_models models;

static int parse(const char *text, struct ae_error *err)
{
    *err = (struct ae_error){0};
    return ae_models_parse(text, strlen(text), "models.yaml", &models, err);
}

static void a_file_is_read(void **state)
{
    (void)state;
    struct ae_error err;
    const int rc =
        parse("models:\n"
              "  - name: big\n    provider: openai\n    model: org/big-1\n    base_url: https://example.org/v1/\n"
              "    api_key_env: BIG_KEY\n    temperature: 0.5\n    max_completion_tokens: 1000\n    rpm: 60\n"
              "    price_input: 2\n    price_output: 8.5\n    unknown_field: {a: [1, 2]}\n"
              "  - name: claude\n    provider: anthropic\n    thinking_budget: 2000\n    stream: true\n"
              "  - name: agent\n    command: ./agent --fast\n    pass_env: [FOO, BAR]\n    hide: [/a/b]\n",
              &err);
    if (rc != AE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(models.count, 3);
    const struct ae_model *m = ae_models_find(&models, "big", &err);
    assert_non_null(m);
    assert_string_equal(m->base_url, "https://example.org/v1");
    assert_string_equal(m->key_env, "BIG_KEY");
    assert_string_equal(m->max_tokens_field, "max_completion_tokens");
    assert_int_equal(m->max_tokens, 1000);
    assert_int_equal(m->requests_per_minute, 60);
    assert_true(m->top_p == AE_UNSET);
    assert_true(ae_model_cost(m, 1000000, 2000000) == 19.0);
    m = ae_models_find(&models, "cl", &err);
    assert_non_null(m);
    assert_string_equal(m->key_env, "ANTHROPIC_API_KEY");
    assert_true(m->stream);
    assert_true(ae_model_cost(m, 1, 1) == AE_UNSET);
    m = ae_models_find(&models, "agent", &err);
    assert_int_equal(m->provider, AE_PROVIDER_COMMAND);
    assert_string_equal(m->pass_env[1], "BAR");
    assert_string_equal(m->hide[0], "/a/b");
    assert_null(m->hide[1]);
    assert_null(ae_models_find(&models, "clade", &err));
    assert_non_null(strstr(err.text, "claude"));
    char *a = ae_model_parameters(&models.items[0]);
    assert_non_null(strstr(a, "\"temperature\":0.5"));
    assert_null(strstr(a, "BIG_KEY"));
    free(a);
    ae_models_release(&models);
}

static void wrong_files_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "models",
        "models:\n  - provider: openai\n",
        "models:\n  - name: a/b\n",
        "models:\n  - name: ../x\n",
        "models:\n  - name: a\n    provider: telepathy\n",
        "models:\n  - name: a\n    provider: command\n",
        "models:\n  - name: a\n    temperature: 9\n",
        "models:\n  - name: a\n    temperature: warm\n",
        "models:\n  - name: a\n    max_tokens: 0\n",
        "models:\n  - name: a\n    base_url: ftp://x\n",
        "models:\n  - name: a\n    base_url: https://user:password@x/v1\n",
        "models:\n  - name: a\n  - name: a\n",
        "models:\n  - name: a\n    in_flight: -1\n",
        "models:\n  - name: a\n    provider: openai-compatible\n",
        "models:\n  - name: a\n    price_input: -1\n    price_output: 1\n",
        "models:\n  - name: a\n    timeout_s: .nan\n",
        "models:\n  - name: a\n    api_key_env: K\n  - name: b\n    command: x\n    pass_env: [K]\n",
        "models: [{name: a, [}\n",
        "\x01\x02",
        "models:\n  - &a [*a]\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct ae_error err;
        if (parse(texts[i], &err) != AE_E_INPUT || !err.text[0])
            fail_msg("text %zu was taken: %s", i, err.text);
    }
    struct ae_error err; /* the last guard only: the same without the clash is fine */
    assert_int_equal(
        parse("models:\n  - name: a\n    api_key_env: K\n  - name: b\n    command: x\n    pass_env: [L]\n", &err),
        AE_OK);
    ae_models_release(&models);
    /* a key of the provider does not go to another's address by itself */
    assert_int_equal(parse("models:\n  - name: a\n    base_url: https://example.org/v1\n", &err), AE_OK);
    assert_null(models.items[0].key_env);
    ae_models_release(&models);
}

static void keys_come_from_environment_and_file(void **state)
{
    (void)state;
    char folder[] = "/tmp/ae-keys-XXXXXX", path[64];
    static const char file[] =
        "# comment\nOTHER=1\nexport QUOTED=\"a key with # in it\"\nPLAIN = sk-plain-0123 # tail\r\nBAD=\"a b\"\n";
    struct ae_error err = {0};
    struct ae_key key;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/.env", folder);
    assert_int_equal(ae_file_write(path, file, sizeof file - 1, &err), AE_OK);
    snprintf(path, sizeof path, "%s/models.yaml", folder);
    struct ae_model model = {.name = (char *)"m", .key_env = (char *)"PLAIN"};
    unsetenv("PLAIN");
    assert_int_equal(ae_key_read(&model, path, &key, &err), AE_OK);
    assert_string_equal(key.text, "sk-plain-0123");
    char echoed[] = "you sent sk-plain-0123 and sk-plain-0123!";
    ae_key_redact(&key, echoed, strlen(echoed));
    assert_string_equal(echoed, "you sent ************* and *************!");
    ae_key_release(&key);
    setenv("PLAIN", "from-environment", 1);
    assert_int_equal(ae_key_read(&model, path, &key, &err), AE_OK);
    assert_string_equal(key.text, "from-environment");
    ae_key_release(&key);
    unsetenv("PLAIN");
    model.key_env = (char *)"QUOTED"; /* blanks: a header cannot bear them */
    assert_int_equal(ae_key_read(&model, path, &key, &err), AE_E_ENV);
    assert_null(strstr(err.text, "with"));
    model.key_env = (char *)"MISSING";
    assert_int_equal(ae_key_read(&model, path, &key, &err), AE_E_ENV);
    assert_non_null(strstr(err.text, "MISSING"));
    setenv("MISSING", "x\r\nX-Injected: 1", 1);
    assert_int_equal(ae_key_read(&model, path, &key, &err), AE_E_ENV);
    assert_null(strstr(err.text, "Injected"));
    unsetenv("MISSING");
    assert_int_equal(ae_folder_remove(folder, &err), AE_OK);
}

/* Whatever the order of requests, no window of a minute holds more than the limit. */
static void rates_hold_in_every_window(void **state)
{
    (void)state;
    enum { N = 500 };
    static int64_t at[N], tokens[N];
    struct ae_rate rate = {.requests = 20, .tokens = 1000};
    struct ae_rng rng;
    int64_t now = 5 * AE_SEC;
    ae_rng_seed(&rng, 1, 0);
    for (int i = 0; i < N; i++) {
        tokens[i] = ae_rng_range(&rng, 1, i == 100 ? 3000 : 200);
        int64_t when;
        while ((when = ae_rate_when(&rate, tokens[i], now)) > now)
            now = when;
        assert_true(ae_rate_sent(&rate, tokens[i], now));
        at[i] = now;
        now += ae_rng_range(&rng, 0, AE_SEC);
    }
    int most = 0;
    for (int i = 0; i < N; i++) {
        int count = 0;
        int64_t sum = 0;
        for (int k = i; k < N && at[k] < at[i] + 60 * AE_SEC; k++) {
            count++;
            sum += tokens[k];
        }
        assert_true(count <= 20);
        assert_true(sum <= 1000 || count == 1);
        most = count > most ? count : most;
    }
    assert_true(most >= 10); /* and it is not so strict that nothing goes */
    ae_rate_correct(&rate, -1000000);
    assert_true(rate.token_sum >= 0);
    ae_rate_release(&rate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read),
        cmocka_unit_test(wrong_files_are_refused),
        cmocka_unit_test(keys_come_from_environment_and_file),
        cmocka_unit_test(rates_hold_in_every_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
