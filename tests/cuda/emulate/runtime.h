/* What the two halves of the emulation share: device.cpp runs grids, host.cpp is the runtime API. */
#ifndef AE_EMULATE_RUNTIME_H
#define AE_EMULATE_RUNTIME_H

#include "emulate.h"

#if defined(AE_EMULATE_CHECKED) /* the solution is instrumented; what is here is not, for speed */
#include <sanitizer/asan_interface.h>
#define POISON(p, n)   __asan_poison_memory_region(p, n)
#define UNPOISON(p, n) __asan_unpoison_memory_region(p, n)
#else
#define POISON(p, n)   ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

namespace emulate
{

enum class Order { FORWARD, REVERSE, RANDOM };
struct Settings {
    Order order = Order::FORWARD;
    bool lazy = false; /* queued work runs only when somebody waits for it */
    unsigned char poison = 0xff;
    int processors = 4;
    int capability = 90;
};
extern Settings settings;

void seed(uint64_t state); /* not 0 */
uint64_t draw();

constexpr size_t SHARED_PER_SM = 228 << 10, SHARED_PER_BLOCK = 227 << 10, SHARED_PLAIN = 48 << 10;
constexpr int THREADS_PER_SM = 2048, BLOCKS_PER_SM = 32;

/* Runs a grid from begin to end. Ends the program where its threads go wrong. */
void run_blocks(const Config &config, const char *name, const char *file, int line, const std::function<void()> &body);

} // namespace emulate
#endif
