// Time warping of one query against many series: two warps a series, table strips in registers.
//
// Approach: a lane owns 17 or 18 columns of a series in registers and takes four rows of the table
// a step; the right edge of its strip reaches the next lane by shuffle for the next step. The
// second warp of a block takes the right half of the columns, 36 steps behind the first; the column
// between them goes through shared memory. Lanes that have not begun, or have ended, work on
// infinite rows, so that a step has no branch and little beside its cells: three instructions each,
// subtract, multiply-add, and one minimum of three (on the bits of the costs, which are not
// negative, where the device has one). Inputs of up to 6 MB are copied plainly, in two parts of a
// static arena of 1 MB that are copied to and compared in turn; larger ones pass through pinned
// slots and are read from there, each once. Longer series are taken two strips at a time, very long
// ones are swept by anti-diagonals.
//
// What bounds it: the plain copies at small and medium, and the latency of one table after the last
// of them; the host's copying at large.
//
// Tried: filling the table from both ends, a warp a half, and joining them in the middle (0.11 ms
// for one table, 0.9 ms for 4096; but sums taken from the other end round differently, by more than
// the task allows on one random walk in some hundred); minima of two operands (a tenth slower); a
// step that branches for lanes that have not begun (twice as long at small and medium: an array
// that is indexed at run time goes to local memory); four parts of the arena instead of two (6 and
// 15 % slower); four steps unrolled instead of two, slots of 128 KB (no faster, and noisier at
// large); one launch a slot instead of one for all slots that are ready (a third slower).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores (calls with cold caches, as an
// evaluation makes them, by bench/variants): small 0.23 ms, medium 0.48 ms, large 1.6 ms (1.5 to
// 2.8). The call floor is 34 % and 29 % of the first two. Naive: 202 and 250 ms at small and
// medium.
#include "transfer.cuh"

constexpr int HOST_THREADS = 4;
constexpr int SMALL_MIB = 6;
constexpr int ROWS = 4; // table rows that a lane takes at a time

constexpr size_t ARENA = 1000 * 1000, SLOT = size_t(256) << 10; // bytes
constexpr int BEAT = 4, LAG = 31 + BEAT + 1;                    // steps; see fill_strips
constexpr int MARGIN = 32 + LAG + BEAT;                         // blocks of rows
constexpr int UNROLLED = 2;           // steps in the loop, a divisor of BEAT: code of 7 KB
constexpr int STREAMS = 8, PARTS = 2; // PARTS: of the arena
constexpr size_t SMALL = size_t(SMALL_MIB)
                         << 20; // subjects that go through the arena by plain copies

// For small inputs: an allocation would cost as much as the rest.
static __device__ __align__(256) float arena[ARENA / sizeof(float)];

// Costs are not negative, so their bits order as integers do: one instruction for three operands
// where there is one.
static __device__ float min3(float a, float b, float c)
{
#if __CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1000
    return __int_as_float(__vimin3_s32(__float_as_int(a), __float_as_int(b), __float_as_int(c)));
#else
    return fminf(fminf(a, b), c);
#endif
}

// Blocks of ROWS table rows are counted from 0; in shared memory there are MARGIN more before and
// behind them, in which the query is infinite and so are the costs.
struct alignas(16) Rows {
    float at[ROWS];
};

// Two strips of a table side by side, one a warp: lane k owns COLUMNS columns of the subject in
// registers and takes a block of rows a step; what leaves its right edge reaches the next lane by
// shuffle for the next step. The second warp is LAG steps behind, with a barrier every BEAT steps
// in between. A lane that has not begun or has ended works on infinite rows, so that no step
// branches; `last` is the lane (of both warps) that ends with the last step, and whose last row of
// the table is left in `above`. Each warp finds its left edge in `left_edge` and leaves its right
// edge in `right_edge`, which for the second warp is the first one's left edge: read long before.
template <int COLUMNS>
static __device__ void fill_strips(int blocks, int last, const Rows *query,
                                   const float (&subject)[COLUMNS], const Rows *left_edge,
                                   Rows *right_edge, float (&above)[COLUMNS])
{
    const int lane = threadIdx.x % 32;
    const int needed = blocks + last % 32 + last / 32 * LAG, steps = (needed + BEAT - 1) / BEAT;
    const int begin = needed - steps * BEAT - static_cast<int>(threadIdx.x) / 32 * LAG;
    query += begin - lane;
    left_edge += begin;
    right_edge += begin - lane;
    float left[ROWS], corner = lane == 0 ? left_edge[-1].at[ROWS - 1] : INFINITY;
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        left[r] = lane == 0 ? left_edge->at[r] : INFINITY;
#pragma unroll
    for (int c = 0; c < COLUMNS; c++)
        above[c] = INFINITY;
    Rows q = *query;
    for (int step = 0; step < steps * BEAT; step += UNROLLED) {
        if (step % BEAT == 0)
            __syncthreads();
#pragma unroll
        for (int beat = 0; beat < UNROLLED; beat++) {
            const Rows now = q, edge = left_edge[beat + 1];
            q = query[beat + 1]; // for the next step, as is the edge
            float diagonal[ROWS];
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                diagonal[r] = r == 0 ? corner : left[r - 1];
            corner = left[ROWS - 1];
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) {
                float up = above[c];
#pragma unroll
                for (int r = 0; r < ROWS; r++) {
                    const float difference = now.at[r] - subject[c];
                    const float value =
                        fmaf(difference, difference, min3(up, left[r], diagonal[r]));
                    diagonal[r] = up; // what the next column finds above to its left
                    left[r] = up = value;
                }
                above[c] = up;
            }
            Rows leaving;
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                leaving.at[r] = left[r];
                const float beside = __shfl_up_sync(~0u, left[r], 1);
                left[r] = lane == 0 ? edge.at[r] : beside;
            }
            if (lane == 31)
                right_edge[beat] = leaving;
        }
        query += UNROLLED;
        left_edge += UNROLLED;
        right_edge += UNROLLED;
    }
}

// Where subjects and distances lie: `each` of them together, then the next ones `stride` values
// further on.
struct Batch {
    const float *subjects;
    float *distances;
    size_t each, stride;
};

// A block of two warps a subject, two strips at a time. Shared memory: the query, the column left
// of the two strips, the column between them, the subject's values of the strips.
template <int COLUMNS>
static __global__ void __launch_bounds__(64)
    warp_subjects(int length, Batch batch, const float *query)
{
    extern __shared__ Rows shared[];
    const int warp = threadIdx.x / 32;
    const int blocks = (length + ROWS - 1) / ROWS, padding = blocks * ROWS - length;
    const int room = blocks + 2 * MARGIN, pairs = (length + 64 * COLUMNS - 1) / (64 * COLUMNS);
    Rows *const rows = shared + MARGIN, *const outer = rows + room, *const between = outer + room;
    float *const series = reinterpret_cast<float *>(shared + 3 * room);

    const size_t part = blockIdx.x / batch.each, place = blockIdx.x % batch.each;
    const float *subject = batch.subjects + part * batch.stride + place * length;
    Rows infinite;
    for (float &cost : infinite.at)
        cost = INFINITY;
    for (int b = threadIdx.x; b < room; b += 64) {
        outer[b - MARGIN] = between[b - MARGIN] = infinite;
        if (b <= MARGIN || b >= MARGIN + blocks)
            shared[b] = infinite;
    }
    __syncthreads();
    // The query ends with the last block; infinite rows before it leave the one 0 before the
    // table's corner untouched.
#pragma unroll 6
    for (int i = threadIdx.x; i < length; i += 64)
        rows[(padding + i) / ROWS].at[(padding + i) % ROWS] = query[i];
    if (threadIdx.x == 0)
        outer[padding > 0 ? 0 : -1].at[(padding + ROWS - 1) % ROWS] = 0;

    for (int pair = 0; pair < pairs; pair++) {
        const int first = pair * 64 * COLUMNS;
        float values[COLUMNS], above[COLUMNS];
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) {
            const int j = c * 64 + static_cast<int>(threadIdx.x);
            values[c] = first + j < length ? subject[first + j] : 0.0f;
        }
#pragma unroll
        for (int c = 0; c < COLUMNS; c++)
            series[c * 64 + threadIdx.x] = values[c];
        __syncthreads();
#pragma unroll
        for (int c = 0; c < COLUMNS; c++)
            values[c] = series[threadIdx.x * COLUMNS + c];
        const int last = min((length - 1 - first) / COLUMNS, 63);
        fill_strips<COLUMNS>(blocks, last, rows, values, warp == 0 ? outer : between,
                             warp == 0 ? between : outer, above);
#pragma unroll
        for (int c = 0; c < COLUMNS; c++)
            if (first + static_cast<int>(threadIdx.x) * COLUMNS + c == length - 1)
                batch.distances[part * batch.stride + place] = above[c];
        __syncthreads();
    }
}

struct Plan {
    void (*kernel)(int, Batch, const float *);
    size_t shared_bytes;
    int pairs; // of strips
};

static Plan plan_for(int length)
{
    Plan plan;
    int columns = 18;
    if (length <= 64 * 17)
        columns = 17, plan.kernel = warp_subjects<17>;
    else
        plan.kernel = warp_subjects<18>;
    plan.pairs = (length + 64 * columns - 1) / (64 * columns);
    const size_t room = (static_cast<size_t>(length) + ROWS - 1) / ROWS + 2 * MARGIN;
    plan.shared_bytes = 3 * room * sizeof(Rows) + 64 * columns * sizeof(float);
    return plan;
}

static void launch(const Plan &plan, int count, int length, const Batch &batch, const float *query,
                   cudaStream_t stream)
{
    plan.kernel<<<count, 64, plan.shared_bytes, stream>>>(length, batch, query);
    CHECK(cudaGetLastError());
}

// Parts of the arena in turn, each with a stream of its own: one is copied to while the others'
// subjects are compared.
static void small_call(const Plan &plan, int entries, int length, const float *subjects,
                       const float *query, float *distances)
{
    float *memory;
    CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&memory), arena));
    float *d_query = memory, *d_distances = d_query + length, *rest = d_distances + entries;
    const int most = static_cast<int>((ARENA / sizeof(float) - length - entries) / PARTS / length);
    cudaStream_t streams[PARTS];
    for (cudaStream_t &stream : streams)
        CHECK(
            cudaStreamCreate(&stream)); // waits for the query's copy, which may still be on its way
    CHECK(cudaMemcpy(d_query, query, length * sizeof(float), cudaMemcpyHostToDevice));
    for (int first = 0, turn = 0; first < entries; first += most, turn = (turn + 1) % PARTS) {
        const int count = entries - first < most ? entries - first : most;
        float *part = rest + turn * static_cast<size_t>(most) * length;
        CHECK(cudaMemcpyAsync(part, subjects + static_cast<size_t>(first) * length,
                              static_cast<size_t>(count) * length * sizeof(float),
                              cudaMemcpyHostToDevice, streams[turn]));
        launch(plan, count, length, Batch{part, d_distances + first, static_cast<size_t>(count), 0},
               d_query, streams[turn]);
    }
    CHECK(cudaMemcpy(distances, d_distances, entries * sizeof(float),
                     cudaMemcpyDeviceToHost)); // after all streams
    for (cudaStream_t &stream : streams)
        CHECK(cudaStreamDestroy(stream));
}

// Subjects pass through pinned slots and are read from there by the kernel, each once.
static void streamed_call(const Plan &plan, int entries, int length, const float *subjects,
                          const float *query, float *distances)
{
    const size_t bytes = static_cast<size_t>(length) * sizeof(float), entry = bytes + sizeof(float);
    const int each = entry < SLOT ? static_cast<int>(SLOT / entry) : 1;
    const size_t pieces = (static_cast<size_t>(entries) + each - 1) / each;
    const int threads = transfer::threads_for(HOST_THREADS);
    const size_t slots = pieces < size_t(16) ? pieces : size_t(16);
    const transfer::Shape shape = {threads, static_cast<int>(slots),
                                   (each * entry + transfer::PAGE - 1) / transfer::PAGE *
                                       transfer::PAGE};
    auto count_of = [&](size_t piece) {
        const size_t left = entries - piece * each;
        return left < static_cast<size_t>(each) ? static_cast<int>(left) : each;
    };
    unsigned turn = 0;
    cudaStream_t streams[STREAMS];
    float *d_query;
    transfer::pipeline(
        shape, pieces,
        [&] {
            for (cudaStream_t &stream : streams)
                CHECK(cudaStreamCreate(
                    &stream)); // waits for the query's copy, which may still be on its way
            CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&d_query), arena));
            CHECK(cudaMemcpy(d_query, query, bytes, cudaMemcpyHostToDevice));
        },
        [&](size_t piece, char *slot) {
            memcpy(slot, subjects + piece * each * length, count_of(piece) * bytes);
        },
        [&](size_t piece, size_t count, char *slot) {
            cudaStream_t stream = streams[turn++ % STREAMS];
            float *data = reinterpret_cast<float *>(slot);
            const Batch batch = {data, data + static_cast<size_t>(each) * length,
                                 static_cast<size_t>(each), shape.slot_bytes / sizeof(float)};
            const int subjects_here =
                static_cast<int>(count - 1) * each + count_of(piece + count - 1);
            launch(plan, subjects_here, length, batch, d_query, stream);
            return stream;
        },
        [&](size_t piece, char *slot) {
            memcpy(distances + piece * each, slot + each * bytes, count_of(piece) * sizeof(float));
        });
    for (cudaStream_t &stream : streams)
        CHECK(cudaStreamDestroy(stream));
}

// Any length that shared memory holds; longer ones go to the kernel below.
static void plain_call(const Plan &plan, int entries, int length, const float *subjects,
                       const float *query, float *distances)
{
    const size_t values = static_cast<size_t>(entries) * length;
    float *memory;
    CHECK(cudaMalloc(&memory, (values + length + entries) * sizeof(float)));
    float *d_query = memory + values, *d_distances = d_query + length;
    const transfer::Array arrays[] = {{memory, subjects, values * 4},
                                      {d_query, query, static_cast<size_t>(length) * 4}};
    transfer::upload(arrays, 2);
    launch(plan, entries, length, Batch{memory, d_distances, static_cast<size_t>(entries), 0},
           d_query, nullptr);
    CHECK(cudaMemcpy(distances, d_distances, entries * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(memory));
}

// One block a subject, one anti-diagonal after the other in global memory: slow, and right at any
// length.
static __global__ void sweep_diagonals(int length, const float *subjects, const float *query,
                                       float *distances, float *lines)
{
    const float *subject = subjects + static_cast<size_t>(blockIdx.x) * length;
    float *line = lines + static_cast<size_t>(blockIdx.x) * 3 * length; // indexed by row
    for (int d = 0; d < 2 * length - 1; d++) {
        float *now = line + static_cast<size_t>(d % 3) * length;
        const float *before = line + static_cast<size_t>((d + 2) % 3) * length;
        const float *earlier = line + static_cast<size_t>((d + 1) % 3) * length;
        const int low = d < length ? 0 : d - length + 1, high = d < length ? d : length - 1;
        for (int i = low + threadIdx.x; i <= high; i += blockDim.x) {
            const int j = d - i;
            float best = d == 0 ? 0.0f : INFINITY;
            if (j > 0)
                best = fminf(best, before[i]);
            if (i > 0)
                best = fminf(best, before[i - 1]);
            if (i > 0 && j > 0)
                best = fminf(best, earlier[i - 1]);
            const float difference = query[i] - subject[j];
            now[i] = fmaf(difference, difference, best);
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        distances[blockIdx.x] =
            line[static_cast<size_t>((2 * length - 2) % 3) * length + length - 1];
}

static void long_call(int entries, int length, const float *subjects, const float *query,
                      float *distances)
{
    const size_t values = static_cast<size_t>(entries) * length;
    float *memory;
    CHECK(cudaMalloc(&memory, (4 * values + length + entries) * sizeof(float)));
    float *d_query = memory + values, *d_distances = d_query + length,
          *lines = d_distances + entries;
    const transfer::Array arrays[] = {{memory, subjects, values * 4},
                                      {d_query, query, static_cast<size_t>(length) * 4}};
    transfer::upload(arrays, 2);
    sweep_diagonals<<<entries, 1024>>>(length, memory, d_query, d_distances, lines);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(distances, d_distances, entries * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(memory));
}

extern "C" void solution_compute(int num_entries, int num_features, const float *subjects,
                                 const float *query, float *distances)
{
    const Plan plan = plan_for(num_features);
    const size_t bytes = static_cast<size_t>(num_entries) * num_features * sizeof(float);
    if (plan.shared_bytes > 48 * 1024)
        long_call(num_entries, num_features, subjects, query, distances);
    else if (plan.pairs > 1)
        plain_call(plan, num_entries, num_features, subjects, query, distances);
    else if (bytes <= SMALL && num_entries < 65536)
        small_call(plan, num_entries, num_features, subjects, query, distances);
    else
        streamed_call(plan, num_entries, num_features, subjects, query, distances);
}
