//= present: a flag ends the loop of the host
void run(int *d_changed, int n)
{
    for (int k = 0; k < n; k++) {
        int changed = 0;
        relax<<<n / 256 + 1, 256>>>(d_changed);
        cudaMemcpy(&changed, d_changed, sizeof changed, cudaMemcpyDeviceToHost);
        if (!changed)
            break;
    }
}

//= present: a loop of the device ends on its data
__global__ void newton(const double *a, double *x, int most)
{
    double v = a[threadIdx.x];
    for (int k = 0; k < most; k++) {
        const double step = (v * v - a[threadIdx.x]) / (2 * v);
        v -= step;
        if (fabs(step) < 1e-12)
            break;
    }
    x[threadIdx.x] = v;
}

//= present: a test that gives up early
__device__ bool apart(const float *a, const float *b, int n)
{
    for (int k = 0; k < n; k++)
        if (a[k] > b[k])
            return true;
    return false;
}
__global__ void f(const float *a, const float *b, int *out) { out[threadIdx.x] = apart(a, b, 8); }

//= absent: a bound of the index
__global__ void f(float *a, int n)
{
    for (int k = 0; k < 8; k++) {
        const int i = (blockIdx.x * 8 + k) * blockDim.x + threadIdx.x;
        if (i >= n)
            break;
        a[i] *= 2;
    }
}

//= absent: a guard at the top
__global__ void f(const int *start, float *a, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int e = start[i]; e < start[i + 1]; e++)
        a[i] += e;
}

//= absent: cases of a switch
__global__ void f(const int *op, float *a, int n)
{
    for (int k = 0; k < n; k++)
        switch (op[k]) {
        case 0: a[k] = 1; break;
        case 1: a[k] = 2; break;
        }
}
