/* Files that HTML reports carry, embedded at build time. For src/report. */
#ifndef AE_REPORT_ASSETS_H
#define AE_REPORT_ASSETS_H

#include <stdbool.h>
#include <stddef.h>

enum ae_asset {
    AE_ASSET_STYLE,
    AE_ASSET_SCRIPT,
    AE_ASSET_CHARTS,   /* the chart library; empty in a build without it */
    AE_ASSET_LICENCES, /* of the chart library */
};

/* NUL-terminated; the size does not count that. */
const char *ae_asset(enum ae_asset asset, size_t *ret_size);

/* Was the chart library there when this program was built? */
bool ae_assets_have_charts(void);

#endif
