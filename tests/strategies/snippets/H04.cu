//= present: carved by offsets
void f(size_t n)
{
    char *base;
    cudaMalloc(&base, 3 * n);
    float *x = (float *)base, *y = (float *)(base + n);
    int *z = (int *)(base + 2 * n);
    work<<<1, 256>>>(x, y, z);
    cudaFree(base);
}

//= present: from a pool
void f(size_t n, cudaStream_t s) { float *x; cudaMallocAsync(&x, n, s); cudaFreeAsync(x, s); }

//= present: handed out by offsets
void f(size_t n)
{
    float *all;
    cudaMalloc(&all, 3 * n * sizeof(float));
    work<<<1, 256>>>(all, all + n, all + 2 * n);
    cudaFree(all);
}

//= absent: an allocation an array
void f(size_t n)
{
    float *x, *y;
    cudaMalloc(&x, n);
    cudaMalloc(&y, n);
    work<<<1, 256>>>(x, y);
}

//= absent: one array
void f(size_t n)
{
    float *x;
    cudaMalloc(&x, n);
    work<<<1, 256>>>(x);
    cudaFree(x);
}

//= absent: a helper that allocates
template <class T> static T *room(size_t n) { T *d; cudaMalloc(&d, n * sizeof(T)); return d; }
void f(size_t n)
{
    float *x = room<float>(n), *y = room<float>(n);
    work<<<1, 256>>>(x, y);
}

//= absent: a block that stays
static char *base;
void f(size_t n)
{
    if (!base)
        cudaMalloc(&base, 3 * n);
    float *x = (float *)base, *y = (float *)(base + n);
    int *z = (int *)(base + 2 * n);
    work<<<1, 256>>>(x, y, z);
}
