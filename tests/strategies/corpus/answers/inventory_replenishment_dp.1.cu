// The time loop is built as a graph by hand, node after node; the value function of the next period sits in shared memory
// only as scratch of the reduction.
#include <cuda_runtime.h>
#include <vector>

struct Setup {
    int nI, nB, nP, nS, nx, nf;
    float mu, nu, alpha, y;
    const float *gI, *gB, *gP, *gS, *act, *shk, *prb;
};

__device__ float lerp_at(const float *grid, int n, float v, int *cell)
{
    int c = 0;
    while (c + 2 < n && grid[c + 1] <= v)
        c++;
    *cell = c;
    const float w = (v - grid[c]) / (grid[c + 1] - grid[c]);
    return w < 0 ? 0 : w > 1 ? 1 : w;
}

__global__ void period(Setup s, float c, float h, float b, const float *later, float *now)
{
    __shared__ float part[64];
    const int state = blockIdx.x;
    const float psi = s.gS[state % s.nS], phi = s.gP[state / s.nS % s.nP];
    const float back = s.gB[state / (s.nS * s.nP) % s.nB], stock = s.gI[state / (s.nS * s.nP * s.nB)];
    float best = 1e30f;
    for (int a = threadIdx.x; a < s.nx; a += blockDim.x) {
        float sum = 0;
        for (int k = 0; k < s.nf; k++) {
            const float f = s.shk[k];
            const float next = stock + s.y + s.act[a] - (s.mu + s.nu * (f + s.alpha * phi));
            int ci, cb, cp, cs;
            const float wi = lerp_at(s.gI, s.nI, next, &ci), wb = lerp_at(s.gB, s.nB, back + fmaxf(0, -next), &cb);
            const float wp = lerp_at(s.gP, s.nP, phi + f, &cp), ws = lerp_at(s.gS, s.nS, psi + f * f, &cs);
            float v = 0;
            for (int corner = 0; corner < 16; corner++) {
                const int i = corner >> 3 & 1, j = corner >> 2 & 1, p = corner >> 1 & 1, q = corner & 1;
                v += (i ? wi : 1 - wi) * (j ? wb : 1 - wb) * (p ? wp : 1 - wp) * (q ? ws : 1 - ws) *
                     later[(((ci + i) * s.nB + cb + j) * s.nP + cp + p) * s.nS + cs + q];
            }
            sum += s.prb[k] * (c * fabsf(s.act[a]) + h * fmaxf(0, next) + b * fmaxf(0, -next) + v);
        }
        best = fminf(best, sum);
    }
    part[threadIdx.x] = best;
    __syncthreads();
    for (int half = 32; half > 0; half >>= 1) {
        if (threadIdx.x < half)
            part[threadIdx.x] = fminf(part[threadIdx.x], part[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        now[state] = part[0];
}

extern "C" void solution_compute(int N_I, int N_B, int N_Phi, int N_Psi, int N_x, int N_phi, int T, const float *c_t,
                                 const float *h_t, const float *b_t, float mu, float nu, float alpha, float y,
                                 const float *grid_I, const float *grid_B, const float *grid_Phi, const float *grid_Psi,
                                 const float *actions, const float *shocks, const float *shock_probs, float *V_out)
{
    const float *src[7] = {grid_I, grid_B, grid_Phi, grid_Psi, actions, shocks, shock_probs};
    const int len[7] = {N_I, N_B, N_Phi, N_Psi, N_x, N_phi, N_phi};
    float *dst[7];
    const int states = N_I * N_B * N_Phi * N_Psi;
    int small = 0;
    for (int l : len)
        small += l;
    float *arena;
    cudaMalloc(&arena, sizeof(float) * (small + 2 * (size_t)states));
    std::vector<float> staged;
    for (int k = 0, at = 0; k < 7; at += len[k++]) {
        dst[k] = arena + at;
        staged.insert(staged.end(), src[k], src[k] + len[k]);
    }
    cudaMemcpy(arena, staged.data(), sizeof(float) * small, cudaMemcpyHostToDevice);
    float *v[2] = {arena + small, arena + small + states};
    cudaMemset(v[0], 0, sizeof(float) * states);
    Setup s = {N_I, N_B, N_Phi, N_Psi, N_x, N_phi, mu, nu, alpha, y, dst[0], dst[1], dst[2], dst[3], dst[4], dst[5], dst[6]};
    cudaGraph_t graph;
    cudaGraphCreate(&graph, 0);
    cudaGraphNode_t last = nullptr;
    for (int k = 0; k < T; k++) {
        const int t = T - 1 - k;
        float c = c_t[t], h = h_t[t], b = b_t[t];
        const float *later = v[k % 2];
        float *now = v[1 - k % 2];
        void *args[] = {&s, &c, &h, &b, &later, &now};
        cudaKernelNodeParams p = {};
        p.func = (void *)period;
        p.gridDim = dim3(states);
        p.blockDim = dim3(64);
        p.kernelParams = args;
        cudaGraphNode_t node;
        cudaGraphAddKernelNode(&node, graph, last ? &last : nullptr, last ? 1 : 0, &p);
        last = node;
    }
    cudaGraphExec_t run;
    cudaGraphInstantiate(&run, graph, NULL, NULL, 0);
    cudaGraphLaunch(run, 0);
    cudaMemcpy(V_out, v[T % 2], sizeof(float) * states, cudaMemcpyDeviceToHost);
    cudaGraphExecDestroy(run);
    cudaGraphDestroy(graph);
    cudaFree(arena);
}
