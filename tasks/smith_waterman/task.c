#include "task/task.h"

#include <stdlib.h>
#include <string.h>

enum { P_PAIRS, P_LENGTH_MIN, P_LENGTH_MAX };

enum {
    N,
    TOTAL_QUERY_LEN,
    TOTAL_TARGET_LEN,
    MATCH_SCORE,
    MISMATCH_PENALTY,
    GAP_PENALTY,
    QUERY_SEQS,
    TARGET_SEQS,
    QUERY_OFFSETS,
    TARGET_OFFSETS,
    SCORES,
    ARG_COUNT
};

enum { F_READS, F_UNRELATED, F_REPEATS, F_LENGTHS, F_TINY };

#define SCORE_MAX   32000 /* so that 16 bits hold every score */
#define PENALTY_MAX 1000

static const struct ae_arg args[ARG_COUNT] = {
    [N] = {"N", AE_I32, AE_SCALAR, .meaning = "number of pairs"},
    [TOTAL_QUERY_LEN] = {"total_query_len", AE_I32, AE_SCALAR,
                         .meaning = "symbols in all queries together"},
    [TOTAL_TARGET_LEN] = {"total_target_len", AE_I32, AE_SCALAR,
                          .meaning = "symbols in all targets together"},
    [MATCH_SCORE] = {"match_score", AE_I32, AE_SCALAR,
                     .meaning = "added for two equal symbols; positive"},
    [MISMATCH_PENALTY] = {"mismatch_penalty", AE_I32, AE_SCALAR,
                          .meaning = "added for two different symbols; negative"},
    [GAP_PENALTY] = {"gap_penalty", AE_I32, AE_SCALAR,
                     .meaning = "added for every symbol left out; negative"},
    [QUERY_SEQS] = {"query_seqs", AE_I32, AE_IN, "total_query_len",
                    .meaning = "queries, one symbol (0..3) an element"},
    [TARGET_SEQS] = {"target_seqs", AE_I32, AE_IN, "total_target_len",
                     .meaning = "targets, one symbol (0..3) an element"},
    [QUERY_OFFSETS] = {"query_offsets", AE_I32, AE_IN, "N+1",
                       .meaning = "start of each query; the last is the total"},
    [TARGET_OFFSETS] = {"target_offsets", AE_I32, AE_IN, "N+1",
                        .meaning = "start of each target; the last is the total"},
    [SCORES] = {"scores", AE_I32, AE_OUT, "N", .meaning = "best local alignment score of each pair",
                .rule = {AE_EXACT, .reason = "integer arithmetic: one right answer"}},
};

/* What relates the target of a pair to its query. */
enum kind {
    UNRELATED,
    MUTATED,   /* a copy with substitutions, insertions and deletions */
    SHIFTED,   /* the end of one is the start of the other: far off the diagonal */
    IDENTICAL, /* the score is match_score times the length */
    DISJOINT,  /* no common symbol: score 0 */
    SHORT,     /* one side of length 0 or 1 */
    TAIL,      /* four times as long as the others */
};

static enum kind draw_kind(struct ae_rng *rng)
{
    const double u = ae_rng_unit(rng);
    return u < 0.18   ? MUTATED
           : u < 0.30 ? SHIFTED
           : u < 0.33 ? IDENTICAL
           : u < 0.35 ? DISJOINT
           : u < 0.37 ? SHORT
           : u < 0.39 ? TAIL
                      : UNRELATED;
}

static void draw_symbols(struct ae_rng *rng, int32_t *to, int64_t count)
{
    ae_rng_fill_i32(rng, to, (size_t)count, 0, 4);
}

/* Returns the length of the copy, at most `most`. */
static int64_t mutate(struct ae_rng *rng, const int32_t *from, int64_t length, int32_t *to,
                      int64_t most)
{
    const double substitutions = ae_rng_uniform(rng, 0.05, 0.2),
                 indels = ae_rng_uniform(rng, 0.02, 0.05);
    int64_t n = 0;
    for (int64_t i = 0; i < length && n < most; i++) {
        const double u = ae_rng_unit(rng);
        if (u < substitutions) {
            to[n++] = (from[i] + (int32_t)ae_rng_range(rng, 1, 3)) % 4;
        } else if (u < substitutions + indels / 2) {
            to[n++] = (int32_t)ae_rng_below(rng, 4);
            if (n < most)
                to[n++] = from[i];
        } else if (u >= substitutions + indels) {
            to[n++] = from[i];
        }
    }
    return n;
}

/* The end of one, of length `shared`, starts the other; which is which is drawn. */
static void overlap(struct ae_rng *rng, int32_t *query, int64_t m, int32_t *target, int64_t n,
                    int64_t shared)
{
    if (ae_rng_chance(rng, 0.5))
        memcpy(target, query + m - shared, (size_t)shared * sizeof *target);
    else
        memcpy(target + n - shared, query, (size_t)shared * sizeof *target);
}

/* Two shared blocks, the shorter one first, with over 200 unrelated symbols between them: stopping
 * where the score falls below the best so far misses the second. */
static void two_blocks(int32_t *query, int64_t m, int32_t *target, int64_t n)
{
    const int64_t shortest = m < n ? m : n, first = shortest / 8, gap = shortest / 2,
                  second = shortest / 4;
    memcpy(target, query, (size_t)first * sizeof *target);
    memcpy(target + first + gap, query + first + gap, (size_t)second * sizeof *target);
}

/* Writes one pair; *m and *n hold the lengths to make and receive those made. */
static void draw_pair(struct ae_rng *rng, enum kind kind, int32_t *query, int64_t *m,
                      int32_t *target, int64_t *n)
{
    draw_symbols(rng, query, *m);
    draw_symbols(rng, target, *n);
    const int64_t shortest = *m < *n ? *m : *n;
    switch (kind) {
    case MUTATED:
        *n = mutate(rng, query, *m, target, *n > *m ? *n : *m);
        break;
    case SHIFTED:
        overlap(rng, query, *m, target, *n, shortest / 2);
        break;
    case IDENTICAL:
        *n = *m;
        memcpy(target, query, (size_t)*m * sizeof *target);
        break;
    case DISJOINT:
        for (int64_t i = 0; i < *m; i++)
            query[i] &= 1;
        for (int64_t i = 0; i < *n; i++)
            target[i] |= 2;
        break;
    case SHORT:
        /* Never longer than was drawn: only so many symbols are written, and there is no room for
         * more. */
        if (ae_rng_chance(rng, 0.5))
            *m = *m > 0 ? ae_rng_range(rng, 0, 1) : 0;
        else
            *n = *n > 0 ? ae_rng_range(rng, 0, 1) : 0;
        break;
    case TAIL:
        if (ae_rng_chance(rng, 0.5))
            overlap(rng, query, *m, target, *n, shortest / 4);
        else
            two_blocks(query, *m, target, *n);
        break;
    default:
        break;
    }
}

/* Few symbols with a short period: ties in every cell, and scores near the largest possible. */
static void draw_repeats(struct ae_rng *rng, int32_t *query, int64_t m, int32_t *target, int64_t n)
{
    int32_t unit[4];
    const int64_t period = ae_rng_range(rng, 1, 4);
    for (int i = 0; i < 4; i++)
        unit[i] = (int32_t)ae_rng_below(rng, 4);
    for (int64_t i = 0; i < m; i++)
        query[i] = unit[i % period];
    for (int64_t i = 0; i < n; i++)
        target[i] = ae_rng_chance(rng, 0.02) ? (int32_t)ae_rng_below(rng, 4) : unit[i % period];
}

static int64_t draw_length(const struct ae_instance *inst, struct ae_rng *rng, enum kind kind)
{
    const int64_t lo = inst->param[P_LENGTH_MIN], hi = inst->param[P_LENGTH_MAX];
    if (inst->family == F_TINY)
        return ae_rng_range(rng, 0, 3);
    if (inst->family == F_LENGTHS)
        return ae_rng_chance(rng, 0.3) ? ae_rng_range(rng, 0, 40) : ae_rng_range(rng, 0, 5000);
    return kind == TAIL ? 4 * hi - ae_rng_range(rng, 0, hi / 16) : ae_rng_range(rng, lo, hi);
}

static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    int64_t pairs = inst->param[P_PAIRS] +
                    ae_rng_range(rng, -inst->param[P_PAIRS] / 64, inst->param[P_PAIRS] / 64);
    if (inst->family == F_REPEATS)
        pairs = ae_rng_range(rng, 150, 200);
    if (inst->family == F_LENGTHS)
        pairs = ae_rng_range(rng, 25, 40);
    if (inst->family == F_TINY)
        pairs = ae_rng_range(rng, 1, 9);
    ae_set_i32(inst, N, pairs);
    ae_set_i32(inst, MATCH_SCORE, ae_rng_range(rng, 1, 5));
    ae_set_i32(inst, MISMATCH_PENALTY, ae_rng_range(rng, -4, -1));
    ae_set_i32(inst, GAP_PENALTY, ae_rng_range(rng, -5, -1));
    const size_t count = (size_t)pairs;
    enum kind *kind = malloc(count * sizeof *kind);
    int64_t *lengths = malloc(2 * count * sizeof *lengths);
    int64_t room = 0;
    if (!kind || !lengths) {
        free(kind);
        free(lengths);
        return ae_error_set(err, AE_E_NOMEM, "no memory for %lld pairs", (long long)pairs);
    }
    for (size_t i = 0; i < count; i++) {
        kind[i] = draw_kind(rng);
        if (inst->family == F_UNRELATED)
            kind[i] = UNRELATED;
        lengths[2 * i] = draw_length(inst, rng, kind[i]);
        lengths[2 * i + 1] = draw_length(inst, rng, kind[i]);
        room += lengths[2 * i] > lengths[2 * i + 1] ? lengths[2 * i] : lengths[2 * i + 1];
    }
    int32_t *query = ae_new_array(inst, QUERY_SEQS, (size_t)room, err);
    int32_t *target = ae_new_array(inst, TARGET_SEQS, (size_t)room, err);
    int32_t *query_offsets = ae_new_array(inst, QUERY_OFFSETS, count + 1, err);
    int32_t *target_offsets = ae_new_array(inst, TARGET_OFFSETS, count + 1, err);
    const bool ready = query && target && query_offsets && target_offsets;
    int64_t total_m = 0, total_n = 0;
    for (size_t i = 0; ready && i < count; i++) {
        int64_t m = lengths[2 * i], n = lengths[2 * i + 1];
        query_offsets[i] = (int32_t)total_m;
        target_offsets[i] = (int32_t)total_n;
        if (inst->family == F_REPEATS)
            draw_repeats(rng, query + total_m, m, target + total_n, n);
        else
            draw_pair(rng, kind[i], query + total_m, &m, target + total_n, &n);
        total_m += m;
        total_n += n;
    }
    free(kind);
    free(lengths);
    if (!ready)
        return AE_E_NOMEM;
    query_offsets[count] = (int32_t)total_m;
    target_offsets[count] = (int32_t)total_n;
    ae_shrink_array(inst, QUERY_SEQS, (size_t)total_m);
    ae_shrink_array(inst, TARGET_SEQS, (size_t)total_n);
    ae_set_i32(inst, TOTAL_QUERY_LEN, total_m);
    ae_set_i32(inst, TOTAL_TARGET_LEN, total_n);
    return AE_OK;
}

static void outputs(struct ae_instance *inst)
{
    ae_set_output(inst, SCORES, (size_t)inst->scalar[N].i32);
}

/* Offsets, total and symbols of one side. */
static int validate_side(const struct ae_instance *inst, int total, int seqs, int offsets,
                         struct ae_error *err)
{
    const int32_t pairs = inst->scalar[N].i32, length = inst->scalar[total].i32;
    if (inst->array[offsets].count != (size_t)pairs + 1)
        return ae_error_set(err, AE_E_INPUT, "%s has %zu elements for %d pairs", args[offsets].name,
                            inst->array[offsets].count, pairs);
    const int32_t *start = ae_in_i32(inst, offsets);
    if (length < 0 || start[0] != 0 || start[pairs] != length ||
        inst->array[seqs].count != (size_t)length)
        return ae_error_set(err, AE_E_INPUT, "%s runs from %d to %d, %s is %d, %s has %zu elements",
                            args[offsets].name, start[0], start[pairs], args[total].name, length,
                            args[seqs].name, inst->array[seqs].count);
    for (int32_t i = 0; i < pairs; i++)
        if (start[i] > start[i + 1])
            return ae_error_set(err, AE_E_INPUT, "%s descends behind element %d",
                                args[offsets].name, i);
    for (int32_t i = 0; i < length; i++)
        if (ae_in_i32(inst, seqs)[i] < 0 || ae_in_i32(inst, seqs)[i] > 3)
            return ae_error_set(err, AE_E_INPUT, "%s[%d] is %d; symbols are 0 to 3",
                                args[seqs].name, i, ae_in_i32(inst, seqs)[i]);
    return AE_OK;
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    const int32_t pairs = inst->scalar[N].i32, match = inst->scalar[MATCH_SCORE].i32;
    if (pairs < 1 || pairs == INT32_MAX)
        return ae_error_set(err, AE_E_INPUT, "N is %d; at least one pair is needed", pairs);
    if (match < 1)
        return ae_error_set(err, AE_E_INPUT, "match_score is %d; it must be positive", match);
    for (int a = MISMATCH_PENALTY; a <= GAP_PENALTY; a++)
        if (inst->scalar[a].i32 > -1 || inst->scalar[a].i32 < -PENALTY_MAX)
            return ae_error_set(err, AE_E_INPUT, "%s is %d; -%d to -1 is allowed", args[a].name,
                                inst->scalar[a].i32, PENALTY_MAX);
    int rc = validate_side(inst, TOTAL_QUERY_LEN, QUERY_SEQS, QUERY_OFFSETS, err);
    if (rc == AE_OK)
        rc = validate_side(inst, TOTAL_TARGET_LEN, TARGET_SEQS, TARGET_OFFSETS, err);
    const int32_t *q = ae_in_i32(inst, QUERY_OFFSETS), *t = ae_in_i32(inst, TARGET_OFFSETS);
    for (int32_t i = 0; rc == AE_OK && i < pairs; i++) {
        const int64_t m = q[i + 1] - q[i], n = t[i + 1] - t[i];
        if ((m < n ? m : n) * match > SCORE_MAX)
            rc = ae_error_set(err, AE_E_INPUT, "pair %d could score over %d", i, SCORE_MAX);
    }
    return rc;
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    const int32_t *q = ae_in_i32(inst, QUERY_OFFSETS), *t = ae_in_i32(inst, TARGET_OFFSETS);
    for (int32_t i = 0; i < inst->scalar[N].i32; i++) {
        const double m = q[i + 1] - q[i], n = t[i + 1] - t[i];
        w->operations += 6 * m * n; /* compare, three sums, maxima */
        w->steps =
            m + n - 1 > w->steps ? m + n - 1 : w->steps; /* anti-diagonals of the largest table */
    }
    w->operations = w->operations > 1 ? w->operations : 1;
    w->steps = w->steps > 1 ? w->steps : 1;
}

const struct ae_task ae_task_smith_waterman = {
    .id = "smith_waterman",
    .title = "Best local alignment scores of many sequence pairs",
    .domain = AE_SPATIAL,
    .lineage = "Smith & Waterman 1981, linear gaps",
    .version = 2,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"N", "length_min", "length_max"},
    .sizes = {[AE_SMALL] = {{1000, 64, 128}},
              [AE_MEDIUM] = {{5000, 128, 256}},
              [AE_LARGE] = {{20000, 256, 512}}},
    .families =
        {{"reads",
          "related, shifted, identical and unrelated pairs, a few empty, a few four times as long",
          AE_ALL_SIZES},
         {"unrelated", "random pairs as published: low scores, all alike",
          AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
         {"repeats", "periodic sequences: ties everywhere, scores in the thousands",
          AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
         {"lengths", "few pairs of 0 to 5000 symbols: buffers and balance", AE_AT(AE_SMALL)},
         {"tiny", "one to nine pairs of up to three symbols", AE_AT(AE_SMALL)}},
    .published_atol = 0,
    .published_rtol = 0,
    .published_note = "published pairs are unrelated, and scored with 2, -1, -2 only",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .work = work,
};
