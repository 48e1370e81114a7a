/* The runtime API: memory and its ledger, streams as queues of work, launches, and what the driver calls. */
#include "runtime.h"

#include <deque>
#include <dirent.h>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace emulate
{

/* --- memory ------------------------------------------------------------------------------------------------------ */

static std::recursive_mutex lock;
#define AE_LOCK std::lock_guard<std::recursive_mutex> guard_(lock)

enum class Kind { DEVICE, HOST, MANAGED, REGISTERED, SYMBOL };
struct Allocation {
    size_t bytes;
    Kind kind;
    bool mapped;
};
static std::map<uintptr_t, Allocation> allocations;
static cudaError_t last_error;
static int live_streams, live_events, live_graphs;

/* Memory of the host is closed to kernels, unless it is registered, and that of the device to the host: by poison,
 * which only the instrumented code of the solution meets. Closing takes time, so that only the first and then some of
 * the turns are watched. */
static std::vector<std::pair<void *, size_t>> host_arrays;
static bool device_closed;
static unsigned turns_seen;

static void open_device()
{
    if (!device_closed)
        return;
    for (const auto &a : allocations)
        if (a.second.kind == Kind::DEVICE)
            UNPOISON(reinterpret_cast<void *>(a.first), a.second.bytes);
    device_closed = false;
}

static void close_device()
{
    if (device_closed || turns_seen > 64)
        return;
    for (const auto &a : allocations)
        if (a.second.kind == Kind::DEVICE)
            POISON(reinterpret_cast<void *>(a.first), a.second.bytes);
    device_closed = true;
}

/* The device is open to copies and the like for as long as one of these lives. */
struct Opened {
    Opened() { open_device(); }
    ~Opened() { close_device(); }
};

static void set_host(bool closed)
{
    for (const auto &array : host_arrays) {
        const uintptr_t begin = reinterpret_cast<uintptr_t>(array.first), end = begin + array.second;
        if (closed)
            POISON(array.first, array.second);
        else
            UNPOISON(array.first, array.second);
        for (const auto &a : allocations)
            if (closed && a.second.kind == Kind::REGISTERED && a.first < end && a.first + a.second.bytes > begin) {
                const uintptr_t from = std::max(begin, a.first),
                                to = std::min<uintptr_t>(end, a.first + a.second.bytes);
                UNPOISON(reinterpret_cast<void *>(from), to - from);
            }
    }
}

static cudaError_t remember(cudaError_t status)
{
    if (status != cudaSuccess)
        last_error = status;
    return status;
}

/* Other threads of the host may use its memory while a kernel runs. */
static bool alone()
{
    DIR *folder = opendir("/proc/self/task");
    if (!folder)
        return false;
    int threads = 0;
    while (const dirent *entry = readdir(folder))
        threads += entry->d_name[0] != '.';
    closedir(folder);
    return threads == 1;
}

static void run_grid(const Config &config, const char *name, const char *file, int line,
                     const std::function<void()> &body)
{
    const bool watched = (++turns_seen <= 16 || (turns_seen & (turns_seen - 1)) == 0) && alone();
    Opened opened;
    if (watched)
        set_host(true);
    run_blocks(config, name, file, line, body);
    if (watched)
        set_host(false);
}

/* The allocation that holds [p, p + bytes), or whose part it is where bytes reach beyond it; NULL where there is none.
 */
static const Allocation *find(const void *p, size_t bytes, bool *whole)
{
    const uintptr_t at = reinterpret_cast<uintptr_t>(p);
    auto next = allocations.upper_bound(at);
    if (next == allocations.begin())
        return nullptr;
    --next;
    if (at >= next->first + next->second.bytes && !(bytes == 0 && at == next->first + next->second.bytes))
        return nullptr;
    *whole = at + bytes <= next->first + next->second.bytes;
    return &next->second;
}

static cudaError_t allocate_kind(void **pointer, size_t bytes, Kind kind)
{
    AE_LOCK;
    if (!pointer)
        return remember(cudaErrorInvalidValue);
    *pointer = nullptr;
    if (bytes == 0)
        return cudaSuccess;
    if (bytes > size_t(64) << 30 || posix_memalign(pointer, 256, bytes) != 0)
        return remember(cudaErrorMemoryAllocation);
    memset(*pointer, settings.poison, bytes);
    if (kind == Kind::DEVICE && device_closed)
        POISON(*pointer, bytes);
    allocations[reinterpret_cast<uintptr_t>(*pointer)] = {bytes, kind, true};
    return cudaSuccess;
}

cudaError_t allocate(void **pointer, size_t bytes) { return allocate_kind(pointer, bytes, Kind::DEVICE); }
cudaError_t allocate_host(void **pointer, size_t bytes) { return allocate_kind(pointer, bytes, Kind::HOST); }
cudaError_t allocate_managed(void **pointer, size_t bytes) { return allocate_kind(pointer, bytes, Kind::MANAGED); }

cudaError_t symbol_address(void **pointer, const void *symbol, size_t bytes)
{
    AE_LOCK;
    *pointer = const_cast<void *>(symbol);
    allocations[reinterpret_cast<uintptr_t>(symbol)] = {bytes, Kind::SYMBOL, false};
    return cudaSuccess;
}

cudaError_t host_device_pointer(void **device, void *host)
{
    AE_LOCK;
    bool whole;
    const Allocation *a = find(host, 1, &whole);
    if (!a || a->kind == Kind::DEVICE)
        return remember(cudaErrorInvalidValue);
    *device = host;
    return cudaSuccess;
}

/* --- streams: queues of work ----------------------------------------------------------------------------------------
 */

} // namespace emulate

struct CUevent_st {
    uint64_t issued = 0, done = 0;
    CUstream_st *stream = nullptr;
    ae_graph *capture = nullptr;
    bool destroyed = false;
};
struct ae_work {
    std::function<void()> run;
    CUevent_st *event = nullptr; /* waited for, up to `version` */
    uint64_t version = 0;
};
struct ae_graph {
    std::vector<ae_work> work;
};
struct CUstream_st {
    bool blocking = true, destroyed = false, running = false;
    std::deque<ae_work> queue;
    ae_graph *capture = nullptr;
};

namespace emulate
{

static CUstream_st legacy;
static std::vector<CUstream_st *> streams; /* made and not destroyed, or destroyed with work left */

static bool step(CUstream_st *stream);

static void drain(CUstream_st *stream)
{
    while (step(stream))
        ;
}

/* Runs the first piece of work of a stream. */
static bool step(CUstream_st *stream)
{
    if (stream->queue.empty() || stream->running)
        return false;
    stream->running = true;
    ae_work work = std::move(stream->queue.front());
    stream->queue.pop_front();
    if (work.event)
        while (work.event->done < work.version)
            if (!step(work.event->stream))
                break;
    if (work.run)
        work.run();
    stream->running = false;
    return true;
}

static void drain_blocking()
{
    if (settings.order == Order::RANDOM)
        for (bool any = true; any;) {
            any = false;
            std::vector<CUstream_st *> some;
            for (CUstream_st *s : streams)
                if (s->blocking && !s->queue.empty() && !s->running)
                    some.push_back(s);
            if (!some.empty())
                any = step(some[draw() % some.size()]);
        }
    for (size_t i = streams.size(); i-- > 0;)
        if (streams[i]->blocking)
            drain(streams[i]);
}

static void drain_all()
{
    drain(&legacy);
    for (size_t i = streams.size(); i-- > 0;) /* the youngest first: an order nobody counts on */
        drain(streams[i]);
    for (size_t i = 0; i < streams.size();)
        if (streams[i]->destroyed && streams[i]->queue.empty()) {
            delete streams[i];
            streams.erase(streams.begin() + static_cast<long>(i));
        } else {
            i++;
        }
}

static bool is_stream(cudaStream_t stream)
{
    for (CUstream_st *s : streams)
        if (s == stream && !s->destroyed)
            return true;
    return false;
}

/* NULL where there is no such stream. */
static CUstream_st *resolve(cudaStream_t stream)
{
    if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread)
        return &legacy;
    return is_stream(stream) ? stream : nullptr;
}

static cudaError_t enqueue(cudaStream_t handle, ae_work work)
{
    CUstream_st *stream = resolve(handle);
    if (!stream)
        return remember(cudaErrorInvalidResourceHandle);
    if (stream->capture) {
        stream->capture->work.push_back(std::move(work));
        return cudaSuccess;
    }
    if (stream == &legacy)
        drain_blocking();
    else if (stream->blocking)
        drain(&legacy);
    stream->queue.push_back(std::move(work));
    if (!settings.lazy)
        drain(stream);
    return cudaSuccess;
}

static cudaError_t enqueue(cudaStream_t stream, std::function<void()> run)
{
    ae_work work;
    work.run = std::move(run);
    return enqueue(stream, std::move(work));
}

cudaError_t allocate_ordered(void **pointer, size_t bytes, cudaStream_t stream)
{
    AE_LOCK;
    if (!resolve(stream))
        return remember(cudaErrorInvalidResourceHandle);
    return allocate(pointer, bytes);
}

/* --- launches
 * --------------------------------------------------------------------------------------------------------- */

static std::map<const void *, int> dynamic_limits;

int submit(const Config &config, const char *name, const char *file, int line, const void *kernel,
           std::function<void()> body)
{
    AE_LOCK;
    const dim3 &g = config.grid, &b = config.block, &c = config.cluster;
    const uint64_t threads = uint64_t(b.x) * b.y * b.z, blocks = uint64_t(g.x) * g.y * g.z;
    if (threads == 0 || threads > 1024 || b.z > 64 || blocks == 0 || g.x > 0x7fffffff || g.y > 65535 || g.z > 65535 ||
        g.x % c.x || g.y % c.y || g.z % c.z) {
        fprintf(stderr, "emulate: %s:%d: %s: a grid of (%u,%u,%u) blocks of (%u,%u,%u) threads is none\n", file, line,
                name, g.x, g.y, g.z, b.x, b.y, b.z);
        return remember(cudaErrorInvalidConfiguration);
    }
    if (c.x * c.y * c.z > 16 || (c.x * c.y * c.z > 1 && settings.capability < 90)) {
        fprintf(stderr, "emulate: %s:%d: %s: clusters of (%u,%u,%u) blocks are none here\n", file, line, name, c.x, c.y,
                c.z);
        return remember(cudaErrorInvalidConfiguration);
    }
    if (threads > config.bound) {
        fprintf(stderr, "emulate: %s:%d: %s: blocks of %llu threads, where __launch_bounds__ says %u\n", file, line,
                name, static_cast<unsigned long long>(threads), config.bound);
        return remember(cudaErrorInvalidValue);
    }
    const auto limit = dynamic_limits.find(kernel);
    if (config.shared > SHARED_PER_BLOCK ||
        (config.shared > SHARED_PLAIN && kernel &&
         (limit == dynamic_limits.end() || config.shared > static_cast<size_t>(limit->second)))) {
        fprintf(stderr, "emulate: %s:%d: %s: %zu bytes of shared memory were not asked for by cudaFuncSetAttribute\n",
                file, line, name, config.shared);
        return remember(cudaErrorInvalidValue);
    }
    if (config.cooperative) {
        int each;
        occupancy(&each, kernel, static_cast<int>(threads), config.shared);
        if (blocks > static_cast<uint64_t>(each) * settings.processors) {
            fprintf(stderr, "emulate: %s:%d: %s: %llu blocks cannot all be resident\n", file, line, name,
                    static_cast<unsigned long long>(blocks));
            return remember(cudaErrorCooperativeLaunchTooLarge);
        }
    }
    return enqueue(config.stream, [=] { run_grid(config, name, file, line, body); });
}

static std::map<const void *, Binder> known;

void remember_kernel(const void *kernel, Binder binder)
{
    AE_LOCK;
    known[kernel] = binder;
}

cudaError_t launch_known(const void *kernel, const Config &config, void **args, const char *file, int line)
{
    AE_LOCK;
    const auto found = known.find(kernel);
    if (found == known.end()) {
        fprintf(stderr, "emulate: %s:%d: a launch of what is not known to be a kernel\n", file, line);
        return remember(cudaErrorInvalidDeviceFunction);
    }
    return static_cast<cudaError_t>(submit(config, "a kernel", file, line, kernel, found->second(kernel, args)));
}

int submit_host(cudaStream_t stream, std::function<void()> work)
{
    AE_LOCK;
    return enqueue(stream, [=] {
        Opened opened;
        work();
    });
}

Config extended(const cudaLaunchConfig_t *config)
{
    Config c(config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream);
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const cudaLaunchAttribute &a = config->attrs[i];
        if (a.id == cudaLaunchAttributeCooperative)
            c.cooperative = a.val.cooperative != 0;
        if (a.id == cudaLaunchAttributeClusterDimension)
            c.cluster = dim3(a.val.clusterDim.x, a.val.clusterDim.y, a.val.clusterDim.z);
    }
    return c;
}

cudaError_t function_limit(const void *kernel, cudaFuncAttribute attribute, int value)
{
    AE_LOCK;
    if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
        const size_t most = settings.capability >= 90 ? SHARED_PER_BLOCK : size_t(163) << 10;
        if (value < 0 || static_cast<size_t>(value) > most)
            return remember(cudaErrorInvalidValue);
        dynamic_limits[kernel] = value;
    }
    return cudaSuccess;
}

cudaError_t function_attributes(cudaFuncAttributes *attributes, const void *kernel)
{
    AE_LOCK;
    *attributes = cudaFuncAttributes();
    attributes->maxThreadsPerBlock = 1024;
    attributes->numRegs = 32;
    attributes->ptxVersion = attributes->binaryVersion = settings.capability;
    const auto limit = dynamic_limits.find(kernel);
    attributes->maxDynamicSharedSizeBytes = limit == dynamic_limits.end() ? SHARED_PLAIN : limit->second;
    return cudaSuccess;
}

/* As if registers never were the limit; few, so that a resident grid stays small. */
cudaError_t occupancy(int *blocks, const void *, int threads, size_t shared)
{
    if (threads <= 0 || threads > 1024 || shared > SHARED_PER_BLOCK) {
        *blocks = 0;
        return cudaSuccess;
    }
    int n = THREADS_PER_SM / ((threads + 31) / 32 * 32);
    if (shared > 0)
        n = std::min(n, static_cast<int>(SHARED_PER_SM / (shared + 1024)));
    *blocks = std::min(n, 2);
    return cudaSuccess;
}

/* --- copies ----------------------------------------------------------------------------------------------------------
 */

static bool is_device(const void *p, size_t bytes, bool *whole)
{
    const Allocation *a = find(p, bytes, whole);
    return a && (a->kind != Kind::HOST && a->kind != Kind::REGISTERED);
}
static bool is_pinned(const void *p)
{
    bool whole;
    return find(p, 1, &whole) != nullptr;
}

struct Region {
    char *to;
    size_t to_pitch;
    const char *from;
    size_t from_pitch, width, height;
};

/* Whether both sides are what `kind` says. Says what is wrong: the error alone tells little. */
static bool check_side(const void *p, const Region &r, size_t pitch, bool device, const char *side)
{
    const size_t bytes = r.height ? pitch * (r.height - 1) + r.width : 0;
    bool whole = true;
    const Allocation *a = find(p, bytes, &whole);
    if (device && !(a && a->kind != Kind::REGISTERED && a->kind != Kind::HOST) && !(a && a->mapped)) {
        fprintf(stderr, "emulate: a copy's %s is not device memory\n", side);
        return false;
    }
    if (!device && a && (a->kind == Kind::DEVICE || a->kind == Kind::SYMBOL)) {
        fprintf(stderr, "emulate: a copy's %s is device memory, where its kind says host\n", side);
        return false;
    }
    if (a && !whole && (device || a->kind == Kind::HOST)) {
        fprintf(stderr, "emulate: a copy of %zu bytes reaches beyond its %s\n", bytes, side);
        return false;
    }
    return true;
}

static void copy_now(const Region &r)
{
    Opened opened;
    if (r.width == r.to_pitch && r.width == r.from_pitch)
        memmove(r.to, r.from, r.width * r.height);
    else
        for (size_t i = 0; i < r.height; i++)
            memmove(r.to + i * r.to_pitch, r.from + i * r.from_pitch, r.width);
}

static cudaError_t copy(const Region &r, cudaMemcpyKind kind, cudaStream_t handle, bool async)
{
    AE_LOCK;
    CUstream_st *stream = resolve(handle);
    if (!stream)
        return remember(cudaErrorInvalidResourceHandle);
    if (r.width == 0 || r.height == 0)
        return cudaSuccess;
    if (r.width > r.to_pitch || r.width > r.from_pitch)
        return remember(cudaErrorInvalidValue);
    bool whole;
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (kind == cudaMemcpyDefault) {
        to_device = is_device(r.to, 1, &whole);
        from_device = is_device(r.from, 1, &whole);
    }
    if (!check_side(r.to, r, r.to_pitch, to_device, "destination") ||
        !check_side(r.from, r, r.from_pitch, from_device, "source"))
        return remember(cudaErrorInvalidValue);
    if (stream->capture)
        return enqueue(handle, [=] { copy_now(r); });
    const bool on_device = to_device && from_device;
    const bool pinned = (to_device || is_pinned(r.to)) && (from_device || is_pinned(r.from));
    if (on_device || (async && pinned))
        return enqueue(handle, [=] { copy_now(r); });
    if (stream == &legacy) {
        drain_blocking();
        drain(&legacy);
    } else {
        if (stream->blocking)
            drain(&legacy);
        drain(stream);
    }
    copy_now(r);
    return cudaSuccess;
}

} // namespace emulate

using namespace emulate;

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    return copy({static_cast<char *>(to), bytes, static_cast<const char *>(from), bytes, bytes, 1}, kind, nullptr,
                false);
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy({static_cast<char *>(to), bytes, static_cast<const char *>(from), bytes, bytes, 1}, kind, stream, true);
}
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind)
{
    return copy({static_cast<char *>(to), to_pitch, static_cast<const char *>(from), from_pitch, width, height}, kind,
                nullptr, false);
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy({static_cast<char *>(to), to_pitch, static_cast<const char *>(from), from_pitch, width, height}, kind,
                stream, true);
}
cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
    AE_LOCK;
    if (width == 0 || height == 0)
        return cudaSuccess;
    const Region r = {static_cast<char *>(to), pitch, nullptr, pitch, width, height};
    if (!check_side(to, r, pitch, true, "destination"))
        return remember(cudaErrorInvalidValue);
    return enqueue(stream, [=] {
        Opened opened;
        for (size_t i = 0; i < height; i++)
            memset(r.to + i * pitch, value, width);
    });
}
cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
    return cudaMemset2DAsync(to, pitch, value, width, height, nullptr);
}
cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    return cudaMemset2DAsync(to, bytes, value, bytes, 1, nullptr);
}
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    return cudaMemset2DAsync(to, bytes, value, bytes, 1, stream);
}
cudaError_t cudaMemPrefetchAsync(const void *, size_t, int, cudaStream_t) { return cudaSuccess; }

/* --- the rest of the API
 * ---------------------------------------------------------------------------------------------- */

static cudaError_t take_back(void *pointer, Kind kind, Kind other)
{
    AE_LOCK;
    if (!pointer)
        return cudaSuccess;
    drain_all();
    const auto found = allocations.find(reinterpret_cast<uintptr_t>(pointer));
    if (found == allocations.end() || (found->second.kind != kind && found->second.kind != other))
        return remember(cudaErrorInvalidValue);
    Opened opened;
    allocations.erase(found);
    free(pointer);
    return cudaSuccess;
}
cudaError_t cudaFree(void *pointer) { return take_back(pointer, Kind::DEVICE, Kind::MANAGED); }
cudaError_t cudaFreeHost(void *pointer) { return take_back(pointer, Kind::HOST, Kind::HOST); }
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    AE_LOCK;
    if (!pointer)
        return cudaSuccess;
    bool whole;
    if (!is_device(pointer, 1, &whole))
        return remember(cudaErrorInvalidValue);
    return enqueue(stream, [=] {
        Opened opened;
        allocations.erase(reinterpret_cast<uintptr_t>(pointer));
        free(pointer);
    });
}
cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned)
{
    AE_LOCK;
    if (!pointer || bytes == 0)
        return remember(cudaErrorInvalidValue);
    bool whole;
    if (find(pointer, 1, &whole) || find(static_cast<char *>(pointer) + bytes - 1, 1, &whole))
        return remember(cudaErrorHostMemoryAlreadyRegistered);
    allocations[reinterpret_cast<uintptr_t>(pointer)] = {bytes, Kind::REGISTERED, true};
    return cudaSuccess;
}
cudaError_t cudaHostUnregister(void *pointer)
{
    AE_LOCK;
    drain_all();
    const auto found = allocations.find(reinterpret_cast<uintptr_t>(pointer));
    if (found == allocations.end() || found->second.kind != Kind::REGISTERED)
        return remember(cudaErrorHostMemoryNotRegistered);
    allocations.erase(found);
    return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer)
{
    AE_LOCK;
    bool whole;
    const Allocation *a = find(pointer, 1, &whole);
    *attributes = cudaPointerAttributes();
    void *p = const_cast<void *>(pointer);
    if (a) {
        const bool host = a->kind == Kind::HOST || a->kind == Kind::REGISTERED;
        attributes->type = host                       ? cudaMemoryTypeHost
                           : a->kind == Kind::MANAGED ? cudaMemoryTypeManaged
                                                      : cudaMemoryTypeDevice;
        attributes->devicePointer = p;
        attributes->hostPointer = host || a->kind == Kind::MANAGED ? p : nullptr;
    }
    return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    AE_LOCK;
    *stream = new CUstream_st();
    (*stream)->blocking = !(flags & cudaStreamNonBlocking);
    streams.push_back(*stream);
    live_streams++;
    return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t *stream) { return cudaStreamCreateWithFlags(stream, 0); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int)
{
    return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0;
    *greatest = -5;
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    AE_LOCK;
    if (!stream || !is_stream(stream))
        return remember(cudaErrorInvalidResourceHandle);
    stream->destroyed = true; /* what it still has to do is done */
    live_streams--;
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t handle)
{
    AE_LOCK;
    CUstream_st *stream = resolve(handle);
    if (!stream)
        return remember(cudaErrorInvalidResourceHandle);
    if (stream->capture)
        return remember(cudaErrorStreamCaptureUnsupported);
    if (stream == &legacy)
        drain_blocking();
    drain(stream);
    return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t handle)
{
    AE_LOCK;
    CUstream_st *stream = resolve(handle);
    if (!stream)
        return remember(cudaErrorInvalidResourceHandle);
    if (stream == &legacy)
        drain_blocking();
    if (stream->queue.empty())
        return cudaSuccess;
    step(stream);
    return remember(cudaErrorNotReady);
}
cudaError_t cudaDeviceSynchronize()
{
    AE_LOCK;
    drain_all();
    return cudaSuccess;
}
static std::vector<CUevent_st *> events;
static bool is_event(cudaEvent_t event)
{
    for (CUevent_st *e : events)
        if (e == event && !e->destroyed)
            return true;
    return false;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
    AE_LOCK;
    *event = new CUevent_st();
    events.push_back(*event);
    live_events++;
    return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, 0); }
cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    AE_LOCK;
    if (!is_event(event))
        return remember(cudaErrorInvalidResourceHandle);
    event->destroyed = true;
    live_events--;
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle)
{
    AE_LOCK;
    CUstream_st *stream = resolve(handle);
    if (!stream || !is_event(event))
        return remember(cudaErrorInvalidResourceHandle);
    event->capture = stream->capture;
    if (stream->capture)
        return cudaSuccess; /* captured work runs in the order in which it was captured */
    const uint64_t version = ++event->issued;
    event->stream = stream;
    return enqueue(handle, [=] { event->done = version; });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned)
{
    AE_LOCK;
    CUstream_st *stream = resolve(handle);
    if (!stream || !is_event(event))
        return remember(cudaErrorInvalidResourceHandle);
    if (event->capture) {
        stream->capture = event->capture;
        return cudaSuccess;
    }
    if (stream->capture)
        return cudaSuccess;
    ae_work work;
    work.event = event;
    work.version = event->issued;
    return enqueue(handle, std::move(work));
}
cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    AE_LOCK;
    if (!is_event(event))
        return remember(cudaErrorInvalidResourceHandle);
    while (event->done < event->issued && step(event->stream))
        ;
    return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event)
{
    AE_LOCK;
    if (!is_event(event))
        return remember(cudaErrorInvalidResourceHandle);
    if (event->done >= event->issued)
        return cudaSuccess;
    step(event->stream); /* time passes */
    return remember(cudaErrorNotReady);
}
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t, cudaEvent_t)
{
    *milliseconds = 1;
    return cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    AE_LOCK;
    return enqueue(stream, [=] { function(data); });
}
cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode)
{
    AE_LOCK;
    CUstream_st *stream = resolve(handle);
    if (!stream || stream == &legacy)
        return remember(stream ? cudaErrorStreamCaptureUnsupported : cudaErrorInvalidResourceHandle);
    stream->capture = new ae_graph();
    live_graphs++;
    return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t *graph)
{
    AE_LOCK;
    CUstream_st *stream = resolve(handle);
    if (!stream || !stream->capture)
        return remember(cudaErrorStreamCaptureInvalidated);
    *graph = stream->capture;
    for (CUstream_st *s : streams)
        if (s->capture == *graph)
            s->capture = nullptr;
    for (CUevent_st *e : events)
        if (e->capture == *graph)
            e->capture = nullptr;
    return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
    AE_LOCK;
    *exec = new ae_graph(*graph);
    live_graphs++;
    return cudaSuccess;
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    return cudaGraphInstantiate(exec, graph, flags);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    AE_LOCK;
    for (const ae_work &work : exec->work) {
        const cudaError_t status = enqueue(stream, work);
        if (status != cudaSuccess)
            return status;
    }
    return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    AE_LOCK;
    delete graph;
    live_graphs--;
    return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) { return cudaGraphDestroy(exec); }

static const struct {
    cudaError_t error;
    const char *name, *text;
} error_texts[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {cudaErrorCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
};
const char *cudaGetErrorString(cudaError_t error)
{
    for (const auto &e : error_texts)
        if (e.error == error)
            return e.text;
    return "unknown error";
}
const char *cudaGetErrorName(cudaError_t error)
{
    for (const auto &e : error_texts)
        if (e.error == error)
            return e.name;
    return "cudaErrorUnknown";
}
cudaError_t cudaGetLastError()
{
    const cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}
cudaError_t cudaPeekAtLastError() { return last_error; }
cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : remember(cudaErrorInvalidDevice); }
cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 1;
    return cudaSuccess;
}
cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return cudaSuccess; }
cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit)
{
    *value = 0;
    return cudaSuccess;
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    *free_bytes = *total = size_t(64) << 30;
    return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{
    const bool hopper = settings.capability >= 90;
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
        *value = 1024;
        break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
        *value = SHARED_PLAIN;
        break;
    case cudaDevAttrWarpSize:
        *value = 32;
        break;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor:
        *value = 65536;
        break;
    case cudaDevAttrClockRate:
        *value = 1000000;
        break;
    case cudaDevAttrMultiProcessorCount:
        *value = settings.processors;
        break;
    case cudaDevAttrL2CacheSize:
        *value = 50 << 20;
        break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
        *value = THREADS_PER_SM;
        break;
    case cudaDevAttrComputeCapabilityMajor:
        *value = settings.capability / 10;
        break;
    case cudaDevAttrComputeCapabilityMinor:
        *value = settings.capability % 10;
        break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        *value = hopper ? SHARED_PER_SM : 164 << 10;
        break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        *value = hopper ? SHARED_PER_BLOCK : 163 << 10;
        break;
    case cudaDevAttrReservedSharedMemoryPerBlock:
        *value = 1024;
        break;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
        *value = BLOCKS_PER_SM;
        break;
    case cudaDevAttrClusterLaunch:
        *value = hopper;
        break;
    case cudaDevAttrMaxPersistingL2CacheSize:
        *value = 30 << 20;
        break;
    case cudaDevAttrIntegrated:
    case cudaDevAttrPageableMemoryAccess:
    case cudaDevAttrPageableMemoryAccessUsesHostPageTables:
        *value = 0;
        break;
    default:
        *value = 1;
    }
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int)
{
    *p = cudaDeviceProp();
    const bool hopper = settings.capability >= 90;
    snprintf(p->name, sizeof p->name, "emulated");
    p->totalGlobalMem = size_t(64) << 30;
    p->sharedMemPerBlock = SHARED_PLAIN;
    p->sharedMemPerBlockOptin = hopper ? SHARED_PER_BLOCK : size_t(163) << 10;
    p->sharedMemPerMultiprocessor = hopper ? SHARED_PER_SM : size_t(164) << 10;
    p->totalConstMem = 65536;
    p->regsPerBlock = p->regsPerMultiprocessor = 65536;
    p->warpSize = 32;
    p->maxThreadsPerBlock = 1024;
    p->maxThreadsPerMultiProcessor = THREADS_PER_SM;
    p->maxBlocksPerMultiProcessor = BLOCKS_PER_SM;
    p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 0x7fffffff;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->major = settings.capability / 10;
    p->minor = settings.capability % 10;
    p->multiProcessorCount = settings.processors;
    p->canMapHostMemory = p->concurrentKernels = p->unifiedAddressing = p->cooperativeLaunch = p->managedMemory = 1;
    p->concurrentManagedAccess = p->hostRegisterSupported = p->streamPrioritiesSupported = p->memoryPoolsSupported = 1;
    p->asyncEngineCount = 3;
    p->clusterLaunch = hopper;
    p->l2CacheSize = 50 << 20;
    p->persistingL2CacheMaxSize = 30 << 20;
    p->memoryBusWidth = 5120;
    return cudaSuccess;
}

/* --- what the driver calls
 * --------------------------------------------------------------------------------------------- */

/* order: 0 forward, 1 reverse, else random by that seed. */
extern "C" __attribute__((visibility("default"))) void ae_emulate_begin(uint64_t order, int processors, int capability)
{
    settings.order = order == 0 ? Order::FORWARD : order == 1 ? Order::REVERSE : Order::RANDOM;
    settings.lazy = order != 0;
    settings.poison = order == 0 ? 0xff : order == 1 ? 0xa5 : 0x7f;
    settings.processors = processors;
    settings.capability = capability;
    seed(order * 0x9e3779b97f4a7c15 + 1);
}

/* An array of the caller's: kernels may not touch it. */
extern "C" __attribute__((visibility("default"))) void ae_emulate_array(void *data, size_t bytes)
{
    if (bytes > 0)
        host_arrays.push_back({data, bytes});
}

/* What a call left behind, as text; true where it left nothing. */
extern "C" __attribute__((visibility("default"))) bool ae_emulate_end(char *text, size_t size)
{
    int memory = 0, pinned = 0, registered = 0;
    size_t bytes = 0, queued = legacy.queue.size();
    for (const auto &a : allocations) {
        if (a.second.kind == Kind::DEVICE || a.second.kind == Kind::MANAGED) {
            memory++;
            bytes += a.second.bytes;
        }
        pinned += a.second.kind == Kind::HOST;
        registered += a.second.kind == Kind::REGISTERED;
    }
    for (CUstream_st *s : streams)
        queued += s->queue.size();
    std::string said;
    char part[128];
    auto add = [&](size_t count, const char *what) {
        if (count == 0)
            return;
        snprintf(part, sizeof part, "%s%zu %s", said.empty() ? "" : ", ", count, what);
        said += part;
    };
    add(static_cast<size_t>(memory), "allocations of device memory");
    add(static_cast<size_t>(pinned), "pinned allocations");
    add(static_cast<size_t>(registered), "registered ranges");
    add(static_cast<size_t>(live_streams), "streams");
    add(static_cast<size_t>(live_events), "events");
    add(static_cast<size_t>(live_graphs), "graphs");
    add(queued, "pieces of work that nobody waited for");
    if (last_error != cudaSuccess && last_error != cudaErrorNotReady) {
        snprintf(part, sizeof part, "%san error that nobody asked for (%s)", said.empty() ? "" : ", ",
                 cudaGetErrorString(last_error));
        said += part;
    }
    snprintf(text, size, "%s", said.c_str());
    return said.empty();
}
