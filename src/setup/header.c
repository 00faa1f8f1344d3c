/* Setups from the headers of images. */
#include "setup/parts.h"

#include "base/context_internal.h"
#include "base/rotation.h"
#include "io/images/image_geometry.h"
#include "model/model.h"

#include <dualbragg/expert/setup_defaults.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double TILT = 1e-12; /* cosine between beam and panel that is rounding noise */

enum { NAMES = 160 };

static void add_name(const char *name, char names[NAMES]) {
    const size_t length = strlen(names);
    snprintf(names + length, NAMES - length, "%s%s", length ? ", " : "", name);
}

/* A number of the header replaces the set-up's; without it, its name joins a list. */
static void take_stated(double stated, const char *name, double *value, char missing[NAMES]) {
    if (db_setup_given(stated))
        *value = stated;
    else
        add_name(name, missing);
}

static void take_silently(double stated, double *value) {
    if (db_setup_given(stated)) *value = stated;
}

static void note_missing(const char *path, const char *missing, const db_setup_notes *notes) {
    if (*missing)
        db_setup_note(notes, "%s: the header states no %s; flags or defaults are used", path,
                      missing);
}

/* The laboratory frame, which only headers of this program contain. */
static db_status take_frame(db_context *context, const char *path, const db_image_geometry *g,
                            db_setup *setup, const db_setup_notes *notes) {
    if (!*g->convention) return DB_OK;
    int convention = 0;
    const char *name;
    while ((name = db_convention_name((db_convention)convention)) &&
           strcmp(name, g->convention) != 0)
        convention++;
    if (!name)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: expected mosflm, denzo, adxv, xds, dials or custom as CONVENTION, "
                       "found '%s'",
                       path, g->convention);
    const int sample = strcmp(g->pivot, "sample") == 0;
    if (*g->pivot && !sample && strcmp(g->pivot, "beam") != 0)
        return db_fail(context, DB_ERROR_INPUT, "%s: expected beam or sample as PIVOT, found '%s'",
                       path, g->pivot);
    setup->convention = setup->stated.convention = (db_convention)convention;
    setup->stated.pivot = !*g->pivot ? -1 : sample ? DB_PIVOT_SAMPLE : DB_PIVOT_BEAM;
    if (convention == DB_CONVENTION_CUSTOM)
        db_setup_note(notes,
                      "%s: convention custom: its vectors are not in the header, give them again",
                      path);
    return DB_OK;
}

/* Axes that differ from the default convention. */
static void take_axes(const db_image_geometry *g, db_setup *setup) {
    if (!db_setup_given(g->fast_axis[0]) && !db_setup_given(g->spindle_axis[0])) return;
    setup->convention = setup->stated.convention = DB_CONVENTION_CUSTOM;
    setup->stated.pivot = db_setup_given(g->distance) ? DB_PIVOT_BEAM : DB_PIVOT_SAMPLE;
    memcpy(setup->fast_axis, g->fast_axis, sizeof setup->fast_axis);
    memcpy(setup->slow_axis, g->slow_axis, sizeof setup->slow_axis);
    memcpy(setup->normal, g->normal, sizeof setup->normal);
    memcpy(setup->spindle_axis, g->spindle_axis, sizeof setup->spindle_axis);
    if (db_setup_given(g->twotheta) &&
        !db_setup_given(setup->twotheta_axis[0])) /* db_image_swing */
        memcpy(setup->twotheta_axis, (const double[]){ 0, 0, -1 }, sizeof setup->twotheta_axis);
}

static int is_known(const double point[2]) {
    return db_setup_given(point[0]) && db_setup_given(point[1]);
}

/* A later image's placement replaces the earlier one completely. */
static void take_placement(const db_image_geometry *g, db_stated_placement *stated,
                           char missing[NAMES]) {
    if (db_setup_given(g->distance) || db_setup_given(g->close_distance)) {
        stated->distance = g->distance;
        stated->close_distance = g->close_distance;
    } else
        add_name("distance", missing);
    if (is_known(g->near_point) || is_known(g->beam_centre)) {
        memcpy(stated->near_point, g->near_point, sizeof stated->near_point);
        memcpy(stated->beam_centre, g->beam_centre, sizeof stated->beam_centre);
    } else
        add_name("beam centre", missing);
}

/* As in DIALS, a header describes the crystal of a still as it is, wherever the spindle was; headers of this
 * program mean that the spindle has turned it. An open width may be any. */
static void take_phi(const char *path, const db_image_geometry *g, db_setup *setup,
                     const db_setup_notes *notes) {
    const int is_still = !isnan(g->osc_range) && !db_turns(g->osc_range);
    if (*g->convention || !is_still)
        take_silently(g->phi, &setup->phi);
    else if (fabs(g->phi) > 0)
        db_setup_note(notes,
                      "%s: a still at spindle angle %g degree; this angle does not turn the "
                      "crystal (-phi does)",
                      path, g->phi);
}

static db_status read_geometry(db_context *context, const char *path, db_setup *setup,
                               const db_setup_notes *notes) {
    db_image_geometry g;
    char missing[NAMES] = "";
    DB_TRY(db_image_geometry_read(context, path, &g));
    DB_TRY(take_frame(context, path, &g, setup, notes));
    take_axes(&g, setup);
    setup->detector_pixels[0] = g.fast_pixels;
    setup->detector_pixels[1] = g.slow_pixels;
    take_stated(g.pixel_size, "pixel size", &setup->pixel_size, missing);
    take_stated(g.wavelength, "wavelength", &setup->wavelength, missing);
    take_silently(g.polarization, &setup->polarization);
    take_phi(path, &g, setup, notes);
    if (db_turns(g.osc_range)) {
        setup->osc = g.osc_range;
        setup->stated.phi_steps = g.osc_steps;
    }
    take_silently(g.twotheta, &setup->twotheta);
    for (int i = 0; i < 3; i++) take_silently(g.rotation[i], &setup->rotation[i]);
    if (g.sensor_thickness > 0 && (g.sensor_material || db_setup_given(g.attenuation_depth))) {
        setup->sensor_thickness = g.sensor_thickness;
        setup->attenuation_depth = g.attenuation_depth;
        setup->sensor_material = g.sensor_material;
        setup->sensor_stated = 1;
    }
    take_placement(&g, &setup->stated, missing);
    note_missing(path, missing, notes);
    return DB_OK;
}

static db_status take_count(db_context *context, const char *path, const char *key, double stated,
                            int *count) {
    if (!db_setup_given(stated)) return DB_OK;
    if (!(stated >= 1 && stated <= 1e6))
        return db_fail(context, DB_ERROR_INPUT, "%s: expected 1 to 1000000 as %s, found %g", path,
                       key, stated);
    *count = (int)stated;
    return DB_OK;
}

/* Quirks header-distance, header-twotheta, header-convention. */
static db_status read_as_reference(db_context *context, const char *path, db_header_role role,
                                   db_setup *setup, const db_setup_notes *notes) {
    db_reference_header n;
    char missing[NAMES] = "";
    DB_TRY(db_reference_header_read(context, path, &n));
    DB_TRY(take_count(context, path, "SIZE1", n.size[0], &setup->detector_pixels[0]));
    DB_TRY(take_count(context, path, "SIZE2", n.size[1], &setup->detector_pixels[1]));
    take_stated(n.pixel_size, "PIXEL_SIZE", &setup->pixel_size, missing);
    take_stated(n.wavelength, "WAVELENGTH", &setup->wavelength, missing);
    take_stated(n.distance, "DISTANCE", &setup->distance, missing);
    take_silently(n.close_distance, &setup->close_distance);
    take_stated(n.beam_center[0], "BEAM_CENTER_X", &setup->beam_centre[0], missing);
    if (role == DB_HEADER_OF_MASK && db_setup_given(n.beam_center[1]))
        n.beam_center[1] = setup->pixel_size * setup->detector_pixels[1] - n.beam_center[1];
    take_stated(n.beam_center[1], "BEAM_CENTER_Y", &setup->beam_centre[1], missing);
    take_silently(n.org[0], &setup->org[0]);
    take_silently(n.org[1], &setup->org[1]);
    take_silently(n.phi, &setup->phi);
    take_silently(n.osc_range, &setup->osc);
    note_missing(path, missing, notes);
    return DB_OK;
}

db_status db_setup_read_header(db_context *context, const char *path, db_header_role role,
                               db_setup *setup, void (*notices)(void *user, const char *line),
                               void *user) {
    const db_setup_notes notes = { notices, user };
    return setup->compat ? read_as_reference(context, path, role, setup, &notes)
                         : read_geometry(context, path, setup, &notes);
}

void db_setup_complete_placement(const db_experiment *experiment, db_stated_placement *stated) {
    db_panel_interface placed;
    db_model_panels(experiment, &placed);
    const double axes[3][3] = { { placed.fast.x.v, placed.fast.y.v, placed.fast.z.v },
                                { placed.slow.x.v, placed.slow.y.v, placed.slow.z.v },
                                { placed.normal.x.v, placed.normal.y.v, placed.normal.z.v } };
    double cosine[3]; /* of the beam with fast, slow, normal */
    for (int i = 0; i < 3; i++) cosine[i] = db_dot(experiment->beam.direction, axes[i]);
    if (!(cosine[2] > TILT)) return; /* the beam does not meet the panel: nothing can be derived */
    if (!db_setup_given(stated->distance)) stated->distance = stated->close_distance / cosine[2];
    if (!db_setup_given(stated->close_distance))
        stated->close_distance = stated->distance * cosine[2];
    for (int i = 0; i < 2; i++) {
        const double shift = fabs(cosine[i]) < TILT ? 0 : cosine[i] * stated->distance;
        if (!db_setup_given(stated->near_point[i]))
            stated->near_point[i] = stated->beam_centre[i] - shift;
        if (!db_setup_given(stated->beam_centre[i]))
            stated->beam_centre[i] = stated->near_point[i] + shift;
    }
}
