#include "task/traps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NX_IN, NZ_IN, SIM_TIME_IN, DATA_SPEC_IN, OUTPUT };

enum fault {
    NONE,
    NO_MINUTE_STEP,
    NO_SHORT_STEP,
    X_ALWAYS_FIRST,
    UNSCALED_HALO,
    FLAT_WALL,
    FLOAT_STATE,
    COARSE_GRID,
    ALWAYS_THERMAL,
    WARM_JET,
    MIRRORED,
    FIRST_ORDER,
};

enum { R, U, W, H };

/* The flow once more, small and slow, with one thing done wrong. */
struct flow {
    enum fault fault;
    int nx, nz, spec;
    double dx, dz, *q, *out, *next;
    double *rho, *rt, *rho_face, *rt_face; /* rho and rt from cell -2 on */
};

static double *cell(const struct flow *f, double *q, int field, int k, int i)
{
    return q + ((size_t)field * (size_t)(f->nz + 4) + (size_t)(k + 2)) * (size_t)(f->nx + 4) +
           (i + 2);
}

static double density(double z)
{
    const double exner = 1 - 9.8 * z / (1004 * 300.);
    return pow(1e5 * pow(exner, 1004 / 287.) / 27.5629410929725921310572974482,
               1 / 1.40027894002789400278940027894) /
           300;
}

static double bubble(double x, double z, double amplitude, double z0, double radius)
{
    const double d = hypot((x - 1e4) / radius, (z - z0) / 2000);
    return d <= 1 ? amplitude * cos(d * M_PI / 2) * cos(d * M_PI / 2) : 0;
}

static double warmth(int spec, double x, double z)
{
    if (spec == 1)
        return bubble(x, z, 20, 2000, 2000) + bubble(x, z, -20, 8000, 2000);
    if (spec == 5)
        return bubble(x, z, -20, 5000, 4000);
    return spec == 6 ? 0 : bubble(x, z, 3, 2000, 2000);
}

static void halo(const struct flow *f, double *q, bool x)
{
    for (int field = 0; field < 4 && x; field++)
        for (int k = 0; k < f->nz; k++)
            for (int h = -2; h < 2; h++)
                *cell(f, q, field, k, h < 0 ? h : f->nx + h) =
                    *cell(f, q, field, k, h < 0 ? f->nx + h : h);
    for (int k = 0; k < f->nz && x && f->spec == 6; k++)
        for (int i = -2; i < 0 && fabs((k + .5) * f->dz - 7500) <= 625; i++) {
            const double r = *cell(f, q, R, k, i) + f->rho[k + 2];
            *cell(f, q, U, k, i) = r * 50;
            *cell(f, q, H, k, i) = r * (f->fault == WARM_JET ? 300 : 298) - f->rt[k + 2];
        }
    for (int h = -2; h < 2 && !x; h++)
        for (int i = -2; i < f->nx + 2; i++) {
            const int to = h < 0 ? h : f->nz + h, from = h < 0 ? 0 : f->nz - 1;
            const double ratio = f->fault == UNSCALED_HALO ? 1 : f->rho[to + 2] / f->rho[from + 2];
            *cell(f, q, R, to, i) = *cell(f, q, R, from, i);
            *cell(f, q, U, to, i) = *cell(f, q, U, from, i) * ratio;
            *cell(f, q, W, to, i) = 0;
            *cell(f, q, H, to, i) = *cell(f, q, H, from, i);
        }
}

/* Fluxes through the lower or left face of cell (k, i). */
static void face_flux(const struct flow *f, double *q, bool x, int k, int i, double dt,
                      double flux[4])
{
    const double viscosity = -.05 * (x ? f->dx : f->dz) / (16 * dt);
    const double rho = x ? f->rho[k + 2] : f->rho_face[k], rt = x ? f->rt[k + 2] : f->rt_face[k];
    double v[4], d[4];
    for (int field = 0; field < 4; field++) {
        double s[4];
        for (int c = 0; c < 4; c++)
            s[c] = *cell(f, q, field, x ? k : k - 2 + c, x ? i - 2 + c : i);
        v[field] =
            f->fault == FIRST_ORDER ? (s[1] + s[2]) / 2 : (-s[0] + 7 * s[1] + 7 * s[2] - s[3]) / 12;
        d[field] = -s[0] + 3 * s[1] - 3 * s[2] + s[3];
    }
    const bool wall = !x && (k == 0 || k == f->nz);
    const double r = v[R] + rho, speed = wall ? 0 : v[x ? U : W] / r;
    const double c0 = 27.5629410929725921310572974482, gamma = 1.40027894002789400278940027894;
    const double p = c0 * pow(v[H] + rt, gamma) - (x ? 0 : c0 * pow(rt, gamma));
    for (int field = 0; field < 4 && wall; field++)
        d[field] = field == R || f->fault == FLAT_WALL ? 0 : d[field];
    flux[R] = r * speed - viscosity * d[R];
    flux[U] = v[U] * speed + (x ? p : 0) - viscosity * d[U];
    flux[W] = (wall ? 0 : v[W] * speed) + (x ? 0 : p) - viscosity * d[W];
    flux[H] = (v[H] + rt) * speed - viscosity * d[H];
}

static void advance(const struct flow *f, bool x, double dt)
{
    const size_t bytes = 4 * (size_t)(f->nx + 4) * (size_t)(f->nz + 4) * sizeof(double);
    memcpy(f->out, f->q, bytes);
    for (int stage = 3; stage >= 1; stage--) {
        const double h = dt / stage;
        halo(f, f->out, x);
        for (int k = 0; k < f->nz; k++) {
            double low[4], high[4];
            for (int i = 0; i < f->nx; i++) {
                if (i == 0 || !x)
                    face_flux(f, f->out, x, k, i, h, low);
                face_flux(f, f->out, x, k + !x, i + x, h, high);
                for (int field = 0; field < 4; field++) {
                    double tend = -(high[field] - low[field]) / (x ? f->dx : f->dz);
                    if (!x && field == W)
                        tend -= 9.8 * *cell(f, f->out, R, k, i);
                    const double value = *cell(f, f->q, field, k, i) + h * tend;
                    *cell(f, f->next, field, k, i) =
                        f->fault == FLOAT_STATE ? (double)(float)value : value;
                    low[field] = high[field];
                }
            }
        }
        memcpy(f->out, f->next, bytes);
    }
    memcpy(f->q, f->out, bytes);
}

static void diagnose(const struct flow *f, double sum[6])
{
    memset(sum, 0, 6 * sizeof *sum);
    for (int k = 0; k < f->nz; k++)
        for (int i = 0; i < f->nx; i++) {
            const double r = *cell(f, f->q, R, k, i) + f->rho[k + 2];
            const double u = *cell(f, f->q, U, k, i) / r, w = *cell(f, f->q, W, k, i) / r;
            const double heat = *cell(f, f->q, H, k, i) + f->rt[k + 2];
            const double p =
                27.5629410929725921310572974482 * pow(heat, 1.40027894002789400278940027894);
            sum[0] += r;
            sum[1] += r * (u * u + w * w) + 717 * heat * pow(p / 1e5, 287 / 1004.);
            for (int field = 0; field < 4; field++)
                sum[2 + field] += *cell(f, f->q, field, k, i) * *cell(f, f->q, field, k, i);
        }
}

static void initialise(const struct flow *f)
{
    static const double points[3] = {0.112701665379258311482073460022, .5,
                                     0.887298334620741688517926539980};
    static const double weights[3] = {5 / 18., 4 / 9., 5 / 18.};
    for (int k = -2; k < f->nz + 2; k++) {
        f->rho[k + 2] = density((k + .5) * f->dz);
        f->rt[k + 2] = f->rho[k + 2] * 300;
        for (int i = 0; i < f->nx; i++)
            for (int n = 0; n < 9; n++) {
                const double x = (i + points[n % 3]) * f->dx, z = (k + points[n / 3]) * f->dz;
                *cell(f, f->q, H, k, i) +=
                    density(z) * warmth(f->spec, x, z) * weights[n % 3] * weights[n / 3];
            }
    }
    for (int k = 0; k <= f->nz; k++) {
        f->rho_face[k] = density(k * f->dz);
        f->rt_face[k] = f->rho_face[k] * 300;
    }
}

static void mirror(const struct flow *f)
{
    for (int field = 0; field < 4; field++)
        for (int k = 0; k < f->nz; k++)
            for (int i = 0; i < f->nx / 2; i++)
                *cell(f, f->q, field, k, f->nx - 1 - i) =
                    (field == U ? -1 : 1) * *cell(f, f->q, field, k, i);
}

static bool solve_with(enum fault fault, const struct ae_instance *inst, struct ae_expected *answer)
{
    struct flow f = {fault,
                     inst->scalar[NX_IN].i32,
                     inst->scalar[NZ_IN].i32,
                     inst->scalar[DATA_SPEC_IN].i32,
                     0,
                     0,
                     NULL,
                     NULL,
                     NULL,
                     NULL,
                     NULL,
                     NULL,
                     NULL};
    if (fault == COARSE_GRID) {
        f.nx /= 2;
        f.nz /= 2;
    }
    f.spec = fault == ALWAYS_THERMAL ? 2 : f.spec;
    f.dx = 2e4 / f.nx;
    f.dz = 1e4 / f.nz;
    const size_t count = 4 * (size_t)(f.nx + 4) * (size_t)(f.nz + 4), levels = (size_t)f.nz + 4;
    double *space = calloc(3 * count + 4 * levels, sizeof *space);
    if (!space)
        abort();
    f.q = space;
    f.out = f.q + count;
    f.next = f.out + count;
    f.rho = f.next + count;
    f.rt = f.rho + levels;
    f.rho_face = f.rt + levels;
    f.rt_face = f.rho_face + levels;
    initialise(&f);
    double before[6], after[6], *out = answer->out[OUTPUT].data;
    diagnose(&f, before);
    const double end = inst->scalar[SIM_TIME_IN].i32,
                 whole = (f.dx < f.dz ? f.dx : f.dz) / 450 * 1.5;
    bool x_first = true;
    for (double t = 0, dt = whole; t < end; t += dt) {
        if (t + dt > end && fault != NO_SHORT_STEP)
            dt = end - t;
        if (dt < 1e-6 * whole && fault == NO_MINUTE_STEP)
            break;
        advance(&f, x_first, dt);
        advance(&f, !x_first, dt);
        x_first = fault == X_ALWAYS_FIRST || !x_first;
    }
    if (fault == MIRRORED)
        mirror(&f);
    diagnose(&f, after);
    for (int i = 0; i < 6; i++)
        out[i] = i < 2 ? (after[i] - before[i]) / before[i]
                       : (fault == COARSE_GRID ? 2 : 1) * sqrt(after[i]);
    free(space);
    return true;
}

#define TRAP(name, fault, applies)                                                                 \
    static bool name(const struct ae_instance *inst, const struct ae_expected *right,              \
                     struct ae_expected *answer)                                                   \
    {                                                                                              \
        (void)right;                                                                               \
        return (applies) && solve_with(fault, inst, answer);                                       \
    }

#define SPEC (inst->scalar[DATA_SPEC_IN].i32)

TRAP(no_minute_step, NO_MINUTE_STEP, true)
TRAP(no_short_step, NO_SHORT_STEP, true)
TRAP(x_always_first, X_ALWAYS_FIRST, true)
TRAP(unscaled_halo, UNSCALED_HALO, true)
TRAP(flat_wall, FLAT_WALL, true)
TRAP(float_state, FLOAT_STATE, true)
TRAP(coarse_grid, COARSE_GRID, true)
TRAP(always_thermal, ALWAYS_THERMAL, SPEC == 1 || SPEC == 5 || SPEC == 6)
TRAP(warm_jet, WARM_JET, true)
TRAP(mirrored, MIRRORED, true)
TRAP(first_order, FIRST_ORDER, true)

/* Conservation holds: why sum it up? */
static bool zero_changes(const struct ae_instance *inst, const struct ae_expected *right,
                         struct ae_expected *answer)
{
    (void)inst;
    (void)right;
    ((double *)answer->out[OUTPUT].data)[0] = 0;
    ((double *)answer->out[OUTPUT].data)[1] = 0;
    return true;
}

AE_TRAPS(miniWeather) = {
    {"leaves out the minute last step", "last_step", no_minute_step},
    {"does not cut the last step to the end", "other_case", no_short_step},
    {"always sweeps x first", "last_step", x_always_first},
    {"does not scale the halo by the density", "last_step", unscaled_halo},
    {"drops all viscosity at the walls", "last_step", flat_wall},
    {"keeps the state in float", "last_step", float_state},
    {"computes on half the resolution and doubles the norms", "draws", coarse_grid},
    {"knows the thermal only", "injection", always_thermal},
    {"lets the jet in at the background's temperature", "injection", warm_jet},
    {"computes one half and mirrors it", "injection", mirrored},
    {"interpolates linearly", "last_step", first_order},
    {"reports no change of mass and energy", "draws", zero_changes},
    {0},
};
