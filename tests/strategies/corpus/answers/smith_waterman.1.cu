// Pairs are sorted by length. Short targets: a thread a pair, its row in local memory. Long ones: a block a pair, anti-diagonals.
#include <cuda_runtime.h>
#include <algorithm>
#include <numeric>
#include <vector>

#define SHORT_MAX 64

__global__ void align_short(int count, const int *ids, int match, int mismatch, int gap, const unsigned char *q,
                            const unsigned char *t, const int *qo, const int *to, int *scores)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= count)
        return;
    const int i = ids[k], m = qo[i + 1] - qo[i], n = to[i + 1] - to[i];
    short row[SHORT_MAX + 1];
    for (int b = 0; b <= n; b++)
        row[b] = 0;
    int best = 0;
    for (int a = 0; a < m; a++) {
        int diag = 0;
        for (int b = 1; b <= n; b++) {
            int s = diag + (q[qo[i] + a] == t[to[i] + b - 1] ? match : mismatch);
            s = max(max(s, row[b] + gap), max(row[b - 1] + gap, 0));
            diag = row[b];
            row[b] = (short)s;
            best = max(best, s);
        }
    }
    scores[i] = best;
}

template <int THREADS>
__global__ void align_long(int from, const int *ids, int match, int mismatch, int gap, const unsigned char *q,
                           const unsigned char *t, const int *qo, const int *to, int *lines, int longest, int *scores)
{
    __shared__ int warp_best[THREADS / 32];
    const int i = ids[from + blockIdx.x], m = qo[i + 1] - qo[i], n = to[i + 1] - to[i];
    int *line = lines + (size_t)blockIdx.x * 3 * longest;
    int best = 0;
    for (int d = 0; d < m + n - 1; d++) {
        int *now = line + d % 3 * longest, *one = line + (d + 2) % 3 * longest, *two = line + (d + 1) % 3 * longest;
        const int lo = max(0, d - n + 1), hi = min(d, m - 1);
        for (int a = lo + threadIdx.x; a <= hi; a += THREADS) {
            const int b = d - a;
            const int up = a > 0 ? one[a - 1] : 0, left = b > 0 ? one[a] : 0, diag = a > 0 && b > 0 ? two[a - 1] : 0;
            int s = diag + (q[qo[i] + a] == t[to[i] + b] ? match : mismatch);
            s = max(max(s, 0), max(up, left) + gap);
            now[a] = s;
            best = max(best, s);
        }
        __syncthreads();
    }
    for (int w = 16; w; w /= 2)
        best = max(best, __shfl_down_sync(~0u, best, w));
    if (threadIdx.x % 32 == 0)
        warp_best[threadIdx.x / 32] = best;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 0; w < THREADS / 32; w++)
            best = max(best, warp_best[w]);
        scores[i] = best;
    }
}

template <typename T> T *put(const T *h, size_t n)
{
    T *d;
    cudaMalloc(&d, n * sizeof(T) + 1);
    cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice);
    return d;
}

extern "C" void solution_compute(int N, int total_query_len, int total_target_len, int match_score,
                                 int mismatch_penalty, int gap_penalty, const int *query_seqs, const int *target_seqs,
                                 const int *query_offsets, const int *target_offsets, int *scores)
{
    std::vector<int> ids(N);
    std::iota(ids.begin(), ids.end(), 0);
    auto length = [&](int i) { return target_offsets[i + 1] - target_offsets[i]; };
    std::sort(ids.begin(), ids.end(), [&](int a, int b) { return length(a) < length(b); });
    int shorts = 0, longest = 1;
    while (shorts < N && length(ids[shorts]) <= SHORT_MAX)
        shorts++;
    for (int i = 0; i < N; i++)
        longest = std::max(longest, query_offsets[i + 1] - query_offsets[i]);
    // symbols need one byte
    std::vector<unsigned char> q(query_seqs, query_seqs + total_query_len), t(target_seqs, target_seqs + total_target_len);
    unsigned char *dq = put(q.data(), q.size()), *dt = put(t.data(), t.size());
    int *dids = put(ids.data(), N), *qo = put(query_offsets, N + 1), *to = put(target_offsets, N + 1);
    int *lines, *dscores;
    cudaMalloc(&dscores, N * sizeof(int));
    cudaMalloc(&lines, (size_t)(N - shorts + 1) * 3 * longest * sizeof(int));
    if (shorts)
        align_short<<<(shorts + 127) / 128, 128>>>(shorts, dids, match_score, mismatch_penalty, gap_penalty, dq, dt, qo,
                                                   to, dscores);
    if (longest > 512)
        align_long<256><<<N - shorts, 256>>>(shorts, dids, match_score, mismatch_penalty, gap_penalty, dq, dt, qo, to,
                                             lines, longest, dscores);
    else if (N > shorts)
        align_long<64><<<N - shorts, 64>>>(shorts, dids, match_score, mismatch_penalty, gap_penalty, dq, dt, qo, to,
                                           lines, longest, dscores);
    cudaMemcpy(scores, dscores, N * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(dq); cudaFree(dt); cudaFree(dids); cudaFree(qo); cudaFree(to); cudaFree(lines); cudaFree(dscores);
}
