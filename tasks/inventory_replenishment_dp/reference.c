/* Replenishment around a precommitted order: backward induction over inventory, backlog, sum of
 * past shocks and sum of their squares, with linear interpolation in all four coordinates. All
 * arithmetic in float. */
#include <math.h>
#include <stdlib.h>

/* A coordinate on its grid: between points cell and cell + 1, at `weight` of the way. */
struct place {
    int cell;
    float weight;
};

/* Outside the grid the nearest end counts. */
static struct place locate(const float *grid, int n, float value)
{
    if (value <= grid[0])
        return (struct place){0, 0.0f};
    if (value >= grid[n - 1])
        return (struct place){n - 2, 1.0f};
    int lo = 0, hi = n - 1; /* grid[lo] <= value < grid[hi] */
    while (hi - lo > 1) {
        const int middle = (lo + hi) / 2;
        if (grid[middle] <= value)
            lo = middle;
        else
            hi = middle;
    }
    return (struct place){lo, (value - grid[lo]) / (grid[lo + 1] - grid[lo])};
}

static float between(float low, float high, float weight)
{
    return (1.0f - weight) * low + weight * high;
}

/* v points to the cell's lowest corner; the strides lead to the next point of each coordinate. */
static float along_psi(const float *v, struct place psi)
{
    return between(v[0], v[1], psi.weight);
}

static float along_phi(const float *v, size_t stride_phi, struct place phi, struct place psi)
{
    return between(along_psi(v, psi), along_psi(v + stride_phi, psi), phi.weight);
}

static float along_backlog(const float *v, size_t stride_b, size_t stride_phi, struct place b,
                           struct place phi, struct place psi)
{
    return between(along_phi(v, stride_phi, phi, psi),
                   along_phi(v + stride_b, stride_phi, phi, psi), b.weight);
}

void solution_compute(int N_I, int N_B, int N_Phi, int N_Psi, int N_x, int N_phi, int T,
                      const float *c_t, const float *h_t, const float *b_t, float mu, float nu,
                      float alpha, float y, const float *grid_I, const float *grid_B,
                      const float *grid_Phi, const float *grid_Psi, const float *actions,
                      const float *shocks, const float *shock_probs, float *V_out)
{
    const size_t stride_phi = (size_t)N_Psi, stride_b = stride_phi * (size_t)N_Phi;
    const size_t stride_i = stride_b * (size_t)N_B, states = stride_i * (size_t)N_I,
                 outcomes = (size_t)N_phi;
    float *now = malloc(states * sizeof *now), *later = malloc(states * sizeof *later);
    float *demand = malloc((size_t)N_Phi * outcomes * sizeof *demand);
    struct place *phi_place = malloc((size_t)N_Phi * outcomes * sizeof *phi_place);
    struct place *psi_place = malloc((size_t)N_Psi * outcomes * sizeof *psi_place);
    if (!now || !later || !demand || !phi_place || !psi_place)
        abort();
    for (size_t k = 0; k < outcomes; k++) {
        for (size_t f = 0; f < (size_t)N_Phi; f++) {
            demand[f * outcomes + k] = mu + nu * (shocks[k] + alpha * grid_Phi[f]);
            phi_place[f * outcomes + k] = locate(grid_Phi, N_Phi, grid_Phi[f] + shocks[k]);
        }
        for (size_t g = 0; g < (size_t)N_Psi; g++)
            psi_place[g * outcomes + k] =
                locate(grid_Psi, N_Psi, grid_Psi[g] + shocks[k] * shocks[k]);
    }
    for (size_t s = 0; s < states; s++)
        later[s] = 0.0f;

    for (int t = T - 1; t >= 0; t--) {
        for (size_t s = 0; s < states; s++) {
            const size_t g = s % (size_t)N_Psi, f = s / stride_phi % (size_t)N_Phi;
            const float stock = grid_I[s / stride_i], backlog = grid_B[s / stride_b % (size_t)N_B];
            float best = 1e30f;
            for (int a = 0; a < N_x; a++) {
                const float adjusting = c_t[t] * fabsf(actions[a]);
                float expected = 0.0f;
                for (size_t k = 0; k < outcomes; k++) {
                    const float next = stock + y + actions[a] - demand[f * outcomes + k];
                    const float held = next > 0.0f ? next : 0.0f,
                                short_of = next < 0.0f ? -next : 0.0f;
                    const float cost = adjusting + h_t[t] * held + b_t[t] * short_of;
                    const struct place i = locate(grid_I, N_I, next),
                                       b = locate(grid_B, N_B, backlog + short_of);
                    const struct place phi = phi_place[f * outcomes + k],
                                       psi = psi_place[g * outcomes + k];
                    const float *v = later + (size_t)i.cell * stride_i + (size_t)b.cell * stride_b +
                                     (size_t)phi.cell * stride_phi + (size_t)psi.cell;
                    const float future = between(
                        along_backlog(v, stride_b, stride_phi, b, phi, psi),
                        along_backlog(v + stride_i, stride_b, stride_phi, b, phi, psi), i.weight);
                    expected += shock_probs[k] * (cost + future);
                }
                if (expected < best)
                    best = expected;
            }
            now[s] = best;
        }
        float *swapped = now;
        now = later;
        later = swapped;
    }
    for (size_t s = 0; s < states; s++)
        V_out[s] = later[s];
    free(psi_place);
    free(phi_place);
    free(demand);
    free(later);
    free(now);
}
