/* Where the time of one call goes, and why: what src/profile finds out, src/store keeps and src/report shows. */
#ifndef AE_JUDGE_PHASE_H
#define AE_JUDGE_PHASE_H

#include <stdbool.h>
#include <stdint.h>

/* Every moment of the call belongs to one phase. Work on the device comes first (kernels before copies), then what the
 * calling thread asks of the driver while the device is idle, then what other threads ask of it, then the rest. */
enum ae_phase {
    AE_PHASE_ALLOC,   /* memory allocated, pinned or registered */
    AE_PHASE_IN,      /* copies host to device, staging included */
    AE_PHASE_LAUNCH,  /* launching while the device has nothing to do */
    AE_PHASE_KERNEL,  /* kernels, memsets and copies within the device */
    AE_PHASE_LIBRARY, /* kernels of the toolkit's libraries; loading code, making streams, events and graphs */
    AE_PHASE_OUT,     /* copies device to host */
    AE_PHASE_WAIT,    /* waiting for a device that has nothing to do */
    AE_PHASE_FREE,    /* memory freed, unpinned, unregistered */
    AE_PHASE_HOST,    /* computation on the host */
    AE_PHASE_SYSTEM,  /* the operating system's part of it; cpu target only, and from 40 ms of processor time on */
    AE_PHASE_IDLE,    /* neither host nor device work */
    AE_PHASE_COUNT
}; /* in the order in which a call goes through them */

const char *ae_phase_name(enum ae_phase phase);    /* "alloc", "in": for programs */
const char *ae_phase_title(enum ae_phase phase);   /* "allocation", "host to device": for people */
const char *ae_phase_meaning(enum ae_phase phase); /* a line for legends */
enum ae_phase ae_phase_find(const char *name);     /* AE_PHASE_COUNT where it is none */

struct ae_phase_time {
    int64_t own_ns;  /* overlaps counted once: these add up to the call */
    int64_t busy_ns; /* whenever it went on, hidden behind others or not */
};

#define AE_EXPLANATION_REASONS 6 /* sentences that are kept */

/* The explained call of a measurement: on the practice bank and under a tracer, so its times are near those of the
 * trials, not equal to them. */
struct ae_explanation {
    int64_t call_ns;  /* of the explained call: the median one of those under the tracer */
    int64_t timed_ns; /* median without the tracer; 0: not known */
    int64_t floor_ns; /* sum of the phase floors, nothing overlapped; 0: not known */
    int calls;        /* made under the tracer */
    int64_t dropped;  /* events that found no room: the phases are not complete */
    char note[256];   /* why phases of the device are not known; "" */
    struct ae_phase_time phases[AE_PHASE_COUNT];
    int64_t floors[AE_PHASE_COUNT]; /* phase floors, ns; 0: not known */
    struct ae_reason {
        char rule[64];  /* of docs/bottlenecks.md */
        char text[320]; /* one sentence with the evidence; may quote names of the author's */
        double share;   /* of the call that it concerns, 0..1 */
        int64_t gain_ns; /* estimated */
    } reasons[AE_EXPLANATION_REASONS]; /* the most important first */
    int reason_count;
};

#endif
