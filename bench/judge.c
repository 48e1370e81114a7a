/* Claims: comparing runs at 1 GB/s or better (bytes of output judged, all of it right and most of it not bit-equal), and
 * filling arrays with random numbers does.
 *     judge [MIB]      one JSON object */
#include "base/clock.h"
#include "judge/judge.h"

#include <stdio.h>
#include <stdlib.h>

static double rate(size_t bytes, int64_t ns)
{
    return (double)bytes / (double)ns;
}

int main(int argc, char **argv)
{
    const size_t bytes = (size_t)(argc > 1 ? atoi(argv[1]) : 256) << 20;
    struct ae_array f32, f64;
    struct ae_error err = {0};
    struct ae_output_judgement j;
    struct ae_rng rng;
    if (ae_array_alloc(&f32, AE_F32, bytes / 4, &err) != AE_OK || ae_array_alloc(&f64, AE_F64, bytes / 8, &err) != AE_OK) {
        fprintf(stderr, "judge: %s\n", err.text);
        return 1;
    }
    float *got32 = malloc(bytes);
    double *got64 = malloc(bytes);
    if (!got32 || !got64)
        return 1;
    ae_rng_seed(&rng, 1, 0);
    ae_rng_fill_f32(&rng, f32.data, f32.count, 1, 2); /* touches the pages; the second fill is timed */
    int64_t start = ae_now_ns();
    ae_rng_fill_f32(&rng, f32.data, f32.count, 1, 2);
    const double fill32 = rate(bytes, ae_now_ns() - start);
    ae_rng_fill_f64(&rng, f64.data, f64.count, 1, 2);
    start = ae_now_ns();
    ae_rng_fill_f64(&rng, f64.data, f64.count, 1, 2);
    const double fill64 = rate(bytes, ae_now_ns() - start);
    for (size_t i = 0; i < f32.count; i++)
        got32[i] = ((float *)f32.data)[i] * (1 + (i % 4 ? 1e-6f : 0));
    for (size_t i = 0; i < f64.count; i++)
        got64[i] = ((double *)f64.data)[i] * (1 + (i % 4 ? 1e-12 : 0));
    start = ae_now_ns();
    ae_compare(&f32, got32, 0, 1e-5, &j);
    const double compare32 = rate(bytes, ae_now_ns() - start);
    size_t wrong = j.wrong;
    start = ae_now_ns();
    ae_compare(&f64, got64, 0, 1e-10, &j);
    const double compare64 = rate(bytes, ae_now_ns() - start);
    wrong += j.wrong;
    const bool holds = compare32 >= 1 && compare64 >= 1 && fill32 >= 1 && fill64 >= 1 && wrong == 0;
    printf("{\"claim\":\"comparing and generating, GB/s\",\"mib\":%zu,\"compare_f32\":%.2f,\"compare_f64\":%.2f,"
           "\"fill_f32\":%.2f,\"fill_f64\":%.2f,\"holds\":%s}\n",
           bytes >> 20, compare32, compare64, fill32, fill64, holds ? "true" : "false");
    free(got32);
    free(got64);
    ae_array_release(&f32);
    ae_array_release(&f64);
    return 0;
}
