//= present: four by four results
__global__ void gemm(const float *a, const float *b, float *c, int n)
{
    float acc[4][4] = {};
    for (int k = 0; k < n; k++) {
        float x[4], y[4];
        for (int i = 0; i < 4; i++) {
            x[i] = a[(threadIdx.y * 4 + i) * n + k];
            y[i] = b[k * n + threadIdx.x * 4 + i];
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++)
                acc[i][j] += x[i] * y[j];
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            c[(threadIdx.y * 4 + i) * n + threadIdx.x * 4 + j] = acc[i][j];
}

//= present: several minima from one load
#define POINTS 8
__global__ void nearest(const float *from, const float *to, float *out, int n)
{
    float x[POINTS], best[POINTS];
    for (int p = 0; p < POINTS; p++) {
        x[p] = from[(blockIdx.x * POINTS + p) * blockDim.x + threadIdx.x];
        best[p] = 1e30f;
    }
    for (int j = 0; j < n; j++) {
        const float y = to[j];
        for (int p = 0; p < POINTS; p++)
            best[p] = fminf(best[p], fabsf(x[p] - y));
    }
    for (int p = 0; p < POINTS; p++)
        out[(blockIdx.x * POINTS + p) * blockDim.x + threadIdx.x] = best[p];
}

//= present: scalars unrolled by hand
__global__ void mv(const float *a, const float *x, float *y, int n)
{
    const int r = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    float sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
    for (int k = 0; k < n; k++) {
        const float v = x[k];
        sum0 += a[r * n + k] * v;
        sum1 += a[(r + 1) * n + k] * v;
        sum2 += a[(r + 2) * n + k] * v;
        sum3 += a[(r + 3) * n + k] * v;
    }
    y[r] = sum0;
    y[r + 1] = sum1;
    y[r + 2] = sum2;
    y[r + 3] = sum3;
}

//= absent: a histogram indexed by data
__global__ void bins(const int *in, int *out, int n)
{
    int count[16] = {};
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        count[in[i]] += 1;
    for (int b = 0; b < 16; b++)
        atomicAdd(&out[b], count[b]);
}

//= absent: sums of fields that each take their own operand
__global__ void norms(const float *u, float *out, int n)
{
    float sum[5] = {};
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        for (int f = 0; f < 5; f++)
            sum[f] += u[5 * i + f] * u[5 * i + f];
    for (int f = 0; f < 5; f++)
        atomicAdd(&out[f], sum[f]);
}

//= absent: a small vector of one cell
__global__ void rotate(const float *in, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v[3];
    for (int k = 0; k < 3; k++)
        v[k] = in[k * n + i];
    for (int k = 0; k < 3; k++)
        out[k * n + i] = v[(k + 1) % 3] - v[k];
}

//= present: a strip of a table, advanced by way of local variables
__global__ void sweep(int rows, int cols, const int *cost, const int *above, int *below)
{
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    int best[8];
    for (int i = 0; i < 8; i++)
        best[i] = above[first + i];
    for (int r = 0; r < rows; r++) {
        int left = 1 << 28;
        for (int i = 0; i < 8; i++) {
            const int here = best[i];
            best[i] = cost[(size_t)r * cols + first + i] + min(left, here);
            left = here;
        }
    }
    for (int i = 0; i < 8; i++)
        below[first + i] = best[i];
}

//= present: five inputs in registers, each for five results
struct Matrix {
    double a[5][5];
};
__global__ void apply(Matrix m, const double *in, double *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double s[5];
    for (int c = 0; c < 5; c++)
        s[c] = in[5 * i + c];
    for (int r = 0; r < 5; r++) {
        double y = 0;
        for (int c = 0; c < 5; c++)
            y += m.a[r][c] * s[c];
        out[5 * i + r] = y;
    }
}

//= absent: a row of a table by an index that is not constant
__global__ void align(const int *q, const int *t, int *scores, int m, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int row[64], best = 0;
    for (int b = 0; b <= n; b++)
        row[b] = 0;
    for (int a = 0; a < m; a++) {
        int diagonal = 0;
        for (int b = 1; b <= n; b++) {
            const int s = max(diagonal + (q[a] == t[b - 1]), max(row[b], row[b - 1]));
            diagonal = row[b];
            row[b] = s;
            best = max(best, s);
        }
    }
    scores[i] = best;
}

//= absent: members handled one by one, in a single loop
__global__ void fluxes(const double *q, double *f, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    double v[4];
    for (int k = 0; k < 4; k++)
        v[k] = q[k * n + i] - q[k * n + i + 1];
    for (int k = 0; k < 4; k++)
        f[k * n + i] = v[k] * 0.5;
}
