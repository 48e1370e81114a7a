//= present: grid barriers of cooperative groups
__global__ void f(float *a, int n)
{
    cg::grid_group grid = cg::this_grid();
    for (int k = 0; k < n; k++) {
        a[grid.thread_rank()] += 1;
        grid.sync();
    }
}

//= present: a barrier by hand
__device__ void barrier(unsigned *count, unsigned target)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1u);
        while (*(volatile unsigned *)count < target)
            ;
    }
    __syncthreads();
}
__global__ void f(float *a, unsigned *count, int n) { for (int k = 0; k < n; k++) barrier(count, (k + 1) * gridDim.x); }

//= present: a cooperative launch
void run(void **args) { cudaLaunchCooperativeKernel((void *)f, dim3(132), dim3(256), args, 0, 0); }

//= absent: iterations inside a block
__global__ void f(float *a, int n)
{
    for (int k = 0; k < n; k++) {
        a[blockIdx.x * blockDim.x + threadIdx.x] += 1;
        __syncthreads();
    }
}

//= absent: a barrier of the block by cooperative groups
__global__ void f(float *a, int n)
{
    cg::thread_block block = cg::this_thread_block();
    for (int k = 0; k < n; k++) {
        a[block.thread_rank()] += 1;
        block.sync();
    }
}

//= absent: the rank in the grid
__global__ void f(float *a, int n)
{
    const auto i = cg::this_grid().thread_rank();
    if (i < n)
        a[i] = 1;
}

//= present: blocks that stay and fetch strings
__global__ void match(const int *text, int n, int *taken, int *out)
{
    for (;;) {
        const int i = atomicAdd(taken, 1);
        if (i >= n)
            return;
        out[i] = text[i] * 2;
    }
}
void run(const int *text, int n, int *taken, int *out)
{
    int each, processors;
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, match, 128, 0);
    match<<<each * processors, 128>>>(text, n, taken, out);
}

//= absent: as many blocks as the device holds, each with a share
__global__ void scale(const int *in, int n, int *out)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = in[i] * 2;
}
void run(const int *in, int n, int *out)
{
    int processors;
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    scale<<<4 * processors, 128>>>(in, n, out);
}
