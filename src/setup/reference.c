/* The reference program's placement of the detector (docs/theory/detector.md, With -compat),
 * oddities included: the model's placement of axes that the reference does not make unit
 * vectors. */
#include "setup/setup_detector_parts.h"

#include "model/model.h"

#include <float.h>
#include <string.h>

static void take(const db_vector *v, double out[3]) {
    out[0] = v->x.v;
    out[1] = v->y.v;
    out[2] = v->z.v;
}

/* A normal of any other length than exactly 1 is replaced by fast x slow, whichever way that
 * points. */
static void regenerated_normal(const db_setup *setup, db_detector *detector) {
    const double *const given = setup->normal;
    if (!db_setup_given(given[0]) || sqrt(db_dot(given, given)) == 1) return;
    double normal[3];
    db_cross(detector->fast_axis, detector->slow_axis, normal);
    const double length = sqrt(db_dot(normal, normal));
    for (int i = 0; i < 3; i++) detector->normal[i] = normal[i] / length;
}

/* Cosine between the beam and the plate's normal, as the reference takes it: without two-theta. */
static double obliquity(const db_experiment *experiment) {
    db_experiment upright = *experiment; /* borrows the lists */
    db_panel_interface placed;
    double normal[3];
    upright.detector.twotheta = 0;
    db_model_panels(&upright, &placed);
    take(&placed.normal, normal);
    const double cosine = db_dot(experiment->beam.direction, normal);
    return cosine == 0 ? DBL_MIN : cosine;
}

void db_setup_reference_placement(const db_setup *setup, db_convention convention,
                                  db_experiment *experiment) {
    db_reference_mode *const r = &experiment->reference;
    db_experiment distorted = *experiment; /* borrows the lists */
    db_detector *const d = &distorted.detector;
    if (convention == DB_CONVENTION_CUSTOM) {
        if (db_setup_given(setup->twotheta_axis[0]))
            memcpy(d->twotheta_axis, setup->twotheta_axis, sizeof d->twotheta_axis);
        regenerated_normal(setup, d);
    }
    const double ratio = obliquity(&distorted);
    if (!d->distance_is_close) d->distance = fabs(ratio * d->distance);
    d->distance_is_close = 1;

    db_panel_interface placed;
    db_model_panels(&distorted, &placed);
    take(&placed.origin, r->origin);
    take(&placed.fast, r->fast_axis);
    take(&placed.slow, r->slow_axis);
    take(&placed.normal, r->normal);
    r->close_distance = db_dot(r->origin, r->normal);
    r->distance = r->close_distance / ratio;

    if (obliquity(experiment) < 0) {
        experiment->detector.distance = d->distance;
        experiment->detector.distance_is_close = 1;
    }
}
