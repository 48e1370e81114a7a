/* One Dijkstra search per distinct source, the sources spread over the cores. The heap holds one
 * 64-bit key an entry, float bits of the distance above the vertex (non-negative floats order like
 * integers); outdated entries are skipped when they surface. A search ends when all targets of its
 * source are settled. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define UNREACHED 1e30f
#define ARITY     4

struct heap {
    uint64_t *keys;
    size_t count, capacity;
};

static uint64_t key_of(float distance, int vertex)
{
    uint32_t bits;
    memcpy(&bits, &distance, sizeof bits);
    return (uint64_t)bits << 32 | (uint32_t)vertex;
}

static bool heap_push(struct heap *h, uint64_t key)
{
    if (h->count == h->capacity) {
        const size_t capacity = h->capacity ? 2 * h->capacity : 4096;
        uint64_t *keys = realloc(h->keys, capacity * sizeof *keys);
        if (!keys)
            return false;
        h->keys = keys;
        h->capacity = capacity;
    }
    size_t i = h->count++;
    for (; i > 0 && h->keys[(i - 1) / ARITY] > key; i = (i - 1) / ARITY)
        h->keys[i] = h->keys[(i - 1) / ARITY];
    h->keys[i] = key;
    return true;
}

static uint64_t heap_pop(struct heap *h)
{
    const uint64_t top = h->keys[0], last = h->keys[--h->count];
    size_t i = 0;
    for (;;) {
        const size_t first = ARITY * i + 1;
        if (first >= h->count)
            break;
        const size_t end = first + ARITY < h->count ? first + ARITY : h->count;
        size_t least = first;
        for (size_t c = first + 1; c < end; c++)
            least = h->keys[c] < h->keys[least] ? c : least;
        if (h->keys[least] >= last)
            break;
        h->keys[i] = h->keys[least];
        i = least;
    }
    if (h->count > 0)
        h->keys[i] = last;
    return top;
}

/* The requests order[0..count-1] share one source; their targets are valid. wanted[] is all zero
 * between calls. */
static void search(int V, const int *row_offsets, const int *col_indices, const float *weights,
                   const int *order, int count, const int *sources, const int *targets,
                   float *distances, float *distance, unsigned char *wanted, struct heap *heap)
{
    for (int v = 0; v < V; v++)
        distance[v] = UNREACHED;
    int open = 0;
    for (int i = 0; i < count; i++) {
        open += !wanted[targets[order[i]]];
        wanted[targets[order[i]]] = 1;
    }
    heap->count = 0;
    distance[sources[order[0]]] = 0;
    bool fits = heap_push(heap, key_of(0, sources[order[0]]));
    while (heap->count > 0 && fits) {
        const uint64_t key = heap_pop(heap);
        const int u = (int)(uint32_t)key;
        const float from = distance[u];
        if (key != key_of(from, u))
            continue;
        if (wanted[u]) {
            wanted[u] = 0;
            if (--open == 0)
                break;
        }
        for (int e = row_offsets[u]; e < row_offsets[u + 1] && fits; e++) {
            const float candidate = from + weights[e];
            const int v = col_indices[e];
            if (candidate < distance[v]) {
                distance[v] = candidate;
                fits = heap_push(heap, key_of(candidate, v));
            }
        }
    }
    for (int i = 0; i < count; i++) {
        distances[order[i]] = distance[targets[order[i]]];
        wanted[targets[order[i]]] = 0;
    }
}

struct request {
    int source, index;
};

static int by_source(const void *a, const void *b)
{
    const struct request *x = a, *y = b;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

void solution_compute(int V, int E, const int *h_row_offsets, const int *h_col_indices,
                      const float *h_weights, int num_requests, const int *h_sources,
                      const int *h_targets, float *h_distances)
{
    (void)E;
    struct request *requests = malloc(((size_t)num_requests + 1) * sizeof *requests);
    int *order = malloc(((size_t)num_requests + 1) * sizeof *order);
    int *first = malloc(((size_t)num_requests + 1) * sizeof *first);
    int valid = 0, groups = 0;
    if (requests && order && first) {
        for (int i = 0; i < num_requests; i++) {
            h_distances[i] = UNREACHED;
            if (h_sources[i] >= 0 && h_sources[i] < V && h_targets[i] >= 0 && h_targets[i] < V)
                requests[valid++] = (struct request){h_sources[i], i};
        }
        qsort(requests, (size_t)valid, sizeof *requests, by_source);
        for (int i = 0; i < valid; i++) {
            order[i] = requests[i].index;
            if (i == 0 || requests[i].source != requests[i - 1].source)
                first[groups++] = i;
        }
        first[groups] = valid;
    }
#pragma omp parallel if (groups > 1)
    {
        float *distance = malloc((size_t)V * sizeof *distance);
        unsigned char *wanted = calloc((size_t)V, 1);
        struct heap heap = {0};
#pragma omp for schedule(dynamic, 1)
        for (int g = 0; g < groups; g++)
            if (distance && wanted)
                search(V, h_row_offsets, h_col_indices, h_weights, order + first[g],
                       first[g + 1] - first[g], h_sources, h_targets, h_distances, distance, wanted,
                       &heap);
        free(distance);
        free(wanted);
        free(heap.keys);
    }
    free(requests);
    free(order);
    free(first);
}
