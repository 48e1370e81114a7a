/* Device functions: barriers, warps, atomics, arithmetic. */
#ifndef AE_EMULATE_DEVICE_H
#define AE_EMULATE_DEVICE_H

/* --- barriers ---------------------------------------------------------------------------------------------- */

inline void __syncthreads(AE_HERE) { emulate::block_barrier(emulate::VOTE_NONE, 0, file, line); }
inline int __syncthreads_count(int p, AE_HERE) { return emulate::block_barrier(emulate::VOTE_COUNT, p, file, line); }
inline int __syncthreads_and(int p, AE_HERE) { return emulate::block_barrier(emulate::VOTE_AND, p, file, line); }
inline int __syncthreads_or(int p, AE_HERE) { return emulate::block_barrier(emulate::VOTE_OR, p, file, line); }
inline void __threadfence() { emulate::pause(); }
inline void __threadfence_block() {}
inline void __threadfence_system() { emulate::pause(); }
inline void __nanosleep(unsigned) { emulate::pause(); }
[[noreturn]] inline void __trap(AE_HERE) { emulate::fault(file, line, "__trap()"); }
inline long long clock64()
{
    static long long now;
    emulate::pause();
    return now += 100;
}
inline unsigned long long __globaltimer() { return static_cast<unsigned long long>(clock64()); }
inline void cudaGridDependencySynchronize() {}
inline void cudaTriggerProgrammaticLaunchCompletion() {}

/* --- warps ------------------------------------------------------------------------------------------------- */

inline void __syncwarp(unsigned mask = ~0u, AE_HERE)
{
    emulate::release(emulate::exchange(mask, emulate::EXCHANGE_SYNC, 0, file, line));
}

namespace emulate
{
/* What a lane that is not there gives is anybody's guess: a conspicuous one. */
template <typename T> T pick(Exchanged *from, unsigned source)
{
    const T value = from_bits<T>(from->present >> source & 1 ? from->value[source] : 0xfff7a5a5fff7a5a5);
    release(from);
    return value;
}
/* Types of more than 8 bytes go in parts. */
template <typename T, typename Source> T shuffle(unsigned mask, T value, Source source, const char *file, int line)
{
    if constexpr (sizeof(T) <= 8) {
        return pick<T>(exchange(mask, EXCHANGE_SHUFFLE, bits_of(value), file, line), source(lane()));
    } else {
        uint64_t parts[(sizeof(T) + 7) / 8] = {};
        memcpy(parts, &value, sizeof value);
        for (uint64_t &part : parts)
            part = pick<uint64_t>(exchange(mask, EXCHANGE_SHUFFLE, part, file, line), source(lane()));
        memcpy(&value, parts, sizeof value);
        return value;
    }
}
} // namespace emulate

template <typename T> T __shfl_sync(unsigned mask, T value, int source, int width = 32, AE_HERE)
{
    return emulate::shuffle(
        mask, value,
        [=](unsigned me) { return (me & ~(unsigned(width) - 1)) + (unsigned(source) & (unsigned(width) - 1)); }, file,
        line);
}
template <typename T> T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, AE_HERE)
{
    return emulate::shuffle(
        mask, value, [=](unsigned me) { return (me & (unsigned(width) - 1)) >= delta ? me - delta : me; }, file, line);
}
template <typename T> T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, AE_HERE)
{
    return emulate::shuffle(
        mask, value,
        [=](unsigned me) { return (me & (unsigned(width) - 1)) + delta < unsigned(width) ? me + delta : me; }, file,
        line);
}
template <typename T> T __shfl_xor_sync(unsigned mask, T value, int flip, int width = 32, AE_HERE)
{
    return emulate::shuffle(
        mask, value,
        [=](unsigned me) {
            const unsigned other = me ^ unsigned(flip);
            return (other & ~(unsigned(width) - 1)) > (me & ~(unsigned(width) - 1)) ? me : other;
        },
        file, line);
}

namespace emulate
{
inline unsigned votes(unsigned mask, int predicate, unsigned *present, const char *file, int line)
{
    Exchanged *all = exchange(mask, EXCHANGE_VOTE, predicate != 0, file, line);
    unsigned bits = 0;
    for (unsigned i = 0; i < 32; i++)
        if (all->present >> i & 1 && all->value[i])
            bits |= 1u << i;
    *present = all->present;
    release(all);
    return bits;
}
template <typename T, typename Op> T warp_reduce(unsigned mask, T value, Op op, const char *file, int line)
{
    Exchanged *all = exchange(mask, EXCHANGE_REDUCE, bits_of(value), file, line);
    bool any = false;
    T sum = value;
    for (unsigned i = 0; i < 32; i++)
        if (all->present >> i & 1) {
            const T other = from_bits<T>(all->value[i]);
            sum = any ? op(sum, other) : other;
            any = true;
        }
    release(all);
    return sum;
}
} // namespace emulate

inline unsigned __ballot_sync(unsigned mask, int p, AE_HERE)
{
    unsigned present;
    return emulate::votes(mask, p, &present, file, line);
}
inline int __any_sync(unsigned mask, int p, AE_HERE)
{
    unsigned present;
    return emulate::votes(mask, p, &present, file, line) != 0;
}
inline int __all_sync(unsigned mask, int p, AE_HERE)
{
    unsigned present;
    const unsigned bits = emulate::votes(mask, p, &present, file, line);
    return bits == present;
}
/* Which threads run together is the machine's to choose: here none does, unless it waits for the others. */
inline unsigned __activemask() { return 1u << emulate::lane(); }
template <typename T> unsigned __match_any_sync(unsigned mask, T value, AE_HERE)
{
    emulate::Exchanged *all = emulate::exchange(mask, emulate::EXCHANGE_MATCH, emulate::bits_of(value), file, line);
    unsigned bits = 0;
    for (unsigned i = 0; i < 32; i++)
        if (all->present >> i & 1 && all->value[i] == emulate::bits_of(value))
            bits |= 1u << i;
    emulate::release(all);
    return bits;
}
template <typename T> unsigned __match_all_sync(unsigned mask, T value, int *same, AE_HERE)
{
    emulate::Exchanged *all = emulate::exchange(mask, emulate::EXCHANGE_MATCH, emulate::bits_of(value), file, line);
    unsigned bits = 0;
    for (unsigned i = 0; i < 32; i++)
        if (all->present >> i & 1 && all->value[i] == emulate::bits_of(value))
            bits |= 1u << i;
    *same = bits == all->present;
    emulate::release(all);
    return *same ? bits : 0;
}
#define AE_REDUCE(name, T, expression)                                                                                 \
    inline T name(unsigned mask, T value, AE_HERE)                                                                     \
    {                                                                                                                  \
        return emulate::warp_reduce(                                                                                   \
            mask, value, [](T a, T b) { return static_cast<T>(expression); }, file, line);                             \
    }
AE_REDUCE(__reduce_add_sync, unsigned, a + b)
AE_REDUCE(__reduce_add_sync, int, static_cast<unsigned>(a) + static_cast<unsigned>(b))
AE_REDUCE(__reduce_min_sync, unsigned, a < b ? a : b)
AE_REDUCE(__reduce_min_sync, int, a < b ? a : b)
AE_REDUCE(__reduce_max_sync, unsigned, a > b ? a : b)
AE_REDUCE(__reduce_max_sync, int, a > b ? a : b)
AE_REDUCE(__reduce_and_sync, unsigned, a &b)
AE_REDUCE(__reduce_or_sync, unsigned, a | b)
AE_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
#undef AE_REDUCE

/* --- atomics ----------------------------------------------------------------------------------------------- */

namespace emulate
{
template <typename T, typename Op> T atomic_update(T *address, Op op)
{
    atomic_pause();
    using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>>;
    Bits *place = reinterpret_cast<Bits *>(address);
    Bits before = __atomic_load_n(place, __ATOMIC_RELAXED);
    for (;;) {
        T old;
        memcpy(&old, &before, sizeof old);
        const T now = op(old);
        Bits after;
        memcpy(&after, &now, sizeof after);
        if (__atomic_compare_exchange_n(place, &before, after, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            atomic_pause();
            return old;
        }
    }
}
} // namespace emulate

#define AE_ATOMIC(name, T, expression)                                                                                 \
    inline T name(T *address, T v)                                                                                     \
    {                                                                                                                  \
        return emulate::atomic_update(address, [=](T old) -> T { return static_cast<T>(expression); });                \
    }                                                                                                                  \
    inline T name##_block(T *address, T v) { return name(address, v); }                                                \
    inline T name##_system(T *address, T v) { return name(address, v); }
#define AE_ATOMIC_INTEGERS(name, expression)                                                                           \
    AE_ATOMIC(name, int, expression)                                                                                   \
    AE_ATOMIC(name, unsigned, expression)                                                                              \
    AE_ATOMIC(name, unsigned long long, expression)                                                                    \
    AE_ATOMIC(name, long long, expression)
#define AE_WRAP(op)                                                                                                    \
    static_cast<std::make_unsigned_t<decltype(old)>>(old) op static_cast<std::make_unsigned_t<decltype(v)>>(v)
AE_ATOMIC(atomicAdd, int, static_cast<unsigned>(old) + static_cast<unsigned>(v))
AE_ATOMIC(atomicAdd, unsigned, old + v)
AE_ATOMIC(atomicAdd, unsigned long long, old + v)
AE_ATOMIC(atomicAdd, float, old + v)
AE_ATOMIC(atomicAdd, double, old + v)
AE_ATOMIC(atomicSub, int, static_cast<unsigned>(old) - static_cast<unsigned>(v))
AE_ATOMIC(atomicSub, unsigned, old - v)
AE_ATOMIC_INTEGERS(atomicMin, old < v ? old : v)
AE_ATOMIC_INTEGERS(atomicMax, old > v ? old : v)
AE_ATOMIC_INTEGERS(atomicAnd, old &v)
AE_ATOMIC_INTEGERS(atomicOr, old | v)
AE_ATOMIC_INTEGERS(atomicXor, old ^ v)
AE_ATOMIC_INTEGERS(atomicExch, v + (old & 0))
AE_ATOMIC(atomicExch, float, (static_cast<void>(old), v))
AE_ATOMIC(atomicInc, unsigned, old >= v ? 0 : old + 1)
AE_ATOMIC(atomicDec, unsigned, old == 0 || old > v ? v : old - 1)
#undef AE_ATOMIC
#undef AE_ATOMIC_INTEGERS
#undef AE_WRAP
inline float2 atomicAdd(float2 *a, float2 v) { return {atomicAdd(&a->x, v.x), atomicAdd(&a->y, v.y)}; }
inline float4 atomicAdd(float4 *a, float4 v)
{
    return {atomicAdd(&a->x, v.x), atomicAdd(&a->y, v.y), atomicAdd(&a->z, v.z), atomicAdd(&a->w, v.w)};
}
#define AE_CAS(T)                                                                                                      \
    inline T atomicCAS(T *address, T expected, T v)                                                                    \
    {                                                                                                                  \
        return emulate::atomic_update(address, [=](T old) -> T { return old == expected ? v : old; });                 \
    }                                                                                                                  \
    inline T atomicCAS_block(T *address, T expected, T v) { return atomicCAS(address, expected, v); }                  \
    inline T atomicCAS_system(T *address, T expected, T v) { return atomicCAS(address, expected, v); }
AE_CAS(int)
AE_CAS(unsigned)
AE_CAS(unsigned long long)
AE_CAS(unsigned short)
#undef AE_CAS

/* --- loads and stores -------------------------------------------------------------------------------------- */

#define AE_LOAD(name)                                                                                                  \
    template <typename T> T name(const T *p) { return *p; }
AE_LOAD(__ldg)
AE_LOAD(__ldcg)
AE_LOAD(__ldca)
AE_LOAD(__ldcs)
AE_LOAD(__ldlu)
#undef AE_LOAD
template <typename T> T __ldcv(const T *p)
{
    emulate::pause();
    return *const_cast<const volatile T *>(p);
}
#define AE_STORE(name)                                                                                                 \
    template <typename T> void name(T *p, emulate::identity<std::common_type_t<T>> v) { *p = v; }
AE_STORE(__stwb)
AE_STORE(__stcg)
AE_STORE(__stcs)
AE_STORE(__stwt)
#undef AE_STORE
inline size_t __cvta_generic_to_shared(const void *p) { return emulate::to_shared(p); }
inline size_t __cvta_generic_to_global(const void *p) { return reinterpret_cast<size_t>(p); }
#define __builtin_assume(x) ((x) ? (void)0 : __builtin_unreachable())
inline void __pipeline_memcpy_async(void *to, const void *from, size_t bytes, size_t zeros = 0, AE_HERE)
{
    emulate::copy_padded(to, from, bytes, bytes - zeros, file, line);
}
inline void __pipeline_commit() { emulate::async_commit(); }
inline void __pipeline_wait_prior(size_t groups) { emulate::async_wait(groups); }

/* --- integers ---------------------------------------------------------------------------------------------- */

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x)
{
    unsigned r = 0;
    for (int i = 0; i < 32; i++)
        r |= (x >> i & 1) << (31 - i);
    return r;
}
inline unsigned long long __brevll(unsigned long long x)
{
    return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
           __brev(static_cast<unsigned>(x >> 32));
}
/* prmt.b32: the top bit of a selector spreads the sign of its byte. */
inline unsigned emu_prmt(unsigned a, unsigned b, unsigned selector)
{
    const uint64_t both = static_cast<uint64_t>(b) << 32 | a;
    unsigned r = 0;
    for (int i = 0; i < 4; i++) {
        const unsigned s = selector >> (4 * i) & 15;
        unsigned byte = both >> (8 * (s & 7)) & 255;
        if (s & 8)
            byte = byte & 128 ? 255 : 0;
        r |= byte << (8 * i);
    }
    return r;
}
/* Three bits a selector: unlike prmt, the intrinsic ignores the fourth. */
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector)
{
    return emu_prmt(a, b, selector & 0x7777);
}
inline int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>(static_cast<uint64_t>(a) * b >> 32); }
inline long long __mul64hi(long long a, long long b)
{
    return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
inline unsigned __sad(int a, int b, unsigned c) { return static_cast<unsigned>(a > b ? a - b : b - a) + c; }
inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
inline int __hadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b) >> 1); }
inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned s)
{
    return static_cast<unsigned>((static_cast<uint64_t>(hi) << 32 | lo) << (s & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned s)
{
    return static_cast<unsigned>((static_cast<uint64_t>(hi) << 32 | lo) >> (s & 31));
}
inline unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned s)
{
    return s >= 32 ? lo : __funnelshift_l(lo, hi, s);
}
inline unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned s)
{
    return s >= 32 ? hi : __funnelshift_r(lo, hi, s);
}
inline int __dp4a(int a, int b, int c)
{
    for (int i = 0; i < 4; i++)
        c += static_cast<signed char>(a >> (8 * i)) * static_cast<signed char>(b >> (8 * i));
    return c;
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c)
{
    for (int i = 0; i < 4; i++)
        c += (a >> (8 * i) & 255) * (b >> (8 * i) & 255);
    return c;
}
inline unsigned __fns(unsigned mask, unsigned base, int offset)
{
    if (offset == 0)
        return mask >> base & 1 ? base : ~0u;
    const int step = offset > 0 ? 1 : -1;
    for (int i = static_cast<int>(base), left = offset * step; i >= 0 && i < 32; i += step)
        if (mask >> i & 1 && --left == 0)
            return static_cast<unsigned>(i);
    return ~0u;
}

/* A word as lanes of 8 or 16 bits. */
namespace emulate
{
template <typename Lane, typename Op> unsigned by_lane(unsigned a, unsigned b, Op op)
{
    constexpr int width = 8 * sizeof(Lane);
    unsigned r = 0;
    for (int i = 0; i < 32; i += width)
        r |= static_cast<unsigned>(
                 static_cast<std::make_unsigned_t<Lane>>(op(static_cast<Lane>(a >> i), static_cast<Lane>(b >> i))))
             << i;
    return r;
}
template <typename Lane> int clamp_lane(int v)
{
    return v < std::numeric_limits<Lane>::min()   ? std::numeric_limits<Lane>::min()
           : v > std::numeric_limits<Lane>::max() ? std::numeric_limits<Lane>::max()
                                                  : v;
}
} // namespace emulate
#define AE_LANES(name, s, u, expression)                                                                               \
    inline unsigned __v##name##4(unsigned x, unsigned y)                                                               \
    {                                                                                                                  \
        using L = s##char;                                                                                             \
        return emulate::by_lane<L>(x, y, [](int a, int b) { return expression; });                                     \
    }                                                                                                                  \
    inline unsigned __v##name##2(unsigned x, unsigned y)                                                               \
    {                                                                                                                  \
        using L = s##short;                                                                                            \
        return emulate::by_lane<L>(x, y, [](int a, int b) { return expression; });                                     \
    }
namespace emulate
{
using schar = signed char;
using uchar = unsigned char;
using sshort = short;
using ushort = unsigned short;
} // namespace emulate
#define schar  emulate::schar
#define uchar  emulate::uchar
#define sshort emulate::sshort
#define ushort emulate::ushort
AE_LANES(add, u, u, a + b)
AE_LANES(sub, u, u, a - b)
AE_LANES(addss, s, s, emulate::clamp_lane<L>(a + b))
AE_LANES(addus, u, u, emulate::clamp_lane<L>(a + b))
AE_LANES(subss, s, s, emulate::clamp_lane<L>(a - b))
AE_LANES(subus, u, u, emulate::clamp_lane<L>(a - b))
AE_LANES(maxs, s, s, a > b ? a : b)
AE_LANES(maxu, u, u, a > b ? a : b)
AE_LANES(mins, s, s, a < b ? a : b)
AE_LANES(minu, u, u, a < b ? a : b)
AE_LANES(absdiffu, u, u, a > b ? a - b : b - a)
AE_LANES(avgu, u, u, (a + b + 1) / 2)
AE_LANES(cmpeq, u, u, a == b ? -1 : 0)
AE_LANES(cmpne, u, u, a != b ? -1 : 0)
AE_LANES(cmpgts, s, s, a > b ? -1 : 0)
AE_LANES(cmpges, s, s, a >= b ? -1 : 0)
AE_LANES(cmplts, s, s, a < b ? -1 : 0)
AE_LANES(cmples, s, s, a <= b ? -1 : 0)
AE_LANES(cmpgtu, u, u, a > b ? -1 : 0)
AE_LANES(cmpgeu, u, u, a >= b ? -1 : 0)
AE_LANES(cmpltu, u, u, a < b ? -1 : 0)
AE_LANES(cmpleu, u, u, a <= b ? -1 : 0)
AE_LANES(seteq, u, u, a == b)
AE_LANES(setgts, s, s, a > b)
#undef AE_LANES
#undef schar
#undef uchar
#undef sshort
#undef ushort
inline int __vimax_s32_relu(int a, int b) { return std::max(std::max(a, b), 0); }
inline int __vimin_s32_relu(int a, int b) { return std::max(std::min(a, b), 0); }
inline int __vimax3_s32(int a, int b, int c) { return std::max(std::max(a, b), c); }
inline int __vimin3_s32(int a, int b, int c) { return std::min(std::min(a, b), c); }
inline int __vimax3_s32_relu(int a, int b, int c) { return std::max(std::max(std::max(a, b), c), 0); }
inline int __vimin3_s32_relu(int a, int b, int c) { return std::max(std::min(std::min(a, b), c), 0); }
inline unsigned __vimax3_u32(unsigned a, unsigned b, unsigned c) { return std::max(std::max(a, b), c); }
inline unsigned __vimin3_u32(unsigned a, unsigned b, unsigned c) { return std::min(std::min(a, b), c); }
inline int __viaddmax_s32(int a, int b, int c) { return std::max(a + b, c); }
inline int __viaddmin_s32(int a, int b, int c) { return std::min(a + b, c); }
inline int __viaddmax_s32_relu(int a, int b, int c) { return std::max(std::max(a + b, c), 0); }
inline unsigned __viaddmax_u32(unsigned a, unsigned b, unsigned c) { return std::max(a + b, c); }
inline unsigned __viaddmin_u32(unsigned a, unsigned b, unsigned c) { return std::min(a + b, c); }
inline int __vibmax_s32(int a, int b, bool *first) { return *first = a >= b, a >= b ? a : b; }
inline int __vibmin_s32(int a, int b, bool *first) { return *first = a <= b, a <= b ? a : b; }
#define AE_DPX(name, expression)                                                                                       \
    inline unsigned name(unsigned x, unsigned y, unsigned z)                                                           \
    {                                                                                                                  \
        unsigned r = 0;                                                                                                \
        for (int i = 0; i < 32; i += 16) {                                                                             \
            const int a = static_cast<short>(x >> i), b = static_cast<short>(y >> i), c = static_cast<short>(z >> i);  \
            r |= static_cast<unsigned>(static_cast<unsigned short>(expression)) << i;                                  \
        }                                                                                                              \
        return r;                                                                                                      \
    }
AE_DPX(__vimax3_s16x2, std::max(std::max(a, b), c))
AE_DPX(__vimin3_s16x2, std::min(std::min(a, b), c))
AE_DPX(__vimax3_s16x2_relu, std::max(std::max(std::max(a, b), c), 0))
AE_DPX(__viaddmax_s16x2, std::max<int>(static_cast<short>(a + b), c))
AE_DPX(__viaddmin_s16x2, std::min<int>(static_cast<short>(a + b), c))
AE_DPX(__viaddmin_u16x2, std::min(static_cast<unsigned short>(a + b), static_cast<unsigned short>(c)))
AE_DPX(__viaddmax_s16x2_relu, std::max(std::max<int>(static_cast<short>(a + b), c), 0))
#undef AE_DPX

/* --- bits of floating-point numbers, conversions ------------------------------------------------------------ */

inline int __float_as_int(float x) { return emulate::from_bits<int>(emulate::bits_of(x)); }
inline unsigned __float_as_uint(float x) { return emulate::from_bits<unsigned>(emulate::bits_of(x)); }
inline float __int_as_float(int x) { return emulate::from_bits<float>(emulate::bits_of(x)); }
inline float __uint_as_float(unsigned x) { return emulate::from_bits<float>(emulate::bits_of(x)); }
inline long long __double_as_longlong(double x) { return emulate::from_bits<long long>(emulate::bits_of(x)); }
inline double __longlong_as_double(long long x) { return emulate::from_bits<double>(emulate::bits_of(x)); }
inline int __double2hiint(double x) { return static_cast<int>(emulate::bits_of(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(emulate::bits_of(x)); }
inline double __hiloint2double(int hi, int lo)
{
    return emulate::from_bits<double>(static_cast<uint64_t>(static_cast<uint32_t>(hi)) << 32 |
                                      static_cast<uint32_t>(lo));
}
namespace emulate
{
/* Conversions saturate, and NaN becomes 0. */
template <typename I, typename F> I to_integer(F x)
{
    if (x != x)
        return 0;
    if (x <= static_cast<F>(std::numeric_limits<I>::min()))
        return std::numeric_limits<I>::min();
    if (x >= static_cast<F>(std::numeric_limits<I>::max()))
        return std::numeric_limits<I>::max();
    return static_cast<I>(x);
}
} // namespace emulate
#define AE_CONVERT(from, F, to, I)                                                                                     \
    inline I __##from##2##to##_rn(F x) { return emulate::to_integer<I>(std::nearbyint(x)); }                           \
    inline I __##from##2##to##_rz(F x) { return emulate::to_integer<I>(std::trunc(x)); }                               \
    inline I __##from##2##to##_rd(F x) { return emulate::to_integer<I>(std::floor(x)); }                               \
    inline I __##from##2##to##_ru(F x) { return emulate::to_integer<I>(std::ceil(x)); }
AE_CONVERT(float, float, int, int)
AE_CONVERT(float, float, uint, unsigned)
AE_CONVERT(float, float, ll, long long)
AE_CONVERT(float, float, ull, unsigned long long)
AE_CONVERT(double, double, int, int)
AE_CONVERT(double, double, uint, unsigned)
AE_CONVERT(double, double, ll, long long)
AE_CONVERT(double, double, ull, unsigned long long)
#undef AE_CONVERT
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline float __ll2float_rn(long long x) { return static_cast<float>(x); }
inline float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }
inline double __ll2double_rn(long long x) { return static_cast<double>(x); }
inline double __ull2double_rn(unsigned long long x) { return static_cast<double>(x); }
inline float __double2float_rn(double x) { return static_cast<float>(x); }

/* --- arithmetic -------------------------------------------------------------------------------------------- */

namespace emulate
{
/* A value that the compiler may not contract with what follows. */
inline float exactly(float x)
{
    asm("" : "+x"(x));
    return x;
}
inline double exactly(double x)
{
    asm("" : "+x"(x));
    return x;
}
/* Rounded towards zero, down, up: from the nearest value and the sign of its error. */
template <typename T> T directed(T nearest, T error, char mode)
{
    const T infinity = std::numeric_limits<T>::infinity();
    const bool down = mode == 'd' || (mode == 'z' && nearest > 0), up = mode == 'u' || (mode == 'z' && nearest < 0);
    if (error < 0 && down)
        return std::nextafter(nearest, -infinity);
    if (error > 0 && up)
        return std::nextafter(nearest, infinity);
    return nearest;
}
template <typename T> T add_error(T a, T b, T sum)
{
    const T part = exactly(sum - a);
    return exactly(a - exactly(sum - part)) + exactly(b - part);
}
} // namespace emulate
#define AE_ROUNDED(T, f, m)                                                                                            \
    inline T __##f##add_r##m(T a, T b)                                                                                 \
    {                                                                                                                  \
        const T r = emulate::exactly(a + b);                                                                           \
        return emulate::directed(r, emulate::add_error(a, b, r), #m[0]);                                               \
    }                                                                                                                  \
    inline T __##f##sub_r##m(T a, T b) { return __##f##add_r##m(a, -b); }                                              \
    inline T __##f##mul_r##m(T a, T b)                                                                                 \
    {                                                                                                                  \
        const T r = emulate::exactly(a * b);                                                                           \
        return emulate::directed(r, std::fma(a, b, -r), #m[0]);                                                        \
    }                                                                                                                  \
    inline T __##f##div_r##m(T a, T b)                                                                                 \
    {                                                                                                                  \
        const T r = emulate::exactly(a / b);                                                                           \
        const T error = std::fma(-r, b, a);                                                                            \
        return emulate::directed(r, b < 0 ? -error : error, #m[0]);                                                    \
    }                                                                                                                  \
    inline T __##f##sqrt_r##m(T a)                                                                                     \
    {                                                                                                                  \
        const T r = emulate::exactly(std::sqrt(a));                                                                    \
        return emulate::directed(r, std::fma(-r, r, a), #m[0]);                                                        \
    }                                                                                                                  \
    inline T __##f##rcp_r##m(T a) { return __##f##div_r##m(T(1), a); }
#define AE_ROUNDED_ALL(T, f) AE_ROUNDED(T, f, n) AE_ROUNDED(T, f, z) AE_ROUNDED(T, f, d) AE_ROUNDED(T, f, u)
AE_ROUNDED_ALL(float, f)
AE_ROUNDED_ALL(double, d)
#undef AE_ROUNDED
#undef AE_ROUNDED_ALL
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline float __frsqrt_rn(float x) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(x))); }
inline float __expf(float x) { return std::exp(x); }
inline float __exp10f(float x) { return static_cast<float>(std::pow(10.0, static_cast<double>(x))); }
inline float __logf(float x) { return std::log(x); }
inline float __log2f(float x) { return std::log2(x); }
inline float __log10f(float x) { return std::log10(x); }
inline float __powf(float x, float y) { return std::pow(x, y); }
inline float __sinf(float x) { return std::sin(x); }
inline float __cosf(float x) { return std::cos(x); }
inline float __tanf(float x) { return std::tan(x); }
inline float __tanhf(float x) { return std::tanh(x); }
inline void __sincosf(float x, float *s, float *c) { *s = std::sin(x), *c = std::cos(x); }
inline float __fdividef(float a, float b) { return a / b; }
inline float fdividef(float a, float b) { return a / b; }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }
inline float rsqrtf(float x) { return __frsqrt_rn(x); }
inline float rsqrt(float x) { return __frsqrt_rn(x); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
inline float rcbrtf(float x) { return 1.0f / std::cbrt(x); }
inline double rcbrt(double x) { return 1.0 / std::cbrt(x); }
inline float rhypotf(float x, float y) { return 1.0f / std::hypot(x, y); }
inline double rhypot(double x, double y) { return 1.0 / std::hypot(x, y); }
inline float norm3df(float a, float b, float c) { return std::hypot(a, b, c); }
inline double norm3d(double a, double b, double c) { return std::hypot(a, b, c); }
inline float rnorm3df(float a, float b, float c) { return 1.0f / std::hypot(a, b, c); }
inline double sinpi(double x) { return std::sin(M_PI * std::fmod(x, 2.0)); }
inline double cospi(double x) { return std::cos(M_PI * std::fmod(x, 2.0)); }
inline float sinpif(float x) { return static_cast<float>(sinpi(x)); }
inline float cospif(float x) { return static_cast<float>(cospi(x)); }
inline void sincospi(double x, double *s, double *c) { *s = sinpi(x), *c = cospi(x); }
inline void sincospif(float x, float *s, float *c) { *s = sinpif(x), *c = cospif(x); }
inline double normcdf(double x) { return 0.5 * std::erfc(-x * M_SQRT1_2); }
inline float normcdff(float x) { return static_cast<float>(normcdf(x)); }
inline double erfcx(double x) { return std::exp(x * x) * std::erfc(x); }
inline float erfcxf(float x) { return static_cast<float>(erfcx(x)); }

#define AE_MINMAX(A, B, R)                                                                                             \
    inline R min(A a, B b) { return static_cast<R>(a) < static_cast<R>(b) ? static_cast<R>(a) : static_cast<R>(b); }   \
    inline R max(A a, B b) { return static_cast<R>(a) > static_cast<R>(b) ? static_cast<R>(a) : static_cast<R>(b); }
AE_MINMAX(int, int, int)
AE_MINMAX(unsigned, unsigned, unsigned)
AE_MINMAX(int, unsigned, unsigned)
AE_MINMAX(unsigned, int, unsigned)
AE_MINMAX(long, long, long)
AE_MINMAX(unsigned long, unsigned long, unsigned long)
AE_MINMAX(long, unsigned long, unsigned long)
AE_MINMAX(unsigned long, long, unsigned long)
AE_MINMAX(long long, long long, long long)
AE_MINMAX(unsigned long long, unsigned long long, unsigned long long)
AE_MINMAX(long long, unsigned long long, unsigned long long)
AE_MINMAX(unsigned long long, long long, unsigned long long)
#undef AE_MINMAX
inline float min(float a, float b) { return std::fmin(a, b); }
inline float max(float a, float b) { return std::fmax(a, b); }
inline double min(double a, double b) { return std::fmin(a, b); }
inline double max(double a, double b) { return std::fmax(a, b); }
inline double min(float a, double b) { return std::fmin(static_cast<double>(a), b); }
inline double max(float a, double b) { return std::fmax(static_cast<double>(a), b); }
inline double min(double a, float b) { return std::fmin(a, static_cast<double>(b)); }
inline double max(double a, float b) { return std::fmax(a, static_cast<double>(b)); }
inline unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
inline unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }
inline long long llmin(long long a, long long b) { return a < b ? a : b; }
inline long long llmax(long long a, long long b) { return a > b ? a : b; }

#endif
