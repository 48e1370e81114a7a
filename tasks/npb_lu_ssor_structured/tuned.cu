// SSOR on a cube: five scalar problems, each swept by a few blocks that pass edges to each other.
//
// Approach: the 5x5 matrix is symmetric and the same everywhere and neighbours enter by plain
// factors, so in the basis of its eigenvectors the five unknowns are independent scalar problems. A
// block keeps a tile of lines along i in shared memory over all sweeps, one thread a line; thread
// (j, k) of the tile takes point i in step i + j + k, so that a block barrier a step is all that
// orders the points inside. What leaves a tile goes through global memory in packets of half a
// value and the number of the sweep: whoever finds the number has the value, and no fence or flag
// is needed. Packets and right-hand side are on their way to shared memory a few steps before they
// are used. Blocks wait for each other only through packets: all must be resident, so the launch is
// cooperative. Where a tile does not fit into shared memory, one kernel for each plane i + j + k.
// Larger inputs pass through pinned slots and are rotated on the way.
//
// What bounds it: the sweeps (more than half of the time), and there, as far as the variants tell,
// the tiles' waiting for each other's edges at the start of each sweep; then the copies.
//
// Tried: 8 steps between request and use (a seventh to a quarter slower: what was requested before
// it was there is fetched again, one value after the other); tiles of 8 x 8 lines (a fifth slower
// than 16 x 16: more edges); the right-hand side in its own layout, where a warp reads 32 cache
// lines a step, and requests ahead in registers (equal at small, a tenth slower beyond).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores: small 1.07 ms, medium 1.90 ms, large
// 3.23 ms (7 %, 11 % and 14 % of bytes, 16 ns a step and 20 us; naive 5.0 to 5.7, 11 to 12 and 20
// ms). An evaluation, which comes to a call with cold caches, takes 1.27 ms at small.
#include "transfer.cuh"

#include <cmath>
#include <cuda_pipeline.h>

constexpr int M = 5;     // unknowns at a point
constexpr int AHEAD = 4; // steps between the request for a value and its use
constexpr int TILE_THREADS_MAX = 384;
constexpr int THREADS = 256;
constexpr int PIECE_POINTS = 2048; // in a slot
constexpr int STREAMS = 4;
constexpr double CX = 0.14, CY = 0.11, CZ = 0.09;

struct Rotation {
    double q[M][M], lambda[M]; // columns of q: eigenvectors
};

// Cyclic Jacobi rotations.
static Rotation diagonalise()
{
    const double diagonal[M] = {4.40, 4.85, 5.20, 5.55, 5.90};
    double a[M][M];
    Rotation r;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++) {
            a[i][j] = i == j ? diagonal[i] : 0.0125 * (i + 1) * (j + 1);
            r.q[i][j] = i == j;
        }
    for (int round = 0; round < 12; round++)
        for (int i = 0; i < M - 1; i++)
            for (int j = i + 1; j < M; j++) {
                if (std::fabs(a[i][j]) < 1e-300)
                    continue;
                const double theta = (a[j][j] - a[i][i]) / (2 * a[i][j]);
                const double t =
                    (theta >= 0 ? 1 : -1) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
                const double c = 1 / std::sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < M; k++) {
                    const double x = a[k][i], y = a[k][j];
                    a[k][i] = c * x - s * y;
                    a[k][j] = s * x + c * y;
                }
                for (int k = 0; k < M; k++) {
                    const double x = a[i][k], y = a[j][k];
                    a[i][k] = c * x - s * y;
                    a[j][k] = s * x + c * y;
                }
                for (int k = 0; k < M; k++) {
                    const double x = r.q[k][i], y = r.q[k][j];
                    r.q[k][i] = c * x - s * y;
                    r.q[k][j] = s * x + c * y;
                }
            }
    for (int m = 0; m < M; m++)
        r.lambda[m] = a[m][m];
    return r;
}

// Points that came together: u0, then the right-hand side, then the next `each` points' in the next
// slot.
struct Slots {
    const char *data;
    size_t slot_bytes, rhs_at; // rhs_at: in a slot
    int each, first, points;   // points: of the cube; first: that the first slot starts with
};

// Into the basis of eigenvectors, one array an unknown. A slot for each blockIdx.y.
static __global__ void rotate(Slots from, const __grid_constant__ Rotation rotation, double *v,
                              double *g)
{
    __shared__ double u[THREADS * M], f[THREADS * M];
    const int start = blockIdx.x * THREADS, first = from.first + blockIdx.y * from.each + start;
    const int count = min(min(THREADS, from.each - start), from.points - first);
    if (count <= 0)
        return;
    const char *slot = from.data + blockIdx.y * from.slot_bytes;
    const double *u0 = reinterpret_cast<const double *>(slot) + static_cast<size_t>(start) * M;
    const double *rhs =
        reinterpret_cast<const double *>(slot + from.rhs_at) + static_cast<size_t>(start) * M;
    for (int e = threadIdx.x; e < count * M; e += THREADS) {
        u[e] = u0[e];
        f[e] = rhs[e];
    }
    __syncthreads();
    if (threadIdx.x >= count)
        return;
    for (int m = 0; m < M; m++) {
        double sum_v = 0, sum_g = 0;
        for (int c = 0; c < M; c++) {
            sum_v += rotation.q[c][m] * u[threadIdx.x * M + c];
            sum_g += rotation.q[c][m] * f[threadIdx.x * M + c];
        }
        const size_t at = static_cast<size_t>(m) * from.points + first + threadIdx.x;
        v[at] = sum_v;
        g[at] = sum_g;
    }
}

// A value and the sweep that it comes from; both halves carry the number, since a packet may arrive
// in two.
using Packet = uint4;

static __device__ Packet load_packet(const Packet *from)
{
    Packet p;
    asm volatile("ld.relaxed.gpu.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(p.x), "=r"(p.y), "=r"(p.z), "=r"(p.w)
                 : "l"(from));
    return p;
}

static __device__ void store_packet(Packet *to, double value, unsigned sweep)
{
    asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(to),
                 "r"(static_cast<unsigned>(__double2loint(value))), "r"(sweep),
                 "r"(static_cast<unsigned>(__double2hiint(value))), "r"(sweep));
}

static __device__ bool is_of(const Packet &p, unsigned sweep)
{
    return p.y == sweep && p.w == sweep;
}

static __device__ double value_of(const Packet &p)
{
    return __hiloint2double(static_cast<int>(p.z), static_cast<int>(p.x));
}

struct Plan {
    int n, tiles, edge; // tiles along j and along k; lines along an edge of a full tile
    int pitch;          // elements of a line in shared memory
    int sweeps;
    double omega;
};

// Packets leave a block over its four edges: to the tiles at higher j, at higher k, at lower j, at
// lower k. One for each of `edge` lines and n points.
static __device__ Packet *edge_of(const Plan &plan, Packet *packets, int block, int side)
{
    return packets + (static_cast<size_t>(block) * 4 + side) * plan.edge * plan.n;
}

static __global__ void __launch_bounds__(TILE_THREADS_MAX)
    sweep_tiles(Plan plan, const __grid_constant__ Rotation rotation, double *v, const double *g,
                double *ordered_g, Packet *packets)
{
    extern __shared__ double shared[];
    const int n = plan.n, edge = plan.edge, pitch = plan.pitch;
    const int block = blockIdx.x, tiles = plan.tiles;
    const int m = block / (tiles * tiles), tj = block % tiles, tk = block / tiles % tiles;
    const int first_j = tj * edge, first_k = tk * edge;
    const int size_j = min(edge, n - first_j), size_k = min(edge, n - first_k);
    double *tile = shared, *halos = tile + edge * edge * pitch; // halos: of the four sides
    // What comes from global memory is on its way to shared memory AHEAD steps before it is used.
    Packet *const packets_j = reinterpret_cast<Packet *>(halos + 4 * edge * pitch),
                  *const packets_k = packets_j + AHEAD * edge;
    double *const g_ahead = reinterpret_cast<double *>(packets_k + AHEAD * edge);

    const double share = plan.omega / rotation.lambda[m], keep = 1 - plan.omega;
    const double cx = share * CX, cy = share * CY, cz = share * CZ;
    const size_t cube = static_cast<size_t>(n) * n * n;
    double *const v_m = v + m * cube;
    const double *const g_m = g + m * cube;
    auto line_at = [&](int j, int k) {
        return (static_cast<size_t>(first_k + k) * n + (first_j + j)) * n;
    };

    auto load_tile = [&](const double *from) {
        for (int line = threadIdx.x / 32; line < size_j * size_k; line += blockDim.x / 32) {
            const int j = line % size_j, k = line / size_j;
            for (int i = threadIdx.x % 32; i < n; i += 32)
                tile[(k * edge + j) * pitch + i] = from[line_at(j, k) + i];
        }
        __syncthreads();
    };
    const int j = threadIdx.x % edge, k = threadIdx.x / edge;
    const bool has_line = j < size_j && k < size_k;
    double *const mine = tile + (k * edge + j) * pitch;
    const int steps = n + size_j - 1 + size_k - 1, threads = blockDim.x;

    // g in the order in which the threads need it, so that a step reads whole lines.
    double *const my_g =
        ordered_g + static_cast<size_t>(block) * (n + 2 * (edge - 1)) * threads + threadIdx.x;
    load_tile(g_m);
    for (int step = 0; step < steps; step++) {
        const int i = step - j - k;
        if (has_line && i >= 0 && i < n)
            my_g[step * threads] = mine[i];
    }
    __syncthreads();
    load_tile(v_m);
    // The first sweep finds the initial state beyond the high edges; beyond the low ones it
    // receives before it uses. Outside the cube everything is 0.
    for (int e = threadIdx.x; e < 4 * edge * n; e += blockDim.x) {
        const int side = e / (edge * n), a = e / n % edge, i = e % n;
        double value = 0;
        if (side == 0 && first_j + size_j < n && a < size_k)
            value = v_m[line_at(size_j, a) + i];
        if (side == 1 && first_k + size_k < n && a < size_j)
            value = v_m[line_at(a, size_k) + i];
        halos[(side * edge + a) * pitch + i] = value;
    }
    __syncthreads();

    for (int sweep = 0; sweep < plan.sweeps; sweep++) {
        const bool up = sweep % 2 == 0;
        const unsigned number = static_cast<unsigned>(sweep) + 1;
        const int delay = up ? j + k : size_j - 1 - j + size_k - 1 - k;
        // Sides 0, 1: high j, high k; 2, 3: low j, low k. In front: what this sweep has passed.
        const bool edge_front_j = has_line && (up ? j == 0 : j == size_j - 1);
        const bool edge_front_k = has_line && (up ? k == 0 : k == size_k - 1);
        const bool edge_back_j = has_line && (up ? j == size_j - 1 : j == 0);
        const bool edge_back_k = has_line && (up ? k == size_k - 1 : k == 0);
        double *const front_j =
            edge_front_j ? halos + ((up ? 2 : 0) * edge + k) * pitch : mine + (up ? -pitch : pitch);
        double *const front_k = edge_front_k ? halos + ((up ? 3 : 1) * edge + j) * pitch
                                             : mine + (up ? -edge : edge) * pitch;
        const double *const back_j =
            edge_back_j ? halos + ((up ? 0 : 2) * edge + k) * pitch : mine + (up ? pitch : -pitch);
        const double *const back_k = edge_back_k ? halos + ((up ? 1 : 3) * edge + j) * pitch
                                                 : mine + (up ? edge : -edge) * pitch;
        const bool receives_j = edge_front_j && (up ? tj > 0 : tj < tiles - 1);
        const bool receives_k = edge_front_k && (up ? tk > 0 : tk < tiles - 1);
        const bool sends_j = edge_back_j && (up ? tj < tiles - 1 : tj > 0);
        const bool sends_k = edge_back_k && (up ? tk < tiles - 1 : tk > 0);
        const int side_j = up ? 0 : 2, side_k = up ? 1 : 3;
        const Packet *const from_j =
            receives_j ? edge_of(plan, packets, block + (up ? -1 : 1), side_j) + k * n : nullptr;
        const Packet *const from_k =
            receives_k ? edge_of(plan, packets, block + (up ? -tiles : tiles), side_k) + j * n
                       : nullptr;
        Packet *const to_j = edge_of(plan, packets, block, side_j) + k * n;
        Packet *const to_k = edge_of(plan, packets, block, side_k) + j * n;

        auto request = [&](int a, int step) {
            const int at = step - delay, i = up ? at : n - 1 - at; // at: in the order of the sweep
            if (has_line && at >= 0 && at < n) {
                __pipeline_memcpy_async(g_ahead + a * threads + threadIdx.x,
                                        my_g + (up ? step : steps - 1 - step) * threads,
                                        sizeof(double));
                if (receives_j)
                    __pipeline_memcpy_async(packets_j + a * edge + k, from_j + i, sizeof(Packet));
                if (receives_k)
                    __pipeline_memcpy_async(packets_k + a * edge + j, from_k + i, sizeof(Packet));
            }
            __pipeline_commit();
        };
        const int forth = up ? 1 : -1;
        double before = 0; // new value of the neighbour along i
        double old = 0;    // of the point that is prepared
        double prepared = 0;
        // All of a point's value but for the neighbours that are not there yet.
        auto prepare = [&](int at, int a) {
            if (!has_line || at < 0 || at >= n)
                return;
            const int i = up ? at : n - 1 - at;
            if (at == 0)
                old = mine[i];
            const double next = at < n - 1 ? mine[i + forth] : 0.0;
            prepared = fma(keep, old, share * g_ahead[a * threads + threadIdx.x]);
            prepared = fma(cx, next, prepared);
            prepared = fma(cy, back_j[i], prepared);
            prepared = fma(cz, back_k[i], prepared);
            prepared = fma(cx, before, prepared);
            old = next;
        };
#pragma unroll
        for (int a = 0; a < AHEAD; a++)
            request(a, a);
        __pipeline_wait_prior(AHEAD - 1);
        prepare(-delay, 0);
        for (int step = 0; step < steps; step += AHEAD) {
#pragma unroll
            for (int a = 0; a < AHEAD; a++) {
                const int at = step + a - delay, i = up ? at : n - 1 - at;
                __pipeline_wait_prior(AHEAD - 2);
                __syncthreads();
                if (has_line && at >= 0 && at < n) {
                    double from_front_j, from_front_k;
                    if (receives_j) {
                        Packet p = packets_j[a * edge + k];
                        while (!is_of(p, number))
                            p = load_packet(from_j + i);
                        front_j[i] = from_front_j = value_of(p);
                    } else {
                        from_front_j = front_j[i];
                    }
                    if (receives_k) {
                        Packet p = packets_k[a * edge + j];
                        while (!is_of(p, number))
                            p = load_packet(from_k + i);
                        front_k[i] = from_front_k = value_of(p);
                    } else {
                        from_front_k = front_k[i];
                    }
                    before = fma(cz, from_front_k, fma(cy, from_front_j, prepared));
                    mine[i] = before;
                    if (sends_j)
                        store_packet(to_j + i, before, number);
                    if (sends_k)
                        store_packet(to_k + i, before, number);
                }
                // The neighbours behind change no sooner than a step after this point's.
                prepare(at + 1, (a + 1) % AHEAD);
                request(a, step + a + AHEAD);
            }
        }
        __syncthreads();
    }
    for (int line = threadIdx.x / 32; line < size_j * size_k; line += blockDim.x / 32) {
        const int lj = line % size_j, lk = line / size_j;
        for (int i = threadIdx.x % 32; i < n; i += 32)
            v_m[line_at(lj, lk) + i] = tile[(lk * edge + lj) * pitch + i];
    }
}

// The way for any device: the points of one plane i + j + k.
static __global__ void update_plane(int n, int plane, double omega,
                                    const __grid_constant__ Rotation rotation, double *v,
                                    const double *g)
{
    const int column = blockIdx.x * THREADS + threadIdx.x, m = blockIdx.y;
    const int j = column % n, k = column / n, i = plane - j - k;
    if (k >= n || i < 0 || i >= n)
        return;
    const size_t at = ((static_cast<size_t>(m) * n + k) * n + j) * n + i;
    const size_t row = n, square = static_cast<size_t>(n) * n;
    double sum = g[at];
    sum += CX * ((i > 0 ? v[at - 1] : 0.0) + (i < n - 1 ? v[at + 1] : 0.0));
    sum += CY * ((j > 0 ? v[at - row] : 0.0) + (j < n - 1 ? v[at + row] : 0.0));
    sum += CZ * ((k > 0 ? v[at - square] : 0.0) + (k < n - 1 ? v[at + square] : 0.0));
    v[at] = (1 - omega) * v[at] + omega / rotation.lambda[m] * sum;
}

// Squares of the residuals, turned back; the block that is done last adds up what all have found.
static __global__ void residual(int n, const __grid_constant__ Rotation rotation, const double *v,
                                const double *g, double *squares, unsigned *done, double *out)
{
    __shared__ double parts[THREADS / 32][M];
    __shared__ bool is_last;
    const int points = n * n * n, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    double sums[M] = {};
    for (int p = blockIdx.x * THREADS + threadIdx.x; p < points; p += gridDim.x * THREADS) {
        const int i = p % n, j = p / n % n, k = p / n / n;
        double d[M];
#pragma unroll
        for (int m = 0; m < M; m++) {
            const size_t at = static_cast<size_t>(m) * points + p;
            const size_t square = static_cast<size_t>(n) * n;
            double sum = g[at] - rotation.lambda[m] * v[at];
            sum += CX * ((i > 0 ? v[at - 1] : 0.0) + (i < n - 1 ? v[at + 1] : 0.0));
            sum += CY * ((j > 0 ? v[at - n] : 0.0) + (j < n - 1 ? v[at + n] : 0.0));
            sum += CZ * ((k > 0 ? v[at - square] : 0.0) + (k < n - 1 ? v[at + square] : 0.0));
            d[m] = sum;
        }
#pragma unroll
        for (int r = 0; r < M; r++) {
            double value = 0;
#pragma unroll
            for (int m = 0; m < M; m++)
                value += rotation.q[r][m] * d[m];
            sums[r] += value * value;
        }
    }
#pragma unroll
    for (int r = 0; r < M; r++) {
        for (int step = 16; step > 0; step /= 2)
            sums[r] += __shfl_xor_sync(~0u, sums[r], step);
        if (lane == 0)
            parts[warp][r] = sums[r];
    }
    __syncthreads();
    if (threadIdx.x < M) {
        double sum = 0;
        for (int w = 0; w < THREADS / 32; w++)
            sum += parts[w][threadIdx.x];
        squares[blockIdx.x * M + threadIdx.x] = sum;
        __threadfence();
    }
    __syncthreads();
    if (threadIdx.x == 0)
        is_last = atomicAdd(done, 1u) == gridDim.x - 1;
    __syncthreads();
    if (!is_last || threadIdx.x >= 32 * M)
        return;
    __threadfence();
    double sum = 0;
    for (unsigned b = lane; b < gridDim.x; b += 32)
        sum += __ldcg(squares + b * M + warp);
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(~0u, sum, step);
    if (lane == 0)
        out[warp] = sqrt(sum / points);
}

// The fewest tiles whose blocks can all be resident. False if there are none.
static bool plan_tiles(int n, int processors, Plan *ret, size_t *ret_shared)
{
    int device, limit;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    for (int tiles = 1; tiles <= 8; tiles++) {
        const int edge = (n + tiles - 1) / tiles;
        if ((tiles - 1) * edge >= n)
            continue;
        const int pitch = n + n % 2; // lines that start an odd number apart, less the skew of one
        const int threads = (edge * edge + 31) / 32 * 32;
        const size_t bytes = static_cast<size_t>(edge) * (edge + 4) * pitch * sizeof(double) +
                             AHEAD * (2 * edge * sizeof(Packet) + threads * sizeof(double));
        if (bytes > static_cast<size_t>(limit) || threads > TILE_THREADS_MAX)
            continue;
        int resident;
        CHECK(cudaFuncSetAttribute(sweep_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(bytes)));
        CHECK(
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, sweep_tiles, threads, bytes));
        if (static_cast<long long>(resident) * processors < M * tiles * tiles)
            continue;
        ret->n = n;
        ret->tiles = tiles;
        ret->edge = edge;
        ret->pitch = pitch;
        *ret_shared = bytes;
        return true;
    }
    return false;
}

// Both arrays through pinned slots; they are rotated on the way.
static void bring(int points, const Rotation &rotation, const double *u0, const double *rhs,
                  double *v, double *g)
{
    const size_t each = PIECE_POINTS, half = each * M * sizeof(double);
    const size_t pieces = (points + each - 1) / each;
    const int threads = transfer::threads_for(8);
    cudaStream_t streams[STREAMS];
    unsigned turn = 0;
    transfer::pipeline(
        transfer::Shape{threads, 2 * threads, 2 * half}, pieces,
        [&] {
            for (cudaStream_t &stream : streams)
                CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        },
        [&](size_t piece, char *slot) {
            const size_t left = points - piece * each, count = left < each ? left : each;
            memcpy(slot, u0 + piece * each * M, count * M * sizeof(double));
            memcpy(slot + half, rhs + piece * each * M, count * M * sizeof(double));
        },
        [&](size_t piece, size_t count, char *slot) {
            cudaStream_t stream = streams[turn++ % STREAMS];
            const Slots from = {
                slot, 2 * half, half, PIECE_POINTS, static_cast<int>(piece) * PIECE_POINTS, points};
            const dim3 grid(PIECE_POINTS / THREADS, static_cast<unsigned>(count));
            rotate<<<grid, THREADS, 0, stream>>>(from, rotation, v, g);
            CHECK(cudaGetLastError());
            return stream;
        },
        [](size_t, char *) {});
    for (cudaStream_t &stream : streams)
        CHECK(cudaStreamDestroy(stream));
}

extern "C" void solution_compute(int n, int iters, int omega_milli, const double *u0,
                                 const double *rhs, double *residual_out)
{
    const Rotation rotation = diagonalise();
    const int points = n * n * n;
    const size_t elements = static_cast<size_t>(points) * M, bytes = elements * sizeof(double);
    int device, processors;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    Plan plan = {};
    size_t shared_bytes = 0;
    const bool tiled = plan_tiles(n, processors, &plan, &shared_bytes);
    plan.sweeps = 2 * iters;
    plan.omega = omega_milli / 1000.0;
    const int tile_blocks = tiled ? M * plan.tiles * plan.tiles : 0;
    const size_t packet_bytes =
        static_cast<size_t>(tile_blocks) * 4 * plan.edge * n * sizeof(Packet);
    const int most = (points + THREADS - 1) / THREADS,
              blocks = most < processors ? most : processors;
    const bool small = 2 * bytes < transfer::RING_FROM;
    const int tile_threads = (plan.edge * plan.edge + 31) / 32 * 32;
    const size_t ordered_bytes = static_cast<size_t>(tile_blocks) * (n + 2 * (plan.edge - 1)) *
                                 tile_threads * sizeof(double);
    // Packets, the counter; v, g; g in order; u0 and rhs, if they are to be copied; squares, the
    // answer.
    const size_t v_at = (packet_bytes + 256 + 255) / 256 * 256, ordered_at = v_at + 2 * bytes,
                 inputs_at = ordered_at + ordered_bytes,
                 squares_at = inputs_at + (small ? 2 * bytes : 0);
    char *memory;
    CHECK(cudaMalloc(&memory, squares_at + (static_cast<size_t>(blocks) + 1) * M * sizeof(double)));
    unsigned *done = reinterpret_cast<unsigned *>(memory + packet_bytes);
    double *v = reinterpret_cast<double *>(memory + v_at), *g = v + elements;
    double *squares = reinterpret_cast<double *>(memory + squares_at);
    double *out = squares + static_cast<size_t>(blocks) * M;
    CHECK(cudaMemsetAsync(memory, 0, packet_bytes + 256, nullptr));
    if (small) {
        char *inputs = memory + inputs_at;
        const transfer::Array in[] = {{inputs, u0, bytes}, {inputs + bytes, rhs, bytes}};
        transfer::upload(in, 2);
        rotate<<<most, THREADS>>>(Slots{inputs, 0, bytes, points, 0, points}, rotation, v, g);
        CHECK(cudaGetLastError());
    } else {
        bring(points, rotation, u0, rhs, v, g);
    }
    if (tiled && iters > 0) {
        Packet *packets = reinterpret_cast<Packet *>(memory);
        double *ordered_g = reinterpret_cast<double *>(memory + ordered_at);
        void *arguments[] = {&plan,   const_cast<Rotation *>(&rotation), &v, &g, &ordered_g,
                             &packets};
        CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(sweep_tiles),
                                          dim3(tile_blocks), dim3(tile_threads), arguments,
                                          shared_bytes, nullptr));
    } else {
        const dim3 grid((n * n + THREADS - 1) / THREADS, M);
        const int planes = 3 * n - 2;
        for (int step = 0; step < 2 * planes * iters; step++) {
            const int s = step % (2 * planes);
            update_plane<<<grid, THREADS>>>(n, s < planes ? s : 2 * planes - 1 - s, plan.omega,
                                            rotation, v, g);
            CHECK(cudaGetLastError());
        }
    }
    residual<<<blocks, THREADS>>>(n, rotation, v, g, squares, done, out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(residual_out, out, M * 8, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(memory));
}
