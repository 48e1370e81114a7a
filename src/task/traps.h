/* Wrong solvers: what a task's comparison must reject. tasks/<id>/traps.c lists them; only tests link them. */
#ifndef AE_TASK_TRAPS_H
#define AE_TASK_TRAPS_H

#include "task/task.h"

struct ae_trap {
    const char *name;      /* what it does wrong: "ignores the dividend yield" */
    const char *caught_by; /* name of the family that must catch it; NULL: any family at small */
    /* Fills answer->out, which holds a copy of the right answer. Returns false where the shortcut does not apply
     * to this instance (say, it needs a square grid): then it proves nothing here. */
    bool (*solve)(const struct ae_instance *inst, const struct ae_expected *right, struct ae_expected *answer);
};

/* Ended by an entry without a name. */
#define AE_TRAPS(id) const struct ae_trap ae_traps_##id[]

#endif
