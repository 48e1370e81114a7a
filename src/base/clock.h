/* The monotonic clock in integer nanoseconds, and deadlines on it. A deadline is a point in time; AE_NEVER is one that
 * does not come. */
#ifndef AE_BASE_CLOCK_H
#define AE_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define AE_MS    ((int64_t)1000000)
#define AE_SEC   ((int64_t)1000000000)
#define AE_NEVER INT64_MAX

/* Nanoseconds since some fixed point; CLOCK_MONOTONIC, so it never goes back and is the same in every process. */
static inline int64_t ae_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * AE_SEC + now.tv_nsec;
}

/* Nanoseconds since 1970, for people and records only. */
static inline int64_t ae_wall_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * AE_SEC + now.tv_nsec;
}

/* The point that comes wait_ns from now; AE_NEVER for AE_NEVER and for waits too long to add. */
static inline int64_t ae_deadline_in(int64_t wait_ns)
{
    const int64_t now = ae_now_ns();
    return wait_ns > AE_NEVER - now ? AE_NEVER : now + wait_ns;
}

/* Nanoseconds until the deadline, 0 where it has passed. */
static inline int64_t ae_deadline_left(int64_t deadline_ns)
{
    if (deadline_ns == AE_NEVER)
        return AE_NEVER;
    const int64_t left = deadline_ns - ae_now_ns();
    return left > 0 ? left : 0;
}

/* The same for poll(2): milliseconds rounded up, -1 for AE_NEVER, at most a day. */
static inline int ae_deadline_poll_ms(int64_t deadline_ns)
{
    if (deadline_ns == AE_NEVER)
        return -1;
    const int64_t ms = (ae_deadline_left(deadline_ns) + AE_MS - 1) / AE_MS;
    return ms > 86400000 ? 86400000 : (int)ms;
}

#endif
