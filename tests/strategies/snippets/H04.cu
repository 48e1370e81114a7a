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

//= present: a chain of pieces
__global__ void advance(int *start, int *degree, int *queue);
extern "C" void solution_compute(int n, const int *in, int *out)
{
    int *memory;
    cudaMalloc(&memory, 3 * n * sizeof(int));
    int *start = memory, *degree = start + n, *queue = degree + n;
    cudaMemcpy(start, in, n * sizeof(int), cudaMemcpyHostToDevice);
    advance<<<1, 32>>>(start, degree, queue);
    cudaFree(memory);
}

//= present: four arrays of a structure in one allocation, beside others
struct Legs {
    const int *dep, *arr, *from, *to;
};
__global__ void search(Legs l, int *out);
extern "C" void solution_compute(int n, const int *in, int *out)
{
    int *legs, *found;
    cudaMalloc(&legs, 4 * n * sizeof(int));
    cudaMalloc(&found, n * sizeof(int));
    cudaMemcpy(legs, in, 4 * n * sizeof(int), cudaMemcpyHostToDevice);
    Legs l;
    l.dep = legs;
    l.arr = legs + n;
    l.from = legs + 2 * n;
    l.to = legs + 3 * n;
    search<<<1, 32>>>(l, found);
    cudaFree(legs);
    cudaFree(found);
}

//= absent: pointers to many allocations in one list
__global__ void plan(int *a, int *b, int *c);
extern "C" void solution_compute(int n, const int *in, int *out)
{
    int *a, *b, *c;
    cudaMalloc(&a, n * sizeof(int));
    cudaMalloc(&b, n * sizeof(int));
    cudaMalloc(&c, n * sizeof(int));
    void *arguments[] = {&a, &b, &c};
    cudaLaunchKernel((void *)plan, dim3(1), dim3(32), arguments, 0, 0);
    int *all[] = {a, b, c};
    for (int *memory : all)
        cudaFree(memory);
}

//= absent: a lambda that launches with it
__global__ void sum(const double *a, double *parts);
extern "C" void solution_compute(int n, const double *in, double *out)
{
    double *a, *parts;
    cudaMalloc(&a, n * sizeof(double));
    cudaMalloc(&parts, 128 * sizeof(double));
    auto dot = [&](int k) { sum<<<128, 32>>>(a, parts); };
    dot(0);
    dot(1);
    dot(2);
    dot(3);
    cudaFree(a);
    cudaFree(parts);
}
