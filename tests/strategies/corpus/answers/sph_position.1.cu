// Chunks on two streams, the next chunk's staging is done by the host while the device moves the last one.
#include <cuda_runtime.h>
#include <math.h>
#include <string.h>

#define PIECE (1 << 16)
#define UNROLL 4

struct Buffers {
    float *h_in, *d_in;  // six arrays of PIECE
    double *h_out, *d_out; // three arrays of PIECE
    int *h_cell, *d_cell;
    cudaStream_t s;
    int first, count;
};

__global__ void move(int n, const float *in, double size, double *out, int *cell)
{
    int base = blockIdx.x * blockDim.x * UNROLL + threadIdx.x;
    #pragma unroll
    for (int k = 0; k < UNROLL; k++) {
        int i = base + k * blockDim.x;
        if (i < n) {
            double x = (double)in[i] + in[3 * PIECE + i];
            double y = (double)in[PIECE + i] + in[4 * PIECE + i];
            double z = (double)in[2 * PIECE + i] + in[5 * PIECE + i];
            out[i] = x;
            out[PIECE + i] = y;
            out[2 * PIECE + i] = z;
            cell[i] = (int)floor(x / size) + 1000 * (int)floor(y / size) + 1000000 * (int)floor(z / size);
        }
    }
}

extern "C" void solution_compute(int N, const float *posxy_x, const float *posxy_y, const float *posz,
                                 const float *movxy_x, const float *movxy_y, const float *movz, float cell_size,
                                 double *out_x, double *out_y, double *out_z, int *out_cell)
{
    const float *src[6] = {posxy_x, posxy_y, posz, movxy_x, movxy_y, movz};
    double *dst[3] = {out_x, out_y, out_z};
    struct Buffers b[2];
    for (int k = 0; k < 2; k++) {
        cudaHostAlloc((void **)&b[k].h_in, 6 * PIECE * sizeof(float), cudaHostAllocWriteCombined);
        cudaHostAlloc((void **)&b[k].h_out, 3 * PIECE * sizeof(double), cudaHostAllocDefault);
        cudaHostAlloc((void **)&b[k].h_cell, PIECE * sizeof(int), cudaHostAllocDefault);
        cudaMalloc((void **)&b[k].d_in, 6 * PIECE * sizeof(float));
        cudaMalloc((void **)&b[k].d_out, 3 * PIECE * sizeof(double));
        cudaMalloc((void **)&b[k].d_cell, PIECE * sizeof(int));
        cudaStreamCreateWithFlags(&b[k].s, cudaStreamNonBlocking);
        b[k].count = 0;
    }
    int pieces = (N + PIECE - 1) / PIECE;
    for (int p = 0; p < pieces + 2; p++) {
        struct Buffers *w = &b[p % 2];
        if (w->count > 0) {
            cudaStreamSynchronize(w->s);
            for (int a = 0; a < 3; a++)
                memcpy(dst[a] + w->first, w->h_out + a * PIECE, w->count * sizeof(double));
            memcpy(out_cell + w->first, w->h_cell, w->count * sizeof(int));
            w->count = 0;
        }
        if (p >= pieces)
            continue;
        w->first = p * PIECE;
        w->count = N - w->first < PIECE ? N - w->first : PIECE;
        for (int a = 0; a < 6; a++)
            memcpy(w->h_in + a * PIECE, src[a] + w->first, w->count * sizeof(float));
        cudaMemcpyAsync(w->d_in, w->h_in, 6 * PIECE * sizeof(float), cudaMemcpyHostToDevice, w->s);
        move<<<PIECE / (256 * UNROLL), 256, 0, w->s>>>(w->count, w->d_in, cell_size, w->d_out, w->d_cell);
        cudaMemcpyAsync(w->h_out, w->d_out, 3 * PIECE * sizeof(double), cudaMemcpyDeviceToHost, w->s);
        cudaMemcpyAsync(w->h_cell, w->d_cell, PIECE * sizeof(int), cudaMemcpyDeviceToHost, w->s);
    }
    for (int k = 0; k < 2; k++) {
        cudaFreeHost(b[k].h_in); cudaFreeHost(b[k].h_out); cudaFreeHost(b[k].h_cell);
        cudaFree(b[k].d_in); cudaFree(b[k].d_out); cudaFree(b[k].d_cell);
        cudaStreamDestroy(b[k].s);
    }
}
