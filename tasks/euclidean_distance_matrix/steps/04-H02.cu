// step: H02 on 03-H01.cu
// The sets come in and the matrix goes out through one ring, and bands of rows are computed on a
// stream of their own while earlier ones are on their way out.
#include "transfer.cuh"

#include <algorithm>

constexpr int SIDE = 16, OWN = 4, TILE = SIDE * OWN; // threads a side, distances of one, of a block

static __global__ void distances(int first_row, int end_row, int refs, int queries, int dim,
                                 const float *ref, const float *query, float *dist)
{
    __shared__ float tile_r[SIDE][TILE], tile_q[SIDE][TILE]; // coordinate, point
    const int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
    const int column = blockIdx.x * TILE;
    for (int row = first_row + blockIdx.y * TILE; row < end_row; row += gridDim.y * TILE) {
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
                if (r < end_row && q < queries)
                    dist[static_cast<size_t>(r) * queries + q] = sum[i][j];
            }
    }
}

struct Part {
    char *device, *host;
    size_t bytes;
};

extern "C" void solution_compute(int ref_nb, int query_nb, int dim, const float *ref,
                                 const float *query, float *dist)
{
    const size_t ref_bytes = static_cast<size_t>(ref_nb) * dim * sizeof(float);
    const size_t query_bytes = static_cast<size_t>(query_nb) * dim * sizeof(float);
    const size_t row_bytes = static_cast<size_t>(query_nb) * sizeof(float),
                 bytes = row_bytes * ref_nb;
    float *d_ref, *d_query, *d_dist;
    CHECK(cudaMalloc(&d_ref, ref_bytes));
    CHECK(cudaMalloc(&d_query, query_bytes));
    CHECK(cudaMalloc(&d_dist, bytes));

    const transfer::Shape shape = transfer::shape_for(bytes);
    const size_t slot_bytes = shape.slot_bytes;
    auto pieces_of = [&](size_t all) { return (all + slot_bytes - 1) / slot_bytes; };
    const size_t query_piece = pieces_of(ref_bytes),
                 first_out = query_piece + pieces_of(query_bytes),
                 pieces = first_out + pieces_of(bytes);
    auto part_of = [&](const void *device, const void *host, size_t all, size_t piece) {
        const size_t from = piece * slot_bytes, left = all - from;
        return Part{static_cast<char *>(const_cast<void *>(device)) + from,
                    static_cast<char *>(const_cast<void *>(host)) + from,
                    left < slot_bytes ? left : slot_bytes};
    };
    auto part = [&](size_t piece) {
        return piece < query_piece ? part_of(d_ref, ref, ref_bytes, piece)
               : piece < first_out ? part_of(d_query, query, query_bytes, piece - query_piece)
                                   : part_of(d_dist, dist, bytes, piece - first_out);
    };
    constexpr int BANDS = 8;
    const int band_rows = ((ref_nb - 1) / BANDS / TILE + 1) * TILE;
    cudaEvent_t computed[BANDS];
    cudaStream_t computing, copying;
    CHECK(cudaStreamCreateWithFlags(&computing, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&copying, cudaStreamNonBlocking));
    for (int b = 0; b < BANDS; b++)
        CHECK(cudaEventCreateWithFlags(&computed[b], cudaEventDisableTiming));
    int awaited = 0; // bands that the copies out wait for so far
    transfer::pipeline(
        shape, pieces, [] {},
        [&](size_t piece, char *slot) {
            const Part p = part(piece);
            if (piece < first_out)
                memcpy(slot, p.host, p.bytes);
        },
        [&](size_t piece, size_t count, char *slot) {
            cudaStream_t last = computing;
            for (size_t k = 0; k < count; k++, piece++, slot += slot_bytes) {
                const Part p = part(piece);
                if (piece < first_out) {
                    CHECK(cudaMemcpyAsync(p.device, slot, p.bytes, cudaMemcpyHostToDevice,
                                          computing));
                    continue;
                }
                for (int b = 0; piece == first_out && b < BANDS; b++) {
                    const int first = b * band_rows,
                              rows = ref_nb - first < band_rows ? ref_nb - first : band_rows;
                    if (rows > 0) {
                        const dim3 grid((query_nb - 1) / TILE + 1,
                                        std::min((rows - 1) / TILE + 1, 65535));
                        distances<<<grid, SIDE * SIDE, 0, computing>>>(
                            first, first + rows, ref_nb, query_nb, dim, d_ref, d_query, d_dist);
                        CHECK(cudaGetLastError());
                    }
                    CHECK(cudaEventRecord(computed[b], computing));
                }
                const size_t last_byte = (piece - first_out) * slot_bytes + p.bytes - 1;
                for (; awaited <= static_cast<int>(last_byte / (row_bytes * band_rows)); awaited++)
                    CHECK(cudaStreamWaitEvent(copying, computed[awaited], 0));
                CHECK(cudaMemcpyAsync(slot, p.device, p.bytes, cudaMemcpyDeviceToHost, copying));
                last = copying;
            }
            return last;
        },
        [&](size_t piece, char *slot) {
            const Part p = part(piece);
            if (piece >= first_out)
                memcpy(p.host, slot, p.bytes);
        });
    for (int b = 0; b < BANDS; b++)
        CHECK(cudaEventDestroy(computed[b]));
    CHECK(cudaStreamDestroy(computing));
    CHECK(cudaStreamDestroy(copying));
    CHECK(cudaFree(d_ref));
    CHECK(cudaFree(d_query));
    CHECK(cudaFree(d_dist));
}
