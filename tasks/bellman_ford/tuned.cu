// Distances from all requested sources at once: one kernel that stays until all is done.
//
// Approach: each source is searched from once, up to sixteen together. The distances of a vertex
// from all of them share 64 bytes, so that an edge is read once for all, and lowering is atomicMin
// on the bits (non-negative floats order like integers), whose answer nobody waits for; float sums
// from the source make the result independent of the order. A bit a source marks vertices that were
// lowered; teams of eight lanes relax marked vertices, four edges at once, two sources a lane.
// Vertices beyond a bound that grows with the rounds are put off, since most of them will be
// lowered again. Rounds are separated by a barrier across the grid (cooperative launch), so the
// host waits once. Graphs that fit 1 MB use a block a source with distances in shared memory, one
// packed copy in and no allocation.
//
// What bounds it: latency: some 30 rounds of dependent reads (mark, distance, edge, neighbour's
// distance); at large also the traffic of the distances, which just fit the L2 cache. The copies of
// the graph are more than a quarter of the time at medium.
//
// Tried: waiting for the answer of atomicMin, to mark only what it lowered (7 % slower at medium
// and large: nothing more is marked without it); eight edges at once (4 % faster at medium, 6 %
// slower at large); half a warp a vertex (a fifth slower); other widenings of the bound, up to none
// at all (within a tenth); one request after the other as naive does (fifty times slower).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores (calls with cold caches, as an
// evaluation makes them, by bench/variants): small 0.087 ms, medium 1.65 ms, large 4.9 ms. The call
// floor is 24 % and 6 % of the first two. Naive: 37, 82 and some 500 ms.
#include "transfer.cuh"

#include <algorithm>
#include <climits>
#include <vector>

#define UNREACHED 1e30f

constexpr size_t ARENA = 1000 * 1000; // bytes
constexpr int SMALL_V = 4096, SMALL_THREADS = 1024;
constexpr int LANES = 16;                    // sources searched from together
constexpr int TEAM = 8, SPAN = LANES / TEAM; // lanes for a vertex, sources of a lane
constexpr int AT_ONCE = 4;                   // edges that a lane follows at once
constexpr double WIDEN = 5;
constexpr int THREADS = 256;

// For small graphs: an allocation would cost more than the searches.
static __device__ __align__(256) int arena[ARENA / sizeof(int)];

// A request that has a valid source and target: the row of its source and the target.
struct Request {
    int group, target;
};

// --- small graphs: a block a source, distances in shared memory ---

// Non-negative floats order like their bits. A vertex is relaxed again whenever its distance is
// lower than it was then.
static __global__ void __launch_bounds__(SMALL_THREADS)
    search_small(int V, const int *row_offsets, const int *col_indices, const float *weights,
                 const int *sources, int request_count, const Request *requests, float *answers)
{
    __shared__ int distance[SMALL_V];
    __shared__ int relaxed[SMALL_V];
    for (int v = threadIdx.x; v < V; v += SMALL_THREADS) {
        distance[v] = __float_as_int(v == sources[blockIdx.x] ? 0.0f : UNREACHED);
        relaxed[v] = __float_as_int(UNREACHED);
    }
    __syncthreads();
    for (bool changed = true; changed;) {
        bool lowered = false;
        for (int u = threadIdx.x; u < V; u += SMALL_THREADS) {
            const int bits = *const_cast<volatile int *>(&distance[u]);
            if (bits >= relaxed[u])
                continue;
            relaxed[u] = bits;
            const float from = __int_as_float(bits);
            for (int e = row_offsets[u], end = row_offsets[u + 1]; e < end; e++) {
                const int candidate = __float_as_int(from + weights[e]), v = col_indices[e];
                if (candidate < *const_cast<volatile int *>(&distance[v]))
                    lowered |= candidate < atomicMin(&distance[v], candidate);
            }
        }
        changed = __syncthreads_or(lowered);
    }
    for (int r = threadIdx.x; r < request_count; r += SMALL_THREADS)
        if (requests[r].group == static_cast<int>(blockIdx.x))
            answers[r] = __int_as_float(distance[requests[r].target]);
}

// --- large graphs: one kernel that stays until all is done, sixteen sources at once ---

struct Sources {
    int vertex[LANES];
    int count;
};

// What blocks tell each other, one slot a round, three in turn.
struct Board {
    unsigned arrivals; // at the barrier, ever
    int pending[3];    // anything left to relax?
    int nearest[3];    // bits of the least distance that was put off
};

struct Graph {
    int V;
    const int *row_offsets, *col_indices;
    const float *weights;
    int *distance;     // [V][LANES]: a vertex's distances from all sources share 64 bytes
    unsigned *mask[2]; // bit k: distance from source k was lowered; this round's and the next one's
    Board *board;
};

static __global__ void reset(Graph g, Sources sources)
{
    const size_t stride = static_cast<size_t>(gridDim.x) * THREADS;
    for (size_t i = static_cast<size_t>(blockIdx.x) * THREADS + threadIdx.x;
         i < static_cast<size_t>(g.V) * LANES; i += stride) {
        const int v = static_cast<int>(i / LANES), k = static_cast<int>(i % LANES);
        const bool start = k < sources.count && sources.vertex[k] == v;
        g.distance[i] = __float_as_int(start ? 0.0f : UNREACHED);
        if (k == 0) {
            unsigned bits = 0;
            for (int s = 0; s < sources.count; s++)
                bits |= static_cast<unsigned>(sources.vertex[s] == v) << s;
            g.mask[0][v] = bits;
            g.mask[1][v] = 0;
        }
        if (i == 0)
            *g.board = Board{0, {0, 0, 0}, {INT_MAX, INT_MAX, INT_MAX}};
    }
}

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

// Rounds over the vertices whose distance was lowered, but only those nearer than a bound that
// grows by `widening` a round, and at once to where the next ones are: vertices that will be
// lowered again are mostly left alone until their distance is final. A warp looks after
// 2^chunk_bits neighbouring vertices at a time; eight lanes take one of them, with sources k and k
// + 8 for lane k.
static __global__ void __launch_bounds__(THREADS)
    search(Graph g, float widening, int chunk_bits, int request_count, const Request *requests,
           int first_group, float *answers)
{
    __shared__ int block_nearest;
    const int lane = threadIdx.x % 32, group = lane / TEAM, k = lane % TEAM;
    const unsigned team_mask = 0xffu << (TEAM * group);
    const int warps = gridDim.x * (THREADS / 32), chunk = 1 << chunk_bits;
    const long long start = (static_cast<long long>(blockIdx.x) * (THREADS / 32) + threadIdx.x / 32)
                            << chunk_bits;
    const long long stride = static_cast<long long>(warps) << chunk_bits;
    float bound = widening;
    unsigned target = 0;
    for (int round = 0;; round++) {
        unsigned *now = round % 2 ? g.mask[1] : g.mask[0],
                 *next = round % 2 ? g.mask[0] : g.mask[1];
        const int slot = round % 3, slot_after = (round + 1) % 3;
        if (threadIdx.x == 0) {
            block_nearest = INT_MAX;
            if (blockIdx.x == 0) {
                g.board->pending[slot_after] = 0;
                g.board->nearest[slot_after] = INT_MAX;
            }
        }
        __syncthreads();
        bool pending = false;
        int nearest = INT_MAX;
        for (long long first = start; first < g.V; first += stride) {
            const long long mine = first + lane;
            unsigned bits = 0;
            int begin = 0, end = 0;
            if (lane < chunk && mine < g.V) {
                bits = __ldcg(now + mine);
                if (bits) {
                    now[mine] = 0;
                    begin = g.row_offsets[mine];
                    end = g.row_offsets[mine + 1];
                }
            }
            unsigned active = __ballot_sync(~0u, bits != 0);
            while (active) {
                int from_lane = -1;
                for (int t = 0; t < 32 / TEAM; t++) {
                    if (t == group)
                        from_lane = active ? __ffs(active) - 1 : -1;
                    active &= active - 1;
                }
                const unsigned lowered = __shfl_sync(~0u, bits, from_lane & 31);
                const int row_begin = __shfl_sync(~0u, begin, from_lane & 31);
                const int row_end = __shfl_sync(~0u, end, from_lane & 31);
                if (from_lane < 0)
                    continue;
                const size_t u = static_cast<size_t>(first) + from_lane;
                int from[SPAN];
                bool near[SPAN];
                unsigned near_sources = 0;
#pragma unroll
                for (int s = 0; s < SPAN; s++)
                    from[s] = lowered >> (k + s * TEAM) & 1
                                  ? __ldcg(g.distance + u * LANES + k + s * TEAM)
                                  : INT_MAX;
#pragma unroll
                for (int s = 0; s < SPAN; s++) {
                    near[s] = from[s] != INT_MAX && __int_as_float(from[s]) < bound;
                    if (from[s] != INT_MAX && !near[s])
                        nearest = min(nearest, from[s]);
                    near_sources |= (__ballot_sync(team_mask, near[s]) >> (TEAM * group) & 0xffu)
                                    << (s * TEAM);
                }
                const unsigned far_sources = lowered & ~near_sources;
                if (far_sources) {
                    if (k == 0)
                        atomicOr(next + u, far_sources);
                    pending = true;
                }
                if (!near_sources)
                    continue;
                for (int e = row_begin; e < row_end; e += AT_ONCE) {
                    int head[AT_ONCE], known[AT_ONCE][SPAN];
                    float weight[AT_ONCE];
                    unsigned lower[AT_ONCE];
#pragma unroll
                    for (int i = 0; i < AT_ONCE; i++) {
                        head[i] = e + i < row_end ? g.col_indices[e + i] : -1;
                        weight[i] = e + i < row_end ? g.weights[e + i] : 0;
                    }
#pragma unroll
                    for (int i = 0; i < AT_ONCE; i++)
#pragma unroll
                        for (int s = 0; s < SPAN; s++)
                            known[i][s] =
                                near[s] && head[i] >= 0
                                    ? __ldcg(g.distance + static_cast<size_t>(head[i]) * LANES + k +
                                             s * TEAM)
                                    : INT_MIN;
#pragma unroll
                    for (int i = 0; i < AT_ONCE; i++) {
                        lower[i] = 0;
#pragma unroll
                        for (int s = 0; s < SPAN; s++) {
                            // Nobody waits for the atomic: if the distance fell below the
                            // candidate since it was read, then in this round, and whoever lowered
                            // it sets the same bit.
                            const int candidate =
                                __float_as_int(__int_as_float(from[s]) + weight[i]);
                            if (candidate < known[i][s]) {
                                atomicMin(g.distance + static_cast<size_t>(head[i]) * LANES + k +
                                              s * TEAM,
                                          candidate);
                                lower[i] |= 1u << (k + s * TEAM);
                            }
                        }
                    }
#pragma unroll
                    for (int i = 0; i < AT_ONCE; i++) {
                        lower[i] = __reduce_or_sync(team_mask, lower[i]);
                        if (lower[i]) {
                            if (k == 0)
                                atomicOr(next + head[i], lower[i]);
                            pending = true;
                        }
                    }
                }
            }
        }
        nearest = __reduce_min_sync(~0u, nearest);
        if (lane == 0 && nearest != INT_MAX)
            atomicMin(&block_nearest, nearest);
        const bool block_pending = __syncthreads_or(pending);
        if (threadIdx.x == 0) {
            if (block_pending)
                *const_cast<volatile int *>(&g.board->pending[slot]) = 1;
            if (block_nearest != INT_MAX)
                atomicMin(&g.board->nearest[slot], block_nearest);
        }
        target += gridDim.x;
        grid_barrier(&g.board->arrivals, target);
        if (!__ldcg(&g.board->pending[slot]))
            break;
        const int put_off = __ldcg(&g.board->nearest[slot]);
        bound = fmaxf(bound, put_off == INT_MAX ? 0.0f : __int_as_float(put_off)) + widening;
    }
    if (blockIdx.x == 0)
        for (int r = threadIdx.x; r < request_count; r += THREADS) {
            const int row = requests[r].group - first_group;
            if (row >= 0 && row < LANES)
                answers[r] = __int_as_float(
                    __ldcg(g.distance + static_cast<size_t>(requests[r].target) * LANES + row));
        }
}

static void small_call(int V, size_t E, const int *row_offsets, const int *col_indices,
                       const float *weights, const std::vector<int> &sources,
                       const std::vector<Request> &requests, float *answers)
{
    // All of the input in one copy.
    const size_t ints = static_cast<size_t>(V) + 1 + 2 * E + sources.size() + 2 * requests.size();
    std::vector<int> packed(ints);
    int *at = packed.data();
    auto append = [&](const void *from, size_t count) {
        if (count > 0)
            memcpy(at, from, count * sizeof(int));
        at += count;
    };
    append(requests.data(), 2 * requests.size()); // first: they need the alignment
    append(row_offsets, static_cast<size_t>(V) + 1);
    append(col_indices, E);
    append(weights, E);
    append(sources.data(), sources.size());
    int *device;
    CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&device), arena));
    CHECK(cudaMemcpy(device, packed.data(), ints * sizeof(int), cudaMemcpyHostToDevice));
    const int *d_offsets = device + 2 * requests.size(), *d_columns = d_offsets + V + 1;
    const float *d_weights = reinterpret_cast<const float *>(d_columns + E);
    float *d_answers = reinterpret_cast<float *>(device + ints);
    search_small<<<static_cast<unsigned>(sources.size()), SMALL_THREADS>>>(
        V, d_offsets, d_columns, d_weights, reinterpret_cast<const int *>(d_weights + E),
        static_cast<int>(requests.size()), reinterpret_cast<const Request *>(device), d_answers);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(answers, d_answers, requests.size() * sizeof(float), cudaMemcpyDeviceToHost));
}

static void large_call(int V, size_t E, const int *row_offsets, const int *col_indices,
                       const float *weights, const std::vector<int> &sources,
                       const std::vector<Request> &requests, float *answers)
{
    const size_t v = static_cast<size_t>(V), r = requests.size();
    size_t bytes = 0;
    auto place = [&](size_t wanted) {
        const size_t at = bytes;
        bytes += (wanted + 255) / 256 * 256;
        return at;
    };
    const size_t distance_at = place(v * LANES * sizeof(int)),
                 offsets_at = place((v + 1) * sizeof(int));
    const size_t columns_at = place(E * sizeof(int)), weights_at = place(E * sizeof(float));
    const size_t mask_at[2] = {place(v * sizeof(unsigned)), place(v * sizeof(unsigned))};
    const size_t board_at = place(sizeof(Board)), requests_at = place(r * sizeof(Request));
    const size_t answers_at = place(r * sizeof(float));
    char *memory;
    CHECK(cudaMalloc(&memory, bytes));
    Graph g = {V,
               reinterpret_cast<const int *>(memory + offsets_at),
               reinterpret_cast<const int *>(memory + columns_at),
               reinterpret_cast<const float *>(memory + weights_at),
               reinterpret_cast<int *>(memory + distance_at),
               {reinterpret_cast<unsigned *>(memory + mask_at[0]),
                reinterpret_cast<unsigned *>(memory + mask_at[1])},
               reinterpret_cast<Board *>(memory + board_at)};
    Request *d_requests = reinterpret_cast<Request *>(memory + requests_at);
    float *d_answers = reinterpret_cast<float *>(memory + answers_at);

    int device, processors, resident;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, search, THREADS, 0));
    const int blocks = processors * resident;
    int chunk_bits = 2;
    while (chunk_bits < 5 && (static_cast<long long>(blocks) * (THREADS / 32) << chunk_bits) < V)
        chunk_bits++;

    cudaStream_t stream; // the reset runs while the graph is on its way
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    bool loaded = false;
    float widening = 0;
    for (size_t first = 0; first < sources.size(); first += LANES) {
        Sources batch = {};
        batch.count =
            static_cast<int>(sources.size() - first < LANES ? sources.size() - first : LANES);
        for (int s = 0; s < batch.count; s++)
            batch.vertex[s] = sources[first + s];
        reset<<<processors * 8, THREADS, 0, stream>>>(g, batch);
        CHECK(cudaGetLastError());
        if (!loaded) {
            const transfer::Array arrays[] = {
                {d_requests, requests.data(), r * sizeof(Request)},
                {memory + offsets_at, row_offsets, (v + 1) * sizeof(int)},
                {memory + columns_at, col_indices, E * sizeof(int)},
                {memory + weights_at, weights, E * sizeof(float)}};
            transfer::upload(arrays, 4);
            loaded = true;
            // Of the order of the shortest edge that leaves a vertex; any positive number is right.
            double sum = 0;
            const size_t samples = E < 1024 ? E : 1024;
            for (size_t i = 0; i < samples; i++)
                sum += weights[i * (E / samples)];
            widening = samples > 0
                           ? static_cast<float>(WIDEN * sum / samples * v / static_cast<double>(E))
                           : 1.0f;
        }
        int count = static_cast<int>(r), first_group = static_cast<int>(first);
        void *arguments[] = {&g,          &widening,    &chunk_bits, &count,
                             &d_requests, &first_group, &d_answers};
        CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(search), dim3(blocks),
                                          dim3(THREADS), arguments, 0, stream));
    }
    CHECK(cudaMemcpyAsync(answers, d_answers, r * sizeof(float), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(memory));
}

extern "C" void solution_compute(int V, int E, const int *h_row_offsets, const int *h_col_indices,
                                 const float *h_weights, int num_requests, const int *h_sources,
                                 const int *h_targets, float *h_distances)
{
    // Each source once, in any order; requests without an answer are not sent.
    std::vector<int> sources;
    for (int i = 0; i < num_requests; i++)
        if (h_sources[i] >= 0 && h_sources[i] < V && h_targets[i] >= 0 && h_targets[i] < V)
            sources.push_back(h_sources[i]);
    std::sort(sources.begin(), sources.end());
    sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
    std::vector<Request> requests;
    std::vector<int> asked; // the place of each in h_distances
    for (int i = 0; i < num_requests; i++) {
        h_distances[i] = UNREACHED;
        if (h_sources[i] >= 0 && h_sources[i] < V && h_targets[i] >= 0 && h_targets[i] < V) {
            const auto at = std::lower_bound(sources.begin(), sources.end(), h_sources[i]);
            requests.push_back(Request{static_cast<int>(at - sources.begin()), h_targets[i]});
            asked.push_back(i);
        }
    }
    // Something is always computed, so that a call without a valid request looks like any other.
    if (requests.empty()) {
        sources.push_back(0);
        requests.push_back(Request{0, 0});
    }
    std::vector<float> answers(requests.size());
    const size_t edges = static_cast<size_t>(E);
    const size_t ints =
        static_cast<size_t>(V) + 1 + 2 * edges + sources.size() + 3 * requests.size();
    if (V <= SMALL_V && ints * sizeof(int) <= ARENA)
        small_call(V, edges, h_row_offsets, h_col_indices, h_weights, sources, requests,
                   answers.data());
    else
        large_call(V, edges, h_row_offsets, h_col_indices, h_weights, sources, requests,
                   answers.data());
    for (size_t i = 0; i < asked.size(); i++)
        h_distances[asked[i]] = answers[i];
}
