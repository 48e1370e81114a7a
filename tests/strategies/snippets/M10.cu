//= present: rows of a table in shared memory
__global__ void paths(const int *wall, int *out, int rows)
{
    __shared__ int now[256], next[256];
    const int c = threadIdx.x;
    now[c] = wall[c];
    __syncthreads();
    for (int r = 1; r < rows; r++) {
        int best = now[c];
        if (c > 0)
            best = min(best, now[c - 1]);
        if (c < 255)
            best = min(best, now[c + 1]);
        next[c] = best + wall[r * 256 + c];
        __syncthreads();
        now[c] = next[c];
        __syncthreads();
    }
    out[blockIdx.x * 256 + c] = now[c];
}

//= present: a lattice of a thread, in registers
__global__ void trees(const float *spot, float *price, int steps)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v[33];
    for (int k = 0; k < 33; k++)
        v[k] = spot[i] * k;
    for (int t = steps; t > 0; t--)
        for (int k = 0; k < 32; k++)
            v[k] = 0.5f * (v[k] + v[k + 1]);
    price[i] = v[0];
}

//= present: relaxation until nothing changes
__global__ void distances(const int *head, const int *weight, int m, int n, int *out)
{
    extern __shared__ int d[];
    for (int v = threadIdx.x; v < n; v += blockDim.x)
        d[v] = v == 0 ? 0 : 1 << 28;
    int changed = 1;
    while (__syncthreads_or(changed)) {
        changed = 0;
        for (int e = threadIdx.x; e < m; e += blockDim.x) {
            const int through = d[e % n] + weight[e];
            if (through < d[head[e]]) {
                d[head[e]] = through;
                changed = 1;
            }
        }
    }
    for (int v = threadIdx.x; v < n; v += blockDim.x)
        out[v] = d[v];
}

//= absent: one step a launch
__global__ void step(const float *now, float *next, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        next[i] = (now[i - 1] + now[i + 1]) / 2;
}
void run(float *a, float *b, int n, int steps)
{
    for (int t = 0; t < steps; t++) {
        step<<<n / 256 + 1, 256>>>(a, b, n);
        std::swap(a, b);
    }
}

//= absent: an accumulator over tiles
__global__ void f(const float *a, float *b, int n)
{
    __shared__ float s[128];
    float sum = 0;
    for (int k = 0; k < n; k++) {
        s[threadIdx.x] = a[k * 128 + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 128; j++)
            sum += s[j];
        __syncthreads();
    }
    b[threadIdx.x] = sum;
}

//= absent: every step stored
__global__ void f(float *u, int steps, int n)
{
    __shared__ float s[128];
    s[threadIdx.x] = u[threadIdx.x];
    for (int t = 1; t < steps; t++) {
        __syncthreads();
        const float v = (s[threadIdx.x] + s[127 - threadIdx.x]) / 2;
        __syncthreads();
        s[threadIdx.x] = v;
        u[t * n + threadIdx.x] = v;
    }
}

//= absent: a tree for each row
__global__ void rows(const float *a, float *out, int n)
{
    __shared__ float s[128];
    float best = 0;
    for (int r = 0; r < n; r++) {
        s[threadIdx.x] = a[r * 128 + threadIdx.x];
        __syncthreads();
        for (int d = 64; d > 0; d /= 2) {
            if (threadIdx.x < d)
                s[threadIdx.x] += s[threadIdx.x + d];
            __syncthreads();
        }
        best = fmaxf(best, s[0]);
    }
    out[blockIdx.x] = best;
}

//= present: edges handed to a neighbour
__global__ void strips(const float *in, float *edge, float *out, int steps)
{
    __shared__ float s[2][128];
    const int t = threadIdx.x;
    s[0][t] = in[blockIdx.x * 128 + t];
    for (int k = 0; k < steps; k++) {
        __syncthreads();
        const float left = t > 0 ? s[k % 2][t - 1] : 0;
        s[(k + 1) % 2][t] = 0.5f * (left + s[k % 2][t]);
        if (t == 127)
            edge[k * gridDim.x + blockIdx.x] = left;
    }
    out[blockIdx.x * 128 + t] = s[steps % 2][t];
}

//= present: in a structure, by functions
struct State { float *now, *next; };
__device__ void step(const State &s, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        s.next[i] = 0.5f * (s.now[i] + s.now[(i + 1) % n]);
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        s.now[i] = s.next[i];
    __syncthreads();
}
__global__ void run(const float *in, float *out, int n, int steps)
{
    extern __shared__ float shared[];
    State s;
    s.now = shared;
    s.next = shared + n;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        s.now[i] = in[blockIdx.x * n + i];
    __syncthreads();
    for (int t = 0; t < steps; t++)
        step(s, n);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[blockIdx.x * n + i] = s.now[i];
}

//= absent: steps in global memory, by functions
struct State { float *now, *next; };
__device__ void step(const State &s, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        s.next[i] = 0.5f * (s.now[i] + s.now[(i + 1) % n]);
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        s.now[i] = s.next[i];
    __syncthreads();
}
__global__ void run(State s, int n, int steps)
{
    for (int t = 0; t < steps; t++)
        step(s, n);
}

//= present: a generator and a price in registers over all steps
__global__ void follow(const float *drift, float *payoffs, int steps, unsigned seed, float spot)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned state = seed ^ i;
    float price = spot;
    for (int j = 0; j < steps; j++) {
        state ^= state << 13;
        state ^= state >> 17;
        price = price * expf(drift[j] + 1e-9f * state);
    }
    payoffs[i] = price;
}

//= present: a state that a function of this source steps
__device__ unsigned next_state(unsigned s)
{
    return s * 1664525u + 1013904223u;
}
__global__ void draw(int *hits, int steps, unsigned seed)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned s = seed + i;
    int hit = 0;
    for (int k = 0; k < steps; k++) {
        s = next_state(s);
        hit += s >> 31;
    }
    hits[i] = hit;
}

//= present: a set of bits that a round's new one replaces
__global__ void match(const unsigned *mask, const unsigned char *text, const int *offsets, int *results)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned set = 1;
    for (int k = offsets[i]; k < offsets[i + 1]; k++) {
        unsigned next = 0;
        for (unsigned left = set; left; left &= left - 1)
            next |= mask[text[k] * 32 + __ffs(left) - 1];
        set = next;
    }
    results[i] = set != 0;
}

//= present: the library's generator in registers
#include <curand_kernel.h>
__global__ void play(const float *chance, int *wins, int rounds, unsigned long long seed)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    curandState g;
    curand_init(seed, i, 0, &g);
    int mine = 0;
    for (int t = 0; t < rounds; t++)
        mine += curand_uniform(&g) <= chance[t];
    wins[i] = mine;
}

//= absent: a sum that a reduction finishes
__device__ float warp_sum(float v)
{
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_xor_sync(~0u, v, d);
    return v;
}
__global__ void rows(const float *a, float *out, int n)
{
    float s = 0;
    for (int k = 0; k < n; k++) {
        s += a[k * 32 + threadIdx.x];
        s = warp_sum(s);
    }
    out[blockIdx.x] = s;
}

//= absent: sums of a convolution in a local array
__global__ void blur(const float *in, const float *weight, float *out, int terms)
{
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    float sum[4] = {0, 0, 0, 0};
    for (int k = 0; k < terms; k++)
        for (int i = 0; i < 4; i++)
            sum[i] = fmaf(weight[k], in[first + i + k], sum[i]);
    for (int i = 0; i < 4; i++)
        out[first + i] = sum[i];
}
