//= present: a thread fetches
__global__ void f(int *next, float *a, int n)
{
    int i;
    while ((i = atomicAdd(next, 1)) < n)
        a[i] *= 2;
}

//= present: a block fetches
__global__ void f(int *next, float *a, int n)
{
    __shared__ int item;
    for (;;) {
        if (threadIdx.x == 0)
            item = atomicAdd(next, 1);
        __syncthreads();
        if (item >= n)
            break;
        a[item * 256 + threadIdx.x] *= 2;
        __syncthreads();
    }
}

//= present: a warp fetches
__global__ void f(int *next, float *a, int n)
{
    while (true) {
        int first = 0;
        if (threadIdx.x % 32 == 0)
            first = atomicAdd(next, 32);
        first = __shfl_sync(~0u, first, 0);
        if (first >= n)
            return;
        a[first + threadIdx.x % 32] *= 2;
    }
}

//= absent: a grid stride
__global__ void f(float *a, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        a[i] *= 2;
}

//= absent: appending in a loop
__global__ void f(const int *start, const int *to, int *queue, int *count)
{
    for (int e = start[threadIdx.x]; e < start[threadIdx.x + 1]; e++)
        if (to[e] > 0) {
            const int slot = atomicAdd(count, 1);
            queue[slot] = to[e];
        }
}

//= absent: adding to a result in a loop
__global__ void f(const int *in, int *out, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        atomicAdd(&out[in[i]], 1);
}
