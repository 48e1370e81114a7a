// step: P05 on naive.cu
// Eight lanes sum a row together, so that its edges are read side by side and a hub does not keep
// one thread busy for long.
#include "check.cuh"

#define THREADS 256
#define TEAM    8
#define SWEEPS_MAX                                                                                 \
    1000 /* synchronous sweeps shrink the change by 0.85 each: a hundred are plenty */

static __global__ void start(int n, const int *out_degree, float *score, float *passed)
{
    const int u = blockIdx.x * THREADS + threadIdx.x;
    if (u >= n)
        return;
    score[u] = 1.0f / (float)n;
    passed[u] = out_degree[u] > 0 ? score[u] / (float)out_degree[u] : 0.0f;
}

static __global__ void sweep(int n, const int *row_ptr, const int *col_idx, const int *out_degree,
                             const float *passed, float *score, float *passed_next, double *change)
{
    const int u = (blockIdx.x * THREADS + threadIdx.x) / TEAM, lane = threadIdx.x % TEAM;
    float sum = 0;
    if (u < n)
        for (int e = row_ptr[u] + lane; e < row_ptr[u + 1]; e += TEAM)
            sum += passed[col_idx[e]];
    __syncwarp();
    for (int d = TEAM / 2; d > 0; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d, TEAM);
    if (u >= n || lane > 0)
        return;
    const float next = 0.15f / (float)n + 0.85f * sum;
    atomicAdd(change, fabs((double)next - (double)score[u]));
    score[u] = next;
    passed_next[u] = out_degree[u] > 0 ? next / (float)out_degree[u] : 0.0f;
}

extern "C" void solution_compute(int n, int max_iters, const int *in_row_ptr, const int *in_col_idx,
                                 const int *out_degree, float *scores_out)
{
    const int blocks = (n + THREADS - 1) / THREADS;
    const int team_blocks = (n + THREADS / TEAM - 1) / (THREADS / TEAM);
    const size_t vertices = (size_t)n, m = (size_t)in_row_ptr[n];
    int *row_ptr, *col_idx, *degree;
    float *score, *passed, *passed_next;
    double *change;
    CHECK(cudaMalloc(&row_ptr, (vertices + 1) * sizeof(int)));
    CHECK(cudaMalloc(&col_idx, (m + 1) * sizeof(int)));
    CHECK(cudaMalloc(&degree, vertices * sizeof(int)));
    CHECK(cudaMalloc(&score, vertices * sizeof(float)));
    CHECK(cudaMalloc(&passed, vertices * sizeof(float)));
    CHECK(cudaMalloc(&passed_next, vertices * sizeof(float)));
    CHECK(cudaMalloc(&change, sizeof(double)));
    CHECK(cudaMemcpy(row_ptr, in_row_ptr, (vertices + 1) * sizeof(int), cudaMemcpyHostToDevice));
    if (m > 0)
        CHECK(cudaMemcpy(col_idx, in_col_idx, m * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(degree, out_degree, vertices * sizeof(int), cudaMemcpyHostToDevice));
    start<<<blocks, THREADS>>>(n, degree, score, passed);
    CHECK(cudaGetLastError());
    for (int done = 0; max_iters > 0 && done < SWEEPS_MAX; done++) {
        double total;
        CHECK(cudaMemset(change, 0, sizeof(double)));
        sweep<<<team_blocks, THREADS>>>(n, row_ptr, col_idx, degree, passed, score, passed_next,
                                        change);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(&total, change, sizeof(double), cudaMemcpyDeviceToHost));
        if (total < 1e-4)
            break;
        float *const kept = passed;
        passed = passed_next;
        passed_next = kept;
    }
    CHECK(cudaMemcpy(scores_out, score, vertices * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(row_ptr));
    CHECK(cudaFree(col_idx));
    CHECK(cudaFree(degree));
    CHECK(cudaFree(score));
    CHECK(cudaFree(passed));
    CHECK(cudaFree(passed_next));
    CHECK(cudaFree(change));
}
