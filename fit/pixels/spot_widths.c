/* A line through the variances of spots along their circles about the beam. */
#include "fit/pixels/spot_widths.h"

#include "base/context_internal.h"
#include "base/quantile.h"
#include "base/vector.h"
#include "fit/pixels/geometry.h"
#include "fit/pixels/observed_spots.h"

#include <dualbragg/expert/experiment_geometry.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST = 600,  /* strongest spots: those with faint ends that are seen */
    FEWEST = 12, /* of which a third is enough for a median */
    PIXELS = 4   /* of a spot, at least */
};

/* A spot as a point of the line. */
typedef struct width {
    double reach; /* pixels^2 per degree^2: by how much a turn about the beam moves it, squared */
    double variance;  /* pixels^2 */
    double per_pixel; /* 1/angstrom */
} width;

static int stronger_first(const void *a, const void *b) {
    const double x = ((const db_observed_spot *)a)->counts,
                 y = ((const db_observed_spot *)b)->counts;
    return (x < y) - (x > y);
}

static int nearer_first(const void *a, const void *b) {
    const double x = ((const width *)a)->reach, y = ((const width *)b)->reach;
    return (x > y) - (x < y);
}

static int look_at(const db_fit_geometry *g, const db_observed_spot *spot, width *w) {
    const double *const c = spot->covariance, degree = 3.14159265358979323846 / 180;
    double s1[3], q[3], beside[3], here[2], moved[2];
    if (spot->pixels < PIXELS) return 0;
    db_fit_geometry_scattering(g, spot->panel, spot->position, q);
    for (int i = 0; i < 3; i++) s1[i] = q[i] + g->s0[i];
    if (!db_fit_geometry_on_panel(g, spot->panel, s1, here)) return 0;
    db_turn(g->direction, degree, s1);
    if (!db_fit_geometry_on_panel(g, spot->panel, s1, moved)) return 0;
    const double u[2] = { moved[0] - here[0], moved[1] - here[1] },
                 reach = u[0] * u[0] + u[1] * u[1], length = sqrt(reach);
    if (!(reach > 0)) return 0;
    const double next[2] = { spot->position[0] + u[0] / length, spot->position[1] + u[1] / length };
    db_fit_geometry_scattering(g, spot->panel, next, beside);
    for (int i = 0; i < 3; i++) beside[i] -= q[i];
    *w = (width){ reach, (c[0] * u[0] * u[0] + c[1] * u[1] * u[1] + 2 * c[2] * u[0] * u[1]) / reach,
                  db_length(beside) };
    return 1;
}

/* Medians of a part of the points. */
static width middle_of(const width *w, size_t count, double *room) {
    width m;
    for (size_t i = 0; i < count; i++) room[i] = w[i].reach;
    m.reach = db_median(room, count);
    for (size_t i = 0; i < count; i++) room[i] = w[i].variance;
    m.variance = db_median(room, count);
    for (size_t i = 0; i < count; i++) room[i] = w[i].per_pixel;
    m.per_pixel = db_median(room, count);
    return m;
}

/* Through the medians of the nearest and of the farthest third. */
static void fit_line(width *w, size_t count, double pixel, double *room, db_spot_widths *widths) {
    const size_t third = count / 3;
    qsort(w, count, sizeof *w, nearer_first);
    const width near = middle_of(w, third, room), far = middle_of(w + count - third, third, room),
                all = middle_of(w, count, room);
    const double slope = far.reach > 1.2 * near.reach
                             ? (far.variance - near.variance) / (far.reach - near.reach)
                             : 0;
    const double turned = fmax(0, slope), least = 1 / 12.0; /* of a pixel */
    *widths =
        (db_spot_widths){ .count = count,
                          .alike = fmax(least, all.variance - turned * all.reach) * pixel * pixel,
                          .turned = turned,
                          .q_per_mm = all.per_pixel / pixel };
}

static db_status take_spots(db_context *context, const db_experiment *experiment,
                            db_observed_spots *spots, db_spot_widths *widths) {
    db_fit_geometry geometry;
    width w[MOST];
    double room[MOST];
    size_t count = 0;
    DB_TRY(db_fit_geometry_of(context, experiment, &geometry));
    qsort(spots->spot, spots->count, sizeof *spots->spot, stronger_first);
    for (size_t i = 0; i < spots->count && count < MOST; i++)
        count += (size_t)look_at(&geometry, &spots->spot[i], &w[count]);
    db_fit_geometry_clear(&geometry);
    if (count >= FEWEST)
        fit_line(w, count, experiment->detector.panels[0].pixel_size[0], room, widths);
    return DB_OK;
}

db_status db_spot_widths_measure(db_context *context, const db_experiment *experiment,
                                 const db_measured_image *image, const db_fit_settings *settings,
                                 db_spot_widths *widths) {
    db_strong_pixels strong;
    db_observed_spots spots;
    memset(widths, 0, sizeof *widths);
    DB_TRY(db_strong_pixels_find(context, image, settings, &strong));
    db_status status = db_observed_spots_find(context, image, &strong, &spots);
    db_strong_pixels_clear(&strong);
    DB_TRY(status);
    status = take_spots(context, experiment, &spots, widths);
    db_observed_spots_clear(&spots);
    return status;
}
