/* acceleval: the table of subcommands, and what to do where none is given. */
#include "cli/cli.h"

#include "base/file.h"
#include "build/toolchain.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

const struct ae_command ae_commands[] = {
    {"list", "tasks, sizes, what is cached", "[OPTION...]", NULL, ae_list_options, AE_OPERAND_NONE, ae_cmd_list},
    {"show", "all about one task", "TASK [OPTION...]", NULL, ae_show_options, AE_OPERAND_TASK, ae_cmd_show},
    {"check", "is a program right? all families, practice bank, no timing", "SOURCE... [OPTION...]",
     "A SOURCE is a .cu, .c or .cpp file, whose task is its name (or --task), or a folder of such files. It is run on every "
     "family of inputs that its task knows, usual and degenerate ones. The practice bank has seeds of its own, so the first wrong value may be shown.", ae_check_options,
     AE_OPERAND_PATH, ae_cmd_check},
    {"eval", "judge and time programs", "[PATH...] [OPTION...]",
     "PATH is a source file (its task is its name, or --task) or a folder ENTRANT/TASK[.K].cu, .c or .cpp. Without a "
     "path the built-in entrants named by --entrant are evaluated. '-' reads submissions as JSON lines "
     "{\"task\", \"source\", \"language\", \"size\"?, \"id\"?} and answers each with a JSON line.",
     ae_eval_options, AE_OPERAND_PATH, ae_cmd_eval},
    {"report", "leaderboard and tables from stored runs", "[OPTION...]",
     "The newest result of each program counts, unless --run names a run. Legends below the tables explain the columns.",
     ae_report_options_table, AE_OPERAND_NONE,
     ae_cmd_report},
    {"compare", "two entrants, task by task: faster, slower, same, unclear", "A B [OPTION...]",
     "A and B are entrants (their newest results), runs (@3) or entrants of a run (parallel@3). 'unclear' means that the noise "
     "of the measurements leaves both ways open.",
     ae_compare_options, AE_OPERAND_WORD, ae_cmd_compare},
    {"history", "an entrant over its runs: what changed, and regressions against the noise", "ENTRANT [OPTION...]", NULL,
     ae_history_options, AE_OPERAND_WORD, ae_cmd_history},
    {"prepare", "expected outputs and baselines into the cache", "[OPTION...]",
     "Both come from the tasks' references, run on this machine. 'eval' makes what it lacks; this makes it ahead: answers on "
     "all cores, then baselines one at a time. It may be interrupted: what is made is kept.",
     ae_prepare_options,
     AE_OPERAND_NONE, ae_cmd_prepare},
    {"profile", "where the wait goes: phases, floors, bottlenecks", "[SOURCE...] [OPTION...]",
     "Calls on the practice bank: some untraced for the time, some under a tracer for the explanation. It explains; it "
     "decides no verdict and no time.", ae_profile_options_table, AE_OPERAND_PATH, ae_cmd_profile},
    {"strategies", "why it is fast: 43 strategies, found, compared, attributed", "VERB [ARGUMENT...] [OPTION...]",
     "Verbs: list, show ID, find SOURCE..., diff A B, attribute, recommend TASK|SOURCE.c, read SOURCE..., agreement, "
     "export. A finding names the evidence that it rests on: the source, its machine code (--binary) or both. What that "
     "cannot decide is said to be unknown, not absent.",
     ae_strategies_options, AE_OPERAND_PATH, ae_cmd_strategies},
    {"repro", "a practice instance and a plain driver in a folder, for a debugger", "SOURCE [OPTION...]",
     "The folder holds the inputs and the right answer, SOURCE, a driver that calls it once and compares, and a Makefile.",
     ae_repro_options, AE_OPERAND_PATH, ae_cmd_repro},
    {"prompt", "the prompt for a task, exactly as a model gets it", "TASK [OPTION...]", NULL, ae_prompt_options,
     AE_OPERAND_TASK, ae_cmd_prompt},
    {"generate", "programs from a model: ENTRANT/TASK.K.cu and a record of each", "--model NAME [OPTION...]",
     "The model is one of models.yaml; docs/models.md shows how to write one. What was answered before under the same "
     "model, settings and prompt is not asked for again, so that an interrupted call is simply repeated.",
     ae_generate_options, AE_OPERAND_NONE, ae_cmd_generate},
    {"run", "generate, eval and report in one", "--model NAME [OPTION...]",
     "Goes on where an earlier call stopped: answers that are there are not asked for again, results not measured again.",
     ae_run_options, AE_OPERAND_NONE,
     ae_cmd_run},
    {"refine", "let a model improve its programs over several turns", "--model NAME [OPTION...]",
     "Compiler output, the first wrong value on the practice bank and the measured speed go back to the model. Every "
     "version is kept in FOLDER/ENTRANT-refined/versions; the fastest right one of each sample is then evaluated.",
     ae_refine_options, AE_OPERAND_NONE, ae_cmd_refine},
    {"answers", "what models were asked, what came of it and what it cost", "[OPTION...]", NULL, ae_answers_options,
     AE_OPERAND_NONE, ae_cmd_answers},
    {"transfer", "does a strategy carry over when it is told? needs results of the entrants",
     "--winner W --plain A --recipe B [OPTION...]",
     "A recipe is a strategy in words ('strategies recommend --recipe' writes one, 'generate --with-recipe' tells it to a "
     "model). Task by task: does the model come near the winner's speedup only when it is told (a discovery gap), or not even "
     "then (an implementation gap)? --control guards against a longer prompt being taken for a better one.",
     ae_transfer_options, AE_OPERAND_NONE, ae_cmd_transfer},
    {"export", "runs as one archive, for another store", "[OPTION...]",
     "An archive holds results, sources and environments, and nothing of the secret bank (docs/formats.md).",
     ae_export_options, AE_OPERAND_NONE, ae_cmd_export},
    {"import", "archives of runs into the store; or run an entrant on published instances",
     "ARCHIVE... | FOLDER --task TASK [OPTION...]",
     "What 'export' wrote is merged into the store; twice does no harm. A folder holds a published instance: the "
     "entrant is run on it and compared under the published tolerance.",
     ae_import_options, AE_OPERAND_PATH, ae_cmd_import},
    {"doctor", "toolchain, device, sandbox layers, with the mend for each lack", "[OPTION...]",
     "Ends with status 3 where something is missing without which programs cannot be judged.",
     ae_doctor_options, AE_OPERAND_NONE, ae_cmd_doctor},
    {"bank", "the secret instances: show, renew", "[show|renew]",
     "Programs are judged and timed on instances that are drawn from one secret of this installation, so that none can know "
     "them. 'renew' draws another secret: answers and baselines in the cache are then of no use, and made anew.",
     ae_bank_options, AE_OPERAND_WORD, ae_cmd_bank},
    {"cache", "what is cached: show, prune, clear, export, import",
     "[show|prune|clear|export FILE|import FILE] [OPTION...]",
     "An export carries the baselines measured here and digests of exact expected outputs to another machine that uses "
     "the same bank; baselines count only where processor, compiler and speed are the same.",
     ae_cache_options, AE_OPERAND_WORD, ae_cmd_cache},
    {"new-task", "a task's folder that builds and passes its own checks", "ID [OPTION...]",
     "Writes tasks/ID, its line of tasks.def and its golden digests into the source tree beside this program.",
     ae_new_task_options, AE_OPERAND_WORD, ae_cmd_new_task},
    {"completion", "a completion script for bash", "", "In ~/.bashrc: source <(acceleval completion)", NULL, AE_OPERAND_NONE,
     ae_cmd_completion},
    {"manual", "the manual page: acceleval manual | man -l -", "", NULL, NULL, AE_OPERAND_NONE, ae_cmd_manual},
    {0},
};

int ae_cmd_completion(const struct ae_command *self, int argc, char **argv)
{
    const int done = ae_cli_parse(self, argc, argv, NULL, NULL);
    if (done >= 0)
        return done;
    ae_completion_bash(ae_commands, "acceleval", stdout);
    return AE_EXIT_OK;
}

int ae_cmd_manual(const struct ae_command *self, int argc, char **argv)
{
    const int done = ae_cli_parse(self, argc, argv, NULL, NULL);
    if (done >= 0)
        return done;
    ae_manual_roff(ae_commands, "acceleval", AE_VERSION, stdout);
    return AE_EXIT_OK;
}

/* What can be done next here. */
static int overview(void)
{
    struct ae_toolchain *toolchain = NULL;
    struct ae_store *store = NULL;
    struct ae_error err = {0};
    const bool device = ae_file_exists("/dev/nvidia0") || ae_file_exists("/dev/nvidiactl");
    printf("AccelEval %s judges and times GPU programs against trusted CPU references: %d tasks.\n\n", AE_VERSION,
           ae_task_count);
    if (ae_toolchain_probe(&toolchain, NULL) == AE_OK) {
        printf("  C compiler    %s\n", toolchain->tools[AE_TOOL_GCC].path[0] ? toolchain->tools[AE_TOOL_GCC].version
                                                                             : toolchain->tools[AE_TOOL_GCC].missing);
        printf("  CUDA compiler %s\n", toolchain->tools[AE_TOOL_NVCC].path[0] ? toolchain->tools[AE_TOOL_NVCC].version
                                                                              : "none found");
    }
    printf("  device        %s\n", device ? "found" : "none: programs for the CPU target can be evaluated");
    const int opened = ae_store_open(&store, NULL, AE_STORE_READ, &err);
    const bool results = opened == AE_OK;
    ae_autofree char *reason = ae_cli_printable_line(err.text);
    printf("  results       %s\n\n", results ? ae_store_path(store) : opened == AE_E_NOTFOUND || !reason ? "none yet" : reason);
    if (results)
        printf("Next: 'acceleval report' shows them; ");
    else if (opened != AE_E_NOTFOUND)
        printf("Next: see to the results; ");
    else
        printf("Next: 'acceleval eval --entrant %s --size small' evaluates built-in programs; ",
               device ? "naive" : "parallel");
    printf("'acceleval check FILE' says whether a program of yours is right;\n"
           "'acceleval help' lists all commands.\n");
    ae_store_close(store);
    ae_toolchain_free(toolchain);
    return AE_EXIT_OK;
}

static int help(int argc, char **argv)
{
    struct ae_error err;
    const int width = ae_terminal_width(stdout);
    if (argc < 2) {
        printf("usage: acceleval COMMAND [OPTION...]\n\n");
        ae_commands_help(ae_commands, width, stdout);
        printf("\n'acceleval COMMAND --help' explains one, 'acceleval manual | man -l -' all; "
               "'acceleval doctor' says what is missing here.\n");
        return AE_EXIT_OK;
    }
    const struct ae_command *command = ae_command_find(ae_commands, argv[1], &err);
    if (!command)
        return ae_cli_fail(&err);
    ae_command_help(command, "acceleval", width, stdout);
    return AE_EXIT_OK;
}

static int run(int argc, char **argv)
{
    struct ae_error err;
    if (argc < 2)
        return overview();
    if (strcmp(argv[1], "--version") == 0) {
        printf("acceleval %s\n", AE_VERSION);
        return AE_EXIT_OK;
    }
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return help(argc - 1, argv + 1);
    const struct ae_command *command = ae_command_find(ae_commands, argv[1], &err);
    if (!command)
        return ae_cli_fail(&err);
    return command->run(command, argc - 1, argv + 1);
}

/* What nobody could read is no success: looked at once, for all subcommands. */
int main(int argc, char **argv)
{
    const int status = run(argc, argv);
    const bool flushed = fflush(stdout) == 0;
    const int reason = errno;
    if ((flushed && !ferror(stdout)) || (status != AE_EXIT_OK && status != AE_EXIT_FAILED))
        return status;
    fprintf(stderr, "acceleval: the output could not be written%s%s\n", flushed ? "" : ": ",
            flushed ? "" : strerror(reason));
    return AE_EXIT_ENVIRONMENT;
}
