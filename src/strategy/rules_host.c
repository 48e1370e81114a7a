#include "strategy/hunt.h"

void ae_rules_host(struct ae_hunt *hunt)
{
    (void)hunt;
}
