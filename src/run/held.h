/* Device memory that a worker holds, as the driver tells the evaluating process. What is counted inside the worker (the
 * ledger, free memory) lies in memory that a program can write to, and a program can see that it is counted; of this
 * neither is true. Looked at between calls, when pools have been trimmed, and again when the object is gone: what went
 * with the object was its code, and whatever it kept. */
#ifndef AE_RUN_HELD_H
#define AE_RUN_HELD_H

#include "run/device.h"

/* What an honest program may hold more in one process than in another: the driver gives out memory in steps of 2 MiB,
 * loads kernels when they are first used, and has managed memory shrink by a step at each call. */
#define AE_HELD_ROOM       ((int64_t)16 << 20)
#define AE_HELD_ROOM_AFTER ((int64_t)4 << 20) /* once no code is left */

/* Looks between the calls of one group: the highest two, since one alone may be chance, and how it went. -1: not told
 * every time. */
struct ae_held {
    struct ae_device_use most, second, first, last;
    int looks;
};

void ae_held_look(struct ae_held *held, const struct ae_device_use *now);

/* How much more is held `now` than `before`, bytes: by the process itself where that is told both times, else, unless
 * others share the device, on the device. INT64_MIN: not known. */
int64_t ae_held_growth(const struct ae_device_use *before, const struct ae_device_use *now, bool shared);

/* What was held between calls, twice at least where there was more than one look, and is not any more. -1: not known. */
int64_t ae_held_gone(const struct ae_held *held, const struct ae_device_use *after, bool shared);

/* Is `grown`, which is left by `calls` calls when the object is gone, something that each of them forgot its share of, or
 * was most of it there at once? True also where it cannot be told. */
bool ae_held_is_leak(const struct ae_held *held, int64_t grown, int calls, bool shared);

/* What the code of an object of so many bytes and all that hangs on it (streams, graphs, a little static memory) may take
 * on a device at most; kernels lie compressed in the object. */
int64_t ae_held_limit(size_t object_bytes);

#endif
