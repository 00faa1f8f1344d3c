#include "cli/report.h"

#include "base/shown_text.h"
#include "io/images/smv_geometry.h"
#include "base/vector.h"

#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/expert/setup_defaults.h>
#include <string.h>

/* Place of the first panel in the laboratory. */
typedef struct placement {
    double origin[3]; /* m */
    double fast[3], slow[3], normal[3];
    db_smv_geometry geometry; /* mm */
} placement;

static void print_spindle(const db_experiment *e, int digits) {
    double axis[3];
    db_experiment_spindle_axis(e, axis);
    db_print_vector("  spindle ROTATION_AXIS", axis, digits);
}

/* Place of the panel in the reference. */
static void take_reference(const db_reference_mode *r, placement *p) {
    memcpy(p->origin, r->origin, sizeof p->origin);
    memcpy(p->fast, r->fast_axis, sizeof p->fast);
    memcpy(p->slow, r->slow_axis, sizeof p->slow);
    memcpy(p->normal, r->normal, sizeof p->normal);
}

static void take_axes(const db_experiment *e, placement *p) {
    const db_panel *panel = &e->detector.panels[0];
    double fast_end[3], slow_end[3];
    db_experiment_pixel_position(e, 0, 0, 0, p->origin);
    db_experiment_pixel_position(e, 0, panel->fast_pixels, 0, fast_end);
    db_experiment_pixel_position(e, 0, 0, panel->slow_pixels, slow_end);
    for (int i = 0; i < 3; i++) {
        p->fast[i] = (fast_end[i] - p->origin[i]) / (panel->pixel_size[0] * panel->fast_pixels);
        p->slow[i] = (slow_end[i] - p->origin[i]) / (panel->pixel_size[1] * panel->slow_pixels);
        p->origin[i] *= 1e-3;
    }
    db_cross(p->fast, p->slow, p->normal);
    if (db_dot(p->normal, p->origin) < 0) /* left-handed axes */
        for (int i = 0; i < 3; i++) p->normal[i] = -p->normal[i];
}

static db_status place_panels(const db_session *session, placement *p) {
    const db_experiment *e = &session->experiment;
    if (e->reference.on)
        take_reference(&e->reference, p);
    else
        take_axes(e, p);
    const db_status status = db_smv_geometry_get(session->context, e, &p->geometry);
    return status == DB_OK ? DB_OK : db_session_complain(session, status);
}

db_status db_report_frame(const db_session *session) {
    const db_experiment *e = &session->experiment;
    const db_settings *s = &session->settings;
    if (s->setup.expt_file) {
        db_shown_print(stdout, "frame of the experiment list %s, experiment %d\n",
                       s->setup.expt_file, s->setup.expt_number);
        return DB_OK;
    }
    const double *b = e->beam.direction;
    placement p;
    const db_status status = place_panels(session, &p);
    if (status != DB_OK) return status;
    printf("%s convention selected.\n",
           db_convention_name(s->vector_given ? DB_CONVENTION_CUSTOM : s->setup.convention));
    printf("pivoting detector around %s\n",
           e->detector.pivot == DB_PIVOT_SAMPLE ? "sample" : "direct beam spot");
    printf("XDS incident beam: %.*g %.*g %.*g\n", s->digits, db_tidy(db_dot(b, p.fast), 1),
           s->digits, db_tidy(db_dot(b, p.slow), 1), s->digits, db_tidy(db_dot(b, p.normal), 1));
    return DB_OK;
}

/* Edge of the plate (mm): the user's, which need not be a whole number of pixels. */
static double plate_size(const db_setup *setup, int axis) {
    return setup->detector_pixels[axis] ? setup->detector_pixels[axis] * setup->pixel_size
                                        : setup->detector_size[axis];
}

/* The near point as the user gave it, or would have given it (mm; docs/theory/detector.md, Size and centre). */
static double near_point(const db_setup *setup, int axis) {
    return !isnan(setup->close_point[axis]) ? setup->close_point[axis]
           : !isnan(setup->org[axis])       ? (setup->org[axis] - 0.5) * setup->pixel_size
                                            : plate_size(setup, axis) / 2;
}

/* Prints the sensor as described, also if it has no effect. */
static void report_sensor(const db_session *session) {
    const db_setup *setup = &session->settings.setup;
    const db_detector *detector = &session->experiment.detector;
    const int digits = session->settings.digits, there = detector->sensor_thickness > 0;
    const double depth = there ? detector->attenuation_depth : setup->attenuation_depth;
    printf("  sensor is %.*g m thick in %d layers with mu= %.*g\n", digits,
           there ? 1e-6 * setup->sensor_thickness : 0, detector->sensor_layers, digits,
           isnan(depth)                 ? -1
           : depth == 0 || isinf(depth) ? 0
                                        : 1e6 / depth);
}

static void report_centres(const db_session *session, const placement *p) {
    const db_setup *setup = &session->settings.setup;
    const db_smv_geometry *g = &p->geometry;
    const int digits = session->settings.digits;
    /* X, Y of the direct beam as given, or the default, even if an image has another centre; a resolved set-up has them */
    db_setup said = *setup;
    double centre[2] = { NAN, NAN };
    said.stated.near_point[0] = said.stated.near_point[1] = NAN;
    (void)db_setup_beam_centre(session->context, &said, centre);
    printf("  Xbeam=%.*g Ybeam=%.*g\n", digits, 1e-3 * centre[0], digits, 1e-3 * centre[1]);
    printf("  Fbeam=%.*g Sbeam=%.*g\n", digits, db_tidy(1e-3 * g->beam_centre[0], 1), digits,
           db_tidy(1e-3 * g->beam_centre[1], 1));
    printf("  Xclose=%.*g Yclose=%.*g\n", digits, 1e-3 * near_point(setup, 0), digits,
           1e-3 * near_point(setup, 1));
    printf("  Fclose=%.*g Sclose=%.*g\n", digits, db_tidy(1e-3 * g->near_point[0], 1), digits,
           db_tidy(1e-3 * g->near_point[1], 1));
}

/* Prints frame and panels of an experiment list, which has no convention. */
static void report_listed(const db_session *session) {
    const db_experiment *e = &session->experiment;
    const db_detector *d = &e->detector;
    const int digits = session->settings.digits;
    printf("  %zu panel%s of %dx%d pixels of %.*g m\n", d->panel_count,
           d->panel_count == 1 ? "" : "s", d->panels[0].fast_pixels, d->panels[0].slow_pixels,
           digits, 1e-3 * d->panels[0].pixel_size[0]);
    printf("  plate at %s=%.*g m\n", d->distance_is_close ? "close_distance" : "distance", digits,
           1e-3 * d->distance);
    report_sensor(session);
    db_print_vector("  INCIDENT_BEAM_DIRECTION", e->beam.direction, digits);
    print_spindle(e, digits);
}

db_status db_report_detector(const db_session *session) {
    const db_experiment *e = &session->experiment;
    if (session->settings.setup.expt_file) {
        report_listed(session);
        return DB_OK;
    }
    const db_setup *setup = &session->settings.setup;
    const db_panel *panel = &e->detector.panels[0];
    const int digits = session->settings.digits;
    double vertical[3];
    placement p;
    const db_status status = place_panels(session, &p);
    if (status != DB_OK) return status;
    const db_smv_geometry *g = &p.geometry;
    printf("  distance=%.*g detsize=%.*gx%.*g  pixel=%.*g meters (%dx%d pixels)\n", digits,
           1e-3 * (g->beam_hits ? g->distance : g->close_distance), digits,
           1e-3 * plate_size(setup, 0), digits, 1e-3 * plate_size(setup, 1), digits,
           1e-3 * panel->pixel_size[0], panel->fast_pixels, panel->slow_pixels);
    printf("  close_distance=%.*g\n", digits, 1e-3 * g->close_distance);
    report_sensor(session);
    report_centres(session, &p);
    db_print_vector("  DIRECTION_OF_DETECTOR_X-AXIS", p.fast, digits);
    db_print_vector("  DIRECTION_OF_DETECTOR_Y-AXIS", p.slow, digits);
    db_print_vector("  DIRECTION_OF_DETECTOR_Z-AXIS", p.normal, digits);
    db_print_vector("  pix0_vector", p.origin, digits);
    db_print_vector("  INCIDENT_BEAM_DIRECTION", e->beam.direction, digits);
    print_spindle(e, digits);
    db_cross(e->beam.direction, e->beam.polarization_axis, vertical);
    db_normalize(vertical);
    db_print_vector("  POLARIZATION_PLANE_NORMAL", vertical, digits);
    printf("  dials origin= %.*g %.*g %.*g\n", digits, db_tidy(g->dials_origin[0], 1e3), digits,
           db_tidy(g->dials_origin[1], 1e3), digits, db_tidy(g->dials_origin[2], 1e3));
    return DB_OK;
}
