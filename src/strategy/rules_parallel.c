#include "strategy/hunt.h"

void ae_rules_parallel(struct ae_hunt *hunt)
{
    (void)hunt;
}
