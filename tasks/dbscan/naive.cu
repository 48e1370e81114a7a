/* Brute force, one thread a point in every kernel: count neighbours; spread the smallest index
 * through the core points, sweep after sweep until nothing changes; label core points and borders.
 * Each sweep looks at all N^2 pairs, so the cost is N^2 times the number of sweeps, and a flag
 * returns to the host after each. Following a label to its own label, one step a sweep, keeps the
 * sweeps few even where clusters are long chains. The distance is rounded operation by operation,
 * as the contract says. */
#include "check.cuh"

struct cloud {
    int count;
    const float *xs, *ys;
    float eps;
};

__device__ bool near(const cloud &c, float x, float y, int j)
{
    const float dx = x - c.xs[j], dy = y - c.ys[j];
    return __fsqrt_rn(__fadd_rn(__fmul_rn(dx, dx), __fmul_rn(dy, dy))) <= c.eps;
}

/* first[i]: the point's own index for core points, -1 for others. */
__global__ void find_cores(cloud c, int min_pts, int *first)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= c.count)
        return;
    int degree = 0;
    for (int j = 0; j < c.count; j++)
        degree += j != i && near(c, c.xs[i], c.ys[i], j);
    first[i] = degree >= min_pts ? i : -1;
}

/* In place: a thread may see its neighbours' old or new labels, and writes only its own. Labels
 * only fall, and where a sweep changes none, all points of a component have the smallest index. */
__global__ void sweep(cloud c, volatile int *first, int *changed)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= c.count || first[i] < 0)
        return;
    const int old = first[i];
    int least = old;
    for (int j = 0; j < c.count; j++) {
        const int other = first[j];
        if (other >= 0 && other < least && near(c, c.xs[i], c.ys[i], j))
            least = other;
    }
    const int beyond = first[least]; /* a core point of the same component, too */
    least = min(least, beyond);
    if (least < old) {
        first[i] = least;
        *changed = 1;
    }
}

/* number[f]: the number of the cluster whose first point is f. */
__global__ void label_points(cloud c, const int *first, const int *number, int *labels)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= c.count)
        return;
    if (first[i] >= 0) {
        labels[i] = number[first[i]];
        return;
    }
    int smallest = 0, opened = 0;
    for (int j = 0; j < c.count; j++) {
        if (first[j] < 0 || !near(c, c.xs[i], c.ys[i], j))
            continue;
        const int cluster = number[first[j]];
        smallest = smallest == 0 ? cluster : min(smallest, cluster);
        if (first[j] == j)
            opened = max(opened, cluster);
    }
    labels[i] = smallest == 0 ? -2 : max(smallest, opened);
}

extern "C" void solution_compute(int N, const float *xs, const float *ys, float eps, int minPts,
                                 int *labels)
{
    const size_t n = N, bytes = n * sizeof(int);
    float *d_xs, *d_ys;
    int *d_first, *d_number, *d_labels, *d_changed;
    CHECK(cudaMalloc(&d_xs, bytes));
    CHECK(cudaMalloc(&d_ys, bytes));
    CHECK(cudaMalloc(&d_first, bytes));
    CHECK(cudaMalloc(&d_number, bytes));
    CHECK(cudaMalloc(&d_labels, bytes));
    CHECK(cudaMalloc(&d_changed, sizeof(int)));
    CHECK(cudaMemcpy(d_xs, xs, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_ys, ys, bytes, cudaMemcpyHostToDevice));

    const cloud c = {N, d_xs, d_ys, eps};
    const int threads = 128, blocks = (N + threads - 1) / threads;
    find_cores<<<blocks, threads>>>(c, minPts, d_first);
    CHECK(cudaGetLastError());
    for (int changed = 1; changed;) {
        CHECK(cudaMemset(d_changed, 0, sizeof(int)));
        sweep<<<blocks, threads>>>(c, d_first, d_changed);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(&changed, d_changed, sizeof(int), cudaMemcpyDeviceToHost));
    }

    /* Clusters are numbered in the order of their first points; labels serves as scratch memory. */
    int *number = (int *)malloc(bytes), clusters = 0;
    if (!number)
        abort();
    CHECK(cudaMemcpy(labels, d_first, bytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        number[i] = labels[i] == i ? ++clusters : 0;
    CHECK(cudaMemcpy(d_number, number, bytes, cudaMemcpyHostToDevice));
    free(number);
    label_points<<<blocks, threads>>>(c, d_first, d_number, d_labels);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(labels, d_labels, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_xs));
    CHECK(cudaFree(d_ys));
    CHECK(cudaFree(d_first));
    CHECK(cudaFree(d_number));
    CHECK(cudaFree(d_labels));
    CHECK(cudaFree(d_changed));
}
