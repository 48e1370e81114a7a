/* Facts of the devices, from NVML in the trusted process; the library is opened at run time and declared here. A worker
 * never tells anything of this. */
#ifndef AE_RUN_DEVICE_H
#define AE_RUN_DEVICE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ae_device {
    int ordinal;
    int minor;     /* of /dev/nvidiaN */
    char name[96];
    char uuid[64];
    char driver[32];
    uint64_t memory_bytes;
    char arch[16]; /* "sm_90" */
    void *handle;
    int lock;      /* descriptor of the lock file; -1: not taken */
    bool quarantined; /* it did not answer after a kill: nothing more is run on it */
};

struct ae_device_state {
    int sm_mhz, temperature_c;
    bool throttled; /* by heat, power or hardware: a trial under it is disturbed */
};

/* Device memory in use, bytes; -1: not told. */
struct ae_device_use {
    int64_t process; /* by one process: its context, code, reserves and allocations */
    int64_t device;  /* by all */
};

/* AE_E_ENV with the reason where there is no such device or no NVML. */
int ae_device_open(struct ae_device *ret, int ordinal, struct ae_error *err);
void ae_device_close(struct ae_device *device);

void ae_device_look(const struct ae_device *device, struct ae_device_state *ret);

/* One submission at a time on a device, over all processes of this machine. Waits at most wait_ns. */
int ae_device_lock(struct ae_device *device, int64_t wait_ns, struct ae_error *err);

/* The process is named as this one sees it, in whatever pid namespace it lives. Some microseconds. */
void ae_device_use(const struct ae_device *device, pid_t pid, struct ae_device_use *ret);

/* Processes that have a context there; -1 where it cannot be told. */
int ae_device_processes(const struct ae_device *device);

#endif
