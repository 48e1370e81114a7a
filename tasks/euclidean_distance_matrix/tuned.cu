// All squared distances: differences in register tiles, bands of rows on their way out while the
// next are computed.
//
// Approach: subtract and multiply-add in float, without the expanded square, which would need both
// sets centred. Tiles of both sets in shared memory, 8 x 4 or 8 x 8 distances a thread in
// registers, the next coordinates loaded meanwhile; tiles are smaller where there is less work. Up
// to 8 MB: plain copies, and no allocation up to 1 MB; else the sets come in and the matrix goes
// out through one ring of pinned slots, bands of rows being computed ahead of the copies.
//
// What bounds it: copying. Large: the way of the matrix through the ring, at some 28 GB/s; the
// distances take 0.7 ms of it, hidden but for the first band. Medium: plain copies, two thirds of
// it the matrix. Small: the calls.
//
// Tried: slots of 128 to 512 KB and twelve threads (up to half slower than eight with 1 MB), of 2
// MB (twice as slow), stores past the caches (a tenth slower); the ring at medium (no better); at
// medium, allocating and releasing in a second thread beside the copies (a sixth slower).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores: small 0.04 ms, medium 0.86 ms, large
// 3.0 ms (46 %, 11 % and 41 % of what the bus needs for the longer way; naive 0.14, 0.96 and 7.3
// ms). An evaluation, which comes to a call with cold caches, takes 0.082 ms at small and
// 4.2 ms at large.
#include "transfer.cuh"

constexpr int DEPTH = 8;                  // coordinates in shared memory at a time
constexpr size_t ARENA = 1000 * 1000;     // bytes
constexpr size_t PLAIN = size_t(8) << 20; // bytes in and out that are copied plainly
constexpr int BANDS = 8;

// For small sets: an allocation would cost more than the distances.
static __device__ __align__(256) float arena[ARENA / sizeof(float)];

// A block computes TY*4*GY reference points times TX*4*GX queries, a thread GY*GX squares of 4 x 4,
// which lie apart so that neighbouring threads read neighbouring words. Two buffers: while one is
// used, the next coordinates are on their way to registers and then to the other.
template <int TX, int TY, int GX, int GY>
static __global__ void __launch_bounds__(TX *TY, 2)
    distances(int refs, int queries, int dim, int first_ref, int end_ref,
              const float *__restrict__ ref, const float *__restrict__ query,
              float *__restrict__ dist)
{
    constexpr int THREADS = TX * TY, ROWS = TY * 4 * GY, COLUMNS = TX * 4 * GX;
    constexpr int LOADS_R = ROWS * DEPTH / THREADS, LOADS_Q = COLUMNS * DEPTH / THREADS;
    __shared__ __align__(16) float tile_r[2][DEPTH][ROWS], tile_q[2][DEPTH][COLUMNS];
    const int tx = threadIdx.x % TX, ty = threadIdx.x / TX;
    const int row0 = first_ref + blockIdx.y * ROWS, column0 = blockIdx.x * COLUMNS;
    float staged_r[LOADS_R], staged_q[LOADS_Q];
    auto load = [&](int k0) {
#pragma unroll
        for (int i = 0; i < LOADS_R; i++) {
            const int at = i * THREADS + static_cast<int>(threadIdx.x);
            const int k = k0 + at / ROWS, r = row0 + at % ROWS;
            staged_r[i] = k < dim && r < end_ref ? ref[static_cast<size_t>(k) * refs + r] : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < LOADS_Q; i++) {
            const int at = i * THREADS + static_cast<int>(threadIdx.x);
            const int k = k0 + at / COLUMNS, q = column0 + at % COLUMNS;
            staged_q[i] =
                k < dim && q < queries ? query[static_cast<size_t>(k) * queries + q] : 0.0f;
        }
    };
    auto store = [&](int buffer) {
#pragma unroll
        for (int i = 0; i < LOADS_R; i++) {
            const int at = i * THREADS + static_cast<int>(threadIdx.x);
            tile_r[buffer][at / ROWS][at % ROWS] = staged_r[i];
        }
#pragma unroll
        for (int i = 0; i < LOADS_Q; i++) {
            const int at = i * THREADS + static_cast<int>(threadIdx.x);
            tile_q[buffer][at / COLUMNS][at % COLUMNS] = staged_q[i];
        }
    };
    float sum[4 * GY][4 * GX];
#pragma unroll
    for (int y = 0; y < 4 * GY; y++)
#pragma unroll
        for (int x = 0; x < 4 * GX; x++)
            sum[y][x] = 0;
    load(0);
    store(0);
    __syncthreads();
    int buffer = 0;
    for (int k0 = 0; k0 < dim; k0 += DEPTH) {
        const bool more = k0 + DEPTH < dim;
        if (more)
            load(k0 + DEPTH);
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            float r[4 * GY], q[4 * GX];
#pragma unroll
            for (int g = 0; g < GY; g++) {
                const float4 four =
                    *reinterpret_cast<const float4 *>(&tile_r[buffer][k][g * TY * 4 + ty * 4]);
                r[4 * g] = four.x, r[4 * g + 1] = four.y, r[4 * g + 2] = four.z,
                      r[4 * g + 3] = four.w;
            }
#pragma unroll
            for (int g = 0; g < GX; g++) {
                const float4 four =
                    *reinterpret_cast<const float4 *>(&tile_q[buffer][k][g * TX * 4 + tx * 4]);
                q[4 * g] = four.x, q[4 * g + 1] = four.y, q[4 * g + 2] = four.z,
                      q[4 * g + 3] = four.w;
            }
#pragma unroll
            for (int y = 0; y < 4 * GY; y++)
#pragma unroll
                for (int x = 0; x < 4 * GX; x++) {
                    const float difference = r[y] - q[x];
                    sum[y][x] = fmaf(difference, difference, sum[y][x]);
                }
        }
        if (more)
            store(buffer ^ 1);
        buffer ^= 1;
        __syncthreads();
    }
#pragma unroll
    for (int y = 0; y < 4 * GY; y++) {
        const int r = row0 + y / 4 * TY * 4 + ty * 4 + y % 4;
        if (r >= end_ref)
            continue;
        float *row = dist + static_cast<size_t>(r) * queries;
#pragma unroll
        for (int x = 0; x < 4 * GX; x++) {
            const int q = column0 + x / 4 * TX * 4 + tx * 4 + x % 4;
            if (q < queries)
                row[q] = sum[y][x];
        }
    }
}

template <int TX, int TY, int GX, int GY>
static void launch(int refs, int queries, int dim, int first_ref, int end_ref, const float *ref,
                   const float *query, float *dist, cudaStream_t stream)
{
    // a grid is at most 65535 blocks high
    constexpr int ROWS = TY * 4 * GY, COLUMNS = TX * 4 * GX, HIGHEST = 65535;
    for (int first = first_ref; first < end_ref;) {
        const int high = (end_ref - first - 1) / ROWS + 1;
        const int blocks = high < HIGHEST ? high : HIGHEST;
        const int end = high <= HIGHEST ? end_ref : first + HIGHEST * ROWS;
        const dim3 grid((queries - 1) / COLUMNS + 1, blocks);
        distances<TX, TY, GX, GY>
            <<<grid, TX * TY, 0, stream>>>(refs, queries, dim, first, end, ref, query, dist);
        CHECK(cudaGetLastError());
        first = end;
    }
}

// Rows first_ref to end_ref-1, with tiles as large as leave work for all multiprocessors.
static void compute_rows(int refs, int queries, int dim, int first_ref, int end_ref,
                         const float *ref, const float *query, float *dist, cudaStream_t stream)
{
    const size_t entries = static_cast<size_t>(end_ref - first_ref) * queries;
    if (entries <= 160 * 32 * 32)
        launch<8, 8, 1, 1>(refs, queries, dim, first_ref, end_ref, ref, query, dist, stream);
    else if (entries <= 264 * 128 * 128)
        launch<16, 8, 1, 2>(refs, queries, dim, first_ref, end_ref, ref, query, dist, stream);
    else
        launch<16, 16, 2, 2>(refs, queries, dim, first_ref, end_ref, ref, query, dist, stream);
}

static void copy_plainly(int refs, int queries, int dim, const float *ref, const float *query,
                         float *dist)
{
    const size_t ref_count = static_cast<size_t>(refs) * dim,
                 query_count = static_cast<size_t>(queries) * dim,
                 entries = static_cast<size_t>(refs) * queries;
    float *memory;
    const bool fits = (ref_count + query_count + entries) * sizeof(float) <= ARENA;
    if (fits)
        CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&memory), arena));
    else
        CHECK(cudaMalloc(&memory, (ref_count + query_count + entries) * sizeof(float)));
    float *d_query = memory + ref_count, *d_dist = d_query + query_count;
    CHECK(cudaMemcpyAsync(memory, ref, ref_count * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyAsync(d_query, query, query_count * sizeof(float), cudaMemcpyHostToDevice));
    compute_rows(refs, queries, dim, 0, refs, memory, d_query, d_dist, nullptr);
    CHECK(cudaMemcpy(dist, d_dist, entries * sizeof(float), cudaMemcpyDeviceToHost));
    if (!fits)
        CHECK(cudaFree(memory));
}

// Pieces of the two sets come in through the ring, then pieces of the matrix go out through it.
static void stream_through(int refs, int queries, int dim, const float *ref, const float *query,
                           float *dist)
{
    const size_t ref_bytes = static_cast<size_t>(refs) * dim * sizeof(float),
                 query_bytes = static_cast<size_t>(queries) * dim * sizeof(float),
                 row_bytes = static_cast<size_t>(queries) * sizeof(float),
                 out_bytes = row_bytes * refs;
    const transfer::Shape shape = transfer::shape_for(ref_bytes + query_bytes + out_bytes);
    const size_t slot = shape.slot_bytes;
    const size_t query_piece = (ref_bytes + slot - 1) / slot,
                 first_out = query_piece + (query_bytes + slot - 1) / slot,
                 pieces = first_out + (out_bytes + slot - 1) / slot;
    struct Part {
        char *device, *host;
        size_t bytes;
    };
    char *memory = nullptr;
    auto part = [&](size_t piece) {
        const float *host = piece < query_piece ? ref : piece < first_out ? query : dist;
        const size_t all = piece < query_piece ? ref_bytes
                           : piece < first_out ? query_bytes
                                               : out_bytes;
        const size_t start = piece < query_piece ? 0
                             : piece < first_out ? ref_bytes
                                                 : ref_bytes + query_bytes;
        const size_t from = (piece - (piece < query_piece ? 0
                                      : piece < first_out ? query_piece
                                                          : first_out)) *
                            slot;
        return Part{memory + start + from,
                    const_cast<char *>(reinterpret_cast<const char *>(host)) + from,
                    all - from < slot ? all - from : slot};
    };

    // Bands of rows of the matrix, each a launch.
    const int band_rows = ((refs - 1) / BANDS / 128 + 1) * 128;
    cudaEvent_t computed[BANDS];
    int awaited = 0; // bands that the copies out wait for so far
    cudaStream_t computing, copying;
    transfer::pipeline(
        shape, pieces,
        [&] {
            CHECK(cudaMalloc(&memory, ref_bytes + query_bytes + out_bytes));
            CHECK(cudaStreamCreateWithFlags(&computing, cudaStreamNonBlocking));
            CHECK(cudaStreamCreateWithFlags(&copying, cudaStreamNonBlocking));
            for (int b = 0; b < BANDS; b++)
                CHECK(cudaEventCreateWithFlags(&computed[b], cudaEventDisableTiming));
        },
        [&](size_t piece, char *pinned) {
            const Part p = part(piece);
            if (piece < first_out)
                memcpy(pinned, p.host, p.bytes);
        },
        [&](size_t piece, size_t count, char *pinned) {
            cudaStream_t last = computing;
            size_t run; // pieces of the same array: one copy
            for (; count > 0; count -= run, piece += run, pinned += run * slot) {
                Part p = part(piece);
                const size_t kind_end = piece < query_piece ? query_piece
                                        : piece < first_out ? first_out
                                                            : pieces;
                run = count < kind_end - piece ? count : kind_end - piece;
                p.bytes = (run - 1) * slot + part(piece + run - 1).bytes;
                if (piece < first_out) {
                    CHECK(cudaMemcpyAsync(p.device, pinned, p.bytes, cudaMemcpyHostToDevice,
                                          computing));
                    continue;
                }
                float *const matrix = reinterpret_cast<float *>(memory + ref_bytes + query_bytes);
                if (piece == first_out)
                    for (int b = 0; b < BANDS; b++) {
                        const int first = b * band_rows;
                        const int end = refs - first < band_rows ? refs : first + band_rows;
                        if (first < end)
                            compute_rows(refs, queries, dim, first, end,
                                         reinterpret_cast<const float *>(memory),
                                         reinterpret_cast<const float *>(memory + ref_bytes),
                                         matrix, computing);
                        CHECK(cudaEventRecord(computed[b], computing));
                    }
                const size_t end_bytes = (piece - first_out) * slot + p.bytes;
                const int band = static_cast<int>((end_bytes - 1) /
                                                  (row_bytes * static_cast<size_t>(band_rows)));
                for (; awaited <= band; awaited++)
                    CHECK(cudaStreamWaitEvent(copying, computed[awaited], 0));
                CHECK(cudaMemcpyAsync(pinned, p.device, p.bytes, cudaMemcpyDeviceToHost, copying));
                last = copying;
            }
            return last;
        },
        [&](size_t piece, char *pinned) {
            const Part p = part(piece);
            if (piece >= first_out)
                memcpy(p.host, pinned, p.bytes);
        });
    for (int b = 0; b < BANDS; b++)
        CHECK(cudaEventDestroy(computed[b]));
    CHECK(cudaStreamDestroy(computing));
    CHECK(cudaStreamDestroy(copying));
    CHECK(cudaFree(memory));
}

extern "C" void solution_compute(int ref_nb, int query_nb, int dim, const float *ref,
                                 const float *query, float *dist)
{
    const double bytes = sizeof(float) * ((static_cast<double>(ref_nb) + query_nb) * dim +
                                          static_cast<double>(ref_nb) * query_nb);
    if (bytes <= static_cast<double>(PLAIN))
        copy_plainly(ref_nb, query_nb, dim, ref, query, dist);
    else
        stream_through(ref_nb, query_nb, dim, ref, query, dist);
}
