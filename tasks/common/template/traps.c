#include "task/traps.h"

enum { N, A, X, Y, Z };

/* Solvers with one thing done wrong; the comparison must fail each. */
enum fault { IGNORE_Y, IGNORE_A, SWAP_X_Y, FEW_BITS };

static float with_few_bits(float value)
{
    const double scale = 256; /* as an 8-bit fixed-point number */
    return (float)((double)(int)((double)value * scale) / scale);
}

static bool solve_with(enum fault fault, const struct ae_instance *inst, struct ae_expected *answer)
{
    float *z = answer->out[Z].data;
    const float a = fault == IGNORE_A ? 1 : inst->scalar[A].f32;
    for (int i = 0; i < inst->scalar[N].i32; i++) {
        float x = ae_in_f32(inst, X)[i], y = ae_in_f32(inst, Y)[i];
        if (fault == SWAP_X_Y) {
            const float kept = x;
            x = y;
            y = kept;
        }
        x = fault == FEW_BITS ? with_few_bits(x) : x;
        y = fault == IGNORE_Y ? 0 : y;
        z[i] = a * x + y;
    }
    return true;
}

static bool ignore_y(const struct ae_instance *inst, const struct ae_expected *right, struct ae_expected *answer)
{
    (void)right;
    return solve_with(IGNORE_Y, inst, answer);
}

static bool ignore_a(const struct ae_instance *inst, const struct ae_expected *right, struct ae_expected *answer)
{
    (void)right;
    return solve_with(IGNORE_A, inst, answer);
}

static bool swap_x_y(const struct ae_instance *inst, const struct ae_expected *right, struct ae_expected *answer)
{
    (void)right;
    return solve_with(SWAP_X_Y, inst, answer);
}

static bool few_bits(const struct ae_instance *inst, const struct ae_expected *right, struct ae_expected *answer)
{
    (void)right;
    return solve_with(FEW_BITS, inst, answer);
}

static bool lost_tail(const struct ae_instance *inst, const struct ae_expected *right, struct ae_expected *answer)
{
    (void)right;
    for (int i = inst->scalar[N].i32 / 4 * 4; i < inst->scalar[N].i32; i++)
        ((float *)answer->out[Z].data)[i] = 0;
    return true;
}

AE_TRAPS(TASK_ID) = {
    {"ignores y", "draws", ignore_y},
    {"takes a as 1", "draws", ignore_a},
    {"swaps x and y", "draws", swap_x_y},
    {"keeps few bits of x", "draws", few_bits},
    {"drops what does not fill a vector", "draws", lost_tail},
    {0},
};
