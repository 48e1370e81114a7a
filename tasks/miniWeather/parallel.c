/* The three stages of a direction couple cells along that direction only: a thread takes a row (x)
 * or a strip of columns (z) through all of them in its cache. Consecutive steps end and begin with
 * the same direction, so their two sweeps are made in one pass, and a step costs one barrier.
 * Pressure: with e = (rho theta)' / (rho theta)_background it is p_background (1 + e)^gamma; e is
 * small, so a polynomial serves, and pow only where it would not be accurate. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

enum { DENS, UMOM, WMOM, RHOT, FIELDS };
enum { STRIP = 16, DEGREE = 12 };

static const double PI = 3.14159265358979323846264338327;
static const double GRAV = 9.8, CP = 1004.0, CV = 717.0, RD = 287.0, P0 = 1e5;
static const double C0 = 27.5629410929725921310572974482, GAMMA = 1.40027894002789400278940027894;
static const double XLEN = 2e4, ZLEN = 1e4;
static const double BETA = 0.05, CFL = 1.5, MAX_SPEED = 450.0;

/* Largest |e| for which the polynomial is accurate to rounding. */
static const double SMALL = 0.12;

enum { COLLISION = 1, GRAVITY_WAVES = 3, DENSITY_CURRENT = 5, INJECTION = 6 };

struct levels {
    double *dens, *dens_theta, *pressure;
};

struct model {
    int nx, nz, data_spec;
    double dx, dz;
    double *q;                  /* [field][k][i] */
    struct levels cells, faces; /* cells from k = -2 on */
    double series[DEGREE + 1];  /* (1 + e)^gamma - 1 = e (series[1] + e (series[2] + ..)) */
};

/* --- initial state
 * --------------------------------------------------------------------------------- */

static void background(int data_spec, double z, double *density, double *theta)
{
    double exner;
    if (data_spec == GRAVITY_WAVES) {
        const double frequency = 0.02;
        *theta = 300.0 * exp(frequency * frequency / GRAV * z);
        exner =
            1.0 - GRAV * GRAV / (CP * frequency * frequency) * (*theta - 300.0) / (*theta * 300.0);
    } else {
        *theta = 300.0;
        exner = 1.0 - GRAV * z / (CP * *theta);
    }
    *density = pow(P0 * pow(exner, CP / RD) / C0, 1.0 / GAMMA) / *theta;
}

static double bubble(double x, double z, double amplitude, double z0, double xrad)
{
    const double a = (x - XLEN / 2) / xrad, b = (z - z0) / 2000.0;
    if (a * a + b * b > 1.0)
        return 0.0;
    const double c = cos(sqrt(a * a + b * b) * PI / 2.0);
    return amplitude * c * c;
}

static double theta_deviation(int data_spec, double x, double z)
{
    switch (data_spec) {
    case COLLISION:
        return bubble(x, z, 20.0, 2000.0, 2000.0) + bubble(x, z, -20.0, 8000.0, 2000.0);
    case DENSITY_CURRENT:
        return bubble(x, z, -20.0, 5000.0, 4000.0);
    case GRAVITY_WAVES:
    case INJECTION:
        return 0.0;
    default:
        return bubble(x, z, 3.0, 2000.0, 2000.0);
    }
}

static void initialise_row(const struct model *m, int k)
{
    static const double points[3] = {0.112701665379258311482073460022, 0.5,
                                     0.887298334620741688517926539980};
    static const double weights[3] = {5.0 / 18.0, 4.0 / 9.0, 5.0 / 18.0};
    const size_t nx = (size_t)m->nx, cells = nx * (size_t)m->nz;
    double *q = m->q + (size_t)k * nx;
    for (int kk = 0; kk < 3; kk++) {
        const double z = (k + 0.5) * m->dz + (points[kk] - 0.5) * m->dz;
        double density, theta;
        background(m->data_spec, z, &density, &theta);
        for (int ii = 0; ii < 3; ii++)
            for (size_t i = 0; i < nx; i++) {
                const double x = ((double)i + 0.5) * m->dx + (points[ii] - 0.5) * m->dx;
                const double weight = weights[ii] * weights[kk] * density;
                q[RHOT * cells + i] += theta_deviation(m->data_spec, x, z) * weight;
                if (m->data_spec == GRAVITY_WAVES)
                    q[UMOM * cells + i] += 15.0 * weight;
            }
    }
}

static struct levels levels_make(const struct model *m, int count, double first)
{
    struct levels l = {malloc(3 * (size_t)count * sizeof(double)), NULL, NULL};
    if (!l.dens)
        abort();
    l.dens_theta = l.dens + count;
    l.pressure = l.dens_theta + count;
    for (int k = 0; k < count; k++) {
        double theta;
        background(m->data_spec, (first + k) * m->dz, &l.dens[k], &theta);
        l.dens_theta[k] = l.dens[k] * theta;
        l.pressure[k] = C0 * pow(l.dens_theta[k], GAMMA);
    }
    return l;
}

/* --- fluxes
 * ------------------------------------------------------------------------------------------- */

/* An interface's surroundings: the background there, and a wall or none. */
struct face {
    double dens, dens_theta, pressure, viscosity, open; /* open: 0 at a wall, else 1 */
    int normal, tangential;                             /* momentum across and along */
};

/* Fluxes through `count` neighbouring interfaces. Field f of the first one's four cells lies at
 * s[f*field + c*step]; the flux goes to flux[f*to]. The background pressure is left out: it
 * cancels. Returns the largest |e|. */
static inline __attribute__((always_inline)) double fluxes_by(int exact, const struct model *m,
                                                              struct face face, int count,
                                                              const double *s, size_t field,
                                                              size_t step, double *flux, size_t to)
{
    const double *r0 = s, *n0 = s + (size_t)face.normal * field,
                 *t0 = s + (size_t)face.tangential * field;
    const double *h0 = s + RHOT * field;
    double *fr = flux, *fn = flux + (size_t)face.normal * to,
           *ft = flux + (size_t)face.tangential * to;
    double *fh = flux + RHOT * to, worst = 0.0;
    const double per_theta = 1.0 / face.dens_theta, *c = m->series;
#define VALUE(p)                                                                                   \
    ((7.0 * ((p)[i + step] + (p)[i + 2 * step]) - ((p)[i] + (p)[i + 3 * step])) * (1.0 / 12.0))
#define DIFFERENCE(p)                                                                              \
    (face.viscosity * (3.0 * ((p)[i + step] - (p)[i + 2 * step]) + ((p)[i + 3 * step] - (p)[i])))
#pragma omp simd reduction(max : worst)
    for (int i = 0; i < count; i++) {
        const double inverse = 1.0 / (VALUE(r0) + face.dens);
        const double normal = VALUE(n0), across = normal * inverse * face.open, heat = VALUE(h0);
        const double e = heat * per_theta;
        double p;
        if (exact) {
            p = face.pressure * (pow(1.0 + e, GAMMA) - 1.0);
        } else {
            double sum = c[DEGREE];
            for (int n = DEGREE - 1; n > 0; n--)
                sum = sum * e + c[n];
            p = face.pressure * sum * e;
            worst = fabs(e) > worst ? fabs(e) : worst;
        }
        fr[i] = (normal - DIFFERENCE(r0)) * face.open;
        fn[i] = normal * across + p - DIFFERENCE(n0);
        ft[i] = VALUE(t0) * across - DIFFERENCE(t0);
        fh[i] = (heat + face.dens_theta) * across - DIFFERENCE(h0);
    }
#undef VALUE
#undef DIFFERENCE
    return worst;
}

static void fluxes(const struct model *m, struct face face, int count, const double *s,
                   size_t field, size_t step, double *flux, size_t to)
{
    if (!(fluxes_by(0, m, face, count, s, field, step, flux, to) <= SMALL))
        fluxes_by(1, m, face, count, s, field, step, flux, to);
}

/* --- one direction, three stages
 * ------------------------------------------------------------------------ */

static const double part[3] = {1.0 / 3.0, 1.0 / 2.0, 1.0};

/* cur: FIELDS*(nx+4) elements; flux: FIELDS*(nx+1) */
static void sweep_row(const struct model *m, int k, double dt, double *cur, double *flux)
{
    const int nx = m->nx;
    const size_t cells = (size_t)nx * (size_t)m->nz, field = (size_t)nx + 4, faces = (size_t)nx + 1;
    double *q = m->q + (size_t)k * (size_t)nx;
    const int jet =
        m->data_spec == INJECTION && fabs((k + 0.5) * m->dz - 3 * ZLEN / 4) <= ZLEN / 16;
    struct face face = {m->cells.dens[k + 2],
                        m->cells.dens_theta[k + 2],
                        m->cells.pressure[k + 2],
                        0,
                        1,
                        UMOM,
                        WMOM};
    for (size_t f = 0; f < FIELDS; f++)
        for (int i = 0; i < nx; i++)
            cur[f * field + (size_t)i + 2] = q[f * cells + (size_t)i];
    for (int stage = 0; stage < 3; stage++) {
        const double h = dt * part[stage], rate = h / m->dx;
        for (size_t f = 0; f < FIELDS; f++) {
            double *row = cur + f * field + 2;
            row[-2] = row[nx - 2];
            row[-1] = row[nx - 1];
            row[nx] = row[0];
            row[nx + 1] = row[1];
        }
        for (size_t i = 0; jet && i < 2; i++) {
            const double density = cur[i] + face.dens;
            cur[UMOM * field + i] = density * 50.0;
            cur[RHOT * field + i] = density * 298.0 - face.dens_theta;
        }
        face.viscosity = -BETA * m->dx / (16 * h);
        fluxes(m, face, nx + 1, cur, field, 1, flux, faces);
        for (size_t f = 0; f < FIELDS; f++) {
            const double *base = q + f * cells, *at = flux + f * faces;
            double *out = stage == 2 ? q + f * cells : cur + f * field + 2;
#pragma omp simd
            for (int i = 0; i < nx; i++)
                out[i] = base[i] - rate * (at[i + 1] - at[i]);
        }
    }
}

/* Columns first..first+count-1. cur, next: FIELDS*(nz+4)*STRIP elements each. */
static void sweep_strip(const struct model *m, int first, int count, double dt, double *cur,
                        double *next)
{
    const int nz = m->nz;
    const size_t nx = (size_t)m->nx, cells = nx * (size_t)nz, field = ((size_t)nz + 4) * STRIP;
    double *q = m->q + first, flux[2][FIELDS * STRIP];
    for (size_t f = 0; f < FIELDS; f++)
        for (size_t k = 0; k < (size_t)nz; k++)
            for (size_t i = 0; i < (size_t)count; i++)
                cur[f * field + (k + 2) * STRIP + i] = q[f * cells + k * nx + i];
    for (int stage = 0; stage < 3; stage++) {
        const double h = dt * part[stage], rate = h / m->dz;
        for (int side = 0; side < 4; side++) {
            const int halo = side < 2 ? side : nz + side, inner = side < 2 ? 2 : nz + 1;
            const double ratio = m->cells.dens[halo] / m->cells.dens[inner];
            for (size_t i = 0; i < (size_t)count; i++) {
                const size_t to = (size_t)halo * STRIP + i, from = (size_t)inner * STRIP + i;
                cur[to] = cur[from];
                cur[UMOM * field + to] = cur[UMOM * field + from] * ratio;
                cur[WMOM * field + to] = 0.0;
                cur[RHOT * field + to] = cur[RHOT * field + from];
            }
        }
        for (int k = 0; k <= nz; k++) {
            const struct face face = {m->faces.dens[k],
                                      m->faces.dens_theta[k],
                                      m->faces.pressure[k],
                                      -BETA * m->dz / (16 * h),
                                      k == 0 || k == nz ? 0.0 : 1.0,
                                      WMOM,
                                      UMOM};
            fluxes(m, face, count, cur + (size_t)k * STRIP, field, STRIP, flux[k & 1], STRIP);
            if (k == 0)
                continue;
            const double *below = flux[(k + 1) & 1], *above = flux[k & 1];
            const size_t row = (size_t)(k + 1) * STRIP; /* of cell k-1 */
            for (size_t f = 0; f < FIELDS; f++) {
                double *base = q + f * cells + (size_t)(k - 1) * nx;
                double *out = stage == 2 ? base : next + f * field + row;
                const double weight = f == WMOM ? h * GRAV : 0.0;
#pragma omp simd
                for (int i = 0; i < count; i++)
                    out[i] = base[i] -
                             rate * (above[f * STRIP + (size_t)i] - below[f * STRIP + (size_t)i]) -
                             weight * cur[row + (size_t)i];
            }
        }
        double *kept = cur;
        cur = next;
        next = kept;
    }
}

/* --- diagnostics and driver
 * --------------------------------------------------------------------------- */

/* sums: mass, energy and four squares of row k */
static void diagnose_row(const struct model *m, int k, double sums[6])
{
    const size_t nx = (size_t)m->nx, cells = nx * (size_t)m->nz;
    const double *q = m->q + (size_t)k * nx;
    for (int s = 0; s < 6; s++)
        sums[s] = 0.0;
    for (size_t i = 0; i < nx; i++) {
        const double r = q[i] + m->cells.dens[k + 2], u = q[UMOM * cells + i],
                     w = q[WMOM * cells + i];
        const double heat = q[RHOT * cells + i] + m->cells.dens_theta[k + 2];
        const double p = C0 * pow(heat, GAMMA);
        sums[0] += r;
        sums[1] += (u * u + w * w) / r + CV * heat / pow(P0 / p, RD / CP);
        for (size_t f = 0; f < FIELDS; f++)
            sums[2 + f] += q[f * cells + i] * q[f * cells + i];
    }
}

static void diagnose(const struct model *m, double *rows, double sums[6])
{
#pragma omp parallel for schedule(static)
    for (int k = 0; k < m->nz; k++)
        diagnose_row(m, k, rows + 6 * k);
    for (int s = 0; s < 6; s++) {
        sums[s] = 0.0;
        for (int k = 0; k < m->nz; k++)
            sums[s] += rows[6 * k + s];
    }
}

/* The lengths of all steps, summed up as the time loop does; the caller frees them. */
static double *step_lengths(double dt, int end, size_t *ret_count)
{
    size_t count = 0, room = 1024;
    double *lengths = malloc(room * sizeof *lengths);
    for (double time = 0.0; time < end; time += lengths[count++]) {
        if (count + 1 > room - 1)
            lengths = realloc(lengths, (room *= 2) * sizeof *lengths);
        if (!lengths)
            abort();
        lengths[count] = time + dt > end ? end - time : dt;
    }
    *ret_count = count;
    return lengths;
}

void solution_compute(int nx_in, int nz_in, int sim_time_in, int data_spec_in, double *output)
{
    struct model m = {.nx = nx_in, .nz = nz_in, .data_spec = data_spec_in};
    m.dx = XLEN / nx_in;
    m.dz = ZLEN / nz_in;
    m.cells = levels_make(&m, nz_in + 4, -1.5);
    m.faces = levels_make(&m, nz_in + 1, 0.0);
    m.series[0] = 1.0;
    for (int n = 1; n <= DEGREE; n++)
        m.series[n] = m.series[n - 1] * (GAMMA - n + 1) / n;
    m.q = calloc(FIELDS * (size_t)nx_in * (size_t)nz_in, sizeof *m.q);
    double *rows = malloc(6 * (size_t)nz_in * sizeof *rows);
    if (!m.q || !rows)
        abort();
    size_t steps;
    double *lengths =
        step_lengths((m.dx < m.dz ? m.dx : m.dz) / MAX_SPEED * CFL, sim_time_in, &steps);
    const int strips = (nx_in + STRIP - 1) / STRIP;
    double before[6], after[6];
#pragma omp parallel for schedule(static)
    for (int k = 0; k < nz_in; k++)
        initialise_row(&m, k);
    diagnose(&m, rows, before);
#pragma omp parallel
    {
        const size_t strip = FIELDS * ((size_t)nz_in + 4) * STRIP;
        double *row = malloc(2 * FIELDS * ((size_t)nx_in + 4) * sizeof *row);
        double *columns = malloc(2 * strip * sizeof *columns);
        if (!row || !columns)
            abort();
        /* Sweeps X | Z Z | X X | Z Z | .. : sweep s belongs to step s/2. */
        for (size_t s = 0; s < 2 * steps;) {
            const size_t last = s == 0 || s + 1 == 2 * steps ? s : s + 1;
            if ((s + 1) / 2 % 2 == 0) {
#pragma omp for schedule(static)
                for (int k = 0; k < nz_in; k++)
                    for (size_t t = s; t <= last; t++)
                        sweep_row(&m, k, lengths[t / 2], row, row + FIELDS * ((size_t)nx_in + 4));
            } else {
#pragma omp for schedule(static)
                for (int block = 0; block < strips; block++) {
                    const int first = block * STRIP,
                              count = nx_in - first < STRIP ? nx_in - first : STRIP;
                    for (size_t t = s; t <= last; t++)
                        sweep_strip(&m, first, count, lengths[t / 2], columns, columns + strip);
                }
            }
            s = last + 1;
        }
        free(row);
        free(columns);
    }
    diagnose(&m, rows, after);
    output[0] = (after[0] - before[0]) / before[0];
    output[1] = (after[1] - before[1]) / before[1];
    for (int f = 0; f < FIELDS; f++)
        output[2 + f] = sqrt(after[2 + f]);
    free(lengths);
    free(rows);
    free(m.q);
    free(m.cells.dens);
    free(m.faces.dens);
}
