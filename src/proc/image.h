/* The supervisor's program, built from init.c and embedded in the library. */
#ifndef AE_PROC_IMAGE_H
#define AE_PROC_IMAGE_H

#include "base/error.h"

#include <stdint.h>

extern const unsigned char ae_init_image[];
extern const uint64_t ae_init_image_size;

/* Path under which the supervisor can be executed for as long as this process lives. */
int ae_init_path(char path[64], struct ae_error *err);

#endif
