//= present: launch bounds
__global__ void __launch_bounds__(256, 4) f(float *a) { a[threadIdx.x] = 1; }

//= present: a register cap
__global__ void __maxnreg__(64) f(float *a) { a[threadIdx.x] = 1; }

//= present: the occupancy calculator
__global__ void f(float *a) { a[threadIdx.x] = 1; }
void run(float *a) { int grid, block; cudaOccupancyMaxPotentialBlockSize(&grid, &block, f, 0, 0); f<<<grid, block>>>(a); }

//= absent: 256 threads
__global__ void f(float *a) { a[threadIdx.x] = 1; }
void run(float *a, int n) { f<<<(n + 255) / 256, 256>>>(a); }

//= absent: room for dynamic shared memory
__global__ void f(float *a) { a[threadIdx.x] = 1; }
void run(float *a) { cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536); f<<<1, 256, 65536>>>(a); }

//= absent: a block size by a constant
constexpr int THREADS = 512;
__global__ void f(float *a) { a[threadIdx.x] = THREADS; }
void run(float *a) { f<<<1, THREADS>>>(a); }
