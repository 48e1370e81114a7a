// Draft: libraries for the heavy parts, all trials in one batched call each. The eigenvectors are still missing.
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>

#define BLAS(call) if ((call) != CUBLAS_STATUS_SUCCESS) { std::abort(); }

__global__ void scaleColumns(int T, int N, const float *R, float *Q)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int trial = blockIdx.y;
    if (j >= N)
        return;
    const float *r = R + (size_t)trial * T * N;
    float *q = Q + (size_t)trial * T * N;
    float norm = 0.0f;
    for (int t = 0; t < T; t++)
        norm = fmaf(r[t * N + j], r[t * N + j], norm);
    float inv = norm > 0 ? rsqrtf(norm) : 1.0f;
    for (int t = 0; t < T; t++)
        q[t * N + j] = r[t * N + j] * inv;
}

extern "C" void solution_compute(int S, int T, int N, int K, const float *R, float *w)
{
    cublasHandle_t blas;
    BLAS(cublasCreate(&blas));
    cusolverDnHandle_t solver;
    cusolverDnCreate(&solver);

    float *dR, *dQ, *dGram, *dEig;
    cudaMalloc(&dR, sizeof(float) * S * T * N);
    cudaMalloc(&dQ, sizeof(float) * S * T * N);
    cudaMalloc(&dGram, sizeof(float) * S * T * T);
    cudaMalloc(&dEig, sizeof(float) * S * T);
    cudaMemcpy(dR, R, sizeof(float) * S * T * N, cudaMemcpyHostToDevice);
    scaleColumns<<<dim3((N + 127) / 128, S), 128>>>(T, N, dR, dQ);

    const float one = 1.0f, zero = 0.0f;
    BLAS(cublasSgemmStridedBatched(blas, CUBLAS_OP_T, CUBLAS_OP_N, T, T, N, &one, dQ, N, (long long)T * N, dQ, N,
                                   (long long)T * N, &zero, dGram, T, (long long)T * T, S));
    syevjInfo_t params;
    cusolverDnCreateSyevjInfo(&params);
    int lwork;
    cusolverDnSsyevjBatched_bufferSize(solver, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, T, dGram, T, dEig,
                                       &lwork, params, S);
    float *work;
    int *info;
    cudaMalloc(&work, lwork * sizeof(float));
    cudaMalloc(&info, S * sizeof(int));
    cusolverDnSsyevjBatched(solver, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, T, dGram, T, dEig, work, lwork,
                            info, params, S);
    // TODO: take the K last vectors, project, solve (K x K), weights
    ...
    cudaMemcpy(w, dW, sizeof(float) * S * N, cudaMemcpyDeviceToHost);
}
