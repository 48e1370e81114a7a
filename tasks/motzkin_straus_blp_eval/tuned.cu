// Trial points for maximum clique: one matrix product X A whose elements are never stored, under
// the transfer of the points.
//
// Approach: host threads carry the graph and then the points through a ring of pinned slots,
// weights and slacks of the same points side by side; whenever enough points for all
// multiprocessors have arrived, a kernel takes the sums and bounds of each point and splits its
// weights into two halves of 11 bits each, scaled by a power of two; another multiplies tiles of
// 128 points by 128 vertices with tensor cores, whose sums are added up in float after every 128
// terms, and compares them with levels and slacks where they are. A is symmetric, so its rows serve
// as columns, and exact. Small problems are copied plainly.
//
// What bounds it: how fast the host's threads read the pageable inputs, and registering and
// releasing the ring, a millisecond at medium size.
//
// Tried: the product in float without tensor cores (at best 2 % slower at medium and 15 at large
// size, since what is left after the last points shows); slots of 256 KB (a quarter slower: four
// times the calls). More threads or slots, and one stream for the copies instead of two, made no
// difference.
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores, medians: 0.29, 2.5 and 7.4 ms, at
// best 0.27, 2.2 and 5.8 (12, 33 and 36 % of what the bus would need for the inputs, at best 46;
// naive 0.30, 7.4 and 42 ms). An evaluation, which comes to a call with cold caches, takes 0.45 ms
// at small. The CPU program parallel wins there, with 0.25 ms on 15 cores: its threads read the
// inputs once, as these do to stage them, and are done.
#include "transfer.cuh"

#include <cuda_fp16.h>
#include <mma.h>
#include <vector>

constexpr int TILE = 128, DEPTH = 32, THREADS = 256, WARPS = THREADS / 32;
constexpr int PAD = 8;      // halves, against bank conflicts
constexpr int PROMOTE = 4;  // tiles of DEPTH whose sums the tensor cores keep
constexpr int GROUP = 1024; // points that are multiplied together
constexpr int HOST_THREADS = 8, SLOTS = 12;
constexpr size_t SLOT = size_t(1) << 20; // two rows of the most vertices at least
constexpr unsigned ALL = 0xffffffffu;

// Weights and slacks of the points: `chunk` points' weights, their slacks, then the next ones.
struct Points {
    const float *data;
    size_t n, chunk;
    __device__ const float *weights(size_t m) const
    {
        return data + (m / chunk * 2 * chunk + m % chunk) * n;
    }
    __device__ const float *slacks(size_t m) const
    {
        return weights(m) + chunk * n;
    }
};

// Weights of a group of points as the sum of two halves, scaled by a power of two; rows of `width`
// elements, zero from n on.
struct Halves {
    half *high, *low;
    float *unscale;
    int width;
};

// Zeros and ones are exact in any type.
static __global__ void halve_graph(int n, int width, const float *A, half *graph)
{
    const int i = blockIdx.x * THREADS + threadIdx.x, j = blockIdx.y;
    if (i < width)
        graph[static_cast<size_t>(j) * width + i] =
            __float2half(i < n && j < n ? A[static_cast<size_t>(j) * n + i] : 0.0f);
}

// A warp a point: everything but s = A x + q, and the weights in halves.
static __global__ void bound_points(int n, int first, int count, float mu, Points points,
                                    const float *levels, Halves halves, float *obj, float *max_viol)
{
    const int m = static_cast<int>((blockIdx.x * THREADS + threadIdx.x) / 32),
              lane = threadIdx.x % 32;
    if (m >= count)
        return;
    const float *x = points.weights(first + m), *q = points.slacks(first + m);
    double least = 0.0, total = 0.0;
    float worst = 0.0f, largest = 0.0f;
    for (int i = lane; i < n; i += 32) {
        worst = fmaxf(fmaxf(worst, -x[i]), fmaxf(-q[i], q[i] - 1.0f));
        largest = fmaxf(largest, fabsf(x[i]));
        least += static_cast<double>(fminf(x[i], q[i]));
        total += static_cast<double>(x[i]);
    }
    for (int width = 16; width > 0; width /= 2) {
        worst = fmaxf(worst, __shfl_xor_sync(ALL, worst, width));
        largest = fmaxf(largest, __shfl_xor_sync(ALL, largest, width));
        least += __shfl_xor_sync(ALL, least, width);
        total += __shfl_xor_sync(ALL, total, width);
    }
    // The largest becomes 512 to 1024; in steps, for the power itself may be too large for a float.
    const int exponent = largest > 0.0f ? 9 - ilogbf(largest) : 0;
    const float scale = ldexpf(1.0f, exponent / 2), more = ldexpf(1.0f, exponent - exponent / 2);
    half *high = halves.high + static_cast<size_t>(m) * halves.width,
         *low = halves.low + static_cast<size_t>(m) * halves.width;
    for (int i = lane; i < halves.width; i += 32) {
        const float value = i < n ? x[i] * scale * more : 0.0f;
        high[i] = __float2half(value);
        low[i] = __float2half(value - __half2float(high[i]));
    }
    if (lane == 0) {
        const float level = levels[first + m];
        halves.unscale[m] = 1.0f / scale / more;
        obj[first + m] = static_cast<float>(level - mu * least);
        max_viol[first + m] = fmaxf(fmaxf(worst, -level), static_cast<float>(fabs(total - 1.0)));
    }
}

// A tile of X A, compared with what s = A x + q demands. Violations are not negative, so that they
// are ordered like integers. A warp has 32 points and 64 vertices.
static __global__ void __launch_bounds__(THREADS)
    multiply(int n, int first, int count, const half *graph, Halves halves, Points points,
             const float *levels, int *max_viol)
{
    namespace wmma = nvcuda::wmma;
    __shared__ alignas(32) half high[TILE][DEPTH + PAD], low[TILE][DEPTH + PAD],
        edge[DEPTH][TILE + PAD];
    __shared__ alignas(32) float stage[WARPS][16][20];
    const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32, width = halves.width;
    const int m0 = blockIdx.y * TILE, i0 = blockIdx.x * TILE;
    const int warp_m = warp / 2 * 32, warp_i = warp % 2 * 64;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][4], part[2][4];
#pragma unroll
    for (int a = 0; a < 2; a++)
#pragma unroll
        for (int b = 0; b < 4; b++) {
            wmma::fill_fragment(sum[a][b], 0.0f);
            wmma::fill_fragment(part[a][b], 0.0f);
        }
    uint4 next_high[2], next_low[2], next_edge[2];
    auto fetch = [&](int j0) {
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const int item = tid + THREADS * r; // of 512 with eight halves each
            const size_t at = static_cast<size_t>(m0 + item / 4) * width + j0 + item % 4 * 8;
            next_high[r] = *reinterpret_cast<const uint4 *>(halves.high + at);
            next_low[r] = *reinterpret_cast<const uint4 *>(halves.low + at);
            next_edge[r] = *reinterpret_cast<const uint4 *>(
                graph + static_cast<size_t>(j0 + item / 16) * width + i0 + item % 16 * 8);
        }
    };
    fetch(0);
    const int steps = (n + DEPTH - 1) / DEPTH;
    for (int step = 0; step < steps; step++) {
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const int item = tid + THREADS * r;
            *reinterpret_cast<uint4 *>(&high[item / 4][item % 4 * 8]) = next_high[r];
            *reinterpret_cast<uint4 *>(&low[item / 4][item % 4 * 8]) = next_low[r];
            *reinterpret_cast<uint4 *>(&edge[item / 16][item % 16 * 8]) = next_edge[r];
        }
        __syncthreads();
        if (step + 1 < steps)
            fetch((step + 1) * DEPTH);
#pragma unroll
        for (int k = 0; k < DEPTH; k += 16) {
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b[4];
#pragma unroll
            for (int l = 0; l < 4; l++)
                wmma::load_matrix_sync(b[l], &edge[k][warp_i + 16 * l], TILE + PAD);
#pragma unroll
            for (int a = 0; a < 2; a++) {
                wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> h, l;
                wmma::load_matrix_sync(h, &high[warp_m + 16 * a][k], DEPTH + PAD);
                wmma::load_matrix_sync(l, &low[warp_m + 16 * a][k], DEPTH + PAD);
#pragma unroll
                for (int c = 0; c < 4; c++) {
                    wmma::mma_sync(part[a][c], l, b[c], part[a][c]);
                    wmma::mma_sync(part[a][c], h, b[c], part[a][c]);
                }
            }
        }
        __syncthreads();
        if (step % PROMOTE == PROMOTE - 1 || step + 1 == steps)
#pragma unroll
            for (int a = 0; a < 2; a++)
#pragma unroll
                for (int c = 0; c < 4; c++) {
#pragma unroll
                    for (int e = 0; e < sum[a][c].num_elements; e++)
                        sum[a][c].x[e] += part[a][c].x[e];
                    wmma::fill_fragment(part[a][c], 0.0f);
                }
    }

#pragma unroll
    for (int a = 0; a < 2; a++) {
        const int row = lane / 2, m = m0 + warp_m + 16 * a + row;
        const float level = m < count ? levels[first + m] : 0.0f,
                    unscale = m < count ? halves.unscale[m] : 0.0f;
        const float *q = m < count ? points.slacks(first + m) : nullptr;
        float worst = 0.0f;
#pragma unroll
        for (int c = 0; c < 4; c++) {
            __syncwarp();
            wmma::store_matrix_sync(&stage[warp][0][0], sum[a][c], 20, wmma::mem_row_major);
            __syncwarp();
            for (int e = 0; e < 8; e++) {
                const int column = lane % 2 * 8 + e, i = i0 + warp_i + 16 * c + column;
                if (q && i < n)
                    worst =
                        fmaxf(worst, fabsf((level - stage[warp][row][column] * unscale) - q[i]));
            }
        }
        worst = fmaxf(worst, __shfl_xor_sync(ALL, worst, 1));
        if (lane % 2 == 0 && m < count)
            atomicMax(max_viol + first + m, __float_as_int(worst));
    }
}

struct Problem {
    int n, m;
    float mu, *graph, *levels, *obj, *max_viol;
    Points points;
    half *halved_graph;
    Halves halves;
};

// The graph is on the device.
static void halve(const Problem &p, cudaStream_t stream)
{
    const unsigned width = static_cast<unsigned>(p.halves.width);
    halve_graph<<<dim3((width + THREADS - 1) / THREADS, width), THREADS, 0, stream>>>(
        p.n, p.halves.width, p.graph, p.halved_graph);
    CHECK(cudaGetLastError());
}

// Points first to first + count - 1, which are on the device.
static void evaluate(const Problem &p, int first, int count, cudaStream_t stream)
{
    for (int left; (left = count) > 0; first += GROUP, count -= GROUP) {
        const int now = left < GROUP ? left : GROUP;
        bound_points<<<(now + WARPS - 1) / WARPS, THREADS, 0, stream>>>(
            p.n, first, now, p.mu, p.points, p.levels, p.halves, p.obj, p.max_viol);
        CHECK(cudaGetLastError());
        const dim3 tiles((p.n + TILE - 1) / TILE, (now + TILE - 1) / TILE);
        multiply<<<tiles, THREADS, 0, stream>>>(p.n, first, now, p.halved_graph, p.halves, p.points,
                                                p.levels, reinterpret_cast<int *>(p.max_viol));
        CHECK(cudaGetLastError());
    }
}

// Through the ring: slots of the graph first, then slots of points, each with the weights and
// slacks of `chunk` points.
static void evaluate_by_ring(const Problem &p, float *d_points, const float *A, const float *x,
                             const float *q)
{
    const size_t n = p.n, m = p.m, chunk = p.points.chunk;
    const size_t graph_bytes = n * n * sizeof(float),
                 graph_pieces = (graph_bytes + SLOT - 1) / SLOT,
                 point_pieces = (m + chunk - 1) / chunk,
                 chunk_bytes = 2 * chunk * n * sizeof(float);
    cudaStream_t copying[2], computing; // two, so that one copy starts while another ends
    cudaEvent_t arrived[2];
    unsigned turn = 0;
    size_t done = 0;
    bool halved = false;
    auto wait_for_copies = [&] {
        for (int k = 0; k < 2; k++) {
            CHECK(cudaEventRecord(arrived[k], copying[k]));
            CHECK(cudaStreamWaitEvent(computing, arrived[k], 0));
        }
    };
    transfer::pipeline(
        transfer::Shape{transfer::threads_for(HOST_THREADS), SLOTS, SLOT},
        graph_pieces + point_pieces,
        [&] {
            for (int k = 0; k < 2; k++) {
                CHECK(cudaStreamCreateWithFlags(&copying[k], cudaStreamNonBlocking));
                CHECK(cudaEventCreateWithFlags(&arrived[k], cudaEventDisableTiming));
            }
            CHECK(cudaStreamCreateWithFlags(&computing, cudaStreamNonBlocking));
        },
        [&](size_t piece, char *slot) {
            if (piece < graph_pieces) {
                const size_t from = piece * SLOT, left = graph_bytes - from;
                memcpy(slot, reinterpret_cast<const char *>(A) + from, left < SLOT ? left : SLOT);
            } else {
                const size_t first = (piece - graph_pieces) * chunk, left = m - first,
                             bytes = (left < chunk ? left : chunk) * n * sizeof(float);
                memcpy(slot, x + first * n, bytes);
                memcpy(slot + chunk_bytes / 2, q + first * n, bytes);
            }
        },
        [&](size_t piece, size_t count, char *slots) {
            cudaStream_t stream = copying[turn++ % 2];
            size_t graphs = piece < graph_pieces ? graph_pieces - piece : 0;
            graphs = graphs < count ? graphs : count;
            if (graphs > 0) {
                const size_t from = piece * SLOT, left = graph_bytes - from;
                CHECK(cudaMemcpyAsync(reinterpret_cast<char *>(p.graph) + from, slots,
                                      left < graphs * SLOT ? left : graphs * SLOT,
                                      cudaMemcpyHostToDevice, stream));
            }
            if (graphs < count)
                CHECK(cudaMemcpy2DAsync(reinterpret_cast<char *>(d_points) +
                                            (piece + graphs - graph_pieces) * chunk_bytes,
                                        chunk_bytes, slots + graphs * SLOT, SLOT, chunk_bytes,
                                        count - graphs, cudaMemcpyHostToDevice, stream));
            const size_t pieces = piece + count,
                         whole = pieces > graph_pieces ? (pieces - graph_pieces) * chunk : 0,
                         points = whole < m ? whole : m;
            if (!halved && pieces >= graph_pieces) {
                wait_for_copies();
                halve(p, computing);
                halved = true;
            }
            if (points - done >= GROUP || (points == m && done < m)) {
                wait_for_copies();
                const size_t now = points == m ? m - done : (points - done) / TILE * TILE;
                evaluate(p, static_cast<int>(done), static_cast<int>(now), computing);
                done += now;
            }
            return stream;
        },
        [](size_t, char *) {});
    CHECK(cudaStreamSynchronize(computing));
    for (int k = 0; k < 2; k++) {
        CHECK(cudaEventDestroy(arrived[k]));
        CHECK(cudaStreamDestroy(copying[k]));
    }
    CHECK(cudaStreamDestroy(computing));
}

extern "C" void solution_compute(int N, int M, float mu, const float *A, const float *x,
                                 const float *q, const float *s, float *obj, float *max_viol)
{
    const size_t n = N, m = M, bytes = (n * n + 2 * m * n) * sizeof(float);
    const bool by_ring = bytes >= transfer::RING_FROM;
    const size_t chunk = by_ring ? SLOT / (2 * n * sizeof(float)) : m;
    const size_t point_words = (m + chunk - 1) / chunk * chunk * 2 * n;
    const size_t width = (n + TILE - 1) / TILE * TILE,
                 rows = m < GROUP ? (m + TILE - 1) / TILE * TILE : GROUP;
    const size_t half_words = (width * width + 2 * rows * width) / 2;
    float *memory;
    CHECK(cudaMalloc(&memory, (half_words + rows + point_words + n * n + 3 * m) * sizeof(float)));
    half *const d_halves = reinterpret_cast<half *>(memory);
    float *const d_unscale = memory + half_words, *const d_points = d_unscale + rows,
                 *const d_graph = d_points + point_words, *const d_levels = d_graph + n * n,
                 *const d_results = d_levels + m;
    half *const d_high = d_halves + width * width;
    const Problem problem = {
        N,
        M,
        mu,
        d_graph,
        d_levels,
        d_results,
        d_results + m,
        Points{d_points, n, chunk},
        d_halves,
        Halves{d_high, d_high + rows * width, d_unscale, static_cast<int>(width)}};
    CHECK(cudaMemcpy(d_levels, s, m * sizeof(float), cudaMemcpyHostToDevice));
    if (by_ring) {
        CHECK(cudaStreamSynchronize(nullptr)); // small copies return when they are staged
        evaluate_by_ring(problem, d_points, A, x, q);
    } else {
        CHECK(cudaMemcpy(d_graph, A, n * n * sizeof(float), cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(d_points, x, m * n * sizeof(float), cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(d_points + m * n, q, m * n * sizeof(float), cudaMemcpyHostToDevice));
        halve(problem, nullptr);
        evaluate(problem, 0, M, nullptr);
    }
    std::vector<float> results(2 * m);
    CHECK(cudaMemcpy(results.data(), d_results, 2 * m * sizeof(float), cudaMemcpyDeviceToHost));
    memcpy(obj, results.data(), m * sizeof(float));
    memcpy(max_viol, results.data() + m, m * sizeof(float));
    CHECK(cudaFree(memory));
}
