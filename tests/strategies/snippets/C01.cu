//= unknown: one kernel
__global__ void f(float *a) { a[threadIdx.x] *= 2; a[threadIdx.x] += 1; }

//= unknown: two kernels
__global__ void f(float *a) { a[threadIdx.x] *= 2; }
__global__ void g(float *a) { a[threadIdx.x] += 1; }
