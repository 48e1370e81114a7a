/* Alternating-direction implicit iteration on a cube with five components. In each iteration the
 * residual passes through four pointwise 5x5 transforms and, between them, a line solve along each
 * axis. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double TRANSFORM[4][5][5] = {
    {{0.98, 0.02, 0.00, 0.00, 0.00},
     {-0.04, 1.01, 0.03, 0.00, 0.00},
     {0.02, -0.03, 1.00, 0.02, 0.00},
     {0.00, 0.01, 0.04, 0.99, 0.02},
     {0.00, 0.00, -0.02, 0.03, 1.00}},
    {{1.00, 0.00, 0.00, 0.01, -0.01},
     {0.02, 0.99, 0.00, 0.00, 0.00},
     {0.00, -0.01, 1.01, 0.00, 0.01},
     {0.00, 0.00, 0.03, 0.98, 0.00},
     {-0.01, 0.00, 0.00, 0.02, 1.00}},
    {{1.000, 0.000, 0.000, 0.000, 0.015},
     {0.000, 1.000, 0.000, 0.010, 0.000},
     {0.012, 0.000, 1.000, 0.000, 0.012},
     {0.000, 0.000, 0.020, 0.985, 0.000},
     {0.000, 0.015, 0.000, 0.000, 0.990}},
    {{0.995, 0.000, 0.010, 0.000, 0.000},
     {0.000, 1.000, 0.000, 0.000, -0.012},
     {0.000, 0.010, 0.990, 0.010, 0.000},
     {-0.010, 0.000, 0.000, 1.005, 0.000},
     {0.000, 0.000, 0.008, 0.000, 0.995}},
};

/* Off-diagonal coefficients of component m along an axis: one and two points away. */
static double near_coefficient(int axis, int m)
{
    static const double base[3] = {0.065, 0.075, 0.085};
    return base[axis] * (1.0 + 0.03 * m);
}

static double far_coefficient(int axis, int m)
{
    static const double base[3] = {0.010, 0.012, 0.015};
    return base[axis] * (1.0 + 0.04 * m);
}

/* Elimination factors of one line: they depend on the axis, the component and the position, not on
 * the data. */
struct row {
    double sub2, sub1, pivot, alpha, beta;
};

/* rows: n for each component. The first two and the last two rows of a line are identity rows. */
static void eliminate(int n, int axis, struct row *rows)
{
    for (int m = 0; m < 5; m++) {
        const double a1 = near_coefficient(axis, m), a2 = far_coefficient(axis, m);
        const double diagonal = 1.0 + 2.0 * a1 + 2.0 * a2 + 0.01 * axis + 0.005 * m;
        struct row *row = rows + (size_t)m * (size_t)n;
        for (int t = 0; t < n; t++) {
            if (t < 2 || t > n - 3) {
                row[t] = (struct row){.pivot = 1.0};
                continue;
            }
            row[t].sub2 = -a2;
            row[t].sub1 = -a1;
            row[t].pivot = diagonal + a2 * row[t - 2].beta + a1 * row[t - 1].alpha;
            row[t].alpha = (-a1 + a1 * row[t - 1].beta) / row[t].pivot;
            row[t].beta = -a2 / row[t].pivot;
        }
    }
}

/* Solves one line of one component in place. */
static void solve_line(int n, const struct row *row, double *r, size_t stride)
{
    for (int t = 2; t < n - 2; t++) {
        double *at = r + (size_t)t * stride;
        *at =
            (*at - row[t].sub2 * *(at - 2 * stride) - row[t].sub1 * *(at - stride)) / row[t].pivot;
    }
    for (int t = n - 3; t >= 2; t--) {
        double *at = r + (size_t)t * stride;
        *at -= row[t].alpha * at[stride] + row[t].beta * at[2 * stride];
    }
}

static void solve_axis(int n, int axis, const struct row *rows, double *r)
{
    const size_t stride[3] = {5, 5 * (size_t)n, 5 * (size_t)n * (size_t)n};
    const size_t first = stride[axis == 0 ? 1 : 0], second = stride[axis == 2 ? 1 : 2];
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            for (int m = 0; m < 5; m++)
                solve_line(n, rows + (size_t)m * (size_t)n,
                           r + (size_t)a * second + (size_t)b * first + (size_t)m, stride[axis]);
}

static void transform(size_t points, const double t[5][5], double *r)
{
    for (size_t p = 0; p < points; p++, r += 5) {
        double in[5];
        memcpy(in, r, sizeof in);
        for (int i = 0; i < 5; i++) {
            r[i] = 0.0;
            for (int j = 0; j < 5; j++)
                r[i] += t[i][j] * in[j];
        }
    }
}

/* r = f - L u; points outside the cube count as 0. */
static void residual(int n, const double *u, const double *f, double *r)
{
    static const double outside[5] = {0.0};
    const size_t stride[3] = {5, 5 * (size_t)n, 5 * (size_t)n * (size_t)n};
    double near[3][5], far[3][5];
    for (int axis = 0; axis < 3; axis++)
        for (int m = 0; m < 5; m++) {
            near[axis][m] = near_coefficient(axis, m);
            far[axis][m] = far_coefficient(axis, m);
        }
    size_t at = 0;
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++, at += 5) {
                const int position[3] = {i, j, k};
                double sum[5];
                memcpy(sum, u + at, sizeof sum);
                for (int axis = 0; axis < 3; axis++) {
                    const int t = position[axis];
                    const double *here = u + at;
                    const double *l1 = t > 0 ? here - stride[axis] : outside;
                    const double *r1 = t < n - 1 ? here + stride[axis] : outside;
                    const double *l2 = t > 1 ? here - 2 * stride[axis] : outside;
                    const double *r2 = t < n - 2 ? here + 2 * stride[axis] : outside;
                    for (int m = 0; m < 5; m++)
                        sum[m] += 2.0 * (near[axis][m] + far[axis][m]) * here[m] -
                                  near[axis][m] * (l1[m] + r1[m]) - far[axis][m] * (l2[m] + r2[m]);
                }
                for (int m = 0; m < 5; m++)
                    r[at + (size_t)m] = f[at + (size_t)m] - sum[m];
            }
}

void solution_compute(int n, int iters, int omega_milli, const double *u0, const double *rhs,
                      double *residual_out)
{
    const size_t points = (size_t)n * (size_t)n * (size_t)n;
    double *u = malloc(5 * points * sizeof *u), *r = malloc(5 * points * sizeof *r);
    struct row *rows = malloc(15 * (size_t)n * sizeof *rows);
    if (!u || !r || !rows)
        abort();
    memcpy(u, u0, 5 * points * sizeof *u);
    for (int axis = 0; axis < 3; axis++)
        eliminate(n, axis, rows + 5 * (size_t)axis * (size_t)n);
    const double omega = omega_milli / 1000.0;

    for (int iter = 0; iter < iters; iter++) {
        residual(n, u, rhs, r);
        transform(points, TRANSFORM[0], r);
        for (int axis = 0; axis < 3; axis++) {
            solve_axis(n, axis, rows + 5 * (size_t)axis * (size_t)n, r);
            transform(points, TRANSFORM[axis + 1], r);
        }
        for (size_t p = 0; p < 5 * points; p++)
            u[p] += omega * r[p];
    }

    residual(n, u, rhs, r);
    double squares[5] = {0.0};
    for (size_t p = 0; p < points; p++)
        for (int m = 0; m < 5; m++)
            squares[m] += r[5 * p + (size_t)m] * r[5 * p + (size_t)m];
    for (int m = 0; m < 5; m++)
        residual_out[m] = sqrt(squares[m] / (double)points);
    free(u);
    free(r);
    free(rows);
}
