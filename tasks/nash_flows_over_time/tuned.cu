// A block a scenario, all steps in one launch, the whole network in shared memory.
//
// Approach: up to 512 roads a thread keeps a road: its queue and cost in registers, what travels on
// it in a row of shared memory. A step is then a few lines between barriers: arrivals, all
// distances anew (two looks at each road between barriers), the tight road of smallest index for
// each node, discharge. Larger networks: only nodes with volume, roads with a queue and volumes
// that arrive are looked at, in lists. The tree of shortest paths of the last step gives an upper
// bound of all distances: every node's path is summed by pointer jumping, in a handful of rounds.
// One look at all roads finds those that offer less, mostly few; what they improve goes through
// work lists, one barrier a round. Roads are numbered by their start, so that those of a node lie
// together; the road of smallest index is looked up for nodes that have volume to send only.
// Volumes on the roads lie in lists by step of arrival.
//
// What bounds it: the chain of dependent looks into shared memory, some 4000 cycles a step at
// small, 15000 beyond (pricing and repairing more than half of them), on as many multiprocessors as
// there are scenarios; nothing else of the device is used. A warp that works alone takes four
// cycles and more an instruction, so their number counts as much as barriers do.
//
// Tried: three barriers a round of repair, marks cleared between them, and the roads into a node in
// global memory (9 % slower at medium, 6 % at large); repairing by a single warp without barriers
// (two thirds slower at medium, where many nodes fall at once); every node takes the best of its
// roads and the tree is priced again, as in policy iteration, a thread a node (twice as slow at
// large: a warp waits for its node of most roads); 256 threads (a quarter slower). A host thread a
// scenario is faster than the lists at small only (3 ms), and three times slower at medium and
// large. Distances over the roads that never had a queue in a table, so that a step solves for the
// few others alone: half the time at large where 22 roads queue, 30 ms, but twice as slow at medium
// where 395 do, 89 ms, since each that joins costs some 300000 cycles of repairing the table; at
// small 2.7 ms. Repair by bit masks instead of lists, and pricing only the roots of subtrees that
// keep their shape: an eighth slower than lists and jumps.
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores (calls with cold caches, as an
// evaluation makes them, by bench/variants): small 2.2 ms (with lists 5.0), medium 41 ms, large 61
// ms. The call floor is 1.7 % and 0.2 % of the first two. Naive: 6.8, 187 and 478 ms.
#include "check.cuh"

#include <cstring>
#include <vector>

constexpr int RING = 32;
constexpr int UNREACHABLE = 1000000000;
// Arrivals of a step that shared memory holds, as many as there is room for; more lie in global
// memory.
constexpr int SLOTS[] = {96, 64, 48, 32};
constexpr int LOOKS = 4; // roads that a thread looks at together

constexpr int DENSE_ROADS = 512;    // up to here a thread has a road of its own
constexpr size_t ARENA = 16 * 1024; // bytes

typedef unsigned short Id;
constexpr Id NONE = 0xffff;

struct Arrival {
    Id node, unused;
    float volume;
};

// Roads sorted by start, and among those of a node by their given index.
struct Network {
    int n, m, slot;
    const Id *ends; // [2 * road]: start and end
    const int *transit;
    const float *capacity;
    const int *out, *in; // first road out of each node; first place in in_road
    const Id *in_road;
};

struct Shared {      // of a block; sizes in comments
    int *weight;     // m
    float *queue;    // m
    unsigned *ends;  // m: start below, end above
    float *waiting;  // n
    int *distance;   // n
    Id *parent;      // n: a road on a shortest path
    uint2 *jump;     // 2 n: sum so far, node that it leads to
    Id *nodes;       // n: with volume waiting
    Id *queued;      // 2 m: roads with a queue
    Id *changed;     // 2 n: nodes whose distance fell; in the place of jump
    unsigned *mark;  // (m + 31) / 32 bits: roads in the next list of queued ones
    unsigned *fell;  // n: the last turn in whose list of changed nodes a node is
    Id *in;          // n + 1
    Id *in_road;     // m
    Arrival *moving; // RING * slot
    int *count;      // RING
};

static size_t shared_bytes(int n, int m, int slot)
{
    auto words = [](size_t bytes) { return (bytes + 15) / 16 * 16; };
    const size_t nodes = n, roads = m;
    return 3 * words(roads * 4) + 2 * words(nodes * 4) + words(nodes * 2) + 2 * words(nodes * 8) +
           words(nodes * 2) + 2 * words(roads * 2) + words((roads + 31) / 32 * 4) +
           words(nodes * 4) + words((nodes + 1) * 2) + words(roads * 2) +
           words(sizeof(Arrival) * RING * slot) + words(RING * 4);
}

template <typename T> static __device__ T *take(char **at, int count)
{
    T *const here = reinterpret_cast<T *>(*at);
    *at += (count * sizeof(T) + 15) / 16 * 16;
    return here;
}

static __device__ int weight_of(int transit, float queue, float capacity)
{
    return 1000 * transit + static_cast<int>(__fmul_rn(__fdiv_rn(queue, capacity), 1000.0f));
}

// Whether the offer lowers the node's distance and the node is new in this turn's list.
static __device__ bool lowers(const Shared &s, int node, int through, unsigned turn)
{
    return through < atomicMin(&s.distance[node], through) &&
           atomicExch(&s.fell[node], turn) != turn;
}

// Distances that the offers of all roads, or of those into nodes that fell, lower; until none does.
// Each turn has a list of nodes that fell, kept in two places by turns; its length is one of three
// counts, so that a barrier a turn is enough: while one is filled, the one before is read, and the
// one after it is cleared. Turns are counted through all steps; returns the last one.
template <int THREADS>
static __device__ unsigned repair(const Network &net, const Shared &s, unsigned turn, int *counts)
{
    const int tid = threadIdx.x;
    turn++;
    for (int first = tid; first < net.m; first += LOOKS * THREADS) {
        int tail[LOOKS], through[LOOKS], known[LOOKS];
#pragma unroll
        for (int k = 0; k < LOOKS; k++) {
            const int e = first + k * THREADS;
            tail[k] = through[k] = known[k] = 0;
            if (e < net.m) {
                const unsigned ends = s.ends[e];
                tail[k] = ends & 0xffff;
                through[k] = s.weight[e] + s.distance[ends >> 16];
                known[k] = s.distance[tail[k]];
            }
        }
#pragma unroll
        for (int k = 0; k < LOOKS; k++)
            if (through[k] < known[k] && lowers(s, tail[k], through[k], turn))
                s.changed[turn % 2 * net.n + atomicAdd(&counts[turn % 3], 1)] =
                    static_cast<Id>(tail[k]);
    }
    __syncthreads();
    for (;; turn++) {
        const int count = counts[turn % 3];
        if (tid == 0)
            counts[(turn + 2) % 3] = 0;
        if (count == 0)
            return turn;
        const Id *const list = s.changed + turn % 2 * net.n;
        Id *const next = s.changed + (turn + 1) % 2 * net.n;
        int *const next_count = &counts[(turn + 1) % 3];
        // A few lanes a node, over the roads into it.
        for (int k = tid / 4; k < count; k += THREADS / 4) {
            const int node = list[k], to = s.in[node + 1];
            for (int i = s.in[node] + tid % 4; i < to; i += 4) {
                const int e = s.in_road[i], tail = s.ends[e] & 0xffff,
                          through = s.weight[e] + s.distance[node];
                if (through < s.distance[tail] && lowers(s, tail, through, turn + 1))
                    next[atomicAdd(next_count, 1)] = static_cast<Id>(tail);
            }
        }
        __syncthreads();
    }
}

// One scenario; `at` is memory for the block's arrays.
template <int THREADS>
static __device__ float simulate(const Network &net, int steps, float rate, char *at,
                                 Arrival *overflow)
{
    __shared__ int node_count, queued_count[2], fell_count[3];
    const int tid = threadIdx.x, n = net.n, m = net.m, dest = n - 1, slots = net.slot;
    Shared s;
    s.weight = take<int>(&at, m);
    s.queue = take<float>(&at, m);
    s.ends = take<unsigned>(&at, m);
    s.waiting = take<float>(&at, n);
    s.distance = take<int>(&at, n);
    s.parent = take<Id>(&at, n);
    s.jump = take<uint2>(&at, 2 * n);
    s.nodes = take<Id>(&at, n);
    s.queued = take<Id>(&at, 2 * m);
    s.changed = reinterpret_cast<Id *>(s.jump);
    s.mark = take<unsigned>(&at, (m + 31) / 32);
    s.fell = take<unsigned>(&at, n);
    s.in = take<Id>(&at, n + 1);
    s.in_road = take<Id>(&at, m);
    s.moving = take<Arrival>(&at, RING * slots);
    s.count = take<int>(&at, RING);

    for (int e = tid; e < m; e += THREADS) {
        s.weight[e] = 1000 * net.transit[e];
        s.queue[e] = 0;
        s.ends[e] = net.ends[2 * e] | static_cast<unsigned>(net.ends[2 * e + 1]) << 16;
        s.in_road[e] = net.in_road[e];
    }
    for (int i = tid; i < n; i += THREADS) {
        s.waiting[i] = 0;
        s.distance[i] = i == dest ? 0 : UNREACHABLE;
        s.parent[i] = NONE;
        s.fell[i] = 0;
        s.in[i] = static_cast<Id>(net.in[i]);
    }
    for (int w = tid; w < (m + 31) / 32; w += THREADS)
        s.mark[w] = 0;
    if (tid < RING)
        s.count[tid] = 0;
    if (tid == 0) {
        node_count = queued_count[0] = queued_count[1] = 0;
        fell_count[0] = fell_count[1] = fell_count[2] = 0;
        s.in[n] = static_cast<Id>(m);
    }
    __syncthreads();
    unsigned turn = 0;

    for (int t = 0; t < steps; t++) {
        const int slot = t % RING, now = t % 2;
        // What arrives, and the weights of the roads whose queue the last step changed.
        const int arrivals = s.count[slot];
        for (int k = tid; k < arrivals + 1; k += THREADS) {
            Arrival a;
            if (k == arrivals)
                a.node = 0, a.volume = rate;
            else
                a = k < slots ? s.moving[slot * slots + k]
                              : overflow[static_cast<size_t>(slot) * m + k];
            if (a.volume > 0 && atomicAdd(&s.waiting[a.node], a.volume) == 0 && a.node != dest)
                s.nodes[atomicAdd(&node_count, 1)] = a.node;
        }
        int changed = t == 0;
        const int touched = queued_count[now];
        for (int k = THREADS - 1 - tid; k < touched; k += THREADS) {
            const int e = s.queued[now * m + k],
                      weight = weight_of(net.transit[e], s.queue[e], net.capacity[e]);
            changed |= weight != s.weight[e];
            s.weight[e] = weight;
        }
        changed = __syncthreads_or(changed);
        if (tid == 0)
            s.count[slot] = queued_count[now ^ 1] = 0;

        if (changed) {
            if (t > 0) {
                // The old tree, priced anew.
                for (int i = tid; i < n; i += THREADS) {
                    const Id e = s.parent[i];
                    s.jump[i] = e == NONE ? make_uint2(i == dest ? 0 : UNREACHABLE, dest)
                                          : make_uint2(s.weight[e], s.ends[e] >> 16);
                }
                __syncthreads();
                int from = 0;
                for (int more = 1; more; from ^= 1) {
                    more = 0;
                    for (int i = tid; i < n; i += THREADS) {
                        uint2 mine = s.jump[from * n + i];
                        const uint2 next = s.jump[from * n + mine.y];
                        mine.x += next.x;
                        mine.y = next.y;
                        more |= static_cast<int>(mine.y) != dest;
                        s.jump[(from ^ 1) * n + i] = mine;
                    }
                    more = __syncthreads_or(more);
                }
                for (int i = tid; i < n; i += THREADS)
                    s.distance[i] = static_cast<int>(s.jump[from * n + i].x);
                __syncthreads();
            }
            turn = repair<THREADS>(net, s, turn, fell_count);
            // A road for every node whose road no longer leads along a shortest path.
            for (int i = tid; i < n; i += THREADS) {
                const int distance = s.distance[i];
                const Id e = s.parent[i];
                if (i == dest || distance >= UNREACHABLE ||
                    (e != NONE && s.weight[e] + s.distance[s.ends[e] >> 16] == distance))
                    continue;
                int k = net.out[i];
                while (s.distance[s.ends[k] >> 16] >= UNREACHABLE ||
                       s.weight[k] + s.distance[s.ends[k] >> 16] != distance)
                    k++;
                s.parent[i] = static_cast<Id>(k);
            }
        }

        // Onto the next roads.
        const int senders = node_count;
        for (int k = tid; k < senders; k += THREADS) {
            const int u = s.nodes[k], distance = s.distance[u];
            if (distance >= UNREACHABLE)
                continue;
            int e = net.out[u];
            while (s.distance[s.ends[e] >> 16] >= UNREACHABLE ||
                   s.weight[e] + s.distance[s.ends[e] >> 16] != distance)
                e++;
            if (!(atomicOr(&s.mark[e / 32], 1u << e % 32) >> e % 32 & 1))
                s.queued[now * m + atomicAdd(&queued_count[now], 1)] = static_cast<Id>(e);
            s.queue[e] += s.waiting[u];
            s.waiting[u] = 0;
        }
        __syncthreads();
        // Discharge. Nodes without a way keep their place in the list: the waiting stays above 0.
        const int roads = queued_count[now];
        for (int k = tid; k < roads; k += THREADS) {
            const int e = s.queued[now * m + k];
            const float queue = s.queue[e], enters = fminf(queue, net.capacity[e]);
            s.queue[e] = queue - enters;
            if (enters > 0) {
                const int then = (t + net.transit[e]) % RING, place = atomicAdd(&s.count[then], 1);
                const Arrival a = {static_cast<Id>(s.ends[e] >> 16), 0, enters};
                if (place < slots)
                    s.moving[then * slots + place] = a;
                else
                    overflow[static_cast<size_t>(then) * m + place] = a;
                // Once more, even when empty now: its weight changes.
                s.queued[(now ^ 1) * m + atomicAdd(&queued_count[now ^ 1], 1)] = static_cast<Id>(e);
            } else {
                atomicAnd(&s.mark[e / 32], ~(1u << e % 32));
            }
        }
        if (tid == 0)
            node_count = 0;
        __syncthreads();
    }
    return s.waiting[dest];
}

template <int THREADS, bool IN_SHARED>
static __global__ void __launch_bounds__(THREADS)
    simulate_all(Network net, int steps, int requests, const float *rates, char *memory,
                 size_t bytes, Arrival *overflow, float *results)
{
    extern __shared__ float4 shared[];
    char *const at = IN_SHARED ? reinterpret_cast<char *>(shared) : memory + blockIdx.x * bytes;
    for (int r = blockIdx.x; r < requests; r += gridDim.x) {
        const float total = simulate<THREADS>(
            net, steps, rates[r], at, overflow + static_cast<size_t>(blockIdx.x) * RING * net.m);
        __syncthreads();
        if (threadIdx.x == 0)
            results[r] = total;
    }
}

// Small networks: a road a thread, all distances anew in each step. Roads are numbered as given.

struct Road {
    unsigned ends; // start, end << 16
    int transit;
    float capacity;
};

// For them: an allocation would take some 0.1 ms.
static __device__ __align__(16) char arena[ARENA];

static size_t dense_bytes(int n, int m)
{
    const size_t nodes = n, threads = (static_cast<size_t>(m) + 31) / 32 * 32;
    return nodes * 4 * sizeof(int) + RING * threads * sizeof(float);
}

static __global__ void __launch_bounds__(DENSE_ROADS, 1)
    simulate_dense(int n, int m, int steps, const Road *roads, const float *rates, float *results)
{
    extern __shared__ float moving[]; // [RING][threads]
    const int e = threadIdx.x, threads = blockDim.x, dest = n - 1;
    float *const waiting = moving + RING * threads;
    int *const next = reinterpret_cast<int *>(waiting + n), *distances = next + n;
    const float rate = rates[blockIdx.x];
    Road road = {0, 1, 1.0f};
    const bool used = e < m;
    if (used)
        road = roads[e];
    const int tail = road.ends & 0xffff, head = road.ends >> 16;
    float queue = 0;
    int weight = 1000 * road.transit, now = 0;
    for (int slot = 0; slot < RING; slot++)
        moving[slot * threads + e] = 0;
    for (int i = e; i < n; i += threads) {
        waiting[i] = 0;
        distances[i] = distances[n + i] = i == dest ? 0 : UNREACHABLE;
    }
    __syncthreads();
    for (int t = 0, changed = 1; t < steps; t++) {
        // Arrivals.
        for (int i = e; i < n; i += threads)
            next[i] = DENSE_ROADS;
        const float arrives = moving[t % RING * threads + e];
        if (arrives > 0)
            atomicAdd(&waiting[head], arrives);
        if (e == threads - 1)
            atomicAdd(&waiting[0], rate);
        // Distances, two looks at each road between barriers.
        if (changed) {
            now ^= 1;
            volatile int *const distance = distances + now * n;
            for (int more = 1; more;) {
                more = 0;
                if (used)
#pragma unroll
                    for (int look = 0; look < 2; look++) {
                        const int through = weight + distance[head];
                        if (through < distance[tail]) {
                            atomicMin(&distances[now * n + tail], through);
                            more = 1;
                        }
                    }
                more = __syncthreads_or(more);
            }
        } else {
            __syncthreads();
        }
        const int *const distance = distances + now * n;
        if (used && tail != dest && distance[head] < UNREACHABLE &&
            weight + distance[head] == distance[tail])
            atomicMin(&next[tail], e);
        __syncthreads();
        // Onto the next roads, and discharge.
        if (used) {
            const float before = queue;
            if (next[tail] == e) {
                queue += waiting[tail];
                waiting[tail] = 0;
            }
            const float enters = fminf(queue, road.capacity);
            queue -= enters;
            moving[(t + road.transit) % RING * threads + e] = enters;
            changed = 0;
            if (queue != before) {
                const int cost = weight_of(road.transit, queue, road.capacity);
                changed = cost != weight;
                weight = cost;
            }
        }
        // For the next time; those of this step may go on being right.
        for (int i = e; i < n; i += threads)
            distances[(now ^ 1) * n + i] = i == dest ? 0 : UNREACHABLE;
        changed = __syncthreads_or(changed);
    }
    if (e == 0)
        results[blockIdx.x] = waiting[dest];
}

// Stable: the ids 0 .. m-1 by end[id], and where each group starts.
template <typename List> static void group(int n, int m, const int *end, int *start, List *list)
{
    std::vector<int> place(static_cast<size_t>(n) + 1, 0);
    for (int e = 0; e < m; e++)
        place[end[e] + 1]++;
    for (int i = 0; i < n; i++)
        place[i + 1] += place[i];
    for (int i = 0; i <= n; i++)
        start[i] = place[i];
    for (int e = 0; e < m; e++)
        list[place[end[e]]++] = static_cast<List>(e);
}

extern "C" void solution_compute(int num_nodes, int num_edges, int num_steps, const int *edge_u,
                                 const int *edge_v, const float *edge_capacity,
                                 const int *edge_transit_time, int num_requests,
                                 const float *inflow_rates, float *results)
{
    const size_t n = num_nodes, m = num_edges, requests = num_requests;
    if (n >= NONE || m >= NONE) {
        fprintf(stderr, "%zu nodes and %zu roads: ids have 16 bits\n", n, m);
        abort();
    }
    int device, shared_most;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&shared_most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    const size_t of_dense = dense_bytes(num_nodes, num_edges),
                 of_input = m * sizeof(Road) + requests * sizeof(float);
    if (num_edges <= DENSE_ROADS && of_dense + 64 <= static_cast<size_t>(shared_most) &&
        of_input + requests * sizeof(float) <= ARENA) {
        std::vector<char> packed(of_input);
        Road *const roads = reinterpret_cast<Road *>(packed.data());
        for (size_t e = 0; e < m; e++)
            roads[e] = {static_cast<unsigned>(edge_u[e]) | static_cast<unsigned>(edge_v[e]) << 16,
                        edge_transit_time[e], edge_capacity[e]};
        memcpy(roads + m, inflow_rates, requests * sizeof(float));
        char *there;
        CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&there), arena));
        CHECK(cudaMemcpy(there, packed.data(), packed.size(), cudaMemcpyHostToDevice));
        const Road *const d_roads = reinterpret_cast<Road *>(there);
        const float *const rates = reinterpret_cast<const float *>(d_roads + m);
        float *const totals = reinterpret_cast<float *>(there + packed.size());
        CHECK(cudaFuncSetAttribute(simulate_dense, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(of_dense)));
        simulate_dense<<<num_requests, (num_edges + 31) / 32 * 32, of_dense>>>(
            num_nodes, num_edges, num_steps, d_roads, rates, totals);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(results, totals, requests * sizeof(float), cudaMemcpyDeviceToHost));
        return;
    }
    // One buffer for all that goes to the device.
    size_t bytes = 0;
    auto place = [&](size_t count, size_t size) {
        const size_t here = bytes;
        bytes += (count * size + 15) / 16 * 16;
        return here;
    };
    const size_t ends_at = place(2 * m, sizeof(Id)), transit_at = place(m, 4),
                 capacity_at = place(m, 4), out_at = place(n + 1, 4), in_at = place(n + 1, 4),
                 in_road_at = place(m, sizeof(Id)), rates_at = place(requests, 4);
    std::vector<char> host(bytes);
    Id *const ends = reinterpret_cast<Id *>(&host[ends_at]);
    std::vector<int> order(m), head(m);
    group(num_nodes, num_edges, edge_u, reinterpret_cast<int *>(&host[out_at]), order.data());
    for (size_t k = 0; k < m; k++) {
        const int e = order[k];
        ends[2 * k] = static_cast<Id>(edge_u[e]);
        ends[2 * k + 1] = static_cast<Id>(head[k] = edge_v[e]);
        reinterpret_cast<int *>(&host[transit_at])[k] = edge_transit_time[e];
        reinterpret_cast<float *>(&host[capacity_at])[k] = edge_capacity[e];
    }
    group(num_nodes, num_edges, head.data(), reinterpret_cast<int *>(&host[in_at]),
          reinterpret_cast<Id *>(&host[in_road_at]));
    memcpy(&host[rates_at], inflow_rates, requests * 4);

    int processors;
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    int slot = 0;
    size_t of_block = 0;
    bool in_shared = false;
    for (const int tried : SLOTS)
        if (!in_shared) {
            slot = tried;
            of_block = shared_bytes(num_nodes, num_edges, slot);
            in_shared = of_block + 64 <= static_cast<size_t>(shared_most);
        }
    const int blocks = num_requests < 2 * processors ? num_requests : 2 * processors;
    const size_t results_at = place(requests, 4),
                 overflow_at = place(RING * m * blocks, sizeof(Arrival)),
                 memory_at = place(in_shared ? 0 : of_block * blocks, 1);
    char *memory;
    CHECK(cudaMalloc(&memory, bytes));
    CHECK(cudaMemcpy(memory, host.data(), host.size(), cudaMemcpyHostToDevice));
    Network net;
    net.n = num_nodes, net.m = num_edges, net.slot = slot;
    net.ends = reinterpret_cast<Id *>(memory + ends_at);
    net.transit = reinterpret_cast<int *>(memory + transit_at);
    net.capacity = reinterpret_cast<float *>(memory + capacity_at);
    net.out = reinterpret_cast<int *>(memory + out_at);
    net.in = reinterpret_cast<int *>(memory + in_at);
    net.in_road = reinterpret_cast<Id *>(memory + in_road_at);
    const bool many = num_nodes > 1200; // more threads, whose barriers take longer
    const auto kernel = !in_shared ? simulate_all<512, false>
                        : many     ? simulate_all<1024, true>
                                   : simulate_all<512, true>;
    const int threads = in_shared && many ? 1024 : 512;
    const size_t dynamic = in_shared ? of_block : 0;
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(dynamic)));
    float *const d_results = reinterpret_cast<float *>(memory + results_at);
    kernel<<<blocks, threads, dynamic>>>(
        net, num_steps, num_requests, reinterpret_cast<float *>(memory + rates_at),
        memory + memory_at, of_block, reinterpret_cast<Arrival *>(memory + overflow_at), d_results);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(results, d_results, requests * 4, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(memory));
}
