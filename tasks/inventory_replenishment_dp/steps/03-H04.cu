// step: H04 on 02-P05.cu
// One allocation holds the inputs and all values, where eight had been made and released.
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
    int size[2], actions, shocks; /* sizes of the grids of inventory, sum of shocks */
    float mu, nu, alpha, y;
    const float *grid[2], *action, *shock, *chance;
};

__device__ float interpolate(const problem &p, const float *v, place i, place phi)
{
    const float *low = v + i.cell * p.size[1] + phi.cell, *high = low + p.size[1];
    return (1.0f - i.weight) * ((1.0f - phi.weight) * low[0] + phi.weight * low[1]) +
           i.weight * ((1.0f - phi.weight) * high[0] + phi.weight * high[1]);
}

__global__ void plan_period(problem p, float c, float h, float b, const float *later, float *now)
{
    __shared__ float best_of[THREADS / 32];
    const int s = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const float phi = p.grid[1][s % p.size[1]], stock = p.grid[0][s / p.size[1]];
    float best = 1e30f;
    for (int a = warp; a < p.actions; a += THREADS / 32) {
        float expected = 0.0f;
        for (int k = lane; k < p.shocks; k += 32) {
            const float f = p.shock[k], x = p.action[a];
            const float next = stock + p.y + x - (p.mu + p.nu * (f + p.alpha * phi));
            const float held = fmaxf(0.0f, next), short_of = fmaxf(0.0f, -next);
            const place at_i = locate(p.grid[0], p.size[0], next),
                        at_phi = locate(p.grid[1], p.size[1], phi + f);
            expected += p.chance[k] * (c * fabsf(x) + h * held + b * short_of +
                                       interpolate(p, later, at_i, at_phi));
        }
        for (int far = 16; far > 0; far /= 2)
            expected += __shfl_xor_sync(~0u, expected, far);
        best = fminf(best, expected);
    }
    if (lane == 0)
        best_of[warp] = best;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < THREADS / 32; w++)
            best = fminf(best, best_of[w]);
        now[s] = best;
    }
}

/* Over backlog and squared shocks. */
__global__ void spread(int all, int N_B, int N_Phi, int N_Psi, const float *values, float *out)
{
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= all)
        return;
    const int phi = s / N_Psi % N_Phi, i = s / (N_Psi * N_Phi * N_B);
    out[s] = values[i * N_Phi + phi];
}

extern "C" void solution_compute(int N_I, int N_B, int N_Phi, int N_Psi, int N_x, int N_phi, int T,
                                 const float *c_t, const float *h_t, const float *b_t, float mu,
                                 float nu, float alpha, float y, const float *grid_I,
                                 const float *grid_B, const float *grid_Phi, const float *grid_Psi,
                                 const float *actions, const float *shocks,
                                 const float *shock_probs, float *V_out)
{
    (void)grid_B;
    (void)grid_Psi;
    const float *const arrays[5] = {grid_I, grid_Phi, actions, shocks, shock_probs};
    const int counts[5] = {N_I, N_Phi, N_x, N_phi, N_phi};
    const int inputs = N_I + N_Phi + N_x + 2 * N_phi, states = N_I * N_Phi,
              all = states * N_B * N_Psi;
    float *device, *starts[5];
    CHECK(cudaMalloc(&device, ((size_t)inputs + 2 * states + all) * sizeof(float)));
    float *d_later = device + inputs, *d_now = d_later + states, *d_out = d_now + states;
    int filled = 0;
    for (int k = 0; k < 5; k++) {
        starts[k] = device + filled;
        CHECK(cudaMemcpy(starts[k], arrays[k], counts[k] * sizeof(float), cudaMemcpyHostToDevice));
        filled += counts[k];
    }
    const problem p = {{N_I, N_Phi},           N_x,       N_phi,     mu,       nu, alpha, y,
                       {starts[0], starts[1]}, starts[2], starts[3], starts[4]};
    CHECK(cudaMemset(d_later, 0, states * sizeof(float)));
    for (int t = T - 1; t >= 0; t--) {
        plan_period<<<states, THREADS>>>(p, c_t[t], h_t[t], b_t[t], d_later, d_now);
        CHECK(cudaGetLastError());
        float *swapped = d_later;
        d_later = d_now;
        d_now = swapped;
    }
    spread<<<(all + THREADS - 1) / THREADS, THREADS>>>(all, N_B, N_Phi, N_Psi, d_later, d_out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(V_out, d_out, all * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device));
}
