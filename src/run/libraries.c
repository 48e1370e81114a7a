#include "run/libraries.h"

#include "base/text.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name; /* up to its version */
    bool needed;
} libraries[] = {
    {"libc.so.", true},        {"libm.so.", true},     {"libstdc++.so.", true}, {"libgcc_s.so.", true}, {"libgomp.so.", true},
    {"libffi.so.", true},      {"libseccomp.so.", true}, {"libmvec.so.", false},  {"libpthread.so.", false},
    {"libdl.so.", false},      {"librt.so.", false},   {"libatomic.so.", false}, {"libquadmath.so.", false},
    {"ld-linux-", false},
#if defined(__SANITIZE_ADDRESS__)
    {"libasan.so.", true},     {"libubsan.so.", true},
#endif
};

#define COUNT (sizeof libraries / sizeof *libraries)

static void add(struct ae_libraries *list, bool found[COUNT], const char *folder)
{
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        for (size_t i = 0; i < COUNT; i++) {
            if (!ae_text_starts(entry->d_name, libraries[i].name) || list->count == AE_LIBRARIES_MAX)
                continue;
            char *path = list->path[list->count];
            const int n = snprintf(path, sizeof list->path[0], "%s/%s", folder, entry->d_name);
            if (n > 0 && (size_t)n < sizeof list->path[0]) {
                list->count++;
                found[i] = true;
            }
        }
    if (dir)
        (void)closedir(dir);
}

/* Debian's folders for each architecture. */
static void add_below(struct ae_libraries *list, bool found[COUNT], const char *folder)
{
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char path[300];
        if (strstr(entry->d_name, "-linux-gnu")) {
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            add(list, found, path);
        }
    }
    if (dir)
        (void)closedir(dir);
}

bool ae_libraries_find(struct ae_libraries *ret)
{
    static const char *const folders[] = {"/lib", "/lib64", "/usr/lib", "/usr/lib64"};
    bool found[COUNT] = {false};
    ret->count = 0;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        add(ret, found, folders[i]);
        add_below(ret, found, folders[i]);
    }
    for (size_t i = 0; i < COUNT; i++)
        if (libraries[i].needed && !found[i])
            return false;
    return ret->count < AE_LIBRARIES_MAX;
}
