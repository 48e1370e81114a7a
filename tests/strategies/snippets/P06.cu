//= present: a block a problem
__global__ void f(const float *a, float *b, int n) { b[blockIdx.x] = a[blockIdx.x * n]; }
extern "C" void solution_compute(int batch, int n, const float *a, float *b) { f<<<batch, 128>>>(a, b, n); }

//= present: problems in y
__global__ void f(const float *a, float *b, int n) { b[blockIdx.y * n + threadIdx.x] = a[threadIdx.x]; }
extern "C" void solution_compute(int num_queries, int n, const float *a, float *b)
{
    const dim3 grid(n / 128 + 1, num_queries);
    f<<<grid, 128>>>(a, b, n);
}

//= present: a thread an instance
__global__ void f(const float *a, float *b, int n) { b[threadIdx.x] = a[threadIdx.x]; }
extern "C" void solution_compute(int num_instances, const float *a, float *b)
{
    const int blocks = (num_instances + 255) / 256;
    f<<<blocks, 256>>>(a, b, num_instances);
}

//= unknown: a launch a problem
__global__ void f(const float *a, float *b, int n) { b[threadIdx.x] = a[threadIdx.x]; }
extern "C" void solution_compute(int batch, int n, const float *a, float *b)
{
    for (int i = 0; i < batch; i++)
        f<<<n / 256 + 1, 256>>>(a + i * n, b + i * n, n);
}

//= unknown: one problem
__global__ void f(const float *a, float *b, int n) { b[threadIdx.x] = a[threadIdx.x]; }
extern "C" void solution_compute(int n, const float *a, float *b) { f<<<n / 256 + 1, 256>>>(a, b, n); }

//= unknown: a launch a problem that is sized by all
__global__ void f(float *b, int n, int i) { b[threadIdx.x] = i; }
extern "C" void solution_compute(int batch, int n, const float *a, float *b)
{
    for (int i = 0; i < batch; i++)
        f<<<batch, 256>>>(b, n, i);
}
