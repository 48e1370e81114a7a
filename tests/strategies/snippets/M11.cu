//= present: sets of states as bits
__global__ void run(const unsigned *follow, const unsigned char *text, int n, int *out)
{
    unsigned state = 1;
    for (int i = 0; i < n; i++) {
        unsigned next = 0;
        for (int q = 0; q < 32; q++)
            if (state & (1u << q))
                next |= 1u << (follow[q * 256 + text[i]] % 32);
        state = next;
    }
    out[threadIdx.x] = state;
}

//= present: neighbours as bits, counted
__global__ void triangles(const unsigned long long *bits, int words, int *count)
{
    int sum = 0;
    for (int w = 0; w < words; w++)
        sum += __popcll(bits[blockIdx.x * words + w] & bits[threadIdx.x * words + w]);
    atomicAdd(count, sum);
}

//= present: codes of sixteen bits
__global__ void narrow(const int *in, unsigned short *codes, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        codes[i] = (unsigned short)in[i];
}
__global__ void work(const unsigned short *codes, int *out, int n)
{
    int sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += codes[i];
    atomicAdd(out, sum);
}
extern "C" void solution_compute(int n, const int *in, int *out)
{
    unsigned short *d;
    narrow<<<n / 256 + 1, 256>>>(in, d, n);
    work<<<1, 256>>>(d, out, n);
}

//= absent: shifts that index
__global__ void f(const float *a, float *b)
{
    const int row = threadIdx.x >> 5, lane = threadIdx.x & 31;
    b[(row << 5) | lane] = a[lane << 2];
}

//= absent: votes of a warp
__global__ void f(const int *a, int *count)
{
    const unsigned votes = __ballot_sync(~0u, a[threadIdx.x] > 0);
    if (threadIdx.x % 32 == 0)
        atomicAdd(count, __popc(votes));
}

//= absent: flags of a byte
__global__ void f(const int *start, bool *visited, unsigned char *active, int n)
{
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n && active[v]) {
        active[v] = 0;
        visited[start[v]] = true;
    }
}

//= present: dates packed into a word
__global__ void value(const unsigned *packed, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const unsigned word = packed[i];
        const int issue = word & 0xffff, end = word >> 16;
        out[i] = end - issue;
    }
}
void run(const int *issue, const int *end, unsigned *slots, float *out, int n)
{
    for (int i = 0; i < n; i++)
        slots[i] = (unsigned)end[i] << 16 | (unsigned)issue[i];
    value<<<n / 256 + 1, 256>>>(slots, out, n);
}

//= absent: a generator of random numbers
__device__ unsigned next(unsigned *state)
{
    unsigned x = *state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    *state = x;
    return (x << 7) | (x >> 25);
}
__global__ void f(unsigned *states, float *out) { out[threadIdx.x] = next(&states[threadIdx.x]) * 2.0e-10f; }

//= present: sets of cities, from which members are removed
__global__ void extend(int m, const int *cost, int *best)
{
    const unsigned S = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = 0; j < m; j++) {
        if (!(S >> j & 1))
            continue;
        const unsigned rest = S & ~(1u << j);
        best[S * m + j] = rest ? best[rest * m] + cost[j] : cost[j];
    }
}

//= present: members of a set, visited bit by bit
__global__ void follow(const unsigned *sets, const int *value, int *sums)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
    for (unsigned left = sets[i]; left; left &= left - 1)
        sum += value[__ffs(left) - 1];
    sums[i] = sum;
}

//= present: the host narrows the costs
__global__ void relax(const unsigned char *cost, int *out);
extern "C" void solution_compute(int n, const int *wall, int *out)
{
    std::vector<uint8_t> narrow(n);
    for (int i = 0; i < n; i++)
        narrow[i] = static_cast<uint8_t>(wall[i]);
    unsigned char *device;
    cudaMalloc(&device, n);
    cudaMemcpy(device, narrow.data(), n, cudaMemcpyHostToDevice);
}

//= absent: voters visited bit by bit
__global__ void serve(const int *wanted, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned active = __ballot_sync(~0u, wanted[i] > 0);
    int order = 0;
    while (active) {
        const int lane = __ffs(active) - 1;
        active &= active - 1;
        order += __shfl_sync(~0u, wanted[i], lane);
    }
    out[i] = order;
}

//= absent: bytes of the host that hold no input
extern "C" void solution_compute(int n, const int *wall, int *out)
{
    std::vector<uint8_t> staged(n * sizeof(int));
    memcpy(staged.data(), wall, n * sizeof(int));
    int *device;
    cudaMalloc(&device, n * sizeof(int));
    cudaMemcpy(device, staged.data(), n * sizeof(int), cudaMemcpyHostToDevice);
}
