/* Hardware counters of a worker, opened from outside where the kernel lets this process: all of its threads that start
 * later are counted too, so they are opened before the object is loaded. */
#ifndef AE_PROFILE_COUNTERS_H
#define AE_PROFILE_COUNTERS_H

#include "profile/facts.h"

#include <sys/types.h>

#define AE_COUNTER_COUNT 5

struct ae_counter_set {
    int fd[AE_COUNTER_COUNT]; /* -1: not to be had */
};

void ae_counters_open(struct ae_counter_set *ret, pid_t pid);
void ae_counters_close(struct ae_counter_set *set);
void ae_counters_begin(const struct ae_counter_set *set);
void ae_counters_end(const struct ae_counter_set *set, struct ae_counters *ret);

#endif
