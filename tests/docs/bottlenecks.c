/* Prints docs/bottlenecks.md from the table of rules. */
#include "profile/rules.h"

#include <stdio.h>

int main(void)
{
    printf("# Bottlenecks\n\n"
           "`acceleval profile` explains a call by rules. Each looks at the phases of one traced call, at the kernels and copies\n"
           "in it and at the ceilings of this machine (`acceleval doctor --measure`), and says one sentence with its evidence\n"
           "and an estimate of what is to be gained. Estimates are upper bounds of one change alone; they do not add up.\n\n"
           "Behind each rule stands the program that provokes it: `tests/profile/device/NAME.inc` (behind `common.inc`, for\n"
           "black_scholes) or `tests/profile/programs/NAME.c`. `tests/profile/run BUILD device` evaluates them all. Where no\n"
           "such file is there, `tests/unit/profile_test.c` provokes the rule by a trace made by hand.\n\n"
           "This file is made from `src/profile/rules.c`: `cmake --build build --target docs_bottlenecks`.\n\n"
           "| id | what it means |\n|---|---|\n");
    for (int i = 0; i < ae_bottleneck_rule_count; i++)
        printf("| [%s](#%s) | %s |\n", ae_bottleneck_rules[i].id, ae_bottleneck_rules[i].id, ae_bottleneck_rules[i].title);
    for (int i = 0; i < ae_bottleneck_rule_count; i++) {
        const struct ae_bottleneck_rule *r = &ae_bottleneck_rules[i];
        printf("\n## %s\n\n%s.\n\n- **When**: %s.\n- **Estimated gain**: %s.\n- **Mend**: %s.\n- **Provoked by**: `%s`.\n",
               r->id, r->title, r->when, r->gain, r->mend, r->provoked_by);
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
