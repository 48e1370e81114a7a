//= unknown: a sort
void f(int *a, int n) { thrust::sort(thrust::device, a, a + n); }

//= unknown: a loop
__global__ void f(float *a, int n) { for (int i = 0; i < n; i++) a[threadIdx.x] += i; }
