#include "llm/model.h"

#include "base/file.h"
#include "base/text.h"

#include <cyaml/cyaml.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX ((size_t)1 << 20)

static const char *const provider_names[AE_PROVIDER_COUNT] = {"openai", "anthropic", "gemini", "command"};

const char *ae_provider_name(enum ae_provider_kind kind)
{
    return (unsigned)kind < AE_PROVIDER_COUNT ? provider_names[kind] : "?";
}

/* --- the file --------------------------------------------------------------------------------------------- */

/* As the file has it. Every field is a text or a pointer to a number, NULL where it is missing; several names for one
 * thing are understood, because models.yaml files travel between benchmarks. */
struct raw_model {
    char *name, *id, *provider, *model, *model_id, *model_name, *base_url, *api_base, *url, *endpoint, *api_key_env,
        *key_env, *env_key, *system_prompt, *system, *reasoning_effort, *effort, *max_tokens_field, *ca_file, *command;
    double *temperature, *top_p, *price_input, *price_output, *input_price, *output_price, *timeout, *timeout_s,
        *idle_s, *backoff_s;
    int64_t *max_tokens, *max_output_tokens, *max_completion_tokens, *thinking_tokens, *thinking_budget,
        *requests_per_minute, *rpm, *tokens_per_minute, *tpm, *in_flight, *max_in_flight, *concurrency, *attempts,
        *retries, *max_retries;
    bool *stream, *streaming, *insecure;
    char **pass_env, **hide;
    unsigned pass_env_count, hide_count;
};

struct raw_file {
    struct raw_model *models;
    unsigned models_count;
};

#define OPT (CYAML_FLAG_OPTIONAL | CYAML_FLAG_POINTER)
#define TEXT(field) CYAML_FIELD_STRING_PTR(#field, OPT, struct raw_model, field, 0, 65536)
#define REAL(field) CYAML_FIELD_FLOAT_PTR(#field, OPT, struct raw_model, field)
#define WHOLE(field) CYAML_FIELD_INT_PTR(#field, OPT, struct raw_model, field)
#define TRUTH(field) CYAML_FIELD_BOOL_PTR(#field, OPT, struct raw_model, field)

static const cyaml_schema_value_t word = {CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 0, 256)};
static const cyaml_schema_value_t path_word = {CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 0, 4095)};

static const cyaml_schema_field_t model_fields[] = {
    TEXT(name),
    TEXT(id),
    TEXT(provider),
    TEXT(model),
    TEXT(model_id),
    TEXT(model_name),
    TEXT(base_url),
    TEXT(api_base),
    TEXT(url),
    TEXT(endpoint),
    TEXT(api_key_env),
    TEXT(key_env),
    TEXT(env_key),
    TEXT(system_prompt),
    TEXT(system),
    TEXT(reasoning_effort),
    TEXT(effort),
    TEXT(max_tokens_field),
    TEXT(ca_file),
    TEXT(command),
    REAL(temperature),
    REAL(top_p),
    REAL(price_input),
    REAL(price_output),
    REAL(input_price),
    REAL(output_price),
    REAL(timeout),
    REAL(timeout_s),
    REAL(idle_s),
    REAL(backoff_s),
    WHOLE(max_tokens),
    WHOLE(max_output_tokens),
    WHOLE(max_completion_tokens),
    WHOLE(thinking_tokens),
    WHOLE(thinking_budget),
    WHOLE(requests_per_minute),
    WHOLE(rpm),
    WHOLE(tokens_per_minute),
    WHOLE(tpm),
    WHOLE(in_flight),
    WHOLE(max_in_flight),
    WHOLE(concurrency),
    WHOLE(attempts),
    WHOLE(retries),
    WHOLE(max_retries),
    TRUTH(stream),
    TRUTH(streaming),
    TRUTH(insecure),
    CYAML_FIELD_SEQUENCE("pass_env", OPT, struct raw_model, pass_env, &word, 0, 64),
    CYAML_FIELD_SEQUENCE("hide", OPT, struct raw_model, hide, &path_word, 0, 16),
    CYAML_FIELD_END};

static const cyaml_schema_value_t model_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct raw_model, model_fields)};
static const cyaml_schema_field_t file_fields[] = {
    CYAML_FIELD_SEQUENCE("models", CYAML_FLAG_POINTER, struct raw_file, models, &model_value, 0, 1000),
    CYAML_FIELD_END};
static const cyaml_schema_value_t file_value = {CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct raw_file, file_fields)};

/* The last complaint of the parser, which names line and field. */
static void keep_complaint(cyaml_log_t level, void *data, const char *format, va_list args)
{
    char *text = data;
    if (level < CYAML_LOG_ERROR || text[0])
        return;
    vsnprintf(text, 256, format, args);
    text[strcspn(text, "\n")] = 0;
}

static char *first_text(const char *a, const char *b, const char *c, const char *d)
{
    const char *t = a && *a ? a : b && *b ? b : c && *c ? c : d && *d ? d : NULL;
    return t ? strdup(t) : NULL;
}

static double first_real(const double *a, const double *b, double otherwise)
{
    return a ? *a : b ? *b : otherwise;
}

static int64_t first_whole(const int64_t *a, const int64_t *b, const int64_t *c, int64_t otherwise)
{
    return a ? *a : b ? *b : c ? *c : otherwise;
}

static const struct {
    const char *word;
    enum ae_provider_kind kind;
    const char *base_url, *key_env;
} providers[] = {
    {"openai", AE_PROVIDER_OPENAI, "https://api.openai.com/v1", "OPENAI_API_KEY"},
    {"openrouter", AE_PROVIDER_OPENAI, "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"},
    {"deepseek", AE_PROVIDER_OPENAI, "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"},
    {"vllm", AE_PROVIDER_OPENAI, "http://127.0.0.1:8000/v1", NULL},
    {"llama.cpp", AE_PROVIDER_OPENAI, "http://127.0.0.1:8080/v1", NULL},
    {"openai-compatible", AE_PROVIDER_OPENAI, NULL, NULL},
    {"anthropic", AE_PROVIDER_ANTHROPIC, "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"},
    {"gemini", AE_PROVIDER_GEMINI, "https://generativelanguage.googleapis.com/v1beta", "GEMINI_API_KEY"},
    {"google", AE_PROVIDER_GEMINI, "https://generativelanguage.googleapis.com/v1beta", "GEMINI_API_KEY"},
    {"command", AE_PROVIDER_COMMAND, NULL, NULL},
};

static int bad(struct ae_error *err, const char *path, const char *name, const char *what)
{
    return ae_error_set(err, AE_E_INPUT, "%s: model '%.60s': %s", path, name, what);
}

/* A name becomes a folder and a table's row: what neither can bear is refused, not changed. */
static bool name_is_fine(const char *name)
{
    const size_t n = strlen(name);
    return n > 0 && n <= 32 && name[0] != '.' && name[0] != '-' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+:") == n;
}

static char **copy_words(char **words, unsigned count)
{
    char **copy = calloc(count + 1, sizeof *copy);
    for (unsigned i = 0; copy && i < count; i++)
        if (!(copy[i] = strdup(words[i] ? words[i] : "")))
            break;
    return copy;
}

static int convert(const struct raw_model *raw, const char *path, struct ae_model *m, struct ae_error *err)
{
    m->name = first_text(raw->name, raw->id, raw->model, raw->model_id);
    if (!m->name)
        return ae_error_set(err, AE_E_INPUT, "%s: a model has no name", path);
    if (!name_is_fine(m->name))
        return bad(err, path, m->name,
                   "a name has 1 to 32 letters, digits and . _ - + : (give the provider's own name as "
                   "'model')");
    const char *provider = raw->provider && *raw->provider ? raw->provider : raw->command ? "command" : "openai";
    size_t p = 0;
    while (p < sizeof providers / sizeof *providers && strcmp(providers[p].word, provider) != 0)
        p++;
    if (p == sizeof providers / sizeof *providers)
        return bad(err, path, m->name, "the provider is none of openai, openai-compatible, openrouter, deepseek, vllm, "
                                       "llama.cpp, anthropic, gemini, command");
    m->provider = providers[p].kind;
    m->model = first_text(raw->model, raw->model_id, raw->model_name, m->name);
    m->base_url = first_text(raw->base_url, raw->api_base, raw->url, raw->endpoint);
    const bool own_url = m->base_url != NULL;
    if (!m->base_url && providers[p].base_url)
        m->base_url = strdup(providers[p].base_url);
    /* The provider's usual key goes to the provider's own address only. */
    m->key_env = first_text(raw->api_key_env, raw->key_env, raw->env_key, own_url ? NULL : providers[p].key_env);
    m->system = first_text(raw->system_prompt, raw->system, NULL, NULL);
    m->effort = first_text(raw->reasoning_effort, raw->effort, NULL, NULL);
    m->max_tokens_field = first_text(raw->max_tokens_field, raw->max_completion_tokens ? "max_completion_tokens" : NULL,
                                     "max_tokens", NULL);
    m->ca_file = first_text(raw->ca_file, NULL, NULL, NULL);
    m->command = first_text(raw->command, NULL, NULL, NULL);
    m->pass_env = copy_words(raw->pass_env, raw->pass_env_count);
    m->hide = copy_words(raw->hide, raw->hide_count);
    m->temperature = first_real(raw->temperature, NULL, AE_UNSET);
    m->top_p = first_real(raw->top_p, NULL, AE_UNSET);
    m->max_tokens = first_whole(raw->max_tokens, raw->max_output_tokens, raw->max_completion_tokens, 32768);
    m->thinking_tokens = first_whole(raw->thinking_tokens, raw->thinking_budget, NULL, 0);
    m->stream = raw->stream ? *raw->stream : raw->streaming ? *raw->streaming : false;
    m->insecure = raw->insecure && *raw->insecure;
    m->requests_per_minute = first_whole(raw->requests_per_minute, raw->rpm, NULL, 0);
    m->tokens_per_minute = first_whole(raw->tokens_per_minute, raw->tpm, NULL, 0);
    const int64_t in_flight = first_whole(raw->in_flight, raw->max_in_flight, raw->concurrency,
                                          m->provider == AE_PROVIDER_COMMAND ? 1 : 8);
    const int64_t retries = first_whole(raw->retries, raw->max_retries, NULL, 5);
    const int64_t attempts = first_whole(raw->attempts, NULL, NULL, retries < 1000 ? retries + 1 : 1000);
    m->timeout_s = first_real(raw->timeout_s, raw->timeout, 1800);
    m->idle_s = first_real(raw->idle_s, NULL, 600);
    m->backoff_s = first_real(raw->backoff_s, NULL, 1);
    m->price_input = first_real(raw->price_input, raw->input_price, AE_UNSET);
    m->price_output = first_real(raw->price_output, raw->output_price, AE_UNSET);
    if (!m->model || !m->max_tokens_field || !m->pass_env || !m->hide)
        return ae_error_set(err, AE_E_NOMEM, "no memory for %s", path);
    if (m->provider == AE_PROVIDER_COMMAND && !m->command)
        return bad(err, path, m->name, "the provider 'command' needs a command");
    if (m->provider != AE_PROVIDER_COMMAND && !m->base_url)
        return bad(err, path, m->name, "a base_url is needed");
    if (m->base_url && !ae_text_starts(m->base_url, "https://") && !ae_text_starts(m->base_url, "http://"))
        return bad(err, path, m->name, "the base_url must begin with https:// or http://");
    if (m->base_url && strchr(m->base_url, '@'))
        return bad(err, path, m->name, "a base_url must hold no user or password: keys come from the environment");
    if (m->max_tokens < 1 || m->max_tokens > 10000000 || m->thinking_tokens < 0 || m->thinking_tokens > 10000000)
        return bad(err, path, m->name, "the limit of tokens must be from 1 to 10000000");
    if (in_flight < 1 || in_flight > 1000 || attempts < 1 || attempts > 1000)
        return bad(err, path, m->name, "in_flight and attempts must be from 1 to 1000");
    if (m->requests_per_minute < 0 || m->requests_per_minute > 1000000 || m->tokens_per_minute < 0)
        return bad(err, path, m->name, "a rate must not be negative (requests: at most 1000000 a minute)");
    if (!(m->timeout_s > 0 && m->timeout_s <= 86400 && m->idle_s > 0 && m->idle_s <= 86400 && m->backoff_s >= 0 &&
          m->backoff_s <= 3600))
        return bad(err, path, m->name, "a time is out of range (timeouts up to 86400 s, backoff up to 3600 s)");
    if ((raw->temperature && !(m->temperature >= 0 && m->temperature <= 2)) ||
        (raw->top_p && !(m->top_p > 0 && m->top_p <= 1)))
        return bad(err, path, m->name, "temperature must be from 0 to 2, top_p above 0 to 1");
    if (((raw->price_input || raw->input_price) && !(m->price_input >= 0 && m->price_input < 1e6)) ||
        ((raw->price_output || raw->output_price) && !(m->price_output >= 0 && m->price_output < 1e6)))
        return bad(err, path, m->name, "a price is out of range (it is per million tokens)");
    if (strcmp(m->max_tokens_field, "max_tokens") != 0 && strcmp(m->max_tokens_field, "max_completion_tokens") != 0)
        return bad(err, path, m->name, "max_tokens_field is max_tokens or max_completion_tokens");
    m->in_flight = (int)in_flight;
    m->attempts = (int)attempts;
    for (size_t n = m->base_url ? strlen(m->base_url) : 0; n > 0 && m->base_url[n - 1] == '/'; n--)
        m->base_url[n - 1] = 0;
    return AE_OK;
}

static int check_whole(const struct ae_models *models, const char *path, struct ae_error *err)
{
    for (size_t i = 0; i < models->count; i++)
        for (size_t k = 0; k < models->count; k++) {
            if (k < i && strcmp(models->items[k].name, models->items[i].name) == 0)
                return bad(err, path, models->items[i].name, "there are two of this name");
            for (char **word_at = models->items[i].pass_env; *word_at; word_at++)
                if (models->items[k].key_env && strcmp(*word_at, models->items[k].key_env) == 0)
                    return bad(err, path, models->items[i].name,
                               "pass_env names a model's key, and keys reach no command");
        }
    return AE_OK;
}

int ae_models_parse(const char *text, size_t size, const char *path, struct ae_models *ret, struct ae_error *err)
{
    char complaint[256] = "";
    const cyaml_config_t config = {.log_fn = keep_complaint,
                                   .log_ctx = complaint,
                                   .log_level = CYAML_LOG_ERROR,
                                   .mem_fn = cyaml_mem,
                                   .flags = CYAML_CFG_IGNORE_UNKNOWN_KEYS | CYAML_CFG_NO_ALIAS};
    struct raw_file *raw = NULL;
    const cyaml_err_t rc =
        cyaml_load_data((const uint8_t *)text, size, &config, &file_value, (cyaml_data_t **)&raw, NULL);
    if (rc != CYAML_OK || !raw)
        return ae_error_set(err, rc == CYAML_ERR_OOM ? AE_E_NOMEM : AE_E_INPUT, "%s: %s%s%s", path, cyaml_strerror(rc),
                            complaint[0] ? ": " : "", complaint);
    struct ae_models models = {.items = calloc(raw->models_count + 1, sizeof *models.items)};
    int code = models.items ? AE_OK : ae_error_set(err, AE_E_NOMEM, "no memory for %s", path);
    for (unsigned i = 0; code == AE_OK && i < raw->models_count; i++) {
        models.count++;
        code = convert(&raw->models[i], path, &models.items[i], err);
    }
    (void)cyaml_free(&config, &file_value, raw, 0);
    if (code == AE_OK)
        code = check_whole(&models, path, err);
    if (code != AE_OK) {
        ae_models_release(&models);
        return code;
    }
    *ret = models;
    return AE_OK;
}

int ae_models_read(const char *path, struct ae_models *ret, struct ae_error *err)
{
    struct ae_bytes bytes;
    int rc = ae_file_read(path, FILE_MAX, &bytes, err);
    if (rc != AE_OK)
        return rc;
    rc = ae_models_parse((const char *)bytes.data, bytes.size, path, ret, err);
    ae_bytes_release(&bytes);
    return rc;
}

void ae_models_release(struct ae_models *models)
{
    for (size_t i = 0; i < models->count; i++) {
        struct ae_model *m = &models->items[i];
        char *texts[] = {m->name,    m->model,  m->base_url, m->key_env, m->system, m->effort, m->max_tokens_field,
                         m->ca_file, m->command};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            free(texts[k]);
        for (char **word_at = m->pass_env; word_at && *word_at; word_at++)
            free(*word_at);
        free(m->pass_env);
        for (char **word_at = m->hide; word_at && *word_at; word_at++)
            free(*word_at);
        free(m->hide);
    }
    free(models->items);
    *models = (struct ae_models){0};
}

const struct ae_model *ae_models_find(const struct ae_models *models, const char *name, struct ae_error *err)
{
    const struct ae_model *found = NULL, *nearest = NULL;
    size_t matches = 0, distance = SIZE_MAX;
    for (size_t i = 0; i < models->count; i++) {
        const struct ae_model *m = &models->items[i];
        if (strcmp(m->name, name) == 0)
            return m;
        if (ae_text_starts(m->name, name)) {
            found = m;
            matches++;
        }
        const size_t d = ae_text_distance(m->name, name);
        if (d < distance) {
            distance = d;
            nearest = m;
        }
    }
    if (matches == 1)
        return found;
    if (!ae_text_near(name, distance))
        nearest = NULL;
    ae_error_set(err, AE_E_USAGE, matches ? "'%.60s' could be several models%s%s%s" : "there is no model '%.60s'%s%s%s",
                 name, nearest && !matches ? "; the nearest is '" : "", nearest && !matches ? nearest->name : "",
                 nearest && !matches ? "'" : "");
    return NULL;
}

char *ae_model_parameters(const struct ae_model *m)
{
    json_t *json =
        json_pack("{s:s, s:s, s:s*, s:s*, s:s*, s:I, s:I}", "provider", ae_provider_name(m->provider), "model",
                  m->model, "system", m->system, "effort", m->effort, "command", m->command, "max_tokens",
                  (json_int_t)m->max_tokens, "thinking_tokens", (json_int_t)m->thinking_tokens);
    if (json && m->temperature != AE_UNSET)
        json_object_set_new(json, "temperature", json_real(m->temperature));
    if (json && m->top_p != AE_UNSET)
        json_object_set_new(json, "top_p", json_real(m->top_p));
    char *text = json ? json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(json);
    return text;
}

double ae_model_cost(const struct ae_model *m, int64_t input_tokens, int64_t output_tokens)
{
    if (m->price_input == AE_UNSET || m->price_output == AE_UNSET)
        return AE_UNSET;
    return (m->price_input * (double)input_tokens + m->price_output * (double)output_tokens) * 1e-6;
}

int64_t ae_tokens_estimate(size_t bytes)
{
    return (int64_t)(bytes / 3 + 16);
}

/* --- keys ------------------------------------------------------------------------------------------------- */

/* NAME=value, "export NAME=value", quotes of either kind, # comments: the common ground of .env files. */
static char *find_in_env_file(const char *text, const char *name)
{
    const size_t length = strlen(name);
    for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        line += strspn(line, " \t");
        if (ae_text_starts(line, "export "))
            line += 7 + strspn(line + 7, " \t");
        if (strncmp(line, name, length) != 0)
            continue;
        const char *p = line + length + strspn(line + length, " \t");
        if (*p != '=')
            continue;
        p += 1 + strspn(p + 1, " \t");
        if (*p == '"' || *p == '\'') {
            const char quote[] = {*p, '\n', 0};
            return strndup(p + 1, strcspn(p + 1, quote));
        }
        return strndup(p, strcspn(p, " \t\r\n#"));
    }
    return NULL;
}

static char *find_in_file(const char *path, const char *name)
{
    struct ae_bytes bytes;
    if (ae_file_read(path, FILE_MAX, &bytes, NULL) != AE_OK)
        return NULL;
    char *found = find_in_env_file((const char *)bytes.data, name);
    explicit_bzero(bytes.data, bytes.size);
    ae_bytes_release(&bytes);
    return found;
}

int ae_key_read(const struct ae_model *model, const char *beside_path, struct ae_key *ret, struct ae_error *err)
{
    ret->text = NULL;
    if (!model->key_env)
        return AE_OK;
    const char *value = getenv(model->key_env);
    char *text = value && *value ? strdup(value) : NULL;
    if (!text)
        text = find_in_file(".env", model->key_env);
    if (!text && beside_path) {
        char path[4096];
        const char *slash = strrchr(beside_path, '/');
        snprintf(path, sizeof path, "%.*s.env", slash ? (int)(slash + 1 - beside_path) : 0, beside_path);
        text = find_in_file(path, model->key_env);
    }
    if (text &&
        text[strspn(
            text,
            "!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~")]) {
        struct ae_key wrong = {text};
        ae_key_release(&wrong);
        return ae_error_set(err, AE_E_ENV, "the value of %s is no key: it holds blanks or control characters",
                            model->key_env);
    }
    if (!text || !*text) {
        free(text);
        return ae_error_set(err, AE_E_ENV, "model '%s' needs a key: set %s in the environment or in .env", model->name,
                            model->key_env);
    }
    ret->text = text;
    return AE_OK;
}

void ae_key_release(struct ae_key *key)
{
    if (key->text)
        explicit_bzero(key->text, strlen(key->text));
    free(key->text);
    key->text = NULL;
}

void ae_key_redact(const struct ae_key *key, char *text, size_t size)
{
    const size_t length = key && key->text ? strlen(key->text) : 0;
    if (length < 8)
        return;
    for (char *p = text; (p = memmem(p, size - (size_t)(p - text), key->text, length)); p += length)
        memset(p, '*', length);
}
