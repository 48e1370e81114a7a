/* From a source file to a shared object that a worker can load, or to the reason why not. The source is hostile input:
 * it is compiled in a scratch folder of its own, without network, with a read-only view of the toolchain alone and
 * under limits, and what comes out is read with suspicion (elf.h) before it is linked and again afterwards. Objects are
 * kept in the cache. */
#ifndef AE_BUILD_BUILD_H
#define AE_BUILD_BUILD_H

#include "base/hash.h"
#include "build/elf.h"
#include "build/toolchain.h"
#include "cache/cache.h"
#include "judge/verdict.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ae_build_kind {
    AE_BUILD_REFERENCE, /* gcc -std=c11 -O2: trusted text, one thread */
    AE_BUILD_C,         /* gcc -std=gnu17 -O3 -march=native -fopenmp */
    AE_BUILD_CPP,       /* g++ -std=c++17 -O3 -march=native -fopenmp */
    AE_BUILD_CUDA,      /* nvcc -std=c++17 -O3 -arch=ARCH with the toolkit's libraries */
    AE_BUILD_KIND_COUNT
};

/* Bytes of a source that is taken for a submission: room for a table of 1 MiB, the most that an object may keep static,
 * written out byte by byte. */
#define AE_SOURCE_MAX ((size_t)8 << 20)

/* "sm_90", "sm_100a": what a request's arch may be. NULL is none. */
bool ae_arch_is_valid(const char *arch);

/* By the ending of a file name (.c .cpp .cc .cxx .cu): false where it is none of them. Never AE_BUILD_REFERENCE. */
bool ae_build_kind_of(const char *file_name, enum ae_build_kind *ret);

struct ae_build_limits {
    int64_t timeout_ns;    /* for compiling, and again for linking; default 120 s */
    uint64_t memory_bytes; /* address space of each compiler process; default 8 GiB */
    uint64_t object_bytes; /* of the object file and of the shared object; default 64 MiB */
    size_t log_bytes;      /* kept of what the compiler prints; default 64 KiB */
};

struct ae_build_request {
    enum ae_build_kind kind;
    const char *name; /* for people: the path as given; never seen by the compiler */
    const void *source;
    size_t size;
    const char *const *include_dirs; /* NULL-terminated, may be NULL; read-only for the source. Their files are part of
                                      * the key. */
    const char *arch;                /* AE_BUILD_CUDA: "sm_90" */
    struct ae_build_limits limits;   /* zeros: the defaults; not part of the key */
};

enum ae_build_status {
    AE_BUILD_DONE,
    AE_BUILD_FAILED,      /* the compiler or linker says no */
    AE_BUILD_TIMED_OUT,   /* the compiler took longer than its limit */
    AE_BUILD_TOO_LARGE,   /* the object is larger than its limit, or the compiler ran out of memory */
    AE_BUILD_REFUSED,     /* compiled, but what came out is not acceptable: verdict and detail say why */
    AE_BUILD_UNAVAILABLE, /* no such compiler here */
    AE_BUILD_HOST_ERROR,  /* ours or the machine's: no scratch space, the compiler cannot be started */
};

struct ae_build_result {
    enum ae_build_status status;
    enum ae_verdict verdict;     /* AE_PASS: an object is there; else compile_error, bad_interface, violation, not_run
                                  * or host_error */
    enum ae_violation violation; /* AE_STATIC_ARENA or none */
    char detail[1024];           /* the sentence for the author: the first error line, what is refused and the mend */
    char *log;                   /* what compiler and linker printed, NUL-terminated; NULL: nothing */

    char *object;              /* path of the shared object; NULL where there is none */
    bool temporary;            /* the cache could not take it: release removes it */
    bool cached;               /* found in the cache, nothing was compiled */
    char uncached_reason[512]; /* where temporary: what to do about the cache */
    char source_hash[AE_SHA256_HEX];
    char key[AE_SHA256_HEX]; /* name of the object in the cache */
    char *key_text;          /* all that the object depends on, one "name value" a line */

    int64_t compile_ns;    /* wall time of compiling and linking; 0: cached */
    int constructors;      /* code of the submission that runs when the object is loaded, ifunc resolvers included */
    uint64_t static_bytes; /* writable static storage of the submission */
    uint64_t layers;       /* AE_PROC_* of the compiler's sandbox; 0: cached */
};

void ae_build_result_release(struct ae_build_result *result);

/* Builds one. Always fills *ret, to be released; returns AE_OK but for a request that makes no sense (AE_E_USAGE) or
 * lack of memory: a source that does not compile is a result, not an error. cache may be NULL: the object is then
 * temporary. */
int ae_build(const struct ae_toolchain *toolchain, struct ae_cache *cache, const struct ae_build_request *request,
             struct ae_build_result *ret, struct ae_error *err);

/* The same for many, at most `jobs` compilers at a time (0: as many as there are processors to run on). results has
 * room for count; all are filled, or none where an error is returned. */
int ae_build_many(const struct ae_toolchain *toolchain, struct ae_cache *cache,
                  const struct ae_build_request *requests, size_t count, int jobs, struct ae_build_result *results,
                  struct ae_error *err);

#endif
