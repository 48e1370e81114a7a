#include "run/held.h"

#define LIMIT       ((int64_t)64 << 20)
#define COMPRESSION 8

static void take_in(int64_t *most, int64_t *second, int64_t now, bool first)
{
    if (first) {
        *most = *second = now;
    } else if (now < 0 || *most < 0) {
        *most = *second = -1;
    } else if (now > *most) {
        *second = *most;
        *most = now;
    } else if (now > *second) {
        *second = now;
    }
}

void ae_held_look(struct ae_held *held, const struct ae_device_use *now)
{
    if (held->looks == 0)
        held->first = *now;
    held->last = *now;
    take_in(&held->most.process, &held->second.process, now->process, held->looks == 0);
    take_in(&held->most.device, &held->second.device, now->device, held->looks == 0);
    if (held->looks == 1) { /* the second of two is the lower one, whichever came first */
        held->second.process = now->process < held->second.process ? now->process : held->second.process;
        held->second.device = now->device < held->second.device ? now->device : held->second.device;
    }
    held->looks++;
}

int64_t ae_held_growth(const struct ae_device_use *before, const struct ae_device_use *now, bool shared)
{
    if (before->process >= 0 && now->process >= 0)
        return now->process - before->process;
    if (!shared && before->device >= 0 && now->device >= 0)
        return now->device - before->device;
    return INT64_MIN;
}

int64_t ae_held_gone(const struct ae_held *held, const struct ae_device_use *after, bool shared)
{
    const int64_t change = held->looks > 0 ? ae_held_growth(after, &held->second, shared) : INT64_MIN;
    if (change == INT64_MIN)
        return -1;
    return change > 0 ? change : 0; /* a reserve that the driver has made since is nobody's */
}

bool ae_held_is_leak(const struct ae_held *held, int64_t grown, int calls, bool shared)
{
    const int64_t in_calls = held->looks > 1 ? ae_held_growth(&held->first, &held->last, shared) : INT64_MIN;
    /* Half of an even share will do: calls need not forget alike, and the driver counts in steps. */
    return in_calls == INT64_MIN || 2 * in_calls * calls >= grown * (held->looks - 1);
}

int64_t ae_held_limit(size_t object_bytes)
{
    return LIMIT + COMPRESSION * (int64_t)object_bytes;
}
