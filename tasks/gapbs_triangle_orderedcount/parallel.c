/* Vertices are renumbered by degree and every edge points to its end of higher rank, which keeps
 * all lists short, hubs included. For each u the list is entered into a bitmap of a few kilobytes;
 * then the lists of its members are looked up in it, without branches. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* rank[v]: position of v in ascending order of degree. */
static int rank_by_degree(int n, const int *row_ptr, int *rank, int *vertex)
{
    int most = 0;
    for (int v = 0; v < n; v++)
        most = row_ptr[v + 1] - row_ptr[v] > most ? row_ptr[v + 1] - row_ptr[v] : most;
    int *first = calloc((size_t)most + 2, sizeof *first);
    if (!first)
        return 0;
    for (int v = 0; v < n; v++)
        first[row_ptr[v + 1] - row_ptr[v] + 1]++;
    for (int d = 0; d <= most; d++)
        first[d + 1] += first[d];
    for (int v = 0; v < n; v++) {
        rank[v] = first[row_ptr[v + 1] - row_ptr[v]]++;
        vertex[rank[v]] = v;
    }
    free(first);
    return 1;
}

/* Triangles whose lowest rank is u. */
static uint64_t count_at(int u, const int *start, const int *list, uint64_t *bits)
{
    uint64_t count = 0;
    if (start[u + 1] - start[u] < 2)
        return 0;
    for (int e = start[u]; e < start[u + 1]; e++)
        bits[list[e] >> 6] |= UINT64_C(1) << (list[e] & 63);
    for (int e = start[u]; e < start[u + 1]; e++)
        for (int f = start[list[e]]; f < start[list[e] + 1]; f++)
            count += bits[list[f] >> 6] >> (list[f] & 63) & 1;
    for (int e = start[u]; e < start[u + 1]; e++)
        bits[list[e] >> 6] = 0;
    return count;
}

void solution_compute(int n, const int *row_ptr, const int *col_idx,
                      unsigned long long *triangle_count_out)
{
    const int m = row_ptr[n];
    int *rank = malloc((size_t)n * sizeof *rank), *vertex = malloc((size_t)n * sizeof *vertex);
    int *start = malloc(((size_t)n + 1) * sizeof *start),
        *list = malloc(((size_t)m / 2 + 1) * sizeof *list);
    uint64_t count = 0;
    if (rank && vertex && start && list && rank_by_degree(n, row_ptr, rank, vertex)) {
        start[0] = 0;
#pragma omp parallel
        {
#pragma omp for schedule(dynamic, 512)
            for (int u = 0; u < n; u++) {
                const int v = vertex[u];
                int degree = 0;
                for (int e = row_ptr[v]; e < row_ptr[v + 1]; e++)
                    degree += rank[col_idx[e]] > u;
                start[u + 1] = degree;
            }
#pragma omp single
            for (int u = 0; u < n; u++)
                start[u + 1] += start[u];
#pragma omp for schedule(dynamic, 512)
            for (int u = 0; u < n; u++) {
                int *next = list + start[u];
                for (int e = row_ptr[vertex[u]]; e < row_ptr[vertex[u] + 1]; e++)
                    if (rank[col_idx[e]] > u)
                        *next++ = rank[col_idx[e]];
            }
            uint64_t *bits = calloc(((size_t)n + 63) / 64, sizeof *bits);
#pragma omp for schedule(dynamic, 64) reduction(+ : count)
            for (int u = 0; u < n; u++)
                if (bits)
                    count += count_at(u, start, list, bits);
            free(bits);
        }
        *triangle_count_out = count;
    }
    free(rank);
    free(vertex);
    free(start);
    free(list);
}
