/* Connected components by Afforest (Sutton, Ben-Nun, Barak 2018): link a few neighbours of every
 * vertex, guess the largest component so far from a sample, then link the remaining neighbours of
 * all vertices outside of it. Links always hang the higher root below the lower one, so that the
 * root of a tree is its smallest vertex. */
#include <stdlib.h>
#include <string.h>

/* Joins the trees of u and v. */
static void link_trees(int u, int v, int *parent)
{
    int a = parent[u], b = parent[v];
    while (a != b) {
        const int high = a > b ? a : b, low = a > b ? b : a;
        const int above = parent[high];
        if (above == low)
            return;
        if (above == high) { /* a root */
            parent[high] = low;
            return;
        }
        a = parent[above];
        b = parent[low];
    }
}

/* Makes every vertex point to its root. */
static void compress(int n, int *parent)
{
    for (int v = 0; v < n; v++)
        while (parent[v] != parent[parent[v]])
            parent[v] = parent[parent[v]];
}

/* The root that most of num_samples pseudo-random vertices point to; -1 without samples. */
static int most_frequent_root(int n, int num_samples, const int *parent, int *count)
{
    unsigned state = 1;
    int best = -1;
    memset(count, 0, (size_t)n * sizeof *count);
    for (int i = 0; i < num_samples; i++) {
        state = 1664525u * state + 1013904223u;
        const int root = parent[state % (unsigned)n];
        count[root]++;
        if (best < 0 || count[root] > count[best])
            best = root;
    }
    return best;
}

void solution_compute(int n, int neighbor_rounds, int num_samples, const int *row_ptr,
                      const int *col_idx, int *comp_out)
{
    int *parent = comp_out;
    int *count = malloc((size_t)n * sizeof *count);
    if (!count)
        return;
    for (int v = 0; v < n; v++)
        parent[v] = v;
    for (int round = 0; round < neighbor_rounds; round++) {
        for (int u = 0; u < n; u++)
            if (round < row_ptr[u + 1] - row_ptr[u])
                link_trees(u, col_idx[row_ptr[u] + round], parent);
        compress(n, parent);
    }
    const int largest = most_frequent_root(n, num_samples, parent, count);
    for (int u = 0; u < n; u++) {
        /* An edge between u and the largest component is seen from its other end, too: the graph is
         * symmetric. */
        if (parent[u] == largest || row_ptr[u + 1] - row_ptr[u] <= neighbor_rounds)
            continue;
        for (int e = row_ptr[u] + neighbor_rounds; e < row_ptr[u + 1]; e++)
            link_trees(u, col_idx[e], parent);
    }
    compress(n, parent);
    free(count);
}
