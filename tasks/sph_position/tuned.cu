// Drift of particles: device and host threads share the stream of particles.
//
// Approach: every byte of input and output passes through the host's cores anyway, if only to be
// copied to and from pinned memory, and a core that copies a particle in and out could have moved
// it in less time. So of each sixteen particles the device computes one and the host fifteen: a
// thread that fills a slot for the device first computes the stretch behind it, with stores past
// the caches. The kernel reads and writes pinned slots, so nothing is allocated on the device. Few
// particles: the device takes a twenty-fourth by plain copies, four threads and the caller the
// rest, piece by piece.
//
// What bounds it: the host's memory, 52 bytes a particle at some 90 GB/s; small: starting threads.
//
// Tried: device only (0 of the host's share: 47 and 63 ms at medium and large), half (21 and 21
// ms), a quarter (10 and 13 ms), an eighth (8.9 and 12 ms), a thirty-second (as a sixteenth);
// twelve threads (slower); other sizes of slots (no difference). At small other numbers of threads:
// slower, none at all 0.48 ms.
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores: small 0.21 ms, medium 8.6 ms, large
// 9.8 ms (21 %, 87 % and 101 % of what the bus would need for the longer way; naive 0.67, 79 and 87
// ms). An evaluation, which comes to a call with cold caches, takes 0.34 ms at small. The CPU
// program parallel wins there, with 0.26 ms on 15 cores: a particle is a few additions, done by
// then where it lies.
#include "transfer.cuh"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#include <cmath>

constexpr int PIECE = 4096;                // particles that a slot brings to the device
constexpr int HOST_PER_PIECE = 15 * PIECE; // that the thread which fills the slot computes itself
constexpr int BLOCK = 128, AT_ONCE = 4;
constexpr size_t ARENA = 1000 * 1000;
constexpr int SMALL = 150000; // particles that are not worth a ring
constexpr int SMALL_SHARE = 24, SMALL_PIECE = 2048, SMALL_THREADS = 4;

// For few particles: an allocation would cost more than all of the work.
static __device__ __align__(256) char arena[ARENA];

struct Input {
    const float *position[3], *displacement[3];
};
struct Output {
    double *position[3];
    int *cell;
};

// --- the device's share ---

// In a slot lie the six arrays of `capacity` particles, then the four results.
constexpr size_t BYTES_IN = 6 * sizeof(float), BYTES_OUT = 3 * sizeof(double) + sizeof(int);

static __device__ int layer_of(double position, double cell_size)
{
    return static_cast<int>(floor(position / cell_size));
}

static __device__ __forceinline__ void drift_four(char *slot, int capacity, int i, double cell_size)
{
    const float *in = reinterpret_cast<const float *>(slot);
    char *const out = slot + BYTES_IN * capacity;
    int4 cell = make_int4(0, 0, 0, 0);
    constexpr int FACTOR[3] = {1, 1000, 1000000};
#pragma unroll
    for (int axis = 0; axis < 3; axis++) {
        const float4 old = *reinterpret_cast<const float4 *>(in + axis * capacity + i);
        const float4 step = *reinterpret_cast<const float4 *>(in + (axis + 3) * capacity + i);
        const double a = static_cast<double>(old.x) + static_cast<double>(step.x),
                     b = static_cast<double>(old.y) + static_cast<double>(step.y),
                     c = static_cast<double>(old.z) + static_cast<double>(step.z),
                     d = static_cast<double>(old.w) + static_cast<double>(step.w);
        double2 *to = reinterpret_cast<double2 *>(out + axis * capacity * sizeof(double)) + i / 2;
        to[0] = make_double2(a, b);
        to[1] = make_double2(c, d);
        cell.x += FACTOR[axis] * layer_of(a, cell_size);
        cell.y += FACTOR[axis] * layer_of(b, cell_size);
        cell.z += FACTOR[axis] * layer_of(c, cell_size);
        cell.w += FACTOR[axis] * layer_of(d, cell_size);
    }
    *reinterpret_cast<int4 *>(out + 3 * sizeof(double) * capacity + i * sizeof(int)) = cell;
}

// Reads and writes slots of pinned memory: every byte crosses the bus once. What lies behind the
// last particle of the last slot is computed too, from whatever is there.
static __global__ void __launch_bounds__(BLOCK)
    drift(char *slots, size_t slot_bytes, int capacity, double cell_size)
{
    const int i = (blockIdx.x * BLOCK + threadIdx.x) * AT_ONCE;
    if (i < capacity)
        drift_four(slots + blockIdx.y * slot_bytes, capacity, i, cell_size);
}

static void fill_slot(const Input &in, size_t first, size_t count, int capacity, char *slot)
{
    for (int a = 0; a < 3; a++) {
        memcpy(slot + a * capacity * sizeof(float), in.position[a] + first, count * sizeof(float));
        memcpy(slot + (a + 3) * capacity * sizeof(float), in.displacement[a] + first,
               count * sizeof(float));
    }
}

static void drain_slot(const Output &out, size_t first, size_t count, int capacity,
                       const char *slot)
{
    const char *const results = slot + BYTES_IN * capacity;
    for (int a = 0; a < 3; a++)
        memcpy(out.position[a] + first, results + a * capacity * sizeof(double),
               count * sizeof(double));
    memcpy(out.cell + first, results + 3 * sizeof(double) * capacity, count * sizeof(int));
}

// --- the host's share ---

static void drift_one(const Input &in, const Output &out, size_t i, double cell_size)
{
    int layer[3];
    for (int a = 0; a < 3; a++) {
        const double moved =
            static_cast<double>(in.position[a][i]) + static_cast<double>(in.displacement[a][i]);
        out.position[a][i] = moved;
        layer[a] = static_cast<int>(std::floor(moved / cell_size));
    }
    out.cell[i] = layer[0] + 1000 * layer[1] + 1000000 * layer[2];
}

#if defined(__SSE2__)
// Two coordinates: stores them past the caches and returns their layers in the lower half. The
// quotient fits an int, so its floor is the truncated value, less one where that is above.
static inline __m128i drift_two(__m128 position, __m128 displacement, double *to, __m128d cell_size)
{
    const __m128d moved = _mm_add_pd(_mm_cvtps_pd(position), _mm_cvtps_pd(displacement));
    _mm_stream_pd(to, moved);
    const __m128d quotient = _mm_div_pd(moved, cell_size);
    const __m128i truncated = _mm_cvttpd_epi32(quotient);
    const __m128i above = _mm_castpd_si128(_mm_cmplt_pd(quotient, _mm_cvtepi32_pd(truncated)));
    return _mm_add_epi32(truncated, _mm_shuffle_epi32(above, _MM_SHUFFLE(3, 3, 2, 0)));
}

// 1000 times each, by shifts: the multiplication is not in the base instruction set.
static inline __m128i times_1000(__m128i v)
{
    return _mm_sub_epi32(_mm_slli_epi32(v, 10),
                         _mm_add_epi32(_mm_slli_epi32(v, 4), _mm_slli_epi32(v, 3)));
}
#endif

static void drift_on_host(const Input &in, const Output &out, size_t first, size_t end,
                          double cell_size)
{
    size_t i = first;
#if defined(__SSE2__)
    auto aligned = [](const void *p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; };
    while (i < end && !(aligned(out.cell + i) && aligned(out.position[0] + i) &&
                        aligned(out.position[1] + i) && aligned(out.position[2] + i))) {
        if (i == first + 4) // never together
            break;
        drift_one(in, out, i++, cell_size);
    }
    const bool streams = i < end && aligned(out.cell + i) && aligned(out.position[0] + i) &&
                         aligned(out.position[1] + i) && aligned(out.position[2] + i);
    const __m128d size = _mm_set1_pd(cell_size);
    for (; streams && i + 4 <= end; i += 4) {
        __m128i layers[3];
        for (int a = 0; a < 3; a++) {
            const __m128 p = _mm_loadu_ps(in.position[a] + i),
                         d = _mm_loadu_ps(in.displacement[a] + i);
            const __m128i low = drift_two(p, d, out.position[a] + i, size),
                          high = drift_two(_mm_movehl_ps(p, p), _mm_movehl_ps(d, d),
                                           out.position[a] + i + 2, size);
            layers[a] = _mm_unpacklo_epi64(low, high);
        }
        const __m128i rows = _mm_add_epi32(layers[1], times_1000(layers[2]));
        _mm_stream_si128(reinterpret_cast<__m128i *>(out.cell + i),
                         _mm_add_epi32(layers[0], times_1000(rows)));
    }
    _mm_sfence();
#endif
    for (; i < end; i++)
        drift_one(in, out, i, cell_size);
}

// ---

// The device takes the first particles by plain copies; the others are handed out piece by piece to
// threads of the host, the calling one among them.
static void few(size_t n, const Input &in, const Output &out, double cell_size)
{
    const size_t count = n / SMALL_SHARE + 1 < n ? n / SMALL_SHARE + 1 : n;
    const int capacity = static_cast<int>((count + AT_ONCE - 1) / AT_ONCE * AT_ONCE);
    const size_t bytes = (BYTES_IN + BYTES_OUT) * capacity;
    std::atomic<size_t> next{count};
    auto work = [&](int) {
        for (size_t from; (from = next.fetch_add(SMALL_PIECE)) < n;)
            drift_on_host(in, out, from, from + SMALL_PIECE < n ? from + SMALL_PIECE : n,
                          cell_size);
    };
    transfer::Crew<decltype(work)> crew(work, n < 5000 ? 0 : transfer::threads_for(SMALL_THREADS));
    char *device, *const packed = static_cast<char *>(malloc(bytes));
    if (!packed)
        abort();
    CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&device), arena));
    fill_slot(in, 0, count, capacity, packed);
    CHECK(cudaMemcpyAsync(device, packed, BYTES_IN * capacity, cudaMemcpyHostToDevice));
    drift<<<(capacity / AT_ONCE - 1) / BLOCK + 1, BLOCK>>>(device, 0, capacity, cell_size);
    CHECK(cudaGetLastError());
    work(0);
    CHECK(cudaMemcpy(packed + BYTES_IN * capacity, device + BYTES_IN * capacity,
                     BYTES_OUT * capacity, cudaMemcpyDeviceToHost));
    drain_slot(out, 0, count, capacity, packed);
    free(packed);
    crew.join();
}

static void many(size_t n, const Input &in, const Output &out, double cell_size)
{
    const int threads = transfer::threads_for(16);
    const size_t bytes = (BYTES_IN + BYTES_OUT) * PIECE;
    const transfer::Shape shape = {threads, 2 * threads,
                                   (bytes + transfer::PAGE - 1) / transfer::PAGE * transfer::PAGE};
    const size_t stride = PIECE + HOST_PER_PIECE, pieces = (n + stride - 1) / stride;
    cudaStream_t stream;
    auto size_of = [&](size_t piece) {
        const size_t left = n - piece * stride;
        return left < PIECE ? left : PIECE;
    };
    transfer::pipeline(
        shape, pieces, [&] { CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)); },
        [&](size_t piece, char *slot) {
            const size_t from = piece * stride + PIECE, to = piece * stride + stride;
            if (from < n)
                drift_on_host(in, out, from, to < n ? to : n, cell_size);
            fill_slot(in, piece * stride, size_of(piece), PIECE, slot);
        },
        [&](size_t, size_t count, char *slot) {
            const dim3 grid(PIECE / AT_ONCE / BLOCK, static_cast<unsigned>(count));
            drift<<<grid, BLOCK, 0, stream>>>(slot, shape.slot_bytes, PIECE, cell_size);
            CHECK(cudaGetLastError());
            return stream;
        },
        [&](size_t piece, char *slot) {
            drain_slot(out, piece * stride, size_of(piece), PIECE, slot);
        });
    CHECK(cudaStreamDestroy(stream));
}

extern "C" void solution_compute(int N, const float *posxy_x, const float *posxy_y,
                                 const float *posz, const float *movxy_x, const float *movxy_y,
                                 const float *movz, float cell_size, double *out_x, double *out_y,
                                 double *out_z, int *out_cell)
{
    const Input in = {{posxy_x, posxy_y, posz}, {movxy_x, movxy_y, movz}};
    const Output out = {{out_x, out_y, out_z}, out_cell};
    if (N <= SMALL)
        few(N, in, out, cell_size);
    else
        many(N, in, out, cell_size);
}
