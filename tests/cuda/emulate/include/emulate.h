/* Running CUDA kernels on the CPU: what translated sources and the headers beside this one call. One thread of the host
 * runs all threads of all resident blocks in turns; a thread goes on until it waits for others. */
#ifndef AE_EMULATE_H
#define AE_EMULATE_H

#include <algorithm>
#include <atomic>
#include <cmath>
#include <math.h>
#include <climits>
#include <cfloat>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__      inline
#define __align__(n)         __attribute__((aligned(n)))
#define __CUDACC__           1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define CUDART_VERSION       13000
#ifndef __CUDA_ARCH__
#define __CUDA_ARCH__ 900
#endif
#define AE_EMULATED 1

/* --- vector types ----------------------------------------------------------------------------------------- */

#define AE_VECTOR(T, name)                                                                                             \
    struct name##1 { T x; };                                                                                           \
    struct alignas(2 * sizeof(T)) name##2 { T x, y; };                                                                 \
    struct name##3 { T x, y, z; };                                                                                     \
    struct alignas(4 * sizeof(T) < 16 ? 4 * sizeof(T) : 16) name##4 { T x, y, z, w; };                                 \
    inline name##1 make_##name##1(T x) { return {x}; }                                                                 \
    inline name##2 make_##name##2(T x, T y) { return {x, y}; }                                                         \
    inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                                                 \
    inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
AE_VECTOR(signed char, char)
AE_VECTOR(unsigned char, uchar)
AE_VECTOR(short, short)
AE_VECTOR(unsigned short, ushort)
AE_VECTOR(int, int)
AE_VECTOR(unsigned, uint)
AE_VECTOR(long, long)
AE_VECTOR(unsigned long, ulong)
AE_VECTOR(long long, longlong)
AE_VECTOR(unsigned long long, ulonglong)
AE_VECTOR(float, float)
AE_VECTOR(double, double)
#undef AE_VECTOR

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return uint3{x, y, z}; }
};

/* Of the thread that runs at present. */
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
constexpr int warpSize = 32;

struct CUstream_st;
struct CUevent_st;
typedef CUstream_st *cudaStream_t;
typedef CUevent_st *cudaEvent_t;

namespace emulate
{

template <typename T> using identity = T;

#define AE_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

/* Ends the program: what the kernel that runs did wrong. */
[[noreturn]] void fault(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* --- the block's memory ------------------------------------------------------------------------------------ */

/* A __shared__ variable: a place in the memory of every block. */
struct SharedVariable {
    size_t bytes, alignment;
    const char *name;
    long offset = -1;
    constexpr SharedVariable(size_t bytes_, size_t alignment_, const char *name_)
        : bytes(bytes_), alignment(alignment_), name(name_)
    {
    }
    void *here()
    {
        extern char *block_memory;
        if (__builtin_expect(offset < 0, 0))
            place();
        return block_memory + offset;
    }
    void place();
};
extern char *block_memory;
void *dynamic_shared();
size_t dynamic_shared_bytes();

/* --- waiting for others ------------------------------------------------------------------------------------ */

enum Vote { VOTE_NONE, VOTE_COUNT, VOTE_AND, VOTE_OR };
int block_barrier(Vote vote, int predicate, const char *file, int line);
void grid_barrier(const char *file, int line);
void cluster_arrive(const char *file, int line);
void cluster_wait(const char *file, int line);
void named_barrier(int id, unsigned threads, bool wait, const char *file, int line);
unsigned cluster_rank();
unsigned cluster_size();
uint3 cluster_dims();
bool is_cooperative();
/* The address in the memory of another block of the cluster that corresponds to one in the caller's. */
void *cluster_map(const void *address, unsigned rank, const char *file, int line);
/* Addresses in shared memory as numbers of 32 bits: an offset, and above it the rank in the cluster plus 1 where it is
 * another block's. */
unsigned to_shared(const void *address);
void *from_shared(uint64_t address);
inline void *from_global(const void *address) { return const_cast<void *>(address); }
inline void *from_global(uint64_t address) { return reinterpret_cast<void *>(address); }
unsigned map_shared(unsigned address, unsigned rank);
unsigned warp();
unsigned processor();
unsigned processors();
/* Barriers in shared memory, of 8 bytes: phase, arrivals that are missing, bytes that are missing. */
void barrier_init(void *barrier, unsigned count);
uint64_t barrier_arrive(void *barrier, unsigned count, unsigned expected_bytes);
void barrier_expect(void *barrier, unsigned bytes);
void barrier_complete(void *barrier, unsigned bytes);
bool barrier_try_parity(void *barrier, unsigned parity);
bool barrier_try(void *barrier, uint64_t token);
/* Lets others go on where this thread may be waiting for them in a loop. */
void pause();
void atomic_pause();

enum Exchange { EXCHANGE_SYNC, EXCHANGE_SHUFFLE, EXCHANGE_VOTE, EXCHANGE_MATCH, EXCHANGE_REDUCE };
/* What the lanes of a mask gave each other; valid until release(). */
struct Exchanged {
    uint64_t value[32];
    unsigned present;
    int readers;
};
Exchanged *exchange(unsigned mask, Exchange what, uint64_t value, const char *file, int line);
void release(Exchanged *exchanged);
unsigned lane();

/* --- launches ---------------------------------------------------------------------------------------------- */

struct Config {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    dim3 cluster = dim3(1, 1, 1);
    bool cooperative = false;
    unsigned bound = 1024; /* of threads a block */
    Config &clustered(dim3 dims) { return cluster = dims, *this; }
    Config &bounded(unsigned threads) { return bound = threads, *this; }
    Config(dim3 g, dim3 b, size_t s = 0, cudaStream_t st = nullptr) : grid(g), block(b), shared(s), stream(st) {}
};
/* Checks and queues a launch; an error becomes the last one. */
int submit(const Config &config, const char *name, const char *file, int line, const void *kernel,
           std::function<void()> body);

template <typename... P> struct Launcher {
    void (*kernel)(P...);
    Config config;
    const char *name, *file;
    int line;
    int operator()(P... args) const
    {
        auto f = kernel;
        return submit(config, name, file, line, reinterpret_cast<const void *>(kernel),
                      [f, values = std::tuple<P...>(args...)] { std::apply(f, values); });
    }
};
template <typename... P>
Launcher<P...> launcher(void (*kernel)(P...), const Config &config, const char *name, const char *file, int line)
{
    return {kernel, config, name, file, line};
}
template <typename F> struct DeducedLauncher {
    F kernel;
    Config config;
    const char *name, *file;
    int line;
    template <typename... A> int operator()(A... args) const
    {
        auto f = kernel;
        return submit(config, name, file, line, nullptr,
                      [f, values = std::tuple<A...>(args...)] { std::apply(f, values); });
    }
};
template <typename F>
DeducedLauncher<F> deduced_launcher(F kernel, const Config &config, const char *name, const char *file, int line)
{
    return {kernel, config, name, file, line};
}

/* Queues work of the host's that stands for kernels of a library. */
int submit_host(cudaStream_t stream, std::function<void()> work);

template <typename T> uint64_t bits_of(T value)
{
    static_assert(sizeof(T) <= 8, "lanes exchange at most 8 bytes");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    return bits;
}
template <typename T> T from_bits(uint64_t bits)
{
    T value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

inline void aligned(const void *p, size_t bytes, const char *file, int line)
{
    if (reinterpret_cast<uintptr_t>(p) % bytes)
        fault(file, line, "a misaligned address %p", p);
}
/* Loads and stores of vectors are one instruction, which nothing comes between. */
template <typename T, int N> struct Parts {
    T v[N];
};
template <size_t Bytes>
using Whole = std::conditional_t<Bytes == 16, long long __attribute__((vector_size(16))),
                                 std::conditional_t<Bytes == 8, uint64_t, uint32_t>>;
template <typename T, int N> Parts<T, N> load_parts(const void *p, const char *file, int line)
{
    static_assert(sizeof(T) * N <= 16, "a vector of more than 16 bytes");
    aligned(p, sizeof(T) * N, file, line);
    const Whole<sizeof(T) *N> whole = *static_cast<const volatile Whole<sizeof(T) * N> *>(p);
    Parts<T, N> parts;
    memcpy(&parts, &whole, sizeof parts);
    return parts;
}
template <typename T, int N> void store_parts(void *p, Parts<T, N> parts, const char *file, int line)
{
    aligned(p, sizeof(T) * N, file, line);
    Whole<sizeof(T) * N> whole;
    memcpy(&whole, &parts, sizeof parts);
    *static_cast<volatile Whole<sizeof(T) * N> *>(p) = whole;
}
/* Asynchronous copies of the calling thread, done when it waits for them. */
void async_copy(void *to, const void *from, size_t bytes, size_t real);
void async_commit();
void async_wait(size_t groups_left);
inline void copy_padded(void *to, const void *from, size_t bytes, size_t real, AE_HERE)
{
    aligned(to, bytes, file, line);
    aligned(from, bytes, file, line);
    (void)*static_cast<volatile char *>(to); /* here, where a report tells more than at the wait */
    if (real > 0)
        (void)static_cast<const volatile char *>(from)[real - 1];
    async_copy(to, from, bytes, real);
}
/* While one lives, its thread goes on. */
struct Undisturbed {
    Undisturbed();
    ~Undisturbed();
    bool was;
};
inline void copy_bulk(void *to, const void *from, size_t bytes, void *barrier)
{
    aligned(to, size_t(16), __builtin_FILE(), __builtin_LINE());
    aligned(from, size_t(16), __builtin_FILE(), __builtin_LINE());
    if (bytes % 16)
        fault(__builtin_FILE(), __builtin_LINE(), "a bulk copy of %zu bytes", bytes);
    memcpy(to, from, bytes);
    barrier_complete(barrier, static_cast<unsigned>(bytes));
}
inline unsigned lop3(unsigned a, unsigned b, unsigned c, unsigned table)
{
    unsigned r = 0;
    for (int i = 0; i < 32; i++)
        r |= (table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i;
    return r;
}

} // namespace emulate

#include "emulate_api.h"
#include "emulate_device.h"
#endif
