/* Inventory replenishment in all four dimensions: one kernel a period, one thread a state, which
 * tries every action and every shock and looks each coordinate up by bisection. The many small
 * loads of the look-ups and of the sixteen corners bound it; with few states there are too few
 * threads to hide them behind. */
#include "check.cuh"

#define THREADS 128

struct place {
    int cell;
    float weight;
};

/* Outside the grid the nearest end counts. */
__device__ place locate(const float *grid, int n, float value)
{
    if (value <= grid[0])
        return place{0, 0.0f};
    if (value >= grid[n - 1])
        return place{n - 2, 1.0f};
    int lo = 0, hi = n - 1;
    while (hi - lo > 1) {
        const int middle = (lo + hi) / 2;
        if (grid[middle] <= value)
            lo = middle;
        else
            hi = middle;
    }
    return place{lo, (value - grid[lo]) / (grid[lo + 1] - grid[lo])};
}

struct problem {
    int size[4], actions,
        shocks; /* sizes of the grids of inventory, backlog, sum of shocks, sum of squares */
    float mu, nu, alpha, y;
    const float *grid[4], *action, *shock, *chance;
};

__device__ float interpolate(const problem &p, const float *v, const place *at)
{
    const size_t stride[4] = {(size_t)p.size[1] * p.size[2] * p.size[3],
                              (size_t)p.size[2] * p.size[3], (size_t)p.size[3], 1};
    float sum = 0.0f;
    for (int corner = 0; corner < 16; corner++) {
        float weight = 1.0f;
        size_t index = 0;
        for (int d = 0; d < 4; d++) {
            const int high = corner >> (3 - d) & 1;
            weight *= high ? at[d].weight : 1.0f - at[d].weight;
            index += (size_t)(at[d].cell + high) * stride[d];
        }
        sum += weight * v[index];
    }
    return sum;
}

__global__ void plan_period(problem p, int states, float c, float h, float b, const float *later,
                            float *now)
{
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= states)
        return;
    const float psi = p.grid[3][s % p.size[3]], phi = p.grid[2][s / p.size[3] % p.size[2]];
    const float backlog = p.grid[1][s / (p.size[3] * p.size[2]) % p.size[1]];
    const float stock = p.grid[0][s / (p.size[3] * p.size[2] * p.size[1])];
    float best = 1e30f;
    for (int a = 0; a < p.actions; a++) {
        float expected = 0.0f;
        for (int k = 0; k < p.shocks; k++) {
            const float f = p.shock[k], x = p.action[a];
            const float next = stock + p.y + x - (p.mu + p.nu * (f + p.alpha * phi));
            const float held = fmaxf(0.0f, next), short_of = fmaxf(0.0f, -next);
            const place at[4] = {locate(p.grid[0], p.size[0], next),
                                 locate(p.grid[1], p.size[1], backlog + short_of),
                                 locate(p.grid[2], p.size[2], phi + f),
                                 locate(p.grid[3], p.size[3], psi + f * f)};
            expected +=
                p.chance[k] * (c * fabsf(x) + h * held + b * short_of + interpolate(p, later, at));
        }
        best = fminf(best, expected);
    }
    now[s] = best;
}

static float *to_device(const float *from, int count)
{
    float *to;
    CHECK(cudaMalloc(&to, (size_t)count * sizeof(float)));
    CHECK(cudaMemcpy(to, from, (size_t)count * sizeof(float), cudaMemcpyHostToDevice));
    return to;
}

extern "C" void solution_compute(int N_I, int N_B, int N_Phi, int N_Psi, int N_x, int N_phi, int T,
                                 const float *c_t, const float *h_t, const float *b_t, float mu,
                                 float nu, float alpha, float y, const float *grid_I,
                                 const float *grid_B, const float *grid_Phi, const float *grid_Psi,
                                 const float *actions, const float *shocks,
                                 const float *shock_probs, float *V_out)
{
    float *arrays[7] = {to_device(grid_I, N_I),       to_device(grid_B, N_B),
                        to_device(grid_Phi, N_Phi),   to_device(grid_Psi, N_Psi),
                        to_device(actions, N_x),      to_device(shocks, N_phi),
                        to_device(shock_probs, N_phi)};
    const problem p = {{N_I, N_B, N_Phi, N_Psi},
                       N_x,
                       N_phi,
                       mu,
                       nu,
                       alpha,
                       y,
                       {arrays[0], arrays[1], arrays[2], arrays[3]},
                       arrays[4],
                       arrays[5],
                       arrays[6]};
    const int states = N_I * N_B * N_Phi * N_Psi;
    const size_t bytes = (size_t)states * sizeof(float);
    float *d_later, *d_now;
    CHECK(cudaMalloc(&d_later, bytes));
    CHECK(cudaMalloc(&d_now, bytes));
    CHECK(cudaMemset(d_later, 0, bytes));
    for (int t = T - 1; t >= 0; t--) {
        plan_period<<<(states + THREADS - 1) / THREADS, THREADS>>>(p, states, c_t[t], h_t[t],
                                                                   b_t[t], d_later, d_now);
        CHECK(cudaGetLastError());
        float *swapped = d_later;
        d_later = d_now;
        d_now = swapped;
    }
    CHECK(cudaMemcpy(V_out, d_later, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_now));
    CHECK(cudaFree(d_later));
    for (float *array : arrays)
        CHECK(cudaFree(array));
}
