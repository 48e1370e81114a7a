/* Five-component fields on a cube, as the tasks after the NAS pseudo-applications use them: index
 * ((k*n + j)*n + i)*5 + m. */
#ifndef AE_TASKS_NPB_FIELD_H
#define AE_TASKS_NPB_FIELD_H

#include "task/task.h"

#include "base/fmath.h"

#include <math.h>

static inline size_t ae_npb_field_count(int32_t n)
{
    return 5 * (size_t)n * (size_t)n * (size_t)n;
}

struct ae_npb_field {
    double u0_deviation, rhs_deviation; /* of the normal noise */
    double forcing[5];                  /* amplitudes of a smooth right-hand side, by component */
};

/* u0 is noise, rhs noise and forcing. X goes with k, Y with j, Z with i, each from 0 to 1. */
static inline int ae_npb_field_fill(struct ae_instance *inst, struct ae_rng *rng, int u0_arg,
                                    int rhs_arg, int32_t n, const struct ae_npb_field *field,
                                    struct ae_error *err)
{
    const double two_pi = 6.28318530717958647692;
    const size_t count = ae_npb_field_count(n);
    double *u0 = ae_new_array(inst, u0_arg, count, err),
           *rhs = ae_new_array(inst, rhs_arg, count, err);
    if (!u0 || !rhs)
        return AE_E_NOMEM;
    struct ae_array waves = {0};
    if (ae_array_alloc(&waves, AE_F64, 2 * (size_t)n, err) != AE_OK)
        return AE_E_NOMEM;
    double *sine = waves.data, *cosine = sine + n;
    const double step = n > 1 ? 1.0 / (n - 1) : 0;
    for (int32_t i = 0; i < n; i++) {
        sine[i] = ae_sin(two_pi * (i * step));
        cosine[i] = ae_cos(two_pi * (i * step));
    }
    for (size_t p = 0; p < count; p++)
        u0[p] = field->u0_deviation * ae_rng_normal(rng);
    size_t p = 0;
    for (int32_t k = 0; k < n; k++)
        for (int32_t j = 0; j < n; j++)
            for (int32_t i = 0; i < n; i++, p += 5) {
                const double x = k * step, y = j * step, z = i * step;
                const double wave[5] = {sine[k] * cosine[j], cosine[j] * sine[i],
                                        sine[i] * cosine[k], (x - 0.5) * (y - 0.5),
                                        (y - 0.5) * (z - 0.5)};
                for (int m = 0; m < 5; m++)
                    rhs[p + (size_t)m] =
                        field->rhs_deviation * ae_rng_normal(rng) + field->forcing[m] * wave[m];
            }
    ae_array_release(&waves);
    return AE_OK;
}

/* One random octant ten times as large: what goes wrong in one region only then shows in the norms.
 */
static inline void ae_npb_field_raise_octant(struct ae_instance *inst, struct ae_rng *rng,
                                             int u0_arg, int rhs_arg, int32_t n)
{
    double *u0 = inst->array[u0_arg].data, *rhs = inst->array[rhs_arg].data;
    const uint32_t octant = ae_rng_below(rng, 8);
    size_t p = 0;
    for (int32_t k = 0; k < n; k++)
        for (int32_t j = 0; j < n; j++)
            for (int32_t i = 0; i < n; i++, p += 5) {
                const uint32_t mine = (i >= n / 2) + 2u * (j >= n / 2) + 4u * (k >= n / 2);
                for (size_t m = 0; m < 5 && mine == octant; m++) {
                    u0[p + m] *= 10;
                    rhs[p + m] *= 10;
                }
            }
}

/* n and iters in range, omega_milli anything, both fields of the right length and finite. */
static inline int ae_npb_field_validate(const struct ae_instance *inst, int n_arg, int iters_arg,
                                        int u0_arg, int rhs_arg, struct ae_error *err)
{
    const int32_t n = inst->scalar[n_arg].i32;
    if (n < 1 || n > 1024)
        return ae_error_set(err, AE_E_INPUT, "n is %d; 1 to 1024 is possible", n);
    if (inst->scalar[iters_arg].i32 < 0)
        return ae_error_set(err, AE_E_INPUT, "iters is %d", inst->scalar[iters_arg].i32);
    const int fields[2] = {u0_arg, rhs_arg};
    for (int f = 0; f < 2; f++) {
        const struct ae_array *array = &inst->array[fields[f]];
        const char *name = inst->task->args[fields[f]].name;
        if (array->count != ae_npb_field_count(n))
            return ae_error_set(err, AE_E_INPUT, "%s has %zu elements for n = %d", name,
                                array->count, n);
        for (size_t i = 0; i < array->count; i++)
            if (!isfinite(ae_in_f64(inst, fields[f])[i]))
                return ae_error_set(err, AE_E_INPUT, "%s[%zu] is not finite", name, i);
    }
    return AE_OK;
}

#endif
