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

//= present: a walk ends when no state is left
__global__ void match(const unsigned *mask, const int *text, int n, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned set[4] = {1, 0, 0, 0};
    for (int k = 0; k < n; k++) {
        unsigned any = 0;
        for (int w = 0; w < 4; w++) {
            set[w] &= mask[text[k] * 4 + w];
            any |= set[w];
        }
        if (!any)
            break;
    }
    out[i] = set[0] != 0;
}

//= present: the host looks at the largest change
__global__ void step(const float *now, float *next);
void run(int n, const float *before, float *out, float *now, float *next)
{
    for (int k = 0; k < 1000; k++) {
        step<<<64, 64>>>(now, next);
        cudaMemcpy(out, next, n * sizeof(float), cudaMemcpyDeviceToHost);
        float largest = 0;
        for (int c = 0; c < n; c++)
            largest = fmaxf(largest, fabsf(out[c] - before[c]));
        if (largest == 0.0f)
            break;
    }
}

//= present: rounds end when no block changed anything
__device__ void wait_for_all(void);
__global__ void search(const int *weight, int *distance, int *changed, int n)
{
    for (int round = 0; round < n; round++) {
        const int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (distance[i] > weight[i]) {
            distance[i] = weight[i];
            changed[round % 3] = 1;
        }
        wait_for_all();
        if (((volatile int *)changed)[round % 3] == 0)
            break;
    }
}

//= absent: numbers drawn until one is accepted
#include <curand_kernel.h>
__device__ float gamma_variate(curandState *g, float d, float c)
{
    for (;;) {
        const float x = curand_normal(g), v = 1.0f + c * x;
        if (logf(curand_uniform(g)) < 0.5f * x * x + d - d * v)
            return d * v;
    }
}
__global__ void draw(curandState *g, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = gamma_variate(&g[i], 1.0f, 2.0f);
}
