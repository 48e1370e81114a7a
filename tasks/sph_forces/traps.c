#include "task/traps.h"

#include <math.h>

enum {
    N,
    XS,
    YS,
    ZS,
    VXS,
    VYS,
    VZS,
    RHOS,
    MASSES,
    H,
    CS0,
    RHOP0,
    ALPHA_VISC,
    CELL_BEGIN,
    CELL_END,
    SORTED_IDX,
    GRID_NX,
    GRID_NY,
    GRID_NZ,
    CELL_SIZE,
    AX,
    AY,
    AZ,
    DRHODT
};

enum fault {
    NO_VISCOSITY,
    VISCOUS_BOTH_WAYS,
    OWN_MASS,
    ONE_MASS,
    UNIT_VECTOR,
    NAN_WHEN_TOGETHER,
    LINEAR_PRESSURE,
    RATIO_INVERTED,
    MISSING_LAYER
};

static double input(const struct ae_instance *inst, int arg, int i)
{
    return (double)ae_in_f32(inst, arg)[i];
}

static void add_pair(const struct ae_instance *inst, enum fault fault, int i, int j, double sum[4])
{
    const double h = (double)inst->scalar[H].f32, rest = (double)inst->scalar[RHOP0].f32;
    const double cs0 = (double)inst->scalar[CS0].f32, stiffness = cs0 * cs0 * rest / 7;
    double d[3], r2 = 0, c = 0, v[3];
    for (int a = 0; a < 3; a++) {
        d[a] = input(inst, XS + a, i) - input(inst, XS + a, j);
        v[a] = input(inst, VXS + a, i) - input(inst, VXS + a, j);
        r2 += d[a] * d[a];
        c += d[a] * v[a];
    }
    if (i == j || r2 > 4 * h * h || (r2 < 1e-18 && fault != NAN_WHEN_TOGETHER))
        return;
    const double q = sqrt(r2) / h, rho_i = input(inst, RHOS, i), rho_j = input(inst, RHOS, j);
    double f = -10 / h * 495 / (32 * 3.14159265358979323846 * h * h * h) * pow(1 - q / 2, 3);
    if (fault == UNIT_VECTOR)
        f /= q;
    if (fault == NAN_WHEN_TOGETHER)
        f = f / q * q;
    double p = 0;
    for (int k = 0; k < 2; k++) {
        const double relative = (k ? rho_i : rho_j) / rest;
        p += stiffness * (fault == LINEAR_PRESSURE ? 7 * (relative - 1) : pow(relative, 7) - 1);
    }
    double push = p / (rho_i * rho_j);
    if ((c < 0 && fault != NO_VISCOSITY) || fault == VISCOUS_BOTH_WAYS)
        push -= (double)inst->scalar[ALPHA_VISC].f32 * cs0 * h * c / (r2 + 0.01 * h * h) /
                ((rho_i + rho_j) / 2);
    double mass = input(inst, MASSES, fault == OWN_MASS ? i : j);
    if (fault == ONE_MASS)
        mass = 1.25e-4;
    for (int a = 0; a < 3; a++)
        sum[a] -= push * mass * f * d[a];
    sum[3] += mass * c * f * (fault == RATIO_INVERTED ? rho_j / rho_i : rho_i / rho_j);
}

static bool solve_with(const struct ae_instance *inst, struct ae_expected *answer, enum fault fault)
{
    const int nx = inst->scalar[GRID_NX].i32, ny = inst->scalar[GRID_NY].i32;
    const int nz = inst->scalar[GRID_NZ].i32, n = inst->scalar[N].i32;
    const int32_t *begin = ae_in_i32(inst, CELL_BEGIN), *end = ae_in_i32(inst, CELL_END);
    for (int i = 0; i < n; i++) {
        double sum[4] = {0};
        int at[3];
        for (int a = 0; a < 3; a++)
            at[a] = (int)floor(input(inst, XS + a, i) / (double)inst->scalar[CELL_SIZE].f32);
        for (int cell = 0; cell < 27; cell++) {
            const int x = at[0] + cell % 3 - 1, y = at[1] + cell / 3 % 3 - 1,
                      z = at[2] + cell / 9 - 1;
            if (x < 0 || y < 0 || z < 0 || x >= nx || y >= ny || z >= nz - (fault == MISSING_LAYER))
                continue;
            const int number = (z * ny + y) * nx + x;
            for (int k = begin[number]; k < end[number]; k++)
                add_pair(inst, fault, i, ae_in_i32(inst, SORTED_IDX)[k], sum);
        }
        for (int a = 0; a < 4; a++)
            ((float *)answer->out[AX + a].data)[i] = (float)sum[a];
    }
    return n > 100;
}

#define FAULTY(name, fault)                                                                        \
    static bool name(const struct ae_instance *inst, const struct ae_expected *right,              \
                     struct ae_expected *answer)                                                   \
    {                                                                                              \
        (void)right;                                                                               \
        return solve_with(inst, answer, fault);                                                    \
    }

FAULTY(no_viscosity, NO_VISCOSITY)
FAULTY(viscous_both_ways, VISCOUS_BOTH_WAYS)
FAULTY(own_mass, OWN_MASS)
FAULTY(one_mass, ONE_MASS)
FAULTY(unit_vector, UNIT_VECTOR)
FAULTY(nan_when_together, NAN_WHEN_TOGETHER)
FAULTY(linear_pressure, LINEAR_PRESSURE)
FAULTY(ratio_inverted, RATIO_INVERTED)
FAULTY(missing_layer, MISSING_LAYER)

AE_TRAPS(sph_forces) = {
    {"leaves the viscosity out", "uniform", no_viscosity},
    {"damps parting particles too", "uniform", viscous_both_ways},
    {"takes the mass of the particle itself", "uniform", own_mass},
    {"takes one mass for all", "uniform", one_mass},
    {"multiplies by the unit vector", "uniform", unit_vector},
    {"divides by the distance of particles in one place", "uniform", nan_when_together},
    {"linearises the equation of state", "uniform", linear_pressure},
    {"inverts the ratio of densities", "uniform", ratio_inverted},
    {"forgets the top layer of cells", "uniform", missing_layer},
    {0},
};
