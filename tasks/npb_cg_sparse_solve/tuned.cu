// Conjugate gradients without preconditioning: the whole iteration in one kernel.
//
// Approach: the matrix goes over once; then a cooperative kernel iterates, with three barriers over
// the grid in each iteration, one for each sum over all unknowns and one for the new search
// direction. Some lanes share a row; the matrix streams past the first-level caches, so that they
// keep what they can of the search direction. Block sums are written out and added up by every
// block in the same order: all blocks take the same decisions. Small matrices are solved by one
// cluster of blocks, which keeps the matrix in shared memory.
//
// What bounds it: the copy of the matrix through the pinned ring (two thirds of the time at medium
// and large), then the gathers of the search direction, each of which brings 32 bytes from the
// second-level cache: 50 us an iteration at medium, 190 us at large.
//
// Tried: residual and old direction side by side, so that a gather forms the new direction itself
// and one barrier less is needed (equal at medium, a twentieth slower at large); 4 or 16 lanes a
// row instead of 8 (equal); more blocks a multiprocessor (a tenth slower); the grid-wide kernel at
// small (an eighth more time for the iterations, a fourteenth in all); slots of 128 and 256 KiB
// instead of 512 (18 and 13 % slower at medium, 28 and 19 % at large).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores: small 0.71 ms, medium 4.8 ms, large
// 15 ms (7 %, 25 % and 32 % of what the bus needs; on quicker days 4.2 and 12.4 ms at medium and
// large; naive 2.9, 12 to 15 and 42 to 51 ms). At small the grid-wide kernel took 0.76 ms on the
// same day.
// The CPU program parallel wins there, with 0.70 ms on 15 cores: the matrix has to cross the bus,
// and lies in the caches of the host. (With the matrix in a device variable of 2.5 MiB, which is
// more than the rules allow, small took 0.34 ms.)
#include "transfer.cuh"

#include <algorithm>
#include <cmath>
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr int THREADS = 512;
constexpr int RANKS_MAX = 16, CLUSTER_THREADS = 1024; // of the cluster for small matrices
constexpr size_t ARENA = 1000 * 1000;

// For small inputs: an allocation would cost as much as a quarter of the rest.
static __device__ __align__(256) char arena[ARENA];

struct Problem {
    int n, max_iters;
    double tol2;
    const int *row_ptr, *col_idx;
    const double *values, *b;
    double *r, *p, *q, *x;
    double *sums; // of the blocks: two sets, used in turn
};

static __device__ double warp_sum(double v)
{
    for (int step = 16; step > 0; step /= 2)
        v += __shfl_xor_sync(~0u, v, step);
    return v;
}

// The sum over all threads of the grid, in all of them. `turn` alternates from call to call: a
// block may write its next sum while another still reads this one.
static __device__ double grid_sum(double v, double *sums, int turn)
{
    __shared__ double parts[THREADS / 32], total;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    v = warp_sum(v);
    if (lane == 0)
        parts[warp] = v;
    __syncthreads();
    double *mine = sums + turn * gridDim.x;
    if (warp == 0) {
        v = warp_sum(lane < THREADS / 32 ? parts[lane] : 0.0);
        if (lane == 0)
            mine[blockIdx.x] = v;
    }
    cg::this_grid().sync();
    if (warp == 0) {
        v = 0;
        for (unsigned i = lane; i < gridDim.x; i += 32)
            v += __ldcg(mine + i);
        v = warp_sum(v);
        if (lane == 0)
            total = v;
    }
    __syncthreads();
    return total;
}

template <int LANES> static __global__ void __launch_bounds__(THREADS, 2) solve(Problem s)
{
    const int thread = blockIdx.x * THREADS + threadIdx.x, threads = gridDim.x * THREADS;
    const int lane = threadIdx.x % LANES;
    int turn = 0;
    double sum = 0;
    for (int i = thread; i < s.n; i += threads) {
        const double b = s.b[i];
        s.r[i] = s.p[i] = b;
        s.x[i] = 0;
        sum += b * b;
    }
    double rho = grid_sum(sum, s.sums, turn ^= 1);
    for (int iter = 0; iter < s.max_iters; iter++) {
        sum = 0;
        // All lanes of a warp stay in the loop: they sum rows together.
        for (int first = (thread - threadIdx.x % 32) / LANES; first < s.n;
             first += threads / LANES) {
            const int row = first + threadIdx.x % 32 / LANES;
            double q = 0;
            if (row < s.n) {
                const int end = s.row_ptr[row + 1];
#pragma unroll 4
                for (int k = s.row_ptr[row] + lane; k < end; k += LANES)
                    q += __ldcs(s.values + k) * s.p[__ldcs(s.col_idx + k)];
            }
#pragma unroll
            for (int step = LANES / 2; step > 0; step /= 2)
                q += __shfl_xor_sync(~0u, q, step);
            if (row < s.n && lane == 0) {
                s.q[row] = q;
                sum += s.p[row] * q;
            }
        }
        const double curvature = grid_sum(sum, s.sums, turn ^= 1);
        if (fabs(curvature) < 1e-30)
            break;
        const double alpha = rho / curvature;
        sum = 0;
        for (int i = thread; i < s.n; i += threads) {
            const double r = fma(-alpha, __ldcg(s.q + i), s.r[i]);
            s.x[i] = fma(alpha, s.p[i], s.x[i]);
            s.r[i] = r;
            sum += r * r;
        }
        const double rho_new = grid_sum(sum, s.sums, turn ^= 1);
        if (rho_new <= s.tol2)
            break;
        const double beta = rho_new / rho;
        rho = rho_new;
        for (int i = thread; i < s.n; i += threads)
            s.p[i] = fma(beta, s.p[i], s.r[i]);
        cg::this_grid().sync();
    }
}

// For small matrices: one cluster, whose blocks keep their rows' entries and all of p in shared
// memory. Barriers of a cluster take a fifth of those of the grid, which pays for leaving most of
// the device idle.
struct Ranks {
    int first[RANKS_MAX + 1]; // row
    int entries;              // room for those of a block
};

static __host__ __device__ size_t cluster_bytes(int n, int entries)
{
    return static_cast<size_t>(n + CLUSTER_THREADS) * sizeof(double) + // p, q
           static_cast<size_t>(entries) * (sizeof(double) + sizeof(unsigned short)) + 16;
}

static __global__ void __launch_bounds__(CLUSTER_THREADS)
    solve_cluster(Problem s, const __grid_constant__ Ranks ranks)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    extern __shared__ double shared[];
    __shared__ double parts[CLUSTER_THREADS / 32], sums[2][RANKS_MAX];
    constexpr int LANES = 4, ROUNDS = 4; // ROUNDS: rows a thread helps to sum, at most
    const cg::cluster_group cluster = cg::this_cluster();
    const int rank = static_cast<int>(cluster.block_rank()),
              size = static_cast<int>(cluster.num_blocks());
    const int t = threadIdx.x, lane = t % 32, warp = t / 32;
    const int first = ranks.first[rank], rows = ranks.first[rank + 1] - first;
    const int base = s.row_ptr[first], entries = s.row_ptr[first + rows] - base;
    double *p_all = shared, *q = p_all + s.n, *values = q + CLUSTER_THREADS;
    unsigned short *columns = reinterpret_cast<unsigned short *>(values + ranks.entries);
    for (int k = t; k < entries; k += CLUSTER_THREADS) {
        values[k] = s.values[base + k];
        columns[k] = static_cast<unsigned short>(s.col_idx[base + k]);
    }
    int turn = 0;
    auto cluster_sum = [&](double v) {
        v = warp_sum(v);
        if (lane == 0)
            parts[warp] = v;
        __syncthreads();
        turn ^= 1;
        if (warp == 0) {
            v = warp_sum(parts[lane]);
            if (lane < size)
                cluster.map_shared_rank(&sums[turn][0], lane)[rank] = v;
        }
        cluster.sync();
        return warp_sum(lane < size ? sums[turn][lane] : 0.0);
    };
    int from[ROUNDS], to[ROUNDS]; // entries of these rows
    for (int k = 0; k < ROUNDS; k++) {
        const int row = k * (CLUSTER_THREADS / LANES) + t / LANES;
        from[k] = row < rows ? s.row_ptr[first + row] - base + t % LANES : 0;
        to[k] = row < rows ? s.row_ptr[first + row + 1] - base : 0;
    }
    const bool has_row = t < rows;
    double r = has_row ? s.b[first + t] : 0.0, p = r, x = 0;
    if (has_row)
        s.p[first + t] = p;
    double rho = cluster_sum(r * r);
    for (int iter = 0; iter < s.max_iters; iter++) {
        for (int i = t; i < s.n; i += CLUSTER_THREADS)
            p_all[i] = __ldcg(s.p + i);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < ROUNDS; k++) {
            double sum = 0;
            for (int e = from[k]; e < to[k]; e += LANES)
                sum += values[e] * p_all[columns[e]];
            for (int step = LANES / 2; step > 0; step /= 2)
                sum += __shfl_xor_sync(~0u, sum, step);
            if (t % LANES == 0)
                q[k * (CLUSTER_THREADS / LANES) + t / LANES] = sum;
        }
        __syncthreads();
        const double curvature = cluster_sum(has_row ? p * q[t] : 0.0);
        if (fabs(curvature) < 1e-30)
            break;
        const double alpha = rho / curvature;
        x = fma(alpha, p, x);
        r = has_row ? fma(-alpha, q[t], r) : 0.0;
        const double rho_new = cluster_sum(r * r);
        if (rho_new <= s.tol2)
            break;
        p = fma(rho_new / rho, p, r);
        rho = rho_new;
        if (has_row)
            s.p[first + t] = p;
        cluster.sync();
    }
    if (has_row)
        s.x[first + t] = x;
#endif
}

// Does the matrix fit into a cluster? Then it is solved there.
static bool solve_in_cluster(const Problem &s, const int *row_ptr)
{
    int device, can, limit;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&can, cudaDevAttrClusterLaunch, device));
    CHECK(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    if (!can || s.n > RANKS_MAX * CLUSTER_THREADS || s.n > 65536)
        return false;
    Ranks ranks;
    ranks.entries = 0;
    for (int k = 0; k <= RANKS_MAX; k++) // equal shares of the entries
        ranks.first[k] = static_cast<int>(
            std::lower_bound(
                row_ptr, row_ptr + s.n,
                static_cast<int>(static_cast<long long>(row_ptr[s.n]) * k / RANKS_MAX)) -
            row_ptr);
    ranks.first[RANKS_MAX] = s.n;
    for (int k = 0; k < RANKS_MAX; k++) {
        const int entries = row_ptr[ranks.first[k + 1]] - row_ptr[ranks.first[k]];
        ranks.entries = entries > ranks.entries ? entries : ranks.entries;
        if (ranks.first[k + 1] - ranks.first[k] > CLUSTER_THREADS)
            return false;
    }
    const size_t bytes = cluster_bytes(s.n, ranks.entries);
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, solve_cluster));
    if (bytes + attributes.sharedSizeBytes > static_cast<size_t>(limit))
        return false;
    CHECK(cudaFuncSetAttribute(solve_cluster, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(bytes)));
    CHECK(cudaFuncSetAttribute(solve_cluster, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute;
    config.gridDim = dim3(RANKS_MAX);
    config.blockDim = dim3(CLUSTER_THREADS);
    config.dynamicSmemBytes = bytes;
    config.attrs = &attribute;
    config.numAttrs = 1;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = RANKS_MAX;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    int clusters;
    if (cudaOccupancyMaxActiveClusters(&clusters, solve_cluster, &config) != cudaSuccess ||
        clusters < 1) {
        (void)cudaGetLastError();
        return false;
    }
    CHECK(cudaLaunchKernelEx(&config, solve_cluster, s, ranks));
    return true;
}

extern "C" void solution_compute(int n, int nnz, int max_iters, int tol_exp, const int *row_ptr,
                                 const int *col_idx, const double *values, const double *b,
                                 double *x_out)
{
    const size_t rows = static_cast<size_t>(n), entries = static_cast<size_t>(nnz);
    const double each = static_cast<double>(nnz) / n;
    const void *kernel = each < 24 ? reinterpret_cast<const void *>(solve<4>)
                                   : reinterpret_cast<const void *>(solve<8>);
    int device, processors, resident;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, THREADS, 0));
    const size_t lanes = rows * (each < 24 ? 4 : 8), wanted = (lanes + THREADS - 1) / THREADS;
    const size_t most = static_cast<size_t>(processors) * (n < 20000 ? 1 : resident);
    const int blocks = static_cast<int>(wanted < most ? wanted : most);

    size_t bytes = 0;
    auto place = [&](size_t wanted_bytes) {
        const size_t at = bytes;
        bytes += (wanted_bytes + 255) / 256 * 256;
        return at;
    };
    const size_t values_at = place(entries * 8), b_at = place(rows * 8), r_at = place(rows * 8);
    const size_t p_at = place(rows * 8), q_at = place(rows * 8), x_at = place(rows * 8);
    const size_t sums_at = place(2 * static_cast<size_t>(blocks) * 8);
    const size_t row_ptr_at = place((rows + 1) * 4), col_idx_at = place(entries * 4);
    char *memory;
    const bool small = bytes <= ARENA;
    if (small)
        CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&memory), arena));
    else
        CHECK(cudaMalloc(&memory, bytes));
    const double tol = pow(10.0, -tol_exp);
    Problem s = {n,
                 max_iters,
                 tol * tol,
                 reinterpret_cast<const int *>(memory + row_ptr_at),
                 reinterpret_cast<const int *>(memory + col_idx_at),
                 reinterpret_cast<const double *>(memory + values_at),
                 reinterpret_cast<const double *>(memory + b_at),
                 reinterpret_cast<double *>(memory + r_at),
                 reinterpret_cast<double *>(memory + p_at),
                 reinterpret_cast<double *>(memory + q_at),
                 reinterpret_cast<double *>(memory + x_at),
                 reinterpret_cast<double *>(memory + sums_at)};
    const transfer::Array in[] = {{memory + row_ptr_at, row_ptr, (rows + 1) * 4},
                                  {memory + b_at, b, rows * 8},
                                  {memory + col_idx_at, col_idx, entries * 4},
                                  {memory + values_at, values, entries * 8}};
    transfer::upload(in, 4);
    void *arguments[] = {&s};
    if (!solve_in_cluster(s, row_ptr))
        CHECK(cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(THREADS), arguments, 0,
                                          nullptr));
    const transfer::Array out[] = {{s.x, x_out, rows * 8}};
    if (rows * 8 >= transfer::RING_FROM)
        CHECK(cudaDeviceSynchronize());
    transfer::download(out, 1);
    if (!small)
        CHECK(cudaFree(memory));
}
