#include "task/task.h"

enum { P_LAYERS, P_DISCOUNT };

enum { N, A_X10000, S, NUM_BISECT, V_OUT, ARG_COUNT };

/* The reference takes of the order of N^4 operations. */
#define LAYERS_MAX   1000
#define BISECT_LEAST 24 /* below, the answer would be a number of halvings and not the root */
#define BISECT_MOST  200

static const struct ae_arg args[ARG_COUNT] = {
    [N] = {"N", AE_I32, AE_SCALAR, .meaning = "number of layers; states have a+b <= N-1"},
    [A_X10000] = {"a_x10000", AE_I32, AE_SCALAR, .unit = "1/10000",
                  .meaning = "discount factor times 10000"},
    [S] = {"S", AE_I32, AE_SCALAR, .meaning = "number of states, N*(N+1)/2"},
    [NUM_BISECT] = {"num_bisect", AE_I32, AE_SCALAR,
                    .meaning = "halvings of [0,1] that the reference makes, >= 24"},
    [V_OUT] =
        {"V_out", AE_F32, AE_OUT, "S; state (a,b) at k*(k+1)/2 + a with k = a+b", "reward per play",
         "Gittins index of each state",
         .rule =
             {AE_CLOSE, .atol = 2e-6, .rtol = 2e-6,
              .reason =
                  "2e-6 + 2e-6*|index|: float arithmetic in any order uses about 10 % of it; "
                  "18 halvings just meet it, 17 do not, nor does interpolation between 4096 "
                  "payments"}},
};

enum family { NOMINAL, TINY, PATIENT, IMPATIENT };

/* Nothing but the horizon and the discount determines the answer, so both vary: a stored table
 * serves one pair. */
static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    (void)err;
    const int64_t nominal = inst->param[P_LAYERS], spread = nominal / 20;
    int64_t layers = nominal, discount = inst->param[P_DISCOUNT];
    if (inst->family != NOMINAL || inst->seed != 0) { /* seed 0 is the published pair */
        layers = nominal + ae_rng_range(rng, -spread, spread);
        discount = ae_rng_range(rng, inst->size == AE_LARGE ? 9850 : 8500, 9950);
    }
    if (inst->family == TINY) {
        layers = ae_rng_range(rng, 1, 6);
        discount = ae_rng_range(rng, 1, 9999);
    } else if (inst->family == PATIENT) {
        discount = ae_rng_range(rng, 9951, 9999);
    } else if (inst->family == IMPATIENT) {
        discount = ae_rng_range(rng, 1, 3000);
    }
    ae_set_i32(inst, N, layers);
    ae_set_i32(inst, A_X10000, discount);
    ae_set_i32(inst, S, layers * (layers + 1) / 2);
    ae_set_i32(inst, NUM_BISECT, 40);
    return AE_OK;
}

static void outputs(struct ae_instance *inst)
{
    ae_set_output(inst, V_OUT, (size_t)inst->scalar[S].i32);
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    const int32_t layers = inst->scalar[N].i32, discount = inst->scalar[A_X10000].i32;
    const int32_t states = inst->scalar[S].i32, halvings = inst->scalar[NUM_BISECT].i32;
    if (layers < 1 || layers > LAYERS_MAX)
        return ae_error_set(err, AE_E_INPUT, "N is %d; 1 to %d layers are possible", layers,
                            LAYERS_MAX);
    if (states != layers * (layers + 1) / 2)
        return ae_error_set(err, AE_E_INPUT, "S is %d; %d layers have %d states", states, layers,
                            layers * (layers + 1) / 2);
    if (discount < 1 || discount > 9999)
        return ae_error_set(err, AE_E_INPUT,
                            "a_x10000 is %d; the discount lies strictly between 0 and 1", discount);
    if (halvings < BISECT_LEAST || halvings > BISECT_MOST)
        return ae_error_set(err, AE_E_INPUT, "num_bisect is %d; %d to %d are possible", halvings,
                            BISECT_LEAST, BISECT_MOST);
    return AE_OK;
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    w->operations =
        6.0 * 16384 * inst->scalar[S].i32; /* a sweep over all states for each of 16384 payments */
    w->steps = inst->scalar[N].i32;
}

const struct ae_task ae_task_gittins_index = {
    .id = "gittins_index",
    .title = "Gittins indices of a Bernoulli bandit arm",
    .domain = AE_OR,
    .lineage = "Gittins (1979), calibration by a retirement payment (Whittle) on a truncated "
               "triangle of posteriors",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"N", "a_x10000"},
    .sizes = {[AE_SMALL] = {{50, 9000}}, [AE_MEDIUM] = {{150, 9500}}, [AE_LARGE] = {{300, 9900}}},
    .families =
        {{"horizons", "layers within 5 % of the nominal number, everyday discounts", AE_ALL_SIZES},
         {"tiny",
          "one to six layers at any discount: less than a warp, and the layer without bisection",
          AE_AT(AE_SMALL)},
         {"patient", "discounts of 0.9951 to 0.9999: the truncation decides every index",
          AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
         {"impatient", "discounts below 0.3: indices close to the posterior means",
          AE_AT(AE_SMALL)}},
    .published_atol = 1e-4,
    .published_rtol = 1e-4,
    .published_note = "published sizes are three fixed pairs of horizon and discount",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .work = work,
};
