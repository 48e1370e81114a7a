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

//= present: levels that the host works out
__global__ void sweep(const int *rows, int first, double *x);
extern "C" void solution_compute(int n, const int *row, const int *column, double *x)
{
    std::vector<int> level(n), rows(n), next(n);
    for (int i = 0; i < n; i++)
        for (int p = row[i]; p < row[i + 1]; p++)
            level[i] = std::max(level[i], level[column[p]] + 1);
    for (int i = 0; i < n; i++)
        rows[next[level[i]]++] = i;
    int *d_rows;
    cudaMalloc(&d_rows, n * sizeof(int));
    cudaMemcpy(d_rows, rows.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    for (int l = 0; l < n; l++)
        sweep<<<1, 256>>>(d_rows, l, x);
}

//= present: factors that a function of the host returns
struct Row {
    double pivot, alpha;
};
static std::vector<Row> elimination(int n)
{
    std::vector<Row> rows(n);
    Row *row = rows.data();
    for (int t = 1; t < n; t++)
        row[t] = {1.0 - row[t - 1].alpha, 0.1 / row[t - 1].pivot};
    return rows;
}
__global__ void solve(const Row *rows, double *x, int n)
{
    for (int t = 1; t < n; t++)
        x[t * 256 + threadIdx.x] -= rows[t].alpha * x[(t - 1) * 256 + threadIdx.x] / rows[t].pivot;
}
extern "C" void solution_compute(int n, double *x)
{
    const std::vector<Row> rows = elimination(n);
    Row *d_rows;
    cudaMalloc(&d_rows, n * sizeof(Row));
    cudaMemcpy(d_rows, rows.data(), n * sizeof(Row), cudaMemcpyHostToDevice);
    solve<<<1, 256>>>(d_rows, x, n);
}

//= present: an inverse handed to the kernels by value
struct Matrix {
    double a[5][5];
};
static Matrix inverse_of(Matrix m)
{
    Matrix inverse = {};
    for (int p = 0; p < 5; p++)
        for (int c = 0; c < 5; c++)
            inverse.a[p][c] = (p == c ? 1.0 : 0.0) - m.a[p][c] / m.a[p][p];
    return inverse;
}
__global__ void relax(Matrix inverse, double *u);
void run(Matrix b, double *u)
{
    const Matrix inverse = inverse_of(b);
    for (int k = 0; k < 100; k++)
        relax<<<64, 64>>>(inverse, u);
}

//= present: targets for a cooperative kernel
__global__ void find_targets(const int *need, int *to)
{
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    to[s] = s - need[s] * 3;
}
__global__ void plan(int T, const int *to, float *now)
{
    for (int t = 0; t < T; t++)
        now[threadIdx.x] += now[to[threadIdx.x]];
}
void run(int T, const int *need, int *to, float *now)
{
    find_targets<<<64, 64>>>(need, to);
    void *arguments[] = {&T, &to, &now};
    cudaLaunchCooperativeKernel((void *)plan, dim3(64), dim3(64), arguments, 0, 0);
}

//= absent: an input padded on the host
__global__ void use(const float *in, float *out);
extern "C" void solution_compute(int n, const float *in, float *out)
{
    std::vector<float> padded(n + 32);
    for (int i = 0; i < n; i++)
        padded[i] = in[i];
    float *device;
    cudaMalloc(&device, n * sizeof(float));
    cudaMemcpy(device, padded.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    use<<<1, 32>>>(device, out);
}

//= absent: a shape of the launch, found in a loop
struct Shape {
    int threads, blocks;
};
static Shape shape_for(int n)
{
    Shape s = {32, 1};
    while (s.threads * s.blocks < n)
        s.blocks *= 2;
    return s;
}
__global__ void use(Shape s, float *out);
void run(int n, float *out)
{
    const Shape s = shape_for(n);
    use<<<s.blocks, s.threads>>>(s, out);
}
