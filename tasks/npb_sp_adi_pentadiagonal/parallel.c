/* One array a component, so that neighbouring lines share vector registers: the solves along j and
 * k run over all i at once, the solve along i over all j of a plane that is stored transposed
 * meanwhile. All work on a k-plane up to the solve along j happens while the plane is in cache, all
 * the rest on j-planes: two barriers an iteration. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

/* A margin of zeros two points wide surrounds u. */
#define MARGIN 2

struct row {
    double sub2, sub1, inverse, alpha, beta;
};

struct problem {
    int n;
    size_t line, plane, cube; /* of u, margin included */
    double near[3][5], far[3][5], centre[5], omega;
    struct row *rows[3]; /* [axis][m*n + t] */
    double *u, *f, *r;   /* f and r: ((m*n + k)*n + j)*n + i */
};

static void eliminate(int n, int axis, int m, double a1, double a2, struct row *row)
{
    const double diagonal = 1 + 2 * a1 + 2 * a2 + 0.01 * axis + 0.005 * m;
    for (int t = 0; t < n; t++) {
        row[t] = (struct row){0, 0, 1, 0, 0};
        if (t < 2 || t > n - 3)
            continue;
        const double inverse = 1 / (diagonal + a2 * row[t - 2].beta + a1 * row[t - 1].alpha);
        row[t] = (struct row){-a2 * inverse, -a1 * inverse, inverse,
                              (a1 * row[t - 1].beta - a1) * inverse, -a2 * inverse};
    }
}

/* Lines lie across: element t of line l is r[t*stride + l]. */
static void solve_lines(int n, int lines, const struct row *row, double *r, size_t stride)
{
    for (int t = 2; t < n - 2; t++) {
        double *at = r + (size_t)t * stride;
        const double *one = at - stride, *two = one - stride;
        const struct row c = row[t];
#pragma omp simd
        for (int l = 0; l < lines; l++)
            at[l] = at[l] * c.inverse - c.sub2 * two[l] - c.sub1 * one[l];
    }
    for (int t = n - 3; t >= 2; t--) {
        double *at = r + (size_t)t * stride;
        const double *one = at + stride, *two = one + stride;
        const struct row c = row[t];
#pragma omp simd
        for (int l = 0; l < lines; l++)
            at[l] = at[l] - c.alpha * one[l] - c.beta * two[l];
    }
}

/* Transforms `count` points whose components lie `step` elements apart; the result goes to `to` in
 * the same way. */
#define TRANSFORM(name, o0, o1, o2, o3, o4)                                                        \
    static void name(int count, const double *r, size_t step, double *to, size_t to_step)          \
    {                                                                                              \
        const double *r0 = r, *r1 = r0 + step, *r2 = r1 + step, *r3 = r2 + step, *r4 = r3 + step;  \
        double *t0 = to, *t1 = t0 + to_step, *t2 = t1 + to_step, *t3 = t2 + to_step,               \
               *t4 = t3 + to_step;                                                                 \
        _Pragma("omp simd") for (int i = 0; i < count; i++)                                        \
        {                                                                                          \
            const double a = r0[i], b = r1[i], c = r2[i], d = r3[i], e = r4[i];                    \
            (void)a, (void)b, (void)c, (void)d, (void)e;                                           \
            t0[i] = o0;                                                                            \
            t1[i] = o1;                                                                            \
            t2[i] = o2;                                                                            \
            t3[i] = o3;                                                                            \
            t4[i] = o4;                                                                            \
        }                                                                                          \
    }

TRANSFORM(transform_1, 0.98 * a + 0.02 * b, 1.01 * b - 0.04 * a + 0.03 * c,
          c + 0.02 * a - 0.03 * b + 0.02 * d, 0.99 * d + 0.01 * b + 0.04 * c + 0.02 * e,
          e - 0.02 * c + 0.03 * d)
TRANSFORM(transform_2, a + 0.01 * d - 0.01 * e, 0.99 * b + 0.02 * a, 1.01 * c - 0.01 * b + 0.01 * e,
          0.98 * d + 0.03 * c, e - 0.01 * a + 0.02 * d)
TRANSFORM(transform_3, a + 0.015 * e, b + 0.010 * d, c + 0.012 * a + 0.012 * e,
          0.985 * d + 0.020 * c, 0.990 * e + 0.015 * b)
TRANSFORM(transform_4, 0.995 * a + 0.010 * c, b - 0.012 * e, 0.990 * c + 0.010 * b + 0.010 * d,
          1.005 * d - 0.010 * a, 0.995 * e + 0.008 * c)

static const double *u_line(const struct problem *p, int m, int k, int j)
{
    return p->u + (size_t)m * p->cube + (size_t)(k + MARGIN) * p->plane +
           (size_t)(j + MARGIN) * p->line + MARGIN;
}

/* r[m*n + i] of line (k, j) */
static void residual_line(const struct problem *p, int k, int j, double *r)
{
    const int n = p->n;
    const ptrdiff_t y = (ptrdiff_t)p->line, z = (ptrdiff_t)p->plane;
    for (int m = 0; m < 5; m++) {
        const double *u = u_line(p, m, k, j);
        const double *f =
            p->f + (((size_t)m * (size_t)n + (size_t)k) * (size_t)n + (size_t)j) * (size_t)n;
        double *to = r + (size_t)m * (size_t)n;
        const double x1 = p->near[0][m], y1 = p->near[1][m], z1 = p->near[2][m], c = p->centre[m];
        const double x2 = p->far[0][m], y2 = p->far[1][m], z2 = p->far[2][m];
#pragma omp simd
        for (int i = 0; i < n; i++)
            to[i] = f[i] - c * u[i] + x1 * (u[i - 1] + u[i + 1]) + x2 * (u[i - 2] + u[i + 2]) +
                    y1 * (u[i - y] + u[i + y]) + y2 * (u[i - 2 * y] + u[i + 2 * y]) +
                    z1 * (u[i - z] + u[i + z]) + z2 * (u[i - 2 * z] + u[i + 2 * z]);
    }
}

/* Residual, T1, solve along i, T2, solve along j, T3 for plane k. scratch: 5*n*n + 5*n elements. */
static void k_plane(const struct problem *p, int k, double *scratch)
{
    const int n = p->n;
    const size_t size = (size_t)n, square = size * size, cube = square * size;
    double *line = scratch + 5 * square, *r = p->r + (size_t)k * square;
    for (int j = 0; j < n; j++) {
        residual_line(p, k, j, line);
        transform_1(n, line, size, line, size);
        for (size_t m = 0; m < 5; m++)
            for (size_t i = 0; i < size; i++)
                scratch[m * square + i * size + (size_t)j] = line[m * size + i];
    }
    for (size_t m = 0; m < 5; m++)
        solve_lines(n, n, p->rows[0] + m * size, scratch + m * square, size);
    for (size_t j = 0; j < size; j++) {
        for (size_t m = 0; m < 5; m++)
            for (size_t i = 0; i < size; i++)
                line[m * size + i] = scratch[m * square + i * size + j];
        transform_2(n, line, size, r + j * size, cube);
    }
    for (size_t m = 0; m < 5; m++)
        solve_lines(n, n, p->rows[1] + m * size, r + m * cube, size);
    transform_3(n * n, r, cube, r, cube);
}

/* Solve along k, T4 and the step for all k of row j. */
static void j_plane(const struct problem *p, int j, double *line)
{
    const int n = p->n;
    const size_t size = (size_t)n, square = size * size, cube = square * size;
    double *r = p->r + (size_t)j * size;
    for (size_t m = 0; m < 5; m++)
        solve_lines(n, n, p->rows[2] + m * size, r + m * cube, square);
    for (int k = 0; k < n; k++) {
        transform_4(n, r + (size_t)k * square, cube, line, size);
        for (int m = 0; m < 5; m++) {
            double *u = (double *)u_line(p, m, k, j);
            for (int i = 0; i < n; i++)
                u[i] += p->omega * line[(size_t)m * size + (size_t)i];
        }
    }
}

static void take_in(const struct problem *p, int k, const double *u0, const double *rhs)
{
    const size_t n = (size_t)p->n;
    for (size_t j = 0; j < n; j++)
        for (size_t m = 0; m < 5; m++) {
            double *u = (double *)u_line(p, (int)m, k, (int)j),
                   *f = p->f + ((m * n + (size_t)k) * n + j) * n;
            const size_t from = 5 * ((size_t)k * n + j) * n + m;
            for (size_t i = 0; i < n; i++) {
                u[i] = u0[from + 5 * i];
                f[i] = rhs[from + 5 * i];
            }
        }
}

void solution_compute(int n, int iters, int omega_milli, const double *u0, const double *rhs,
                      double *residual_out)
{
    static const double near[3] = {0.065, 0.075, 0.085}, far[3] = {0.010, 0.012, 0.015};
    const size_t size = (size_t)n, points = size * size * size;
    struct problem p = {.n = n, .line = size + 2 * MARGIN, .omega = omega_milli / 1000.0};
    p.plane = p.line * p.line;
    p.cube = p.plane * p.line;
    struct row *rows = malloc(15 * size * sizeof *rows);
    double *squares = calloc(5 * size, sizeof *squares);
    p.u = calloc(5 * p.cube, sizeof *p.u);
    p.f = malloc(10 * points * sizeof *p.f);
    if (!rows || !squares || !p.u || !p.f)
        abort();
    p.r = p.f + 5 * points;
    for (int m = 0; m < 5; m++) {
        p.centre[m] = 1;
        for (int axis = 0; axis < 3; axis++) {
            p.near[axis][m] = near[axis] * (1 + 0.03 * m);
            p.far[axis][m] = far[axis] * (1 + 0.04 * m);
            p.centre[m] += 2 * (p.near[axis][m] + p.far[axis][m]);
            p.rows[axis] = rows + 5 * (size_t)axis * size;
            eliminate(n, axis, m, p.near[axis][m], p.far[axis][m], p.rows[axis] + (size_t)m * size);
        }
    }
#pragma omp parallel
    {
        double *scratch = malloc((5 * size * size + 5 * size) * sizeof *scratch);
        if (!scratch)
            abort();
#pragma omp for schedule(static)
        for (int k = 0; k < n; k++)
            take_in(&p, k, u0, rhs);
        for (int iter = 0; iter < iters; iter++) {
#pragma omp for schedule(static)
            for (int k = 0; k < n; k++)
                k_plane(&p, k, scratch);
#pragma omp for schedule(static)
            for (int j = 0; j < n; j++)
                j_plane(&p, j, scratch);
        }
#pragma omp for schedule(static)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++) {
                residual_line(&p, k, j, scratch);
                for (size_t m = 0; m < 5; m++) {
                    double sum = 0;
                    for (size_t i = 0; i < size; i++)
                        sum += scratch[m * size + i] * scratch[m * size + i];
                    squares[5 * (size_t)k + m] += sum;
                }
            }
        free(scratch);
    }
    for (size_t m = 0; m < 5; m++) {
        double sum = 0;
        for (size_t k = 0; k < size; k++)
            sum += squares[5 * k + m];
        residual_out[m] = sqrt(sum / (double)points);
    }
    free(p.u);
    free(p.f);
    free(squares);
    free(rows);
}
