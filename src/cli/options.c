#include "cli/options.h"

#include "base/json.h"
#include "base/text.h"
#include "base/utf8.h"

#include <assert.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define OPTIONS_MAX 64 /* bits of the mask of those that were given */

/* --- lists ------------------------------------------------------------------------------------------------ */

void ae_list_release(struct ae_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
    *list = (struct ae_list){0};
}

int ae_list_add(struct ae_list *list, const char *text, size_t length)
{
    char **more = realloc(list->items, (list->count + 1) * sizeof *more);
    if (!more)
        return AE_E_NOMEM;
    list->items = more;
    char *copy = strndup(text, length);
    if (!copy)
        return AE_E_NOMEM;
    list->items[list->count++] = copy;
    return AE_OK;
}

static int add_task(struct ae_task_list *list, const struct ae_task *task)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i] == task)
            return AE_OK;
    const struct ae_task **more = realloc(list->items, (list->count + 1) * sizeof *more);
    if (!more)
        return AE_E_NOMEM;
    list->items = more;
    list->items[list->count++] = task;
    return AE_OK;
}

/* --- values ----------------------------------------------------------------------------------------------- */

static void *field(const struct ae_option *option, void *values)
{
    return (char *)values + option->offset;
}

static const void *const_field(const struct ae_option *option, const void *values)
{
    return (const char *)values + option->offset;
}

static void clear(const struct ae_option *option, void *values)
{
    switch (option->kind) {
    case AE_OPTION_FLAG:
        *(bool *)field(option, values) = false;
        break;
    case AE_OPTION_STRING:
        *(const char **)field(option, values) = NULL;
        break;
    case AE_OPTION_INTEGER:
        *(int64_t *)field(option, values) = 0;
        break;
    case AE_OPTION_CHOICE:
        *(int *)field(option, values) = 0;
        break;
    case AE_OPTION_SIZE:
        *(unsigned *)field(option, values) = 0;
        break;
    case AE_OPTION_TASK: {
        struct ae_task_list *list = field(option, values);
        free(list->items);
        *list = (struct ae_task_list){0};
        break;
    }
    case AE_OPTION_LIST:
        ae_list_release(field(option, values));
        break;
    }
}

/* The one name that `text` is or uniquely begins, else -1 with the nearest in *ret_nearest and the number of names
 * that it begins in *ret_matches. */
static int match_name(const char *const *names, const char *text, const char **ret_nearest, int *ret_matches)
{
    int found = -1, matches = 0;
    size_t nearest = SIZE_MAX;
    for (int i = 0; names[i]; i++) {
        if (strcmp(names[i], text) == 0)
            return i;
        if (*text && ae_text_starts(names[i], text)) {
            found = i;
            matches++;
        }
        const size_t distance = ae_text_distance(names[i], text);
        if (distance < nearest) {
            nearest = distance;
            *ret_nearest = names[i];
        }
    }
    *ret_matches = matches;
    return matches == 1 ? found : -1;
}

static int wrong_value(const char *source, const char *text, const char *wanted, struct ae_error *err)
{
    char shown[64];
    ae_utf8_printable(text, shown, sizeof shown, sizeof shown);
    return ae_error_set(err, AE_E_USAGE, "%s: '%s' is not %s", source, shown, wanted);
}

/* "small, medium or large". */
static void join(const char *const *names, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; names[i] && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 i == 0         ? ""
                                 : names[i + 1] ? ", "
                                                : " or ",
                                 names[i]);
}

static int set_choice(const struct ae_option *option, void *values, const char *source, const char *text,
                      struct ae_error *err)
{
    const char *nearest = NULL;
    int matches;
    const int index = match_name(option->choices, text, &nearest, &matches);
    if (index < 0) {
        char wanted[256];
        join(option->choices, wanted, sizeof wanted);
        return wrong_value(source, text, wanted, err);
    }
    *(int *)field(option, values) = index;
    return AE_OK;
}

static int set_size(const struct ae_option *option, void *values, const char *source, const char *item,
                    struct ae_error *err)
{
    static const char *const names[] = {"small", "medium", "large", "all", NULL};
    const char *nearest = NULL;
    int matches;
    const int index = match_name(names, item, &nearest, &matches);
    if (index < 0)
        return wrong_value(source, item, "small, medium, large or all", err);
    *(unsigned *)field(option, values) |= index < AE_SIZE_COUNT ? AE_AT(index) : AE_ALL_SIZES;
    return AE_OK;
}

static int set_item(const struct ae_option *option, void *values, const char *source, const char *item,
                    struct ae_error *err)
{
    int r = AE_OK;
    if (option->kind == AE_OPTION_SIZE)
        return set_size(option, values, source, item, err);
    if (option->kind == AE_OPTION_LIST) {
        r = ae_list_add(field(option, values), item, strlen(item));
    } else {
        struct ae_error inner = {0};
        char shown[64];
        ae_utf8_printable(item, shown, sizeof shown, sizeof shown);
        const struct ae_task *task = ae_task_find(shown, &inner);
        if (!task)
            return ae_error_set(err, AE_E_USAGE, "%s: %s", source, inner.text);
        r = add_task(field(option, values), task);
    }
    return r == AE_OK ? r : ae_error_set(err, r, "no memory for %s", source);
}

static size_t item_count(const struct ae_option *option, const void *values)
{
    switch (option->kind) {
    case AE_OPTION_SIZE:
        return (size_t)__builtin_popcount(*(const unsigned *)const_field(option, values));
    case AE_OPTION_TASK:
        return ((const struct ae_task_list *)const_field(option, values))->count;
    case AE_OPTION_LIST:
        return ((const struct ae_list *)const_field(option, values))->count;
    default:
        return 1;
    }
}

static int set_items(const struct ae_option *option, void *values, const char *source, const char *text,
                     struct ae_error *err)
{
    for (const char *item = text;;) {
        const size_t length = strcspn(item, ",");
        char *copy = strndup(item, length);
        if (!copy)
            return ae_error_set(err, AE_E_NOMEM, "no memory for %s", source);
        const int r = length == 0 ? ae_error_set(err, AE_E_USAGE, "%s: an empty name in '%.80s'", source, text)
                                  : set_item(option, values, source, copy, err);
        free(copy);
        if (r != AE_OK)
            return r;
        if (!item[length])
            break;
        item += length + 1;
    }
    if (option->one && item_count(option, values) > 1)
        return ae_error_set(err, AE_E_USAGE, "%s takes one only", source);
    return AE_OK;
}

/* source: what the sentence names, "--jobs" or "the variable X". */
static int set(const struct ae_option *option, void *values, const char *source, const char *text,
               struct ae_error *err)
{
    switch (option->kind) {
    case AE_OPTION_FLAG: { /* from a variable or the table: on the command line it has no value */
        static const char *const words[] = {"0", "no", "false", "off", "1", "yes", "true", "on", "", NULL};
        for (int i = 0; words[i]; i++)
            if (strcmp(text, words[i]) == 0) {
                *(bool *)field(option, values) = i >= 4 && i < 8;
                return AE_OK;
            }
        return wrong_value(source, text, "yes or no", err);
    }
    case AE_OPTION_STRING:
        *(const char **)field(option, values) = text;
        return AE_OK;
    case AE_OPTION_INTEGER: {
        const bool any = option->lo == 0 && option->hi == 0;
        int64_t number;
        if (ae_text_to_i64(text, any ? INT64_MIN : option->lo, any ? INT64_MAX : option->hi, &number)) {
            *(int64_t *)field(option, values) = number;
            return AE_OK;
        }
        char wanted[96];
        if (any)
            snprintf(wanted, sizeof wanted, "a whole number");
        else if (option->hi == INT64_MAX)
            snprintf(wanted, sizeof wanted, "a whole number from %lld up", (long long)option->lo);
        else
            snprintf(wanted, sizeof wanted, "a whole number from %lld to %lld", (long long)option->lo,
                     (long long)option->hi);
        return wrong_value(source, text, wanted, err);
    }
    case AE_OPTION_CHOICE:
        return set_choice(option, values, source, text, err);
    case AE_OPTION_SIZE:
    case AE_OPTION_TASK:
    case AE_OPTION_LIST:
        return set_items(option, values, source, text, err);
    }
    return ae_error_set(err, AE_E_INTERNAL, "%s has no kind", source);
}

static int set_defaults(const struct ae_option *options, void *values, struct ae_error *err)
{
    int r = AE_OK;
    for (const struct ae_option *o = options; o->name; o++) { /* all first: a failure leaves nothing unset */
        switch (o->kind) {
        case AE_OPTION_TASK:
            *(struct ae_task_list *)field(o, values) = (struct ae_task_list){0};
            break;
        case AE_OPTION_LIST:
            *(struct ae_list *)field(o, values) = (struct ae_list){0};
            break;
        default:
            clear(o, values);
        }
    }
    for (const struct ae_option *o = options; r == AE_OK && o->name; o++) {
        const char *env = o->env ? getenv(o->env) : NULL;
        char source[96];
        if (env && *env) {
            snprintf(source, sizeof source, "the variable %s", o->env);
            r = set(o, values, source, env, err);
        } else if (o->fallback) {
            snprintf(source, sizeof source, "the default of --%s", o->name);
            r = set(o, values, source, o->fallback, err);
        }
    }
    return r;
}

/* --- parsing ---------------------------------------------------------------------------------------------- */

struct parser {
    const struct ae_command *command;
    const struct ae_option *options;
    void *values;
    bool seen[OPTIONS_MAX];
    int argc, next;
    char **argv;
    struct ae_error *err;
};

static const struct ae_option no_options[] = {{.name = NULL}};

/* The option's value from the command line; what it had from default or environment goes. */
static int set_given(struct parser *p, const struct ae_option *option, const char *source, const char *text)
{
    bool *seen = &p->seen[option - p->options];
    const bool adds =
        option->kind == AE_OPTION_SIZE || option->kind == AE_OPTION_TASK || option->kind == AE_OPTION_LIST;
    if (!*seen || !adds)
        clear(option, p->values);
    *seen = true;
    return set(option, p->values, source, text, p->err);
}

static int set_from_next(struct parser *p, const struct ae_option *option, const char *source)
{
    if (p->next >= p->argc)
        return ae_error_set(p->err, AE_E_USAGE, "%s needs a value ('acceleval %s --help' shows which)", source,
                            p->command->name);
    return set_given(p, option, source, p->argv[p->next++]);
}

struct long_match {
    const struct ae_option *option; /* NULL: --help */
    bool negated;
    char name[80];
};

/* Runs over every spelling of every option: its name, --no-NAME of flags, help. */
static int find_long(struct parser *p, const char *text, size_t length, struct long_match *ret)
{
    char given[80];
    snprintf(given, sizeof given, "%.*s", (int)(length < 79 ? length : 79), text);
    struct long_match found = {0};
    char nearest[80] = "", also[80] = "";
    size_t nearest_distance = SIZE_MAX;
    int matches = 0;
    for (size_t i = 0;; i++) {
        const struct ae_option *o = p->options + i;
        for (int no = 0; no < (o->name && o->kind == AE_OPTION_FLAG ? 2 : 1); no++) {
            struct long_match candidate = {o->name ? o : NULL, no == 1, ""};
            snprintf(candidate.name, sizeof candidate.name, "%s%s", no ? "no-" : "", o->name ? o->name : "help");
            if (strcmp(candidate.name, given) == 0) {
                *ret = candidate;
                return AE_OK;
            }
            if (*given && ae_text_starts(candidate.name, given)) {
                snprintf(also, sizeof also, "%s", found.name);
                found = candidate;
                matches++;
            }
            const size_t distance = ae_text_distance(candidate.name, given);
            if (distance < nearest_distance) {
                nearest_distance = distance;
                memcpy(nearest, candidate.name, sizeof nearest);
            }
        }
        if (!o->name)
            break;
    }
    if (matches == 1) {
        *ret = found;
        return AE_OK;
    }
    char shown[80];
    ae_utf8_printable(given, shown, sizeof shown, sizeof shown);
    if (matches > 1)
        return ae_error_set(p->err, AE_E_USAGE, "--%s could be --%s or --%s%s; write more of it", shown, also,
                            found.name, matches > 2 ? ", among others" : "");
    if (!ae_text_near(given, nearest_distance))
        return ae_error_set(p->err, AE_E_USAGE, "there is no option --%s ('acceleval %s --help' shows all)", shown,
                            p->command->name);
    return ae_error_set(p->err, AE_E_USAGE, "there is no option --%s; the nearest is --%s ('acceleval %s --help')",
                        shown, nearest, p->command->name);
}

static int parse_long(struct parser *p, const char *text)
{
    const size_t length = strcspn(text, "=");
    const char *value = text[length] ? text + length + 1 : NULL;
    struct long_match match;
    const int r = find_long(p, text, length, &match);
    if (r != AE_OK)
        return r;
    char source[96];
    snprintf(source, sizeof source, "--%s", match.name);
    if (!match.option || match.option->kind == AE_OPTION_FLAG) {
        if (value)
            return ae_error_set(p->err, AE_E_USAGE, "%s takes no value", source);
        return match.option ? set_given(p, match.option, source, match.negated ? "no" : "yes") : AE_OPTIONS_HELP;
    }
    return value ? set_given(p, match.option, source, value) : set_from_next(p, match.option, source);
}

/* text: behind the dash; flags may be bundled, a value may follow at once. */
static int parse_short(struct parser *p, const char *text)
{
    for (; *text; text++) {
        const struct ae_option *o = p->options;
        while (o->name && o->letter != *text)
            o++;
        if (!o->name && *text == 'h')
            return AE_OPTIONS_HELP;
        if (!o->name) {
            char shown[16];
            const char one[] = {*text, 0};
            ae_utf8_printable(one, shown, sizeof shown, sizeof shown);
            return ae_error_set(p->err, AE_E_USAGE, "there is no option -%s ('acceleval %s --help' shows all)",
                                shown, p->command->name);
        }
        const char source[] = {'-', *text, 0};
        if (o->kind != AE_OPTION_FLAG)
            return text[1] ? set_given(p, o, source, text + 1) : set_from_next(p, o, source);
        const int r = set_given(p, o, source, "yes");
        if (r != AE_OK)
            return r;
    }
    return AE_OK;
}

static int add_operand(struct parser *p, const char *text, struct ae_list *rest)
{
    if (rest)
        return ae_list_add(rest, text, strlen(text)) == AE_OK
                   ? AE_OK
                   : ae_error_set(p->err, AE_E_NOMEM, "no memory for the arguments");
    char shown[64];
    ae_utf8_printable(text, shown, sizeof shown, sizeof shown);
    return ae_error_set(p->err, AE_E_USAGE, "'%s' is too much: '%s' takes options only", shown, p->command->name);
}

int ae_options_parse(const struct ae_command *command, int argc, char **argv, void *values,
                     struct ae_list *ret_rest, struct ae_error *err)
{
    return ae_options_parse_given(command, argc, argv, values, ret_rest, NULL, err);
}

bool ae_option_given(const struct ae_option *options, uint64_t given, const char *name)
{
    int i = 0;
    while (options[i].name && strcmp(options[i].name, name) != 0)
        i++;
    assert(options[i].name);
    return given >> i & 1;
}

static bool names(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        if (strncmp(p, word, length) == 0 && (p[length] == 0 || p[length] == ','))
            return true;
    return false;
}

int ae_options_check_verb(const struct ae_command *command, uint64_t given, const char *verb, struct ae_error *err)
{
    for (int i = 0; command->options[i].name; i++) {
        const struct ae_option *o = &command->options[i];
        if ((given >> i & 1) && o->verbs && !names(o->verbs, verb))
            return ae_error_set(err, AE_E_USAGE, "'%s %s' has no use for --%s, which is for: %s", command->name, verb,
                                o->name, o->verbs);
    }
    return AE_OK;
}

int ae_options_parse_given(const struct ae_command *command, int argc, char **argv, void *values,
                           struct ae_list *ret_rest, uint64_t *ret_given, struct ae_error *err)
{
    struct parser p = {.command = command,
                       .options = command->options ? command->options : no_options,
                       .values = values,
                       .argc = argc,
                       .next = 1,
                       .argv = argv,
                       .err = err};
    if (ret_rest)
        *ret_rest = (struct ae_list){0};
    int r = set_defaults(p.options, values, err);
    size_t count = 0;
    while (p.options[count].name)
        count++;
    if (r == AE_OK && count > OPTIONS_MAX)
        r = ae_error_set(err, AE_E_INTERNAL, "'%s' has more than %d options", command->name, OPTIONS_MAX);
    bool options_ended = false;
    while (r == AE_OK && p.next < argc) {
        const char *arg = argv[p.next++];
        if (options_ended || arg[0] != '-' || !arg[1]) /* "-" alone is standard input */
            r = add_operand(&p, arg, ret_rest);
        else if (arg[1] != '-')
            r = parse_short(&p, arg + 1);
        else if (arg[2])
            r = parse_long(&p, arg + 2);
        else
            options_ended = true;
    }
    if (r < 0 && ret_rest)
        ae_list_release(ret_rest);
    if (ret_given) {
        *ret_given = 0;
        for (size_t i = 0; i < count && i < OPTIONS_MAX; i++)
            *ret_given |= (uint64_t)p.seen[i] << i;
    }
    return r;
}

void ae_options_release(const struct ae_option *options, void *values)
{
    for (const struct ae_option *o = options ? options : no_options; o->name; o++)
        if (o->kind == AE_OPTION_TASK || o->kind == AE_OPTION_LIST)
            clear(o, values);
}

/* --- the effective options -------------------------------------------------------------------------------- */

static json_t *json_value(const struct ae_option *o, const void *values)
{
    const void *at = const_field(o, values);
    json_t *array;
    switch (o->kind) {
    case AE_OPTION_FLAG:
        return json_boolean(*(const bool *)at);
    case AE_OPTION_STRING: {
        const char *text = *(const char *const *)at;
        return text ? ae_json_text(text) : json_null();
    }
    case AE_OPTION_INTEGER:
        return json_integer(*(const int64_t *)at);
    case AE_OPTION_CHOICE:
        return json_string(o->choices[*(const int *)at]);
    case AE_OPTION_SIZE:
        array = json_array();
        for (int i = 0; i < AE_SIZE_COUNT; i++)
            if (*(const unsigned *)at & AE_AT(i))
                json_array_append_new(array, json_string(ae_size_name((enum ae_size)i)));
        return array;
    case AE_OPTION_TASK: {
        const struct ae_task_list *list = at;
        array = json_array();
        for (size_t i = 0; i < list->count; i++)
            json_array_append_new(array, json_string(list->items[i]->id));
        return array;
    }
    case AE_OPTION_LIST: {
        const struct ae_list *list = at;
        array = json_array();
        for (size_t i = 0; i < list->count; i++)
            json_array_append_new(array, ae_json_text(list->items[i]));
        return array;
    }
    }
    return NULL;
}

char *ae_options_json(const struct ae_option *options, const void *values)
{
    json_t *object = json_object();
    int failed = !object;
    for (const struct ae_option *o = options ? options : no_options; o->name && !failed; o++)
        failed = json_object_set_new(object, o->name, json_value(o, values)) != 0;
    char *text = failed ? NULL : json_dumps(object, JSON_COMPACT);
    json_decref(object);
    return text;
}

/* --- subcommands ------------------------------------------------------------------------------------------ */

const struct ae_command *ae_command_find(const struct ae_command *commands, const char *name, struct ae_error *err)
{
    const struct ae_command *found = NULL, *nearest = commands;
    size_t distance = SIZE_MAX;
    int matches = 0;
    for (const struct ae_command *c = commands; c->name; c++) {
        if (strcmp(c->name, name) == 0)
            return c;
        if (*name && ae_text_starts(c->name, name)) {
            found = c;
            matches++;
        }
        const size_t d = ae_text_distance(c->name, name);
        if (d < distance) {
            distance = d;
            nearest = c;
        }
    }
    if (matches == 1)
        return found;
    char shown[64];
    ae_utf8_printable(name, shown, sizeof shown, sizeof shown);
    if (matches > 1)
        ae_error_set(err, AE_E_USAGE, "'%s' could be %d commands, %s among them; write more of it", shown, matches,
                     found->name);
    else if (nearest->name && ae_text_near(name, distance))
        ae_error_set(err, AE_E_USAGE, "there is no command '%s'; the nearest is '%s' ('acceleval help' shows all)",
                     shown, nearest->name);
    else
        ae_error_set(err, AE_E_USAGE, "there is no command '%s' ('acceleval help' shows all)", shown);
    return NULL;
}
