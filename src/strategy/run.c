#include "strategy/hunt.h"
int ae_run_find(const struct ae_facts *facts, struct ae_findings_list *list, struct ae_error *err)
{
    (void)facts; (void)list; (void)err;
    return AE_OK;
}
