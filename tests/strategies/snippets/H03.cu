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

//= present: inputs cross as 16-bit numbers
__global__ void tours(const unsigned short *costs, int *out);
extern "C" void solution_compute(int n, const int *costs, int *out)
{
    std::vector<unsigned short> narrow(costs, costs + n);
    unsigned short *device;
    cudaMalloc(&device, n * 2);
    cudaMemcpy(device, narrow.data(), n * 2, cudaMemcpyHostToDevice);
    tours<<<1, 32>>>(device, out);
}

//= present: a lambda that appends each input
__global__ void search(const int *all, int *out);
extern "C" void solution_compute(int n, int m, const int *rows, const int *columns, int *out)
{
    std::vector<int> packed(n + m);
    int *at = packed.data();
    auto append = [&](const void *from, size_t count) {
        memcpy(at, from, count * sizeof(int));
        at += count;
    };
    append(rows, n);
    append(columns, m);
    int *device;
    cudaMalloc(&device, (n + m) * sizeof(int));
    cudaMemcpy(device, packed.data(), (n + m) * sizeof(int), cudaMemcpyHostToDevice);
    search<<<1, 32>>>(device, out);
}

//= absent: bytes of the interface, in a vector
__global__ void count(const unsigned char *text, int *out);
extern "C" void solution_compute(int n, const unsigned char *text, int *out)
{
    std::vector<unsigned char> padded(n + 1);
    for (int i = 0; i < n; i++)
        padded[i] = text[i];
    unsigned char *device;
    cudaMalloc(&device, n + 1);
    cudaMemcpy(device, padded.data(), n + 1, cudaMemcpyHostToDevice);
    count<<<1, 32>>>(device, out);
}
