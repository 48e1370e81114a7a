#include "task/traps.h"

#include <stdlib.h>
#include <string.h>

enum { M, N, T, L, S, CAPACITY, CONSUMPTION, DEMAND_PROB, DEMAND_CONS, DEMAND_REVENUE, V_OUT };

enum fault {
    NONE,
    FROM_CONSUMPTION, /* takes what the products take, not the outcomes */
    REVERSED_STRIDES, /* resource 0 slowest */
    ANY_RESOURCE,     /* sells while the first resource is left */
    LOST_VALUE,       /* an impossible sale ends everything */
    PERIOD_LESS,      /* one period less */
    MYOPIC,           /* the menu with the best revenue now, for ever */
    DROP_RAREST,      /* leaves out the menu that is chosen least */
    DROP_FOUR,        /* leaves out the four such */
};

/* Solves with a fault, over the menus not dropped; choices (may be NULL) counts how often each is
 * chosen. */
static void solve(enum fault fault, const struct ae_instance *inst, const bool *dropped,
                  long *choices, float *out)
{
    const int m = inst->scalar[M].i32, n = inst->scalar[N].i32, states = inst->scalar[S].i32;
    const int *capacity = ae_in_i32(inst, CAPACITY);
    float *later = calloc(2 * (size_t)states, sizeof *later), *now = later + states;
    for (int t = inst->scalar[T].i32; t > (fault == PERIOD_LESS); t--) {
        for (int s = 0; s < states; s++) {
            float best = -1e30f;
            int choice = 0;
            for (int l = 0; l < inst->scalar[L].i32; l++) {
                float expected = 0;
                for (int k = 0; k <= n && !dropped[l]; k++) {
                    const int row = l * (n + 1) + k;
                    int to = s, stride = 1, possible = 1, rest = s;
                    for (int h = 0; h < m; h++) {
                        const int i = fault == REVERSED_STRIDES ? m - 1 - h : h;
                        int need = ae_in_i32(inst, DEMAND_CONS)[row * m + i];
                        if (fault == FROM_CONSUMPTION)
                            need = k == 0 ? 0 : ae_in_i32(inst, CONSUMPTION)[i * n + k - 1];
                        const int left = rest % (capacity[i] + 1);
                        if (fault == ANY_RESOURCE && h > 0 && need > left)
                            need = left;
                        possible &= left >= need;
                        to -= need * stride;
                        stride *= capacity[i] + 1;
                        rest /= capacity[i] + 1;
                    }
                    const float lost = fault == LOST_VALUE ? 0 : later[s];
                    expected +=
                        ae_in_f32(inst, DEMAND_PROB)[row] *
                        (possible ? ae_in_f32(inst, DEMAND_REVENUE)[row] + later[to] : lost);
                }
                if (!dropped[l] && expected > best) {
                    best = expected;
                    choice = l;
                }
            }
            now[s] = best;
            if (choices)
                choices[choice]++;
        }
        memcpy(later, now, (size_t)states * sizeof *now);
    }
    memcpy(out, later, (size_t)states * sizeof *out);
    free(later);
}

static bool solve_with(enum fault fault, const struct ae_instance *inst, struct ae_expected *answer)
{
    const int menus = inst->scalar[L].i32, n = inst->scalar[N].i32;
    bool *dropped = calloc((size_t)menus, sizeof *dropped);
    long *choices = calloc((size_t)menus, sizeof *choices);
    float *out = answer->out[V_OUT].data;
    const int drop = fault == DROP_RAREST ? 1 : fault == DROP_FOUR ? 4 : 0;
    if (fault == MYOPIC) {
        double most = -1;
        int best = 0;
        for (int l = 0; l < menus; l++) {
            double revenue = 0;
            for (int k = 0; k <= n; k++)
                revenue += (double)ae_in_f32(inst, DEMAND_PROB)[l * (n + 1) + k] *
                           (double)ae_in_f32(inst, DEMAND_REVENUE)[l * (n + 1) + k];
            best = revenue > most ? l : best;
            most = revenue > most ? revenue : most;
        }
        for (int l = 0; l < menus; l++)
            dropped[l] = l != best;
    }
    if (drop > 0 && drop < menus)
        solve(NONE, inst, dropped, choices, out);
    for (int d = 0; d < drop && drop < menus; d++) {
        int rarest = -1;
        for (int l = 0; l < menus; l++)
            if (!dropped[l] && (rarest < 0 || choices[l] < choices[rarest]))
                rarest = l;
        dropped[rarest] = true;
    }
    solve(fault, inst, dropped, NULL, out);
    free(choices);
    free(dropped);
    return true;
}

#define SOLVER(name, fault)                                                                        \
    static bool name(const struct ae_instance *inst, const struct ae_expected *right,              \
                     struct ae_expected *answer)                                                   \
    {                                                                                              \
        (void)right;                                                                               \
        return solve_with(fault, inst, answer);                                                    \
    }

SOLVER(from_consumption, FROM_CONSUMPTION)
SOLVER(reversed_strides, REVERSED_STRIDES)
SOLVER(any_resource, ANY_RESOURCE)
SOLVER(lost_value, LOST_VALUE)
SOLVER(period_less, PERIOD_LESS)
SOLVER(myopic, MYOPIC)
SOLVER(drop_rarest, DROP_RAREST)
SOLVER(drop_four, DROP_FOUR)

/* A little revenue where there is nothing to sell: below any absolute tolerance. */
static bool junk_at_zero(const struct ae_instance *inst, const struct ae_expected *right,
                         struct ae_expected *answer)
{
    (void)inst;
    (void)right;
    ((float *)answer->out[V_OUT].data)[0] = 5e-4f;
    return true;
}

AE_TRAPS(network_rm_dp) = {
    {"takes consumption for what every outcome takes", "groups", from_consumption},
    {"numbers the states with resource 0 slowest", "network", reversed_strides},
    {"sells while the first resource is left", "network", any_resource},
    {"drops the value of a lost sale", "network", lost_value},
    {"plans one period less", "network", period_less},
    {"offers the menu that earns most now", "network", myopic},
    {"leaves out the rarest menu", "network", drop_rarest},
    {"leaves out the four rarest menus", "network", drop_four},
    {"earns a little without capacity", "network", junk_at_zero},
    {0},
};
