/* The place of a panel in the numbers of SMV headers. */
#include "io/images/smv_geometry.h"

#include "base/context_internal.h"
#include "base/vector.h"

#include <dualbragg/io.h>
#include <dualbragg/expert/dials_frame.h>
#include <dualbragg/expert/experiment_geometry.h>
#include <math.h>

/* Origin and unit vectors of the panel in the laboratory, from the positions of three of its
 * corners. */
static db_status panel_frame(db_context *context, const db_experiment *experiment, double origin[3],
                             double fast[3], double slow[3], double normal[3]) {
    const db_panel *panel = &experiment->detector.panels[0];
    DB_TRY(db_experiment_pixel_position(experiment, 0, 0, 0, origin));
    DB_TRY(db_experiment_pixel_position(experiment, 0, panel->fast_pixels, 0, fast));
    DB_TRY(db_experiment_pixel_position(experiment, 0, 0, panel->slow_pixels, slow));
    for (int i = 0; i < 3; i++) {
        fast[i] -= origin[i];
        slow[i] -= origin[i];
    }
    const int usable = db_normalize(fast) && db_normalize(slow);
    db_cross(fast, slow, normal);
    if (!usable || !db_normalize(normal) || !isfinite(db_dot(origin, origin)))
        return db_fail(context, DB_ERROR_INPUT, "the detector has no finite position and size");
    /* Fast, slow, normal may be left-handed; the normal points away from the sample in any case. */
    if (db_dot(normal, origin) < 0)
        for (int i = 0; i < 3; i++) normal[i] = -normal[i];
    return DB_OK;
}

/* Quirks distance-twotheta and dials-origin-frame. */
static db_status reference_geometry(db_context *context, const db_experiment *experiment,
                                    db_smv_geometry *geometry) {
    const db_reference_mode *r = &experiment->reference;
    const double *origin = r->origin;
    double to_beam[3];
    for (int i = 0; i < 3; i++)
        to_beam[i] = r->distance * experiment->beam.direction[i] - origin[i];
    *geometry = (db_smv_geometry){
        .close_distance = 1e3 * r->close_distance,
        .near_point = { -1e3 * db_dot(origin, r->fast_axis), -1e3 * db_dot(origin, r->slow_axis) },
        .beam_hits = 1,
        .distance = 1e3 * r->distance,
        .beam_centre = { 1e3 * db_dot(to_beam, r->fast_axis), 1e3 * db_dot(to_beam, r->slow_axis) },
        .dials_origin = { 1e3 * origin[2], 1e3 * origin[1], -1e3 * origin[0] },
    };
    if (!isfinite(r->distance) || !isfinite(r->close_distance) ||
        !isfinite(db_dot(to_beam, to_beam)))
        return db_fail(context, DB_ERROR_INPUT, "the detector has no finite position and size");
    return DB_OK;
}

db_status db_smv_geometry_get(db_context *context, const db_experiment *experiment,
                              db_smv_geometry *geometry) {
    double origin[3], fast[3], slow[3], normal[3], frame[3][3];
    *geometry = (db_smv_geometry){ 0 };
    if (experiment->reference.on) return reference_geometry(context, experiment, geometry);
    DB_TRY(panel_frame(context, experiment, origin, fast, slow, normal));
    geometry->close_distance = db_dot(origin, normal);
    geometry->near_point[0] = -db_dot(origin, fast);
    geometry->near_point[1] = -db_dot(origin, slow);
    db_dials_frame(experiment, frame);
    for (int i = 0; i < 3; i++) geometry->dials_origin[i] = db_dot(origin, frame[i]);
    double beam[3];
    db_experiment_beam_direction(experiment, beam);
    const double cosine = db_dot(beam, normal);
    geometry->beam_hits = cosine > 1e-6;
    if (geometry->beam_hits) {
        geometry->distance = geometry->close_distance / cosine;
        geometry->beam_centre[0] =
            geometry->near_point[0] + geometry->distance * db_dot(beam, fast);
        geometry->beam_centre[1] =
            geometry->near_point[1] + geometry->distance * db_dot(beam, slow);
    }
    return DB_OK;
}
