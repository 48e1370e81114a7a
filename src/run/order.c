#include "run/order.h"

#include "base/file.h"
#include "base/rng.h"
#include "run/twin.h"

void ae_order_draw(int *order, int first, int all, int per_group)
{
    uint64_t seed = 0;
    struct ae_rng rng;
    (void)ae_random_bytes(&seed, sizeof seed, NULL);
    ae_rng_seed(&rng, seed, 0);
    for (int i = 0; i < all; i++)
        order[i] = i;
    for (int i = 0; i < all; i++) {
        const int end = i < first ? first : all, j = i + (int)ae_rng_below(&rng, (uint32_t)(end - i)), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    const int room = first - per_group < per_group ? first - per_group : per_group;
    for (int i = 0; i < first && room > 0; i++) {
        const int to = per_group + (int)ae_rng_below(&rng, (uint32_t)room);
        if (order[i] == AE_TWIN_SIBLING) {
            order[i] = order[to];
            order[to] = AE_TWIN_SIBLING;
            break;
        }
    }
}
