/* PageRank by sweeps in place: every vertex pulls the contributions of its in-neighbours, those
 * already renewed in the same sweep included (Gauss-Seidel), until a sweep changes the scores by
 * less than 1e-4 in total. */
#include <math.h>
#include <stdlib.h>

void solution_compute(int n, int max_iters, const int *in_row_ptr, const int *in_col_idx,
                      const int *out_degree, float *scores_out)
{
    const float damping = 0.85f;
    const double tolerance = 1e-4f;
    const float start = 1.0f / (float)n;
    const float base = (1.0f - damping) / (float)n;
    /* What a vertex passes on along each of its out-edges; scores of vertices without any are not
     * redistributed. */
    float *contribution = malloc((size_t)n * sizeof *contribution);
    if (!contribution)
        return;
    for (int u = 0; u < n; u++) {
        scores_out[u] = start;
        contribution[u] = out_degree[u] > 0 ? start / (float)out_degree[u] : 0.0f;
    }
    for (int sweep = 0; sweep < max_iters; sweep++) {
        double change = 0;
        for (int u = 0; u < n; u++) {
            float incoming = 0;
            for (int e = in_row_ptr[u]; e < in_row_ptr[u + 1]; e++)
                incoming += contribution[in_col_idx[e]];
            const float score = base + damping * incoming;
            change += fabs((double)score - (double)scores_out[u]);
            scores_out[u] = score;
            contribution[u] = out_degree[u] > 0 ? score / (float)out_degree[u] : 0.0f;
        }
        if (change < tolerance)
            break;
    }
    free(contribution);
}
