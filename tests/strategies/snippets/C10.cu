//= present: a launch an anti-diagonal
__global__ void front(int *t, const int *a, int n, int d)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int j = d - i;
    if (i < 1 || j < 1 || i >= n || j >= n)
        return;
    t[i * n + j] = max(t[(i - 1) * n + j], t[i * n + j - 1]) + a[i * n + j];
}
void run(int *t, const int *a, int n)
{
    for (int d = 2; d < 2 * n - 1; d++)
        front<<<n / 256 + 1, 256>>>(t, a, n, d);
}

//= present: diagonals inside a block
__global__ void align(const char *a, const char *b, int n, int m, int *out)
{
    __shared__ int now[256];
    const int i = threadIdx.x;
    now[i] = 0;
    for (int d = 0; d < n + m - 1; d++) {
        const int j = d - i;
        if (j >= 0 && j < m)
            now[i] = now[i] + (a[i] == b[j]);
        __syncthreads();
    }
    out[blockIdx.x] = now[0];
}

//= present: levels by offsets
__global__ void solve(const int *rows, int count, double *x) { if (threadIdx.x < count) x[rows[threadIdx.x]] = 1; }
void run(const std::vector<int> &level_start, const int *rows, double *x, int levels)
{
    for (int l = 0; l < levels; l++)
        solve<<<1, 256>>>(rows + level_start[l], level_start[l + 1] - level_start[l], x);
}

//= absent: frontiers of a search
__global__ void bfs(const int *start, const int *to, int *level, int now, int n, int *more)
{
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || level[v] != now)
        return;
    for (int e = start[v]; e < start[v + 1]; e++)
        if (level[to[e]] < 0) {
            level[to[e]] = now + 1;
            *more = 1;
        }
}
void run(const int *s, const int *t, int *level, int n, int *more)
{
    for (int now = 0; now < n; now++)
        bfs<<<n / 256 + 1, 256>>>(s, t, level, now, n, more);
}

//= absent: time steps
__global__ void step(const float *a, float *b, int n, int t)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        b[i] = a[i - 1] + a[i + 1] + t;
}
void run(float *a, float *b, int n, int steps)
{
    for (int t = 0; t < steps; t++)
        step<<<n / 256 + 1, 256>>>(a, b, n, t);
}

//= absent: an index counted down
__global__ void reverse(const float *a, float *b, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 4; k++)
        b[n - 1 - i] = a[i] + k;
}

//= present: the sets of one size a launch
__global__ void extend(int m, int size, const int *cost, int *best)
{
    const unsigned S = blockIdx.x * blockDim.x + threadIdx.x;
    if (__popc(S) != size)
        return;
    for (int j = 0; j < m; j++)
        best[S * m + j] = best[(S & ~(1u << j)) * m] + cost[j];
}
void run(int m, const int *cost, int *best)
{
    for (int size = 1; size <= m; size++)
        extend<<<1024, 256>>>(m, size, cost, best);
}

//= present: planes there and back
__global__ void relax(int n, int plane, double *u)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    const int j = t % n, k = t / n, i = plane - j - k;
    if (i < 0 || i >= n)
        return;
    u[(k * n + j) * n + i] *= 0.5;
}
void run(int n, double *u)
{
    const int planes = 3 * n - 2;
    for (int step = 0; step < 2 * planes; step++) {
        const int plane = step < planes ? step : 2 * planes - 1 - step;
        relax<<<n, n>>>(n, plane, u);
    }
}

//= absent: sets counted by size, in no order
__global__ void sizes(const unsigned *sets, int wanted, int *count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (__popc(sets[i]) == wanted)
        atomicAdd(count, 1);
}
void run(const unsigned *sets, int *count)
{
    sizes<<<1024, 256>>>(sets, 3, count);
}
