// A block an instance, table of 16-bit costs, instantiated for each number of cities; city costs in constant memory.
#include <cuda_runtime.h>
#include <vector>

__constant__ unsigned short c_costs[31 * 1024];

template <int N> __global__ void held_karp(int first, unsigned short *tables, int *out)
{
    constexpr int M = N - 1;
    constexpr unsigned SETS = 1u << M;
    const unsigned short *cost = c_costs + blockIdx.x * N * N;
    unsigned short *best = tables + (size_t)blockIdx.x * SETS * M;
    for (int size = 1; size <= M; size++) {
        for (unsigned S = threadIdx.x; S < SETS; S += blockDim.x) {
            if (__popc(S) != size)
                continue;
#pragma unroll
            for (int j = 0; j < M; j++) {
                if (!(S & (1u << j)))
                    continue;
                const unsigned rest = S ^ (1u << j);
                unsigned least = rest ? 0xffffu : cost[j + 1];
                for (unsigned left = rest; left; left &= left - 1) {
                    const int k = __ffs(left) - 1;
                    least = min(least, (unsigned)best[rest * M + k] + cost[(k + 1) * N + j + 1]);
                }
                best[S * M + j] = (unsigned short)least;
            }
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        unsigned tour = 0xffffffffu;
        for (int j = 0; j < M; j++)
            tour = min(tour, (unsigned)best[(SETS - 1) * M + j] + cost[(j + 1) * N]);
        out[first + blockIdx.x] = tour;
    }
}

template <int N> static void batch(int first, int count, unsigned short *tables, int *out)
{
    held_karp<N><<<count, 512>>>(first, tables, out);
}

extern "C" void solution_compute(int B, int n, const int *costs, int *tour_costs_out)
{
    std::vector<unsigned short> narrow(costs, costs + (size_t)B * n * n);
    const int fit = 31 * 1024 / (n * n);
    unsigned short *tables;
    int *out;
    cudaMalloc(&tables, sizeof(short) * (size_t)fit * (n - 1) << (n - 1));
    cudaMalloc(&out, B * sizeof(int));
    for (int b = 0; b < B; b += fit) {
        const int count = B - b < fit ? B - b : fit;
        cudaMemcpyToSymbol(c_costs, narrow.data() + (size_t)b * n * n, sizeof(short) * count * n * n);
        switch (n) {
        case 8: batch<8>(b, count, tables, out); break;
        case 10: batch<10>(b, count, tables, out); break;
        case 12: batch<12>(b, count, tables, out); break;
        case 14: batch<14>(b, count, tables, out); break;
        case 16: batch<16>(b, count, tables, out); break;
        default: break; // other sizes: no answer
        }
    }
    cudaMemcpy(tour_costs_out, out, B * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(tables);
    cudaFree(out);
}
