//= present: items a block apart
constexpr int ITEMS = 4;
__global__ void f(const float *a, float *b, int n)
{
    for (int k = 0; k < ITEMS; k++) {
        const int i = (blockIdx.x * ITEMS + k) * blockDim.x + threadIdx.x;
        if (i < n)
            b[i] = a[i] + 1;
    }
}

//= present: neighbouring items
#define PER_THREAD 8
__global__ void f(const float *a, float *b, int n)
{
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * PER_THREAD;
    for (int k = 0; k < PER_THREAD; k++)
        if (first + k < n)
            b[first + k] = a[first + k] * 2;
}

//= present: a template constant and a strided index
template <int ITEMS> __global__ void f(const float *a, float *b, int n)
{
    const int first = blockIdx.x * blockDim.x * ITEMS + threadIdx.x;
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const int i = first + k * blockDim.x;
        if (i < n)
            b[i] = a[i] * 2;
    }
}
void run(const float *a, float *b, int n) { f<4><<<n / 1024 + 1, 256>>>(a, b, n); }

//= absent: a grid stride
__global__ void f(float *a, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        a[i] *= 2;
}

//= absent: fields of one cell
enum { FIELDS = 5 };
__global__ void f(const float *a, float *b, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int m = 0; m < 5; m++)
        b[5 * i + m] = a[5 * i + m] + 1;
}

//= absent: a tile filled by the block
__global__ void f(const float *a, float *b)
{
    __shared__ float s[1024];
    for (int k = 0; k < 4; k++)
        s[k * 256 + threadIdx.x] = a[blockIdx.x * 1024 + k * 256 + threadIdx.x];
    __syncthreads();
    float sum = 0;
    for (int j = 0; j < 1024; j++)
        sum += s[j];
    b[blockIdx.x * 256 + threadIdx.x] = sum;
}

//= present: four options side by side
constexpr int EACH = 4;
__global__ void f(const float *a, float *b, int n)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) * EACH;
    if (i >= n)
        return;
    float in[EACH];
    *reinterpret_cast<float4 *>(in) = *reinterpret_cast<const float4 *>(a + i);
    for (int k = 0; k < EACH; k++)
        in[k] = in[k] * in[k];
    *reinterpret_cast<float4 *>(b + i) = *reinterpret_cast<float4 *>(in);
}

//= present: the items of a vector, one after the other
__device__ float price_of(float strike, float spot)
{
    return fmaxf(strike - spot, 0.0f);
}
__global__ void price(const float4 *strike, const float4 *spot, float4 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 k = strike[i], s = spot[i];
    float4 p;
    p.x = price_of(k.x, s.x);
    p.y = price_of(k.y, s.y);
    p.z = price_of(k.z, s.z);
    p.w = price_of(k.w, s.w);
    out[i] = p;
}

//= absent: a vector as a value of one item
__global__ void move(const float4 *place, float4 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 p = place[i];
    p.x += 1.0f;
    p.w = 0.0f;
    out[i] = p;
}
