//= present: in full
__global__ void f(float *a, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        a[i] *= 2;
}

//= present: by variables
__global__ void f(float *a, size_t n)
{
    const size_t stride = (size_t)gridDim.x * blockDim.x, first = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (size_t i = first; i < n; i += stride)
        a[i] *= 2;
}

//= present: a while loop over rows
__global__ void f(float *a, int rows, int cols)
{
    int r = blockIdx.x;
    while (r < rows) {
        a[r * cols + threadIdx.x] *= 2;
        r += gridDim.x;
    }
}

//= absent: within a block
__global__ void f(float *a, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        a[blockIdx.x * n + i] *= 2;
}

//= absent: tiles of a product
__global__ void f(const float *a, float *b, int n)
{
    float s = 0;
    for (int k = 0; k < n; k += 16)
        s += a[k + threadIdx.x];
    b[blockIdx.x * blockDim.x + threadIdx.x] = s;
}

//= absent: gridDim only decides the last block
__global__ void f(float *a, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < n; k++)
        if (blockIdx.x == gridDim.x - 1)
            a[i] += k;
}

//= present: a constant stride that is the number of all threads
__global__ void dot(int n, const double *a, double *parts)
{
    double sum = 0;
    for (long long i = blockIdx.x * 256 + threadIdx.x; i < n; i += 128 * 256)
        sum += a[i];
    parts[blockIdx.x * 256 + threadIdx.x] = sum;
}
void run(int n, const double *a, double *parts)
{
    dot<<<128, 256>>>(n, a, parts);
}

//= absent: a constant stride that is not
__global__ void rows(const double *a, double *sums)
{
    double sum = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < 1 << 20; i += 4096)
        sum += a[i];
    sums[blockIdx.x * 256 + threadIdx.x] = sum;
}
void run(const double *a, double *sums)
{
    rows<<<4, 256>>>(a, sums);
}
