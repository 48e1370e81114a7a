/* Temperature of a chip by explicit time steps of the heat equation on a grid of cells. In every
 * step a cell gains heat from its own power, exchanges heat with its four neighbours and loses some
 * to the ambient air. All cells are updated from the old field; nothing flows across the border of
 * the chip. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const float thickness = 0.0005f;     /* m */
static const float chip_height = 0.016f;    /* m */
static const float chip_width = 0.016f;     /* m */
static const float conductivity = 100.0f;   /* W/(m K) */
static const float heat_capacity = 1.75e6f; /* J/(m^3 K) */
static const float capacity_factor = 0.5f;
static const float max_power_density = 3.0e6f; /* W/m^2 */
static const float precision = 0.001f;         /* degrees a step, at most */
static const float ambient = 80.0f;

struct coefficients {
    float step_over_capacity, x, y, z; /* conductances along a row, along a column, to the air */
};

static float heated(const struct coefficients *c, float here, float power, float laplacian_y,
                    float laplacian_x)
{
    return here + c->step_over_capacity *
                      (power + laplacian_y * c->y + laplacian_x * c->x + (ambient - here) * c->z);
}

/* One row; north and south are the neighbouring rows, or the row itself at the chip's border. */
static void step_row(const struct coefficients *c, int cols, const float *row, const float *north,
                     const float *south, const float *power, float *out)
{
    const int last = cols - 1;
    out[0] =
        heated(c, row[0], power[0], (south[0] - row[0]) + (north[0] - row[0]), row[1] - row[0]);
    for (int j = 1; j < last; j++) {
        const float here = row[j];
        out[j] = heated(c, here, power[j], south[j] + north[j] - 2.0f * here,
                        row[j + 1] + row[j - 1] - 2.0f * here);
    }
    out[last] =
        heated(c, row[last], power[last], (south[last] - row[last]) + (north[last] - row[last]),
               row[last - 1] - row[last]);
}

void solution_compute(int rows, int cols, int iters, const float *temp0, const float *power,
                      float *out_temp)
{
    const float cell_height = chip_height / (float)rows, cell_width = chip_width / (float)cols;
    const float capacity = capacity_factor * heat_capacity * thickness * cell_width * cell_height;
    const float max_slope = max_power_density / (capacity_factor * thickness * heat_capacity);
    const float step = precision / max_slope / 1000.0f;
    const struct coefficients c = {
        .step_over_capacity = step / capacity,
        .x = 1.0f / (cell_width / (2.0f * conductivity * thickness * cell_height)),
        .y = 1.0f / (cell_height / (2.0f * conductivity * thickness * cell_width)),
        .z = 1.0f / (thickness / (conductivity * cell_height * cell_width)),
    };
    const size_t width = (size_t)cols, count = (size_t)rows * width;
    float *field = malloc(count * sizeof *field), *next = malloc(count * sizeof *next);
    if (field && next) {
        memcpy(field, temp0, count * sizeof *field);
        for (int i = 0; i < iters; i++) {
            for (int r = 0; r < rows; r++) {
                const float *row = field + (size_t)r * width;
                step_row(&c, cols, row, r > 0 ? row - width : row, r < rows - 1 ? row + width : row,
                         power + (size_t)r * width, next + (size_t)r * width);
            }
            float *swap = field;
            field = next;
            next = swap;
        }
        memcpy(out_temp, field, count * sizeof *field);
    }
    free(field);
    free(next);
}
