#include "judge/judge.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Elements whose tolerances are asked for at once: small enough for the stack and L1. */
#define CHUNK 1024

static void note(struct ae_output_judgement *j, size_t index, double got, double expected)
{
    if (j->wrong++ == 0) {
        j->first = index;
        j->got = got;
        j->expected = expected;
    }
}

/* One element that is not bit-equal to its expected value. */
static void compare_one(struct ae_output_judgement *j, size_t index, double got, double expected, double tol)
{
    if (!isfinite(got)) {
        if (isnan(got))
            j->nan++;
        else
            j->inf++;
        j->max_share = INFINITY;
        note(j, index, got, expected);
        return;
    }
    const double diff = fabs(got - expected);
    const double size = fabs(expected);
    if (diff > j->max_abs)
        j->max_abs = diff;
    if (size > 0 && diff > j->max_rel * size)
        j->max_rel = diff / size;
    if (diff > j->max_share * tol) /* one division a new maximum, not one an element */
        j->max_share = tol > 0 ? diff / tol : INFINITY;
    if (!(diff <= tol)) /* also where expected or tol is not a number */
        note(j, index, got, expected);
}

/* tol: element tolerances, or NULL for atol + rtol*|expected|; with tol, rtol*|expected| comes on top. */
#define DEFINE_CLOSE(name, ctype)                                                                            \
    static void name(const ctype *expected, const ctype *got, size_t first, size_t count, double atol,      \
                     double rtol, const double *tol, struct ae_output_judgement *j)                         \
    {                                                                                                        \
        double abs = j->max_abs, rel = j->max_rel, share = j->max_share;                                      \
        for (size_t i = 0; i < count; i++) {                                                                 \
            const double e = (double)expected[i], g = (double)got[i], size = fabs(e);                        \
            const double diff = fabs(g - e), t = (tol ? tol[i] : atol) + rtol * size;                        \
            /* Within tolerance and no new maximum: nearly all. NaN and infinities fail the first of these. */ \
            if (diff <= t && diff <= share * t && diff <= abs && diff <= rel * size)                         \
                continue;                                                                                    \
            if (g == e && isfinite(g))                                                                       \
                continue;                                                                                    \
            compare_one(j, first + i, g, e, t);                                                              \
            abs = j->max_abs, rel = j->max_rel, share = j->max_share;                                        \
        }                                                                                                    \
    }

DEFINE_CLOSE(close_f32, float)
DEFINE_CLOSE(close_f64, double)
DEFINE_CLOSE(close_i32, int32_t)
DEFINE_CLOSE(close_u32, uint32_t)

/* 64-bit integers: doubles lose their low bits, so equality is decided on the integers. */
#define DEFINE_CLOSE64(name, ctype)                                                                          \
    static void name(const ctype *expected, const ctype *got, size_t first, size_t count, double atol,      \
                     double rtol, const double *tol, struct ae_output_judgement *j)                         \
    {                                                                                                        \
        for (size_t i = 0; i < count; i++) {                                                                 \
            if (got[i] == expected[i])                                                                       \
                continue;                                                                                    \
            const double e = (double)expected[i], g = (double)got[i];                                        \
            const double t = (tol ? tol[i] : atol) + rtol * fabs(e);                                         \
            if (g == e && !(t >= 1)) {                                                                       \
                j->max_share = INFINITY;                                                                     \
                note(j, first + i, g, e);                                                                    \
            } else {                                                                                         \
                compare_one(j, first + i, g, e, t);                                                          \
            }                                                                                                \
        }                                                                                                    \
    }

DEFINE_CLOSE64(close_i64, int64_t)
DEFINE_CLOSE64(close_u64, uint64_t)

static void compare_range(enum ae_type type, const void *expected, const void *got, size_t first, size_t count,
                          double atol, double rtol, const double *tol, struct ae_output_judgement *j)
{
    const size_t offset = first * ae_type_size(type);
    const void *e = (const char *)expected + offset, *g = (const char *)got + offset;
    switch (type) {
    case AE_F32:
        close_f32(e, g, first, count, atol, rtol, tol, j);
        break;
    case AE_F64:
        close_f64(e, g, first, count, atol, rtol, tol, j);
        break;
    case AE_I32:
        close_i32(e, g, first, count, atol, rtol, tol, j);
        break;
    case AE_U32:
        close_u32(e, g, first, count, atol, rtol, tol, j);
        break;
    case AE_I64:
        close_i64(e, g, first, count, atol, rtol, tol, j);
        break;
    case AE_U64:
        close_u64(e, g, first, count, atol, rtol, tol, j);
        break;
    default:
        note(j, first, NAN, NAN);
    }
}

void ae_compare(const struct ae_array *expected, const void *got, double atol, double rtol,
                struct ae_output_judgement *ret)
{
    *ret = (struct ae_output_judgement){.count = expected->count};
    compare_range(expected->type, expected->data, got, 0, expected->count, atol, rtol, NULL, ret);
}

static void compare_scaled(const struct ae_instance *inst, const struct ae_expected *expected, int arg,
                           const void *got, struct ae_output_judgement *j)
{
    const struct ae_array *e = &expected->out[arg];
    const struct ae_rule *rule = &inst->task->args[arg].rule;
    double tol[CHUNK];
    for (size_t first = 0; first < e->count; first += CHUNK) {
        const size_t count = e->count - first < CHUNK ? e->count - first : CHUNK;
        for (size_t i = 0; i < count; i++)
            tol[i] = rule->atol;
        inst->task->tolerance(inst, expected, arg, first, count, tol);
        compare_range(e->type, e->data, got, first, count, 0, rule->rtol, tol, j);
    }
}

static void describe(const struct ae_instance *inst, struct ae_judgement *j)
{
    for (int k = 0; k < j->output_count; k++) {
        const struct ae_output_judgement *o = &j->output[k];
        if (o->wrong == 0)
            continue;
        const size_t used = strlen(j->text);
        snprintf(j->text + used, sizeof j->text - used, "%s%s: %zu of %zu wrong", used ? "; " : "",
                 inst->task->args[o->arg].name, o->wrong, o->count);
        const size_t more = strlen(j->text);
        if (o->nan || o->inf)
            snprintf(j->text + more, sizeof j->text - more, " (%zu NaN, %zu infinite)", o->nan, o->inf);
        else if (isfinite(o->max_share))
            snprintf(j->text + more, sizeof j->text - more, " (largest error %.3g tolerances)", o->max_share);
    }
}

int ae_judge(const struct ae_instance *inst, const struct ae_expected *expected, const void *const got[],
             struct ae_judgement *ret, struct ae_error *err)
{
    const struct ae_task *task = inst->task;
    *ret = (struct ae_judgement){.right = true};
    bool property = false;
    for (int i = 0; i < task->arg_count; i++) {
        const struct ae_arg *arg = &task->args[i];
        if (!ae_arg_is_output(arg))
            continue;
        struct ae_output_judgement *j = &ret->output[ret->output_count++];
        *j = (struct ae_output_judgement){.arg = i, .count = inst->array[i].count};
        const struct ae_array *e = &expected->out[i];
        if (e->count != inst->array[i].count || e->type != arg->type)
            return ae_error_set(err, AE_E_INTERNAL, "%s: the expected %s does not fit the instance", task->id,
                                arg->name);
        switch (arg->rule.kind) {
        case AE_EXACT:
            compare_range(e->type, e->data, got[i], 0, e->count, 0, 0, NULL, j);
            break;
        case AE_CLOSE:
            compare_range(e->type, e->data, got[i], 0, e->count, arg->rule.atol, arg->rule.rtol, NULL, j);
            break;
        case AE_SCALED:
            compare_scaled(inst, expected, i, got[i], j);
            break;
        case AE_PROPERTY:
            property = true;
            break;
        default:
            return ae_error_set(err, AE_E_INTERNAL, "%s: output %s has no rule", task->id, arg->name);
        }
        if (j->wrong)
            ret->right = false;
    }
    /* Beside the judge of property outputs it may be a condition on outputs as a whole: asked where all
     * elements are right, so that it never hides which of them are wrong. */
    if (task->check && (property || ret->right) && !task->check(inst, expected, got, ret))
        ret->right = false;
    if (!ret->right && !ret->text[0])
        describe(inst, ret);
    return AE_OK;
}
