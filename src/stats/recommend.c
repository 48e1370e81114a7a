#include "stats/recommend.h"

#include "stats/attribution.h"
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define LINEAR_MIN 4 /* tasks below which a line through them is not drawn */
#define DRAWN_TO_ZERO 1.0

/* What is tried; the last of each is "do not believe it". */
static const double widths[] = {0.35, 0.7, 1.4};
static const double priors[] = {0.5, 2, INFINITY};
static const double penalties[] = {1, 3, 10, 30, INFINITY};

struct work {
    const struct ae_gain_base *base;
    double *z;       /* tasks * features, each feature with mean 0 and deviation 1; NaN: not known */
    double *likeness; /* tasks * tasks: mean squared difference over the features that both know; INFINITY: none */
    double *x, *y;   /* room for a regression */
    bool *hidden;    /* by task: its gains are not looked at */
};

static void free_work(struct work *w)
{
    free(w->z);
    free(w->likeness);
    free(w->x);
    free(w->y);
    free(w->hidden);
}

static int make_work(const struct ae_gain_base *base, struct work *w, struct ae_error *err)
{
    const size_t n = base->tasks, columns = (size_t)base->features;
    *w = (struct work){.base = base};
    w->z = malloc((n * columns + 1) * sizeof *w->z);
    w->likeness = malloc((n * n + 1) * sizeof *w->likeness);
    w->x = malloc((n * columns + 1) * sizeof *w->x);
    w->y = malloc((n + 1) * sizeof *w->y);
    w->hidden = calloc(n + 1, sizeof *w->hidden);
    if (!w->z || !w->likeness || !w->x || !w->y || !w->hidden) {
        free_work(w);
        return ae_error_set(err, AE_E_NOMEM, "no memory to compare %zu tasks", n);
    }
    /* Features are no outcomes: those of the task in question may set the scale. */
    for (size_t f = 0; f < columns; f++) {
        double sum = 0, square = 0;
        size_t known = 0;
        for (size_t t = 0; t < n; t++)
            if (!isnan(base->feature[t * columns + f])) {
                sum += base->feature[t * columns + f];
                known++;
            }
        const double mean = known ? sum / (double)known : 0;
        for (size_t t = 0; t < n; t++)
            if (!isnan(base->feature[t * columns + f]))
                square += pow(base->feature[t * columns + f] - mean, 2);
        const double deviation = known ? sqrt(square / (double)known) : 0;
        for (size_t t = 0; t < n; t++) {
            const double value = base->feature[t * columns + f];
            w->z[t * columns + f] = isnan(value) ? NAN : deviation > 1e-12 * (1 + fabs(mean)) ? (value - mean) / deviation : 0;
        }
    }
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) {
            double square = 0;
            size_t both = 0;
            for (size_t f = 0; f < columns; f++)
                if (!isnan(w->z[a * columns + f]) && !isnan(w->z[b * columns + f])) {
                    square += pow(w->z[a * columns + f] - w->z[b * columns + f], 2);
                    both++;
                }
            w->likeness[a * n + b] = both ? square / (double)both : INFINITY;
        }
    return AE_OK;
}

static bool measured(const struct work *w, size_t task, int trait)
{
    return !w->hidden[task] && !isnan(w->base->log_gain[task * (size_t)w->base->traits + (size_t)trait]);
}

static double gain_of(const struct work *w, size_t task, int trait)
{
    return w->base->log_gain[task * (size_t)w->base->traits + (size_t)trait];
}

static double weight_of(const struct work *w, size_t task, int trait)
{
    return w->base->weight[task * (size_t)w->base->traits + (size_t)trait];
}

static double overall_of(const struct work *w, int trait, size_t *ret_tasks)
{
    double sum = 0, weight = DRAWN_TO_ZERO;
    *ret_tasks = 0;
    for (size_t t = 0; t < w->base->tasks; t++)
        if (measured(w, t, trait)) {
            sum += weight_of(w, t, trait) * gain_of(w, t, trait);
            weight += weight_of(w, t, trait);
            ++*ret_tasks;
        }
    return sum / weight;
}

/* The nearest tasks that measured the trait, nearest first. */
static int nearest(const struct work *w, size_t task, int trait, int ret[AE_NEIGHBOURS_MAX])
{
    const double *likeness = w->likeness + task * w->base->tasks;
    int count = 0;
    for (size_t t = 0; t < w->base->tasks; t++) {
        if (t == task || !measured(w, t, trait) || isinf(likeness[t]))
            continue;
        int at = count < AE_NEIGHBOURS_MAX ? count++ : AE_NEIGHBOURS_MAX;
        for (; at > 0 && likeness[ret[at - 1]] > likeness[t]; at--)
            if (at < AE_NEIGHBOURS_MAX)
                ret[at] = ret[at - 1];
        if (at < AE_NEIGHBOURS_MAX)
            ret[at] = (int)t;
    }
    return count;
}

/* By how much the neighbours' gains are off the overall one. */
static double by_neighbours(const struct work *w, size_t task, int trait, double overall, double width, double prior)
{
    int near[AE_NEIGHBOURS_MAX];
    const int count = isinf(prior) ? 0 : nearest(w, task, trait, near);
    double sum = 0, weight = prior;
    for (int i = 0; i < count; i++) {
        const size_t t = (size_t)near[i];
        const double part = weight_of(w, t, trait) * exp(-w->likeness[task * w->base->tasks + t] / (2 * width * width));
        sum += part * (gain_of(w, t, trait) - overall);
        weight += part;
    }
    return count ? sum / weight : 0;
}

static double by_line(const struct work *w, size_t task, int trait, double overall, double penalty)
{
    const size_t columns = (size_t)w->base->features;
    double beta[AE_TRAITS_MAX], told = 0;
    size_t rows = 0;
    if (isinf(penalty))
        return 0;
    for (size_t t = 0; t < w->base->tasks; t++) {
        if (t == task || !measured(w, t, trait))
            continue;
        const double root = sqrt(weight_of(w, t, trait));
        for (size_t f = 0; f < columns; f++) {
            const double z = w->z[t * columns + f];
            w->x[rows * columns + f] = isnan(z) ? 0 : root * z;
        }
        w->y[rows++] = root * (gain_of(w, t, trait) - overall);
    }
    if (rows < LINEAR_MIN)
        return 0;
    ae_ridge_fit(w->x, w->y, rows, w->base->features, penalty, beta);
    for (size_t f = 0; f < columns; f++)
        told += isnan(w->z[task * columns + f]) ? 0 : beta[f] * w->z[task * columns + f];
    return told;
}

static double foretell(const struct work *w, size_t task, int trait, double overall, const struct ae_recommend_model *m)
{
    const double near = by_neighbours(w, task, trait, overall, m->width, m->prior);
    const double line = by_line(w, task, trait, overall, m->penalty);
    if (isinf(m->prior) || isinf(m->penalty))
        return overall + near + line; /* one of them, or neither */
    return overall + (near + line) / 2;
}

/* Squared error of foretelling each task that is at hand from the others. */
static double error_of(struct work *w, const struct ae_recommend_model *m)
{
    double error = 0;
    for (size_t t = 0; t < w->base->tasks; t++) {
        if (w->hidden[t])
            continue;
        for (int k = 0; k < w->base->traits; k++) {
            if (!measured(w, t, k))
                continue;
            size_t others;
            w->hidden[t] = true;
            const double overall = overall_of(w, k, &others);
            const double told = others ? foretell(w, t, k, overall, m) : 0;
            w->hidden[t] = false;
            error += weight_of(w, t, k) * pow(gain_of(w, t, k) - told, 2);
        }
    }
    return error;
}

/* One at a time, the simplest first: what is not better by at least 1 % is not believed. */
static struct ae_recommend_model choose(struct work *w)
{
    struct ae_recommend_model best = {widths[0], INFINITY, INFINITY}, near = best, line = best;
    double least = error_of(w, &best), least_near = least, least_line = least;
    for (size_t a = 0; a < COUNT(widths); a++)
        for (size_t b = 0; b + 1 < COUNT(priors); b++) {
            const struct ae_recommend_model m = {widths[a], priors[b], INFINITY};
            const double error = error_of(w, &m);
            if (error < 0.99 * least_near) {
                least_near = error;
                near = m;
            }
        }
    for (size_t c = 0; c + 1 < COUNT(penalties); c++) {
        const struct ae_recommend_model m = {widths[0], INFINITY, penalties[c]};
        const double error = error_of(w, &m);
        if (error < 0.99 * least_line) {
            least_line = error;
            line = m;
        }
    }
    if (least_near < least) {
        least = least_near;
        best = near;
    }
    if (least_line < least) {
        least = least_line;
        best = line;
    }
    if (!isinf(near.prior) && !isinf(line.penalty)) {
        const struct ae_recommend_model both = {near.width, near.prior, line.penalty};
        if (error_of(w, &both) < least)
            best = both;
    }
    return best;
}

static void forecast(struct work *w, size_t task, struct ae_forecast *ret, struct ae_recommend_model *ret_model)
{
    w->hidden[task] = true;
    *ret_model = choose(w);
    for (int k = 0; k < w->base->traits; k++) {
        struct ae_forecast *f = &ret[k];
        *f = (struct ae_forecast){0};
        f->overall = overall_of(w, k, &f->tasks);
        f->log_gain = f->tasks ? foretell(w, task, k, f->overall, ret_model) : 0;
        f->neighbour_count = nearest(w, task, k, f->neighbours);
    }
    w->hidden[task] = false;
}

int ae_recommend(const struct ae_gain_base *base, size_t task, struct ae_forecast *ret,
                 struct ae_recommend_model *ret_model, struct ae_error *err)
{
    struct work w;
    const int rc = make_work(base, &w, err);
    if (rc != AE_OK)
        return rc;
    forecast(&w, task, ret, ret_model);
    free_work(&w);
    return AE_OK;
}

int ae_recommend_order(const struct ae_forecast *forecasts, int traits, bool by_overall, int *ret)
{
    int count = 0;
    for (int k = 0; k < traits; k++) {
        if (forecasts[k].tasks == 0)
            continue;
        const double value = by_overall ? forecasts[k].overall : forecasts[k].log_gain;
        int at = count++;
        for (; at > 0; at--) {
            const struct ae_forecast *before = &forecasts[ret[at - 1]];
            if ((by_overall ? before->overall : before->log_gain) >= value)
                break;
            ret[at] = ret[at - 1];
        }
        ret[at] = k;
    }
    return count;
}

/* --- leaving one out -------------------------------------------------------------------------- */

bool ae_hits_beat(const struct ae_hits *hits)
{
    return hits->tasks > 0 && hits->p <= 0.05 && hits->regret < hits->overall_regret;
}

/* The best log gain among the first k of the ranking that the task measured; what no other task measured stands behind
 * all that some did, in its order, for the model and the baseline alike. */
static double best_of_first(const double *gains, int traits, const int *order, int count, int k)
{
    double best = -INFINITY;
    bool listed[AE_TRAITS_MAX] = {false};
    int taken = 0;
    for (int i = 0; i < count; i++) {
        listed[order[i]] = true;
        if (taken < k && !isnan(gains[order[i]])) {
            best = fmax(best, gains[order[i]]);
            taken++;
        }
    }
    for (int i = 0; i < traits && taken < k; i++)
        if (!listed[i] && !isnan(gains[i])) {
            best = fmax(best, gains[i]);
            taken++;
        }
    return best;
}

int ae_recommend_evaluate(const struct ae_gain_base *base, const int *k, size_t count, struct ae_hits *ret,
                          struct ae_error *err)
{
    struct work w;
    int rc = make_work(base, &w, err);
    double *differences = rc == AE_OK ? malloc((base->tasks * count + 1) * sizeof *differences) : NULL;
    if (rc == AE_OK && !differences)
        rc = ae_error_set(err, AE_E_NOMEM, "no memory for %zu tasks", base->tasks);
    for (size_t i = 0; i < count; i++)
        ret[i] = (struct ae_hits){.k = k[i]};
    for (size_t t = 0; rc == AE_OK && t < base->tasks; t++) {
        double gains[AE_TRAITS_MAX], best = -INFINITY;
        int known = 0, alike = 0;
        for (int i = 0; i < base->traits; i++) {
            const size_t at = t * (size_t)base->traits + (size_t)i;
            gains[i] = base->weight[at] >= base->judged ? base->log_gain[at] : NAN;
        }
        for (int i = 0; i < base->traits; i++)
            if (!isnan(gains[i])) {
                alike = gains[i] > best ? 1 : alike + (gains[i] >= best);
                best = fmax(best, gains[i]);
                known++;
            }
        if (known < 2 || best <= 0)
            continue;
        struct ae_forecast forecasts[AE_TRAITS_MAX];
        struct ae_recommend_model model;
        int order[AE_TRAITS_MAX], plain[AE_TRAITS_MAX];
        forecast(&w, t, forecasts, &model);
        const int ordered = ae_recommend_order(forecasts, base->traits, false, order);
        (void)ae_recommend_order(forecasts, base->traits, true, plain);
        for (size_t i = 0; i < count; i++) {
            struct ae_hits *h = &ret[i];
            if (known <= h->k)
                continue;
            const double mine = best - best_of_first(gains, base->traits, order, ordered, h->k);
            const double theirs = best - best_of_first(gains, base->traits, plain, ordered, h->k);
            h->hit += mine <= 0;
            h->overall_hit += theirs <= 0;
            h->regret += mine;
            h->overall_regret += theirs;
            double missed = 1;
            for (int m = 0; m < h->k; m++)
                missed *= fmax(known - alike - m, 0) / (known - m);
            h->chance += 1 - missed;
            differences[i * base->tasks + h->tasks++] = theirs - mine;
        }
    }
    for (size_t i = 0; rc == AE_OK && i < count; i++) {
        struct ae_hits *h = &ret[i];
        const double n = h->tasks ? (double)h->tasks : NAN;
        h->hit /= n;
        h->overall_hit /= n;
        h->chance /= n;
        h->regret = exp(h->regret / n);
        h->overall_regret = exp(h->overall_regret / n);
        h->p = ae_sign_flip(differences + i * base->tasks, h->tasks, AE_BOOTSTRAP_SEED);
    }
    free(differences);
    if (rc == AE_OK)
        free_work(&w);
    return rc;
}
