/* Every call of the CUDA runtime goes through CHECK: an error ends the program with its place and
 * reason. */
#ifndef AE_TASKS_CHECK_CUH
#define AE_TASKS_CHECK_CUH

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const cudaError_t status_ = (call);                                                        \
        if (status_ != cudaSuccess) {                                                              \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_));       \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
