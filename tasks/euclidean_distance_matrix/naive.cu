/* One thread a distance: it loops over the coordinates and reads both points from global memory.
 * Neighbouring threads have neighbouring queries, so that reads and writes are coalesced; still two
 * loads a term, bound by the caches, and overall by copying the result back. */
#include "check.cuh"

__global__ void distances(int refs, int queries, int dim, const float *ref, const float *query,
                          float *dist)
{
    const size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (size_t)refs * queries)
        return;
    const size_t r = at / queries, q = at % queries;
    float sum = 0;
    for (int k = 0; k < dim; k++) {
        const float difference = ref[(size_t)k * refs + r] - query[(size_t)k * queries + q];
        sum += difference * difference;
    }
    dist[at] = sum;
}

extern "C" void solution_compute(int ref_nb, int query_nb, int dim, const float *ref,
                                 const float *query, float *dist)
{
    const size_t ref_bytes = (size_t)ref_nb * dim * sizeof(float);
    const size_t query_bytes = (size_t)query_nb * dim * sizeof(float);
    const size_t count = (size_t)ref_nb * query_nb;
    float *d_ref, *d_query, *d_dist;
    CHECK(cudaMalloc(&d_ref, ref_bytes));
    CHECK(cudaMalloc(&d_query, query_bytes));
    CHECK(cudaMalloc(&d_dist, count * sizeof(float)));
    CHECK(cudaMemcpy(d_ref, ref, ref_bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_query, query, query_bytes, cudaMemcpyHostToDevice));

    const int threads = 256;
    const unsigned blocks = (unsigned)((count + threads - 1) / threads);
    distances<<<blocks, threads>>>(ref_nb, query_nb, dim, d_ref, d_query, d_dist);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(dist, d_dist, count * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_ref));
    CHECK(cudaFree(d_query));
    CHECK(cudaFree(d_dist));
}
