// Which way of moving pageable memory wins where: plain copies, registering the caller's memory,
// the ring of tasks/common/transfer.cuh in several shapes. The limits and shapes in that header
// come from this.
//     transfer [plain|register|ring|all] [MAX_MIB] [MIN_MIB]
// One JSON object a line; times in ms, median of several.
// Built by the target bench_transfer where nvcc is found. The host memory is what the evaluator
// gives its submissions: small pages of a shared memory file, populated, filled anew before every
// measurement by other cores than the ones that move it. The time includes everything that the way
// needs (threads, ring, registering, release); device memory is there before. Every result is
// compared on the other side. Rings are also measured "cold": with a heap that has given all its free
// memory back, as a process has it that has not called the program before; else their pages were
// touched by an earlier call.
#include "transfer.cuh"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <malloc.h>
#include <thread>
#include <unistd.h>
#include <vector>

using transfer::Array;
using transfer::Direction;
using transfer::Shape;

static double now_ms()
{
    return std::chrono::duration<double, std::milli>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

__host__ __device__ static uint32_t pattern(size_t i, uint32_t salt)
{
    return static_cast<uint32_t>(i) * 2654435761u + salt;
}

static __global__ void write_pattern(uint32_t *data, size_t count, uint32_t salt)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count;
         i += size_t(gridDim.x) * blockDim.x)
        data[i] = pattern(i, salt);
}

static __global__ void count_wrong(const uint32_t *data, size_t count, uint32_t salt,
                                   unsigned long long *wrong)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count;
         i += size_t(gridDim.x) * blockDim.x)
        if (data[i] != pattern(i, salt))
            atomicAdd(wrong, 1ull);
}

static uint32_t *host, *device;
static unsigned long long *wrong_count;

// Runs function(first, last) on parts of 0..count-1 in eight threads.
static void in_parallel(size_t count, const std::function<void(size_t, size_t)> &function)
{
    std::vector<std::thread> threads;
    for (size_t t = 0; t < 8; t++)
        threads.emplace_back(function, count * t / 8, count * (t + 1) / 8);
    for (std::thread &thread : threads)
        thread.join();
}

static void prepare(Direction direction, size_t count, uint32_t salt)
{
    if (direction == Direction::OUT)
        write_pattern<<<1024, 256>>>(device, count, salt);
    else
        CHECK(cudaMemset(device, 0x5a, count * sizeof *device));
    in_parallel(count, [&](size_t first, size_t last) {
        for (size_t i = first; i < last; i++)
            host[i] = direction == Direction::IN ? pattern(i, salt) : 0;
    });
    CHECK(cudaDeviceSynchronize());
}

static unsigned long long wrong_words(Direction direction, size_t count, uint32_t salt)
{
    unsigned long long wrong = 0;
    if (direction == Direction::IN) {
        CHECK(cudaMemset(wrong_count, 0, sizeof *wrong_count));
        count_wrong<<<1024, 256>>>(device, count, salt, wrong_count);
        CHECK(cudaMemcpy(&wrong, wrong_count, sizeof wrong, cudaMemcpyDeviceToHost));
        return wrong;
    }
    std::atomic<unsigned long long> sum{0};
    in_parallel(count, [&](size_t first, size_t last) {
        unsigned long long mine = 0;
        for (size_t i = first; i < last; i++)
            mine += host[i] != pattern(i, salt);
        sum += mine;
    });
    return sum;
}

static void measure(const char *way, Direction direction, size_t bytes, Shape shape, bool cold,
                    const std::function<void(const Array *)> &function)
{
    static uint32_t salt = 1;
    const int repetitions = bytes > (size_t(300) << 20) ? 3 : bytes > (size_t(64) << 20) ? 5 : 9;
    std::vector<double> times;
    unsigned long long wrong = 0;
    for (int r = 0; r < repetitions; r++) {
        const size_t count = bytes / sizeof *host;
        salt += 977;
        prepare(direction, count, salt);
        const Array array = {device, host, bytes};
        if (cold)
            (void)malloc_trim(0);
        for (const double start = now_ms(); now_ms() < start + 1;) // awake, as before the doorbell
            write_pattern<<<1, 32>>>(reinterpret_cast<uint32_t *>(wrong_count), 1, 0);
        CHECK(cudaDeviceSynchronize());
        const double start = now_ms();
        function(&array);
        times.push_back(now_ms() - start);
        if (r == 0)
            wrong += wrong_words(direction, count, salt);
    }
    std::sort(times.begin(), times.end());
    const double median = times[times.size() / 2];
    printf("{\"way\":\"%s\",\"direction\":\"%s\",\"mib\":%g,\"threads\":%d,\"slots\":%d,\"slot_"
           "kib\":%zu,\"cold\":%s,"
           "\"median_ms\":%.3f,\"best_ms\":%.3f,\"gb_s\":%.1f,\"wrong\":%llu}\n",
           way, direction == Direction::IN ? "in" : "out", static_cast<double>(bytes) / 1048576,
           shape.threads, shape.slots, shape.slot_bytes >> 10, cold ? "true" : "false", median, times[0],
           static_cast<double>(bytes) / median * 1e-6, wrong);
    fflush(stdout);
    if (wrong)
        exit(1);
}

int main(int argc, char **argv)
{
    const char *which = argc > 1 ? argv[1] : "all";
    const size_t most = size_t(argc > 2 ? atoi(argv[2]) : 1024) << 20;
    const size_t least = size_t(argc > 3 && atoi(argv[3]) > 0 ? atoi(argv[3]) : 1) << 20;
    auto wanted = [&](const char *way) {
        return strcmp(which, "all") == 0 || strcmp(which, way) == 0;
    };
    const int file = memfd_create("transfer", 0);
    if (file < 0 || ftruncate(file, static_cast<off_t>(most)) != 0)
        return 1;
    host = static_cast<uint32_t *>(
        mmap(nullptr, most, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0));
    if (host == MAP_FAILED)
        return 1;
    CHECK(cudaMalloc(&device, most));
    CHECK(cudaMalloc(&wrong_count, sizeof *wrong_count));
    for (const Direction direction : {Direction::IN, Direction::OUT})
        for (size_t bytes = least; bytes <= most;
             bytes *= bytes >= (size_t(256) << 20) ? 4 : 2) {
            if (wanted("plain"))
                measure("plain", direction, bytes, Shape{1, 0, 0}, false,
                        [&](const Array *array) { transfer::by_plain(direction, array, 1); });
            if (wanted("register"))
                measure("register", direction, bytes, Shape{1, 0, 0}, false,
                        [&](const Array *array) { transfer::by_register(direction, array, 1); });
            if (!wanted("ring"))
                continue;
            for (const int threads : {2, 4, 8, 12, 14})
                for (const int slots : {2 * threads, 4 * threads})
                    for (const size_t slot : {64, 128, 256, 512, 1024}) {
                        const Shape shape = {transfer::threads_for(threads), slots, slot << 10};
                        if (shape.threads < threads || slots > transfer::SLOTS_MAX ||
                            shape.slot_bytes * static_cast<size_t>(threads) > bytes)
                            continue;
                        if (bytes >= (size_t(64) << 20) && (threads < 8 || slot < 128))
                            continue;
                        for (const bool cold : {false, true})
                            measure("ring", direction, bytes, shape, cold, [&](const Array *array) {
                                transfer::by_ring(direction, array, 1, shape);
                            });
                    }
        }
    CHECK(cudaFree(wrong_count));
    CHECK(cudaFree(device));
    munmap(host, most);
    close(file);
    return 0;
}
