/* End of a time step: every particle moves by its displacement and gets the number of its new cell.
 */
#include <math.h>

void solution_compute(int N, const float *posxy_x, const float *posxy_y, const float *posz,
                      const float *movxy_x, const float *movxy_y, const float *movz,
                      float cell_size, double *out_x, double *out_y, double *out_z, int *out_cell)
{
    const double size = cell_size;
    for (int i = 0; i < N; i++) {
        const double x = (double)posxy_x[i] + movxy_x[i];
        const double y = (double)posxy_y[i] + movxy_y[i];
        const double z = (double)posz[i] + movz[i];
        out_x[i] = x;
        out_y[i] = y;
        out_z[i] = z;
        const int cx = (int)floor(x / size);
        const int cy = (int)floor(y / size);
        const int cz = (int)floor(z / size);
        out_cell[i] = cx + 1000 * cy + 1000000 * cz;
    }
}
