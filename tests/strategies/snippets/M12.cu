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
