//= present: pinned
void f(float *d, size_t n) { float *h; cudaMallocHost(&h, n); cudaMemcpyAsync(d, h, n, cudaMemcpyHostToDevice); }

//= present: registered
void f(float *h, float *d, size_t n) { cudaHostRegister(h, n, cudaHostRegisterDefault); cudaMemcpy(d, h, n, cudaMemcpyHostToDevice); }

//= present: mapped
void f(float *h, size_t n) { float *d; cudaHostAlloc(&h, n, cudaHostAllocMapped); cudaHostGetDevicePointer(&d, h, 0); }

//= absent: pageable and asynchronous
void f(const float *h, float *d, size_t n) { cudaMemcpyAsync(d, h, n, cudaMemcpyHostToDevice, 0); }

//= absent: malloc
void f(float *d, size_t n) { float *h = (float *)malloc(n); cudaMemcpy(d, h, n, cudaMemcpyHostToDevice); free(h); }

//= absent: managed memory
void f(size_t n) { float *m; cudaMallocManaged(&m, n); }
