//= present: a pragma
__global__ void f(float *a)
{
#pragma unroll
    for (int i = 0; i < 8; i++)
        a[i] += 1;
}

//= present: a pragma with a factor
__device__ float g(const float *a, int n)
{
    float s = 0;
#pragma unroll 4
    for (int i = 0; i < n; i++)
        s += a[i];
    return s;
}

//= present: by hand
__global__ void f(const float *a, float *b, int n)
{
    float s = 0;
    for (int i = 0; i < n; i += 4) {
        s += a[i];
        s += a[i + 1];
        s += a[i + 2];
        s += a[i + 3];
    }
    b[threadIdx.x] = s;
}

//= absent: on the host
void f(float *a)
{
#pragma unroll
    for (int i = 0; i < 8; i++)
        a[i] += 1;
}
__global__ void g(float *a) { a[0] = 1; }

//= absent: unroll 1
__global__ void f(float *a, int n)
{
#pragma unroll 1
    for (int i = 0; i < n; i++)
        a[i] += 1;
}

//= absent: a stride of a tile
__global__ void f(const float *a, float *b, int n)
{
    float s = 0;
    for (int i = 0; i < n; i += 16)
        for (int j = 0; j < 16; j++)
            s += a[i + j];
    b[threadIdx.x] = s;
}
