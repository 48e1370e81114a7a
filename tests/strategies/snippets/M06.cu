//= present: const __restrict__
__global__ void f(const float *__restrict__ a, float *__restrict__ b) { b[threadIdx.x] = a[threadIdx.x]; }

//= present: __ldg
__global__ void f(const float *a, float *b) { b[threadIdx.x] = __ldg(&a[threadIdx.x]) + __ldg(a + 1); }

//= present: a texture
__global__ void f(cudaTextureObject_t t, float *b) { b[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x); }

//= absent: restrict on what is written
__global__ void f(const float *a, float *__restrict__ b) { b[threadIdx.x] = a[threadIdx.x]; }

//= absent: const alone
__global__ void f(const float *const a, float *b) { b[threadIdx.x] = a[threadIdx.x]; }

//= absent: restrict on the host
static void fill(const float *__restrict__ a, float *b) { b[0] = a[0]; }
__global__ void f(const float *a, float *b) { b[threadIdx.x] = a[threadIdx.x]; }
