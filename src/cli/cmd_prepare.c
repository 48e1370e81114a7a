/* acceleval prepare */
#include "cli/cli.h"

#include "base/clock.h"
#include "base/text.h"
#include "run/prepare.h"

#include <signal.h>
#include <stdlib.h>

struct values {
    struct ae_task_list tasks;
    unsigned sizes;
    int64_t jobs, timed;
    bool full, no_baseline, dry_run;
};

const struct ae_option ae_prepare_options[] = {
    {.name = "task", .letter = 't', .kind = AE_OPTION_TASK, .help = "only these tasks", .offset = offsetof(struct values, tasks)},
    {.name = "size", .letter = 's', .kind = AE_OPTION_SIZE, .help = "sizes", .fallback = "small",
     .offset = offsetof(struct values, sizes)},
    {.name = "jobs", .letter = 'j', .kind = AE_OPTION_INTEGER, .help = "references at a time; 0: one a core",
     .fallback = "0", .lo = 0, .hi = 64, .offset = offsetof(struct values, jobs)},
    {.name = "timed", .kind = AE_OPTION_INTEGER, .help = "for evaluations with so many timed trials; 0: the usual number",
     .fallback = "0", .lo = 0, .hi = 16, .offset = offsetof(struct values, timed)},
    {.name = "no-baseline", .kind = AE_OPTION_FLAG, .help = "answers only, as 'eval --no-baseline' needs them",
     .offset = offsetof(struct values, no_baseline)},
    {.name = "full", .kind = AE_OPTION_FLAG, .help = "the whole bank, not only what a first evaluation needs",
     .offset = offsetof(struct values, full)},
    {.name = "dry-run", .letter = 'n', .kind = AE_OPTION_FLAG, .help = "say what it will take, and stop",
     .offset = offsetof(struct values, dry_run)},
    {0},
};

static volatile int stop;

static void on_interrupt(int signal)
{
    (void)signal;
    stop = 1;
}

int ae_cmd_prepare(const struct ae_command *self, int argc, char **argv)
{
    struct values values = {0};
    struct ae_context context = {0};
    struct ae_progress progress;
    struct ae_prepare_plan plan = {0};
    struct ae_error err = {0};
    uint64_t given = 0;
    const int done = ae_cli_parse_given(self, argc, argv, &values, NULL, &given);
    if (done >= 0)
        return done;
    const struct ae_prepare_choice choice = {values.full, (int)values.timed, values.no_baseline};
    int rc = values.full && ae_option_given(ae_prepare_options, given, "timed")
                 ? ae_error_set(&err, AE_E_USAGE, "--full is for any number of timed trials: --timed cannot be given")
                 : ae_cli_context(&context, &progress, &err);
    if (rc == AE_OK)
        rc = ae_prepare_plan(&context, values.tasks.count ? values.tasks.items : ae_tasks,
                             values.tasks.count ? values.tasks.count : (size_t)ae_task_count, values.sizes, &choice,
                             &plan, &err);
    if (rc == AE_OK) {
        ae_progress_clear(&progress);
        if (plan.count == 0)
            printf("everything is cached\n");
        else
            printf("%zu %s to make, %zu of them with a baseline; by a rough guess some %.0f s of one core\n",
                   plan.answers, ae_text_plural((int64_t)plan.answers, "answer", "answers"), plan.baselines,
                   plan.seconds);
        fflush(stdout);
    }
    if (rc == AE_OK && plan.count && !values.dry_run) {
        const struct sigaction action = {.sa_handler = on_interrupt};
        sigaction(SIGINT, &action, NULL);
        const int64_t start = ae_now_ns();
        rc = ae_prepare_run(&context, &plan, (int)values.jobs, &stop, &err);
        ae_progress_clear(&progress);
        if (rc == AE_OK)
            printf("%s after %.1f s\n", stop ? "stopped; what is made is kept," : "done",
                   (double)(ae_now_ns() - start) / AE_SEC);
    }
    ae_prepare_plan_release(&plan);
    ae_context_close(&context);
    ae_options_release(ae_prepare_options, &values);
    return rc == AE_OK ? (stop ? AE_EXIT_FAILED : AE_EXIT_OK) : ae_cli_fail(&err);
}
