#include "run/device.h"

#include "base/clock.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* From nvml.h. */
typedef void *nvml_device;
struct nvml_memory {
    unsigned long long total, free, used;
};

struct nvml_process {
    unsigned pid;
    unsigned long long used; /* all ones: the driver does not tell */
    unsigned instances[2];
};

#define PROCESSES_MAX 64
#define CLOCK_SM 1
/* SwPowerCap, HwSlowdown, SwThermal, HwThermal, HwPowerBrake. */
#define THROTTLE_REASONS (0x4ull | 0x8ull | 0x20ull | 0x40ull | 0x80ull)

static struct {
    void *opened; /* the driver's library; NULL: there is none */
    int (*init)(void);
    int (*by_index)(unsigned, nvml_device *);
    int (*name)(nvml_device, char *, unsigned);
    int (*uuid)(nvml_device, char *, unsigned);
    int (*minor)(nvml_device, unsigned *);
    int (*driver)(char *, unsigned);
    int (*memory)(nvml_device, struct nvml_memory *);
    int (*capability)(nvml_device, int *, int *);
    int (*clock)(nvml_device, int, unsigned *);
    int (*temperature)(nvml_device, int, unsigned *);
    int (*throttle)(nvml_device, unsigned long long *);
    int (*processes)(nvml_device, unsigned *, void *);
    bool ready;
} nvml;

static void open_library(void)
{
    static const struct {
        const char *name;
        void **where;
    } entries[] = {
        {"nvmlInit_v2", (void **)&nvml.init},
        {"nvmlDeviceGetHandleByIndex_v2", (void **)&nvml.by_index},
        {"nvmlDeviceGetName", (void **)&nvml.name},
        {"nvmlDeviceGetUUID", (void **)&nvml.uuid},
        {"nvmlDeviceGetMinorNumber", (void **)&nvml.minor},
        {"nvmlSystemGetDriverVersion", (void **)&nvml.driver},
        {"nvmlDeviceGetMemoryInfo", (void **)&nvml.memory},
        {"nvmlDeviceGetCudaComputeCapability", (void **)&nvml.capability},
        {"nvmlDeviceGetClockInfo", (void **)&nvml.clock},
        {"nvmlDeviceGetTemperature", (void **)&nvml.temperature},
        {"nvmlDeviceGetCurrentClocksThrottleReasons", (void **)&nvml.throttle},
        {"nvmlDeviceGetComputeRunningProcesses_v3", (void **)&nvml.processes},
    };
    nvml.opened = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!nvml.opened)
        return;
    bool all = true;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        *entries[i].where = dlsym(nvml.opened, entries[i].name);
        all = all && (*entries[i].where || entries[i].where == (void **)&nvml.processes);
    }
    nvml.ready = all && nvml.init() == 0;
}

int ae_device_open(struct ae_device *ret, int ordinal, struct ae_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int major = 0, minor = 0;
    unsigned node = (unsigned)ordinal;
    struct nvml_memory memory = {0};
    *ret = (struct ae_device){.ordinal = ordinal, .lock = -1};
    pthread_once(&once, open_library);
    if (!nvml.opened)
        return ae_error_set(err, AE_E_ENV, "no device: the NVIDIA driver (libnvidia-ml.so.1) is not installed");
    if (!nvml.ready || nvml.by_index((unsigned)ordinal, &ret->handle) != 0)
        return ae_error_set(err, AE_E_ENV, "no device: the NVIDIA driver is installed but finds none with ordinal %d",
                            ordinal);
    (void)nvml.name(ret->handle, ret->name, sizeof ret->name);
    (void)nvml.uuid(ret->handle, ret->uuid, sizeof ret->uuid);
    (void)nvml.minor(ret->handle, &node);
    (void)nvml.driver(ret->driver, sizeof ret->driver);
    (void)nvml.memory(ret->handle, &memory);
    (void)nvml.capability(ret->handle, &major, &minor);
    ret->minor = (int)node;
    ret->memory_bytes = memory.total;
    snprintf(ret->arch, sizeof ret->arch, "sm_%d%d", major, minor);
    return AE_OK;
}

void ae_device_close(struct ae_device *device)
{
    if (device->handle && device->lock >= 0) /* one that was never opened is all zeros */
        (void)close(device->lock);
    device->lock = -1;
}

void ae_device_look(const struct ae_device *device, struct ae_device_state *ret)
{
    unsigned mhz = 0, celsius = 0;
    unsigned long long reasons = 0;
    *ret = (struct ae_device_state){0};
    if (!device->handle)
        return;
    (void)nvml.clock(device->handle, CLOCK_SM, &mhz);
    (void)nvml.temperature(device->handle, 0, &celsius);
    (void)nvml.throttle(device->handle, &reasons);
    ret->sm_mhz = (int)mhz;
    ret->temperature_c = (int)celsius;
    ret->throttled = (reasons & THROTTLE_REASONS) != 0;
}

int ae_device_lock(struct ae_device *device, int64_t wait_ns, struct ae_error *err)
{
    char path[128];
    const int64_t deadline = ae_deadline_in(wait_ns);
    if (device->lock >= 0)
        return AE_OK;
    /* One file for all users of the machine; what is in it does not matter. */
    snprintf(path, sizeof path, "/tmp/acceleval-%s.lock", device->uuid);
    const mode_t mask = umask(0);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    (void)umask(mask);
    if (fd < 0)
        return ae_error_errno(err, AE_E_ENV, errno, "cannot open the lock of the device, %s", path);
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK || ae_deadline_left(deadline) == 0) {
            (void)close(fd);
            return ae_error_set(err, AE_E_TIMEOUT, "another evaluation holds the device %s (%s)", device->name, path);
        }
        usleep(50000);
    }
    device->lock = fd;
    return AE_OK;
}

int ae_device_processes(const struct ae_device *device)
{
    unsigned count = 0;
    if (!device->handle || !nvml.processes)
        return -1;
    /* Asked with room for none, it says how many there are (NVML_ERROR_INSUFFICIENT_SIZE is 7). */
    const int rc = nvml.processes(device->handle, &count, NULL);
    return rc == 0 || rc == 7 ? (int)count : -1;
}

void ae_device_use(const struct ae_device *device, pid_t pid, struct ae_device_use *ret)
{
    struct nvml_memory memory;
    struct nvml_process list[PROCESSES_MAX];
    unsigned count = PROCESSES_MAX;
    *ret = (struct ae_device_use){-1, -1};
    if (!device->handle)
        return;
    if (nvml.memory(device->handle, &memory) == 0)
        ret->device = (int64_t)memory.used;
    if (!nvml.processes || nvml.processes(device->handle, &count, list) != 0)
        return;
    for (unsigned i = 0; i < count && i < PROCESSES_MAX; i++)
        if (list[i].pid == (unsigned)pid && list[i].used != ~0ull)
            ret->process = (int64_t)list[i].used;
}
