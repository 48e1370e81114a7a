#include "judge_cells.h"

#include <stdlib.h>

#define AE_TASK(id) void ae_reference_##id(void);
#include "tasks.def"
#undef AE_TASK

static void (*const references[])(void) = {
#define AE_TASK(id) ae_reference_##id,
#include "tasks.def"
#undef AE_TASK
};

#define SEED           3
#define BYTES_MAX      ((size_t)256 << 10)
#define OPERATIONS_MAX 3e7

static struct made {
    struct judge_cell cell;
    enum { NOT_YET, MADE, NONE } state;
} made[256][AE_FAMILIES_MAX];

static bool make(struct judge_cell *cell, const struct ae_task *task, void (*reference)(void), int family)
{
    struct ae_error err = {0};
    struct ae_work work;
    if (!(task->families[family].sizes & AE_AT(AE_SMALL)))
        return false;
    if (ae_instance_make(&cell->inst, task, AE_SMALL, family, SEED, &err) != AE_OK)
        abort();
    ae_instance_work(&cell->inst, &work);
    if (ae_instance_bytes(&cell->inst) > BYTES_MAX || work.operations > OPERATIONS_MAX) {
        ae_instance_release(&cell->inst);
        return false;
    }
    if (ae_expected_alloc(&cell->right, &cell->inst, &err) != AE_OK ||
        ae_instance_call(&cell->inst, &cell->right, reference, &err) != AE_OK ||
        (task->make_aux && task->make_aux(&cell->inst, &cell->right, &err) != AE_OK))
        abort();
    return true;
}

const struct judge_cell *judge_cell(int task, int family)
{
    if (task >= ae_task_count || task >= 256 || family >= ae_task_family_count(ae_tasks[task]))
        return NULL;
    struct made *m = &made[task][family];
    if (m->state == NOT_YET)
        m->state = make(&m->cell, ae_tasks[task], references[task], family) ? MADE : NONE;
    return m->state == MADE ? &m->cell : NULL;
}
