/* The model without slopes. */
#include "model/model.h"

#define REAL double
#define DIRS 0
#include "model/model_body.h"

void db_model_plain(const db_experiment *experiment, const db_mosaic_direction *directions,
                    db_interface *out) {
    model_interface(experiment, directions, NULL, out);
}

void db_model_lattice(const db_experiment *experiment, double rows[9]) {
    db_experiment at_rest = *experiment;
    at_rest.goniometer.phi = 0;
    const mat3 m = lattice_vectors(&at_rest);
    for (int i = 0; i < 3; i++) {
        rows[3 * i] = m.r[i].x.v;
        rows[3 * i + 1] = m.r[i].y.v;
        rows[3 * i + 2] = m.r[i].z.v;
    }
}

void db_model_panels(const db_experiment *experiment, db_panel_interface *panels) {
    detector_panels(experiment, panels);
}
