//= present: a library scan
void f(int *a, int n) { thrust::exclusive_scan(thrust::device, a, a + n, a); }

//= present: shuffles at doubling distances
__device__ int scan(int x)
{
    const int lane = threadIdx.x % 32;
    for (int d = 1; d < 32; d *= 2) {
        const int below = __shfl_up_sync(~0u, x, d);
        if (lane >= d)
            x += below;
    }
    return x;
}
__global__ void f(int *a) { a[threadIdx.x] = scan(a[threadIdx.x]); }

//= present: shared memory at doubling distances
__global__ void f(int *a)
{
    __shared__ int s[256];
    const int t = threadIdx.x;
    s[t] = a[t];
    __syncthreads();
    for (int d = 1; d < 256; d <<= 1) {
        const int v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    a[t] = s[t];
}

//= absent: a reduction by shuffles
__global__ void f(const float *a, float *b)
{
    float x = a[threadIdx.x];
    for (int d = 16; d > 0; d >>= 1)
        x += __shfl_down_sync(~0u, x, d);
    if (threadIdx.x == 0)
        *b = x;
}

//= absent: a tree in shared memory
__global__ void f(const float *a, float *b)
{
    __shared__ float s[256];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (threadIdx.x < d)
            s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    *b = s[0];
}

//= absent: a value from the left neighbour
__global__ void f(const float *a, float *b, int n)
{
    float x = a[threadIdx.x];
    for (int k = 0; k < n; k++) {
        const float left = __shfl_up_sync(~0u, x, 1);
        x = fminf(left, x) + a[k];
    }
    b[threadIdx.x] = x;
}
