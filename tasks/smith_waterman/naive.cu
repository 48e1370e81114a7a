/* One thread a pair: each fills its table row by row, with the current row in global memory beside
 * its target. Rows of neighbouring threads lie far apart, so accesses are not coalesced; bound by
 * memory latency along the chain of cells, and at the end by the few longest pairs. */
#include "check.cuh"

__global__ void align(int pairs, int match, int mismatch, int gap, const int *queries,
                      const int *targets, const int *query_offsets, const int *target_offsets,
                      int *rows, int *scores)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs)
        return;
    const int *query = queries + query_offsets[i], *target = targets + target_offsets[i];
    const int m = query_offsets[i + 1] - query_offsets[i],
              n = target_offsets[i + 1] - target_offsets[i];
    int *row =
        rows + target_offsets[i]; /* scores of the row before, overwritten from left to right */
    int best = 0;
    for (int b = 0; b < n; b++)
        row[b] = 0;
    for (int a = 0; a < m; a++) {
        const int symbol = query[a];
        int left = 0, diagonal = 0;
        for (int b = 0; b < n; b++) {
            const int above = row[b];
            int score = diagonal + (symbol == target[b] ? match : mismatch);
            score = max(score, max(above, left) + gap);
            score = max(score, 0);
            diagonal = above;
            left = score;
            row[b] = score;
            best = max(best, score);
        }
    }
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
    int *d_rows, *d_scores;
    CHECK(cudaMalloc(&d_rows, ((size_t)total_target_len + 1) * sizeof(int)));
    CHECK(cudaMalloc(&d_scores, (size_t)N * sizeof(int)));

    const int threads = 64;
    align<<<(N + threads - 1) / threads, threads>>>(N, match_score, mismatch_penalty, gap_penalty,
                                                    d_queries, d_targets, d_query_offsets,
                                                    d_target_offsets, d_rows, d_scores);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(scores, d_scores, (size_t)N * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_queries));
    CHECK(cudaFree(d_targets));
    CHECK(cudaFree(d_query_offsets));
    CHECK(cudaFree(d_target_offsets));
    CHECK(cudaFree(d_rows));
    CHECK(cudaFree(d_scores));
}
