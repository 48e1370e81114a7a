#include "task/traps.h"

#include <math.h>
#include <stdlib.h>

enum { S, A, T, GAMMA, REW, P_UP, P_DOWN, V };

/* What one wrong solver does otherwise than the backup asks. */
struct fault {
    int backups_less, freeze_after, geometric_after, order_after;
    bool half_rank, no_rest, optimistic, middle, uniform, in_place, one_matrix;
};

static const double *sort_key;

static int by_key(const void *a, const void *b)
{
    const double x = sort_key[*(const int *)a], y = sort_key[*(const int *)b];
    return (x > y) - (x < y);
}

static double expectation(const struct fault *f, int n, const int *order, const double *v,
                          const float *up, const float *down)
{
    double mass = 0, e = 0, sum = 0;
    if (f->uniform || f->middle) {
        for (int j = 0; j < n; j++) {
            const double p = f->uniform ? 1 : (double)(up[j] + down[j]);
            e += p * v[j];
            sum += p;
        }
        return e / sum;
    }
    for (int j = 0; j < n; j++)
        mass += (double)down[j];
    int k = 0;
    for (; k < n - 1; k++) {
        const int j = order[k];
        const double high = f->one_matrix ? 1.5 * (double)down[j] : (double)up[j],
                     raised = mass + high - (double)down[j];
        if (f->half_rank ? k >= n / 2 : raised >= 1)
            break;
        mass = raised;
        e += high * v[j];
    }
    if (!f->no_rest)
        e += (1 - (mass - (double)down[order[k]])) * v[order[k]];
    for (k++; k < n; k++)
        e += (double)down[order[k]] * v[order[k]];
    return e;
}

static bool run(const struct ae_instance *inst, struct ae_expected *answer, struct fault f)
{
    const int n = inst->scalar[S].i32, actions = inst->scalar[A].i32,
              backups = inst->scalar[T].i32 - f.backups_less;
    const double gamma = (double)inst->scalar[GAMMA].f32;
    const float *rew = ae_in_f32(inst, REW), *up = ae_in_f32(inst, P_UP),
                *down = ae_in_f32(inst, P_DOWN);
    double *v = calloc((size_t)n, sizeof *v), *next = calloc((size_t)n, sizeof *next);
    int *order = malloc((size_t)n * sizeof *order), *chosen = calloc((size_t)n, sizeof *chosen);
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int t = 0; t < backups; t++) {
        if (!f.order_after || t <= f.order_after) {
            sort_key = v;
            qsort(order, (size_t)n, sizeof *order, by_key);
            for (int i = 0; f.optimistic && i < n / 2; i++) {
                const int kept = order[i];
                order[i] = order[n - 1 - i];
                order[n - 1 - i] = kept;
            }
        }
        double change = 0;
        for (int s = 0; s < n; s++) {
            double best = -1e30;
            for (int a = 0; a < actions; a++) {
                if (f.freeze_after && t >= f.freeze_after && a != chosen[s])
                    continue;
                const size_t row = (size_t)s * (size_t)actions + (size_t)a;
                const double q =
                    (double)rew[row] + gamma * expectation(&f, n, order, v, up + row * (size_t)n,
                                                           down + row * (size_t)n);
                if (q > best) {
                    best = q;
                    chosen[s] = a;
                }
            }
            next[s] = best;
            change += (best - v[s]) / n;
            if (f.in_place)
                v[s] = best;
        }
        double *const old = v;
        v = next;
        next = old;
        if (f.geometric_after && t + 1 == f.geometric_after) {
            double sum = 0;
            for (int u = t + 1; u < backups; u++)
                sum += change *= gamma;
            for (int s = 0; s < n; s++)
                v[s] += sum;
            break;
        }
    }
    float *out = answer->out[V].data;
    for (int s = 0; s < n; s++)
        out[s] = (float)v[s];
    free(v);
    free(next);
    free(order);
    free(chosen);
    return true;
}

#define TRAP(name, ...)                                                                            \
    static bool name(const struct ae_instance *inst, const struct ae_expected *right,              \
                     struct ae_expected *answer)                                                   \
    {                                                                                              \
        (void)right;                                                                               \
        return run(inst, answer, (struct fault){__VA_ARGS__});                                     \
    }

TRAP(backup_less, .backups_less = 1)
TRAP(half_rank, .half_rank = true)
TRAP(no_rest, .no_rest = true)
TRAP(optimistic, .optimistic = true)
TRAP(middle, .middle = true)
TRAP(uniform, .uniform = true)
TRAP(in_place, .in_place = true)
TRAP(one_matrix, .one_matrix = true)
TRAP(frozen, .freeze_after = 6)
TRAP(geometric, .geometric_after = 10)
TRAP(old_order, .order_after = 4)

AE_TRAPS(robust_value_iteration_hypercube) = {
    {"always splits at the middle rank", "ring", half_rank},
    {"drops the rest that completes one", "ring", no_rest},
    {"lets nature help", "ring", optimistic},
    {"takes the middle of the bounds", "ring", middle},
    {"takes uniform probabilities", "ring", uniform},
    {"reads one matrix and scales it by 1.5", "ring", one_matrix},
    {"one backup less", "ring", backup_less},
    {"keeps the actions of the sixth backup", "ring", frozen},
    {"a geometric series after ten backups", "ring", geometric},
    {"keeps the order of the fifth backup", "ring", old_order},
    {"replaces values in place", "ring", in_place},
    {0},
};
