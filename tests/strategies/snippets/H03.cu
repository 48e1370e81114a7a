//= present: packed into one copy
void f(const float *a, const int *b, char *d, size_t n)
{
    char *packed = (char *)malloc(2 * n);
    memcpy(packed, a, n);
    memcpy(packed + n, b, n);
    cudaMemcpy(d, packed, 2 * n, cudaMemcpyHostToDevice);
}

//= present: a vector of bytes
void f(const float *a, const int *b, char *d, size_t n)
{
    std::vector<char> all(2 * n);
    memcpy(all.data(), a, n);
    std::memcpy(all.data() + n, b, n);
    cudaMemcpyAsync(d, all.data(), 2 * n, cudaMemcpyHostToDevice, 0);
}

//= present: a vector of numbers, packed by std::copy
void f(const float *a, const float *b, float *d, int n)
{
    std::vector<float> both(2 * n);
    std::copy(a, a + n, both.begin());
    std::copy(b, b + n, both.begin() + n);
    cudaMemcpy(d, both.data(), 2 * n * sizeof(float), cudaMemcpyHostToDevice);
}

//= absent: a copy an array
extern "C" void solution_compute(int n, const float *a, const float *b, float *out)
{
    float *d, *e;
    cudaMemcpy(d, a, n * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(e, b, n * 4, cudaMemcpyHostToDevice);
    work<<<n / 256 + 1, 256>>>(d, e, n);
    cudaMemcpy(out, d, n * 4, cudaMemcpyDeviceToHost);
}

//= absent: one array
extern "C" void solution_compute(int n, const float *a, float *out)
{
    float *d;
    cudaMemcpy(d, a, n * 4, cudaMemcpyHostToDevice);
    work<<<n / 256 + 1, 256>>>(d, n);
    cudaMemcpy(out, d, n * 4, cudaMemcpyDeviceToHost);
}

//= absent: copies on the host alone
void f(const float *a, const float *b, float *h, float *d, size_t n)
{
    memcpy(h, a, n);
    work<<<1, 256>>>(d);
    memcpy(h + n, b, n);
}

//= unknown: an input that the program does without
extern "C" void solution_compute(int n, const float *points, const float *boxes, float *out)
{
    float *d;
    cudaMemcpy(d, points, n * 4, cudaMemcpyHostToDevice);
    make_boxes<<<n / 256 + 1, 256>>>(d, n);
    cudaMemcpy(out, d, n * 4, cudaMemcpyDeviceToHost);
}
