/* What a task costs the ruler: generating an instance, the reference, the parallel program on one thread and on all,
 * judging. Claim: generating and judging take at most 1 s or 10 % of the reference, whichever is larger.
 *     task_times [TASK|all] [small|medium|large]      one JSON object a line; times in ms, best of several */
#include "judge/judge.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define AE_TASK(id)                                                                                          \
    void ae_reference_##id(void);                                                                            \
    __attribute__((weak)) void ae_parallel_##id(void);
#include "tasks.def"
#undef AE_TASK

static const struct {
    void (*reference)(void), (*parallel)(void);
} programs[] = {
#define AE_TASK(id) {ae_reference_##id, ae_parallel_##id},
#include "tasks.def"
#undef AE_TASK
};

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Elapsed time, and the part of it that the processor spent in our code: another program on the machine, and page
 * faults of fresh memory, lengthen the first only. */
struct span {
    double ms, user_ms;
};

static double user_ms(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec * 1e3 + (double)usage.ru_utime.tv_usec * 1e-3;
}

static struct span begin(void)
{
    return (struct span){now_ms(), user_ms()};
}

static struct span since(struct span start)
{
    return (struct span){now_ms() - start.ms, user_ms() - start.user_ms};
}

/* Best of up to 5 calls, fewer where one takes long. */
static struct span time_calls(const struct ae_instance *inst, struct ae_expected *out, void (*function)(void))
{
    struct span best = {1e300, 1e300};
    double spent = 0;
    for (int i = 0; i < 5 && (i == 0 || spent < 2000); i++) {
        for (int a = 0; a < inst->task->arg_count; a++)
            if (inst->task->args[a].role == AE_INOUT)
                memcpy(out->out[a].data, inst->array[a].data,
                       inst->array[a].count * ae_type_size(inst->array[a].type));
        const struct span start = begin();
        ae_instance_call(inst, out, function, NULL);
        const struct span took = since(start);
        spent += took.ms;
        best.ms = took.ms < best.ms ? took.ms : best.ms;
        best.user_ms = took.user_ms < best.user_ms ? took.user_ms : best.user_ms;
    }
    return best;
}

static int measure(int index, enum ae_size size)
{
    const struct ae_task *task = ae_tasks[index];
    struct ae_instance inst;
    struct ae_expected expected, answer;
    struct ae_judgement judgement;
    struct ae_error err = {0};
    struct span start = begin();
    if (ae_instance_make(&inst, task, size, 0, 7, &err) != AE_OK ||
        ae_expected_alloc(&expected, &inst, &err) != AE_OK || ae_expected_alloc(&answer, &inst, &err) != AE_OK) {
        fprintf(stderr, "%s: %s\n", task->id, err.text);
        return 1;
    }
    const struct span generate = since(start);
    const struct span reference = time_calls(&inst, &expected, programs[index].reference);
    struct span aux = {0}, one = {0}, all = {0};
    if (task->make_aux) {
        start = begin();
        task->make_aux(&inst, &expected, &err);
        aux = since(start);
    }
    const void *got[AE_ARGS_MAX] = {0};
    for (int a = 0; a < task->arg_count; a++)
        got[a] = expected.out[a].data;
    start = begin();
    ae_judge(&inst, &expected, got, &judgement, &err);
    const struct span judging = since(start);
    bool right = judgement.right;
    if (programs[index].parallel) {
        const int threads = omp_get_num_procs();
        omp_set_num_threads(1);
        one = time_calls(&inst, &answer, programs[index].parallel);
        omp_set_num_threads(threads);
        all = time_calls(&inst, &answer, programs[index].parallel);
        for (int a = 0; a < task->arg_count; a++)
            got[a] = answer.out[a].data;
        ae_judge(&inst, &expected, got, &judgement, &err);
        right = right && judgement.right;
    }
    const double limit = reference.ms * 0.1 > 1000 ? reference.ms * 0.1 : 1000;
    printf("{\"task\":\"%s\",\"size\":\"%s\",\"bytes\":%zu,\"generate_ms\":%.3f,\"generate_user_ms\":%.3f,"
           "\"reference_ms\":%.3f,\"reference_user_ms\":%.3f,\"aux_ms\":%.3f,\"aux_user_ms\":%.3f,\"judge_ms\":%.3f,"
           "\"judge_user_ms\":%.3f,\"parallel_1_ms\":%.3f,\"parallel_1_user_ms\":%.3f,\"parallel_all_ms\":%.3f,"
           "\"threads\":%d,\"right\":%s,\"within_limits\":%s}\n",
           task->id, ae_size_name(size), ae_instance_bytes(&inst), generate.ms, generate.user_ms, reference.ms,
           reference.user_ms, aux.ms, aux.user_ms, judging.ms, judging.user_ms, one.ms, one.user_ms, all.ms,
           omp_get_num_procs(), right ? "true" : "false",
           generate.ms <= limit && judging.ms <= limit && aux.ms <= limit ? "true" : "false");
    fflush(stdout);
    ae_expected_release(&answer);
    ae_expected_release(&expected);
    ae_instance_release(&inst);
    return 0;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "all";
    int failed = 0;
    for (int i = 0; i < ae_task_count; i++) {
        if (strcmp(name, "all") != 0 && strcmp(name, ae_tasks[i]->id) != 0)
            continue;
        for (int size = AE_SMALL; size < AE_SIZE_COUNT; size++)
            if (argc < 3 || strcmp(argv[2], ae_size_name((enum ae_size)size)) == 0)
                failed |= measure(i, (enum ae_size)size);
    }
    return failed;
}
