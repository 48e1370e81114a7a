// Moving the caller's pageable memory to and from the device.
//
// A plain copy of pageable memory is staged by the driver in one thread, at a fraction of what the
// bus carries. What is faster depends on the size: small arrays are copied plainly; large ones go
// through a small ring of pinned slots that several host threads fill or empty while the device
// works on the others. Registering the caller's own memory was never clearly better than the best
// of these. bench/transfer.cu prints all three by size and direction; the limits below come from
// it.
//
// Nothing is kept between calls: threads, slots, events and streams live as long as the call that
// made them.
#ifndef AE_TASKS_COMMON_TRANSFER_CUH
#define AE_TASKS_COMMON_TRANSFER_CUH

#include "check.cuh"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <cuda_runtime.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

namespace transfer
{

constexpr int THREADS_MAX = 32, SLOTS_MAX = 64;
constexpr size_t PAGE = 4096;

// How a pipeline is laid out: host threads, slots that they share, bytes of a slot (a multiple of
// 4096).
struct Shape {
    int threads, slots;
    size_t slot_bytes;
};

// Cores that this process may run on.
inline int cores()
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

// Host threads beside the issuing one: as many as wished, but no more than there are cores for.
inline int threads_for(int wished)
{
    const int spare = cores() - 1, limit = spare < THREADS_MAX ? spare : THREADS_MAX;
    return wished < limit ? wished : limit > 1 ? limit : 1;
}

// Waits in a loop. Gives the core away now and then: it may be needed by the thread that is waited
// for.
template <typename Done> inline void spin_until(Done done)
{
    for (unsigned turns = 1; !done(); turns++) {
        if (turns % 64 == 0)
            sched_yield();
#if defined(__x86_64__)
        else
            __builtin_ia32_pause();
#endif
    }
}

// Host threads 0, 1, .. count-1, each running work(index). The caller starts four, each of these
// every fourth after it: starting one takes the starter some 20 us, and being woken up takes an
// idle core longer. Small stacks, since the C library keeps few large ones for the next threads.
template <typename Work> class Crew
{
  public:
    Crew(const Work &w, int n) : work(w), count(n)
    {
        for (int i = 0; i < STARTED_BY_CALLER; i++)
            start(i);
    }
    void join()
    {
        for (int i = 0; i < count;
             i++) // a thread's starter has a smaller number: it has ended, so the handle is there
            pthread_join(member[i].handle, nullptr);
    }

  private:
    static constexpr int STARTED_BY_CALLER = 4;
    struct Member {
        Crew *crew;
        int index;
        pthread_t handle;
    };
    const Work &work;
    const int count;
    Member member[THREADS_MAX];

    void start(int index)
    {
        if (index >= count)
            return;
        member[index].crew = this;
        member[index].index = index;
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, size_t(256) << 10);
        if (pthread_create(&member[index].handle, &attributes, run, &member[index]) != 0) {
            fprintf(stderr, "cannot start a host thread\n");
            abort();
        }
        pthread_attr_destroy(&attributes);
    }
    static void *run(void *argument)
    {
        const Member *self = static_cast<Member *>(argument);
        if (self->index < STARTED_BY_CALLER)
            for (int i = self->index + STARTED_BY_CALLER; i < self->crew->count;
                 i += STARTED_BY_CALLER)
                self->crew->start(i);
        self->crew->work(self->index);
        return nullptr;
    }
};

// Memory to be registered, in huge pages where the system gives them. From malloc on purpose: the C
// library mostly has pages that were touched before, in this call or an earlier one, while pages
// fresh from the system cost more to clear than to fill.
constexpr size_t HUGE_PAGE = size_t(2) << 20;
struct Ring {
    void *block; // to be freed
    char *data;
};

inline Ring new_ring(size_t bytes)
{
    const size_t unit = bytes < HUGE_PAGE ? PAGE : HUGE_PAGE,
                 rounded = (bytes + unit - 1) / unit * unit;
    Ring ring;
    ring.block = malloc(rounded + unit);
    if (!ring.block) {
        fprintf(stderr, "no memory for a ring of %zu bytes\n", rounded);
        abort();
    }
    ring.data = reinterpret_cast<char *>((reinterpret_cast<uintptr_t>(ring.block) + unit - 1) /
                                         unit * unit);
    if (unit == HUGE_PAGE)
        madvise(ring.data, rounded, MADV_HUGEPAGE);
    return ring;
}

// Takes pieces 0, 1, .. pieces-1 through a ring of pinned slots.
//   open()             once, by the calling thread, while the others fill the first slots:
//   allocations, streams fill(piece, slot)  by any host thread, in any order; must not call CUDA
//   issue(piece, count, slot)
//                      by the calling thread, in the order of the pieces, after fill: queues work
//                      that reads or writes the slots of `count` pieces, which lie one after the
//                      other (the pointer is the device's), and returns the stream after whose
//                      present work they are done with. Queueing is what the calling thread spends
//                      its time on, some 3 us a call, so one call for all of them is worth having
//   drain(piece, slot) by any host thread, once that work is done; must not call CUDA
// Returns when every piece is drained.
template <typename Open, typename Fill, typename Issue, typename Drain>
void pipeline(const Shape &shape, size_t pieces, Open open, Fill fill, Issue issue, Drain drain)
{
    struct alignas(64) Slot {
        std::atomic<size_t> filled{0}, done{0}; // piece + 1
    };
    const size_t slots = static_cast<size_t>(shape.slots < SLOTS_MAX ? shape.slots : SLOTS_MAX);
    const size_t ring_bytes = slots * shape.slot_bytes;
    const int threads = shape.threads < THREADS_MAX ? shape.threads : THREADS_MAX;
    Slot state[SLOTS_MAX];
    std::atomic<size_t> next{0};
    const Ring memory = new_ring(ring_bytes);
    char *const ring = memory.data;

    // A ticket is the next piece, and the slot that it goes to; tickets beyond the last piece only
    // drain. Whoever waits here waits for a smaller ticket, so none waits forever.
    auto work = [&](int) {
        for (size_t ticket;
             (ticket = next.fetch_add(1, std::memory_order_relaxed)) < pieces + slots;) {
            const size_t s = ticket % slots;
            char *slot = ring + s * shape.slot_bytes;
            if (ticket >= slots) {
                const size_t before = ticket - slots;
                spin_until(
                    [&] { return state[s].done.load(std::memory_order_acquire) == before + 1; });
                drain(before, slot);
            }
            if (ticket < pieces) {
                fill(ticket, slot);
                state[s].filled.store(ticket + 1, std::memory_order_release);
            }
        }
    };
    Crew<decltype(work)> crew(work, threads);

    open();
    cudaEvent_t events[SLOTS_MAX];
    for (size_t s = 0; s < slots; s++)
        CHECK(cudaEventCreateWithFlags(&events[s], cudaEventDisableTiming));
    CHECK(cudaHostRegister(ring, ring_bytes, cudaHostRegisterMapped));
    char *mapped;
    CHECK(cudaHostGetDevicePointer(reinterpret_cast<void **>(&mapped), ring, 0));

    // Pieces that are ready together are issued together. Each batch has an event, that of its
    // first slot.
    size_t issued = 0, finished = 0, batch_of[SLOTS_MAX];
    const size_t most = slots < 4 ? 1 : slots / 4;
    auto ready = [&](size_t piece) {
        return piece < pieces &&
               state[piece % slots].filled.load(std::memory_order_acquire) == piece + 1;
    };
    spin_until([&] {
        size_t count = 0;
        while (count < most && ready(issued + count) &&
               (count == 0 || (issued + count) % slots != 0))
            count++;
        if (count > 0) {
            const size_t s = issued % slots;
            CHECK(cudaEventRecord(events[s], issue(issued, count, mapped + s * shape.slot_bytes)));
            batch_of[s] = count;
            issued += count;
        }
        if (finished < issued) {
            const size_t s = finished % slots;
            const cudaError_t status = cudaEventQuery(events[s]);
            if (status == cudaErrorNotReady) {
                (void)cudaGetLastError(); // not an error, but remembered like one
            } else {
                CHECK(status);
                for (size_t k = 0; k < batch_of[s]; k++, finished++)
                    state[s + k].done.store(finished + 1, std::memory_order_release);
            }
        }
        return finished == pieces;
    });
    CHECK(cudaHostUnregister(
        ring)); // the last slots may still be drained meanwhile: the memory stays
    for (size_t s = 0; s < slots; s++)
        CHECK(cudaEventDestroy(events[s]));
    crew.join();
    free(memory.block);
}

enum class Direction { IN, OUT };

// One array to be moved.
struct Array {
    void *device;
    const void *host; // written to on the way out
    size_t bytes;
};

// The three means. All of the data has arrived when they return; for the way out the device's work
// on other streams must be finished before.
inline void by_plain(Direction direction, const Array *arrays, int count)
{
    for (int a = 0; a < count; a++) {
        void *host = const_cast<void *>(arrays[a].host);
        if (arrays[a].bytes > 0 && direction == Direction::IN)
            CHECK(cudaMemcpy(arrays[a].device, host, arrays[a].bytes, cudaMemcpyHostToDevice));
        else if (arrays[a].bytes > 0)
            CHECK(cudaMemcpy(host, arrays[a].device, arrays[a].bytes, cudaMemcpyDeviceToHost));
    }
    if (direction == Direction::IN) // small copies return when they are staged
        CHECK(cudaStreamSynchronize(nullptr));
}

// Arrays that lie close together must not share a page.
inline void by_register(Direction direction, const Array *arrays, int count)
{
    for (int a = 0; a < count; a++)
        if (arrays[a].bytes > 0) {
            CHECK(cudaHostRegister(const_cast<void *>(arrays[a].host), arrays[a].bytes,
                                   cudaHostRegisterDefault));
            by_plain(direction, arrays + a, 1);
            CHECK(cudaHostUnregister(const_cast<void *>(arrays[a].host)));
        }
}

inline void by_ring(Direction direction, const Array *arrays, int count, const Shape &shape)
{
    constexpr int ARRAYS_MAX = 16;
    if (count > ARRAYS_MAX) {
        by_ring(direction, arrays, ARRAYS_MAX, shape);
        by_ring(direction, arrays + ARRAYS_MAX, count - ARRAYS_MAX, shape);
        return;
    }
    size_t first[ARRAYS_MAX + 1] = {0}; // piece that an array starts with
    for (int a = 0; a < count; a++)
        first[a + 1] = first[a] + (arrays[a].bytes + shape.slot_bytes - 1) / shape.slot_bytes;
    auto at = [&](size_t piece) {
        int a = 0;
        while (piece >= first[a + 1])
            a++;
        const size_t from = (piece - first[a]) * shape.slot_bytes, left = arrays[a].bytes - from;
        return Array{static_cast<char *>(arrays[a].device) + from,
                     static_cast<const char *>(arrays[a].host) + from,
                     left < shape.slot_bytes ? left : shape.slot_bytes};
    };
    int turn = 0;
    cudaStream_t streams[2]; // two, so that one copy starts while another ends
    pipeline(
        shape, first[count],
        [&] {
            for (cudaStream_t &stream : streams)
                CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        },
        [&](size_t piece, char *slot) {
            const Array part = at(piece);
            if (direction == Direction::IN)
                memcpy(slot, part.host, part.bytes);
        },
        [&](size_t piece, size_t count, char *slot) {
            cudaStream_t stream = streams[turn ^= 1];
            for (size_t k = 0, run; k < count; k += run) {
                Array part = at(piece + k); // and those that follow it in the same array
                for (run = 1; k + run < count && part.bytes == run * shape.slot_bytes; run++) {
                    const Array more = at(piece + k + run);
                    if (more.device != static_cast<char *>(part.device) + part.bytes)
                        break;
                    part.bytes += more.bytes;
                }
                char *from = slot + k * shape.slot_bytes;
                if (direction == Direction::IN)
                    CHECK(cudaMemcpyAsync(part.device, from, part.bytes, cudaMemcpyHostToDevice,
                                          stream));
                else
                    CHECK(cudaMemcpyAsync(from, part.device, part.bytes, cudaMemcpyDeviceToHost,
                                          stream));
            }
            return stream;
        },
        [&](size_t piece, char *slot) {
            const Array part = at(piece);
            if (direction == Direction::OUT)
                memcpy(const_cast<void *>(part.host), slot, part.bytes);
        });
    for (cudaStream_t &stream : streams)
        CHECK(cudaStreamDestroy(stream));
}

// From here on (bytes) the ring pays; below, plain copies. Measured by bench/transfer.cu on an
// NVIDIA H200, as is the shape. Slots that are ready together go in one copy, so that small ones
// cost few calls more; a ring of 16 MB whose pages were never touched takes 4 ms to clear and to
// register, one of 1 MB 0.3.
constexpr size_t RING_FROM = size_t(8) << 20;

inline Shape shape_for(size_t bytes)
{
    const int threads = threads_for(bytes < (size_t(24) << 20) ? 4 : 8);
    const size_t kib = bytes < (size_t(24) << 20) ? 128 : bytes < (size_t(48) << 20) ? 256 : 512;
    return Shape{threads, 2 * threads, kib << 10};
}

inline void move(Direction direction, const Array *arrays, int count)
{
    size_t bytes = 0;
    for (int a = 0; a < count; a++)
        bytes += arrays[a].bytes;
    if (bytes < RING_FROM)
        by_plain(direction, arrays, count);
    else
        by_ring(direction, arrays, count, shape_for(bytes));
}

// The arrays are on the device when this returns.
inline void upload(const Array *arrays, int count)
{
    move(Direction::IN, arrays, count);
}

// The device's earlier work must be finished.
inline void download(const Array *arrays, int count)
{
    move(Direction::OUT, arrays, count);
}

} // namespace transfer

#endif
