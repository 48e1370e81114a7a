#include "run/buffers.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ALIGNMENT   ((size_t)256) /* what cudaMalloc gives, and no more than that */
#define TAIL_CANARY ((size_t)256)
/* User space addresses in which wishes are drawn: above what the loader uses, below the stack. */
#define ADDRESS_LOW  (UINT64_C(1) << 40)
#define ADDRESS_HIGH (UINT64_C(1) << 46)

int ae_buffers_open(struct ae_buffers *buffers, size_t size, struct ae_error *err)
{
    uint64_t seed;
    *buffers = (struct ae_buffers){.fd = -1, .size = (size + AE_HUGE_PAGE - 1) / AE_HUGE_PAGE * AE_HUGE_PAGE};
    int rc = ae_random_bytes(&seed, sizeof seed, err);
    if (rc != AE_OK)
        return rc;
    ae_rng_seed(&buffers->rng, seed, 0);
    buffers->fd = memfd_create("acceleval-data", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (buffers->fd < 0 || ftruncate(buffers->fd, (off_t)buffers->size) != 0 ||
        fcntl(buffers->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return ae_error_errno(err, AE_E_NOMEM, errno, "cannot make %zu bytes of shared memory", buffers->size);
    buffers->base = mmap(NULL, buffers->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, buffers->fd, 0);
    if (buffers->base == MAP_FAILED) {
        buffers->base = NULL;
        return ae_error_errno(err, AE_E_NOMEM, errno, "cannot map %zu bytes of shared memory", buffers->size);
    }
    (void)madvise(buffers->base, buffers->size, MADV_HUGEPAGE);
    (void)madvise(buffers->base, buffers->size, MADV_DONTDUMP);
    return AE_OK;
}

void ae_buffers_close(struct ae_buffers *buffers)
{
    if (buffers->base)
        (void)munmap(buffers->base, buffers->size);
    if (buffers->fd >= 0)
        (void)close(buffers->fd);
    *buffers = (struct ae_buffers){.fd = -1};
}

static size_t region_need(size_t bytes)
{
    /* The start moves by up to a page; behind the array there is always room for a canary. */
    const size_t room = bytes + AE_PAGE + TAIL_CANARY;
    return (room + AE_PAGE - 1) / AE_PAGE * AE_PAGE;
}

static size_t array_bytes(const struct ae_instance *inst, int arg)
{
    return inst->array[arg].count * ae_type_size(inst->array[arg].type);
}

size_t ae_buffers_need(const struct ae_instance *inst)
{
    size_t need = 0;
    for (int i = 0; i < inst->task->arg_count; i++)
        if (inst->task->args[i].role != AE_SCALAR)
            need += region_need(array_bytes(inst, i)) + AE_HUGE_PAGE;
    return need;
}

static void note_gap(struct ae_buffers *buffers, size_t from, size_t to)
{
    buffers->gaps[buffers->gap_count++] = (struct ae_gap){from, to};
}

/* What the worker may have left between the arrays of one call, or made ready there for the next one since it was told
 * to map them, is not there when the call comes. Whole huge pages are given back; at their edges the system would have
 * to split them, so there zeros are written, where anything is there at all. */
static void clear_gap(struct ae_buffers *buffers, size_t from, size_t to)
{
    const off_t data = from < to ? lseek(buffers->fd, (off_t)from, SEEK_DATA) : -1;
    if (data < 0 || (size_t)data >= to)
        return;
    const size_t first = (from + AE_HUGE_PAGE - 1) / AE_HUGE_PAGE * AE_HUGE_PAGE, last = to / AE_HUGE_PAGE * AE_HUGE_PAGE;
    if (first < last && fallocate(buffers->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)first,
                                  (off_t)(last - first)) == 0) {
        memset(buffers->base + from, 0, first - from);
        memset(buffers->base + last, 0, to - last);
    } else {
        memset(buffers->base + from, 0, to - from);
    }
}

int ae_buffers_layout(struct ae_buffers *buffers, const struct ae_instance *inst, struct ae_error *err)
{
    const struct ae_task *task = inst->task;
    int32_t order[AE_ARGS_MAX];
    size_t next = 0;
    buffers->key = ae_rng_u64(&buffers->rng);
    buffers->arg_count = task->arg_count;
    buffers->probe_count = 0;
    buffers->gap_count = 0;
    ae_rng_permutation(&buffers->rng, order, (size_t)task->arg_count);
    for (int k = 0; k < task->arg_count; k++) {
        const int i = buffers->fixed ? k : order[k];
        struct ae_channel_arg *arg = &buffers->args[i];
        *arg = (struct ae_channel_arg){.type = (int32_t)task->args[i].type, .scalar = inst->scalar[i]};
        if (task->args[i].role == AE_SCALAR)
            continue;
        const size_t bytes = array_bytes(inst, i), region = region_need(bytes);
        const size_t align = region >= AE_HUGE_PAGE ? AE_HUGE_PAGE : AE_PAGE;
        arg->pointer = 1;
        arg->bytes = bytes;
        arg->region_offset = (next + align - 1) / align * align;
        arg->region_bytes = region;
        arg->start = ALIGNMENT * ae_rng_below(&buffers->rng, AE_PAGE / ALIGNMENT);
        arg->address = (ADDRESS_LOW + ae_rng_below64(&buffers->rng, ADDRESS_HIGH - ADDRESS_LOW)) / align * align;
        if (buffers->fixed) {
            arg->start = 0;
            arg->address = ADDRESS_LOW * (uint64_t)(i + 1);
        }
        if (arg->region_offset + region > buffers->size)
            return ae_error_set(err, AE_E_NOMEM, "%s: the instance does not fit its shared memory", task->id);
        note_gap(buffers, next, arg->region_offset);
        next = arg->region_offset + region;
    }
    note_gap(buffers, next, buffers->size);
    buffers->touched = next > buffers->touched ? next : buffers->touched;
    return AE_OK;
}

void *ae_buffers_array(const struct ae_buffers *buffers, int arg)
{
    return buffers->base + buffers->args[arg].region_offset + buffers->args[arg].start;
}

/* Eight bytes of poison at byte position `at` (a multiple of 8) of the buffers: a mixed counter under the key. */
static uint64_t poison(uint64_t key, size_t at)
{
    uint64_t state = key + (uint64_t)at;
    return ae_splitmix64(&state);
}

static void poison_range(struct ae_buffers *buffers, size_t from, size_t to)
{
    for (size_t at = from; at < to; at += 8) {
        const uint64_t word = poison(buffers->key, at);
        memcpy(buffers->base + at, &word, to - at < 8 ? to - at : 8);
    }
}

static bool is_poison(const struct ae_buffers *buffers, size_t from, size_t to)
{
    for (size_t at = from / 8 * 8; at < to; at += 8) {
        const uint64_t word = poison(buffers->key, at);
        const size_t begin = at < from ? from - at : 0, end = to - at < 8 ? to - at : 8;
        if (memcmp(buffers->base + at + begin, (const char *)&word + begin, end - begin) != 0)
            return false;
    }
    return true;
}

void ae_buffers_fill(struct ae_buffers *buffers, const struct ae_instance *inst)
{
    for (int i = 0; i < buffers->gap_count && !buffers->stale; i++)
        clear_gap(buffers, buffers->gaps[i].from, buffers->gaps[i].to);
    for (int i = 0; i < buffers->arg_count; i++) {
        const struct ae_channel_arg *arg = &buffers->args[i];
        if (!arg->pointer)
            continue;
        const size_t region = arg->region_offset, array = region + arg->start, end = array + arg->bytes;
        if (inst->task->args[i].role == AE_OUT && !buffers->stale) {
            poison_range(buffers, region, region + arg->region_bytes);
        } else {
            const uint64_t cut = end % 8; /* bytes of the array in the word that its canary begins in */
            char last[8];
            memcpy(last, buffers->base + end - cut, cut);
            poison_range(buffers, region, array);
            poison_range(buffers, end - cut, region + arg->region_bytes);
            memcpy(buffers->base + end - cut, last, cut);
        }
    }
    for (int i = 0; i < buffers->arg_count; i++)
        if (buffers->args[i].pointer && inst->task->args[i].role != AE_OUT)
            memcpy(ae_buffers_array(buffers, i), inst->array[i].data, buffers->args[i].bytes);
}

void ae_buffers_probe(struct ae_buffers *buffers, const struct ae_instance *inst, const _Atomic uint32_t *ring,
                      uint32_t sequence)
{
    size_t total = 0;
    for (int i = 0; i < buffers->arg_count; i++)
        if (ae_arg_is_output(&inst->task->args[i]))
            total += buffers->args[i].bytes;
    const size_t pieces = (total + AE_PROBE_BYTES - 1) / AE_PROBE_BYTES;
    buffers->probe_count = 0;
    for (size_t k = 0; k < AE_PROBES_MAX && k < pieces; k++) {
        if (ring && atomic_load_explicit(ring, memory_order_relaxed) == sequence)
            return;
        /* All of it where that is little, else a random place in each of as many equal parts: none that a program could
         * write first, and leave the others for later. */
        const size_t from = k * total / AE_PROBES_MAX, to = (k + 1) * total / AE_PROBES_MAX;
        size_t place = pieces <= AE_PROBES_MAX ? k * AE_PROBE_BYTES : from + (size_t)ae_rng_below64(&buffers->rng, to - from);
        for (int i = 0; i < buffers->arg_count; i++) {
            if (!ae_arg_is_output(&inst->task->args[i]))
                continue;
            const size_t bytes = buffers->args[i].bytes;
            if (place >= bytes) {
                place -= bytes;
                continue;
            }
            /* The region has a canary behind the array, so 64 bytes can always be read. */
            struct ae_probe *probe = &buffers->probes[buffers->probe_count++];
            probe->offset = buffers->args[i].region_offset + buffers->args[i].start + place;
            memcpy(probe->bytes, buffers->base + probe->offset, AE_PROBE_BYTES);
            break;
        }
    }
}

bool ae_buffers_probe_changed(const struct ae_buffers *buffers)
{
    for (int k = 0; k < buffers->probe_count; k++)
        if (memcmp(buffers->probes[k].bytes, buffers->base + buffers->probes[k].offset, AE_PROBE_BYTES) != 0)
            return true;
    return false;
}

int ae_buffers_overrun(const struct ae_buffers *buffers)
{
    for (int i = 0; i < buffers->arg_count; i++) {
        const struct ae_channel_arg *arg = &buffers->args[i];
        if (!arg->pointer)
            continue;
        const size_t region = arg->region_offset, array = region + arg->start, end = array + arg->bytes;
        if (!is_poison(buffers, region, array) || !is_poison(buffers, end, region + arg->region_bytes))
            return i;
    }
    return -1;
}

int ae_buffers_modified_input(const struct ae_buffers *buffers, const struct ae_instance *inst)
{
    for (int i = 0; i < buffers->arg_count; i++)
        if (inst->task->args[i].role == AE_IN &&
            memcmp(ae_buffers_array(buffers, i), inst->array[i].data, buffers->args[i].bytes) != 0)
            return i;
    return -1;
}
