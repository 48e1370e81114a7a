/* One thread a series: each walks the whole warping table of its series row by row, with the
 * current row in global memory (interleaved, so that the threads of a warp touch neighbouring
 * words). Bound by the latency of that memory along the chain of cells, and by having no more
 * threads than series. */
#include "check.cuh"

__global__ void warp_series(int entries, int length, const float *subjects, const float *query,
                            float *rows, float *distances)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= entries)
        return;
    const float *subject = subjects + (size_t)e * length;
    float *row = rows + e; /* cell j is row[j * entries] */
    float left = 0;
    for (int i = 0; i < length; i++) {
        const float q = query[i];
        float diagonal = 0;
        left = 0;
        for (int j = 0; j < length; j++) {
            const float difference = q - subject[j];
            const float above = i > 0 ? row[(size_t)j * entries] : 0;
            float best;
            if (i == 0)
                best = left; /* 0 in the corner */
            else if (j == 0)
                best = above;
            else
                best = fminf(left, fminf(above, diagonal));
            diagonal = above;
            left = difference * difference + best;
            row[(size_t)j * entries] = left;
        }
    }
    distances[e] = left;
}

extern "C" void solution_compute(int num_entries, int num_features, const float *subjects,
                                 const float *query, float *distances)
{
    const size_t length = num_features, cells = (size_t)num_entries * length;
    float *d_subjects, *d_query, *d_rows, *d_distances;
    CHECK(cudaMalloc(&d_subjects, cells * sizeof(float)));
    CHECK(cudaMalloc(&d_query, length * sizeof(float)));
    CHECK(cudaMalloc(&d_rows, cells * sizeof(float)));
    CHECK(cudaMalloc(&d_distances, num_entries * sizeof(float)));
    CHECK(cudaMemcpy(d_subjects, subjects, cells * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_query, query, length * sizeof(float), cudaMemcpyHostToDevice));

    const int threads = 32; /* few series: spread them over many multiprocessors */
    const int blocks = (num_entries + threads - 1) / threads;
    warp_series<<<blocks, threads>>>(num_entries, num_features, d_subjects, d_query, d_rows,
                                     d_distances);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(distances, d_distances, num_entries * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_subjects));
    CHECK(cudaFree(d_query));
    CHECK(cudaFree(d_rows));
    CHECK(cudaFree(d_distances));
}
