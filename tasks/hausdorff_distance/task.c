#include "task/task.h"

#include "base/fmath.h"

#include <math.h>
#include <stdlib.h>

enum { P_SPACES, P_MEAN };

enum { NUM_POINTS, NUM_SPACES, POINTS_XY, SPACE_OFFSETS, RESULTS, ARG_COUNT };

enum { F_WALKS, F_BLOBS, F_UNEVEN, F_LATTICE, F_FAR, F_TINY };

#define VALUE_MAX 1e6 /* keeps squares far from overflow */

static const struct ae_arg args[ARG_COUNT] = {
    [NUM_POINTS] = {"num_points", AE_I32, AE_SCALAR,
                    .meaning = "number of points of all sets together"},
    [NUM_SPACES] = {"num_spaces", AE_I32, AE_SCALAR, .meaning = "number M of sets"},
    [POINTS_XY] = {"points_xy", AE_F32, AE_IN, "2*num_points",
                   .meaning = "x, y of each point, set after set"},
    [SPACE_OFFSETS] = {"space_offsets", AE_I32, AE_IN, "num_spaces",
                       .meaning =
                           "index of each set's first point; the last set ends at num_points"},
    [RESULTS] =
        {"results", AE_F32, AE_OUT, "num_spaces*num_spaces",
         .meaning = "directed distance from set a to set b at results[b*num_spaces + a]",
         .rule =
             {AE_CLOSE, .atol = 1e-6, .rtol = 2e-6,
              .reason =
                  "float differences of the given coordinates err by 1.4e-7 relative; the expanded "
                  "square and any sample of the points lie outside. The absolute part is for the "
                  "diagonal"}},
};

/* A walk of n points across a common area: sets overlap, so that no bounding box decides. */
static void draw_walk(struct ae_rng *rng, double centre, int64_t n, float *xy)
{
    double x = centre + ae_rng_uniform(rng, -4, 4), y = centre + ae_rng_uniform(rng, -4, 4);
    const double step = 4 / ae_sqrt((double)n);
    for (int64_t i = 0; i < n; i++) {
        xy[2 * i] = (float)x;
        xy[2 * i + 1] = (float)y;
        x += step * ae_rng_normal(rng);
        y += step * ae_rng_normal(rng);
    }
}

static void draw_blob(struct ae_rng *rng, int64_t n, float *xy)
{
    const double x = ae_rng_uniform(rng, -10, 10), y = ae_rng_uniform(rng, -10, 10);
    const double radius = ae_rng_uniform(rng, 0.5, 2);
    for (int64_t i = 0; i < n; i++) {
        xy[2 * i] = (float)(x + radius * ae_rng_normal(rng));
        xy[2 * i + 1] = (float)(y + radius * ae_rng_normal(rng));
    }
}

/* A jittered copy of the n points before xy: both directed distances are tiny beside the
 * coordinates. */
static void jitter(struct ae_rng *rng, int64_t n, float *xy)
{
    const double deviation = ae_rng_chance(rng, 0.5) ? 1e-2 : 1e-3;
    for (int64_t i = 0; i < 2 * n; i++)
        xy[i] = (float)((double)xy[i - 2 * n] + deviation * ae_rng_normal(rng));
}

static void draw_lattice(struct ae_rng *rng, int64_t n, float *xy)
{
    for (int64_t i = 0; i < 2 * n; i++)
        xy[i] = (float)ae_rng_range(rng, 0, 9);
}

/* A part of the set before (of m points) in another order, with repetitions: distance 0 one way. */
static void draw_subset(struct ae_rng *rng, int64_t n, int64_t m, float *xy)
{
    const float *before = xy - 2 * m;
    for (int64_t i = 0; i < n; i++) {
        const int64_t k = (int64_t)ae_rng_below(rng, (uint32_t)m);
        xy[2 * i] = before[2 * k];
        xy[2 * i + 1] = before[2 * k + 1];
    }
}

/* Sizes of the sets; a quarter are as large as their predecessors, of which they will be copies. */
static void draw_sizes(const struct ae_instance *inst, struct ae_rng *rng, int64_t spaces,
                       int64_t *size)
{
    const int64_t mean = inst->param[P_MEAN], total = inst->param[P_SPACES] * mean;
    int64_t sum = 0;
    for (int64_t s = 0; s < spaces; s++) {
        if (inst->family == F_TINY)
            size[s] = ae_rng_range(rng, 1, 4);
        else if (inst->family == F_BLOBS)
            size[s] = mean;
        else if (inst->family == F_UNEVEN)
            size[s] = s == spaces / 2           ? total / 2
                      : ae_rng_chance(rng, 0.5) ? 1
                                                : ae_rng_range(rng, 1, mean);
        else if (s % 4 == 3 && inst->family != F_LATTICE)
            size[s] = size[s - 1];
        else
            size[s] = ae_rng_range(rng, mean / 4, 2 * mean);
        sum += size[s];
    }
    if (inst->family == F_WALKS ||
        inst->family == F_FAR) /* together near the nominal number of points */
        for (int64_t s = 0; s < spaces; s++)
            size[s] = (size[s] * total + sum / 2) / sum;
}

static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    const int64_t most = inst->param[P_SPACES] * 3 / 100 > 1 ? inst->param[P_SPACES] * 3 / 100 : 1;
    int64_t spaces = inst->param[P_SPACES] + ae_rng_range(rng, -most, most);
    if (inst->family == F_TINY)
        spaces = ae_rng_range(rng, 1, 5);
    int64_t *size = malloc((size_t)spaces * sizeof *size);
    if (!size)
        return ae_error_set(err, AE_E_NOMEM, "no memory for %lld sets", (long long)spaces);
    draw_sizes(inst, rng, spaces, size);
    int64_t points = 0;
    for (int64_t s = 0; s < spaces; s++)
        points += size[s];
    ae_set_i32(inst, NUM_POINTS, points);
    ae_set_i32(inst, NUM_SPACES, spaces);
    float *xy = ae_new_array(inst, POINTS_XY, 2 * (size_t)points, err);
    int32_t *offsets = ae_new_array(inst, SPACE_OFFSETS, (size_t)spaces, err);
    int64_t first = 0;
    for (int64_t s = 0; xy && offsets && s < spaces; s++) {
        float *set = xy + 2 * first;
        offsets[s] = (int32_t)first;
        first += size[s];
        if (inst->family == F_BLOBS)
            draw_blob(rng, size[s], set);
        else if (inst->family == F_LATTICE && s % 3 == 2)
            draw_subset(rng, size[s], size[s - 1], set);
        else if (inst->family == F_LATTICE)
            draw_lattice(rng, size[s], set);
        else if ((inst->family == F_WALKS || inst->family == F_FAR) && s % 4 == 3)
            jitter(rng, size[s], set);
        else
            draw_walk(rng, inst->family == F_FAR ? 20000 : 0, size[s], set);
    }
    free(size);
    return xy && offsets ? AE_OK : AE_E_NOMEM;
}

static void outputs(struct ae_instance *inst)
{
    const size_t spaces = (size_t)inst->scalar[NUM_SPACES].i32;
    ae_set_output(inst, RESULTS, spaces * spaces);
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    const int32_t points = inst->scalar[NUM_POINTS].i32, spaces = inst->scalar[NUM_SPACES].i32;
    if (points < 1 || spaces < 1)
        return ae_error_set(err, AE_E_INPUT, "%d points in %d sets; at least one of each is needed",
                            points, spaces);
    if (inst->array[POINTS_XY].count != 2 * (size_t)points)
        return ae_error_set(err, AE_E_INPUT, "points_xy has %zu elements for %d points",
                            inst->array[POINTS_XY].count, points);
    if (inst->array[SPACE_OFFSETS].count != (size_t)spaces)
        return ae_error_set(err, AE_E_INPUT, "space_offsets has %zu elements for %d sets",
                            inst->array[SPACE_OFFSETS].count, spaces);
    const int32_t *offsets = ae_in_i32(inst, SPACE_OFFSETS);
    for (int32_t s = 0; s < spaces; s++) {
        const int32_t end = s + 1 < spaces ? offsets[s + 1] : points;
        if ((s == 0 && offsets[0] != 0) || offsets[s] >= end)
            return ae_error_set(
                err, AE_E_INPUT,
                "set %d would reach from point %d to %d; offsets start at 0 and ascend", s,
                offsets[s], end);
    }
    for (size_t i = 0; i < inst->array[POINTS_XY].count; i++) {
        const double value = (double)ae_in_f32(inst, POINTS_XY)[i];
        if (!(fabs(value) <= VALUE_MAX)) /* NaN too */
            return ae_error_set(err, AE_E_INPUT,
                                "points_xy[%zu] is %g; at most %g in magnitude is allowed", i,
                                value, VALUE_MAX);
    }
    return AE_OK;
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    const double points = inst->scalar[NUM_POINTS].i32;
    w->operations = 6 * points * points; /* two differences, two squares, a sum, a minimum */
    w->steps = 1;
}

const struct ae_task ae_task_hausdorff_distance = {
    .id = "hausdorff_distance",
    .title = "Directed Hausdorff distances between all pairs of planar point sets",
    .domain = AE_SPATIAL,
    .lineage = "RAPIDS cuSpatial, directed_hausdorff_distance",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"num_spaces", "mean_size"},
    .sizes = {[AE_SMALL] = {{16, 64}},
              [AE_MEDIUM] = {{32, 256}},
              [AE_LARGE] = {{128, 256},
                            true,
                            "the published large has 64 sets: too little to time"}},
    .families = {{"walks",
                  "overlapping trajectories of uneven length, every fourth a jittered copy",
                  AE_ALL_SIZES},
                 {"blobs", "separate clusters of one size, as published",
                  AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
                 {"uneven", "one set with half of the points among sets of a single one",
                  AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
                 {"lattice",
                  "integer points, many coincident; sets within sets: distance 0 one way",
                  AE_AT(AE_SMALL)},
                 {"far", "trajectories 28000 from the origin: expanded squares lose everything",
                  AE_AT(AE_SMALL)},
                 {"tiny", "one to five sets of one to four points", AE_AT(AE_SMALL)}},
    .published_atol = 1e-3,
    .published_rtol = 1e-4,
    .published_note = "published sets are separate clusters, all of one size",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .work = work,
};
