// Breadth-first search: all levels in one kernel that stays.
//
// Approach: levels are short and many, so that the barrier between them and the chain of dependent
// reads decide. Up to a million edges one block does all levels: a bit a vertex says in its shared
// memory who has been reached, and the frontier lies there too, so that a level takes two dependent
// reads of the graph and a barrier of a block. Larger graphs get one cluster of sixteen blocks with
// the cluster's barrier; graphs of several million edges, whose levels keep sixteen processors too
// busy, and devices without clusters take half of all processors with a barrier across the grid. A
// frontier is a list of pieces of rows, so that hubs are shared out like all others; whoever claims
// a head appends the pieces of its row, a warp's together by one atomic addition. Every vertex is
// appended once, so that one array holds all levels one after the other. What a graph of 20000
// vertices needs fits device variables.
//
// What bounds it: the copies (half of the time and more) and latency: above a million edges five
// dependent accesses and a barrier a level, some 3 us.
//
// Tried: the lone block at medium and large (half as slow again: one processor does not read enough
// edges at once); giving every vertex an owner in the cluster, with bits in its shared memory and
// messages written from afar, one barrier a level (a fifth slower: remote accesses are dearer than
// the L2 cache); reading the rows of heads before the claim is decided (a tenth slower); all
// processors instead of half (a few percent slower at large).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores: small 0.33 ms, medium 2.3 ms, large
// 4.1 ms; before the lone block, on the same day, 0.51, 2.35 and 4.4 ms. (On a quicker day the two
// larger took 1.9 and 3.2 ms: 27 % and 31 % of bytes, 1.1 us a level and 20 us; naive 4.3, 40 and
// 70 ms.)
#include "transfer.cuh"

#include <algorithm>
#include <cooperative_groups.h>

constexpr int PREPARE_THREADS = 256, THREADS = 1024;
constexpr int TEAM_CLUSTER = 4, TEAM_GRID = 8; // lanes of a piece, one edge each
constexpr int CLUSTER_UP_TO = 4000000;         // edges; then the whole device pays
constexpr int LARGE = 4;                       // pieces of a row that a lane appends alone
constexpr size_t ARENA = 1000 * 1000;          // bytes
constexpr int CLUSTER_SIZES[] = {16, 8};
constexpr int PIECE_ALONE = 4; // edges that a thread of a lone block follows at once
constexpr int HELD = 8192;     // pieces of a level in its shared memory; the others lie outside
constexpr int ALONE_UP_TO = 1000000; // edges

// For small graphs: an allocation would cost more than the search.
static __device__ __align__(256) int arena[ARENA / sizeof(int)];

struct Board {
    unsigned long long gate[2]; // see level_end
    int appended[3];            // pieces, three levels in turn
};

struct Graph {
    int n, source;
    const int *start, *degree, *head;
    int2 *row;     // start and degree side by side
    int2 *pieces;  // first edge, edges
    int *distance; // -1: not reached
    Board *board;
};

static __global__ void prepare(Graph g)
{
    const int stride = gridDim.x * PREPARE_THREADS;
    for (int v = blockIdx.x * PREPARE_THREADS + threadIdx.x; v < g.n; v += stride) {
        g.row[v] = make_int2(g.start[v], g.degree[v]);
        g.distance[v] = v == g.source ? 0 : -1;
        if (v == 0)
            *g.board = Board{};
    }
}

template <bool CLUSTER>
static __global__ void __launch_bounds__(THREADS) search(const __grid_constant__ Graph g)
{
    constexpr int TEAM = CLUSTER ? TEAM_CLUSTER : TEAM_GRID, PIECE = TEAM;
    const int lane = threadIdx.x % 32, in_team = lane % TEAM;
    const int thread = blockIdx.x * THREADS + threadIdx.x;
    const int stride = gridDim.x * THREADS / TEAM;
    __shared__ int block_appended, level_appended;
    unsigned before[2] = {0, 0}; // appended at the gate, as last seen
    if (threadIdx.x == 0)
        block_appended = 0;
    // Ends a level; returns the pieces appended in it. Across the grid arrivals are counted in the
    // lower half of a word and pieces in the upper one; two words in turn, so that what is read
    // last of one level is not yet that of the next.
    auto level_end = [&](int level) {
#if __CUDA_ARCH__ >= 900
        if (CLUSTER) {
            __syncwarp();
            cooperative_groups::this_cluster().sync();
            return __ldcg(&g.board->appended[level % 3]);
        }
#endif
        __syncthreads();
        if (threadIdx.x == 0) {
            unsigned long long *const gate = &g.board->gate[level % 2];
            unsigned long long seen;
            const unsigned arrivals = (level / 2 + 1) * gridDim.x;
            __threadfence();
            atomicAdd(gate, (static_cast<unsigned long long>(block_appended) << 32) + 1);
            do
                seen = *const_cast<volatile unsigned long long *>(gate);
            while (static_cast<unsigned>(seen) < arrivals);
            __threadfence();
            const unsigned all = static_cast<unsigned>(seen >> 32);
            level_appended = static_cast<int>(all - (level % 2 ? before[1] : before[0]));
            (level % 2 ? before[1] : before[0]) = all;
            block_appended = 0;
        }
        __syncthreads();
        return level_appended;
    };
    int begin = 0, end;
    { // the first level: the source's row
        const int2 row = g.row[g.source];
        end = (row.y + PIECE - 1) / PIECE;
        if (blockIdx.x == 0)
            for (int i = threadIdx.x; i < end; i += THREADS)
                g.pieces[i] = make_int2(row.x + i * PIECE, min(row.y - i * PIECE, PIECE));
        level_end(0);
    }
    for (int level = 1; begin < end; level++) {
        int *const appended = &g.board->appended[level % 3];
        if (thread == 0) // read last before the barrier that came before
            __stcg(&g.board->appended[(level + 1) % 3], 0);
        for (int first = begin + (thread - lane) / TEAM; first < end; first += stride) {
            const int mine = first + lane / TEAM;
            int2 piece = make_int2(0, 0);
            if (mine < end)
                piece = __ldcg(g.pieces + mine);
            int2 row = make_int2(0, 0);
            if (in_team < piece.y) {
                const int head = g.head[piece.x + in_team];
                if (atomicCAS(g.distance + head, -1, level) == -1)
                    row = __ldg(g.row + head);
            }
            const int wanted = (row.y + PIECE - 1) / PIECE;
            if (!__any_sync(~0u, wanted > 0))
                continue;
            int sum = wanted; // of this lane and those before
            for (int d = 1; d < 32; d *= 2) {
                const int other = __shfl_up_sync(~0u, sum, d);
                sum += lane >= d ? other : 0;
            }
            int at = 0;
            if (lane == 31) {
                at = atomicAdd(appended, sum);
                if (!CLUSTER)
                    atomicAdd(&block_appended, sum);
            }
            at = end + __shfl_sync(~0u, at, 31) + sum - wanted;
            unsigned large = __ballot_sync(~0u, row.y > LARGE * PIECE);
            for (; large; large &= large - 1) { // all lanes help with the row of a hub
                const int from = __ffs(large) - 1, start = __shfl_sync(~0u, row.x, from),
                          edges = __shfl_sync(~0u, row.y, from),
                          its_at = __shfl_sync(~0u, at, from);
                for (int p = lane; p * PIECE < edges; p += 32)
                    __stcg(g.pieces + its_at + p,
                           make_int2(start + p * PIECE, min(edges - p * PIECE, PIECE)));
                if (lane == from)
                    row.y = 0;
            }
            for (; row.y > 0; row.x += PIECE, row.y -= PIECE)
                __stcg(g.pieces + at++, make_int2(row.x, min(row.y, PIECE)));
        }
        const int more = level_end(level);
        begin = end;
        end += more;
    }
}

// A lone block: marks of all vertices and the frontier in its shared memory.
static __global__ void __launch_bounds__(THREADS, 1) search_alone(Graph g)
{
    extern __shared__ unsigned list[]; // two of HELD: first edge * 8 + edges; then a bit a vertex
    unsigned *const seen = list + 2 * HELD, *const more = reinterpret_cast<unsigned *>(g.pieces);
    __shared__ int appended[3];
    const int tid = threadIdx.x, lane = tid % 32;
    for (int v = tid; v < g.n; v += THREADS)
        g.distance[v] = v == g.source ? 0 : -1;
    for (int w = tid; w < (g.n + 31) / 32; w += THREADS)
        seen[w] = w == g.source / 32 ? 1u << g.source % 32 : 0;
    if (tid < 3)
        appended[tid] = 0;
    int base = 0; // in `more`, of this level
    int count = (g.degree[g.source] + PIECE_ALONE - 1) / PIECE_ALONE;
    {
        const int start = g.start[g.source], edges = g.degree[g.source];
        for (int k = tid; k < count; k += THREADS) {
            const unsigned piece = static_cast<unsigned>(start + k * PIECE_ALONE) * 8 +
                                   min(edges - k * PIECE_ALONE, PIECE_ALONE);
            if (k < HELD)
                list[HELD + k] = piece;
            else
                more[k] = piece;
        }
    }
    __syncthreads();
    for (int level = 1; count > 0; level++) {
        const unsigned *const now = list + level % 2 * HELD;
        unsigned *const next = list + (level + 1) % 2 * HELD;
        if (tid == 0) // read last before the barrier that came before
            appended[(level + 1) % 3] = 0;
        auto append = [&](int at, int first, int edges) {
            const unsigned piece = static_cast<unsigned>(first) * 8 + min(edges, PIECE_ALONE);
            if (at < HELD)
                next[at] = piece;
            else
                more[base + count + at] = piece;
        };
        for (int first = tid - lane; first < count; first += THREADS) {
            const int mine = first + lane;
            unsigned piece = 0;
            if (mine < count)
                piece = mine < HELD ? now[mine] : more[base + mine];
            const int edges = piece % 8, *const heads = g.head + piece / 8;
            int head[PIECE_ALONE], start[PIECE_ALONE], degree[PIECE_ALONE], wanted = 0;
#pragma unroll
            for (int i = 0; i < PIECE_ALONE; i++)
                head[i] = i < edges ? heads[i] : -1;
#pragma unroll
            for (int i = 0; i < PIECE_ALONE; i++) {
                start[i] = degree[i] = 0;
                if (head[i] >= 0 &&
                    !(atomicOr(&seen[head[i] / 32], 1u << head[i] % 32) >> head[i] % 32 & 1)) {
                    start[i] = g.start[head[i]];
                    degree[i] = g.degree[head[i]];
                    g.distance[head[i]] = level;
                }
            }
#pragma unroll
            for (int i = 0; i < PIECE_ALONE; i++)
                wanted += (degree[i] + PIECE_ALONE - 1) / PIECE_ALONE;
            if (!__any_sync(~0u, wanted > 0))
                continue;
            int sum = wanted; // of this lane and those before
            for (int d = 1; d < 32; d *= 2) {
                const int other = __shfl_up_sync(~0u, sum, d);
                sum += lane >= d ? other : 0;
            }
            int at = 0;
            if (lane == 31)
                at = atomicAdd(&appended[level % 3], sum);
            at = __shfl_sync(~0u, at, 31) + sum - wanted;
#pragma unroll
            for (int i = 0; i < PIECE_ALONE; i++) {
                unsigned large = __ballot_sync(~0u, degree[i] > LARGE * PIECE_ALONE);
                for (; large; large &= large - 1) { // all lanes help with the row of a hub
                    const int from = __ffs(large) - 1, its_start = __shfl_sync(~0u, start[i], from),
                              its_degree = __shfl_sync(~0u, degree[i], from),
                              its_at = __shfl_sync(~0u, at, from);
                    for (int p = lane; p * PIECE_ALONE < its_degree; p += 32)
                        append(its_at + p, its_start + p * PIECE_ALONE,
                               its_degree - p * PIECE_ALONE);
                    if (lane == from) {
                        at += (its_degree + PIECE_ALONE - 1) / PIECE_ALONE;
                        degree[i] = 0;
                    }
                }
                for (; degree[i] > 0; start[i] += PIECE_ALONE, degree[i] -= PIECE_ALONE)
                    append(at++, start[i], degree[i]);
            }
        }
        __syncthreads();
        base += count;
        count = appended[level % 3];
    }
}

// With the largest cluster that the device has, or across the device.
static void launch_search(Graph graph, size_t edges)
{
    int device, processors, major;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    for (const int size : CLUSTER_SIZES) {
        if (major < 9 || edges >= CLUSTER_UP_TO)
            break;
        CHECK(cudaFuncSetAttribute(search<true>, cudaFuncAttributeNonPortableClusterSizeAllowed,
                                   size > 8));
        cudaLaunchAttribute attribute = {};
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim.x = static_cast<unsigned>(size);
        attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
        cudaLaunchConfig_t config = {};
        config.gridDim = dim3(static_cast<unsigned>(size));
        config.blockDim = dim3(THREADS);
        config.attrs = &attribute;
        config.numAttrs = 1;
        int clusters = 0;
        if (cudaOccupancyMaxActiveClusters(&clusters, search<true>, &config) != cudaSuccess ||
            clusters < 1) {
            (void)cudaGetLastError();
            continue;
        }
        CHECK(cudaLaunchKernelEx(&config, search<true>, graph));
        return;
    }
    void *arguments[] = {&graph};
    CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(search<false>),
                                      dim3(static_cast<unsigned>((processors + 1) / 2)),
                                      dim3(THREADS), arguments, 0, nullptr));
}

extern "C" void solution_compute(int num_nodes, int num_edges, int source, const int *node_start,
                                 const int *node_degree, const int *edge_dst, int *out_dist)
{
    const size_t n = static_cast<size_t>(num_nodes), edges = static_cast<size_t>(num_edges);
    if (source < 0 || source >= num_nodes) {
        memset(out_dist, 0xff, n * sizeof(int)); // -1 everywhere
        return;
    }
    int device, shared_most;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&shared_most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    const size_t alone_bytes = (2 * HELD + (n + 31) / 32) * sizeof(unsigned);
    const bool alone = edges <= ALONE_UP_TO && alone_bytes + 64 <= static_cast<size_t>(shared_most);
    size_t bytes = 0;
    auto place = [&](size_t wanted) {
        const size_t at = bytes;
        bytes += (wanted + 255) / 256 * 256;
        return at;
    };
    const size_t board_at = place(sizeof(Board)), start_at = place(n * sizeof(int)),
                 degree_at = place(n * sizeof(int)), head_at = place(edges * sizeof(int)),
                 distance_at = place(n * sizeof(int)), row_at = place(alone ? 0 : n * sizeof(int2)),
                 pieces_at =
                     place((n + edges / TEAM_CLUSTER) * (alone ? sizeof(unsigned) : sizeof(int2)));
    char *memory;
    if (bytes <= ARENA)
        CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&memory), arena));
    else
        CHECK(cudaMalloc(&memory, bytes));
    const transfer::Array in[] = {{memory + start_at, node_start, n * sizeof(int)},
                                  {memory + degree_at, node_degree, n * sizeof(int)},
                                  {memory + head_at, edge_dst, edges * sizeof(int)}};
    transfer::upload(in, 3);
    Graph graph = {num_nodes,
                   source,
                   reinterpret_cast<const int *>(memory + start_at),
                   reinterpret_cast<const int *>(memory + degree_at),
                   reinterpret_cast<const int *>(memory + head_at),
                   reinterpret_cast<int2 *>(memory + row_at),
                   reinterpret_cast<int2 *>(memory + pieces_at),
                   reinterpret_cast<int *>(memory + distance_at),
                   reinterpret_cast<Board *>(memory + board_at)};
    if (alone) {
        CHECK(cudaFuncSetAttribute(search_alone, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(alone_bytes)));
        search_alone<<<1, THREADS, alone_bytes>>>(graph);
        CHECK(cudaGetLastError());
    } else {
        prepare<<<static_cast<unsigned>(
                      std::min((n + PREPARE_THREADS - 1) / PREPARE_THREADS, size_t(2048))),
                  PREPARE_THREADS>>>(graph);
        CHECK(cudaGetLastError());
        launch_search(graph, edges);
    }
    if (n * sizeof(int) >= transfer::RING_FROM)
        CHECK(cudaDeviceSynchronize());
    const transfer::Array out[] = {{memory + distance_at, out_dist, n * sizeof(int)}};
    transfer::download(out, 1);
    if (bytes > ARENA)
        CHECK(cudaFree(memory));
}
