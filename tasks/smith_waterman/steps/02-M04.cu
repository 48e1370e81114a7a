// step: M04 on 01-P05+C10.cu
// Each lane has eight neighbouring columns in registers: a shuffle, a symbol of the query and a
// look at the loop for eight cells instead of one, and strips of 256 columns.
#include "check.cuh"

constexpr int THREADS = 128;
constexpr int EACH = 8; // columns of a lane

__global__ void align(int pairs, int match, int mismatch, int gap, const int *queries,
                      const int *targets, const int *query_offsets, const int *target_offsets,
                      int *edges, int *scores)
{
    const int i = (blockIdx.x * THREADS + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= pairs)
        return;
    const int *query = queries + query_offsets[i], *target = targets + target_offsets[i];
    const int m = query_offsets[i + 1] - query_offsets[i],
              n = target_offsets[i + 1] - target_offsets[i];
    int *edge = edges + query_offsets[i]; /* scores left of the strip, one a row */
    int best = 0;
    for (int left = 0; left < n; left += 32 * EACH) {
        int symbol[EACH], cell[EACH];
#pragma unroll
        for (int c = 0; c < EACH; c++) {
            const int column = left + lane * EACH + c;
            symbol[c] = column < n ? target[column] : -1; /* equals none */
            cell[c] = 0;
        }
        int from_left = 0;
        for (int step = 0; step < m + 31; step++) {
            const int row = step - lane;
            int diagonal = from_left;
            from_left = __shfl_up_sync(~0u, cell[EACH - 1], 1);
            if (lane == 0)
                from_left = left > 0 && row < m ? edge[row] : 0;
            if (row < 0 || row >= m)
                continue;
            const int of_row = query[row];
            int across = from_left;
#pragma unroll
            for (int c = 0; c < EACH; c++) {
                int score = diagonal + (of_row == symbol[c] ? match : mismatch);
                score = max(score, max(cell[c], across) + gap);
                diagonal = cell[c];
                across = cell[c] = max(score, 0);
                best = max(best, across);
            }
            if (lane == 31)
                edge[row] = across;
        }
        __syncwarp();
    }
    for (int d = 16; d > 0; d /= 2)
        best = max(best, __shfl_xor_sync(~0u, best, d));
    if (lane == 0)
        scores[i] = best;
}

/* A copy of the array on the device; never of size 0. */
static int *upload(const int *from, size_t count)
{
    int *to;
    CHECK(cudaMalloc(&to, (count + 1) * sizeof(int)));
    CHECK(cudaMemcpy(to, from, count * sizeof(int), cudaMemcpyHostToDevice));
    return to;
}

extern "C" void solution_compute(int N, int total_query_len, int total_target_len, int match_score,
                                 int mismatch_penalty, int gap_penalty, const int *query_seqs,
                                 const int *target_seqs, const int *query_offsets,
                                 const int *target_offsets, int *scores)
{
    int *d_queries = upload(query_seqs, total_query_len),
        *d_targets = upload(target_seqs, total_target_len);
    int *d_query_offsets = upload(query_offsets, (size_t)N + 1);
    int *d_target_offsets = upload(target_offsets, (size_t)N + 1);
    int *d_edges, *d_scores;
    CHECK(cudaMalloc(&d_edges, ((size_t)total_query_len + 1) * sizeof(int)));
    CHECK(cudaMalloc(&d_scores, (size_t)N * sizeof(int)));

    const int warps = THREADS / 32;
    align<<<(N + warps - 1) / warps, THREADS>>>(N, match_score, mismatch_penalty, gap_penalty,
                                                d_queries, d_targets, d_query_offsets,
                                                d_target_offsets, d_edges, d_scores);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(scores, d_scores, (size_t)N * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_queries));
    CHECK(cudaFree(d_targets));
    CHECK(cudaFree(d_query_offsets));
    CHECK(cudaFree(d_target_offsets));
    CHECK(cudaFree(d_edges));
    CHECK(cudaFree(d_scores));
}
