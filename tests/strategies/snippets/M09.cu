//= present: cp.async in assembly
__global__ void f(const float *a, float *b)
{
    __shared__ float s[2][128];
    unsigned to = (unsigned)__cvta_generic_to_shared(&s[0][threadIdx.x]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(a + threadIdx.x));
    asm volatile("cp.async.wait_all;");
    __syncthreads();
    b[threadIdx.x] = s[0][127 - threadIdx.x];
}

//= present: memcpy_async with a pipeline
__global__ void f(const float *a, float *b, int n)
{
    extern __shared__ float s[];
    auto block = cooperative_groups::this_thread_block();
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    pipe.producer_acquire();
    cuda::memcpy_async(block, s, a, sizeof(float) * 128, pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    b[threadIdx.x] = s[127 - threadIdx.x];
}

//= present: two buffers by hand
__global__ void f(const float *a, float *b, int n)
{
    __shared__ float s[2][128];
    float sum = 0;
    s[0][threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    for (int k = 1; k <= n; k++) {
        if (k < n)
            s[k & 1][threadIdx.x] = a[k * 128 + threadIdx.x];
        for (int j = 0; j < 128; j++)
            sum += s[(k - 1) & 1][j];
        __syncthreads();
    }
    b[threadIdx.x] = sum;
}

//= absent: buffers exchanged between launches
__global__ void step(const float *now, float *next) { next[threadIdx.x] = now[threadIdx.x] / 2; }
void run(float *a, float *b, int n)
{
    for (int k = 0; k < n; k++) {
        step<<<1, 128>>>(a, b);
        std::swap(a, b);
    }
}

//= absent: one buffer
__global__ void f(const float *a, float *b, int n)
{
    __shared__ float s[128];
    float sum = 0;
    for (int k = 0; k < n; k++) {
        s[threadIdx.x] = a[k * 128 + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 128; j++)
            sum += s[j];
        __syncthreads();
    }
    b[threadIdx.x] = sum;
}

//= absent: two rows of a recurrence
__global__ void f(float *b, int n)
{
    __shared__ float row[2][128];
    row[0][threadIdx.x] = threadIdx.x;
    __syncthreads();
    for (int k = 0; k < n; k++) {
        row[(k + 1) % 2][threadIdx.x] = row[k % 2][threadIdx.x] + row[k % 2][127 - threadIdx.x];
        __syncthreads();
    }
    b[threadIdx.x] = row[n % 2][threadIdx.x];
}
