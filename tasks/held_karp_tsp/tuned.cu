// Optimal tours: Held and Karp from both ends, set size by set size, in one kernel.
//
// Approach: f(S, j) is grown from city 0 to sets of half the cities, and so is g on the transposed
// costs; the answer is the least f(S, j) + c[j][k] + g(rest, k). Where the costs of an instance
// are symmetric (tested on the host), g is f. Sets of one size are numbered by the combinatorial
// number system, in which the rest of the set of rank r has rank count-1-r. A thread takes a set,
// keeps its values in registers, indexed by city, and computes what every other city adds: min
// over k of v[k] + c[k][j] with the costs from shared memory, the same for all lanes. Neighbouring
// lanes read neighbouring words, and write them for all but the lowest cities. All sizes of all
// instances run in one cooperative kernel, compiled for each number of cities; only two sizes are
// alive at a time, and instances are taken in groups whose tables fit the L2 cache, or the memory
// reserved for small ones.
//
// What bounds it: at small the calls, at large instructions: a set goes through all cities k,
// though half of them are not in it, since registers cannot be indexed.
//
// Tried: one or two blocks a processor instead of up to four (up to half as slow again at large);
// all instances of large at once (the same: a larger allocation costs what fewer barriers save).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores: small 0.07 ms, medium 0.28 ms, large
// 0.57 ms (39 %, 11 % and 6 % of bytes, 1.1 us a set size and 20 us; naive 2.0, 3.8 and 5.5 ms). An
// evaluation, which comes to a call with cold caches, takes 0.21 ms at small.
//
// These times were taken with an arena of 10 MiB. The rules allow 1 MiB of device variables, so
// calls that need more now allocate, which takes some 0.1 ms.
#include "check.cuh"

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

constexpr int THREADS = 256, BLOCKS_AN_SM = 4;
constexpr int CITIES = 24;                         // at most, city 0 included
constexpr int SIZES = CITIES / 2 + 3;              // columns of the table of binomials
constexpr size_t ARENA = 1000 * 1000;              // bytes
constexpr size_t TABLES_WANTED = size_t(40) << 20; // bytes alive at a time, if that will do
constexpr unsigned NOWHERE = 0x80000000u;          // plus a cost still fits, and exceeds any tour

// For few cities: an allocation would cost more than all of the work.
static __device__ __align__(256) int arena[ARENA / sizeof(int)];

// One direction of one instance. In a group the forward ones stand first.
struct Job {
    int instance, backward;
    int opposite; // where in the group its other direction stands; itself if symmetric
};

struct Group {
    int first, forward, all; // jobs
};

// What comes over in one copy, as ints: Header, answers[B], jobs, groups, costs[B*n*n].
struct Header {
    unsigned arrivals; // at the grid barrier, ever
    int pad[3];
    unsigned binomial[CITIES][SIZES + 1];
};

struct Problem {
    int n, groups;
    unsigned *arrivals;
    const unsigned *binomial;
    int *answers;
    const Job *jobs;
    const Group *group;
    const int *costs;
    unsigned *table[2]; // of even and odd set sizes; [job][position of the end in the set][rank]
    size_t stride[2];   // from job to job
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

// M: cities other than 0.
template <int M>
static __global__ void __launch_bounds__(THREADS) tours(const __grid_constant__ Problem p)
{
    constexpr int K = (M + 3) / 4 * 4;
    __shared__ __align__(16) unsigned into[M * K]; // into[j*K + k]: from k to j
    __shared__ unsigned binomial[CITIES][SIZES + 1];
    constexpr int m = M, half = (m + 1) / 2, other_half = m / 2;
    for (int i = threadIdx.x; i < CITIES * (SIZES + 1); i += THREADS)
        (&binomial[0][0])[i] = p.binomial[i];
    unsigned target = 0;
    for (int g = 0; g < p.groups; g++) {
        const Group group = p.group[g];
        const Job *const jobs = p.jobs + group.first;
        for (int i = blockIdx.x * THREADS + threadIdx.x; i < group.all * m;
             i += gridDim.x * THREADS) {
            const Job job = jobs[i / m];
            const int *const costs = p.costs + static_cast<size_t>(job.instance) * p.n * p.n;
            const int j = i % m + 1;
            p.table[1][i / m * p.stride[1] + i % m] = job.backward ? costs[j * p.n] : costs[j];
        }
        target += gridDim.x;
        grid_barrier(p.arrivals, target);
        // From sets of `size` cities to those of one more; the last turn joins both directions.
        for (int size = 1; size <= half; size++) {
            const bool join = size == half;
            const int taken = join || size == other_half ? group.forward : group.all;
            const unsigned sets = binomial[m - 1][size] + binomial[m - 1][size - 1];
            const unsigned sets_next = binomial[m - 1][size + 1] + binomial[m - 1][size];
            const unsigned pieces = (sets + THREADS - 1) / THREADS;
            const unsigned long long items = static_cast<unsigned long long>(pieces) * taken;
            const unsigned first = static_cast<unsigned>(items * blockIdx.x / gridDim.x);
            const unsigned last = static_cast<unsigned>(items * (blockIdx.x + 1) / gridDim.x);
            int loaded = -1;
            for (unsigned item = first; item < last; item++) {
                const int slot = static_cast<int>(item / pieces);
                const Job job = jobs[slot];
                if (loaded != slot) {
                    __syncthreads();
                    const int *const costs =
                        p.costs + static_cast<size_t>(job.instance) * p.n * p.n;
                    for (int i = threadIdx.x; i < M * K; i += THREADS) {
                        const int j = i / K + 1, k = i % K + 1;
                        if (k <= m)
                            into[i] = job.backward ? costs[j * p.n + k] : costs[k * p.n + j];
                        else
                            into[i] = 0;
                    }
                    loaded = slot;
                    __syncthreads();
                }
                const unsigned *const from = p.table[size & 1] + slot * p.stride[size & 1];
                unsigned *const to = p.table[~size & 1] + slot * p.stride[~size & 1];
                const unsigned *const opposite =
                    p.table[other_half & 1] + job.opposite * p.stride[other_half & 1];
                const unsigned rank = item % pieces * THREADS + threadIdx.x;
                const bool valid = rank < sets;
                unsigned set = (1u << m) - 1;
                if (valid) {
                    set = 0;
                    unsigned rest = rank;
                    for (int b = m - 1, left = size; left > 0; b--)
                        if (rest >= binomial[b][left]) {
                            rest -= binomial[b][left--];
                            set |= 1u << b;
                        }
                }
                unsigned value[M], above = 0; // above: rank of the cities above j, moved up by one
                int below_count = 0;
#pragma unroll
                for (int k = 0; k < M; k++) {
                    value[k] = NOWHERE;
                    if (valid && set >> k & 1) {
                        value[k] = __ldcg(from + static_cast<size_t>(below_count) * sets + rank);
                        above += binomial[k][below_count + 2];
                        below_count++;
                    }
                }
                unsigned below = 0, tour = UINT_MAX; // below: rank of the cities below j
                below_count = 0;
                for (int j = 0; j < m; j++) {
                    const bool inside = set >> j & 1;
                    if (valid && inside) {
                        below += binomial[j][below_count + 1];
                        above -= binomial[j][below_count + 2];
                        below_count++;
                    }
                    if (__all_sync(~0u, inside))
                        continue;
                    unsigned best[4] = {UINT_MAX, UINT_MAX, UINT_MAX, UINT_MAX};
#pragma unroll
                    for (int k = 0; k < K; k += 4) {
                        const uint4 cost = *reinterpret_cast<const uint4 *>(into + j * K + k);
                        best[0] = __viaddmin_u32(value[k], cost.x, best[0]);
                        if (k + 1 < M)
                            best[1] = __viaddmin_u32(value[k + 1], cost.y, best[1]);
                        if (k + 2 < M)
                            best[2] = __viaddmin_u32(value[k + 2], cost.z, best[2]);
                        if (k + 3 < M)
                            best[3] = __viaddmin_u32(value[k + 3], cost.w, best[3]);
                    }
                    const unsigned least = min(min(best[0], best[1]), min(best[2], best[3]));
                    if (inside)
                        continue;
                    if (join)
                        tour = __viaddmin_u32(least,
                                              __ldcg(opposite +
                                                     static_cast<size_t>(j - below_count) * sets +
                                                     (sets - 1 - rank)),
                                              tour);
                    else
                        to[static_cast<size_t>(below_count) * sets_next + below +
                           binomial[j][below_count + 1] + above] = least;
                }
                if (join) {
                    tour = __reduce_min_sync(~0u, tour);
                    if (threadIdx.x % 32 == 0 && tour < NOWHERE)
                        atomicMin(p.answers + job.instance, static_cast<int>(tour));
                }
            }
            if (join && g + 1 == p.groups)
                break;
            target += gridDim.x;
            grid_barrier(p.arrivals, target);
        }
    }
}

static __global__ void there_and_back(int count, const int *costs, int *answers)
{
    const int b = blockIdx.x * THREADS + threadIdx.x;
    if (b < count)
        answers[b] = costs[4 * b + 1] + costs[4 * b + 2];
}

typedef void (*Kernel)(Problem);

template <int... M> static Kernel kernel_of(int m, std::integer_sequence<int, M...>)
{
    const Kernel kernels[] = {tours<M + 2>...};
    return kernels[m - 2];
}

static Kernel kernel_for(int m)
{
    return kernel_of(m, std::make_integer_sequence<int, CITIES - 2>());
}

static bool is_symmetric(int n, const int *cost)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (cost[i * n + j] != cost[j * n + i])
                return false;
    return true;
}

extern "C" void solution_compute(int B, int n, const int *costs, int *tour_costs_out)
{
    const int m = n - 1, half = (m + 1) / 2;
    Header header = {};
    for (int b = 0; b < CITIES; b++)
        for (int i = 0; i <= SIZES; i++)
            header.binomial[b][i] = i == 0 ? 1
                                    : b == 0
                                        ? 0
                                        : header.binomial[b - 1][i] + header.binomial[b - 1][i - 1];
    auto sets = [&](int size) { // of m cities
        return size < 1 || m < 1
                   ? size_t(1)
                   : size_t(header.binomial[m - 1][size]) + header.binomial[m - 1][size - 1];
    };
    size_t stride[2] = {64, 64};
    for (int size = std::max(half - 1, 1); size <= half; size++)
        stride[size & 1] = (sets(size) * size + 63) / 64 * 64;
    const size_t job_bytes = (stride[0] + stride[1]) * sizeof(unsigned);

    const size_t cost_count = static_cast<size_t>(B) * n * n;

    // Groups of instances, forward jobs first; as many at a time as the tables have room for.
    std::vector<char> symmetric(static_cast<size_t>(B));
    size_t all_jobs = 0;
    for (int b = 0; b < B; b++) {
        symmetric[b] = is_symmetric(n, costs + static_cast<size_t>(b) * n * n);
        all_jobs += symmetric[b] ? 1 : 2;
    }
    // A few groups in the arena are faster than one after an allocation.
    const size_t in_arena =
        cost_count * sizeof(int) * 2 < ARENA / 2 ? ARENA * 7 / 8 / job_bytes : 0;
    const size_t room = in_arena >= 2 && 3 * in_arena >= all_jobs + 3
                            ? std::min(all_jobs, in_arena)
                            : std::max(std::min(all_jobs, TABLES_WANTED / job_bytes), size_t(2));
    std::vector<Job> jobs;
    std::vector<Group> groups;
    for (int b = 0; b < B;) {
        const int first_instance = b;
        Group group = {static_cast<int>(jobs.size()), 0, 0};
        for (; b < B && group.all + (symmetric[b] ? 1 : 2) <= static_cast<int>(room); b++) {
            group.all += symmetric[b] ? 1 : 2;
            group.forward++;
        }
        int backward = group.forward;
        for (int i = first_instance; i < b; i++)
            jobs.push_back(Job{i, 0, symmetric[i] ? i - first_instance : backward++});
        for (int i = first_instance; i < b; i++)
            if (!symmetric[i])
                jobs.push_back(Job{i, 1, i - first_instance});
        groups.push_back(group);
    }

    const size_t answers_at = sizeof header / sizeof(int), jobs_at = answers_at + B;
    const size_t groups_at = jobs_at + jobs.size() * sizeof(Job) / sizeof(int);
    const size_t costs_at = groups_at + groups.size() * sizeof(Group) / sizeof(int);
    const size_t ints = costs_at + cost_count;
    std::vector<int> packed(ints);
    memcpy(packed.data(), &header, sizeof header);
    std::fill_n(packed.data() + answers_at, B, INT_MAX);
    memcpy(packed.data() + jobs_at, jobs.data(), jobs.size() * sizeof(Job));
    memcpy(packed.data() + groups_at, groups.data(), groups.size() * sizeof(Group));
    memcpy(packed.data() + costs_at, costs, cost_count * sizeof(int));

    const size_t tables_at = (ints + 63) / 64 * 64;
    const size_t bytes = tables_at * sizeof(int) + room * job_bytes;
    int *device;
    if (bytes <= ARENA)
        CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&device), arena));
    else
        CHECK(cudaMalloc(&device, bytes));
    CHECK(cudaMemcpyAsync(device, packed.data(), ints * sizeof(int), cudaMemcpyHostToDevice));
    if (m == 1) {
        there_and_back<<<(B + THREADS - 1) / THREADS, THREADS>>>(B, device + costs_at,
                                                                 device + answers_at);
        CHECK(cudaGetLastError());
    } else {
        unsigned *const tables = reinterpret_cast<unsigned *>(device + tables_at);
        Problem problem = {n,
                           static_cast<int>(groups.size()),
                           reinterpret_cast<unsigned *>(device),
                           reinterpret_cast<unsigned *>(device) +
                               offsetof(Header, binomial) / sizeof(int),
                           device + answers_at,
                           reinterpret_cast<const Job *>(device + jobs_at),
                           reinterpret_cast<const Group *>(device + groups_at),
                           device + costs_at,
                           {tables, tables + room * stride[0]},
                           {stride[0], stride[1]}};
        const Kernel kernel = kernel_for(m);
        int current, processors, resident;
        CHECK(cudaGetDevice(&current));
        CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, current));
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, THREADS, 0));
        const size_t pieces = (sets(half) + THREADS - 1) / THREADS * room;
        const size_t blocks =
            std::min(static_cast<size_t>(processors) * std::min(resident, BLOCKS_AN_SM), pieces);
        void *arguments[] = {&problem};
        CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(kernel),
                                          dim3(static_cast<unsigned>(blocks)), dim3(THREADS),
                                          arguments, 0, nullptr));
    }
    CHECK(cudaMemcpy(tour_costs_out, device + answers_at, static_cast<size_t>(B) * sizeof(int),
                     cudaMemcpyDeviceToHost));
    if (bytes > ARENA)
        CHECK(cudaFree(device));
}
