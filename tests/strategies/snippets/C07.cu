//= present: an intrinsic
__global__ void f(const float *a, float *b) { b[threadIdx.x] = __expf(a[threadIdx.x]) * rsqrtf(a[0]); }

//= present: explicit multiply-add
__device__ float g(float x) { return fmaf(x, 2.0f, 1.0f); }
__global__ void f(float *b) { b[threadIdx.x] = g(b[threadIdx.x]); }

//= present: a reciprocal outside the loop
__global__ void f(float *a, float h, int n)
{
    const float inv_h = 1.0f / h;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        a[i] = a[i] * inv_h;
}

//= absent: plain functions
__global__ void f(const float *a, float *b) { b[threadIdx.x] = expf(a[threadIdx.x]) / sqrtf(a[0]) + a[1] * a[2]; }

//= absent: a term of the formula
__global__ void f(const float *d, float *b)
{
    const float k = 1.0f / (1.0f + 0.2316419f * d[threadIdx.x]);
    b[threadIdx.x] = k * 0.31938153f;
}

//= absent: on the host
static float g(float x) { return fmaf(x, 2.0f, 1.0f); }
__global__ void f(float *b, float c) { b[threadIdx.x] = c; }
void run(float *b) { f<<<1, 32>>>(b, g(3)); }

//= present: the host divides once
__global__ void cells(const float *x, float inv, int *cell)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    cell[i] = (int)floorf(x[i] * inv);
}
void run(const float *x, float size, int *cell)
{
    cells<<<64, 64>>>(x, 1.0f / size, cell);
}

//= absent: a share that kernels add
__global__ void begin(float share, float *score)
{
    score[blockIdx.x * blockDim.x + threadIdx.x] = share + 0.5f;
}
void run(int n, float *score)
{
    begin<<<64, 64>>>(1.0f / n, score);
}
