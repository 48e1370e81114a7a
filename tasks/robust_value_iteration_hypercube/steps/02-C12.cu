// step: C12 on 01-P05+C02.cu
// If a backup moved all values by between low and high, no later difference of two actions changes
// by more than gamma / (1 - gamma) (high - low) in sum: actions that are farther behind are
// dropped. And once that is nothing against the tolerance, every further backup adds gamma times
// the last change, so that the rest is a geometric sum.
#include "check.cuh"

#define BLOCK 128

struct progress {
    double drift; /* how much two actions can still move against each other */
    double rest;  /* what is added to all values, once done */
    int done;
};

/* One block: how far the last backup, the t-th, moved the values. V is what it made, old what it
 * was made from and becomes V. */
static __global__ void look(int S, int t, int T, double gamma, const double *V, double *old,
                            progress *state)
{
    __shared__ double low_of[1024], high_of[1024], least_of[1024];
    if (state->done)
        return;
    const int me = threadIdx.x;
    double low = 1e300, high = -1e300, least = 1e300;
    for (int s = me; s < S; s += 1024) {
        low = fmin(low, V[s] - old[s]);
        high = fmax(high, V[s] - old[s]);
        least = fmin(least, V[s]);
        old[s] = V[s];
    }
    low_of[me] = low;
    high_of[me] = high;
    least_of[me] = least;
    for (int far = 512; far > 0; far /= 2) {
        __syncthreads();
        if (me < far) {
            low_of[me] = fmin(low_of[me], low_of[me + far]);
            high_of[me] = fmax(high_of[me], high_of[me + far]);
            least_of[me] = fmin(least_of[me], least_of[me + far]);
        }
    }
    if (me > 0)
        return;
    low = low_of[0], high = high_of[0];
    state->drift = (high - low) * gamma / (1 - gamma);
    const double magnitude = low > 0 && least_of[0] > 0 ? least_of[0] : 0;
    if (state->drift / 2 <= 0.1 * (1e-4 + 3e-6 / (1 - gamma) * magnitude)) {
        double change = (low + high) / 2;
        for (int left = t; left < T; left++)
            state->rest += change *= gamma;
        state->done = 1;
    }
}

static __global__ void order_states(int S, const progress *state, const double *V, int *order,
                                    int *ranks)
{
    if (state->done)
        return;
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= S)
        return;
    int rank = 0;
    for (int j = 0; j < S; j++)
        rank += V[j] < V[s] || (V[j] == V[s] && j < s);
    order[rank] = s;
    ranks[s] = rank;
}

static __global__ void first_guess(size_t rows, int S, int *raised, double *q)
{
    const size_t row = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    raised[row] = S / 2;
    q[row] = 1e300; /* nothing is known against any action */
}

static __device__ double sum_of(double value)
{
    for (int far = 16; far > 0; far /= 2)
        value += __shfl_xor_sync(~0u, value, far);
    return value;
}

static __device__ double prefix_sum(double value, int lane)
{
    for (int far = 1; far < 32; far *= 2) {
        const double other = __shfl_up_sync(~0u, value, far);
        value += lane >= far ? other : 0;
    }
    return value;
}

/* raised: how many states are at their upper bounds, of every row. q: -1e300 for dropped rows. */
static __global__ void back_up(size_t rows, int S, int A, double gamma, const progress *now,
                               const float *rew, const float *P_up, const float *P_down,
                               const int *order, const int *ranks, const double *V, int *raised,
                               double *q)
{
    const size_t row = (size_t)blockIdx.x * (BLOCK / 32) + threadIdx.x / 32;
    if (row >= rows || now->done)
        return;
    if (q[row] < V[row / A] - now->drift - 1e-4 - 1e-9 * fabs(V[row / A])) {
        q[row] = -1e300; /* can never become the best again */
        return;
    }
    const float *up = P_up + row * S, *down = P_down + row * S;
    const int lane = threadIdx.x % 32;
    int k = raised[row];
    double mass = 0, expected = 0;
    for (int j = lane; j < S; j += 32) {
        const float high = up[j], low = down[j];
        const double chance = ranks[j] < k ? high : low;
        mass += chance;
        expected += chance * V[j];
    }
    mass = sum_of(mass);
    expected = sum_of(expected);
    while (k > 0 && mass >= 1) { /* too many */
        const int at = k - 1 - lane, state = at >= 0 ? order[at] : 0;
        const double width = at >= 0 ? (double)up[state] - down[state] : 0;
        const double widths = prefix_sum(width, lane), parts = prefix_sum(width * V[state], lane);
        const unsigned below = __ballot_sync(~0u, mass - widths < 1);
        const int count = min(below ? __ffs(below) : 32, k);
        mass -= __shfl_sync(~0u, widths, count - 1);
        expected -= __shfl_sync(~0u, parts, count - 1);
        k -= count;
    }
    while (k < S - 1) { /* as many more as go */
        const int at = k + lane, state = at < S - 1 ? order[at] : 0;
        const double width = at < S - 1 ? (double)up[state] - down[state] : 0;
        const double widths = prefix_sum(width, lane), parts = prefix_sum(width * V[state], lane);
        const unsigned full = __ballot_sync(~0u, mass + widths >= 1);
        const int count = min(full ? __ffs(full) - 1 : 32, S - 1 - k), last = max(count - 1, 0);
        const double more = __shfl_sync(~0u, widths, last),
                     more_parts = __shfl_sync(~0u, parts, last);
        if (count > 0) {
            mass += more;
            expected += more_parts;
            k += count;
        }
        if (full)
            break;
    }
    if (lane == 0) {
        raised[row] = k;
        q[row] = rew[row] + gamma * (expected + (1 - mass) * V[order[k]]);
    }
}

static __global__ void best_action(int S, int A, const progress *state, const double *q, double *V)
{
    if (state->done)
        return;
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= S)
        return;
    double best = q[(size_t)s * A];
    for (int a = 1; a < A; a++)
        best = fmax(best, q[(size_t)s * A + a]);
    V[s] = best;
}

static __global__ void to_float(int S, const progress *state, const double *V, float *out)
{
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s < S)
        out[s] = (float)(V[s] + state->rest);
}

extern "C" void solution_compute(int S, int A, int T, float gamma, const float *rew,
                                 const float *P_up, const float *P_down, float *V)
{
    const size_t rows = (size_t)S * A, entries = rows * S;
    float *d_rew, *d_up, *d_down, *d_out;
    double *d_q, *d_V, *d_old;
    progress *d_state;
    int *d_order, *d_ranks, *d_raised;
    CHECK(cudaMalloc(&d_rew, rows * sizeof(float)));
    CHECK(cudaMalloc(&d_up, entries * sizeof(float)));
    CHECK(cudaMalloc(&d_down, entries * sizeof(float)));
    CHECK(cudaMalloc(&d_out, S * sizeof(float)));
    CHECK(cudaMalloc(&d_q, rows * sizeof(double)));
    CHECK(cudaMalloc(&d_V, S * sizeof(double)));
    CHECK(cudaMalloc(&d_old, S * sizeof(double)));
    CHECK(cudaMalloc(&d_state, sizeof(progress)));
    CHECK(cudaMalloc(&d_order, S * sizeof(int)));
    CHECK(cudaMalloc(&d_ranks, S * sizeof(int)));
    CHECK(cudaMalloc(&d_raised, rows * sizeof(int)));
    CHECK(cudaMemcpy(d_rew, rew, rows * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_up, P_up, entries * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_down, P_down, entries * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_V, 0, S * sizeof(double)));
    CHECK(cudaMemset(d_old, 0, S * sizeof(double)));
    CHECK(cudaMemset(d_state, 0, sizeof(progress)));

    const unsigned state_blocks = (S + BLOCK - 1) / BLOCK,
                   row_blocks = (unsigned)((rows + BLOCK / 32 - 1) / (BLOCK / 32));
    first_guess<<<(unsigned)((rows + BLOCK - 1) / BLOCK), BLOCK>>>(rows, S, d_raised, d_q);
    for (int t = 0; t < T; t++) {
        if (t > 0)
            look<<<1, 1024>>>(S, t, T, gamma, d_V, d_old, d_state);
        order_states<<<state_blocks, BLOCK>>>(S, d_state, d_V, d_order, d_ranks);
        back_up<<<row_blocks, BLOCK>>>(rows, S, A, gamma, d_state, d_rew, d_up, d_down, d_order,
                                       d_ranks, d_V, d_raised, d_q);
        best_action<<<state_blocks, BLOCK>>>(S, A, d_state, d_q, d_V);
    }
    to_float<<<state_blocks, BLOCK>>>(S, d_state, d_V, d_out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(V, d_out, S * sizeof(float), cudaMemcpyDeviceToHost));

    CHECK(cudaFree(d_rew));
    CHECK(cudaFree(d_up));
    CHECK(cudaFree(d_down));
    CHECK(cudaFree(d_out));
    CHECK(cudaFree(d_q));
    CHECK(cudaFree(d_V));
    CHECK(cudaFree(d_old));
    CHECK(cudaFree(d_state));
    CHECK(cudaFree(d_order));
    CHECK(cudaFree(d_ranks));
    CHECK(cudaFree(d_raised));
}
