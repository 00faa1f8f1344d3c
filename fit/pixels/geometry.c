/* Geometry of rays, computed once for an experiment. */
#include "fit/pixels/geometry.h"

#include "base/context_internal.h"
#include "base/degree.h"
#include "base/mosaic_cap.h"
#include "base/vector.h"

#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/expert/sensor_depth.h>

#include <math.h>
#include <stdlib.h>

/* Reciprocal matrix in the middle of the goniometer's range. */
static void turned_matrix(const db_experiment *e, double a_star[9], double *half_rotation) {
    const double phi = db_goniometer_middle(e, half_rotation) * DB_DEGREE;
    double axis[3];
    db_experiment_spindle_axis(e, axis);
    db_crystal_matrix(&e->crystal, a_star);
    db_turn_columns(axis, phi, a_star);
}

/* Intensity falls from a node as exp(-2 (N x)^2/0.63), x in units of the reciprocal axis: a
 * standard deviation of 0.4/(N a). */
static double node_width(const db_crystal *crystal) {
    double smallest = INFINITY;
    for (int i = 0; i < 3; i++) smallest = fmin(smallest, crystal->Ncells[i] * crystal->cell[i]);
    return 0.4 / smallest;
}

db_spread db_spread_of_domains(const db_crystal *c) {
    db_spread s = { .spots = DB_SPOTS_CLOSED };
    if (c->mosaic_anisotropic)
        for (int i = 0; i < 3; i++) s.mosaic_tensor[i] = pow(DB_RMS_OF_CAP * c->mosaic_abc[i], 2);
    else if (c->mosaic_domains > 1)
        s.mosaic = pow(DB_RMS_OF_CAP * c->mosaic_spread, 2);
    return s;
}

/* Angle of the mean variance about three axes. */
static double mosaic_angle(const db_experiment *e) {
    const db_spread s =
        e->spread.spots == DB_SPOTS_CLOSED ? e->spread : db_spread_of_domains(&e->crystal);
    const double *const tensor = s.mosaic_tensor;
    return sqrt(fmax(0, s.mosaic + (tensor[0] + tensor[1] + tensor[2]) / 3));
}

/* Least and largest wave number of the sources with weight, of all directions. */
static void find_wave_numbers(const db_experiment *e, double wave_number[2]) {
    wave_number[0] = INFINITY;
    wave_number[1] = 0;
    for (size_t j = 0; j < e->beam.source_count; j++) {
        const double k = 1 / db_experiment_source_wavelength(e, j);
        if (!(e->beam.sources[j].weight > 0)) continue;
        wave_number[0] = fmin(wave_number[0], k);
        wave_number[1] = fmax(wave_number[1], k);
    }
}

db_status db_panel_axes(const db_experiment *experiment, size_t panel, double corner[3],
                        double fast[3], double slow[3]) {
    DB_TRY(db_experiment_pixel_position(experiment, panel, 0, 0, corner));
    DB_TRY(db_experiment_pixel_position(experiment, panel, 1, 0, fast));
    DB_TRY(db_experiment_pixel_position(experiment, panel, 0, 1, slow));
    for (int i = 0; i < 3; i++) {
        fast[i] -= corner[i];
        slow[i] -= corner[i];
    }
    return DB_OK;
}

static db_status place_panel(db_context *context, const db_experiment *experiment, size_t p,
                             db_panel_geometry *panel) {
    double corner[3], fast[3], slow[3], crystal[3];
    panel->pixels[0] = experiment->detector.panels[p].fast_pixels;
    panel->pixels[1] = experiment->detector.panels[p].slow_pixels;
    DB_TRY(db_panel_axes(experiment, p, corner, fast, slow));
    db_experiment_crystal_position(experiment, crystal);
    for (int i = 0; i < 3; i++) {
        corner[i] -= crystal[i];
        panel->position[3 * i] = fast[i];
        panel->position[3 * i + 1] = slow[i];
        panel->position[3 * i + 2] = corner[i];
    }
    db_cross(fast, slow, panel->normal);
    const double length = copysign(db_length(panel->normal), db_dot(panel->normal, corner));
    for (int i = 0; i < 3; i++) panel->normal[i] /= length;
    if (!db_invert(panel->position, panel->to_pixels))
        return db_fail(context, DB_ERROR_INPUT,
                       "detector: the plane of panel %zu goes through the sample", p);
    return DB_OK;
}

db_status db_fit_geometry_of(db_context *context, const db_experiment *experiment,
                             db_fit_geometry *geometry) {
    turned_matrix(experiment, geometry->a_star, &geometry->half_rotation);
    db_experiment_beam_direction(experiment, geometry->direction);
    geometry->node_width = node_width(&experiment->crystal);
    geometry->mosaic_angle = mosaic_angle(experiment);
    for (int i = 0; i < 3; i++)
        geometry->s0[i] = geometry->direction[i] / experiment->beam.wavelength;
    geometry->panel_count = experiment->detector.panel_count;
    geometry->sensor = experiment->detector;
    geometry->sensor.panels = NULL;
    geometry->panel = malloc(geometry->panel_count * sizeof *geometry->panel);
    find_wave_numbers(experiment, geometry->wave_number);
    db_status status = db_need_memory(context, geometry->panel, "the panels of the detector");
    for (size_t p = 0; p < geometry->panel_count && status == DB_OK; p++)
        status = place_panel(context, experiment, p, &geometry->panel[p]);
    if (status != DB_OK) db_fit_geometry_clear(geometry);
    return status;
}

void db_fit_geometry_clear(db_fit_geometry *geometry) {
    free(geometry->panel);
    geometry->panel = NULL;
    geometry->panel_count = 0;
}

int db_fit_geometry_on_panel(const db_fit_geometry *geometry, size_t panel, const double s1[3],
                             double pixel[2]) {
    const db_panel_geometry *const g = &geometry->panel[panel];
    double u[3], normal[3];
    db_apply(g->to_pixels, s1, u);
    if (!(u[2] > 0)) return 0;
    for (int i = 0; i < 2; i++) pixel[i] = u[i] / u[2];
    if (!(geometry->sensor.sensor_thickness > 0)) return 1;
    /* s1/u[2] is on the front; the ray is recorded farther on, in the pixel in front of that place */
    const double cosine = db_dot(s1, g->normal) / db_length(s1),
                 depth = db_sensor_depth(&geometry->sensor, cosine),
                 beyond = depth * u[2] / (db_length(s1) * cosine);
    db_apply(g->to_pixels, g->normal, normal);
    for (int i = 0; i < 2; i++) pixel[i] += pixel[i] * beyond - depth * normal[i];
    return 1;
}

int db_fit_geometry_meets(const db_fit_geometry *geometry, const double s1[3], size_t *panel,
                          double pixel[2]) {
    for (size_t p = 0; p < geometry->panel_count; p++) {
        const int *const pixels = geometry->panel[p].pixels;
        if (!db_fit_geometry_on_panel(geometry, p, s1, pixel)) continue;
        if (!(pixel[0] >= 0 && pixel[0] < pixels[0] && pixel[1] >= 0 && pixel[1] < pixels[1]))
            continue;
        *panel = p;
        return 1;
    }
    return 0;
}

void db_fit_geometry_scattering(const db_fit_geometry *geometry, size_t panel,
                                const double position[2], double q[3]) {
    enum { ROUNDS = 4 }; /* each round brings the depth along the ray a thousand times nearer */
    const double pixel[3] = { position[0], position[1], 1 };
    const db_panel_geometry *const g = &geometry->panel[panel];
    double front[3];
    db_apply(g->position, pixel, front);
    for (int i = 0; i < 3; i++) q[i] = front[i];
    for (int round = 0; round < (geometry->sensor.sensor_thickness > 0 ? ROUNDS : 0); round++) {
        const double depth =
            db_sensor_depth(&geometry->sensor, db_dot(q, g->normal) / db_length(q));
        for (int i = 0; i < 3; i++) q[i] = front[i] + depth * g->normal[i];
    }
    const double stretch = db_length(geometry->s0) / db_length(q);
    for (int i = 0; i < 3; i++) q[i] = q[i] * stretch - geometry->s0[i];
}

double db_fit_geometry_resolution(const db_fit_geometry *geometry, size_t panel, double fast,
                                  double slow) {
    const double position[2] = { fast, slow };
    double q[3];
    db_fit_geometry_scattering(geometry, panel, position, q);
    return 1 / db_length(q);
}

int db_fit_geometry_is_wanted(const db_fit_geometry *geometry, const db_fit_settings *settings,
                              size_t panel, const double at[2]) {
    const int *const roi = settings->roi;
    if (!db_fit_is_in_range(settings, db_fit_geometry_resolution(geometry, panel, at[0], at[1])))
        return 0;
    return settings->intensity != DB_FIT_KNOWN ||
           ((roi[0] < 0 || at[0] >= roi[0]) && (roi[1] < 0 || at[0] <= roi[1] + 1) &&
            (roi[2] < 0 || at[1] >= roi[2]) && (roi[3] < 0 || at[1] <= roi[3] + 1));
}

double db_fit_geometry_finest(const db_fit_geometry *geometry) {
    double finest = INFINITY;
    for (size_t p = 0; p < geometry->panel_count; p++)
        for (int corner = 0; corner < 4; corner++) {
            const int *const pixels = geometry->panel[p].pixels;
            finest =
                fmin(finest, db_fit_geometry_resolution(geometry, p, corner & 1 ? pixels[0] : 0,
                                                        corner & 2 ? pixels[1] : 0));
        }
    return finest;
}

/* Regions of neighbouring places. */

static int ascending(const void *a, const void *b) {
    const db_place *const x = a;
    const db_place *const y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static double extent(const db_place *list, size_t count, int axis) {
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        least = fmin(least, list[i].q[axis]);
        most = fmax(most, list[i].q[axis]);
    }
    return most - least;
}

void db_regions_cut(db_place *list, size_t count, int regions) {
    if (regions < 2) return;
    int longest = 0;
    for (int axis = 1; axis < 3; axis++)
        if (extent(list, count, axis) > extent(list, count, longest)) longest = axis;
    for (size_t i = 0; i < count; i++) list[i].key = list[i].q[longest];
    qsort(list, count, sizeof *list, ascending);
    db_regions_cut(list, count / 2, regions / 2);
    db_regions_cut(list + count / 2, count - count / 2, regions / 2);
}
