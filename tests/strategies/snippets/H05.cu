//= present: steps without an answer
void f(float *a, float *b, int steps)
{
    for (int t = 0; t < steps; t++) {
        step<<<100, 256>>>(a, b);
        std::swap(a, b);
    }
    cudaDeviceSynchronize();
}

//= present: an answer every eighth round
void f(float *a, int *flag, int most)
{
    for (int k = 0; k < most; k++) {
        step<<<100, 256>>>(a, flag);
        if (k % 8 == 7) {
            int done;
            cudaMemcpy(&done, flag, 4, cudaMemcpyDeviceToHost);
            if (done)
                break;
        }
    }
}

//= present: the loop on the device
__global__ void f(float *a, int n)
{
    auto grid = cooperative_groups::this_grid();
    for (int k = 0; k < n; k++) {
        a[grid.thread_rank()] += 1;
        grid.sync();
    }
}

//= absent: a flag each round
void f(float *a, int *flag, int most)
{
    for (int k = 0; k < most; k++) {
        int done;
        step<<<100, 256>>>(a, flag);
        cudaMemcpy(&done, flag, 4, cudaMemcpyDeviceToHost);
        if (done)
            break;
    }
}

//= absent: a wait each round
void f(float *a, int steps)
{
    for (int t = 0; t < steps; t++) {
        step<<<100, 256>>>(a);
        cudaDeviceSynchronize();
    }
}

//= absent: chunks that are copied
void f(const float *h, float *d, int chunks, int n)
{
    for (int c = 0; c < chunks; c++) {
        cudaMemcpyAsync(d, h + c * n, n * 4, cudaMemcpyHostToDevice);
        work<<<n / 256, 256>>>(d, n);
    }
}

//= absent: a launch a problem
__global__ void solve(const float *a, float *x, int n) { x[threadIdx.x] = a[threadIdx.x] / n; }
void f(const float *a, float *x, int problems, int n)
{
    for (int k = 0; k < problems; k++)
        solve<<<1, 256>>>(a + k * n, x + k * n, n);
    cudaDeviceSynchronize();
}

//= absent: bands of one result
__global__ void rows(const float *a, float *out, int first, int last, int n)
{
    const int r = first + blockIdx.x;
    if (r < last)
        out[r * n + threadIdx.x] = a[r] * a[threadIdx.x];
}
void f(const float *a, float *out, int n, int bands)
{
    for (int b = 0; b < bands; b++) {
        const int first = b * n / bands, last = (b + 1) * n / bands;
        rows<<<last - first, 256>>>(a, out, first, last, n);
    }
    cudaDeviceSynchronize();
}

//= present: a graph launched for each round
__global__ void step(const float *now, float *next);
void run(int rounds, cudaGraphExec_t graph, cudaStream_t stream, float *out, const float *device, int n)
{
    for (int k = 0; k < rounds; k++)
        cudaGraphLaunch(graph, stream);
    cudaMemcpy(out, device, n * sizeof(float), cudaMemcpyDeviceToHost);
}

//= absent: a graph for each piece, and its result
void run(int pieces, cudaGraphExec_t graph, cudaStream_t stream, float *out, const float *device, int n)
{
    for (int k = 0; k < pieces; k++) {
        cudaGraphLaunch(graph, stream);
        cudaMemcpy(out + k * n, device, n * sizeof(float), cudaMemcpyDeviceToHost);
    }
}
