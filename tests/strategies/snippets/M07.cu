//= present: copied to a symbol
__constant__ float taps[16];
__global__ void f(const float *a, float *b) { for (int k = 0; k < 16; k++) b[threadIdx.x] += taps[k] * a[threadIdx.x + k]; }
void run(const float *t) { cudaMemcpyToSymbol(taps, t, sizeof taps); }

//= present: with an initialiser
__constant__ double weights[3] = {0.25, 0.5, 0.25};
__global__ void f(double *b) { b[threadIdx.x] = weights[threadIdx.x % 3]; }

//= present: a structure
struct Model { int n; float dt, c[8]; };
static __constant__ Model model;
__global__ void f(float *b) { b[threadIdx.x] = model.dt * model.c[0]; }
void run(const Model &m) { cudaMemcpyToSymbolAsync(model, &m, sizeof m, 0, cudaMemcpyHostToDevice, 0); }

//= absent: constexpr
constexpr float taps[3] = {1, 2, 1};
__global__ void f(float *b) { b[threadIdx.x] = taps[1]; }

//= absent: a macro
#define DT 0.5f
static const int N = 16;
__global__ void f(float *b) { b[threadIdx.x] = DT * N; }

//= absent: memory of the device
__device__ float table[64];
__global__ void f(float *b) { b[threadIdx.x] = table[threadIdx.x]; }
void run(const float *t) { cudaMemcpyToSymbol(table, t, sizeof table); }
