#include "cli/options.h"

#include <string.h>

#define INDENT 2
#define LEFT   28 /* columns before the help of an option */

static int clamp(int width)
{
    if (width == 0)
        return 80;
    return width < 60 ? 60 : width > 100 ? 100 : width;
}

/* Words of text from column `at` on, broken before `width`; further lines begin at `indent`. A line break in the
 * text stays. Ends without one. */
static void wrap(const char *text, int indent, int at, int width, FILE *out)
{
    bool first = true;
    while (*text) {
        if (*text == '\n') {
            fputc('\n', out);
            at = 0;
            first = true;
            text++;
            continue;
        }
        if (*text == ' ') {
            text++;
            continue;
        }
        const int length = (int)strcspn(text, " \n");
        if (!first && at + 1 + length > width) {
            fputc('\n', out);
            at = 0;
            first = true;
        }
        if (at < indent) {
            fprintf(out, "%*s", indent - at, "");
            at = indent;
        }
        fprintf(out, "%s%.*s", first ? "" : " ", length, text);
        at += length + (first ? 0 : 1);
        first = false;
        text += length;
    }
}

void ae_option_argument(const struct ae_option *o, char *text, size_t size)
{
    static const char *const by_kind[] = {
        [AE_OPTION_FLAG] = "",     [AE_OPTION_STRING] = "TEXT", [AE_OPTION_INTEGER] = "N", [AE_OPTION_CHOICE] = "",
        [AE_OPTION_SIZE] = "SIZE", [AE_OPTION_TASK] = "TASK",   [AE_OPTION_LIST] = "NAME",
    };
    size_t used = (size_t)snprintf(text, size, "%s", o->argument ? o->argument : by_kind[o->kind]);
    if (!o->argument && o->kind == AE_OPTION_CHOICE)
        for (int i = 0; o->choices[i] && used < size; i++)
            used += (size_t)snprintf(text + used, size - used, "%s%s", i ? "|" : "", o->choices[i]);
    if (!o->one && used < size &&
        (o->kind == AE_OPTION_SIZE || o->kind == AE_OPTION_TASK || o->kind == AE_OPTION_LIST))
        snprintf(text + used, size - used, ",...");
}

void ae_option_explain(const struct ae_option *o, char *text, size_t size)
{
    size_t used = 0;
    for (const char *p = o->verbs; p && *p && used < size; p += *p == ',') {
        const size_t length = strcspn(p, ",");
        used += (size_t)snprintf(text + used, size - used, "%.*s%s", (int)length, p, p[length] ? ", " : ": ");
        p += length;
    }
    if (used < size)
        used += (size_t)snprintf(text + used, size - used, "%s", o->help ? o->help : "");
    if (used < size && o->kind == AE_OPTION_INTEGER && (o->lo || o->hi))
        used += o->hi == INT64_MAX
                    ? (size_t)snprintf(text + used, size - used, " (from %lld)", (long long)o->lo)
                    : (size_t)snprintf(text + used, size - used, " (%lld..%lld)", (long long)o->lo, (long long)o->hi);
    const char *fallback = o->fallback ? o->fallback : o->kind == AE_OPTION_CHOICE ? o->choices[0] : NULL;
    if (used < size && fallback)
        used += (size_t)snprintf(text + used, size - used, " [%s]", fallback);
    if (used < size && o->env)
        snprintf(text + used, size - used, " [$%s]", o->env);
}

static void option_help(const struct ae_option *o, int width, FILE *out)
{
    char argument[128], left[256], right[AE_OPTION_TEXT];
    ae_option_argument(o, argument, sizeof argument);
    snprintf(left, sizeof left, "%*s%c%c%s --%s%s%s", INDENT, "", o->letter ? '-' : ' ',
             o->letter ? o->letter : ' ', o->letter ? "," : " ", o->name, *argument ? "=" : "", argument);
    ae_option_explain(o, right, sizeof right);
    int at = (int)strlen(left);
    fputs(left, out);
    if (at + 2 > LEFT) {
        fputc('\n', out);
        at = 0;
    }
    wrap(right, LEFT, at, width, out);
    fputc('\n', out);
}

void ae_command_help(const struct ae_command *command, const char *program, int width, FILE *out)
{
    static const struct ae_option help = {.name = "help", .letter = 'h', .help = "show this text"};
    width = clamp(width);
    char usage[512];
    snprintf(usage, sizeof usage, "Usage: %s %s %s", program, command->name, command->usage ? command->usage : "");
    wrap(usage, 0, 0, width, out);
    fputs("\n\n", out);
    wrap(command->summary, 0, 0, width, out);
    fputc('\n', out);
    if (command->details) {
        fputc('\n', out);
        wrap(command->details, 0, 0, width, out);
        fputc('\n', out);
    }
    fputs("\nOptions:\n", out);
    bool letter_taken = false;
    for (const struct ae_option *o = command->options; o && o->name; o++) {
        option_help(o, width, out);
        letter_taken |= o->letter == 'h';
    }
    struct ae_option last = help;
    if (letter_taken)
        last.letter = 0;
    option_help(&last, width, out);
}

void ae_commands_help(const struct ae_command *commands, int width, FILE *out)
{
    int left = 0;
    width = clamp(width);
    for (const struct ae_command *c = commands; c->name; c++)
        left = (int)strlen(c->name) > left ? (int)strlen(c->name) : left;
    for (const struct ae_command *c = commands; c->name; c++) {
        fprintf(out, "%*s%-*s", INDENT, "", left, c->name);
        wrap(c->summary, INDENT + left + 2, INDENT + left, width, out);
        fputc('\n', out);
    }
}
