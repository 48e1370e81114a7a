// Temperature of a chip: all time steps at once as weighted sums, streamed row by row; step by step
// where that is not possible.
//
// Approach: a step is linear with the same coefficients everywhere, and a border acts like a
// mirror. So the field after I steps is the start field and the power, each convolved with fixed
// weights: the coefficients of the I-th power of the step, and of the sum of all lower powers. On
// wide grids heat travels some tens of columns and hardly crosses rows, so that weights for up to
// 64 columns and 2 rows to each side hold all of it but 1e-7. They are computed in double for every
// call. The rows stream through pinned slots: threads of the host bring a row of each
// field, one kernel computes the rows whose neighbours have come (sums of rows at equal distance in
// shared memory, eight columns a thread in registers) and writes them into the slots, from where
// the host takes them away. Where the weights reach further (tall and square grids of many steps),
// one kernel a step.
//
// What bounds it: the host's copying of 12 bytes a cell through the ring, and some 10 us of calls
// for a batch of rows.
//
// Tried: smaller slots (slower: more calls); twelve threads instead of eight (a tenth faster at
// large, slower at small). Stepping would have to keep up to 200 steps of a field in flight behind
// the copies; the weighted sums cost a tenth of its arithmetic.
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores: small 1.7 ms, medium 2.9 ms, large
// 4.9 ms (19 %, 22 % and 25 % of what the bus needs for the two fields; naive 4.8 and 11 ms at
// small and medium). An evaluation, which comes to a call with cold caches, takes 1.70 ms at small.
#include "transfer.cuh"

#include <cmath>
#include <vector>

constexpr int PIECE_KIB = 128; // of each field in a slot

constexpr int REACH_MAX = 64; // columns that heat may travel in the fast way
constexpr int PER_THREAD = 8, THREADS = 128;
constexpr int WIDTH = PER_THREAD * THREADS; // columns that a block finishes
constexpr int BANDS = 3;                    // rows apart: 0, 1, 2
constexpr int SPREAD = BANDS - 1;
constexpr int STEP_X = 32, STEP_Y = 8; // block of the fallback

struct Coefficients {
    float step, x, y, z; // as the statement has them: k, X, Y, Z
};

static Coefficients coefficients(int rows, int cols)
{
    const float thickness = 0.0005f, side = 0.016f, conductivity = 100.0f, heat = 1.75e6f,
                factor = 0.5f;
    const float height = side / static_cast<float>(rows), width = side / static_cast<float>(cols);
    const float capacity = factor * heat * thickness * width * height;
    const float slope = 3.0e6f / (factor * thickness * heat);
    return Coefficients{0.001f / slope / 1000.0f / capacity,
                        1.0f / (width / (2.0f * conductivity * thickness * height)),
                        1.0f / (height / (2.0f * conductivity * thickness * width)),
                        1.0f / (thickness / (conductivity * height * width))};
}

static __device__ int mirrored(int i, int count)
{
    const int period = 2 * count;
    i = ((i % period) + period) % period;
    return i < count ? i : period - 1 - i;
}

// All steps at once, as weighted sums over the start field and the power. weight[b][0][d]: of the
// start temperature b rows and d columns away; weight[b][1][d]: of the power there.
struct Weights {
    float weight[BANDS][2][REACH_MAX + 1];
    float constant;
    int reach;
};

// A step is T' = (c + kX (E + W) + kY (N + S)) T + k p + const, with E, W, N, S the shifts by one
// cell (at a border: onto the cell itself). Shifts commute, so I steps are the sum over j of C(I,j)
// (kY (N+S))^j (c + kX (E+W))^(I-j), and where little heat crosses rows, few j matter. The power
// goes through the sum of the powers 0..I-1. False where heat travels too far, or crosses too many
// rows, for that.
static bool collapse(const Coefficients &k, int iters, Weights *ret)
{
    const double kx = static_cast<double>(k.step) * k.x, ky = static_cast<double>(k.step) * k.y;
    const double kz = static_cast<double>(k.step) * k.z, c = 1 - kz - 2 * kx - 2 * ky;
    const double crossing = 2 * ky * iters;            // expected crossings of rows by the end
    if (crossing > 0.008 || iters > 2000 || kx > 0.25) // the next term: crossing^3 / 6
        return false;
    const double wanted = 6.0 * std::sqrt(2 * kx * iters) + 6;
    if (wanted > REACH_MAX)
        return false;
    const int reach = static_cast<int>(wanted);
    // power[d] = coefficient of E^d in (c + kX (E+W))^m; sums[j] = sum over m of C(m+j,j) power_m
    std::vector<double> power(reach + 2, 0.0), next(reach + 2, 0.0), sums[BANDS], last[BANDS];
    for (int j = 0; j < BANDS; j++) {
        sums[j].assign(reach + 1, 0.0);
        last[j].assign(reach + 1, 0.0);
    }
    power[0] = 1;
    for (int m = 0; m <= iters; m++) {
        double choose = 1; // C(m+j, j)
        for (int j = 0; j < BANDS; j++) {
            if (j > 0)
                choose *= static_cast<double>(m + j) / j;
            if (m + j <= iters - 1)
                for (int d = 0; d <= reach; d++)
                    sums[j][d] += choose * power[d];
            if (m + j == iters)
                for (int d = 0; d <= reach; d++)
                    last[j][d] = choose * power[d];
        }
        next[0] = c * power[0] + 2 * kx * power[1];
        for (int d = 1; d <= reach; d++)
            next[d] = c * power[d] + kx * (power[d - 1] + power[d + 1]);
        power.swap(next);
    }
    double mass = 0;
    for (int d = 0; d <= reach; d++)
        mass += (d == 0 ? 1 : 2) * last[0][d];
    if (std::fabs(mass / std::pow(1 - kz - 2 * ky, iters) - 1) > 1e-7)
        return false;
    for (int d = 0; d <= reach; d++)
        for (int field = 0; field < 2; field++) {
            const std::vector<double> *const of = field == 0 ? last : sums;
            const double scale = field == 0 ? 1 : k.step;
            // (N+S)^2 = N^2 + 2 + S^2
            ret->weight[0][field][d] =
                static_cast<float>(scale * (of[0][d] + 2 * ky * ky * of[2][d]));
            ret->weight[1][field][d] = static_cast<float>(scale * ky * of[1][d]);
            ret->weight[2][field][d] = static_cast<float>(scale * ky * ky * of[2][d]);
        }
    ret->constant = static_cast<float>(80 * (1 - std::pow(1 - kz, iters)));
    ret->reach = reach;
    return true;
}

// A slot brings `each` rows, then has room for as many finished ones, which lie SPREAD rows behind.
// On the device the rows that came last lie in a ring.
struct Layout {
    int each, ring_rows, first_brought; // first_brought: the row that the first of the slots brings
    size_t slot_bytes;
};

// One row of the answer, WIDTH columns a block. fields: a ring of rows, each the start temperatures
// of a row and then its powers. In shared memory lie, for each field, the row, the sum of the two
// rows beside it, that of the next two; each is convolved with its weights, eight neighbouring
// columns a thread.
static __global__ void weigh_row(int rows, int cols, int first_row, Layout layout,
                                 const float *fields, const __grid_constant__ Weights w,
                                 char *slots)
{
    extern __shared__ float4 shared[];
    float *const tile = reinterpret_cast<float *>(shared);
    const int margin = (w.reach + 3) / 4 * 4, span = WIDTH + 2 * margin;
    const int first = blockIdx.x * WIDTH, row = first_row + blockIdx.y;
    for (int i = threadIdx.x; i < span; i += THREADS) {
        const int column = first - margin + i;
        const int from = column >= 0 && column < cols ? column : mirrored(column, cols);
        for (int b = 0; b < BANDS; b++) {
            const float *above =
                fields + 2 * static_cast<size_t>(mirrored(row - b, rows) % layout.ring_rows) * cols;
            const float *below =
                fields + 2 * static_cast<size_t>(mirrored(row + b, rows) % layout.ring_rows) * cols;
            for (int field = 0; field < 2; field++) {
                float value = above[field * cols + from];
                if (b > 0)
                    value += below[field * cols + from];
                tile[(b * 2 + field) * span + i] = value;
            }
        }
    }
    __syncthreads();
    const int mine = threadIdx.x * PER_THREAD;
    float sum[PER_THREAD];
    for (int i = 0; i < PER_THREAD; i++)
        sum[i] = w.constant;
    for (int b = BANDS - 1; b >= 0; b--)
        for (int field = 1; field >= 0; field--) {
            const float *line = tile + (b * 2 + field) * span + mine;
            const float *weight = w.weight[b][field];
            float window[PER_THREAD + 4];
            for (int i = 0; i < PER_THREAD; i += 4) {
                const float4 four = *reinterpret_cast<const float4 *>(line + i);
                window[i] = four.x, window[i + 1] = four.y, window[i + 2] = four.z,
                window[i + 3] = four.w;
            }
            for (int at = -margin; at <= margin; at += 4) {
                const float4 four = *reinterpret_cast<const float4 *>(
                    line + (at + margin + PER_THREAD < span - mine ? at + margin + PER_THREAD
                                                                   : at + margin));
                window[PER_THREAD] = four.x, window[PER_THREAD + 1] = four.y;
                window[PER_THREAD + 2] = four.z, window[PER_THREAD + 3] = four.w;
#pragma unroll
                for (int d = 0; d < 4; d++) {
                    const int away = at + d < 0 ? -at - d : at + d;
                    const float factor = away <= w.reach ? weight[away] : 0.0f;
#pragma unroll
                    for (int i = 0; i < PER_THREAD; i++)
                        sum[i] = fmaf(factor, window[i + d], sum[i]);
                }
#pragma unroll
                for (int i = 0; i < PER_THREAD; i++)
                    window[i] = window[i + 4];
            }
        }
    // Through shared memory, so that the bus sees whole lines.
    __syncthreads();
    for (int i = 0; i < PER_THREAD; i++)
        tile[mine + i] = sum[i];
    __syncthreads();
    const int from_first = row + SPREAD - layout.first_brought;
    float *out = reinterpret_cast<float *>(slots + from_first / layout.each * layout.slot_bytes) +
                 static_cast<size_t>(2 * layout.each + from_first % layout.each) * cols;
    for (int i = threadIdx.x; i < WIDTH && first + i < cols; i += THREADS)
        out[first + i] = tile[i];
}

// Rows stream through: while some are on their way in, those whose neighbours are there are
// computed and go out.
static void all_steps_at_once(int rows, int cols, const Weights &weights, const float *temp0,
                              const float *power, float *out_temp)
{
    const size_t row_bytes = static_cast<size_t>(cols) * sizeof(float);
    const int each =
        row_bytes < PIECE_KIB * 1024 ? static_cast<int>(PIECE_KIB * 1024 / row_bytes) : 1;
    const int pieces = (rows + SPREAD + each - 1) / each;
    const int threads = transfer::threads_for(static_cast<size_t>(rows) * cols < 3000000 ? 8 : 12),
              wished = threads < 3 ? 6 : 2 * threads; // no fewer than rows apart, and one
    const int slots = pieces < wished ? pieces : wished;
    const transfer::Shape shape = {threads, slots,
                                   (3 * each * row_bytes + transfer::PAGE - 1) / transfer::PAGE *
                                       transfer::PAGE};
    // Twice the slots, so that slots in a row are rows in a row; a row is used until the slot has
    // come round again.
    const int ring_rows = 2 * slots * each;
    const int margin = (weights.reach + 3) / 4 * 4;
    const size_t shared_bytes =
        static_cast<size_t>(BANDS) * 2 * (WIDTH + 2 * margin) * sizeof(float);
    float *fields = nullptr;
    cudaStream_t copying, computing;
    cudaEvent_t arrived;
    auto finished = [&](size_t piece, int *count) { // first row that a piece finishes
        const int begin = static_cast<int>(piece) * each - SPREAD, end = begin + each;
        const int from = begin > 0 ? begin : 0;
        *count = (end < rows ? end : rows) - from;
        return from;
    };
    transfer::pipeline(
        shape, static_cast<size_t>(pieces),
        [&] {
            CHECK(cudaMalloc(&fields, 2 * static_cast<size_t>(ring_rows) * row_bytes));
            CHECK(cudaStreamCreateWithFlags(&copying, cudaStreamNonBlocking));
            CHECK(cudaStreamCreateWithFlags(&computing, cudaStreamNonBlocking));
            CHECK(cudaEventCreateWithFlags(&arrived, cudaEventDisableTiming));
        },
        [&](size_t piece, char *slot) {
            for (int i = 0; i < each; i++) {
                const size_t row = piece * each + i;
                if (row >= static_cast<size_t>(rows))
                    break;
                memcpy(slot + 2 * i * row_bytes, temp0 + row * cols, row_bytes);
                memcpy(slot + (2 * i + 1) * row_bytes, power + row * cols, row_bytes);
            }
        },
        [&](size_t piece, size_t count, char *slot) {
            const int begin = static_cast<int>(piece) * each,
                      end = begin + static_cast<int>(count) * each;
            const size_t in_bytes = 2 * each * row_bytes;
            if (begin < rows) {
                CHECK(cudaMemcpy2DAsync(fields + 2 * static_cast<size_t>(begin % ring_rows) * cols,
                                        in_bytes, slot, shape.slot_bytes, in_bytes, count,
                                        cudaMemcpyHostToDevice, copying));
                CHECK(cudaEventRecord(arrived, copying));
                CHECK(cudaStreamWaitEvent(computing, arrived, 0));
            }
            const int from = begin > SPREAD ? begin - SPREAD : 0,
                      to = end - SPREAD < rows ? end - SPREAD : rows;
            if (from < to) {
                const dim3 grid((cols + WIDTH - 1) / WIDTH, to - from);
                const Layout layout = {each, ring_rows, begin, shape.slot_bytes};
                weigh_row<<<grid, THREADS, shared_bytes, computing>>>(rows, cols, from, layout,
                                                                      fields, weights, slot);
                CHECK(cudaGetLastError());
            }
            return computing;
        },
        [&](size_t piece, char *slot) {
            int count;
            const int from = finished(piece, &count);
            if (count > 0)
                memcpy(out_temp + static_cast<size_t>(from) * cols,
                       slot + (2 * each + from + SPREAD - piece * each) * row_bytes,
                       count * row_bytes);
        });
    CHECK(cudaEventDestroy(arrived));
    CHECK(cudaStreamDestroy(copying));
    CHECK(cudaStreamDestroy(computing));
    CHECK(cudaFree(fields));
}

static __global__ void one_step(int rows, int cols, Coefficients k, const float *field,
                                const float *power, float *next)
{
    const int c = blockIdx.x * STEP_X + threadIdx.x;
    if (c >= cols)
        return;
    for (int r = blockIdx.y * STEP_Y + threadIdx.y; r < rows; r += gridDim.y * STEP_Y) {
        const float *row = field + static_cast<size_t>(r) * cols;
        const float here = row[c];
        const float north = r > 0 ? row[c - cols] : here,
                    south = r < rows - 1 ? row[c + cols] : here;
        const float west = c > 0 ? row[c - 1] : here, east = c < cols - 1 ? row[c + 1] : here;
        next[static_cast<size_t>(r) * cols + c] =
            here + k.step * (power[static_cast<size_t>(r) * cols + c] +
                             (south + north - 2.0f * here) * k.y +
                             (east + west - 2.0f * here) * k.x + (80.0f - here) * k.z);
    }
}

static void step_by_step(int rows, int cols, int iters, const Coefficients &k, const float *temp0,
                         const float *power, float *out_temp)
{
    const size_t count = static_cast<size_t>(rows) * cols, bytes = count * sizeof(float);
    float *memory;
    CHECK(cudaMalloc(&memory, 3 * bytes));
    float *field = memory, *next = memory + count, *d_power = memory + 2 * count;
    const transfer::Array in[] = {{field, temp0, bytes}, {d_power, power, bytes}};
    transfer::upload(in, 2);
    const dim3 block(STEP_X, STEP_Y);
    const int high = (rows + STEP_Y - 1) / STEP_Y;
    const dim3 grid((cols + STEP_X - 1) / STEP_X, high < 65535 ? high : 65535);
    for (int i = 0; i < iters; i++) {
        one_step<<<grid, block>>>(rows, cols, k, field, d_power, next);
        CHECK(cudaGetLastError());
        float *const kept = field;
        field = next;
        next = kept;
    }
    CHECK(cudaDeviceSynchronize());
    const transfer::Array out[] = {{field, out_temp, bytes}};
    transfer::download(out, 1);
    CHECK(cudaFree(memory));
}

extern "C" void solution_compute(int rows, int cols, int iters, const float *temp0,
                                 const float *power, float *out_temp)
{
    if (iters <= 0)
        return;
    const Coefficients k = coefficients(rows, cols);
    Weights weights;
    if (cols >= 512 && rows >= SPREAD && collapse(k, iters, &weights))
        all_steps_at_once(rows, cols, weights, temp0, power, out_temp);
    else
        step_by_step(rows, cols, iters, k, temp0, power, out_temp);
}
