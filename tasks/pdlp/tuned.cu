// Primal-dual steps without barriers: blocks that own columns and rows pass tagged values.
//
// Approach: each block owns some columns and some rows of the matrix, with everything about them in
// shared memory for all iterations. What blocks exchange, the extrapolated point and the dual
// iterate, lies in global memory as pairs of value and iteration, written and read in one piece;
// who needs a value looks until it carries the right iteration. That needs no barrier, and no value
// is overwritten too early: column j makes its next value only from the answers of all rows that
// read the last one, and the other way round. Within a block the entries are spread evenly over the
// threads, whose products are then summed by a few lanes a line, by a warp for heavy lines. The
// rows are derived from the columns on the device. Programs that fit one block run in one, with the
// vectors in shared memory.
//
// What bounds it: at medium the way of a value from block to block, some 2 us twice an iteration;
// at large also the gathers, 400000 an iteration from the L2 cache. With one block the instructions
// of a single multiprocessor.
//
// Tried: waiting 20 to 200 ns before looking again (within a twentieth); 512 threads (a tenth
// slower at medium, nearly half at large); looking up the terms of a line several at a time (helps
// the lone block, costs the others instructions: a fifth slower at large); barriers of the grid in
// place of messages, as in the ladder (four times slower at medium).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores: small 1.15 ms, medium 6.2 ms, large
// 13.8 ms (5 % of two barriers of a block an iteration; 13 % of two words through the L2 cache an
// iteration; 36 % of the gathers at the rate of the L2 cache; naive 5.1, 17 and 28 ms). An
// evaluation, which comes to a call with cold caches, takes 1.15 ms at small.
#include "check.cuh"

#include <cstring>
#include <vector>

constexpr int THREADS = 1024, WARPS = THREADS / 32;
constexpr int AT_ONCE = 2;                  // values that a thread looks for at the same time
constexpr int HEAVY = 48, HEAVY_ALONE = 16; // entries from which a warp sums a line
constexpr int HEAVY_LIST = 256; // heavy lines of a block that are remembered; others count as light
constexpr int ALONE_MAX = 8192; // entries up to which one block does it all

constexpr size_t ARENA = 1000 * 1000; // bytes

// Enough for small calls, which would otherwise pay more for an allocation than for their
// transfers.
static __device__ __align__(256) char arena[ARENA];

struct Side {         // one of the two directions of the matrix, on the device
    int lines;        // columns or rows
    const int *start; // of each line's entries
    const int *index; // of each entry: which line of the other side
    const float *value;
};

struct Program {
    int n, m, nnz, iters;
    Side columns, rows;
    const float *obj, *var_lb, *var_ub, *con_lb, *con_ub;
    float tau, sigma, step;
    unsigned long long *ahead, *dual; // (value, iteration) of each column and row
    float *x, *average, *y, *product; // for blocks whose share does not fit shared memory
    int shared_bytes;
};

// A block's lines of one side; entries from `base` on.
struct Share {
    int first, count, base, entries;
    const int *start, *index;
    const float *value;
};

static __global__ void count_rows(int nnz, const int *row_of, int *count, int *rank)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < nnz)
        rank[e] = atomicAdd(&count[row_of[e]], 1);
}

// start[i] = entries of the rows before i. One block.
static __global__ void __launch_bounds__(THREADS) scan_rows(int m, const int *count, int *start)
{
    __shared__ int of_warp[WARPS];
    const int each = (m + THREADS - 1) / THREADS, tid = threadIdx.x, lane = tid % 32;
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
}

static __global__ void fill_rows(int n, Side columns, const int *rank, const int *row_start,
                                 int *column_of, float *value)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= n)
        return;
    for (int e = columns.start[j]; e < columns.start[j + 1]; e++) {
        const int at = row_start[columns.index[e]] + rank[e];
        column_of[at] = j;
        value[at] = columns.value[e];
    }
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

// Hands out shared memory, and copies of global arrays in it while they fit. Where all are known to
// fit, the compiler knows that they are in shared memory.
template <bool ALL_FITS> struct Room {
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
};

template <bool ALL_FITS> static __device__ Share take_share(Room<ALL_FITS> *room, const Side &side)
{
    Share s;
    s.first = share_begin(side, blockIdx.x, gridDim.x);
    s.count = share_begin(side, blockIdx.x + 1, gridDim.x) - s.first;
    s.base = side.start[s.first];
    s.entries = side.start[s.first + s.count] - s.base;
    s.start = room->copy(side.start + s.first, s.count + 1);
    s.index = room->copy(side.index + s.base, s.entries);
    s.value = room->copy(side.value + s.base, s.entries);
    return s;
}

// list[0 ..]: the heavy lines, *count of them.
static __device__ void find_heavy(const Share &s, int most, int *list, int *count)
{
    if (threadIdx.x == 0)
        *count = 0;
    __syncthreads();
    for (int l = threadIdx.x; l < s.count; l += THREADS)
        if (s.start[l + 1] - s.start[l] > most) {
            const int at = atomicAdd(count, 1);
            if (at < HEAVY_LIST)
                list[at] = l;
        }
    __syncthreads();
    if (threadIdx.x == 0 && *count > HEAVY_LIST)
        *count = -1; // too many: all are light
    __syncthreads();
}

// The sum of every stride-th term, EACH looked up at once.
template <int EACH, typename Term>
static __device__ float sum_terms(int e, int to, int stride, Term term)
{
    float sum = 0;
    for (; e < to; e += EACH * stride) {
        float some[EACH];
#pragma unroll
        for (int k = 0; k < EACH; k++)
            some[k] = k == 0 || e + k * stride < to ? term(e + k * stride) : 0;
#pragma unroll
        for (int k = 0; k < EACH; k++)
            sum += some[k];
    }
    return sum;
}

// finish(line, sum of term(entry) over its entries) for every line: LANES lanes a line of up to
// LIGHT entries, a warp for others.
template <int LANES, int LIGHT, int EACH, typename Term, typename Finish>
static __device__ void sum_lines(const Share &s, const int *heavy, int heavy_count, Term term,
                                 Finish finish)
{
    const int lane = threadIdx.x % 32, part = threadIdx.x % LANES;
    for (int h = threadIdx.x / 32; h < heavy_count; h += WARPS) {
        const int l = heavy[h], to = s.start[l + 1] - s.base;
        float sum = sum_terms<2 * EACH - 1>(s.start[l] - s.base + lane, to, 32, term);
        for (int d = 16; d > 0; d /= 2)
            sum += __shfl_xor_sync(~0u, sum, d);
        if (lane == 0)
            finish(l, sum);
    }
    constexpr int GROUPS = THREADS / LANES;
    for (int first = 0; first < s.count; first += GROUPS) {
        const int l = first + threadIdx.x / LANES;
        int e = 0, to = 0;
        if (l < s.count) {
            e = s.start[l] - s.base;
            to = s.start[l + 1] - s.base;
        }
        const bool light = l < s.count && (to - e <= LIGHT || heavy_count < 0);
        float sum = light ? sum_terms<EACH>(e + part, to, LANES, term) : 0;
        for (int d = LANES / 2; d > 0; d /= 2)
            sum += __shfl_xor_sync(~0u, sum, d);
        if (light && part == 0)
            finish(l, sum);
    }
}

static __device__ unsigned long long tagged(float value, int iteration)
{
    return static_cast<unsigned long long>(iteration) << 32 | __float_as_uint(value);
}

static __device__ void publish(unsigned long long *at, float value, int iteration)
{
    *const_cast<volatile unsigned long long *>(at) = tagged(value, iteration);
}

static __device__ unsigned long long look(const unsigned long long *at)
{
    return *const_cast<const volatile unsigned long long *>(at);
}

// product[e] = value of entry e times what `from` holds for its line in that iteration.
static __device__ void gather(const Share &s, const unsigned long long *from, int iteration,
                              float *product)
{
    for (int first = threadIdx.x; first < s.entries; first += AT_ONCE * THREADS) {
        int line[AT_ONCE];
        unsigned long long got[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            if (first + k * THREADS < s.entries) {
                line[k] = s.index[first + k * THREADS];
                got[k] = look(from + line[k]);
            }
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            if (first + k * THREADS < s.entries) {
                while (static_cast<int>(got[k] >> 32) != iteration)
                    got[k] = look(from + line[k]);
                product[first + k * THREADS] =
                    s.value[first + k * THREADS] * __uint_as_float(static_cast<unsigned>(got[k]));
            }
    }
}

// What both kernels keep of their columns and rows.
struct State {
    float *x, *average, *y;
    const float *obj, *var_lb, *var_ub, *con_lb, *con_ub;
};

template <bool ALL_FITS>
static __device__ State take_state(Room<ALL_FITS> *room, const Program &p, int column, int columns,
                                   int row, int rows)
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

static __device__ float primal_step(const State &s, float tau, float ratio, int j, float gradient)
{
    const float old = s.x[j];
    const float v = fmaxf(fminf(old - tau * (s.obj[j] - gradient), s.var_ub[j]), s.var_lb[j]);
    s.x[j] = v;
    s.average[j] += ratio * (v - s.average[j]);
    return 2 * v - old;
}

static __device__ float dual_step(const State &s, float sigma, int i, float activity)
{
    const float t = s.y[i] - sigma * activity;
    return s.y[i] = fmaxf(t + sigma * s.con_lb[i], fminf(0, t + sigma * s.con_ub[i]));
}

static __global__ void __launch_bounds__(THREADS, 1) by_messages(Program p, float *out)
{
    __shared__ int heavy_columns[HEAVY_LIST], heavy_rows[HEAVY_LIST], counts[2];
    extern __shared__ float4 shared_memory[];
    Room<false> room = {reinterpret_cast<char *>(shared_memory), 0, p.shared_bytes};
    const Share columns = take_share(&room, p.columns), rows = take_share(&room, p.rows);
    const State s = take_state(&room, p, columns.first, columns.count, rows.first, rows.count);
    float *const of_columns = room.take(columns.entries, p.product + columns.base);
    float *const of_rows = room.take(rows.entries, p.product + p.nnz + rows.base);
    __syncthreads();
    find_heavy(columns, HEAVY, heavy_columns, &counts[0]);
    find_heavy(rows, HEAVY, heavy_rows, &counts[1]);

    float weight = 0;
    for (int k = 1; k <= p.iters; k++) {
        const float ratio = p.step / (weight + p.step);
        weight += p.step;
        if (k > 1)
            gather(columns, p.dual, k - 1, of_columns);
        else
            for (int e = threadIdx.x; e < columns.entries; e += THREADS)
                of_columns[e] = 0;
        __syncthreads();
        sum_lines<2, HEAVY, 1>(
            columns, heavy_columns, counts[0], [&](int e) { return of_columns[e]; },
            [&](int j, float gradient) {
                publish(p.ahead + columns.first + j, primal_step(s, p.tau, ratio, j, gradient), k);
            });
        gather(rows, p.ahead, k, of_rows);
        __syncthreads();
        sum_lines<4, HEAVY, 1>(
            rows, heavy_rows, counts[1], [&](int e) { return of_rows[e]; },
            [&](int i, float activity) {
                publish(p.dual + rows.first + i, dual_step(s, p.sigma, i, activity), k);
            });
    }
    __syncthreads();
    for (int j = threadIdx.x; j < columns.count; j += THREADS)
        out[columns.first + j] = s.average[j];
}

static __global__ void __launch_bounds__(THREADS, 1) alone(Program p, float *out)
{
    __shared__ int heavy_columns[HEAVY_LIST], heavy_rows[HEAVY_LIST], counts[2];
    extern __shared__ float4 shared_memory[];
    Room<true> room = {reinterpret_cast<char *>(shared_memory), 0, p.shared_bytes};
    const Share columns = take_share(&room, p.columns), rows = take_share(&room, p.rows);
    const State s = take_state(&room, p, 0, p.n, 0, p.m);
    float *const ahead = room.take(p.n, p.product);
    __syncthreads();
    find_heavy(columns, HEAVY_ALONE, heavy_columns, &counts[0]);
    find_heavy(rows, HEAVY_ALONE, heavy_rows, &counts[1]);

    float weight = 0;
    for (int k = 1; k <= p.iters; k++) {
        const float ratio = p.step / (weight + p.step);
        weight += p.step;
        sum_lines<1, HEAVY_ALONE, 4>(
            columns, heavy_columns, counts[0],
            [&](int e) { return columns.value[e] * s.y[columns.index[e]]; },
            [&](int j, float gradient) { ahead[j] = primal_step(s, p.tau, ratio, j, gradient); });
        __syncthreads();
        sum_lines<4, HEAVY_ALONE, 4>(
            rows, heavy_rows, counts[1],
            [&](int e) { return rows.value[e] * ahead[rows.index[e]]; },
            [&](int i, float activity) { dual_step(s, p.sigma, i, activity); });
        __syncthreads();
    }
    for (int j = threadIdx.x; j < p.n; j += THREADS)
        out[j] = s.average[j];
}

extern "C" void solution_compute(int num_vars, int num_constraints, int nnz, int num_iters,
                                 const float *obj, const float *var_lb, const float *var_ub,
                                 const float *con_lb, const float *con_ub, const int *col_ptrs,
                                 const int *row_indices, const float *values, float step_size,
                                 float primal_weight, float *primal_out)
{
    const size_t n = num_vars, m = num_constraints, entries = nnz;
    int device, processors, shared_most;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaDeviceGetAttribute(&shared_most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));

    // One allocation: the inputs one after the other, then what has to be zero, then the rest.
    const void *const inputs[] = {obj,    var_lb,   var_ub,      con_lb,
                                  con_ub, col_ptrs, row_indices, values};
    const size_t counts[] = {n, n, n, m, m, n + 1, entries, entries};
    size_t at[9] = {0};
    for (int i = 0; i < 8; i++)
        at[i + 1] = at[i] + (counts[i] * 4 + 15) / 16 * 16;
    const size_t zeros = at[8], zero_bytes = (n + m) * 8 + (m + 4) / 4 * 16;
    size_t end = zeros + zero_bytes;
    auto more = [&](size_t count) {
        const size_t here = end;
        end += (count * 4 + 15) / 16 * 16;
        return here;
    };
    const size_t row_start = more(m + 1), rank = more(entries), column_of = more(entries),
                 row_value = more(entries), product = more(2 * entries + n), x = more(n),
                 average = more(n), y = more(m), out = more(n);
    char *memory;
    if (end <= ARENA)
        CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&memory), arena));
    else
        CHECK(cudaMalloc(&memory, end));
    CHECK(cudaMemsetAsync(memory + zeros, 0, zero_bytes));
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

    Program p = {};
    p.n = num_vars, p.m = num_constraints, p.nnz = nnz, p.iters = num_iters;
    p.columns = Side{num_vars, ints(at[5]), ints(at[6]), floats(at[7])};
    p.rows = Side{num_constraints, ints(row_start), ints(column_of), floats(row_value)};
    p.obj = floats(at[0]), p.var_lb = floats(at[1]), p.var_ub = floats(at[2]);
    p.con_lb = floats(at[3]), p.con_ub = floats(at[4]);
    p.tau = step_size / primal_weight, p.sigma = step_size * primal_weight, p.step = step_size;
    p.ahead = reinterpret_cast<unsigned long long *>(memory + zeros);
    p.dual = p.ahead + n;
    p.x = floats(x), p.average = floats(average), p.y = floats(y), p.product = floats(product);
    int *const row_count = ints(zeros + (n + m) * 8);
    if (nnz > 0)
        count_rows<<<(nnz + 255) / 256, 256>>>(nnz, p.columns.index, row_count, ints(rank));
    scan_rows<<<1, THREADS>>>(num_constraints, row_count, ints(row_start));
    fill_rows<<<(num_vars + 255) / 256, 256>>>(num_vars, p.columns, ints(rank), p.rows.start,
                                               ints(column_of), floats(row_value));
    CHECK(cudaGetLastError());

    const size_t all_here = 4 * (7 * n + 4 * m + 4 * entries) + 1024;
    const bool one = nnz <= ALONE_MAX && all_here + 4096 <= static_cast<size_t>(shared_most);
    void (*const kernel)(Program, float *) = one ? alone : by_messages;
    p.shared_bytes = (shared_most - 3072) / 16 * 16; // some is taken by the lists of heavy lines
    CHECK(cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                               cudaFuncAttributeMaxDynamicSharedMemorySize, p.shared_bytes));
    float *d_out = floats(out);
    void *arguments[] = {&p, &d_out};
    const int blocks = one ? 1 : processors;
    CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(kernel), dim3(blocks),
                                      dim3(THREADS), arguments, p.shared_bytes, nullptr));
    CHECK(cudaMemcpy(primal_out, d_out, n * sizeof(float), cudaMemcpyDeviceToHost));
    if (end > ARENA)
        CHECK(cudaFree(memory));
}
