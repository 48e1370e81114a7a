// step: M03 on naive.cu
// A block computes 16 x 16 distances from tiles of both sets in shared memory, so that a coordinate
// is read from global memory once for 16 distances instead of once for each.
#include "check.cuh"

constexpr int SIDE = 16;

static __global__ void distances(int refs, int queries, int dim, const float *ref,
                                 const float *query, float *dist)
{
    __shared__ float tile_r[SIDE][SIDE], tile_q[SIDE][SIDE]; // coordinate, point
    const int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
    const int q = blockIdx.x * SIDE + x;
    for (int row = blockIdx.y * SIDE; row < refs; row += gridDim.y * SIDE) {
        float sum = 0;
        for (int k0 = 0; k0 < dim; k0 += SIDE) {
            const int k = k0 + y;
            tile_r[y][x] =
                k < dim && row + x < refs ? ref[static_cast<size_t>(k) * refs + row + x] : 0.0f;
            tile_q[y][x] =
                k < dim && q < queries ? query[static_cast<size_t>(k) * queries + q] : 0.0f;
            __syncthreads();
            for (int d = 0; d < SIDE; d++) {
                const float difference = tile_r[d][y] - tile_q[d][x];
                sum += difference * difference;
            }
            __syncthreads();
        }
        if (row + y < refs && q < queries)
            dist[static_cast<size_t>(row + y) * queries + q] = sum;
    }
}

extern "C" void solution_compute(int ref_nb, int query_nb, int dim, const float *ref,
                                 const float *query, float *dist)
{
    const size_t ref_bytes = static_cast<size_t>(ref_nb) * dim * sizeof(float);
    const size_t query_bytes = static_cast<size_t>(query_nb) * dim * sizeof(float);
    const size_t bytes = static_cast<size_t>(ref_nb) * query_nb * sizeof(float);
    float *d_ref, *d_query, *d_dist;
    CHECK(cudaMalloc(&d_ref, ref_bytes));
    CHECK(cudaMalloc(&d_query, query_bytes));
    CHECK(cudaMalloc(&d_dist, bytes));
    CHECK(cudaMemcpy(d_ref, ref, ref_bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_query, query, query_bytes, cudaMemcpyHostToDevice));

    const int high = (ref_nb - 1) / SIDE + 1;
    const dim3 grid((query_nb - 1) / SIDE + 1, high < 65535 ? high : 65535);
    distances<<<grid, SIDE * SIDE>>>(ref_nb, query_nb, dim, d_ref, d_query, d_dist);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(dist, d_dist, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_ref));
    CHECK(cudaFree(d_query));
    CHECK(cudaFree(d_dist));
}
