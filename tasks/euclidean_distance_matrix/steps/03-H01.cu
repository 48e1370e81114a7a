// step: H01 on 02-M04.cu
// Large arrays pass through pinned slots that several host threads fill and empty: the copy of the
// matrix, which is most of the time, then runs nearer the speed of the bus.
#include "transfer.cuh"

constexpr int SIDE = 16, OWN = 4, TILE = SIDE * OWN; // threads a side, distances of one, of a block

static __global__ void distances(int refs, int queries, int dim, const float *ref,
                                 const float *query, float *dist)
{
    __shared__ float tile_r[SIDE][TILE], tile_q[SIDE][TILE]; // coordinate, point
    const int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
    const int column = blockIdx.x * TILE;
    for (int row = blockIdx.y * TILE; row < refs; row += gridDim.y * TILE) {
        float sum[OWN][OWN] = {};
        for (int k0 = 0; k0 < dim; k0 += SIDE) {
            const int k = k0 + y;
            for (int i = x; i < TILE; i += SIDE) {
                const int r = row + i, q = column + i;
                tile_r[y][i] = k < dim && r < refs ? ref[static_cast<size_t>(k) * refs + r] : 0.0f;
                tile_q[y][i] =
                    k < dim && q < queries ? query[static_cast<size_t>(k) * queries + q] : 0.0f;
            }
            __syncthreads();
            for (int d = 0; d < SIDE; d++) {
                float r[OWN], q[OWN];
#pragma unroll
                for (int i = 0; i < OWN; i++) {
                    r[i] = tile_r[d][y + i * SIDE];
                    q[i] = tile_q[d][x + i * SIDE];
                }
#pragma unroll
                for (int i = 0; i < OWN; i++)
#pragma unroll
                    for (int j = 0; j < OWN; j++) {
                        const float difference = r[i] - q[j];
                        sum[i][j] += difference * difference;
                    }
            }
            __syncthreads();
        }
#pragma unroll
        for (int i = 0; i < OWN; i++)
#pragma unroll
            for (int j = 0; j < OWN; j++) {
                const int r = row + y + i * SIDE, q = column + x + j * SIDE;
                if (r < refs && q < queries)
                    dist[static_cast<size_t>(r) * queries + q] = sum[i][j];
            }
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
    const transfer::Array in[] = {{d_ref, ref, ref_bytes}, {d_query, query, query_bytes}};
    transfer::upload(in, 2);

    const int high = (ref_nb - 1) / TILE + 1;
    const dim3 grid((query_nb - 1) / TILE + 1, high < 65535 ? high : 65535);
    distances<<<grid, SIDE * SIDE>>>(ref_nb, query_nb, dim, d_ref, d_query, d_dist);
    CHECK(cudaGetLastError());

    CHECK(cudaDeviceSynchronize());
    const transfer::Array out[] = {{d_dist, dist, bytes}};
    transfer::download(out, 1);
    CHECK(cudaFree(d_ref));
    CHECK(cudaFree(d_query));
    CHECK(cudaFree(d_dist));
}
