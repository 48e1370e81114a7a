#include "task/traps.h"

#include <math.h>
#include <stdlib.h>

enum { REF_NB, QUERY_NB, DIM, REF, QUERY, DIST };

static double rounded(double value, int bits)
{
    int exponent;
    if (bits >= 53 || value == 0)
        return value;
    const double mantissa = frexp(value, &exponent), scale = ldexp(1, bits);
    return ldexp(rint(mantissa * scale) / scale, exponent);
}

/* The product form with float sums. bits: precision of the factors of the mixed term (11: TF32, 8:
 * bf16). */
static bool expanded(bool centred, int bits, const struct ae_instance *inst,
                     struct ae_expected *answer)
{
    const size_t refs = (size_t)inst->scalar[REF_NB].i32,
                 queries = (size_t)inst->scalar[QUERY_NB].i32;
    const size_t dim = (size_t)inst->scalar[DIM].i32;
    const float *ref = ae_in_f32(inst, REF), *query = ae_in_f32(inst, QUERY);
    double *centre = calloc(dim, sizeof *centre);
    if (!centre)
        return false;
    for (size_t k = 0; centred && k < dim; k++) {
        for (size_t r = 0; r < refs; r++)
            centre[k] += (double)ref[k * refs + r] / (double)refs;
        centre[k] = (double)(float)centre[k];
    }
    for (size_t r = 0; r < refs; r++)
        for (size_t q = 0; q < queries; q++) {
            float aa = 0, bb = 0, ab = 0;
            for (size_t k = 0; k < dim; k++) {
                const float a = (float)((double)ref[k * refs + r] - centre[k]);
                const float b = (float)((double)query[k * queries + q] - centre[k]);
                aa += a * a;
                bb += b * b;
                ab += (float)(rounded((double)a, bits) * rounded((double)b, bits));
            }
            ((float *)answer->out[DIST].data)[r * queries + q] = aa + bb - 2 * ab;
        }
    free(centre);
    return true;
}

#define TRAP(name, result)                                                                         \
    static bool name(const struct ae_instance *inst, const struct ae_expected *right,              \
                     struct ae_expected *answer)                                                   \
    {                                                                                              \
        (void)right;                                                                               \
        return result;                                                                             \
    }

TRAP(plain_expansion, expanded(false, 53, inst, answer))
TRAP(tf32, expanded(true, 11, inst, answer))
TRAP(bf16, expanded(true, 8, inst, answer))

/* Direct sums over coordinates 0..dim-1 of what at(inst, ...) takes for the operands. */
enum layout { POINT_MAJOR, SHORT_DIM, REF_FOR_QUERY };

static bool direct(enum layout layout, const struct ae_instance *inst, struct ae_expected *answer)
{
    const size_t refs = (size_t)inst->scalar[REF_NB].i32,
                 queries = (size_t)inst->scalar[QUERY_NB].i32;
    const size_t dim = (size_t)inst->scalar[DIM].i32;
    const float *ref = ae_in_f32(inst, REF), *query = ae_in_f32(inst, QUERY);
    for (size_t r = 0; r < refs; r++)
        for (size_t q = 0; q < queries; q++) {
            double sum = 0;
            for (size_t k = 0; k < (layout == SHORT_DIM ? dim / 4 * 4 : dim); k++) {
                const float a = layout == POINT_MAJOR ? ref[r * dim + k] : ref[k * refs + r];
                const float b = layout == POINT_MAJOR     ? query[q * dim + k]
                                : layout == REF_FOR_QUERY ? ref[k * refs + q % refs]
                                                          : query[k * queries + q];
                sum += ((double)a - (double)b) * ((double)a - (double)b);
            }
            ((float *)answer->out[DIST].data)[r * queries + q] = (float)sum;
        }
    return true;
}

TRAP(point_major, direct(POINT_MAJOR, inst, answer))
TRAP(short_dim, direct(SHORT_DIM, inst, answer))
TRAP(ref_for_query, direct(REF_FOR_QUERY, inst, answer))

static bool transposed(const struct ae_instance *inst, const struct ae_expected *right,
                       struct ae_expected *answer)
{
    const size_t refs = (size_t)inst->scalar[REF_NB].i32,
                 queries = (size_t)inst->scalar[QUERY_NB].i32;
    const float *from = right->out[DIST].data;
    for (size_t r = 0; r < refs; r++)
        for (size_t q = 0; q < queries; q++)
            ((float *)answer->out[DIST].data)[q * refs + r] = from[r * queries + q];
    return true;
}

static bool rooted(const struct ae_instance *inst, const struct ae_expected *right,
                   struct ae_expected *answer)
{
    const float *from = right->out[DIST].data;
    for (size_t i = 0; i < inst->array[DIST].count; i++)
        ((float *)answer->out[DIST].data)[i] = sqrtf(from[i]);
    return true;
}

static bool lost_columns(const struct ae_instance *inst, const struct ae_expected *right,
                         struct ae_expected *answer)
{
    (void)right;
    const size_t queries = (size_t)inst->scalar[QUERY_NB].i32;
    for (size_t i = 0; i < inst->array[DIST].count; i++)
        if (i % queries >= queries / 16 * 16)
            ((float *)answer->out[DIST].data)[i] = 0;
    return true;
}

AE_TRAPS(euclidean_distance_matrix) = {
    {"expands without centring", "offsets", plain_expansion},
    {"multiplies in TF32 after centring", "offsets", tf32},
    {"multiplies in bf16 after centring", "offsets", bf16},
    {"takes points for coordinate rows", "offsets", point_major},
    {"drops coordinates that do not fill a vector", "offsets", short_dim},
    {"takes the reference set for the queries", "offsets", ref_for_query},
    {"transposes the result", "offsets", transposed},
    {"takes the root", "offsets", rooted},
    {"drops queries that do not fill a tile", "offsets", lost_columns},
    {0},
};
