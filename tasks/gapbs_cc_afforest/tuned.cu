// Connected components: union-find on the edges while they arrive.
//
// Approach: the row pointers come first, then the neighbours, through a ring of pinned slots that
// host threads fill. While the copy engine brings the next slots, one kernel a batch links the
// edges of the last ones: a block stages a stretch of them in shared memory, finds the first row
// by a 32-way search, and its threads walk on from there. An edge is handled where the neighbour
// is the smaller end. Both ends are followed to their roots, halving the paths, and the higher
// root is hung below the lower one by compare-and-swap; most edges join what is joined already,
// which one look tells. A last kernel replaces every parent by its root, the smallest vertex of
// the component.
//
// What bounds it: the host's copying into the ring, some 30 GB/s; nothing is left to do on the
// device but the last batch and the labels when the last edge has come.
//
// Tried: dropping the half with larger neighbours on the host with AVX-512, which halves what
// crosses the bus (no faster: the host has to read all of it, and the filter costs more than a
// copy); kernels that read the slots themselves instead of the copy engine (a tenth slower); slots
// of half the size (slower); twelve threads instead of eight (the same).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores: small 0.80 ms, medium 8.8 ms, large
// 16 ms (11 %, 47 % and 50 % of bytes, 1.1 us a step and 20 us; naive 1.3, 37 and 76 ms). An
// evaluation, which comes to a call with cold caches, takes 0.92 ms at small.
#include "transfer.cuh"

#include <algorithm>

constexpr int THREADS = 256, EACH = 8, STRETCH = THREADS * EACH; // edges of a thread, of a block
constexpr size_t PLAIN_UP_TO = size_t(6) << 20; // bytes; above, the edges come through the ring
constexpr size_t SLOT = size_t(1) << 20;

static __global__ void start(int n, int *parent)
{
    for (int v = blockIdx.x * THREADS + threadIdx.x; v < n; v += gridDim.x * THREADS)
        parent[v] = v;
}

// The root of v. A vertex only ever moves to one of its ancestors, so stale values do no harm.
static __device__ int find(int *parent, int v)
{
    for (;;) {
        const int above = __ldcg(parent + v), next = __ldcg(parent + above);
        if (above == next)
            return above;
        __stcg(parent + v, next);
        v = next;
    }
}

static __device__ void join(int *parent, int u, int v)
{
    if (__ldcg(parent + u) == __ldcg(parent + v))
        return;
    int a = find(parent, u), b = find(parent, v);
    while (a != b) {
        const int low = min(a, b), high = max(a, b);
        const int seen = atomicCAS(parent + high, high, low);
        if (seen == high)
            return;
        a = find(parent, low);
        b = find(parent, seen);
    }
}

// The last row that starts at edge e or before, so that it holds e; all lanes of a warp together.
static __device__ int row_of(const int *row_ptr, int n, int e)
{
    int low = 0, high = n; // row_ptr[low] <= e < row_ptr[high]
    const int lane = threadIdx.x % 32;
    while (high - low > 1) {
        const int step = (high - low + 31) / 32, probe = low + (lane + 1) * step;
        const bool before = probe < high && __ldg(row_ptr + probe) <= e;
        const int passed = __popc(__ballot_sync(~0u, before));
        high = min(high, low + (passed + 1) * step);
        low += passed * step;
    }
    return low;
}

// Edges `first` and on, `count` of them.
static __global__ void __launch_bounds__(THREADS)
    link(int n, int first, int count, const int *row_ptr, const int *columns, int *parent)
{
    __shared__ int column[STRETCH];
    __shared__ int bound[2];
    const int from = blockIdx.x * STRETCH, here = min(STRETCH, count - from);
    for (int i = threadIdx.x; i < here; i += THREADS)
        column[i] = columns[from + i];
    if (threadIdx.x < 64) {
        const int which = threadIdx.x / 32;
        const int row = row_of(row_ptr, n, first + from + (which ? here - 1 : 0));
        if (threadIdx.x % 32 == 0)
            bound[which] = row;
    }
    __syncthreads();
    const int mine = threadIdx.x * EACH, end = min(mine + EACH, here);
    if (mine >= here)
        return;
    int u = bound[0], high = bound[1] + 1;
    const int edge = first + from + mine;
    while (high - u > 1) {
        const int middle = u + (high - u) / 2;
        if (__ldg(row_ptr + middle) <= edge)
            u = middle;
        else
            high = middle;
    }
    int next = __ldg(row_ptr + u + 1);
    for (int i = mine; i < end; i++) {
        while (first + from + i >= next)
            next = __ldg(row_ptr + ++u + 1);
        if (column[i] < u)
            join(parent, u, column[i]);
    }
}

// No thread may write to the place of another here: a path halved with what was read before would
// undo its final value.
static __global__ void compress(int n, int *parent)
{
    for (int v = blockIdx.x * THREADS + threadIdx.x; v < n; v += gridDim.x * THREADS) {
        int root = __ldcg(parent + v);
        for (int above; (above = __ldcg(parent + root)) != root;)
            root = above;
        __stcg(parent + v, root);
    }
}

static int blocks_for(size_t count, size_t each)
{
    return static_cast<int>((count + each - 1) / each);
}

extern "C" void solution_compute(int n, int neighbor_rounds, int num_samples, const int *row_ptr,
                                 const int *col_idx, int *comp_out)
{
    (void)neighbor_rounds;
    (void)num_samples;
    const size_t vertices = static_cast<size_t>(n), edges = static_cast<size_t>(row_ptr[n]);
    const size_t rows_bytes = (vertices + 1) * sizeof(int), edge_bytes = edges * sizeof(int);
    const size_t parent_at = (rows_bytes + 255) / 256 * 256;
    const size_t columns_at = (parent_at + vertices * sizeof(int) + 255) / 256 * 256;
    const bool plain = rows_bytes + edge_bytes <= PLAIN_UP_TO;
    const int sweep = std::min(blocks_for(vertices, THREADS), 4096);
    char *memory = nullptr;
    if (plain) {
        CHECK(cudaMalloc(&memory, columns_at + edge_bytes));
        int *const rows = reinterpret_cast<int *>(memory);
        int *const parent = reinterpret_cast<int *>(memory + parent_at);
        int *const columns = reinterpret_cast<int *>(memory + columns_at);
        start<<<sweep, THREADS>>>(n, parent);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpyAsync(rows, row_ptr, rows_bytes, cudaMemcpyHostToDevice));
        if (edges > 0) {
            CHECK(cudaMemcpyAsync(columns, col_idx, edge_bytes, cudaMemcpyHostToDevice));
            link<<<blocks_for(edges, STRETCH), THREADS>>>(n, 0, static_cast<int>(edges), rows,
                                                          columns, parent);
            CHECK(cudaGetLastError());
        }
        compress<<<sweep, THREADS>>>(n, parent);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(comp_out, parent, vertices * sizeof(int), cudaMemcpyDeviceToHost));
        CHECK(cudaFree(memory));
        return;
    }
    const int threads = transfer::threads_for(8);
    const transfer::Shape shape = {threads, 2 * threads, SLOT};
    const size_t row_pieces = (rows_bytes + SLOT - 1) / SLOT;
    const size_t edge_pieces = (edge_bytes + SLOT - 1) / SLOT;
    cudaStream_t copying, linking;
    cudaEvent_t arrived;
    int *rows = nullptr, *parent = nullptr;
    auto bytes_of = [&](size_t piece, const char **ret_from) {
        const bool row = piece < row_pieces;
        const size_t at = (row ? piece : piece - row_pieces) * SLOT;
        *ret_from = reinterpret_cast<const char *>(row ? row_ptr : col_idx) + at;
        return std::min(SLOT, (row ? rows_bytes : edge_bytes) - at);
    };
    transfer::pipeline(
        shape, row_pieces + edge_pieces,
        [&] {
            CHECK(cudaMalloc(&memory, columns_at + static_cast<size_t>(shape.slots) * SLOT));
            rows = reinterpret_cast<int *>(memory);
            parent = reinterpret_cast<int *>(memory + parent_at);
            CHECK(cudaStreamCreateWithFlags(&copying, cudaStreamNonBlocking));
            CHECK(cudaStreamCreateWithFlags(&linking, cudaStreamNonBlocking));
            CHECK(cudaEventCreateWithFlags(&arrived, cudaEventDisableTiming));
            start<<<sweep, THREADS, 0, linking>>>(n, parent);
            CHECK(cudaGetLastError());
        },
        [&](size_t piece, char *slot) {
            const char *from;
            const size_t bytes = bytes_of(piece, &from);
            memcpy(slot, from, bytes);
        },
        [&](size_t piece, size_t count, char *slot) {
            // The pieces of a batch lie one after the other, in the slots as in the graph.
            size_t rows_here = piece < row_pieces ? std::min(count, row_pieces - piece) : 0;
            if (rows_here > 0)
                CHECK(cudaMemcpyAsync(memory + piece * SLOT, slot,
                                      std::min(rows_here * SLOT, rows_bytes - piece * SLOT),
                                      cudaMemcpyHostToDevice, copying));
            if (rows_here < count) {
                const size_t first = (piece + rows_here - row_pieces) * (SLOT / sizeof(int));
                const size_t here =
                    std::min((count - rows_here) * (SLOT / sizeof(int)), edges - first);
                int *const columns = reinterpret_cast<int *>(
                    memory + columns_at + (piece + rows_here) % shape.slots * SLOT);
                CHECK(cudaMemcpyAsync(columns, slot + rows_here * SLOT, here * sizeof(int),
                                      cudaMemcpyHostToDevice, copying));
                CHECK(cudaEventRecord(arrived, copying));
                CHECK(cudaStreamWaitEvent(linking, arrived, 0));
                link<<<blocks_for(here, STRETCH), THREADS, 0, linking>>>(
                    n, static_cast<int>(first), static_cast<int>(here), rows, columns, parent);
                CHECK(cudaGetLastError());
            }
            return rows_here < count ? linking : copying;
        },
        [](size_t, char *) {});
    compress<<<sweep, THREADS, 0, linking>>>(n, parent);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(linking));
    const transfer::Array out[] = {{parent, comp_out, vertices * sizeof(int)}};
    transfer::download(out, 1);
    CHECK(cudaEventDestroy(arrived));
    CHECK(cudaStreamDestroy(copying));
    CHECK(cudaStreamDestroy(linking));
    CHECK(cudaFree(memory));
}
