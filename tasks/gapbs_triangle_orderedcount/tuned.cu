// Triangles: edges directed by degree, lists looked up in small hash tables.
//
// Approach: every edge is directed to its end of higher (degree, number), so that no list is
// longer than sqrt(2 m), however large the hubs are; each row is shortened to its list in place, a
// warp a row or a block a long one, while the next rows are on their way through a ring of pinned
// slots. Then a warp takes a vertex u, enters its list into a hash table in shared memory, and
// looks up the lists of its members, four at once. Long lists are left to whole blocks.
//
// What bounds it: the copy of the rows, two thirds of the time; then the look-ups, 0.3 ms at
// medium and 0.8 ms at large.
//
// Tried: dropping the larger half of each row on the host and reading the rest from the slots
// (half as slow again and more: short reads across the bus); a bit filter before the table
// (look-ups a fifth faster, no difference end to end); one, two and eight lists at once (the
// same).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores: small 0.63 ms, medium 2.0 ms, large
// 3.8 ms (16 %, 24 % and 29 % of bytes, 1.1 us a step and 20 us; naive 1.0, 4.9 and 15 ms). An
// evaluation, which comes to a call with cold caches, takes 0.98 ms at small.
#include "transfer.cuh"

#include <algorithm>

constexpr int THREADS = 256, WARPS = THREADS / 32;
constexpr int LONG_ROW = 1024;                    // neighbours above which a block shortens the row
constexpr int EACH = 4;                           // neighbours that its threads take at once
constexpr int SHORT = 128;                        // vertices in a list for a warp
constexpr int SHORT_BITS = 9;                     // of the places in its table
constexpr int CHUNK = 2048, CHUNK_BITS = 13;      // of a long list at a time
constexpr int AT_ONCE = 4;                        // lists that a warp reads at once
constexpr size_t PIPELINE_FROM = size_t(8) << 20; // bytes
constexpr unsigned EMPTY = 0xffffffffu;

struct Board {
    unsigned long long triangles;
    int long_lists, long_rows;
};

struct Graph {
    int n;
    const int *row_ptr;
    int *list;                 // at row_ptr[u]: first all neighbours, then those of higher rank
    unsigned short *rank;      // by degree; equal ones by number
    int2 *row;                 // where a list starts, and its length
    int *long_list, *long_row; // vertices
    Board *board;
};

// A set of vertices in shared memory, with a quarter of its places in use at most.
struct Set {
    unsigned *table;
    int bits;

    __device__ unsigned place(unsigned v) const
    {
        return v * 2654435769u >> (32 - bits);
    }
    __device__ unsigned after(unsigned i) const
    {
        return (i + 1) & ((1u << bits) - 1);
    }
    __device__ void clear(int thread, int threads) const
    {
        for (int i = thread; i < 1 << bits; i += threads)
            table[i] = EMPTY;
    }
    __device__ void insert(unsigned v) const
    {
        for (unsigned i = place(v); atomicCAS(&table[i], EMPTY, v) != EMPTY; i = after(i))
            ;
    }
    __device__ bool holds(unsigned v) const
    {
        unsigned i = place(v), found = table[i];
        while (found != v && found != EMPTY) {
            i = after(i);
            found = table[i];
        }
        return found == v;
    }
};

static __global__ void __launch_bounds__(THREADS) ranks(const __grid_constant__ Graph g)
{
    const int u = blockIdx.x * THREADS + threadIdx.x;
    if (u >= g.n)
        return;
    const int degree = g.row_ptr[u + 1] - g.row_ptr[u];
    g.rank[u] = static_cast<unsigned short>(min(degree, 0xffff));
    if (degree > LONG_ROW)
        g.long_row[atomicAdd(&g.board->long_rows, 1)] = u;
}

static __device__ bool is_higher(const Graph &g, int u, int rank, int v)
{
    const int other = g.rank[v];
    return other > rank || (other == rank && v > u);
}

static __device__ void finish_row(const Graph &g, int u, int begin, int length)
{
    g.row[u] = make_int2(begin, length);
    if (length > SHORT)
        g.long_list[atomicAdd(&g.board->long_lists, 1)] = u;
}

// A warp a row.
static __global__ void __launch_bounds__(THREADS)
    direct_short(const __grid_constant__ Graph g, int first_row, int last_row)
{
    const int lane = threadIdx.x % 32, warps = gridDim.x * WARPS;
    for (int u = first_row + blockIdx.x * WARPS + threadIdx.x / 32; u < last_row; u += warps) {
        const int begin = g.row_ptr[u], end = g.row_ptr[u + 1], rank = g.rank[u];
        if (end - begin > LONG_ROW)
            continue;
        int at = begin;
        for (int first = begin; first < end; first += 64) {
            const int e = first + lane, f = e + 32;
            const int v = e < end ? g.list[e] : -1, w = f < end ? g.list[f] : -1;
            const bool keep_v = v >= 0 && is_higher(g, u, rank, v),
                       keep_w = w >= 0 && is_higher(g, u, rank, w);
            const unsigned kept_v = __ballot_sync(~0u, keep_v), kept_w = __ballot_sync(~0u, keep_w),
                           before = (1u << lane) - 1;
            if (keep_v)
                g.list[at + __popc(kept_v & before)] = v;
            at += __popc(kept_v);
            if (keep_w)
                g.list[at + __popc(kept_w & before)] = w;
            at += __popc(kept_w);
            __syncwarp();
        }
        if (lane == 0)
            finish_row(g, u, begin, at - begin);
    }
}

// A block a row.
static __global__ void __launch_bounds__(THREADS) direct_long(const __grid_constant__ Graph g)
{
    __shared__ int before[WARPS + 1];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, rows = g.board->long_rows;
    for (int i = blockIdx.x; i < rows; i += gridDim.x) {
        const int u = g.long_row[i], begin = g.row_ptr[u], end = g.row_ptr[u + 1], rank = g.rank[u];
        int at = begin;
        for (int first = begin; first < end; first += THREADS * EACH) {
            int v[EACH], count = 0;
            for (int k = 0; k < EACH; k++) {
                const int e = first + k * THREADS + threadIdx.x;
                v[k] = e < end ? g.list[e] : -1;
            }
            for (int k = 0; k < EACH; k++) {
                v[k] = v[k] >= 0 && is_higher(g, u, rank, v[k]) ? v[k] : -1;
                count += v[k] >= 0;
            }
            int sum = count; // of this lane and those before
            for (int d = 1; d < 32; d *= 2) {
                const int other = __shfl_up_sync(~0u, sum, d);
                sum += lane >= d ? other : 0;
            }
            if (lane == 31)
                before[warp + 1] = sum;
            __syncthreads();
            if (threadIdx.x == 0) {
                before[0] = 0;
                for (int w = 0; w < WARPS; w++)
                    before[w + 1] += before[w];
            }
            __syncthreads();
            int mine = at + before[warp] + sum - count;
            for (int k = 0; k < EACH; k++)
                if (v[k] >= 0)
                    g.list[mine++] = v[k];
            at += before[WARPS];
            __syncthreads();
        }
        if (threadIdx.x == 0)
            finish_row(g, u, begin, at - begin);
    }
}

// Members of `set` in the lists of the `count` vertices at `members`, 32 at a time by a warp.
static __device__ unsigned long long count_in(const Graph &g, const Set &set, const int *members,
                                              int count)
{
    const int lane = threadIdx.x % 32;
    const int2 row = lane < count ? g.row[members[lane]] : make_int2(0, 0);
    unsigned found = 0; // 32 lists of up to 2^16 vertices
    for (int k = 0; k < count; k += AT_ONCE) {
        int from[AT_ONCE], size[AT_ONCE], w[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            from[i] = __shfl_sync(~0u, row.x, (k + i) % 32);
            size[i] = __shfl_sync(~0u, row.y, (k + i) % 32);
            size[i] = k + i < count ? size[i] : 0;
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            w[i] = lane < size[i] ? g.list[from[i] + lane] : -1;
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            if (w[i] >= 0)
                found += set.holds(static_cast<unsigned>(w[i]));
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            for (int e = lane + 32; e < size[i]; e += 32)
                found += set.holds(static_cast<unsigned>(g.list[from[i] + e]));
        __syncwarp();
    }
    return found;
}

static __device__ void add_up(unsigned long long found, unsigned long long *total)
{
    __shared__ unsigned long long partial[WARPS];
    for (int d = 16; d > 0; d /= 2)
        found += __shfl_down_sync(~0u, found, d);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = found;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < WARPS; w++)
            found += partial[w];
        if (found > 0)
            atomicAdd(total, found);
    }
}

static __global__ void __launch_bounds__(THREADS) count_short(const __grid_constant__ Graph g)
{
    __shared__ unsigned tables[WARPS][1 << SHORT_BITS];
    const int lane = threadIdx.x % 32, warps = gridDim.x * WARPS;
    unsigned long long found = 0;
    for (int u = blockIdx.x * WARPS + threadIdx.x / 32; u < g.n; u += warps) {
        const int2 row = g.row[u];
        const int length = row.y;
        if (length < 2 || length > SHORT)
            continue;
        const int *const list = g.list + row.x;
        int bits = SHORT_BITS;
        while (bits > 5 && length * 8 <= 1 << bits)
            bits--;
        const Set set = {tables[threadIdx.x / 32], bits};
        set.clear(lane, 32);
        __syncwarp();
        for (int i = lane; i < length; i += 32)
            set.insert(static_cast<unsigned>(list[i]));
        __syncwarp();
        for (int i = 0; i < length; i += 32)
            found += count_in(g, set, list + i, min(length - i, 32));
        __syncwarp();
    }
    add_up(found, &g.board->triangles);
}

static __global__ void __launch_bounds__(THREADS) count_long(const __grid_constant__ Graph g)
{
    __shared__ unsigned table[1 << CHUNK_BITS];
    const Set set = {table, CHUNK_BITS};
    const int warp = threadIdx.x / 32, lists = g.board->long_lists;
    unsigned long long found = 0;
    for (int k = blockIdx.x; k < lists; k += gridDim.x) {
        const int2 row = g.row[g.long_list[k]];
        const int length = row.y;
        const int *const list = g.list + row.x;
        for (int chunk = 0; chunk < length; chunk += CHUNK) {
            set.clear(threadIdx.x, THREADS);
            __syncthreads();
            for (int i = chunk + threadIdx.x; i < min(length, chunk + CHUNK); i += THREADS)
                set.insert(static_cast<unsigned>(list[i]));
            __syncthreads();
            for (int i = warp * 32; i < length; i += THREADS)
                found += count_in(g, set, list + i, min(length - i, 32));
            __syncthreads();
        }
    }
    add_up(found, &g.board->triangles);
}

extern "C" void solution_compute(int n, const int *row_ptr, const int *col_idx,
                                 unsigned long long *triangle_count_out)
{
    const size_t vertices = static_cast<size_t>(n), m = static_cast<size_t>(row_ptr[n]);
    size_t bytes = 0;
    auto place = [&](size_t wanted) {
        const size_t at = bytes;
        bytes += (wanted + 255) / 256 * 256;
        return at;
    };
    const size_t board_at = place(sizeof(Board)), rows_at = place((vertices + 1) * sizeof(int)),
                 list_at = place(m * sizeof(int)),
                 rank_at = place(vertices * sizeof(unsigned short)),
                 row_at = place(vertices * sizeof(int2)),
                 long_list_at = place((m / SHORT + 1) * sizeof(int)),
                 long_row_at = place((m / LONG_ROW + 1) * sizeof(int));
    char *memory = nullptr;
    Graph graph = {};
    int device, processors;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    auto open = [&] {
        CHECK(cudaMalloc(&memory, bytes));
        graph = Graph{n,
                      reinterpret_cast<const int *>(memory + rows_at),
                      reinterpret_cast<int *>(memory + list_at),
                      reinterpret_cast<unsigned short *>(memory + rank_at),
                      reinterpret_cast<int2 *>(memory + row_at),
                      reinterpret_cast<int *>(memory + long_list_at),
                      reinterpret_cast<int *>(memory + long_row_at),
                      reinterpret_cast<Board *>(memory + board_at)};
        CHECK(cudaMemsetAsync(memory + board_at, 0, sizeof(Board)));
        CHECK(cudaMemcpyAsync(memory + rows_at, row_ptr, (vertices + 1) * sizeof(int),
                              cudaMemcpyHostToDevice));
        ranks<<<static_cast<unsigned>((vertices + THREADS - 1) / THREADS), THREADS>>>(graph);
        CHECK(cudaGetLastError());
    };
    auto direct = [&](size_t first_row, size_t last_row, cudaStream_t stream) {
        if (first_row == last_row)
            return;
        const size_t blocks = (last_row - first_row + WARPS - 1) / WARPS;
        direct_short<<<static_cast<unsigned>(std::min(blocks, size_t(32) * processors)), THREADS, 0,
                       stream>>>(graph, static_cast<int>(first_row), static_cast<int>(last_row));
        CHECK(cudaGetLastError());
    };
    if (m * sizeof(int) < PIPELINE_FROM) {
        open();
        if (m > 0)
            CHECK(cudaMemcpyAsync(memory + list_at, col_idx, m * sizeof(int),
                                  cudaMemcpyHostToDevice));
        direct(0, vertices, nullptr);
    } else {
        // Rows are shortened while the next ones are on their way.
        const transfer::Shape shape = transfer::shape_for(m * sizeof(int));
        const size_t slot_edges = shape.slot_bytes / sizeof(int);
        cudaStream_t copying, directing;
        cudaEvent_t arrived;
        size_t done = 0; // rows
        transfer::pipeline(
            shape, (m + slot_edges - 1) / slot_edges,
            [&] {
                open();
                CHECK(cudaStreamCreateWithFlags(&copying, cudaStreamNonBlocking));
                CHECK(cudaStreamCreateWithFlags(&directing, cudaStreamNonBlocking));
                CHECK(cudaEventCreateWithFlags(&arrived, cudaEventDisableTiming));
                CHECK(cudaStreamSynchronize(nullptr));
            },
            [&](size_t piece, char *slot) {
                const size_t first = piece * slot_edges;
                memcpy(slot, col_idx + first, std::min(slot_edges, m - first) * sizeof(int));
            },
            [&](size_t piece, size_t count, char *slot) {
                const size_t first = piece * slot_edges,
                             here = std::min(count * slot_edges, m - first);
                CHECK(cudaMemcpyAsync(memory + list_at + first * sizeof(int), slot,
                                      here * sizeof(int), cudaMemcpyHostToDevice, copying));
                CHECK(cudaEventRecord(arrived, copying));
                CHECK(cudaStreamWaitEvent(directing, arrived, 0));
                const size_t complete =
                    static_cast<size_t>(std::upper_bound(row_ptr + done + 1, row_ptr + n + 1,
                                                         static_cast<int>(first + here)) -
                                        (row_ptr + 1));
                direct(done, complete, directing);
                done = complete;
                return copying;
            },
            [](size_t, char *) {});
        CHECK(cudaStreamSynchronize(directing));
        CHECK(cudaEventDestroy(arrived));
        CHECK(cudaStreamDestroy(copying));
        CHECK(cudaStreamDestroy(directing));
    }
    const int most = static_cast<int>((vertices + WARPS - 1) / WARPS);
    direct_long<<<processors * 4, THREADS>>>(graph);
    CHECK(cudaGetLastError());
    count_short<<<std::min(most, processors * 32), THREADS>>>(graph);
    CHECK(cudaGetLastError());
    count_long<<<processors * 4, THREADS>>>(graph);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(triangle_count_out, memory + board_at, sizeof(unsigned long long),
                     cudaMemcpyDeviceToHost));
    CHECK(cudaFree(memory));
}
