/* One thread a stored edge (u, v): it finds u by binary search in the row pointers and, where v <
 * u, merges the two rows up to v as the reference does. Bound by uncoalesced reads of the merges,
 * by warps whose threads have rows of very different lengths, and by the long merges of hubs, which
 * the order of numbers does not shorten. */
#include "check.cuh"

#define THREADS 256

static __global__ void count_triangles(int n, int m, const int *row_ptr, const int *col_idx,
                                       unsigned long long *total)
{
    const long long thread = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (thread >= m)
        return;
    const int e = (int)thread, v = col_idx[e];
    int u = 0;
    for (int end = n;
         end - u >
         1;) { /* the last row that starts at e or before: row_ptr[u] <= e < row_ptr[u+1] */
        const int middle = u + (end - u) / 2;
        if (row_ptr[middle] <= e)
            u = middle;
        else
            end = middle;
    }
    if (v >= u)
        return;
    unsigned long long count = 0;
    int x = row_ptr[v];
    const int end_v = row_ptr[v + 1];
    for (int w = row_ptr[u]; w < e; w++) {
        while (x < end_v && col_idx[x] < col_idx[w])
            x++;
        if (x == end_v)
            break;
        count += col_idx[x] == col_idx[w];
    }
    if (count > 0)
        atomicAdd(total, count);
}

extern "C" void solution_compute(int n, const int *row_ptr, const int *col_idx,
                                 unsigned long long *triangle_count_out)
{
    const int m = row_ptr[n];
    int *rows, *columns;
    unsigned long long *total;
    CHECK(cudaMalloc(&rows, ((size_t)n + 1) * sizeof(int)));
    CHECK(cudaMalloc(&columns, ((size_t)m + 1) * sizeof(int)));
    CHECK(cudaMalloc(&total, sizeof(unsigned long long)));
    CHECK(cudaMemcpy(rows, row_ptr, ((size_t)n + 1) * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(total, 0, sizeof(unsigned long long)));
    if (m > 0) {
        CHECK(cudaMemcpy(columns, col_idx, (size_t)m * sizeof(int), cudaMemcpyHostToDevice));
        count_triangles<<<(unsigned)(((long long)m + THREADS - 1) / THREADS), THREADS>>>(
            n, m, rows, columns, total);
        CHECK(cudaGetLastError());
    }
    CHECK(
        cudaMemcpy(triangle_count_out, total, sizeof(unsigned long long), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(rows));
    CHECK(cudaFree(columns));
    CHECK(cudaFree(total));
}
