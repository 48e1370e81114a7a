/* A thread a start leg runs the whole label search, with its heap and pool of labels in global
 * memory and the labels of a leg found by scanning the pool; sorting the proposals, the greedy
 * cover and the first fit plan stay on the host. Bound by one thread's chain of scattered reads,
 * and for small schedules by allocation and copies. */
#include "check.cuh"

#include <algorithm>
#include <vector>

#define FEE         10000.0f
#define WAIT_LIMIT  2160
#define LABELS_MAX  50
#define RECORDS_MAX 20

struct schedule {
    int n, base;
    const int *dep, *arr, *from, *to;
    float duty_rate, block_rate;
    int max_duty, max_block, max_legs, min_rest;
};

struct label {
    float cost;
    int leg, start, block, legs, parent;
    bool dead;
};

struct proposal {
    float key;
    int legs, path[RECORDS_MAX];
};

static __host__ __device__ float single_cost(const schedule &s, int leg)
{
    const float block = (float)(s.arr[leg] - s.dep[leg]);
    return block * s.duty_rate / 60.0f + block * s.block_rate / 60.0f +
           (s.from[leg] == s.base ? 0 : FEE);
}

/* Can a duty take one more leg? If so it includes it afterwards; a gap of a rest starts a new one.
 */
static __host__ __device__ bool extend(const schedule &s, int last, int leg, int *start, int *block,
                                       int *legs)
{
    const int minutes = s.arr[leg] - s.dep[leg];
    if (s.dep[leg] - s.arr[last] >= s.min_rest) {
        *start = s.dep[leg];
        *block = minutes;
        *legs = 1;
        return true;
    }
    if (s.arr[leg] - *start > s.max_duty || *block + minutes > s.max_block ||
        *legs + 1 > s.max_legs)
        return false;
    *block += minutes;
    *legs += 1;
    return true;
}

static __device__ bool dominates(const label &a, const label &b)
{
    return a.cost <= b.cost && a.start >= b.start && a.block <= b.block && a.legs <= b.legs;
}

static __device__ void add_label(label *pool, int *count, int *heap, int *queued, const label &l)
{
    int here = 0, dearest = -1;
    for (int k = 0; k < *count; k++) {
        if (pool[k].leg != l.leg || pool[k].dead)
            continue;
        if (dominates(pool[k], l))
            return;
        if (dominates(l, pool[k])) {
            pool[k].dead = true;
            continue;
        }
        here++;
        dearest = dearest < 0 || pool[k].cost > pool[dearest].cost ? k : dearest;
    }
    if (here == LABELS_MAX) {
        if (!(pool[dearest].cost > l.cost))
            return;
        pool[dearest].dead = true;
    }
    const int place = (*count)++;
    pool[place] = l;
    int i = (*queued)++;
    for (; i > 0 && pool[heap[(i - 1) / 2]].cost > l.cost; i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = place;
}

static __device__ int pop(const label *pool, int *heap, int *queued)
{
    const int top = heap[0], moved = heap[--*queued];
    int i = 0;
    for (int child; (child = 2 * i + 1) < *queued; i = child) {
        if (child + 1 < *queued && pool[heap[child + 1]].cost < pool[heap[child]].cost)
            child++;
        if (!(pool[heap[child]].cost < pool[moved].cost))
            break;
        heap[i] = heap[child];
    }
    heap[i] = moved;
    return top;
}

static __global__ void search(schedule s, size_t labels, label *pools, int *heaps,
                              proposal *proposals)
{
    const int first = blockIdx.x * blockDim.x + threadIdx.x;
    if (first >= s.n)
        return;
    label *pool = pools + first * labels;
    int *heap = heaps + first * labels, count = 0, queued = 0, records = 0;
    proposal *out = proposals + (size_t)first * RECORDS_MAX;
    add_label(
        pool, &count, heap, &queued,
        {single_cost(s, first), first, s.dep[first], s.arr[first] - s.dep[first], 1, -1, false});
    while (queued > 0 && records < RECORDS_MAX) {
        const int place = pop(pool, heap, &queued);
        const label from = pool[place];
        if (from.dead)
            continue;
        proposal &p = out[records++];
        float singles = 0;
        p.legs = 0;
        for (int k = place; k >= 0; k = pool[k].parent)
            p.path[p.legs++] = pool[k].leg;
        for (int k = p.legs - 1; k >= 0; k--) /* first leg first, as ties depend on it */
            singles += single_cost(s, p.path[k]);
        p.key = -(singles - from.cost);
        for (int j = from.leg + 1; j < s.n && s.dep[j] - s.arr[from.leg] < WAIT_LIMIT; j++) {
            if (s.to[from.leg] != s.from[j] || s.dep[j] < s.arr[from.leg])
                continue;
            label to = {0, j, from.start, from.block, from.legs, place, false};
            if (!extend(s, from.leg, j, &to.start, &to.block, &to.legs))
                continue;
            const bool rested = s.dep[j] - s.arr[from.leg] >= s.min_rest;
            const float paid = (float)(s.arr[j] - (rested ? s.dep[j] : s.arr[from.leg]));
            const float block = (float)(s.arr[j] - s.dep[j]);
            to.cost = from.cost + (paid * s.duty_rate / 60.0f + block * s.block_rate / 60.0f);
            add_label(pool, &count, heap, &queued, to);
        }
    }
    for (; records < RECORDS_MAX; records++)
        out[records].legs = 0;
}

static void first_fit(const schedule &s, int *pairing)
{
    struct open {
        int last, start, block, legs;
    };
    std::vector<open> pairings;
    for (int i = 0; i < s.n; i++) {
        size_t p = 0;
        for (; p < pairings.size(); p++) {
            open &o = pairings[p];
            if (s.to[o.last] == s.from[i] && s.dep[i] >= s.arr[o.last] &&
                extend(s, o.last, i, &o.start, &o.block, &o.legs))
                break;
        }
        if (p == pairings.size())
            pairings.push_back({i, s.dep[i], s.arr[i] - s.dep[i], 1});
        pairings[p].last = i;
        pairing[i] = (int)p;
    }
}

static double plan_cost(const schedule &s, const int *pairing)
{
    std::vector<int> last(s.n, -1);
    double duty = 0, block = 0, fees = 0;
    for (int i = 0; i < s.n; i++) {
        const int before = last[pairing[i]];
        fees += before < 0 && s.from[i] != s.base ? FEE : 0;
        duty += s.arr[i] -
                (before >= 0 && s.dep[i] - s.arr[before] < s.min_rest ? s.arr[before] : s.dep[i]);
        block += s.arr[i] - s.dep[i];
        last[pairing[i]] = i;
    }
    return s.duty_rate * duty / 60 + s.block_rate * block / 60 + fees;
}

extern "C" void solution_compute(int N, int num_stations, int base_station, const int *dep_minutes,
                                 const int *arr_minutes, const int *dep_stations,
                                 const int *arr_stations, float duty_cost_per_hour,
                                 float pairing_cost_per_hour, int max_duty_min, int max_block_min,
                                 int max_legs_duty, int min_rest_min, int *assignments)
{
    (void)num_stations;
    const schedule host = {N,
                           base_station,
                           dep_minutes,
                           arr_minutes,
                           dep_stations,
                           arr_stations,
                           duty_cost_per_hour,
                           pairing_cost_per_hour,
                           max_duty_min,
                           max_block_min,
                           max_legs_duty,
                           min_rest_min};
    size_t widest = 0; /* a search stores no more labels than twenty legs have successors */
    for (int i = 0; i < N; i++) {
        size_t arcs = 0;
        for (int j = i + 1; j < N && dep_minutes[j] - arr_minutes[i] < WAIT_LIMIT; j++)
            arcs += arr_stations[i] == dep_stations[j] && dep_minutes[j] >= arr_minutes[i];
        widest = std::max(widest, arcs);
    }
    const size_t labels = widest * RECORDS_MAX + 1, bytes = N * sizeof(int);
    int *d_legs, *heaps;
    label *pools;
    proposal *d_proposals;
    CHECK(cudaMalloc(&d_legs, 4 * bytes));
    CHECK(cudaMalloc(&pools, N * labels * sizeof(label)));
    CHECK(cudaMalloc(&heaps, N * labels * sizeof(int)));
    CHECK(cudaMalloc(&d_proposals, (size_t)N * RECORDS_MAX * sizeof(proposal)));
    CHECK(cudaMemcpy(d_legs, dep_minutes, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_legs + N, arr_minutes, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_legs + 2 * (size_t)N, dep_stations, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_legs + 3 * (size_t)N, arr_stations, bytes, cudaMemcpyHostToDevice));
    schedule device = host;
    device.dep = d_legs;
    device.arr = d_legs + N;
    device.from = d_legs + 2 * (size_t)N;
    device.to = d_legs + 3 * (size_t)N;
    search<<<(N + 63) / 64, 64>>>(device, labels, pools, heaps, d_proposals);
    CHECK(cudaGetLastError());
    std::vector<proposal> proposals((size_t)N * RECORDS_MAX);
    CHECK(cudaMemcpy(proposals.data(), d_proposals, proposals.size() * sizeof(proposal),
                     cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_legs));
    CHECK(cudaFree(pools));
    CHECK(cudaFree(heaps));
    CHECK(cudaFree(d_proposals));

    proposals.erase(std::remove_if(proposals.begin(), proposals.end(),
                                   [](const proposal &p) { return p.legs == 0; }),
                    proposals.end());
    std::stable_sort(proposals.begin(), proposals.end(),
                     [](const proposal &a, const proposal &b) { return a.key < b.key; });
    int id = 0;
    std::fill(assignments, assignments + N, -1);
    for (const proposal &p : proposals) {
        if (p.key > 0)
            break;
        if (!std::all_of(p.path, p.path + p.legs, [&](int leg) { return assignments[leg] < 0; }))
            continue;
        for (int k = 0; k < p.legs; k++)
            assignments[p.path[k]] = id;
        id++;
    }
    for (int i = 0; i < N; i++)
        if (assignments[i] < 0)
            assignments[i] = id++;
    std::vector<int> fitted(N);
    first_fit(host, fitted.data());
    if ((float)plan_cost(host, fitted.data()) < (float)plan_cost(host, assignments))
        std::copy(fitted.begin(), fitted.end(), assignments);
}
