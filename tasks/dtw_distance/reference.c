/* Dynamic time warping distance of one query to many series, by the full table of
 *     D(i,j) = (query_i - subject_j)^2 + min(D(i,j-1), D(i-1,j), D(i-1,j-1)),
 * of which two neighbouring rows are ever needed: the new row overwrites the old one from left to
 * right. */
#include <stddef.h>
#include <stdlib.h>

static float min2(float a, float b)
{
    return a < b ? a : b;
}

static float warping_distance(const float *query, const float *subject, int length, float *row)
{
    for (int i = 0; i < length; i++) {
        float left = 0, diagonal = 0; /* D(i,j-1) and D(i-1,j-1) */
        for (int j = 0; j < length; j++) {
            const float difference = query[i] - subject[j];
            const float cost = difference * difference;
            const float above = row[j]; /* D(i-1,j) */
            float best;
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
    float *row = calloc((size_t)num_features, sizeof *row);
    if (!row)
        return;
    for (int e = 0; e < num_entries; e++)
        distances[e] =
            warping_distance(query, subjects + (size_t)e * (size_t)num_features, num_features, row);
    free(row);
}
