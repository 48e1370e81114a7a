// Optimal tours: Held and Karp from both ends, set size by set size, in one kernel.
//
// Approach: f(S, j) is grown from city 0 to sets of half the cities, and so is g on the transposed
// costs; the answer is the least f(S, j) + c[j][k] + g(rest, k). Where the costs of an instance are
// symmetric, g is f. Sets of one size are numbered by the combinatorial number system, in which the
// rest of the set of rank r has rank count-1-r. A thread takes a set and goes through its members,
// whose costs to all cities it adds and compares in registers, four cities a load from shared
// memory; then it writes what each city outside of the set gets. Few cities: a cluster of 16 blocks
// for each instance, half of them in each direction, or all in one where the costs are symmetric,
// with the tables in shared memory: ranks are dealt to the blocks in tiles, values are read from
// the block's own memory and written to that of the owner of the new rank. Costs come with the
// launch. More cities: one cooperative kernel over tables in device memory; warps take sets by
// tiles of 32, and work in 16 bits, two cities at a time, where the costs are small enough. Only
// two sizes are alive at a time, and instances are taken in groups whose tables fit the L2 cache.
//
// What bounds it: at small and medium the launch, the copy of the answers and a barrier of the
// cluster for each set size; at large instructions, shared memory and the allocation.
//
// Tried: tables in device memory at small and medium (twice as slow: allocation and release); at
// large 32 bits throughout (an eighth slower), and then for each city all others, with the costs
// the same for all lanes (another sixth: half of the cities are not in the set). With that kernel:
// one or two blocks a processor instead of up to four (up to half as slow again at large); all
// instances of large at once (the same: a larger allocation costs what fewer barriers save).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores (calls with cold caches, as an
// evaluation makes them, by bench/variants): small 0.076 ms, medium 0.124 ms, large 0.54 ms. The
// call floor is 27 % and 18 % of the first two. Naive: 2.0, 3.8 and 5.5 ms.
#include "check.cuh"

#include <algorithm>
#include <climits>
#include <cooperative_groups.h>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

constexpr int THREADS = 256, BLOCKS_AN_SM = 4;
constexpr int CITIES = 24;                         // at most, city 0 included
constexpr int JOBS = 8;                            // of a group, at most
constexpr int SIZES = CITIES / 2 + 3;              // columns of the table of binomials
constexpr size_t ARENA = 1000 * 1000;              // bytes
constexpr size_t TABLES_WANTED = size_t(40) << 20; // bytes alive at a time, if that will do
constexpr int MEMBERS = 4;                         // of a set, whose values are fetched at a time

namespace cg = cooperative_groups;

// The kernel for few cities: a cluster for each instance.
constexpr int RANKS = 16, RANK_THREADS = 768;
constexpr int CLUSTER_CITIES = 18, CLUSTER_INSTANCES = 256; // at most; beyond, the other kernel
#if CUDART_VERSION >= 12010
constexpr int INLINE_COSTS = 2624; // that come with the launch
#else
constexpr int INLINE_COSTS = 900;
#endif

// For few cities: an allocation would cost more than all of the work.
static __device__ __align__(256) int arena[ARENA / sizeof(int)];

// One direction of one instance. In a group the forward ones stand first.
struct Job {
    int instance, backward;
    int opposite; // where in the group its other direction stands; itself if symmetric
    int narrow;   // do the values of all sets fit into 16 bits?
};

struct Group {
    int first, forward, all; // jobs
};

// What comes over in one copy, as ints: Header, answers[B], jobs, groups, costs[B*n*n].
struct Header {
    unsigned arrivals; // at the grid barrier, ever
    int pad[3];
};

struct Problem {
    int n, groups;
    unsigned *arrivals;
    int *answers;
    const Job *jobs;
    const Group *group;
    const int *costs;
    unsigned *table[2]; // of even and odd set sizes; [job][position of the end in the set][rank]
    size_t stride[2];   // from job to job
};

// Words from one row of costs to the next: rows that lanes read at the same time, four words each,
// lie in different banks.
static __host__ __device__ constexpr int row_words(int cities)
{
    return ((cities + 3) / 4 | 1) * 4;
}

// [b][i]: the ways to choose i + 1 of b cities, and i + 2.
typedef uint2 Ways[CITIES][SIZES];

// The set of a rank. `moved`: the sum over its cities of what they add to the rank of a set with
// one more city below them all.
static __device__ unsigned set_of_rank(const Ways &ways, int cities, int size, unsigned rank,
                                       unsigned *moved)
{
    unsigned set = 0, sum = 0;
    for (int b = cities - 1, left = size; left > 0; b--) {
        const uint2 chosen = ways[b][left - 1];
        if (rank >= chosen.x) {
            rank -= chosen.x;
            sum += chosen.y;
            set |= 1u << b;
            left--;
        }
    }
    *moved = sum;
    return set;
}

// Calls use(outside, j, position, rank) for all cities j; of those outside of the set it tells
// where j stands in the set with j added, and the rank of that. No branches, which would part the
// lanes.
template <int M, typename Use>
static __device__ __forceinline__ void with_each_other(const Ways &ways, unsigned set,
                                                       unsigned moved, Use use)
{
    unsigned sum = moved; // of cities below j in their places, of those above moved up by one
    int below = 0;
#pragma unroll
    for (int j = 0; j < M; j++) {
        const uint2 chosen = ways[j][below];
        const bool outside = !(set >> j & 1);
        use(outside, j, below, sum + chosen.x);
        sum += outside ? 0 : chosen.x - chosen.y;
        below += outside ? 0 : 1;
    }
}

// least[j]: cheapest way from a city of the set to j. fetch(i): value of the set's i-th city.
// row[k * row_words(M) + j]: from k to j.
template <int M, typename Fetch>
static __device__ __forceinline__ void reach_from(unsigned set, int size, const unsigned *row,
                                                  Fetch fetch, unsigned *least)
{
#pragma unroll
    for (int j = 0; j < M; j++)
        least[j] = UINT_MAX;
    for (int i = 0; i < size; i += MEMBERS) {
        unsigned value[MEMBERS];
#pragma unroll
        for (int d = 0; d < MEMBERS; d++)
            value[d] = i + d < size ? fetch(i + d) : 0;
#pragma unroll
        for (int d = 0; d < MEMBERS; d++)
            if (i + d < size) {
                const int k = __ffs(static_cast<int>(set)) - 1;
                set &= set - 1;
                const unsigned *const cost = row + k * row_words(M);
#pragma unroll
                for (int j = 0; j < M; j += 4) {
                    const uint4 c = *reinterpret_cast<const uint4 *>(cost + j);
                    least[j] = __viaddmin_u32(value[d], c.x, least[j]);
                    if (j + 1 < M)
                        least[j + 1] = __viaddmin_u32(value[d], c.y, least[j + 1]);
                    if (j + 2 < M)
                        least[j + 2] = __viaddmin_u32(value[d], c.z, least[j + 2]);
                    if (j + 3 < M)
                        least[j + 3] = __viaddmin_u32(value[d], c.w, least[j + 3]);
                }
            }
    }
}

// The same with costs and values of 16 bits, two at a time. Cities 2q and 2q + 1 share a word.
template <int M, typename Fetch>
static __device__ __forceinline__ void reach_narrowly(unsigned set, int size, const unsigned *row,
                                                      Fetch fetch, unsigned *least)
{
    constexpr int PAIRS = (M + 1) / 2;
    unsigned pair[PAIRS];
#pragma unroll
    for (int q = 0; q < PAIRS; q++)
        pair[q] = UINT_MAX;
    for (int i = 0; i < size; i += MEMBERS) {
        unsigned value[MEMBERS];
#pragma unroll
        for (int d = 0; d < MEMBERS; d++)
            value[d] = i + d < size ? fetch(i + d) : 0;
#pragma unroll
        for (int d = 0; d < MEMBERS; d++)
            if (i + d < size) {
                const int k = __ffs(static_cast<int>(set)) - 1;
                set &= set - 1;
                const unsigned twice = __byte_perm(value[d], 0, 0x1010);
                const unsigned *const cost = row + k * row_words(PAIRS);
#pragma unroll
                for (int q = 0; q < PAIRS; q += 4) {
                    const uint4 c = *reinterpret_cast<const uint4 *>(cost + q);
                    pair[q] = __viaddmin_u16x2(twice, c.x, pair[q]);
                    if (q + 1 < PAIRS)
                        pair[q + 1] = __viaddmin_u16x2(twice, c.y, pair[q + 1]);
                    if (q + 2 < PAIRS)
                        pair[q + 2] = __viaddmin_u16x2(twice, c.z, pair[q + 2]);
                    if (q + 3 < PAIRS)
                        pair[q + 3] = __viaddmin_u16x2(twice, c.w, pair[q + 3]);
                }
            }
    }
#pragma unroll
    for (int j = 0; j < M; j++)
        least[j] = j % 2 ? pair[j / 2] >> 16 : pair[j / 2] & 0xffff;
}

// By one warp, line by line of Pascal's triangle: lane i has what i of b cities make.
static __device__ void fill_ways(Ways &ways, int cities)
{
    const int lane = threadIdx.x % 32;
    unsigned chosen = lane == 0;
    for (int b = 0; b <= cities; b++) {
        const unsigned one_more = __shfl_down_sync(~0u, chosen, 1),
                       two_more = __shfl_down_sync(~0u, chosen, 2),
                       one_less = __shfl_up_sync(~0u, chosen, 1);
        if (lane < SIZES)
            ways[b][lane] = make_uint2(one_more, two_more);
        chosen += lane > 0 ? one_less : 0;
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

// row[k * row_words(M) + j] or, of a narrow job, row[k * row_words((M + 1) / 2) + j / 2]: from k to
// j. By the whole block.
template <int M> static __device__ void fill_row(const Problem &p, const Job &job, unsigned *row)
{
    const int *const costs = p.costs + static_cast<size_t>(job.instance) * p.n * p.n;
    auto cost = [&](int k, int j) {
        return j >= M ? 0u
                      : static_cast<unsigned>(job.backward ? costs[(j + 1) * p.n + k + 1]
                                                           : costs[(k + 1) * p.n + j + 1]);
    };
    const int words = job.narrow ? row_words((M + 1) / 2) : row_words(M);
    for (int i = threadIdx.x; i < M * words; i += THREADS) {
        const int k = i / words, j = i % words;
        row[i] = job.narrow ? __byte_perm(cost(k, 2 * j), cost(k, 2 * j + 1), 0x5410) : cost(k, j);
    }
}

// M: cities other than 0.
template <int M>
static __global__ void __launch_bounds__(THREADS) tours(const __grid_constant__ Problem p)
{
    __shared__ __align__(16) unsigned row[JOBS][M * row_words(M)];
    __shared__ Ways ways;
    __shared__ Job jobs[JOBS];
    constexpr int m = M, half = (m + 1) / 2, other_half = m / 2;
    const int lane = threadIdx.x % 32, warps = gridDim.x * (THREADS / 32);
    // Tiles beyond an equal share go to different blocks.
    const int warp = threadIdx.x / 32 * gridDim.x + blockIdx.x;
    if (threadIdx.x < 32)
        fill_ways(ways, m);
    unsigned target = 0;
    for (int g = 0; g < p.groups; g++) {
        const Group group = p.group[g];
        __syncthreads(); // the group before is done with its jobs
        if (threadIdx.x < group.all)
            jobs[threadIdx.x] = p.jobs[group.first + threadIdx.x];
        __syncthreads();
        for (int slot = 0; slot < group.all; slot++)
            fill_row<M>(p, jobs[slot], row[slot]);
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
            const unsigned sets = ways[m][size - 1].x, sets_next = ways[m][size - 1].y;
            const int tiles = static_cast<int>((sets + 31) / 32);
            for (int item = warp; item < tiles * taken; item += warps) {
                const int slot = item / tiles;
                const Job job = jobs[slot];
                const unsigned rank = item % tiles * 32 + lane;
                // Turned round, a tour of a symmetric instance has its first half where the other
                // was: one of the halves has the last city.
                if (join && m % 2 == 0 && job.opposite == slot &&
                    (rank | 31) < ways[m - 1][half - 1].x)
                    continue;
                const unsigned *const from = p.table[size & 1] + slot * p.stride[size & 1];
                unsigned *const to = p.table[~size & 1] + slot * p.stride[~size & 1];
                const unsigned *const opposite =
                    p.table[other_half & 1] + job.opposite * p.stride[other_half & 1];
                const bool valid = rank < sets;
                unsigned moved, least[M], tour = UINT_MAX;
                const unsigned set = set_of_rank(ways, m, size, valid ? rank : 0, &moved);
                auto fetch = [&](int i) {
                    return __ldcg(from + static_cast<size_t>(i) * sets + (valid ? rank : 0));
                };
                if (job.narrow)
                    reach_narrowly<M>(set, size, row[slot], fetch, least);
                else
                    reach_from<M>(set, size, row[slot], fetch, least);
                if (join)
                    with_each_other<M>(ways, set, moved,
                                       [&](bool outside, int j, int below, unsigned) {
                                           // Outside of the set, j - below are below j.
                                           const unsigned *const met =
                                               opposite + static_cast<size_t>(j - below) * sets +
                                               (sets - 1 - rank);
                                           if (valid && outside)
                                               tour = __viaddmin_u32(least[j], __ldcg(met), tour);
                                       });
                else
                    with_each_other<M>(
                        ways, set, moved, [&](bool outside, int j, int below, unsigned rank_next) {
                            if (valid && outside)
                                to[static_cast<size_t>(below) * sets_next + rank_next] = least[j];
                        });
                if (join) {
                    tour = __reduce_min_sync(~0u, tour);
                    if (lane == 0 && tour <= INT_MAX)
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

// --- few cities: a cluster of blocks for an instance, with the tables in its shared memory ---

struct Few {
    const int *costs; // null: they come with the launch
    int *answers;
    int odd_at; // words before the table of odd set sizes
    int inline_costs[INLINE_COSTS];
};

// Ranks are dealt out in tiles of 32 to 1 << shift blocks in turn.
static __host__ __device__ unsigned words_a_block(unsigned sets, int shift)
{
    return (((sets + 31) / 32 + (1u << shift) - 1) >> shift) * 32;
}

// Where the instance is symmetric all blocks work in one direction, else half of them in each. The
// forward one goes to sets of FORWARD cities, the other to such of BACKWARD: together all and one
// more, the city in which they meet.
template <int M>
static __global__ void __launch_bounds__(RANK_THREADS, 1) few_cities(const __grid_constant__ Few p)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    constexpr int N = M + 1, K = row_words(M), FORWARD = (M + 1) / 2, BACKWARD = M + 1 - FORWARD;
    extern __shared__ __align__(16) unsigned tables[]; // [position][rank]; even sizes, then odd
    __shared__ __align__(16) unsigned row[M * K];      // row[k*K + j]: from k to j
    __shared__ Ways ways;
    __shared__ unsigned cheapest;
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned me = cluster.block_rank(), instance = blockIdx.x / RANKS;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int *const costs =
        (p.costs ? p.costs : p.inline_costs) + static_cast<size_t>(instance) * N * N;
    bool equal = true;
    for (int i = threadIdx.x; i < N * N; i += RANK_THREADS)
        equal &= costs[i] == costs[i % N * N + i / N];
    const bool symmetric = __syncthreads_and(equal);
    const int shift = symmetric ? 4 : 3;
    const unsigned parts = 1u << shift, part = me % parts, first = me - part;
    const bool backward = first > 0;
    for (int i = threadIdx.x; i < M * K; i += RANK_THREADS) {
        const int k = i / K + 1, j = i % K + 1;
        row[i] = j > M ? 0 : backward ? costs[j * N + k] : costs[k * N + j];
    }
    if (part == 0 && threadIdx.x < M)
        tables[p.odd_at + threadIdx.x] =
            backward ? costs[(threadIdx.x + 1) * N] : costs[threadIdx.x + 1];
    if (threadIdx.x == 0)
        cheapest = UINT_MAX;
    if (warp == RANK_THREADS / 32 - 1)
        fill_ways(ways, M);
    cluster.sync();

    auto table_of = [&](int size) { return tables + (size % 2 ? p.odd_at : 0); };
    for (int size = 1; size < BACKWARD; size++) {
        const unsigned sets = ways[M][size - 1].x, sets_next = ways[M][size - 1].y;
        const unsigned stride = words_a_block(sets, shift), tiles = (sets + 31) / 32,
                       stride_next = words_a_block(sets_next, shift);
        unsigned *const to = table_of(size + 1);
        if (size < FORWARD || backward || symmetric)
            for (unsigned tile = warp; (tile << shift | part) < tiles; tile += RANK_THREADS / 32) {
                const unsigned rank = (tile << shift | part) * 32 + lane;
                const bool valid = rank < sets;
                const unsigned *const from = table_of(size) + tile * 32 + lane;
                unsigned moved, least[M];
                const unsigned set = set_of_rank(ways, M, size, valid ? rank : 0, &moved);
                reach_from<M>(
                    set, size, row, [&](int i) { return from[i * stride]; }, least);
                with_each_other<M>(
                    ways, set, moved, [&](bool outside, int j, int below, unsigned rank_next) {
                        const unsigned owner = first + rank_next / 32 % parts,
                                       at = (rank_next >> (5 + shift)) * 32 + rank_next % 32;
                        unsigned *const there =
                            cluster.map_shared_rank(to + below * stride_next + at, owner);
                        if (valid && outside)
                            *there = least[j];
                    });
            }
        cluster.sync();
    }
    // A set of the forward direction, and what is left of the cities with one of the set: all
    // blocks have their share of these.
    const unsigned sets = ways[M][FORWARD - 1].x, stride = words_a_block(sets, shift),
                   stride_back = words_a_block(ways[M][BACKWARD - 1].x, shift);
    unsigned tour = UINT_MAX;
    for (unsigned tile = warp * RANKS + me; tile * 32 < sets; tile += RANK_THREADS / 32 * RANKS) {
        const unsigned rank = tile * 32 + lane;
        const bool valid = rank < sets;
        const unsigned *const ahead =
            cluster.map_shared_rank(table_of(FORWARD) + (tile >> shift) * 32 + lane, tile % parts);
        unsigned moved;
        const unsigned rest =
            set_of_rank(ways, M, BACKWARD - 1, valid ? sets - 1 - rank : 0, &moved);
        with_each_other<M>(
            ways, rest, moved, [&](bool outside, int j, int below, unsigned rank_back) {
                const unsigned owner = RANKS - parts + rank_back / 32 % parts,
                               at = (rank_back >> (5 + shift)) * 32 + rank_back % 32;
                const unsigned *const back =
                    cluster.map_shared_rank(table_of(BACKWARD) + below * stride_back + at, owner);
                // Of the cities outside of the rest, those below j are j - below.
                if (valid && outside)
                    tour = __viaddmin_u32(ahead[(j - below) * stride], *back, tour);
            });
    }
    tour = __reduce_min_sync(~0u, tour);
    if (lane == 0)
        atomicMin(cluster.map_shared_rank(&cheapest, 0), tour);
    cluster.sync();
    if (me == 0 && threadIdx.x == 0)
        p.answers[instance] = static_cast<int>(cheapest);
#endif
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

typedef void (*FewKernel)(Few);

template <int... M> static FewKernel few_kernel_of(int m, std::integer_sequence<int, M...>)
{
    const FewKernel kernels[] = {few_cities<M + 2>...};
    return kernels[m - 2];
}

// Do the tables fit into clusters? Then they are filled there.
static bool solve_in_clusters(int B, int n, const int *costs, const size_t *chosen, int *answers)
{
    const int m = n - 1, backward = m + 1 - (m + 1) / 2;
    const size_t cost_count = static_cast<size_t>(B) * n * n;
    if (m < 2 || n > CLUSTER_CITIES || B > CLUSTER_INSTANCES)
        return false;
    int current, can, limit;
    CHECK(cudaGetDevice(&current));
    CHECK(cudaDeviceGetAttribute(&can, cudaDevAttrClusterLaunch, current));
    CHECK(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, current));
    if (!can)
        return false;
    size_t words[2] = {32, 32}; // of even and odd sizes
    for (int size = 1; size <= backward; size++)
        words[size % 2] =
            std::max(words[size % 2], words_a_block(static_cast<unsigned>(chosen[size]), 3) *
                                          static_cast<size_t>(size));
    const size_t bytes = (words[0] + words[1]) * sizeof(unsigned);
    const FewKernel kernel =
        few_kernel_of(m, std::make_integer_sequence<int, CLUSTER_CITIES - 2>());
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, kernel));
    if (bytes + attributes.sharedSizeBytes > static_cast<size_t>(limit))
        return false;
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(bytes)));
    if (cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) !=
        cudaSuccess) {
        (void)cudaGetLastError();
        return false;
    }
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = RANKS;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(static_cast<unsigned>(B) * RANKS);
    config.blockDim = dim3(RANK_THREADS);
    config.dynamicSmemBytes = bytes;
    config.attrs = &attribute;
    config.numAttrs = 1;
    int clusters = 0;
    if (cudaOccupancyMaxActiveClusters(&clusters, kernel, &config) != cudaSuccess || clusters < 1) {
        (void)cudaGetLastError();
        return false;
    }
    int *device;
    CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&device), arena));
    Few few;
    few.costs = nullptr;
    few.answers = device;
    few.odd_at = static_cast<int>(words[0]);
    if (cost_count <= INLINE_COSTS) {
        memcpy(few.inline_costs, costs, cost_count * sizeof(int));
    } else {
        few.costs = device + CLUSTER_INSTANCES;
        CHECK(cudaMemcpyAsync(device + CLUSTER_INSTANCES, costs, cost_count * sizeof(int),
                              cudaMemcpyHostToDevice));
    }
    CHECK(cudaLaunchKernelEx(&config, kernel, few));
    CHECK(
        cudaMemcpy(answers, device, static_cast<size_t>(B) * sizeof(int), cudaMemcpyDeviceToHost));
    return true;
}

// Is the way through half of the cities, and one further, below 2^16 whatever its cities?
static bool is_narrow(int n, int half, const int *cost)
{
    long long most = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (i != j)
                most = std::max<long long>(most, cost[i * n + j]);
    return most * (half + 1) < 65536;
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
    size_t chosen[CITIES + 1] = {1}; // of m cities
    for (int b = 0; b < m; b++)
        for (int i = b + 1; i > 0; i--)
            chosen[i] += chosen[i - 1];
    auto sets = [&](int size) { return chosen[size]; };
    if (solve_in_clusters(B, n, costs, chosen, tour_costs_out))
        return;
    size_t stride[2] = {64, 64};
    for (int size = std::max(half - 1, 1); size <= half; size++)
        stride[size & 1] = (sets(size) * size + 63) / 64 * 64;
    const size_t job_bytes = (stride[0] + stride[1]) * sizeof(unsigned);

    const size_t cost_count = static_cast<size_t>(B) * n * n;

    // Groups of instances, forward jobs first; as many at a time as the tables have room for.
    std::vector<char> symmetric(static_cast<size_t>(B)), narrow(static_cast<size_t>(B));
    size_t all_jobs = 0;
    for (int b = 0; b < B; b++) {
        symmetric[b] = is_symmetric(n, costs + static_cast<size_t>(b) * n * n);
        narrow[b] = is_narrow(n, half, costs + static_cast<size_t>(b) * n * n);
        all_jobs += symmetric[b] ? 1 : 2;
    }
    // A few groups in the arena are faster than one after an allocation.
    const size_t in_arena =
        cost_count * sizeof(int) * 2 < ARENA / 2 ? ARENA * 7 / 8 / job_bytes : 0;
    const size_t room = std::min<size_t>(
        JOBS, in_arena >= 2 && 3 * in_arena >= all_jobs + 3
                  ? std::min(all_jobs, in_arena)
                  : std::max(std::min(all_jobs, TABLES_WANTED / job_bytes), size_t(2)));
    // Instances of two directions first, then those of one in what room is left: fewest groups.
    std::vector<int> waiting[2]; // by the number of directions
    for (int b = B; b-- > 0;)
        waiting[symmetric[b] ? 0 : 1].push_back(b);
    std::vector<Job> jobs;
    std::vector<Group> groups;
    while (!waiting[0].empty() || !waiting[1].empty()) {
        std::vector<int> taken;
        Group group = {static_cast<int>(jobs.size()), 0, 0};
        for (int directions = 2; directions > 0; directions--)
            for (std::vector<int> &from = waiting[directions - 1];
                 !from.empty() && group.all + directions <= static_cast<int>(room);
                 from.pop_back()) {
                taken.push_back(from.back());
                group.all += directions;
                group.forward++;
            }
        int backward = group.forward;
        for (int i = 0; i < group.forward; i++)
            jobs.push_back(
                Job{taken[i], 0, symmetric[taken[i]] ? i : backward++, narrow[taken[i]]});
        for (int i = 0; i < group.forward; i++)
            if (!symmetric[taken[i]])
                jobs.push_back(Job{taken[i], 1, i, narrow[taken[i]]});
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
        const size_t pieces = (sets(half) * room + THREADS - 1) / THREADS;
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
