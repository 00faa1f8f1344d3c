/* Reflections of a rotation series: lines of text. */
#include "base/context_internal.h"
#include "base/text_stream.h"

#include <dualbragg/expert/fit_files.h>
#include <dualbragg/fit.h>
#include <stdio.h>

db_status db_fit_shots_write_passages(db_context *context, const char *path,
                                      const db_fit_shots_result *result) {
    db_text_stream text;
    if (!result->passages)
        return db_fail(context, DB_ERROR_USAGE,
                       "%s: expected a rotation series with free intensities, found none", path);
    DB_TRY(db_text_stream_open(context, &text));
    fprintf(text.stream,
            "# dualbragg %s: intensities of a rotation series, by fitting the model's spots\n"
            "# h k l F^2 sigma(F^2) partiality counts sigma(counts) counts(model) chi2/pixel "
            "first_frame "
            "last_frame frame panel fast slow pixels strong_pixels\n",
            db_version());
    for (size_t n = 0; n < result->passage_count; n++) {
        const db_fit_passage *const p = &result->passages[n];
        fprintf(text.stream,
                "%d %d %d %.6g %.4g %.4f %.6g %.4g %.6g %.3g %zu %zu %.3f %zu %.2f %.2f %zu %zu\n",
                p->hkl[0], p->hkl[1], p->hkl[2], p->square, p->square_sigma, p->recorded, p->light,
                p->light_sigma, p->model, p->pixels ? p->chi2 / (double)p->pixels : 0, p->first + 1,
                p->last + 1, p->position[2], p->panel, p->position[0], p->position[1], p->pixels,
                p->strong);
    }
    return db_text_stream_write(context, &text, DB_OK, path);
}
