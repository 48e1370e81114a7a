/* Temporal blocking: the grid is cut into tiles, and each tile with a halo of STEPS cells makes
 * STEPS time steps in a core's own cache before anything goes back to memory. The halo shrinks by a
 * cell a step; the little that neighbours compute twice costs less than the traffic saved. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define TILE_ROWS 128
#define TILE_COLS 448
#define STEPS     8
#define BUF_ROWS  (TILE_ROWS + 2 * STEPS)
#define BUF_COLS  (TILE_COLS + 2 * STEPS)

struct grid {
    int rows, cols;
    float kp, kx, ky, kz; /* all times step/capacity */
    const float *power;
};

static inline float heated(const struct grid *g, float here, float power, float lap_y, float lap_x)
{
    return here + (g->kp * power + g->ky * lap_y + g->kx * lap_x + g->kz * (80.0f - here));
}

/* Columns first..end-1 of a row; pointers are to column 0 of the grid. */
static void step_row(const struct grid *g, int first, int end, const float *row, const float *north,
                     const float *south, const float *power, float *out)
{
    const int last = g->cols - 1;
    if (first == 0) {
        out[0] =
            heated(g, row[0], power[0], (south[0] - row[0]) + (north[0] - row[0]), row[1] - row[0]);
        first = 1;
    }
    if (end == g->cols) {
        out[last] =
            heated(g, row[last], power[last], (south[last] - row[last]) + (north[last] - row[last]),
                   row[last - 1] - row[last]);
        end = last;
    }
#pragma omp simd
    for (int j = first; j < end; j++) {
        const float here = row[j], twice = 2.0f * here;
        out[j] =
            heated(g, here, power[j], south[j] + north[j] - twice, row[j + 1] + row[j - 1] - twice);
    }
}

/* A field, or a part of one in a buffer: its element (r,c) is data[(r - top)*stride + c - left]. */
struct view {
    float *data;
    int top, left;
    size_t stride;
};

/* The address that column 0 of row r would have. */
static inline float *row_of(const struct view *v, int r)
{
    return v->data + (ptrdiff_t)(r - v->top) * (ptrdiff_t)v->stride - v->left;
}

static void step_tile(const struct grid *g, const float *from, float *to, int r0, int c0, int steps,
                      float *a, float *b)
{
    const int r1 = r0 + TILE_ROWS < g->rows ? r0 + TILE_ROWS : g->rows;
    const int c1 = c0 + TILE_COLS < g->cols ? c0 + TILE_COLS : g->cols;
    const int top = r0 > STEPS ? r0 - STEPS : 0, left = c0 > STEPS ? c0 - STEPS : 0;
    struct view source = {(float *)from, 0, 0, (size_t)g->cols};
    for (int s = 1; s <= steps; s++) {
        const int halo = steps - s;
        const int row_first = r0 > halo ? r0 - halo : 0,
                  row_end = r1 + halo < g->rows ? r1 + halo : g->rows;
        const int first = c0 > halo ? c0 - halo : 0,
                  end = c1 + halo < g->cols ? c1 + halo : g->cols;
        const struct view target = s == steps ? (struct view){to, 0, 0, (size_t)g->cols}
                                              : (struct view){s % 2 ? a : b, top, left, BUF_COLS};
        for (int r = row_first; r < row_end; r++) {
            const float *row = row_of(&source, r);
            step_row(g, first, end, row, r > 0 ? row_of(&source, r - 1) : row,
                     r < g->rows - 1 ? row_of(&source, r + 1) : row,
                     g->power + (size_t)r * (size_t)g->cols, row_of(&target, r));
        }
        source = target;
    }
}

void solution_compute(int rows, int cols, int iters, const float *temp0, const float *power,
                      float *out_temp)
{
    const double height = 0.016 / rows, width = 0.016 / cols, thickness = 0.0005,
                 conductivity = 100, heat = 1.75e6;
    const double k =
        0.001 / (3e6 / (0.5 * thickness * heat)) / 1000 / (0.5 * heat * thickness * width * height);
    const struct grid g = {
        .rows = rows,
        .cols = cols,
        .kp = (float)k,
        .kx = (float)(k * 2 * conductivity * thickness * height / width),
        .ky = (float)(k * 2 * conductivity * thickness * width / height),
        .kz = (float)(k * conductivity * height * width / thickness),
        .power = power,
    };
    const size_t bytes = (size_t)rows * (size_t)cols * sizeof(float);
    const int passes = (iters + STEPS - 1) / STEPS;
    const int tile_rows = (rows + TILE_ROWS - 1) / TILE_ROWS,
              tile_cols = (cols + TILE_COLS - 1) / TILE_COLS;
    float *other = passes > 1 ? malloc(bytes) : NULL;
    if (passes > 1 && !other)
        return;
#pragma omp parallel
    {
        float *a = aligned_alloc(64, sizeof(float) * BUF_ROWS * BUF_COLS);
        float *b = aligned_alloc(64, sizeof(float) * BUF_ROWS * BUF_COLS);
        const float *from = temp0;
        for (int pass = 0; pass < passes; pass++) {
            float *to =
                (passes - 1 - pass) % 2 ? other : out_temp; /* the last pass ends in out_temp */
            const int steps = iters - pass * STEPS < STEPS ? iters - pass * STEPS : STEPS;
#pragma omp for collapse(2) schedule(static)
            for (int i = 0; i < tile_rows; i++)
                for (int j = 0; j < tile_cols; j++)
                    if (a && b)
                        step_tile(&g, from, to, i * TILE_ROWS, j * TILE_COLS, steps, a, b);
            from = to;
        }
        free(a);
        free(b);
    }
    free(other);
}
