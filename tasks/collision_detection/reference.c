/* For every polygon, the number of other polygons that it overlaps. Broad phase: a uniform grid
 * lists the polygons whose bounding box touches each cell, and only polygons of a common cell are
 * compared. Narrow phase: two polygons are apart if and only if their projections on the normal of
 * some edge are. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#define CELLS_A_SIDE_MAX 4096

struct polygon {
    const float *x, *y;
    int count;
    const float *box; /* min x, min y, max x, max y */
};

struct grid {
    float cell;
    int side;
};

static int cell_of(const struct grid *grid, float coordinate)
{
    if (!(coordinate > 0))
        return 0;
    const float k = coordinate / grid->cell;
    return k < (float)grid->side ? (int)k : grid->side - 1;
}

static int boxes_overlap(const float *a, const float *b)
{
    return a[2] >= b[0] && b[2] >= a[0] && a[3] >= b[1] && b[3] >= a[1];
}

static void project(const struct polygon *p, float nx, float ny, float *min, float *max)
{
    *min = *max = nx * p->x[0] + ny * p->y[0];
    for (int v = 1; v < p->count; v++) {
        const float position = nx * p->x[v] + ny * p->y[v];
        if (position < *min)
            *min = position;
        if (position > *max)
            *max = position;
    }
}

/* Does the normal of an edge of a separate a and b? */
static int separated_by_edge_of(const struct polygon *a, const struct polygon *b)
{
    for (int v = 0; v < a->count; v++) {
        const int w = v + 1 < a->count ? v + 1 : 0;
        const float nx = -(a->y[w] - a->y[v]), ny = a->x[w] - a->x[v];
        float a_min, a_max, b_min, b_max;
        project(a, nx, ny, &a_min, &a_max);
        project(b, nx, ny, &b_min, &b_max);
        if (a_max < b_min || b_max < a_min)
            return 1;
    }
    return 0;
}

static struct polygon polygon_at(int i, const int *poly_offsets, const float *vertices_x,
                                 const float *vertices_y, const float *aabb)
{
    const int first = poly_offsets[i];
    return (struct polygon){vertices_x + first, vertices_y + first, poly_offsets[i + 1] - first,
                            aabb + 4 * (size_t)i};
}

/* members[start[c]..start[c+1]-1] are the polygons whose box touches cell c, in ascending order. */
static int list_members(const struct grid *grid, int N, const float *aabb, size_t *start,
                        int **ret_members)
{
    const size_t side = (size_t)grid->side, cells = side * side;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = N - 1; i >= 0; i--) {
            const float *box = aabb + 4 * (size_t)i;
            for (int cy = cell_of(grid, box[1]); cy <= cell_of(grid, box[3]); cy++)
                for (int cx = cell_of(grid, box[0]); cx <= cell_of(grid, box[2]); cx++) {
                    const size_t c = (size_t)cy * side + (size_t)cx;
                    if (pass == 0)
                        start[c]++;
                    else
                        (*ret_members)[--start[c]] = i;
                }
        }
        if (pass ==
            0) { /* sums give the end of each cell, which the second pass turns into its start */
            for (size_t c = 1; c <= cells; c++)
                start[c] += start[c - 1];
            *ret_members = malloc((start[cells] + 1) * sizeof **ret_members);
            if (!*ret_members)
                return -1;
        }
    }
    return 0;
}

void solution_compute(int N, int total_verts, int world_size_x100, int cell_size_x100,
                      const int *poly_offsets, const float *vertices_x, const float *vertices_y,
                      const float *aabb, int *counts)
{
    (void)total_verts;
    struct grid grid = {.cell = (float)cell_size_x100 / 100.0f};
    const float world = (float)world_size_x100 / 100.0f;
    if (world / grid.cell > CELLS_A_SIDE_MAX - 1)
        grid.cell = world / (CELLS_A_SIDE_MAX - 1);
    grid.side = (int)(world / grid.cell) + 1;
    size_t *start = calloc((size_t)grid.side * (size_t)grid.side + 1, sizeof *start);
    int *members = NULL;
    if (start && list_members(&grid, N, aabb, start, &members) == 0) {
        for (int i = 0; i < N; i++)
            counts[i] = 0;
        for (int i = 0; i < N; i++) {
            const struct polygon a = polygon_at(i, poly_offsets, vertices_x, vertices_y, aabb);
            for (int cy = cell_of(&grid, a.box[1]); cy <= cell_of(&grid, a.box[3]); cy++)
                for (int cx = cell_of(&grid, a.box[0]); cx <= cell_of(&grid, a.box[2]); cx++) {
                    const size_t c = (size_t)cy * (size_t)grid.side + (size_t)cx;
                    for (size_t k = start[c]; k < start[c + 1]; k++) {
                        const int j = members[k];
                        const float *box = aabb + 4 * (size_t)j;
                        if (j <= i || !boxes_overlap(a.box, box))
                            continue;
                        /* Both may share several cells: the pair belongs to the one that holds the
                         * lower corner of the boxes' intersection. */
                        if (cell_of(&grid, fmaxf(a.box[0], box[0])) != cx ||
                            cell_of(&grid, fmaxf(a.box[1], box[1])) != cy)
                            continue;
                        const struct polygon b =
                            polygon_at(j, poly_offsets, vertices_x, vertices_y, aabb);
                        if (!separated_by_edge_of(&a, &b) && !separated_by_edge_of(&b, &a)) {
                            counts[i]++;
                            counts[j]++;
                        }
                    }
                }
        }
    }
    free(start);
    free(members);
}
