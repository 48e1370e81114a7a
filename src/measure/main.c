#include "measure/measure.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double ae_measure_median(double *samples, int count)
{
    if (count <= 0)
        return 0;
    qsort(samples, (size_t)count, sizeof *samples, ascending);
    return count % 2 ? samples[count / 2] : (samples[count / 2 - 1] + samples[count / 2]) / 2;
}

int main(int argc, char **argv)
{
    int64_t ordinal = 0;
    const char *why = NULL;
    if (argc > 2 || (argc == 2 && !ae_text_to_i64(argv[1], -1, 63, &ordinal))) {
        fprintf(stderr, "usage: acceleval-measure [ORDINAL]\nMeasures this machine; -1 leaves the device out.\n");
        return 2;
    }
    json_t *host = ae_measure_host();
    json_t *device = ordinal < 0 ? NULL : ae_measure_device((int)ordinal, &why);
    json_t *all = json_pack("{s:i, s:o?, s:o?, s:s*}", "schema", 1, "host", host, "device", device, "why", why);
    const int bad = !all || json_dumpf(all, stdout, JSON_INDENT(2)) != 0 || putchar('\n') == EOF || fflush(stdout) != 0;
    json_decref(all);
    return bad ? 1 : 0;
}
