// step: H03 on 03-H04.cu
// Points, offsets and the list of tiles are packed into one buffer and cross the bus in one copy
// instead of three: small copies cost their calls, not their bytes.
#include "check.cuh"

#include <cstring>
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
    size_t tiles = 0;
    auto end_of = [&](int s) { return s + 1 < num_spaces ? space_offsets[s + 1] : num_points; };
    for (int s = 0; s < num_spaces; s++)
        tiles += (end_of(s) - space_offsets[s] + TILE - 1) / TILE;

    const size_t tiles_at = 2 * points * sizeof(float),
                 offsets_at = tiles_at + tiles * sizeof(Tile),
                 results_at = offsets_at + spaces * sizeof(int);
    std::vector<char> packed(results_at);
    memcpy(packed.data(), points_xy, tiles_at);
    memcpy(packed.data() + offsets_at, space_offsets, spaces * sizeof(int));
    Tile *tile = (Tile *)(packed.data() + tiles_at);
    for (int s = 0; s < num_spaces; s++)
        for (int first = space_offsets[s]; first < end_of(s); first += TILE)
            *tile++ = Tile{first, end_of(s) - first < TILE ? end_of(s) : first + TILE, s};

    char *device;
    CHECK(cudaMalloc(&device, results_at + entries * sizeof(float)));
    float *d_results = (float *)(device + results_at);
    CHECK(cudaMemcpy(device, packed.data(), results_at, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_results, 0, entries * sizeof(float)));

    const int threads = 256;
    const size_t warps = tiles * spaces;
    nearest_points<<<(unsigned)((warps * 32 + threads - 1) / threads), threads>>>(
        num_points, num_spaces, (const float *)device, (const int *)(device + offsets_at),
        (int)tiles, (const Tile *)(device + tiles_at), d_results);
    CHECK(cudaGetLastError());
    take_roots<<<(unsigned)((entries + threads - 1) / threads), threads>>>(entries, d_results);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(results, d_results, entries * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device));
}
