#include "cli/options.h"

#include <ctype.h>
#include <string.h>

/* All words that are printed here are names from our own tables (letters, digits, '-', '_'), so that they need no
 * quoting. */

static void print_tasks(FILE *out)
{
    for (int i = 0; i < ae_task_count; i++)
        fprintf(out, "%s%s", i ? " " : "", ae_tasks[i]->id);
}

static bool takes_path(const struct ae_option *o)
{
    static const char *const words[] = {"FILE", "DIR", "PATH", "FOLDER", NULL};
    for (int i = 0; o->argument && words[i]; i++)
        if (strcmp(o->argument, words[i]) == 0)
            return true;
    return false;
}

/* What may follow the option, as one branch of a case. */
static void print_value(const struct ae_option *o, FILE *out)
{
    fprintf(out, "        --%s", o->name);
    if (o->letter)
        fprintf(out, "|-%c", o->letter);
    fputs(") ", out);
    if (takes_path(o)) {
        fputs("compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$cur\")); ", out);
    } else if (o->kind == AE_OPTION_SIZE || o->kind == AE_OPTION_TASK || o->kind == AE_OPTION_CHOICE) {
        fputs("COMPREPLY=($(compgen -W \"", out);
        if (o->kind == AE_OPTION_TASK)
            fputs("$tasks", out);
        else if (o->kind == AE_OPTION_SIZE)
            fputs("small medium large all", out);
        else
            for (int i = 0; o->choices[i]; i++)
                fprintf(out, "%s%s", i ? " " : "", o->choices[i]);
        fputs("\" -- \"$cur\")); ", out);
    } /* else a number or a word that only the user knows */
    fputs("return ;;\n", out);
}

static void print_command(const struct ae_command *c, FILE *out)
{
    static const struct ae_option none[] = {{.name = NULL}};
    const struct ae_option *options = c->options ? c->options : none;
    fprintf(out, "    %s)\n        case $prev in\n", c->name);
    for (const struct ae_option *o = options; o->name; o++)
        if (o->kind != AE_OPTION_FLAG)
            print_value(o, out);
    fputs("        esac\n        if [[ $cur == -* ]]; then\n            COMPREPLY=($(compgen -W \"", out);
    for (const struct ae_option *o = options; o->name; o++)
        fprintf(out, "--%s ", o->name);
    fputs("--help\" -- \"$cur\"))\n            return\n        fi\n", out);
    if (c->operand == AE_OPERAND_PATH)
        fputs("        compopt -o filenames 2>/dev/null\n        COMPREPLY=($(compgen -f -- \"$cur\"))\n", out);
    else if (c->operand == AE_OPERAND_TASK)
        fputs("        COMPREPLY=($(compgen -W \"$tasks\" -- \"$cur\"))\n", out);
    fputs("        ;;\n", out);
}

void ae_completion_bash(const struct ae_command *commands, const char *program, FILE *out)
{
    char function[64];
    snprintf(function, sizeof function, "_%s", program);
    for (char *p = function; *p; p++)
        if (!isalnum((unsigned char)*p))
            *p = '_';
    fprintf(out,
            "# Completion for bash: source <(%s completion)\n"
            "%s() {\n"
            "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= i\n"
            "    local tasks=\"",
            program, function);
    print_tasks(out);
    fputs("\"\n"
          "    COMPREPLY=()\n"
          "    # bash splits --size=small at the sign\n"
          "    if [[ $cur == = ]]; then\n"
          "        cur=\n"
          "    elif [[ $prev == = ]]; then\n"
          "        prev=${COMP_WORDS[COMP_CWORD-2]}\n"
          "    fi\n"
          "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
          "        if [[ ${COMP_WORDS[i]} != -* ]]; then\n"
          "            command=${COMP_WORDS[i]}\n"
          "            break\n"
          "        fi\n"
          "    done\n"
          "    case $command in\n"
          "    '')\n"
          "        COMPREPLY=($(compgen -W \"",
          out);
    for (const struct ae_command *c = commands; c->name; c++)
        fprintf(out, "%s ", c->name);
    fputs("--help --version\" -- \"$cur\"))\n        ;;\n", out);
    for (const struct ae_command *c = commands; c->name; c++)
        print_command(c, out);
    fprintf(out, "    esac\n}\ncomplete -F %s %s\n", function, program);
}
