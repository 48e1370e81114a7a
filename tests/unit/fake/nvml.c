/* Stands for the driver's library of facts: one device, of which the test says what it tells. */
#include <stdlib.h>
#include <string.h>

struct memory {
    unsigned long long total, free, used;
};

struct process {
    unsigned pid;
    unsigned long long used;
    unsigned instances[2];
};

/* Set by the test, which opens this library by its name as well. */
unsigned long long fake_used;
struct process fake_processes[128];
unsigned fake_process_count;
int fake_error; /* of both questions */

int nvmlInit_v2(void);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **ret);
int nvmlDeviceGetName(void *device, char *text, unsigned size);
int nvmlDeviceGetUUID(void *device, char *text, unsigned size);
int nvmlDeviceGetMinorNumber(void *device, unsigned *ret);
int nvmlSystemGetDriverVersion(char *text, unsigned size);
int nvmlDeviceGetMemoryInfo(void *device, struct memory *ret);
int nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor);
int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *ret);
int nvmlDeviceGetTemperature(void *device, int kind, unsigned *ret);
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *ret);
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, struct process *ret);

int nvmlInit_v2(void)
{
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **ret)
{
    *ret = &fake_used;
    return index == 0 ? 0 : 2;
}

static int text_of(const char *what, char *text, unsigned size)
{
    strncpy(text, what, size - 1);
    text[size - 1] = 0;
    return 0;
}

int nvmlDeviceGetName(void *device, char *text, unsigned size)
{
    (void)device;
    return text_of("a device", text, size);
}

int nvmlDeviceGetUUID(void *device, char *text, unsigned size)
{
    (void)device;
    return text_of("GPU-0", text, size);
}

int nvmlSystemGetDriverVersion(char *text, unsigned size)
{
    return text_of("1.2", text, size);
}

int nvmlDeviceGetMinorNumber(void *device, unsigned *ret)
{
    (void)device;
    *ret = 3;
    return 0;
}

int nvmlDeviceGetMemoryInfo(void *device, struct memory *ret)
{
    (void)device;
    *ret = (struct memory){1ull << 37, (1ull << 37) - fake_used, fake_used};
    return fake_error;
}

int nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor)
{
    (void)device;
    *major = 9;
    *minor = 0;
    return 0;
}

int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *ret)
{
    (void)device;
    (void)kind;
    *ret = 1980;
    return 0;
}

int nvmlDeviceGetTemperature(void *device, int kind, unsigned *ret)
{
    (void)device;
    (void)kind;
    *ret = 40;
    return 0;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *ret)
{
    (void)device;
    *ret = 1;
    return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, struct process *ret)
{
    (void)device;
    const unsigned room = *count;
    *count = fake_process_count;
    if (fake_error)
        return fake_error;
    if (room < fake_process_count)
        return 7;
    memcpy(ret, fake_processes, fake_process_count * sizeof *ret);
    return 0;
}
