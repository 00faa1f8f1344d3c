#include <dualbragg/fit.h>

#include "base/context_internal.h"
#include "base/text_stream.h"

db_status db_fit_write_amplitudes(db_context *context, const char *path,
                                  const db_fit_config *config, const db_fit_result *result) {
    db_text_stream text;
    if (!result->amplitudes)
        return db_fail(context, DB_ERROR_USAGE, "%s: no amplitudes were refined", path);
    DB_TRY(db_text_stream_open(context, &text));
    fprintf(text.stream,
            "# dualbragg %s: amplitudes of the asymmetric unit of %s\n"
            "# h k l F sigma (electrons), shoeboxes that hold it, F as given\n",
            db_version(), config->settings.amplitude_group);
    for (size_t i = 0; i < result->amplitude_count; i++) {
        const db_fit_amplitude *const a = &result->amplitudes[i];
        fprintf(text.stream, "%d %d %d %.6g %.3g %zu %.6g\n", a->hkl[0], a->hkl[1], a->hkl[2], a->F,
                a->sigma, a->boxes, a->input);
    }
    return db_text_stream_write(context, &text, DB_OK, path);
}
