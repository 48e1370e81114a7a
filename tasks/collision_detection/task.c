#include "task/task.h"

#include "base/fmath.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { P_POLYGONS, P_CLUSTERS, P_SPREAD, P_RADIUS_MIN, P_RADIUS_MAX, P_WORLD };

enum {
    N,
    TOTAL_VERTS,
    WORLD_SIZE_X100,
    CELL_SIZE_X100,
    POLY_OFFSETS,
    VERTICES_X,
    VERTICES_Y,
    AABB,
    COUNTS,
    ARG_COUNT
};

enum { F_CLUSTERS, F_LATTICE, F_SPARSE, F_STACKED, F_MIXED, F_TINY };

#define VERTS_MIN   3
#define VERTS_MAX   8
#define VALUE_MAX   1e5   /* keeps products of coordinates far from overflow */
#define ENTRIES_MAX 2.5e8 /* of polygons in cells of the suggested size: memory for a grid */
#define TWO_PI      6.28318530717958647693

static const struct ae_arg args[ARG_COUNT] = {
    [N] = {"N", AE_I32, AE_SCALAR, .meaning = "number of polygons"},
    [TOTAL_VERTS] = {"total_verts", AE_I32, AE_SCALAR,
                     .meaning = "number of vertices of all polygons together"},
    [WORLD_SIZE_X100] = {"world_size_x100", AE_I32, AE_SCALAR,
                         .meaning = "edge of the square world, times 100"},
    [CELL_SIZE_X100] =
        {"cell_size_x100", AE_I32, AE_SCALAR,
         .meaning = "suggested edge of a grid cell, times 100: twice the mean diagonal of a box"},
    [POLY_OFFSETS] = {"poly_offsets", AE_I32, AE_IN, "N+1",
                      .meaning = "first vertex of each polygon; the last is total_verts"},
    [VERTICES_X] = {"vertices_x", AE_F32, AE_IN, "total_verts",
                    .meaning = "x of each vertex, counter-clockwise"},
    [VERTICES_Y] = {"vertices_y", AE_F32, AE_IN, "total_verts", .meaning = "y of each vertex"},
    [AABB] = {"aabb", AE_F32, AE_IN, "4*N",
              .meaning = "min x, min y, max x, max y of each polygon's vertices"},
    [COUNTS] =
        {"counts", AE_I32, AE_OUT, "N",
         .meaning = "number of other polygons that each polygon overlaps",
         .rule = {AE_EXACT,
                  .reason =
                      "pairs within 2e-6 relative of touching are drawn anew, so that any float "
                      "arithmetic decides alike; squares that touch have coordinates on which "
                      "every arithmetic is exact"}},
};

enum role {
    ORDINARY, /* near its cluster's centre */
    HUGE_ONE, /* spans many grid cells */
    KNOT,     /* one of hundreds at one place */
    SQUARE,   /* on the lattice, sharing edges and corners with others */
};

struct polygon {
    float x[VERTS_MAX], y[VERTS_MAX];
    double width[VERTS_MAX]; /* across each edge: the farthest vertex along its inward normal */
    float box[4];            /* as in aabb */
    int count;
    enum role role;
    int place; /* cluster, or position in a patch of squares */
};

struct scene {
    const struct ae_instance *inst;
    struct ae_rng *rng;
    double world, spread, radius_min, radius_max; /* radius_max: of ordinary ones */
    double *cluster_x, *cluster_y;
    int clusters;
    struct polygon *polygons;
    int count;
};

/* --- drawing ---------------------------------------------------------------------------------- */

static void set_box(struct polygon *p)
{
    p->box[0] = p->box[2] = p->x[0];
    p->box[1] = p->box[3] = p->y[0];
    for (int v = 1; v < p->count; v++) {
        p->box[0] = p->x[v] < p->box[0] ? p->x[v] : p->box[0];
        p->box[1] = p->y[v] < p->box[1] ? p->y[v] : p->box[1];
        p->box[2] = p->x[v] > p->box[2] ? p->x[v] : p->box[2];
        p->box[3] = p->y[v] > p->box[3] ? p->y[v] : p->box[3];
    }
}

static void set_widths(struct polygon *p)
{
    for (int v = 0; v < p->count; v++) {
        const int w = v + 1 < p->count ? v + 1 : 0;
        const double x = (double)p->x[v], y = (double)p->y[v];
        const double nx = y - (double)p->y[w], ny = (double)p->x[w] - x;
        p->width[v] = 0;
        for (int k = 0; k < p->count; k++) {
            const double across = nx * ((double)p->x[k] - x) + ny * ((double)p->y[k] - y);
            p->width[v] = across > p->width[v] ? across : p->width[v];
        }
    }
}

/* Vertices on an ellipse, at least 0.3 rad apart: convex, also after rounding. */
static void draw_convex(struct ae_rng *rng, struct polygon *p, double x, double y,
                        double radius_min, double radius_max)
{
    const double a = ae_rng_uniform(rng, radius_min, radius_max),
                 b = ae_rng_uniform(rng, radius_min, radius_max);
    const double turn = ae_rng_uniform(rng, 0, TWO_PI), start = ae_rng_uniform(rng, 0, TWO_PI);
    const double cos_turn = ae_cos(turn), sin_turn = ae_sin(turn);
    double angle[VERTS_MAX];
    p->count = (int)ae_rng_range(rng, VERTS_MIN, VERTS_MAX);
    for (int v = 0; v < p->count; v++) {
        const double drawn = ae_rng_uniform(rng, 0, TWO_PI - 0.3 * p->count);
        int w = v;
        for (; w > 0 && angle[w - 1] > drawn; w--)
            angle[w] = angle[w - 1];
        angle[w] = drawn;
    }
    for (int v = 0; v < p->count; v++) {
        const double t = start + angle[v] + 0.3 * v, u = a * ae_cos(t), w = b * ae_sin(t);
        p->x[v] = (float)(x + u * cos_turn - w * sin_turn);
        p->y[v] = (float)(y + u * sin_turn + w * cos_turn);
    }
    set_box(p);
    set_widths(p);
}

static double clip(double value, double lo, double hi)
{
    return value < lo ? lo : value > hi ? hi : value;
}

/* An axis-aligned square whose coordinates are multiples of 1/2: projections on its axes and those
 * of its like are exact in float. */
static void draw_square(struct scene *s, struct polygon *p)
{
    double x, y, edge;
    if (s->inst->family == F_LATTICE) {
        x = 0.5 * (double)ae_rng_range(s->rng, 0, 60);
        y = 0.5 * (double)ae_rng_range(s->rng, 0, 60);
        edge = 0.5 * (double)ae_rng_range(s->rng, 1, 3);
    } else { /* patches of four by four */
        const int cluster = p->place / 16 % s->clusters, cell = p->place % 16;
        edge = cluster % 2 ? 0.5 : 1;
        x = floor(clip(s->cluster_x[cluster], 0, s->world - 4)) + edge * (cell % 4);
        y = floor(clip(s->cluster_y[cluster], 0, s->world - 4)) + edge * (cell / 4);
    }
    p->count = 4;
    for (int v = 0; v < 4; v++) {
        p->x[v] = (float)(x + (v == 1 || v == 2 ? edge : 0));
        p->y[v] = (float)(y + (v >= 2 ? edge : 0));
    }
    set_box(p);
    set_widths(p);
}

static void draw_polygon(struct scene *s, struct polygon *p)
{
    struct ae_rng *rng = s->rng;
    double lo = s->radius_min, hi = s->radius_max, x = s->cluster_x[p->place % s->clusters],
           y = s->cluster_y[p->place % s->clusters], spread = s->spread;
    if (p->role == SQUARE) {
        draw_square(s, p);
        return;
    }
    if (p->role == HUGE_ONE) {
        lo = 5 * s->radius_max;
        hi = 10 * s->radius_max;
    } else if (p->role == KNOT) {
        x = s->cluster_x[0];
        y = s->cluster_y[0];
        spread = 0.8 * s->radius_max;
    }
    if (s->inst->family == F_STACKED) { /* small ones inside of large ones, edges apart */
        hi = ae_rng_log_uniform(rng, s->radius_min, 8 * s->radius_max);
        lo = 0.5 * hi;
    } else if (s->inst->family == F_MIXED) {
        hi = ae_rng_log_uniform(rng, 0.05, 0.2 * s->world);
        lo = 0.3 * hi;
    }
    if (s->inst->family == F_MIXED || s->inst->family == F_SPARSE) {
        x = ae_rng_uniform(rng, 0, s->world);
        y = ae_rng_uniform(rng, 0, s->world);
    } else {
        x += 0.5 * spread * ae_rng_normal(rng);
        y += 0.5 * spread * ae_rng_normal(rng);
    }
    draw_convex(rng, p, clip(x, hi, s->world - hi), clip(y, hi, s->world - hi), lo, hi);
}

/* --- pairs that rounding could decide --------------------------------------------------------- */

#define MARGIN 2e-6

/* No short circuit: the outcome of each comparison is too random to be predicted. */
static bool boxes_meet(const float *a, const float *b)
{
    return (a[2] >= b[0]) & (b[2] >= a[0]) & (a[3] >= b[1]) & (b[3] >= a[1]);
}

static double largest(double a, double b)
{
    return a > b ? a : b;
}

/* Is (x,y) inside of p by more than depth, going by each edge's line? */
static bool deep_inside(const struct polygon *p, double x, double y, double depth)
{
    for (int v = 0; v < p->count; v++) {
        const int w = v + 1 < p->count ? v + 1 : 0;
        const double ex = (double)p->x[w] - (double)p->x[v], ey = (double)p->y[w] - (double)p->y[v];
        const double side = ex * (y - (double)p->y[v]) - ey * (x - (double)p->x[v]);
        if (!(side > depth * (fabs(ex) + fabs(ey))))
            return false;
    }
    return true;
}

enum gap { APART, CLOSE, THROUGH };

/* On all axes of a's edges: APART where one separates by more than the margin, THROUGH where all
 * overlap by more. Positions count from the edge, so that a reaches from 0 to its width there. */
static enum gap gap_along(const struct polygon *a, const struct polygon *b, double extent_x,
                          double extent_y)
{
    enum gap found = THROUGH;
    for (int v = 0; v < a->count; v++) {
        const int w = v + 1 < a->count ? v + 1 : 0;
        const double x = (double)a->x[v], y = (double)a->y[v];
        const double nx = y - (double)a->y[w], ny = (double)a->x[w] - x;
        double low = INFINITY, high = -INFINITY;
        for (int k = 0; k < b->count; k++) {
            const double p = nx * ((double)b->x[k] - x) + ny * ((double)b->y[k] - y);
            low = p < low ? p : low;
            high = p > high ? p : high;
        }
        const double gap = largest(low - a->width[v], -high);
        const double margin = MARGIN * (fabs(nx) * extent_x + fabs(ny) * extent_y);
        if (gap >= margin)
            return APART;
        if (gap > -margin)
            found = CLOSE;
    }
    return found;
}

/* Could float rounding decide whether the two overlap? Their boxes meet. */
static bool undecided(const struct polygon *a, const struct polygon *b)
{
    const double extent_x = largest((double)a->box[2], (double)b->box[2]);
    const double extent_y = largest((double)a->box[3], (double)b->box[3]);
    /* A point deep inside of both proves an overlap on every axis, and is quicker: the overlap on
     * an axis is at least twice depth times the axis' length, and the margin at most MARGIN *
     * sqrt(2) * the larger extent times it. */
    const double depth = MARGIN * largest(extent_x, extent_y);
    const double x = 0.5 * (largest((double)a->box[0], (double)b->box[0]) -
                            largest(-(double)a->box[2], -(double)b->box[2]));
    const double y = 0.5 * (largest((double)a->box[1], (double)b->box[1]) -
                            largest(-(double)a->box[3], -(double)b->box[3]));
    if (deep_inside(a, x, y, depth) && deep_inside(b, x, y, depth))
        return false;
    if (a->role == SQUARE && b->role == SQUARE)
        return false;
    const enum gap one = gap_along(a, b, extent_x, extent_y);
    if (one == APART)
        return false;
    const enum gap other = gap_along(b, a, extent_x, extent_y);
    return other != APART && (one == CLOSE || other == CLOSE);
}

/* Ordinary polygons by the cell of their box's lower corner; those wider than `reach` apart. */
struct grid {
    double cell, reach;
    int side;
    int *start;   /* side*side + 1 */
    int *members; /* polygons, cell after cell */
    float (*box)[4];
    int *large;
    int large_count;
};

static int cell_of(const struct grid *g, double value)
{
    const int k = (int)(largest(value, 0) / g->cell);
    return k < g->side ? k : g->side - 1;
}

static bool is_large(const struct grid *g, const struct polygon *p)
{
    return (double)p->box[2] - (double)p->box[0] > g->reach ||
           (double)p->box[3] - (double)p->box[1] > g->reach;
}

static void build_grid(struct grid *g, const struct scene *s)
{
    const size_t cells = (size_t)g->side * (size_t)g->side;
    memset(g->start, 0, (cells + 1) * sizeof *g->start);
    g->large_count = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < s->count; i++) {
            const struct polygon *p = &s->polygons[i];
            if (is_large(g, p)) {
                if (pass == 0)
                    g->large[g->large_count++] = i;
                continue;
            }
            const size_t cell = (size_t)cell_of(g, (double)p->box[1]) * (size_t)g->side +
                                (size_t)cell_of(g, (double)p->box[0]);
            if (pass == 0) {
                g->start[cell]++;
            } else {
                const int at = --g->start[cell];
                g->members[at] = i;
                memcpy(g->box[at], p->box, sizeof p->box);
            }
        }
        /* Ends of cells, which the second pass turns into starts. */
        for (size_t c = 1; pass == 0 && c <= cells; c++)
            g->start[c] += g->start[c - 1];
    }
}

/* One meeting of boxes: both gain a partner; of an undecided pair the one with fewer partners is
 * marked later. */
struct search {
    struct scene *scene;
    struct grid grid;
    int *partners;
    unsigned char *fresh; /* polygons whose pairs are to be looked at */
    int (*pairs)[2];      /* undecided ones */
    size_t pair_count, pair_room;
    bool failed;
};

static void meet(struct search *q, int i, int j)
{
    struct polygon *polygons = q->scene->polygons;
    q->partners[i]++;
    q->partners[j]++;
    if (!undecided(&polygons[i], &polygons[j]))
        return;
    if (q->pair_count == q->pair_room) {
        const size_t room = q->pair_room ? 2 * q->pair_room : 1024;
        int(*grown)[2] = realloc(q->pairs, room * sizeof *grown);
        if (!grown) {
            q->failed = true;
            return;
        }
        q->pairs = grown;
        q->pair_room = room;
    }
    q->pairs[q->pair_count][0] = i;
    q->pairs[q->pair_count++][1] = j;
}

/* All pairs of i with polygons of the grid, and with large ones. Where all are fresh, i is the
 * grid's member number `own` and looks at later members only, and large ones look for themselves;
 * else own is -1, and a pair of two fresh ones is left to the large or else to the later one. */
static void look_around(struct search *q, int i, int own)
{
    const struct grid *g = &q->grid;
    const float *box = q->scene->polygons[i].box;
    const bool large = is_large(g, &q->scene->polygons[i]);
    const int x0 = cell_of(g, (double)box[0] - g->reach), x1 = cell_of(g, (double)box[2]);
    const int y0 = cell_of(g, (double)box[1] - (own < 0 ? g->reach : 0));
    const int y1 = cell_of(g, (double)box[3]);
    for (int y = y0; y <= y1; y++) {
        const int *row = g->start + (size_t)y * (size_t)g->side;
        for (int at = own >= 0 && y == y0 ? own + 1 : row[x0]; at < row[x1 + 1]; at++) {
            if (!boxes_meet(box, g->box[at]))
                continue;
            const int j = g->members[at];
            if (j != i && (own >= 0 || large || !q->fresh[j] || j < i))
                meet(q, i, j);
        }
    }
    for (int k = 0; own < 0 && k < g->large_count; k++) {
        const int j = g->large[k];
        if (j == i || (q->fresh[j] && (!large || j > i)))
            continue;
        if (boxes_meet(box, q->scene->polygons[j].box))
            meet(q, i, j);
    }
}

static void look_everywhere(struct search *q)
{
    const struct grid *g = &q->grid;
    for (int at = 0; at < g->start[(size_t)g->side * (size_t)g->side]; at++)
        look_around(q, g->members[at], at);
    for (int k = 0; k < g->large_count; k++)
        look_around(q, g->large[k], -1);
}

/* Draws polygons anew until no pair is undecided. */
static int settle(struct search *q, struct ae_error *err)
{
    struct scene *s = q->scene;
    memset(q->fresh, 1, (size_t)s->count);
    for (int round = 0; round < 200; round++) {
        build_grid(&q->grid, s);
        q->pair_count = 0;
        if (round == 0)
            look_everywhere(q);
        for (int i = 0; round > 0 && i < s->count; i++)
            if (q->fresh[i])
                look_around(q, i, -1);
        if (q->failed)
            return ae_error_set(err, AE_E_NOMEM, "no memory for undecided pairs");
        if (q->pair_count == 0)
            return AE_OK;
        memset(q->fresh, 0, (size_t)s->count);
        for (size_t k = 0; k < q->pair_count; k++) {
            const int i = q->pairs[k][0], j = q->pairs[k][1];
            if (q->fresh[i] || q->fresh[j])
                continue;
            const bool second = s->polygons[i].role == SQUARE ||
                                (s->polygons[j].role != SQUARE && q->partners[j] < q->partners[i]);
            const int again = second ? j : i;
            q->fresh[again] = 1;
            q->partners[again] = 0;
            draw_polygon(s, &s->polygons[again]);
        }
    }
    return ae_error_set(err, AE_E_INTERNAL,
                        "pairs that rounding decides are left after 200 rounds");
}

/* --- the instance ----------------------------------------------------------------------------- */

static void draw_roles(struct scene *s)
{
    int32_t huge = 0, knot = 0, squares = 0;
    switch (s->inst->family) {
    case F_CLUSTERS:
        huge = s->count / 1000 > 1 ? s->count / 1000 : 1;
        knot = 300;
        squares = s->count / 1600 * 16 > 16 ? s->count / 1600 * 16 : 16;
        break;
    case F_LATTICE:
        squares = s->count;
        break;
    case F_STACKED:
    case F_TINY:
        knot = s->count;
        break;
    default:
        break;
    }
    /* In memory polygons of a cluster lie together, which makes looking for pairs several times
     * faster. */
    const int specials = squares + huge + knot,
              ordinary = s->count > specials ? s->count - specials : 1;
    for (int i = 0; i < s->count; i++) {
        struct polygon *p = &s->polygons[i];
        if (i < squares) {
            p->role = SQUARE;
            p->place = i;
        } else if (i < squares + huge) {
            p->role = HUGE_ONE;
            p->place = i;
        } else if (i < specials) {
            p->role = KNOT;
            p->place = 0;
        } else {
            p->role = ORDINARY;
            p->place = (int)((int64_t)(i - specials) * s->clusters / ordinary);
        }
    }
}

/* Everything in random order, so that the number tells neither kind nor cluster. */
static int store(struct ae_instance *inst, const struct scene *s, int32_t *order,
                 struct ae_error *err)
{
    ae_rng_permutation(s->rng, order, (size_t)s->count);
    size_t verts = 0;
    double diagonals = 0;
    for (int i = 0; i < s->count; i++) {
        const float *box = s->polygons[i].box;
        const double width = (double)box[2] - (double)box[0],
                     height = (double)box[3] - (double)box[1];
        diagonals += ae_sqrt(width * width + height * height);
        verts += (size_t)s->polygons[i].count;
    }
    ae_set_i32(inst, N, s->count);
    ae_set_i32(inst, TOTAL_VERTS, (int64_t)verts);
    ae_set_i32(inst, WORLD_SIZE_X100, (int64_t)(100 * s->world));
    ae_set_i32(inst, CELL_SIZE_X100,
               (int64_t)largest(100, floor(200 * diagonals / s->count + 0.5)));
    int32_t *offsets = ae_new_array(inst, POLY_OFFSETS, (size_t)s->count + 1, err);
    float *x = ae_new_array(inst, VERTICES_X, verts, err),
          *y = ae_new_array(inst, VERTICES_Y, verts, err);
    float *aabb = ae_new_array(inst, AABB, 4 * (size_t)s->count, err);
    if (!offsets || !x || !y || !aabb)
        return AE_E_NOMEM;
    offsets[0] = 0;
    for (int i = 0; i < s->count; i++) {
        const struct polygon *p = &s->polygons[order[i]];
        memcpy(x + offsets[i], p->x, (size_t)p->count * sizeof *x);
        memcpy(y + offsets[i], p->y, (size_t)p->count * sizeof *y);
        memcpy(aabb + 4 * (size_t)i, p->box, sizeof p->box);
        offsets[i + 1] = offsets[i] + p->count;
    }
    return AE_OK;
}

static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    int64_t count = inst->param[P_POLYGONS] +
                    ae_rng_range(rng, -inst->param[P_POLYGONS] / 64, inst->param[P_POLYGONS] / 64);
    if (inst->family == F_TINY)
        count = ae_rng_range(rng, 1, 5);
    else if (inst->family == F_STACKED)
        count = ae_rng_range(rng, 500, 700);
    else if (inst->family == F_LATTICE || inst->family == F_MIXED)
        count = ae_rng_range(rng, 900, 1100);
    /* The number of pairs stays the same: clusters go with the square of the number of polygons. */
    const int64_t nominal = inst->param[P_POLYGONS];
    int64_t clusters =
        (inst->param[P_CLUSTERS] * count * count + nominal * nominal / 2) / (nominal * nominal);
    if (inst->family != F_CLUSTERS)
        clusters = 1;
    struct scene s = {.inst = inst, .rng = rng, .count = (int)count, .clusters = (int)clusters};
    s.world = (double)inst->param[P_WORLD] / 100;
    s.spread = (double)inst->param[P_SPREAD] / 100;
    s.radius_min = (double)inst->param[P_RADIUS_MIN] / 100;
    s.radius_max = (double)inst->param[P_RADIUS_MAX] / 100;
    struct search q = {.scene = &s};
    q.grid.cell = s.radius_max;
    q.grid.reach = 2 * s.radius_max;
    q.grid.side = (int)(s.world / q.grid.cell) + 1;
    const size_t n = (size_t)count, cells = (size_t)q.grid.side * (size_t)q.grid.side;
    s.cluster_x = malloc((size_t)clusters * sizeof *s.cluster_x);
    s.cluster_y = malloc((size_t)clusters * sizeof *s.cluster_y);
    s.polygons = malloc(n * sizeof *s.polygons);
    q.partners = calloc(n, sizeof *q.partners);
    q.fresh = malloc(n);
    q.grid.start = malloc((cells + 1) * sizeof *q.grid.start);
    q.grid.members = malloc(n * sizeof *q.grid.members);
    q.grid.box = malloc(n * sizeof *q.grid.box);
    q.grid.large = malloc(n * sizeof *q.grid.large);
    int rc = AE_OK;
    if (!s.cluster_x || !s.cluster_y || !s.polygons || !q.partners || !q.fresh || !q.grid.start ||
        !q.grid.members || !q.grid.box || !q.grid.large) {
        rc = ae_error_set(err, AE_E_NOMEM, "no memory for %lld polygons", (long long)count);
    } else {
        for (int c = 0; c < s.clusters; c++) {
            s.cluster_x[c] = ae_rng_uniform(rng, s.spread, s.world - s.spread);
            s.cluster_y[c] = ae_rng_uniform(rng, s.spread, s.world - s.spread);
        }
        draw_roles(&s);
        for (int i = 0; i < s.count; i++)
            draw_polygon(&s, &s.polygons[i]);
        rc = settle(&q, err);
    }
    if (rc == AE_OK)
        rc = store(inst, &s, q.grid.members, err); /* their memory is free for it now */
    free(s.cluster_x);
    free(s.cluster_y);
    free(s.polygons);
    free(q.partners);
    free(q.fresh);
    free(q.pairs);
    free(q.grid.start);
    free(q.grid.members);
    free(q.grid.box);
    free(q.grid.large);
    return rc;
}

static void outputs(struct ae_instance *inst)
{
    ae_set_output(inst, COUNTS, (size_t)inst->scalar[N].i32);
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    const int32_t n = inst->scalar[N].i32, verts = inst->scalar[TOTAL_VERTS].i32;
    if (n < 1 || n == INT32_MAX)
        return ae_error_set(err, AE_E_INPUT, "N is %d; at least one polygon is needed", n);
    for (int a = WORLD_SIZE_X100; a <= CELL_SIZE_X100; a++)
        if (inst->scalar[a].i32 < 1 || inst->scalar[a].i32 > 100 * VALUE_MAX)
            return ae_error_set(err, AE_E_INPUT, "%s is %d", args[a].name, inst->scalar[a].i32);
    if (inst->array[POLY_OFFSETS].count != (size_t)n + 1 ||
        inst->array[AABB].count != 4 * (size_t)n)
        return ae_error_set(err, AE_E_INPUT,
                            "poly_offsets has %zu elements and aabb %zu for %d polygons",
                            inst->array[POLY_OFFSETS].count, inst->array[AABB].count, n);
    const int32_t *offsets = ae_in_i32(inst, POLY_OFFSETS);
    if (verts < 0 || inst->array[VERTICES_X].count != (size_t)verts ||
        inst->array[VERTICES_Y].count != (size_t)verts || offsets[0] != 0 || offsets[n] != verts)
        return ae_error_set(
            err, AE_E_INPUT,
            "total_verts is %d, the arrays have %zu and %zu, poly_offsets end at %d", verts,
            inst->array[VERTICES_X].count, inst->array[VERTICES_Y].count, offsets[n]);
    for (int32_t i = 0; i < n; i++) /* all of them before any is used */
        if (offsets[i] < 0 || offsets[i] > verts - VERTS_MIN ||
            offsets[i + 1] < offsets[i] + VERTS_MIN || offsets[i + 1] - offsets[i] > VERTS_MAX)
            return ae_error_set(
                err, AE_E_INPUT,
                "polygon %d runs from vertex %d to %d; %d to %d vertices are allowed", i,
                offsets[i], offsets[i + 1], VERTS_MIN, VERTS_MAX);
    const double cell = inst->scalar[CELL_SIZE_X100].i32 / 100.0;
    double entries = 0;
    for (int32_t i = 0; i < n; i++) {
        struct polygon p = {.count = offsets[i + 1] - offsets[i]};
        for (int v = 0; v < p.count; v++) {
            p.x[v] = ae_in_f32(inst, VERTICES_X)[offsets[i] + v];
            p.y[v] = ae_in_f32(inst, VERTICES_Y)[offsets[i] + v];
            if (!(fabs((double)p.x[v]) <= VALUE_MAX &&
                  fabs((double)p.y[v]) <= VALUE_MAX)) /* NaN too */
                return ae_error_set(err, AE_E_INPUT, "polygon %d has a vertex at %g, %g", i,
                                    (double)p.x[v], (double)p.y[v]);
        }
        set_box(&p);
        for (int k = 0; k < 4; k++)
            if (!(ae_in_f32(inst, AABB)[4 * (size_t)i + (size_t)k] == p.box[k]))
                return ae_error_set(err, AE_E_INPUT, "aabb of polygon %d does not fit its vertices",
                                    i);
        entries += (((double)p.box[2] - (double)p.box[0]) / cell + 2) *
                   (((double)p.box[3] - (double)p.box[1]) / cell + 2);
    }
    if (entries > ENTRIES_MAX)
        return ae_error_set(
            err, AE_E_INPUT,
            "the polygons touch about %g cells of the suggested size; at most %g may be", entries,
            ENTRIES_MAX);
    return AE_OK;
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    /* A dozen partners by box, each pair tested once on eleven axes, which often ends early. */
    w->operations = 6 * 300.0 * inst->scalar[N].i32;
    w->steps = 3; /* sort by cell, find pairs, test them */
}

const struct ae_task ae_task_collision_detection = {
    .id = "collision_detection",
    .title = "Overlap counts of convex polygons in the plane",
    .domain = AE_SPATIAL,
    .lineage = "uniform-grid broad phase and separating axes (Ericson, Real-Time Collision "
               "Detection, 2005)",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"N", "clusters", "spread_x100", "radius_min_x100", "radius_max_x100", "world_x100"},
    .sizes = {[AE_SMALL] = {{1000, 10, 800, 50, 150, 10000}},
              [AE_MEDIUM] = {{30000, 50, 1000, 30, 150, 40000}},
              [AE_LARGE] = {{400000, 640, 1200, 20, 200, 170000},
                            true,
                            "the published large is less than twice medium"}},
    .families = {{"clusters",
                  "crowded clusters with a dense knot, a few huge polygons and touching squares",
                  AE_ALL_SIZES},
                 {"lattice", "squares that share edges, corners or places: touching counts",
                  AE_AT(AE_SMALL)},
                 {"sparse", "spread over the whole world: few meet",
                  AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
                 {"stacked", "all in one place, small ones inside of large ones", AE_AT(AE_SMALL)},
                 {"mixed", "sizes over three decades, up to a third of the world", AE_AT(AE_SMALL)},
                 {"tiny", "one to five polygons", AE_AT(AE_SMALL)}},
    .published_atol = 1,
    .published_rtol = 0,
    .published_note =
        "most published polygons are not convex: there the separating axes of the edges, not the "
        "shapes, define the answer",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .work = work,
};
