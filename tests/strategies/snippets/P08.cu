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
