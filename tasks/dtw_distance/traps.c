#include "task/traps.h"

#include <math.h>
#include <stdlib.h>

enum { NUM_ENTRIES, NUM_FEATURES, SUBJECTS, QUERY, DISTANCES };

/* The recurrence with one thing done wrong. */
struct fault {
    int band;          /* cells with |i-j| beyond it are left out; 0: none */
    bool half;         /* inputs rounded to 11 bits */
    bool no_diagonal;  /* only steps along one axis */
    int length;        /* this length, whatever L is; 0: L */
    bool stale_corner; /* the published defect, in strips of L/32 columns */
    bool root;
};

static double rounded(float value, bool half)
{
    if (!half || value == 0)
        return (double)value;
    int exponent;
    const double mantissa = frexp((double)value, &exponent);
    return ldexp(rint(mantissa * 2048) / 2048, exponent);
}

static bool solve_with(struct fault fault, const struct ae_instance *inst,
                       struct ae_expected *answer)
{
    const int stride = inst->scalar[NUM_FEATURES].i32,
              length = fault.length ? fault.length : stride;
    const float *query = ae_in_f32(inst, QUERY);
    if (length > stride)
        return false;
    double *row = malloc(((size_t)length + 1) * sizeof *row);
    if (!row)
        return false;
    const int strip = (length + 31) / 32, column = length / strip * strip - strip / 2;
    /* Every eighth series: enough to be seen, and quick under sanitizers. */
    for (int e = 3; e < inst->scalar[NUM_ENTRIES].i32; e += 8) {
        const float *subject = ae_in_f32(inst, SUBJECTS) + (size_t)e * (size_t)stride;
        for (int j = 0; j <= length; j++)
            row[j] = 1e30;
        for (int i = 0; i < length; i++) {
            double diagonal = i == 0 ? 0 : 1e30;
            const double stale = column > strip ? row[column - strip] : 1e30;
            row[0] = 1e30;
            for (int j = 1; j <= length; j++) {
                const double above = row[j];
                const double d =
                    rounded(query[i], fault.half) - rounded(subject[j - 1], fault.half);
                if (fault.stale_corner && i == length - 1 && j == column)
                    diagonal = stale;
                if (fault.no_diagonal && i > 0)
                    diagonal = 1e30;
                const double best = fmin(row[j - 1], fmin(above, diagonal));
                row[j] = fault.band && abs(i + 1 - j) > fault.band ? 1e30 : d * d + best;
                diagonal = above;
            }
        }
        const double result = fault.root ? sqrt(row[length]) : row[length];
        ((float *)answer->out[DISTANCES].data)[e] = (float)result;
    }
    free(row);
    return true;
}

#define TRAP(name, ...)                                                                            \
    static bool name(const struct ae_instance *inst, const struct ae_expected *right,              \
                     struct ae_expected *answer)                                                   \
    {                                                                                              \
        (void)right;                                                                               \
        return solve_with((struct fault){__VA_ARGS__}, inst, answer);                              \
    }

TRAP(band_100, .band = 100)
TRAP(band_700, .band = 700)
TRAP(half_inputs, .half = true)
TRAP(no_diagonal, .no_diagonal = true)
TRAP(fixed_length, .length = 992)
TRAP(stale_corner, .stale_corner = true)
TRAP(root, .root = true)

static bool no_warping(const struct ae_instance *inst, const struct ae_expected *right,
                       struct ae_expected *answer)
{
    (void)right;
    const int length = inst->scalar[NUM_FEATURES].i32;
    for (int e = 0; e < inst->scalar[NUM_ENTRIES].i32; e++) {
        const float *subject = ae_in_f32(inst, SUBJECTS) + (size_t)e * (size_t)length;
        double sum = 0;
        for (int i = 0; i < length; i++)
            sum += pow((double)subject[i] - (double)ae_in_f32(inst, QUERY)[i], 2);
        ((float *)answer->out[DISTANCES].data)[e] = (float)sum;
    }
    return true;
}

AE_TRAPS(dtw_distance) = {
    {"keeps to a band of 100", "shifts", band_100},
    {"keeps to a band of 700", "shifts", band_700},
    {"rounds the inputs to half precision", "shifts", half_inputs},
    {"takes no diagonal steps", "shifts", no_diagonal},
    {"assumes one length", "shifts", fixed_length},
    {"takes a stale corner in the last row", NULL, stale_corner},
    {"takes the root", "shifts", root},
    {"does not warp", "shifts", no_warping},
    {0},
};
