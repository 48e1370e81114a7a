/* Dynamic time warping distance of one query to many series, by the full table of
 *     D(i,j) = (query_i - subject_j)^2 + min(D(i,j-1), D(i-1,j), D(i-1,j-1)),
 * of which two neighbouring rows are ever needed: the new row overwrites the old one from left to
 * right. Summed in double and rounded once: a float sum of thousands of squares depends on its order. */
#include <stddef.h>
#include <stdlib.h>

static double min2(double a, double b)
{
    return a < b ? a : b;
}

static double warping_distance(const float *query, const float *subject, int length, double *row)
{
    for (int i = 0; i < length; i++) {
        double left = 0, diagonal = 0; /* D(i,j-1) and D(i-1,j-1) */
        for (int j = 0; j < length; j++) {
            const double difference = (double)query[i] - subject[j];
            const double cost = difference * difference;
            const double above = row[j]; /* D(i-1,j) */
            double best;
            if (i == 0)
                best =
                    left; /* nothing above the first row: only from the left, and 0 at the corner */
            else if (j == 0)
                best = above;
            else
                best = min2(left, min2(above, diagonal));
            diagonal = above;
            left = cost + best;
            row[j] = left;
        }
    }
    return row[length - 1];
}

void solution_compute(int num_entries, int num_features, const float *subjects, const float *query,
                      float *distances)
{
    double *row = calloc((size_t)num_features, sizeof *row);
    if (!row)
        return;
    for (int e = 0; e < num_entries; e++)
        distances[e] = (float)warping_distance(
            query, subjects + (size_t)e * (size_t)num_features, num_features, row);
    free(row);
}
