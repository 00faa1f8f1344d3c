/* The model without slopes. */
#include "model/model.h"

#define REAL double
#define DIRS 0
#include "model/model_body.h"
#include <dualbragg/expert/experiment_geometry.h>

void db_model_plain(const db_experiment *experiment, const db_mosaic_direction *directions,
                    db_interface *out) {
    model_interface(experiment, directions, NULL, out);
}

void db_model_lattice(const db_experiment *experiment, double rows[9]) {
    db_experiment at_rest = *experiment;
    at_rest.goniometer.phi = 0;
    const model_inputs inputs = { &at_rest, NULL };
    const mat3 m =
        lattice_vectors(&inputs, crystal_turn(&inputs, v3_passive(0, 0, 1))); /* any axis */
    for (int i = 0; i < 3; i++) {
        rows[3 * i] = m.r[i].x.v;
        rows[3 * i + 1] = m.r[i].y.v;
        rows[3 * i + 2] = m.r[i].z.v;
    }
}

double db_experiment_source_wavelength(const db_experiment *experiment, size_t source) {
    const model_inputs inputs = { experiment, NULL };
    return source_wavelength(&inputs, &experiment->beam.sources[source], mean_ratio(&inputs)).v;
}

void db_model_wavelengths(const db_experiment *e, double range[2]) {
    const model_inputs inputs = { e, NULL };
    const num mean = mean_ratio(&inputs);
    range[0] = range[1] = source_wavelength(&inputs, &e->beam.sources[0], mean).v;
    for (size_t j = 1; j < e->beam.source_count; j++) {
        const double wavelength = source_wavelength(&inputs, &e->beam.sources[j], mean).v;
        range[0] = fmin(range[0], wavelength);
        range[1] = fmax(range[1], wavelength);
    }
}

void db_model_site_curves(const db_experiment *e, double wavelength, double *curve) {
    const model_inputs inputs = { e, NULL };
    num found[DB_MOST_SITE_CURVES] = { { 0 } };
    site_curves(&inputs, n_constant(1 / wavelength), found);
    for (int i = 0; i < 2 * db_site_count(&e->structure_factors); i++) curve[i] = found[i].v;
}

void db_experiment_spindle_axis(const db_experiment *experiment, double axis[3]) {
    const model_inputs inputs = { experiment, NULL };
    const vec3 v = spindle_axis(&inputs);
    axis[0] = v.x.v;
    axis[1] = v.y.v;
    axis[2] = v.z.v;
}

void db_experiment_beam_direction(const db_experiment *experiment, double direction[3]) {
    const model_inputs inputs = { experiment, NULL };
    const vec3 v = m3_apply(beam_tilt(&inputs), fixed(experiment->beam.direction));
    direction[0] = v.x.v;
    direction[1] = v.y.v;
    direction[2] = v.z.v;
}

void db_model_panels(const db_experiment *experiment, db_panel_interface *panels) {
    const model_inputs inputs = { experiment, NULL };
    detector_panels(&inputs, panels);
}

void db_model_panels_from_crystal(const db_experiment *experiment, db_panel_interface *panels) {
    const model_inputs inputs = { experiment, NULL };
    panels_from_crystal(&inputs, spindle_axis(&inputs), panels);
}

void db_experiment_crystal_position(const db_experiment *experiment, double position[3]) {
    const model_inputs inputs = { experiment, NULL };
    db_vector_out(v3_scale(crystal_position(&inputs, spindle_axis(&inputs)), n_constant(1e3)),
                  position);
}

double db_goniometer_middle(const db_experiment *experiment, double *half) {
    const double to_middle = db_to_middle_of_exposure(experiment);
    if (half) *half = fabs(to_middle);
    return experiment->goniometer.phi + to_middle;
}

void db_model_sources(const db_experiment *experiment, db_source_interface *sources) {
    const model_inputs inputs = { experiment, NULL };
    beam_sources(&inputs, sources);
}
