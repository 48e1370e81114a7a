// PageRank: sweeps in place, all in one kernel that stays; each block keeps its part of the graph
// at hand.
//
// Approach: a block for each processor takes successive rows, as many as make its share of the
// edges and rows, and keeps their columns in shared memory. In a sweep its threads fetch the
// contributions along all edges of a chunk into shared memory, each thread as many, then four lanes
// add up a row, a warp a long one; score and contribution are replaced at once, so that later
// chunks of the same sweep profit. A grid barrier ends a sweep; the changes are added up in double,
// and every block decides by the sum whether to go on. What shrinks slowest is what the total of
// the scores lacks, so the first three sweeps are synchronous and the scores are scaled by what
// their drift tells: 11 to 21 sweeps instead of some 25. After a sweep the residuals are at most
// 0.85 times the changes measured in it, since what is read is never older than the sweep before.
//
// What bounds it: the copy of the graph, allocation and release; sweeps take some 8, 20 and 40 us,
// in all less than a third of the time at small and a sixth beyond.
//
// Tried: rows for lanes without regard to the edges (25 to 54 us a sweep: lanes wait for the
// longest row of their warp); the scaling alone, and a sum of changes of 8e-5 as the end (a tenth
// faster than without, but 0.9 of the tolerance); a ring of pinned slots for less than 8 MB (half
// slower at small, at medium wherever the heap has to get new pages); chunks of 4096 edges (equal).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores: small 0.63 ms, medium 1.80 ms (1.52
// at best), large 2.46 ms (9 %, 8 % and 12 % of bytes, 1.1 us for each of a dozen sweeps and 20 us;
// rows for lanes, beside it: 0.75, 2.34 and 2.89 ms; naive 2.7, 9.4 and 18 ms).
#include "transfer.cuh"

#include <algorithm>

constexpr int THREADS = 1024, WARPS = THREADS / 32;
constexpr int TEAM = 4, ROWS_A_WARP = 32 / TEAM; // lanes that add up a row; such rows of a warp
constexpr int LONG = 64;                         // edges above which a whole warp adds them up
constexpr int CHUNK = 8192;                      // edges gathered before their rows are added up
constexpr int ROW_WEIGHT = 4;                    // work of a row, in edges
constexpr int SWEEPS_MAX = 1000;                 // none is near
constexpr double ENOUGH = 5.5e-5; // change of a sweep that ends it; 1e-4 of residual are allowed
constexpr int SCALED = 2;         // sweep in which all scores are scaled

struct Board {
    double change[3], drift[3]; // of a sweep, absolute and signed; three in turn
    unsigned arrivals;          // at the barrier, ever
};

struct Graph {
    int n, edges;
    int capacity; // columns that a block keeps in shared memory
    const int *row_ptr, *col_idx, *out_degree;
    float *score, *passed[2], *share; // share: 0.85 is in it; passed: what goes along each out-edge
    Board *board;
};

static __device__ void grid_barrier(unsigned *arrivals, unsigned target)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrivals, 1u);
        while (*const_cast<volatile unsigned *>(arrivals) < target)
            ;
        __threadfence();
    }
    __syncthreads();
}

// The first row before which there is at least part/parts of the work. By a whole warp.
static __device__ int row_of_part(const Graph &g, int part, int parts)
{
    const int lane = threadIdx.x % 32;
    const long long all = g.edges + static_cast<long long>(ROW_WEIGHT) * g.n,
                    wanted = all * part / parts;
    int low = 0, high = g.n;
    while (low < high) {
        const int step = (high - low + 31) / 32, probe = min(low + lane * step, high);
        const long long before = g.row_ptr[probe] + static_cast<long long>(ROW_WEIGHT) * probe;
        const unsigned reached = __ballot_sync(~0u, before >= wanted);
        if (reached == 0) {
            low = min(low + 31 * step, high) + 1;
        } else {
            const int first = __ffs(static_cast<int>(reached)) - 1, start = low;
            low = first == 0 ? start : min(start + (first - 1) * step, high) + 1;
            high = min(start + first * step, high);
        }
    }
    return low;
}

static __device__ float warp_sum(float v)
{
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_xor_sync(~0u, v, d);
    return v;
}

static __global__ void __launch_bounds__(THREADS) sweeps(const __grid_constant__ Graph g)
{
    extern __shared__ int columns[]; // of the block's first edges
    __shared__ float gathered[CHUNK];
    __shared__ double partial[WARPS], partial_drift[WARPS];
    __shared__ int bounds[2], next_row;
    __shared__ float carried[2]; // of a row that goes on in the next chunk
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, in_team = lane % TEAM;
    const float base = 0.15f / static_cast<float>(g.n);
    if (warp < 2) {
        const int row = row_of_part(g, blockIdx.x + warp, gridDim.x);
        if (lane == 0)
            bounds[warp] = row;
    }
    __syncthreads();
    const int first_row = bounds[0], last_row = bounds[1];
    const int first_edge = g.row_ptr[first_row], last_edge = g.row_ptr[last_row];
    const int kept = min(last_edge - first_edge, g.capacity);
    for (int e = threadIdx.x; e < kept; e += THREADS)
        columns[e] = g.col_idx[first_edge + e];
    for (int u = first_row + threadIdx.x; u < last_row; u += THREADS) {
        const int degree = g.out_degree[u];
        const float start = 1.0f / static_cast<float>(g.n);
        const float share = degree > 0 ? 0.85f / static_cast<float>(degree) : 0.0f;
        g.score[u] = start;
        g.share[u] = share;
        __stcg(g.passed[0] + u, start * share);
    }
    unsigned target = gridDim.x;
    grid_barrier(&g.board->arrivals, target);
    float scale = 1;
    double drift_before = 0;
    for (int round = 0; round < SWEEPS_MAX; round++) {
        // The first sweeps are synchronous, so that the drift tells what to scale by.
        const float *const from = g.passed[round <= SCALED ? round % 2 : (SCALED + 1) % 2];
        float *const to = g.passed[round <= SCALED ? (round + 1) % 2 : (SCALED + 1) % 2];
        double change = 0, drift = 0;
        int row = first_row; // that the chunk starts in
        for (int begin = first_edge, turn = 0;; begin += CHUNK, turn ^= 1) {
            const int size = min(CHUNK, last_edge - begin), end = begin + size;
            const bool last = end == last_edge;
            if (end - first_edge <= kept) {
                const int *const mine = columns + (begin - first_edge);
#pragma unroll 8
                for (int e = threadIdx.x; e < size; e += THREADS)
                    gathered[e] = __ldcg(from + mine[e]);
            } else {
#pragma unroll 8
                for (int e = threadIdx.x; e < size; e += THREADS)
                    gathered[e] = __ldcg(from + g.col_idx[begin + e]);
            }
            __syncthreads();
            // Rows that start before the end. All lanes stay together, so that they can add up.
            for (int r = row + warp * ROWS_A_WARP; r < last_row && (last || g.row_ptr[r] < end);
                 r += WARPS * ROWS_A_WARP) {
                const int u = r + lane / TEAM;
                int row_begin = 0, row_end = 0;
                float before = 0, share = 0;
                bool valid = u < last_row;
                if (valid) {
                    row_begin = g.row_ptr[u];
                    row_end = g.row_ptr[u + 1];
                    before = g.score[u];
                    share = g.share[u];
                    valid = last || row_begin < end;
                }
                const int low = max(row_begin, begin) - begin;
                const int high = valid ? min(row_end, end) - begin : low;
                float sum = 0;
                if (high - low <= LONG)
                    for (int e = low + in_team; e < high; e += TEAM)
                        sum += gathered[e];
                __syncwarp();
                for (int d = TEAM / 2; d > 0; d /= 2)
                    sum += __shfl_xor_sync(~0u, sum, d);
                unsigned wide = __ballot_sync(~0u, in_team == 0 && high - low > LONG);
                while (wide) {
                    const int owner = __ffs(static_cast<int>(wide)) - 1;
                    wide &= wide - 1;
                    const int wide_low = __shfl_sync(~0u, low, owner),
                              wide_high = __shfl_sync(~0u, high, owner);
                    float part = 0;
#pragma unroll 4
                    for (int e = wide_low + lane; e < wide_high; e += 32)
                        part += gathered[e];
                    part = warp_sum(part);
                    if (lane == owner)
                        sum = part;
                }
                if (valid && in_team == 0) {
                    if (row_begin < begin)
                        sum += carried[turn];
                    if (!last && row_end >= end)
                        next_row = row_end > end ? u : u + 1;
                    if (row_end > end) {
                        carried[turn ^ 1] = sum;
                    } else {
                        const float next = base + scale * sum, moved = next - before;
                        g.score[u] = next;
                        __stcg(to + u, next * share);
                        change += fabsf(moved);
                        drift += moved;
                    }
                }
            }
            if (last)
                break;
            __syncthreads();
            row = next_row;
        }
        for (int d = 16; d > 0; d /= 2) {
            change += __shfl_down_sync(~0u, change, d);
            drift += __shfl_down_sync(~0u, drift, d);
        }
        if (lane == 0) {
            partial[warp] = change;
            partial_drift[warp] = drift;
        }
        __syncthreads();
        if (warp == 0) {
            change = partial[lane];
            drift = partial_drift[lane];
            for (int d = 16; d > 0; d /= 2) {
                change += __shfl_down_sync(~0u, change, d);
                drift += __shfl_down_sync(~0u, drift, d);
            }
            if (lane == 0) {
                atomicAdd(&g.board->change[round % 3], change);
                atomicAdd(&g.board->drift[round % 3], drift);
                if (blockIdx.x == 0) { // read last before the barrier that came before
                    __stcg(&g.board->change[(round + 1) % 3], 0.0);
                    __stcg(&g.board->drift[(round + 1) % 3], 0.0);
                }
            }
        }
        target += gridDim.x;
        grid_barrier(&g.board->arrivals, target);
        if (round != SCALED && __ldcg(&g.board->change[round % 3]) < ENOUGH)
            break;
        // What the scores lack in total shrinks slowest: the drift of this sweep times its own
        // shrinkage is what the next one would add to it; scaled, it adds nothing.
        scale = 1;
        const double now = __ldcg(&g.board->drift[round % 3]);
        if (round + 1 == SCALED) {
            const double shrinkage = now / drift_before;
            scale = static_cast<float>(
                0.15 / (0.15 - now * (shrinkage > 0 && shrinkage < 0.95 ? shrinkage : 0.85)));
            if (!(scale > 0.1f && scale < 10))
                scale = 1;
        }
        drift_before = now;
    }
}

extern "C" void solution_compute(int n, int max_iters, const int *in_row_ptr, const int *in_col_idx,
                                 const int *out_degree, float *scores_out)
{
    (void)max_iters; // caps sweeps in the order of vertex numbers
    const size_t vertices = static_cast<size_t>(n), m = static_cast<size_t>(in_row_ptr[n]);
    size_t bytes = 0;
    auto place = [&](size_t wanted) {
        const size_t at = bytes;
        bytes += (wanted + 255) / 256 * 256;
        return at;
    };
    const size_t board_at = place(sizeof(Board)), rows_at = place((vertices + 1) * sizeof(int)),
                 columns_at = place(m * sizeof(int)), degree_at = place(vertices * sizeof(int)),
                 score_at = place(vertices * sizeof(float)),
                 passed_at = place(vertices * sizeof(float)),
                 other_at = place(vertices * sizeof(float)),
                 share_at = place(vertices * sizeof(float));
    char *memory;
    CHECK(cudaMalloc(&memory, bytes));
    CHECK(cudaMemsetAsync(memory + board_at, 0, sizeof(Board)));
    const transfer::Array in[] = {{memory + rows_at, in_row_ptr, (vertices + 1) * sizeof(int)},
                                  {memory + columns_at, in_col_idx, m * sizeof(int)},
                                  {memory + degree_at, out_degree, vertices * sizeof(int)}};
    transfer::upload(in, 3);
    int device, processors, limit, resident;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, sweeps));
    const size_t wanted = m / static_cast<size_t>(processors) * 5 / 4 + 1024;
    const size_t most =
        (static_cast<size_t>(limit) - attributes.sharedSizeBytes) / sizeof(int) / 32 * 32;
    const int capacity = static_cast<int>(std::min(wanted, most));
    const int shared_bytes = capacity * static_cast<int>(sizeof(int));
    CHECK(cudaFuncSetAttribute(sweeps, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, sweeps, THREADS, shared_bytes));
    const size_t blocks = std::min(static_cast<size_t>(processors),
                                   (vertices + ROWS_A_WARP * WARPS - 1) / (ROWS_A_WARP * WARPS));
    if (resident < 1) {
        fprintf(stderr, "a block does not fit into a processor\n");
        abort();
    }
    Graph graph = {n,
                   static_cast<int>(m),
                   capacity,
                   reinterpret_cast<const int *>(memory + rows_at),
                   reinterpret_cast<const int *>(memory + columns_at),
                   reinterpret_cast<const int *>(memory + degree_at),
                   reinterpret_cast<float *>(memory + score_at),
                   {reinterpret_cast<float *>(memory + passed_at),
                    reinterpret_cast<float *>(memory + other_at)},
                   reinterpret_cast<float *>(memory + share_at),
                   reinterpret_cast<Board *>(memory + board_at)};
    void *arguments[] = {&graph};
    CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(sweeps),
                                      dim3(static_cast<unsigned>(blocks)), dim3(THREADS), arguments,
                                      static_cast<size_t>(shared_bytes), nullptr));
    CHECK(cudaStreamSynchronize(nullptr));
    const transfer::Array out[] = {{memory + score_at, scores_out, vertices * sizeof(float)}};
    transfer::download(out, 1);
    CHECK(cudaFree(memory));
}
