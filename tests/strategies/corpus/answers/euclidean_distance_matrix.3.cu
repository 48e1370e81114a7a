// Two-stage software pipeline: while a tile is used the next one is on its way by cp.async.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#define TILE_K 8
#define TILE 64
#define PAD 4
#define PER 4

__global__ void __launch_bounds__(256, 2)
    pairwise(int nr, int nq, int dim, const float *__restrict__ ref, const float *__restrict__ query, float *out)
{
    __shared__ float sr[2][TILE_K][TILE + PAD];
    __shared__ float sq[2][TILE_K][TILE + PAD];
    const int tid = threadIdx.x, tx = tid % 16, ty = tid / 16;
    const int r0 = blockIdx.y * TILE, q0 = blockIdx.x * TILE;
    float acc[PER][PER];
#pragma unroll
    for (int i = 0; i < PER; ++i)
#pragma unroll
        for (int j = 0; j < PER; ++j)
            acc[i][j] = 0.0f;

    auto fetch = [&](int stage, int k0) {
        for (int e = tid; e < TILE_K * TILE; e += 256) {
            const int k = e / TILE, c = e % TILE;
            const int kk = min(k0 + k, dim - 1);
            __pipeline_memcpy_async(&sr[stage][k][c], &ref[(size_t)kk * nr + min(r0 + c, nr - 1)], sizeof(float));
            __pipeline_memcpy_async(&sq[stage][k][c], &query[(size_t)kk * nq + min(q0 + c, nq - 1)], sizeof(float));
        }
        __pipeline_commit();
    };

    const int steps = (dim + TILE_K - 1) / TILE_K;
    fetch(0, 0);
    for (int s = 0; s < steps; ++s) {
        if (s + 1 < steps) {
            fetch((s + 1) & 1, (s + 1) * TILE_K);
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
        }
        __syncthreads();
        const int valid = min(TILE_K, dim - s * TILE_K);
        for (int k = 0; k < valid; ++k) {
            float a[PER], b[PER];
#pragma unroll
            for (int i = 0; i < PER; ++i) {
                a[i] = sr[s & 1][k][ty * PER + i];
                b[i] = sq[s & 1][k][tx + i * 16];
            }
#pragma unroll
            for (int i = 0; i < PER; ++i)
#pragma unroll
                for (int j = 0; j < PER; ++j) {
                    const float d = a[i] - b[j];
                    acc[i][j] = __fmaf_rn(d, d, acc[i][j]);
                }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < PER; ++i)
#pragma unroll
        for (int j = 0; j < PER; ++j) {
            const int r = r0 + ty * PER + i, q = q0 + tx + j * 16;
            if (r < nr && q < nq)
                out[(size_t)r * nq + q] = acc[i][j];
        }
}

extern "C" void solution_compute(int ref_nb, int query_nb, int dim, const float *ref, const float *query, float *dist)
{
    const size_t rb = sizeof(float) * (size_t)ref_nb * dim, qb = sizeof(float) * (size_t)query_nb * dim;
    const size_t ob = sizeof(float) * (size_t)ref_nb * query_nb;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    float *r, *q, *o;
    cudaMallocAsync(&r, rb, stream);
    cudaMallocAsync(&q, qb, stream);
    cudaMallocAsync(&o, ob, stream);
    cudaMemcpyAsync(r, ref, rb, cudaMemcpyHostToDevice, stream);
    cudaMemcpyAsync(q, query, qb, cudaMemcpyHostToDevice, stream);
    pairwise<<<dim3((query_nb + TILE - 1) / TILE, (ref_nb + TILE - 1) / TILE), 256, 0, stream>>>(ref_nb, query_nb, dim,
                                                                                              r, q, o);
    cudaMemcpyAsync(dist, o, ob, cudaMemcpyDeviceToHost, stream);
    cudaFreeAsync(r, stream);
    cudaFreeAsync(q, stream);
    cudaFreeAsync(o, stream);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
}
