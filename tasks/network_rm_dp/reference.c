/* Network revenue management: backward induction over the remaining capacities of several
 * resources, with a choice of one price menu in every period. All arithmetic in float, outcomes
 * added in increasing order. */
#include <stdbool.h>
#include <stdlib.h>

#define RESOURCES_MAX 8

/* Can `left` units of each resource serve an outcome that needs `need`? */
static bool feasible(int m, const int *left, const int *need)
{
    for (int i = 0; i < m; i++)
        if (left[i] < need[i])
            return false;
    return true;
}

/* The next state: one more unit of resource 0, which varies fastest. */
static void next_state(int m, const int *capacity, int *left)
{
    for (int i = 0; i < m; i++) {
        if (++left[i] <= capacity[i])
            return;
        left[i] = 0;
    }
}

void solution_compute(int m, int n, int T, int L, int S, const int *capacity,
                      const int *consumption, const float *demand_prob, const int *demand_cons,
                      const float *demand_revenue, float *V_out)
{
    (void)consumption; /* what every outcome needs is in demand_cons */
    const size_t outcomes = (size_t)n + 1, rows = (size_t)L * outcomes;
    float *now = malloc((size_t)S * sizeof *now), *later = malloc((size_t)S * sizeof *later);
    long long *offset = malloc(rows * sizeof *offset);
    if (!now || !later || !offset)
        abort();
    for (size_t row = 0; row < rows; row++) { /* how far down the state numbers a sale leads */
        long long stride = 1;
        offset[row] = 0;
        for (int i = 0; i < m; i++) {
            offset[row] += demand_cons[row * (size_t)m + (size_t)i] * stride;
            stride *= capacity[i] + 1;
        }
    }
    for (int s = 0; s < S; s++)
        later[s] = 0.0f;

    for (int t = T; t >= 1; t--) {
        int left[RESOURCES_MAX] = {0};
        for (int s = 0; s < S; s++) {
            float best = -1e30f;
            for (size_t menu = 0; menu < (size_t)L; menu++) {
                float expected = 0.0f;
                for (size_t k = 0; k < outcomes; k++) {
                    const size_t row = menu * outcomes + k;
                    if (feasible(m, left, demand_cons + row * (size_t)m))
                        expected +=
                            demand_prob[row] * (demand_revenue[row] + later[s - offset[row]]);
                    else /* the sale is lost */
                        expected += demand_prob[row] * later[s];
                }
                if (expected > best)
                    best = expected;
            }
            now[s] = best;
            next_state(m, capacity, left);
        }
        float *swapped = now;
        now = later;
        later = swapped;
    }
    for (int s = 0; s < S; s++)
        V_out[s] = later[s];
    free(offset);
    free(later);
    free(now);
}
