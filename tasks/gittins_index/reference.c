/* Gittins indices of a Bernoulli arm by calibration: for every posterior state bisection finds the
 * payment at which going on is worth exactly nothing. Each trial payment is valued by backward
 * induction over the states that can follow, a triangle of which one layer is kept and overwritten
 * in place. */
#include <stdlib.h>

/* Position of the first state (a = 0) of layer k. */
static size_t layer_start(int k)
{
    return (size_t)k * ((size_t)k + 1) / 2;
}

/* The advantage of playing on in state (a, k - a) over retiring, when every play costs `payment`.
 * mean holds the posterior means of all states; value has room for N - k floats: value[i] belongs
 * to i more successes. */
static float advantage(int N, int k, int a, float payment, float gamma, const float *mean,
                       float *value)
{
    const float *row = mean + layer_start(N - 1) + a;
    for (int i = 0; i < N - k; i++) {
        const float w = row[i] - payment;
        value[i] = w > 0.0f ? w : 0.0f;
    }
    for (int layer = N - 2; layer > k; layer--) {
        row = mean + layer_start(layer) + a;
        for (int i = 0; i <= layer - k; i++) {
            const float r = row[i];
            const float w = (r - payment) + gamma * (r * value[i + 1] + (1.0f - r) * value[i]);
            value[i] = w > 0.0f ? w : 0.0f;
        }
    }
    const float r = mean[layer_start(k) + a];
    return (r - payment) + gamma * (r * value[1] + (1.0f - r) * value[0]);
}

void solution_compute(int N, int a_x10000, int S, int num_bisect, float *V_out)
{
    const float gamma = (float)a_x10000 / 10000.0f;
    float *mean = malloc((size_t)S * sizeof *mean), *value = malloc((size_t)N * sizeof *value);
    if (!mean || !value)
        abort();
    for (int k = 0; k < N; k++)
        for (int a = 0; a <= k; a++)
            mean[layer_start(k) + a] = (float)(a + 1) / (float)(k + 2);

    for (int a = 0; a < N; a++) /* one play is left: worth its mean */
        V_out[layer_start(N - 1) + a] = mean[layer_start(N - 1) + a];
    for (int k = N - 2; k >= 0; k--)
        for (int a = 0; a <= k; a++) {
            float lo = 0.0f, hi = 1.0f;
            for (int step = 0; step < num_bisect; step++) {
                const float payment = (lo + hi) * 0.5f;
                if (advantage(N, k, a, payment, gamma, mean, value) > 1e-12f)
                    lo = payment;
                else
                    hi = payment;
            }
            V_out[layer_start(k) + a] = (lo + hi) * 0.5f;
        }
    free(value);
    free(mean);
}
