#include "task/task.h"

#include <math.h>

/* z = a x + y: a small task that is complete. Replace it part by part; docs/adding-a-task.md explains each. */

enum { P_N };

enum { N, A, X, Y, Z, ARG_COUNT };

static const struct ae_arg args[ARG_COUNT] = {
    [N] = {"n", AE_I32, AE_SCALAR, .meaning = "number of elements"},
    [A] = {"a", AE_F32, AE_SCALAR, .meaning = "factor of x"},
    [X] = {"x", AE_F32, AE_IN, "n", .meaning = "first vector"},
    [Y] = {"y", AE_F32, AE_IN, "n", .meaning = "second vector"},
    [Z] = {"z", AE_F32, AE_OUT, "n", .meaning = "a x + y, element by element",
           .rule = {AE_SCALED,
                    .reason = "1e-6*(|a x| + |y|): float arithmetic, fused or not, uses at most 12 % of it; the sum "
                              "may cancel, so the error is measured against the terms"}},
};

enum { DRAWS, CANCELLING, TINY };

static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    /* Never a multiple of 4: a lost tail would go unseen. */
    int64_t n = inst->param[P_N] - ae_rng_range(rng, 1, inst->param[P_N] / 32);
    n -= n % 4 == 0;
    if (inst->family == TINY)
        n = ae_rng_range(rng, 1, 3);
    ae_set_i32(inst, N, n);
    ae_set_f32(inst, A, ae_rng_uniform(rng, 2, 5));
    const size_t count = (size_t)n;
    float *x = ae_new_array(inst, X, count, err), *y = ae_new_array(inst, Y, count, err);
    if (!x || !y)
        return AE_E_NOMEM;
    ae_rng_fill_f32(rng, x, count, -1, 1);
    ae_rng_fill_f32(rng, y, count, -5, 5);
    const float a = inst->scalar[A].f32;
    for (size_t i = 0; inst->family == CANCELLING && i < count; i++)
        y[i] = (float)(-(double)a * (double)x[i] * (1 + 1e-3 * (double)y[i]));
    return AE_OK;
}

static void outputs(struct ae_instance *inst)
{
    ae_set_output(inst, Z, (size_t)inst->scalar[N].i32);
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    const int32_t n = inst->scalar[N].i32;
    if (n < 1)
        return ae_error_set(err, AE_E_INPUT, "n is %d; at least one element is needed", n);
    if (!isfinite(inst->scalar[A].f32))
        return ae_error_set(err, AE_E_INPUT, "a is not finite");
    for (int v = X; v <= Y; v++) {
        if (inst->array[v].count != (size_t)n)
            return ae_error_set(err, AE_E_INPUT, "%s has %zu elements for n = %d", args[v].name, inst->array[v].count,
                                n);
        for (int32_t i = 0; i < n; i++)
            if (!isfinite(ae_in_f32(inst, v)[i]))
                return ae_error_set(err, AE_E_INPUT, "%s[%d] is not finite", args[v].name, i);
    }
    return AE_OK;
}

static void tolerance(const struct ae_instance *inst, const struct ae_expected *expected, int arg, size_t first,
                      size_t count, double *tol)
{
    (void)expected;
    (void)arg;
    const double a = (double)inst->scalar[A].f32;
    const float *x = ae_in_f32(inst, X) + first, *y = ae_in_f32(inst, Y) + first;
    for (size_t i = 0; i < count; i++)
        tol[i] += 1e-6 * (fabs(a * (double)x[i]) + fabs((double)y[i]));
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    w->operations = 2.0 * inst->scalar[N].i32;
    w->steps = 1;
}

const struct ae_task ae_task_TASK_ID = {
    .id = "TASK_ID",
    .title = "A multiple of one vector added to another",
    .domain = AE_TASK_DOMAIN,
    .lineage = "axpy of the Basic Linear Algebra Subprograms (Lawson et al. 1979)",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"n"},
    .sizes = {[AE_SMALL] = {{100000}}, [AE_MEDIUM] = {{5000000}}, [AE_LARGE] = {{50000000}}},
    .families = {[DRAWS] = {"draws", "independent uniform draws", AE_ALL_SIZES},
                 [CANCELLING] = {"cancelling", "a x and y nearly cancel: only the tolerance's terms are left",
                                 AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
                 [TINY] = {"tiny", "one to three elements: less than a vector or a block", AE_AT(AE_SMALL)}},
    .published_note = "not one of the published tasks: there is nothing to import",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .tolerance = tolerance,
    .work = work,
};
