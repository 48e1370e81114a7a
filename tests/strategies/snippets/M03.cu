//= present: tiles of a product
__global__ void gemm(const float *a, const float *b, float *c, int n)
{
    __shared__ float at[16][16], bt[16][16];
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        at[threadIdx.y][threadIdx.x] = a[(blockIdx.y * 16 + threadIdx.y) * n + k + threadIdx.x];
        bt[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + blockIdx.x * 16 + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 16; j++)
            sum += at[threadIdx.y][j] * bt[j][threadIdx.x];
        __syncthreads();
    }
    c[(blockIdx.y * 16 + threadIdx.y) * n + blockIdx.x * 16 + threadIdx.x] = sum;
}

//= present: a stencil with a halo, in dynamic shared memory
__global__ void stencil(const float *in, float *out, int n)
{
    extern __shared__ float s[];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x + 1;
    s[t] = in[i];
    if (threadIdx.x == 0)
        s[0] = in[i - 1];
    if (threadIdx.x == blockDim.x - 1)
        s[t + 1] = in[i + 1];
    __syncthreads();
    out[i] = s[t - 1] + s[t] + s[t + 1];
}

//= present: by way of a register and a helper
__device__ float nearest(const float *tile, float x)
{
    float best = 1e30f;
    for (int j = 0; j < 128; j++)
        best = fminf(best, fabsf(tile[j] - x));
    return best;
}
__global__ void closest(const float *a, const float *b, float *out, int n)
{
    __shared__ float tile[128];
    float best = 1e30f, x = a[blockIdx.x * 128 + threadIdx.x];
    for (int k = 0; k < n; k += 128) {
        const float v = b[k + threadIdx.x];
        tile[threadIdx.x] = v;
        __syncthreads();
        best = fminf(best, nearest(tile, x));
        __syncthreads();
    }
    out[blockIdx.x * 128 + threadIdx.x] = best;
}

//= absent: a reduction
__global__ void sum(const float *in, float *out)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int d = 128; d > 0; d >>= 1) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

//= absent: a counter
__global__ void count(const int *in, int *total, int n)
{
    __shared__ int hits;
    if (threadIdx.x == 0)
        hits = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        if (in[i] > 0)
            atomicAdd(&hits, 1);
    __syncthreads();
    if (threadIdx.x == 0)
        total[blockIdx.x] = hits;
}

//= absent: rows of a table that is computed there
__global__ void table(float *out, int n)
{
    __shared__ float row[256];
    row[threadIdx.x] = threadIdx.x;
    __syncthreads();
    for (int k = 0; k < n; k++) {
        float left = threadIdx.x > 0 ? row[threadIdx.x - 1] : 0;
        __syncthreads();
        row[threadIdx.x] = row[threadIdx.x] + left;
        __syncthreads();
    }
    out[blockIdx.x * 256 + threadIdx.x] = row[threadIdx.x];
}

//= absent: partial sums that go to others
__global__ void f(const float *a, float *b, int n)
{
    __shared__ float part[32];
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += a[i];
    part[threadIdx.x % 32] = sum;
    __syncthreads();
    float all = 0;
    for (int w = 0; w < 32; w++)
        all += part[w];
    b[threadIdx.x] = all;
}

//= absent: a queue of the block
__global__ void f(const int *start, const int *to, int *level, int *next, int *count)
{
    __shared__ int queue[512], waiting;
    const int u = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        waiting = 0;
    __syncthreads();
    for (int e = start[u]; e < start[u + 1]; e++) {
        const int v = to[e];
        if (atomicCAS(&level[v], -1, 1) == -1) {
            const int at = atomicAdd(&waiting, 1);
            queue[at] = v;
        }
    }
    __syncthreads();
    for (int k = threadIdx.x; k < waiting; k += blockDim.x)
        next[atomicAdd(count, 1)] = queue[k];
}
