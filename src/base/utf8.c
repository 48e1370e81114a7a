#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

size_t ae_utf8_decode(const char *text, uint32_t *ret)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *p = (const unsigned char *)text;
    if (p[0] == 0)
        return 0;
    if (p[0] < 0x80) {
        *ret = p[0];
        return 1;
    }
    const size_t length = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4)
        return 0;
    uint32_t c = p[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80) /* the NUL at the end is none either */
            return 0;
        c = c << 6 | (p[i] & 0x3f);
    }
    if (c < least[length] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0;
    *ret = c;
    return length;
}

bool ae_utf8_valid(const char *text)
{
    uint32_t c;
    size_t n;
    while ((n = ae_utf8_decode(text, &c)) > 0)
        text += n;
    return *text == 0;
}

struct span {
    uint32_t first, last;
};

static bool within(const struct span *spans, size_t count, uint32_t c)
{
    for (size_t i = 0; i < count; i++)
        if (c >= spans[i].first && c <= spans[i].last)
            return true;
    return false;
}

int ae_utf8_columns(uint32_t c)
{
    static const struct span none[] = {{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},
                                       {0x64b, 0x65f},   {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f},
                                       {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}};
    static const struct span wide[] = {{0x1100, 0x115f},   {0x2e80, 0xa4cf},   {0xac00, 0xd7a3},
                                       {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},
                                       {0xffe0, 0xffe6},   {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff},
                                       {0x1f900, 0x1faff}, {0x20000, 0x3fffd}};
    if (c < 0x300)
        return 1;
    if (within(none, sizeof none / sizeof *none, c))
        return 0;
    return within(wide, sizeof wide / sizeof *wide, c) ? 2 : 1;
}

bool ae_utf8_harmful(uint32_t c)
{
    static const struct span harmful[] = {{0, 0x1f},        {0x7f, 0x9f},     {0x61c, 0x61c},
                                          {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},
                                          {0xfeff, 0xfeff}, {0xfff0, 0xfffb}, {0xe0000, 0xe0fff}};
    return within(harmful, sizeof harmful / sizeof *harmful, c);
}

size_t ae_utf8_printable(const char *text, char *out, size_t room, size_t max_columns)
{
    size_t used = 0, columns = 0;
    while (*text) {
        char piece[16];
        uint32_t c = 0;
        size_t taken = ae_utf8_decode(text, &c), length, width;
        if (taken > 0 && !ae_utf8_harmful(c)) {
            memcpy(piece, text, taken);
            length = taken;
            width = (size_t)ae_utf8_columns(c);
        } else {
            if (taken == 0) {
                taken = 1;
                length = (size_t)snprintf(piece, sizeof piece, "\\x%02x", (unsigned char)*text);
            } else if (c == '\n' || c == '\t' || c == '\r') {
                length = (size_t)snprintf(piece, sizeof piece, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
            } else {
                length = (size_t)snprintf(piece, sizeof piece, c < 0x80 ? "\\x%02x" : "\\u%04x", (unsigned)c);
            }
            width = length;
        }
        if (used + length >= room || columns + width > max_columns)
            break;
        memcpy(out + used, piece, length);
        used += length;
        columns += width;
        text += taken;
    }
    if (room)
        out[used] = 0;
    return columns;
}
