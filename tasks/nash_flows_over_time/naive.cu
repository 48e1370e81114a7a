/* One block a scenario, all steps in one launch: each loop of the definition over nodes or roads is
 * spread over the block's threads with a barrier behind it, and distances are computed from scratch
 * in every step by sweeps of Bellman-Ford until nothing changes. Bound by those sweeps: some twenty
 * barriers a step, on as many multiprocessors as there are scenarios. Sums are exact in any order,
 * so atomics may add arrivals. */
#include "check.cuh"

#include <climits>

#define THREADS     1024
#define RING        32
#define UNREACHABLE 1000000000

struct network {
    int n, m;
    const int *tail, *head, *transit;
    const float *capacity;
};

static __global__ void simulate(network net, int steps, const float *rates, float *all_waiting,
                                float *all_queue, float *all_moving, int *all_weight,
                                int *all_distance, int *all_next, float *results)
{
    const size_t r = blockIdx.x, n = net.n, m = net.m;
    const int first = threadIdx.x, dest = net.n - 1;
    float *waiting = all_waiting + r * n, *queue = all_queue + r * m,
          *moving = all_moving + r * m * RING;
    int *weight = all_weight + r * m, *distance = all_distance + r * n, *next = all_next + r * n;
    float total = 0;

    for (int t = 0; t < steps; t++) {
        float *arriving = moving + (size_t)(t % RING) * m;
        for (int e = first; e < net.m; e += THREADS) {
            if (arriving[e] > 0)
                atomicAdd(&waiting[net.head[e]], arriving[e]);
            arriving[e] = 0;
            weight[e] = 1000 * net.transit[e] +
                        (int)__fmul_rn(__fdiv_rn(queue[e], net.capacity[e]), 1000.0f);
        }
        for (int i = first; i < net.n; i += THREADS) {
            distance[i] = i == dest ? 0 : UNREACHABLE;
            next[i] = INT_MAX;
        }
        __syncthreads();
        if (first == 0)
            waiting[0] += rates[r];

        int changed = 1;
        while (__syncthreads_or(changed)) {
            changed = 0;
            for (int e = first; e < net.m; e += THREADS) {
                const int through = weight[e] + distance[net.head[e]];
                if (through < distance[net.tail[e]]) {
                    atomicMin(&distance[net.tail[e]], through);
                    changed = 1;
                }
            }
        }
        for (int e = first; e < net.m; e += THREADS) {
            const int to = distance[net.head[e]];
            if (to < UNREACHABLE && weight[e] + to == distance[net.tail[e]])
                atomicMin(&next[net.tail[e]], e);
        }
        __syncthreads();
        for (int i = first; i < dest; i += THREADS)
            if (next[i] < INT_MAX) { /* a road has one start: nobody else adds to its queue */
                queue[next[i]] += waiting[i];
                waiting[i] = 0;
            }
        __syncthreads();
        for (int e = first; e < net.m; e += THREADS) {
            const float enters = fminf(queue[e], net.capacity[e]);
            queue[e] -= enters;
            moving[(size_t)((t + net.transit[e]) % RING) * m + e] = enters;
        }
        if (first == 0) {
            total += waiting[dest];
            waiting[dest] = 0;
        }
        __syncthreads();
    }
    if (first == 0)
        results[r] = total;
}

template <typename T> static T *upload(const T *host, size_t count)
{
    T *device;
    CHECK(cudaMalloc(&device, count * sizeof(T)));
    CHECK(cudaMemcpy(device, host, count * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

template <typename T> static T *zeros(size_t count)
{
    T *device;
    CHECK(cudaMalloc(&device, count * sizeof(T)));
    CHECK(cudaMemset(device, 0, count * sizeof(T)));
    return device;
}

extern "C" void solution_compute(int num_nodes, int num_edges, int num_steps, const int *edge_u,
                                 const int *edge_v, const float *edge_capacity,
                                 const int *edge_transit_time, int num_requests,
                                 const float *inflow_rates, float *results)
{
    const size_t n = num_nodes, m = num_edges, requests = num_requests;
    int *tail = upload(edge_u, m), *head = upload(edge_v, m),
        *transit = upload(edge_transit_time, m);
    float *capacity = upload(edge_capacity, m), *rates = upload(inflow_rates, requests);
    float *waiting = zeros<float>(requests * n), *queue = zeros<float>(requests * m);
    float *moving = zeros<float>(requests * m * RING), *totals = zeros<float>(requests);
    int *weight = zeros<int>(requests * m), *distance = zeros<int>(requests * n),
        *next = zeros<int>(requests * n);

    const network net = {num_nodes, num_edges, tail, head, transit, capacity};
    simulate<<<num_requests, THREADS>>>(net, num_steps, rates, waiting, queue, moving, weight,
                                        distance, next, totals);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(results, totals, requests * sizeof(float), cudaMemcpyDeviceToHost));

    void *all[] = {tail,  head,   transit, capacity, rates,    waiting,
                   queue, moving, totals,  weight,   distance, next};
    for (void *p : all)
        CHECK(cudaFree(p));
}
