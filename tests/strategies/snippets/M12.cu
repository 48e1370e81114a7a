//= present: sorted by cell
void sort_particles(int *cell, int *order, int n)
{
    thrust::sequence(thrust::device, order, order + n);
    thrust::sort_by_key(thrust::device, cell, cell + n, order);
}
__global__ void f(const int *order, const float *x, float *y) { y[threadIdx.x] = x[order[threadIdx.x]]; }

//= present: an L2 window
void keep(cudaStream_t s, void *table, size_t bytes)
{
    cudaStreamAttrValue v = {};
    v.accessPolicyWindow.base_ptr = table;
    v.accessPolicyWindow.num_bytes = bytes;
    cudaStreamSetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &v);
}

//= present: a counting sort by cell on the device
__global__ void place(const int *cell_of, int *cell_start, int *order, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const int slot = atomicAdd(&cell_start[cell_of[i]], 1);
        order[slot] = i;
    }
}
__global__ void f(const int *order, const float *x, float *y) { y[threadIdx.x] = x[order[threadIdx.x]]; }

//= absent: a sort by length
void by_length(std::vector<int> &order, const int *length)
{
    std::sort(order.begin(), order.end(), [=](int a, int b) { return length[a] < length[b]; });
}

//= absent: a sort that is the task
void solution(float *values, int n) { thrust::sort(thrust::device, values, values + n); }

//= absent: a histogram
__global__ void h(const int *in, int *count, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&count[in[i]], 1);
}

//= present: items put into cells by rank
__global__ void place(const int *cell, const int *rank, const int *cell_start, int *order, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        order[cell_start[cell[i]] + rank[i]] = i;
}
__global__ void use(const int *order, const float *box, float *out)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = order[k];
    out[k] = box[i] * 2;
}

//= present: keys that a kernel makes from coordinates
#include <thrust/sort.h>
__global__ void keys(const float *x, const float *y, float inv, int side, int *key)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    key[i] = (int)(y[i] * inv) * side + (int)(x[i] * inv);
}
__global__ void use(const int *order, const float *x, float *out)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    out[k] = x[order[k]];
}
void run(int n, const float *x, const float *y, int side, int *key, int *order, float *out)
{
    keys<<<n / 256, 256>>>(x, y, 1.0f / 3, side, key);
    thrust::sort_by_key(thrust::device, key, key + n, order);
    use<<<n / 256, 256>>>(order, x, out);
}

//= present: blocks numbered in groups
__global__ void transpose(int n, const float *in, float *out)
{
    const int tiles = n / 32, each = 8 * tiles;
    const int group = blockIdx.x / each, within = blockIdx.x % each;
    const int bx = group * 8 + within % 8, by = within / 8;
    out[(bx * 32 + threadIdx.y) * n + by * 32 + threadIdx.x] = in[(by * 32 + threadIdx.x) * n + bx * 32 + threadIdx.y];
}

//= absent: blocks numbered by rows
__global__ void scale(int n, const float *in, float *out)
{
    const int bx = blockIdx.x % n, by = blockIdx.x / n;
    out[(by * 32 + threadIdx.y) * n * 32 + bx * 32 + threadIdx.x] = 2 * in[(by * 32 + threadIdx.y) * n * 32 + bx * 32 + threadIdx.x];
}

//= absent: where the range of each cell begins
__global__ void ranges(const int *cell_of, int *cell_begin, int n)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k == 0 || cell_of[k] != cell_of[k - 1])
        cell_begin[cell_of[k]] = k;
}
