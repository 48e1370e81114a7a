#include "report/assets.h"

#include <stdint.h>
#include <string.h>

/* CMakeLists.txt names the files; without the chart library the last two are empty. */
#define EMBED(name, file)                                                                                          \
    __asm__(".section .rodata\n" #name ":\n.incbin \"" file "\"\n.byte 0\n" #name "_end:\n.previous\n");           \
    extern const char name[], name##_end[]

EMBED(ae_asset_style, AE_ASSET_STYLE_FILE);
EMBED(ae_asset_script, AE_ASSET_SCRIPT_FILE);
EMBED(ae_asset_charts, AE_ASSET_CHARTS_FILE);
EMBED(ae_asset_licences, AE_ASSET_LICENCES_FILE);

const char *ae_asset(enum ae_asset asset, size_t *ret_size)
{
    const char *const begin[] = {ae_asset_style, ae_asset_script, ae_asset_charts, ae_asset_licences};
    const char *const end[] = {ae_asset_style_end, ae_asset_script_end, ae_asset_charts_end, ae_asset_licences_end};
    *ret_size = (size_t)((uintptr_t)end[asset] - (uintptr_t)begin[asset]) - 1;
    return begin[asset];
}

bool ae_assets_have_charts(void)
{
    size_t size;
    (void)ae_asset(AE_ASSET_CHARTS, &size);
    return size > 0;
}
