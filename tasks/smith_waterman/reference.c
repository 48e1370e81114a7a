/* Smith-Waterman local alignment with linear gap costs, score only. The table
 *     H(i,j) = max(0, H(i-1,j-1) + s(i,j), H(i-1,j) + gap, H(i,j-1) + gap)
 * needs one row in memory: the new row overwrites the old one from left to right. */
#include <stdlib.h>

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static int best_score(const int *query, int query_length, const int *target, int target_length,
                      int match, int mismatch, int gap, int *row)
{
    int best = 0;
    for (int j = 0; j <= target_length; j++)
        row[j] = 0;
    for (int i = 0; i < query_length; i++) {
        int diagonal = 0; /* H(i-1,j-1) */
        for (int j = 1; j <= target_length; j++) {
            const int above = row[j];
            int score = diagonal + (query[i] == target[j - 1] ? match : mismatch);
            score = larger(score, above + gap);
            score = larger(score, row[j - 1] + gap);
            score = larger(score, 0);
            diagonal = above;
            row[j] = score;
            best = larger(best, score);
        }
    }
    return best;
}

void solution_compute(int N, int total_query_len, int total_target_len, int match_score,
                      int mismatch_penalty, int gap_penalty, const int *query_seqs,
                      const int *target_seqs, const int *query_offsets, const int *target_offsets,
                      int *scores)
{
    (void)total_query_len;
    (void)total_target_len;
    int longest = 0;
    for (int i = 0; i < N; i++)
        longest = larger(longest, target_offsets[i + 1] - target_offsets[i]);
    int *row = malloc(((size_t)longest + 1) * sizeof *row);
    if (!row)
        return;
    for (int i = 0; i < N; i++)
        scores[i] =
            best_score(query_seqs + query_offsets[i], query_offsets[i + 1] - query_offsets[i],
                       target_seqs + target_offsets[i], target_offsets[i + 1] - target_offsets[i],
                       match_score, mismatch_penalty, gap_penalty, row);
    free(row);
}
