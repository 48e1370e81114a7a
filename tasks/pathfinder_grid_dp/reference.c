/* Cheapest paths from the first to the last row of a grid, one row a move and at most one column to
 * the side: dynamic programming over the rows, D(r,c) = wall(r,c) + min D(r-1, c-1..c+1). */
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>

static int min(int a, int b)
{
    return a < b ? a : b;
}

void solution_compute(int rows, int cols, const int *wall, int *out_costs)
{
    if (rows <= 0 || cols <= 0)
        return;
    /* Two rows of D, each with a cell that is never the cheapest beyond either border. */
    const size_t padded = (size_t)cols + 2;
    int *buffer = malloc(2 * padded * sizeof *buffer);
    if (!buffer)
        return;
    int *above = buffer + 1, *current = above + padded;
    above[-1] = above[cols] = current[-1] = current[cols] = INT_MAX;

    for (int c = 0; c < cols; c++)
        above[c] = wall[c];
    for (int r = 1; r < rows; r++) {
        const int *cost = wall + (size_t)r * (size_t)cols;
        for (int c = 0; c < cols; c++)
            current[c] = cost[c] + min(above[c], min(above[c - 1], above[c + 1]));
        int *swapped = above;
        above = current;
        current = swapped;
    }
    for (int c = 0; c < cols; c++)
        out_costs[c] = above[c];
    free(buffer);
}
