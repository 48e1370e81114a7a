/* Numbers of 16 bits: kept as what they round to, computed in float and rounded after every operation. */
#ifndef AE_EMULATE_FP16_H
#define AE_EMULATE_FP16_H

#include "emulate.h"

struct __half {
    _Float16 v;
    __half() = default;
    __half(float x) : v(static_cast<_Float16>(x)) {}
    __half(double x) : v(static_cast<_Float16>(x)) {}
    __half(int x) : v(static_cast<_Float16>(x)) {}
    operator float() const { return static_cast<float>(v); }
};
typedef __half half;
struct alignas(4) __half2 {
    __half x, y;
};
typedef __half2 half2;
inline __half __float2half(float x) { return __half(x); }
inline __half __float2half_rn(float x) { return __half(x); }
inline __half __double2half(double x) { return __half(x); }
inline float __half2float(__half x) { return x; }
inline __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
inline __half2 make_half2(__half x, __half y) { return {x, y}; }
inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
inline __half2 __float2half2_rn(float x) { return {__half(x), __half(x)}; }
inline __half2 __half2half2(__half x) { return {x, x}; }
inline float2 __half22float2(__half2 x) { return {x.x, x.y}; }
inline float __low2float(__half2 x) { return x.x; }
inline float __high2float(__half2 x) { return x.y; }
inline __half __low2half(__half2 x) { return x.x; }
inline __half __high2half(__half2 x) { return x.y; }
#define AE_HALF(name, name2, ...)                                                                                      \
    inline __half name(__half a_, __half b_)                                                                           \
    {                                                                                                                  \
        const float a = a_, b = b_;                                                                                    \
        return __half(static_cast<float>(__VA_ARGS__));                                                                \
    }                                                                                                                  \
    inline __half2 name2(__half2 a, __half2 b) { return {name(a.x, b.x), name(a.y, b.y)}; }
AE_HALF(__hadd, __hadd2, a + b)
AE_HALF(__hsub, __hsub2, a - b)
AE_HALF(__hmul, __hmul2, a *b)
AE_HALF(__hmin, __hmin2, std::fmin(a, b))
AE_HALF(__hmax, __hmax2, std::fmax(a, b))
#undef AE_HALF
inline __half __hfma(__half a, __half b, __half c)
{
    return __half(std::fma(static_cast<double>(a.v), static_cast<double>(b.v), static_cast<double>(c.v)));
}
inline __half2 __hfma2(__half2 a, __half2 b, __half2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }
inline short __half_as_short(__half x) { return emulate::from_bits<short>(emulate::bits_of(x)); }
inline unsigned short __half_as_ushort(__half x) { return emulate::from_bits<unsigned short>(emulate::bits_of(x)); }
inline __half __ushort_as_half(unsigned short x) { return emulate::from_bits<__half>(emulate::bits_of(x)); }
#endif
