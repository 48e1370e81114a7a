//= present: a thread an element
__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 2 * in[i];
}

//= present: rows walked across by the lanes
__global__ void row_sums(const double *a, double *sums, int cols)
{
    double sum = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        sum += a[blockIdx.x * cols + c];
    atomicAdd(&sums[blockIdx.x], sum);
}

//= present: a two-dimensional grid, x along rows
__global__ void blur(const float *in, float *out, int w, int h)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < w - 1 && y < h)
        out[y * w + x] = in[y * w + x - 1] + in[y * w + x + 1];
}

//= absent: a thread a row, walked along
__global__ void row_sums(const float *a, float *sums, int rows, int cols)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float sum = 0;
    for (int c = 0; c < cols; c++)
        sum += a[r * cols + c];
    sums[r] = sum;
}

//= absent: linear through a gather only
__global__ void pull(const int *start, const int *neighbour, const float *x, float *y, int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    float sum = 0;
    for (int e = start[v]; e < start[v + 1]; e++)
        sum += x[neighbour[e]];
    y[v] = sum;
}

//= absent: fields of a structure of nine numbers
__global__ void push(const float *particles, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    out[9 * i] = particles[9 * i] + particles[9 * i + 3];
    out[9 * i + 1] = particles[9 * i + 1] + particles[9 * i + 4];
}

//= present: vectors side by side
__global__ void scale(const float *in, float *out, int n)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i < n) {
        float4 v = *reinterpret_cast<const float4 *>(&in[i]);
        v.x += v.y;
        *reinterpret_cast<float4 *>(out + i) = v;
    }
}

//= present: a team of eight reads a row
__global__ void rows(const int *row, const double *values, double *out, int n)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
    double sum = 0;
    for (int k = row[i] + lane; k < row[i + 1]; k += 8)
        sum += values[k];
    for (int d = 4; d > 0; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    if (lane == 0)
        out[i] = sum;
}

//= absent: a thread a row, whose bounds alone are side by side
__global__ void gather(const int *row, const int *column, const float *passed, float *score, int n)
{
    const int u = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int e = row[u]; e < row[u + 1]; e++)
        sum += passed[column[e]];
    score[u] = sum;
}

//= absent: pairs of threads, far apart
__global__ void pairs(const double *a, double *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    double sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[(size_t)i * n + k];
    out[i * n] = sum;
}
