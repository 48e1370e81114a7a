#include "task/task.h"

#include "base/fmath.h"
#include "task/published.h"

#include <math.h>
#include <stdio.h>

enum { P_PATHS };

enum {
    N,
    NUM_STEPS,
    RISK_FREE,
    VOLATILITY,
    STRIKE,
    SPOT,
    TIME_TO_MATURITY,
    BASE_SEED,
    PAYOFFS,
    ARG_COUNT
};

enum { F_MARKET, F_ENDS, F_ZERO_STATE, F_TINY };

/* Below this many paths the mean says nothing that the paths do not say. */
#define PATHS_FOR_MEAN 1000

static const struct ae_arg args[ARG_COUNT] = {
    [N] = {"N", AE_I32, AE_SCALAR, .meaning = "number of paths"},
    [NUM_STEPS] = {"num_steps", AE_I32, AE_SCALAR,
                   .meaning = "points of a path, the start included: one random step less"},
    [RISK_FREE] = {"risk_free", AE_F32, AE_SCALAR, .unit = "1/year", .meaning = "risk-free rate r"},
    [VOLATILITY] = {"volatility", AE_F32, AE_SCALAR, .unit = "1/sqrt(year)",
                    .meaning = "volatility v"},
    [STRIKE] = {"strike", AE_F32, AE_SCALAR, .unit = "currency",
                .meaning = "strike price K of the put"},
    [SPOT] = {"spot", AE_F32, AE_SCALAR, .unit = "currency", .meaning = "price at the start"},
    [TIME_TO_MATURITY] = {"time_to_maturity", AE_F32, AE_SCALAR, .unit = "years",
                          .meaning = "T, for the final discount only"},
    [BASE_SEED] = {"base_seed", AE_U32, AE_SCALAR, .meaning = "seed of the random streams"},
    [PAYOFFS] =
        {"payoffs", AE_F32, AE_OUT, "N", "currency", "discounted payoff of each path",
         .rule = {AE_SCALED, .rtol = 1e-5,
                  .reason =
                      "1e-5*K + 1e-5*|expected|: the sum of the pseudo-normals in float with the "
                      "drift table uses about a seventh of it; one step more or less, another tail "
                      "or another stream misses by hundreds of it"}},
};

static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    (void)err;
    /* Paths times steps stay nearly constant. Market data come in hundredths and basis points. */
    int64_t steps = ae_rng_range(rng, 200, 300);
    int64_t n = inst->param[P_PATHS] * 251 / (steps - 1);
    int64_t rate = ae_rng_range(rng, 100, 800), volatility = ae_rng_range(rng, 1500, 4000), strike,
            spot;
    do {
        strike = ae_rng_range(rng, 8000, 12000);
        spot = ae_rng_range(rng, 8000, 12000);
    } while (fabs(ae_log((double)spot / (double)strike)) >= 0.4);
    int64_t days = ae_rng_range(rng, 500, 1499); /* thousandths of a year, never one year */
    days += days >= 1000;
    uint32_t seed = (uint32_t)ae_rng_range(rng, 1, INT32_MAX);
    n -= n % 4 == 0;

    switch (inst->family) {
    case F_ENDS: /* hardly any step or many, no rate, wild or calm prices, long discounts */
        n = ae_rng_range(rng, 1001, 1999);
        steps = ae_rng_chance(rng, 0.5) ? ae_rng_range(rng, 1, 3) : ae_rng_range(rng, 900, 1100);
        rate = ae_rng_chance(rng, 0.5) ? 0 : 2000;
        volatility = ae_rng_chance(rng, 0.5) ? ae_rng_range(rng, 10, 100) : 10000;
        days = ae_rng_range(rng, 10, 30000);
        break;
    case F_ZERO_STATE: /* the state of one path starts at zero, and is to become one */
        n = ae_rng_range(rng, 1001, 1999);
        seed = (uint32_t)ae_rng_below(rng, 4) * UINT32_C(2654435761);
        strike = 12000; /* that path must matter */
        spot = 9000;
        volatility = 1500;
        break;
    case F_TINY:
        n = ae_rng_range(rng, 1, 5);
        break;
    default:
        break;
    }
    ae_set_i32(inst, N, n);
    ae_set_i32(inst, NUM_STEPS, steps);
    inst->scalar[RISK_FREE].f32 = (float)rate / 10000.0f;
    inst->scalar[VOLATILITY].f32 = (float)volatility / 10000.0f;
    inst->scalar[STRIKE].f32 = (float)strike / 100.0f;
    inst->scalar[SPOT].f32 = (float)spot / 100.0f;
    inst->scalar[TIME_TO_MATURITY].f32 = (float)days / 1000.0f;
    ae_set_u32(inst, BASE_SEED, seed);
    return AE_OK;
}

static void outputs(struct ae_instance *inst)
{
    ae_set_output(inst, PAYOFFS, (size_t)inst->scalar[N].i32);
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    const int32_t n = inst->scalar[N].i32, steps = inst->scalar[NUM_STEPS].i32;
    if (n < 1)
        return ae_error_set(err, AE_E_INPUT, "N is %d; at least one path is needed", n);
    if (steps < 1 || steps > 100000)
        return ae_error_set(err, AE_E_INPUT, "num_steps is %d; 1 to 100000 points make a path",
                            steps);
    static const struct {
        int arg;
        float least, most;
    } ranges[] = {{RISK_FREE, 0, 0.5f},
                  {VOLATILITY, 1e-4f, 1},
                  {STRIKE, 1e-3f, 1e6f},
                  {SPOT, 1e-3f, 1e6f},
                  {TIME_TO_MATURITY, 1e-3f, 100}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const float value = inst->scalar[ranges[i].arg].f32;
        if (!(value >= ranges[i].least && value <= ranges[i].most))
            return ae_error_set(err, AE_E_INPUT, "%s is %g; it lies in %g to %g",
                                args[ranges[i].arg].name, (double)value, (double)ranges[i].least,
                                (double)ranges[i].most);
    }
    return AE_OK;
}

static void tolerance(const struct ae_instance *inst, const struct ae_expected *expected, int arg,
                      size_t first, size_t count, double *tol)
{
    (void)expected;
    (void)arg;
    (void)first;
    for (size_t i = 0; i < count; i++)
        tol[i] += 1e-5 * (double)inst->scalar[STRIKE].f32;
}

static double mean(const float *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)values[i];
    return sum / (double)count;
}

/* Errors of the paths that lean to one side. */
static bool check(const struct ae_instance *inst, const struct ae_expected *expected,
                  const void *const got[], struct ae_judgement *j)
{
    const size_t count = inst->array[PAYOFFS].count;
    if (count < PATHS_FOR_MEAN)
        return true;
    const double limit = 1e-5 * (double)inst->scalar[STRIKE].f32;
    const double off = mean(got[PAYOFFS], count) - mean(expected->out[PAYOFFS].data, count);
    if (fabs(off) <= limit)
        return true;
    snprintf(j->text, sizeof j->text, "the mean of payoffs is off by %.3g of its limit",
             fabs(off) / limit);
    return false;
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    w->operations = 32.0 * inst->scalar[N].i32 * inst->scalar[NUM_STEPS].i32;
    w->steps = inst->scalar[NUM_STEPS].i32; /* the stream of a path is a chain */
}

static int import(const struct ae_published *published, struct ae_instance *inst,
                  struct ae_error *err)
{
    static const struct {
        int arg;
        const char *name;
        float scale; /* 0: an integer */
    } scalars[] = {
        {N, "N", 0},
        {NUM_STEPS, "num_steps", 0},
        {RISK_FREE, "risk_free_x10000", 10000},
        {VOLATILITY, "volatility_x10000", 10000},
        {STRIKE, "strike_x100", 100},
        {SPOT, "spot_x100", 100},
        {TIME_TO_MATURITY, "time_x1000", 1000},
        {BASE_SEED, "base_seed", 0},
    };
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        int64_t value;
        const int rc = ae_published_param(published, scalars[i].name, &value, err);
        if (rc != AE_OK)
            return rc;
        const int arg = scalars[i].arg;
        if (value < 0 || value > (arg == BASE_SEED ? (int64_t)UINT32_MAX : INT32_MAX))
            return ae_error_set(err, AE_E_INPUT, "input.bin: parameter %s is %lld", scalars[i].name,
                                (long long)value);
        if (arg == BASE_SEED)
            inst->scalar[arg].u32 = (uint32_t)value;
        else if (scalars[i].scale > 0)
            inst->scalar[arg].f32 = (float)value / scalars[i].scale;
        else
            inst->scalar[arg].i32 = (int32_t)value;
    }
    return AE_OK;
}

const struct ae_task ae_task_monte_carlo = {
    .id = "monte_carlo",
    .title = "Payoffs of a put on simulated price paths",
    .domain = AE_FINANCE,
    .lineage = "FinanceBench (Grauer-Gray et al.), after QuantLib's Monte Carlo engine",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"N"},
    .sizes = {[AE_SMALL] = {{100000}}, [AE_MEDIUM] = {{500000}}, [AE_LARGE] = {{2000000}}},
    .families =
        {{"market", "rates, volatilities and prices as markets have them", AE_ALL_SIZES},
         {"ends",
          "one to three points or a thousand, no rate, volatility 1, maturities to 30 years",
          AE_AT(AE_SMALL)},
         {"zero_state", "a path whose stream would start, and stay, at zero", AE_AT(AE_SMALL)},
         {"tiny", "one to five paths", AE_AT(AE_SMALL)}},
    .published_atol = 0.05,
    .published_rtol = 0.005,
    .published_note =
        "published data have one set of parameters with T = 1; the published statement describes "
        "num_steps steps of T/num_steps without clamp or drift table, its program is as here",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .tolerance = tolerance,
    .check = check,
    .work = work,
    .import = import,
};
