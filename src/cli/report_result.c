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

/* Solid angle of a whole pixel. */
typedef double (*pixel_angle)(const db_experiment *e, const void *data, int fast, int slow);

static double flat_pixel(const db_experiment *e, const void *data, int fast, int slow) {
    return rectangle_angle(data, e->detector.panels[0].pixel_size[0], fast, slow, 1, 1);
}

/* Pixels of a sphere are all the same. */
static double curved_pixel(const db_experiment *e, const void *data, int fast, int slow) {
    const db_smv_geometry *g = data;
    const double ratio = e->detector.panels[0].pixel_size[0] / g->distance;
    (void)fast;
    (void)slow;
    return ratio * ratio;
}

/* The reference's, of the first sub-pixel. */
static double sampled_pixel(const db_experiment *e, const void *data, int fast, int slow) {
    const double first = 0.5 / e->oversample;
    return db_trace_solid_angle(data, 0, fast + first, slow + first);
}

static double sum_of_pixels(const db_session *session, pixel_angle angle, const void *data,
                            const unsigned char *mask) {
    const db_region *r = &session->region;
    double sum = 0;
    for (int slow = 0; slow < r->slow_count; slow++)
        for (int fast = 0; fast < r->fast_count; fast++)
            if (!mask || mask[r->offset + (size_t)slow * r->stride + (size_t)fast])
                sum +=
                    angle(&session->experiment, data, r->fast_start + fast, r->slow_start + slow);
    return sum;
}

static db_status right_angle(const db_session *session, const unsigned char *mask, double *angle) {
    const db_experiment *e = &session->experiment;
    const db_region *r = &session->region;
    db_smv_geometry geometry;
    const db_status status = db_smv_geometry_get(session->context, e, &geometry);
    if (status != DB_OK) return status;
    if (e->detector.curved || mask)
        *angle =
            sum_of_pixels(session, e->detector.curved ? curved_pixel : flat_pixel, &geometry, mask);
    else
        *angle = rectangle_angle(&geometry, e->detector.panels[0].pixel_size[0], r->fast_start,
                                 r->slow_start, r->fast_count, r->slow_count);
    return DB_OK;
}

/* The reference adds up all layers and divides by all steps, not by those of one direction. */
static db_status reference_angle(const db_session *session, const unsigned char *mask,
                                 double *angle) {
    const db_experiment *e = &session->experiment;
    db_trace *trace = NULL;
    const db_status status = db_trace_create(session->context, e, &trace);
    if (status != DB_OK) return status;
    *angle = sum_of_pixels(session, sampled_pixel, trace, mask) * e->detector.sensor_layers /
             ((double)e->beam.source_count * e->goniometer.phi_steps * e->crystal.mosaic_domains);
    db_trace_destroy(&trace);
    return DB_OK;
}

db_status db_report_solid_angle(const db_session *session, const unsigned char *mask) {
    const db_experiment *e = &session->experiment;
    const int digits = session->settings.digits, compat = session->settings.setup.compat;
    double angle = 0;
    if (session->settings.quiet || (e->point_pixel && !compat)) return DB_OK;
    if (e->detector.panel_count > 1) return DB_OK;
    const db_status status =
        compat ? reference_angle(session, mask, &angle) : right_angle(session, mask, &angle);
    if (status != DB_OK) return status;
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
