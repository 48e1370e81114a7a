/* What an object file says about itself, read as hostile input: every offset, size and index is checked against the
 * bytes at hand, and the work is bounded by their number. x86-64 and AArch64, 64-bit, little-endian. */
#ifndef AE_BUILD_ELF_H
#define AE_BUILD_ELF_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ae_elf_entry_state {
    AE_ELF_ENTRY_NONE,
    AE_ELF_ENTRY_FUNCTION,
    AE_ELF_ENTRY_MANGLED, /* there is only a C++ function of that name */
    AE_ELF_ENTRY_OBJECT,  /* a variable has that name */
    AE_ELF_ENTRY_LOCAL,   /* a function, but static or hidden */
    AE_ELF_ENTRY_IFUNC,
};

#define AE_ELF_NAME 128

struct ae_elf_facts {
    bool shared; /* ET_DYN; else relocatable */
    enum ae_elf_entry_state entry;     /* solution_compute */
    char refused[AE_ELF_NAME];         /* first definition of a name that belongs to a library; "": none */
    const char *refused_owner;         /* "the C library", "the CUDA runtime", ... */
    int constructors;                  /* of relocatable files: entries of .init_array and its kin, and ifuncs */
    bool registers_kernels;            /* of nvcc's making: one of the constructors is the compiler's own */
    int ifuncs;
    uint64_t static_bytes;             /* writable, allocated sections and common symbols; read-only after relocation
                                        * does not count */
    bool executable_stack;             /* asked for */
    bool writable_code;                /* a section or segment both writable and executable */
    bool run_path;                     /* DT_RPATH or DT_RUNPATH, or other entries that make the loader look elsewhere
                                        * or run more (DT_AUDIT, DT_FILTER, DT_AUXILIARY, DT_PREINIT_ARRAY) */
    char needed_refused[AE_ELF_NAME];  /* first DT_NEEDED outside the allow list; "": none */
    char exported[AE_ELF_NAME];        /* of shared ones: first exported definition that is neither solution_compute nor
                                        * solution_free; "": none */
};

/* AE_E_INPUT with a sentence where data is not a well-formed object. */
int ae_elf_read(const void *data, size_t size, struct ae_elf_facts *ret, struct ae_error *err);

/* Who owns a global name that a submission may not define; NULL: nobody. */
const char *ae_elf_name_owner(const char *name);

#endif
