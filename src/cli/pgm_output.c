#include "cli/pgm_output.h"

#include "cli/complaint.h"

#include <stdio.h>

double db_pgm_scale(const db_settings *settings, const db_image_statistics *statistics,
                    double smv_scale) {
    return settings->pgm_scale > 0 ? settings->pgm_scale
           : statistics->rmsd > 0  ? 250 / (5 * statistics->rmsd)
                                   : smv_scale;
}

db_status db_pgm_output(const db_session *session, const db_image_statistics *statistics,
                        double smv_scale, const float *image) {
    const db_settings *s = &session->settings;
    const db_panel *panel = &session->sheet;
    if (!s->pgm_file) return DB_OK;
    const double scale = db_pgm_scale(s, statistics, smv_scale);
    if (!s->quiet)
        printf("pgm_scale = %.*g\nwriting %s as 1-byte integers\n", s->digits, scale,
               db_shown_path(s->pgm_file));
    return db_write_pgm(session->context, s->pgm_file, image, panel->fast_pixels,
                        panel->slow_pixels, scale);
}
