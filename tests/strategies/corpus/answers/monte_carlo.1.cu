// Everything in float with fast functions, the drift table in constant memory, four steps unrolled.
// Rounding differs from the contract in the last digits; misses the tolerance for long paths.
#include <cuda_runtime.h>
#include <math.h>
#include <vector>

#define MAX_STEPS 4096
__constant__ float drift_table[MAX_STEPS];

__device__ __forceinline__ unsigned xorshift(unsigned s)
{
    s ^= s << 13;
    s ^= s >> 17;
    return s ^ (s << 5);
}

__device__ __forceinline__ float gauss(unsigned draw)
{
    const float u = fminf(fmaxf(draw * 2.3283064e-10f, 1e-4f), 0.9999f);
    const float z = u - 0.5f, r = z * z;
    float a = -39.6968307f, b = -54.4760988f;
    a = __fmaf_rn(a, r, 220.946098f);
    b = __fmaf_rn(b, r, 161.585837f);
    a = __fmaf_rn(a, r, -275.928510f);
    b = __fmaf_rn(b, r, -155.698980f);
    a = __fmaf_rn(a, r, 138.357752f);
    b = __fmaf_rn(b, r, 66.8013119f);
    a = __fmaf_rn(a, r, -30.6647981f);
    b = __fmaf_rn(b, r, -13.2806816f);
    a = __fmaf_rn(a, r, 2.50662828f);
    b = __fmaf_rn(b, r, 1.0f);
    return __fdividef(z * a, b);
}

__global__ void paths(int n, int steps, float scale, float spot, float strike, float df, unsigned seed, float *payoff)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned s = seed ^ (i * 2654435761u);
        s = s ? s : 1;
        float logPrice = __logf(spot);
#pragma unroll 4
        for (int j = 0; j < steps; j++) {
            s = xorshift(s);
            logPrice += drift_table[j] + scale * gauss(s);
        }
        payoff[i] = fmaxf(strike - __expf(logPrice), 0.0f) * df;
    }
}

extern "C" void solution_compute(int N, int num_steps, float risk_free, float volatility, float strike, float spot,
                                 float time_to_maturity, unsigned int base_seed, float *payoffs)
{
    const float dt = 1.0f / num_steps;
    std::vector<float> drift(num_steps - 1);
    for (auto &d : drift)
        d = (risk_free - 0.5f * volatility * volatility) * dt;
    cudaMemcpyToSymbol(drift_table, drift.data(), drift.size() * sizeof(float));
    float *out;
    cudaMalloc(&out, N * sizeof(float));
    int block = 0, grid = 0;
    cudaOccupancyMaxPotentialBlockSize(&grid, &block, paths, 0, 0);
    paths<<<grid, block>>>(N, num_steps - 1, volatility * sqrtf(dt), spot, strike, expf(-risk_free * time_to_maturity),
                           base_seed, out);
    cudaMemcpy(payoffs, out, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(out);
}
