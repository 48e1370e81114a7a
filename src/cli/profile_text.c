#include "cli/profile_text.h"

#include "base/clock.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

#define NAME_WIDTH   17
#define NUMBER_WIDTH 34 /* of the columns beside name and bar */
#define BAR_MIN      16
#define SLOWED       0.30 /* profiled calls that are longer than the timed ones by more are said to be */
#define WINDOW_OFF   0.03
#define KERNELS_SHOWN 8

static double in_ms(double ns)
{
    return ns / AE_MS;
}

/* One row of the waterfall: the bar begins where the one before ends. */
static void print_phase(const struct ae_profile *p, enum ae_phase phase, int64_t before_ns, int bar, FILE *out)
{
    const struct ae_phase_time *t = &p->facts.phase[phase];
    const double call = p->facts.call_ns > 0 ? (double)p->facts.call_ns : 1;
    const double floor = ae_floor_of_phase(&p->floors, phase);
    int from = (int)((double)before_ns / call * bar), to = (int)lround((double)(before_ns + t->own_ns) / call * bar);
    if (to == from)
        to = from + 1;
    if (to > bar) {
        to = bar;
        from = from < bar ? from : bar - 1;
    }
    fprintf(out, "  %-*s %10.3f ms %5.1f %%  ", NAME_WIDTH, ae_phase_title(phase), in_ms((double)t->own_ns),
            100 * (double)t->own_ns / call);
    for (int i = 0; i < bar; i++)
        fputc(i < from ? ' ' : i < to ? '#' : ' ', out);
    if (floor > 0 && t->own_ns > 0)
        fprintf(out, " floor %.3f ms, %.0f %%", in_ms(floor), 100 * fmin(floor / (double)t->own_ns, 1));
    fputc('\n', out);
}

static void print_waterfall(const struct ae_profile *p, int width, FILE *out)
{
    int bar = width - NAME_WIDTH - NUMBER_WIDTH - (p->floors.call_ns > 0 ? 25 : 0);
    int64_t before = 0;
    bar = bar < BAR_MIN ? BAR_MIN : bar;
    for (int phase = 0; phase < AE_PHASE_COUNT; phase++) { /* in the order in which a call goes through them */
        if (p->facts.phase[phase].own_ns == 0)
            continue;
        print_phase(p, (enum ae_phase)phase, before, bar, out);
        before += p->facts.phase[phase].own_ns;
    }
    fprintf(out, "  %-*s %10.3f ms 100.0 %%", NAME_WIDTH, "call", in_ms((double)p->facts.call_ns));
    if (p->floors.call_ns > 0)
        fprintf(out, "  (at least %.3f ms on this machine, nothing overlapped)", in_ms(p->floors.call_ns));
    fputc('\n', out);
}

static void print_kernels(const struct ae_profile *p, FILE *out)
{
    const struct ae_facts *f = &p->facts;
    if (f->kernel_count == 0)
        return;
    char title[64];
    snprintf(title, sizeof title, "kernels (%lld %s)", (long long)f->launches,
             ae_text_plural(f->launches, "launch", "launches"));
    fprintf(out, "\n  %-36s launches         ms  blocks x threads  registers  shared   local  occupancy\n", title);
    for (int i = 0; i < f->kernel_count && i < KERNELS_SHOWN; i++) {
        const struct ae_kernel_facts *k = &f->kernels[i];
        double occupancy;
        (void)ae_blocks_a_multiprocessor(&p->ceilings, k, &occupancy);
        fprintf(out, "  %-36.36s %8lld %10.3f %9lld x %-5u %10u %7u %7u %8.0f %%\n", k->name, (long long)k->launches,
                in_ms((double)k->total_ns), (long long)k->blocks, k->threads, k->registers, k->shared, k->local, 100 * occupancy);
    }
    if (f->kernel_count > KERNELS_SHOWN)
        fprintf(out, "  and %d more\n", f->kernel_count - KERNELS_SHOWN);
}

static void print_copies(const struct ae_copy_facts *c, const char *what, FILE *out)
{
    if (c->count == 0)
        return;
    fprintf(out, "  %-6s %lld %s, %.3f MB, %.3f ms on the link (%.1f GB/s)%s\n", what, (long long)c->count,
            ae_text_plural(c->count, "copy", "copies"), c->bytes * 1e-6, in_ms((double)c->ns),
            c->ns > 0 ? c->bytes / (double)c->ns : 0,
            c->pageable_bytes > 0.5 * c->bytes ? ", pageable memory"
            : c->pinned_bytes > 0.5 * c->bytes ? ", pinned memory"
                                               : "");
}

static void print_host(const struct ae_facts *f, FILE *out)
{
    const struct ae_trace_usage *u = &f->usage;
    const int64_t faults = u->minor_faults + u->major_faults, switches = u->voluntary + u->involuntary;
    fprintf(out, "  host   %.3f ms user, %.3f ms system, %lld page %s, %lld %s, %lld %s\n", in_ms((double)u->user_ns),
            in_ms((double)u->system_ns), (long long)faults, ae_text_plural(faults, "fault", "faults"),
            (long long)u->threads_after, ae_text_plural(u->threads_after, "thread", "threads"), (long long)switches,
            ae_text_plural(switches, "switch", "switches"));
    const struct ae_counters *c = &f->counters;
    if (c->instructions > 0 && c->cycles > 0)
        fprintf(out, "         %.0f million instructions, %.2f a cycle, %.2f million cache misses\n",
                (double)c->instructions * 1e-6, (double)c->instructions / (double)c->cycles,
                c->cache_misses > 0 ? (double)c->cache_misses * 1e-6 : 0);
}

static void print_cautions(const struct ae_profile *p, FILE *out)
{
    const double overhead = ae_profile_overhead(p);
    if (p->note[0])
        fprintf(out, "  %s: phases of the device are not known\n", p->note);
    if (overhead > SLOWED)
        fprintf(out, "  the tracer makes the call %.0f %% longer (%.3f ms): phases that are shorter than that may be its own\n",
                100 * overhead, in_ms((double)(p->profiled_ns - p->timed_ns)));
    if (overhead < -SLOWED)
        fprintf(out, "  the call took %.0f %% less than the timed ones: this machine is not quiet, or calls differ; what is "
                "shown explains this one\n", -100 * overhead);
    if (p->facts.dropped > 0)
        fprintf(out, "  %llu events found no room in the trace: the phases are not complete\n",
                (unsigned long long)p->facts.dropped);
    if (p->profiled_ns > 0 &&
        fabs((double)p->facts.call_ns / (double)p->profiled_ns - 1) > WINDOW_OFF)
        fprintf(out, "  the parent's clock says %.3f ms for this call: the rest is the doorbell's%s\n",
                in_ms((double)p->profiled_ns),
                2 * p->facts.call_ns < p->profiled_ns ? ", more than what is shown explains" : "");
}

static void print_bottlenecks(const struct ae_profile *p, int most, FILE *out)
{
    if (p->bottleneck_count == 0 && p->unsupported_count == 0) {
        fprintf(out, "\n  No rule of docs/bottlenecks.md fires%s.\n",
                p->ceilings.known ? "" : " (without 'acceleval doctor --measure' few can)");
        return;
    }
    fputc('\n', out);
    for (int i = 0; i < p->bottleneck_count && i < most; i++) {
        const struct ae_bottleneck *b = &p->bottlenecks[i];
        fprintf(out, "  %d. [%s] %s\n     %s\n", i + 1, b->rule->id, b->text, b->rule->mend);
    }
    if (p->unsupported_count == 0)
        return;
    fprintf(out, "  Not said:");
    for (int i = 0; i < p->unsupported_count; i++)
        fprintf(out, "%s %s", i ? "," : "", p->unsupported[i]->id);
    const int64_t longer = p->profiled_ns - p->slowest_ns;
    if (longer > 0)
        fprintf(out, ". The profiled call took %.3f ms longer than the slowest of the others, and all that %s about "
                "may be that.\n", in_ms((double)longer), p->unsupported_count == 1 ? "it is" : "these are");
    else
        fprintf(out, ". What %s about is too short to be told from the making of the trace.\n",
                p->unsupported_count == 1 ? "it is" : "these are");
}

void ae_profile_print(const struct ae_profile *p, int width, int most, FILE *out)
{
    const double overhead = ae_profile_overhead(p);
    fprintf(out, "%s %s, %s: %.3f ms (median of %d)", p->task->id, ae_size_name(p->size), ae_target_name(p->target),
            in_ms((double)p->timed_ns), p->timed_calls);
    if (p->reference_ns > 0)
        fprintf(out, "; the CPU reference takes %.3f ms", in_ms((double)p->reference_ns));
    fprintf(out, "\n  one profiled call of %d (%+.0f %%):\n\n", p->profiled_calls, 100 * overhead);
    print_waterfall(p, width, out);
    print_kernels(p, out);
    fputc('\n', out);
    print_copies(&p->facts.in, "in", out);
    print_copies(&p->facts.out, "out", out);
    if (p->facts.overlap_ns > 0)
        fprintf(out, "  %.3f ms of copies run beside kernels\n", in_ms((double)p->facts.overlap_ns));
    print_host(&p->facts, out);
    print_cautions(p, out);
    print_bottlenecks(p, most, out);
}
