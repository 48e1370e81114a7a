/* Rows over the cores. Three savings over the plain backup:
 *  - a row is read in its own order, not in that of the values: every row remembers the rank at
 * which its mass reached one last time; one vector pass with that guess gives mass and expectation,
 * and a short walk along the order repairs them;
 *  - actions that can never become best again are dropped: if one backup moved all values by
 * between lo and hi, no later difference of two actions' values changes by more than
 * gamma/(1-gamma) (hi-lo) in sum;
 *  - once hi-lo is nothing, every further backup adds gamma times the last increment.
 * Values are taken from their mean before they are summed in float: an expectation moves with a
 * constant. */
#include <stdlib.h>

struct state {
    float value;
    int index;
};

static int by_value(const void *a, const void *b)
{
    const float x = ((const struct state *)a)->value, y = ((const struct state *)b)->value;
    return (x > y) - (x < y);
}

/* The least expectation of the (centred) value; *guess is the number of states at their upper
 * bound, in and out. */
static float worst_expectation(int S, const struct state *order, const int *restrict rank,
                               const float *restrict value, const float *restrict up,
                               const float *restrict down, int *guess)
{
    int k = *guess;
    float mass = 0, sum = 0;
#pragma omp simd reduction(+ : mass, sum)
    for (int j = 0; j < S; j++) {
        const float p = rank[j] < k ? up[j] : down[j];
        mass += p;
        sum += p * value[j];
    }
    while (k > 0 && mass >= 1) {
        const int j = order[--k].index;
        mass -= up[j] - down[j];
        sum -= (up[j] - down[j]) * order[k].value;
    }
    while (k < S - 1) {
        const int j = order[k].index;
        const float raised = mass + (up[j] - down[j]);
        if (raised >= 1)
            break;
        mass = raised;
        sum += (up[j] - down[j]) * order[k++].value;
    }
    *guess = k;
    return sum + (1 - mass) * order[k].value;
}

void solution_compute(int S, int A, int T, float gamma, const float *rew, const float *P_up,
                      const float *P_down, float *V)
{
    const size_t states = (size_t)S, rows = states * (size_t)A;
    struct state *order = malloc(states * sizeof *order);
    double *value = calloc(states, sizeof *value), *next = calloc(states, sizeof *next);
    float *centred = malloc(states * sizeof *centred);
    int *rank = malloc(states * sizeof *rank), *left = malloc(states * sizeof *left);
    int *action = malloc(rows * sizeof *action), *guess = malloc(rows * sizeof *guess);
    double *q = malloc(rows * sizeof *q);
    if (!order || !value || !next || !centred || !rank || !left || !action || !guess || !q)
        goto done;

    for (int s = 0; s < S; s++) {
        left[s] = A; /* actions still in play, at the front of the state's list */
        for (int a = 0; a < A; a++) {
            const size_t row = (size_t)s * (size_t)A + (size_t)a;
            action[row] = a;
            guess[row] = S / 2;
            next[s] = a == 0 || rew[row] > next[s]
                          ? rew[row]
                          : next[s]; /* the first backup: expectations are 0 */
        }
    }
    for (int t = 1; t < T; t++) {
        double low = next[0] - value[0], high = low, mean = 0;
        for (int s = 0; s < S; s++) {
            const double change = next[s] - value[s];
            low = change < low ? change : low;
            high = change > high ? change : high;
            value[s] = next[s];
            mean += value[s];
        }
        mean /= S;
        const double drift = (high - low) * gamma / (1 - gamma);
        if (drift < 1e-6) { /* a geometric series is left */
            double change = (low + high) / 2, sum = 0;
            for (; t < T; t++)
                sum += change *= gamma;
            for (int s = 0; s < S; s++)
                next[s] += sum;
            break;
        }
        for (int s = 0; s < S; s++) {
            centred[s] = (float)(value[s] - mean);
            order[s] = (struct state){centred[s], s};
        }
        qsort(order, states, sizeof *order, by_value);
        for (int i = 0; i < S; i++)
            rank[order[i].index] = i;
        const double margin =
            1e-3 + 1e-5 * (order[S - 1].value - order[0].value); /* for what rounding does */
#pragma omp parallel for schedule(dynamic, 8)
        for (int s = 0; s < S; s++) {
            const size_t first = (size_t)s * (size_t)A;
            if (t > 1) { /* q holds the values of the backup that made value[] */
                int kept = 0;
                for (int i = 0; i < left[s]; i++)
                    if (q[first + (size_t)action[first + (size_t)i]] >= value[s] - drift - margin)
                        action[first + (size_t)kept++] = action[first + (size_t)i];
                left[s] = kept;
            }
            double best = -1e30;
            for (int i = 0; i < left[s]; i++) {
                const size_t row = first + (size_t)action[first + (size_t)i];
                const double worst = worst_expectation(S, order, rank, centred, P_up + row * states,
                                                       P_down + row * states, &guess[row]);
                q[row] = rew[row] + gamma * (mean + worst);
                best = q[row] > best ? q[row] : best;
            }
            next[s] = best;
        }
    }
    for (int s = 0; s < S; s++)
        V[s] = T > 0 ? (float)next[s] : 0;

done:
    free(order);
    free(value);
    free(next);
    free(centred);
    free(rank);
    free(left);
    free(action);
    free(guess);
    free(q);
}
