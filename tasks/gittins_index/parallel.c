/* The loops turned inside out: for a fixed payment one backward sweep over the whole triangle
 * values every state, so LANES payments are swept side by side in a vector, and the states whose
 * sign changes between two neighbouring payments are bracketed there. The advantage is convex,
 * falling and piecewise linear in the payment: the tangents at both ends of the bracket bound its
 * root from below, the chord from above, and where one kink lies between the tangents meet the root
 * exactly. The few states whose bounds stay apart are bisected inside their bracket. */
#include <stdlib.h>

#define LANES    32
#define ACCURACY 5e-7f

static size_t layer_start(int k)
{
    return (size_t)k * ((size_t)k + 1) / 2;
}

static float advantage(int N, int k, int a, float payment, float gamma, float *value)
{
    for (int i = 0; i < N - k; i++) {
        const float w = (float)(a + i + 1) / (float)(N + 1) - payment;
        value[i] = w > 0.0f ? w : 0.0f;
    }
    for (int layer = N - 2; layer >= k; layer--) {
        const float scale = 1.0f / (float)(layer + 2);
        float w = 0;
        for (int i = 0; i <= layer - k; i++) {
            const float r = (float)(a + i + 1) * scale;
            w = (r - payment) + gamma * (value[i] + r * (value[i + 1] - value[i]));
            value[i] = layer == k || w > 0.0f ? w : 0.0f;
        }
    }
    return value[0];
}

/* The root between two payments `step` apart, from the advantages and slopes at them. */
static float root_between(int N, int k, int a, float left, float step, const float *w,
                          const float *slope, float gamma, float *scratch)
{
    const float chord = left + step * w[0] / (w[0] - w[1]);
    const float from_left = left - w[0] / slope[0], from_right = left + step - w[1] / slope[1];
    float lo = from_left > from_right ? from_left : from_right, hi = chord;
    if (hi - lo > ACCURACY) {
        lo = lo > left ? lo : left;
        while (hi - lo > 1e-7f) {
            const float middle = (lo + hi) * 0.5f;
            if (middle <= lo || middle >= hi)
                break;
            if (advantage(N, k, a, middle, gamma, scratch) > 0)
                lo = middle;
            else
                hi = middle;
        }
    }
    return (lo + hi) * 0.5f;
}

/* Payments first*step, (first+1)*step, ... of LANES lanes; brackets between neighbouring lanes are
 * settled. */
static void sweep(int N, float gamma, int first, float step, float (*value)[LANES],
                  float (*slope)[LANES], float *scratch, float *V_out)
{
    float payment[LANES];
    for (int g = 0; g < LANES; g++)
        payment[g] = (float)(first + g) * step;
    for (int a = 0; a <= N; a++)
        for (int g = 0; g < LANES; g++)
            value[a][g] = slope[a][g] = 0;
    for (int k = N - 1; k >= 0; k--) {
        for (int a = 0; a <= k; a++) {
            const float r = (float)(a + 1) / (float)(k + 2), s = 1.0f - r;
            float w[LANES], d[LANES];
            int positive = 0;
#pragma omp simd reduction(+ : positive)
            for (int g = 0; g < LANES; g++) {
                w[g] = (r - payment[g]) + gamma * (r * value[a + 1][g] + s * value[a][g]);
                d[g] = -1.0f + gamma * (r * slope[a + 1][g] + s * slope[a][g]);
                const int up = w[g] > 0;
                value[a][g] = up ? w[g] : 0;
                slope[a][g] = up ? d[g] : 0;
                positive += up;
            }
            if (positive == 0 || positive == LANES || k == N - 1)
                continue;
            const int g =
                positive -
                1; /* falling in the payment: the first `positive` lanes are the positive ones */
            if (w[g] > 0 && w[g + 1] <= 0)
                V_out[layer_start(k) + (size_t)a] =
                    root_between(N, k, a, payment[g], step, w + g, d + g, gamma, scratch);
        }
    }
}

void solution_compute(int N, int a_x10000, int S, int num_bisect, float *V_out)
{
    (void)S;
    (void)num_bisect; /* the root is found to float accuracy, as that many halvings do */
    const float gamma = (float)a_x10000 / 10000.0f;
    const int blocks = 8 + N / 2;
    const float step = 1.0f / (float)(blocks * (LANES - 1));
    for (int a = 0; a < N; a++)
        V_out[layer_start(N - 1) + (size_t)a] = (float)(a + 1) / (float)(N + 1);
#pragma omp parallel
    {
        float(*value)[LANES] = malloc(((size_t)N + 1) * sizeof *value);
        float(*slope)[LANES] = malloc(((size_t)N + 1) * sizeof *slope);
        float *scratch = malloc(((size_t)N + 1) * sizeof *scratch);
        if (!value || !slope || !scratch)
            abort();
#pragma omp for schedule(dynamic)
        for (int b = 0; b < blocks; b++)
            sweep(N, gamma, b * (LANES - 1), step, value, slope, scratch, V_out);
        free(scratch);
        free(slope);
        free(value);
    }
}
