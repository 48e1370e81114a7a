#include "cli/options.h"

#include <string.h>

/* roff takes a backslash for a command, a dot or apostrophe at the start of a line too, and sets a bare hyphen as a
 * typographic one, which nobody can copy into a shell. */
static void put_text(const char *text, FILE *out)
{
    bool start = true;
    for (; *text; text++) {
        if (start && (*text == '.' || *text == '\''))
            fputs("\\&", out);
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else if (*text == '\'')
            fputs("\\(aq", out);
        else if (*text == '`')
            fputs("\\(ga", out);
        else if (*text == '^')
            fputs("\\(ha", out);
        else if (*text == '~')
            fputs("\\(ti", out);
        else
            fputc(*text, out);
        start = *text == '\n';
    }
}

static void put_option(const struct ae_option *option, FILE *out)
{
    char argument[AE_OPTION_TEXT], help[AE_OPTION_TEXT];
    ae_option_argument(option, argument, sizeof argument);
    ae_option_explain(option, help, sizeof help);
    fputs(".TP\n", out);
    if (option->letter)
        fprintf(out, "\\fB\\-%c\\fR, ", option->letter);
    fputs("\\fB\\-\\-", out);
    put_text(option->name, out);
    fputs("\\fR", out);
    if (*argument) {
        fputs("=\\fI", out);
        put_text(argument, out);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    put_text(help, out);
    fputc('\n', out);
}

static void put_command(const struct ae_command *command, const char *program, FILE *out)
{
    fprintf(out, ".SS %s\n.B %s %s\n", command->name, program, command->name);
    put_text(command->usage ? command->usage : "", out);
    fputs("\n.PP\n", out);
    put_text(command->summary, out);
    fputs(".\n", out);
    if (command->details) {
        fputs(".PP\n", out);
        put_text(command->details, out);
        fputc('\n', out);
    }
    for (const struct ae_option *o = command->options; o && o->name; o++)
        put_option(o, out);
}

void ae_manual_roff(const struct ae_command *commands, const char *program, const char *version, FILE *out)
{
    static const char *const files[][2] = {
        {"$ACCELEVAL_STORE",
         "results; else $XDG_DATA_HOME/acceleval/results.db, else ~/.local/share/acceleval/results.db"},
        {"$ACCELEVAL_BANK", "folder of the bank's secret; else $XDG_DATA_HOME/acceleval, else ~/.local/share/acceleval"},
        {"$ACCELEVAL_CACHE",
         "folder of objects, answers and baselines; else $XDG_CACHE_HOME/acceleval, else ~/.cache/acceleval"},
        {"$ACCELEVAL_MODELS", "the file that describes models; else models.yaml in the folder that the command is called in"},
        {"$ACCELEVAL_TASKS", "folder of the tasks, where it does not lie beside the program"},
        {"$ACCELEVAL_WORKER", "acceleval-worker, where it does not lie beside the program"},
        {"$NO_COLOR", "where set, nothing is printed in colour"},
    };
    static const char *const statuses[][2] = {
        {"0", "all was done, and whatever was judged passed"},
        {"1", "something was judged and did not pass, or you broke off"},
        {"2", "the command line makes no sense, or names something (a file, a task, an entrant) that is not there"},
        {"3",
         "not possible here: no device, no toolkit, no results yet, no room, a sandbox that was required, a model that "
         "does not answer; also where programs could not be judged (not_run, host_error) and no other failed"},
        {"4", "a fault of the program"},
    };
    fprintf(out,
            ".\\\" Made from the tables of options; do not edit.\n.TH ACCELEVAL 1 \"\" \"AccelEval %s\" \"User "
            "Commands\"\n",
            version);
    fprintf(out, ".SH NAME\n%s \\- judges and times GPU programs against trusted CPU references\n", program);
    fprintf(out, ".SH SYNOPSIS\n.B %s\n\\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]\n", program);
    fputs(".SH DESCRIPTION\nGiven a trusted program for one thread of a CPU, is a proposed GPU version right, how "
          "much sooner "
          "does its user get the answer, and how far is it from the best known? Every name takes unique prefixes; "
          "options "
          "and arguments come in any order, and \\fB\\-\\-\\fR ends the options. Every command has "
          "\\fB\\-\\-help\\fR.\n"
          ".SH COMMANDS\n",
          out);
    for (const struct ae_command *c = commands; c->name; c++)
        put_command(c, program, out);
    fputs(".SH EXIT STATUS\n", out);
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        fprintf(out, ".TP\n.B %s\n%s\n", statuses[i][0], statuses[i][1]);
    fputs(".SH ENVIRONMENT\n", out);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        fprintf(out, ".TP\n.B %s\n", files[i][0] + 1);
        put_text(files[i][1], out);
        fputc('\n', out);
    }
}
