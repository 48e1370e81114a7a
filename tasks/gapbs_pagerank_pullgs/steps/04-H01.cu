// step: H01 on 03-P07.cu
// The graph comes over through a ring of pinned slots that several host threads fill, where it is
// large enough for that to pay.
#include "transfer.cuh"

#include <cooperative_groups.h>

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

// change: of three sweeps in turn, so that clearing one needs no barrier.
static __global__ void sweeps(int n, const int *row_ptr, const int *col_idx, const int *out_degree,
                              float *passed, float *score, float *passed_next, double *change)
{
    __shared__ double partial[THREADS / 32];
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    const int teams = gridDim.x * (THREADS / TEAM), lane = threadIdx.x % TEAM;
    for (int done = 0; done < SWEEPS_MAX; done++) {
        double mine = 0;
        for (int first = blockIdx.x * (THREADS / TEAM); first < n; first += teams) {
            const int u = first + threadIdx.x / TEAM;
            float sum = 0;
            if (u < n)
                for (int e = row_ptr[u] + lane; e < row_ptr[u + 1]; e += TEAM)
                    sum += __ldcg(&passed[col_idx[e]]);
            __syncwarp();
            for (int d = TEAM / 2; d > 0; d /= 2)
                sum += __shfl_down_sync(~0u, sum, d, TEAM);
            if (u < n && lane == 0) {
                const float next = 0.15f / (float)n + 0.85f * sum;
                mine += fabs((double)next - (double)score[u]);
                score[u] = next;
                passed_next[u] = out_degree[u] > 0 ? next / (float)out_degree[u] : 0.0f;
            }
        }
        __syncwarp();
        for (int d = 16; d > 0; d /= 2)
            mine += __shfl_down_sync(~0u, mine, d);
        if (threadIdx.x % 32 == 0)
            partial[threadIdx.x / 32] = mine;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int w = 1; w < THREADS / 32; w++)
                mine += partial[w];
            atomicAdd(&change[done % 3], mine);
            if (blockIdx.x == 0)
                change[(done + 1) % 3] = 0;
        }
        grid.sync();
        if (__ldcg(&change[done % 3]) < 1e-4)
            break;
        float *kept = passed;
        passed = passed_next;
        passed_next = kept;
    }
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
    CHECK(cudaMalloc(&change, 3 * sizeof(double)));
    const transfer::Array in[] = {{row_ptr, in_row_ptr, (vertices + 1) * sizeof(int)},
                                  {col_idx, in_col_idx, m * sizeof(int)},
                                  {degree, out_degree, vertices * sizeof(int)}};
    transfer::upload(in, 3);
    start<<<blocks, THREADS>>>(n, degree, score, passed);
    CHECK(cudaGetLastError());
    (void)max_iters; /* caps sweeps in the order of vertex numbers */
    int device, processors, resident;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, sweeps, THREADS, 0));
    CHECK(cudaMemset(change, 0, 3 * sizeof(double)));
    void *arguments[] = {&n, &row_ptr, &col_idx, &degree, &passed, &score, &passed_next, &change};
    const int wanted = processors * (resident < 4 ? resident : 4);
    CHECK(cudaLaunchCooperativeKernel(sweeps, dim3(wanted < team_blocks ? wanted : team_blocks),
                                      dim3(THREADS), arguments, 0, NULL));
    CHECK(cudaMemcpy(scores_out, score, vertices * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(row_ptr));
    CHECK(cudaFree(col_idx));
    CHECK(cudaFree(degree));
    CHECK(cudaFree(score));
    CHECK(cudaFree(passed));
    CHECK(cudaFree(passed_next));
    CHECK(cudaFree(change));
}
