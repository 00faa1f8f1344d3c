#define _POSIX_C_SOURCE 200809L /* strdup */
/* The frame in which dxtbx sees images: x along the spindle, z against the beam; and the names of numbered images. */
#include "io/experiments/dxtbx.h"

#include "base/context_internal.h"
#include "base/degree.h"
#include "base/frame_name.h"
#include "base/path.h"
#include "base/vector.h"

#include <dualbragg/expert/dials_frame.h>
#include <dualbragg/expert/experiment_geometry.h>
#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define LANES 1
#define REAL double
#define DIRS 0
#include "ad/lane.h"

#include "ad/num.h"

/* Cosine to -z up to which a beam is taken to travel along it: 10 degree. */
static const double NEARLY_ALONG = 0.9848;

void db_dials_frame(const db_experiment *experiment, double frame[3][3]) {
    double *const x = frame[0];
    double *const y = frame[1];
    double *const z = frame[2];
    for (int i = 0; i < 3; i++) z[i] = -experiment->beam.direction[i];
    db_normalize(z);
    if (z[2] > NEARLY_ALONG) { /* the beam of such a frame already */
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) frame[i][k] = i == k;
        return;
    }
    const double *candidates[] = { experiment->goniometer.spindle_axis,
                                   experiment->beam.polarization_axis };
    for (int c = 0; c < 2; c++) {
        const double along = db_dot(candidates[c], z);
        for (int i = 0; i < 3; i++) x[i] = candidates[c][i] - along * z[i];
        if (db_dot(x, x) > 1e-6) break;
    }
    db_normalize(x);
    db_cross(z, x, y);
}

void db_turn_by_degrees(const double axis[3], double angle, double vector[3]) {
    const mat3 turn =
        m3_rotation(v3_passive(axis[0], axis[1], axis[2]), n_constant(DB_DEGREE * angle));
    const vec3 turned = m3_apply(turn, v3_passive(vector[0], vector[1], vector[2]));
    vector[0] = turned.x.v;
    vector[1] = turned.y.v;
    vector[2] = turned.z.v;
}

enum { MOST_DIGITS = 9 };

/* Number of digits that end right before `end`. */
static size_t digits_before(const char *start, const char *end) {
    size_t count = 0;
    while (end - count > start && isdigit((unsigned char)end[-1 - (ptrdiff_t)count])) count++;
    return count;
}

db_status db_image_template_of(db_context *context, const char *path, db_image_template *made) {
    *made = (db_image_template){ .text = strdup(path), .number = 1 };
    if (!made->text) return db_fail_memory(context, "the name of an image");
    const long frame = db_frame_split(path, made->text, strlen(path) + 1);
    if (frame > 0) { /* dxtbx counts the images of one file in this way, too */
        made->numbered = made->in_file = 1;
        made->number = (int)frame;
        return DB_OK;
    }
    const char *const name = db_file_name(path);
    const char *const dot = strrchr(name, '.');
    const char *end = name + strlen(name);
    if (!dot || strchr(name, '#')) return DB_OK;
    size_t digits = digits_before(dot + 1, end);
    if (digits < 2 || end - digits != dot + 1) { /* not an extension of digits alone */
        end = dot;
        digits = digits_before(name, end);
    }
    if (!digits || digits > MOST_DIGITS) return DB_OK;
    made->numbered = 1;
    made->number = (int)strtol(end - digits, NULL, 10);
    memset(made->text + (end - digits - path), '#', digits);
    return DB_OK;
}

db_status db_dials_image_number(db_context *context, const char *image, int *number) {
    db_image_template made;
    DB_TRY(db_image_template_of(context, image, &made));
    *number = made.number;
    free(made.text);
    return DB_OK;
}

/* The mean depth (mm) along the ray at which photons are absorbed, as dxtbx computes it: not divided by the
 * fraction that is absorbed. */
static double depth_along_ray(const db_detector *detector, double cosine) {
    const double attenuation = 1e3 / detector->attenuation_depth, /* 1/mm */
        path = 1e-3 * detector->sensor_thickness / cosine;
    if (!(detector->sensor_thickness > 0) || !isfinite(attenuation)) return 0;
    return 1 / attenuation - (path + 1 / attenuation) * exp(-attenuation * path);
}

void db_dials_millimetres(const db_experiment *experiment, size_t panel, const double pixels[2],
                          double millimetres[2]) {
    const db_panel *const p = &experiment->detector.panels[panel];
    double corner[3], axis[2][3], ray[3] = { 0, 0, 0 }, normal[3];
    (void)db_experiment_pixel_position(experiment, panel, 0, 0, corner);
    (void)db_experiment_pixel_position(experiment, panel, 1, 0, axis[0]);
    (void)db_experiment_pixel_position(experiment, panel, 0, 1, axis[1]);
    (void)db_experiment_pixel_position(experiment, panel, pixels[0], pixels[1], ray);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 3; i++) axis[k][i] -= corner[i];
        db_normalize(axis[k]);
    }
    db_cross(axis[0], axis[1], normal);
    db_normalize(ray);
    const double depth = depth_along_ray(&experiment->detector, fabs(db_dot(ray, normal)));
    for (int k = 0; k < 2; k++)
        millimetres[k] = pixels[k] * p->pixel_size[k] - depth * db_dot(ray, axis[k]);
}
