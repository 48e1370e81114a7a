/* Products advance side by side, as many at a time as there are threads; the states of these are
 * dealt out evenly and the threads meet after each time step. Positions and weights do not change
 * with time: they are tables. The gain is a concave parabola in the action, so only the two actions
 * around its top are compared. Sixteen time steps are collected before they are written, since time
 * is the fastest index of the output. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>

#define STEPS 16

struct tables {
    int *kept, *sold, *sold_from; /* 0-based: base point without a sale, with one, and where the
                                     slope of it starts */
    float *kept_weight, *sold_weight, *rate;
};

static void fill_tables(const struct tables *t, int first, int last, int J, float h, float tau,
                        float decay, float jump)
{
    for (int i = first; i < last; i++) {
        const float p = (float)(i + 1) * decay, g = p + jump * decay, x = (float)(i + 1) * h;
        int m = (int)floorf(p);
        m = m < 1 ? 1 : m;
        t->kept[i] = m - 1;
        t->kept_weight[i] = p - (float)m;
        m = g >= (float)J ? J : (int)floorf(g);
        m = m < 1 ? 1 : m;
        t->sold[i] = m - 1;
        t->sold_from[i] = (m < J ? m : J - 1) - 1;
        t->sold_weight[i] = g - (float)m;
        t->rate[i] = ((x + 0.001f * x * x) + 1.0f) * tau;
    }
}

static void step(const struct tables *t, int first, int last, int K, float lambda0, float a,
                 float b_param, const float *restrict later, float *restrict now,
                 float *restrict chosen)
{
    const float per_b = 1.0f / b_param;
#pragma omp simd
    for (int i = first; i < last; i++) {
        const float low = later[t->kept[i]], base = later[t->sold[i]];
        const float kept = low + t->kept_weight[i] * (later[t->kept[i] + 1] - low);
        const float sold =
            base + t->sold_weight[i] * (later[t->sold_from[i] + 1] - later[t->sold_from[i]]);
        float k = floorf(((a + b_param * (sold - kept)) * 0.5f - lambda0) * 1000.0f);
        k = k < (float)(K - 1) ? k : (float)(K - 1);
        k = k > 0.0f ? k : 0.0f;
        const float k2 = k + 1.0f < (float)K ? k + 1.0f : k;
        const float l = lambda0 + k * 0.001f, l2 = lambda0 + k2 * 0.001f;
        const float gain = l * (((a - l) * per_b + sold) - kept),
                    gain2 = l2 * (((a - l2) * per_b + sold) - kept);
        now[i] = kept + t->rate[i] * (gain2 > gain ? gain2 : gain);
        chosen[i] = gain2 > gain ? l2 : l;
    }
}

/* Time steps n..n+count-1 of states first..last-1; step n+s lies in row (slot - s) of the rings,
 * going round. */
static void write_out(const float *ring, int J, int first, int last, int slot, int n, int count,
                      int N, float *out)
{
    for (int i = first; i < last; i++) {
        float *to = out + (size_t)i * (size_t)N + (size_t)n;
        for (int s = 0; s < count; s++)
            to[s] = ring[(size_t)((slot + STEPS - s) % STEPS) * (size_t)J + (size_t)i];
    }
}

void solution_compute(int batch_size, int J, int N, int num_actions, float h, float tau,
                      float lambda0, float a, float b_param, const float *alpha0, const float *beta,
                      float *U, float *Lambda)
{
    const int threads = omp_get_max_threads();
    const int wave = batch_size < threads ? batch_size : threads; /* products at a time */
    const size_t states = (size_t)J, all = states * (size_t)wave;
    int *places = malloc(3 * all * sizeof *places);
    float *weights = malloc(3 * all * sizeof *weights);
    float *rings = malloc(2 * STEPS * all * sizeof *rings);
    if (!places || !weights || !rings)
        abort();
#pragma omp parallel num_threads(threads)
    for (int start = 0; start < batch_size; start += wave) {
        const int products = batch_size - start < wave ? batch_size - start : wave;
        const int me = omp_get_thread_num(), team = omp_get_num_threads();
        const size_t mine = states * (size_t)products * (size_t)me / (size_t)team;
        const size_t end = states * (size_t)products * (size_t)(me + 1) / (size_t)team;
        for (int n = N - 1; n >= 0; n--) {
            const int slot = (N - 1 - n) % STEPS;
            for (size_t at = mine; at < end;) {
                const size_t w = at / states,
                             stop = (w + 1) * states < end ? (w + 1) * states : end;
                const int first = (int)(at - w * states), last = (int)(stop - w * states);
                const int b = start + (int)w;
                const struct tables t = {
                    places + 3 * w * states,        places + (3 * w + 1) * states,
                    places + (3 * w + 2) * states,  weights + 3 * w * states,
                    weights + (3 * w + 1) * states, weights + (3 * w + 2) * states};
                float *values = rings + 2 * w * STEPS * states, *chosen = values + STEPS * states;
                const size_t row = (size_t)slot * states,
                             previous = (size_t)((slot + STEPS - 1) % STEPS) * states;
                if (n == N - 1) {
                    fill_tables(&t, first, last, J, h, tau, 1.0f - beta[b] * tau, alpha0[b] / h);
                    for (int i = first; i < last; i++)
                        values[row + (size_t)i] = chosen[row + (size_t)i] = 0.0f;
                } else {
                    step(&t, first, last, num_actions, lambda0, a, b_param, values + previous,
                         values + row, chosen + row);
                }
                if (slot == STEPS - 1 || n == 0) {
                    const size_t out = (size_t)b * states * (size_t)N;
                    write_out(values, J, first, last, slot, n, slot + 1, N, U + out);
                    write_out(chosen, J, first, last, slot, n, slot + 1, N, Lambda + out);
                }
                at = stop;
            }
#pragma omp barrier
        }
    }
    free(rings);
    free(weights);
    free(places);
}
