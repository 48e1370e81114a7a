/* The runtime API, as far as programs here use it. */
#ifndef AE_EMULATE_API_H
#define AE_EMULATE_API_H

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidSymbol = 13,
    cudaErrorInvalidDevicePointer = 17,
    cudaErrorInvalidMemcpyDirection = 21,
    cudaErrorInvalidDeviceFunction = 98,
    cudaErrorInvalidDevice = 101,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorNotReady = 600,
    cudaErrorIllegalAddress = 700,
    cudaErrorLaunchOutOfResources = 701,
    cudaErrorHostMemoryAlreadyRegistered = 712,
    cudaErrorHostMemoryNotRegistered = 713,
    cudaErrorCooperativeLaunchTooLarge = 720,
    cudaErrorNotSupported = 801,
    cudaErrorStreamCaptureUnsupported = 900,
    cudaErrorStreamCaptureInvalidated = 901,
    cudaErrorUnknown = 999,
};
typedef cudaError_t cudaError;
enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault,
};
enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrWarpSize = 10,
    cudaDevAttrMaxRegistersPerBlock = 12,
    cudaDevAttrClockRate = 13,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrIntegrated = 18,
    cudaDevAttrCanMapHostMemory = 19,
    cudaDevAttrConcurrentKernels = 31,
    cudaDevAttrL2CacheSize = 38,
    cudaDevAttrMaxThreadsPerMultiProcessor = 39,
    cudaDevAttrUnifiedAddressing = 41,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrMaxRegistersPerMultiprocessor = 82,
    cudaDevAttrPageableMemoryAccess = 88,
    cudaDevAttrConcurrentManagedAccess = 89,
    cudaDevAttrCooperativeLaunch = 95,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
    cudaDevAttrHostRegisterSupported = 99,
    cudaDevAttrPageableMemoryAccessUsesHostPageTables = 100,
    cudaDevAttrMaxBlocksPerMultiprocessor = 106,
    cudaDevAttrMaxPersistingL2CacheSize = 108,
    cudaDevAttrReservedSharedMemoryPerBlock = 111,
    cudaDevAttrMemoryPoolsSupported = 115,
    cudaDevAttrClusterLaunch = 120,
};
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9,
    cudaFuncAttributeNonPortableClusterSizeAllowed = 13,
};
enum cudaFuncCache {
    cudaFuncCachePreferNone,
    cudaFuncCachePreferShared,
    cudaFuncCachePreferL1,
    cudaFuncCachePreferEqual
};
enum cudaSharedCarveout {
    cudaSharedmemCarveoutDefault = -1,
    cudaSharedmemCarveoutMaxL1 = 0,
    cudaSharedmemCarveoutMaxShared = 100
};
enum cudaLimit {
    cudaLimitStackSize,
    cudaLimitPrintfFifoSize,
    cudaLimitMallocHeapSize,
    cudaLimitPersistingL2CacheSize = 6
};
enum cudaLaunchAttributeID {
    cudaLaunchAttributeIgnore = 0,
    cudaLaunchAttributeAccessPolicyWindow = 1,
    cudaLaunchAttributeCooperative = 2,
    cudaLaunchAttributeClusterDimension = 4,
    cudaLaunchAttributeClusterSchedulingPolicyPreference = 5,
    cudaLaunchAttributeProgrammaticStreamSerialization = 6,
    cudaLaunchAttributePriority = 8,
};
#define cudaStreamDefault          0u
#define cudaStreamNonBlocking      1u
#define cudaStreamLegacy           ((cudaStream_t)0x1)
#define cudaStreamPerThread        ((cudaStream_t)0x2)
#define cudaEventDefault           0u
#define cudaEventBlockingSync      1u
#define cudaEventDisableTiming     2u
#define cudaEventWaitDefault       0u
#define cudaEventRecordDefault     0u
#define cudaHostAllocDefault       0u
#define cudaHostAllocPortable      1u
#define cudaHostAllocMapped        2u
#define cudaHostAllocWriteCombined 4u
#define cudaHostRegisterDefault    0u
#define cudaHostRegisterPortable   1u
#define cudaHostRegisterMapped     2u
#define cudaHostRegisterReadOnly   8u
#define cudaDeviceScheduleAuto     0u
#define cudaDeviceScheduleSpin     1u
#define cudaDeviceMapHost          8u
#define cudaMemAttachGlobal        1u
#define cudaOccupancyDefault       0u
#define CUDART_CB
#define CUDART_INF   (std::numeric_limits<double>::infinity())
#define CUDART_INF_F (std::numeric_limits<float>::infinity())
#define CUDART_NAN   (std::numeric_limits<double>::quiet_NaN())
#define CUDART_NAN_F (std::numeric_limits<float>::quiet_NaN())
#define CUDART_PI    3.141592653589793
#define CUDART_PI_F  3.14159265f

struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor, totalConstMem;
    int regsPerBlock, regsPerMultiprocessor, warpSize, maxThreadsPerBlock, maxThreadsPerMultiProcessor;
    int maxBlocksPerMultiProcessor, maxThreadsDim[3], maxGridSize[3];
    int major, minor, multiProcessorCount, integrated, canMapHostMemory, concurrentKernels, asyncEngineCount;
    int unifiedAddressing, cooperativeLaunch, clusterLaunch, pageableMemoryAccess, managedMemory,
        concurrentManagedAccess;
    int hostRegisterSupported, l2CacheSize, persistingL2CacheMaxSize, memoryBusWidth, streamPrioritiesSupported;
    int pageableMemoryAccessUsesHostPageTables, memoryPoolsSupported, accessPolicyMaxWindowSize;
};
struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes,
        preferredShmemCarveout;
};
union cudaLaunchAttributeValue {
    char pad[64];
    int cooperative;
    struct {
        unsigned x, y, z;
    } clusterDim;
    int programmaticStreamSerializationAllowed;
    int priority;
};
struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
};
enum cudaStreamCaptureMode {
    cudaStreamCaptureModeGlobal,
    cudaStreamCaptureModeThreadLocal,
    cudaStreamCaptureModeRelaxed
};
enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice, cudaMemoryTypeManaged };
struct cudaPointerAttributes {
    cudaMemoryType type;
    int device;
    void *devicePointer, *hostPointer;
};
struct ae_graph;
typedef ae_graph *cudaGraph_t;
typedef ae_graph *cudaGraphExec_t;
typedef void (*cudaHostFn_t)(void *);

const char *cudaGetErrorString(cudaError_t error);
const char *cudaGetErrorName(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaSetDeviceFlags(unsigned flags);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value);
cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit limit);
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config);
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaDriverGetVersion(int *version);

namespace emulate
{
cudaError_t allocate(void **pointer, size_t bytes);
cudaError_t allocate_host(void **pointer, size_t bytes);
cudaError_t allocate_managed(void **pointer, size_t bytes);
cudaError_t allocate_ordered(void **pointer, size_t bytes, cudaStream_t stream);
cudaError_t host_device_pointer(void **device, void *host);
cudaError_t symbol_address(void **pointer, const void *symbol, size_t bytes);
cudaError_t function_limit(const void *kernel, cudaFuncAttribute attribute, int value);
cudaError_t function_attributes(cudaFuncAttributes *attributes, const void *kernel);
cudaError_t occupancy(int *blocks, const void *kernel, int threads, size_t shared);
} // namespace emulate
template <typename T> cudaError_t cudaMalloc(T **p, size_t bytes)
{
    return emulate::allocate(reinterpret_cast<void **>(p), bytes);
}
template <typename T> cudaError_t cudaMallocHost(T **p, size_t bytes, unsigned = 0)
{
    return emulate::allocate_host(reinterpret_cast<void **>(p), bytes);
}
template <typename T> cudaError_t cudaHostAlloc(T **p, size_t bytes, unsigned)
{
    return emulate::allocate_host(reinterpret_cast<void **>(p), bytes);
}
template <typename T> cudaError_t cudaMallocManaged(T **p, size_t bytes, unsigned = 1)
{
    return emulate::allocate_managed(reinterpret_cast<void **>(p), bytes);
}
template <typename T> cudaError_t cudaMallocAsync(T **p, size_t bytes, cudaStream_t stream)
{
    return emulate::allocate_ordered(reinterpret_cast<void **>(p), bytes, stream);
}
template <typename T> cudaError_t cudaMallocPitch(T **p, size_t *pitch, size_t width, size_t height)
{
    *pitch = (width + 511) / 512 * 512;
    return emulate::allocate(reinterpret_cast<void **>(p), *pitch * height);
}
template <typename T> cudaError_t cudaHostGetDevicePointer(T **device, void *host, unsigned)
{
    return emulate::host_device_pointer(reinterpret_cast<void **>(device), host);
}
cudaError_t cudaFree(void *pointer);
cudaError_t cudaFreeHost(void *pointer);
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream);
cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void *pointer);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void *to, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream = nullptr);
cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height);
cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream = nullptr);
cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, int device, cudaStream_t stream = nullptr);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer);
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority);
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags = 0);
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags = 0);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);

template <typename T> cudaError_t cudaGetSymbolAddress(void **pointer, const T &symbol)
{
    return emulate::symbol_address(pointer, &symbol, sizeof symbol);
}
template <typename T> cudaError_t cudaGetSymbolSize(size_t *bytes, const T &symbol)
{
    return *bytes = sizeof symbol, cudaSuccess;
}
template <typename T>
cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t bytes, size_t offset, cudaMemcpyKind kind,
                                    cudaStream_t stream)
{
    void *place;
    if (offset + bytes > sizeof symbol)
        return cudaErrorInvalidValue;
    emulate::symbol_address(&place, &symbol, sizeof symbol);
    return cudaMemcpyAsync(static_cast<char *>(place) + offset, from, bytes, kind, stream);
}
template <typename T>
cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
    void *place;
    if (offset + bytes > sizeof symbol)
        return cudaErrorInvalidValue;
    emulate::symbol_address(&place, &symbol, sizeof symbol);
    return cudaMemcpy(static_cast<char *>(place) + offset, from, bytes, kind);
}
template <typename T>
cudaError_t cudaMemcpyFromSymbolAsync(void *to, const T &symbol, size_t bytes, size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t stream)
{
    void *place;
    if (offset + bytes > sizeof symbol)
        return cudaErrorInvalidValue;
    emulate::symbol_address(&place, &symbol, sizeof symbol);
    return cudaMemcpyAsync(to, static_cast<char *>(place) + offset, bytes, kind, stream);
}
template <typename T>
cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes, size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
    void *place;
    if (offset + bytes > sizeof symbol)
        return cudaErrorInvalidValue;
    emulate::symbol_address(&place, &symbol, sizeof symbol);
    return cudaMemcpy(to, static_cast<char *>(place) + offset, bytes, kind);
}
template <typename F> cudaError_t cudaFuncSetAttribute(F *kernel, cudaFuncAttribute attribute, int value)
{
    return emulate::function_limit(reinterpret_cast<const void *>(kernel), attribute, value);
}
template <typename F> cudaError_t cudaFuncSetCacheConfig(F *, cudaFuncCache) { return cudaSuccess; }
template <typename F> cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, F *kernel)
{
    return emulate::function_attributes(attributes, reinterpret_cast<const void *>(kernel));
}
template <typename F>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, F *kernel, int threads, size_t shared)
{
    return emulate::occupancy(blocks, reinterpret_cast<const void *>(kernel), threads, shared);
}
template <typename F>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int *blocks, int *threads, F *kernel, size_t shared = 0, int limit = 0)
{
    *threads = limit > 0 && limit < 256 ? limit : 256;
    int each, processors;
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    const cudaError_t status = emulate::occupancy(&each, reinterpret_cast<const void *>(kernel), *threads, shared);
    *blocks = each * processors;
    return status;
}
template <typename F>
cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, F *kernel, const cudaLaunchConfig_t *config)
{
    int each, processors;
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    const cudaError_t status = emulate::occupancy(
        &each, reinterpret_cast<const void *>(kernel),
        static_cast<int>(config->blockDim.x * config->blockDim.y * config->blockDim.z), config->dynamicSmemBytes);
    unsigned size = 1;
    for (unsigned i = 0; i < config->numAttrs; i++)
        if (config->attrs[i].id == cudaLaunchAttributeClusterDimension) {
            const auto &d = config->attrs[i].val.clusterDim;
            size = d.x * d.y * d.z;
        }
    *clusters = each * processors / static_cast<int>(size);
    return status;
}

namespace emulate
{
template <typename... P, size_t... I> std::tuple<P...> gather(void **args, std::index_sequence<I...>)
{
    (void)args;
    return std::tuple<P...>(*static_cast<P *>(args[I])...);
}
template <typename... P>
cudaError_t launch_by_address(void (*kernel)(P...), Config config, bool cooperative, void **args, const char *file,
                              int line)
{
    config.cooperative = cooperative;
    const int status = submit(config, "a kernel", file, line, reinterpret_cast<const void *>(kernel),
                              [kernel, values = gather<std::remove_cv_t<P>...>(args, std::index_sequence_for<P...>{})] {
                                  std::apply(kernel, values);
                              });
    return static_cast<cudaError_t>(status);
}
} // namespace emulate
namespace emulate
{
/* Makes a call of a kernel out of the addresses of its arguments. */
using Binder = std::function<void()> (*)(const void *kernel, void **args);
void remember_kernel(const void *kernel, Binder binder);
cudaError_t launch_known(const void *kernel, const Config &config, void **args, const char *file, int line);
/* A kernel's address without its type: Known<const void *>() % kernel. */
template <typename Pointer> struct Known {
};
template <typename Pointer, typename... P> Pointer operator%(Known<Pointer>, void (*kernel)(P...))
{
    remember_kernel(reinterpret_cast<const void *>(kernel),
                    [](const void *address, void **args) -> std::function<void()> {
                        auto typed = reinterpret_cast<void (*)(P...)>(const_cast<void *>(address));
                        return [typed, values = gather<std::remove_cv_t<P>...>(args, std::index_sequence_for<P...>{})] {
                            std::apply(typed, values);
                        };
                    });
    return reinterpret_cast<Pointer>(reinterpret_cast<void *>(kernel));
}
} // namespace emulate
inline cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **args, size_t shared = 0,
                                    cudaStream_t stream = nullptr, AE_HERE)
{
    return emulate::launch_known(kernel, emulate::Config(grid, block, shared, stream), args, file, line);
}
inline cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block, void **args,
                                               size_t shared = 0, cudaStream_t stream = nullptr, AE_HERE)
{
    emulate::Config config(grid, block, shared, stream);
    config.cooperative = true;
    return emulate::launch_known(kernel, config, args, file, line);
}
template <typename... P>
cudaError_t cudaLaunchKernel(void (*kernel)(P...), dim3 grid, dim3 block, void **args, size_t shared = 0,
                             cudaStream_t stream = nullptr, AE_HERE)
{
    return emulate::launch_by_address(kernel, emulate::Config(grid, block, shared, stream), false, args, file, line);
}
template <typename... P>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(P...), dim3 grid, dim3 block, void **args, size_t shared = 0,
                                        cudaStream_t stream = nullptr, AE_HERE)
{
    return emulate::launch_by_address(kernel, emulate::Config(grid, block, shared, stream), true, args, file, line);
}
namespace emulate
{
Config extended(const cudaLaunchConfig_t *config);
}
inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **args, AE_HERE)
{
    return emulate::launch_known(kernel, emulate::extended(config), args, file, line);
}
template <typename... P, typename... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(P...), A &&...args)
{
    return static_cast<cudaError_t>(emulate::submit(
        emulate::extended(config), "a kernel", __FILE__, __LINE__, reinterpret_cast<const void *>(kernel),
        [kernel, values = std::tuple<P...>(std::forward<A>(args)...)] { std::apply(kernel, values); }));
}

#endif
