/* Option tables: parsing, help and completion derive from one declaration. GNU style: --name=value, --name value,
 * -lvalue, -l value, bundled flags (-qv), unique prefixes of long names, options and arguments in any order, "--"
 * ends the options. A flag takes --no-NAME as well. */
#ifndef AE_CLI_OPTIONS_H
#define AE_CLI_OPTIONS_H

#include "base/error.h"
#include "task/task.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct ae_list { /* of strings */
    char **items;
    size_t count;
};

void ae_list_release(struct ae_list *list);
int ae_list_add(struct ae_list *list, const char *text, size_t length); /* a copy; AE_E_NOMEM */

struct ae_task_list {
    const struct ae_task **items;
    size_t count;
};

/* Kind of argument, and the type of the field of the values that receives it. */
enum ae_option_kind {
    AE_OPTION_FLAG,    /* bool */
    AE_OPTION_STRING,  /* const char *: argv's, the environment's or the table's own text, not copied */
    AE_OPTION_INTEGER, /* int64_t within lo..hi */
    AE_OPTION_CHOICE,  /* int: index into choices; unique prefixes allowed */
    AE_OPTION_SIZE,    /* unsigned: mask of AE_AT(); "small,large", "all", repeatable; 0: not given */
    AE_OPTION_TASK,    /* struct ae_task_list: "a,b", unique prefixes, repeatable; empty: not given */
    AE_OPTION_LIST,    /* struct ae_list: "a,b", repeatable; empty: not given */
};

struct ae_option {
    const char *name; /* long name without dashes; the table ends with a row whose name is NULL */
    char letter;      /* 0: none */
    enum ae_option_kind kind;
    bool one;             /* SIZE, TASK, LIST: more than one item is an error */
    const char *argument; /* what the help calls the argument: "FILE"; NULL: by kind */
    const char *help;
    const char *verbs; /* of a command with verbs, those that heed it, "find,diff"; NULL: all. Help says so. */
    const char *fallback;       /* the default, as on a command line; NULL: false, NULL, 0, first choice, empty */
    const char *env;            /* variable that replaces the default; NULL: none */
    int64_t lo, hi;             /* INTEGER; both 0: any */
    const char *const *choices; /* CHOICE: NULL-terminated */
    size_t offset;              /* of the field in the struct of values: offsetof(struct eval_options, jobs) */
};

/* What an argument that is no option is; for completion. */
enum ae_operand {
    AE_OPERAND_NONE,
    AE_OPERAND_PATH,
    AE_OPERAND_TASK,
    AE_OPERAND_WORD, /* not completed */
};

/* A subcommand: one row of a table, which ends with a row whose name is NULL. */
struct ae_command {
    const char *name;
    const char *summary;             /* one line for the overview */
    const char *usage;               /* "[OPTION...] PATH..." */
    const char *details;             /* more paragraphs for --help; NULL: none */
    const struct ae_option *options; /* NULL: none but --help */
    enum ae_operand operand;
    int (*run)(const struct ae_command *self, int argc,
               char **argv); /* argv[0] is the name; returns the exit status */
};

#define AE_OPTIONS_HELP 1 /* --help or -h was met: print ae_command_help() and end with 0 */

/* Fills values (by offset; every field of the table is set first from default and environment) and ret_rest (copies
 * of the other arguments in order, for ae_list_release(); may be NULL where none is allowed). AE_OK,
 * AE_OPTIONS_HELP, or AE_E_USAGE with a sentence that suggests the nearest name. Release values with
 * ae_options_release() and ret_rest, also after a failure. */
int ae_options_parse(const struct ae_command *command, int argc, char **argv, void *values,
                     struct ae_list *ret_rest, struct ae_error *err);
/* The same; *ret_given (may be NULL) receives which options the command line itself gave, for ae_option_given(). */
int ae_options_parse_given(const struct ae_command *command, int argc, char **argv, void *values,
                           struct ae_list *ret_rest, uint64_t *ret_given, struct ae_error *err);
/* Whether the command line gave the option of that name, which the table must have. */
bool ae_option_given(const struct ae_option *options, uint64_t given, const char *name);
/* That every option that was given is one of this verb; else AE_E_USAGE. */
int ae_options_check_verb(const struct ae_command *command, uint64_t given, const char *verb, struct ae_error *err);
void ae_options_release(const struct ae_option *options, void *values);

/* The effective options as a JSON object, for runs and reports; the caller frees it. NULL: no memory. */
char *ae_options_json(const struct ae_option *options, const void *values);

/* By exact name, else unique prefix; NULL with err naming the nearest. */
const struct ae_command *ae_command_find(const struct ae_command *commands, const char *name, struct ae_error *err);

/* Help text, wrapped to width (clamped to 60..100; 0: 80). */
void ae_command_help(const struct ae_command *command, const char *program, int width, FILE *out);
/* The table of subcommands: name and summary. */
void ae_commands_help(const struct ae_command *commands, int width, FILE *out);
/* A completion script for bash: `source <(acceleval completion)`. */
void ae_completion_bash(const struct ae_command *commands, const char *program, FILE *out);
/* A manual page in roff, section 1. */
void ae_manual_roff(const struct ae_command *commands, const char *program, const char *version, FILE *out);

/* What help and manual say of one option: its argument ("FILE", "a|b"), and its help with range, default, variable. */
#define AE_OPTION_TEXT 1024
void ae_option_argument(const struct ae_option *option, char *text, size_t size);
void ae_option_explain(const struct ae_option *option, char *text, size_t size);

#endif
