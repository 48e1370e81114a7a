/* Union-find over half of the stored edges (each undirected edge stands in both rows: the end with
 * the higher id takes it), higher roots hung below lower ones by compare-and-swap, paths halved on
 * the way. What costs time are misses on the parent array; they are asked for some edges ahead. */
#include <stdbool.h>

#define AHEAD 24

static int get(const int *parent, int v)
{
    return __atomic_load_n(&parent[v], __ATOMIC_RELAXED);
}

/* The root of v. A vertex below a root only ever moves to one of its ancestors, so stale reads do
 * no harm. */
static int find(int *parent, int v)
{
    for (;;) {
        const int p = get(parent, v);
        const int g = get(parent, p);
        if (p == g)
            return p;
        __atomic_store_n(&parent[v], g, __ATOMIC_RELAXED);
        v = g;
    }
}

static void join(int *parent, int u, int v)
{
    int a = find(parent, u), b = find(parent, v);
    while (a != b) {
        const int low = a < b ? a : b;
        int high = a < b ? b : a;
        if (__atomic_compare_exchange_n(&parent[high], &(int){high}, low, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return;
        a = find(parent, low);
        b = find(parent, high);
    }
}

void solution_compute(int n, int neighbor_rounds, int num_samples, const int *row_ptr,
                      const int *col_idx, int *comp_out)
{
    (void)neighbor_rounds;
    (void)num_samples;
    const int m = row_ptr[n];
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int v = 0; v < n; v++)
            comp_out[v] = v;
#pragma omp for schedule(dynamic, 1024)
        for (int u = 0; u < n; u++)
            for (int e = row_ptr[u]; e < row_ptr[u + 1]; e++) {
                if (e < m - AHEAD)
                    __builtin_prefetch(&comp_out[col_idx[e + AHEAD]]);
                /* Most edges join what is joined already: one look tells. */
                if (col_idx[e] < u && get(comp_out, col_idx[e]) != get(comp_out, u))
                    join(comp_out, u, col_idx[e]);
            }
        /* Without halving: it would write to vertices that other threads have finished, and a late
         * store of an older ancestor would replace their root. */
#pragma omp for schedule(static)
        for (int v = 0; v < n; v++) {
            int root = get(comp_out, v);
            for (int above = get(comp_out, root); above != root; above = get(comp_out, root))
                root = above;
            __atomic_store_n(&comp_out[v], root, __ATOMIC_RELAXED);
        }
    }
}
