// Warps draw vertices from a counter; for each pair of neighbours the smaller list is searched in the larger one.
#include <cuda_runtime.h>

#define FULL 0xffffffffu

__device__ bool contains(const int *list, int len, int x)
{
    int lo = 0;
    while (len > 0) {
        int half = len / 2;
        if (list[lo + half] < x) {
            lo += half + 1;
            len -= half + 1;
        } else {
            len = half;
        }
    }
    return list[lo] == x;
}

__global__ void count(int n, const int *__restrict__ rp, const int *__restrict__ ci, int *ticket,
                      unsigned long long *total)
{
    const int lane = threadIdx.x & 31;
    unsigned long long mine = 0;
    while (true) {
        int u = 0;
        if (lane == 0)
            u = atomicAdd(ticket, 1);
        u = __shfl_sync(FULL, u, 0);
        if (u >= n)
            break;
        const int *a = ci + rp[u];
        const int la = rp[u + 1] - rp[u];
        for (int i = 0; i < la && a[i] < u; i++) {
            const int v = a[i];
            const int *b = ci + rp[v];
            const int lb = rp[v + 1] - rp[v];
            for (int j = lane; j < i; j += 32)
                if (lb > 0 && a[j] <= b[lb - 1] && contains(b, lb, a[j]))
                    mine++;
        }
    }
    for (int d = 16; d; d >>= 1)
        mine += __shfl_xor_sync(FULL, mine, d);
    __shared__ unsigned long long block_total;
    if (threadIdx.x == 0)
        block_total = 0;
    __syncthreads();
    if (lane == 0)
        atomicAdd(&block_total, mine);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(total, block_total);
}

extern "C" void solution_compute(int n, const int *row_ptr, const int *col_idx, unsigned long long *triangle_count_out)
{
    int m = row_ptr[n], dev, sms;
    cudaGetDevice(&dev);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, dev);
    char *p;
    cudaMalloc(&p, 16 + sizeof(int) * ((size_t)n + 1 + m));
    unsigned long long *total = (unsigned long long *)p;
    int *ticket = (int *)(p + 8), *rp = (int *)(p + 16), *ci = rp + n + 1;
    cudaMemset(p, 0, 16);
    cudaMemcpy(rp, row_ptr, sizeof(int) * (n + 1), cudaMemcpyHostToDevice);
    cudaMemcpy(ci, col_idx, sizeof(int) * m, cudaMemcpyHostToDevice);
    count<<<sms * 8, 256>>>(n, rp, ci, ticket, total);
    cudaMemcpy(triangle_count_out, total, 8, cudaMemcpyDeviceToHost);
    cudaFree(p);
}
