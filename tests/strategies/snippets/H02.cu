//= present: chunks on streams
void f(const float *h, float *d, int chunks, int n)
{
    cudaStream_t s[4];
    for (int i = 0; i < 4; i++)
        cudaStreamCreate(&s[i]);
    for (int c = 0; c < chunks; c++) {
        cudaMemcpyAsync(d + c * n, h + c * n, n * 4, cudaMemcpyHostToDevice, s[c % 4]);
        work<<<n / 256, 256, 0, s[c % 4]>>>(d + c * n, n);
    }
    for (int i = 0; i < 4; i++)
        cudaStreamSynchronize(s[i]);
}

//= present: two streams by name
void f(const float *h, float *d, int chunks, int n)
{
    cudaStream_t copying, computing;
    cudaStreamCreateWithFlags(&copying, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&computing, cudaStreamNonBlocking);
    for (int c = 0; c < chunks; c++) {
        cudaMemcpyAsync(d + c * n, h + c * n, n * 4, cudaMemcpyHostToDevice, copying);
        cudaEventRecord(e[c], copying);
        cudaStreamWaitEvent(computing, e[c], 0);
        work<<<n / 256, 256, 0, computing>>>(d + c * n, n);
    }
}

//= present: in and out
void f(const float *h, float *out, float *d, int chunks, int n)
{
    std::vector<cudaStream_t> streams(2);
    for (auto &s : streams)
        cudaStreamCreate(&s);
    for (int c = 0; c < chunks; c++) {
        cudaStream_t s = streams[c % 2];
        cudaMemcpyAsync(d + c * n, h + c * n, n * 4, cudaMemcpyHostToDevice, s);
        work<<<n / 256, 256, 0, s>>>(d + c * n, n);
        cudaMemcpyAsync(out + c * n, d + c * n, n * 4, cudaMemcpyDeviceToHost, s);
    }
}

//= absent: one stream
void f(const float *h, float *d, int n)
{
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaMemcpyAsync(d, h, n * 4, cudaMemcpyHostToDevice, s);
    work<<<n / 256, 256, 0, s>>>(d, n);
    cudaStreamSynchronize(s);
}

//= absent: two streams, waited for in turn
void f(const float *h, float *d, int chunks, int n)
{
    cudaStream_t s[2];
    cudaStreamCreate(&s[0]);
    cudaStreamCreate(&s[1]);
    for (int c = 0; c < chunks; c++) {
        cudaMemcpyAsync(d, h + c * n, n * 4, cudaMemcpyHostToDevice, s[0]);
        work<<<n / 256, 256, 0, s[1]>>>(d, n);
        cudaDeviceSynchronize();
    }
}

//= absent: kernels on two streams, one copy
void f(const float *h, float *d, int n)
{
    cudaStream_t a, b;
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    cudaMemcpy(d, h, n * 4, cudaMemcpyHostToDevice);
    for (int k = 0; k < 8; k++) {
        left<<<1, 256, 0, a>>>(d);
        right<<<1, 256, 0, b>>>(d);
    }
}
