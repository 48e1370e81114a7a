//= present: structures to arrays on the host
extern "C" void solution_compute(int n, const float *points, float *out)
{
    std::vector<float> x(n), y(n);
    for (int i = 0; i < n; i++) {
        x[i] = points[2 * i];
        y[i] = points[2 * i + 1];
    }
    float *d_x, *d_y;
    cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_y, y.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    work<<<n / 256 + 1, 256>>>(n, d_x, d_y, out);
}

//= present: a kernel that transposes first
__global__ void transpose(const float *in, float *out, int rows, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * cols)
        out[(i % cols) * rows + i / cols] = in[i];
}
__global__ void work(const float *t, float *y, int rows, int cols)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int c = 0; c < cols; c++)
        sum += t[c * rows + r] * t[c * rows + r];
    y[r] = sum;
}
void run(const float *a, float *t, float *y, int r, int c)
{
    transpose<<<100, 256>>>(a, t, r, c);
    work<<<100, 256>>>(t, y, r, c);
}

//= present: coordinates packed into vectors
__global__ void pack(const float *x, const float *y, const float *z, const int *order, float4 *packed, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        packed[i] = make_float4(x[order[i]], y[order[i]], z[order[i]], 0);
}
__global__ void forces(const float4 *p, float *f, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int j = 0; j < n; j++)
        sum += p[j].x * p[i].y;
    f[i] = sum;
}
void run(const float *x, const float *y, const float *z, const int *o, float4 *p, float *f, int n)
{
    pack<<<n / 256 + 1, 256>>>(x, y, z, o, p, n);
    forces<<<n / 256 + 1, 256>>>(p, f, n);
}

//= absent: plain copies
extern "C" void solution_compute(int n, const float *a, float *b)
{
    float *d;
    std::vector<float> h(n);
    for (int i = 0; i < n; i++)
        h[i] = a[i];
    cudaMemcpy(d, h.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    work<<<n / 256 + 1, 256>>>(d, n);
    cudaMemcpy(b, d, n * sizeof(float), cudaMemcpyDeviceToHost);
}

//= absent: a tile turned in shared memory within the product
__global__ void gemm(const float *a, const float *b, float *c, int n)
{
    __shared__ float at[16][16], bt[16][16];
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        at[threadIdx.x][threadIdx.y] = a[(blockIdx.y * 16 + threadIdx.y) * n + k + threadIdx.x];
        bt[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + blockIdx.x * 16 + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 16; j++)
            sum += at[j][threadIdx.y] * bt[j][threadIdx.x];
        __syncthreads();
    }
    c[(blockIdx.y * 16 + threadIdx.y) * n + blockIdx.x * 16 + threadIdx.x] = sum;
}

//= absent: outputs put into the order of the interface
extern "C" void solution_compute(int n, const int *order, float *out)
{
    std::vector<float> h(n);
    work<<<n / 256 + 1, 256>>>(h.data(), n);
    for (int i = 0; i < n; i++)
        out[order[i]] = h[i];
}
