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

//= present: a maximum found between the launch and the copy
__global__ void play(float *out);
void run(int n, const float *means, float *device, float *out, float *best_out)
{
    play<<<64, 64>>>(device);
    float best = 0;
    for (int i = 0; i < n; i++)
        best = means[i] > best ? means[i] : best;
    cudaMemcpy(out, device, n * sizeof(float), cudaMemcpyDeviceToHost);
    *best_out = best;
}

//= absent: a maximum found behind the copy
__global__ void play(float *out);
void run(int n, const float *means, float *device, float *out, float *best_out)
{
    play<<<64, 64>>>(device);
    cudaMemcpy(out, device, n * sizeof(float), cudaMemcpyDeviceToHost);
    float best = 0;
    for (int i = 0; i < n; i++)
        best = means[i] > best ? means[i] : best;
    *best_out = best;
}

//= absent: slots of a ring that are only copied
__global__ void work(char *slot);
void run(size_t pieces, const char *in)
{
    const transfer::Shape shape = {4, 8, 1 << 20};
    transfer::pipeline(
        shape, pieces, [&] {}, [&](size_t piece, char *slot) { memcpy(slot, in + piece, 1 << 20); },
        [&](size_t piece, size_t count, char *slot) { work<<<64, 64>>>(slot); }, [](size_t, char *) {});
}

//= present: slots of a ring that the host packs
static void pack(int n, const int *types, const unsigned *in, unsigned *out)
{
    for (int i = 0; i < n; i++)
        out[i] = in[i] | (unsigned)types[i] << 31;
}
__global__ void work(char *slot);
void run(size_t pieces, const int *types, const unsigned *in)
{
    const transfer::Shape shape = {4, 8, 1 << 20};
    transfer::pipeline(
        shape, pieces, [&] {}, [&](size_t piece, char *slot) { pack(1024, types, in, (unsigned *)slot); },
        [&](size_t piece, size_t count, char *slot) { work<<<64, 64>>>(slot); }, [](size_t, char *) {});
}

//= present: the next piece is packed while the last is at work
__global__ void move(int n, const float *in, float *out);
void run(int pieces, int size, const float *const *in, float *staged[2], float *device[2], float *out)
{
    cudaStream_t s[2];
    for (int k = 0; k < 2; k++)
        cudaStreamCreate(&s[k]);
    for (int p = 0; p < pieces; p++) {
        const int k = p % 2;
        cudaStreamSynchronize(s[k]);
        for (int a = 0; a < 6; a++)
            memcpy(staged[k] + a * size, in[a] + p * size, size * sizeof(float));
        cudaMemcpyAsync(device[k], staged[k], 6 * size * sizeof(float), cudaMemcpyHostToDevice, s[k]);
        move<<<64, 64, 0, s[k]>>>(size, device[k], out + p * size);
    }
    cudaDeviceSynchronize();
}
