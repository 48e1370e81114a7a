/* Bytes as text (RFC 4648, section 4, with padding). */
#ifndef AE_BASE_BASE64_H
#define AE_BASE_BASE64_H

#include <stddef.h>

/* NULL: no memory. The caller frees it. */
char *ae_base64_encode(const void *data, size_t size);
/* The bytes, followed by a NUL that *ret_size does not count; NULL where text is no base64, or no memory. */
char *ae_base64_decode(const char *text, size_t *ret_size);

#endif
