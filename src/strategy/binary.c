/* What machine code says: the text of `cuobjdump -sass` and `-res-usage`, read as it comes and believed in little. */
#include "strategy/hunt.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct counts {
    long loads, wide, pairs, constant, async, matrix, local;
    char matrix_name[24], async_name[24];
};

static bool begins(const char *word, const char *with)
{
    const size_t n = strlen(with);
    return strncmp(word, with, n) == 0 && (word[n] == 0 || word[n] == '.');
}

static bool has_suffix(const char *word, const char *suffix)
{
    const char *at = strstr(word, suffix);
    const size_t n = strlen(suffix);
    return at && (at[n] == 0 || at[n] == '.');
}

static void count(struct counts *c, const char *word)
{
    static const char *const matrix[] = {"HMMA",  "DMMA",  "IMMA",  "BMMA",    "QMMA", "HGMMA",
                                         "IGMMA", "QGMMA", "BGMMA", "UTCHMMA", NULL};
    static const char *const async[] = {"LDGSTS", "UBLKCP", "UTMALDG", NULL};
    if (begins(word, "LDG") || begins(word, "STG") || begins(word, "LD") || begins(word, "ST")) {
        c->loads++;
        c->wide += has_suffix(word, ".128");
        c->pairs += has_suffix(word, ".64");
        c->constant += has_suffix(word, ".CONSTANT");
    }
    c->local += begins(word, "LDL") || begins(word, "STL");
    for (const char *const *m = matrix; *m; m++)
        if (begins(word, *m)) {
            c->matrix++;
            snprintf(c->matrix_name, sizeof c->matrix_name, "%s", *m);
        }
    for (const char *const *m = async; *m; m++)
        if (begins(word, *m)) {
            c->async++;
            snprintf(c->async_name, sizeof c->async_name, "%s", *m);
        }
}

/* The operation of a line that begins with its address in a comment: EXIT behind @P0, say. Other lines have none. */
static bool operation(const char *line, size_t size, char word[40])
{
    size_t i = 0, n = 0;
    while (i < size && isspace((unsigned char)line[i]))
        i++;
    if (i + 2 >= size || line[i] != '/' || line[i + 1] != '*')
        return false;
    for (i += 2; i < size && isxdigit((unsigned char)line[i]); i++)
        n++;
    if (n < 4 || i + 2 > size || line[i] != '*' || line[i + 1] != '/')
        return false;
    i += 2;
    for (int part = 0; part < 2; part++) {
        while (i < size && isspace((unsigned char)line[i]))
            i++;
        if (i < size && line[i] == '@') /* under a predicate */
            while (i < size && !isspace((unsigned char)line[i]))
                i++;
    }
    n = 0;
    while (i < size && n + 1 < 40 &&
           (isupper((unsigned char)line[i]) || isdigit((unsigned char)line[i]) || line[i] == '.' || line[i] == '_'))
        word[n++] = line[i++];
    word[n] = 0;
    return n > 0;
}

static int say(struct ae_findings_list *list, enum ae_strategy_id id, enum ae_presence presence, double confidence,
               struct ae_error *err, const char *format, long number, const char *name)
{
    struct ae_finding f = {
        .strategy = id, .evidence = AE_EVIDENCE_BINARY, .presence = presence, .confidence = confidence};
    char sentence[sizeof f.sentence];
    snprintf(sentence, sizeof sentence, "%s", format);
    char *hole = strstr(sentence, "{}");
    if (hole)
        snprintf(f.sentence, sizeof f.sentence, "%.*s%s%s", (int)(hole - sentence), sentence, name, hole + 2);
    else
        snprintf(f.sentence, sizeof f.sentence, "%.200s (%ld)", sentence, number);
    return ae_findings_add(list, &f, err);
}

/* Bytes of stack of the function that has most. */
static long deepest_stack(const char *resources)
{
    long most = 0;
    for (const char *at = resources; at && (at = strstr(at, "STACK:")); at += 6) {
        const long stack = strtol(at + 6, NULL, 10);
        most = stack > most ? stack : most;
    }
    return most;
}

/* Below this many accesses to local memory nothing of weight is spilled: a call's return address, say. */
#define SPILLS_LEAST 8

int ae_binary_find(const char *sass, const char *resources, struct ae_findings_list *list, struct ae_error *err)
{
    struct counts c = {0};
    int rc = AE_OK;
    for (const char *line = sass; line && *line;) {
        const size_t size = strcspn(line, "\n");
        char word[40];
        if (operation(line, size, word))
            count(&c, word);
        line += size;
        line += *line == '\n';
    }
    if (sass && c.loads > 0) {
        if (c.wide > 0)
            rc = say(list, AE_STRATEGY_M05, AE_PRESENT, 0.8, err, "machine code has accesses of 16 bytes", c.wide, "");
        else if (c.pairs == 0)
            rc = say(list, AE_STRATEGY_M05, AE_ABSENT, 0.9, err,
                     "machine code has no access to global memory wider than 4 bytes, of so many", c.loads, "");
        if (rc == AE_OK && c.constant > 0)
            rc = say(list, AE_STRATEGY_M06, AE_PRESENT, 0.9, err, "machine code has loads by the read-only path",
                     c.constant, "");
    }
    if (rc == AE_OK && c.async > 0)
        rc = say(list, AE_STRATEGY_M09, AE_PRESENT, 0.97, err, "machine code copies to shared memory by {}", c.async,
                 c.async_name);
    if (rc == AE_OK && c.matrix > 0)
        rc = say(list, AE_STRATEGY_C09, AE_PRESENT, 0.97, err,
                 "machine code has {}, an instruction of the matrix units", c.matrix, c.matrix_name);
    const long stack = resources ? deepest_stack(resources) : -1;
    if (rc == AE_OK && c.local >= SPILLS_LEAST && stack != 0)
        rc = say(list, AE_STRATEGY_M04, AE_ABSENT, 0.85, err,
                 "machine code reads and writes local memory, so that a tile may not be in registers", c.local, "");
    return rc;
}
