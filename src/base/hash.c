#include "base/hash.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

static void to_hex(const unsigned char *bytes, size_t size, char *hex)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < size; i++) {
        hex[2 * i] = digits[bytes[i] >> 4];
        hex[2 * i + 1] = digits[bytes[i] & 15];
    }
    hex[2 * size] = 0;
}

static void cleanup_context(EVP_MD_CTX *const *context)
{
    EVP_MD_CTX_free(*context);
}
#define autocontext __attribute__((cleanup(cleanup_context)))

static int no_sha256(struct ae_error *err)
{
    return ae_error_set(err, AE_E_ENV, "OpenSSL offers no SHA-256 here; is its configuration damaged?");
}

static int finish(EVP_MD_CTX *context, char *ret_hex, struct ae_error *err)
{
    unsigned char bytes[EVP_MAX_MD_SIZE];
    unsigned size;
    if (!EVP_DigestFinal_ex(context, bytes, &size) || size != 32)
        return no_sha256(err);
    to_hex(bytes, size, ret_hex);
    return AE_OK;
}

int ae_sha256(const void *data, size_t size, char ret_hex[AE_SHA256_HEX], struct ae_error *err)
{
    autocontext EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (!context || !EVP_DigestInit_ex(context, EVP_sha256(), NULL) || !EVP_DigestUpdate(context, data, size))
        return no_sha256(err);
    return finish(context, ret_hex, err);
}

int ae_sha256_file(const char *path, char ret_hex[AE_SHA256_HEX], struct ae_error *err)
{
    /* O_NONBLOCK: a FIFO under that name must not hang us. */
    ae_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return ae_error_errno(err, errno == ENOENT ? AE_E_NOTFOUND : AE_E_IO, errno, "cannot open %s", path);
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return ae_error_set(err, AE_E_INPUT, "%s is not a regular file", path);
    autocontext EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (!context || !EVP_DigestInit_ex(context, EVP_sha256(), NULL))
        return no_sha256(err);
    unsigned char buffer[65536];
    for (;;) {
        const ssize_t n = read(fd, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return ae_error_errno(err, AE_E_IO, errno, "cannot read %s", path);
        if (n == 0)
            return finish(context, ret_hex, err);
        if (!EVP_DigestUpdate(context, buffer, (size_t)n))
            return no_sha256(err);
    }
}

static struct ae_digest from_xxh(XXH128_hash_t hash)
{
    return (struct ae_digest){.lo = hash.low64, .hi = hash.high64};
}

struct ae_digest ae_digest(const void *data, size_t size)
{
    return from_xxh(XXH3_128bits(data, size));
}

struct ae_hasher *ae_hasher_new(void)
{
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        return NULL;
    (void)XXH3_128bits_reset(state); /* fails on NULL only */
    return (struct ae_hasher *)state;
}

void ae_hasher_update(struct ae_hasher *hasher, const void *data, size_t size)
{
    (void)XXH3_128bits_update((XXH3_state_t *)hasher, data, size); /* fails on NULL only */
}

struct ae_digest ae_hasher_digest(const struct ae_hasher *hasher)
{
    return from_xxh(XXH3_128bits_digest((const XXH3_state_t *)hasher));
}

void ae_hasher_free(struct ae_hasher *hasher)
{
    XXH3_freeState((XXH3_state_t *)hasher);
}
