#include "task/task.h"

#include <math.h>
#include <stdlib.h>

enum { P_REFS, P_QUERIES, P_DIM };

enum { REF_NB, QUERY_NB, DIM, REF, QUERY, DIST, ARG_COUNT };

enum { F_OFFSETS, F_UNIFORM, F_EQUAL, F_LARGE, F_THIN };

#define VALUE_MAX 1e6 /* keeps every sum of squares far from overflow */

static const struct ae_arg args[ARG_COUNT] = {
    [REF_NB] = {"ref_nb", AE_I32, AE_SCALAR, .meaning = "number R of reference points"},
    [QUERY_NB] = {"query_nb", AE_I32, AE_SCALAR, .meaning = "number Q of query points"},
    [DIM] = {"dim", AE_I32, AE_SCALAR, .meaning = "number of coordinates"},
    [REF] = {"ref", AE_F32, AE_IN, "dim*ref_nb, coordinate-major",
             .meaning = "coordinate k of reference point r is ref[k*ref_nb + r]"},
    [QUERY] = {"query", AE_F32, AE_IN, "dim*query_nb, coordinate-major",
               .meaning = "coordinate k of query point q is query[k*query_nb + q]"},
    [DIST] =
        {"dist", AE_F32, AE_OUT, "ref_nb*query_nb row-major",
         .meaning =
             "squared distance of reference point r to query point q at dist[r*query_nb + q]",
         .rule =
             {AE_SCALED, .rtol = 2e-5,
              .reason =
                  "1e-6*dim + 2e-5*|d|: float sums in any order stay inside, so do the product "
                  "form "
                  "in full float and split-precision emulations of it once both sets are centred; "
                  "products of inputs cut to 10 or fewer bits do not. The first term is for points "
                  "that coincide or nearly do"}},
};

static int64_t not_multiple_of_16(int64_t value)
{
    return value % 16 == 0 ? value + 1 : value;
}

/* Sizes moved by up to 3 %, in opposite directions so that the work stays the same; the sets differ
 * in size. */
static void draw_sizes(const struct ae_instance *inst, struct ae_rng *rng, int64_t *refs,
                       int64_t *queries, int64_t *dim)
{
    const int64_t r0 = inst->param[P_REFS], q0 = inst->param[P_QUERIES], d0 = inst->param[P_DIM];
    const int sign = ae_rng_chance(rng, 0.5) ? 1 : -1;
    *dim = d0 + sign * ae_rng_range(rng, 1, d0 / 50 > 1 ? d0 / 50 : 1);
    *refs = not_multiple_of_16(r0 - sign * ae_rng_range(rng, 1, 3 * r0 / 100));
    *queries = not_multiple_of_16(r0 * q0 * d0 / (*refs * *dim));
    if (*queries == *refs)
        *queries = not_multiple_of_16(*queries + 1);
    if (inst->family == F_THIN) { /* one side of one to three, the others of some hundreds */
        int64_t side[3];
        for (int i = 0; i < 3; i++)
            side[i] = ae_rng_range(rng, 1, 500);
        const uint32_t thin = ae_rng_below(rng, 3);
        side[thin] = ae_rng_range(rng, 1, 3);
        *refs = side[0];
        *queries = side[1];
        *dim = side[2];
    }
}

/* Every coordinate has an offset common to both sets, and some queries lie close to a reference
 * point or upon one: the expansion |a|^2 + |b|^2 - 2ab loses its digits there unless it is done
 * with care. */
static int fill_offsets(struct ae_instance *inst, struct ae_rng *rng, int64_t refs, int64_t queries,
                        int64_t dim, float *ref, float *query, struct ae_error *err)
{
    double *base = malloc((size_t)(dim * refs) * sizeof *base),
           *offset = malloc((size_t)dim * sizeof *offset);
    if (!base || !offset) {
        free(base);
        free(offset);
        return ae_error_set(err, AE_E_NOMEM, "no memory for %lld points", (long long)refs);
    }
    const bool plain = inst->family == F_UNIFORM;
    for (int64_t k = 0; k < dim; k++)
        offset[k] = plain ? 0 : ae_rng_uniform(rng, -4, 4);
    for (int64_t k = 0; k < dim; k++)
        for (int64_t r = 0; r < refs; r++) {
            base[k * refs + r] = ae_rng_unit(rng);
            ref[k * refs + r] = (float)(base[k * refs + r] + offset[k]);
        }
    for (int64_t q = 0; q < queries; q++) {
        const double kind = plain ? 1 : ae_rng_unit(rng);
        const int64_t near = (int64_t)ae_rng_below(rng, (uint32_t)refs);
        for (int64_t k = 0; k < dim; k++) {
            float *to = &query[k * queries + q];
            if (kind < 0.02)
                *to = ref[k * refs + near];
            else if (kind < 0.12)
                *to = (float)(base[k * refs + near] + offset[k] +
                              (kind < 0.07 ? 1e-2 : 1e-3) * ae_rng_normal(rng));
            else
                *to = (float)(ae_rng_unit(rng) + offset[k]);
        }
    }
    free(base);
    free(offset);
    return AE_OK;
}

static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    int64_t refs, queries, dim;
    draw_sizes(inst, rng, &refs, &queries, &dim);
    ae_set_i32(inst, REF_NB, refs);
    ae_set_i32(inst, QUERY_NB, queries);
    ae_set_i32(inst, DIM, dim);
    float *ref = ae_new_array(inst, REF, (size_t)(dim * refs), err);
    float *query = ae_new_array(inst, QUERY, (size_t)(dim * queries), err);
    if (!ref || !query)
        return AE_E_NOMEM;
    if (inst->family != F_EQUAL && inst->family != F_LARGE)
        return fill_offsets(inst, rng, refs, queries, dim, ref, query, err);
    const double unit = ae_rng_log_uniform(rng, 10, 1e5);
    for (int64_t k = 0; k < dim; k++) {
        /* Equal: three coordinates take three values each and the others one, so that points repeat
         * within and between the sets. Large: values in units that overflow narrow formats. */
        const double scale = unit * ae_rng_uniform(rng, 0.25, 1);
        const bool fixed = k >= 3;
        const double common = ae_rng_uniform(rng, -4, 4);
        for (int64_t i = 0; i < refs + queries; i++) {
            const double value = inst->family == F_LARGE ? scale * ae_rng_normal(rng)
                                 : fixed                 ? common
                                                         : (double)ae_rng_range(rng, -1, 1) * 0.1;
            if (i < refs)
                ref[k * refs + i] = (float)value;
            else
                query[k * queries + i - refs] = (float)value;
        }
    }
    return AE_OK;
}

static void outputs(struct ae_instance *inst)
{
    ae_set_output(inst, DIST,
                  (size_t)inst->scalar[REF_NB].i32 * (size_t)inst->scalar[QUERY_NB].i32);
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    const int32_t refs = inst->scalar[REF_NB].i32, queries = inst->scalar[QUERY_NB].i32,
                  dim = inst->scalar[DIM].i32;
    if (refs < 1 || queries < 1 || dim < 1)
        return ae_error_set(
            err, AE_E_INPUT,
            "%d reference points, %d queries, %d coordinates; each must be positive", refs, queries,
            dim);
    for (int a = REF; a <= QUERY; a++) {
        const int32_t points = a == REF ? refs : queries;
        if (inst->array[a].count != (size_t)points * (size_t)dim)
            return ae_error_set(err, AE_E_INPUT,
                                "%s has %zu elements for %d points of %d coordinates", args[a].name,
                                inst->array[a].count, points, dim);
        for (size_t i = 0; i < inst->array[a].count; i++) {
            const double value = (double)ae_in_f32(inst, a)[i];
            if (!(fabs(value) <= VALUE_MAX)) /* NaN too */
                return ae_error_set(err, AE_E_INPUT,
                                    "%s[%zu] is %g; at most %g in magnitude is allowed",
                                    args[a].name, i, value, VALUE_MAX);
        }
    }
    return AE_OK;
}

static void tolerance(const struct ae_instance *inst, const struct ae_expected *expected, int arg,
                      size_t first, size_t count, double *tol)
{
    (void)expected;
    (void)arg;
    (void)first;
    for (size_t i = 0; i < count; i++)
        tol[i] += 1e-6 * inst->scalar[DIM].i32;
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    /* The product form: one multiplication and one addition a term. */
    w->operations =
        2.0 * inst->scalar[REF_NB].i32 * inst->scalar[QUERY_NB].i32 * inst->scalar[DIM].i32;
    w->steps = 1;
}

const struct ae_task ae_task_euclidean_distance_matrix = {
    .id = "euclidean_distance_matrix",
    .title = "All squared Euclidean distances between two point sets",
    .domain = AE_SPATIAL,
    .lineage = "kNN-CUDA (Garcia, Debreuve & Barlaud 2008), its distance kernel",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"ref_nb", "query_nb", "dim"},
    .sizes = {[AE_SMALL] = {{128, 128, 32}},
              [AE_MEDIUM] = {{1024, 1024, 256}},
              [AE_LARGE] = {{4096, 4096, 256},
                            true,
                            "the published large is only twice medium a side"}},
    .families = {{"offsets", "coordinates far from 0, some queries near or upon a reference point",
                  AE_ALL_SIZES},
                 {"uniform", "the unit cube, as published: distances all alike",
                  AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
                 {"equal", "points on 27 places far from the origin: many distances exactly 0",
                  AE_AT(AE_SMALL)},
                 {"large", "values up to 1e5, with no offset: squares beyond half precision",
                  AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
                 {"thin", "one side of one to three: a single point or coordinate",
                  AE_AT(AE_SMALL)}},
    .published_atol = 1e-2,
    .published_rtol = 1e-4,
    .published_note = "published points are uniform in the unit cube, both sets of one size",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .tolerance = tolerance,
    .work = work,
};
