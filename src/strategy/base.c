#include "strategy/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int task_number(const struct ae_task *task)
{
    for (int i = 0; i < ae_task_count; i++)
        if (ae_tasks[i] == task)
            return i;
    return -1;
}

static bool wanted(unsigned sizes, enum ae_size size)
{
    return sizes == 0 || sizes & AE_AT(size);
}

/* Sums of logarithms, one a cell, and of the parts that each is of a gain that is shared. */
struct sums {
    double *sum, *parts;
    size_t *count;
};

static size_t cell(int task, int id)
{
    return (size_t)task * AE_STRATEGY_COUNT + (size_t)id;
}

static bool has(const struct ae_experience *e, int id)
{
    return e->has >> id & 1;
}

static bool known(const struct ae_experience *e, int id)
{
    return e->known >> id & 1;
}

/* Programs of one task at one place and size. */
static void compare(const struct ae_experience *programs, size_t count, struct sums *to)
{
    double ratio[AE_STRATEGY_COUNT];
    for (int id = 0; id < AE_STRATEGY_COUNT; id++) {
        double sum[2] = {0, 0};
        size_t n[2] = {0, 0};
        for (size_t i = 0; i < count; i++)
            if (known(&programs[i], id)) {
                n[has(&programs[i], id)]++;
                sum[has(&programs[i], id)] -= log(programs[i].median_ns);
            }
        ratio[id] = n[0] && n[1] ? sum[1] / (double)n[1] - sum[0] / (double)n[0] : NAN;
    }
    for (int id = 0; id < AE_STRATEGY_COUNT; id++) {
        int together = 0;
        for (int other = 0; !isnan(ratio[id]) && other < AE_STRATEGY_COUNT; other++) {
            bool same = !isnan(ratio[other]);
            for (size_t i = 0; same && i < count; i++)
                same = known(&programs[i], id) == known(&programs[i], other) &&
                       (!known(&programs[i], id) || has(&programs[i], id) == has(&programs[i], other));
            together += same;
        }
        if (together > 0) {
            to->sum[cell(programs->task_number, id)] += ratio[id] / together;
            to->parts[cell(programs->task_number, id)] += 1.0 / together;
            to->count[cell(programs->task_number, id)]++;
        }
    }
}

static int make_sums(struct sums *s, struct ae_error *err)
{
    const size_t cells = (size_t)ae_task_count * AE_STRATEGY_COUNT;
    s->sum = calloc(cells, sizeof *s->sum);
    s->parts = calloc(cells, sizeof *s->parts);
    s->count = calloc(cells, sizeof *s->count);
    return s->sum && s->parts && s->count ? AE_OK : ae_error_set(err, AE_E_NOMEM, "no memory for the base of recommendations");
}

int ae_advice_base_make(const struct ae_experiences *experiences, const struct ae_gains *gains, unsigned sizes,
                        struct ae_advice_base *ret, struct ae_error *err)
{
    struct sums steps = {0}, programs = {0};
    const size_t rows = (size_t)ae_task_count + 1;
    *ret = (struct ae_advice_base){.rows = rows,
                                   .feature = malloc(rows * AE_FEATURE_COUNT * sizeof(double)),
                                   .log_gain = malloc(rows * AE_STRATEGY_COUNT * sizeof(double)),
                                   .weight = calloc(rows * AE_STRATEGY_COUNT, sizeof(double))};
    int rc = make_sums(&steps, err);
    if (rc == AE_OK)
        rc = make_sums(&programs, err);
    if (rc == AE_OK && (!ret->feature || !ret->log_gain || !ret->weight))
        rc = ae_error_set(err, AE_E_NOMEM, "no memory for the base of recommendations");
    for (size_t g = 0; rc == AE_OK && g < gains->count; g++) {
        const struct ae_gain *gain = &gains->items[g];
        const int task = task_number(gain->step->task);
        if (task < 0 || !wanted(sizes, gain->size) || !(gain->before_ns > 0) || !(gain->after_ns > 0))
            continue;
        /* Of several strategies nobody knows the shares: like programs that have them all and that lack them all. */
        const int together = gain->step->strategy_count;
        struct sums *to = together > 1 ? &programs : &steps;
        for (int i = 0; i < together; i++) {
            const size_t at = cell(task, (int)gain->step->strategies[i]);
            to->sum[at] += log(gain->before_ns / gain->after_ns) / together;
            to->parts[at] += 1.0 / together;
            to->count[at]++;
        }
    }
    for (size_t i = 0, end; rc == AE_OK && experiences && i < experiences->count; i = end) {
        const struct ae_experience *first = &experiences->items[i];
        for (end = i + 1; end < experiences->count && experiences->items[end].place == first->place &&
                          experiences->items[end].size == first->size && experiences->items[end].task == first->task;
             end++)
            ;
        if (first->task_number < ae_task_count && wanted(sizes, first->size))
            compare(first, end - i, &programs);
    }
    for (size_t i = 0; rc == AE_OK && i < rows * AE_FEATURE_COUNT; i++)
        ret->feature[i] = NAN;
    for (size_t row = 0; rc == AE_OK && row < rows; row++) {
        bool any = false;
        for (int id = 0; id < AE_STRATEGY_COUNT; id++) {
            const size_t at = row * AE_STRATEGY_COUNT + (size_t)id;
            const bool step = row + 1 < rows && steps.count[at] > 0, program = row + 1 < rows && programs.count[at] > 0;
            ret->log_gain[at] = step      ? steps.sum[at] / (double)steps.count[at]
                                : program ? programs.sum[at] / (double)programs.count[at]
                                          : NAN;
            ret->weight[at] = step      ? 1
                              : program ? AE_BASE_PROGRAMS_WEIGHT * programs.parts[at] / (double)programs.count[at]
                                        : 0;
            ret->from_steps += step;
            ret->from_programs += program && !step;
            any |= step || program;
        }
        ret->tasks += any;
    }
    free(steps.sum);
    free(steps.parts);
    free(steps.count);
    free(programs.sum);
    free(programs.parts);
    free(programs.count);
    if (rc != AE_OK)
        ae_advice_base_release(ret);
    return rc;
}

void ae_advice_base_release(struct ae_advice_base *base)
{
    free(base->feature);
    free(base->log_gain);
    free(base->weight);
    *base = (struct ae_advice_base){0};
}

double *ae_advice_base_features(struct ae_advice_base *base, size_t row)
{
    return base->feature + row * AE_FEATURE_COUNT;
}

struct ae_gain_base ae_advice_base_view(const struct ae_advice_base *base)
{
    return (struct ae_gain_base){base->rows, AE_FEATURE_COUNT, AE_STRATEGY_COUNT, base->feature, base->log_gain, base->weight,
                                 AE_BASE_PROGRAMS_WEIGHT * (1 - 1e-9)};
}
