// Uniform grid: polygons sorted by the cell of their centre with Thrust, only the nine cells around are looked at.
// Misses pairs of polygons that are larger than a cell.
#include <cuda_runtime.h>
#include <thrust/device_vector.h>
#include <thrust/binary_search.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>

struct Box { float x0, y0, x1, y1; };

__global__ void keys(int n, const Box *b, float inv, int side, int *key)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int cx = min(max(int(0.5f * (b[i].x0 + b[i].x1) * inv), 0), side - 1);
        int cy = min(max(int(0.5f * (b[i].y0 + b[i].y1) * inv), 0), side - 1);
        key[i] = cy * side + cx;
    }
}

__device__ bool separates(const int *off, const float *x, const float *y, int a, int b)
{
    for (int v = off[a]; v < off[a + 1]; v++) {
        int w = v + 1 < off[a + 1] ? v + 1 : off[a];
        float nx = y[v] - y[w], ny = x[w] - x[v], limit = -1e30f, nearest = 1e30f;
        for (int k = off[a]; k < off[a + 1]; k++)
            limit = fmaxf(limit, nx * x[k] + ny * y[k]);
        for (int k = off[b]; k < off[b + 1]; k++)
            nearest = fminf(nearest, nx * x[k] + ny * y[k]);
        if (nearest > limit)
            return true;
    }
    return false;
}

__global__ void collide(int n, int side, const int *order, const int *key, const int *first, const Box *box,
                        const int *off, const float *x, const float *y, int *count)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n)
        return;
    const int i = order[k], cx = key[k] % side, cy = key[k] / side;
    int hits = 0;
    for (int yy = max(cy - 1, 0); yy <= min(cy + 1, side - 1); yy++)
        for (int c = yy * side + max(cx - 1, 0); c <= yy * side + min(cx + 1, side - 1); c++)
            for (int p = first[c]; p < first[c + 1]; p++) {
                const int j = order[p];
                if (i == j || box[i].x1 < box[j].x0 || box[j].x1 < box[i].x0 || box[i].y1 < box[j].y0 ||
                    box[j].y1 < box[i].y0)
                    continue;
                if (separates(off, x, y, i, j) || separates(off, x, y, j, i))
                    continue;
                hits++;
            }
    count[i] = hits;
}

extern "C" void solution_compute(int N, int total_verts, int world_size_x100, int cell_size_x100,
                                 const int *poly_offsets, const float *vertices_x, const float *vertices_y,
                                 const float *aabb, int *counts)
{
    const Box *boxes = reinterpret_cast<const Box *>(aabb);
    thrust::device_vector<Box> box(boxes, boxes + N);
    thrust::device_vector<int> off(poly_offsets, poly_offsets + N + 1), key(N), order(N), hits(N);
    thrust::device_vector<float> x(vertices_x, vertices_x + total_verts), y(vertices_y, vertices_y + total_verts);
    const int side = world_size_x100 / cell_size_x100 + 1;
    thrust::device_vector<int> first(side * side + 1), wanted(side * side + 1);
    keys<<<(N + 255) / 256, 256>>>(N, box.data().get(), 100.0f / cell_size_x100, side, key.data().get());
    thrust::sequence(order.begin(), order.end());
    thrust::sort_by_key(key.begin(), key.end(), order.begin());
    thrust::sequence(wanted.begin(), wanted.end());
    thrust::lower_bound(key.begin(), key.end(), wanted.begin(), wanted.end(), first.begin());
    collide<<<(N + 127) / 128, 128>>>(N, side, order.data().get(), key.data().get(), first.data().get(),
                                      box.data().get(), off.data().get(), x.data().get(), y.data().get(),
                                      hits.data().get());
    thrust::copy(hits.begin(), hits.end(), counts);
}
