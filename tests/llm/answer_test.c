/* Extraction of a source from what a model wrote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "llm/answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE "extern \"C\" void solution_compute(int n)\n{\n}\n"
#define OTHER "void helper(void)\n{\n    solution_compute(3);\n}\n"

struct row {
    const char *text, *source; /* source NULL: none is found */
    unsigned notes;
};

static const struct row rows[] = {
    {"```cuda\n" CODE "```\n", CODE, 0},
    {"Sure!\n\n```cpp\n" CODE "```\nHope it helps.", CODE, 0},
    {"~~~\n" CODE "~~~\n", CODE, 0},
    {"1. First\n\n   ```cu\n" CODE "   ```\n", CODE, 0},
    {"````\n" CODE "```\nstill inside\n````\n", CODE "```\nstill inside\n", 0}, /* a longer fence holds shorter ones */
    /* several blocks: the one that defines, and of those the last */
    {"```bash\nnvcc x.cu\n```\n```cuda\n" CODE "```\n```cuda\n" OTHER "```\n", CODE, 0},
    {"```c\nextern \"C\" void solution_compute(int old) {}\n```\nBetter:\n```c\n" CODE "```\n", CODE,
     AE_ANSWER_SEVERAL},
    {"```c\nvoid solution_compute(int n);\n```\n```c\n" CODE "```\n", CODE, 0},
    /* nesting */
    {"````markdown\nText\n```cuda\n" CODE "```\n````\n", CODE, AE_ANSWER_NESTED},
    {"```markdown\nText\n```cuda\n" CODE "```\nmore text\n```\n", CODE, AE_ANSWER_NESTED},
    /* line ends, an open fence, no fence */
    {"```cuda\r\nextern \"C\" void solution_compute(int n)\r\n{\r\n}\r\n```\r\n", CODE, AE_ANSWER_CRLF},
    {"```cuda\n" CODE, CODE, AE_ANSWER_OPEN_FENCE},
    {"The program:\n\n#include <math.h>\n" CODE "That is all.",
     "#include <math.h>\nextern \"C\" void solution_compute(int n)\n{\n}", AE_ANSWER_NO_FENCE},
    /* entities, and what only looks like them */
    {"```\n#include &lt;math.h&gt;\nvoid solution_compute(int a, int b) { if (a &lt; b &amp;&amp; b &gt; 0) {} "
     "}\n```\n",
     "#include <math.h>\nvoid solution_compute(int a, int b) { if (a < b && b > 0) {} }\n", AE_ANSWER_ENTITIES},
    {"```\n#include <x>\nvoid solution_compute(int lt) { int *p = &lt; }\n```\n",
     "#include <x>\nvoid solution_compute(int lt) { int *p = &lt; }\n", 0},
    {"```\nvoid solution_compute(int lt, int x) { int *p = &lt; int *q = &x; }\n```\n",
     "void solution_compute(int lt, int x) { int *p = &lt; int *q = &x; }\n", 0},
    /* reasoning in front */
    {"<think>maybe\n```c\nvoid solution_compute(int wrong) {}\n```\n</think>\n```c\n" CODE "```\n", CODE,
     AE_ANSWER_REASONING},
    {"maybe\n```c\nvoid solution_compute(int wrong) {}\n```\n</think>\n```c\n" CODE "```\n", CODE, AE_ANSWER_REASONING},
    {"<think>\n```c\n" CODE "```\n and so on", NULL, 0},
    /* comments, strings and calls define nothing */
    {"```c\n// void solution_compute(int n) {\n/* solution_compute(int n) { } */\nconst char *s = "
     "\"solution_compute(int n) {\";\n```\n",
     NULL, 0},
    {"```c\n" OTHER "```\n", NULL, 0},
    {"```c\nvoid my_solution_compute(int n) {}\nvoid solution_compute2(int n) {}\n```\n", NULL, 0},
    {"```c\nvoid solution_compute(int n, /* ) { */ int m) noexcept\n// now\n{}\n```\n",
     "void solution_compute(int n, /* ) { */ int m) noexcept\n// now\n{}\n", 0},
    {"", NULL, 0},
    {"I cannot help with that.", NULL, 0},
    {"```", NULL, 0},
    {"Use `solution_compute(x) {` as the name.", NULL, 0},
};

static void rows_are_as_expected(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *source = NULL, names[128];
        size_t size = 0;
        unsigned notes = 0;
        struct ae_error err = {0};
        const int rc = ae_answer_extract(rows[i].text, strlen(rows[i].text), &source, &size, &notes, &err);
        if (!rows[i].source) {
            if (rc != AE_E_NOTFOUND || !err.text[0])
                fail_msg("row %zu: %d %s", i, rc, rc == AE_OK ? source : err.text);
            continue;
        }
        if (rc != AE_OK || strcmp(source, rows[i].source) != 0 || size != strlen(source) || notes != rows[i].notes)
            fail_msg("row %zu: rc %d (%s), notes %s, got:\n%s", i, rc, err.text,
                     ae_answer_notes_text(notes, names, sizeof names), rc == AE_OK ? source : "");
        free(source);
    }
}

/* Time must stay linear in hostile text: a megabyte of each pattern that makes naive searches quadratic. */
static void hostile_text_is_no_burden(void **state)
{
    (void)state;
    static const char *const patterns[] = {"solution_compute(",
                                           "```\n",
                                           "```c\n",
                                           "solution_compute(/*",
                                           "solution_compute()a ",
                                           "&lt;",
                                           "~~~a\n",
                                           "\"",
                                           "(",
                                           "</think>\n",
                                           "````\n```c\n",
                                           "/*",
                                           "solution_compute(int a) b\n"};
    const size_t size = 1 << 20;
    char *text = malloc(size);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        const size_t n = strlen(patterns[i]);
        memcpy(text, "```\n", 4);
        for (size_t k = 4; k < size; k++)
            text[k] = patterns[i][(k - 4) % n];
        char *source = NULL;
        size_t source_size;
        unsigned notes;
        const int64_t start = ae_now_ns();
        const int rc = ae_answer_extract(text, size, &source, &source_size, &notes, NULL);
        const int64_t ms = (ae_now_ns() - start) / AE_MS;
        if (rc == AE_OK)
            free(source);
        if (ms > 4000)
            fail_msg("pattern '%s' took %lld ms", patterns[i], (long long)ms);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_as_expected),
        cmocka_unit_test(hostile_text_is_no_burden),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
