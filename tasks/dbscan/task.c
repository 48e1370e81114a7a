#include "task/task.h"
#include "task/published.h"

#include "base/fmath.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { P_POINTS, P_EPS, P_MIN_PTS, P_CENTRES, P_DEVIATION };

enum { N, XS, YS, EPS, MINPTS, LABELS, ARG_COUNT };

enum { F_BLOBS, F_OVERLAP, F_SPIRALS, F_UNEVEN, F_OUTSIDE, F_TINY };

#define VALUE_MAX 1e5
#define CELLS_MAX 1e8 /* coordinates in units of eps: cell numbers fit 32 bits */
#define EPS_UNIT  1e-4

static const struct ae_arg args[ARG_COUNT] = {
    [N] = {"N", AE_I32, AE_SCALAR, .meaning = "number of points"},
    [XS] = {"xs", AE_F32, AE_IN, "N", .meaning = "x of each point"},
    [YS] = {"ys", AE_F32, AE_IN, "N", .meaning = "y of each point"},
    [EPS] = {"eps", AE_F32, AE_SCALAR, .meaning = "radius of a neighbourhood, inclusive"},
    [MINPTS] = {"minPts", AE_I32, AE_SCALAR,
                .meaning = "neighbours that make a point a core point, itself not counted"},
    [LABELS] =
        {"labels", AE_I32, AE_OUT, "N", .meaning = "cluster of each point from 1, or -2 for noise",
         .rule =
             {AE_EXACT,
              .reason =
                  "the numbering is part of the contract; pairs whose distance lies within 1e-6 "
                  "relative of eps are drawn anew, so that any arithmetic of float precision "
                  "agrees"}},
};

struct cloud {
    const struct ae_instance *inst;
    struct ae_rng *rng;
    int64_t count, groups; /* groups: centres or arms */
    double eps, deviation, noise, growth;
    double *centre_x, *centre_y;
    float *x, *y;
    int32_t *group; /* of each point: a centre or arm, or -1 for noise */
    double *along;  /* angle on the spiral arm */
};

/* --- drawing ---------------------------------------------------------------------------------- */

static void draw_point(struct cloud *c, int64_t i)
{
    struct ae_rng *rng = c->rng;
    const int32_t group = c->group[i];
    double x, y;
    if (group < 0) {
        x = ae_rng_unit(rng);
        y = ae_rng_unit(rng);
        if (c->inst->family == F_OUTSIDE) {
            x = 60 * x - 30;
            y = 60 * y - 30;
        }
    } else if (c->inst->family == F_SPIRALS) {
        const double radius = 0.02 + c->growth * c->along[i];
        const double angle =
            c->along[i] + 2.0943951023931953 * group; /* arms a third of a turn apart */
        x = 0.5 + radius * ae_cos(angle) + 5e-4 * ae_rng_normal(rng);
        y = 0.5 + radius * ae_sin(angle) + 5e-4 * ae_rng_normal(rng);
    } else {
        /* Uneven: the first centre is five times as narrow as the others, and holds most points. */
        const double deviation =
            c->inst->family == F_UNEVEN && group == 0 ? 0.2 * c->deviation : c->deviation;
        x = c->centre_x[group] + deviation * ae_rng_normal(rng);
        y = c->centre_y[group] + deviation * ae_rng_normal(rng);
    }
    c->x[i] = (float)x;
    c->y[i] = (float)y;
}

/* Centres and which of them each point belongs to; points in random order. */
static void draw_groups(struct cloud *c, int32_t *order)
{
    const bool outside = c->inst->family == F_OUTSIDE;
    for (int64_t k = 0; k < c->groups; k++)
        c->centre_x[k] =
            outside ? ae_rng_uniform(c->rng, -30, 30) : ae_rng_uniform(c->rng, 0.05, 0.95);
    for (int64_t k = 0; k < c->groups; k++)
        c->centre_y[k] =
            outside ? ae_rng_uniform(c->rng, -30, 30) : ae_rng_uniform(c->rng, 0.05, 0.95);
    const int64_t noise = (int64_t)(c->noise * (double)c->count), clustered = c->count - noise;
    ae_rng_permutation(c->rng, order, (size_t)c->count);
    for (int64_t k = 0; k < c->count; k++) {
        const int64_t i = order[k];
        c->group[i] = k >= clustered ? -1 : (int32_t)(k * c->groups / clustered);
        if (c->inst->family == F_UNEVEN && k < clustered * 2 / 3)
            c->group[i] = 0;
    }
}

/* Three arms of Archimedean spirals: chains of core points, a hop of eps at a time. Returns the
 * number of points, which are stored where there is room. */
static int64_t draw_arms(struct cloud *c, bool store)
{
    int64_t count = 0;
    for (int32_t arm = 0; arm < 3; arm++)
        for (double t = 0; 0.02 + c->growth * t < 0.55;) {
            if (store) {
                c->group[count] = arm;
                c->along[count] = t;
            }
            count++;
            t += 0.18 * c->eps /
                 ae_sqrt(c->growth * c->growth + (0.02 + c->growth * t) * (0.02 + c->growth * t));
        }
    return count;
}

/* --- near pairs ------------------------------------------------------------------------------- */

/* Points by cells of edge eps over their bounding box; at most 4 n cells, else the cells grow. */
struct grid {
    double x0, y0, cell;
    int64_t columns, rows;
    int32_t *start, *members;
    size_t room;
};

static int64_t column_of(const struct grid *g, float x)
{
    return (int64_t)(((double)x - g->x0) / g->cell);
}

static int64_t row_of(const struct grid *g, float y)
{
    return (int64_t)(((double)y - g->y0) / g->cell);
}

static bool build_grid(struct grid *g, const struct cloud *c, double eps)
{
    double x1 = -INFINITY, y1 = -INFINITY;
    g->x0 = g->y0 = INFINITY;
    for (int64_t i = 0; i < c->count; i++) {
        const double x = (double)c->x[i], y = (double)c->y[i];
        g->x0 = x < g->x0 ? x : g->x0;
        g->y0 = y < g->y0 ? y : g->y0;
        x1 = x > x1 ? x : x1;
        y1 = y > y1 ? y : y1;
    }
    g->cell = 1.001 * eps;
    for (;; g->cell *= 2) {
        const double columns = floor((x1 - g->x0) / g->cell) + 1,
                     rows = floor((y1 - g->y0) / g->cell) + 1;
        if (columns * rows <= 4.0 * (double)c->count + 1e6) {
            g->columns = (int64_t)columns;
            g->rows = (int64_t)rows;
            break;
        }
    }
    const size_t cells = (size_t)(g->columns * g->rows);
    if (cells + 1 > g->room) {
        free(g->start);
        g->room = cells + 1;
        g->start = malloc(g->room * sizeof *g->start);
    }
    if (!g->members)
        g->members = malloc((size_t)c->count * sizeof *g->members);
    if (!g->start || !g->members)
        return false;
    memset(g->start, 0, (cells + 1) * sizeof *g->start);
    for (int64_t i = 0; i < c->count; i++)
        g->start[row_of(g, c->y[i]) * g->columns + column_of(g, c->x[i])]++;
    for (size_t k = 1; k <= cells; k++)
        g->start[k] += g->start[k - 1];
    for (int64_t i = c->count - 1; i >= 0; i--)
        g->members[--g->start[row_of(g, c->y[i]) * g->columns + column_of(g, c->x[i])]] =
            (int32_t)i;
    return true;
}

/* Neighbours of point i within eps, itself not counted; *ret_close: is one at a distance that
 * rounding could take for either side of eps? Points marked settled and later than i are passed
 * over when asking that. */
static int64_t look_around(const struct grid *g, const struct cloud *c, int64_t i, double eps,
                           const unsigned char *fresh, bool *ret_close)
{
    const double square = eps * eps, margin = 2.1e-6 * square;
    const int64_t column = column_of(g, c->x[i]), row = row_of(g, c->y[i]);
    const int64_t first = column > 0 ? column - 1 : 0,
                  last = column + 1 < g->columns ? column + 1 : column;
    int64_t neighbours = 0;
    for (int64_t r = row > 0 ? row - 1 : 0; r <= row + 1 && r < g->rows; r++)
        for (int64_t k = g->start[r * g->columns + first]; k < g->start[r * g->columns + last + 1];
             k++) {
            const int32_t j = g->members[k];
            const double dx = (double)c->x[i] - (double)c->x[j],
                         dy = (double)c->y[i] - (double)c->y[j];
            const double d = dx * dx + dy * dy;
            neighbours += (d <= square) & (j != i);
            if (fabs(d - square) < margin && (!fresh[j] || j < i))
                *ret_close = true;
        }
    return neighbours;
}

/* Draws points anew until no pair is close to eps. */
static int settle(struct cloud *c, struct grid *g, unsigned char *fresh, struct ae_error *err)
{
    memset(fresh, 1, (size_t)c->count);
    for (int round = 0; round < 100; round++) {
        bool any = false;
        if (!build_grid(g, c, c->eps))
            return ae_error_set(err, AE_E_NOMEM, "no memory for a grid");
        for (int64_t i = 0; i < c->count; i++) {
            bool close = false;
            if (!fresh[i])
                continue;
            look_around(g, c, i, c->eps, fresh, &close);
            fresh[i] = close ? 2 : 1;
            any |= close;
        }
        for (int64_t i = 0; i < c->count; i++) {
            fresh[i] = fresh[i] == 2;
            if (fresh[i])
                draw_point(c, i);
        }
        if (!any)
            return AE_OK;
    }
    return ae_error_set(err, AE_E_INTERNAL,
                        "pairs that rounding decides are left after 100 rounds");
}

/* The multiple of 1e-4 at which points have about `degree` neighbours on average. */
static double eps_for_degree(struct cloud *c, struct grid *g, const unsigned char *fresh,
                             int64_t degree)
{
    int64_t lo = 1, hi = 300;
    while (hi - lo > 1) {
        const int64_t middle = (lo + hi) / 2;
        const double eps = (double)((float)middle / 10000.0f);
        int64_t neighbours = 0;
        bool close = false; /* not asked for here */
        if (!build_grid(g, c, eps))
            return 0;
        for (int64_t i = 0; i < c->count && neighbours <= degree * c->count; i++)
            neighbours += look_around(g, c, i, eps, fresh, &close);
        if (neighbours <= degree * c->count)
            lo = middle;
        else
            hi = middle;
    }
    return (double)((float)lo / 10000.0f);
}

/* --- the instance ----------------------------------------------------------------------------- */

static void choose(struct cloud *c, const struct ae_instance *inst, int64_t *min_pts)
{
    struct ae_rng *rng = c->rng;
    int64_t eps_x10000 = inst->param[P_EPS];
    *min_pts = inst->param[P_MIN_PTS];
    c->count = inst->param[P_POINTS] +
               ae_rng_range(rng, -inst->param[P_POINTS] / 64, inst->param[P_POINTS] / 64);
    c->groups = inst->param[P_CENTRES] + ae_rng_range(rng, -1, 1);
    c->deviation = EPS_UNIT * (double)inst->param[P_DEVIATION];
    c->noise = 0.05;
    eps_x10000 += ae_rng_range(rng, -eps_x10000 / 25, eps_x10000 / 25);
    switch (inst->family) {
    case F_OVERLAP:
        *min_pts = 6;
        c->deviation = 0.05;
        c->noise = 0.1;
        break;
    case F_SPIRALS:
        *min_pts = 4;
        eps_x10000 = inst->size == AE_SMALL ? 120 : 80;
        c->growth = inst->size == AE_SMALL ? 0.015 : 0.01;
        break;
    case F_UNEVEN:
        c->count = ae_rng_range(rng, 7000, 8000);
        *min_pts = ae_rng_range(rng, 5, 9);
        break;
    case F_OUTSIDE:
        c->count = ae_rng_range(rng, 7000, 8000);
        *min_pts = ae_rng_range(rng, 3, 6);
        c->deviation = 0.3;
        eps_x10000 = ae_rng_range(rng, 400, 800);
        break;
    case F_TINY:
        c->count = ae_rng_range(rng, 1, 12);
        c->groups = 1;
        *min_pts = ae_rng_range(rng, 1, 4);
        break;
    default:
        break;
    }
    c->eps = (double)((float)eps_x10000 / 10000.0f);
    if (inst->family == F_SPIRALS)
        c->count = draw_arms(c, false) + inst->param[P_POINTS] / 50;
}

static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    struct cloud c = {.inst = inst, .rng = rng};
    struct grid g = {0};
    int64_t min_pts;
    choose(&c, inst, &min_pts);
    const size_t count = (size_t)c.count, groups = (size_t)c.groups;
    ae_set_i32(inst, N, c.count);
    ae_set_i32(inst, MINPTS, min_pts);
    c.x = ae_new_array(inst, XS, count, err);
    c.y = ae_new_array(inst, YS, count, err);
    c.centre_x = malloc(groups * sizeof *c.centre_x);
    c.centre_y = malloc(groups * sizeof *c.centre_y);
    c.group = malloc(count * sizeof *c.group);
    c.along = malloc(count * sizeof *c.along);
    int32_t *order = malloc(count * sizeof *order);
    unsigned char *fresh = calloc(count, 1);
    int rc = AE_OK;
    if (!c.x || !c.y) {
        rc = AE_E_NOMEM;
    } else if (!c.centre_x || !c.centre_y || !c.group || !c.along || !order || !fresh) {
        rc = ae_error_set(err, AE_E_NOMEM, "no memory for %zu points", count);
    } else if (inst->family == F_SPIRALS) {
        for (size_t i = 0; i < count; i++)
            c.group[i] = -1;
        draw_arms(&c, true);
        for (size_t i = count; i > 1; i--) { /* both arrays in the same random order */
            const size_t j = ae_rng_below(rng, (uint32_t)i);
            const int32_t group = c.group[i - 1];
            const double along = c.along[i - 1];
            c.group[i - 1] = c.group[j];
            c.along[i - 1] = c.along[j];
            c.group[j] = group;
            c.along[j] = along;
        }
    } else {
        draw_groups(&c, order);
    }
    for (int64_t i = 0; rc == AE_OK && i < c.count; i++)
        draw_point(&c, i);
    if (rc == AE_OK && inst->family == F_OVERLAP) {
        c.eps = eps_for_degree(&c, &g, fresh, min_pts);
        if (c.eps == 0)
            rc = ae_error_set(err, AE_E_NOMEM, "no memory for a grid");
    }
    if (rc == AE_OK)
        rc = settle(&c, &g, fresh, err);
    /* Coincident points: some take the place of others, and no new distance arises. */
    for (int64_t i = 0; rc == AE_OK && inst->family >= F_OUTSIDE && i < c.count / 10; i++) {
        const uint32_t from = ae_rng_below(rng, (uint32_t)c.count),
                       to = ae_rng_below(rng, (uint32_t)c.count);
        c.x[to] = c.x[from];
        c.y[to] = c.y[from];
    }
    ae_set_f32(inst, EPS, c.eps);
    free(c.centre_x);
    free(c.centre_y);
    free(c.group);
    free(c.along);
    free(order);
    free(fresh);
    free(g.start);
    free(g.members);
    return rc;
}

static void outputs(struct ae_instance *inst)
{
    ae_set_output(inst, LABELS, (size_t)inst->scalar[N].i32);
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    const int32_t n = inst->scalar[N].i32;
    const double eps = (double)inst->scalar[EPS].f32;
    if (n < 1)
        return ae_error_set(err, AE_E_INPUT, "N is %d; at least one point is needed", n);
    if (!(eps >= 1e-6 && eps <= VALUE_MAX)) /* NaN too */
        return ae_error_set(err, AE_E_INPUT, "eps is %g", eps);
    if (inst->scalar[MINPTS].i32 < 1)
        return ae_error_set(err, AE_E_INPUT, "minPts is %d; it must be positive",
                            inst->scalar[MINPTS].i32);
    for (int a = XS; a <= YS; a++) {
        if (inst->array[a].count != (size_t)n)
            return ae_error_set(err, AE_E_INPUT, "%s has %zu elements for %d points", args[a].name,
                                inst->array[a].count, n);
        for (int32_t i = 0; i < n; i++) {
            const double value = (double)ae_in_f32(inst, a)[i];
            if (!(fabs(value) <= VALUE_MAX && fabs(value) <= CELLS_MAX * eps)) /* NaN too */
                return ae_error_set(err, AE_E_INPUT, "%s[%d] is %g, with eps %g", args[a].name, i,
                                    value, eps);
        }
    }
    return AE_OK;
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    /* By cells of mutual neighbours few distances need to be looked at: some dozens a point. */
    w->operations = 5 * 60.0 * inst->scalar[N].i32;
    w->steps = 6; /* sort, core points, links, components, numbers, borders */
}

/* The radius comes in units of 1e-4. */
static int import(const struct ae_published *published, struct ae_instance *inst,
                  struct ae_error *err)
{
    int64_t n, eps, min_pts;
    int rc = ae_published_param(published, "N", &n, err);
    if (rc == AE_OK)
        rc = ae_published_param(published, "eps_x10000", &eps, err);
    if (rc == AE_OK)
        rc = ae_published_param(published, "minPts", &min_pts, err);
    if (rc != AE_OK)
        return rc;
    if (n < 1 || n > INT32_MAX || min_pts < INT32_MIN || min_pts > INT32_MAX || eps < 1 ||
        eps > INT32_MAX)
        return ae_error_set(err, AE_E_INPUT, "input.bin: N is %lld, eps_x10000 %lld, minPts %lld",
                            (long long)n, (long long)eps, (long long)min_pts);
    ae_set_i32(inst, N, n);
    ae_set_i32(inst, MINPTS, min_pts);
    ae_set_f32(inst, EPS, (double)((float)eps / 10000.0f));
    rc = ae_published_copy(published, "xs", inst, XS, n, err);
    return rc == AE_OK ? ae_published_copy(published, "ys", inst, YS, n, err) : rc;
}

const struct ae_task ae_task_dbscan = {
    .id = "dbscan",
    .title = "Density clustering of points in the plane",
    .domain = AE_SPATIAL,
    .lineage = "Ester et al. 1996; CUDA-DClust+ (Poudel & Gowanlock, HiPC 2021)",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"N", "eps_x10000", "minPts", "centres", "deviation_x10000"},
    .sizes = {[AE_SMALL] = {{10000, 300, 4, 15, 200}},
              [AE_MEDIUM] = {{40000, 120, 8, 30, 80}},
              [AE_LARGE] = {{200000, 80, 8, 40, 60}}},
    .families =
        {{"blobs", "compact clusters and noise, as published", AE_ALL_SIZES},
         {"overlap",
          "wide clusters with as many neighbours as make a core point: many contested borders",
          AE_AT(AE_SMALL)},
         {"spirals", "three long arms: chains of a thousand hops",
          AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
         {"uneven", "most points in one narrow cluster: thousands in a cell", AE_AT(AE_SMALL)},
         {"outside", "coordinates from -30 to 30, coincident points", AE_AT(AE_SMALL)},
         {"tiny", "one to twelve points", AE_AT(AE_SMALL)}},
    .published_atol = 0.01,
    .published_rtol = 0.01,
    .published_note = "published answers are compared within 1 %, so that neighbouring cluster "
                      "numbers may pass for "
                      "each other; no more than one published border is contested",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .work = work,
    .import = import,
};
