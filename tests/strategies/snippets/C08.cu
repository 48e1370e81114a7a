//= present: single where the interface is double
__global__ void f(const float *a, float *b, int n)
{
    float s = 0, t = 0;
    for (int i = 0; i < n; i++)
        s += a[i];
    b[threadIdx.x] = s + t;
}
extern "C" void solution_compute(int n, const double *a, double *b) { f<<<1, 32>>>((const float *)a, (float *)b, n); }

//= present: half precision
__global__ void f(const __half *a, float *b)
{
    __half s = __float2half(0);
    for (int i = 0; i < 8; i++)
        s = __hadd(s, a[i]);
    b[threadIdx.x] = __half2float(s);
}
extern "C" void solution_compute(int n, const float *a, float *b) { }

//= present: a guess in single, corrected in double
__global__ void f(const double *a, double *x, int n)
{
    float guess = (float)a[threadIdx.x], slope = 2 * guess, better = guess / slope;
    double v = better;
    v -= (v * v - a[threadIdx.x]) / (2 * v);
    x[threadIdx.x] = v;
}
extern "C" void solution_compute(int n, const double *a, double *x) { f<<<1, 32>>>(a, x, n); }

//= absent: single throughout
__global__ void f(const float *a, float *b) { float s = a[0]; b[threadIdx.x] = s; }
extern "C" void solution_compute(int n, const float *a, float *b) { f<<<1, 32>>>(a, b); }

//= absent: double throughout
__global__ void f(const double *a, double *b) { double s = a[0]; b[threadIdx.x] = s; }
extern "C" void solution_compute(int n, const double *a, double *b) { f<<<1, 32>>>(a, b); }

//= absent: wider sums behind a single interface
__global__ void f(const float *a, float *b, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += a[i];
    b[threadIdx.x] = (float)s;
}
extern "C" void solution_compute(int n, const float *a, float *b) { f<<<1, 32>>>(a, b, n); }

//= present: single precision where the reference has double
__global__ void price(int n, const float *spot, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float d = logf(spot[i]);
    out[i] = 0.5f * erfcf(-d);
}
extern "C" void solution_compute(int n, const float *spot, float *out)
{
    price<<<n / 256, 256>>>(n, spot, out);
}
//- reference
static double share(double d) { return 0.5 * erfc(-d); }
void reference_compute(int n, const float *spot, float *out)
{
    for (int i = 0; i < n; i++) {
        const double d = log((double)spot[i]);
        out[i] = (float)share(d);
    }
}

//= absent: single precision in both
__global__ void price(int n, const float *spot, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float d = logf(spot[i]);
    out[i] = 0.5f * erfcf(-d);
}
extern "C" void solution_compute(int n, const float *spot, float *out)
{
    price<<<n / 256, 256>>>(n, spot, out);
}
//- reference
/* no double d, no double e, no double f: all in float */
void reference_compute(int n, const float *spot, float *out)
{
    for (int i = 0; i < n; i++)
        out[i] = 0.5f * erfcf(-logf(spot[i]));
}

//= absent: double in both, behind an interface in float
__global__ void price(int n, const float *spot, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    double d = 0;
    for (int k = 0; k < n; k++)
        d += log((double)spot[i]);
    out[i] = (float)(0.5 * erfc(-d));
}
extern "C" void solution_compute(int n, const float *spot, float *out)
{
    price<<<n / 256, 256>>>(n, spot, out);
}
//- reference
static double share(double d) { return 0.5 * erfc(-d); }
void reference_compute(int n, const float *spot, float *out)
{
    for (int i = 0; i < n; i++) {
        double d = n * log((double)spot[i]);
        out[i] = (float)share(d);
    }
}
