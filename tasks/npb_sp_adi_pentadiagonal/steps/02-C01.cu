// step: C01 on 01-M03.cu
// Residual, transforms and the step of u are done where the lines lie in shared memory anyway:
// three kernels an iteration instead of nine, and r crosses global memory twice instead of eight
// times.
#include "check.cuh"

#include <cmath>
#include <vector>

struct Transform {
    double a[5][5];
};

static const Transform TRANSFORMS[4] = {
    {{{0.98, 0.02, 0.00, 0.00, 0.00},
      {-0.04, 1.01, 0.03, 0.00, 0.00},
      {0.02, -0.03, 1.00, 0.02, 0.00},
      {0.00, 0.01, 0.04, 0.99, 0.02},
      {0.00, 0.00, -0.02, 0.03, 1.00}}},
    {{{1.00, 0.00, 0.00, 0.01, -0.01},
      {0.02, 0.99, 0.00, 0.00, 0.00},
      {0.00, -0.01, 1.01, 0.00, 0.01},
      {0.00, 0.00, 0.03, 0.98, 0.00},
      {-0.01, 0.00, 0.00, 0.02, 1.00}}},
    {{{1.000, 0.000, 0.000, 0.000, 0.015},
      {0.000, 1.000, 0.000, 0.010, 0.000},
      {0.012, 0.000, 1.000, 0.000, 0.012},
      {0.000, 0.000, 0.020, 0.985, 0.000},
      {0.000, 0.015, 0.000, 0.000, 0.990}}},
    {{{0.995, 0.000, 0.010, 0.000, 0.000},
      {0.000, 1.000, 0.000, 0.000, -0.012},
      {0.000, 0.010, 0.990, 0.010, 0.000},
      {-0.010, 0.000, 0.000, 1.005, 0.000},
      {0.000, 0.000, 0.008, 0.000, 0.995}}},
};

__host__ __device__ static double near_coefficient(int axis, int m)
{
    return (axis == 0 ? 0.065 : axis == 1 ? 0.075 : 0.085) * (1.0 + 0.03 * m);
}

__host__ __device__ static double far_coefficient(int axis, int m)
{
    return (axis == 0 ? 0.010 : axis == 1 ? 0.012 : 0.015) * (1.0 + 0.04 * m);
}

struct Row {
    double sub2, sub1, pivot, alpha, beta;
};

/* One point: r = f - L u. */
__device__ static void residual_of(int n, size_t point, const double *u, const double *f,
                                   double r[5])
{
    const size_t stride[3] = {5, 5 * (size_t)n, 5 * (size_t)n * n};
    const int position[3] = {(int)(point % n), (int)(point / n % n), (int)(point / n / n)};
    for (int m = 0; m < 5; m++) {
        const double *at = u + 5 * point + m;
        double sum = *at;
        for (int axis = 0; axis < 3; axis++) {
            const int t = position[axis];
            const size_t s = stride[axis];
            const double a1 = near_coefficient(axis, m), a2 = far_coefficient(axis, m);
            sum += 2.0 * (a1 + a2) * *at;
            sum -= a1 * ((t > 0 ? *(at - s) : 0.0) + (t < n - 1 ? *(at + s) : 0.0));
            sum -= a2 * ((t > 1 ? *(at - 2 * s) : 0.0) + (t < n - 2 ? *(at + 2 * s) : 0.0));
        }
        r[m] = f[5 * point + m] - sum;
    }
}

__global__ static void residual(int n, const double *u, const double *f, double *r)
{
    const size_t point = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (point < (size_t)n * n * n)
        residual_of(n, point, u, f, r + 5 * point);
}

__device__ static void transform(const Transform &t, double *r)
{
    double out[5];
    for (int i = 0; i < 5; i++) {
        out[i] = 0.0;
        for (int j = 0; j < 5; j++)
            out[i] += t.a[i][j] * r[j];
    }
    for (int i = 0; i < 5; i++)
        r[i] = out[i];
}

static const int LINES = 16; // that a block takes

/* rows: n for each component. A block's lines lie side by side in shared memory: element t of
 * component m of line l at tile[t * pitch + l * 5 + m]. */
__device__ static void solve_tile(int n, int lines, int pitch, const Row *rows, double *tile)
{
    for (int chain = threadIdx.x; chain < 5 * lines; chain += blockDim.x) {
        const Row *row = rows + (size_t)(chain % 5) * n;
        for (int t = 2; t < n - 2; t++) {
            double *at = tile + t * pitch + chain;
            *at = (*at - row[t].sub2 * *(at - 2 * pitch) - row[t].sub1 * *(at - pitch)) /
                  row[t].pivot;
        }
        for (int t = n - 3; t >= 2; t--) {
            double *at = tile + t * pitch + chain;
            *at -= row[t].alpha * at[pitch] + row[t].beta * at[2 * pitch];
        }
    }
    __syncthreads();
}

__device__ static void transform_tile(int n, int lines, int pitch, const Transform &transformation,
                                      double *tile)
{
    for (int point = threadIdx.x; point < lines * n; point += blockDim.x)
        transform(transformation, tile + point / lines * pitch + point % lines * 5);
    __syncthreads();
}

/* Residual, first transform, solve along i, second transform. */
__global__ static void along_i(int n, Transform before, Transform after, const Row *rows,
                               const double *u, const double *f, double *r)
{
    extern __shared__ double tile[];
    const int first = blockIdx.x * LINES, lines = min(LINES, n * n - first), pitch = 5 * LINES + 1;
    for (int k = threadIdx.x; k < lines * n; k += blockDim.x)
        residual_of(n, (size_t)first * n + k, u, f, tile + k % n * pitch + k / n * 5);
    __syncthreads();
    transform_tile(n, lines, pitch, before, tile);
    solve_tile(n, lines, pitch, rows, tile);
    transform_tile(n, lines, pitch, after, tile);
    for (int k = threadIdx.x; k < 5 * lines * n; k += blockDim.x)
        r[5 * (size_t)first * n + k] = tile[k / 5 % n * pitch + k / 5 / n * 5 + k % 5];
}

/* Solve along j or k and the transform that follows; then back to r or, along k, the step of u. */
__global__ static void across(int n, int axis, double omega, Transform after, const Row *rows,
                              double *r, double *u)
{
    extern __shared__ double tile[];
    const size_t stride[3] = {5, 5 * (size_t)n, 5 * (size_t)n * n};
    const int first = blockIdx.x * LINES, lines = min(LINES, n * n - first), pitch = 5 * LINES + 1;
    const size_t along = stride[axis], slow = stride[3 - axis];
    auto place = [&](int k) {
        const int line = first + k / 5 % lines;
        return line % n * stride[0] + line / n * slow + k / 5 / lines * along + k % 5;
    };
    for (int k = threadIdx.x; k < 5 * lines * n; k += blockDim.x)
        tile[k / (5 * lines) * pitch + k % (5 * lines)] = r[place(k)];
    __syncthreads();
    solve_tile(n, lines, pitch, rows, tile);
    transform_tile(n, lines, pitch, after, tile);
    for (int k = threadIdx.x; k < 5 * lines * n; k += blockDim.x) {
        const double value = tile[k / (5 * lines) * pitch + k % (5 * lines)];
        if (axis == 1)
            r[place(k)] = value;
        else
            u[place(k)] += omega * value;
    }
}

/* squares[5*line + m] of lines along i */
__global__ static void square_lines(int n, const double *r, double *squares)
{
    const int line = blockIdx.x * blockDim.x + threadIdx.x;
    if (line >= n * n)
        return;
    for (int m = 0; m < 5; m++) {
        double sum = 0.0;
        for (int i = 0; i < n; i++) {
            const double value = r[5 * ((size_t)line * n + i) + m];
            sum += value * value;
        }
        squares[5 * (size_t)line + m] = sum;
    }
}

static std::vector<Row> elimination(int n)
{
    std::vector<Row> rows(15 * (size_t)n);
    for (int axis = 0; axis < 3; axis++)
        for (int m = 0; m < 5; m++) {
            const double a1 = near_coefficient(axis, m), a2 = far_coefficient(axis, m);
            const double diagonal = 1.0 + 2.0 * a1 + 2.0 * a2 + 0.01 * axis + 0.005 * m;
            Row *row = rows.data() + (5 * (size_t)axis + m) * n;
            for (int t = 0; t < n; t++) {
                row[t] = {0.0, 0.0, 1.0, 0.0, 0.0};
                if (t < 2 || t > n - 3)
                    continue;
                const double pivot = diagonal + a2 * row[t - 2].beta + a1 * row[t - 1].alpha;
                row[t] = {-a2, -a1, pivot, (a1 * row[t - 1].beta - a1) / pivot, -a2 / pivot};
            }
        }
    return rows;
}

static unsigned blocks_for(size_t count)
{
    return (unsigned)((count + 127) / 128);
}

extern "C" void solution_compute(int n, int iters, int omega_milli, const double *u0,
                                 const double *rhs, double *residual_out)
{
    const size_t lines = (size_t)n * n, points = lines * n, bytes = 5 * points * sizeof(double);
    const std::vector<Row> rows = elimination(n);
    double *u, *f, *r, *d_squares;
    Row *d_rows;
    CHECK(cudaMalloc(&u, bytes));
    CHECK(cudaMalloc(&f, bytes));
    CHECK(cudaMalloc(&r, bytes));
    CHECK(cudaMalloc(&d_squares, 5 * lines * sizeof(double)));
    CHECK(cudaMalloc(&d_rows, rows.size() * sizeof(Row)));
    CHECK(cudaMemcpy(u, u0, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(f, rhs, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_rows, rows.data(), rows.size() * sizeof(Row), cudaMemcpyHostToDevice));

    const int tiles = (n * n + LINES - 1) / LINES;
    const size_t shared = (5 * LINES + 1) * n * sizeof(double);
    for (int iter = 0; iter < iters; iter++) {
        along_i<<<tiles, 128, shared>>>(n, TRANSFORMS[0], TRANSFORMS[1], d_rows, u, f, r);
        CHECK(cudaGetLastError());
        for (int axis = 1; axis < 3; axis++) {
            across<<<tiles, 128, shared>>>(n, axis, omega_milli / 1000.0, TRANSFORMS[axis + 1],
                                           d_rows + 5 * (size_t)axis * n, r, u);
            CHECK(cudaGetLastError());
        }
    }
    residual<<<blocks_for(points), 128>>>(n, u, f, r);
    CHECK(cudaGetLastError());
    square_lines<<<blocks_for(lines), 128>>>(n, r, d_squares);
    CHECK(cudaGetLastError());
    std::vector<double> squares(5 * lines);
    CHECK(
        cudaMemcpy(squares.data(), d_squares, 5 * lines * sizeof(double), cudaMemcpyDeviceToHost));
    for (int m = 0; m < 5; m++) {
        double sum = 0.0;
        for (size_t line = 0; line < lines; line++)
            sum += squares[5 * line + m];
        residual_out[m] = sqrt(sum / (double)points);
    }
    CHECK(cudaFree(u));
    CHECK(cudaFree(f));
    CHECK(cudaFree(r));
    CHECK(cudaFree(d_squares));
    CHECK(cudaFree(d_rows));
}
