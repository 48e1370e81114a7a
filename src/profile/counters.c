#include "profile/counters.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    uint32_t type;
    uint64_t config;
    size_t field;
} counters[AE_COUNTER_COUNT] = {
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, offsetof(struct ae_counters, instructions)},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, offsetof(struct ae_counters, cycles)},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, offsetof(struct ae_counters, cache_misses)},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, offsetof(struct ae_counters, branch_misses)},
    {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, offsetof(struct ae_counters, task_ns)},
};

void ae_counters_open(struct ae_counter_set *ret, pid_t pid)
{
    for (int i = 0; i < AE_COUNTER_COUNT; i++) {
        struct perf_event_attr attr;
        memset(&attr, 0, sizeof attr);
        attr.size = sizeof attr;
        attr.type = counters[i].type;
        attr.config = counters[i].config;
        attr.disabled = 1;
        attr.inherit = 1;
        attr.exclude_kernel = 1;
        attr.exclude_hv = 1;
        attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
        ret->fd[i] = (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    }
}

void ae_counters_close(struct ae_counter_set *set)
{
    for (int i = 0; i < AE_COUNTER_COUNT; i++) {
        if (set->fd[i] >= 0)
            (void)close(set->fd[i]);
        set->fd[i] = -1;
    }
}

void ae_counters_begin(const struct ae_counter_set *set)
{
    for (int i = 0; i < AE_COUNTER_COUNT; i++)
        if (set->fd[i] >= 0) {
            (void)ioctl(set->fd[i], PERF_EVENT_IOC_RESET, 0);
            (void)ioctl(set->fd[i], PERF_EVENT_IOC_ENABLE, 0);
        }
}

void ae_counters_end(const struct ae_counter_set *set, struct ae_counters *ret)
{
    *ret = (struct ae_counters){-1, -1, -1, -1, -1};
    for (int i = 0; i < AE_COUNTER_COUNT; i++) {
        uint64_t value[3]; /* count, time enabled, time running */
        if (set->fd[i] < 0)
            continue;
        (void)ioctl(set->fd[i], PERF_EVENT_IOC_DISABLE, 0);
        /* Never running: more counters than the processor has, or a virtual machine without any. */
        if (read(set->fd[i], value, sizeof value) != (ssize_t)sizeof value || value[2] == 0)
            continue;
        const double scale = (double)value[1] / (double)value[2];
        *(int64_t *)((char *)ret + counters[i].field) = (int64_t)((double)value[0] * (scale > 1 ? scale : 1));
    }
}
