// Dynamic pricing with self-exciting demand: a block a product; values and numbers of actions
// stream to the host by slabs of time, and host threads put them in place.
//
// Approach: a block steps a product back through time with two rows of values in shared memory; the
// gain is a parabola in the action, so only the two actions next to its top are compared. Answers
// are written time-major and turned by a second kernel into pieces, a quarter of all times each.
// While later quarters are computed, pieces come through pinned slots, and host threads copy the
// values to their rows and spread the actions, which travel as one byte each, into floats.
//
// What bounds it: the host, which writes 8 bytes a state and time.
// With actions as bytes the bus needs 36 % of the time at large.
//
// Tried: 8 or 15 host threads instead of 12, two, three or eight parts of time instead of four
// (within the noise of the machine, which is large here); stores past the caches (slower at
// small and medium, no better at large).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores: small 1.2 to 1.4 ms, medium 6.7 to
// 8.9 ms, large 40 to 50 ms (13 %, 37 % and 52 % of what the bus needs for two whole float arrays;
// naive 8 to 12, 17 and 100 to 210 ms). An evaluation, which comes to a call with cold caches,
// takes 1.21 ms at small.
#include "transfer.cuh"

constexpr int HOST_THREADS = 12, SLABS = 4; // SLABS: of time
constexpr float ACTION_STEP = 0.001f;
constexpr int TILE = 32;

struct Model {
    int points, times, actions;
    float h, tau, lambda0, a, b;
};

// How the answer is cut: slabs of `width` times, pieces of `rows_each` states of a slab. A piece
// holds the values, and then the numbers of the actions, of its states, `width` of each for a
// state.
struct Layout {
    int rows, width, rows_each;
    size_t piece_bytes;
};

// Place on the grid of points 0, 1, .. and how far to the next one.
struct Place {
    int base, slope_from;
    float weight;
};

static __device__ Place place_of(float g, int points)
{
    const int m = max(1, g >= static_cast<float>(points) ? points : static_cast<int>(g));
    return Place{m - 1, min(m, points - 1) - 1, g - static_cast<float>(m)};
}

static __device__ float value_at(const float *u, const Place &at)
{
    return fmaf(at.weight, u[at.slope_from + 1] - u[at.slope_from], u[at.base]);
}

// Times last, last - 1, .. first of all products, a block each. values, codes: time-major, so that
// a warp's stores are whole lines; `later`: the values of time last + 1, time-major too, null where
// that is beyond the end.
template <typename Code, bool SHARED>
static __global__ void __launch_bounds__(1024)
    advance(const Model p, int first, int last, const float *alpha0, const float *beta,
            const float *later, float *values, Code *codes)
{
    extern __shared__ float shared[];
    const size_t rows = static_cast<size_t>(gridDim.x) * p.points;
    const size_t mine = static_cast<size_t>(blockIdx.x) * p.points;
    const float decay = 1.0f - beta[blockIdx.x] * p.tau;
    const float jump = alpha0[blockIdx.x] / p.h * decay, per_b = 1.0f / p.b;
    if (SHARED) {
        for (int j = threadIdx.x; j < p.points; j += blockDim.x)
            shared[j] = later ? later[mine + j] : 0.0f;
        __syncthreads();
    }
    const float *old = SHARED ? shared : later + mine;
    for (int n = last; n >= first; n--) {
        float *const row = values + static_cast<size_t>(n - first) * rows + mine;
        Code *const chosen = codes + static_cast<size_t>(n - first) * rows + mine;
        float *const now = SHARED ? shared + ((last - n) % 2 ? 0 : p.points) : row;
        for (int j = threadIdx.x; j < p.points; j += blockDim.x) {
            float value = 0.0f, k = 0.0f;
            if (n < p.times - 1) {
                const float i = static_cast<float>(j + 1), x = i * p.h, without = i * decay;
                const float kept = value_at(old, place_of(without, p.points)),
                            sold = value_at(old, place_of(without + jump, p.points));
                // A parabola in the action: the best one is next to its top.
                k = floorf(((p.a + p.b * (sold - kept)) * 0.5f - p.lambda0) * (1 / ACTION_STEP));
                k = fmaxf(fminf(k, static_cast<float>(p.actions - 1)), 0.0f);
                const float next = fminf(k + 1.0f, static_cast<float>(p.actions - 1));
                const float l = p.lambda0 + k * ACTION_STEP, m = p.lambda0 + next * ACTION_STEP;
                const float gain = l * (((p.a - l) * per_b + sold) - kept),
                            gain_next = m * (((p.a - m) * per_b + sold) - kept);
                k = gain_next > gain ? next : k;
                value = kept + (((x + 0.001f * x * x) + 1.0f) * p.tau) * fmaxf(gain, gain_next);
            }
            if (SHARED)
                now[j] = value;
            row[j] = value;
            chosen[j] = static_cast<Code>(k);
        }
        old = now;
        __syncthreads();
    }
}

// From time-major to pieces.
template <typename Code>
static __global__ void turn(const Layout layout, int times, const float *values, const Code *codes,
                            char *pieces)
{
    __shared__ float value[TILE][TILE + 1];
    __shared__ Code code[TILE][TILE + 4 / sizeof(Code)];
    const int first_row = blockIdx.x * TILE;
    for (int first_time = blockIdx.y * TILE; first_time < times; first_time += gridDim.y * TILE) {
        for (int y = threadIdx.y; y < TILE; y += blockDim.y) {
            const int row = first_row + threadIdx.x, time = first_time + y;
            if (row < layout.rows && time < times) {
                value[y][threadIdx.x] = values[static_cast<size_t>(time) * layout.rows + row];
                code[y][threadIdx.x] = codes[static_cast<size_t>(time) * layout.rows + row];
            }
        }
        __syncthreads();
        for (int y = threadIdx.y; y < TILE; y += blockDim.y) {
            const int row = first_row + y, time = first_time + threadIdx.x;
            if (row < layout.rows && time < times) {
                char *piece = pieces + row / layout.rows_each * layout.piece_bytes;
                const size_t at = static_cast<size_t>(row % layout.rows_each) * layout.width + time;
                const size_t all = static_cast<size_t>(layout.rows_each) * layout.width;
                reinterpret_cast<float *>(piece)[at] = value[threadIdx.x][y];
                reinterpret_cast<Code *>(piece + all * sizeof(float))[at] = code[threadIdx.x][y];
            }
        }
        __syncthreads();
    }
}

template <typename Code>
static void solve(int batch_size, const Model &model, const float *alpha0, const float *beta,
                  float *U, float *Lambda)
{
    const int rows = batch_size * model.points, N = model.times;
    const int width = (N + SLABS - 1) / SLABS, slabs = (N + width - 1) / width;
    const size_t answer = static_cast<size_t>(rows) * N * sizeof(float);
    const bool is_small = answer < (size_t(16) << 20);
    const size_t state_bytes = static_cast<size_t>(width) * (sizeof(float) + sizeof(Code)),
                 wished = (is_small                       ? size_t(256)
                           : answer < (size_t(256) << 20) ? 512
                                                          : 1024)
                          << 10;
    int rows_each = static_cast<int>(wished / state_bytes);
    rows_each = rows_each < 1 ? 1 : rows_each < rows ? rows_each : rows;
    const size_t piece_bytes =
        (rows_each * state_bytes + transfer::PAGE - 1) / transfer::PAGE * transfer::PAGE;
    const Layout layout = {rows, width, rows_each, piece_bytes};
    const size_t per_slab = (static_cast<size_t>(rows) + rows_each - 1) / rows_each;
    const int threads = transfer::threads_for(is_small ? 4 : HOST_THREADS);
    const transfer::Shape shape = {threads, 2 * threads, piece_bytes};

    const size_t slab_values = static_cast<size_t>(rows) * width;
    const size_t turn_bytes = (slab_values * sizeof(float) + 255) / 256 * 256,
                 code_bytes = (slab_values * sizeof(Code) + 255) / 256 * 256,
                 input_bytes =
                     (2 * static_cast<size_t>(batch_size) * sizeof(float) + 255) / 256 * 256;
    char *memory = nullptr, *pieces = nullptr;
    cudaStream_t computing, turning, copying[2];
    cudaEvent_t advanced[SLABS], turned[SLABS];
    int device, shared_most, turn_copy = 0;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&shared_most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    transfer::pipeline(
        shape, static_cast<size_t>(slabs) * per_slab,
        [&] {
            CHECK(cudaMalloc(&memory, input_bytes + 2 * (turn_bytes + code_bytes) +
                                          slabs * per_slab * piece_bytes));
            pieces = memory + input_bytes + 2 * (turn_bytes + code_bytes);
            float *d_alpha0 = reinterpret_cast<float *>(memory), *d_beta = d_alpha0 + batch_size;
            CHECK(cudaStreamCreateWithFlags(&computing, cudaStreamNonBlocking));
            CHECK(cudaStreamCreateWithFlags(&turning, cudaStreamNonBlocking));
            for (cudaStream_t &stream : copying)
                CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
            CHECK(cudaMemcpyAsync(d_alpha0, alpha0, batch_size * sizeof(float),
                                  cudaMemcpyHostToDevice, computing));
            CHECK(cudaMemcpyAsync(d_beta, beta, batch_size * sizeof(float), cudaMemcpyHostToDevice,
                                  computing));
            const size_t shared_bytes = 2 * static_cast<size_t>(model.points) * sizeof(float);
            const bool fits = shared_bytes <= static_cast<size_t>(shared_most);
            const int block = model.points < 1024 ? (model.points + 31) / 32 * 32 : 1024;
            if (fits)
                CHECK(cudaFuncSetAttribute(advance<Code, true>,
                                           cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           static_cast<int>(shared_bytes)));
            const float *later = nullptr;
            for (int s = 0; s < slabs; s++) { // from the end of time
                const int first = (slabs - 1 - s) * width,
                          last = first + width < N ? first + width - 1 : N - 1;
                char *buffer = memory + input_bytes + s % 2 * (turn_bytes + code_bytes);
                float *values = reinterpret_cast<float *>(buffer);
                Code *codes = reinterpret_cast<Code *>(buffer + turn_bytes);
                if (s > 1)
                    CHECK(cudaStreamWaitEvent(computing, turned[s - 2], 0));
                if (fits)
                    advance<Code, true><<<batch_size, block, shared_bytes, computing>>>(
                        model, first, last, d_alpha0, d_beta, later, values, codes);
                else
                    advance<Code, false><<<batch_size, block, 0, computing>>>(
                        model, first, last, d_alpha0, d_beta, later, values, codes);
                CHECK(cudaGetLastError());
                later = values;
                CHECK(cudaEventCreateWithFlags(&advanced[s], cudaEventDisableTiming));
                CHECK(cudaEventCreateWithFlags(&turned[s], cudaEventDisableTiming));
                CHECK(cudaEventRecord(advanced[s], computing));
                CHECK(cudaStreamWaitEvent(turning, advanced[s], 0));
                const int tiles = (width + TILE - 1) / TILE;
                const dim3 grid((rows + TILE - 1) / TILE, tiles < 65535 ? tiles : 65535);
                turn<Code><<<grid, dim3(TILE, 8), 0, turning>>>(
                    layout, last - first + 1, values, codes, pieces + s * per_slab * piece_bytes);
                CHECK(cudaGetLastError());
                CHECK(cudaEventRecord(turned[s], turning));
            }
        },
        [](size_t, char *) {},
        [&](size_t piece, size_t count, char *slot) {
            const size_t slab = (piece + count - 1) / per_slab;
            cudaStream_t stream = copying[turn_copy ^= 1];
            CHECK(cudaStreamWaitEvent(stream, turned[slab], 0));
            CHECK(cudaMemcpyAsync(slot, pieces + piece * piece_bytes, count * piece_bytes,
                                  cudaMemcpyDeviceToHost, stream));
            return stream;
        },
        [&](size_t piece, char *slot) {
            const int slab = static_cast<int>(piece / per_slab), first = (slabs - 1 - slab) * width;
            const int count = first + width < N ? width : N - first;
            const size_t from = piece % per_slab * rows_each;
            const size_t end =
                from + rows_each < static_cast<size_t>(rows) ? from + rows_each : rows;
            const float *values = reinterpret_cast<const float *>(slot);
            const Code *codes = reinterpret_cast<const Code *>(
                slot + static_cast<size_t>(rows_each) * width * sizeof(float));
            for (size_t row = from; row < end; row++) {
                const size_t at = row * N + first;
                memcpy(U + at, values + (row - from) * width, count * sizeof(float));
                const Code *code = codes + (row - from) * width;
                float *to = Lambda + at;
                for (int n = 0; n < count; n++)
                    to[n] = model.lambda0 + static_cast<float>(code[n]) * ACTION_STEP;
                if (first + count == N)
                    to[count - 1] = 0.0f;
            }
        });
    for (int s = 0; s < slabs; s++) {
        CHECK(cudaEventDestroy(advanced[s]));
        CHECK(cudaEventDestroy(turned[s]));
    }
    CHECK(cudaStreamDestroy(computing));
    CHECK(cudaStreamDestroy(turning));
    for (cudaStream_t &stream : copying)
        CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(memory));
}

extern "C" void solution_compute(int batch_size, int J, int N, int num_actions, float h, float tau,
                                 float lambda0, float a, float b_param, const float *alpha0,
                                 const float *beta, float *U, float *Lambda)
{
    const Model model = {J, N, num_actions, h, tau, lambda0, a, b_param};
    if (num_actions <= 256)
        solve<unsigned char>(batch_size, model, alpha0, beta, U, Lambda);
    else
        solve<float>(batch_size, model, alpha0, beta, U, Lambda);
}
