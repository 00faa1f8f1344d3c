/* How finely a pixel must be sampled to see the spots' fringes (docs/theory/pixel.md, Number of
 * sub-pixels). */
#include "base/vector.h"
#include "model/model.h"

#include <dualbragg/setup.h>

static const double LIMIT = 1e6;

/* Distance (m) at which the beam meets a panel's plane; along the normal if it runs away from the
 * beam. */
static double panel_distance(const db_experiment *experiment, size_t panel) {
    if (experiment->reference.on) return experiment->reference.distance;
    db_experiment one = *experiment;
    db_panel_interface placed;
    one.detector.panels += panel;
    one.detector.panel_count = 1;
    db_model_panels(&one, &placed);
    double f[3], s[3], r[3], n[3];
    db_vector_out(placed.fast, f);
    db_vector_out(placed.slow, s);
    db_vector_out(placed.origin, r);
    db_cross(f, s, n);
    const double *b = experiment->beam.direction;
    const double length = db_length(n);
    const double along_normal = db_dot(r, n) / length; /* sign as that of n */
    const double obliquity = db_dot(b, n) / length;
    const double along_beam = along_normal / obliquity;
    return along_beam > 0 && isfinite(along_beam) ? along_beam : fabs(along_normal);
}

int db_recommended_oversample(const db_experiment *experiment) {
    const db_crystal *crystal = &experiment->crystal;
    double largest = 0, recommended = 1;
    for (int i = 0; i < 3; i++) largest = fmax(largest, crystal->cells[i] * crystal->cell[i]);
    for (size_t p = 0; p < experiment->detector.panel_count; p++) {
        const double *size = experiment->detector.panels[p].pixel_size;
        const double pixel = 1e-3 * fmax(size[0], size[1]);
        const double needed =
            3 * largest * pixel / (experiment->beam.wavelength * panel_distance(experiment, p));
        recommended = fmax(recommended, ceil(needed - 1e-9));
    }
    return recommended < LIMIT ? (int)recommended : (int)LIMIT;
}
