#include "strategy/hunt.h"

void ae_rules_memory(struct ae_hunt *hunt)
{
    (void)hunt;
}
