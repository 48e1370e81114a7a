/* The same grid with smaller cells, polygons kept in the order of their cells. Each polygon carries
 * its edge normals and its own projections on them, padded to eight, so that the normals of one
 * polygon are tried against the vertices of another in the lanes of a vector. Polygons of a cell
 * are shared out over the cores. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define VERTS            8
#define CELLS_A_SIDE_MAX 2048

struct record {
    float x[VERTS], y[VERTS];   /* vertices, the last one repeated */
    float nx[VERTS], ny[VERTS]; /* normals, likewise */
    float low[VERTS], high[VERTS];
    float box[4];
    int count, index;
};

struct grid {
    float scale; /* 1 / cell */
    int side;
};

static inline int cell_of(const struct grid *g, float coordinate)
{
    const float k = coordinate * g->scale;
    return !(k > 0) ? 0 : k < (float)g->side ? (int)k : g->side - 1;
}

static void fill(struct record *r, int index, const int *offsets, const float *xs, const float *ys,
                 const float *aabb)
{
    const int first = offsets[index], count = offsets[index + 1] - first;
    r->index = index;
    r->count = count;
    memcpy(r->box, aabb + 4 * (size_t)index, sizeof r->box);
    for (int v = 0; v < VERTS; v++) {
        const int k = v < count ? v : count - 1, next = k + 1 < count ? k + 1 : 0;
        r->x[v] = xs[first + k];
        r->y[v] = ys[first + k];
        r->nx[v] = -(ys[first + next] - ys[first + k]);
        r->ny[v] = xs[first + next] - xs[first + k];
    }
    for (int a = 0; a < VERTS; a++) {
        r->low[a] = INFINITY;
        r->high[a] = -INFINITY;
        for (int v = 0; v < VERTS; v++) {
            const float p = r->nx[a] * r->x[v] + r->ny[a] * r->y[v];
            r->low[a] = p < r->low[a] ? p : r->low[a];
            r->high[a] = p > r->high[a] ? p : r->high[a];
        }
    }
}

static inline int separated(const struct record *restrict a, const struct record *restrict b)
{
    float low[VERTS], high[VERTS];
    for (int e = 0; e < VERTS; e++)
        low[e] = high[e] = a->nx[e] * b->x[0] + a->ny[e] * b->y[0];
    for (int v = 1; v < b->count; v++) {
        const float x = b->x[v], y = b->y[v];
#pragma omp simd
        for (int e = 0; e < VERTS; e++) {
            const float p = a->nx[e] * x + a->ny[e] * y;
            low[e] = p < low[e] ? p : low[e];
            high[e] = p > high[e] ? p : high[e];
        }
    }
    int apart = 0;
    for (int e = 0; e < VERTS; e++)
        apart |= (a->high[e] < low[e]) | (high[e] < a->low[e]);
    return apart;
}

/* Counting sort of items by the key of each; order[] receives item numbers. */
static void sort_by_key(int count, const int *key, int keys, int *start, int *order)
{
    memset(start, 0, ((size_t)keys + 1) * sizeof *start);
    for (int i = 0; i < count; i++)
        start[key[i] + 1]++;
    for (int k = 0; k < keys; k++)
        start[k + 1] += start[k];
    for (int i = 0; i < count; i++)
        order[start[key[i]]++] = i;
    memmove(start + 1, start, (size_t)keys * sizeof *start);
    start[0] = 0;
}

struct entry {
    float box[4];
    int record;
};

static int overlaps_later(const struct grid *g, const struct record *records, int i,
                          const size_t *start, const struct entry *entries, int *counts)
{
    const struct record *a = &records[i];
    const int x0 = cell_of(g, a->box[0]), x1 = cell_of(g, a->box[2]);
    const int y0 = cell_of(g, a->box[1]), y1 = cell_of(g, a->box[3]);
    int own = 0;
    for (int cy = y0; cy <= y1; cy++)
        for (int cx = x0; cx <= x1; cx++) {
            const size_t c = (size_t)cy * (size_t)g->side + (size_t)cx;
            for (size_t k = start[c]; k < start[c + 1]; k++) {
                const struct entry *e = &entries[k];
                if ((e->record <= i) | (a->box[2] < e->box[0]) | (e->box[2] < a->box[0]) |
                    (a->box[3] < e->box[1]) | (e->box[3] < a->box[1]))
                    continue;
                if (cell_of(g, a->box[0] > e->box[0] ? a->box[0] : e->box[0]) != cx ||
                    cell_of(g, a->box[1] > e->box[1] ? a->box[1] : e->box[1]) != cy)
                    continue;
                const struct record *b = &records[e->record];
                if (separated(a, b) || separated(b, a))
                    continue;
                own++;
#pragma omp atomic
                counts[b->index]++;
            }
        }
    return own;
}

void solution_compute(int N, int total_verts, int world_size_x100, int cell_size_x100,
                      const int *poly_offsets, const float *vertices_x, const float *vertices_y,
                      const float *aabb, int *counts)
{
    (void)total_verts;
    const size_t n = (size_t)N;
    const float world = (float)world_size_x100 / 100.0f;
    float cell = 0.4f * (float)cell_size_x100 / 100.0f;
    if (world / cell > CELLS_A_SIDE_MAX - 1)
        cell = world / (CELLS_A_SIDE_MAX - 1);
    const struct grid g = {1.0f / cell, (int)(world / cell) + 1};
    const int cells = g.side * g.side;
    int *key = malloc(n * sizeof *key), *order = malloc(n * sizeof *order);
    int *first = malloc(((size_t)cells + 1) * sizeof *first);
    size_t *start = calloc((size_t)cells + 2, sizeof *start);
    struct record *records = aligned_alloc(64, (n * sizeof *records + 63) / 64 * 64);
    struct entry *entries = NULL;
    if (key && order && first && start && records) {
        for (int i = 0; i < N; i++)
            key[i] =
                cell_of(&g, aabb[4 * (size_t)i + 1]) * g.side + cell_of(&g, aabb[4 * (size_t)i]);
        sort_by_key(N, key, cells, first, order);
#pragma omp parallel for schedule(static)
        for (int i = 0; i < N; i++) {
            fill(&records[i], order[i], poly_offsets, vertices_x, vertices_y, aabb);
            counts[i] = 0;
        }
        /* start[c+2] counts cell c's entries, then start[c+1] is moved from its start to its end.
         */
        for (int pass = 0; pass < 2; pass++) {
            for (int i = 0; i < N; i++) {
                const float *box = records[i].box;
                const int x1 = cell_of(&g, box[2]), y1 = cell_of(&g, box[3]);
                for (int cy = cell_of(&g, box[1]); cy <= y1; cy++)
                    for (int cx = cell_of(&g, box[0]); cx <= x1; cx++) {
                        const size_t c = (size_t)cy * (size_t)g.side + (size_t)cx;
                        if (pass == 0) {
                            start[c + 2]++;
                        } else {
                            struct entry *e = &entries[start[c + 1]++];
                            memcpy(e->box, box, sizeof e->box);
                            e->record = i;
                        }
                    }
            }
            if (pass == 0) {
                for (int c = 0; c < cells; c++)
                    start[c + 2] += start[c + 1];
                entries = malloc((start[(size_t)cells + 1] + 1) * sizeof *entries);
                if (!entries)
                    break;
            }
        }
        if (entries) {
#pragma omp parallel for schedule(dynamic, 64)
            for (int i = 0; i < N; i++) {
                const int own = overlaps_later(&g, records, i, start, entries, counts);
#pragma omp atomic
                counts[records[i].index] += own;
            }
        }
    }
    free(key);
    free(order);
    free(first);
    free(start);
    free(records);
    free(entries);
}
