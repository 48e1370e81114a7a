/* In place of http.c where the build leaves the network out (AE_NETWORK off: the portable preset, because a program
 * cannot carry libcurl with its TLS and Kerberos libraries soundly). Commands as models work all the same. */
#include "llm/ask.h"

int ae_carrier_http(const struct ae_ask_options *options, struct ae_carrier **ret, struct ae_error *err)
{
    (void)ret;
    return ae_error_set(err, AE_E_ENV,
                        "this build of acceleval has no network, so it cannot ask '%s': use one built with "
                        "AE_NETWORK, or a model with 'provider: command'",
                        options->model->name);
}
