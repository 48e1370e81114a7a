/* Random numbers of the device. All generators are Philox 4x32-10 here: draws of other kinds differ from the real ones.
 */
#ifndef AE_EMULATE_CURAND_H
#define AE_EMULATE_CURAND_H

#include "emulate.h"

struct curandStatePhilox4_32_10 {
    uint32_t counter[4], key[2], output[4];
    unsigned used;
    bool has_normal;
    float normal;
};
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t, curandState, curandState_t, curandStateXORWOW_t,
    curandStateMRG32k3a_t;

namespace emulate
{
inline void philox(curandStatePhilox4_32_10 *s)
{
    uint32_t c[4] = {s->counter[0], s->counter[1], s->counter[2], s->counter[3]}, k0 = s->key[0], k1 = s->key[1];
    for (int round = 0; round < 10; round++) {
        const uint64_t a = uint64_t(0xD2511F53) * c[0], b = uint64_t(0xCD9E8D57) * c[2];
        const uint32_t next[4] = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(b),
                                  static_cast<uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(a)};
        memcpy(c, next, sizeof c);
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    memcpy(s->output, c, sizeof c);
}
inline void philox_skip(curandStatePhilox4_32_10 *s, uint64_t blocks)
{
    for (int i = 0; i < 4 && blocks; i++) {
        const uint64_t sum = s->counter[i] + (blocks & 0xffffffff);
        s->counter[i] = static_cast<uint32_t>(sum);
        blocks = (blocks >> 32) + (sum >> 32);
    }
}
} // namespace emulate

inline void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                        curandStatePhilox4_32_10 *s)
{
    *s = curandStatePhilox4_32_10();
    s->key[0] = static_cast<uint32_t>(seed);
    s->key[1] = static_cast<uint32_t>(seed >> 32);
    s->counter[2] = static_cast<uint32_t>(subsequence);
    s->counter[3] = static_cast<uint32_t>(subsequence >> 32);
    emulate::philox_skip(s, offset / 4);
    s->used = offset % 4;
    emulate::philox(s);
}
inline unsigned curand(curandStatePhilox4_32_10 *s)
{
    if (s->used == 4) {
        emulate::philox_skip(s, 1);
        emulate::philox(s);
        s->used = 0;
    }
    return s->output[s->used++];
}
inline uint4 curand4(curandStatePhilox4_32_10 *s)
{
    const unsigned x = curand(s), y = curand(s), z = curand(s), w = curand(s);
    return {x, y, z, w};
}
inline void skipahead(unsigned long long n, curandStatePhilox4_32_10 *s)
{
    for (; n > 0 && s->used < 4; n--)
        curand(s);
    emulate::philox_skip(s, n / 4);
    emulate::philox(s);
    for (n %= 4; n > 0; n--)
        curand(s);
}
namespace emulate
{
inline float uniform_of(unsigned x) { return static_cast<float>(x) * 2.3283064e-10f + 2.3283064e-10f / 2.0f; }
inline float2 box_muller(unsigned x, unsigned y)
{
    const float u = uniform_of(x),
                v = static_cast<float>(y) * 2.3283064e-10f * 6.2831855f + 2.3283064e-10f * 3.1415927f;
    const float r = std::sqrt(-2.0f * std::log(u));
    return {r * std::sin(v), r * std::cos(v)};
}
} // namespace emulate
inline float curand_uniform(curandStatePhilox4_32_10 *s) { return emulate::uniform_of(curand(s)); }
inline float4 curand_uniform4(curandStatePhilox4_32_10 *s)
{
    const uint4 x = curand4(s);
    return {emulate::uniform_of(x.x), emulate::uniform_of(x.y), emulate::uniform_of(x.z), emulate::uniform_of(x.w)};
}
inline double curand_uniform_double(curandStatePhilox4_32_10 *s)
{
    const uint64_t x = curand(s), y = curand(s);
    const uint64_t z = x ^ y << 21;
    return static_cast<double>(z) * 1.1102230246251565e-16 + 5.551115123125783e-17;
}
inline float2 curand_normal2(curandStatePhilox4_32_10 *s)
{
    const unsigned x = curand(s), y = curand(s);
    return emulate::box_muller(x, y);
}
inline float curand_normal(curandStatePhilox4_32_10 *s)
{
    if (s->has_normal) {
        s->has_normal = false;
        return s->normal;
    }
    const float2 both = curand_normal2(s);
    s->has_normal = true;
    s->normal = both.y;
    return both.x;
}
inline float4 curand_normal4(curandStatePhilox4_32_10 *s)
{
    const float2 a = curand_normal2(s), b = curand_normal2(s);
    return {a.x, a.y, b.x, b.y};
}
inline double curand_normal_double(curandStatePhilox4_32_10 *s)
{
    const double u = curand_uniform_double(s), v = curand_uniform_double(s);
    return std::sqrt(-2.0 * std::log(u)) * std::sin(2.0 * M_PI * v);
}
#endif
