/* A profile as JSON and as a trace for a viewer. */
#include "profile/profile.h"

#include "base/file.h"
#include "base/json.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static json_t *phases_json(const struct ae_profile *p)
{
    json_t *array = json_array();
    for (int i = 0; i < AE_PHASE_COUNT; i++) {
        const struct ae_phase_time *t = &p->facts.phase[i];
        const double floor = ae_floor_of_phase(&p->floors, (enum ae_phase)i);
        json_t *row = json_pack("{s:s, s:I, s:I, s:f}", "phase", ae_phase_name((enum ae_phase)i), "ns",
                                (json_int_t)t->own_ns, "busy_ns", (json_int_t)t->busy_ns, "share",
                                p->facts.call_ns > 0 ? (double)t->own_ns / (double)p->facts.call_ns : 0.0);
        if (floor > 0)
            json_object_set_new(row, "floor_ns", json_real(floor));
        json_array_append_new(array, row);
    }
    return array;
}

static json_t *kernels_json(const struct ae_profile *p)
{
    json_t *array = json_array();
    for (int i = 0; i < p->facts.kernel_count; i++) {
        const struct ae_kernel_facts *k = &p->facts.kernels[i];
        double occupancy;
        (void)ae_blocks_a_multiprocessor(&p->ceilings, k, &occupancy);
        json_t *row = json_pack(
            "{s:o, s:b, s:I, s:I, s:[i,i,i], s:[i,i,i], s:i, s:i, s:i}", "name", ae_json_text(k->name), "library",
            k->of_toolkit, "launches", (json_int_t)k->launches, "ns", (json_int_t)k->total_ns, "grid", (int)k->grid[0],
            (int)k->grid[1], (int)k->grid[2], "block", (int)k->block[0], (int)k->block[1], (int)k->block[2],
            "registers", (int)k->registers, "shared_bytes", (int)k->shared, "local_bytes", (int)k->local);
        if (occupancy > 0)
            json_object_set_new(row, "occupancy", json_real(occupancy));
        json_array_append_new(array, row);
    }
    return array;
}

static json_t *copies_json(const struct ae_copy_facts *c)
{
    return json_pack("{s:I, s:I, s:f, s:f, s:f, s:I}", "count", (json_int_t)c->count, "small", (json_int_t)c->small,
                     "bytes", c->bytes, "pageable_bytes", c->pageable_bytes, "pinned_bytes", c->pinned_bytes, "ns",
                     (json_int_t)c->ns);
}

static json_t *host_json(const struct ae_facts *f)
{
    const struct {
        const char *name;
        int64_t value;
    } counters[] = {
        {"instructions", f->counters.instructions}, {"cycles", f->counters.cycles},
        {"cache_misses", f->counters.cache_misses}, {"branch_misses", f->counters.branch_misses},
    };
    json_t *json = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "user_ns", (json_int_t)f->usage.user_ns, "system_ns",
                             (json_int_t)f->usage.system_ns, "minor_faults", (json_int_t)f->usage.minor_faults,
                             "major_faults", (json_int_t)f->usage.major_faults, "voluntary_switches",
                             (json_int_t)f->usage.voluntary, "involuntary_switches", (json_int_t)f->usage.involuntary,
                             "threads", (json_int_t)f->usage.threads_after, "queued_ns", (json_int_t)f->usage.queued_ns);
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        if (counters[i].value >= 0)
            json_object_set_new(json, counters[i].name, json_integer(counters[i].value));
    return json;
}

static json_t *bottlenecks_json(const struct ae_profile *p)
{
    json_t *array = json_array();
    for (int i = 0; i < p->bottleneck_count; i++) {
        const struct ae_bottleneck *b = &p->bottlenecks[i];
        json_array_append_new(array,
                              json_pack("{s:s, s:o, s:f, s:f, s:s}", "id", b->rule->id, "text", ae_json_text(b->text),
                                        "share", b->share, "gain_ns", b->gain_ns, "mend", b->rule->mend));
    }
    return array;
}

json_t *ae_profile_json(const struct ae_profile *p)
{
    json_t *json = json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:o, s:o}", "schema", 1, "task", p->task->id, "size",
                             ae_size_name(p->size), "target", ae_target_name(p->target), "verdict",
                             ae_verdict_name(p->verdict), "violation", ae_violation_name(p->violation), "detail",
                             ae_json_text(p->detail), "source", ae_json_text(p->source_path));
    if (json && p->submission[0])
        json_object_set_new(json, "submission", json_string(p->submission));
    if (!json || p->profiled_calls == 0)
        return json;
    json_object_set_new(json, "traced", json_boolean(p->facts.device));
    if (p->note[0])
        json_object_set_new(json, "note", ae_json_text(p->note));
    json_object_set_new(json, "timed_ns", json_integer(p->timed_ns));
    json_object_set_new(json, "slowest_ns", json_integer(p->slowest_ns));
    json_object_set_new(json, "profiled_ns", json_integer(p->profiled_ns));
    json_object_set_new(json, "reference_ns", json_integer(p->reference_ns));
    json_object_set_new(json, "call_ns", json_integer(p->facts.call_ns));
    json_object_set_new(json, "dropped", json_integer((json_int_t)(p->facts.dropped & INT64_MAX)));
    json_object_set_new(json, "phases", phases_json(p));
    json_object_set_new(json, "overlap_ns", json_integer(p->facts.overlap_ns));
    json_object_set_new(json, "device_ns", json_integer(p->facts.device_ns));
    json_object_set_new(json, "kernels", kernels_json(p));
    json_object_set_new(json, "copies_in", copies_json(&p->facts.in));
    json_object_set_new(json, "copies_out", copies_json(&p->facts.out));
    json_object_set_new(json, "host", host_json(&p->facts));
    if (p->floors.call_ns > 0)
        json_object_set_new(json, "floor_ns", json_real(p->floors.call_ns));
    json_object_set_new(json, "bottlenecks", bottlenecks_json(p));
    json_t *unsupported = json_array();
    for (int i = 0; i < p->unsupported_count; i++)
        json_array_append_new(unsupported, json_string(p->unsupported[i]->id));
    json_object_set_new(json, "unsupported", unsupported);
    return json;
}

/* Names are printable ASCII without blanks; what JSON would read otherwise is escaped. */
static void put_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
}

static const char *what_of(const struct ae_trace_event *e)
{
    if (e->kind == AE_TRACE_SET)
        return "memset";
    return e->way == AE_TRACE_WAY_IN ? "copy in" : e->way == AE_TRACE_WAY_OUT ? "copy out" : "copy on the device";
}

static void put_event(FILE *out, const struct ae_trace_event *e)
{
    char name[AE_TRACE_NAME];
    const bool device = e->kind != AE_TRACE_API;
    if (e->kind == AE_TRACE_KERNEL)
        ae_kernel_name(e->name, name, sizeof name);
    else
        snprintf(name, sizeof name, "%s", device ? what_of(e) : e->name);
    fputs(",\n{\"ph\":\"X\",\"name\":\"", out);
    put_text(out, name);
    fprintf(out, "\",\"cat\":\"%s\",\"pid\":%d,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"correlation\":%u",
            device ? "device" : "driver", device ? 2 : 1, e->lane, (double)e->start_ns * 1e-3,
            (double)(e->end_ns - e->start_ns) * 1e-3, e->correlation);
    if (e->kind == AE_TRACE_KERNEL)
        fprintf(out, ",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"registers\":%u,\"shared\":%u,\"local\":%u", e->grid[0],
                e->grid[1], e->grid[2], e->block[0], e->block[1], e->block[2], e->registers, e->shared, e->local);
    else if (device)
        fprintf(out, ",\"bytes\":%llu", (unsigned long long)e->bytes);
    fputs("}}", out);
}

int ae_profile_write_trace(const struct ae_profile *p, const char *path, struct ae_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return ae_error_set(err, AE_E_NOMEM, "no memory for a trace");
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
          "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"tid\":0,\"args\":{\"name\":\"host\"}},\n"
          "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":2,\"tid\":0,\"args\":{\"name\":\"device\"}}", out);
    fprintf(out, ",\n{\"ph\":\"X\",\"name\":\"solution_compute\",\"cat\":\"call\",\"pid\":1,\"tid\":0,\"ts\":0,"
            "\"dur\":%.3f,\"args\":{\"task\":\"%s\",\"size\":\"%s\"}}", (double)p->facts.call_ns * 1e-3, p->task->id,
            ae_size_name(p->size));
    for (size_t i = 0; i < p->trace.count; i++)
        put_event(out, &p->trace.events[i]);
    fputs("\n]}\n", out);
    const bool bad = fclose(out) != 0;
    const int rc =
        bad ? ae_error_set(err, AE_E_NOMEM, "no memory for a trace") : ae_new_file_write(path, text, size, err);
    free(text);
    return rc;
}
