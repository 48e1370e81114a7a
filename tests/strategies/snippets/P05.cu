//= present: a block a row
__global__ void f(const float *a, float *b, int cols)
{
    const int row = blockIdx.x;
    float sum = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        sum += a[row * cols + c];
    atomicAdd(&b[row], sum);
}

//= present: a warp a row of a sparse matrix
__global__ void f(const int *start, const int *col, const double *v, const double *x, double *y, int n)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= n)
        return;
    double sum = 0;
    for (int k = start[row] + lane; k < start[row + 1]; k += 32)
        sum += v[k] * x[col[k]];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    if (lane == 0)
        y[row] = sum;
}

//= present: a block a pair, an element a thread
__global__ void f(const float *a, const float *b, float *out, int n)
{
    const int pair = blockIdx.x;
    __shared__ float s[128];
    s[threadIdx.x] = a[pair * 128 + threadIdx.x];
    for (int k = 0; k < n; k++) {
        __syncthreads();
        const float v = s[127 - threadIdx.x] + b[k];
        __syncthreads();
        s[threadIdx.x] = v;
    }
    out[pair * 128 + threadIdx.x] = s[threadIdx.x];
}

//= absent: a thread a row
__global__ void f(const float *a, float *b, int rows, int cols)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    for (int c = 0; c < cols; c++)
        sum += a[row * cols + c];
    b[row] = sum;
}

//= absent: a grid stride
__global__ void f(float *a, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        a[i] *= 2;
}

//= absent: a tile filled together
__global__ void f(const float *a, float *b, int n)
{
    __shared__ float s[512];
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = threadIdx.x; k < 512; k += blockDim.x)
        s[k] = a[k];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 512; k++)
        sum += s[k] * row;
    b[row] = sum;
}

//= present: lanes that hand values on
__global__ void f(const float *rows, float *out, int n, int items)
{
    const int item = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (item >= items)
        return;
    float v = rows[item * 32 + lane];
    for (int k = 0; k < n; k++) {
        const float left = __shfl_up_sync(~0u, v, 1);
        v = lane > 0 ? 0.5f * (v + left) : v;
    }
    out[item * 32 + lane] = v;
}

//= absent: a thread a row, and a sum of the warp
__global__ void f(const float *a, float *total, int rows, int cols)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    float sum = 0;
    if (row < rows)
        for (int c = 0; c < cols; c++)
            sum += a[row * cols + c];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (lane == 0)
        atomicAdd(total, sum);
}

//= absent: a tile of a plane
__global__ void f(const float *a, float *c, int n)
{
    __shared__ float s[16][16];
    const int bx = blockIdx.x, by = blockIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        s[threadIdx.y][threadIdx.x] = a[(by * 16 + threadIdx.y) * n + k + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 16; j++)
            sum += s[threadIdx.y][j];
        __syncthreads();
    }
    c[(by * 16 + threadIdx.y) * n + bx * 16 + threadIdx.x] = sum;
}
