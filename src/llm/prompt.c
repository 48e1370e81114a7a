#include "llm/prompt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const level_names[AE_PROMPT_LEVEL_COUNT] = {"L1", "L2", "L3"};

const char *ae_prompt_level_name(enum ae_prompt_level level)
{
    return (unsigned)level < AE_PROMPT_LEVEL_COUNT ? level_names[level] : "?";
}

/* Compiler flags are those of src/build/build.c; a test compares. */
static const char cuda_rules[] =
    "- Write one CUDA source file that defines `solution_compute` with C linkage (`extern \"C\"`), with exactly the\n"
    "  prototype above. It is compiled by `nvcc -O3 -std=c++17` for the device's own architecture; the libraries of\n"
    "  the CUDA toolkit (cuBLAS, cuSPARSE, cuSOLVER, cuFFT, cuRAND, CUB, Thrust) may be used, nothing else.\n"
    "- All pointers are host memory. Copy what the device needs, compute, copy the result back. The time that counts\n"
    "  runs from the call to its return, everything included: allocation, transfers, kernels, clean-up.\n"
    "- The call must do its work on the device.\n";

static const char c_rules[] =
    "- Write one C source file that defines `solution_compute` with exactly the prototype above. It is compiled by\n"
    "  `gcc -std=gnu17 -O3 -march=native -fopenmp`; OpenMP, threads and the C library may be used, nothing else.\n"
    "- The time that counts runs from the call to its return, everything included.\n";

static const char cpp_rules[] =
    "- Write one C++ source file that defines `solution_compute` with C linkage (`extern \"C\"`), with exactly the\n"
    "  prototype above. It is compiled by `g++ -std=c++17 -O3 -march=native -fopenmp`; OpenMP, threads and the "
    "standard\n"
    "  library may be used, nothing else.\n"
    "- The time that counts runs from the call to its return, everything included.\n";

static const char common_rules[] =
    "- The result must be final when the function returns. Everything allocated must be freed. Nothing may be kept\n"
    "  between calls: no static or global state, no cached buffers, handles or results. Inputs must not be changed.\n"
    "- Sizes, seeds and secondary dimensions vary from call to call; special and degenerate inputs that the statement\n"
    "  permits are tested too. The whole output of every call is compared.\n"
    "- No files, no network, no other processes, no output.\n"
    "- Answer with the complete source in one fenced code block.\n";

static const struct {
    const char *expert, *program, *rules;
} languages[AE_PROMPT_LANGUAGE_COUNT] = {
    [AE_PROMPT_CUDA] = {"GPU programming", "CUDA", cuda_rules},
    [AE_PROMPT_C] = {"parallel programming", "C", c_rules},
    [AE_PROMPT_CPP] = {"parallel programming", "C++", cpp_rules},
};

/* The section "## NAME" up to the next "## ". */
static const char *section(const char *text, const char *name, size_t *ret_length)
{
    char heading[16];
    snprintf(heading, sizeof heading, "## %s\n", name);
    const char *start = strstr(text, heading);
    if (!start)
        return NULL;
    start += strlen(heading);
    const char *end = strstr(start, "\n## ");
    *ret_length = end ? (size_t)(end - start) + 1 : strlen(start);
    return start;
}

static void print_sizes(FILE *out, const struct ae_task *task)
{
    fputs("## Sizes\n\nNominal parameters; each call varies around them.\n\n| size |", out);
    for (int p = 0; p < ae_task_param_count(task); p++)
        fprintf(out, " %s |", task->params[p]);
    fputs("\n|---|", out);
    for (int p = 0; p < ae_task_param_count(task); p++)
        fputs("---|", out);
    fputc('\n', out);
    for (int s = 0; s < AE_SIZE_COUNT; s++) {
        fprintf(out, "| %s |", ae_size_name((enum ae_size)s));
        for (int p = 0; p < ae_task_param_count(task); p++)
            fprintf(out, " %lld |", (long long)task->sizes[s].param[p]);
        fputc('\n', out);
    }
    fputc('\n', out);
}

static void print_outputs(FILE *out, const struct ae_task *task)
{
    fputs("## What counts as right\n\n", out);
    for (int i = 0; i < task->arg_count; i++) {
        const struct ae_arg *arg = &task->args[i];
        if (!ae_arg_is_output(arg))
            continue;
        fprintf(out, "- `%s` (%s): ", arg->name, arg->shape ? arg->shape : "one value");
        switch (arg->rule.kind) {
        case AE_EXACT:
            fputs("every element must equal the expected one", out);
            break;
        case AE_CLOSE:
            fprintf(out, "every element must be within %g + %g * |expected| of the expected one", arg->rule.atol,
                    arg->rule.rtol);
            break;
        case AE_SCALED:
            fprintf(out,
                    "every element must be within %g * |expected| of the expected one, plus what the statement allows",
                    arg->rule.rtol);
            break;
        default:
            fputs("judged by the property that the statement describes", out);
        }
        fputs("; NaN and infinities are wrong where a finite value is expected\n", out);
    }
    fputc('\n', out);
}

int ae_prompt_make(const struct ae_task *task, enum ae_prompt_level level, const struct ae_prompt_texts *texts,
                   char **ret, struct ae_error *err)
{
    char *text = NULL, *prototype = ae_task_prototype(task);
    size_t size = 0, length = 0;
    const char *hints = NULL;
    if (level != AE_PROMPT_L3) {
        hints = section(texts->hints, level == AE_PROMPT_L1 ? "L1" : "L2", &length);
        if (!hints) {
            free(prototype);
            return ae_error_set(err, AE_E_INTERNAL, "%s: hints.md has no section for this level", task->id);
        }
    }
    FILE *out = open_memstream(&text, &size);
    if (!out || !prototype) {
        free(prototype);
        if (out)
            fclose(out);
        free(text);
        return ae_error_set(err, AE_E_NOMEM, "no memory for a prompt");
    }
    fprintf(out,
            "You are an expert in %s. Write a %s program that solves the following task as fast as\n"
            "possible on %s.\n\n%s\n## Interface\n\n```c\n%s;\n```\n\n",
            languages[texts->language].expert, languages[texts->language].program,
            texts->language != AE_PROMPT_CUDA ? "the cores of one machine"
            : texts->device                   ? texts->device
                                              : "an NVIDIA GPU",
            texts->statement, prototype);
    print_sizes(out, task);
    print_outputs(out, task);
    fprintf(out, "## Rules\n\n%s%s", languages[texts->language].rules, common_rules);
    fprintf(out, "\n## Reference\n\nThis single-thread C program defines the right answer.\n\n```c\n%s```\n",
            texts->reference);
    if (hints)
        fprintf(out, "\n## %s\n\n%.*s", level == AE_PROMPT_L1 ? "How to make it fast" : "Directions", (int)length,
                hints + strspn(hints, "\n"));
    if (texts->recipe)
        fprintf(out, "\n## A strategy\n\nA fast program for this task works like this:\n\n%s%s", texts->recipe,
                *texts->recipe && texts->recipe[strlen(texts->recipe) - 1] == '\n' ? "" : "\n");
    free(prototype);
    if (fclose(out) != 0) {
        free(text);
        return ae_error_set(err, AE_E_NOMEM, "no memory for a prompt");
    }
    *ret = text;
    return AE_OK;
}

/* --- recipes ---------------------------------------------------------------------------------------------- */

int ae_recipe_check(const char *text, struct ae_error *err)
{
    static const char *const signs[] = {"```",      "~~~", "__global__", "__device__", "__shared__",
                                        "#include", "<<<", "{",          "};"};
    int number = 1;
    for (const char *line = text; *line; number++) {
        const size_t size = strcspn(line, "\n");
        size_t end = size;
        while (end > 0 && strchr(" \t\r", line[end - 1]))
            end--;
        bool code = end > 0 && line[end - 1] == ';';
        for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
            code |= memmem(line, size, signs[i], strlen(signs[i])) != NULL;
        if (code)
            return ae_error_set(err, AE_E_INPUT,
                                "line %d of the recipe looks like code (%.60s): a recipe says in words what "
                                "a program does",
                                number, line);
        line += size + (line[size] == '\n');
    }
    return text[strspn(text, " \t\r\n")] ? AE_OK : ae_error_set(err, AE_E_INPUT, "the recipe is empty");
}

static size_t count_words(const char *text)
{
    size_t words = 0;
    for (const char *p = text; *(p += strspn(p, " \t\r\n")); p += strcspn(p, " \t\r\n"))
        words++;
    return words;
}

char *ae_recipe_control(const char *recipe)
{
    static const char general[] =
        "It is written with care, and its author read the statement twice before the first line was written. Every "
        "name "
        "says what it stands for. Each part does one thing, and the parts are arranged in the order in which a reader "
        "needs them. Arguments are looked at before they are used, and the unusual cases that the statement permits "
        "were "
        "thought of from the beginning. The program was compiled with all warnings and they were all read. It was "
        "tried "
        "on small inputs whose results are known by hand, then on larger ones. Where the author was in doubt, the "
        "plainer "
        "way was chosen and the doubt was settled by a measurement. Comments say why something is done and leave out "
        "what "
        "can be read from the text itself. Nothing was left in the program that is not needed. ";
    const size_t words = count_words(recipe);
    char *text = NULL;
    size_t size = 0, done = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    while (done < words)
        for (const char *p = general; done < words && *(p += strspn(p, " ")); p += strcspn(p, " "), done++)
            fprintf(out, "%.*s%c", (int)strcspn(p, " "), p, done % 16 == 15 ? '\n' : ' ');
    fputc('\n', out);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* --- refinement ------------------------------------------------------------------------------------------- */

char *ae_prompt_feedback(const struct ae_feedback *f)
{
    char *text = NULL;
    size_t size = 0;
    const bool passed = f->verdict && strcmp(f->verdict, "pass") == 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    if (!f->verdict)
        fprintf(out, "No program could be found in your answer: %s.\n", f->detail);
    else if (passed)
        fputs("Your program is right on every test.\n", out);
    else
        fprintf(out, "Your program was compiled and tested. The verdict is %s%s%s.\n", f->verdict,
                *f->detail ? ": " : "", f->detail);
    if (f->mismatch)
        fprintf(out, "The first wrong value: %s.\n", f->mismatch);
    if (f->log && *f->log)
        fprintf(out, "\nOutput:\n\n~~~~~~\n%.8000s\n~~~~~~\n", f->log);
    if (isfinite(f->call_ms))
        fprintf(out, "A call takes %.3g ms from its start to its return", f->call_ms);
    if (isfinite(f->call_ms) && isfinite(f->fresh_ms) && f->fresh_ms > 1.5 * f->call_ms)
        fprintf(out, " (the first one after loading %.3g ms)", f->fresh_ms);
    if (isfinite(f->call_ms))
        fputs(".\n", out);
    if (isfinite(f->speedup))
        fprintf(out, "It is %.3g times as fast as the single-thread reference.\n", f->speedup);
    if (isfinite(f->best_speedup))
        fprintf(out, "Your fastest right version so far is %.3g times as fast.\n", f->best_speedup);
    if (f->notes && *f->notes)
        fprintf(out, "%s\n", f->notes);
    fprintf(
        out,
        "\n%s This is turn %d of %d. The rules have not changed. Answer with the complete source in one fenced code "
        "block.\n",
        passed ? "Make it faster." : "Find the fault and correct it.", f->turn, f->turns);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
