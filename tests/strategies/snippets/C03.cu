//= present: norms computed by a kernel of their own
__global__ void norms(const float *p, float *norm, int n, int d)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < d; k++)
        sum += p[i * d + k] * p[i * d + k];
    norm[i] = sum;
}
__global__ void distances(const float *p, const float *norm, float *out, int n, int d)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = 0; j < n; j++)
        out[i * n + j] = norm[i] + norm[j] - 2 * p[i * d] * p[j * d];
}
void run(const float *p, float *norm, float *out, int n, int d)
{
    norms<<<n / 256 + 1, 256>>>(p, norm, n, d);
    distances<<<n / 256 + 1, 256>>>(p, norm, out, n, d);
}

//= present: a table for constant memory
__constant__ float drift[64];
__global__ void f(float *x, int n) { for (int t = 0; t < n; t++) x[threadIdx.x] *= drift[t]; }
void run(float r, int n)
{
    float h[64];
    for (int t = 0; t < n; t++)
        h[t] = expf(r * t);
    cudaMemcpyToSymbol(drift, h, sizeof h);
}

//= present: coefficients before a time loop
__global__ void coefficients(double *c, double dt, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = exp(-dt * i);
}
__global__ void step(const double *c, double *u, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        u[i] *= c[i];
}
void run(double *c, double *u, double dt, int n, int steps)
{
    coefficients<<<n / 256 + 1, 256>>>(c, dt, n);
    for (int s = 0; s < steps; s++)
        step<<<n / 256 + 1, 256>>>(c, u, n);
}

//= absent: an input copied
__global__ void copy(const float *in, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}
__global__ void work(const float *a, float *b, int n) { for (int k = 0; k < n; k++) b[threadIdx.x] += a[k]; }
void run(const float *in, float *a, float *b, int n)
{
    copy<<<n / 256 + 1, 256>>>(in, a, n);
    work<<<1, 256>>>(a, b, n);
}

//= absent: memory set to a constant
__global__ void clear(int *d, int n) { if (threadIdx.x < n) d[threadIdx.x] = 1 << 30; }
__global__ void relax(const int *d, int *e, int n) { for (int k = 0; k < n; k++) e[threadIdx.x] = min(e[threadIdx.x], d[k]); }
void run(int *d, int *e, int n)
{
    clear<<<1, 256>>>(d, n);
    relax<<<1, 256>>>(d, e, n);
}

//= absent: two stages, each read once
__global__ void first(const float *a, float *t) { t[threadIdx.x] = a[threadIdx.x] * 2 + 1; }
__global__ void second(const float *t, float *b) { b[threadIdx.x] = t[threadIdx.x] * 3; }
void run(const float *a, float *t, float *b)
{
    first<<<1, 256>>>(a, t);
    second<<<1, 256>>>(t, b);
}

//= present: a table of a function for a later copy
void f(float *d, int n, float r)
{
    std::vector<float> values(n);
    for (int t = 0; t < n; t++)
        values[t] = expf(-r * t);
    cudaMemcpy(d, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    work<<<1, 256>>>(d, n);
}

//= absent: two stages, by a loop over the share of a thread
__global__ void first(const float *a, float *t) { t[threadIdx.x] = a[threadIdx.x] * 2 + 1; }
__global__ void second(const float *t, float *b, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        b[i] = t[i] * 3;
}
void run(const float *a, float *t, float *b, int n)
{
    first<<<1, 256>>>(a, t);
    second<<<1, 256>>>(t, b, n);
}
