/* acceleval-measure: what this machine can do at best. A program of its own, so that neither the trusted parent nor a
 * worker has to make a device's context for it; prints one JSON object. Times in nanoseconds, rates per second. */
#ifndef AE_MEASURE_MEASURE_H
#define AE_MEASURE_MEASURE_H

#include <jansson.h>

/* Copying, first touches and threads on the host. NULL: no memory. */
json_t *ae_measure_host(void);

/* Transfers, allocation, launches, memory and arithmetic of the device with that ordinal; NULL with the reason in
 * *ret_why where there is none. What a driver refuses is left out. */
json_t *ae_measure_device(int ordinal, const char **ret_why);

/* Of count samples, which are sorted in place; 0 for none. */
double ae_measure_median(double *samples, int count);

#endif
