// Moving the caller's pageable memory to and from the device.
//
// A plain copy of pageable memory is staged by the driver in one thread, at a fraction of what the bus carries. What is
// faster depends on the size: small arrays are copied plainly, middling ones pay for being registered, and large ones
// are moved by several host threads through a small ring of pinned buffers while the copies of earlier pieces are in
// flight. bench/transfer shows which wins where; the limits below come from it.
//
// Nothing is kept between calls: threads, buffers and streams live as long as the object that holds them.
#ifndef AE_TASKS_COMMON_TRANSFER_CUH
#define AE_TASKS_COMMON_TRANSFER_CUH

#include "check.cuh"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <cuda_runtime.h>
#include <sched.h>
#include <sys/mman.h>
#include <thread>

namespace transfer {

constexpr size_t PLAIN_MAX = size_t(6) << 20;     // below: plain copies
constexpr size_t REGISTER_MAX = size_t(24) << 20; // below: registered, then one copy; above: the ring
constexpr int SLOTS = 2;                          // pieces in flight for each thread
constexpr int THREADS_MAX = 8;                    // more than what the host's memory can feed

// One piece of memory to be moved.
struct Piece {
    void *device;
    void *host;
    size_t bytes;
};

// Cores that this process may run on.
inline int cores()
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

// Pinned memory, cheaper than cudaMallocHost: huge pages touched and then registered.
class Ring {
  public:
    explicit Ring(size_t bytes) : size((bytes + HUGE - 1) / HUGE * HUGE)
    {
        base = static_cast<char *>(mmap(nullptr, size + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        if (base == MAP_FAILED)
            abort();
        data = reinterpret_cast<char *>((reinterpret_cast<uintptr_t>(base) + HUGE - 1) / HUGE * HUGE);
        madvise(data, size, MADV_HUGEPAGE);
        for (size_t at = 0; at < size; at += 4096)
            data[at] = 0;
        CHECK(cudaHostRegister(data, size, cudaHostRegisterDefault));
    }
    ~Ring()
    {
        CHECK(cudaHostUnregister(data));
        munmap(base, size + HUGE);
    }
    char *data;

  private:
    static constexpr size_t HUGE = size_t(2) << 20;
    char *base;
    size_t size;
};

enum class Direction { IN, OUT };

// Moves one array by several threads through a ring. In: a thread copies its piece into a slot and sends it off; the
// slot is free again when its event has come. Out: the other way round.
// done, where given, is called by the thread that has queued a piece, with the piece's offset and size and the stream
// that it travels on: kernels that need only this piece can be queued there.
template <typename Done>
void through_ring(Direction direction, char *device, char *host, size_t bytes, Done done)
{
    const size_t chunk = bytes < (size_t(64) << 20) ? size_t(512) << 10 : size_t(1) << 20;
    const size_t pieces = (bytes + chunk - 1) / chunk;
    int threads = bytes < (size_t(64) << 20) ? 4 : THREADS_MAX;
    threads = threads < cores() ? threads : cores();
    int device_id;
    CHECK(cudaGetDevice(&device_id));
    Ring ring(size_t(threads) * SLOTS * chunk);
    std::atomic<size_t> next{0};
    auto work = [&](int index) {
        CHECK(cudaSetDevice(device_id));
        cudaStream_t stream;
        cudaEvent_t events[SLOTS];
        size_t held[SLOTS]; // outward: the piece that a slot will bring; SIZE_MAX: none
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        for (int s = 0; s < SLOTS; s++) {
            CHECK(cudaEventCreateWithFlags(&events[s], cudaEventDisableTiming));
            held[s] = SIZE_MAX;
        }
        auto length = [&](size_t piece) { return piece + 1 == pieces ? bytes - piece * chunk : chunk; };
        auto land = [&](int s, char *slot) {
            CHECK(cudaEventSynchronize(events[s]));
            if (direction == Direction::OUT && held[s] != SIZE_MAX)
                memcpy(host + held[s] * chunk, slot, length(held[s]));
            held[s] = SIZE_MAX;
        };
        for (int s = 0;; s = (s + 1) % SLOTS) {
            char *slot = ring.data + (size_t(index) * SLOTS + s) * chunk;
            const size_t piece = next.fetch_add(1);
            if (piece >= pieces)
                break;
            if (held[s] != SIZE_MAX)
                land(s, slot);
            if (direction == Direction::IN) {
                memcpy(slot, host + piece * chunk, length(piece));
                CHECK(cudaMemcpyAsync(device + piece * chunk, slot, length(piece), cudaMemcpyHostToDevice, stream));
            } else {
                CHECK(cudaMemcpyAsync(slot, device + piece * chunk, length(piece), cudaMemcpyDeviceToHost, stream));
            }
            CHECK(cudaEventRecord(events[s], stream));
            held[s] = piece;
            done(piece * chunk, length(piece), stream);
        }
        for (int s = 0; s < SLOTS; s++)
            if (held[s] != SIZE_MAX)
                land(s, ring.data + (size_t(index) * SLOTS + s) * chunk);
        CHECK(cudaStreamSynchronize(stream));
        for (int s = 0; s < SLOTS; s++)
            CHECK(cudaEventDestroy(events[s]));
        CHECK(cudaStreamDestroy(stream));
    };
    std::thread pool[THREADS_MAX];
    for (int i = 1; i < threads; i++)
        pool[i] = std::thread(work, i);
    work(0);
    for (int i = 1; i < threads; i++)
        pool[i].join();
}

inline void move(Direction direction, void *device, void *host, size_t bytes)
{
    const cudaMemcpyKind kind = direction == Direction::IN ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
    void *from = direction == Direction::IN ? host : device, *to = direction == Direction::IN ? device : host;
    if (bytes == 0)
        return;
    if (bytes < PLAIN_MAX) {
        CHECK(cudaMemcpy(to, from, bytes, kind));
    } else if (bytes < REGISTER_MAX) {
        // Registering pins whole pages: the first and the last may be shared with others, which does no harm.
        CHECK(cudaHostRegister(host, bytes, cudaHostRegisterDefault));
        CHECK(cudaMemcpy(to, from, bytes, kind));
        CHECK(cudaHostUnregister(host));
    } else {
        through_ring(direction, static_cast<char *>(device), static_cast<char *>(host), bytes,
                     [](size_t, size_t, cudaStream_t) {});
    }
}

// The whole array is on the device when this returns.
inline void upload(void *device, const void *host, size_t bytes)
{
    move(Direction::IN, device, const_cast<void *>(host), bytes);
}

// The device's earlier work on other streams must be finished.
inline void download(void *host, const void *device, size_t bytes)
{
    move(Direction::OUT, const_cast<void *>(device), host, bytes);
}

} // namespace transfer

#endif
