#include "strategy/hunt.h"

#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A program of which so much makes no sense to the grammar is not said to lack anything. */
#define UNREAD_MOST 0.25

struct ae_finder {
    struct ae_grammar grammar;
    struct ae_query *query;
    TSParser *parser;
};

int ae_finder_new(struct ae_finder **ret, struct ae_error *err)
{
    struct ae_finder *f = calloc(1, sizeof *f);
    if (!f)
        return ae_error_set(err, AE_E_NOMEM, "no memory for the finder of strategies");
    int rc = ae_grammar_open(&f->grammar, err);
    if (rc == AE_OK)
        rc = ae_query_new(&f->grammar, &f->query, err);
    if (rc == AE_OK) {
        f->parser = ts_parser_new();
        if (!f->parser || !ts_parser_set_language(f->parser, f->grammar.language))
            rc = ae_error_set(err, AE_E_INTERNAL, "the grammar of CUDA does not fit the parser library");
    }
    if (rc != AE_OK) {
        ae_finder_free(f);
        return rc;
    }
    *ret = f;
    return AE_OK;
}

void ae_finder_free(struct ae_finder *finder)
{
    if (!finder)
        return;
    if (finder->parser)
        ts_parser_delete(finder->parser);
    ae_query_free(finder->query);
    ae_grammar_close(&finder->grammar);
    free(finder);
}

/* --- what rules say --- */

/* Processor time that rules may take; an honest source of 10 000 lines takes a third of a second. */
#define RULES_NS 4000000000

static int64_t thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

bool ae_expired(struct ae_hunt *hunt)
{
    if (!hunt->expired && hunt->match_count > 5000) /* fewer cannot take long */
        hunt->expired = thread_ns() > hunt->deadline;
    return hunt->expired;
}

/* Names in sentences come from the source: anything but printable ASCII becomes '?'. */
static void tidy(char *text)
{
    for (; *text; text++)
        if (*text < ' ' || *text > '~')
            *text = '?';
}

static void add_lines(struct ae_tally *t, int first, int last)
{
    if (last - first > 40)
        last = first; /* a whole function is named by its head */
    for (int i = 0; i < t->line_count; i++)
        if (first <= t->lines[i].last + 1 && last >= t->lines[i].first - 1) {
            t->lines[i].first = first < t->lines[i].first ? first : t->lines[i].first;
            t->lines[i].last = last > t->lines[i].last ? last : t->lines[i].last;
            return;
        }
    if (t->line_count == AE_FINDING_LINES)
        return;
    int at = t->line_count++;
    for (; at > 0 && t->lines[at - 1].first > first; at--)
        t->lines[at] = t->lines[at - 1];
    t->lines[at] = (struct ae_lines){first, last};
}

void ae_say(struct ae_hunt *hunt, enum ae_strategy_id id, int node, double confidence, const char *format, ...)
{
    struct ae_tally *t = &hunt->tally[id];
    if (confidence > t->confidence) {
        va_list args;
        va_start(args, format);
        vsnprintf(t->sentence, sizeof t->sentence, format, args);
        va_end(args);
        tidy(t->sentence);
        t->confidence = confidence;
    }
    if (node >= 0)
        add_lines(t, (int)hunt->code->syntax.nodes[node].line, (int)hunt->code->syntax.nodes[node].last_line);
}

void ae_doubt(struct ae_hunt *hunt, enum ae_strategy_id id, int node, const char *format, ...)
{
    struct ae_tally *t = &hunt->tally[id];
    if (t->doubt[0])
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(t->doubt, sizeof t->doubt, format, args);
    va_end(args);
    tidy(t->doubt);
    t->doubt_line = node >= 0 ? (int)hunt->code->syntax.nodes[node].line : 0;
}

bool ae_role(const struct ae_hunt *hunt, const struct ae_match *match, const char *role)
{
    const char *has = ae_query_setting(hunt->query, match->pattern, "role");
    return has && strcmp(has, role) == 0;
}

/* Patterns without a role speak for themselves: says "... {} ..." with the text of @what. */
static void say_matches(struct ae_hunt *hunt)
{
    const struct ae_syntax *s = &hunt->code->syntax;
    for (int id = 0; id < AE_STRATEGY_COUNT; id++) {
        AE_EACH_MATCH (hunt, id, match) {
            if (ae_query_setting(hunt->query, match->pattern, "role"))
                continue;
            const char *says = ae_query_setting(hunt->query, match->pattern, "says");
            const char *confidence = ae_query_setting(hunt->query, match->pattern, "confidence");
            char text[256];
            const char *hole = says ? strstr(says, "{}") : NULL;
            if (hole && match->what >= 0) {
                const int name = ae_last_name(s, match->what);
                snprintf(text, sizeof text, "%.*s%.48s%s", (int)(hole - says), says, ae_name(hunt->code, name),
                         hole + 2);
            } else {
                snprintf(text, sizeof text, "%s", says ? says : ae_strategies[id].name);
            }
            ae_say(hunt, (enum ae_strategy_id)id, match->at, confidence ? strtod(confidence, NULL) / 100 : 0.95, "%s",
                   text);
        }
    }
    for (int m = 0; m < s->mark_count; m++) /* what was blanked before parsing is evidence too */
        if (s->marks[m].kind == MARK_MAXNREG) {
            ae_say(hunt, AE_STRATEGY_P09, -1, 0.97, "__maxnreg__ caps the registers of a thread");
            add_lines(&hunt->tally[AE_STRATEGY_P09], (int)s->marks[m].line, (int)s->marks[m].line);
        }
}

/* --- findings --- */

int ae_findings_add(struct ae_findings_list *list, const struct ae_finding *finding, struct ae_error *err)
{
    struct ae_finding *more = realloc(list->items, (list->count + 1) * sizeof *more);
    if (!more)
        return ae_error_set(err, AE_E_NOMEM, "no memory for findings");
    list->items = more;
    list->items[list->count++] = *finding;
    return AE_OK;
}

static int by_strategy(const void *a, const void *b)
{
    const struct ae_finding *x = a, *y = b;
    return x->strategy != y->strategy ? (x->strategy < y->strategy ? -1 : 1)
                                      : (x->evidence > y->evidence) - (x->evidence < y->evidence);
}

static int source_findings(const struct ae_hunt *hunt, struct ae_findings_list *list, struct ae_error *err)
{
    int rc = AE_OK;
    for (int id = 0; rc == AE_OK && id < AE_STRATEGY_COUNT; id++) {
        const struct ae_tally *t = &hunt->tally[id];
        struct ae_finding f = {.strategy = (enum ae_strategy_id)id, .evidence = AE_EVIDENCE_SOURCE};
        if (t->confidence >= 0.5) {
            f.presence = AE_PRESENT;
            f.confidence = t->confidence;
            memcpy(f.sentence, t->sentence, sizeof f.sentence);
            memcpy(f.lines, t->lines, sizeof f.lines);
            f.line_count = t->line_count;
        } else if (t->doubt[0] || t->confidence > 0) {
            f.presence = AE_UNKNOWN;
            memcpy(f.sentence, t->doubt[0] ? t->doubt : t->sentence, sizeof f.sentence);
            if (t->doubt_line > 0) {
                f.lines[0] = (struct ae_lines){t->doubt_line, t->doubt_line};
                f.line_count = 1;
            }
        } else {
            continue;
        }
        rc = ae_findings_add(list, &f, err);
    }
    return rc;
}

/* Evidence against what nobody claims says nothing, and neither does a read-only load that the compiler chose by
 * itself. */
static void drop_baseless(struct ae_findings_list *list)
{
    bool claimed[AE_STRATEGY_COUNT] = {false};
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].evidence == AE_EVIDENCE_SOURCE)
            claimed[list->items[i].strategy] |= list->items[i].presence == AE_PRESENT;
    for (size_t i = 0; i < list->count; i++) {
        const struct ae_finding *f = &list->items[i];
        const bool baseless = f->evidence != AE_EVIDENCE_SOURCE && !claimed[f->strategy] &&
                              (f->presence == AE_ABSENT || f->strategy == AE_STRATEGY_M06);
        if (!baseless)
            list->items[kept++] = *f;
    }
    list->count = kept;
}

/* Source first: it says what was meant. What the binary and the run say for it makes it surer; what they say against
 * it (spilled tiles) takes it back. */
static void conclude(struct ae_findings *f, bool looked_at_all)
{
    for (int id = 0; id < AE_STRATEGY_COUNT; id++) {
        f->presence[id] = ae_strategies[id].evidence & AE_EVIDENCE_SOURCE && f->unread <= UNREAD_MOST && looked_at_all
                              ? AE_ABSENT
                              : AE_UNKNOWN;
        f->confidence[id] = f->presence[id] == AE_ABSENT ? 0.8 : 0;
        bool seen = false, against = false;
        for (size_t i = 0; i < f->count; i++) {
            const struct ae_finding *x = &f->items[i];
            if ((int)x->strategy != id)
                continue;
            if (x->presence == AE_PRESENT) {
                f->confidence[id] = seen && x->confidence < f->confidence[id] ? f->confidence[id] : x->confidence;
                f->presence[id] = AE_PRESENT;
                seen = true;
            } else if (x->presence == AE_ABSENT) {
                against = true;
            } else if (!seen) {
                f->presence[id] = AE_UNKNOWN;
                f->confidence[id] = 0;
            }
        }
        if (against) {
            f->contradicted[id] = seen;
            f->presence[id] = seen ? AE_UNKNOWN : AE_ABSENT;
            f->confidence[id] = seen ? 0 : 0.9;
        }
    }
}

int ae_finder_code(struct ae_finder *finder, const char *source, size_t size, struct ae_program *ret, struct ae_error *err)
{
    struct ae_syntax syntax = {0};
    const int rc = ae_syntax_parse(&finder->grammar, finder->parser, source, size, &syntax, err);
    return rc == AE_OK ? ae_code_read(&syntax, ret, err) : rc;
}

int ae_strategy_find(struct ae_finder *finder, const struct ae_strategy_input *input, struct ae_findings *ret,
                     struct ae_error *err)
{
    struct ae_program code = {0};
    struct ae_findings_list list = {0};
    struct ae_hunt *hunt = calloc(1, sizeof *hunt);
    if (!hunt)
        return ae_error_set(err, AE_E_NOMEM, "no memory to look for strategies");
    int rc = ae_finder_code(finder, input->source, input->source_size, &code, err);
    const double unread = rc == AE_OK ? code.syntax.unread : 0;
    if (rc == AE_OK) {
        hunt->code = &code;
        hunt->query = finder->query;
        hunt->input = input;
        hunt->deadline = thread_ns() + RULES_NS;
        rc = ae_query_run(finder->query, hunt, err);
    }
    if (rc == AE_OK) {
        say_matches(hunt);
        ae_rules_memory(hunt);
        ae_rules_compute(hunt);
        ae_rules_parallel(hunt);
        ae_rules_host(hunt);
        rc = source_findings(hunt, &list, err);
    }
    if (rc == AE_OK && (input->sass || input->resources))
        rc = ae_binary_find(input->sass, input->resources, &list, err);
    if (rc == AE_OK && (input->facts || input->explanation))
        rc = ae_run_find(input->facts, input->explanation, input->run_where, &list, err);
    if (rc == AE_OK)
        drop_baseless(&list);
    if (rc == AE_OK) {
        if (list.count > 0)
            qsort(list.items, list.count, sizeof *list.items, by_strategy);
        *ret = (struct ae_findings){.items = list.items, .count = list.count, .unread = unread};
        conclude(ret, !hunt->expired);
        list.items = NULL;
    }
    free(list.items);
    free(hunt->matches);
    free(hunt);
    ae_code_release(&code);
    return rc;
}

void ae_findings_release(struct ae_findings *findings)
{
    free(findings->items);
    memset(findings, 0, sizeof *findings);
}
