/* Fuzz target: models.yaml. What is taken is within the limits that it promises. */
#include "llm/model.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ae_models models;
    struct ae_error err = {0};
    const int rc = ae_models_parse((const char *)data, size, "models.yaml", &models, &err);
    if (rc != AE_OK) {
        if ((rc != AE_E_INPUT && rc != AE_E_NOMEM) || !err.text[0])
            abort();
        return 0;
    }
    for (size_t i = 0; i < models.count; i++) {
        const struct ae_model *m = &models.items[i];
        if (!m->name[0] || strchr(m->name, '/') || strlen(m->name) > 32 || m->in_flight < 1 || m->attempts < 1 ||
            m->max_tokens < 1 || !(m->timeout_s > 0) ||
            !(m->provider == AE_PROVIDER_COMMAND ? m->command : m->base_url))
            abort();
        free(ae_model_parameters(m));
    }
    ae_models_release(&models);
    return 0;
}
