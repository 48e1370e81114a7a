// Airline crew pairing: search and greedy cover in one kernel, the first fit plan meanwhile on the
// host.
//
// Approach: legs are sorted by the station that they leave, so that what may follow a leg is one
// range of places. A warp searches from a start leg with its labels and heap in shared memory: a
// label that leaves the heap is extended to a whole range at once, one connection a lane, and since
// it has at most one label at each leg, a new label meets its rivals at known places, one for each
// earlier record. Only the heap keeps the reference's order of pushes and pops, because equal costs
// leave it in an order that matters. The records of a search form a tree; a lane holds each and
// knows its path as a bit mask. The cover takes in each round all proposals that come first at each
// of their legs, which gives what taking them one by one in order gives. So the plan is the
// reference's own.
//
// What bounds it: of 0.25 ms at large size 0.15 are the kernel (the search 0.033, 21 rounds of two
// barriers each 0.10); the calls to launch and to copy take most of the others. Memory of the
// device is a device variable, which holds some 3000 legs: to allocate and free took longer than
// all else.
//
// Tried: everything on the host by one thread (0.05 ms at small, which the rules do not allow, 0.70
// at medium and 9.9 at large size); blocks of two, four or eight warps instead of as many as give
// each multiprocessor one block (longer barriers); one cluster for few legs, with its shorter
// barriers (equal at small, a fourteenth less at medium, half as much again where hardly a leg
// joins another); legs with the launch instead of a copy (no difference).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores, medians of calls one behind the
// other: 0.092, 0.119 and 0.254 ms (an evaluation with cold caches takes 0.376 ms at large; with
// an allocation, on the same day as the first, 0.36, 0.38 and 0.40 ms; naive, on a quicker day,
// 0.57, 1.2 and 7.5 ms). The floor is a launch and two small copies, 0.02 ms, which is 23, 17 and 8 % of
// these. A core alone is as quick at small: the single-thread reference takes 0.1 ms, the legs
// depend on each other, and one core has chosen them all before a launch and two copies are done.
#include "check.cuh"

#include <algorithm>
#include <climits>
#include <cooperative_groups.h>
#include <cstring>
#include <vector>

constexpr float FEE = 10000.0f; // of a pairing that starts away from the base
constexpr int WAIT_LIMIT = 2160;
constexpr int RECORDS_MAX = 20, EXPANDED_MAX = RECORDS_MAX - 1;
constexpr int WARPS_LEAST = 8, WARPS_MAX = 24; // of a block
constexpr unsigned ALL = 0xffffffffu;
constexpr size_t ARENA = 1000 * 1000;         // bytes
constexpr size_t POOLS_MAX = size_t(4) << 30; // bytes, where shared memory is too small for labels

// For up to 3000 legs or so: an allocation would take half of the time.
static __device__ __align__(256) char arena[ARENA];

using prio = unsigned long long; // of a proposal: its key, then the order of discovery
constexpr prio NEVER = ~prio(0);

struct rules {
    float duty_rate, block_rate;
    int max_duty, max_block, max_legs, min_rest;
};

struct leg {
    int dep, arr, index, fee; // fee: it leaves from a station other than the base
};

// Legs that leave the station where a leg ends; then those of them that may follow it.
struct range {
    int from, to;
};

struct alignas(16) label {
    float cost;
    int start, block, state; // of the duty; state: legs, parent's record, and whether it is alive
};
constexpr int ALIVE = 1, PARENT_SHIFT = 1, LEGS_SHIFT = 8;

struct alignas(8) queued {
    float cost;
    int label;
};
constexpr size_t LABEL_BYTES = sizeof(label) + sizeof(queued);

// Of one start leg: record r is lane r's.
struct records {
    int count, place;
    unsigned path;
    float key;
};

struct device_memory {
    leg *legs;
    range *follow;
    int *result, *covered, *any_left; // any_left: 2
    prio *best;                       // 2 n
    int *count, *place;               // n, 20 n
    unsigned *path;                   // 20 n
    float *key;                       // 20 n
    char *pools;                      // labels, where shared memory is too small
};

static __host__ __device__ float single_cost(const rules &r, leg l)
{
    const float block = static_cast<float>(l.arr - l.dep);
    return block * r.duty_rate / 60.0f + block * r.block_rate / 60.0f + (l.fee ? FEE : 0.0f);
}

static __host__ __device__ void push(queued *heap, int &size, queued item)
{
    int i = size++;
    while (i > 0) {
        const int up = (i - 1) / 2;
        const queued parent = heap[up];
        if (!(parent.cost > item.cost))
            break;
        heap[i] = parent;
        i = up;
    }
    heap[i] = item;
}

static __host__ __device__ int pop(queued *heap, int &size)
{
    const int top = heap[0].label;
    const queued item = heap[--size];
    int i = 0;
    for (;;) {
        const int left = 2 * i + 1;
        int least = i;
        queued cheapest = item;
        if (left < size && heap[left].cost < cheapest.cost) {
            least = left;
            cheapest = heap[left];
        }
        if (left + 1 < size && heap[left + 1].cost < cheapest.cost) {
            least = left + 1;
            cheapest = heap[left + 1];
        }
        if (least == i)
            break;
        heap[i] = cheapest;
        i = least;
    }
    heap[i] = item;
    return top;
}

// Pushes the items of the lanes in `pushed`, as if one after the other; returns the new size. An
// item that is not below its parent stays where it is put; so do those before the first that moves.
static __device__ int push_all(queued *heap, int size, unsigned pushed, queued item)
{
    const int lane = threadIdx.x % 32;
    const bool is_pushed = pushed >> lane & 1;
    const int place = size + __popc(pushed & ((1u << lane) - 1)), up = (place - 1) / 2;
    __syncwarp(); // labels and heap are as all lanes left them
    while (pushed) {
        // A parent that is yet to be put counts as one that moves it.
        const bool moves = is_pushed && pushed >> lane & 1 && place > 0 &&
                           (up >= size || heap[up].cost > item.cost);
        const unsigned movers = __ballot_sync(ALL, moves);
        const int first = movers ? __ffs(movers) - 1 : 32;
        const unsigned staying = first < 32 ? pushed & ((1u << first) - 1) : pushed;
        if (staying >> lane & 1)
            heap[place] = item;
        size += __popc(staying);
        pushed &= ~staying;
        __syncwarp();
        if (first < 32) {
            if (lane == first) {
                int moved = size;
                push(heap, moved, item);
            }
            size++;
            pushed &= pushed - 1;
            __syncwarp();
        }
    }
    return size;
}

static __host__ __device__ bool dominates(const label &a, const label &b)
{
    return a.cost <= b.cost && a.start >= b.start && a.block <= b.block &&
           a.state >> LEGS_SHIFT <= b.state >> LEGS_SHIFT;
}

// The cheapest pairings that begin with the leg at `first`.
static __device__ records search(const rules &rule, const leg *legs, const range *follow, int first,
                                 label *labels, queued *heap)
{
    const int lane = threadIdx.x % 32;
    // Lane r keeps of record r: its place, path and sum of single costs; where its successors are,
    // and their labels.
    records own = {0, 0, 0, 0.0f};
    float own_singles = 0.0f;
    range own_range = {0, 0};
    int own_labels = 0;

    int heap_size = 0, label_count = 0;
    leg last = legs[first];
    int place = first, start = last.dep, block = last.arr - last.dep, duty_legs = 1;
    float cost = single_cost(rule, last), singles = cost;
    unsigned path = 1;
    for (int r = 0;; r++) {
        const range here = follow[place];
        if (lane == r) {
            own.place = place;
            own.path = path;
            own.key = -(singles - cost);
            own_singles = singles;
            own_range = here;
            own_labels = label_count;
        }
        own.count = r + 1;
        if (own.count == RECORDS_MAX)
            break;
        for (int from = here.from; from < here.to; from += 32) {
            const int p = from + lane;
            bool is_new = p < here.to;
            label fresh = {0.0f, start, block, 0};
            if (is_new) {
                const leg next = legs[p];
                const int minutes = next.arr - next.dep;
                int paid = next.arr - last.arr, flown = duty_legs;
                if (next.dep - last.arr >= rule.min_rest) {
                    fresh.start = next.dep;
                    fresh.block = minutes;
                    flown = 1;
                    paid = minutes;
                } else {
                    fresh.block += minutes;
                    flown++;
                    is_new = next.arr - start <= rule.max_duty && fresh.block <= rule.max_block &&
                             flown <= rule.max_legs;
                }
                const float extra = static_cast<float>(paid) * rule.duty_rate / 60.0f +
                                    static_cast<float>(minutes) * rule.block_rate / 60.0f;
                fresh.cost = cost + extra;
                fresh.state = flown << LEGS_SHIFT | r << PARENT_SHIFT | ALIVE;
            }
            // Rivals, at most one from each record whose connections are partly the same.
            unsigned others = __ballot_sync(ALL, lane < r && own_range.from < here.to &&
                                                     own_range.to > here.from);
            for (; others; others &= others - 1) {
                const int q = __ffs(others) - 1;
                const int q_from = __shfl_sync(ALL, own_range.from, q),
                          q_to = __shfl_sync(ALL, own_range.to, q),
                          q_labels = __shfl_sync(ALL, own_labels, q);
                if (!is_new || p < q_from || p >= q_to)
                    continue;
                label *const rival = labels + q_labels + (p - q_from);
                const label old = *rival;
                if (!(old.state & ALIVE))
                    continue;
                if (dominates(old, fresh))
                    is_new = false;
                else if (dominates(fresh, old))
                    rival->state = 0;
            }
            if (!is_new)
                fresh.state = 0;
            if (p < here.to)
                labels[label_count + (p - here.from)] = fresh;
            const unsigned pushed = __ballot_sync(ALL, is_new);
            const queued item = {fresh.cost, label_count + (p - here.from)};
            heap_size = push_all(heap, heap_size, pushed, item);
        }
        label_count += here.to - here.from;

        int chosen = -1;
        if (lane == 0)
            while (heap_size > 0) {
                const int l = pop(heap, heap_size);
                if (labels[l].state & ALIVE) {
                    chosen = l;
                    break;
                }
            }
        chosen = __shfl_sync(ALL, chosen, 0);
        heap_size = __shfl_sync(ALL, heap_size, 0);
        if (chosen < 0)
            break;
        const label taken = labels[chosen];
        const int parent = taken.state >> PARENT_SHIFT & 31;
        place = __shfl_sync(ALL, own_range.from, parent) + chosen -
                __shfl_sync(ALL, own_labels, parent);
        path = __shfl_sync(ALL, own.path, parent) | 1u << (r + 1);
        last = legs[place];
        singles = __shfl_sync(ALL, own_singles, parent) + single_cost(rule, last);
        cost = taken.cost;
        start = taken.start;
        block = taken.block;
        duty_legs = taken.state >> LEGS_SHIFT;
    }
    __syncwarp(); // the labels are overwritten by the next search
    return own;
}

// First place in [from, to) whose leg departs at `minute` or later.
static __host__ __device__ int departs_from(const leg *legs, int from, int to, int minute)
{
    while (from < to) {
        const int middle = from + (to - from) / 2;
        if (legs[middle].dep < minute)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static __device__ prio priority(float key, int start, int record)
{
    const unsigned bits = __float_as_uint(key + 0.0f), // no negative zero
        ascending = bits >> 31 ? ~bits : bits | 0x80000000u;
    return prio(ascending) << 32 | static_cast<unsigned>(start * RECORDS_MAX + record);
}

// A warp a start leg at a time. labels_room: labels that a search may make.
static __global__ void __launch_bounds__(32 * WARPS_MAX, 1)
    plan(int n, rules rule, device_memory d, int labels_room, bool in_shared)
{
    extern __shared__ __align__(16) char shared[];
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    const int lane = threadIdx.x % 32, in_block = threadIdx.x / 32, block_warps = blockDim.x / 32;
    const int warp = blockIdx.x * block_warps + in_block, warps = gridDim.x * block_warps;
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;

    for (int p = thread; p < n; p += threads) {
        const range station = d.follow[p];
        const int arr = d.legs[p].arr;
        const int from = departs_from(d.legs, station.from, station.to, arr);
        d.follow[p] = {from, departs_from(d.legs, from, station.to, arr + WAIT_LIMIT)};
        d.result[p] = p; // results are by index: who is left over flies alone
        d.covered[p] = 0;
        d.best[p] = d.best[n + p] = NEVER;
    }
    if (thread < 2)
        d.any_left[thread] = 0;
    grid.sync();

    char *const pool = (in_shared ? shared + in_block * (LABEL_BYTES * labels_room)
                                  : d.pools + warp * (LABEL_BYTES * labels_room));
    label *const labels = reinterpret_cast<label *>(pool);
    queued *const heap = reinterpret_cast<queued *>(labels + labels_room);
    records first_found = {0, 0, 0, 0.0f}; // of the warp's first start leg; the others' are stored
    for (int s = warp; s < n; s += warps) {
        const records found = search(rule, d.legs, d.follow, s, labels, heap);
        if (s == warp) {
            first_found = found;
            continue;
        }
        const size_t at = static_cast<size_t>(s) * RECORDS_MAX + lane;
        if (lane < found.count) {
            d.place[at] = found.place;
            d.path[at] = found.path;
            d.key[at] = found.key;
        }
        if (lane == 0)
            d.count[s] = found.count;
    }
    __syncwarp(); // a warp reads only what it has written

    auto records_of = [&](int s) {
        if (s == warp)
            return first_found;
        const size_t at = static_cast<size_t>(s) * RECORDS_MAX + lane;
        records stored = {d.count[s], 0, 0, 0.0f};
        if (lane < stored.count) {
            stored.place = d.place[at];
            stored.path = d.path[at];
            stored.key = d.key[at];
        }
        return stored;
    };
    bool first_covered = false; // the warp's first start leg
    for (int round = 0;; round++) {
        prio *const best = d.best + (round % 2 ? n : 0), *const next = d.best + (round % 2 ? 0 : n);
        for (int s = warp + (first_covered ? warps : 0); s < n; s += warps) {
            const records own = records_of(s);
            const bool is_record = lane < own.count;
            const unsigned taken = __ballot_sync(ALL, is_record && d.covered[own.place]);
            if (taken & 1) { // record 0 is the start leg alone
                first_covered = first_covered || s == warp;
                continue;
            }
            const bool free = is_record && own.key <= 0.0f && !(own.path & taken);
            const prio mine = free ? priority(own.key, d.legs[s].index, lane) : NEVER;
            prio first = NEVER;
            for (unsigned left = __ballot_sync(ALL, free); left; left &= left - 1) {
                const int r = __ffs(left) - 1;
                const prio rival = __shfl_sync(ALL, mine, r);
                if (__shfl_sync(ALL, own.path, r) >> lane & 1 && rival < first)
                    first = rival;
            }
            if (first != NEVER) {
                atomicMin(best + own.place, first);
                d.any_left[round % 2] = 1;
            }
        }
        grid.sync();
        if (!*static_cast<volatile int *>(d.any_left + round % 2))
            break;
        for (int s = warp + (first_covered ? warps : 0); s < n; s += warps) {
            const records own = records_of(s);
            const int index = d.legs[s].index;
            const prio here = lane < own.count ? best[own.place] : NEVER;
            // Only the proposal that is the best at the start leg can be the best at all its legs.
            const prio start_best = __shfl_sync(ALL, here, 0);
            const unsigned order = static_cast<unsigned>(start_best);
            if (start_best == NEVER || order / RECORDS_MAX != static_cast<unsigned>(index))
                continue;
            const bool on_path = __shfl_sync(ALL, own.path, order % RECORDS_MAX) >> lane & 1;
            if (__all_sync(ALL, !on_path || here == start_best) && on_path) {
                d.covered[own.place] = 1;
                d.result[d.legs[own.place].index] = index;
            }
        }
        for (int p = thread; p < n; p += threads)
            next[p] = NEVER;
        if (thread == 0)
            d.any_left[(round + 1) % 2] = 0;
        grid.sync();
    }
}

// Stations numbered from 0, as many as there are at most.
static std::vector<int> number_stations(int n, int stations, const int *from, const int *to,
                                        int *count)
{
    std::vector<int> numbered(2 * static_cast<size_t>(n));
    std::copy(from, from + n, numbered.begin());
    std::copy(to, to + n, numbered.begin() + n);
    *count = stations;
    if (stations / 4 > n) {
        std::vector<int> used(numbered);
        std::sort(used.begin(), used.end());
        used.erase(std::unique(used.begin(), used.end()), used.end());
        for (int &station : numbered)
            station = static_cast<int>(std::lower_bound(used.begin(), used.end(), station) -
                                       used.begin());
        *count = static_cast<int>(used.size());
    }
    return numbered;
}

// Every leg joins the lowest pairing that waits at its station and can take it. Returns the plan's
// cost.
static void first_fit(int n, int stations, const rules &rule, const int *dep, const int *arr,
                      const int *from, const int *to, int *pairing)
{
    struct open {
        int arrival, start, block, legs;
    };
    std::vector<open> pairings;
    std::vector<std::vector<int>> waiting(stations); // ascending
    for (int i = 0; i < n; i++) {
        const int minutes = arr[i] - dep[i];
        std::vector<int> &here = waiting[from[i]];
        size_t k = 0;
        open joined = {arr[i], dep[i], minutes, 1};
        for (; k < here.size(); k++) {
            const open &o = pairings[here[k]];
            const int gap = dep[i] - o.arrival;
            if (gap < 0)
                continue;
            if (gap >= rule.min_rest)
                break;
            if (arr[i] - o.start <= rule.max_duty && o.block + minutes <= rule.max_block &&
                o.legs + 1 <= rule.max_legs) {
                joined = {arr[i], o.start, o.block + minutes, o.legs + 1};
                break;
            }
        }
        int p;
        if (k < here.size()) {
            p = here[k];
            here.erase(here.begin() + static_cast<std::ptrdiff_t>(k));
            pairings[p] = joined;
        } else {
            p = static_cast<int>(pairings.size());
            pairings.push_back(joined);
        }
        std::vector<int> &there = waiting[to[i]];
        there.insert(std::upper_bound(there.begin(), there.end(), p), p);
        pairing[i] = p;
    }
}

static double plan_cost(int n, const rules &rule, const int *dep, const int *arr, const int *from,
                        int base, const int *pairing)
{
    std::vector<int> last(n, -1);
    double duty = 0, block = 0, fees = 0;
    for (int i = 0; i < n; i++) {
        const int before = last[pairing[i]];
        fees += before < 0 && from[i] != base ? static_cast<double>(FEE) : 0.0;
        duty +=
            arr[i] - (before >= 0 && dep[i] - arr[before] < rule.min_rest ? arr[before] : dep[i]);
        block += arr[i] - dep[i];
        last[pairing[i]] = i;
    }
    return rule.duty_rate * duty / 60 + rule.block_rate * block / 60 + fees;
}

extern "C" void solution_compute(int N, int num_stations, int base_station, const int *dep_minutes,
                                 const int *arr_minutes, const int *dep_stations,
                                 const int *arr_stations, float duty_cost_per_hour,
                                 float pairing_cost_per_hour, int max_duty_min, int max_block_min,
                                 int max_legs_duty, int min_rest_min, int *assignments)
{
    const size_t n = N;
    const rules rule = {duty_cost_per_hour, pairing_cost_per_hour, max_duty_min,
                        max_block_min,      max_legs_duty,         min_rest_min};
    int stations;
    const std::vector<int> numbered =
        number_stations(N, num_stations, dep_stations, arr_stations, &stations);
    const int *const from = numbered.data(), *const to = from + n;

    // Legs by the station that they leave; the stations' ranges first stand for what may follow.
    std::vector<int> station_start(static_cast<size_t>(stations) + 1, 0), filled;
    for (int i = 0; i < N; i++)
        station_start[from[i] + 1]++;
    for (int k = 0; k < stations; k++)
        station_start[k + 1] += station_start[k];
    filled = station_start;
    std::vector<int> packed(n * (sizeof(leg) + sizeof(range)) / sizeof(int));
    leg *const legs = reinterpret_cast<leg *>(packed.data());
    range *const follow = reinterpret_cast<range *>(legs + n);
    for (int i = 0; i < N; i++) {
        const int p = filled[from[i]]++;
        legs[p] = {dep_minutes[i], arr_minutes[i], i, dep_stations[i] != base_station};
        follow[p] = {station_start[to[i]], station_start[to[i] + 1]};
    }
    int widest = 1; // most departures from a station within the limit
    for (int k = 0; k < stations; k++)
        for (int first = station_start[k], p = first; p < station_start[k + 1]; p++) {
            while (legs[p].dep - legs[first].dep >= WAIT_LIMIT)
                first++;
            widest = std::max(widest, p - first + 1);
        }

    std::vector<int> fitted(n);
    double fitted_cost;
    auto fit = [&] {
        first_fit(N, stations, rule, dep_minutes, arr_minutes, from, to, fitted.data());
        fitted_cost =
            plan_cost(N, rule, dep_minutes, arr_minutes, dep_stations, base_station, fitted.data());
    };
    auto choose = [&] {
        const double searched_cost =
            plan_cost(N, rule, dep_minutes, arr_minutes, dep_stations, base_station, assignments);
        if (static_cast<float>(fitted_cost) < static_cast<float>(searched_cost))
            std::copy(fitted.begin(), fitted.end(), assignments);
    };
    // Labels in shared memory if a warp's fit at all.
    int device, processors, shared_limit, per_processor = 0;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaDeviceGetAttribute(&shared_limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    const int labels_room = EXPANDED_MAX * widest + 1 + (EXPANDED_MAX * widest + 1) % 2;
    const size_t warp_bytes = LABEL_BYTES * labels_room, limit = shared_limit;
    const bool in_shared = warp_bytes <= limit;
    CHECK(cudaFuncSetAttribute(plan, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               in_shared ? shared_limit : 0));
    // Few blocks make short barriers: one a multiprocessor where its warps' labels fit, else
    // smaller ones, until a warp for each leg is resident or no size is better.
    int block_warps = 0;
    size_t resident = 0;
    const int wanted =
        std::min(WARPS_MAX, std::max(WARPS_LEAST, (N + processors - 1) / processors));
    for (int warps = wanted; warps > 0 && resident * block_warps < n; warps /= 2) {
        const size_t bytes = in_shared ? warps * warp_bytes : 0;
        if (bytes > limit)
            continue;
        CHECK(
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, plan, 32 * warps, bytes));
        const size_t blocks = static_cast<size_t>(per_processor) * processors;
        if (blocks * warps > resident * block_warps) {
            resident = blocks;
            block_warps = warps;
        }
    }
    const size_t shared_bytes = in_shared ? block_warps * warp_bytes : 0;
    size_t blocks = std::min<size_t>((n + block_warps - 1) / block_warps, resident);
    if (!in_shared)
        blocks = std::max<size_t>(1, std::min(blocks, POOLS_MAX / (block_warps * warp_bytes)));

    size_t offset = 0;
    auto reserve = [&](size_t bytes) {
        const size_t at = offset;
        offset += (bytes + 15) / 16 * 16;
        return at;
    };
    const size_t packed_bytes = packed.size() * sizeof(int);
    const size_t at_legs = reserve(packed_bytes), at_best = reserve(2 * n * sizeof(prio)),
                 at_result = reserve(n * sizeof(int)), at_covered = reserve(n * sizeof(int)),
                 at_any = reserve(2 * sizeof(int)), at_count = reserve(n * sizeof(int)),
                 at_place = reserve(RECORDS_MAX * n * sizeof(int)),
                 at_path = reserve(RECORDS_MAX * n * sizeof(unsigned)),
                 at_key = reserve(RECORDS_MAX * n * sizeof(float)),
                 at_pools = reserve(in_shared ? 0 : blocks * block_warps * warp_bytes);
    char *memory;
    if (offset <= ARENA)
        CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&memory), arena));
    else
        CHECK(cudaMalloc(&memory, offset));
    CHECK(cudaMemcpyAsync(memory + at_legs, packed.data(), packed_bytes, cudaMemcpyHostToDevice));
    device_memory d;
    d.legs = reinterpret_cast<leg *>(memory + at_legs);
    d.follow = reinterpret_cast<range *>(d.legs + n);
    d.best = reinterpret_cast<prio *>(memory + at_best);
    d.result = reinterpret_cast<int *>(memory + at_result);
    d.covered = reinterpret_cast<int *>(memory + at_covered);
    d.any_left = reinterpret_cast<int *>(memory + at_any);
    d.count = reinterpret_cast<int *>(memory + at_count);
    d.place = reinterpret_cast<int *>(memory + at_place);
    d.path = reinterpret_cast<unsigned *>(memory + at_path);
    d.key = reinterpret_cast<float *>(memory + at_key);
    d.pools = memory + at_pools;
    int legs_count = N, room = labels_room;
    bool shared_labels = in_shared;
    rules rule_argument = rule;
    void *arguments[] = {&legs_count, &rule_argument, &d, &room, &shared_labels};
    CHECK(cudaLaunchCooperativeKernel(
        reinterpret_cast<const void *>(plan), dim3(static_cast<unsigned>(blocks)),
        dim3(32 * static_cast<unsigned>(block_warps)), arguments, shared_bytes, nullptr));

    fit();
    CHECK(cudaMemcpy(assignments, d.result, n * sizeof(int), cudaMemcpyDeviceToHost));
    choose();
    if (offset > ARENA)
        CHECK(cudaFree(memory));
}
