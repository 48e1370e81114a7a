#include "strategy/hunt.h"

void ae_rules_compute(struct ae_hunt *hunt)
{
    (void)hunt;
}
