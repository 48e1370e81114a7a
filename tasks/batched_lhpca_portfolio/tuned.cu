// Factor covariances and minimum-variance weights: one cooperative kernel for all steps of the
// trials that have arrived, while the next ones cross the bus.
//
// Approach: the Gram matrix in float by tiles of its lower half; then the reference's power
// iteration, which every block follows for its rows of the matrix: it reads all columns of the last
// product, factorises their small Gram matrix in double (Cholesky), multiplies and divides by the
// factor, so that a step costs one barrier. The change of the factor's determinant tells how far
// the subspace is from the limit of a hundred steps, and how many more are needed.
// The weights come from the low-rank form; their sum follows from the small system's right-hand
// side. A trial whose first columns are nearly dependent, or which a hundred steps leave undecided,
// is left to kernels that repeat the reference in double, and so are more factors or dates than
// fit.
//
// What bounds it: the upload, and then the trials of the last launch, whose kernel outlasts it by
// 0.6 ms at medium and 1 ms at large size; releasing the ring waits for it. At small size a third
// is the kernel, the rest allocation and copies.
//
// Tried: slots of 256 KB and of 1 MB, twelve and fifteen threads (no better, some a tenth slower).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores, medians: 0.52, 2.8 and 4.7 to 6.1 ms
// (8, 22 and 20 to 26 % of what the bus would need for the returns; naive 6.4, 37 and 76 ms). With
// one stream for the copies, on another machine of the kind, 0.39, 2.5 and 3.9 ms. An evaluation,
// which comes to a call with cold caches, takes 0.65 ms at small.
#include "transfer.cuh"

#include <algorithm>
#include <cmath>
#include <cooperative_groups.h>
#include <vector>

constexpr int THREADS = 256, WARPS = THREADS / 32, POWER_STEPS = 100;
constexpr int TILE = 64, DEPTH = 16, PAD = 4; // of the Gram matrix
constexpr int COLUMNS = 32;                   // assets of a block at a time
constexpr int GROUP = 8;                      // trials of a launch; also Gram matrices in memory
constexpr int SPLITS = 4;                     // parts of a sum for the Gram matrix
constexpr int FACTORS_MAX = 16, SUMS_MAX = FACTORS_MAX * (FACTORS_MAX + 1) / 2 + FACTORS_MAX + 1;
constexpr double CLOSE = 1e-5, NOISE = 1e-6; // changes of the determinant
constexpr double CONVERGED = 1e-8;           // angle of the subspace
constexpr double DEPENDENT = 1e-12;          // squared sine between columns
constexpr int HOST_THREADS = 8, SLOTS = 12;
constexpr size_t SLOT = size_t(512) << 10;
constexpr unsigned ALL = 0xffffffffu;

struct batch {
    int T, N, K, blocks, splits; // blocks: of a trial
    const float *returns;
    float *gram, *inverse_norm, *product; // product: two T x K a trial
    double *z, *d, *part;                 // part: SUMS_MAX a block
    float *weights;
    int *running, *failed; // running: POWER_STEPS + 1, is any trial not finished after a step?
};

static __device__ double warp_sum(double value)
{
    for (int width = 16; width > 0; width /= 2)
        value += __shfl_xor_sync(ALL, value, width);
    return value;
}

// Inverse lengths of a block's columns of R, 32 at a time.
static __device__ void measure_columns(const batch &p, int b, const float *R, float *inverse_norm)
{
    __shared__ double part[WARPS][COLUMNS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int tile = b; tile * COLUMNS < p.N; tile += p.blocks) {
        const int j = tile * COLUMNS + lane;
        double square = 0.0;
        if (j < p.N)
            for (int t = warp; t < p.T; t += WARPS) {
                const double r = R[static_cast<size_t>(t) * p.N + j];
                square += r * r;
            }
        part[warp][lane] = square;
        __syncthreads();
        if (warp == 0 && j < p.N) {
            for (int w = 1; w < WARPS; w++)
                square += part[w][lane];
            inverse_norm[j] = square > 0.0 ? static_cast<float>(1.0 / sqrt(square)) : 1.0f;
        }
        __syncthreads();
    }
}

// Tiles of the lower half of Q Q', Q being R with columns of length 1; mirrored. The sums over the
// assets are split into p.splits matrices.
static __device__ void form_gram(const batch &p, int b, const float *R, const float *inverse_norm,
                                 float *gram)
{
    __shared__ alignas(16) float left[DEPTH][TILE + PAD], right[DEPTH][TILE + PAD];
    const int tid = threadIdx.x, column = tid % 16, row = tid / 16;
    const int side = (p.T + TILE - 1) / TILE, tiles = side * (side + 1) / 2;
    const int span = ((p.N + p.splits - 1) / p.splits + DEPTH - 1) / DEPTH * DEPTH;
    for (int item = b; item < tiles * p.splits; item += p.blocks) {
        const int tile = item % tiles, split = item / tiles;
        int tile_row = 0;
        while ((tile_row + 1) * (tile_row + 2) / 2 <= tile)
            tile_row++;
        const int t0 = tile_row * TILE, u0 = (tile - tile_row * (tile_row + 1) / 2) * TILE;
        float sum[4][4] = {};
        const int end = min(p.N, (split + 1) * span);
        for (int j0 = split * span; j0 < end; j0 += DEPTH) {
            const int j = j0 + column;
            const float scale = j < end ? inverse_norm[j] : 0.0f;
#pragma unroll
            for (int r = 0; r < 4; r++) {
                const int t = t0 + row + 16 * r, u = u0 + row + 16 * r;
                left[column][row + 16 * r] =
                    j < end && t < p.T ? R[static_cast<size_t>(t) * p.N + j] * scale : 0.0f;
                right[column][row + 16 * r] =
                    j < end && u < p.T ? R[static_cast<size_t>(u) * p.N + j] * scale : 0.0f;
            }
            __syncthreads();
#pragma unroll
            for (int k = 0; k < DEPTH; k++) {
                const float4 a = *reinterpret_cast<const float4 *>(&left[k][4 * row]),
                             c = *reinterpret_cast<const float4 *>(&right[k][4 * column]);
                const float as[4] = {a.x, a.y, a.z, a.w}, cs[4] = {c.x, c.y, c.z, c.w};
#pragma unroll
                for (int i = 0; i < 4; i++)
#pragma unroll
                    for (int l = 0; l < 4; l++)
                        sum[i][l] = fmaf(as[i], cs[l], sum[i][l]);
            }
            __syncthreads();
        }
        float *const to = gram + static_cast<size_t>(split) * p.T * p.T;
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int l = 0; l < 4; l++) {
                const int t = t0 + 4 * row + i, u = u0 + 4 * column + l;
                if (t < p.T && u < p.T) {
                    to[static_cast<size_t>(t) * p.T + u] = sum[i][l];
                    to[static_cast<size_t>(u) * p.T + t] = sum[i][l];
                }
            }
    }
}

// small = v v' for KP columns of T elements each, a warp a tile of 4 x 4 products.
template <int KP, typename Sum>
static __device__ void multiply_small(const float *v, int T, double (*small)[KP + 1])
{
    const int lane = threadIdx.x % 32;
    constexpr int SIDE = KP / 4;
    for (int tile = threadIdx.x / 32; tile < SIDE * (SIDE + 1) / 2; tile += WARPS) {
        int tile_row = 0;
        while ((tile_row + 1) * (tile_row + 2) / 2 <= tile)
            tile_row++;
        const int k0 = 4 * tile_row, l0 = 4 * (tile - tile_row * (tile_row + 1) / 2);
        Sum sum[4][4] = {};
        for (int t = lane; t < T; t += 32) {
            Sum a[4], c[4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                a[i] = static_cast<Sum>(v[(k0 + i) * T + t]);
                c[i] = static_cast<Sum>(v[(l0 + i) * T + t]);
            }
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int l = 0; l < 4; l++)
                    sum[i][l] += a[i] * c[l];
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int l = 0; l < 4; l++) {
                const double total = warp_sum(static_cast<double>(sum[i][l]));
                if (lane == 0) {
                    small[k0 + i][l0 + l] = total;
                    small[l0 + l][k0 + i] = total;
                }
            }
    }
}

// Cholesky's factor of the leading K x K of a, in place below the diagonal; inverse gets the
// diagonal's inverses. By one warp. Returns the determinant of the factor, 0 where columns are
// nearly dependent.
template <int KP> static __device__ double factorise(double (*a)[KP + 1], int K, double *inverse)
{
    const int lane = threadIdx.x % 32;
    double determinant = 1.0;
    const double length = lane < K ? a[lane][lane] : 1.0;
    for (int k = 0; k < K; k++) {
        __syncwarp();
        const double pivot = a[k][k];
        if (!(pivot > DEPENDENT * __shfl_sync(ALL, length, k)))
            determinant = 0.0;
        const double root = sqrt(fmax(pivot, 1e-300)), inverse_root = 1.0 / root;
        determinant *= root;
        const double own = lane > k && lane < K ? a[lane][k] * inverse_root : 0.0;
        __syncwarp();
        if (lane == k) {
            a[k][k] = root;
            inverse[k] = inverse_root;
        }
        if (lane > k && lane < K)
            a[lane][k] = own;
        __syncwarp();
        if (lane > k && lane < K)
            for (int l = k + 1; l <= lane; l++)
                a[lane][l] -= own * a[l][k];
    }
    __syncwarp();
    return determinant;
}

// Turns a row of the product into a row of orthonormal columns.
template <int KP>
static __device__ void divide(double (*factor)[KP + 1], const double *inverse, int K, double *row)
{
#pragma unroll
    for (int k = 0; k < KP; k++)
        if (k < K) {
            double value = row[k];
#pragma unroll
            for (int l = 0; l < k; l++)
                value -= row[l] * factor[k][l];
            row[k] = value * inverse[k];
        }
}

// After how many steps the subspace's angle is below CONVERGED, from the last two changes of the
// determinant, which go with the angle's square and fall by the same ratio from step to step. A
// change too small to be measured means an angle below 1e-3, so three times as many steps do.
static __device__ int steps_needed(int s, double change, double change_before)
{
    if (change < NOISE)
        return 3 * s + 3;
    const double ratio = fmin(fmax(change / change_before, 1e-8), 0.999);
    const double angle = sqrt(change / (1.0 - ratio));
    return max(2 * s + 2, s + 1 + static_cast<int>(log(CONVERGED / angle) / (0.5 * log(ratio))));
}

// blockIdx.x / p.blocks is the trial.
template <int KP> static __global__ void __launch_bounds__(THREADS) analyse(batch p)
{
    extern __shared__ __align__(16) char shared[];
    __shared__ double small[KP][KP + 1], inverse[KP], determinant;
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    const int T = p.T, N = p.N, K = p.K;
    const int trial = blockIdx.x / p.blocks, b = blockIdx.x % p.blocks;
    const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    const float *const R = p.returns + static_cast<size_t>(trial) * T * N;
    float *const inverse_norm = p.inverse_norm + static_cast<size_t>(trial) * N;
    float *const gram = p.gram + static_cast<size_t>(trial) * p.splits * T * T;
    float *const product = p.product + static_cast<size_t>(trial) * 2 * T * K;
    const int rows = (T + p.blocks - 1) / p.blocks, first = b * rows,
              here = max(0, min(rows, T - first));
    float *const v = reinterpret_cast<float *>(shared); // KP columns of T
    float *const own = v + KP * T;                      // `rows` rows of the Gram matrix

    measure_columns(p, b, R, inverse_norm);
    if (blockIdx.x == 0)
        for (int s = tid; s <= POWER_STEPS; s += THREADS)
            p.running[s] = 0;
    grid.sync();
    form_gram(p, b, R, inverse_norm, gram);
    for (int i = tid; i < here * K; i += THREADS) {
        const int t = first + i / K, k = i % K;
        product[static_cast<size_t>(t) * K + k] =
            R[static_cast<size_t>(t) * N + k] * inverse_norm[k];
    }
    grid.sync();
    for (int i = tid; i < here * T; i += THREADS) {
        float sum = 0.0f;
        for (int split = 0; split < p.splits; split++)
            sum += gram[static_cast<size_t>(split) * T * T + static_cast<size_t>(first) * T + i];
        own[i] = sum;
    }
    for (int i = tid; i < KP * T; i += THREADS)
        v[i] = 0.0f;

    double determinant_before = 0.0, change_before = 0.0;
    int last_step = POWER_STEPS;
    bool planned = false, finished = false, failed = false;
    for (int s = 0;; s++) {
        if (!finished) {
            __syncthreads();
            const float *const from = product + static_cast<size_t>(s % 2) * T * K;
            for (int i = tid; i < T * K; i += THREADS)
                v[i % K * T + i / K] = from[i];
            __syncthreads();
            multiply_small<KP, float>(v, T, small);
            __syncthreads();
            if (warp == 0) {
                const double found = factorise<KP>(small, K, inverse);
                if (lane == 0)
                    determinant = found;
            }
            __syncthreads();
            const double change = fabs(determinant / determinant_before - 1.0);
            if (s >= 3 && !planned && change < CLOSE) {
                planned = true;
                last_step = steps_needed(s, change, change_before);
                failed = last_step > POWER_STEPS;
            }
            failed = failed || !(determinant > 0.0) || (s == POWER_STEPS && !planned);
            finished = failed || s >= last_step;
            determinant_before = determinant;
            change_before = change;
        }
        if (!finished) {
            for (int r = warp; r < here; r += WARPS) {
                float sum[KP] = {};
                for (int u = lane; u < T; u += 32) {
                    const float m = own[r * T + u];
#pragma unroll
                    for (int k = 0; k < KP; k++)
                        sum[k] = fmaf(m, v[k * T + u], sum[k]);
                }
                double row[KP];
#pragma unroll
                for (int k = 0; k < KP; k++) {
                    for (int width = 16; width > 0; width /= 2)
                        sum[k] += __shfl_xor_sync(ALL, sum[k], width);
                    row[k] = static_cast<double>(sum[k]);
                }
                divide<KP>(small, inverse, K, row);
                float *const to = product + (static_cast<size_t>((s + 1) % 2) * T + first + r) * K;
#pragma unroll
                for (int k = 0; k < KP; k++)
                    if (k < K && lane == k)
                        to[k] = static_cast<float>(row[k]);
            }
            if (b == 0 && tid == 0)
                p.running[s] = 1;
        }
        grid.sync();
        if (!*static_cast<volatile int *>(p.running + min(s, POWER_STEPS)))
            break;
    }

    // Orthonormal columns, in place.
    multiply_small<KP, double>(v, T, small);
    __syncthreads();
    if (warp == 0)
        factorise<KP>(small, K, inverse);
    __syncthreads();
    for (int t = tid; t < T; t += THREADS) {
        double row[KP];
#pragma unroll
        for (int k = 0; k < KP; k++)
            row[k] = static_cast<double>(v[k * T + t]);
        divide<KP>(small, inverse, K, row);
#pragma unroll
        for (int k = 0; k < KP; k++)
            v[k * T + t] = static_cast<float>(row[k]);
    }
    __syncthreads();

    // Z = phi'R and d = 1/v for 32 assets at a time, a warp every eighth date; then their sums
    // Z d Z', Z d and d.
    float(*const part)[KP][COLUMNS] = reinterpret_cast<float(*)[KP][COLUMNS]>(own);
    __shared__ double z[KP][COLUMNS], d[COLUMNS];
    double *const global_z = p.z + static_cast<size_t>(trial) * K * N, *const global_d =
                                                                           p.d +
                                                                           static_cast<size_t>(
                                                                               trial) *
                                                                               N;
    const int sums = K * (K + 1) / 2 + K + 1;
    int sum_row = 0, sum_column = tid; // what thread `tid` adds up: z_row d z_column, row 0 is ones
    while (sum_column > sum_row)
        sum_column -= ++sum_row;
    double total = 0.0;
    for (int tile = b; tile * COLUMNS < N; tile += p.blocks) {
        const int j = tile * COLUMNS + lane;
        float sum[KP] = {};
        if (j < N)
#pragma unroll 4
            for (int t = warp; t < T; t += WARPS) {
                const float r = R[static_cast<size_t>(t) * N + j];
#pragma unroll
                for (int k = 0; k < KP; k++)
                    sum[k] = fmaf(v[k * T + t], r, sum[k]);
            }
#pragma unroll
        for (int k = 0; k < KP; k++)
            part[warp][k][lane] = sum[k];
        __syncthreads();
        for (int i = tid; i < KP * COLUMNS; i += THREADS) {
            double value = 0.0;
            for (int w = 0; w < WARPS; w++)
                value += static_cast<double>(part[w][i / COLUMNS][i % COLUMNS]);
            z[i / COLUMNS][i % COLUMNS] = value;
        }
        __syncthreads();
        float square = 0.0f;
#pragma unroll
        for (int k = 0; k < KP; k++)
            sum[k] = static_cast<float>(z[k][lane]);
        if (j < N)
#pragma unroll 4
            for (int t = warp; t < T; t += WARPS) {
                float residual = R[static_cast<size_t>(t) * N + j];
#pragma unroll
                for (int k = 0; k < KP; k++)
                    residual = fmaf(-v[k * T + t], sum[k], residual);
                square = fmaf(residual, residual, square);
            }
        part[warp][0][lane] = square;
        __syncthreads();
        if (warp == 0) {
            double value = 0.0;
            for (int w = 0; w < WARPS; w++)
                value += static_cast<double>(part[w][0][lane]);
            d[lane] = j < N ? T / value : 0.0;
            if (j < N)
                global_d[j] = d[lane];
        }
        for (int i = tid; i < K * COLUMNS; i += THREADS) {
            const int k = i / COLUMNS, c = i % COLUMNS;
            if (tile * COLUMNS + c < N)
                global_z[static_cast<size_t>(k) * N + tile * COLUMNS + c] = z[k][c];
        }
        __syncthreads();
        if (tid < sums)
            for (int c = 0; c < COLUMNS; c++)
                total += (sum_row > 0 ? z[sum_row - 1][c] : 1.0) * d[c] *
                         (sum_column > 0 ? z[sum_column - 1][c] : 1.0);
        __syncthreads();
    }
    double *const part_sums = p.part + static_cast<size_t>(trial) * p.blocks * SUMS_MAX;
    if (tid < sums)
        part_sums[b * SUMS_MAX + tid] = total;
    grid.sync();

    // (T I + Z D Z') y = Z d, solved by every block; then its assets' shares of the sum, which is
    // that of d less y'(Z d).
    __shared__ double y[KP], rhs[KP], all;
    if (tid < sums) {
        total = 0.0;
        for (int other = 0; other < p.blocks; other++)
            total += part_sums[other * SUMS_MAX + tid];
        if (sum_row == 0)
            all = total;
        else if (sum_column == 0)
            rhs[sum_row - 1] = total;
        else
            small[sum_row - 1][sum_column - 1] = total + (sum_row == sum_column ? T : 0);
    }
    __syncthreads();
    if (warp == 0) {
        factorise<KP>(small, K, inverse);
        if (lane == 0) {
            for (int k = 0; k < K; k++) {
                double value = rhs[k];
                for (int l = 0; l < k; l++)
                    value -= small[k][l] * y[l];
                y[k] = value * inverse[k];
            }
            double sum = all;
            for (int k = K - 1; k >= 0; k--) {
                double value = y[k];
                for (int l = k + 1; l < K; l++)
                    value -= small[l][k] * y[l];
                y[k] = value * inverse[k];
                sum -= y[k] * rhs[k];
            }
            all = sum;
        }
    }
    __syncthreads();
    float *const weights = p.weights + static_cast<size_t>(trial) * N;
    for (int j = b * THREADS + tid; j < N; j += p.blocks * THREADS) {
        double projection = 0.0;
        for (int k = 0; k < K; k++)
            projection += global_z[static_cast<size_t>(k) * N + j] * y[k];
        weights[j] = static_cast<float>(global_d[j] * (1.0 - projection) / all);
    }
    if (b == 0 && tid == 0)
        p.failed[trial] = failed;
}

// --- the reference's steps in double, for one trial whose columns were too close for the above ---

static __global__ void literal_normalise(int T, int N, const float *R, double *q)
{
    const int j = blockIdx.x * THREADS + threadIdx.x;
    if (j >= N)
        return;
    double norm = 0.0;
    for (int t = 0; t < T; t++) {
        const double r = R[static_cast<size_t>(t) * N + j];
        norm += r * r;
    }
    norm = norm > 0.0 ? sqrt(norm) : 1.0;
    for (int t = 0; t < T; t++)
        q[static_cast<size_t>(t) * N + j] = R[static_cast<size_t>(t) * N + j] / norm;
}

static __global__ void literal_gram(int T, int N, const double *q, double *gram)
{
    const size_t i = static_cast<size_t>(blockIdx.x) * THREADS + threadIdx.x, side = T;
    if (i >= side * side)
        return;
    const double *a = q + i / side * N, *b = q + i % side * N;
    double dot = 0.0;
    for (int j = 0; j < N; j++)
        dot += a[j] * b[j];
    gram[i] = dot;
}

static __global__ void literal_first_columns(int T, int N, int K, const double *q, double *phi)
{
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < T * K; i += gridDim.x * THREADS)
        phi[i] = q[static_cast<size_t>(i / K) * N + i % K];
}

// A warp an element of gram phi.
static __global__ void literal_multiply(int T, int K, const double *gram, const double *phi,
                                        double *next)
{
    const int lane = threadIdx.x % 32, warps = gridDim.x * WARPS;
    for (int i = (blockIdx.x * THREADS + threadIdx.x) / 32; i < T * K; i += warps) {
        double sum = 0.0;
        for (int u = lane; u < T; u += 32)
            sum +=
                gram[static_cast<size_t>(i / K) * T + u] * phi[static_cast<size_t>(u) * K + i % K];
        sum = warp_sum(sum);
        if (lane == 0)
            next[i] = sum;
    }
}

// The sum over the block, for all its threads.
static __device__ double block_sum(double value)
{
    __shared__ double part[WARPS];
    value = warp_sum(value);
    __syncthreads(); // the last sum has been read by all
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = value;
    __syncthreads();
    value = 0.0;
    for (int w = 0; w < WARPS; w++)
        value += part[w];
    return value;
}

// Modified Gram-Schmidt by one block; a thread always has the same rows.
static __global__ void literal_orthonormalise(int T, int K, double *v)
{
    for (int k = 0; k < K; k++)
        for (int l = 0; l <= k; l++) {
            double dot = 0.0;
            for (size_t t = threadIdx.x; t < static_cast<size_t>(T); t += THREADS)
                dot += v[t * K + l] * v[t * K + k];
            dot = block_sum(dot);
            const double norm = sqrt(dot);
            for (size_t t = threadIdx.x; t < static_cast<size_t>(T); t += THREADS) {
                if (l < k)
                    v[t * K + k] -= dot * v[t * K + l];
                else if (norm > 1e-7)
                    v[t * K + k] /= norm;
            }
        }
}

static __global__ void literal_project(int T, int N, int K, const float *R, const double *phi,
                                       double *z, double *d)
{
    const int j = blockIdx.x * THREADS + threadIdx.x;
    if (j >= N)
        return;
    for (int k = 0; k < K; k++) {
        double sum = 0.0;
        for (int t = 0; t < T; t++)
            sum += phi[static_cast<size_t>(t) * K + k] * R[static_cast<size_t>(t) * N + j];
        z[static_cast<size_t>(k) * N + j] = sum;
    }
    double square = 0.0;
    for (int t = 0; t < T; t++) {
        double residual = R[static_cast<size_t>(t) * N + j];
        for (int k = 0; k < K; k++)
            residual -= phi[static_cast<size_t>(t) * K + k] * z[static_cast<size_t>(k) * N + j];
        square += residual * residual;
    }
    d[j] = T / square;
}

// (T I + Z D Z') y = Z d by one block, then the weights.
static __global__ void literal_weights(int T, int N, int K, const double *z, double *d, double *a,
                                       double *rhs, float *w)
{
    for (int k = 0; k < K; k++)
        for (int l = 0; l <= K; l++) {
            double sum = 0.0;
            for (int j = threadIdx.x; j < N; j += THREADS)
                sum += z[static_cast<size_t>(k) * N + j] * d[j] *
                       (l < K ? z[static_cast<size_t>(l) * N + j] : 1.0);
            sum = block_sum(sum);
            if (threadIdx.x == 0)
                *(l < K ? a + static_cast<size_t>(k) * K + l : rhs + k) = sum + (k == l ? T : 0);
        }
    __syncthreads();
    for (int p = 0; p < K; p++) { // elimination; positive definite, so without pivots
        for (int r = p + 1 + static_cast<int>(threadIdx.x); r < K; r += THREADS) {
            double *const row = a + static_cast<size_t>(r) * K;
            const double factor = row[p] / a[static_cast<size_t>(p) * K + p];
            for (int c = p; c < K; c++)
                row[c] -= factor * a[static_cast<size_t>(p) * K + c];
            rhs[r] -= factor * rhs[p];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        for (int r = K - 1; r >= 0; r--) {
            for (int c = r + 1; c < K; c++)
                rhs[r] -= a[static_cast<size_t>(r) * K + c] * rhs[c];
            rhs[r] /= a[static_cast<size_t>(r) * K + r];
        }
    __syncthreads();
    double total = 0.0;
    for (int j = threadIdx.x; j < N; j += THREADS) {
        double projection = 0.0;
        for (int k = 0; k < K; k++)
            projection += z[static_cast<size_t>(k) * N + j] * rhs[k];
        d[j] *= 1.0 - projection;
        total += d[j];
    }
    total = block_sum(total);
    for (int j = threadIdx.x; j < N; j += THREADS)
        w[j] = static_cast<float>(d[j] / total);
}

static unsigned blocks_for(size_t items)
{
    return static_cast<unsigned>((items + THREADS - 1) / THREADS);
}

static void repeat_reference(int T, int N, int K, const float *d_returns, float *w)
{
    const size_t t = T, n = N, k = K;
    double *memory;
    float *d_weights;
    CHECK(
        cudaMalloc(&memory, (t * n + t * t + 2 * t * k + k * n + n + k * k + k) * sizeof(double)));
    CHECK(cudaMalloc(&d_weights, n * sizeof(float)));
    double *const q = memory, *const gram = q + t * n, *phi = gram + t * t,
                  *next = phi + t * k, *const z = next + t * k, *const d = z + k * n,
                  *const small = d + n, *const rhs = small + k * k;
    literal_normalise<<<blocks_for(n), THREADS>>>(T, N, d_returns, q);
    literal_gram<<<blocks_for(t * t), THREADS>>>(T, N, q, gram);
    literal_first_columns<<<256, THREADS>>>(T, N, K, q, phi);
    literal_orthonormalise<<<1, THREADS>>>(T, K, phi);
    for (int step = 0; step < POWER_STEPS; step++) {
        literal_multiply<<<96, THREADS>>>(T, K, gram, phi, next);
        literal_orthonormalise<<<1, THREADS>>>(T, K, next);
        std::swap(phi, next);
    }
    literal_project<<<blocks_for(n), THREADS>>>(T, N, K, d_returns, phi, z, d);
    literal_weights<<<1, THREADS>>>(T, N, K, z, d, small, rhs, d_weights);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(w, d_weights, n * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_weights));
    CHECK(cudaFree(memory));
}

// --- the host ---

using kernel = void (*)(batch);

static kernel kernel_for(int K, int *padded)
{
    *padded = (K + 3) / 4 * 4;
    switch (*padded) {
    case 4:
        return analyse<4>;
    case 8:
        return analyse<8>;
    case 12:
        return analyse<12>;
    default:
        return analyse<16>;
    }
}

// Launches with as many trials as have arrived, each time that the device is idle.
class Launcher
{
  public:
    batch all; // the pointers are those of trial 0
    int trials, done = 0;
    bool possible = false;

    void prepare(int S, int T, int N, int K)
    {
        trials = S;
        all.T = T;
        all.N = N;
        all.K = K;
        if (K > FACTORS_MAX)
            return;
        int device, limit;
        analyse_any = kernel_for(K, &padded);
        CHECK(cudaGetDevice(&device));
        CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
        CHECK(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
        cudaFuncAttributes attributes;
        CHECK(cudaFuncGetAttributes(&attributes, analyse_any));
        room = static_cast<size_t>(limit) - attributes.sharedSizeBytes;
        possible = shared_bytes(1) <= room;
        if (possible)
            CHECK(cudaFuncSetAttribute(analyse_any, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       static_cast<int>(room)));
    }
    size_t part_sums() const
    {
        return static_cast<size_t>(processors) * SUMS_MAX;
    }

    void launch(int arrived, cudaStream_t stream)
    {
        while (done < arrived) {
            int count = std::min({arrived - done, GROUP, processors});
            while (count > 1 && shared_bytes(count) > room)
                count--;
            batch p = all;
            p.blocks = processors / count;
            const int side = (p.T + TILE - 1) / TILE;
            p.splits =
                std::max(1, std::min({SPLITS, GROUP / count, p.blocks / (side * (side + 1) / 2)}));
            p.returns += static_cast<size_t>(done) * p.T * p.N;
            p.weights += static_cast<size_t>(done) * p.N;
            p.failed += done;
            void *arguments[] = {&p};
            CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(analyse_any),
                                              dim3(static_cast<unsigned>(count * p.blocks)),
                                              dim3(THREADS), arguments, shared_bytes(count),
                                              stream));
            done += count;
        }
    }

  private:
    kernel analyse_any = nullptr;
    int padded = 0, processors = 0;
    size_t room = 0;

    size_t shared_bytes(int count) const
    {
        const size_t blocks = processors / count, rows = (all.T + blocks - 1) / blocks;
        return (static_cast<size_t>(padded) * all.T +
                std::max<size_t>(rows * all.T, WARPS * static_cast<size_t>(padded) * COLUMNS)) *
               sizeof(float);
    }
};

// Returns in slots; launches what has arrived whenever the device is idle.
static void upload_and_launch(const float *R, size_t bytes, size_t trial_bytes, Launcher &launcher,
                              cudaStream_t computing)
{
    const transfer::Shape shape = {transfer::threads_for(HOST_THREADS), SLOTS, SLOT};
    cudaStream_t copying[2]; // two, so that one copy starts while another ends
    cudaEvent_t arrival[2];
    unsigned turn = 0;
    const size_t slot_bytes = SLOT;
    char *const d_returns = reinterpret_cast<char *>(const_cast<float *>(launcher.all.returns));
    transfer::pipeline(
        shape, (bytes + slot_bytes - 1) / slot_bytes,
        [&] {
            for (int k = 0; k < 2; k++) {
                CHECK(cudaStreamCreateWithFlags(&copying[k], cudaStreamNonBlocking));
                CHECK(cudaEventCreateWithFlags(&arrival[k], cudaEventDisableTiming));
            }
        },
        [&](size_t piece, char *slot) {
            const size_t from = piece * slot_bytes, left = bytes - from;
            memcpy(slot, reinterpret_cast<const char *>(R) + from,
                   left < slot_bytes ? left : slot_bytes);
        },
        [&](size_t piece, size_t count, char *slots) {
            const size_t from = piece * slot_bytes,
                         to = std::min(bytes, (piece + count) * slot_bytes);
            cudaStream_t stream = copying[turn++ % 2];
            CHECK(cudaMemcpyAsync(d_returns + from, slots, to - from, cudaMemcpyHostToDevice,
                                  stream));
            const int arrived = static_cast<int>(to / trial_bytes);
            if (launcher.possible && arrived > launcher.done &&
                (to == bytes || cudaStreamQuery(computing) == cudaSuccess)) {
                for (int k = 0; k < 2; k++) {
                    CHECK(cudaEventRecord(arrival[k], copying[k]));
                    CHECK(cudaStreamWaitEvent(computing, arrival[k], 0));
                }
                launcher.launch(arrived, computing);
            }
            (void)cudaGetLastError(); // a busy stream is not an error, but remembered like one
            return stream;
        },
        [](size_t, char *) {});
    for (int k = 0; k < 2; k++) {
        CHECK(cudaEventDestroy(arrival[k]));
        CHECK(cudaStreamDestroy(copying[k]));
    }
}

extern "C" void solution_compute(int S, int T, int N, int K, const float *R, float *w)
{
    const size_t s = S, t = T, n = N, k = K, bytes = s * t * n * sizeof(float);
    Launcher launcher;
    launcher.prepare(S, T, N, K);
    const size_t doubles = launcher.possible ? GROUP * (k * n + n) + launcher.part_sums() : 0,
                 floats = launcher.possible ? GROUP * (t * t + n + 2 * t * k) : 0;
    const size_t return_words = (s * t * n + 1) / 2 * 2, result_words = s * n + s;
    char *memory;
    CHECK(cudaMalloc(&memory,
                     doubles * sizeof(double) +
                         (return_words + floats + result_words + POWER_STEPS + 1) * sizeof(float)));
    batch &all = launcher.all;
    float *const d_returns = reinterpret_cast<float *>(memory);
    all.returns = d_returns;
    all.z = reinterpret_cast<double *>(d_returns + return_words);
    all.d = all.z + GROUP * k * n;
    all.part = all.d + GROUP * n;
    all.gram = reinterpret_cast<float *>(all.z + doubles);
    all.inverse_norm = all.gram + GROUP * t * t;
    all.product = all.inverse_norm + GROUP * n;
    all.weights = all.gram + floats;
    all.failed = reinterpret_cast<int *>(all.weights + s * n);
    all.running = all.failed + s;

    cudaStream_t computing;
    CHECK(cudaStreamCreateWithFlags(&computing, cudaStreamNonBlocking));
    if (bytes < transfer::RING_FROM) {
        CHECK(cudaMemcpy(d_returns, R, bytes, cudaMemcpyHostToDevice));
        CHECK(cudaStreamSynchronize(nullptr)); // small copies return when they are staged
        if (launcher.possible)
            launcher.launch(S, computing);
    } else {
        upload_and_launch(R, bytes, t * n * sizeof(float), launcher, computing);
    }
    std::vector<float> results(result_words);
    CHECK(cudaStreamSynchronize(computing));
    if (launcher.possible)
        CHECK(cudaMemcpy(results.data(), all.weights, result_words * sizeof(float),
                         cudaMemcpyDeviceToHost));
    memcpy(w, results.data(), s * n * sizeof(float));
    for (size_t trial = 0; trial < s; trial++) {
        int failed;
        memcpy(&failed, &results[s * n + trial], sizeof failed);
        if (!launcher.possible || failed)
            repeat_reference(T, N, K, d_returns + trial * t * n, w + trial * n);
    }
    CHECK(cudaStreamDestroy(computing));
    CHECK(cudaFree(memory));
}
