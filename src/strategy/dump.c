#include "strategy/dump.h"

#include "base/clock.h"
#include "base/file.h"
#include "proc/proc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define DUMP_BYTES   ((size_t)256 << 20) /* of machine code as text; a library's kernels make some 100 MB */
#define DUMP_TIMEOUT (120 * AE_SEC)

static int dump(const char *tool, const char *option, const char *object, char **ret, struct ae_error *err)
{
    const char *const argv[] = {tool, option, object, NULL};
    const char *const env[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};
    const struct ae_proc_limit limits[] = {{RLIMIT_AS, (uint64_t)8 << 30}};
    const struct ae_proc_spec spec = {
        .argv = argv,
        .env = env,
        .limits = limits,
        .limit_count = 1,
        .timeout_ns = DUMP_TIMEOUT,
        .log_bytes = DUMP_BYTES,
        .layers =
            AE_PROC_USER_NS | AE_PROC_NET_NS | AE_PROC_PID_NS | AE_PROC_IPC_NS | AE_PROC_NO_NEW_PRIVS | AE_PROC_NO_CAPS,
    };
    struct ae_proc_result result = {0};
    int rc = ae_proc_run(&spec, &result, err);
    if (rc == AE_OK && (result.outcome != AE_PROC_EXITED || result.code != 0))
        rc = ae_error_set(err, AE_E_ENV, "cuobjdump %s says: %.200s", option,
                          result.err.text ? result.err.text : "nothing");
    if (rc == AE_OK) {
        *ret = result.out.text ? result.out.text : strdup("");
        result.out.text = NULL;
        if (!*ret)
            rc = ae_error_set(err, AE_E_NOMEM, "no memory for the machine code");
    }
    ae_proc_result_release(&result);
    return rc;
}

int ae_dump_make(const struct ae_toolchain *toolchain, const char *object, struct ae_dump *ret, struct ae_error *err)
{
    struct ae_dump made = {0};
    char tool[4200];
    snprintf(tool, sizeof tool, "%s/bin/cuobjdump", toolchain->cuda_root);
    if (!toolchain->cuda_root[0] || !ae_file_exists(tool))
        return ae_error_set(err, AE_E_ENV, "no cuobjdump beside nvcc: install the toolkit's package of that name");
    int rc = dump(tool, "-sass", object, &made.sass, err);
    if (rc == AE_OK)
        rc = dump(tool, "-res-usage", object, &made.resources, err);
    if (rc != AE_OK) {
        ae_dump_release(&made);
        return rc;
    }
    *ret = made;
    return AE_OK;
}

void ae_dump_release(struct ae_dump *dump)
{
    free(dump->sass);
    free(dump->resources);
    *dump = (struct ae_dump){0};
}
