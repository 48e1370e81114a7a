/* Neither cost nor demand depends on backlog or squared shocks, the last value is 0 and
 * interpolation weights add up to one: by induction the value depends on inventory and sum of
 * shocks alone, whatever the data. So a table of two coordinates is computed and copied out. For
 * each (sum of shocks, shock) the next table is interpolated along the shocks first; what then
 * remains for an action is one interpolation along the inventory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int cell_of(const float *grid, int n, float value)
{
    int lo = 0, hi = n - 1;
    while (hi - lo > 1) {
        const int middle = (lo + hi) / 2;
        if (grid[middle] <= value)
            lo = middle;
        else
            hi = middle;
    }
    return lo;
}

static float weight_of(const float *grid, int n, int cell, float value)
{
    if (value <= grid[0])
        return 0.0f;
    if (value >= grid[n - 1])
        return 1.0f;
    return (value - grid[cell]) / (grid[cell + 1] - grid[cell]);
}

void solution_compute(int N_I, int N_B, int N_Phi, int N_Psi, int N_x, int N_phi, int T,
                      const float *c_t, const float *h_t, const float *b_t, float mu, float nu,
                      float alpha, float y, const float *grid_I, const float *grid_B,
                      const float *grid_Phi, const float *grid_Psi, const float *actions,
                      const float *shocks, const float *shock_probs, float *V_out)
{
    (void)grid_B;
    (void)grid_Psi;
    const size_t points = (size_t)N_I,
                 table = points * (size_t)N_Phi; /* sum of shocks slowest, inventory fastest */
    float *value = calloc(2 * table, sizeof *value);
    if (!value)
        abort();
    float *later = value, *now = value + table;
#pragma omp parallel if (table * (size_t)N_x * (size_t)N_phi > 20000)
    {
        float *line = malloc((points + (size_t)N_x) * sizeof *line), *total = line + points;
        if (!line)
            abort();
        for (int t = T - 1; t >= 0; t--) {
            const float *from = (T - 1 - t) % 2 ? now : later;
            float *to = (T - 1 - t) % 2 ? later : now;
#pragma omp for collapse(2)
            for (int f = 0; f < N_Phi; f++)
                for (int i = 0; i < N_I; i++) {
                    for (int a = 0; a < N_x; a++)
                        total[a] = 0.0f;
                    for (int k = 0; k < N_phi; k++) {
                        const float sum = grid_Phi[f] + shocks[k];
                        const int cell = cell_of(grid_Phi, N_Phi, sum);
                        const float weight = weight_of(grid_Phi, N_Phi, cell, sum);
                        const float *low = from + (size_t)cell * points, *high = low + points;
                        for (size_t p = 0; p < points; p++)
                            line[p] = low[p] + weight * (high[p] - low[p]);
                        const float base =
                            grid_I[i] + y - (mu + nu * (shocks[k] + alpha * grid_Phi[f]));
                        for (int a = 0; a < N_x; a++) {
                            const float next = base + actions[a];
                            const float cost = c_t[t] * fabsf(actions[a]) +
                                               h_t[t] * fmaxf(next, 0.0f) +
                                               b_t[t] * fmaxf(-next, 0.0f);
                            const int c = cell_of(grid_I, N_I, next);
                            const float w = weight_of(grid_I, N_I, c, next);
                            total[a] +=
                                shock_probs[k] * (cost + line[c] + w * (line[c + 1] - line[c]));
                        }
                    }
                    float best = 1e30f;
                    for (int a = 0; a < N_x; a++)
                        best = total[a] < best ? total[a] : best;
                    to[(size_t)f * points + (size_t)i] = best;
                }
        }
        const float *result = T % 2 ? now : later;
#pragma omp for collapse(2)
        for (int i = 0; i < N_I; i++)
            for (int b = 0; b < N_B; b++) {
                float *out =
                    V_out + ((size_t)i * (size_t)N_B + (size_t)b) * (size_t)N_Phi * (size_t)N_Psi;
                for (int f = 0; f < N_Phi; f++)
                    for (int g = 0; g < N_Psi; g++)
                        *out++ = result[(size_t)f * points + (size_t)i];
            }
        free(line);
    }
    free(value);
}
