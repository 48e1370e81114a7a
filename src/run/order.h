/* The order in which the timed instances of an evaluation are called. */
#ifndef AE_RUN_ORDER_H
#define AE_RUN_ORDER_H

/* Fills order[0..all-1] with the numbers 0..all-1: the `first` ones in the places that are always called, each part by
 * chance, so that no place in a process tells what follows. The twin's sibling is in the second group, where there is one
 * of always called instances: in the first there is nothing yet to compare memory with. */
void ae_order_draw(int *order, int first, int all, int per_group);

#endif
