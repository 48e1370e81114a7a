#include "build/elf.h"

#include "base/text.h"

#include <elf.h>
#include <string.h>

#ifndef STB_GNU_UNIQUE
#define STB_GNU_UNIQUE 10
#endif

/* --- names that belong to others ------------------------------------------------------------------------ */

static const struct owner {
    const char *name;
    const char *const *exact;    /* NULL-terminated, or NULL */
    const char *const *prefixes; /* the same; "X?" stands for X and an upper-case letter */
} owners[] = {
    {"the C library",
     (const char *const[]){
         "memcpy", "memmove", "memset", "memcmp", "memchr", "mempcpy", "bcopy", "bzero", "strlen", "strcmp", "strncmp",
         "strcpy", "strncpy", "strcat", "strchr", "strrchr", "strstr", "strdup", "malloc", "calloc", "realloc",
         "reallocarray", "free", "aligned_alloc", "posix_memalign", "memalign", "valloc", "malloc_usable_size",
         "malloc_trim", "printf", "fprintf", "sprintf", "snprintf", "vprintf", "vfprintf", "vsnprintf", "dprintf",
         "puts", "putchar", "fputs", "fputc", "fopen", "fopen64", "fclose", "fread", "fwrite", "fflush", "fseek",
         "ftell", "fgets", "scanf", "fscanf", "sscanf", "perror", "open", "open64", "openat", "creat", "close", "read",
         "write", "pread", "pread64", "pwrite", "pwrite64", "readv", "writev", "lseek", "lseek64", "ioctl", "fcntl",
         "fcntl64", "dup", "dup2", "dup3", "pipe", "pipe2", "poll", "ppoll", "epoll_wait", "stat", "fstat", "lstat",
         "access", "unlink", "rename", "mkdir", "mmap", "mmap64", "munmap", "mremap", "mprotect", "madvise", "mlock",
         "munlock", "msync", "brk", "sbrk", "shm_open", "memfd_create", "sysconf", "syscall", "prctl", "clock_gettime",
         "clock_getres", "clock_nanosleep", "nanosleep", "usleep", "sleep", "gettimeofday", "time", "clock", "times",
         "getrusage", "clock_settime", "settimeofday", "getpid", "getppid", "gettid", "fork", "vfork", "clone",
         "execve", "execv", "execvp", "posix_spawn", "system", "popen", "wait", "waitpid", "wait4", "kill", "raise",
         "abort", "exit", "_exit", "_Exit", "quick_exit", "atexit", "on_exit", "signal", "sigaction", "sigprocmask",
         "setjmp", "longjmp", "getenv", "setenv", "putenv", "unsetenv", "environ", "qsort", "bsearch", "rand", "srand",
         "random", "srandom", "getrandom", "dlopen", "dlsym", "dlvsym", "dlclose", "dlerror", "dladdr", "dlmopen",
         "dlinfo", "dl_iterate_phdr", "sched_yield", "sched_setaffinity", "sched_getaffinity", "sem_post", "sem_wait",
         "socket", "connect", "bind", "listen", "accept", "send", "recv", "sendto", "recvfrom", "sendmsg", "recvmsg",
         "errno", "__errno_location", "stdout", "stderr", "stdin", "secure_getenv", "mallopt", "fileno", "fdopen",
         "ftruncate", "truncate", "assert", "__assert_fail", "__stack_chk_fail", "thrd_create", "mtx_lock", NULL},
     (const char *const[]){"__libc_", "_dl_", "_IO_", "__GI_", NULL}},
    {"the C library", NULL, (const char *const[]){"__memcpy", "__memset", "__memmove", "__fprintf", "__printf", "__vfprintf",
                                                  "__sprintf", "__snprintf", "__isoc", "__clock_", "__read", "__write",
                                                  "__open", NULL}},
    {"the thread library", NULL, (const char *const[]){"pthread_", "__pthread_", NULL}},
    {"the OpenMP runtime", NULL, (const char *const[]){"omp_", "GOMP_", "gomp_", "ompt_", "__kmpc_", NULL}},
    {"the C++ runtime", NULL, (const char *const[]){"__cxa_", "__gxx_personality", "_Unwind_", "__gcc_personality", NULL}},
    {"the call library", NULL, (const char *const[]){"ffi_", NULL}},
    {"the CUDA runtime", NULL, (const char *const[]){"cuda?", "__cuda", "__fatbin", NULL}},
    {"the CUDA driver", NULL, (const char *const[]){"cu?", "nvml?", "cupti?", NULL}},
    {"the CUDA toolkit's libraries", NULL,
     (const char *const[]){"cublas", "cusparse", "cusolver", "cufft", "curand?", "nvrtc?", "nvJitLink", "cudnn?", "nccl?", NULL}},
    {"the loader", (const char *const[]){"_init", "_fini", "__dso_handle", "_GLOBAL_OFFSET_TABLE_", "__tls_get_addr", NULL},
     NULL},
};

static bool has_prefix(const char *name, const char *prefix)
{
    const size_t n = strlen(prefix);
    if (prefix[n - 1] == '?')
        return strncmp(name, prefix, n - 1) == 0 && name[n - 1] >= 'A' && name[n - 1] <= 'Z';
    return strncmp(name, prefix, n) == 0;
}

const char *ae_elf_name_owner(const char *name)
{
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++) {
        for (const char *const *exact = owners[i].exact; exact && *exact; exact++)
            if (strcmp(name, *exact) == 0)
                return owners[i].name;
        for (const char *const *prefix = owners[i].prefixes; prefix && *prefix; prefix++)
            if (has_prefix(name, *prefix))
                return owners[i].name;
    }
    return NULL;
}

static bool may_be_needed(const char *library)
{
    static const char *const allowed[] = {
        "libc.so.", "libm.so.", "libmvec.so.", "libgomp.so.", "libstdc++.so.", "libgcc_s.so.", "libpthread.so.", "libdl.so.",
        "librt.so.", "ld-linux-x86-64.so.", "ld-linux-aarch64.so.", "libatomic.so.", "libquadmath.so.", "libcuda.so.",
        "libcudart.so.", "libcublas.so.", "libcublasLt.so.", "libcusparse.so.", "libcusolver.so.", "libcufft.so.",
        "libcurand.so.", "libnvJitLink.so.", "libnvrtc.so.", NULL};
    for (const char *const *a = allowed; *a; a++)
        if (ae_text_starts(library, *a) && !strchr(library, '/'))
            return true;
    return false;
}

/* --- reading with bounds -------------------------------------------------------------------------------- */

struct image {
    const unsigned char *data;
    uint64_t size;
    Elf64_Ehdr header;
    uint64_t sections; /* number; all headers lie within the data */
    uint64_t names;    /* index of the section with the sections' names */
};

static bool within(const struct image *image, uint64_t at, uint64_t size)
{
    return at <= image->size && size <= image->size - at;
}

/* A copy, since nothing in a hostile file need be aligned. */
static bool copy(const struct image *image, uint64_t at, void *ret, size_t size)
{
    if (!within(image, at, size))
        return false;
    memcpy(ret, image->data + at, size);
    return true;
}

static bool section(const struct image *image, uint64_t index, Elf64_Shdr *ret)
{
    return index < image->sections && copy(image, image->header.e_shoff + index * sizeof *ret, ret, sizeof *ret);
}

/* A NUL-terminated text inside a string section; NULL where it is none. */
static const char *text_at(const struct image *image, const Elf64_Shdr *strings, uint64_t offset)
{
    if (strings->sh_type != SHT_STRTAB || !within(image, strings->sh_offset, strings->sh_size) || offset >= strings->sh_size)
        return NULL;
    const char *text = (const char *)image->data + strings->sh_offset + offset;
    return memchr(text, 0, strings->sh_size - offset) ? text : NULL;
}

static int malformed(struct ae_error *err, const char *what)
{
    return ae_error_set(err, AE_E_INPUT, "the compiler's output is not a sound object file: %s", what);
}

static int open_image(struct image *image, struct ae_error *err)
{
    Elf64_Ehdr *h = &image->header;
    if (!copy(image, 0, h, sizeof *h) || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
        return malformed(err, "no ELF header");
    if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB ||
        (h->e_machine != EM_X86_64 && h->e_machine != EM_AARCH64) || (h->e_type != ET_REL && h->e_type != ET_DYN))
        return malformed(err, "another machine or kind of file");
    if (h->e_shoff == 0 || h->e_shentsize != sizeof(Elf64_Shdr))
        return malformed(err, "no sections");
    Elf64_Shdr first; /* holds what does not fit the header's 16 bits */
    if (!copy(image, h->e_shoff, &first, sizeof first))
        return malformed(err, "sections beyond the end");
    image->sections = h->e_shnum ? h->e_shnum : first.sh_size;
    if (image->sections == 0 || image->sections > (image->size - h->e_shoff) / sizeof(Elf64_Shdr))
        return malformed(err, "sections beyond the end");
    image->names = h->e_shstrndx == SHN_XINDEX ? first.sh_link : h->e_shstrndx;
    return AE_OK;
}

/* --- facts ---------------------------------------------------------------------------------------------- */

static void note_name(char ret[AE_ELF_NAME], const char *name)
{
    if (!ret[0]) {
        size_t n = strnlen(name, AE_ELF_NAME - 1);
        for (size_t i = 0; i < n; i++) /* it is printed */
            ret[i] = name[i] > ' ' && name[i] < 127 ? name[i] : '?';
        ret[n] = 0;
    }
}

static void read_entry(struct ae_elf_facts *facts, const Elf64_Sym *symbol)
{
    const unsigned type = ELF64_ST_TYPE(symbol->st_info), bind = ELF64_ST_BIND(symbol->st_info);
    const unsigned visibility = ELF64_ST_VISIBILITY(symbol->st_other);
    enum ae_elf_entry_state state = AE_ELF_ENTRY_OBJECT;
    if (type == STT_GNU_IFUNC)
        state = AE_ELF_ENTRY_IFUNC;
    else if (type == STT_FUNC)
        state = bind == STB_LOCAL || visibility == STV_HIDDEN || visibility == STV_INTERNAL ? AE_ELF_ENTRY_LOCAL
                                                                                           : AE_ELF_ENTRY_FUNCTION;
    if (facts->entry == AE_ELF_ENTRY_NONE || facts->entry == AE_ELF_ENTRY_MANGLED || state == AE_ELF_ENTRY_FUNCTION)
        facts->entry = state;
}

static void read_symbol(struct ae_elf_facts *facts, const Elf64_Sym *symbol, const char *full_name)
{
    char name[512]; /* without the version: memcpy@@GLIBC_2.14 */
    const size_t n = strcspn(full_name, "@");
    if (symbol->st_shndx == SHN_UNDEF || n == 0)
        return;
    if (n >= sizeof name) /* C++ makes them that long; nobody's library does */
        return;
    memcpy(name, full_name, n);
    name[n] = 0;
    const unsigned type = ELF64_ST_TYPE(symbol->st_info), bind = ELF64_ST_BIND(symbol->st_info);
    if (type == STT_GNU_IFUNC) {
        facts->ifuncs++;
        if (!facts->shared)
            facts->constructors++;
    }
    if (symbol->st_shndx == SHN_COMMON || type == STT_COMMON)
        facts->static_bytes += symbol->st_size;
    if (strcmp(name, "solution_compute") == 0)
        read_entry(facts, symbol);
    else if (facts->entry == AE_ELF_ENTRY_NONE && type == STT_FUNC && strncmp(name, "_Z", 2) == 0 &&
             strstr(name, "16solution_compute"))
        facts->entry = AE_ELF_ENTRY_MANGLED;
    if (bind == STB_LOCAL || type == STT_FILE || type == STT_SECTION)
        return;
    if (!facts->shared && !facts->refused[0]) {
        const char *owner = ae_elf_name_owner(name);
        if (owner) {
            note_name(facts->refused, name);
            facts->refused_owner = owner;
        }
    }
    if (facts->shared && strcmp(name, "solution_compute") != 0 && strcmp(name, "solution_free") != 0)
        note_name(facts->exported, name);
    }

static int read_symbols(const struct image *image, const Elf64_Shdr *table, struct ae_elf_facts *facts, struct ae_error *err)
{
    Elf64_Shdr strings;
    if (table->sh_entsize != sizeof(Elf64_Sym) || !within(image, table->sh_offset, table->sh_size) ||
        !section(image, table->sh_link, &strings))
        return malformed(err, "its symbol table lies beyond the end");
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table->sh_size; at += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;
        memcpy(&symbol, image->data + table->sh_offset + at, sizeof symbol);
        if (symbol.st_name == 0)
            continue;
        const char *name = text_at(image, &strings, symbol.st_name);
        if (!name)
            return malformed(err, "the name of a symbol lies beyond the end");
        read_symbol(facts, &symbol, name);
    }
    return AE_OK;
}

static int read_dynamic(const struct image *image, const Elf64_Shdr *table, struct ae_elf_facts *facts, struct ae_error *err)
{
    Elf64_Shdr strings;
    if (!within(image, table->sh_offset, table->sh_size) || !section(image, table->sh_link, &strings))
        return malformed(err, "its dynamic section lies beyond the end");
    for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= table->sh_size; at += sizeof(Elf64_Dyn)) {
        Elf64_Dyn entry;
        memcpy(&entry, image->data + table->sh_offset + at, sizeof entry);
        switch (entry.d_tag) {
        case DT_NULL:
            return AE_OK;
        case DT_NEEDED: {
            const char *library = text_at(image, &strings, entry.d_un.d_val);
            if (!library)
                return malformed(err, "the name of a library lies beyond the end");
            if (!may_be_needed(library))
                note_name(facts->needed_refused, library);
            break;
        }
        case DT_RPATH:
        case DT_RUNPATH:
        case DT_AUDIT:
        case DT_DEPAUDIT:
        case DT_FILTER:
        case DT_AUXILIARY:
        case DT_PREINIT_ARRAY:
            facts->run_path = true;
            break;
        default:
            break;
        }
    }
    return AE_OK;
}

static bool named(const char *name, const char *base)
{
    const size_t n = strlen(base);
    return strncmp(name, base, n) == 0 && (name[n] == 0 || name[n] == '.');
}

static void read_section(const Elf64_Shdr *s, const char *name, struct ae_elf_facts *facts)
{
    if (!(s->sh_flags & SHF_ALLOC))
        return;
    if ((s->sh_flags & SHF_WRITE) && (s->sh_flags & SHF_EXECINSTR))
        facts->writable_code = true;
    const bool runs = s->sh_type == SHT_INIT_ARRAY || s->sh_type == SHT_PREINIT_ARRAY || named(name, ".init_array") ||
                      named(name, ".preinit_array") || named(name, ".ctors");
    if (runs && !facts->shared && s->sh_size / sizeof(Elf64_Addr) < 1000000)
        facts->constructors += (int)(s->sh_size / sizeof(Elf64_Addr));
    if (strcmp(name, ".init") == 0 && !facts->shared && s->sh_size > 0)
        facts->constructors++;
    const bool ends = s->sh_type == SHT_FINI_ARRAY || named(name, ".fini_array") || named(name, ".dtors");
    /* .data.rel.ro is read-only once it is relocated. */
    if ((s->sh_flags & SHF_WRITE) && !runs && !ends && !named(name, ".data.rel.ro"))
        facts->static_bytes += s->sh_size > UINT64_MAX / 65536 ? UINT64_MAX / 65536 : s->sh_size;
}

static int read_segments(const struct image *image, struct ae_elf_facts *facts, struct ae_error *err)
{
    const Elf64_Ehdr *h = &image->header;
    if (h->e_phentsize != sizeof(Elf64_Phdr) || !within(image, h->e_phoff, (uint64_t)h->e_phnum * sizeof(Elf64_Phdr)))
        return malformed(err, "its segments lie beyond the end");
    facts->executable_stack = true; /* what the loader takes the lack of a word for */
    for (unsigned i = 0; i < h->e_phnum; i++) {
        Elf64_Phdr p;
        memcpy(&p, image->data + h->e_phoff + i * sizeof p, sizeof p);
        if (p.p_type == PT_GNU_STACK)
            facts->executable_stack = (p.p_flags & PF_X) != 0;
        if (p.p_type == PT_LOAD && (p.p_flags & PF_W) && (p.p_flags & PF_X))
            facts->writable_code = true;
    }
    return AE_OK;
}

int ae_elf_read(const void *data, size_t size, struct ae_elf_facts *ret, struct ae_error *err)
{
    struct image image = {.data = data, .size = size};
    int rc = open_image(&image, err);
    if (rc != AE_OK)
        return rc;
    struct ae_elf_facts facts = {.shared = image.header.e_type == ET_DYN};
    Elf64_Shdr names;
    if (!section(&image, image.names, &names))
        return malformed(err, "no names of sections");
    unsigned symbol_tables = 0, dynamics = 0;
    for (uint64_t i = 1; i < image.sections; i++) {
        Elf64_Shdr s;
        if (!section(&image, i, &s))
            return malformed(err, "sections beyond the end");
        const char *name = text_at(&image, &names, s.sh_name);
        if (!name)
            return malformed(err, "the name of a section lies beyond the end");
        if (s.sh_type != SHT_NOBITS && s.sh_type != SHT_NULL && !within(&image, s.sh_offset, s.sh_size))
            return malformed(err, "a section lies beyond the end");
        read_section(&s, name, &facts);
        if (!facts.shared && strcmp(name, ".note.GNU-stack") == 0 && (s.sh_flags & SHF_EXECINSTR))
            facts.executable_stack = true;
        if (strcmp(name, ".nvFatBinSegment") == 0)
            facts.registers_kernels = true;
        if (s.sh_type == (facts.shared ? SHT_DYNSYM : SHT_SYMTAB)) {
            /* One each is what there can be; more would multiply the work. */
            if (++symbol_tables > 1)
                return malformed(err, "two symbol tables");
            rc = read_symbols(&image, &s, &facts, err);
        } else if (facts.shared && s.sh_type == SHT_DYNAMIC) {
            if (++dynamics > 1)
                return malformed(err, "two dynamic sections");
            rc = read_dynamic(&image, &s, &facts, err);
        }
        if (rc != AE_OK)
            return rc;
    }
    if (facts.shared && (rc = read_segments(&image, &facts, err)) != AE_OK)
        return rc;
    *ret = facts;
    return AE_OK;
}
