/* Squared Euclidean distances between all reference points and all queries. The coordinates of a
 * set are stored one after the other, each for all points, so a row of the result is built up
 * coordinate by coordinate: the innermost loop then runs along memory. */
#include <stddef.h>

void solution_compute(int ref_nb, int query_nb, int dim, const float *ref, const float *query,
                      float *dist)
{
    const size_t refs = (size_t)ref_nb, queries = (size_t)query_nb;
    for (size_t r = 0; r < refs; r++) {
        float *row = dist + r * queries;
        for (size_t q = 0; q < queries; q++)
            row[q] = 0;
        for (size_t k = 0; k < (size_t)dim; k++) {
            const float *coordinate = query + k * queries;
            const float own = ref[k * refs + r];
            for (size_t q = 0; q < queries; q++) {
                const float difference = own - coordinate[q];
                row[q] += difference * difference;
            }
        }
    }
}
