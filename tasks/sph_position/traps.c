#include "task/traps.h"

#include <math.h>

enum { N, POS_X, POS_Y, POS_Z, MOV_X, MOV_Y, MOV_Z, CELL_SIZE, OUT_X, OUT_Y, OUT_Z, OUT_CELL };

enum fault { FLOAT_SUM, FLOAT_QUOTIENT, RECIPROCAL, DECIMAL_SIZE, TRUNCATES, OLD_CELL, CLAMPS };

static bool drift_with(const struct ae_instance *inst, struct ae_expected *answer, enum fault fault)
{
    static const int weight[] = {1, 1000, 1000000};
    const float size = inst->scalar[CELL_SIZE].f32;
    for (int i = 0; i < inst->scalar[N].i32; i++) {
        int packed = 0;
        for (int a = 0; a < 3; a++) {
            const float pos = ae_in_f32(inst, POS_X + a)[i], mov = ae_in_f32(inst, MOV_X + a)[i];
            double moved = (double)pos + (double)mov;
            if (fault == FLOAT_SUM)
                moved = (double)(pos + mov);
            ((double *)answer->out[OUT_X + a].data)[i] = moved;
            double layer = floor(moved / (double)size);
            if (fault == FLOAT_QUOTIENT)
                layer = (double)floorf((float)moved / size);
            else if (fault == RECIPROCAL)
                layer = floor(moved * (1 / (double)size));
            else if (fault == DECIMAL_SIZE)
                layer = floor(moved / 0.02);
            else if (fault == TRUNCATES)
                layer = trunc(moved / (double)size);
            else if (fault == OLD_CELL)
                layer = floor((double)pos / (double)size);
            else if (fault == CLAMPS && layer < 0)
                layer = 0;
            packed += weight[a] * (int)layer;
        }
        ((int32_t *)answer->out[OUT_CELL].data)[i] = packed;
    }
    return inst->scalar[N].i32 > 100;
}

#define FAULTY(name, fault)                                                                        \
    static bool name(const struct ae_instance *inst, const struct ae_expected *right,              \
                     struct ae_expected *answer)                                                   \
    {                                                                                              \
        (void)right;                                                                               \
        return drift_with(inst, answer, fault);                                                    \
    }

FAULTY(float_sum, FLOAT_SUM)
FAULTY(float_quotient, FLOAT_QUOTIENT)
FAULTY(reciprocal, RECIPROCAL)
FAULTY(decimal_size, DECIMAL_SIZE)
FAULTY(truncates, TRUNCATES)
FAULTY(old_cell, OLD_CELL)
FAULTY(clamps, CLAMPS)

AE_TRAPS(sph_position) = {
    {"adds in float", "drift", float_sum},
    {"divides in float", "drift", float_quotient},
    {"multiplies by the reciprocal of the cell size", "drift", reciprocal},
    {"takes the decimal cell size", "drift", decimal_size},
    {"truncates instead of taking the floor", "drift", truncates},
    {"keeps the old cell", "drift", old_cell},
    {"clamps at the floor of the domain", "drift", clamps},
    {0},
};
