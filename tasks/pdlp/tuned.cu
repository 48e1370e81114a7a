// Primal-dual steps without barriers of the grid: blocks that own columns and rows send each other
// tagged values, each to a place of its own in the receiver's inbox.
//
// Approach: each block owns some columns and some rows of the matrix, with everything about them in
// shared memory for all iterations. Each entry of the matrix has two places in global memory, one
// in the inbox of the block that owns its row, for the extrapolated point, and one in that of the
// block that owns its column, for the dual iterate. The last bit of a value says whether its
// iteration is odd (with two bits given away the reference on the host is still judged right, at
// medium and large); a receiver looks until all of its places carry the right bit. That needs no
// barrier, and no value is overwritten too early: a block sends its next values only when it has
// the answers to all its last ones. What a block sends to another lies together, in the order in
// which both keep the entries: a warp looks at one line of 128 bytes where values kept by column or
// row would be 32 scattered words, and sends to a few sectors. The products of a line lie together
// in shared memory, padded with zeros to quads. Rows, inboxes and the order of the entries are made
// on the device. Programs that fit one block run in one, which keeps its entries in registers,
// longest lines first, so that a warp has lines of like length.
//
// What bounds it: at medium the way of a value from block to block and the sums, 1.5 us twice an
// iteration; at large also the stores, 400000 of four bytes an iteration. With one block the bank
// conflicts of random words of shared memory.
//
// Tried: one place a value, looked at by all who need it (22 % slower at medium, 70 % at large);
// one block that walks lists of entries (3.6 times as long at small); pairs of value and iteration
// instead of the bit (equal at medium, an eighth slower at large). Before the inboxes: waiting 20
// to 200 ns before looking again (within a twentieth); barriers of the grid in place of messages,
// as in the ladder (four times slower at medium).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores (calls with cold caches, as an
// evaluation makes them, by bench/variants): small 0.31 ms, medium 5.2 ms, large 8.1 ms. The call
// floor is 12 % and 2 % of the first two. Naive: 5.1, 17 and 28 ms.
#include "check.cuh"

#include <cstring>
#include <vector>

constexpr int AT_ONCE = 2;      // values that a thread looks for at the same time
constexpr int HEAVY = 12;       // quads from which a warp sums a line
constexpr int HEAVY_ALONE = 16; // entries from which a warp sums a line
constexpr int HEAVY_LIST = 256; // heavy lines of a block that are remembered; others count as light
constexpr int FEW_ENTRIES = 480; // of a block and direction, up to which 512 threads do
constexpr int SCAN_THREADS = 1024;

constexpr int ALONE_MAX = 8192; // entries up to which one block does it all
constexpr int ALONE_THREADS = 896, ALONE_WARPS = ALONE_THREADS / 32;
constexpr int COLUMN_MOST = 12; // entries of a column that its thread keeps in registers
constexpr int ROW_MOST = 8;     // of a row in each of its lanes
constexpr int ROW_LANES = 4;    // of a row of up to ROW_LANES * ROW_MOST entries; else a warp
constexpr int BINS = 64;

constexpr size_t ARENA = 1000 * 1000; // bytes

// Enough for small calls, which would otherwise pay more for an allocation than for their
// transfers.
static __device__ __align__(256) char arena[ARENA];

struct Side {         // one of the two directions of the matrix, on the device
    int lines;        // columns or rows
    const int *start; // of each line's entries
};

// An entry as the block that owns its column, or its row, sees it.
struct __align__(16) Entry
{
    float value;
    int line;  // its column or row, from the block's first one
    int place; // within the line; later where its product goes
    int slot;  // in the other direction's inbox
};

// A value whose last bit says whether the iteration is odd.
typedef unsigned Word;

struct Program {
    int n, m, nnz, iters;
    Side columns, rows;
    const int *row_of; // each entry, by columns
    const float *value;
    const float *obj, *var_lb, *var_ub, *con_lb, *con_ub;
    float tau, sigma, step;
    const int *column_bound, *row_bound; // first line of each block
    Entry *of_columns, *of_rows;         // in the order of the inboxes
    Word *to_columns, *to_rows;          // the inboxes
    float *x, *average, *ahead, *y;      // these for blocks whose share does not fit shared memory
    int *column_quads, *row_quads;
    float4 *column_products, *row_products;
    int shared_bytes;
};

static __device__ int lane_id()
{
    return threadIdx.x % 32;
}

// start[i] = sum of the counts before i, up to start[m]. Called by all threads of a block.
template <int THREADS>
static __device__ void scan_in_block(int m, const int *count, int *start, int *of_warp)
{
    constexpr int WARPS = THREADS / 32;
    const int each = (m + THREADS - 1) / THREADS, tid = threadIdx.x, lane = lane_id();
    const int from = tid * each < m ? tid * each : m, to = from + each < m ? from + each : m;
    int sum = 0;
    for (int i = from; i < to; i++)
        sum += count[i];
    int upto = sum;
    for (int d = 1; d < 32; d *= 2) {
        const int before = __shfl_up_sync(~0u, upto, d);
        if (lane >= d)
            upto += before;
    }
    if (lane == 31)
        of_warp[tid / 32] = upto;
    __syncthreads();
    if (tid < 32) {
        int all = lane < WARPS ? of_warp[lane] : 0;
        for (int d = 1; d < 32; d *= 2) {
            const int before = __shfl_up_sync(~0u, all, d);
            if (lane >= d)
                all += before;
        }
        if (lane < WARPS)
            of_warp[lane] = all;
    }
    __syncthreads();
    int at = upto - sum + (tid >= 32 ? of_warp[tid / 32 - 1] : 0);
    for (int i = from; i < to; i++) {
        start[i] = at;
        at += count[i];
    }
    if (tid == THREADS - 1)
        start[m] = at;
    __syncthreads();
}

// --- The order of the entries ---

static __global__ void count_rows(int nnz, const int *row_of, int *count, int *rank)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < nnz)
        rank[e] = atomicAdd(&count[row_of[e]], 1);
}

// First line of block b's share: lines weigh 2, entries 1.
static __device__ int share_begin(const Side &side, int b, int blocks)
{
    const long long total = side.start[side.lines] + 2LL * side.lines, bound = total * b / blocks;
    int low = 0, high = side.lines;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (side.start[middle] + 2LL * middle < bound)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Where rows start, and which lines each block owns. One block.
static __global__ void __launch_bounds__(SCAN_THREADS)
    share_out(Side columns, Side rows, const int *row_count, int *row_start, int blocks,
              int *column_bound, int *row_bound)
{
    __shared__ int of_warp[SCAN_THREADS / 32];
    scan_in_block<SCAN_THREADS>(rows.lines, row_count, row_start, of_warp);
    for (int b = threadIdx.x; b <= blocks; b += SCAN_THREADS) {
        column_bound[b] = share_begin(columns, b, blocks);
        row_bound[b] = share_begin(Side{rows.lines, row_start}, b, blocks);
    }
}

// The last block that starts at or before this line.
static __device__ int owner(const int *bound, int blocks, int line)
{
    int low = 0, high = blocks - 1;
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (bound[middle] <= line)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

constexpr int COLUMN_LANES = 4;

// A group: the entries whose column one block owns, and whose row another or the same one does.
static __global__ void count_groups(Program p, int blocks, int *count, int *rank)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x, j = t / COLUMN_LANES;
    if (j >= p.n)
        return;
    const int c = owner(p.column_bound, blocks, j), to = p.columns.start[j + 1];
    for (int e = p.columns.start[j] + t % COLUMN_LANES; e < to; e += COLUMN_LANES)
        rank[e] = atomicAdd(&count[c * blocks + owner(p.row_bound, blocks, p.row_of[e])], 1);
}

// Where each group starts in the inbox of block blockIdx.x: of its columns, from all owners of rows
// (blockIdx.y = 0), or of its rows, from all owners of columns. A warp.
static __global__ void place_groups(Program p, const int *count, int *in_columns, int *in_rows)
{
    const int b = blockIdx.x, blocks = gridDim.x, lane = threadIdx.x;
    const bool rows = blockIdx.y;
    int at = rows ? p.rows.start[p.row_bound[b]] : p.columns.start[p.column_bound[b]];
    int *const start = (rows ? in_rows : in_columns) + b * blocks;
    for (int first = 0; first < blocks; first += 32) {
        const int other = first + lane;
        const int mine = other < blocks ? count[rows ? other * blocks + b : b * blocks + other] : 0;
        int upto = mine;
        for (int d = 1; d < 32; d *= 2) {
            const int before = __shfl_up_sync(~0u, upto, d);
            if (lane >= d)
                upto += before;
        }
        if (other < blocks)
            start[other] = at + upto - mine;
        at += __shfl_sync(~0u, upto, 31);
    }
}

static __global__ void fill_entries(Program p, int blocks, const int *row_rank, const int *rank,
                                    const int *in_columns, const int *in_rows)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x, j = t / COLUMN_LANES;
    if (j >= p.n)
        return;
    const int c = owner(p.column_bound, blocks, j), from = p.columns.start[j],
              to = p.columns.start[j + 1];
    for (int e = from + t % COLUMN_LANES; e < to; e += COLUMN_LANES) {
        const int i = p.row_of[e], r = owner(p.row_bound, blocks, i);
        const int of_column = in_columns[c * blocks + r] + rank[e],
                  of_row = in_rows[r * blocks + c] + rank[e];
        p.of_columns[of_column] = Entry{p.value[e], j - p.column_bound[c], e - from, of_row};
        p.of_rows[of_row] = Entry{p.value[e], i - p.row_bound[r], row_rank[e], of_column};
    }
}

// --- What blocks keep ---

// Hands out shared memory, and copies of global arrays in it while they fit. Where all are known to
// fit, the compiler knows that they are in shared memory.
template <bool ALL_FITS, int THREADS> struct Room {
    char *memory;
    int used, most;
    template <typename T> __device__ T *take(int count, T *otherwise)
    {
        const int bytes = (count * static_cast<int>(sizeof(T)) + 15) / 16 * 16;
        if (!ALL_FITS &&
            (count > (most - used) / static_cast<int>(sizeof(T)) || used + bytes > most))
            return otherwise;
        T *const here = reinterpret_cast<T *>(memory + used);
        used += bytes;
        return here;
    }
    template <typename T> __device__ const T *copy(const T *from, int count)
    {
        T *const here = take<T>(count, nullptr);
        if (!ALL_FITS && !here)
            return from;
        for (int i = threadIdx.x; i < count; i += THREADS)
            here[i] = from[i];
        return here;
    }
    // For arrays that will be written to.
    template <typename T> __device__ T *bring(T *from, int count)
    {
        T *const here = take<T>(count, from);
        if (here != from)
            for (int i = threadIdx.x; i < count; i += THREADS)
                here[i] = from[i];
        return here;
    }
};

struct State {
    float *x, *average, *y;
    const float *obj, *var_lb, *var_ub, *con_lb, *con_ub;
};

template <bool ALL_FITS, int THREADS>
static __device__ State take_state(Room<ALL_FITS, THREADS> *room, const Program &p, int column,
                                   int columns, int row, int rows)
{
    State s;
    s.x = room->take(columns, p.x + column);
    s.average = room->take(columns, p.average + column);
    s.y = room->take(rows, p.y + row);
    s.obj = room->copy(p.obj + column, columns);
    s.var_lb = room->copy(p.var_lb + column, columns);
    s.var_ub = room->copy(p.var_ub + column, columns);
    s.con_lb = room->copy(p.con_lb + row, rows);
    s.con_ub = room->copy(p.con_ub + row, rows);
    for (int j = threadIdx.x; j < columns; j += THREADS)
        s.x[j] = s.average[j] = 0;
    for (int i = threadIdx.x; i < rows; i += THREADS)
        s.y[i] = 0;
    return s;
}

static __device__ float primal_step(const State &s, float tau, int j, float gradient)
{
    const float old = s.x[j];
    const float v = fmaxf(fminf(old - tau * (s.obj[j] - gradient), s.var_ub[j]), s.var_lb[j]);
    s.x[j] = v;
    return 2 * v - old;
}

static __device__ float dual_step(const State &s, float sigma, int i, float activity)
{
    const float t = s.y[i] - sigma * activity;
    return s.y[i] = fmaxf(t + sigma * s.con_lb[i], fminf(0, t + sigma * s.con_ub[i]));
}

// --- Many blocks ---

// A block's lines of one direction, with inbox and products.
struct Share {
    int first, count, entries, heavy_count;
    Entry *entry;
    const Word *inbox;
    int *quads;      // of products, before each line
    float4 *product; // padded with zeros
    const int *heavy;
};

// quads[l] = quads of the lines before l, up to quads[count]. A warp.
static __device__ void count_quads(int count, const int *start, int *quads)
{
    const int lane = lane_id();
    int before = 0;
    for (int first = 0; first < count; first += 32) {
        const int l = first + lane, mine = l < count ? (start[l + 1] - start[l] + 3) / 4 : 0;
        int upto = mine;
        for (int d = 1; d < 32; d *= 2) {
            const int less = __shfl_up_sync(~0u, upto, d);
            if (lane >= d)
                upto += less;
        }
        if (l < count)
            quads[l] = before + upto - mine;
        before += __shfl_sync(~0u, upto, 31);
    }
    if (lane == 0)
        quads[count] = before;
}

// Products that a block needs room for, at most, and where they start if not in shared memory.
static __device__ int quads_most(int entries, int lines)
{
    return (entries + 3 * lines) / 4;
}

template <int THREADS>
static __device__ Share take_share(Room<false, THREADS> *room, const Side &side, const int *bound,
                                   Entry *entries, const Word *inbox, int *quads, float4 *products,
                                   int *heavy, int *heavy_count)
{
    Share s;
    const int b = blockIdx.x;
    s.first = bound[b];
    s.count = bound[b + 1] - s.first;
    const int base = side.start[s.first];
    s.entries = side.start[s.first + s.count] - base;
    s.inbox = inbox + base;
    s.entry = room->bring(entries + base, s.entries);
    s.quads = room->take(s.count + 1, quads + s.first + b);
    const int most = quads_most(s.entries, s.count);
    s.product = room->take(most, products + quads_most(base, s.first) + b);
    if (threadIdx.x < 32)
        count_quads(s.count, side.start + s.first, s.quads);
    if (threadIdx.x == 0)
        *heavy_count = 0;
    for (int q = threadIdx.x; q < most; q += THREADS)
        s.product[q] = make_float4(0, 0, 0, 0);
    __syncthreads();
    for (int e = threadIdx.x; e < s.entries; e += THREADS)
        s.entry[e].place += 4 * s.quads[s.entry[e].line];
    for (int l = threadIdx.x; l < s.count; l += THREADS)
        if (s.quads[l + 1] - s.quads[l] > HEAVY) {
            const int at = atomicAdd(heavy_count, 1);
            if (at < HEAVY_LIST)
                heavy[at] = l;
        }
    __syncthreads();
    s.heavy = heavy;
    s.heavy_count = *heavy_count > HEAVY_LIST ? -1 : *heavy_count; // too many: all are light
    return s;
}

// The sum of every stride-th quad.
template <int EACH>
static __device__ float sum_quads(const float4 *quad, int from, int to, int stride)
{
    float sum = 0;
    for (int q = from; q < to; q += EACH * stride) {
        float4 some[EACH];
#pragma unroll
        for (int k = 0; k < EACH; k++)
            some[k] =
                k == 0 || q + k * stride < to ? quad[q + k * stride] : make_float4(0, 0, 0, 0);
#pragma unroll
        for (int k = 0; k < EACH; k++)
            sum += (some[k].x + some[k].y) + (some[k].z + some[k].w);
    }
    return sum;
}

// finish(line, sum of its products) for every line: LANES lanes a line, a warp for heavy ones.
template <int THREADS, int LANES, typename Finish>
static __device__ void sum_lines(const Share &s, Finish finish)
{
    const int lane = lane_id(), part = threadIdx.x % LANES;
    // From the last warp on: the first ones have light lines.
    for (int h = THREADS / 32 - 1 - threadIdx.x / 32; h < s.heavy_count; h += THREADS / 32) {
        const int l = s.heavy[h];
        float sum = sum_quads<4>(s.product, s.quads[l] + lane, s.quads[l + 1], 32);
        for (int d = 16; d > 0; d /= 2)
            sum += __shfl_xor_sync(~0u, sum, d);
        if (lane == 0)
            finish(l, sum);
    }
    constexpr int GROUPS = THREADS / LANES;
    for (int first = 0; first + threadIdx.x / 32 * (32 / LANES) < s.count; first += GROUPS) {
        const int l = first + threadIdx.x / LANES;
        int from = 0, to = 0;
        if (l < s.count) {
            from = s.quads[l];
            to = s.quads[l + 1];
        }
        const bool light = l < s.count && (to - from <= HEAVY || s.heavy_count < 0);
        float sum = light ? sum_quads<2>(s.product, from + part, to, LANES) : 0;
        for (int d = LANES / 2; d > 0; d /= 2)
            sum += __shfl_xor_sync(~0u, sum, d);
        if (light && part == 0)
            finish(l, sum);
    }
}

static __device__ void publish(Word *at, float value, int iteration)
{
    *const_cast<volatile Word *>(at) = (__float_as_uint(value) & ~1u) | (iteration & 1u);
}

static __device__ Word look(const Word *at)
{
    return *const_cast<const volatile Word *>(at);
}

// Waits for the values of that iteration, and keeps their products with the entries.
template <int THREADS> static __device__ void receive(const Share &s, int iteration)
{
    float *const product = reinterpret_cast<float *>(s.product);
    for (int first = threadIdx.x; first < s.entries; first += AT_ONCE * THREADS) {
        Word got[AT_ONCE];
        float value[AT_ONCE];
        int place[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            if (first + k * THREADS < s.entries) {
                got[k] = look(s.inbox + first + k * THREADS);
                value[k] = s.entry[first + k * THREADS].value;
                place[k] = s.entry[first + k * THREADS].place;
            }
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            if (first + k * THREADS < s.entries) {
                while ((got[k] ^ static_cast<Word>(iteration)) & 1)
                    got[k] = look(s.inbox + first + k * THREADS);
                product[place[k]] = value[k] * __uint_as_float(got[k]);
            }
    }
}

template <int THREADS>
static __device__ void send(const Share &s, const float *of_line, Word *inbox, int iteration)
{
    for (int e = threadIdx.x; e < s.entries; e += THREADS)
        publish(inbox + s.entry[e].slot, of_line[s.entry[e].line], iteration);
}

template <int THREADS>
static __global__ void __launch_bounds__(THREADS, 1) by_messages(Program p, float *out)
{
    __shared__ int heavy_columns[HEAVY_LIST], heavy_rows[HEAVY_LIST], counts[2];
    extern __shared__ float4 shared_memory[];
    Room<false, THREADS> room = {reinterpret_cast<char *>(shared_memory), 0, p.shared_bytes};
    const Share columns = take_share(&room, p.columns, p.column_bound, p.of_columns, p.to_columns,
                                     p.column_quads, p.column_products, heavy_columns, &counts[0]);
    const Share rows = take_share(&room, p.rows, p.row_bound, p.of_rows, p.to_rows, p.row_quads,
                                  p.row_products, heavy_rows, &counts[1]);
    const State s = take_state(&room, p, columns.first, columns.count, rows.first, rows.count);
    float *const ahead = room.take(columns.count, p.ahead + columns.first);
    __syncthreads();

    float weight = 0;
    for (int k = 1; k <= p.iters; k++) {
        const float ratio = __fdividef(p.step, weight + p.step);
        weight += p.step;
        receive<THREADS>(columns, k - 1); // the inbox starts with zeros of iteration 0
        __syncthreads();
        sum_lines<THREADS, 1>(
            columns, [&](int j, float gradient) { ahead[j] = primal_step(s, p.tau, j, gradient); });
        __syncthreads();
        send<THREADS>(columns, ahead, p.to_rows, k);
        // While that is on its way.
        for (int j = threadIdx.x; j < columns.count; j += THREADS)
            s.average[j] += ratio * (s.x[j] - s.average[j]);
        receive<THREADS>(rows, k);
        __syncthreads();
        sum_lines<THREADS, 4>(rows,
                              [&](int i, float activity) { dual_step(s, p.sigma, i, activity); });
        __syncthreads();
        send<THREADS>(rows, s.y, p.to_columns, k);
    }
    __syncthreads();
    for (int j = threadIdx.x; j < columns.count; j += THREADS)
        out[columns.first + j] = s.average[j];
}

// --- One block ---

// The matrix both ways, in shared memory.
struct Lines {
    int count;
    const int *start, *index;
    const float *value;
};

static __device__ int length(const Lines &s, int l)
{
    return s.start[l + 1] - s.start[l];
}

template <int THREADS>
static __device__ Lines by_rows(Room<true, THREADS> *room, const Lines &columns, int m, int nnz,
                                int *of_warp)
{
    int *const start = room->template take<int>(m + 1, nullptr),
               *const count = room->template take<int>(m, nullptr),
               *const index = room->template take<int>(nnz, nullptr);
    float *const value = room->template take<float>(nnz, nullptr);
    for (int i = threadIdx.x; i < m; i += THREADS)
        count[i] = 0;
    __syncthreads();
    for (int e = threadIdx.x; e < nnz; e += THREADS)
        atomicAdd(&count[columns.index[e]], 1);
    __syncthreads();
    scan_in_block<THREADS>(m, count, start, of_warp);
    for (int j = threadIdx.x; j < columns.count; j += THREADS)
        for (int e = columns.start[j]; e < columns.start[j + 1]; e++) {
            const int i = columns.index[e], at = start[i] + atomicSub(&count[i], 1) - 1;
            index[at] = j;
            value[at] = columns.value[e];
        }
    __syncthreads();
    return Lines{m, start, index, value};
}

// order[place]: the lines by falling length, those of BINS - 1 entries and more alike; and the
// other way round. Returns how many have more than `most` entries.
template <int THREADS>
static __device__ int order_lines(const Lines &s, int most, int *order, int *place_of, int *bins)
{
    if (threadIdx.x < BINS)
        bins[threadIdx.x] = 0;
    __syncthreads();
    for (int l = threadIdx.x; l < s.count; l += THREADS)
        atomicAdd(&bins[BINS - 1 - min(length(s, l), BINS - 1)], 1);
    __syncthreads();
    if (threadIdx.x < 32) {
        const int lane = lane_id(), first = bins[2 * lane], second = bins[2 * lane + 1];
        int upto = first + second;
        for (int d = 1; d < 32; d *= 2) {
            const int before = __shfl_up_sync(~0u, upto, d);
            if (lane >= d)
                upto += before;
        }
        bins[2 * lane] = upto - second - first;
        bins[2 * lane + 1] = upto - second;
    }
    __syncthreads();
    const int longer = bins[BINS - 1 - most];
    __syncthreads();
    for (int l = threadIdx.x; l < s.count; l += THREADS) {
        const int place = atomicAdd(&bins[BINS - 1 - min(length(s, l), BINS - 1)], 1);
        order[place] = l;
        place_of[l] = place;
    }
    __syncthreads();
    return longer;
}

// Four entries in registers.
struct Quad {
    int index[4];
    float value[4];
};

static __device__ float times(const Quad &q, const float *vector)
{
    return (q.value[0] * vector[q.index[0]] + q.value[1] * vector[q.index[1]]) +
           (q.value[2] * vector[q.index[2]] + q.value[3] * vector[q.index[3]]);
}

// Entries e, e + stride, .. below `to`; zeros beyond.
static __device__ Quad take_quad(const Lines &s, int e, int to, int stride, const int *place_of)
{
    Quad q;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const int at = e + k * stride;
        q.index[k] = at < to ? place_of[s.index[at]] : 0;
        q.value[k] = at < to ? s.value[at] : 0;
    }
    return q;
}

// All iterations with the entries in registers: a thread a column, ROW_LANES lanes a row, a warp
// for the `heavy` longest ones. ahead and dual are kept by place, columns and rows by falling
// length.
static __device__ void in_registers(const Program &p, const Lines &columns, const Lines &rows,
                                    const int *column_order, const int *column_place,
                                    const int *row_order, const int *row_place, int heavy,
                                    float *ahead, float *dual, float *out)
{
    const int tid = threadIdx.x, warp = tid / 32, lane = lane_id();
    const bool column = tid < p.n;
    const int j = column ? column_order[tid] : 0;
    const int column_from = column ? columns.start[j] : 0,
              column_to = column ? columns.start[j + 1] : 0;
    Quad of_column[COLUMN_MOST / 4];
#pragma unroll
    for (int q = 0; q < COLUMN_MOST / 4; q++)
        of_column[q] = take_quad(columns, column_from + 4 * q, column_to, 1, row_place);
    const bool column_two = __any_sync(~0u, column_to - column_from > 4),
               column_three = __any_sync(~0u, column_to - column_from > 8);
    const float obj = column ? p.obj[j] : 0, var_lb = column ? p.var_lb[j] : 0,
                var_ub = column ? p.var_ub[j] : 0;

    const int lanes = warp < heavy ? 32 : ROW_LANES, part = lane % lanes;
    const int place =
        warp < heavy ? warp : heavy + (warp - heavy) * (32 / ROW_LANES) + lane / ROW_LANES;
    const bool row = place < p.m;
    const int i = row ? row_order[place] : 0;
    const int row_from = row ? rows.start[i] : 0, row_to = row ? rows.start[i + 1] : 0;
    const Quad first_of_row = take_quad(rows, row_from + part, row_to, lanes, column_place),
               second_of_row =
                   take_quad(rows, row_from + part + 4 * lanes, row_to, lanes, column_place);
    const bool row_two = __any_sync(~0u, row_to - row_from > 4 * lanes);
    const float con_lb = row ? p.con_lb[i] : 0, con_ub = row ? p.con_ub[i] : 0;
    float x = 0, average = 0, y = 0, weight = 0;
    if (row && part == 0)
        dual[place] = 0;
    if (column)
        ahead[tid] = 0;
    __syncthreads();

    for (int k = 1; k <= p.iters; k++) {
        if (column) {
            float gradient = times(of_column[0], dual);
            if (column_two)
                gradient += times(of_column[1], dual);
            if (column_three)
                gradient += times(of_column[2], dual);
            const float old = x;
            x = fmaxf(fminf(old - p.tau * (obj - gradient), var_ub), var_lb);
            ahead[tid] = 2 * x - old;
        }
        __syncthreads();
        float activity = times(first_of_row, ahead);
        if (row_two)
            activity += times(second_of_row, ahead);
        for (int d = 1; d < ROW_LANES; d *= 2)
            activity += __shfl_xor_sync(~0u, activity, d);
        if (lanes == 32)
            for (int d = ROW_LANES; d < 32; d *= 2)
                activity += __shfl_xor_sync(~0u, activity, d);
        if (row && part == 0) {
            const float t = y - p.sigma * activity;
            y = fmaxf(t + p.sigma * con_lb, fminf(0, t + p.sigma * con_ub));
            dual[place] = y;
        }
        if (column) {
            average += __fdividef(p.step, weight + p.step) * (x - average);
            weight += p.step;
        }
        __syncthreads();
    }
    if (column)
        out[j] = average;
}

// list[0 ..]: the heavy lines, *count of them.
static __device__ void find_heavy(const Lines &s, int *list, int *count)
{
    if (threadIdx.x == 0)
        *count = 0;
    __syncthreads();
    for (int l = threadIdx.x; l < s.count; l += ALONE_THREADS)
        if (length(s, l) > HEAVY_ALONE) {
            const int at = atomicAdd(count, 1);
            if (at < HEAVY_LIST)
                list[at] = l;
        }
    __syncthreads();
    if (threadIdx.x == 0 && *count > HEAVY_LIST)
        *count = -1; // too many: all are light
    __syncthreads();
}

// The product of every stride-th entry with the vector, EACH looked up at once.
template <int EACH>
static __device__ float sum_entries(const Lines &s, int e, int to, int stride, const float *vector)
{
    float sum = 0;
    for (; e < to; e += EACH * stride) {
        float some[EACH];
#pragma unroll
        for (int k = 0; k < EACH; k++)
            some[k] = k == 0 || e + k * stride < to
                          ? s.value[e + k * stride] * vector[s.index[e + k * stride]]
                          : 0;
#pragma unroll
        for (int k = 0; k < EACH; k++)
            sum += some[k];
    }
    return sum;
}

// finish(line, its product with the vector) for every line: LANES lanes a line, a warp for heavy
// ones.
template <int LANES, typename Finish>
static __device__ void multiply(const Lines &s, const int *heavy, int heavy_count,
                                const float *vector, Finish finish)
{
    const int lane = lane_id(), part = threadIdx.x % LANES;
    for (int h = threadIdx.x / 32; h < heavy_count; h += ALONE_WARPS) {
        const int l = heavy[h];
        float sum = sum_entries<7>(s, s.start[l] + lane, s.start[l + 1], 32, vector);
        for (int d = 16; d > 0; d /= 2)
            sum += __shfl_xor_sync(~0u, sum, d);
        if (lane == 0)
            finish(l, sum);
    }
    constexpr int GROUPS = ALONE_THREADS / LANES;
    for (int first = 0; first < s.count; first += GROUPS) {
        const int l = first + threadIdx.x / LANES;
        int e = 0, to = 0;
        if (l < s.count) {
            e = s.start[l];
            to = s.start[l + 1];
        }
        const bool light = l < s.count && (to - e <= HEAVY_ALONE || heavy_count < 0);
        float sum = light ? sum_entries<4>(s, e + part, to, LANES, vector) : 0;
        for (int d = LANES / 2; d > 0; d /= 2)
            sum += __shfl_xor_sync(~0u, sum, d);
        if (light && part == 0)
            finish(l, sum);
    }
}

// All iterations with the entries in shared memory.
static __device__ void in_lists(const Program &p, Room<true, ALONE_THREADS> *room,
                                const Lines &columns, const Lines &rows, float *ahead, float *out)
{
    __shared__ int heavy_columns[HEAVY_LIST], heavy_rows[HEAVY_LIST], counts[2];
    const State s = take_state(room, p, 0, p.n, 0, p.m);
    find_heavy(columns, heavy_columns, &counts[0]);
    find_heavy(rows, heavy_rows, &counts[1]);
    float weight = 0;
    for (int k = 1; k <= p.iters; k++) {
        const float ratio = p.step / (weight + p.step);
        weight += p.step;
        multiply<1>(columns, heavy_columns, counts[0], s.y, [&](int j, float gradient) {
            ahead[j] = primal_step(s, p.tau, j, gradient);
            s.average[j] += ratio * (s.x[j] - s.average[j]);
        });
        __syncthreads();
        multiply<4>(rows, heavy_rows, counts[1], ahead,
                    [&](int i, float activity) { dual_step(s, p.sigma, i, activity); });
        __syncthreads();
    }
    for (int j = threadIdx.x; j < p.n; j += ALONE_THREADS)
        out[j] = s.average[j];
}

static size_t bytes_alone(size_t n, size_t m, size_t entries)
{
    return 4 * (9 * n + 8 * m + 4 * entries) + 4096; // some of it for roundings
}

static __global__ void __launch_bounds__(ALONE_THREADS, 1) alone(Program p, float *out)
{
    __shared__ int of_warp[ALONE_WARPS], bins[BINS];
    extern __shared__ float4 shared_memory[];
    Room<true, ALONE_THREADS> room = {reinterpret_cast<char *>(shared_memory), 0, p.shared_bytes};
    const Lines columns = {p.n, room.copy(p.columns.start, p.n + 1), room.copy(p.row_of, p.nnz),
                           room.copy(p.value, p.nnz)};
    __syncthreads();
    const Lines rows = by_rows(&room, columns, p.m, p.nnz, of_warp);
    float *const ahead = room.take<float>(p.n, nullptr);

    bool too_long = p.n > ALONE_THREADS;
    for (int j = threadIdx.x; j < p.n; j += ALONE_THREADS)
        too_long |= length(columns, j) > COLUMN_MOST;
    for (int i = threadIdx.x; i < p.m; i += ALONE_THREADS)
        too_long |= length(rows, i) > 32 * ROW_MOST;
    const int used = room.used;
    if (!__syncthreads_or(too_long)) {
        float *const dual = room.take<float>(p.m, nullptr);
        int *const column_order = room.take<int>(p.n, nullptr),
                   *const column_place = room.take<int>(p.n, nullptr),
                   *const row_order = room.take<int>(p.m, nullptr),
                   *const row_place = room.take<int>(p.m, nullptr);
        order_lines<ALONE_THREADS>(columns, COLUMN_MOST, column_order, column_place, bins);
        const int heavy =
            order_lines<ALONE_THREADS>(rows, ROW_LANES * ROW_MOST, row_order, row_place, bins);
        constexpr int ROWS = 32 / ROW_LANES; // of a warp
        if (heavy + (p.m - heavy + ROWS - 1) / ROWS <= ALONE_WARPS) {
            in_registers(p, columns, rows, column_order, column_place, row_order, row_place, heavy,
                         ahead, dual, out);
            return;
        }
        room.used = used; // the order is not needed
        __syncthreads();
    }
    in_lists(p, &room, columns, rows, ahead, out);
}

extern "C" void solution_compute(int num_vars, int num_constraints, int nnz, int num_iters,
                                 const float *obj, const float *var_lb, const float *var_ub,
                                 const float *con_lb, const float *con_ub, const int *col_ptrs,
                                 const int *row_indices, const float *values, float step_size,
                                 float primal_weight, float *primal_out)
{
    const size_t n = num_vars, m = num_constraints, entries = nnz;
    int device, blocks, shared_most;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaDeviceGetAttribute(&shared_most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    const size_t of_alone = bytes_alone(n, m, entries);
    const bool one = nnz <= ALONE_MAX && of_alone + 8192 <= static_cast<size_t>(shared_most);

    // One allocation: the inputs one after the other, then what has to be zero, then the rest.
    const void *const inputs[] = {obj,    var_lb,   var_ub,      con_lb,
                                  con_ub, col_ptrs, row_indices, values};
    const size_t counts[] = {n, n, n, m, m, n + 1, entries, entries};
    size_t at[9] = {0};
    for (int i = 0; i < 8; i++)
        at[i + 1] = at[i] + (counts[i] * 4 + 15) / 16 * 16;
    size_t end = at[8];
    auto more = [&](size_t count, size_t size) {
        const size_t here = end;
        end += (count * size + 15) / 16 * 16;
        return here;
    };
    const size_t groups = static_cast<size_t>(blocks) * blocks, bounds = blocks + 1,
                 far = one ? 0 : 1; // not needed by one block
    const size_t zeros = at[8];
    const size_t to_columns = more(far * entries, sizeof(Word)),
                 to_rows = more(far * entries, sizeof(Word)), row_count = more(far * m, 4),
                 group_count = more(far * groups, 4), zero_end = end;
    const size_t row_start = more(far * (m + 1), 4), row_rank = more(far * entries, 4),
                 group_rank = more(far * entries, 4), in_columns = more(far * groups, 4),
                 in_rows = more(far * groups, 4), column_bound = more(far * bounds, 4),
                 row_bound = more(far * bounds, 4), of_columns = more(far * entries, sizeof(Entry)),
                 of_rows = more(far * entries, sizeof(Entry)), x = more(n, 4), average = more(n, 4),
                 ahead = more(far * n, 4), y = more(m, 4),
                 column_quads = more(far * (n + bounds), 4),
                 row_quads = more(far * (m + bounds), 4),
                 column_products = more(far * ((entries + 3 * n) / 4 + bounds), sizeof(float4)),
                 row_products = more(far * ((entries + 3 * m) / 4 + bounds), sizeof(float4)),
                 out = more(n, 4);
    char *memory;
    if (end <= ARENA)
        CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&memory), arena));
    else
        CHECK(cudaMalloc(&memory, end));
    if (zero_end > zeros)
        CHECK(cudaMemsetAsync(memory + zeros, 0, zero_end - zeros));
    if (zeros <= (size_t(128) << 10)) {
        std::vector<char> packed(zeros);
        for (int i = 0; i < 8; i++)
            if (counts[i] > 0)
                memcpy(packed.data() + at[i], inputs[i], counts[i] * 4);
        CHECK(cudaMemcpy(memory, packed.data(), zeros, cudaMemcpyHostToDevice));
    } else {
        for (int i = 0; i < 8; i++)
            if (counts[i] > 0)
                CHECK(cudaMemcpy(memory + at[i], inputs[i], counts[i] * 4, cudaMemcpyHostToDevice));
    }
    auto floats = [&](size_t offset) { return reinterpret_cast<float *>(memory + offset); };
    auto ints = [&](size_t offset) { return reinterpret_cast<int *>(memory + offset); };
    auto words = [&](size_t offset) { return reinterpret_cast<Word *>(memory + offset); };
    auto some = [&](size_t offset) { return reinterpret_cast<Entry *>(memory + offset); };
    auto quads = [&](size_t offset) { return reinterpret_cast<float4 *>(memory + offset); };

    Program p = {};
    p.n = num_vars, p.m = num_constraints, p.nnz = nnz, p.iters = num_iters;
    p.columns = Side{num_vars, ints(at[5])};
    p.rows = Side{num_constraints, ints(row_start)};
    p.row_of = ints(at[6]), p.value = floats(at[7]);
    p.obj = floats(at[0]), p.var_lb = floats(at[1]), p.var_ub = floats(at[2]);
    p.con_lb = floats(at[3]), p.con_ub = floats(at[4]);
    p.tau = step_size / primal_weight, p.sigma = step_size * primal_weight, p.step = step_size;
    p.column_bound = ints(column_bound), p.row_bound = ints(row_bound);
    p.of_columns = some(of_columns), p.of_rows = some(of_rows);
    p.to_columns = words(to_columns), p.to_rows = words(to_rows);
    p.x = floats(x), p.average = floats(average), p.ahead = floats(ahead), p.y = floats(y);
    p.column_quads = ints(column_quads), p.row_quads = ints(row_quads);
    p.column_products = quads(column_products), p.row_products = quads(row_products);
    float *d_out = floats(out);

    if (one) {
        p.shared_bytes = static_cast<int>(of_alone);
        CHECK(cudaFuncSetAttribute(alone, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   p.shared_bytes));
        alone<<<1, ALONE_THREADS, of_alone>>>(p, d_out);
        CHECK(cudaGetLastError());
    } else {
        if (nnz > 0)
            count_rows<<<(nnz + 255) / 256, 256>>>(nnz, p.row_of, ints(row_count), ints(row_rank));
        share_out<<<1, SCAN_THREADS>>>(p.columns, p.rows, ints(row_count), ints(row_start), blocks,
                                       ints(column_bound), ints(row_bound));
        const unsigned by_columns = static_cast<unsigned>((n * COLUMN_LANES + 255) / 256);
        count_groups<<<by_columns, 256>>>(p, blocks, ints(group_count), ints(group_rank));
        place_groups<<<dim3(blocks, 2), 32>>>(p, ints(group_count), ints(in_columns),
                                              ints(in_rows));
        fill_entries<<<by_columns, 256>>>(p, blocks, ints(row_rank), ints(group_rank),
                                          ints(in_columns), ints(in_rows));
        CHECK(cudaGetLastError());
        const bool few = nnz / blocks <= FEW_ENTRIES;
        void (*const kernel)(Program, float *) = few ? by_messages<512> : by_messages<1024>;
        // Some is taken by the lists of heavy lines.
        p.shared_bytes = (shared_most - 3072) / 16 * 16;
        CHECK(cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                                   cudaFuncAttributeMaxDynamicSharedMemorySize, p.shared_bytes));
        void *arguments[] = {&p, &d_out};
        CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(kernel), dim3(blocks),
                                          dim3(few ? 512 : 1024), arguments, p.shared_bytes,
                                          nullptr));
    }
    CHECK(cudaMemcpy(primal_out, d_out, n * sizeof(float), cudaMemcpyDeviceToHost));
    if (end > ARENA)
        CHECK(cudaFree(memory));
}
