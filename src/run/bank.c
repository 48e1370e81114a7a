#include "run/bank.h"

#include "base/file.h"
#include "base/hash.h"

#include <fcntl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct ae_bank_plan plans[AE_SIZE_COUNT] = {
    [AE_SMALL] = {.fresh = 4, .timed = 16, .twin = 1, .groups = 4, .trials_per_group = 4, .first_trials = 8, .practice = 3},
    [AE_MEDIUM] = {.fresh = 3, .timed = 10, .twin = 1, .groups = 3, .trials_per_group = 4, .first_trials = 8, .practice = 2},
    [AE_LARGE] = {.fresh = 2, .timed = 4, .twin = 1, .groups = 2, .trials_per_group = 2, .first_trials = 4, .practice = 1},
};

const struct ae_bank_plan *ae_bank_plan(enum ae_size size)
{
    return &plans[size];
}

static int find_folder(char *ret, size_t size, const char *folder, struct ae_error *err)
{
    const char *home;
    if (folder || ((folder = getenv("ACCELEVAL_BANK")) && *folder))
        snprintf(ret, size, "%s", folder);
    else if ((home = getenv("XDG_DATA_HOME")) && *home)
        snprintf(ret, size, "%s/acceleval", home);
    else if ((home = getenv("HOME")) && *home)
        snprintf(ret, size, "%s/.local/share/acceleval", home);
    else
        return ae_error_set(err, AE_E_ENV, "HOME is not set: say where the bank may live with ACCELEVAL_BANK=FOLDER");
    return AE_OK;
}

static int draw(struct ae_bank *bank, struct ae_error *err)
{
    char path[600];
    int rc = ae_random_bytes(bank->secret, sizeof bank->secret, err);
    if (rc == AE_OK)
        rc = ae_folder_make(bank->folder, err);
    if (rc != AE_OK)
        return rc;
    snprintf(path, sizeof path, "%s/bank.secret", bank->folder);
    /* ae_file_write makes files readable for all: this one is made by hand, and linked in only when complete, so
     * that of two first runs at once both end up with the same secret. */
    char temporary[640];
    snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    const int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return ae_error_errno(err, AE_E_IO, errno, "cannot write the bank in %s", bank->folder);
    const bool written = ae_write_all(fd, bank->secret, sizeof bank->secret) == 0 && fsync(fd) == 0;
    const int saved = errno;
    (void)close(fd);
    if (!written) {
        (void)unlink(temporary);
        return ae_error_errno(err, AE_E_IO, saved, "cannot write the bank in %s", bank->folder);
    }
    const bool linked = link(temporary, path) == 0;
    const int link_errno = errno;
    (void)unlink(temporary);
    if (!linked && link_errno != EEXIST)
        return ae_error_errno(err, AE_E_IO, link_errno, "cannot write the bank in %s", bank->folder);
    return AE_OK;
}

static int read_secret(struct ae_bank *bank, struct ae_error *err)
{
    char path[600];
    struct ae_bytes bytes = {0};
    snprintf(path, sizeof path, "%s/bank.secret", bank->folder);
    const int rc = ae_file_read(path, 4096, &bytes, err);
    if (rc != AE_OK)
        return rc;
    const bool right = bytes.size == sizeof bank->secret;
    if (right)
        memcpy(bank->secret, bytes.data, sizeof bank->secret);
    ae_bytes_release(&bytes);
    struct stat entry;
    if (right && stat(path, &entry) == 0 && (entry.st_mode & (S_IRWXG | S_IRWXO)))
        return ae_error_set(err, AE_E_INPUT,
                            "%s can be read by other users: 'chmod 600' it if none has, 'acceleval bank renew' otherwise",
                            path);
    return right ? AE_OK
                 : ae_error_set(err, AE_E_INPUT, "%s is damaged; 'acceleval bank renew' draws a new bank", path);
}

/* What the file system refused, with the way around it. */
static int no_place(const struct ae_error *reason, struct ae_error *err)
{
    return ae_error_set(err, reason->code, "no place for the bank: %s; set ACCELEVAL_BANK to a folder of yours",
                        reason->text);
}

static int open_bank(struct ae_bank *ret, const char *folder, bool may_draw, struct ae_error *err)
{
    char digest[AE_SHA256_HEX];
    *ret = (struct ae_bank){0};
    int rc = ae_sha256("", 0, digest, err); /* seeds are digests: without SHA-256 there is no bank */
    if (rc == AE_OK)
        rc = find_folder(ret->folder, sizeof ret->folder, folder, err);
    if (rc != AE_OK)
        return rc;
    struct ae_error reason = {0};
    rc = read_secret(ret, &reason);
    if (rc == AE_E_NOTFOUND && may_draw) {
        rc = draw(ret, &reason);
        if (rc == AE_OK)
            rc = read_secret(ret, &reason);
    }
    if (rc == AE_E_IO)
        return no_place(&reason, err);
    return rc == AE_OK ? AE_OK : ae_error_set(err, rc, "%s", reason.text);
}

int ae_bank_open(struct ae_bank *ret, const char *folder, struct ae_error *err)
{
    return open_bank(ret, folder, true, err);
}

int ae_bank_find(struct ae_bank *ret, const char *folder, struct ae_error *err)
{
    return open_bank(ret, folder, false, err);
}

void ae_bank_from_seed(struct ae_bank *ret, uint64_t seed)
{
    *ret = (struct ae_bank){.seeded = 1};
    memcpy(ret->secret, &seed, sizeof seed);
}

int ae_bank_renew(struct ae_bank *bank, struct ae_error *err)
{
    char path[600];
    snprintf(path, sizeof path, "%s/bank.secret", bank->folder);
    if (unlink(path) != 0 && errno != ENOENT)
        return ae_error_errno(err, AE_E_IO, errno, "cannot replace %s", path);
    return draw(bank, err);
}

uint64_t ae_bank_seed(const struct ae_bank *bank, bool practice, const struct ae_task *task, enum ae_size size,
                      enum ae_trial_kind kind, int family, int number)
{
    unsigned char text[320];
    memcpy(text, bank->secret, sizeof bank->secret);
    const int n = snprintf((char *)text + sizeof bank->secret, sizeof text - sizeof bank->secret, "%s/%s/%s/%s/%d/%d",
                           practice ? "practice" : "bank", task->id, ae_size_name(size), ae_trial_kind_name(kind),
                           family, number);
    char digest[AE_SHA256_HEX] = "";
    (void)ae_sha256(text, sizeof bank->secret + (size_t)n, digest, NULL); /* proved to work when the bank was opened */
    char first[17];
    memcpy(first, digest, 16);
    first[16] = 0;
    return strtoull(first, NULL, 16);
}

void ae_bank_name(const struct ae_bank *bank, char ret[17])
{
    unsigned char text[48] = "acceleval bank ";
    memcpy(text + 15, bank->secret, sizeof bank->secret);
    char digest[AE_SHA256_HEX] = "";
    (void)ae_sha256(text, 15 + sizeof bank->secret, digest, NULL);
    memcpy(ret, digest, 16);
    ret[16] = 0;
}
