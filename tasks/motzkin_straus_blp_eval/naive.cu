/* Trial points for maximum clique, one block a point: a thread computes every 256th row of A x on
 * its own and keeps the worst violation it meets, then the block reduces. A is symmetric and read
 * by columns, so that neighbouring threads read neighbouring entries, but every block reads all of
 * A again from the cache: that traffic bounds large graphs, and the plain copies of x and q the
 * others. */
#include "check.cuh"

#define THREADS 256

__global__ void evaluate(int N, float mu, const float *A, const float *x, const float *q,
                         const float *s, float *obj, float *max_viol)
{
    __shared__ double least[THREADS], total[THREADS];
    __shared__ float worst[THREADS];
    const size_t n = (size_t)N, m = blockIdx.x;
    const int me = threadIdx.x;
    const float *weight = x + m * n, *slack = q + m * n;
    const float level = s[m];
    double my_least = 0.0, my_total = 0.0;
    float my_worst = fmaxf(0.0f, -level);
    for (size_t i = me; i < n; i += THREADS) {
        float reached = 0.0f;
        for (size_t j = 0; j < n; j++)
            reached += A[j * n + i] * weight[j];
        my_worst = fmaxf(my_worst, fabsf((level - reached) - slack[i]));
        my_worst = fmaxf(my_worst, fmaxf(-slack[i], slack[i] - 1.0f));
        my_worst = fmaxf(my_worst, -weight[i]);
        my_least += fminf(weight[i], slack[i]);
        my_total += weight[i];
    }
    least[me] = my_least;
    total[me] = my_total;
    worst[me] = my_worst;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (me < half) {
            least[me] += least[me + half];
            total[me] += total[me + half];
            worst[me] = fmaxf(worst[me], worst[me + half]);
        }
        __syncthreads();
    }
    if (me == 0) {
        obj[m] = (float)(level - mu * least[0]);
        max_viol[m] = fmaxf(worst[0], (float)fabs(total[0] - 1.0));
    }
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
    float *d_obj, *d_viol;
    CHECK(cudaMalloc(&d_obj, m * sizeof(float)));
    CHECK(cudaMalloc(&d_viol, m * sizeof(float)));
    evaluate<<<M, THREADS>>>(N, mu, d_A, d_x, d_q, d_s, d_obj, d_viol);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(obj, d_obj, m * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(max_viol, d_viol, m * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_viol));
    CHECK(cudaFree(d_obj));
    CHECK(cudaFree(d_s));
    CHECK(cudaFree(d_q));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_A));
}
