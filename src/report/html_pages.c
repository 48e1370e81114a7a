#include "report/html.h"

#include "base/text.h"
#include "report/collect.h"
#include "report/html_text.h"
#include "report/print.h"
#include "report/search.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More sections than these no browser opens with pleasure; the tables hold all of them anyway. */
#define MEASUREMENTS_MAX 6000
#define ENOUGH           1                  /* ends the walk */
#define SOURCES_MAX      ((size_t)64 << 20) /* bytes of all sources */

/* One measurement's text lies in a scratch file until all are known and in order: sections hold all sizes of a
 * submission, the store answers size by size, and memory should hold neither. */
struct piece {
    char environment[65], task[64], entrant[64], submission[65];
    enum ae_target target;
    enum ae_size size;
    int sample, seeded;
    int64_t id;
    bool passed;
    char outcome[32];
    long from, length;
};

struct pages {
    struct ae_store *store;
    const struct ae_searched *searched; /* NULL: nobody looked */
    FILE *scratch;
    struct piece *pieces;
    size_t count, room;
};

/* --- one measurement --------------------------------------------------------------------------------------- */

static void put_fact(const char *name, const char *text, FILE *out)
{
    if (!*text)
        return;
    fprintf(out, "<dt>%s</dt><dd>", name);
    ae_html_put(text, out);
    fputs("</dd>", out);
}

/* Columns in plain text: thousands of small tables would make the page slow, and the script reads these as well. */
static void put_trials(const struct ae_measurement *m, FILE *out)
{
    if (m->trial_count == 0)
        return;
    fputs("<details class=\"trials\"><summary>Trials</summary><pre>", out);
    fputs("kind        group family instance       call_ms     return_ms  reference_ms    cpu_ms sm_mhz temp_c "
          "disturbed "
          "max_share outcome\n",
          out);
    for (int i = 0; i < m->trial_count; i++) {
        const struct ae_trial *t = &m->trials[i];
        fprintf(out, "%-11s %5d %6d %8d %13.6f %13.6f %13.6f %9.3f %6d %6d %9d %9.3g ", ae_trial_kind_name(t->kind),
                t->group, t->family, t->instance, (double)t->call_ns * 1e-6, (double)t->return_ns * 1e-6,
                (double)t->reference_ns * 1e-6, t->cpu_ns < 0 ? (double)NAN : (double)t->cpu_ns * 1e-6, t->sm_mhz,
                t->temperature_c, t->disturbed, t->max_share);
        ae_html_put(t->verdict == AE_VIOLATION ? ae_violation_name(t->violation) : ae_verdict_name(t->verdict),
                    out);
        fputc('\n', out);
    }
    fputs("</pre></details>\n", out);
}

/* The phases of a call one behind the other, each bar where the one before ended; a table without the bars as well. */
static void put_waterfall(const struct ae_explanation *e, FILE *out)
{
    const double call = e->call_ns > 0 ? (double)e->call_ns : 1;
    bool floors = false;
    double before = 0;
    for (int phase = 0; phase < AE_PHASE_COUNT; phase++)
        floors |= e->floors[phase] > 0;
    fprintf(out,
            "<table class=\"waterfall\"><caption>Where the wait goes: a profiled call of %.3f ms",
            (double)e->call_ns * 1e-6);
    if (e->timed_ns > 0)
        fprintf(out, ", %.3f ms without the tracer", (double)e->timed_ns * 1e-6);
    if (e->floor_ns > 0)
        fprintf(out, "; this machine needs at least %.3f ms, nothing overlapped", (double)e->floor_ns * 1e-6);
    fprintf(out,
            "</caption><thead><tr><th scope=\"col\">phase</th><th scope=\"col\" class=\"n\">ms</th><th scope=\"col\" "
            "class=\"n\">share</th>%s<th aria-hidden=\"true\"></th></tr></thead><tbody>",
            floors ? "<th scope=\"col\" class=\"n\">phase floor (ms)</th>" : "");
    for (int phase = 0; phase < AE_PHASE_COUNT; phase++) {
        const int64_t ns = e->phases[phase].own_ns;
        if (ns <= 0)
            continue;
        /* what a file claims beyond the call is cut off at its end */
        const double from = fmin(before / call, 1), to = fmin((before + (double)ns) / call, 1);
        fputs("<tr><th scope=\"row\" title=\"", out);
        ae_html_put(ae_phase_meaning((enum ae_phase)phase), out);
        fputs("\">", out);
        ae_html_put(ae_phase_title((enum ae_phase)phase), out);
        fprintf(out, "</th><td class=\"n\">%.3f</td><td class=\"n\">%.1f %%</td>", (double)ns * 1e-6,
                100 * (double)ns / call);
        if (floors && e->floors[phase] > 0)
            fprintf(out, "<td class=\"n\">%.3f</td>", (double)e->floors[phase] * 1e-6);
        else if (floors)
            fputs("<td></td>", out);
        fprintf(out,
                "<td class=\"bar\" aria-hidden=\"true\"><i class=\"p-%s\" "
                "style=\"margin-left:%.2f%%;width:%.2f%%\"></i></td></tr>\n",
                ae_phase_name((enum ae_phase)phase), 100 * from, 100 * (to - from));
        before += (double)ns;
    }
    fputs("</tbody></table>\n", out);
    if (e->note[0]) {
        fputs("<p class=\"note\">Phases of the device are not known: ", out);
        ae_html_put(e->note, out);
        fputs("</p>\n", out);
    }
    if (e->dropped > 0)
        fprintf(out, "<p class=\"note\">%lld %s found no room in the trace: the phases are not complete.</p>\n",
                (long long)e->dropped, ae_text_plural(e->dropped, "event", "events"));
    if (e->reason_count == 0)
        return;
    fputs("<ol class=\"reasons\">", out);
    for (int i = 0; i < e->reason_count; i++) {
        fputs("<li>", out);
        ae_html_put(e->reasons[i].text, out);
        fputs(" <small>", out);
        ae_html_put(e->reasons[i].rule, out);
        fputs("</small></li>", out);
    }
    fputs("</ol>\n", out);
}

static void put_speed(const struct ae_measurement *m, FILE *out)
{
    struct ae_timing timings[AE_TIMINGS_MAX];
    struct ae_speedup speed;
    char text[2 * AE_CELL_TEXT_MAX], buffer[AE_CELL_TEXT_MAX];
    const size_t count = ae_measurement_timings(m, timings);
    if (count == 0)
        return;
    ae_speedup(timings, count, &speed);
    const struct ae_cell median = ae_cell_number(speed.median_ns * 1e-6, (struct ae_interval){0});
    snprintf(text, sizeof text, "%s ms, the median of %zu", ae_cell_print(&median, buffer), count);
    put_fact("time", text, out);
    if (!isfinite(speed.s))
        return;
    const struct ae_cell ratio = ae_cell_speedup(speed.s, (struct ae_interval){0});
    snprintf(text, sizeof text, "%s over the single-thread reference", ae_cell_print(&ratio, buffer));
    put_fact("speedup", text, out);
}

static void put_measurement(const struct ae_stored *stored, FILE *out)
{
    const struct ae_measurement *m = &stored->measurement;
    char text[256];
    fprintf(out, "<section class=\"measurement\"><h4>%s: <span class=\"%s\">", ae_size_name(m->size),
            m->verdict == AE_PASS ? "good" : "bad");
    ae_html_put(m->verdict == AE_VIOLATION ? ae_violation_name(m->violation) : ae_verdict_name(m->verdict), out);
    fputs("</span></h4>\n<dl class=\"facts\">", out);
    put_speed(m, out);
    put_fact("detail", m->detail, out);
    put_fact("source file", ae_text_path_tail(m->source_path), out);
    ae_print_time(m->started_ns, text);
    put_fact("measured", text, out);
    snprintf(text, sizeof text, "%.1f s in all, compiled in %.1f s, on %d %s", (double)m->wall_ns * 1e-9,
             (double)m->compile_ns * 1e-9, m->cores, ae_text_plural(m->cores, "core", "cores"));
    put_fact("took", text, out);
    put_fact("device", m->device_uuid, out);
    snprintf(text, sizeof text, "measurement %lld of run %lld, version %d of the task", (long long)stored->id,
             (long long)stored->run, stored->task_version);
    put_fact("stored as", text, out);
    fputs("</dl>\n", out);
    if (stored->explanation)
        put_waterfall(stored->explanation, out);
    if (m->log && *m->log) {
        fputs("<details><summary>Log</summary><pre>", out);
        ae_html_put(m->log, out);
        fputs("</pre></details>\n", out);
    }
    put_trials(m, out);
    fputs("</section>\n", out);
}

static int collect_one(void *data, const struct ae_stored *stored)
{
    struct pages *p = data;
    const struct ae_measurement *m = &stored->measurement;
    if (p->count == MEASUREMENTS_MAX)
        return ENOUGH;
    if (p->count == p->room) {
        const size_t room = p->room ? 2 * p->room : 256;
        struct piece *more = realloc(p->pieces, room * sizeof *more);
        if (!more)
            return AE_E_NOMEM;
        p->pieces = more;
        p->room = room;
    }
    struct piece *piece = &p->pieces[p->count++];
    *piece = (struct piece){.target = m->target,
                            .size = m->size,
                            .sample = m->sample,
                            .seeded = m->seeded,
                            .id = stored->id,
                            .passed = m->verdict == AE_PASS,
                            .from = ftell(p->scratch)};
    snprintf(piece->environment, sizeof piece->environment, "%s", stored->environment);
    snprintf(piece->task, sizeof piece->task, "%s", stored->task);
    snprintf(piece->entrant, sizeof piece->entrant, "%s", m->entrant);
    snprintf(piece->submission, sizeof piece->submission, "%s", m->submission);
    snprintf(piece->outcome, sizeof piece->outcome, "%s",
             m->verdict == AE_VIOLATION ? ae_violation_name(m->violation) : ae_verdict_name(m->verdict));
    put_measurement(stored, p->scratch);
    piece->length = ftell(p->scratch) - piece->from;
    return piece->from < 0 || ferror(p->scratch) ? AE_E_IO : AE_OK;
}

/* --- one section ------------------------------------------------------------------------------------------- */

/* Of one program of one entrant on one task and machine. */
static int same_section(const struct piece *a, const struct piece *b)
{
    int order = strcmp(a->task, b->task);
    if (order == 0)
        order = strcmp(a->entrant, b->entrant);
    if (order == 0)
        order = strcmp(a->environment, b->environment);
    if (order == 0)
        order = (int)a->target - (int)b->target;
    if (order == 0)
        order = (a->sample > b->sample) - (a->sample < b->sample);
    return order ? order : strcmp(a->submission, b->submission);
}

static int in_order(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    int order = same_section(x, y);
    if (order == 0)
        order = (int)x->size - (int)y->size;
    return order ? order : (x->id < y->id) - (x->id > y->id);
}

static int copy_piece(struct pages *p, const struct piece *piece, FILE *out)
{
    char buffer[16384];
    if (fseek(p->scratch, piece->from, SEEK_SET) != 0)
        return AE_E_IO;
    for (long left = piece->length; left > 0;) {
        const size_t n = fread(buffer, 1, left < (long)sizeof buffer ? (size_t)left : sizeof buffer, p->scratch);
        if (n == 0)
            return AE_E_IO;
        (void)fwrite(buffer, 1, n, out);
        left -= (long)n;
    }
    return AE_OK;
}

/* NULL: nobody looked at it. */
static const struct ae_report_program *program_of(const struct pages *p, const struct piece *piece)
{
    const int number = ae_searched_find(p->searched, piece->task, piece->submission);
    return number < 0 || piece->target != AE_CUDA ? NULL : &p->searched->programs[number];
}

static void put_findings(const struct pages *p, const struct ae_report_program *program, FILE *out)
{
    fprintf(out, "<details class=\"strategies\" open><summary>Strategies found: %zu</summary><dl>\n", program->finding_count);
    for (size_t i = 0; i < program->finding_count; i++) {
        const struct ae_report_finding *f = &program->findings[i];
        const struct ae_report_strategy *strategy = &p->searched->search->strategies[f->strategy];
        fputs("<dt title=\"", out);
        ae_html_put(strategy->definition, out);
        fputs("\">", out);
        ae_html_put(strategy->id, out);
        fputs(" ", out);
        ae_html_put(strategy->name, out);
        fputs("</dt><dd>", out);
        ae_html_put(f->sentence, out);
        fprintf(out, " <small>confidence %.2f%s", f->confidence, f->line_count ? ", line" : "");
        for (int k = 0; k < f->line_count; k++) {
            fprintf(out, "%s%d", k ? ", " : f->line_count > 1 || f->lines[0].last > f->lines[0].first ? "s " : " ",
                    f->lines[k].first);
            if (f->lines[k].last > f->lines[k].first)
                fprintf(out, "-%d", f->lines[k].last);
        }
        fputs("</small></dd>\n", out);
    }
    fputs("</dl></details>\n", out);
}

static int put_source(struct pages *p, const struct piece *piece, size_t *bytes, FILE *out, struct ae_error *err)
{
    struct ae_submission submission;
    const struct ae_report_program *program = program_of(p, piece);
    const int r = ae_store_submission_get(p->store, piece->submission, &submission, err);
    if (r != AE_OK)
        return r;
    *bytes += submission.size;
    if (program)
        put_findings(p, program, out);
    if (*bytes > SOURCES_MAX) {
        fputs("<p class=\"note\">The source is left out: too many are in this report. 'acceleval export' has them "
              "all.</p>\n",
              out);
    } else {
        fputs("<details class=\"source\" open><summary>Source, ", out);
        ae_html_put(submission.language, out);
        fputs(", SHA-256 ", out);
        ae_html_put(submission.sha256, out);
        fputs("</summary><pre><code>", out);
        ae_html_source(submission.source, submission.size, program, p->searched ? p->searched->search : NULL, out);
        fputs("</code></pre></details>\n", out);
    }
    ae_submission_release(&submission);
    return AE_OK;
}

static void put_strategies(const char *name, const struct ae_report_search *search, uint64_t set, FILE *out)
{
    fprintf(out, " data-%s=\"", name);
    for (int k = 0, n = 0; k < search->count; k++)
        if (set >> k & 1)
            fprintf(out, "%s%s", n++ ? " " : "", search->strategies[k].id);
    fputs("\"", out);
}

static int put_section(struct pages *p, const struct piece *pieces, size_t count, size_t number, size_t *bytes,
                       FILE *out, struct ae_error *err)
{
    const struct piece *first = &pieces[0];
    int r = AE_OK;
    fprintf(out, "<details class=\"submission\" id=\"s%zu\" data-task=\"", number);
    ae_html_put(first->task, out);
    fputs("\" data-entrant=\"", out);
    ae_html_put(first->entrant, out);
    fprintf(out, "\" data-target=\"%s\"", ae_target_name(first->target));
    const struct ae_report_program *program = program_of(p, first);
    if (program) { /* for the heat map, which counts as the tables do: what nobody knows is not 'without' */
        put_strategies("strategies", p->searched->search, program->has, out);
        put_strategies("undecided", p->searched->search, ~program->known, out);
    }
    fputs("><summary><b>", out);
    ae_html_put(first->task, out);
    fputs("</b> ", out);
    ae_html_put(first->entrant, out);
    fprintf(out, " <small>%s, sample %d, on ", ae_target_name(first->target), first->sample);
    ae_html_text(first->environment, strnlen(first->environment, 8), out);
    fputs("</small>", out);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, " <span class=\"%s\">%s ", pieces[i].passed ? "good" : "bad", ae_size_name(pieces[i].size));
        ae_html_put(pieces[i].outcome, out);
        fputs("</span>", out);
    }
    fputs("</summary>\n", out);
    for (size_t i = 0; r == AE_OK && i < count; i++)
        if (copy_piece(p, &pieces[i], out) != AE_OK)
            r = ae_error_set(err, AE_E_IO, "cannot read a scratch file back");
    if (r == AE_OK)
        r = put_source(p, first, bytes, out, err);
    fputs("</details>\n", out);
    return r;
}

static int collect(struct pages *p, const struct ae_report_options *options, struct ae_error *err)
{
    struct ae_measurement_filter filter = options->filter;
    filter.with_log = filter.explained = true;
    filter.trials = AE_TRIALS_ALL;
    int r = AE_OK;
    if (!options->entrants)
        r = ae_store_measurements(p->store, &filter, collect_one, p, err);
    for (size_t i = 0; r == AE_OK && options->entrants && options->entrants[i]; i++) {
        filter.entrant = options->entrants[i];
        r = ae_store_measurements(p->store, &filter, collect_one, p, err);
    }
    if (r == AE_E_NOMEM)
        return ae_error_set(err, r, "no memory for the sections of the report");
    return r == AE_E_IO ? ae_error_set(err, r, "cannot write a scratch file") : r;
}

int ae_html_submissions(struct ae_store *store, const struct ae_report *report, const struct ae_report_options *options,
                        FILE *out, struct ae_error *err)
{
    struct pages p = {.store = store, .searched = report->searched, .scratch = tmpfile()};
    if (!p.scratch)
        return ae_error_set(err, AE_E_IO, "cannot make a scratch file in $TMPDIR or /tmp");
    int r = collect(&p, options, err);
    const bool cut = r == ENOUGH;
    r = cut ? AE_OK : r;
    if (r == AE_OK && p.count > 1)
        qsort(p.pieces, p.count, sizeof *p.pieces, in_order);
    fputs("<section id=\"submissions\"><h2>Submissions</h2>\n", out);
    if (cut)
        fprintf(out,
                "<p class=\"note\">The first %d measurements only: the others are in the tables. Fewer sizes or "
                "entrants "
                "give sections to all.</p>\n",
                MEASUREMENTS_MAX);
    size_t number = 0, bytes = 0;
    for (size_t i = 0; r == AE_OK && i < p.count;) {
        size_t end = i;
        while (end < p.count && same_section(&p.pieces[i], &p.pieces[end]) == 0)
            end++;
        r = put_section(&p, &p.pieces[i], end - i, number++, &bytes, out, err);
        i = end;
    }
    fputs("</section>\n", out);
    free(p.pieces);
    (void)fclose(p.scratch);
    return r;
}

/* --- environments ------------------------------------------------------------------------------------------ */

static int put_environment(void *data, const struct ae_environment *environment)
{
    FILE *out = data;
    fputs("<h3>", out);
    ae_html_put(environment->name, out);
    fputs(" <small>", out);
    ae_html_put(environment->id, out);
    fputs("</small></h3>\n<pre>", out);
    json_t *json = json_loads(environment->json, 0, NULL);
    char *pretty = json ? json_dumps(json, JSON_INDENT(2)) : NULL;
    ae_html_put(pretty ? pretty : environment->json, out);
    fputs("</pre>\n", out);
    free(pretty);
    json_decref(json);
    return AE_OK;
}

int ae_html_environments(struct ae_store *store, FILE *out, struct ae_error *err)
{
    fputs("<section id=\"environments\"><h2>Environments</h2>\n", out);
    const int r = ae_store_environments(store, put_environment, out, err);
    fputs("</section>\n", out);
    return r;
}
