// step: C12+P05 on 04-H03.cu
// Most source points cannot be the farthest: an upper bound of their distance to the other set,
// from a few points of it, is below what one point is known to have. Only the others are compared
// with all of the set, each by all lanes of the warp.
#include "check.cuh"

#include <cstring>
#include <vector>

constexpr int OWN = 8, TILE = 32 * OWN; // points of a lane, of a warp
constexpr int SAMPLES = 4;

struct Tile { // a part of a source set
    int first, end, set;
};

__device__ float square(float2 p, float2 q)
{
    const float dx = q.x - p.x, dy = q.y - p.y;
    return fmaf(dx, dx, dy * dy); // the same wherever it is used
}

// A warp has a tile of set a and a set b. A few points of b give each source point an upper bound
// of its smallest square. Then the warp finds the true one for the point with the largest bound,
// and lowers the bounds of the others by the neighbour that it found, until no bound is above the
// largest square found: the rest cannot matter.
__global__ void nearest_points(int points, int spaces, const float *xy, const int *offsets,
                               int tiles, const Tile *tile, float *results)
{
    const size_t at = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (at >= (size_t)tiles * spaces)
        return;
    const int b = (int)(at / tiles), lane = threadIdx.x % 32;
    const Tile mine = tile[at % tiles];
    if (b == mine.set) // a set is at distance 0 from itself
        return;
    const float2 *const target = (const float2 *)xy + offsets[b];
    const int count = (b + 1 < spaces ? offsets[b + 1] : points) - offsets[b];
    float2 own[OWN];
    float bound[OWN];
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        own[i] = ((const float2 *)xy)[min(mine.first + i * 32 + lane, mine.end - 1)];
        bound[i] = INFINITY;
    }
    for (int k = 0; k < SAMPLES; k++) {
        const float2 sample = target[(int)((k + 0.5f) / SAMPLES * count)];
#pragma unroll
        for (int i = 0; i < OWN; i++)
            bound[i] = fminf(bound[i], square(own[i], sample));
    }
    unsigned largest = 0; // bits of a square: not negative, so they order like it
    for (;;) {
        float top = 0;
        float2 p = own[0];
#pragma unroll
        for (int i = 0; i < OWN; i++)
            if (bound[i] > top) {
                top = bound[i];
                p = own[i];
            }
        const unsigned highest = __reduce_max_sync(~0u, __float_as_uint(top));
        if (highest <= largest)
            break;
        const int from = __ffs(__ballot_sync(~0u, __float_as_uint(top) == highest)) - 1;
        p.x = __shfl_sync(~0u, p.x, from);
        p.y = __shfl_sync(~0u, p.y, from);
        float nearest = INFINITY;
        float2 there = p;
        for (int q = lane; q < count; q += 32) {
            const float d = square(p, target[q]);
            if (d < nearest) {
                nearest = d;
                there = target[q];
            }
        }
        const unsigned least = __reduce_min_sync(~0u, __float_as_uint(nearest));
        largest = max(largest, least);
        const int winner = __ffs(__ballot_sync(~0u, __float_as_uint(nearest) == least)) - 1;
        there.x = __shfl_sync(~0u, there.x, winner);
        there.y = __shfl_sync(~0u, there.y, winner);
#pragma unroll
        for (int i = 0; i < OWN; i++)
            bound[i] = fminf(bound[i], square(own[i], there));
    }
    if (lane == 0)
        atomicMax((int *)&results[(size_t)b * spaces + mine.set], (int)largest);
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
