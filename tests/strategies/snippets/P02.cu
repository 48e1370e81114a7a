//= present: shuffles
__global__ void f(const float *a, float *b)
{
    float x = a[threadIdx.x];
    for (int d = 16; d > 0; d >>= 1)
        x += __shfl_down_sync(0xffffffff, x, d);
    if (threadIdx.x == 0)
        *b = x;
}

//= present: a tree
__global__ void f(const float *a, float *b)
{
    __shared__ float s[256];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (threadIdx.x < d)
            s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + d]);
        __syncthreads();
    }
    *b = s[0];
}

//= present: a block reduction of CUB
__global__ void f(const float *a, float *b)
{
    typedef cub::BlockReduce<float, 256> Reduce;
    __shared__ typename Reduce::TempStorage t;
    const float sum = Reduce(t).Sum(a[threadIdx.x]);
    if (threadIdx.x == 0)
        b[blockIdx.x] = sum;
}

//= absent: atomics only
__global__ void f(const float *a, float *b, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(b, a[i]);
}

//= absent: a broadcast
__global__ void f(const float *a, float *b, int n)
{
    float x = a[threadIdx.x], s = 0;
    for (int k = 0; k < 32; k++)
        s += __shfl_sync(~0u, x, k);
    b[threadIdx.x] = s;
}

//= absent: a neighbour
__global__ void f(const float *a, float *b)
{
    const float x = a[threadIdx.x];
    b[threadIdx.x] = x + __shfl_down_sync(~0u, x, 1) + __shfl_up_sync(~0u, x, 1);
}
