/* Triangles u > v > w by merging rows: for every edge (u, v) with v < u count the common neighbours
 * w < v. Rows are ascending, so each triangle is found exactly once. */

void solution_compute(int n, const int *row_ptr, const int *col_idx,
                      unsigned long long *triangle_count_out)
{
    unsigned long long count = 0;
    for (int u = 0; u < n; u++) {
        const int *const row_u = col_idx + row_ptr[u], *const end_u = col_idx + row_ptr[u + 1];
        for (const int *v = row_u; v < end_u && *v < u; v++) {
            const int *x = col_idx + row_ptr[*v];
            const int *const end_v = col_idx + row_ptr[*v + 1];
            for (const int *w = row_u; w < v; w++) {
                while (x < end_v && *x < *w)
                    x++;
                if (x == end_v)
                    break;
                if (*x == *w)
                    count++;
            }
        }
    }
    *triangle_count_out = count;
}
