#include "profile/ceilings.h"

#include "base/clock.h"
#include "proc/proc.h"

#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define KIND             "ceilings"
#define VERSION          1 /* raised with what acceleval-measure does */
#define MEASURE_TIMEOUT  (120 * AE_SEC)
/* Threads that copy through a pinned ring reach about so much of what the host's memory gives them all; making the ring
 * and the threads costs about so much. Measured on an H200: 2.1-3.1 ms for 32 MiB, 4.7-6.5 for 128, 25-29 for 1 GiB. */
#define RING_SHARE       0.9
#define RING_START_NS    1.5e6

static void key_of(const struct ae_context *context, char *text, size_t size)
{
    snprintf(text, size, "ceilings %d\n%s\n%s\n%d cores\n%s\n%s\n%s\n", VERSION, context->host.cpu, context->host.kernel,
             context->host.core_count, context->device.handle ? context->device.uuid : "no device",
             context->device.driver, context->device.name);
}

static double number(const json_t *object, const char *name)
{
    const double value = json_number_value(json_object_get(object, name));
    return isfinite(value) && value > 0 && value < 1e18 ? value : 0;
}

static int integer(const json_t *object, const char *name)
{
    const double value = number(object, name);
    return value < 1e9 ? (int)value : 0;
}

static void read_transfers(const json_t *array, struct ae_ceilings *ret)
{
    size_t i;
    json_t *row;
    json_array_foreach(array, i, row) {
        const struct ae_transfer_ceiling t = {
            .bytes = number(row, "bytes"),
            .pageable_in_ns = number(row, "pageable_in_ns"),
            .pageable_out_ns = number(row, "pageable_out_ns"),
            .pinned_in_ns = number(row, "pinned_in_ns"),
            .pinned_out_ns = number(row, "pinned_out_ns"),
            .register_ns = number(row, "register_ns"),
            .unregister_ns = number(row, "unregister_ns"),
        };
        const bool in_order = ret->transfer_count == 0 || t.bytes > ret->transfers[ret->transfer_count - 1].bytes;
        if (ret->transfer_count < AE_TRANSFER_SIZES && in_order && t.bytes > 0 && t.pageable_in_ns > 0 &&
            t.pageable_out_ns > 0)
            ret->transfers[ret->transfer_count++] = t;
    }
}

int ae_ceilings_parse(const char *json, size_t size, struct ae_ceilings *ret, struct ae_error *err)
{
    json_error_t where;
    json_t *root = json_loadb(json, size, JSON_REJECT_DUPLICATES, &where);
    const json_t *host = json_object_get(root, "host"), *device = json_object_get(root, "device");
    *ret = (struct ae_ceilings){0};
    if (!json_is_object(host)) {
        json_decref(root);
        return ae_error_set(err, AE_E_INPUT, "the measurement of this machine cannot be read%s%s", root ? "" : ": ",
                            root ? "" : where.text);
    }
    ret->known = true;
    ret->cores = integer(host, "cores");
    ret->copy_one_rate = number(host, "copy_one_thread");
    ret->copy_all_rate = number(host, "copy_all");
    ret->touch_page_ns = number(host, "touch_page_ns");
    ret->thread_ns = number(host, "thread_ns");
    if (json_is_object(device)) {
        const char *name = json_string_value(json_object_get(device, "name"));
        ret->device = true;
        snprintf(ret->device_name, sizeof ret->device_name, "%s", name ? name : "");
        read_transfers(json_object_get(device, "transfers"), ret);
        ret->alloc_ns = number(device, "alloc_ns");
        ret->free_ns = number(device, "free_ns");
        ret->pinned_alloc_ns_mb = number(device, "pinned_alloc_ns_mb");
        ret->pinned_free_ns_mb = number(device, "pinned_free_ns_mb");
        ret->launch_ns = number(device, "launch_ns");
        ret->launch_sync_ns = number(device, "launch_sync_ns");
        ret->sync_idle_ns = number(device, "sync_idle_ns");
        ret->small_in_ns = number(device, "small_in_ns");
        ret->small_out_ns = number(device, "small_out_ns");
        ret->memory_rate = number(device, "memory_rate");
        ret->f32_rate = number(device, "f32_rate");
        ret->f64_rate = number(device, "f64_rate");
        ret->multiprocessors = integer(device, "multiprocessors");
        ret->threads_a_multiprocessor = integer(device, "threads_a_multiprocessor");
        ret->blocks_a_multiprocessor = integer(device, "blocks_a_multiprocessor");
        ret->registers_a_multiprocessor = integer(device, "registers_a_multiprocessor");
        ret->shared_a_multiprocessor = integer(device, "shared_a_multiprocessor");
    }
    json_decref(root);
    return AE_OK;
}

json_t *ae_ceilings_json(const struct ae_ceilings *c)
{
    json_t *host = json_pack("{s:i, s:f, s:f, s:f, s:f}", "cores", c->cores, "copy_one_thread", c->copy_one_rate,
                             "copy_all", c->copy_all_rate, "touch_page_ns", c->touch_page_ns, "thread_ns", c->thread_ns);
    json_t *device = NULL;
    if (c->device) {
        json_t *transfers = json_array();
        for (int i = 0; i < c->transfer_count; i++) {
            const struct ae_transfer_ceiling *t = &c->transfers[i];
            json_array_append_new(transfers,
                                  json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "bytes", t->bytes, "pageable_in_ns",
                                            t->pageable_in_ns, "pageable_out_ns", t->pageable_out_ns, "pinned_in_ns",
                                            t->pinned_in_ns, "pinned_out_ns", t->pinned_out_ns, "register_ns",
                                            t->register_ns, "unregister_ns", t->unregister_ns));
        }
        device = json_pack(
            "{s:s, s:o, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:i, s:i, s:i, s:i, s:i}", "name",
            c->device_name, "transfers", transfers, "alloc_ns", c->alloc_ns, "free_ns", c->free_ns,
            "pinned_alloc_ns_mb", c->pinned_alloc_ns_mb, "pinned_free_ns_mb", c->pinned_free_ns_mb, "launch_ns",
            c->launch_ns, "launch_sync_ns", c->launch_sync_ns, "sync_idle_ns", c->sync_idle_ns, "small_in_ns",
            c->small_in_ns, "small_out_ns", c->small_out_ns, "memory_rate", c->memory_rate, "f32_rate", c->f32_rate,
            "f64_rate", c->f64_rate, "multiprocessors", c->multiprocessors, "threads_a_multiprocessor",
            c->threads_a_multiprocessor, "blocks_a_multiprocessor", c->blocks_a_multiprocessor,
            "registers_a_multiprocessor", c->registers_a_multiprocessor, "shared_a_multiprocessor",
            c->shared_a_multiprocessor);
    }
    return json_pack("{s:i, s:o, s:o?}", "schema", 1, "host", host, "device", device);
}

/* The program lies beside the worker. */
static void program_path(const struct ae_context *context, char *path, size_t size)
{
    const char *slash = strrchr(context->worker, '/');
    snprintf(path, size, "%.*sacceleval-measure", slash ? (int)(slash + 1 - context->worker) : 0, context->worker);
}

static int run_program(struct ae_context *context, struct ae_proc_result *ret, struct ae_error *err)
{
    char path[4200], visible[128];
    program_path(context, path, sizeof path);
    snprintf(visible, sizeof visible, "CUDA_VISIBLE_DEVICES=%s", context->device.uuid); /* the only one, so 0 */
    const char *argv[] = {path, context->device.handle ? "0" : "-1", NULL};
    const char *env[] = {"LANG=C", "CUDA_CACHE_DISABLE=1", "LD_LIBRARY_PATH=/usr/local/nvidia/lib64", visible, NULL};
    const struct ae_proc_spec spec = {.argv = argv, .env = env, .affinity = &context->host.cores,
                                      .timeout_ns = MEASURE_TIMEOUT};
    const int rc = ae_proc_run(&spec, ret, err);
    if (rc != AE_OK)
        return rc;
    if (ret->outcome != AE_PROC_EXITED || ret->code != 0)
        return ae_error_set(err, AE_E_ENV, "acceleval-measure %s: %.200s", ae_proc_outcome_name(ret->outcome),
                            ret->err.text ? ret->err.text : "");
    return AE_OK;
}

int ae_ceilings_measure(struct ae_context *context, struct ae_ceilings *ret, struct ae_error *err)
{
    char key[1024];
    struct ae_proc_result result = {0};
    *ret = (struct ae_ceilings){0};
    int rc = context->device.handle ? ae_device_lock(&context->device, 60 * AE_SEC, err) : AE_OK;
    ae_context_say(context, "measuring this machine");
    if (rc == AE_OK)
        rc = run_program(context, &result, err);
    if (rc == AE_OK)
        rc = ae_ceilings_parse(result.out.text ? result.out.text : "", result.out.size, ret, err);
    if (rc == AE_OK) {
        const struct iovec piece = {result.out.text, result.out.size};
        key_of(context, key, sizeof key);
        (void)ae_cache_put(context->cache, KIND, key, &piece, 1, NULL); /* a cache that is full costs a measurement */
    }
    ae_proc_result_release(&result);
    return rc;
}

/* Lanes of one process measure one after the other: they share the host. */
static pthread_mutex_t measuring = PTHREAD_MUTEX_INITIALIZER;

static int get(struct ae_context *context, bool measure, struct ae_ceilings *ret, struct ae_error *err)
{
    char key[1024];
    struct ae_cache_entry entry;
    *ret = (struct ae_ceilings){0};
    key_of(context, key, sizeof key);
    int rc = ae_cache_get(context->cache, KIND, key, &entry, err);
    if (rc == AE_OK) {
        rc = ae_ceilings_parse(entry.data, entry.size, ret, err);
        ae_cache_entry_release(&entry);
    }
    return rc != AE_OK && measure ? ae_ceilings_measure(context, ret, err) : rc;
}

int ae_ceilings_get(struct ae_context *context, bool measure, struct ae_ceilings *ret, struct ae_error *err)
{
    pthread_mutex_lock(&measuring);
    const int rc = get(context, measure, ret, err);
    pthread_mutex_unlock(&measuring);
    return rc;
}

static double column(const struct ae_transfer_ceiling *t, bool in, bool pinned)
{
    return pinned ? in ? t->pinned_in_ns : t->pinned_out_ns : in ? t->pageable_in_ns : t->pageable_out_ns;
}

/* Straight lines between the sizes; below the smallest its time, above the largest its rate. */
static double interpolate(const struct ae_ceilings *c, double bytes, const double *ns)
{
    const int n = c->transfer_count;
    if (n == 0 || bytes <= 0)
        return 0;
    if (bytes <= c->transfers[0].bytes)
        return ns[0];
    for (int i = 1; i < n; i++)
        if (bytes <= c->transfers[i].bytes) {
            const double part = (bytes - c->transfers[i - 1].bytes) / (c->transfers[i].bytes - c->transfers[i - 1].bytes);
            return ns[i - 1] + part * (ns[i] - ns[i - 1]);
        }
    return ns[n - 1] * bytes / c->transfers[n - 1].bytes;
}

double ae_ceilings_transfer_ns(const struct ae_ceilings *c, double bytes, bool in, bool pinned)
{
    double ns[AE_TRANSFER_SIZES] = {0};
    for (int i = 0; i < c->transfer_count; i++) {
        ns[i] = column(&c->transfers[i], in, pinned);
        if (ns[i] <= 0)
            return 0;
    }
    const double small = in ? c->small_in_ns : c->small_out_ns;
    const double all = interpolate(c, bytes, ns);
    return c->transfer_count > 0 && bytes < c->transfers[0].bytes && small > 0 && small < all && !pinned
               ? small + (all - small) * bytes / c->transfers[0].bytes
               : all;
}

double ae_ceilings_register_ns(const struct ae_ceilings *c, double bytes)
{
    double ns[AE_TRANSFER_SIZES] = {0};
    for (int i = 0; i < c->transfer_count; i++)
        ns[i] = c->transfers[i].register_ns + c->transfers[i].unregister_ns;
    return interpolate(c, bytes, ns);
}

double ae_ceilings_best_transfer_ns(const struct ae_ceilings *c, double bytes, bool in, const char **ret_how)
{
    double best = ae_ceilings_transfer_ns(c, bytes, in, false);
    const char *how = "as it is";
    const double pinned = ae_ceilings_transfer_ns(c, bytes, in, true);
    const double registered = pinned + ae_ceilings_register_ns(c, bytes);
    if (pinned > 0 && registered < best) {
        best = registered;
        how = "registering it";
    }
    if (pinned > 0 && c->copy_all_rate > 0 && c->cores >= 4) {
        const double copied = bytes / (RING_SHARE * c->copy_all_rate) * 1e9;
        const double ring = RING_START_NS + (copied > pinned ? copied : pinned);
        if (ring < best) {
            best = ring;
            how = "host threads through a small pinned ring";
        }
    }
    if (ret_how)
        *ret_how = how;
    return best;
}
