#include "base/fmath.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static double from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t to_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* 2^k for a normal result. */
static double power_of_two(int k)
{
    return from_bits((uint64_t)(k + 1023) << 52);
}

/* Nearest integer without the rounding mode of the machine entering by way of a library call. */
static double nearest(double x)
{
    return x < 0 ? (double)(int64_t)(x - 0.5) : (double)(int64_t)(x + 0.5);
}

double ae_exp(double x)
{
    if (isnan(x))
        return x;
    if (x > 709.78)
        return INFINITY;
    if (x < -745)
        return 0;
    /* x = k ln 2 + r with ln 2 in two parts, the first with 32 trailing zero bits: k * hi is exact. */
    const double ln2_hi = 0x1.62e42feep-1, ln2_lo = 0x1.a39ef35793c76p-33;
    const double k = nearest(x * 0x1.71547652b82fep+0);
    const double r = (x - k * ln2_hi) - k * ln2_lo;
    /* Taylor: |r| <= 0.3466, so the first omitted term, r^14/14!, is below 2^-57. */
    double p = 1.0 / 6227020800.0;
    static const double inverse_factorial[] = {
        1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0, 1.0 / 362880.0, 1.0 / 40320.0,
        1.0 / 5040.0,      1.0 / 720.0,      1.0 / 120.0,     1.0 / 24.0,     1.0 / 6.0,
        1.0 / 2.0};
    for (unsigned i = 0; i < sizeof inverse_factorial / sizeof *inverse_factorial; i++)
        p = p * r + inverse_factorial[i];
    const double value = 1 + (r + r * r * p);
    const int exponent = (int)k;
    if (exponent < -1000) /* two steps: the result may be subnormal */
        return value * power_of_two(exponent + 200) * 0x1p-200;
    if (exponent > 1000)
        return value * power_of_two(exponent - 200) * 0x1p200;
    return value * power_of_two(exponent);
}

double ae_log(double x)
{
    if (x == 0)
        return -INFINITY;
    if (!(x > 0) || isinf(x))
        return x > 0 ? x : NAN;
    uint64_t bits = to_bits(x);
    int exponent = (int)(bits >> 52) - 1023;
    double m = from_bits((bits & UINT64_C(0xfffffffffffff)) | UINT64_C(0x3ff0000000000000));
    if (m > 0x1.6a09e667f3bcdp+0) { /* bring m into [1/sqrt 2, sqrt 2] */
        m *= 0.5;
        exponent++;
    }
    /* log m = 2 atanh(s), s = (m-1)/(m+1), |s| <= 0.1716; the first omitted term is below 2^-58. */
    const double f = m - 1;
    const double s = f / (2 + f), z = s * s;
    double p = 1.0 / 23.0;
    for (int n = 21; n >= 3; n -= 2)
        p = p * z + 1.0 / n;
    const double ln2_hi = 0x1.62e42feep-1, ln2_lo = 0x1.a39ef35793c76p-33;
    const double e = exponent;
    /* log m = f - s (f - 2 z p): f is exact, so the small term alone is rounded. */
    return e * ln2_hi + (f - (s * (f - 2 * z * p) - e * ln2_lo));
}

/* x = k pi/2 + r, |r| <= pi/4 (a little more by rounding); returns k mod 4. */
static int reduce(double x, double *ret_r)
{
    const double k = nearest(x * 0x1.45f306dc9c883p-1);
    const double p1 = 0x1.921fb544p+0, p2 = 0x1.0b4611a6p-34, p3 = 0x1.3198a2e037073p-69;
    *ret_r = ((x - k * p1) - k * p2) - k * p3;
    return (int)((int64_t)k & 3);
}

static double sine_polynomial(double r)
{
    const double z = r * r;
    double p = 0;
    for (int n = 19; n >= 3; n -= 2) /* r^21/21! < 2^-72 */
        p = z * (-1.0 / (n * (n - 1))) * (1 + p);
    return r + r * p;
}

static double cosine_polynomial(double r)
{
    const double z = r * r;
    double p = 0;
    for (int n = 18; n >= 4; n -= 2)
        p = z * (-1.0 / (n * (n - 1))) * (1 + p);
    return 1 - z * 0.5 * (1 + p);
}

double ae_sin(double x)
{
    double r;
    switch (reduce(x, &r)) {
    case 0:
        return sine_polynomial(r);
    case 1:
        return cosine_polynomial(r);
    case 2:
        return -sine_polynomial(r);
    default:
        return -cosine_polynomial(r);
    }
}

double ae_cos(double x)
{
    double r;
    switch (reduce(x, &r)) {
    case 0:
        return cosine_polynomial(r);
    case 1:
        return -sine_polynomial(r);
    case 2:
        return -cosine_polynomial(r);
    default:
        return sine_polynomial(r);
    }
}

double ae_sqrt(double x)
{
    return sqrt(x);
}
