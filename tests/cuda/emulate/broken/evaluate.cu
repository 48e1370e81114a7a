/* A right solution of motzkin_straus_blp_eval, and one mistake at a time: each must be reported. With each stands the
 * text that the report must hold. */
#include "check.cuh"

#include <cuda_pipeline.h>

#define THREADS 256

#if MISTAKE == STATE /* report: WRONG */
__device__ unsigned calls;
#endif

__global__ void evaluate(int N, float mu, const float *A, const float *x, const float *q,
                         const float *s, float *obj, float *max_viol, float *sums)
{
    __shared__ double least[THREADS], total[THREADS];
    __shared__ float worst[THREADS];
    extern __shared__ float warp_sums[];
    const size_t n = (size_t)N, m = blockIdx.x;
    const int me = threadIdx.x;
    const float *weight = x + m * n, *slack = q + m * n;
    const float level = s[m];
    double my_least = 0.0, my_total = 0.0;
    float my_worst = fmaxf(0.0f, -level);
#if MISTAKE == EARLY_BARRIER /* report: a divergent barrier */
    if (me < THREADS / 2)
        __syncthreads();
#endif
    __shared__ alignas(16) float first[4];
    if (me == 0)
        __pipeline_memcpy_async(first, A, 16);
    __pipeline_commit();
#if MISTAKE != NO_PIPELINE_WAIT /* report: WRONG */
    __pipeline_wait_prior(0);
#endif
    __syncthreads();
    my_total += first[0] == A[0] ? 0 : 1;
    for (size_t i = me; i < n; i += THREADS) {
        float reached = 0.0f;
        for (size_t j = 0; j < n; j++)
            reached += A[j * n + i] * weight[j];
        my_worst = fmaxf(my_worst, fabsf((level - reached) - slack[i]));
        my_worst = fmaxf(my_worst, fmaxf(-slack[i], slack[i] - 1.0f));
        my_worst = fmaxf(my_worst, -weight[i]);
        my_least += fminf(weight[i], slack[i]);
#if MISTAKE != RACE
        my_total += weight[i];
#endif
    }
#if MISTAKE == BEYOND_GLOBAL /* report: heap-buffer-overflow */
    if (m == gridDim.x - 1)
        my_worst = fmaxf(my_worst, weight[n]);
#endif
    least[me] = my_least;
    total[me] = my_total;
    worst[me] = my_worst;
#if MISTAKE == BEYOND_SHARED /* report: out of bounds */
    least[me + 1] = my_least;
    __syncthreads();
    least[me] = my_least;
#endif
#if MISTAKE == BEYOND_DYNAMIC /* report: use-after-poison */
    warp_sums[me + 1] = my_worst;
#endif
#if MISTAKE == RACE /* report: WRONG */
    sums[m] = 0;
    __syncthreads();
    for (size_t i = me; i < n; i += THREADS) {
        const float before = sums[m];
        __syncwarp(__activemask());
        sums[m] = before + weight[i];
    }
    __syncthreads();
    total[me] = me == 0 ? sums[m] : 0;
#endif
#if MISTAKE != NO_BARRIER /* report: WRONG */
    __syncthreads();
#endif
#if MISTAKE == UNINITIALISED /* report: WRONG */
    my_total = sums[m];
    total[me] = my_total > 1 ? 1.0 : total[me];
    __syncthreads();
#endif
#if MISTAKE == DIVERGENT_BARRIER /* report: a divergent barrier */
    for (int half = THREADS / 2; half > 0 && me < half; half /= 2) {
#else
    for (int half = THREADS / 2; half > 16; half /= 2) {
#endif
        if (me < half) {
            least[me] += least[me + half];
            total[me] += total[me + half];
            worst[me] = fmaxf(worst[me], worst[me + half]);
        }
        __syncthreads();
    }
#if MISTAKE == DIVERGENT_BARRIER
    __syncthreads();
#endif
    if (me < 32) {
        for (int half = 16; half > 0; half /= 2) {
#if MISTAKE == WRONG_MASK /* report: can go no further */
            if (me < half)
                my_least = __shfl_down_sync(~0u, least[me], half);
#endif
            const double other_least = least[me + half], other_total = total[me + half];
            const float other_worst = worst[me + half];
#if MISTAKE != NO_SYNCWARP /* report: WRONG */
            __syncwarp();
#endif
            least[me] += other_least;
            total[me] += other_total;
            worst[me] = fmaxf(worst[me], other_worst);
#if MISTAKE != NO_SYNCWARP
            __syncwarp();
#endif
        }
    }
#if MISTAKE == STATE
    if (me == 0 && m == 0 && atomicAdd(&calls, 1) > 0)
        least[0] = 0;
#endif
    if (me == 0) {
        obj[m] = (float)(level - mu * least[0]);
        max_viol[m] = fmaxf(worst[0], (float)fabs(total[0] - 1.0));
    }
#if MISTAKE == MISALIGNED /* report: misaligned */
    if (me == 0 && n > 1)
        sums[m] = reinterpret_cast<const float2 *>(A + 1)->x;
#endif
}

static float *to_device(const float *from, size_t count)
{
    float *to;
    CHECK(cudaMalloc(&to, count * sizeof(float)));
    CHECK(cudaMemcpy(to, from, count * sizeof(float), cudaMemcpyHostToDevice));
    return to;
}

extern "C" void solution_compute(int N, int M, float mu, const float *A, const float *x,
                                 const float *q, const float *s, float *obj, float *max_viol)
{
    const size_t n = (size_t)N, m = (size_t)M;
    float *d_A = to_device(A, n * n), *d_x = to_device(x, m * n), *d_q = to_device(q, m * n),
          *d_s = to_device(s, m);
    float *d_obj, *d_viol, *d_sums;
    CHECK(cudaMalloc(&d_obj, m * sizeof(float)));
    CHECK(cudaMalloc(&d_viol, m * sizeof(float)));
    CHECK(cudaMalloc(&d_sums, m * sizeof(float)));
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaDeviceSynchronize());
    size_t shared = 1024;
#if MISTAKE == TOO_MUCH_SHARED /* report: were not asked for */
    shared = 100 << 10;
#endif
#if MISTAKE == HOST_POINTER /* report: use-after-poison */
    d_s = const_cast<float *>(s);
#endif
    evaluate<<<M, THREADS, shared, stream>>>(N, mu, d_A, d_x, d_q, d_s, d_obj, d_viol, d_sums);
#if MISTAKE != NO_CHECK && MISTAKE != TOO_MUCH_SHARED
    CHECK(cudaGetLastError());
#endif
#if MISTAKE != NO_WAIT /* report: WRONG */
    CHECK(cudaStreamSynchronize(stream));
#endif
#if MISTAKE == DEVICE_POINTER /* report: use-after-poison */
    obj[0] = d_obj[0];
#endif
#if MISTAKE == WRONG_KIND /* report: is not device memory */
    CHECK(cudaMemcpy(obj, s, m * sizeof(float), cudaMemcpyDeviceToHost));
#endif
    CHECK(cudaMemcpy(obj, d_obj, m * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(max_viol, d_viol, m * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(d_sums));
    CHECK(cudaFree(d_viol));
    CHECK(cudaFree(d_obj));
    CHECK(cudaFree(d_s));
    CHECK(cudaFree(d_q));
    CHECK(cudaFree(d_x));
#if MISTAKE != LEAK /* report: left behind: 1 allocations of device memory */
    CHECK(cudaFree(d_A));
#endif
}
