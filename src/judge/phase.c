#include "judge/phase.h"

#include <string.h>

static const struct {
    const char *name, *title, *meaning;
} phases[AE_PHASE_COUNT] = {
    [AE_PHASE_ALLOC] = {"alloc", "allocation", "memory allocated, pinned or registered"},
    [AE_PHASE_IN] = {"in", "host to device", "copies to the device, staging included"},
    [AE_PHASE_LAUNCH] = {"launch", "launching", "launching while the device has nothing to do"},
    [AE_PHASE_KERNEL] = {"kernel", "kernels", "kernels, memsets and copies within the device"},
    [AE_PHASE_LIBRARY] = {"library", "libraries",
                          "kernels of the toolkit's libraries; loading code, making streams, events and graphs"},
    [AE_PHASE_OUT] = {"out", "device to host", "copies from the device"},
    [AE_PHASE_WAIT] = {"wait", "waiting", "waiting for a device that has nothing to do"},
    [AE_PHASE_FREE] = {"free", "free", "memory freed, unpinned or unregistered"},
    [AE_PHASE_HOST] = {"host", "host computation", "computation on the host"},
    [AE_PHASE_SYSTEM] = {"system", "operating system", "the operating system's part of it; CPU programs only"},
    [AE_PHASE_IDLE] = {"idle", "idle", "neither host nor device work"},
};

const char *ae_phase_name(enum ae_phase phase)
{
    return phases[phase].name;
}

const char *ae_phase_title(enum ae_phase phase)
{
    return phases[phase].title;
}

const char *ae_phase_meaning(enum ae_phase phase)
{
    return phases[phase].meaning;
}

enum ae_phase ae_phase_find(const char *name)
{
    int phase = 0;
    while (phase < AE_PHASE_COUNT && strcmp(name, phases[phase].name) != 0)
        phase++;
    return (enum ae_phase)phase;
}
