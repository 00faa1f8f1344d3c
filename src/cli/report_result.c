#include "cli/report_result.h"

#include "io/smv_geometry.h"

#include <math.h>
#include <stdio.h>

static const double SPHERE = 12.566370614359172954; /* steradian */

/* Solid angle of the rectangle between the near point and (x, y) on a plane at distance z. */
static double corner_angle(double x, double y, double z) {
    return atan2(x * y, z * sqrt(x * x + y * y + z * z));
}

/* Of the pixels [fast, fast + width) x [slow, slow + height). */
static double rectangle_angle(const db_smv_geometry *g, double pixel, int fast, int slow, int width,
                              int height) {
    const double z = g->close_distance;
    const double x1 = fast * pixel - g->near_point[0], x2 = x1 + width * pixel;
    const double y1 = slow * pixel - g->near_point[1], y2 = y1 + height * pixel;
    return corner_angle(x2, y2, z) - corner_angle(x1, y2, z) - corner_angle(x2, y1, z) +
           corner_angle(x1, y1, z);
}

/* A pixel's, by its kind. Point pixels: the reference's 1/R^2 (1/m^2). */
static double pixel_angle(const db_experiment *e, const db_smv_geometry *g, int fast, int slow) {
    const double pixel = e->detector.panels[0].pixel_size[0];
    if (e->detector.curved) return pixel * pixel / (g->distance * g->distance);
    if (!e->point_pixel) return rectangle_angle(g, pixel, fast, slow, 1, 1);
    const double x = (fast + 0.5) * pixel - g->near_point[0],
                 y = (slow + 0.5) * pixel - g->near_point[1], z = g->close_distance;
    return 1e6 / (x * x + y * y + z * z);
}

static double region_angle(const db_session *session, const db_smv_geometry *g,
                           const unsigned char *mask) {
    const db_experiment *e = &session->experiment;
    const db_region *r = &session->region;
    if (!mask && !e->point_pixel && !e->detector.curved)
        return rectangle_angle(g, e->detector.panels[0].pixel_size[0], r->fast_start, r->slow_start,
                               r->fast_count, r->slow_count);
    double sum = 0;
    for (int slow = 0; slow < r->slow_count; slow++)
        for (int fast = 0; fast < r->fast_count; fast++)
            if (!mask || mask[r->offset + (size_t)slow * r->stride + (size_t)fast])
                sum += pixel_angle(e, g, r->fast_start + fast, r->slow_start + slow);
    return sum;
}

/* The reference adds up all layers and divides by all steps, not by those of one direction. */
static double reference_factor(const db_experiment *e) {
    return (double)e->detector.sensor_layers /
           ((double)e->beam.source_count * e->goniometer.phi_steps * e->crystal.mosaic_domains);
}

db_status db_report_solid_angle(const db_session *session, const unsigned char *mask) {
    const db_experiment *e = &session->experiment;
    const int digits = session->settings.digits, compat = session->settings.setup.compat;
    db_smv_geometry geometry;
    if (session->settings.quiet || (e->point_pixel && !compat)) return DB_OK;
    const db_status status = db_smv_geometry_get(session->context, e, &geometry);
    if (status != DB_OK) return status;
    const double angle =
        region_angle(session, &geometry, mask) * (compat ? reference_factor(e) : 1);
    printf("\nsolid angle subtended by detector = %.*g steradian ( %.*g%% sphere)\n", digits, angle,
           digits, 100 * angle / SPHERE);
    return DB_OK;
}

void db_report_statistics(const db_session *session, const db_image_statistics *s) {
    if (session->settings.quiet) return;
    const int digits = session->settings.digits, sub = session->experiment.oversample;
    const double pixel = 1e-3 * session->experiment.detector.panels[0].pixel_size[0];
    /* the last sub-pixel's place, as the reference has it */
    const double last = (sub - 0.5) / sub;
    const int found = s->fast >= 0;
    printf("max_I = %.*g  at %.*g %.*g\n", digits, s->largest, digits,
           found ? (s->fast + last) * pixel : 0, digits, found ? (s->slow + last) * pixel : 0);
    printf("mean= %.*g rms= %.*g rmsd= %.*g\n", digits, s->mean, digits, s->rms, digits, s->rmsd);
}
