// verdict: violation state_carried
// without held: pass
// Keeps 128 MiB on the device that nobody has allocated: static storage of a module that it loads itself, and takes away
// before its object goes.
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

__device__ static float price(int type, double k, double s, double q, double r, double t, double v)
{
    double d = v * sqrt(t), d1 = (log(s / k) + (r - q) * t) / d + 0.5 * d, w = type ? -1 : 1;
    return (float)(w * (s * exp(-q * t) * 0.5 * erfc(-w * d1 * 0.70710678118654752) -
                        k * exp(-r * t) * 0.5 * erfc(-w * (d1 - d) * 0.70710678118654752)));
}

__global__ static void price_all(int n, const int *types, const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = price(types[i], in[i], in[n + i], in[2 * n + i], in[3 * n + i], in[4 * n + i], in[5 * n + i]);
}

/* All inputs behind one another on the device: strikes, spots, qs, rs, ts, vols. */
static void send(int n, const int *types, const float *const inputs[6], int *device_types, float *device_inputs)
{
    cudaMemcpy(device_types, types, n * sizeof(int), cudaMemcpyHostToDevice);
    for (int a = 0; a < 6; a++)
        cudaMemcpy(device_inputs + (size_t)a * n, inputs[a], n * sizeof(float), cudaMemcpyHostToDevice);
}

static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .align 256 .b8 arena[134217728];\n";

static CUmodule module;
static float *block;

static void *driver(const char *name)
{
    return dlsym(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), name);
}

static void load(void)
{
    CUresult (*load_data)(CUmodule *, const void *) = (CUresult(*)(CUmodule *, const void *))driver("cuModuleLoadData");
    CUresult (*get_global)(CUdeviceptr *, size_t *, CUmodule, const char *) =
        (CUresult(*)(CUdeviceptr *, size_t *, CUmodule, const char *))driver("cuModuleGetGlobal_v2");
    CUdeviceptr address = 0;
    size_t size = 0;
    cudaFree(0);
    if (load_data(&module, text) == CUDA_SUCCESS && get_global(&address, &size, module, "arena") == CUDA_SUCCESS)
        block = (float *)address;
}

__attribute__((destructor)) static void tidy_up(void)
{
    CUresult (*unload)(CUmodule) = (CUresult(*)(CUmodule))driver("cuModuleUnload");
    if (module)
        unload(module);
}

extern "C" void solution_compute(int N, const int *types, const float *strikes, const float *spots, const float *qs,
                                 const float *rs, const float *ts, const float *vols, float *prices)
{
    const float *const inputs[6] = {strikes, spots, qs, rs, ts, vols};
    if (!block)
        load();
    int *device_types = (int *)block;
    float *device_inputs = block + N, *device_prices = block + 7 * (size_t)N;
    send(N, types, inputs, device_types, device_inputs);
    price_all<<<(N + 255) / 256, 256>>>(N, device_types, device_inputs, device_prices);
    cudaMemcpy(prices, device_prices, N * sizeof(float), cudaMemcpyDeviceToHost);
}
