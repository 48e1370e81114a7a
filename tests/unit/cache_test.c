/* The store: what goes in comes out, what is damaged does not, and two processes do not disturb each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "cache/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char root[64];
static struct ae_cache *cache;

static int set_up(void **state)
{
    (void)state;
    strcpy(root, "/tmp/ae-cache-XXXXXX");
    return !mkdtemp(root) || ae_cache_open(&cache, root, NULL) != AE_OK;
}

static int tear_down(void **state)
{
    (void)state;
    ae_cache_free(cache);
    return ae_folder_remove(root, NULL);
}

static void put_text(const char *key, const char *text)
{
    struct ae_error err = {0};
    char copy[256];
    snprintf(copy, sizeof copy, "%s", text);
    if (ae_cache_put(cache, "object", key, &(struct iovec){copy, strlen(copy)}, 1, &err) != AE_OK)
        fail_msg("%s", err.text);
}

static void test_round(void **state)
{
    (void)state;
    struct ae_cache_entry entry;
    struct ae_error err = {0};
    assert_int_equal(ae_cache_get(cache, "object", "k", &entry, &err), AE_E_NOTFOUND);
    char a[] = "one ", b[] = "two";
    const struct iovec pieces[] = {{a, 4}, {NULL, 0}, {b, 3}};
    assert_int_equal(ae_cache_put(cache, "object", "k", pieces, 3, &err), AE_OK);
    assert_int_equal(ae_cache_get(cache, "object", "k", &entry, &err), AE_OK);
    assert_int_equal(entry.size, 7);
    assert_memory_equal(entry.data, "one two", 7);
    assert_int_equal((uintptr_t)entry.data % 4096, 0);
    char *text = NULL;
    assert_int_equal(ae_cache_key_text(entry.path, &text, &err), AE_OK);
    assert_string_equal(text, "k");
    free(text);
    struct stat st;
    assert_int_equal(stat(root, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    /* still readable after it was replaced and removed */
    put_text("k", "other");
    assert_int_equal(ae_cache_remove(cache, "object", "k", &err), AE_OK);
    assert_memory_equal(entry.data, "one two", 7);
    ae_cache_entry_release(&entry);
    assert_int_equal(ae_cache_get(cache, "object", "k", &entry, &err), AE_E_NOTFOUND);
    assert_int_equal(ae_cache_put(cache, "object", "empty", NULL, 0, &err), AE_OK);
    assert_int_equal(ae_cache_get(cache, "object", "empty", &entry, &err), AE_OK);
    assert_int_equal(entry.size, 0);
    ae_cache_entry_release(&entry);
    assert_int_equal(ae_cache_get(cache, "../object", "k", &entry, &err), AE_E_USAGE);
}

static void path_of(const char *key, char *path)
{
    struct ae_cache_entry entry;
    assert_int_equal(ae_cache_get(cache, "object", key, &entry, NULL), AE_OK);
    strcpy(path, entry.path);
    ae_cache_entry_release(&entry);
}

/* Every single damaged byte of an entry and every cut is noticed, and the entry can be made again. */
static void test_damage(void **state)
{
    (void)state;
    put_text("key", "payload");
    char path[AE_CACHE_PATH];
    path_of("key", path);
    struct ae_bytes whole;
    assert_int_equal(ae_file_read(path, 4096, &whole, NULL), AE_OK);
    struct ae_cache_entry entry;
    for (size_t i = 0; i < whole.size; i++) {
        whole.data[i] ^= 0x10;
        assert_int_equal(ae_file_write(path, whole.data, whole.size, NULL), AE_OK);
        whole.data[i] ^= 0x10;
        assert_int_equal(ae_cache_get(cache, "object", "key", &entry, NULL), AE_E_NOTFOUND);
        assert_false(ae_file_exists(path));
        assert_int_equal(ae_file_write(path, whole.data, i, NULL), AE_OK);
        assert_int_equal(ae_cache_get(cache, "object", "key", &entry, NULL), AE_E_NOTFOUND);
    }
    /* an entry under another's name */
    put_text("other", "payload");
    char other[AE_CACHE_PATH];
    path_of("other", other);
    assert_int_equal(ae_file_write(other, whole.data, whole.size, NULL), AE_OK);
    assert_int_equal(ae_cache_get(cache, "object", "other", &entry, NULL), AE_E_NOTFOUND);
    put_text("key", "again");
    assert_int_equal(ae_cache_get(cache, "object", "key", &entry, NULL), AE_OK);
    assert_memory_equal(entry.data, "again", 5);
    ae_cache_entry_release(&entry);
    ae_bytes_release(&whole);
}

/* Writers of different contents and readers at once: whoever reads sees one of them, whole. */
static void test_concurrent(void **state)
{
    (void)state;
    enum { size = 100000 };
    pid_t pids[4];
    for (int p = 0; p < 4; p++) {
        pids[p] = fork();
        assert_true(pids[p] >= 0);
        if (pids[p] > 0)
            continue;
        char *data = malloc(size);
        int bad = !data;
        for (int i = 0; i < 50 && !bad; i++) {
            memset(data, 'a' + p, size);
            bad |= ae_cache_put(cache, "object", "shared", &(struct iovec){data, size}, 1, NULL) != AE_OK;
            struct ae_cache_entry entry;
            bad |= ae_cache_get(cache, "object", "shared", &entry, NULL) != AE_OK;
            if (bad)
                break;
            const char *seen = entry.data;
            for (size_t k = 1; k < size; k++)
                bad |= seen[k] != seen[0];
            ae_cache_entry_release(&entry);
        }
        _exit(bad);
    }
    for (int p = 0; p < 4; p++) {
        int status;
        assert_int_equal(waitpid(pids[p], &status, 0), pids[p]);
        assert_int_equal(status, 0);
    }
}

static int count(const struct ae_cache_stat *stat, void *context)
{
    (void)stat;
    ++*(int *)context;
    return 0;
}

static void test_prune(void **state)
{
    (void)state;
    char path[AE_CACHE_PATH];
    for (int i = 0; i < 6; i++) {
        char key[8];
        snprintf(key, sizeof key, "k%d", i);
        put_text(key, "0123456789");
        path_of(key, path);
        const struct timespec times[2] = {{1000 + i, 0}, {1000 + i, 0}};
        assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    }
    path_of("k0", path); /* used now */
    char left[AE_CACHE_PATH];
    snprintf(left, sizeof left, "%.*s" "/.tmp-abcdef", (int)(strrchr(path, '/') - path), path);
    assert_int_equal(ae_file_write(left, "x", 1, NULL), AE_OK);
    const struct timespec old[2] = {{1000, 0}, {1000, 0}};
    assert_int_equal(utimensat(AT_FDCWD, left, old, 0), 0);
    int entries = 0;
    assert_int_equal(ae_cache_each(cache, "object", count, &entries, NULL), 0);
    assert_int_equal(entries, 6);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    struct ae_cache_pruned pruned;
    assert_int_equal(ae_cache_prune(cache, NULL, 3 * (uint64_t)st.st_size, &pruned, NULL), AE_OK);
    assert_int_equal(pruned.kept_files, 3);
    assert_int_equal(pruned.removed_files, 3);
    assert_false(ae_file_exists(left));
    struct ae_cache_entry entry;
    const int kept[] = {1, 0, 0, 0, 1, 1}; /* the one just used and the two newest */
    for (int i = 0; i < 6; i++) {
        char key[8];
        snprintf(key, sizeof key, "k%d", i);
        assert_int_equal(ae_cache_get(cache, "object", key, &entry, NULL), kept[i] ? AE_OK : AE_E_NOTFOUND);
        if (kept[i])
            ae_cache_entry_release(&entry);
    }
    assert_int_equal(ae_cache_prune(cache, "object", 0, &pruned, NULL), AE_OK);
    assert_int_equal(pruned.removed_files, 3);
}

static void test_trouble(void **state)
{
    (void)state;
    struct ae_error err = {0};
    /* a full disk, as far as the kernel tells it apart from a file that may not grow */
    const struct rlimit small = {100, RLIM_INFINITY};
    struct rlimit old;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    char data[1000] = {0};
    const int rc = ae_cache_put(cache, "object", "big", &(struct iovec){data, sizeof data}, 1, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    (void)signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(rc, AE_E_IO);
    assert_non_null(strstr(err.text, "ACCELEVAL_CACHE"));
    int entries = 0;
    struct ae_cache_pruned pruned;
    assert_int_equal(ae_cache_prune(cache, NULL, 1 << 20, &pruned, NULL), AE_OK);
    assert_int_equal(ae_cache_each(cache, NULL, count, &entries, NULL), 0);
    assert_int_equal(entries, 0);
    /* a root that cannot be made: gets miss, puts say why */
    struct ae_cache *none;
    assert_int_equal(ae_cache_open(&none, "/proc/no/such/place", &err), AE_OK);
    assert_false(ae_cache_writable(none, &err));
    struct ae_cache_entry entry;
    assert_int_equal(ae_cache_get(none, "object", "k", &entry, &err), AE_E_NOTFOUND);
    assert_int_equal(ae_cache_put(none, "object", "k", NULL, 0, &err), AE_E_IO);
    assert_non_null(strstr(err.text, "ACCELEVAL_CACHE"));
    ae_cache_free(none);
    /* one that others may write to */
    assert_int_equal(chmod(root, 0777), 0);
    assert_int_equal(ae_cache_open(&none, root, &err), AE_E_ENV);
    assert_int_equal(chmod(root, 0700), 0);
}

static void test_root(void **state)
{
    (void)state;
    struct ae_cache *named;
    char path[128];
    assert_int_equal(setenv("ACCELEVAL_CACHE", "", 1), 0);
    assert_int_equal(setenv("XDG_CACHE_HOME", root, 1), 0);
    assert_int_equal(ae_cache_open(&named, NULL, NULL), AE_OK);
    snprintf(path, sizeof path, "%s/acceleval", root);
    assert_string_equal(ae_cache_root(named), path);
    ae_cache_free(named);
    snprintf(path, sizeof path, "%s/own", root);
    assert_int_equal(setenv("ACCELEVAL_CACHE", path, 1), 0);
    assert_int_equal(ae_cache_open(&named, NULL, NULL), AE_OK);
    assert_string_equal(ae_cache_root(named), path);
    ae_cache_free(named);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damage, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_concurrent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_prune, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_trouble, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_root, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("cache", tests, NULL, NULL);
}
