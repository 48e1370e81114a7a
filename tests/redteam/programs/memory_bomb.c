// verdict: out_of_memory crash
// Maps memory until there is no more, and uses what it did not get.
#include <stddef.h>
#include <sys/mman.h>

void solution_compute(int N, const int *types, const float *strikes, const float *spots, const float *qs,
                      const float *rs, const float *ts, const float *vols, float *prices)
{
    for (;;) {
        volatile char *more = mmap(NULL, (size_t)64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        *more = 1;
    }
}
