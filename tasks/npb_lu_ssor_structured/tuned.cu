// SSOR on a cube: five scalar problems, each swept by tiles that solve their part of a triangular
// system by a short series and pass edges to each other.
//
// Approach: the 5x5 matrix is symmetric and the same everywhere and neighbours enter by plain
// factors, so in the basis of its eigenvectors the five unknowns are independent scalar problems. A
// sweep in order is the solution of a triangular system, and that system is so diagonal that no
// order is needed to solve it: with the lines along i solved exactly, lines of even and of odd
// j + k take turns, and each turn leaves at most 0.093 of what was wrong, at every omega up to 1.9.
// Tiles of lines, one a block, make five or six turns, then exchange their edges, five times a
// sweep: that leaves at worst 2e-14 of what a sweep changes (simulated for the largest omega and
// the smallest eigenvalue, tiles, chunks and exchanges included), far below the tolerance. So the
// values are those of the sweep in order but for rounding. v, its neighbours'
// edges and the right-hand side stay in shared memory over all sweeps; a thread keeps in registers
// what the sweep does not change. Edges go through global memory in packets of half a value and the
// number of the exchange: whoever finds the number or a later one has the value, and no fence or
// flag is needed. Blocks wait for each other only through packets: all must be resident, so the
// launch is cooperative. Where tiles do not fit into shared memory, one kernel for each plane
// i + j + k. Larger inputs pass through pinned slots and are rotated on the way.
//
// What bounds it: bringing the arrays (0.4 of 0.9 ms at small, 0.8 of 1.4, 1.4 of 2.7) and the
// allocation; a sweep takes 20, 25 and 44 us.
//
// Tried: sweeps in order, a point a line and step, packets requested 4 or 8 steps before their use
// (54, 91 and 127 us a sweep with 8: tiles wait for each other's first values), also with one wait
// for the last of these (equal at small and medium, a tenth slower at large); four exchanges of
// seven turns (equal); slots of 40 KB at small instead of plain copies (a fifth slower).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores: small 0.89 ms, medium 1.42 ms, large
// 2.71 ms (9 %, 14 % and 16 % of bytes, 16 ns a step and 20 us; sweeps in order, beside it: 1.36,
// 2.40 and 3.64 ms; naive 5.0 to 5.7, 11 to 12 and 20 ms).
#include "transfer.cuh"

#include <cmath>

constexpr int M = 5;        // unknowns at a point
constexpr int CHUNK = 8;    // points of a line that a thread has
constexpr int ROUNDS = 5;   // exchanges of a sweep
constexpr int EDGE_MIN = 7; // of a tile that has neighbours
constexpr int TILE_THREADS_MAX = 768;
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

template <int value_> struct Constant {
    static constexpr int value = value_;
};

// A value and the exchange that it comes from; both halves carry the number, since a packet may
// arrive in two.
using Packet = uint4;

static __device__ Packet load_packet(const Packet *from)
{
    Packet p;
    asm volatile("ld.relaxed.gpu.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(p.x), "=r"(p.y), "=r"(p.z), "=r"(p.w)
                 : "l"(from));
    return p;
}

static __device__ void store_packet(Packet *to, double value, unsigned number)
{
    asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(to),
                 "r"(static_cast<unsigned>(__double2loint(value))), "r"(number),
                 "r"(static_cast<unsigned>(__double2hiint(value))), "r"(number));
}

// Of this exchange or a later one, which holds what is nearer to the truth.
static __device__ bool is_from(const Packet &p, unsigned number)
{
    return p.y == p.w && p.y >= number;
}

static __device__ double value_of(const Packet &p)
{
    return __hiloint2double(static_cast<int>(p.z), static_cast<int>(p.x));
}

struct Plan {
    int n, tiles, edge; // tiles along j and along k; lines along an edge of a full tile
    int half_passes;    // between exchanges
    int sweeps;
    double omega;
    __host__ __device__ int width() const
    {
        return (edge + 3) / 2;
    }
    __host__ __device__ int pairs() const
    {
        return (edge * edge + 1) / 2;
    }
    // Lines start an odd number of elements apart. Those of v have a 0 before them.
    __host__ __device__ int pitch() const
    {
        return (n + 1) | 1;
    }
    __host__ __device__ int g_pitch() const
    {
        return n | 1;
    }
    __host__ __device__ int v_elements() const
    {
        return 2 * (edge + 2) * width() * pitch() + 1;
    }
    __host__ __device__ int g_elements() const
    {
        return 2 * pairs() * g_pitch() + CHUNK;
    }
    __host__ __device__ int threads() const
    {
        return pairs() * ((n + CHUNK - 1) / CHUNK);
    }
};

// Packets leave a block over its four edges: to the tiles at higher j, at higher k, at lower j, at
// lower k. One for each of `edge` lines and n points.
static __device__ Packet *edge_of(const Plan &plan, Packet *packets, int block, int side)
{
    return packets + (static_cast<size_t>(block) * 4 + side) * plan.edge * plan.n;
}

// A sweep is a triangular system: v = d + cx v[i-1] + cy v[j-1] + cz v[k-1], where d holds all
// that is known before it. Its lines are solved along i by turns, all with even j + k, then all
// with odd j + k, from what the others held before; each turn shrinks what is wrong to 0.093 of it
// or less, whatever omega, until nothing is left but rounding.
static __global__ void __launch_bounds__(TILE_THREADS_MAX)
    sweep_tiles(Plan plan, const __grid_constant__ Rotation rotation, double *v, const double *g,
                Packet *packets)
{
    extern __shared__ double shared[];
    const int n = plan.n, edge = plan.edge, tiles = plan.tiles, width = plan.width();
    const int pitch = plan.pitch(), g_pitch = plan.g_pitch(), pairs = plan.pairs();
    const int block = blockIdx.x;
    const int m = block / (tiles * tiles), tj = block % tiles, tk = block / tiles % tiles;
    const int first_j = tj * edge, first_k = tk * edge;
    const int size_j = min(edge, n - first_j), size_k = min(edge, n - first_k);
    // The tile between lines of its neighbours; j and k count from 1. Lines with even j + k lie
    // before the others.
    double *const tile = shared + 1, *const tile_g = shared + plan.v_elements();
    auto line_of = [&](int j, int k) {
        return (((j + k) % 2 * (edge + 2) + k) * width + j / 2) * pitch;
    };

    const double share = plan.omega / rotation.lambda[m], keep = 1 - plan.omega;
    const double cx = share * CX, cy = share * CY, cz = share * CZ;
    const size_t cube = static_cast<size_t>(n) * n * n;
    double *const v_m = v + m * cube;
    const double *const g_m = g + m * cube;
    auto line_at = [&](int j, int k) {
        return (static_cast<size_t>(first_k + k - 1) * n + (first_j + j - 1)) * n;
    };

    for (int e = threadIdx.x; e < plan.v_elements() + plan.g_elements(); e += blockDim.x)
        shared[e] = 0;
    __syncthreads();
    for (int line = threadIdx.x / 32; line < (size_j + 2) * (size_k + 2); line += blockDim.x / 32) {
        const int j = line % (size_j + 2), k = line / (size_j + 2);
        const bool inside_j = j > 0 && j <= size_j, inside_k = k > 0 && k <= size_k;
        if (!(inside_j || inside_k) || first_j + j < 1 || first_j + j > n || first_k + k < 1 ||
            first_k + k > n)
            continue;
        for (int i = threadIdx.x % 32; i < n; i += 32)
            tile[line_of(j, k) + i] = v_m[line_at(j, k) + i];
        if (inside_j && inside_k) {
            const int q =
                edge % 2 ? ((k - 1) * edge + j - 1) / 2 : (k - 1) * (edge / 2) + (j - 1) / 2;
            for (int i = threadIdx.x % 32; i < n; i += 32)
                tile_g[((j + k) % 2 * pairs + q) * g_pitch + i] = g_m[line_at(j, k) + i];
        }
    }
    __syncthreads();

    // A thread has CHUNK points of two lines, one with even and one with odd j + k.
    const int pair = threadIdx.x % pairs, first_i = threadIdx.x / pairs * CHUNK;
    int line_j[2], line_k[2], count[2];
#pragma unroll
    for (int p = 0; p < 2; p++) {
        const int in_row = edge % 2 ? (2 * pair + p) % edge : 0;
        const int k = edge % 2 ? (2 * pair + p) / edge : pair / (edge / 2);
        const int j = edge % 2 ? in_row : 2 * (pair % (edge / 2)) + (p + k) % 2;
        line_j[p] = j + 1;
        line_k[p] = k + 1;
        count[p] = j < size_j && k < size_k ? max(0, min(CHUNK, n - first_i)) : 0;
    }

    for (int sweep = 0; sweep < plan.sweeps; sweep++) {
        const bool up = sweep % 2 == 0;
        const int forth = up ? 1 : -1;
        double d[2][CHUNK], before[2]; // before: of the point before the chunk
        int here[2], front_j[2], front_k[2], source[2];
#pragma unroll
        for (int p = 0; p < 2; p++) {
            const int j = line_j[p], k = line_k[p];
            here[p] = line_of(j, k) + first_i;
            front_j[p] = line_of(j - forth, k) + first_i;
            front_k[p] = line_of(j, k - forth) + first_i;
            source[p] = here[p] + (up ? -1 : count[p]);
            if (count[p] > 0) {
                before[p] = tile[source[p]];
                const double *const old = tile + here[p], *const next = old + forth,
                                    *const back_j = tile + line_of(j + forth, k) + first_i,
                                    *const back_k = tile + line_of(j, k + forth) + first_i,
                                    *const mine_g = tile_g + (p * pairs + pair) * g_pitch + first_i;
#pragma unroll
                for (int x = 0; x < CHUNK; x++) { // what lies beyond the end is not used
                    double sum = fma(keep, old[x], share * mine_g[x]);
                    sum = fma(cx, next[x], sum);
                    sum = fma(cy, back_j[x], sum);
                    d[p][x] = fma(cz, back_k[x], sum);
                }
            }
        }
        __syncthreads();

        auto solve = [&](auto parity) {
            constexpr int p = decltype(parity)::value;
            if (count[p] > 0) {
                const double *const at_j = tile + front_j[p], *const at_k = tile + front_k[p];
                double *const mine = tile + here[p];
                double sum[CHUNK];
#pragma unroll
                for (int x = 0; x < CHUNK; x++)
                    sum[x] = fma(cz, at_k[x], fma(cy, at_j[x], d[p][x]));
                double value = before[p];
                if (up) {
#pragma unroll
                    for (int x = 0; x < CHUNK; x++)
                        if (x < count[p])
                            mine[x] = value = fma(cx, value, sum[x]);
                } else {
#pragma unroll
                    for (int x = CHUNK - 1; x >= 0; x--)
                        if (x < count[p])
                            mine[x] = value = fma(cx, value, sum[x]);
                }
            }
            // The other lines rest now.
            if (count[1 - p] > 0)
                before[1 - p] = tile[source[1 - p]];
        };
        // Sides 0, 1: high j, high k; 2, 3: low j, low k.
        const int side_j = up ? 0 : 2, side_k = up ? 1 : 3;
        const bool receives_j = up ? tj > 0 : tj < tiles - 1,
                   receives_k = up ? tk > 0 : tk < tiles - 1;
        const bool sends_j = up ? tj < tiles - 1 : tj > 0, sends_k = up ? tk < tiles - 1 : tk > 0;
        const Packet *const from_j = edge_of(plan, packets, block + (up ? -1 : 1), side_j);
        const Packet *const from_k = edge_of(plan, packets, block + (up ? -tiles : tiles), side_k);
        Packet *const to_j = edge_of(plan, packets, block, side_j);
        Packet *const to_k = edge_of(plan, packets, block, side_k);
        int turn = 0;
        for (int round = 0; round < ROUNDS; round++) {
            for (int h = 0; h < plan.half_passes; h++, turn ^= 1) {
                if (turn == 0)
                    solve(Constant<0>());
                else
                    solve(Constant<1>());
                __syncthreads();
            }
            const unsigned number = static_cast<unsigned>(sweep * ROUNDS + round) + 1;
            for (int e = threadIdx.x; e < edge * n; e += blockDim.x) {
                const int a = e / n + 1, i = e % n;
                if (sends_j && a <= size_k)
                    store_packet(to_j + e, tile[line_of(up ? size_j : 1, a) + i], number);
                if (sends_k && a <= size_j)
                    store_packet(to_k + e, tile[line_of(a, up ? size_k : 1) + i], number);
            }
            for (int e = threadIdx.x; e < edge * n; e += blockDim.x) {
                const int a = e / n + 1, i = e % n;
                const bool wants_j = receives_j && a <= size_k, wants_k = receives_k && a <= size_j;
                Packet p_j = {}, p_k = {};
                if (wants_j)
                    p_j = load_packet(from_j + e);
                if (wants_k)
                    p_k = load_packet(from_k + e);
                if (wants_j) {
                    while (!is_from(p_j, number))
                        p_j = load_packet(from_j + e);
                    tile[line_of(up ? 0 : size_j + 1, a) + i] = value_of(p_j);
                }
                if (wants_k) {
                    while (!is_from(p_k, number))
                        p_k = load_packet(from_k + e);
                    tile[line_of(a, up ? 0 : size_k + 1) + i] = value_of(p_k);
                }
            }
            __syncthreads();
        }
    }
    for (int line = threadIdx.x / 32; line < size_j * size_k; line += blockDim.x / 32) {
        const int j = line % size_j + 1, k = line / size_j + 1;
        for (int i = threadIdx.x % 32; i < n; i += 32)
            v_m[line_at(j, k) + i] = tile[line_of(j, k) + i];
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

// The most tiles whose blocks are resident, one a processor. False if there are none.
static bool plan_tiles(int n, int processors, Plan *ret, size_t *ret_shared)
{
    int device, limit;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    for (int tiles = 8; tiles >= 1; tiles--) {
        Plan plan = {};
        plan.n = n;
        plan.tiles = tiles;
        plan.edge = (n + tiles - 1) / tiles;
        if (tiles > 1 && (plan.edge < EDGE_MIN || (tiles - 1) * plan.edge >= n))
            continue;
        plan.half_passes = plan.edge < 10 ? 6 : 5;
        const int threads = (plan.threads() + 31) / 32 * 32;
        const size_t bytes =
            static_cast<size_t>(plan.v_elements() + plan.g_elements()) * sizeof(double);
        if (bytes > static_cast<size_t>(limit) || threads > TILE_THREADS_MAX)
            continue;
        int resident;
        CHECK(cudaFuncSetAttribute(sweep_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(bytes)));
        CHECK(
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, sweep_tiles, threads, bytes));
        if (M * tiles * tiles > processors * (tiles > 1 ? min(resident, 1) : resident))
            continue;
        *ret = plan;
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
    const int tile_threads = (plan.threads() + 31) / 32 * 32;
    // Packets, the counter; v, g; u0 and rhs, if they are to be copied; squares, the answer.
    const size_t v_at = (packet_bytes + 256 + 255) / 256 * 256, inputs_at = v_at + 2 * bytes,
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
    if (tiled) {
        Packet *packets = reinterpret_cast<Packet *>(memory);
        void *arguments[] = {&plan, const_cast<Rotation *>(&rotation), &v, &g, &packets};
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
