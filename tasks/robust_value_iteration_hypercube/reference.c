/* Value iteration for a Markov decision process whose transition probabilities are only known to
 * lie between bounds. Nature answers every action with the worst distribution inside its box:
 * starting from the lower bounds it pours the missing probability onto the states of least value
 * first (the order-maximising solution of Givan, Leach & Dean and of Nilim & El Ghaoui). All sums
 * are taken in double. */
#include <stdlib.h>

struct state {
    double value;
    int index;
};

static int by_value(const void *a, const void *b)
{
    const double x = ((const struct state *)a)->value, y = ((const struct state *)b)->value;
    return (x > y) - (x < y);
}

/* The least expected value over all distributions p with down <= p <= up. order holds the states by
 * ascending value, total is the sum of down. */
static double worst_expectation(int S, const struct state *order, const float *up,
                                const float *down, double total)
{
    double expected = 0;
    double mass =
        total; /* with the states before i at their upper bounds, the others at their lower ones */
    int i = 0;
    for (; i < S - 1; i++) {
        const int j = order[i].index;
        const double raised = mass + ((double)up[j] - down[j]);
        if (raised >= 1)
            break;
        mass = raised;
        expected += up[j] * order[i].value;
    }
    /* State i receives what is missing to one, the states of higher value keep their lower bounds.
     */
    expected += (1 - (mass - down[order[i].index])) * order[i].value;
    for (i++; i < S; i++)
        expected += down[order[i].index] * order[i].value;
    return expected;
}

void solution_compute(int S, int A, int T, float gamma, const float *rew, const float *P_up,
                      const float *P_down, float *V)
{
    const size_t states = (size_t)S, rows = states * (size_t)A;
    struct state *order = malloc(states * sizeof *order);
    double *value = calloc(states, sizeof *value), *total = malloc(rows * sizeof *total);
    if (!order || !value || !total)
        goto done;

    for (size_t row = 0; row < rows; row++) {
        total[row] = 0;
        for (size_t j = 0; j < states; j++)
            total[row] += P_down[row * states + j];
    }
    for (int t = 0; t < T; t++) {
        for (int s = 0; s < S; s++)
            order[s] = (struct state){value[s], s};
        qsort(order, states, sizeof *order, by_value);
        /* All of this round's expectations read order, so value may be replaced at once. */
        for (int s = 0; s < S; s++) {
            double best = -1e30;
            for (int a = 0; a < A; a++) {
                const size_t row = (size_t)s * (size_t)A + (size_t)a;
                const double q =
                    rew[row] + gamma * worst_expectation(S, order, P_up + row * states,
                                                         P_down + row * states, total[row]);
                best = q > best ? q : best;
            }
            value[s] = best;
        }
    }
    for (int s = 0; s < S; s++)
        V[s] = (float)value[s];

done:
    free(order);
    free(value);
    free(total);
}
