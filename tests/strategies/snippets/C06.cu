//= present: two sizes
template <int D> __global__ void f(const float *a, float *b)
{
    float s = 0;
    for (int k = 0; k < D; k++)
        s += a[k];
    b[threadIdx.x] = s;
}
void run(int d, const float *a, float *b)
{
    if (d == 2)
        f<2><<<1, 32>>>(a, b);
    else
        f<3><<<1, 32>>>(a, b);
}

//= present: a launcher that is a template itself
template <int R, bool CALL> __global__ void f(float *b) { for (int k = 0; k < R; k++) b[k] = CALL; }
template <int R> static void launch(float *b) { f<R, true><<<1, 32>>>(b); }
void run(int r, float *b)
{
    switch (r) {
    case 4: launch<4>(b); break;
    case 8: launch<8>(b); break;
    }
}

//= present: by a macro
template <int N> __global__ void f(float *b) { for (int k = 0; k < N; k++) b[k] = 1; }
#define LAUNCH(n) f<n><<<1, 32>>>(b)
void run(int n, float *b)
{
    if (n == 16)
        LAUNCH(16);
    else
        LAUNCH(32);
}

//= absent: one set of arguments
template <int N> __global__ void f(float *b) { for (int k = 0; k < N; k++) b[k] = 1; }
void run(float *b) { f<128><<<1, 32>>>(b); }

//= absent: one type
template <typename T> __global__ void f(T *b) { b[threadIdx.x] = 1; }
void run(float *b) { f<float><<<1, 32>>>(b); f<float><<<2, 32>>>(b); }

//= absent: templates of the host
template <class T> static T *to_device(const T *h, size_t n) { T *d; cudaMalloc(&d, n * sizeof(T)); return d; }
__global__ void f(float *b) { b[threadIdx.x] = 1; }
void run(const float *a, const int *i) { f<<<1, 32>>>(to_device<float>(a, 1)); to_device<int>(i, 2); }

//= absent: a helper for two types
template <typename T> __device__ T smaller(T a, T b) { return a < b ? a : b; }
__global__ void f(float *b, int *c) { b[0] = smaller<float>(b[1], b[2]); c[0] = smaller<int>(c[1], c[2]); }
