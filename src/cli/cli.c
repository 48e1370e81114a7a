#include "cli/cli.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "report/report.h"
#include "stats/stats.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int ae_cli_fail(const struct ae_error *err)
{
    ae_autofree char *text = ae_cli_printable(err->text);
    fprintf(stderr, "acceleval: %s\n", text ? text : "no memory");
    switch (err->code) {
    case AE_E_USAGE:
    case AE_E_INPUT:
    case AE_E_NOTFOUND:
        return AE_EXIT_USAGE;
    case AE_E_ENV:
    case AE_E_IO:
    case AE_E_NOMEM:
    case AE_E_TIMEOUT:
        return AE_EXIT_ENVIRONMENT;
    default:
        return AE_EXIT_INTERNAL;
    }
}

int ae_cli_status(int status, enum ae_verdict verdict)
{
    if (verdict == AE_PASS || status == AE_EXIT_FAILED)
        return status;
    return verdict == AE_NOT_RUN || verdict == AE_HOST_ERROR ? AE_EXIT_ENVIRONMENT : AE_EXIT_FAILED;
}

void ae_cli_speedup(const struct ae_measurement *measurement, struct ae_speedup *ret)
{
    struct ae_timing timings[AE_TIMINGS_MAX];
    ae_speedup(timings, ae_measurement_timings(measurement, timings), ret);
}

int ae_cli_results(struct ae_store **ret, struct ae_error *err)
{
    const int rc = ae_store_open(ret, NULL, AE_STORE_READ, err);
    return rc == AE_E_NOTFOUND
               ? ae_error_set(err, AE_E_ENV, "there are no results yet; 'acceleval eval --entrant parallel' makes some")
               : rc;
}

void ae_cli_note(const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ae_autofree char *shown = ae_cli_printable_line(text);
    fprintf(stderr, "acceleval: note: %s\n", shown ? shown : "");
}

int ae_cli_parse(const struct ae_command *self, int argc, char **argv, void *values, struct ae_list *ret_rest)
{
    return ae_cli_parse_given(self, argc, argv, values, ret_rest, NULL);
}

int ae_cli_parse_given(const struct ae_command *self, int argc, char **argv, void *values, struct ae_list *ret_rest,
                       uint64_t *ret_given)
{
    struct ae_error err = {0};
    const int rc = ae_options_parse_given(self, argc, argv, values, ret_rest, ret_given, &err);
    if (rc == AE_OPTIONS_HELP) {
        ae_command_help(self, "acceleval", ae_terminal_width(stdout), stdout);
        return AE_EXIT_OK;
    }
    if (rc != AE_OK) {
        ae_cli_fail(&err);
        fprintf(stderr, "'acceleval %s --help' lists the options\n", self->name);
        return AE_EXIT_USAGE;
    }
    return -1;
}

static void show_progress(void *data, const char *text)
{
    ae_progress_show(data, "%s", text);
}

int ae_cli_context_quiet(struct ae_context *ret, struct ae_progress *progress, struct ae_error *err)
{
    ae_progress_init(progress, stderr);
    const int rc = ae_context_open(ret, err);
    ret->progress = show_progress;
    ret->progress_data = progress;
    return rc;
}

int ae_cli_context(struct ae_context *ret, struct ae_progress *progress, struct ae_error *err)
{
    struct ae_error unusable = {0};
    const int rc = ae_cli_context_quiet(ret, progress, err);
    if (rc == AE_OK && !ae_cache_writable(ret->cache, &unusable)) {
        ae_autofree char *text = ae_cli_printable_line(unusable.text);
        fprintf(stderr, "acceleval: nothing will be cached: %s\n", text ? text : "");
    }
    return rc;
}

/* An argument with the user's home as "~", where a path begins: records travel in archives. */
static void put_argument(const char *text, FILE *out)
{
    const char *home = getenv("HOME");
    size_t length = home ? strlen(home) : 0;
    while (length > 0 && home[length - 1] == '/')
        length--;
    for (bool begins = true; *text; text++) {
        if (begins && length > 0 && *home == '/' && strncmp(text, home, length) == 0 &&
            (text[length] == 0 || text[length] == '/' || text[length] == ',')) {
            fputc('~', out);
            text += length - 1;
            begins = false;
            continue;
        }
        fputc(*text, out);
        begins = *text == '=' || *text == ',' || *text == ':';
    }
}

static char *command_line(int argc, char **argv)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fputs("acceleval", out);
    for (int i = 0; i < argc; i++) {
        fputc(' ', out);
        put_argument(argv[i], out);
    }
    fclose(out);
    return text;
}

int ae_cli_begin_run(struct ae_context *context, struct ae_store *store, int argc, char **argv,
                     const char *options_json, int64_t *ret_run, struct ae_error *err)
{
    struct ae_environment environment = {0};
    char bank[17];
    ae_autofree char *command = command_line(argc, argv);
    ae_autofree char *json = ae_context_environment(context);
    if (!command || !json)
        return ae_error_set(err, AE_E_NOMEM, "no memory to describe this machine");
    environment.json = json;
    if (context->device.handle)
        snprintf(environment.name, sizeof environment.name, "%.32s, %.40s x%d", context->device.name, context->host.cpu,
                 context->host.core_count);
    else
        snprintf(environment.name, sizeof environment.name, "%.60s x%d", context->host.cpu, context->host.core_count);
    int rc = ae_sha256(json, strlen(json), environment.id, err);
    if (rc == AE_OK)
        rc = ae_store_environment_put(store, &environment, err);
    ae_bank_name(&context->bank, bank);
    const struct ae_run run = {
        .started_ns = ae_wall_ns(),
        .command = command,
        .options = options_json ? options_json : "{}",
        .version = AE_VERSION,
        .environment = environment.id,
        .bank = bank,
        .seeded = context->bank.seeded,
    };
    if (rc == AE_OK)
        rc = ae_store_run_begin(store, &run, ret_run, err);
    return rc;
}

int ae_cli_print_json(struct json_t *json)
{
    const bool ok = json && json_dumpf(json, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII) == 0 && putchar('\n') != EOF;
    json_decref(json);
    if (!ok && !ferror(stdout)) /* of which main() speaks */
        fprintf(stderr, "acceleval: the JSON could not be written\n");
    return ok || ferror(stdout) ? AE_EXIT_OK : AE_EXIT_INTERNAL;
}

char *ae_cli_printable(const char *text)
{
    const size_t room = AE_PRINTABLE_MAX * strlen(text) + 1;
    char *copy = malloc(room), *to = copy;
    ae_autofree char *piece = malloc(strlen(text) + 1);
    if (!copy || !piece) {
        free(copy);
        return NULL;
    }
    for (*to = 0; *text;) {
        const size_t length = strcspn(text, "\n\t");
        memcpy(piece, text, length);
        piece[length] = 0;
        (void)ae_utf8_printable(piece, to, room - (size_t)(to - copy), SIZE_MAX);
        to += strlen(to);
        text += length;
        if (*text)
            *to++ = *text++;
        *to = 0;
    }
    return copy;
}

char *ae_cli_printable_line(const char *text)
{
    const size_t room = AE_PRINTABLE_MAX * strlen(text) + 1;
    char *copy = malloc(room);
    if (copy)
        (void)ae_utf8_printable(text, copy, room, SIZE_MAX);
    return copy;
}
