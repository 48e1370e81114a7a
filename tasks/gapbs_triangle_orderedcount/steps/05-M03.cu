// step: M03 on 04-P08.cu
// A warp stages the list of its vertex in shared memory, where it is bisected for every entry of
// every member's list. Lists that do not fit go piece by piece.
#include "check.cuh"

#define THREADS 256
#define WARPS   (THREADS / 32)
#define PIECE   256 // entries of a list that a warp stages

// Shortens each row to the neighbours of higher rank; a warp a row.
static __global__ void direct(int n, const int *row_ptr, int *col_idx, int *length)
{
    const int u = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (u >= n)
        return;
    const int degree = row_ptr[u + 1] - row_ptr[u];
    int at = row_ptr[u];
    for (int first = at; first < row_ptr[u + 1]; first += 32) {
        const int e = first + lane;
        bool keep = false;
        int v = 0;
        if (e < row_ptr[u + 1]) {
            v = col_idx[e];
            const int other = row_ptr[v + 1] - row_ptr[v];
            keep = other > degree || (other == degree && v > u);
        }
        const unsigned kept = __ballot_sync(~0u, keep);
        if (keep)
            col_idx[at + __popc(kept & ((1u << lane) - 1))] = v;
        at += __popc(kept);
        __syncwarp();
    }
    if (lane == 0)
        length[u] = at - row_ptr[u];
}

static __device__ bool holds(const int *list, int length, int v)
{
    int low = 0;
    for (int end = length; end - low > 1;) {
        const int middle = low + (end - low) / 2;
        if (list[middle] <= v)
            low = middle;
        else
            end = middle;
    }
    return list[low] == v;
}

static __global__ void count_triangles(int n, const int *row_ptr, const int *col_idx,
                                       const int *length, unsigned long long *total)
{
    __shared__ int pieces[WARPS][PIECE];
    int *piece = pieces[threadIdx.x / 32];
    const int u = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (u >= n || length[u] < 2)
        return;
    const int *list = col_idx + row_ptr[u];
    unsigned long long count = 0;
    for (int staged = 0; staged < length[u]; staged += PIECE) {
        const int here = min(length[u] - staged, PIECE);
        __syncwarp();
        for (int i = lane; i < here; i += 32)
            piece[i] = list[staged + i];
        __syncwarp();
        for (int i = 0; i < length[u]; i++) {
            const int v = list[i];
            for (int e = lane; e < length[v]; e += 32)
                count += holds(piece, here, col_idx[row_ptr[v] + e]);
        }
    }
    __syncwarp();
    for (int d = 16; d > 0; d /= 2)
        count += __shfl_down_sync(~0u, count, d);
    if (lane == 0 && count > 0)
        atomicAdd(total, count);
}

extern "C" void solution_compute(int n, const int *row_ptr, const int *col_idx,
                                 unsigned long long *triangle_count_out)
{
    const int m = row_ptr[n];
    int *rows, *columns, *length;
    unsigned long long *total;
    CHECK(cudaMalloc(&rows, ((size_t)n + 1) * sizeof(int)));
    CHECK(cudaMalloc(&columns, ((size_t)m + 1) * sizeof(int)));
    CHECK(cudaMalloc(&length, (size_t)n * sizeof(int)));
    CHECK(cudaMalloc(&total, sizeof(unsigned long long)));
    CHECK(cudaMemcpy(rows, row_ptr, ((size_t)n + 1) * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(total, 0, sizeof(unsigned long long)));
    if (m > 0) {
        CHECK(cudaMemcpy(columns, col_idx, (size_t)m * sizeof(int), cudaMemcpyHostToDevice));
        direct<<<(n + WARPS - 1) / WARPS, THREADS>>>(n, rows, columns, length);
        CHECK(cudaGetLastError());
        count_triangles<<<(n + WARPS - 1) / WARPS, THREADS>>>(n, rows, columns, length, total);
        CHECK(cudaGetLastError());
    }
    CHECK(
        cudaMemcpy(triangle_count_out, total, sizeof(unsigned long long), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(rows));
    CHECK(cudaFree(columns));
    CHECK(cudaFree(length));
    CHECK(cudaFree(total));
}
