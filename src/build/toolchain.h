/* The compilers of this machine: found once, described by what a cache key must hold. */
#ifndef AE_BUILD_TOOLCHAIN_H
#define AE_BUILD_TOOLCHAIN_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum ae_tool {
    AE_TOOL_GCC,
    AE_TOOL_GXX,
    AE_TOOL_NVCC,
    AE_TOOL_COUNT
};

#define AE_TOOLCHAIN_READABLE 16

struct ae_toolchain {
    struct ae_tool_info {
        char path[4096];    /* absolute, symbolic links resolved in its folder; "": not found */
        char version[256];  /* first telling line of --version */
        char missing[1024]; /* where not found or not working: why, and the mend */
        bool as_nobody;     /* runs as an unprivileged user too, where we are root */
    } tools[AE_TOOL_COUNT];
    char native[4096];        /* what -march=native means here: the compiler's own options, one line */
    char cuda_root[4096];     /* folder of the toolkit; "" without nvcc */
    char cuda_lib[4096];      /* its library folder */
    int cuda_major;           /* 12, 13; 0 without nvcc */
    /* Folders that compilers read, "" from the first unused on. */
    char readable[AE_TOOLCHAIN_READABLE][4096];
};

/* Looks along PATH, then for nvcc in $CUDA_HOME/bin, $CUDA_PATH/bin and /usr/local/cuda/bin. A compiler that is missing
 * is no error here; AE_E_NOMEM or AE_E_ENV only where no program can be started at all. Free with
 * ae_toolchain_free(). */
int ae_toolchain_probe(struct ae_toolchain **ret, struct ae_error *err);
void ae_toolchain_free(struct ae_toolchain *toolchain);

/* AE_OK, or AE_E_ENV with what is missing and the mend. */
int ae_toolchain_need(const struct ae_toolchain *toolchain, enum ae_tool tool, struct ae_error *err);

#endif
