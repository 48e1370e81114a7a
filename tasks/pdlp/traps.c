#include "task/traps.h"

#include <math.h>
#include <stdlib.h>

enum {
    NUM_VARS,
    NUM_CONSTRAINTS,
    NNZ,
    NUM_ITERS,
    OBJ,
    VAR_LB,
    VAR_UB,
    CON_LB,
    CON_UB,
    COL_PTRS,
    ROW_INDICES,
    VALUES,
    STEP_SIZE,
    PRIMAL_WEIGHT,
    PRIMAL_OUT
};

/* What one wrong solver does otherwise. */
struct fault {
    int iterations_less, percent_less;
    bool last_iterate, no_weight, swapped_weight, clipped_ahead, no_ahead, four_entries,
        no_upper_box, no_upper_rows, equalities_only;
};

static bool run(const struct ae_instance *inst, struct ae_expected *answer, struct fault f)
{
    const int n = inst->scalar[NUM_VARS].i32, m = inst->scalar[NUM_CONSTRAINTS].i32;
    const float *c = ae_in_f32(inst, OBJ), *lx = ae_in_f32(inst, VAR_LB),
                *ux = ae_in_f32(inst, VAR_UB);
    const float *lc = ae_in_f32(inst, CON_LB), *uc = ae_in_f32(inst, CON_UB),
                *a = ae_in_f32(inst, VALUES);
    const int32_t *ptr = ae_in_i32(inst, COL_PTRS), *row = ae_in_i32(inst, ROW_INDICES);
    const float eta = inst->scalar[STEP_SIZE].f32;
    float w = f.no_weight ? 1 : inst->scalar[PRIMAL_WEIGHT].f32;
    w = f.swapped_weight ? 1 / w : w;
    float *x = calloc((size_t)n, sizeof *x), *b = calloc((size_t)n, sizeof *b),
          *g = calloc((size_t)n, sizeof *g);
    float *y = calloc((size_t)m, sizeof *y), *t = calloc((size_t)m, sizeof *t),
          *out = answer->out[PRIMAL_OUT].data;
    const int iters =
        inst->scalar[NUM_ITERS].i32 * (100 - f.percent_less) / 100 - f.iterations_less;
    for (int j = 0; j < n; j++)
        out[j] = 0;
    for (int k = 0; k < iters; k++) {
        for (int i = 0; i < m; i++)
            t[i] = 0;
        for (int j = 0; j < n; j++) {
            const float old = x[j];
            float v = old - eta / w * (c[j] - g[j]);
            v = !f.no_upper_box && v > ux[j] ? ux[j] : v;
            v = v < lx[j] ? lx[j] : v;
            x[j] = v;
            b[j] = f.no_ahead ? v : 2 * v - old;
            if (f.clipped_ahead)
                b[j] = b[j] > ux[j] ? ux[j] : b[j] < lx[j] ? lx[j] : b[j];
            out[j] = f.last_iterate ? v : out[j] + (v - out[j]) / (float)(k + 1);
            for (int e = ptr[j]; e < ptr[j + 1] && (!f.four_entries || e < ptr[j] + 4); e++)
                t[row[e]] += a[e] * b[j];
        }
        for (int i = 0; i < m; i++) {
            const float s = y[i] - eta * w * t[i], high = s + eta * w * uc[i],
                        low = s + eta * w * lc[i];
            float z = f.no_upper_rows || 0 < high ? 0 : high;
            z = z < low ? low : z;
            y[i] = f.equalities_only ? (isfinite(low) ? low : high) : z;
        }
        for (int j = 0; j < n; j++) {
            g[j] = 0;
            for (int e = ptr[j]; e < ptr[j + 1] && (!f.four_entries || e < ptr[j] + 4); e++)
                g[j] += a[e] * y[row[e]];
        }
    }
    free(x);
    free(b);
    free(g);
    free(y);
    free(t);
    return true;
}

#define TRAP(name, ...)                                                                            \
    static bool name(const struct ae_instance *inst, const struct ae_expected *right,              \
                     struct ae_expected *answer)                                                   \
    {                                                                                              \
        (void)right;                                                                               \
        return run(inst, answer, (struct fault){__VA_ARGS__});                                     \
    }

TRAP(fifty_less, .iterations_less = 50)
TRAP(half, .percent_less = 50)
TRAP(one_less, .iterations_less = 1)
TRAP(last_iterate, .last_iterate = true)
TRAP(no_weight, .no_weight = true)
TRAP(swapped_weight, .swapped_weight = true)
TRAP(clipped_ahead, .clipped_ahead = true)
TRAP(no_ahead, .no_ahead = true)
TRAP(four_entries, .four_entries = true)
TRAP(no_upper_box, .no_upper_box = true)
TRAP(no_upper_rows, .no_upper_rows = true)
TRAP(equalities_only, .equalities_only = true)

AE_TRAPS(pdlp) = {
    {"fifty iterations less", "mixed", fifty_less},
    {"half of the iterations", "mixed", half},
    {"one iteration less", "mixed", one_less},
    {"returns the last iterate", "mixed", last_iterate},
    {"ignores the primal weight", "mixed", no_weight},
    {"swaps the primal and the dual step", "mixed", swapped_weight},
    {"clips the extrapolated point", "mixed", clipped_ahead},
    {"does not extrapolate", "mixed", no_ahead},
    {"four entries a column", "mixed", four_entries},
    {"ignores upper bounds of variables", "mixed", no_upper_box},
    {"ignores upper ends of rows", "mixed", no_upper_rows},
    {"takes every row for an equality", "mixed", equalities_only},
    {0},
};
