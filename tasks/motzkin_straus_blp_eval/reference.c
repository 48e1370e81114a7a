/* Trial points of a bilevel linear program that encodes maximum clique: objective and largest
 * constraint violation of each. Sums are taken in double and rounded to float once. */
#include <math.h>
#include <stddef.h>

void solution_compute(int N, int M, float mu, const float *A, const float *x, const float *q,
                      const float *s, float *obj, float *max_viol)
{
    const size_t n = (size_t)N;
    for (size_t m = 0; m < (size_t)M; m++) {
        const float *weight = x + m * n, *slack = q + m * n;
        double least = 0.0, total = 0.0, worst = 0.0;
        for (size_t i = 0; i < n; i++) {
            double reached = 0.0; /* row i of A x */
            for (size_t j = 0; j < n; j++)
                reached += (double)A[i * n + j] * weight[j];
            worst = fmax(worst, fabs(s[m] - reached - slack[i])); /* s = A x + q */
            worst = fmax(worst, -slack[i]);                       /* 0 <= q <= 1 */
            worst = fmax(worst, slack[i] - 1.0);
            worst = fmax(worst, -weight[i]); /* x >= 0 */
            least += fmin(weight[i], slack[i]);
            total += weight[i];
        }
        worst = fmax(worst, fabs(total - 1.0)); /* weights add up to one */
        worst = fmax(worst, -s[m]);             /* s >= 0 */
        obj[m] = (float)(s[m] - mu * least);
        max_viol[m] = (float)worst;
    }
}
