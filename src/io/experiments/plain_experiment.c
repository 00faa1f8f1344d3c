/* Beam, goniometer and panels of files that say little about them. */
#include "io/experiments/plain_experiment.h"

#include "base/context_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void db_beam_set_simple(double wavelength, const double direction[3], double polarization,
                        db_beam *beam, db_expt_content *content) {
    static const double horizontal[3] = { 1, 0, 0 };
    beam->wavelength = wavelength;
    content->polarization_unknown = isnan(polarization);
    beam->polarization = content->polarization_unknown ? 0 : polarization;
    beam->source_count = 1;
    beam->sources[0] = (db_source){ .wavelength_ratio = 1, .weight = 1 };
    memcpy(beam->direction, direction, sizeof beam->direction);
    memcpy(beam->sources[0].direction, direction, sizeof beam->direction);
    memcpy(beam->polarization_axis, horizontal, sizeof horizontal);
}

void db_detector_set_flat(const double spindle_axis[3], db_detector *detector) {
    for (int i = 0; i < 3; i++) {
        detector->twotheta_axis[i] = -spindle_axis[i];
        detector->rotation[i] = 0;
    }
    detector->twotheta = 0;
    detector->curved = 0;
}

db_status db_panels_create(db_context *context, const char *path, size_t count,
                           db_detector *detector, db_expt_content *content, db_frame **frame) {
    db_panel *const panels = calloc(count, sizeof *panels);
    *frame = calloc(count, sizeof **frame);
    content->panel = calloc(count, sizeof *content->panel);
    if (!panels || !*frame || !content->panel) {
        free(panels);
        free(*frame);
        *frame = NULL;
        return db_fail_memory(context, path);
    }
    content->panel_count = count;
    free(detector->panels);
    detector->panels = panels;
    detector->panel_count = count;
    return DB_OK;
}
