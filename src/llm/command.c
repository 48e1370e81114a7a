/* A program as a model: it finds the prompt on its standard input and puts the answer on its standard output, or into
 * the file that $ACCELEVAL_ANSWER names. It is the user's own program and has the user's rights and network (an agent
 * needs both); the folders that hold the secret instances are covered where the machine allows that, and of the
 * environment it gets what is listed here and in models.yaml, so no key. */
#include "llm/ask.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/utf8.h"
#include "proc/proc.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ENV_MAX 80

struct job {
    size_t question;
    struct ae_proc *proc;
    char folder[64]; /* its working folder */
    int64_t started_ns, wall_started_ns;
};

struct command {
    struct ae_carrier carrier;
    const struct ae_ask_options *options;
    struct job *jobs;
    size_t count;
};

static void job_release(struct job *job)
{
    ae_proc_free(job->proc);
    if (job->folder[0])
        (void)ae_folder_remove(job->folder, NULL);
    *job = (struct job){0};
}

/* Several messages become one text, each under a line that says whose it is. */
static int prompt_file(const struct ae_question *what, struct ae_error *err)
{
    const int fd = memfd_create("ae-prompt", MFD_CLOEXEC);
    bool fine = fd >= 0;
    for (size_t i = 0; fine && i < what->message_count; i++) {
        const struct ae_message *m = &what->messages[i];
        const char *heading = what->message_count == 1               ? ""
                              : m->role == AE_MESSAGE_USER ? "=== USER ===\n"
                                                           : "=== ASSISTANT ===\n";
        fine = ae_write_all(fd, heading, strlen(heading)) == 0 && ae_write_all(fd, m->text, strlen(m->text)) == 0 &&
               (what->message_count == 1 || ae_write_all(fd, "\n", 1) == 0);
    }
    if (!fine || lseek(fd, 0, SEEK_SET) != 0) {
        const int saved = errno;
        if (fd >= 0)
            close(fd);
        return ae_error_errno(err, AE_E_ENV, saved, "no memory for a prompt");
    }
    return fd;
}

static void pass(const char *name, char *texts[ENV_MAX], size_t *count)
{
    const char *value = getenv(name);
    if (value && *count < ENV_MAX - 1 && asprintf(&texts[*count], "%s=%s", name, value) >= 0)
        (*count)++;
}

static int start(struct ae_carrier *carrier, size_t question, const struct ae_question *what, int number,
                 struct ae_error *err)
{
    static const char *const usual[] = {"PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TERM", "TMPDIR"};
    struct command *c = (struct command *)carrier;
    const struct ae_model *model = c->options->model;
    struct job *job = &c->jobs[c->count];
    char *env[ENV_MAX] = {0};
    size_t env_count = 0;
    *job = (struct job){.question = question, .started_ns = ae_now_ns(), .wall_started_ns = ae_wall_ns()};
    snprintf(job->folder, sizeof job->folder, "/tmp/acceleval-command-XXXXXX");
    if (!mkdtemp(job->folder)) {
        job->folder[0] = 0;
        return ae_error_errno(err, AE_E_ENV, errno, "no folder in /tmp for a command to work in");
    }
    ae_autoclose int fd = prompt_file(what, err);
    ae_autofree char *shell = NULL;
    if (fd < 0) {
        job_release(job);
        return err ? err->code : AE_E_ENV;
    }
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        pass(usual[i], env, &env_count);
    for (char **name = model->pass_env; name && *name; name++)
        pass(*name, env, &env_count);
    bool fine = asprintf(&shell, "exec <&3 3<&-\n%s", model->command) >= 0;
    fine = fine && env_count + 3 < ENV_MAX && asprintf(&env[env_count], "ACCELEVAL_ANSWER=%s/answer", job->folder) >= 0;
    env_count += fine;
    fine = fine && asprintf(&env[env_count], "ACCELEVAL_QUESTION=%s", what->label ? what->label : "") >= 0;
    env_count += fine;
    fine = fine && asprintf(&env[env_count], "ACCELEVAL_ATTEMPT=%d", number) >= 0;
    env_count += fine;
    int rc = fine ? AE_OK : ae_error_set(err, AE_E_NOMEM, "no memory for a command");
    if (rc == AE_OK) {
        const bool hide = c->options->hidden && c->options->hidden[0];
        const struct ae_proc_spec spec = {
            .argv = (const char *const[]){"/bin/sh", "-c", shell, NULL},
            .env = (const char *const *)env,
            .cwd = job->folder,
            .fds = &(struct ae_proc_fd){fd, 3},
            .fd_count = 1,
            .layers = AE_PROC_NO_NEW_PRIVS | (hide ? AE_PROC_MOUNT_NS | AE_PROC_PRIVATE_TMP : 0),
            .tmpfs = hide ? c->options->hidden : NULL,
            .timeout_ns = (int64_t)(model->timeout_s * 1e9),
            .log_bytes = AE_RESPONSE_MAX + 4096,
            .log_max = AE_RESPONSE_MAX,
        };
        rc = ae_proc_start(&job->proc, &spec, err);
    }
    for (size_t i = 0; i < env_count; i++)
        free(env[i]);
    if (rc == AE_OK)
        c->count++;
    else
        job_release(job);
    return rc;
}

static void judge(const struct command *c, struct job *job, struct ae_attempt *a)
{
    struct ae_proc_result result = {0};
    struct ae_error err = {0};
    struct ae_bytes file = {0};
    char path[96];
    ae_reply_init(&a->reply);
    a->started_ns = job->wall_started_ns;
    a->wall_ns = ae_now_ns() - job->started_ns;
    a->exposed = c->options->hidden && c->options->hidden[0] && !(ae_proc_layers(job->proc) & AE_PROC_PRIVATE_TMP);
    if (ae_proc_wait(job->proc, &result, &err) != AE_OK) {
        a->outcome = AE_ATTEMPT_CUT;
        snprintf(a->detail, sizeof a->detail, "%.500s", err.text);
        return;
    }
    a->status = result.outcome == AE_PROC_EXITED ? result.code : 128 + result.signal;
    snprintf(path, sizeof path, "%s/answer", job->folder);
    const int rc = ae_file_read(path, AE_RESPONSE_MAX, &file, &err);
    const char *text = rc == AE_OK ? (const char *)file.data : result.out.text;
    const size_t size = rc == AE_OK ? file.size : result.out.size;
    a->response = malloc(size + 1);
    if (a->response) {
        memcpy(a->response, text, size);
        a->response[size] = 0;
        a->response_size = size;
    }
    if (result.outcome == AE_PROC_TIMED_OUT) {
        a->outcome = AE_ATTEMPT_TIMED_OUT;
        snprintf(a->detail, sizeof a->detail, "the command took longer than %g s", c->options->model->timeout_s);
    } else if (result.outcome == AE_PROC_LOG_LIMIT || (rc != AE_OK && rc != AE_E_NOTFOUND)) {
        a->outcome = AE_ATTEMPT_TOO_LARGE;
        snprintf(a->detail, sizeof a->detail,
                 rc != AE_OK && rc != AE_E_NOTFOUND ? "the file of the answer: %.400s"
                                                    : "the command printed more than it may%s",
                 rc != AE_OK && rc != AE_E_NOTFOUND ? err.text : "");
    } else if (a->status != 0) {
        char last[300] = "";
        if (result.err.size)
            (void)ae_utf8_printable(result.err.text, last, sizeof last, 250);
        a->outcome = AE_ATTEMPT_REJECTED;
        a->fatal = a->status == 126 || a->status == 127; /* the shell found no such program */
        snprintf(a->detail, sizeof a->detail, "the command ended with status %d%s%s", a->status, last[0] ? ": " : "",
                 last);
    } else if (!a->response) {
        a->outcome = AE_ATTEMPT_TOO_LARGE;
        snprintf(a->detail, sizeof a->detail, "no memory for the answer");
    } else {
        size_t blank = 0;
        while (blank < size && strchr(" \t\r\n", text[blank]) && text[blank])
            blank++;
        a->outcome = blank == size ? AE_ATTEMPT_EMPTY : AE_ATTEMPT_ANSWERED;
        if (a->outcome == AE_ATTEMPT_EMPTY)
            snprintf(a->detail, sizeof a->detail, "the answer is empty");
        ae_reply_add(&a->reply, text, size);
        a->reply.finish = AE_FINISH_STOP;
        a->reply.ended = true;
    }
    ae_bytes_release(&file);
    ae_proc_result_release(&result);
}

static int wait_for(struct ae_carrier *carrier, int64_t wait_ns,
                    void (*done)(void *context, size_t question, struct ae_attempt *attempt), void *context,
                    struct ae_error *err)
{
    struct command *c = (struct command *)carrier;
    struct pollfd *polls = calloc(c->count + 1, sizeof *polls);
    if (!polls)
        return ae_error_set(err, AE_E_NOMEM, "no memory to wait for commands");
    for (size_t i = 0; i < c->count; i++)
        polls[i] = (struct pollfd){.fd = ae_proc_fd(c->jobs[i].proc), .events = POLLIN};
    (void)poll(polls, c->count, ae_deadline_poll_ms(ae_deadline_in(wait_ns)));
    free(polls);
    for (size_t i = 0; i < c->count;) {
        if (!ae_proc_poll(c->jobs[i].proc, 0)) {
            i++;
            continue;
        }
        struct ae_attempt attempt = {0};
        struct job job = c->jobs[i];
        c->jobs[i] = c->jobs[--c->count];
        judge(c, &job, &attempt);
        done(context, job.question, &attempt);
        free(attempt.response);
        ae_reply_release(&attempt.reply);
        job_release(&job);
    }
    return AE_OK;
}

static void close_command(struct ae_carrier *carrier)
{
    struct command *c = (struct command *)carrier;
    for (size_t i = 0; i < c->count; i++)
        job_release(&c->jobs[i]);
    free(c->jobs);
    free(c);
}

int ae_carrier_command(const struct ae_ask_options *options, struct ae_carrier **ret, struct ae_error *err)
{
    struct command *c = calloc(1, sizeof *c);
    if (c)
        c->jobs = calloc((size_t)options->model->in_flight + 1, sizeof *c->jobs);
    if (!c || !c->jobs) {
        free(c);
        return ae_error_set(err, AE_E_NOMEM, "no memory to start commands");
    }
    c->carrier = (struct ae_carrier){start, wait_for, close_command};
    c->options = options;
    *ret = &c->carrier;
    return AE_OK;
}
