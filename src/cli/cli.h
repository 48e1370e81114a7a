/* What subcommands share. Only this folder prints and exits. */
#ifndef AE_CLI_CLI_H
#define AE_CLI_CLI_H

#include "base/error.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "judge/verdict.h"
#include "run/context.h"
#include "store/store.h"

/* Exit statuses: one meaning each for all subcommands, told to users by ae_manual_roff() and docs/guide.md. */
enum ae_exit {
    AE_EXIT_OK = 0,     /* done; whatever was judged passed */
    AE_EXIT_FAILED = 1, /* something was judged and did not pass, or the user broke off */
    AE_EXIT_USAGE = 2,  /* the command line makes no sense, or names a file, task, entrant... that is not there */
    /* Not possible here: no device, no toolkit, no results yet, no room, a sandbox that was required, a model that does
     * not answer. Also where programs could not be judged (not_run, host_error) and no other failed. */
    AE_EXIT_ENVIRONMENT = 3,
    AE_EXIT_INTERNAL = 4, /* a fault of the program */
};

#define AE_VERSION "0.1.0"

/* Prints "acceleval: SENTENCE" to standard error and returns the exit status that belongs to the code. */
int ae_cli_fail(const struct ae_error *err);

/* The exit status of a command that ended with `status` so far and has judged one more program. */
int ae_cli_status(int status, enum ae_verdict verdict);

/* Of the trials that count, ae_trial_counts(); NaN where there is none. */
struct ae_speedup;
void ae_cli_speedup(const struct ae_measurement *measurement, struct ae_speedup *ret);

/* Opens the results to read. That there are none yet is the machine's state and no fault of the command line:
 * AE_E_ENV. */
int ae_cli_results(struct ae_store **ret, struct ae_error *err);

/* Parses the subcommand's own options into values. Returns -1 to go on, else the exit status (help was printed, or
 * the usage was wrong). */
int ae_cli_parse(const struct ae_command *self, int argc, char **argv, void *values, struct ae_list *ret_rest);
int ae_cli_parse_given(const struct ae_command *self, int argc, char **argv, void *values, struct ae_list *ret_rest,
                       uint64_t *ret_given); /* of ae_options_parse_given() */

/* An option that was given and changes nothing here is not passed over in silence. Where the user asked for what cannot
 * be had, the command fails; where only nothing comes of it, a line on standard error says so. */
void ae_cli_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A context that reports progress on standard error; progress is cleared before anything is printed. A cache that takes
 * nothing costs time and no result: a line on standard error says so, but for _quiet. */
int ae_cli_context(struct ae_context *ret, struct ae_progress *progress, struct ae_error *err);
int ae_cli_context_quiet(struct ae_context *ret, struct ae_progress *progress, struct ae_error *err);

/* Puts this machine into the store and begins a run; *ret_run is its number. */
int ae_cli_begin_run(struct ae_context *context, struct ae_store *store, int argc, char **argv,
                     const char *options_json, int64_t *ret_run, struct ae_error *err);

/* JSON text on standard output, with a final newline. 0 or AE_EXIT_INTERNAL. */
struct json_t;
int ae_cli_print_json(struct json_t *json);

/* Printable copy of hostile text for a terminal: harmful characters are escaped, all but line ends and tabs. The caller
 * frees it. */
char *ae_cli_printable(const char *text);

/* The same for what belongs on one line, as names do: line ends and tabs are escaped too. */
char *ae_cli_printable_line(const char *text);

/* One row of the table in main.c each. */
#define AE_SUBCOMMAND(name) int ae_cmd_##name(const struct ae_command *self, int argc, char **argv)
AE_SUBCOMMAND(list);
AE_SUBCOMMAND(show);
AE_SUBCOMMAND(check);
AE_SUBCOMMAND(prompt);
AE_SUBCOMMAND(profile);
AE_SUBCOMMAND(doctor);
AE_SUBCOMMAND(prepare);
AE_SUBCOMMAND(eval);
AE_SUBCOMMAND(report);
AE_SUBCOMMAND(compare);
AE_SUBCOMMAND(history);
AE_SUBCOMMAND(repro);
AE_SUBCOMMAND(export);
AE_SUBCOMMAND(import);
AE_SUBCOMMAND(bank);
AE_SUBCOMMAND(cache);
AE_SUBCOMMAND(new_task);
AE_SUBCOMMAND(completion);
AE_SUBCOMMAND(generate);
AE_SUBCOMMAND(run);
AE_SUBCOMMAND(refine);
AE_SUBCOMMAND(strategies);
AE_SUBCOMMAND(transfer);
AE_SUBCOMMAND(answers);
AE_SUBCOMMAND(manual);

extern const struct ae_option ae_answers_options[];
extern const struct ae_option ae_bank_options[];
extern const struct ae_option ae_cache_options[];
extern const struct ae_option ae_check_options[];
extern const struct ae_option ae_compare_options[];
extern const struct ae_option ae_doctor_options[];
extern const struct ae_option ae_eval_options[];
extern const struct ae_option ae_export_options[];
extern const struct ae_option ae_generate_options[];
extern const struct ae_option ae_history_options[];
extern const struct ae_option ae_import_options[];
extern const struct ae_option ae_list_options[];
extern const struct ae_option ae_new_task_options[];
extern const struct ae_option ae_prepare_options[];
extern const struct ae_option ae_prompt_options[];
extern const struct ae_option ae_refine_options[];
extern const struct ae_option ae_repro_options[];
extern const struct ae_option ae_run_options[];
extern const struct ae_option ae_show_options[];
extern const struct ae_option ae_strategies_options[];
extern const struct ae_option ae_transfer_options[];
extern const struct ae_option ae_profile_options_table[];
extern const struct ae_option ae_report_options_table[];
extern const struct ae_command ae_commands[];

#endif
