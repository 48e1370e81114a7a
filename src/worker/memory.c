/* malloc and its kin pass through here so that a refusal by the memory limit can be told from a bug: a program that
 * ignores a NULL crashes, and its author needs to hear why. The mark only ever softens `crash` to `out_of_memory`. */
#include "worker/worker.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#if !defined(__SANITIZE_ADDRESS__)

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static void *noted(void *block, size_t size)
{
    if (!block && size > 0)
        ae_worker_note_refusal();
    return block;
}

void *malloc(size_t size)
{
    return noted(__libc_malloc(size), size);
}

void *calloc(size_t count, size_t size)
{
    return noted(__libc_calloc(count, size), count && size);
}

void *realloc(void *block, size_t size)
{
    return noted(__libc_realloc(block, size), size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return noted(__libc_memalign(alignment, size), size);
}

void *memalign(size_t alignment, size_t size)
{
    return noted(__libc_memalign(alignment, size), size);
}

int posix_memalign(void **ret, size_t alignment, size_t size)
{
    if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0)
        return EINVAL;
    void *block = noted(__libc_memalign(alignment, size), size);
    if (!block)
        return ENOMEM;
    *ret = block;
    return 0;
}

#endif
