/* Ghost zones: every thread owns a strip of columns and sweeps a block of rows alone, on a private
 * copy of the carried row that reaches one column further on either side for each row of the block.
 * What is wrong at the outer ends of the copy moves inwards one column a row and never arrives in
 * the strip, so that one barrier serves a whole block. The sweep itself is two vector minima and a
 * sum. */
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <omp.h>

enum { BLOCK_ROWS = 32, STRIP_COLS_MIN = 128 };

static inline void step(int *restrict to, const int *restrict from, const int *restrict cost, int n)
{
#pragma omp simd
    for (int c = 0; c < n; c++) {
        const int side = from[c - 1] < from[c + 1] ? from[c - 1] : from[c + 1];
        to[c] = cost[c] + (from[c] < side ? from[c] : side);
    }
}

void solution_compute(int rows, int cols, const int *wall, int *out_costs)
{
    if (rows <= 0 || cols <= 0)
        return;
    int strips = cols / STRIP_COLS_MIN;
    if (strips > omp_get_max_threads())
        strips = omp_get_max_threads();
    if (strips < 1)
        strips = 1;
    const size_t width = (size_t)cols;
    const size_t private_cols = width / (size_t)strips + 1 + 2 * BLOCK_ROWS + 2 + 16;
    int *carried = malloc((2 * width + 2 * private_cols * (size_t)strips) * sizeof *carried);
    if (!carried)
        return;
    memcpy(carried, wall, width * sizeof *carried);

#pragma omp parallel num_threads(strips)
    {
        /* The team may be smaller than asked for. */
        for (int first = 1, turn = 0; first < rows; first += BLOCK_ROWS, turn ^= 1) {
            const int last = rows - first < BLOCK_ROWS ? rows : first + BLOCK_ROWS;
            const int *before = carried + (size_t)turn * width;
            int *after = carried + (size_t)(turn ^ 1) * width;
#pragma omp for schedule(static)
            for (int s = 0; s < strips; s++) {
                const int begin = (int)((long long)cols * s / strips);
                const int end = (int)((long long)cols * (s + 1) / strips);
                const int left = begin < BLOCK_ROWS ? 0 : begin - BLOCK_ROWS;
                const int right = cols - end < BLOCK_ROWS ? cols : end + BLOCK_ROWS;
                const int n = right - left;
                int *a = carried + 2 * width + 2 * private_cols * (size_t)s + 1;
                int *b = a + private_cols;
                memcpy(a, before + left, (size_t)n * sizeof *a);
                a[-1] = a[n] = b[-1] = b[n] = INT_MAX;
                for (int r = first; r < last; r++) {
                    step(b, a, wall + (size_t)r * width + left, n);
                    int *swapped = a;
                    a = b;
                    b = swapped;
                }
                memcpy(after + begin, a + (begin - left), (size_t)(end - begin) * sizeof *a);
            }
        }
    }
    const int blocks = (rows - 1 + BLOCK_ROWS - 1) / BLOCK_ROWS;
    memcpy(out_costs, carried + (size_t)(blocks & 1) * width, width * sizeof *out_costs);
    free(carried);
}
