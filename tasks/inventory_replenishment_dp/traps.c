#include "task/traps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    N_I,
    N_B,
    N_PHI,
    N_PSI,
    N_X,
    N_SHOCKS,
    T,
    C_T,
    H_T,
    B_T,
    MU,
    NU,
    ALPHA,
    Y,
    GRID_I,
    GRID_B,
    GRID_PHI,
    GRID_PSI,
    ACTIONS,
    SHOCKS,
    SHOCK_PROBS,
    V_OUT
};

enum fault {
    FREE_INVENTORY, /* extrapolates along the inventory instead of clamping */
    FREE_SHOCKS,    /* the same along the sum of shocks */
    EVEN_LOOKUP,    /* takes grids for evenly spaced */
    HALF_ACTIONS,   /* tries every second action */
    HALF_PRECISION, /* keeps tables with 11 bits */
    NO_MEMORY,      /* demand forgets past shocks */
    EQUAL_CHANCES,  /* outcomes are taken for equally likely */
    NEAREST,        /* no interpolation */
    LAST_PERIOD,    /* one period less */
    TRANSPOSED,     /* the sum of shocks slowest in the output */
};

static double at(enum fault fault, const float *grid, int n, double value, bool clamp,
                 int *ret_cell)
{
    int cell = 0;
    if (fault == EVEN_LOOKUP) {
        const double step = ((double)grid[n - 1] - (double)grid[0]) / (n - 1);
        const double position = fmin(fmax((value - (double)grid[0]) / step, 0), n - 1);
        *ret_cell = position >= n - 1 ? n - 2 : (int)position;
        return position - *ret_cell;
    }
    while (cell < n - 2 && (double)grid[cell + 1] <= value)
        cell++;
    *ret_cell = cell;
    double weight = (value - (double)grid[cell]) / ((double)grid[cell + 1] - (double)grid[cell]);
    if (clamp)
        weight = fmin(fmax(weight, 0), 1);
    return fault == NEAREST ? floor(weight + 0.5) : weight;
}

static double round_to_half(double value)
{
    int exponent;
    const double mantissa = frexp(value, &exponent);
    return ldexp(round(mantissa * 2048) / 2048, exponent);
}

static bool solve_with(enum fault fault, const struct ae_instance *inst, struct ae_expected *answer)
{
    const int ni = inst->scalar[N_I].i32, nf = inst->scalar[N_PHI].i32,
              outcomes = inst->scalar[N_SHOCKS].i32;
    const float *gi = ae_in_f32(inst, GRID_I), *gf = ae_in_f32(inst, GRID_PHI);
    const float *actions = ae_in_f32(inst, ACTIONS), *shocks = ae_in_f32(inst, SHOCKS);
    const double mu = (double)inst->scalar[MU].f32, nu = (double)inst->scalar[NU].f32;
    const double alpha = fault == NO_MEMORY ? 0 : (double)inst->scalar[ALPHA].f32,
                 y = (double)inst->scalar[Y].f32;
    const size_t table = (size_t)ni * (size_t)nf;
    double *later = calloc(2 * table, sizeof *later), *now = later + table;
    for (int t = inst->scalar[T].i32 - 1; t >= (fault == LAST_PERIOD); t--) {
        for (int i = 0; i < ni; i++)
            for (int f = 0; f < nf; f++) {
                double best = 1e30;
                for (int a = 0; a < inst->scalar[N_X].i32; a += fault == HALF_ACTIONS ? 2 : 1) {
                    double expected = 0;
                    for (int k = 0; k < outcomes; k++) {
                        const double shock = (double)shocks[k], x = (double)actions[a];
                        const double next =
                            (double)gi[i] + y + x - (mu + nu * (shock + alpha * (double)gf[f]));
                        int ci, cf;
                        const double wi = at(fault, gi, ni, next, fault != FREE_INVENTORY, &ci);
                        const double wf =
                            at(fault, gf, nf, (double)gf[f] + shock, fault != FREE_SHOCKS, &cf);
                        const double *v = later + (size_t)ci * (size_t)nf + cf;
                        const double low = (1 - wf) * v[0] + wf * v[1],
                                     high = (1 - wf) * v[nf] + wf * v[nf + 1];
                        const double cost =
                            (double)ae_in_f32(inst, C_T)[t] * fabs(x) +
                            (double)ae_in_f32(inst, next > 0 ? H_T : B_T)[t] * fabs(next);
                        const double p = fault == EQUAL_CHANCES
                                             ? 1.0 / outcomes
                                             : (double)ae_in_f32(inst, SHOCK_PROBS)[k];
                        expected += p * (cost + (1 - wi) * low + wi * high);
                    }
                    best = fmin(best, expected);
                }
                now[i * nf + f] = fault == HALF_PRECISION ? round_to_half(best) : best;
            }
        memcpy(later, now, table * sizeof *now);
    }
    const size_t nb = (size_t)inst->scalar[N_B].i32, ng = (size_t)inst->scalar[N_PSI].i32;
    float *out = answer->out[V_OUT].data;
    for (size_t k = 0; k < answer->out[V_OUT].count; k++) {
        const size_t i = fault == TRANSPOSED ? k / ng % (size_t)ni : k / (nb * (size_t)nf * ng);
        const size_t f = fault == TRANSPOSED ? k / (nb * (size_t)ni * ng) : k / ng % (size_t)nf;
        out[k] = (float)later[i * (size_t)nf + f];
    }
    free(later);
    return true;
}

#define SOLVER(name, fault)                                                                        \
    static bool name(const struct ae_instance *inst, const struct ae_expected *right,              \
                     struct ae_expected *answer)                                                   \
    {                                                                                              \
        (void)right;                                                                               \
        return solve_with(fault, inst, answer);                                                    \
    }

SOLVER(free_inventory, FREE_INVENTORY)
SOLVER(free_shocks, FREE_SHOCKS)
SOLVER(even_lookup, EVEN_LOOKUP)
SOLVER(half_actions, HALF_ACTIONS)
SOLVER(half_precision, HALF_PRECISION)
SOLVER(no_memory, NO_MEMORY)
SOLVER(equal_chances, EQUAL_CHANCES)
SOLVER(nearest, NEAREST)
SOLVER(last_period, LAST_PERIOD)
SOLVER(transposed, TRANSPOSED)

AE_TRAPS(inventory_replenishment_dp) = {
    {"extrapolates beyond the inventory grid", "nominal", free_inventory},
    {"extrapolates beyond the grid of shock sums", "nominal", free_shocks},
    {"takes the grids for even", "nominal", even_lookup},
    {"tries every second action", "nominal", half_actions},
    {"keeps tables in half precision", "nominal", half_precision},
    {"forgets past shocks", "nominal", no_memory},
    {"takes outcomes for equally likely", "nominal", equal_chances},
    {"takes the nearest grid point", "nominal", nearest},
    {"plans one period less", "nominal", last_period},
    {"writes the sum of shocks slowest", "nominal", transposed},
    {0},
};
