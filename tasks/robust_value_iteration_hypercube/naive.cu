/* A kernel to order the states (each counts how many come before it), one with a thread per state
 * and action that follows the order through its row, one that takes the best action; T times. Bound
 * by scattered reads: neighbouring threads read rows that lie S floats apart. Sums in double. */
#include "check.cuh"

#define BLOCK 128

static __global__ void order_states(int S, const double *V, int *order)
{
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= S)
        return;
    int rank = 0;
    for (int j = 0; j < S; j++)
        rank += V[j] < V[s] || (V[j] == V[s] && j < s);
    order[rank] = s;
}

static __global__ void sum_down(size_t rows, int S, const float *down, double *total)
{
    const size_t row = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    double sum = 0;
    for (int j = 0; j < S; j++)
        sum += down[row * S + j];
    total[row] = sum;
}

static __global__ void back_up(size_t rows, int S, double gamma, const float *rew,
                               const float *P_up, const float *P_down, const double *total,
                               const int *order, const double *V, double *q)
{
    const size_t row = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    const float *up = P_up + row * S, *down = P_down + row * S;
    double mass = total[row], expected = 0;
    int i = 0;
    for (; i < S - 1; i++) { /* raise the states of least value first */
        const int j = order[i];
        const double raised = mass + ((double)up[j] - down[j]);
        if (raised >= 1)
            break;
        mass = raised;
        expected += up[j] * V[j];
    }
    expected += (1 - (mass - down[order[i]])) * V[order[i]];
    for (i++; i < S; i++)
        expected += down[order[i]] * V[order[i]];
    q[row] = rew[row] + gamma * expected;
}

static __global__ void best_action(int S, int A, const double *q, double *V)
{
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= S)
        return;
    double best = q[(size_t)s * A];
    for (int a = 1; a < A; a++)
        best = fmax(best, q[(size_t)s * A + a]);
    V[s] = best;
}

static __global__ void to_float(int S, const double *V, float *out)
{
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s < S)
        out[s] = (float)V[s];
}

extern "C" void solution_compute(int S, int A, int T, float gamma, const float *rew,
                                 const float *P_up, const float *P_down, float *V)
{
    const size_t rows = (size_t)S * A, entries = rows * S;
    float *d_rew, *d_up, *d_down, *d_out;
    double *d_total, *d_q, *d_V;
    int *d_order;
    CHECK(cudaMalloc(&d_rew, rows * sizeof(float)));
    CHECK(cudaMalloc(&d_up, entries * sizeof(float)));
    CHECK(cudaMalloc(&d_down, entries * sizeof(float)));
    CHECK(cudaMalloc(&d_out, S * sizeof(float)));
    CHECK(cudaMalloc(&d_total, rows * sizeof(double)));
    CHECK(cudaMalloc(&d_q, rows * sizeof(double)));
    CHECK(cudaMalloc(&d_V, S * sizeof(double)));
    CHECK(cudaMalloc(&d_order, S * sizeof(int)));
    CHECK(cudaMemcpy(d_rew, rew, rows * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_up, P_up, entries * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_down, P_down, entries * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_V, 0, S * sizeof(double)));

    const unsigned state_blocks = (S + BLOCK - 1) / BLOCK,
                   row_blocks = (unsigned)((rows + BLOCK - 1) / BLOCK);
    sum_down<<<row_blocks, BLOCK>>>(rows, S, d_down, d_total);
    for (int t = 0; t < T; t++) {
        order_states<<<state_blocks, BLOCK>>>(S, d_V, d_order);
        back_up<<<row_blocks, BLOCK>>>(rows, S, gamma, d_rew, d_up, d_down, d_total, d_order, d_V,
                                       d_q);
        best_action<<<state_blocks, BLOCK>>>(S, A, d_q, d_V);
    }
    to_float<<<state_blocks, BLOCK>>>(S, d_V, d_out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(V, d_out, S * sizeof(float), cudaMemcpyDeviceToHost));

    CHECK(cudaFree(d_rew));
    CHECK(cudaFree(d_up));
    CHECK(cudaFree(d_down));
    CHECK(cudaFree(d_out));
    CHECK(cudaFree(d_total));
    CHECK(cudaFree(d_q));
    CHECK(cudaFree(d_V));
    CHECK(cudaFree(d_order));
}
