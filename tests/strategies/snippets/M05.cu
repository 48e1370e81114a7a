//= present: a cast at the access
__global__ void scale(float *a, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i < n) {
        float4 v = reinterpret_cast<float4 *>(a)[i];
        v.x *= 2; v.y *= 2; v.z *= 2; v.w *= 2;
        reinterpret_cast<float4 *>(a)[i] = v;
    }
}

//= present: a parameter of vectors
__global__ void add(const double2 *a, double2 *b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const double2 v = a[i];
    b[i] = make_double2(v.x + 1, v.y + 1);
}

//= present: a local pointer
__global__ void copy(const int *in, int *out)
{
    const int4 *from = (const int4 *)in;
    int4 *to = (int4 *)out;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i];
}

//= absent: a value of four numbers
__device__ float4 mean(float4 a, float4 b)
{
    return make_float4((a.x + b.x) / 2, (a.y + b.y) / 2, 0, 0);
}
__global__ void work(const float *a, float *b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 m = mean(make_float4(a[i], 0, 0, 0), make_float4(1, 2, 3, 4));
    b[i] = m.x;
}

//= absent: vectors in shared memory only
__global__ void work(const float *a, float *b)
{
    __shared__ float4 s[64];
    s[threadIdx.x].x = a[threadIdx.x];
    __syncthreads();
    b[threadIdx.x] = s[63 - threadIdx.x].x;
}

//= absent: dim3 and a structure of three numbers
struct Point { float x, y, z; };
__global__ void work(const Point *p, float *b)
{
    b[threadIdx.x] = p[threadIdx.x].x;
}
void run(const Point *p, float *b) { dim3 grid(1, 2, 3); work<<<grid, 32>>>(p, b); }
