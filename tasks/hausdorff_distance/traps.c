#include "task/traps.h"

#include <math.h>
#include <string.h>

enum { NUM_POINTS, NUM_SPACES, POINTS_XY, SPACE_OFFSETS, RESULTS };

struct fault {
    bool expanded;    /* |p|^2 + |q|^2 - 2pq, each operation rounded to float */
    int target_step;  /* every n-th point of the target set */
    double sources;   /* this share of the source points */
    bool equal_sizes; /* set = index / (P/M) */
    bool mean;        /* mean of the minima instead of their maximum */
    bool no_last;     /* the last set taken for a closing entry */
};

static int end_of(const struct ae_instance *inst, int set)
{
    return set + 1 < inst->scalar[NUM_SPACES].i32 ? ae_in_i32(inst, SPACE_OFFSETS)[set + 1]
                                                  : inst->scalar[NUM_POINTS].i32;
}

static bool solve_with(struct fault fault, const struct ae_instance *inst,
                       struct ae_expected *answer)
{
    const int points = inst->scalar[NUM_POINTS].i32, spaces = inst->scalar[NUM_SPACES].i32;
    const float *xy = ae_in_f32(inst, POINTS_XY);
    const int *offsets = ae_in_i32(inst, SPACE_OFFSETS), size = points / spaces;
    for (int b = 0; b < spaces; b++)
        for (int a = 0; a < spaces; a++) {
            const int a0 = fault.equal_sizes ? a * size : offsets[a],
                      b0 = fault.equal_sizes ? b * size : offsets[b];
            int a1 = fault.equal_sizes ? a0 + size : end_of(inst, a),
                b1 = fault.equal_sizes ? b0 + size : end_of(inst, b);
            if (fault.sources > 0)
                a1 = a0 + (int)ceil(fault.sources * (a1 - a0));
            float farthest = 0;
            double sum = 0;
            for (int p = a0; p < a1; p++) {
                const float px = xy[2 * p], py = xy[2 * p + 1];
                float nearest = INFINITY;
                for (int q = b0; q < b1; q += fault.target_step ? fault.target_step : 1) {
                    const float qx = xy[2 * q], qy = xy[2 * q + 1], dx = qx - px, dy = qy - py;
                    float d = dx * dx + dy * dy;
                    if (fault.expanded)
                        d = fmaxf(px * px + py * py + (qx * qx + qy * qy) - 2 * (px * qx + py * qy),
                                  0);
                    nearest = d < nearest ? d : nearest;
                }
                farthest = nearest > farthest ? nearest : farthest;
                sum += sqrt((double)nearest);
            }
            float h = fault.mean ? (float)(sum / (a1 - a0)) : sqrtf(farthest);
            if (fault.no_last && (a == spaces - 1 || b == spaces - 1))
                h = -1;
            ((float *)answer->out[RESULTS].data)[b * spaces + a] = h;
        }
    return true;
}

#define TRAP(name, ...)                                                                            \
    static bool name(const struct ae_instance *inst, const struct ae_expected *right,              \
                     struct ae_expected *answer)                                                   \
    {                                                                                              \
        (void)right;                                                                               \
        return solve_with((struct fault){__VA_ARGS__}, inst, answer);                              \
    }

TRAP(expanded, .expanded = true)
TRAP(half_of_targets, .target_step = 2)
TRAP(most_sources, .sources = 0.9)
TRAP(equal_sizes, .equal_sizes = true)
TRAP(mean, .mean = true)
TRAP(no_last, .no_last = true)

static bool transposed(const struct ae_instance *inst, const struct ae_expected *right,
                       struct ae_expected *answer)
{
    const int spaces = inst->scalar[NUM_SPACES].i32;
    const float *from = right->out[RESULTS].data;
    for (int b = 0; b < spaces; b++)
        for (int a = 0; a < spaces; a++)
            ((float *)answer->out[RESULTS].data)[a * spaces + b] = from[b * spaces + a];
    return true;
}

static bool symmetric(const struct ae_instance *inst, const struct ae_expected *right,
                      struct ae_expected *answer)
{
    const int spaces = inst->scalar[NUM_SPACES].i32;
    const float *from = right->out[RESULTS].data;
    for (int b = 0; b < spaces; b++)
        for (int a = 0; a < spaces; a++)
            ((float *)answer->out[RESULTS].data)[b * spaces + a] =
                fmaxf(from[b * spaces + a], from[a * spaces + b]);
    return true;
}

static bool squared(const struct ae_instance *inst, const struct ae_expected *right,
                    struct ae_expected *answer)
{
    const float *from = right->out[RESULTS].data;
    for (size_t i = 0; i < inst->array[RESULTS].count; i++)
        ((float *)answer->out[RESULTS].data)[i] = from[i] * from[i];
    return true;
}

AE_TRAPS(hausdorff_distance) = {
    {"expands the square", "walks", expanded},
    {"sees every second target point", "walks", half_of_targets},
    {"sees nine of ten source points", "walks", most_sources},
    {"assumes sets of one size", "walks", equal_sizes},
    {"takes the mean for the maximum", "walks", mean},
    {"leaves out the last set", "walks", no_last},
    {"transposes the result", "walks", transposed},
    {"takes the larger of both directions", "walks", symmetric},
    {"leaves out the root", "walks", squared},
    {0},
};
