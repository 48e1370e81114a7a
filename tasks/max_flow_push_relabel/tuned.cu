// Maximum flow: push-relabel with exact heights now and then, in one kernel that stays.
//
// Approach: rows of residual arcs are built on the device (ends counted by atomics, whose results
// are the places in the rows). Then, until no vertex with excess reaches the sink: heights by a
// search backwards from the sink, and up to ROUNDS rounds. In a round the lanes that share an
// active vertex read its row once, push to its lowest residual neighbours (the excess shared out by
// a prefix sum) and lift it above what is left. Heights may be those of before or after their own
// lift, as in the lock-free method of Hong and He; whatever they are, only exact heights end the
// loop. No vertex is given more than it could pass on. Steps are many and short. For small networks
// one thread-block cluster does all: what changes of its vertices a block keeps in shared memory,
// where the others reach it, and lists those to be worked on, so that its warps share them evenly;
// excess has 32 bits where all capacities together allow it. Larger networks, and devices without
// clusters, keep everything in device memory, with a barrier across a cooperative grid that also
// tells whether anything was found.
//
// What bounds it: latency, 3 to 6 us for each of some 80 to 200 steps: dependent reads, prefix sums
// and atomics; in the cluster also the rate of remote atomics. At large the allocation too.
//
// Tried: the cluster with everything in the L2 cache (a tenth slower at large, three quarters at
// small); at large the cluster (a quarter slower than the grid; at small a quarter faster); in the
// cluster 64 bits of excess (7 % slower at medium), and also rows of arcs with room for the fullest
// block, which no longer fit the arena (half as slow again); 16 lanes a vertex in the cluster
// instead of 32 (8 % slower at small, 14 % at medium); pushing to the two lowest heights in a round
// (up to a tenth slower); other numbers of rounds between searches (within a tenth).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores (calls with cold caches, as an
// evaluation makes them, by bench/variants): small 0.24 ms, medium 0.74 ms, large 1.24 ms. The call
// floor is 9 % and 4 % of the first two. Naive: 1.8, 6.2 and 8.4 ms.
#include "transfer.cuh"

#include <algorithm>
#include <climits>
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr int THREADS = 1024, TEAM_CLUSTER = 32, TEAM_GRID = 16; // lanes of a vertex
constexpr int ROUNDS = 32;                                       // between two searches
constexpr int TURNS = 1;              // heights that a vertex pushes to in a round
constexpr int CLUSTER_MAX = 16;       // blocks
constexpr int VERTICES_A_BLOCK = 128; // wished for
constexpr int CODE_BITS = 26;         // of a place in a block, below the block's number
constexpr int GRID_FROM = 10000;      // vertices
constexpr int WARP_VERTICES = 2;
constexpr size_t ARENA = 1000 * 1000; // bytes

typedef unsigned long long Word; // two counts of a barrier, or any flow

constexpr Word TOO_LARGE = ~Word(0);

// For networks of the usual size: an allocation would cost about as much as the work.
static __device__ __align__(256) int arena[ARENA / sizeof(int)];

// What a block knows of its vertices, or all that is known of all.
template <typename Amount> struct Part {
    Amount *excess, *out_capacity; // 32 bits, where no sum of capacities exceeds them, or 64
    int *height;                   // the number of vertices: no residual path to the sink
    int *degree, *first;           // row of residual arcs
    int *list;                     // of a block only: vertices to be worked on
    int *residual;
};

struct Board {
    Word flow;
    Word gate[2]; // of the grid's barrier
    int found[3]; // of a cluster: anything to do? three steps in turn
    int arcs;     // given to rows so far
};

template <typename Amount> struct Network {
    int n, m, source, sink;
    int blocks, vertices, residuals; // of the cluster; room of a block
    const int *tails, *heads, *caps;
    int2 *place;       // of an arc in the rows of its two ends
    int2 *arc;         // head, partner; of a cluster the blocks' rows one behind the other
    Part<Amount> part; // in device memory
    Board *board;
};

// Loops, arcs into the source and arcs out of the sink do not matter; those out of the source are
// turned into excess.
template <typename Amount>
static __device__ bool matters(const Network<Amount> &g, int tail, int head, int cap)
{
    return tail != head && head != g.source && tail != g.sink && tail != g.source && cap > 0;
}

template <typename T> static __device__ T now(const T *p)
{
    return *const_cast<const volatile T *>(p);
}

template <bool CLUSTER, typename Amount>
static __global__ void __launch_bounds__(THREADS, 1)
    solve(const __grid_constant__ Network<Amount> g)
{
    extern __shared__ Word shared[];
    __shared__ Board block_board;
    __shared__ int list_length[2], arcs_before[CLUSTER_MAX];
    __shared__ bool verdict;
    constexpr int TEAM = CLUSTER ? TEAM_CLUSTER : TEAM_GRID;
    const int lane = threadIdx.x % 32, k = lane % TEAM, team = lane / TEAM;
    const unsigned team_mask = (0xffffffffu >> (32 - TEAM)) << (TEAM * team);
    const int thread = blockIdx.x * THREADS + threadIdx.x, threads = gridDim.x * THREADS;
    const int blocks = CLUSTER ? g.blocks : 1, me = CLUSTER ? blockIdx.x : 0;
    Part<Amount> own = g.part;
    Board *board = g.board;
    if (CLUSTER) {
        own.excess = reinterpret_cast<Amount *>(shared);
        own.out_capacity = own.excess + g.vertices;
        own.height = reinterpret_cast<int *>(own.out_capacity + g.vertices);
        own.degree = own.height + g.vertices;
        own.first = own.degree + g.vertices;
        own.list = own.first + g.vertices;
        own.residual = own.list + g.vertices;
        board = &block_board;
    }
    unsigned findings_even = 0, findings_odd = 0; // as last seen
    int step = 0;

    auto code_of = [&](int v) { return (v % blocks) << CODE_BITS | v / blocks; };
    // Where a place of another block lies that corresponds to one's own.
    auto at = [&](auto *array, int code) {
#if __CUDA_ARCH__ >= 900
        if (CLUSTER)
            return cg::this_cluster().map_shared_rank(array, code >> CODE_BITS) +
                   (code & ((1 << CODE_BITS) - 1));
#endif
        return array + code;
    };
    // Ends the step; says whether any thread found something. Across the grid arrivals are counted
    // in the lower half of a word and findings in the upper one; two words in turn, so that what is
    // read last of one step is not yet that of the next.
    auto any = [&](bool found) {
        const int now_at = step++;
        if (CLUSTER) {
            if (threadIdx.x == 0) // read last before the barrier before
                *const_cast<volatile int *>(&board->found[(now_at + 1) % 3]) = 0;
            if (__any_sync(~0u, found) && lane < blocks)
                *const_cast<volatile int *>(at(&board->found[now_at % 3], lane << CODE_BITS)) = 1;
#if __CUDA_ARCH__ >= 900
            cg::this_cluster().sync();
#endif
            return now(&board->found[now_at % 3]) != 0;
        }
        const bool block_found = __syncthreads_or(found);
        if (threadIdx.x == 0) {
            const unsigned arrivals = (now_at / 2 + 1) * gridDim.x;
            Word *const gate = &board->gate[now_at % 2];
            Word seen;
            __threadfence();
            atomicAdd(gate, block_found ? (Word(1) << 32) + 1 : Word(1));
            do
                seen = now(gate);
            while (static_cast<unsigned>(seen) < arrivals);
            __threadfence();
            const unsigned findings = static_cast<unsigned>(seen >> 32);
            verdict = findings != (now_at % 2 ? findings_odd : findings_even);
            (now_at % 2 ? findings_odd : findings_even) = findings;
        }
        __syncthreads();
        return verdict;
    };
    auto barrier = [&] { any(false); };
    const int count = (g.n - me + blocks - 1) / blocks; // vertices of the part
    const int first_own = CLUSTER ? threadIdx.x : thread, stride = CLUSTER ? THREADS : threads;
    const int width = (count + threads / 32 - 1) / (threads / 32); // of a warp without a cluster
    // Calls work(place, row's begin and length, excess, height) with all lanes of a team, for all
    // vertices of the part for which wanted(place, excess, height) holds; says whether there are
    // any. A block lists its vertices first, so that its teams share them evenly; without a
    // cluster a warp takes those that it finds.
    int turn_of_list = 0;
    auto each = [&](auto wanted, auto work) {
        if (CLUSTER) {
            int *const listed = &list_length[turn_of_list ^= 1];
            for (int start = threadIdx.x - lane; start < count; start += THREADS) {
                const int v = start + lane;
                const bool active =
                    v < count && wanted(v, now(own.excess + v), now(own.height + v));
                const unsigned all = __ballot_sync(~0u, active);
                int base = 0;
                if (lane == 0 && all)
                    base = atomicAdd(listed, __popc(all));
                base = __shfl_sync(~0u, base, 0);
                if (active)
                    own.list[base + __popc(all & ((1u << lane) - 1))] = v;
            }
            __syncthreads();
            const int length = now(listed);
            if (threadIdx.x == 0) // read last before the barrier before
                list_length[turn_of_list ^ 1] = 0;
            for (int i = threadIdx.x / TEAM; i < length; i += THREADS / TEAM) {
                const int v = own.list[i];
                // One lane reads: others may add meanwhile.
                const Amount excess = __shfl_sync(team_mask, now(own.excess + v), 0, TEAM);
                work(v, own.first[v], own.degree[v], excess, now(own.height + v));
            }
            __syncwarp();
            return length > 0;
        }
        bool had = false;
        const int warp_begin = thread / 32 * width, warp_end = min(warp_begin + width, count);
        for (int start = warp_begin; start < warp_end; start += 32) {
            const int v = start + lane;
            Amount excess = 0;
            int height = 0;
            bool active = false;
            if (v < warp_end) {
                excess = now(own.excess + v);
                height = now(own.height + v);
                active = wanted(v, excess, height);
            }
            unsigned left = __ballot_sync(~0u, active);
            had |= left != 0;
            while (left) {
                int from = -1;
                for (int t = 0; t < 32 / TEAM; t++) {
                    if (t == team)
                        from = left ? __ffs(left) - 1 : -1;
                    left &= left - 1;
                }
                const Amount its_excess = __shfl_sync(~0u, excess, from & 31);
                const int its_height = __shfl_sync(~0u, height, from & 31);
                if (from >= 0)
                    work(start + from, own.first[start + from], own.degree[start + from],
                         its_excess, its_height);
                __syncwarp();
            }
        }
        return had;
    };
    const int sink_code = code_of(g.sink), sink_block = sink_code >> CODE_BITS,
              sink = sink_block == me ? sink_code & ((1 << CODE_BITS) - 1) : -1;
    auto is_active = [&](int v, Amount excess, int height) {
        return excess > 0 && height < g.n && v != sink;
    };

    // Rows.
    if (CLUSTER) {
        for (int v = threadIdx.x; v < g.vertices; v += THREADS) {
            own.excess[v] = own.out_capacity[v] = 0;
            own.degree[v] = 0;
        }
        if (threadIdx.x == 0)
            block_board = Board{}, list_length[0] = list_length[1] = 0;
        barrier();
    }
    for (int i = thread; i < g.m; i += threads) {
        const int tail = g.tails[i], head = g.heads[i], cap = g.caps[i];
        if (tail == g.source && head != tail && cap > 0)
            atomicAdd(at(own.excess, code_of(head)), static_cast<Amount>(cap));
        if (matters(g, tail, head, cap)) {
            const int tail_code = code_of(tail);
            g.place[i] = make_int2(atomicAdd(at(own.degree, tail_code), 1),
                                   atomicAdd(at(own.degree, code_of(head)), 1));
            atomicAdd(at(own.out_capacity, tail_code), static_cast<Amount>(cap));
        }
    }
    barrier();
    for (int start = first_own - lane; start < count; start += stride) {
        const int v = start + lane;
        const int length = v < count ? now(own.degree + v) : 0;
        int sum = length;
        for (int d = 1; d < 32; d *= 2) {
            const int other = __shfl_up_sync(~0u, sum, d);
            sum += lane >= d ? other : 0;
        }
        int base = 0;
        if (lane == 31)
            base = atomicAdd(&board->arcs, sum);
        base = __shfl_sync(~0u, base, 31);
        if (v < count) {
            own.first[v] = base + sum - length;
            const Amount excess = now(own.excess + v), most = now(own.out_capacity + v);
            if (v != sink && excess > most)
                own.excess[v] = most;
        }
    }
    if (CLUSTER)
        __syncthreads();
    if (any(CLUSTER && now(&board->arcs) > g.residuals)) {
        if (thread == 0)
            g.board->flow = TOO_LARGE;
        return;
    }
    if (CLUSTER) { // where each block's rows begin
        if (threadIdx.x < 32) {
            const int arcs = lane < blocks ? now(at(&board->arcs, lane << CODE_BITS)) : 0;
            int sum = arcs;
            for (int d = 1; d < 32; d *= 2) {
                const int other = __shfl_up_sync(~0u, sum, d);
                sum += lane >= d ? other : 0;
            }
            if (lane < CLUSTER_MAX)
                arcs_before[lane] = sum - arcs;
        }
        __syncthreads();
    }
    const int2 *const own_arc = g.arc + (CLUSTER ? arcs_before[me] : 0);
    for (int i = thread; i < g.m; i += threads) {
        const int tail = g.tails[i], head = g.heads[i], cap = g.caps[i];
        if (matters(g, tail, head, cap)) {
            const int2 place = g.place[i];
            const int tail_code = code_of(tail), head_code = code_of(head);
            const int tail_block = tail_code >> CODE_BITS, head_block = head_code >> CODE_BITS;
            const int e = now(at(own.first, tail_code)) + place.x,
                      back = now(at(own.first, head_code)) + place.y;
            const int e_code = tail_block << CODE_BITS | e,
                      back_code = head_block << CODE_BITS | back;
            g.arc[(CLUSTER ? arcs_before[tail_block] : 0) + e] = make_int2(head_code, back_code);
            g.arc[(CLUSTER ? arcs_before[head_block] : 0) + back] = make_int2(tail_code, e_code);
            *at(own.residual, e_code) = cap;
            *at(own.residual, back_code) = 0;
        }
    }

    for (;;) {
        // Exact heights.
        for (int v = first_own; v < count; v += stride)
            *const_cast<volatile int *>(own.height + v) = v == sink ? 0 : g.n;
        barrier();
        auto reach = [&](int e, int level) { // over the opposite of arc e
            const int2 arc = own_arc[e];
            int *const height = at(own.height, arc.x);
            const int room = now(at(own.residual, arc.y));
            if (now(height) != g.n || room == 0)
                return false;
            *const_cast<volatile int *>(height) = level + 1;
            return true;
        };
        bool found = false;
        if (sink >= 0) {
            const int begin = now(own.first + sink), length = now(own.degree + sink);
            for (int e = first_own; e < length; e += stride)
                found |= reach(begin + e, 0);
        }
        for (int level = 1; any(found); level++) {
            found = false;
            each([&](int, Amount, int height) { return height == level; },
                 [&](int, int begin, int length, Amount, int) {
                     for (int e = k; e < length; e += TEAM)
                         found |= reach(begin + e, level);
                 });
        }
        bool idle = false;
        for (int round = 0; round < ROUNDS; round++) {
            const bool had = each(is_active, [&](int u, int begin, int length, Amount held,
                                                 int height) {
                auto look = [&](int start, int2 *ret_arc, int *ret_room) { // returns the height
                    const int e = begin + start + k;
                    *ret_room = 0;
                    if (start + k >= length)
                        return g.n;
                    *ret_arc = own_arc[e];
                    *ret_room = now(own.residual + e);
                    return *ret_room > 0 ? now(at(own.height, ret_arc->x)) : g.n;
                };
                int2 first_arc = make_int2(0, 0);
                int first_room;
                const int first_height = look(0, &first_arc, &first_room);
                Amount left = held;
                int lifted = height;
                for (int turn = 1; left > 0; turn++) {
                    int lowest = first_room > 0 ? first_height : g.n;
                    for (int start = TEAM; start < length; start += TEAM) {
                        int2 arc;
                        int room;
                        lowest = min(lowest, look(start, &arc, &room));
                    }
                    lowest = __reduce_min_sync(team_mask, lowest);
                    lifted = max(lifted, min(lowest + 1, g.n));
                    if (lifted == g.n || turn > TURNS)
                        break;
                    for (int start = 0; start < length && left > 0; start += TEAM) {
                        int2 arc = first_arc;
                        int room = first_room, its_height = first_height;
                        if (start > 0)
                            its_height = look(start, &arc, &room);
                        if (its_height != lowest)
                            room = 0;
                        const int most = static_cast<int>(min(left, static_cast<Amount>(INT_MAX)));
                        room = min(room, most);
                        unsigned sum = room; // of this lane and those before, at most INT_MAX
                        for (int d = 1; d < TEAM; d *= 2) {
                            const unsigned other = __shfl_up_sync(team_mask, sum, d, TEAM);
                            if (k >= d)
                                sum = min(sum + other, static_cast<unsigned>(INT_MAX));
                        }
                        int before = __shfl_up_sync(team_mask, sum, 1, TEAM);
                        before = k == 0 ? 0 : before;
                        const int amount = before >= most ? 0 : min(most - before, room);
                        if (amount > 0) {
                            atomicSub(own.residual + begin + start + k, amount);
                            atomicAdd(at(own.residual, arc.y), amount);
                            atomicAdd(at(own.excess, arc.x), static_cast<Amount>(amount));
                            if (start == 0)
                                first_room -= amount;
                        }
                        left -= min(most,
                                    static_cast<int>(__shfl_sync(team_mask, sum, TEAM - 1, TEAM)));
                    }
                }
                if (k == 0 && left != held)
                    atomicAdd(own.excess + u, left - held); // modulo; more may have come
                if (k == 0 && lifted != height)
                    *const_cast<volatile int *>(own.height + u) = lifted;
            });
            if (!any(had)) {
                idle = round == 0;
                break;
            }
        }
        if (idle)
            break;
    }
    if (sink >= 0 && first_own == 0)
        g.board->flow = now(own.excess + sink);
}

// Launches the cluster with `blocks` blocks, if the device can.
template <typename Amount>
static bool launch_cluster(const Network<Amount> &network, int blocks, size_t shared_bytes)
{
    const auto kernel = solve<true, Amount>;
    if (blocks > 8 && cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed,
                                           1) != cudaSuccess) {
        (void)cudaGetLastError();
        return false;
    }
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared_bytes)));
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = static_cast<unsigned>(blocks);
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(THREADS);
    config.dynamicSmemBytes = shared_bytes;
    config.attrs = &attribute;
    config.numAttrs = 1;
    int clusters = 0;
    if (cudaOccupancyMaxActiveClusters(&clusters, kernel, &config) != cudaSuccess || clusters < 1) {
        (void)cudaGetLastError();
        return false;
    }
    CHECK(cudaLaunchKernelEx(&config, kernel, network));
    return true;
}

template <typename Amount>
static void solve_with(int num_nodes, int num_arcs, const int *tails, const int *heads,
                       const int *caps, int source, int sink, int *max_flow_out)
{
    const size_t n = static_cast<size_t>(num_nodes), m = static_cast<size_t>(num_arcs);
    int device, processors, major, shared_max;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    CHECK(cudaDeviceGetAttribute(&shared_max, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));

    // The cluster, and what a block has room for: more than its share, since rows differ.
    int blocks = 1;
    while (blocks < CLUSTER_MAX && num_nodes > blocks * VERTICES_A_BLOCK)
        blocks *= 2;
    constexpr size_t VERTEX_BYTES = 2 * sizeof(Amount) + 4 * sizeof(int);
    const size_t vertices = ((n + blocks - 1) / blocks + 1) / 2 * 2, share = 2 * m / blocks,
                 wanted = std::min(2 * m, share + share / 2 + 1024) + 1,
                 room = static_cast<size_t>(shared_max) - 1024, fixed = vertices * VERTEX_BYTES;
    const bool cluster = num_nodes < GRID_FROM && major >= 9 && fixed + share * sizeof(int) < room;
    const size_t residuals = cluster ? std::min(wanted, (room - fixed) / sizeof(int)) : 0;
    const size_t shared_bytes = fixed + residuals * sizeof(int);

    size_t bytes = 0;
    auto place = [&](size_t wanted) {
        const size_t at = bytes;
        bytes += (wanted + 255) / 256 * 256;
        return at;
    };
    const size_t board_at = place(sizeof(Board)), tails_at = place(m * sizeof(int)),
                 heads_at = place(m * sizeof(int)), caps_at = place(m * sizeof(int)),
                 place_at = place(m * sizeof(int2)), arc_at = place(2 * m * sizeof(int2));
    // What is known of the vertices, where the cluster does not do.
    const size_t amounts = 2 * n * sizeof(Amount), places = n * sizeof(int),
                 part_bytes = amounts + 3 * places + 2 * m * sizeof(int);
    const size_t part_at = cluster ? 0 : place(part_bytes);
    char *memory;
    if (bytes <= ARENA)
        CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&memory), arena));
    else
        CHECK(cudaMalloc(&memory, bytes));
    const transfer::Array in[] = {{memory + tails_at, tails, m * sizeof(int)},
                                  {memory + heads_at, heads, m * sizeof(int)},
                                  {memory + caps_at, caps, m * sizeof(int)}};
    transfer::upload(in, 3);
    Network<Amount> network = {num_nodes,
                               num_arcs,
                               source,
                               sink,
                               blocks,
                               static_cast<int>(vertices),
                               static_cast<int>(residuals),
                               reinterpret_cast<const int *>(memory + tails_at),
                               reinterpret_cast<const int *>(memory + heads_at),
                               reinterpret_cast<const int *>(memory + caps_at),
                               reinterpret_cast<int2 *>(memory + place_at),
                               reinterpret_cast<int2 *>(memory + arc_at),
                               {},
                               reinterpret_cast<Board *>(memory + board_at)};
    Word flow = TOO_LARGE;
    if (cluster && launch_cluster(network, blocks, shared_bytes))
        CHECK(cudaMemcpy(&flow, memory + board_at, sizeof flow, cudaMemcpyDeviceToHost));
    if (flow == TOO_LARGE) {
        char *part = memory + part_at;
        if (cluster) // tried in vain
            CHECK(cudaMalloc(&part, part_bytes));
        CHECK(cudaMemsetAsync(part, 0, amounts + places));
        CHECK(cudaMemsetAsync(memory + board_at, 0, sizeof(Board)));
        int *const degree = reinterpret_cast<int *>(part + amounts);
        network.part = Part<Amount>{reinterpret_cast<Amount *>(part),
                                    reinterpret_cast<Amount *>(part) + n,
                                    degree + n,
                                    degree,
                                    degree + 2 * n,
                                    nullptr,
                                    degree + 3 * n};
        const unsigned grid_blocks = static_cast<unsigned>(
            std::min(n / (THREADS / 32 * WARP_VERTICES) + 1, static_cast<size_t>(processors)));
        void *arguments[] = {&network};
        CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(solve<false, Amount>),
                                          dim3(grid_blocks), dim3(THREADS), arguments, 0, nullptr));
        CHECK(cudaMemcpy(&flow, memory + board_at, sizeof flow, cudaMemcpyDeviceToHost));
        if (cluster)
            CHECK(cudaFree(part));
    }
    if (bytes > ARENA)
        CHECK(cudaFree(memory));
    *max_flow_out = static_cast<int>(flow);
}

extern "C" void solution_compute(int num_nodes, int num_arcs, const int *tails, const int *heads,
                                 const int *caps, int source, int sink, int *max_flow_out)
{
    // In shared memory 64 bits are added in a loop, once more for each other that adds to the same.
    Word sum = TOO_LARGE;
    if (num_nodes < GRID_FROM) {
        sum = 0;
        for (int i = 0; i < num_arcs; i++)
            sum += static_cast<Word>(caps[i]);
    }
    if (sum <= UINT_MAX)
        solve_with<unsigned>(num_nodes, num_arcs, tails, heads, caps, source, sink, max_flow_out);
    else
        solve_with<Word>(num_nodes, num_arcs, tails, heads, caps, source, sink, max_flow_out);
}
