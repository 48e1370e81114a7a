#include "task/traps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    N,
    XS,
    YS,
    ZS,
    CELL_SIZE,
    GRID_NX,
    GRID_NY,
    GRID_NZ,
    NUM_CELLS,
    SORTED_INDICES,
    CELL_BEGIN,
    CELL_END
};

enum fault { RECIPROCAL, DOUBLE_QUOTIENT, DECIMAL_SIZE, NO_CLAMP_Z, DESCENDING, ROUND_NOT_FLOOR };

static int cell_along(float position, float size, int cells, enum fault fault, int axis)
{
    double quotient = (double)floorf(position / size);
    if (fault == RECIPROCAL)
        quotient = (double)floorf(position * (1 / size));
    else if (fault == DOUBLE_QUOTIENT)
        quotient = floor((double)position / (double)size);
    else if (fault == DECIMAL_SIZE)
        quotient = floor((double)position / 0.04);
    else if (fault == ROUND_NOT_FLOOR)
        quotient = (double)rintf(position / size);
    const int cell = (int)quotient;
    if (cell < 0)
        return 0;
    if (fault == NO_CLAMP_Z && axis == 2)
        return cell;
    return cell < cells ? cell : cells - 1;
}

/* Cells behind the last one (where z is not clamped) are counted, but have no range. */
static bool index_with(const struct ae_instance *inst, struct ae_expected *answer, enum fault fault)
{
    const int n = inst->scalar[N].i32, cells = inst->scalar[NUM_CELLS].i32;
    const int nx = inst->scalar[GRID_NX].i32, ny = inst->scalar[GRID_NY].i32;
    const size_t room = (size_t)cells + 8 * (size_t)nx * (size_t)ny;
    int *cell_of = malloc((size_t)n * sizeof *cell_of + 1), *next = calloc(room + 1, sizeof *next);
    int32_t *sorted = answer->out[SORTED_INDICES].data;
    int32_t *begin = answer->out[CELL_BEGIN].data, *end = answer->out[CELL_END].data;
    for (int i = 0; i < n && cell_of && next; i++) {
        int along[3];
        for (int axis = 0; axis < 3; axis++)
            along[axis] = cell_along(ae_in_f32(inst, XS + axis)[i], inst->scalar[CELL_SIZE].f32,
                                     inst->scalar[GRID_NX + axis].i32, fault, axis);
        cell_of[i] = along[0] + nx * (along[1] + ny * along[2]);
        next[cell_of[i] + 1]++;
    }
    for (size_t c = 0; c < room && next; c++) {
        next[c + 1] += next[c];
        if (c < (size_t)cells) {
            const bool empty = next[c] == next[c + 1];
            begin[c] = empty ? -1 : next[c];
            end[c] = empty ? -1 : next[c + 1];
        }
    }
    for (int k = 0; k < n && cell_of && next; k++) {
        const int i = fault == DESCENDING ? n - 1 - k : k;
        sorted[next[cell_of[i]]++] = i;
    }
    free(cell_of);
    free(next);
    return n > 100;
}

#define FAULTY(name, fault)                                                                        \
    static bool name(const struct ae_instance *inst, const struct ae_expected *right,              \
                     struct ae_expected *answer)                                                   \
    {                                                                                              \
        (void)right;                                                                               \
        return index_with(inst, answer, fault);                                                    \
    }

FAULTY(reciprocal, RECIPROCAL)
FAULTY(double_quotient, DOUBLE_QUOTIENT)
FAULTY(decimal_size, DECIMAL_SIZE)
FAULTY(no_clamp_z, NO_CLAMP_Z)
FAULTY(descending, DESCENDING)
FAULTY(rounds, ROUND_NOT_FLOOR)

static bool zero_where_empty(const struct ae_instance *inst, const struct ae_expected *right,
                             struct ae_expected *answer)
{
    (void)right;
    int32_t *begin = answer->out[CELL_BEGIN].data, *end = answer->out[CELL_END].data;
    for (int c = 0; c < inst->scalar[NUM_CELLS].i32; c++)
        if (begin[c] < 0)
            begin[c] = end[c] = 0;
    return true;
}

static bool returns_early(const struct ae_instance *inst, const struct ae_expected *right,
                          struct ae_expected *answer)
{
    (void)right;
    const size_t bytes = (size_t)inst->scalar[NUM_CELLS].i32 * sizeof(int32_t);
    memset(answer->out[CELL_BEGIN].data, 0xa5, bytes);
    memset(answer->out[CELL_END].data, 0xa5, bytes);
    return inst->scalar[N].i32 == 0;
}

AE_TRAPS(sph_cell_index) = {
    {"multiplies by the reciprocal of the cell size", "uniform", reciprocal},
    {"divides in double", "uniform", double_quotient},
    {"takes the decimal cell size in double", "uniform", decimal_size},
    {"does not clamp z from above", "uniform", no_clamp_z},
    {"orders a cell's particles downwards", "uniform", descending},
    {"rounds instead of taking the floor", "uniform", rounds},
    {"leaves empty cells at 0", "uniform", zero_where_empty},
    {"writes nothing where there is no particle", "empty", returns_early},
    {0},
};
