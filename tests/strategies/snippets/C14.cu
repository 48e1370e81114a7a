//= present: cuBLAS
void f(cublasHandle_t h, double *a) { double one = 1; cublasDgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, a, 8, a, 8, &one, a, 8); }

//= present: CUB
void f(void *t, size_t &n, int *a) { cub::DeviceRadixSort::SortKeys(t, n, a, a, 100); }

//= present: Thrust
float f(float *a, int n) { return thrust::reduce(thrust::device, a, a + n, 0.0f, thrust::maximum<float>()); }

//= absent: filling
void f(float *a, int n) { thrust::fill(thrust::device, a, a + n, 0.0f); }

//= absent: pointers of a library
__global__ void g(float *a) { a[0] = 1; }
void f(thrust::device_vector<float> &v) { g<<<1, 32>>>(thrust::raw_pointer_cast(v.data())); }

//= absent: the host library
void f(std::vector<int> &v) { std::sort(v.begin(), v.end()); int s = std::reduce(v.begin(), v.end()); }
