/* The ruler's own tests for one task (argv[1]): its descriptor, generator, reference and parallel program, and that
 * its comparison rejects what it must. With --golden the digests of its instances are printed instead of compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "judge/judge.h"
#include "task/published.h"
#include "task/traps.h"

#include <ctype.h>
#include <dirent.h>
#include <malloc.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define AE_TASK(id)                                                                                          \
    void ae_reference_##id(void);                                                                            \
    __attribute__((weak)) void ae_parallel_##id(void);                                                       \
    extern const struct ae_trap ae_traps_##id[];
#include "tasks.def"
#undef AE_TASK

static const struct entry {
    const char *id;
    void (*reference)(void);
    void (*parallel)(void);
    const struct ae_trap *traps;
} entries[] = {
#define AE_TASK(id) {#id, ae_reference_##id, ae_parallel_##id, ae_traps_##id},
#include "tasks.def"
#undef AE_TASK
};

/* Seeds of the instances that every check below runs on. */
static const uint64_t seeds[] = {1, 20261130};
#define SEEDS (sizeof seeds / sizeof *seeds)

static const struct entry *entry;
static const struct ae_task *task;

/* One instance with its right answer. */
struct cell {
    struct ae_instance inst;
    struct ae_expected right;
    bool made;
};
static struct cell cells[AE_FAMILIES_MAX][SEEDS];

static void make_cell(struct cell *c, int family, uint64_t seed)
{
    struct ae_error err = {0};
    if (ae_instance_make(&c->inst, task, AE_SMALL, family, seed, &err) != AE_OK)
        fail_msg("family %s, seed %llu: %s", task->families[family].name, (unsigned long long)seed, err.text);
    if (ae_expected_alloc(&c->right, &c->inst, &err) != AE_OK ||
        ae_instance_call(&c->inst, &c->right, entry->reference, &err) != AE_OK)
        fail_msg("%s", err.text);
    if (task->make_aux && task->make_aux(&c->inst, &c->right, &err) != AE_OK)
        fail_msg("make_aux: %s", err.text);
    c->made = true;
}

static struct cell *cell(int family, size_t seed)
{
    struct cell *c = &cells[family][seed];
    if (!c->made)
        make_cell(c, family, seeds[seed]);
    return c;
}

static bool at_small(int family)
{
    return task->families[family].sizes & AE_AT(AE_SMALL);
}

#define FOR_EACH_CELL(c, f)                                                                                  \
    for (int f = 0; f < ae_task_family_count(task); f++)                                                     \
        for (size_t s_ = 0; s_ < SEEDS && at_small(f); s_++)                                                 \
            for (struct cell *c = cell(f, s_); c; c = NULL)

static bool judge(const struct cell *c, const struct ae_expected *answer, struct ae_judgement *j)
{
    const void *got[AE_ARGS_MAX] = {0};
    struct ae_error err = {0};
    for (int i = 0; i < task->arg_count; i++)
        got[i] = answer->out[i].data;
    if (ae_judge(&c->inst, &c->right, got, j, &err) != AE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(j->right, j->text[0] == 0); /* a reason exactly where it is wrong */
    return j->right;
}

static size_t bytes_of(const struct ae_array *array)
{
    return array->count * ae_type_size(array->type);
}

static void copy_answer(struct ae_expected *to, const struct cell *c)
{
    struct ae_error err;
    assert_int_equal(ae_expected_alloc(to, &c->inst, &err), AE_OK);
    for (int i = 0; i < task->arg_count; i++)
        if (c->right.out[i].data)
            memcpy(to->out[i].data, c->right.out[i].data, bytes_of(&to->out[i]));
}

/* Another right answer may exist for tasks with properties; for all others bits must match. */
static bool same_answer(const struct ae_expected *a, const struct ae_expected *b)
{
    for (int i = 0; i < task->arg_count; i++)
        if (a->out[i].data && memcmp(a->out[i].data, b->out[i].data, bytes_of(&a->out[i])) != 0)
            return false;
    return true;
}

static double get(const struct ae_array *array, size_t i)
{
    const void *p = array->data;
    switch (array->type) {
    case AE_I32:
        return ((const int32_t *)p)[i];
    case AE_U32:
        return ((const uint32_t *)p)[i];
    case AE_I64:
        return (double)((const int64_t *)p)[i];
    case AE_U64:
        return (double)((const uint64_t *)p)[i];
    case AE_F32:
        return (double)((const float *)p)[i];
    default:
        return ((const double *)p)[i];
    }
}

static void set(struct ae_array *array, size_t i, double value)
{
    void *p = array->data;
    switch (array->type) {
    case AE_I32:
        ((int32_t *)p)[i] = (int32_t)value;
        break;
    case AE_U32:
        ((uint32_t *)p)[i] = (uint32_t)value;
        break;
    case AE_I64:
        ((int64_t *)p)[i] = (int64_t)value;
        break;
    case AE_U64:
        ((uint64_t *)p)[i] = (uint64_t)value;
        break;
    case AE_F32:
        ((float *)p)[i] = (float)value;
        break;
    default:
        ((double *)p)[i] = value;
    }
}

/* Rare draws: many seeds of every family, each made twice in memory filled differently. A generator that fails, makes
 * what its own validate refuses or hands out what it never wrote is found here, before it is blamed on a program. */
static void test_many_seeds(void **state)
{
    (void)state;
    enum { LEAST = 4, MOST = 400 };
    mallopt(M_MMAP_THRESHOLD, 32 << 20); /* mapped memory would be zero */
    for (int f = 0; f < ae_task_family_count(task); f++) {
        const clock_t until = clock() + CLOCKS_PER_SEC / 2; /* some families take long to make: fewer of them */
        for (uint64_t seed = 1; at_small(f) && seed <= (clock() < until ? MOST : LEAST); seed++) {
            uint64_t digest[2];
            for (int k = 0; k < 2; k++) {
                struct ae_instance inst;
                struct ae_error err = {0};
                mallopt(M_PERTURB, k ? 0x55 : 0xaa);
                if (ae_instance_make(&inst, task, AE_SMALL, f, seed, &err) != AE_OK)
                    fail_msg("family %s, seed %llu: %s", task->families[f].name, (unsigned long long)seed, err.text);
                if (task->validate(&inst, &err) != AE_OK)
                    fail_msg("family %s, seed %llu is illegal: %s", task->families[f].name, (unsigned long long)seed,
                             err.text);
                digest[k] = ae_instance_digest(&inst);
                ae_instance_release(&inst);
            }
            if (digest[0] != digest[1])
                fail_msg("family %s, seed %llu hands out memory that was never written", task->families[f].name,
                         (unsigned long long)seed);
        }
    }
    mallopt(M_PERTURB, 0);
}

static bool is_float(const struct ae_array *array)
{
    return array->type == AE_F32 || array->type == AE_F64;
}

/* --- the descriptor ------------------------------------------------------------------------------------- */

static void test_descriptor(void **state)
{
    (void)state;
    assert_non_null(task->title);
    assert_non_null(task->lineage);
    assert_true(task->version >= 1);
    assert_true(task->arg_count >= 1 && task->arg_count <= AE_ARGS_MAX);
    assert_non_null(task->generate);
    assert_non_null(task->outputs);
    assert_non_null(task->validate);
    assert_non_null(task->work);
    bool property = false, scaled = false;
    int outputs = 0;
    for (int i = 0; i < task->arg_count; i++) {
        const struct ae_arg *arg = &task->args[i];
        assert_non_null(arg->name);
        assert_non_null(arg->meaning);
        assert_int_equal(arg->role == AE_SCALAR, arg->shape == NULL);
        assert_int_equal(ae_arg_is_output(arg), arg->rule.kind != AE_RULE_NONE);
        if (arg->rule.kind != AE_RULE_NONE)
            assert_non_null(arg->rule.reason);
        property |= arg->rule.kind == AE_PROPERTY;
        scaled |= arg->rule.kind == AE_SCALED;
        outputs += ae_arg_is_output(arg);
    }
    assert_true(outputs >= 1);
    assert_true(!property || task->check != NULL);
    assert_int_equal(scaled, task->tolerance != NULL);
    assert_int_equal(task->families[0].sizes, AE_ALL_SIZES);
    assert_true(ae_task_family_count(task) >= 2);
    for (int f = 0; f < ae_task_family_count(task); f++) {
        const char *name = task->families[f].name;
        assert_non_null(task->families[f].meaning);
        if (!*name || strlen(name) > 63 || name[strcspn(name, " \t\n")]) /* golden files are read by words */
            fail_msg("the name of the family '%s' holds a blank, or is empty or too long", name);
        for (int other = 0; other < f; other++)
            assert_string_not_equal(name, task->families[other].name);
    }
    for (int s = 0; s < AE_SIZE_COUNT; s++)
        if (task->sizes[s].not_as_published)
            assert_non_null(task->sizes[s].note);
}

/* Without white space, so that 'const int * p' and 'const int* p' are the same; uint64_t by its usual name. */
static void normalise(char *to, const char *from, size_t size)
{
    char text[8192];
    size_t n = 0;
    for (const char *p = from; *p && n + 32 < sizeof text; p++) {
        if (strncmp(p, "uint64_t", 8) == 0) {
            memcpy(text + n, "unsigned long long", 18);
            n += 18;
            p += 7;
        } else {
            text[n++] = *p;
        }
    }
    text[n] = 0;
    n = 0;
    for (const char *p = text; *p && n + 1 < size; p++)
        if (!isspace((unsigned char)*p))
            to[n++] = *p;
    to[n] = 0;
}

static void check_prototype(const char *file, bool required)
{
    char path[4096], want[8192], have[8192];
    struct ae_bytes source = {0};
    struct ae_error err;
    snprintf(path, sizeof path, "%s/tasks/%s/%s", AE_SOURCE_DIR, task->id, file);
    if (!required && !ae_file_exists(path))
        return;
    if (ae_file_read(path, 1 << 20, &source, &err) != AE_OK)
        fail_msg("%s", err.text);
    char *prototype = ae_task_prototype(task);
    normalise(want, prototype, sizeof want);
    const char *start = strstr((const char *)source.data, "void solution_compute");
    if (!start) /* a long line may be broken there */
        start = strstr((const char *)source.data, "void\nsolution_compute");
    assert_non_null(start);
    const char *end = strchr(start, ')');
    assert_non_null(end);
    char *text = strndup(start, (size_t)(end - start) + 1);
    normalise(have, text, sizeof have);
    if (strcmp(want, have) != 0)
        fail_msg("%s declares\n  %s\nand the descriptor\n  %s", file, have, want);
    free(text);
    free(prototype);
    ae_bytes_release(&source);
}

static void test_prototype(void **state)
{
    (void)state;
    check_prototype("reference.c", true);
    check_prototype("parallel.c", false);
    check_prototype("naive.cu", false);
    check_prototype("tuned.cu", false);
}

static void test_texts(void **state)
{
    (void)state;
    static const struct {
        const char *file, *must_hold;
    } texts[] = {{"statement.md", "solution_compute"}, {"hints.md", "## L2"}, {"hints.md", "## L1"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char path[4096];
        struct ae_bytes text = {0};
        struct ae_error err;
        snprintf(path, sizeof path, "%s/tasks/%s/%s", AE_SOURCE_DIR, task->id, texts[i].file);
        if (ae_file_read(path, 1 << 20, &text, &err) != AE_OK)
            fail_msg("%s", err.text);
        if (!strstr((const char *)text.data, texts[i].must_hold))
            fail_msg("%s does not hold '%s'", texts[i].file, texts[i].must_hold);
        ae_bytes_release(&text);
    }
    /* Every argument is explained to somebody who sees the statement alone. */
    char path[4096];
    struct ae_bytes text = {0};
    struct ae_error err;
    snprintf(path, sizeof path, "%s/tasks/%s/statement.md", AE_SOURCE_DIR, task->id);
    assert_int_equal(ae_file_read(path, 1 << 20, &text, &err), AE_OK);
    for (int i = 0; i < task->arg_count; i++)
        if (!strstr((const char *)text.data, task->args[i].name))
            fail_msg("statement.md never names argument %s", task->args[i].name);
    ae_bytes_release(&text);
}

/* --- the generator -------------------------------------------------------------------------------------- */

static uint64_t golden(const char *family, uint64_t seed, bool *ret_found)
{
    char path[4096];
    struct ae_bytes text = {0};
    *ret_found = false;
    uint64_t digest = 0;
    snprintf(path, sizeof path, "%s/tests/task/golden/%s.txt", AE_SOURCE_DIR, task->id);
    if (ae_file_read(path, 1 << 20, &text, NULL) != AE_OK)
        return 0;
    char *rest = NULL;
    for (char *line = strtok_r((char *)text.data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char name[64];
        unsigned long long s, d;
        if (sscanf(line, "%63s %llu %llx", name, &s, &d) == 3 && strcmp(name, family) == 0 && s == seed) {
            *ret_found = true;
            digest = d;
        }
    }
    ae_bytes_release(&text);
    return digest;
}

static void test_generator(void **state)
{
    (void)state;
    FOR_EACH_CELL (c, f) {
        struct ae_instance again;
        struct ae_error err = {0};
        assert_int_equal(ae_instance_make(&again, task, AE_SMALL, f, c->inst.seed, &err), AE_OK);
        const uint64_t digest = ae_instance_digest(&c->inst);
        assert_int_equal(digest, ae_instance_digest(&again));
        bool found;
        const uint64_t want = golden(task->families[f].name, c->inst.seed, &found);
        if (!found || want != digest)
            fail_msg("%s seed %llu: digest %016llx, golden file %s; refresh it with task_test %s --golden "
                     "if the change is meant, and raise the task's version",
                     task->families[f].name, (unsigned long long)c->inst.seed, (unsigned long long)digest,
                     found ? "differs" : "has none", task->id);
        if (task->validate(&again, &err) != AE_OK)
            fail_msg("family %s makes an illegal instance: %s", task->families[f].name, err.text);
        size_t elements = 0; /* one output may be empty, as where no item is given; not all of them */
        for (int i = 0; i < task->arg_count; i++)
            if (ae_arg_is_output(&task->args[i])) {
                assert_true(f > 0 || c->inst.array[i].count > 0);
                elements += c->inst.array[i].count;
            }
        assert_true(elements > 0);
        ae_instance_release(&again);
    }
    for (int f = 0; f < ae_task_family_count(task); f++)
        if (at_small(f))
            assert_int_not_equal(ae_instance_digest(&cell(f, 0)->inst), ae_instance_digest(&cell(f, 1)->inst));
}

/* --- the reference and its fellow ----------------------------------------------------------------------- */

static void test_reference(void **state)
{
    (void)state;
    FOR_EACH_CELL (c, f) {
        struct ae_judgement j;
        struct ae_expected again;
        struct ae_error err;
        const uint64_t before = ae_instance_digest(&c->inst);
        assert_int_equal(ae_expected_alloc(&again, &c->inst, &err), AE_OK);
        for (int i = 0; i < task->arg_count; i++) /* stale or unwritten output must not look right */
            if (task->args[i].role == AE_OUT)
                memset(again.out[i].data, 0xa5, bytes_of(&again.out[i]));
        assert_int_equal(ae_instance_call(&c->inst, &again, entry->reference, &err), AE_OK);
        assert_int_equal(before, ae_instance_digest(&c->inst)); /* inputs untouched */
        if (!same_answer(&again, &c->right))
            fail_msg("family %s: a second call gives other bits", task->families[f].name);
        if (!judge(c, &again, &j))
            fail_msg("family %s: the reference fails: %s", task->families[f].name, j.text);
        for (int i = 0; i < task->arg_count; i++)
            for (size_t k = 0; k < c->right.out[i].count; k++)
                if (!isfinite(get(&c->right.out[i], k)))
                    fail_msg("family %s: expected %s[%zu] is not finite", task->families[f].name, task->args[i].name,
                             k);
        ae_expected_release(&again);
    }
}

static void check_parallel(const struct cell *c, int family, int threads)
{
    struct ae_judgement j;
    struct ae_expected answer;
    struct ae_error err;
    assert_int_equal(ae_expected_alloc(&answer, &c->inst, &err), AE_OK);
    for (int i = 0; i < task->arg_count; i++)
        if (task->args[i].role == AE_OUT)
            memset(answer.out[i].data, 0xa5, bytes_of(&answer.out[i]));
    omp_set_num_threads(threads);
    assert_int_equal(ae_instance_call(&c->inst, &answer, entry->parallel, &err), AE_OK);
    if (!judge(c, &answer, &j))
        fail_msg("family %s, seed %llu, %d threads: %s", task->families[family].name,
                 (unsigned long long)c->inst.seed, threads, j.text);
    ae_expected_release(&answer);
}

static void test_parallel(void **state)
{
    (void)state;
    if (!entry->parallel) {
        print_message("no parallel.c yet\n");
        skip();
    }
    FOR_EACH_CELL (c, f)
        for (int threads = 1; threads <= 3; threads += 2)
            check_parallel(c, f, threads);
}

/* Instances on which rounding decides (a cell on the edge of a region, say) are rare, and unfair to any program that
 * rounds in other places than the reference does. SEED_SECONDS: of processor time for a family, to look for more. */
static void test_parallel_on_many_seeds(void **state)
{
    (void)state;
    const char *given = getenv("SEED_SECONDS");
    const double seconds = given ? strtod(given, NULL) : 0.5;
    for (int f = 0; entry->parallel && f < ae_task_family_count(task); f++) {
        const clock_t until = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
        for (uint64_t seed = 1000; at_small(f) && clock() < until; seed++) {
            struct cell c = {0};
            make_cell(&c, f, seed);
            check_parallel(&c, f, 1);
            ae_instance_release(&c.inst);
            ae_expected_release(&c.right);
        }
    }
}

/* --- what must be rejected ------------------------------------------------------------------------------ */

typedef void mutation(const struct cell *c, struct ae_expected *answer, double argument);

static void constant(const struct cell *c, struct ae_expected *answer, double value)
{
    (void)c;
    for (int i = 0; i < task->arg_count; i++)
        for (size_t k = 0; k < answer->out[i].count; k++)
            if (!isnan(value) || is_float(&answer->out[i]))
                set(&answer->out[i], k, value);
            else
                set(&answer->out[i], k, -1);
}

static void mean_of_right(const struct cell *c, struct ae_expected *answer, double unused)
{
    (void)c;
    (void)unused;
    for (int i = 0; i < task->arg_count; i++) {
        struct ae_array *out = &answer->out[i];
        double sum = 0;
        for (size_t k = 0; k < out->count; k++)
            sum += get(out, k);
        for (size_t k = 0; k < out->count; k++)
            set(out, k, sum / (double)out->count);
    }
}

static void copy_of_input(const struct cell *c, struct ae_expected *answer, double unused)
{
    (void)unused;
    for (int i = 0; i < task->arg_count; i++) {
        struct ae_array *out = &answer->out[i];
        for (int in = 0; out->data && in < task->arg_count; in++) {
            const struct ae_array *from = &c->inst.array[in];
            if (task->args[in].role == AE_IN || task->args[in].role == AE_INOUT)
                for (size_t k = 0; from->count && k < out->count; k++)
                    set(out, k, get(from, k % from->count));
        }
    }
}

/* The answer to the same family's other seed, cut or repeated to length. */
static void answer_of_other(const struct cell *c, struct ae_expected *answer, double unused)
{
    (void)unused;
    const struct cell *other = cell(c->inst.family, c->inst.seed == seeds[0] ? 1 : 0);
    for (int i = 0; i < task->arg_count; i++)
        for (size_t k = 0; k < answer->out[i].count; k++)
            set(&answer->out[i], k, get(&other->right.out[i], k % other->right.out[i].count));
}

/* The last 1/16 of every output (at least one element) never written. */
static void tail_missing(const struct cell *c, struct ae_expected *answer, double unused)
{
    (void)c;
    (void)unused;
    for (int i = 0; i < task->arg_count; i++) {
        struct ae_array *out = &answer->out[i];
        const size_t missing = out->count ? (out->count + 15) / 16 : 0;
        if (missing)
            memset((char *)out->data + (out->count - missing) * ae_type_size(out->type), 0xa5,
                   missing * ae_type_size(out->type));
    }
}

static void all_poison(const struct cell *c, struct ae_expected *answer, double unused)
{
    (void)c;
    (void)unused;
    for (int i = 0; i < task->arg_count; i++)
        if (answer->out[i].data)
            memset(answer->out[i].data, 0x5a, bytes_of(&answer->out[i]));
}

static const struct {
    const char *name;
    mutation *mutate;
    double argument;
} battery[] = {
    {"zeros", constant, 0},
    {"ones", constant, 1},
    {"NaN", constant, NAN},
    {"infinities", constant, INFINITY},
    {"the mean of the right answer", mean_of_right, 0},
    {"a copy of an input", copy_of_input, 0},
    {"another instance's answer", answer_of_other, 0},
    {"a tail never written", tail_missing, 0},
    {"nothing written", all_poison, 0},
};

static void test_null_solvers(void **state)
{
    (void)state;
    for (size_t b = 0; b < sizeof battery / sizeof *battery; b++) {
        int tried = 0, caught = 0;
        for (size_t s = 0; s < SEEDS; s++) { /* the timed family alone must do it, on every seed */
            const struct cell *c = cell(0, s);
            struct ae_expected answer;
            struct ae_judgement j;
            copy_answer(&answer, c);
            battery[b].mutate(c, &answer, battery[b].argument);
            if (!same_answer(&answer, &c->right)) {
                tried++;
                caught += !judge(c, &answer, &j);
            }
            ae_expected_release(&answer);
        }
        if (caught != tried)
            fail_msg("'%s' passes %d of %d instances of the timed family", battery[b].name, tried - caught, tried);
        if (tried == 0)
            print_message("'%s' is the right answer here: not tried\n", battery[b].name);
    }
}

/* The allowed difference of one element, as the judge computes it. */
static double tolerance_of(const struct cell *c, int arg, size_t k)
{
    const struct ae_rule *rule = &task->args[arg].rule;
    const double e = fabs(get(&c->right.out[arg], k));
    double tol = rule->atol;
    if (rule->kind == AE_EXACT)
        return 0;
    if (rule->kind == AE_SCALED)
        task->tolerance(&c->inst, &c->right, arg, k, 1, &tol);
    return tol + rule->rtol * e;
}

static bool passes_with(const struct cell *c, int arg, size_t k, double value)
{
    struct ae_expected answer;
    struct ae_judgement j;
    copy_answer(&answer, c);
    set(&answer.out[arg], k, value);
    const bool right = judge(c, &answer, &j);
    ae_expected_release(&answer);
    return right;
}

/* One element off by 0.99 tolerances passes, by 1.01 and by 2 fails; in exact outputs any change fails. */
static void test_tolerance_edges(void **state)
{
    (void)state;
    int edges = 0;
    FOR_EACH_CELL (c, f) {
        for (int i = 0; i < task->arg_count; i++) {
            const struct ae_array *out = &c->right.out[i];
            const enum ae_rule_kind kind = task->args[i].rule.kind;
            if (!out->data || kind == AE_PROPERTY)
                continue;
            for (int probe = 0; probe < 5 && out->count; probe++) {
                const size_t k = out->count == 1 ? 0 : (out->count - 1) * (size_t)probe / 4;
                const double e = get(out, k), tol = tolerance_of(c, i, k);
                if (is_float(out) && tol == 0) { /* the next number, also where that is less than e + 1 away */
                    const double next = out->type == AE_F32 ? (double)nextafterf((float)e, INFINITY)
                                                            : nextafter(e, INFINITY);
                    assert_false(passes_with(c, i, k, next));
                    continue;
                }
                if (!is_float(out)) {
                    assert_false(passes_with(c, i, k, e == INT32_MAX ? e - 1 : e + fmax(1, ceil(2 * tol))));
                    continue;
                }
                assert_false(passes_with(c, i, k, e + 2 * tol));
                assert_false(passes_with(c, i, k, e - 2 * tol));
                /* Where the tolerance is a few units in the last place, 1 % of it cannot be represented. */
                const double unit = out->type == AE_F32
                                        ? (double)(nextafterf((float)fabs(e), INFINITY) - (float)fabs(e))
                                        : nextafter(fabs(e), INFINITY) - fabs(e);
                if (tol < 200 * unit)
                    continue;
                edges++;
                assert_true(passes_with(c, i, k, e + 0.99 * tol));
                assert_false(passes_with(c, i, k, e + 1.01 * tol));
                assert_true(passes_with(c, i, k, e - 0.99 * tol));
                assert_false(passes_with(c, i, k, e - 1.01 * tol));
            }
        }
    }
    print_message("%d edges at 0.99 and 1.01 tolerances\n", edges);
}

/* Two values more than ten tolerances apart, swapped. */
static void test_swapped_values(void **state)
{
    (void)state;
    int swaps = 0;
    FOR_EACH_CELL (c, f) {
        for (int i = 0; i < task->arg_count; i++) {
            const struct ae_array *out = &c->right.out[i];
            if (!out->data || task->args[i].rule.kind == AE_PROPERTY)
                continue;
            for (size_t k = 1; k < out->count; k++) {
                const double a = get(out, 0), b = get(out, k);
                if (!(fabs(a - b) > 10 * fmax(tolerance_of(c, i, 0), tolerance_of(c, i, k))))
                    continue;
                struct ae_expected answer;
                struct ae_judgement j;
                copy_answer(&answer, c);
                set(&answer.out[i], 0, b);
                set(&answer.out[i], k, a);
                assert_false(judge(c, &answer, &j));
                ae_expected_release(&answer);
                swaps++;
                break;
            }
        }
    }
    print_message("%d swaps\n", swaps);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* An absolute tolerance must not swallow the answer: at most 1e-3 of the median magnitude, or the card says why. */
static void test_absolute_tolerance(void **state)
{
    (void)state;
    for (int i = 0; i < task->arg_count; i++) {
        const struct ae_rule *rule = &task->args[i].rule;
        if ((rule->kind != AE_CLOSE && rule->kind != AE_SCALED) || rule->atol == 0 || rule->atol_reason)
            continue;
        const struct ae_array *out = &cell(0, 0)->right.out[i];
        double *sizes = malloc(out->count * sizeof *sizes);
        assert_non_null(sizes);
        for (size_t k = 0; k < out->count; k++)
            sizes[k] = fabs(get(out, k));
        qsort(sizes, out->count, sizeof *sizes, by_value);
        const double median = sizes[out->count / 2];
        free(sizes);
        if (rule->atol > 1e-3 * median)
            fail_msg("%s: atol %g exceeds 1e-3 of the median magnitude %g, and atol_reason is empty",
                     task->args[i].name, rule->atol, median);
    }
}

static void test_traps(void **state)
{
    (void)state;
    assert_non_null(entry->traps[0].name);
    for (const struct ae_trap *trap = entry->traps; trap->name; trap++) {
        int tried = 0, caught = 0;
        FOR_EACH_CELL (c, f) {
            if (trap->caught_by && strcmp(trap->caught_by, task->families[f].name) != 0)
                continue;
            struct ae_expected answer;
            struct ae_judgement j;
            copy_answer(&answer, c);
            if (trap->solve(&c->inst, &c->right, &answer)) {
                tried++;
                caught += !judge(c, &answer, &j);
            }
            ae_expected_release(&answer);
        }
        print_message("trap '%s': caught on %d of %d instances\n", trap->name, caught, tried);
        if (trap->caught_by ? caught < tried || tried == 0 : caught == 0)
            fail_msg("the trap '%s' is not caught", trap->name);
    }
}

static void test_work_model(void **state)
{
    (void)state;
    struct ae_work work;
    ae_instance_work(&cell(0, 0)->inst, &work);
    assert_true(work.bytes_in >= 0 && work.bytes_out > 0 && work.operations > 0 && work.steps >= 1);
}

/* --- published vectors ---------------------------------------------------------------------------------- */

static int try_vector(const char *folder)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/input.bin", folder);
    if (!ae_file_exists(path))
        return 0;
    struct ae_instance inst;
    struct ae_expected expected, answer = {0};
    struct ae_error err = {0};
    if (ae_published_load(folder, task, &inst, &expected, &err) != AE_OK)
        fail_msg("%s: %s", folder, err.text);
    assert_int_equal(ae_expected_alloc(&answer, &inst, &err), AE_OK);
    assert_int_equal(ae_instance_call(&inst, &answer, entry->reference, &err), AE_OK);
    size_t wrong = 0, count = 0;
    double share = 0;
    if (task->published_by_check) {
        const void *got[AE_ARGS_MAX] = {0};
        struct ae_judgement j;
        for (int i = 0; i < task->arg_count; i++)
            got[i] = answer.out[i].data;
        assert_int_equal(ae_judge(&inst, &expected, got, &j, &err), AE_OK);
        if (!j.right)
            fail_msg("%s: %s", folder, j.text);
        for (int k = 0; k < j.output_count; k++) {
            count += j.output[k].count;
            share = fmax(share, j.output[k].max_share);
        }
    }
    for (int i = 0; i < task->arg_count; i++) {
        if (!ae_arg_is_output(&task->args[i]) || task->published_by_check)
            continue;
        struct ae_output_judgement j;
        ae_compare(&expected.out[i], answer.out[i].data, task->published_atol, task->published_rtol, &j);
        wrong += j.wrong;
        count += j.count;
        share = fmax(share, j.max_share);
    }
    print_message("%s: %zu of %zu beyond the published tolerance (largest error %.3g of it)\n", folder, wrong, count,
                  share);
    if (task->published_differs)
        assert_true(wrong > 0); /* else the note in the descriptor is out of date */
    else if (wrong)
        fail_msg("%s: %zu of %zu values miss the published tolerance", folder, wrong, count);
    ae_expected_release(&answer);
    ae_expected_release(&expected);
    ae_instance_release(&inst);
    return 1;
}

static void test_published_vectors(void **state)
{
    (void)state;
    const char *root = getenv("ACCELEVAL_CONFORMANCE");
    char folder[2048];
    snprintf(folder, sizeof folder, "%s/%s", root ? root : AE_SOURCE_DIR "/../shared/conformance", task->id);
    DIR *dir = opendir(folder);
    if (!dir) {
        print_message("no published vectors at %s: set ACCELEVAL_CONFORMANCE\n", folder);
        skip();
    }
    if (task->published_differs)
        assert_non_null(task->published_note);
    int vectors = try_vector(folder);
    for (struct dirent *d; (d = readdir(dir));) {
        if (d->d_name[0] == '.')
            continue;
        char sub[4096];
        snprintf(sub, sizeof sub, "%s/%s", folder, d->d_name);
        vectors += try_vector(sub);
    }
    closedir(dir);
    assert_true(vectors > 0);
}

static int print_golden(void)
{
    FOR_EACH_CELL (c, f)
        printf("%s %llu %016llx\n", task->families[f].name, (unsigned long long)c->inst.seed,
               (unsigned long long)ae_instance_digest(&c->inst));
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: task_test TASK [--golden]\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (strcmp(entries[i].id, argv[1]) == 0) {
            entry = &entries[i];
            task = ae_tasks[i];
        }
    if (!entry) {
        fprintf(stderr, "task_test: there is no task '%s' in tasks/tasks.def\n", argv[1]);
        return 2;
    }
    if (argc > 2 && strcmp(argv[2], "--golden") == 0)
        return print_golden();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_descriptor),         cmocka_unit_test(test_prototype),
        cmocka_unit_test(test_texts),              cmocka_unit_test(test_generator),
        cmocka_unit_test(test_reference),          cmocka_unit_test(test_parallel),
        cmocka_unit_test(test_null_solvers),       cmocka_unit_test(test_tolerance_edges),
        cmocka_unit_test(test_swapped_values),     cmocka_unit_test(test_absolute_tolerance),
        cmocka_unit_test(test_traps),              cmocka_unit_test(test_work_model),
        cmocka_unit_test(test_published_vectors),  cmocka_unit_test(test_many_seeds),
        cmocka_unit_test(test_parallel_on_many_seeds),
    };
    const int failed = cmocka_run_group_tests_name(task->id, tests, NULL, NULL);
    for (int f = 0; f < AE_FAMILIES_MAX; f++)
        for (size_t s = 0; s < SEEDS; s++) {
            ae_instance_release(&cells[f][s].inst);
            ae_expected_release(&cells[f][s].right);
        }
    return failed;
}
