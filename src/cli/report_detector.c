#include "cli/report_detector.h"

#include <math.h>
#include <stdio.h>

/* The first panel in the laboratory (m). */
typedef struct placement {
    double origin[3], fast[3], slow[3], normal[3];
    double close_distance, distance;
    double near[2], beam[2]; /* along fast, slow */
} placement;

static double dot(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static placement place(const db_experiment *e) {
    placement p;
    const db_panel *panel = &e->detector.panels[0];
    double fast_end[3], slow_end[3];
    db_experiment_pixel_position(e, 0, 0, 0, p.origin);
    db_experiment_pixel_position(e, 0, panel->fast_pixels, 0, fast_end);
    db_experiment_pixel_position(e, 0, 0, panel->slow_pixels, slow_end);
    for (int i = 0; i < 3; i++) {
        p.fast[i] = (fast_end[i] - p.origin[i]) / (panel->pixel_size[0] * panel->fast_pixels);
        p.slow[i] = (slow_end[i] - p.origin[i]) / (panel->pixel_size[1] * panel->slow_pixels);
        p.origin[i] *= 1e-3;
    }
    p.normal[0] = p.fast[1] * p.slow[2] - p.fast[2] * p.slow[1];
    p.normal[1] = p.fast[2] * p.slow[0] - p.fast[0] * p.slow[2];
    p.normal[2] = p.fast[0] * p.slow[1] - p.fast[1] * p.slow[0];
    if (dot(p.normal, p.origin) < 0) /* left-handed axes */
        for (int i = 0; i < 3; i++) p.normal[i] = -p.normal[i];
    const double *b = e->beam.direction;
    p.close_distance = dot(p.origin, p.normal);
    p.distance = p.close_distance / dot(b, p.normal);
    double to_beam[3];
    for (int i = 0; i < 3; i++) to_beam[i] = p.distance * b[i] - p.origin[i];
    p.near[0] = -dot(p.origin, p.fast);
    p.near[1] = -dot(p.origin, p.slow);
    p.beam[0] = dot(to_beam, p.fast);
    p.beam[1] = dot(to_beam, p.slow);
    return p;
}

/* Rounding noise around 0 is not worth printing. */
static double tidy(double value) { return fabs(value) < 1e-15 ? 0 : value; }

static void print_vector(const char *name, const double v[3], int digits) {
    printf("%s= %.*g %.*g %.*g\n", name, digits, tidy(v[0]), digits, tidy(v[1]), digits,
           tidy(v[2]));
}

void db_report_frame(const db_session *session) {
    const db_experiment *e = &session->experiment;
    const db_setup *setup = &session->settings.setup;
    const int digits = session->settings.digits;
    const placement p = place(e);
    const double *b = e->beam.direction;
    printf("%s convention selected.\n",
           db_convention_name(session->settings.vector_given ? DB_CONVENTION_CUSTOM
                                                             : setup->convention));
    printf("pivoting detector around %s\n",
           e->detector.pivot == DB_PIVOT_SAMPLE ? "sample" : "direct beam spot");
    printf("XDS incident beam: %.*g %.*g %.*g\n", digits, tidy(dot(b, p.fast)), digits,
           tidy(dot(b, p.slow)), digits, tidy(dot(b, p.normal)));
    if (setup->interpolate < 0) puts("auto-selected no interpolation");
}

void db_report_detector(const db_session *session) {
    const db_experiment *e = &session->experiment;
    const db_panel *panel = &e->detector.panels[0];
    const int digits = session->settings.digits;
    const placement p = place(e);
    const double pixel = 1e-3 * panel->pixel_size[0];
    printf("distance=%.*g detsize=%.*gx%.*g  pixel=%.*g meters (%dx%d pixels)\n", digits,
           p.distance, digits, pixel * panel->fast_pixels, digits, pixel * panel->slow_pixels,
           digits, pixel, panel->fast_pixels, panel->slow_pixels);
    printf("Fbeam=%.*g Sbeam=%.*g\n", digits, p.beam[0], digits, p.beam[1]);
    printf("Fclose=%.*g Sclose=%.*g\n", digits, p.near[0], digits, p.near[1]);
    printf("close_distance=%.*g\n", digits, p.close_distance);
    print_vector("DIRECTION_OF_DETECTOR_X-AXIS", p.fast, digits);
    print_vector("DIRECTION_OF_DETECTOR_Y-AXIS", p.slow, digits);
    print_vector("DIRECTION_OF_DETECTOR_Z-AXIS", p.normal, digits);
    print_vector("pix0_vector", p.origin, digits);
    print_vector("INCIDENT_BEAM_DIRECTION", e->beam.direction, digits);
    print_vector("spindle ROTATION_AXIS", e->goniometer.spindle_axis, digits);
    print_vector("POLARIZATION_PLANE_NORMAL", e->beam.polarization_axis, digits);
}

/* Solid angle of the rectangle between the near point and (x, y) on a plane at distance z. */
static double corner_angle(double x, double y, double z) {
    return atan2(x * y, z * sqrt(x * x + y * y + z * z));
}

void db_report_solid_angle(const db_session *session) {
    const db_experiment *e = &session->experiment;
    const db_region *roi = &session->region;
    const double pixel = 1e-3 * e->detector.panels[0].pixel_size[0];
    const int digits = session->settings.digits;
    const placement p = place(e);
    if (session->settings.quiet || e->point_pixel) return;
    const double x1 = roi->fast_start * pixel - p.near[0], x2 = x1 + roi->fast_count * pixel;
    const double y1 = roi->slow_start * pixel - p.near[1], y2 = y1 + roi->slow_count * pixel;
    const double z = p.close_distance;
    const double omega = corner_angle(x2, y2, z) - corner_angle(x1, y2, z) -
                         corner_angle(x2, y1, z) + corner_angle(x1, y1, z);
    printf("solid angle subtended by detector = %.*g steradian ( %.*g%% sphere)\n", digits, omega,
           digits, 100 * omega / 12.566370614359172954);
}
