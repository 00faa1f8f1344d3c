/* Is an orientation the one of the crystal on an image? Decided by the image's spots, without a refinement. */
#include "cli/import.h"

#include "base/degree.h"
#include "base/vector.h"
#include "surroundings/surroundings.h"

#include <dualbragg/expert/experiment_geometry.h>
#include <math.h>
#include <stdlib.h>

/* Fractional indices within this of whole numbers are at a node; for a random orientation one in 37 is (0.3^3). */
static const double NEAR = 0.15;
enum { MOST_SPOTS = 200, LEAST_SPOTS = 15 };

typedef struct spot {
    double q[3], length; /* 1/A */
} spot;

static int by_length(const void *a, const void *b) {
    const double x = ((const spot *)a)->length, y = ((const spot *)b)->length;
    return (x > y) - (x < y);
}

/* Is it a strong pixel above its neighbours, the first of equals? */
static int is_peak(const db_measured_image *image, const uint8_t *strong, int f, int s) {
    const size_t width = (size_t)image->fast_pixels, at = (size_t)s * width + (size_t)f;
    if (!strong[at]) return 0;
    for (int ds = -1; ds <= 1; ds++)
        for (int df = -1; df <= 1; df++) {
            const int nf = f + df, ns = s + ds;
            const size_t other = (size_t)ns * width + (size_t)nf;
            if (nf < 0 || ns < 0 || nf >= image->fast_pixels || ns >= image->slow_pixels) continue;
            if (image->value[other] > image->value[at]) return 0;
            if (other < at && !(image->value[other] < image->value[at])) return 0;
        }
    return 1;
}

/* Scattering vector of a pixel's middle, in the crystal's frame at spindle angle 0. */
static spot spot_at(const db_experiment *e, double turned, size_t panel, int f, int s) {
    double position[3], axis[3], q[3];
    spot found;
    db_experiment_pixel_position(e, panel, f + 0.5, s + 0.5, position);
    const double distance = db_length(position);
    for (int i = 0; i < 3; i++)
        q[i] = (position[i] / distance - e->beam.direction[i]) / e->beam.wavelength;
    db_experiment_spindle_axis(e, axis);
    db_turn(axis, 0 - turned * DB_DEGREE, q);
    for (int i = 0; i < 3; i++) found.q[i] = q[i];
    found.length = db_length(q);
    return found;
}

/* The spots of the lowest resolution, where errors of orientation and cell matter least. */
static size_t collect_spots(const db_measured_image *image, const uint8_t *strong,
                            const db_experiment *e, double turned, spot **list) {
    size_t count = 0, room = 0;
    const int rows = image->slow_pixels / (int)e->detector.panel_count;
    for (int s = 0; s < image->slow_pixels; s++)
        for (int f = 0; f < image->fast_pixels; f++) {
            if (!is_peak(image, strong, f, s)) continue;
            if (count == room) {
                spot *const grown = realloc(*list, (room = 2 * room + 256) * sizeof *grown);
                if (!grown) return 0;
                *list = grown;
            }
            (*list)[count++] = spot_at(e, turned, (size_t)(s / rows), f, s % rows);
        }
    if (count) qsort(*list, count, sizeof **list, by_length);
    return count < MOST_SPOTS ? count : MOST_SPOTS;
}

static size_t count_near(const spot *list, size_t count, const double a_star[9]) {
    double inverse[9];
    size_t near = 0;
    if (!db_invert(a_star, inverse)) return 0;
    for (size_t i = 0; i < count; i++) {
        double h[3];
        db_apply(inverse, list[i].q, h);
        near += fabs(h[0] - rint(h[0])) < NEAR && fabs(h[1] - rint(h[1])) < NEAR &&
                fabs(h[2] - rint(h[2])) < NEAR;
    }
    return near;
}

/* Does the image have the experiment's panels, one below the other? */
static int has_its_panels(const db_measured_image *image, const db_experiment *e) {
    size_t rows = 0;
    for (size_t p = 0; p < e->detector.panel_count; p++) {
        const db_panel *const panel = &e->detector.panels[p];
        if (panel->fast_pixels != image->fast_pixels ||
            panel->slow_pixels != e->detector.panels[0].slow_pixels)
            return 0;
        rows += (size_t)panel->slow_pixels;
    }
    return rows == (size_t)image->slow_pixels;
}

int db_imported_try_orientation(db_context *context, const char *name, const db_imported *geometry,
                                const double a_star[9], size_t spots[2]) {
    const db_surroundings_options options = {
        .half_width = 10, .gain = 1, .readout_noise = 3, .strong_sigma = 6
    };
    db_measured_image image;
    spot *list = NULL;
    spots[0] = spots[1] = 0;
    if (db_read_image(context, name, &image) != DB_OK) return 1;
    const size_t count = (size_t)image.fast_pixels * (size_t)image.slow_pixels;
    float *const background = malloc(count * sizeof *background);
    uint8_t *const strong = malloc(count);
    if (background && strong && has_its_panels(&image, &geometry->experiment) &&
        db_surroundings_find(context, &image, &options, background, strong) == DB_OK) {
        spots[0] = collect_spots(&image, strong, &geometry->experiment, geometry->turned, &list);
        spots[1] = count_near(list, spots[0], a_star);
    }
    free(list);
    free(strong);
    free(background);
    db_measured_image_clear(&image);
    const double chance = (double)spots[0] * pow(2 * NEAR, 3);
    return spots[0] < LEAST_SPOTS || (double)spots[1] > chance + 4 * sqrt(chance);
}
