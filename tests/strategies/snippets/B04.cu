//= present: the row of an element, searched
__device__ int row_of(const int *start, int rows, int k)
{
    int lo = 0, hi = rows;
    while (lo + 1 < hi) {
        const int mid = (lo + hi) / 2;
        if (start[mid] <= k)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}
__global__ void f(const int *start, int rows, int nnz, float *out)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < nnz)
        atomicAdd(&out[row_of(start, rows, k)], 1.0f);
}

//= present: a thread an edge
__global__ void f(const int *from, const int *to, const int *w, int *d, int m)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < m) {
        const int u = from[e], v = to[e];
        atomicMin(&d[v], d[u] + w[e]);
    }
}

//= present: merge path by name
__global__ void f(const int *start, int rows, int nnz, float *y)
{
    const int2 place = merge_path_search(blockIdx.x * 256, start, rows, nnz);
    y[place.x] += place.y;
}

//= absent: a row a thread
__global__ void f(const int *start, const int *col, const float *x, float *y, int n)
{
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = start[r]; k < start[r + 1]; k++)
        s += x[col[k]];
    y[r] = s;
}

//= absent: a binary search for a neighbour
__device__ bool has(const int *list, int n, int wanted)
{
    int lo = 0, hi = n;
    while (lo < hi) {
        const int mid = (lo + hi) / 2;
        if (list[mid] < wanted)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < n && list[lo] == wanted;
}
__global__ void f(const int *start, const int *to, int *count, int n)
{
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    for (int e = start[v]; e < start[v + 1]; e++)
        for (int g = start[to[e]]; g < start[to[e] + 1]; g++)
            *count += has(to + start[v], start[v + 1] - start[v], to[g]);
}

//= absent: two arrays read side by side
__global__ void f(const float *a, const float *b, float *c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

//= unknown: a bound in sorted keys
__global__ void f(const unsigned *key, int n, int *first)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    int low = 0, high = n;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (key[middle] < c)
            low = middle + 1;
        else
            high = middle;
    }
    first[c] = low;
}
