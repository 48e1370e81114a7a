//= present: sorted by length on the host
void order(std::vector<int> &ids, const int *lengths)
{
    std::sort(ids.begin(), ids.end(), [&](int a, int b) { return lengths[a] > lengths[b]; });
}

//= present: sorted by degree on the device
void order(int *degree, int *vertex, int n) { thrust::sort_by_key(thrust::device, degree, degree + n, vertex); }

//= present: counted by length
void order(const int *length, std::vector<int> &bucket, std::vector<int> &ids, int n)
{
    std::vector<int> start(1000);
    for (int i = 0; i < n; i++)
        start[length[i] + 1]++;
    for (int i = 0; i < n; i++)
        ids[start[length[i]]++] = i;
}

//= absent: sorted by cell
void order(int *cell, int *id, int n) { thrust::sort_by_key(thrust::device, cell, cell + n, id); }

//= absent: sorted values
void order(std::vector<float> &v) { std::sort(v.begin(), v.end()); }

//= absent: a length bounds a loop
__global__ void f(const int *length, const float *a, float *b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < length[i]; k++)
        b[i] += a[k];
}

//= present: long rows for other hands
__global__ void split(const int *start, int *long_rows, int *count, int n)
{
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n && start[v + 1] - start[v] > 1024)
        long_rows[atomicAdd(count, 1)] = v;
}
