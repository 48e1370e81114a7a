#include "task/task.h"

#include "base/fmath.h"

#include <math.h>

enum { P_OPTIONS };

enum { N, TYPES, STRIKES, SPOTS, QS, RS, TS, VOLS, PRICES, ARG_COUNT };

static const struct ae_arg args[ARG_COUNT] = {
    [N] = {"N", AE_I32, AE_SCALAR, .meaning = "number of options"},
    [TYPES] = {"types", AE_I32, AE_IN, "N", .meaning = "0 for a call, 1 for a put"},
    [STRIKES] = {"strikes", AE_F32, AE_IN, "N", "currency", "strike price K"},
    [SPOTS] = {"spots", AE_F32, AE_IN, "N", "currency", "price S of the underlying now"},
    [QS] = {"qs", AE_F32, AE_IN, "N", "1/year", "continuous dividend yield q"},
    [RS] = {"rs", AE_F32, AE_IN, "N", "1/year", "continuous risk-free rate r"},
    [TS] = {"ts", AE_F32, AE_IN, "N", "years", "time to expiry t"},
    [VOLS] = {"vols", AE_F32, AE_IN, "N", "1/sqrt(year)", "volatility v"},
    [PRICES] = {"prices", AE_F32, AE_OUT, "N", "currency", "fair value of each option",
                .rule = {AE_SCALED, .rtol = 1e-5,
                         .reason = "1e-6*max(S,K) + 1e-5*|price|: an honest float program with erfcf uses about 15 % "
                                   "of it; prices below the first term are rare, and returning 0 for cheap options "
                                   "or ignoring an input fails nearly every row"}},
};

/* Independent draws, never repeated, so that no table of a few prices serves; q and r apart, so that an
 * implementation that swaps or drops one is wrong in nearly every row. */
static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    /* The nominal sizes are multiples of 32: a lost tail would go unseen. */
    int64_t n = inst->param[P_OPTIONS] - ae_rng_range(rng, 1, 31);
    if (n % 4 == 0)
        n--;
    const bool extreme = inst->family == 1;
    if (inst->family == 2)
        n = ae_rng_range(rng, 1, 3);
    ae_set_i32(inst, N, n);
    const size_t count = (size_t)n;
    int32_t *types = ae_new_array(inst, TYPES, count, err);
    float *strikes = ae_new_array(inst, STRIKES, count, err), *spots = ae_new_array(inst, SPOTS, count, err);
    float *qs = ae_new_array(inst, QS, count, err), *rs = ae_new_array(inst, RS, count, err);
    float *ts = ae_new_array(inst, TS, count, err), *vols = ae_new_array(inst, VOLS, count, err);
    if (!types || !strikes || !spots || !qs || !rs || !ts || !vols)
        return AE_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        const double strike = extreme ? ae_rng_log_uniform(rng, 1e-2, 1e6) : ae_rng_uniform(rng, 5, 200);
        double ratio = ae_exp((extreme ? 0.8 : 0.25) * ae_rng_normal(rng));
        ratio = ratio < 0.3 ? 0.3 : ratio > 3 ? 3 : ratio;
        types[i] = ae_rng_chance(rng, 0.5);
        strikes[i] = (float)strike;
        spots[i] = (float)(strike * ratio);
        qs[i] = (float)ae_rng_uniform(rng, 0, extreme ? 0.2 : 0.1);
        rs[i] = (float)ae_rng_uniform(rng, 0, extreme ? 0.2 : 0.1);
        ts[i] = (float)(extreme ? ae_rng_log_uniform(rng, 0.003, 30) : ae_rng_uniform(rng, 0.02, 3));
        vols[i] = (float)(extreme ? ae_rng_log_uniform(rng, 0.02, 2) : ae_rng_uniform(rng, 0.05, 0.9));
    }
    return AE_OK;
}

static void outputs(struct ae_instance *inst)
{
    ae_set_output(inst, PRICES, (size_t)inst->scalar[N].i32);
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    const int32_t n = inst->scalar[N].i32;
    if (n < 1)
        return ae_error_set(err, AE_E_INPUT, "N is %d; at least one option is needed", n);
    for (int a = TYPES; a <= VOLS; a++)
        if (inst->array[a].count != (size_t)n)
            return ae_error_set(err, AE_E_INPUT, "%s has %zu elements for %d options", args[a].name,
                                inst->array[a].count, n);
    for (int32_t i = 0; i < n; i++) {
        const int32_t type = ae_in_i32(inst, TYPES)[i];
        if (type != 0 && type != 1)
            return ae_error_set(err, AE_E_INPUT, "option %d has type %d", i, type);
        for (int a = STRIKES; a <= VOLS; a++) {
            const float value = ae_in_f32(inst, a)[i];
            const bool may_be_zero = a == QS || a == RS;
            if (!isfinite(value) || value < 0 || (value == 0 && !may_be_zero))
                return ae_error_set(err, AE_E_INPUT, "option %d has %s = %g", i, args[a].name, (double)value);
        }
    }
    return AE_OK;
}

static void tolerance(const struct ae_instance *inst, const struct ae_expected *expected, int arg, size_t first,
                      size_t count, double *tol)
{
    (void)expected;
    (void)arg;
    const float *strikes = ae_in_f32(inst, STRIKES) + first, *spots = ae_in_f32(inst, SPOTS) + first;
    for (size_t i = 0; i < count; i++)
        tol[i] += 1e-6 * (double)(spots[i] > strikes[i] ? spots[i] : strikes[i]);
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    w->operations = 130.0 * inst->scalar[N].i32; /* two normal distributions, two exponentials, log, sqrt */
    w->steps = 1;
}

const struct ae_task ae_task_black_scholes = {
    .id = "black_scholes",
    .title = "European options by the Black-Scholes-Merton formula",
    .domain = AE_FINANCE,
    .lineage = "FinanceBench (Grauer-Gray et al.), after QuantLib's analytic European engine",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"N"},
    .sizes = {[AE_SMALL] = {{100000}}, [AE_MEDIUM] = {{5000000}}, [AE_LARGE] = {{10000000}}},
    .families = {{"draws", "independent market-like draws", AE_ALL_SIZES},
                 {"extreme", "strikes over eight decades, volatilities and maturities at their ends",
                  AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
                 {"tiny", "one to three options: less than a vector or a block", AE_AT(AE_SMALL)}},
    .published_atol = 0.01,
    .published_rtol = 1e-4,
    .published_note = "published data repeat 37 options; published prices are evaluated in float",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .tolerance = tolerance,
    .work = work,
};
