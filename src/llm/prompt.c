#include "llm/prompt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char rules[] =
    "## Rules\n\n"
    "- Write one CUDA source file that defines `solution_compute` with C linkage (`extern \"C\"`), with exactly the\n"
    "  prototype above. It is compiled by `nvcc -O3 -std=c++17` for the device's own architecture; the libraries of\n"
    "  the CUDA toolkit (cuBLAS, cuSPARSE, cuSOLVER, cuFFT, cuRAND, CUB, Thrust) may be used, nothing else.\n"
    "- All pointers are host memory. Copy what the device needs, compute, copy the result back. The time that counts\n"
    "  runs from the call to its return, everything included: allocation, transfers, kernels, clean-up.\n"
    "- The result must be final when the function returns. Everything allocated must be freed. Nothing may be kept\n"
    "  between calls: no static or global state, no cached buffers, handles or results. Inputs must not be changed.\n"
    "- Sizes, seeds and secondary dimensions vary from call to call; special and degenerate inputs that the statement\n"
    "  permits are tested too. The whole output of every call is compared.\n"
    "- The call must do its work on the device. No files, no network, no other processes, no output.\n"
    "- Answer with the complete source in one fenced code block.\n";

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
            "You are an expert in GPU programming. Write a CUDA program that solves the following task as fast as\n"
            "possible on %s.\n\n%s\n## Interface\n\n```c\n%s;\n```\n\n",
            texts->device ? texts->device : "an NVIDIA GPU", texts->statement, prototype);
    print_sizes(out, task);
    fputs(rules, out);
    fprintf(out, "\n## Reference\n\nThis single-thread C program defines the right answer.\n\n```c\n%s```\n",
            texts->reference);
    if (hints)
        fprintf(out, "\n## %s\n\n%.*s", level == AE_PROMPT_L1 ? "How to make it fast" : "Directions", (int)length,
                hints + strspn(hints, "\n"));
    free(prototype);
    if (fclose(out) != 0) {
        free(text);
        return ae_error_set(err, AE_E_NOMEM, "no memory for a prompt");
    }
    *ret = text;
    return AE_OK;
}
