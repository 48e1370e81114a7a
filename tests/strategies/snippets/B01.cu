//= present: a queue of the next round
__global__ void expand(const int *now, int count, const int *start, const int *to, int *level, int *next, int *next_count)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= count)
        return;
    const int v = now[k];
    for (int e = start[v]; e < start[v + 1]; e++)
        if (atomicCAS(&level[to[e]], -1, level[v] + 1) == -1)
            next[atomicAdd(next_count, 1)] = to[e];
}
void run(int *now, int *next, const int *s, const int *t, int *l, int *c, int n)
{
    int count = 1;
    while (count > 0) {
        expand<<<count / 256 + 1, 256>>>(now, count, s, t, l, next, c);
        cudaMemcpy(&count, c, 4, cudaMemcpyDeviceToHost);
        std::swap(now, next);
    }
}

//= present: by a slot
__global__ void sweep(const int *work, int count, int *todo, int *todo_count, const float *x)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < count && x[work[k]] > 0) {
        const int slot = atomicAdd(todo_count, 1);
        todo[slot] = work[k];
    }
}
void run(int *a, int *b, int *c, const float *x, int n)
{
    for (int r = 0; r < 10; r++) {
        sweep<<<n / 256 + 1, 256>>>(a, n, b, c, x);
        std::swap(a, b);
    }
}

//= present: by the place among voters
__global__ void f(const int *in, int n, int *out)
{
    __shared__ int waiting[64];
    int count = 0;
    const int lane = threadIdx.x;
    for (int k = 0; k < n; k += 32) {
        const bool hit = in[k + lane] > 0;
        const unsigned hits = __ballot_sync(~0u, hit);
        if (hit)
            waiting[count + __popc(hits & ((1u << lane) - 1))] = k + lane;
        count += __popc(hits);
        __syncwarp();
        if (count >= 32) {
            count -= 32;
            out[waiting[count + lane]] += 1;
        }
    }
}

//= absent: a sweep with a test
__global__ void f(const int *level, int now, int *next, int n)
{
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n && level[v] == now)
        next[v] = 1;
}

//= absent: a counting sort
__global__ void f(const int *bin, int *place, int *order, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        order[atomicAdd(&place[bin[i]], 1)] = i;
}
__global__ void g(const int *order, float *a) { a[order[threadIdx.x]] = 1; }

//= absent: a list that is only an output
__global__ void f(const float *a, int *hits, int *count, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && a[i] > 0)
        hits[atomicAdd(count, 1)] = i;
}
void run(const float *a, int *h, int *c, int n, int *host)
{
    f<<<n / 256 + 1, 256>>>(a, h, c, n);
    cudaMemcpy(host, h, n * 4, cudaMemcpyDeviceToHost);
}

//= absent: long rows for other hands
__global__ void split(const int *start, int *long_rows, int *count, int n)
{
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n && start[v + 1] - start[v] > 1024)
        long_rows[atomicAdd(count, 1)] = v;
}
__global__ void sum(const int *long_rows, const float *x, float *y) { y[long_rows[blockIdx.x]] += x[threadIdx.x]; }

//= present: pieces of rows appended field by field
struct piece {
    int first, edges;
};
__device__ void append(int u, const int *start, const int *degree, piece *next, int *next_count)
{
    const int at = atomicAdd(next_count, 1);
    next[at].first = start[u];
    next[at].edges = degree[u];
}
__global__ void expand(int count, const piece *queue, const int *head, const int *start, const int *degree, int *seen,
                       piece *next, int *next_count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    for (int e = 0; e < queue[i].edges; e++)
        if (atomicCAS(&seen[head[queue[i].first + e]], 0, 1) == 0)
            append(head[queue[i].first + e], start, degree, next, next_count);
}
void run(int count, piece *queue, piece *next, const int *head, const int *start, const int *degree, int *seen, int *n)
{
    while (count > 0) {
        expand<<<count / 256 + 1, 256>>>(count, queue, head, start, degree, seen, next, n);
        cudaMemcpy(&count, n, sizeof(int), cudaMemcpyDeviceToHost);
        piece *kept = queue;
        queue = next;
        next = kept;
    }
}

//= absent: records at the places of their items
struct piece {
    int first, edges;
};
__global__ void describe(const int *start, const int *degree, piece *all, int *total)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(total, degree[i]);
    all[i].first = start[i];
    all[i].edges = degree[i];
}
__global__ void use(const piece *all, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = all[i].first + all[i].edges;
}
void run(int n, const int *start, const int *degree, piece *all, int *total, int *out)
{
    describe<<<n / 256, 256>>>(start, degree, all, total);
    use<<<n / 256, 256>>>(all, out);
}
