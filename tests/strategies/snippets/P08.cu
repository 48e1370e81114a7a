//= present: a histogram of the block
__global__ void f(const int *in, int *out, int n)
{
    __shared__ int h[64];
    if (threadIdx.x < 64)
        h[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&h[in[i]], 1);
    __syncthreads();
    if (threadIdx.x < 64)
        atomicAdd(&out[threadIdx.x], h[threadIdx.x]);
}

//= present: one atomic a warp
__global__ void f(const float *a, float *b)
{
    float x = a[blockIdx.x * blockDim.x + threadIdx.x];
    for (int d = 16; d > 0; d /= 2)
        x += __shfl_down_sync(~0u, x, d);
    if (threadIdx.x % 32 == 0)
        atomicAdd(b, x);
}

//= present: counted by a vote
__global__ void f(const int *a, int *count)
{
    const unsigned hits = __ballot_sync(~0u, a[threadIdx.x] > 0);
    if ((threadIdx.x & 31) == 0)
        atomicAdd(count, __popc(hits));
}

//= absent: an atomic an item
__global__ void f(const int *in, int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&out[in[i]], 1);
}

//= absent: arrivals at a barrier
__global__ void f(unsigned *arrivals)
{
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(arrivals, 1u);
}

//= absent: a state in shared memory, lowered by atomics
__global__ void f(const int *to, const int *w, int m, int *out)
{
    __shared__ int d[256];
    d[threadIdx.x] = 1 << 28;
    __syncthreads();
    for (int e = threadIdx.x; e < m; e += blockDim.x)
        atomicMin(&d[to[e]], w[e]);
    __syncthreads();
    out[threadIdx.x] = d[threadIdx.x];
}

//= present: a copy a warp, merged by a sum
__global__ void histogram(const int *data, int n, unsigned *bins)
{
    __shared__ unsigned part[8][256];
    unsigned *mine = part[threadIdx.x / 32];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        atomicAdd(&mine[data[i] & 255], 1u);
    __syncthreads();
    unsigned sum = 0;
    for (int w = 0; w < 8; w++)
        sum += part[w][threadIdx.x];
    atomicAdd(&bins[threadIdx.x], sum);
}

//= present: one atomic for what a scan counted
#include <cub/cub.cuh>
__global__ void append(const int *in, int *out, int *size)
{
    using Scan = cub::BlockScan<int, 256>;
    __shared__ typename Scan::TempStorage temp;
    __shared__ int base;
    const int found = in[blockIdx.x * 256 + threadIdx.x];
    int place, total;
    Scan(temp).ExclusiveSum(found >= 0 ? 1 : 0, place, total);
    if (threadIdx.x == 0)
        base = atomicAdd(size, total);
    __syncthreads();
    if (found >= 0)
        out[base + place] = found;
}

//= absent: one thread adds a number that it was handed
__global__ void count(int share, int *size)
{
    if (threadIdx.x == 0)
        atomicAdd(size, share);
}
