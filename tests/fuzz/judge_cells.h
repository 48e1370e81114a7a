/* Small instances with their right answers, for the fuzz target and the maker of its seeds. */
#ifndef AE_TESTS_FUZZ_JUDGE_CELLS_H
#define AE_TESTS_FUZZ_JUDGE_CELLS_H

#include "task/task.h"

struct judge_cell {
    struct ae_instance inst;
    struct ae_expected right;
};

/* Made when first asked for; NULL where the family is not at small, or is too large to be fuzzed. Stays until the
 * program ends. */
const struct judge_cell *judge_cell(int task, int family);

/* Outputs whose bytes differ from the right ones are judged; data[0] task, data[1] family, data[2] mode, the rest bytes. */
enum judge_mode {
    JUDGE_REPLACE, /* of the outputs one after the other from the front; the rest stays right */
    JUDGE_REPEAT,  /* the bytes again and again until all is filled */
    JUDGE_PATCH,   /* records of a 4-byte place and an 8-byte value */
    JUDGE_MODES,
};

#endif
