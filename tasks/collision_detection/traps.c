#include "task/traps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    N,
    TOTAL_VERTS,
    WORLD_SIZE_X100,
    CELL_SIZE_X100,
    POLY_OFFSETS,
    VERTICES_X,
    VERTICES_Y,
    AABB,
    COUNTS
};

struct fault {
    bool boxes_only;   /* no narrow phase */
    bool own_axes;     /* edges of one polygon only */
    bool open_boxes;   /* touching boxes do not meet */
    bool open_axes;    /* touching projections separate */
    bool circles;      /* circles about the boxes' centres instead of polygons */
    bool no_closing;   /* the edge from the last vertex to the first forgotten */
    int cell_capacity; /* partners looked at in one cell; 0: all */
    bool near_cells;   /* cells of centres, the eight around a cell and no more */
    bool same_cell;    /* cells of centres, no neighbours */
};

static bool apart_along(const struct ae_instance *inst, int i, int j, struct fault fault)
{
    const int32_t *offsets = ae_in_i32(inst, POLY_OFFSETS);
    const float *x = ae_in_f32(inst, VERTICES_X), *y = ae_in_f32(inst, VERTICES_Y);
    const int first = offsets[i], end = offsets[i + 1];
    for (int v = first; v < (fault.no_closing ? end - 1 : end); v++) {
        const int w = v + 1 < end ? v + 1 : first;
        const double nx = -((double)y[w] - (double)y[v]), ny = (double)x[w] - (double)x[v];
        double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
        for (int side = 0; side < 2; side++)
            for (int k = offsets[side ? j : i]; k < offsets[(side ? j : i) + 1]; k++) {
                const double p = nx * (double)x[k] + ny * (double)y[k];
                low[side] = fmin(low[side], p);
                high[side] = fmax(high[side], p);
            }
        if (fault.open_axes ? high[0] <= low[1] || high[1] <= low[0]
                            : high[0] < low[1] || high[1] < low[0])
            return true;
    }
    return false;
}

static bool meet(const struct ae_instance *inst, int i, int j, struct fault fault)
{
    const float *a = ae_in_f32(inst, AABB) + 4 * i, *b = ae_in_f32(inst, AABB) + 4 * j;
    if (fault.open_boxes ? a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1]
                         : a[2] < b[0] || b[2] < a[0] || a[3] < b[1] || b[3] < a[1])
        return false;
    const double cell = inst->scalar[CELL_SIZE_X100].i32 / 100.0;
    const int reach = fault.same_cell ? 0 : 1;
    if (fault.near_cells || fault.same_cell)
        for (int k = 0; k < 2; k++)
            if (fabs(floor((double)(a[k] + a[k + 2]) / 2 / cell) -
                     floor((double)(b[k] + b[k + 2]) / 2 / cell)) > reach)
                return false;
    if (fault.boxes_only)
        return true;
    if (fault.circles) {
        const double dx = (double)(a[0] + a[2] - b[0] - b[2]) / 2,
                     dy = (double)(a[1] + a[3] - b[1] - b[3]) / 2;
        const double radii = (hypot((double)(a[2] - a[0]), (double)(a[3] - a[1])) +
                              hypot((double)(b[2] - b[0]), (double)(b[3] - b[1]))) /
                             2;
        return hypot(dx, dy) <= radii;
    }
    return !apart_along(inst, i, j, fault) && (fault.own_axes || !apart_along(inst, j, i, fault));
}

static bool solve_with(struct fault fault, const struct ae_instance *inst,
                       struct ae_expected *answer)
{
    const int n = inst->scalar[N].i32;
    int32_t *counts = answer->out[COUNTS].data;
    memset(counts, 0, (size_t)n * sizeof *counts);
    for (int i = 0; i < n; i++) {
        int seen = 0;
        for (int j = i + 1; j < n; j++) {
            if (!meet(inst, i, j, fault))
                continue;
            if (fault.cell_capacity && ++seen > fault.cell_capacity)
                break;
            counts[i]++;
            counts[j]++;
        }
    }
    return true;
}

#define TRAP(name, ...)                                                                            \
    static bool name(const struct ae_instance *inst, const struct ae_expected *right,              \
                     struct ae_expected *answer)                                                   \
    {                                                                                              \
        (void)right;                                                                               \
        return solve_with((struct fault){__VA_ARGS__}, inst, answer);                              \
    }

TRAP(boxes_only, .boxes_only = true)
TRAP(own_axes, .own_axes = true)
TRAP(open_boxes, .open_boxes = true)
TRAP(open_axes, .open_axes = true)
TRAP(circles, .circles = true)
TRAP(no_closing, .no_closing = true)
TRAP(capacity, .cell_capacity = 64)
TRAP(near_cells, .near_cells = true)
TRAP(same_cell, .same_cell = true)

/* The published tolerance of one partner. */
static bool one_missing(const struct ae_instance *inst, const struct ae_expected *right,
                        struct ae_expected *answer)
{
    (void)right;
    int32_t *counts = answer->out[COUNTS].data;
    for (int i = 0; i < inst->scalar[N].i32; i++)
        counts[i] -= counts[i] > 0;
    return true;
}

static bool counts_itself(const struct ae_instance *inst, const struct ae_expected *right,
                          struct ae_expected *answer)
{
    (void)right;
    for (int i = 0; i < inst->scalar[N].i32; i++)
        ((int32_t *)answer->out[COUNTS].data)[i]++;
    return true;
}

AE_TRAPS(collision_detection) = {
    {"compares boxes only", "clusters", boxes_only},
    {"tries the axes of one polygon only", "clusters", own_axes},
    {"does not count touching boxes", "clusters", open_boxes},
    {"does not count touching edges", "lattice", open_axes},
    {"compares circles", "clusters", circles},
    {"forgets the closing edge", "clusters", no_closing},
    {"keeps at most 64 partners", "clusters", capacity},
    {"looks at neighbouring cells only", "clusters", near_cells},
    {"looks at one cell only", "clusters", same_cell},
    {"misses one partner of each", "clusters", one_missing},
    {"counts a polygon itself", NULL, counts_itself},
    {0},
};
