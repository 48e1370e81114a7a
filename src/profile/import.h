/* What `acceleval profile --json` wrote, read back. The text may be anybody's: it is held to the schema, numbers to what
 * they can be, and names to printable ones. */
#ifndef AE_PROFILE_IMPORT_H
#define AE_PROFILE_IMPORT_H

#include "profile/profile.h"

#define AE_PROFILES_TEXT_MAX ((size_t)16 << 20)
#define AE_PROFILES_MAX      1024

struct ae_profile_record {
    char task[64], source[512];     /* "" where it does not say */
    char submission[AE_SHA256_HEX]; /* of the source's bytes; "" of an older version */
    enum ae_size size;
    bool traced;                        /* of the device: facts hold what it did */
    struct ae_facts facts;              /* phases, copies, kernels, overlap; the rest is not written, and 0 */
    struct ae_explanation explanation;  /* phases and the first sentences */
};

/* One object, or an array of them; those that no call was explained of are passed over. Free *ret. AE_E_INPUT, AE_E_NOMEM. */
int ae_profiles_read(const char *text, size_t size, struct ae_profile_record **ret, size_t *ret_count,
                     struct ae_error *err);

#endif
