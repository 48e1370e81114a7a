// step: H04 on 02-P02+P08.cu
// One allocation holds points, offsets, tiles and results, where four had been made and released.
#include "check.cuh"

#include <vector>

constexpr int OWN = 4, TILE = 32 * OWN; // points of a lane, of a warp

struct Tile { // a part of a source set
    int first, end, set;
};

__global__ void nearest_points(int points, int spaces, const float *xy, const int *offsets,
                               int tiles, const Tile *tile, float *results)
{
    const size_t at = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (at >= (size_t)tiles * spaces)
        return;
    const int b = (int)(at / tiles), lane = threadIdx.x % 32;
    const Tile mine = tile[at % tiles];
    const int end = b + 1 < spaces ? offsets[b + 1] : points;
    float x[OWN], y[OWN], nearest[OWN];
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        const size_t own = min(mine.first + i * 32 + lane, mine.end - 1);
        x[i] = xy[2 * own];
        y[i] = xy[2 * own + 1];
        nearest[i] = INFINITY;
    }
    for (int q = offsets[b]; q < end; q++) {
        const float qx = xy[2 * (size_t)q], qy = xy[2 * (size_t)q + 1];
#pragma unroll
        for (int i = 0; i < OWN; i++) {
            const float dx = qx - x[i], dy = qy - y[i];
            nearest[i] = fminf(nearest[i], dx * dx + dy * dy);
        }
    }
    float farthest = 0;
#pragma unroll
    for (int i = 0; i < OWN; i++)
        farthest = fmaxf(farthest, nearest[i]);
    for (int d = 16; d > 0; d /= 2)
        farthest = fmaxf(farthest, __shfl_xor_sync(~0u, farthest, d));
    if (lane == 0)
        atomicMax((int *)&results[(size_t)b * spaces + mine.set], __float_as_int(farthest));
}

__global__ void take_roots(size_t count, float *results)
{
    const size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count)
        results[at] = sqrtf(results[at]);
}

extern "C" void solution_compute(int num_points, int num_spaces, const float *points_xy,
                                 const int *space_offsets, float *results)
{
    const size_t points = num_points, spaces = num_spaces, entries = spaces * spaces;
    std::vector<Tile> tiles;
    for (int s = 0; s < num_spaces; s++) {
        const int end = s + 1 < num_spaces ? space_offsets[s + 1] : num_points;
        for (int first = space_offsets[s]; first < end; first += TILE)
            tiles.push_back(Tile{first, end - first < TILE ? end : first + TILE, s});
    }

    const size_t tiles_at = 2 * points * sizeof(float),
                 offsets_at = tiles_at + tiles.size() * sizeof(Tile),
                 results_at = offsets_at + spaces * sizeof(int);
    char *device;
    CHECK(cudaMalloc(&device, results_at + entries * sizeof(float)));
    float *d_xy = (float *)device, *d_results = (float *)(device + results_at);
    int *d_offsets = (int *)(device + offsets_at);
    Tile *d_tiles = (Tile *)(device + tiles_at);
    CHECK(cudaMemcpy(d_xy, points_xy, 2 * points * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_offsets, space_offsets, spaces * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_tiles, tiles.data(), tiles.size() * sizeof(Tile), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_results, 0, entries * sizeof(float)));

    const int threads = 256;
    const size_t warps = tiles.size() * spaces;
    nearest_points<<<(unsigned)((warps * 32 + threads - 1) / threads), threads>>>(
        num_points, num_spaces, d_xy, d_offsets, (int)tiles.size(), d_tiles, d_results);
    CHECK(cudaGetLastError());
    take_roots<<<(unsigned)((entries + threads - 1) / threads), threads>>>(entries, d_results);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(results, d_results, entries * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device));
}
