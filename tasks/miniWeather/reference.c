/* Dry, stratified, compressible flow in a vertical slice: finite volumes with fourth-order
 * reconstruction and hyperviscosity, dimensional splitting, three-stage Runge-Kutta steps. After
 * the miniWeather mini-app. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DENS, UMOM, WMOM, RHOT, FIELDS };
enum { HALO = 2 };

static const double PI = 3.14159265358979323846264338327;
static const double GRAV = 9.8, CP = 1004.0, CV = 717.0, RD = 287.0, P0 = 1e5;
static const double C0 = 27.5629410929725921310572974482, GAMMA = 1.40027894002789400278940027894;
static const double XLEN = 2e4, ZLEN = 1e4;
static const double HV_BETA = 0.05, CFL = 1.5, MAX_SPEED = 450.0;

enum { COLLISION = 1, THERMAL = 2, GRAVITY_WAVES = 3, DENSITY_CURRENT = 5, INJECTION = 6 };

struct model {
    int nx, nz, data_spec;
    double dx, dz;
    size_t row, field;     /* strides of a state, halos included */
    double *state, *stage; /* deviations from the background */
    double *flux, *tend;
    double *dens_cell, *dens_theta_cell;              /* nz + 2*HALO, cell centres */
    double *dens_int, *dens_theta_int, *pressure_int; /* nz + 1, interfaces */
};

static size_t at(const struct model *m, int field, int k, int i)
{
    return (size_t)field * m->field + (size_t)(k + HALO) * m->row + (size_t)(i + HALO);
}

/* --- initial state
 * --------------------------------------------------------------------------------- */

/* Hydrostatic background at height z: density and potential temperature. */
static void background(int data_spec, double z, double *density, double *theta)
{
    double exner;
    if (data_spec == GRAVITY_WAVES) { /* constant Brunt-Vaisala frequency */
        const double frequency = 0.02, theta0 = 300.0;
        *theta = theta0 * exp(frequency * frequency / GRAV * z);
        exner = 1.0 -
                GRAV * GRAV / (CP * frequency * frequency) * (*theta - theta0) / (*theta * theta0);
    } else { /* constant potential temperature */
        *theta = 300.0;
        exner = 1.0 - GRAV * z / (CP * *theta);
    }
    const double pressure = P0 * pow(exner, CP / RD);
    *density = pow(pressure / C0, 1.0 / GAMMA) / *theta;
}

/* Half a period of a squared cosine, an ellipse wide. */
static double bubble(double x, double z, double amplitude, double x0, double z0, double xrad,
                     double zrad)
{
    const double a = (x - x0) / xrad, b = (z - z0) / zrad;
    const double distance = sqrt(a * a + b * b) * PI / 2.0;
    return distance <= PI / 2.0 ? amplitude * cos(distance) * cos(distance) : 0.0;
}

static double theta_deviation(int data_spec, double x, double z)
{
    switch (data_spec) {
    case COLLISION:
        return bubble(x, z, 20.0, XLEN / 2, 2000.0, 2000.0, 2000.0) +
               bubble(x, z, -20.0, XLEN / 2, 8000.0, 2000.0, 2000.0);
    case DENSITY_CURRENT:
        return bubble(x, z, -20.0, XLEN / 2, 5000.0, 4000.0, 2000.0);
    case GRAVITY_WAVES:
    case INJECTION:
        return 0.0;
    default:
        return bubble(x, z, 3.0, XLEN / 2, 2000.0, 2000.0, 2000.0);
    }
}

static void initialise(struct model *m)
{
    static const double points[3] = {0.112701665379258311482073460022, 0.5,
                                     0.887298334620741688517926539980};
    static const double weights[3] = {5.0 / 18.0, 4.0 / 9.0, 5.0 / 18.0};
    double density, theta;
    for (int k = -HALO; k < m->nz + HALO; k++)
        for (int i = -HALO; i < m->nx + HALO; i++)
            for (int kk = 0; kk < 3; kk++)
                for (int ii = 0; ii < 3; ii++) {
                    const double x = (i + 0.5) * m->dx + (points[ii] - 0.5) * m->dx;
                    const double z = (k + 0.5) * m->dz + (points[kk] - 0.5) * m->dz;
                    const double weight = weights[ii] * weights[kk];
                    background(m->data_spec, z, &density, &theta);
                    if (m->data_spec == GRAVITY_WAVES)
                        m->state[at(m, UMOM, k, i)] += density * 15.0 * weight;
                    m->state[at(m, RHOT, k, i)] +=
                        density * theta_deviation(m->data_spec, x, z) * weight;
                }
    for (int k = -HALO; k < m->nz + HALO; k++) {
        background(m->data_spec, (k + 0.5) * m->dz, &density, &theta);
        m->dens_cell[k + HALO] = density;
        m->dens_theta_cell[k + HALO] = density * theta;
    }
    for (int k = 0; k <= m->nz; k++) {
        background(m->data_spec, k * m->dz, &density, &theta);
        m->dens_int[k] = density;
        m->dens_theta_int[k] = density * theta;
        m->pressure_int[k] = C0 * pow(density * theta, GAMMA);
    }
}

/* --- one stage in one direction
 * ----------------------------------------------------------------------- */

static void set_halo_x(const struct model *m, double *q)
{
    for (int f = 0; f < FIELDS; f++)
        for (int k = 0; k < m->nz; k++) {
            q[at(m, f, k, -2)] = q[at(m, f, k, m->nx - 2)];
            q[at(m, f, k, -1)] = q[at(m, f, k, m->nx - 1)];
            q[at(m, f, k, m->nx)] = q[at(m, f, k, 0)];
            q[at(m, f, k, m->nx + 1)] = q[at(m, f, k, 1)];
        }
    if (m->data_spec != INJECTION)
        return;
    for (int k = 0; k < m->nz; k++) /* a cold jet enters from the left */
        if (fabs((k + 0.5) * m->dz - 3 * ZLEN / 4) <= ZLEN / 16)
            for (int i = -2; i < 0; i++) {
                const double density = q[at(m, DENS, k, i)] + m->dens_cell[k + HALO];
                q[at(m, UMOM, k, i)] = density * 50.0;
                q[at(m, RHOT, k, i)] = density * 298.0 - m->dens_theta_cell[k + HALO];
            }
}

static void set_halo_z(const struct model *m, double *q)
{
    static const int side[4] = {-2, -1, 0, 1};
    for (int h = 0; h < 4; h++) {
        const int halo = h < 2 ? side[h] : m->nz + side[h], inner = h < 2 ? 0 : m->nz - 1;
        const double ratio = m->dens_cell[halo + HALO] / m->dens_cell[inner + HALO];
        for (int i = -HALO; i < m->nx + HALO; i++) {
            q[at(m, DENS, halo, i)] = q[at(m, DENS, inner, i)];
            q[at(m, UMOM, halo, i)] = q[at(m, UMOM, inner, i)] * ratio;
            q[at(m, WMOM, halo, i)] = 0.0;
            q[at(m, RHOT, halo, i)] = q[at(m, RHOT, inner, i)];
        }
    }
}

/* Value and third difference at an interface from the cells q[0], q[stride], .. around it. */
static void reconstruct(const double *q, size_t stride, double *value, double *difference)
{
    const double s0 = q[0], s1 = q[stride], s2 = q[2 * stride], s3 = q[3 * stride];
    *value = (-s0 + 7 * s1 + 7 * s2 - s3) / 12;
    *difference = -s0 + 3 * s1 - 3 * s2 + s3;
}

static void tendencies_x(const struct model *m, const double *q, double dt)
{
    const size_t nx = (size_t)m->nx, cells = nx * (size_t)m->nz, faces = (nx + 1) * (size_t)m->nz;
    const double viscosity = -HV_BETA * m->dx / (16 * dt);
    for (int k = 0; k < m->nz; k++)
        for (int i = 0; i <= m->nx; i++) {
            double v[FIELDS], d[FIELDS];
            for (int f = 0; f < FIELDS; f++)
                reconstruct(q + at(m, f, k, i - 2), 1, &v[f], &d[f]);
            const double r = v[DENS] + m->dens_cell[k + HALO];
            const double u = v[UMOM] / r, w = v[WMOM] / r;
            const double theta = (v[RHOT] + m->dens_theta_cell[k + HALO]) / r;
            const double p = C0 * pow(r * theta, GAMMA);
            double *flux = m->flux + (size_t)k * (nx + 1) + (size_t)i;
            flux[DENS * faces] = r * u - viscosity * d[DENS];
            flux[UMOM * faces] = r * u * u + p - viscosity * d[UMOM];
            flux[WMOM * faces] = r * u * w - viscosity * d[WMOM];
            flux[RHOT * faces] = r * u * theta - viscosity * d[RHOT];
        }
    for (size_t f = 0; f < FIELDS; f++)
        for (size_t k = 0; k < (size_t)m->nz; k++)
            for (size_t i = 0; i < nx; i++) {
                const double *flux = m->flux + f * faces + k * (nx + 1) + i;
                m->tend[f * cells + k * nx + i] = -(flux[1] - flux[0]) / m->dx;
            }
}

static void tendencies_z(const struct model *m, const double *q, double dt)
{
    const size_t nx = (size_t)m->nx, cells = nx * (size_t)m->nz, faces = nx * ((size_t)m->nz + 1);
    const double viscosity = -HV_BETA * m->dz / (16 * dt);
    for (int k = 0; k <= m->nz; k++)
        for (int i = 0; i < m->nx; i++) {
            double v[FIELDS], d[FIELDS];
            for (int f = 0; f < FIELDS; f++)
                reconstruct(q + at(m, f, k - 2, i), m->row, &v[f], &d[f]);
            const double r = v[DENS] + m->dens_int[k];
            const double u = v[UMOM] / r;
            double w = v[WMOM] / r;
            const double theta = (v[RHOT] + m->dens_theta_int[k]) / r;
            const double p = C0 * pow(r * theta, GAMMA) - m->pressure_int[k];
            if (k == 0 || k == m->nz) { /* solid wall */
                w = 0.0;
                d[DENS] = 0.0;
            }
            double *flux = m->flux + (size_t)k * nx + (size_t)i;
            flux[DENS * faces] = r * w - viscosity * d[DENS];
            flux[UMOM * faces] = r * w * u - viscosity * d[UMOM];
            flux[WMOM * faces] = r * w * w + p - viscosity * d[WMOM];
            flux[RHOT * faces] = r * w * theta - viscosity * d[RHOT];
        }
    for (int f = 0; f < FIELDS; f++)
        for (int k = 0; k < m->nz; k++)
            for (int i = 0; i < m->nx; i++) {
                const double *flux = m->flux + (size_t)f * faces + (size_t)k * nx + (size_t)i;
                double *tend = m->tend + (size_t)f * cells + (size_t)k * nx + (size_t)i;
                *tend = -(flux[nx] - flux[0]) / m->dz;
                if (f == WMOM)
                    *tend -= GRAV * q[at(m, DENS, k, i)];
            }
}

enum direction { X, Z };

/* out = state + dt * tendency of forcing, on interior cells */
static void stage(const struct model *m, enum direction direction, double *forcing, double *out,
                  double dt)
{
    if (direction == X) {
        set_halo_x(m, forcing);
        tendencies_x(m, forcing, dt);
    } else {
        set_halo_z(m, forcing);
        tendencies_z(m, forcing, dt);
    }
    const double *tend = m->tend;
    for (int f = 0; f < FIELDS; f++)
        for (int k = 0; k < m->nz; k++)
            for (int i = 0; i < m->nx; i++)
                out[at(m, f, k, i)] = m->state[at(m, f, k, i)] + dt * *tend++;
}

static void advance(const struct model *m, enum direction direction, double dt)
{
    stage(m, direction, m->state, m->stage, dt / 3);
    stage(m, direction, m->stage, m->stage, dt / 2);
    stage(m, direction, m->stage, m->state, dt);
}

/* --- diagnostics and driver
 * --------------------------------------------------------------------------- */

static void diagnose(const struct model *m, double *mass, double *energy, double square[FIELDS])
{
    *mass = *energy = 0.0;
    for (int f = 0; f < FIELDS; f++)
        square[f] = 0.0;
    for (int k = 0; k < m->nz; k++)
        for (int i = 0; i < m->nx; i++) {
            double q[FIELDS];
            for (int f = 0; f < FIELDS; f++) {
                q[f] = m->state[at(m, f, k, i)];
                square[f] += q[f] * q[f];
            }
            const double r = q[DENS] + m->dens_cell[k + HALO];
            const double u = q[UMOM] / r, w = q[WMOM] / r;
            const double theta = (q[RHOT] + m->dens_theta_cell[k + HALO]) / r;
            const double p = C0 * pow(r * theta, GAMMA);
            const double temperature = theta / pow(P0 / p, RD / CP);
            *mass += r * m->dx * m->dz;
            *energy += (r * (u * u + w * w) + r * CV * temperature) * m->dx * m->dz;
        }
}

static double *allocate(size_t count)
{
    double *p = calloc(count, sizeof *p);
    if (!p)
        abort();
    return p;
}

void solution_compute(int nx_in, int nz_in, int sim_time_in, int data_spec_in, double *output)
{
    struct model m = {.nx = nx_in, .nz = nz_in, .data_spec = data_spec_in};
    m.dx = XLEN / nx_in;
    m.dz = ZLEN / nz_in;
    m.row = (size_t)nx_in + 2 * HALO;
    m.field = m.row * ((size_t)nz_in + 2 * HALO);
    m.state = allocate(FIELDS * m.field);
    m.stage = allocate(FIELDS * m.field);
    m.flux = allocate(FIELDS * ((size_t)nx_in + 1) * ((size_t)nz_in + 1));
    m.tend = allocate(FIELDS * (size_t)nx_in * (size_t)nz_in);
    m.dens_cell = allocate((size_t)nz_in + 2 * HALO);
    m.dens_theta_cell = allocate((size_t)nz_in + 2 * HALO);
    m.dens_int = allocate((size_t)nz_in + 1);
    m.dens_theta_int = allocate((size_t)nz_in + 1);
    m.pressure_int = allocate((size_t)nz_in + 1);
    initialise(&m);

    double mass0, energy0, mass, energy, square[FIELDS];
    diagnose(&m, &mass0, &energy0, square);
    double dt = (m.dx < m.dz ? m.dx : m.dz) / MAX_SPEED * CFL;
    double time = 0.0;
    enum direction first = X;
    while (time < sim_time_in) {
        if (time + dt > sim_time_in)
            dt = sim_time_in - time;
        advance(&m, first, dt);
        first = first == X
                    ? Z
                    : X; /* the next step starts with the direction that this one ends with */
        advance(&m, first, dt);
        time += dt;
    }
    diagnose(&m, &mass, &energy, square);
    output[0] = (mass - mass0) / mass0;
    output[1] = (energy - energy0) / energy0;
    for (int f = 0; f < FIELDS; f++)
        output[2 + f] = sqrt(square[f]);

    free(m.state);
    free(m.stage);
    free(m.flux);
    free(m.tend);
    free(m.dens_cell);
    free(m.dens_theta_cell);
    free(m.dens_int);
    free(m.dens_theta_int);
    free(m.pressure_int);
}
