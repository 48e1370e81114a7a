//= present: one more column
__global__ void t(const float *a, float *b)
{
    __shared__ float tile[32][32 + 1];
    tile[threadIdx.y][threadIdx.x] = a[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    b[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

//= present: a pad by name
#define TILE 16
#define PAD 4
__global__ void t(const float *a, float *b)
{
    __shared__ float tile[TILE][TILE + PAD];
    tile[threadIdx.y][threadIdx.x] = a[threadIdx.y * TILE + threadIdx.x];
    __syncthreads();
    b[threadIdx.y * TILE + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

//= present: swizzled by XOR
__global__ void t(const float *a, float *b)
{
    __shared__ float tile[32 * 32];
    const int x = threadIdx.x, y = threadIdx.y;
    tile[y * 32 + (x ^ y)] = a[y * 32 + x];
    __syncthreads();
    b[y * 32 + x] = tile[x * 32 + (x ^ y)];
}

//= absent: an odd size by chance
__global__ void t(const float *a, float *b)
{
    __shared__ float window[7][5];
    window[threadIdx.y][threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    b[threadIdx.x] = window[threadIdx.x][threadIdx.y];
}

//= absent: a halo on both sides
__global__ void t(const float *a, float *b)
{
    __shared__ float tile[16 + 2][16 + 2];
    tile[threadIdx.y + 1][threadIdx.x + 1] = a[threadIdx.x];
    __syncthreads();
    b[threadIdx.x] = tile[threadIdx.y][threadIdx.x + 1] + tile[threadIdx.y + 2][threadIdx.x + 1];
}

//= absent: buffers exchanged by XOR
__global__ void t(const float *a, float *b, int n)
{
    __shared__ float row[2][256];
    int now = 0;
    row[0][threadIdx.x] = 0;
    for (int k = 0; k < n; k++) {
        row[now ^ 1][threadIdx.x] = row[now][threadIdx.x] + 1;
        now ^= 1;
        __syncthreads();
    }
    b[threadIdx.x] = row[now][threadIdx.x];
}

//= absent: a table with one size more
__global__ void f(const int *in, int *out)
{
    __shared__ int table[20][12 + 1];
    for (int k = threadIdx.y; k < 20; k += blockDim.y)
        table[k][threadIdx.x] = in[k * 13 + threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = table[threadIdx.y][threadIdx.x];
}

//= present: four more, for alignment
#define BM 128
__global__ void f(const float *a, float *b)
{
    __shared__ float as[8][BM + 4];
    as[threadIdx.x % 8][threadIdx.x / 8] = a[threadIdx.x];
    __syncthreads();
    b[threadIdx.x] = as[threadIdx.x / 128][threadIdx.x % 128];
}
