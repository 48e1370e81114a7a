//= present: the host computes beside a kernel
void f(float *d, float *h, float *t, int n)
{
    work<<<n / 256 + 1, 256>>>(d, n);
    for (int i = 0; i < n; i++)
        t[i] = h[i] * h[i];
    cudaDeviceSynchronize();
}

//= present: the next chunk is made ready
void f(float *d, std::vector<float> &next, int n, int chunks)
{
    for (int c = 0; c < chunks; c++) {
        work<<<n / 256 + 1, 256>>>(d, n);
        for (int i = 0; i < n; i++)
            next[i] = i * c;
        cudaMemcpy(d, next.data(), n * 4, cudaMemcpyHostToDevice);
    }
}

//= present: a sum of the host
void f(float *d, const double *h, double *out, int n)
{
    double sum = 0;
    work<<<n / 256 + 1, 256>>>(d, n);
    for (int i = 0; i < n; i++)
        sum += h[i];
    cudaMemcpy(out, d, 8, cudaMemcpyDeviceToHost);
    out[1] = sum;
}

//= absent: before the launch
void f(float *d, float *h, int n)
{
    for (int i = 0; i < n; i++)
        h[i] = i;
    cudaMemcpy(d, h, n * 4, cudaMemcpyHostToDevice);
    work<<<n / 256 + 1, 256>>>(d, n);
    cudaDeviceSynchronize();
}

//= absent: after the wait
void f(float *d, float *h, int n)
{
    work<<<n / 256 + 1, 256>>>(d, n);
    cudaMemcpy(h, d, n * 4, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        h[i] /= 2;
    cudaFree(d);
}

//= absent: a loop of launches
void f(float *d, int n)
{
    work<<<n / 256 + 1, 256>>>(d, n);
    for (int k = 0; k < 10; k++)
        work<<<n / 256 + 1, 256>>>(d, n);
    cudaDeviceSynchronize();
}

//= present: a function of the host
static double plan(const double *h, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += h[i];
    return sum;
}
void f(float *d, const double *h, double *out, int n)
{
    work<<<n / 256 + 1, 256>>>(d, n);
    out[1] = plan(h, n);
    cudaMemcpy(out, d, 8, cudaMemcpyDeviceToHost);
}
