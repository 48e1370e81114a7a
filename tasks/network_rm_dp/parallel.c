/* Where a sale leads and which sales are possible do not change with time. Outcomes with the same
 * consumption share their target, so each distinct consumption gets a table of target states, and
 * the expected revenue of a menu in a state is a table too. A step is then, per block of states,
 * one gather for each distinct consumption and a small matrix product with the probabilities,
 * vectorised over the states. */
#include <stdlib.h>
#include <string.h>

#define BLOCK 64

struct plan {
    int kinds;      /* distinct consumptions */
    int *kind_of;   /* by menu and outcome */
    int *target;    /* [kind][state], the state itself where the sale is impossible */
    float *revenue; /* [block][menu][state in block]: sum of probability times revenue over the
                       possible sales */
};

static int find_kinds(int m, size_t rows, const int *demand_cons, int *kind_of, size_t *example)
{
    int kinds = 0;
    for (size_t row = 0; row < rows; row++) {
        int k = 0;
        while (k < kinds &&
               memcmp(demand_cons + row * (size_t)m, demand_cons + example[k] * (size_t)m,
                      (size_t)m * sizeof *demand_cons) != 0)
            k++;
        if (k == kinds)
            example[kinds++] = row;
        kind_of[row] = k;
    }
    return kinds;
}

static void fill_plan(const struct plan *p, int m, size_t outcomes, int L, int S, int first,
                      int count, const int *capacity, const float *prob, const int *cons,
                      const float *revenue, const size_t *example)
{
    float *sums = p->revenue + (size_t)first * (size_t)L;
    memset(sums, 0, (size_t)L * BLOCK * sizeof *sums);
    for (int c = 0; c < count; c++) {
        for (int k = 0; k < p->kinds; k++) {
            const int *need = cons + example[k] * (size_t)m;
            long long stride = 1, to = first + c;
            int rest = first + c, possible = 1;
            for (int i = 0; i < m; i++) {
                possible &= rest % (capacity[i] + 1) >= need[i];
                rest /= capacity[i] + 1;
                to -= need[i] * stride;
                stride *= capacity[i] + 1;
            }
            p->target[(size_t)k * (size_t)S + (size_t)(first + c)] = possible ? (int)to : first + c;
            for (size_t row = 0; possible && row < (size_t)L * outcomes; row++)
                if (p->kind_of[row] == k)
                    sums[row / outcomes * BLOCK + (size_t)c] += prob[row] * revenue[row];
        }
    }
}

static void step(const struct plan *p, size_t outcomes, int L, int S, int first, int count,
                 const float *prob, const float *later, float *now, float (*future)[BLOCK])
{
    for (int k = 0; k < p->kinds; k++) {
        const int *target = p->target + (size_t)k * (size_t)S + (size_t)first;
        for (int c = 0; c < count; c++)
            future[k][c] = later[target[c]];
    }
    float best[BLOCK];
    for (int c = 0; c < BLOCK; c++)
        best[c] = -1e30f;
    const float *revenue = p->revenue + (size_t)first * (size_t)L;
    for (int menu = 0; menu < L; menu++, revenue += BLOCK) {
        float expected[BLOCK];
        memcpy(expected, revenue, sizeof expected);
        for (size_t row = (size_t)menu * outcomes; row < ((size_t)menu + 1) * outcomes; row++) {
            const float chance = prob[row], *value = future[p->kind_of[row]];
#pragma omp simd
            for (int c = 0; c < BLOCK; c++)
                expected[c] += chance * value[c];
        }
#pragma omp simd
        for (int c = 0; c < BLOCK; c++)
            best[c] = expected[c] > best[c] ? expected[c] : best[c];
    }
    memcpy(now + first, best, (size_t)count * sizeof *now);
}

void solution_compute(int m, int n, int T, int L, int S, const int *capacity,
                      const int *consumption, const float *demand_prob, const int *demand_cons,
                      const float *demand_revenue, float *V_out)
{
    (void)consumption;
    const size_t outcomes = (size_t)n + 1, rows = (size_t)L * outcomes, states = (size_t)S;
    const int blocks = (S + BLOCK - 1) / BLOCK;
    size_t *example = malloc(rows * sizeof *example);
    struct plan p = {.kind_of = malloc(rows * sizeof *p.kind_of)};
    if (!example || !p.kind_of)
        abort();
    p.kinds = find_kinds(m, rows, demand_cons, p.kind_of, example);
    p.target = malloc((size_t)p.kinds * states * sizeof *p.target);
    p.revenue = malloc((size_t)blocks * BLOCK * (size_t)L * sizeof *p.revenue);
    float *value = calloc(2 * states, sizeof *value);
    if (!p.target || !p.revenue || !value)
        abort();
#pragma omp parallel if (blocks > 16)
    {
        float(*future)[BLOCK] = calloc((size_t)p.kinds, sizeof *future);
        if (!future)
            abort();
#pragma omp for schedule(static)
        for (int b = 0; b < blocks; b++)
            fill_plan(&p, m, outcomes, L, S, b * BLOCK,
                      S - b * BLOCK < BLOCK ? S - b * BLOCK : BLOCK, capacity, demand_prob,
                      demand_cons, demand_revenue, example);
        for (int t = 0; t < T; t++) {
            const float *later = value + (t % 2 ? states : 0);
            float *now = value + (t % 2 ? 0 : states);
#pragma omp for schedule(static)
            for (int b = 0; b < blocks; b++)
                step(&p, outcomes, L, S, b * BLOCK, S - b * BLOCK < BLOCK ? S - b * BLOCK : BLOCK,
                     demand_prob, later, now, future);
        }
        free(future);
    }
    memcpy(V_out, value + (T % 2 ? states : 0), states * sizeof *V_out);
    free(value);
    free(p.revenue);
    free(p.target);
    free(p.kind_of);
    free(example);
}
