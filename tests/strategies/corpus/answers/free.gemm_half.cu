// C = A B in half with float sums: tiles through cp.async (inline PTX) into two buffers, products by mma.sync.
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define BM 64
#define BN 64
#define BK 32

__device__ inline void cp16(void *dst, const void *src)
{
    unsigned d = static_cast<unsigned>(__cvta_generic_to_shared(dst));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(d), "l"(src));
}
#define COMMIT() asm volatile("cp.async.commit_group;\n" ::)
#define WAIT(n) asm volatile("cp.async.wait_group %0;\n" ::"n"(n))

__device__ inline void mma16816(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// B is given transposed. 128 threads: four warps of 16 rows each.
__global__ void __launch_bounds__(128) gemm(int n, const __half *A, const __half *Bt, float *C)
{
    __shared__ __align__(16) __half sa[2][BM][BK + 8];
    __shared__ __align__(16) __half sb[2][BN][BK + 8];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
    const __half *a0 = A + (size_t)blockIdx.y * BM * n, *b0 = Bt + (size_t)blockIdx.x * BN * n;
    float acc[BN / 8][4] = {};
    auto load = [&](int stage, int k0) {
        for (int e = threadIdx.x; e < BM * BK / 8; e += 128) {
            const int r = e / (BK / 8), c = e % (BK / 8) * 8;
            cp16(&sa[stage][r][c], a0 + (size_t)r * n + k0 + c);
            cp16(&sb[stage][r][c], b0 + (size_t)r * n + k0 + c);
        }
        COMMIT();
    };
    load(0, 0);
    for (int k0 = 0, s = 0; k0 < n; k0 += BK, s ^= 1) {
        if (k0 + BK < n) {
            load(s ^ 1, k0 + BK);
            WAIT(1);
        } else {
            WAIT(0);
        }
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < BK; kk += 16) {
            unsigned a[4];
            a[0] = *(const unsigned *)&sa[s][warp * 16 + g][kk + q * 2];
            a[1] = *(const unsigned *)&sa[s][warp * 16 + g + 8][kk + q * 2];
            a[2] = *(const unsigned *)&sa[s][warp * 16 + g][kk + q * 2 + 8];
            a[3] = *(const unsigned *)&sa[s][warp * 16 + g + 8][kk + q * 2 + 8];
#pragma unroll
            for (int t = 0; t < BN / 8; t++) {
                unsigned b[2];
                b[0] = *(const unsigned *)&sb[s][t * 8 + g][kk + q * 2];
                b[1] = *(const unsigned *)&sb[s][t * 8 + g][kk + q * 2 + 8];
                mma16816(acc[t], a, b);
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int t = 0; t < BN / 8; t++) {
        float *c = C + (size_t)(blockIdx.y * BM + warp * 16 + g) * n + blockIdx.x * BN + t * 8 + q * 2;
        *reinterpret_cast<float2 *>(c) = make_float2(acc[t][0], acc[t][1]);
        *reinterpret_cast<float2 *>(c + (size_t)8 * n) = make_float2(acc[t][2], acc[t][3]);
    }
}

extern "C" void half_product(int n, const uint16_t *a, const uint16_t *bt, float *c)
{
    __half *dA, *dB;
    float *dC;
    cudaMalloc(&dA, sizeof(__half) * n * n);
    cudaMalloc(&dB, sizeof(__half) * n * n);
    cudaMalloc(&dC, sizeof(float) * n * n);
    cudaMemcpy(dA, a, sizeof(__half) * n * n, cudaMemcpyHostToDevice);
    cudaMemcpy(dB, bt, sizeof(__half) * n * n, cudaMemcpyHostToDevice);
    gemm<<<dim3(n / BN, n / BM), 128>>>(n, dA, dB, dC);
    cudaMemcpy(c, dC, sizeof(float) * n * n, cudaMemcpyDeviceToHost);
    cudaFree(dA);
    cudaFree(dB);
    cudaFree(dC);
}
