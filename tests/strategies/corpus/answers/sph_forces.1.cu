// Particles are gathered into cell order first, as two float4 arrays: neighbours then lie side by side.
#include <cuda_runtime.h>

struct Grid { int nx, ny, nz; float cell; };
struct Const { float h, kernel, reach2, visc; double stiff, rest; };

__global__ void gather(int n, const int *__restrict__ order, const float *__restrict__ x, const float *__restrict__ y,
                       const float *__restrict__ z, const float *__restrict__ vx, const float *__restrict__ vy,
                       const float *__restrict__ vz, const float *__restrict__ rho, const float *__restrict__ mass,
                       Const c, float4 *pos, float4 *vel, float2 *rest)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n)
        return;
    const int i = order[k];
    pos[k] = make_float4(x[i], y[i], z[i], rho[i]);
    vel[k] = make_float4(vx[i], vy[i], vz[i], mass[i]);
    rest[k] = make_float2((float)(c.stiff * (pow(rho[i] / c.rest, 7.0) - 1.0)), 0.f);
}

__global__ void forces(int n, Grid g, Const c, const float4 *__restrict__ pos, const float4 *__restrict__ vel,
                       const float2 *__restrict__ rest, const int *__restrict__ begin, const int *__restrict__ end,
                       const int *__restrict__ order, float *ax, float *ay, float *az, float *dr)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n)
        return;
    const float4 p = pos[k], v = vel[k];
    const float pressure = rest[k].x;
    const int cx = (int)floorf(p.x / g.cell), cy = (int)floorf(p.y / g.cell), cz = (int)floorf(p.z / g.cell);
    float3 a = make_float3(0, 0, 0);
    float rate = 0;
    for (int oz = -1; oz <= 1; ++oz)
        for (int oy = -1; oy <= 1; ++oy)
            for (int ox = -1; ox <= 1; ++ox) {
                const int X = cx + ox, Y = cy + oy, Z = cz + oz;
                if (X < 0 || Y < 0 || Z < 0 || X >= g.nx || Y >= g.ny || Z >= g.nz)
                    continue;
                const int cell = (Z * g.ny + Y) * g.nx + X;
                for (int j = begin[cell]; j < end[cell]; ++j) {
                    const float4 q = pos[j];
                    const float dx = p.x - q.x, dy = p.y - q.y, dz = p.z - q.z;
                    const float r2 = dx * dx + dy * dy + dz * dz;
                    if (j == k || r2 > c.reach2 || r2 < 1e-18f)
                        continue;
                    const float4 w = vel[j];
                    const float t = 1.f - 0.5f * sqrtf(r2) / c.h, f = c.kernel * t * t * t;
                    const float meet = dx * (v.x - w.x) + dy * (v.y - w.y) + dz * (v.z - w.z);
                    float push = (pressure + rest[j].x) / (p.w * q.w);
                    if (meet < 0)
                        push -= c.visc * c.h * meet / (r2 + 0.01f * c.h * c.h) / (0.5f * (p.w + q.w));
                    push *= w.w * f;
                    a.x -= push * dx;
                    a.y -= push * dy;
                    a.z -= push * dz;
                    rate += w.w * meet * f * (p.w / q.w);
                }
            }
    const int i = order[k];
    ax[i] = a.x;
    ay[i] = a.y;
    az[i] = a.z;
    dr[i] = rate;
}

extern "C" void solution_compute(int N, const float *xs, const float *ys, const float *zs, const float *vxs,
                                 const float *vys, const float *vzs, const float *rhos, const float *masses, float h,
                                 float cs0, float rhop0, float alpha_visc, const int *cell_begin, const int *cell_end,
                                 const int *sorted_idx, int grid_nx, int grid_ny, int grid_nz, float cell_size,
                                 float *ax, float *ay, float *az, float *drhodt)
{
    const size_t fb = N * sizeof(float), cells = (size_t)grid_nx * grid_ny * grid_nz;
    const float *in[8] = {xs, ys, zs, vxs, vys, vzs, rhos, masses};
    float *out[4] = {ax, ay, az, drhodt}, *d[8], *o[4];
    for (int k = 0; k < 8; ++k) {
        cudaMalloc(&d[k], fb);
        cudaMemcpy(d[k], in[k], fb, cudaMemcpyHostToDevice);
    }
    for (int k = 0; k < 4; ++k)
        cudaMalloc(&o[k], fb);
    float4 *pos, *vel;
    float2 *rest;
    int *b, *e, *s;
    cudaMalloc(&pos, N * sizeof(float4));
    cudaMalloc(&vel, N * sizeof(float4));
    cudaMalloc(&rest, N * sizeof(float2));
    cudaMalloc(&b, cells * sizeof(int));
    cudaMalloc(&e, cells * sizeof(int));
    cudaMalloc(&s, N * sizeof(int));
    cudaMemcpy(b, cell_begin, cells * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(e, cell_end, cells * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(s, sorted_idx, N * sizeof(int), cudaMemcpyHostToDevice);
    const double L = h;
    const Const c = {h, (float)(-10.0 / L * 495.0 / (32.0 * 3.14159265358979 * L * L * L)), (float)(4 * L * L),
                     alpha_visc * cs0, (double)cs0 * cs0 * rhop0 / 7.0, rhop0};
    const Grid g = {grid_nx, grid_ny, grid_nz, cell_size};
    gather<<<(N + 127) / 128, 128>>>(N, s, d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7], c, pos, vel, rest);
    forces<<<(N + 127) / 128, 128>>>(N, g, c, pos, vel, rest, b, e, s, o[0], o[1], o[2], o[3]);
    for (int k = 0; k < 4; ++k)
        cudaMemcpy(out[k], o[k], fb, cudaMemcpyDeviceToHost);
    cudaDeviceReset();
}
