/* XPARM.XDS files as XDS reads them. */
#include "io/experiments/xparm.h"

#include "base/context_internal.h"
#include "base/text_stream.h"
#include "base/vector.h"

#include <dualbragg/expert/experiment_geometry.h>
#include <math.h>
#include <string.h>

static void print_vector(FILE *stream, const double v[3]) {
    fprintf(stream, " %17.9f %17.9f %17.9f\n", v[0], v[1], v[2]);
}

/* The experiment to write, and the rotation back into the file's frame. */
typedef struct writing {
    const db_experiment *experiment;
    double back[9];
} writing;

static void corner_of(const writing *w, size_t panel, double fast, double slow, double corner[3]) {
    (void)db_experiment_pixel_position(w->experiment, panel, fast, slow, corner);
    db_apply(w->back, corner, corner);
}

/* Origin and axes of a panel. */
static void place_of(const writing *w, size_t index, double origin[3], double axis[3][3]) {
    const db_panel *const panel = &w->experiment->detector.panels[index];
    corner_of(w, index, 0, 0, origin);
    corner_of(w, index, panel->fast_pixels, 0, axis[0]);
    corner_of(w, index, 0, panel->slow_pixels, axis[1]);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 3; i++) axis[k][i] -= origin[i];
        db_normalize(axis[k]);
    }
    db_cross(axis[0], axis[1], axis[2]);
}

static void fill_beam(const writing *w, db_xparm *x) {
    double beam[3];
    db_experiment_beam_direction(w->experiment, beam);
    x->wavelength = w->experiment->beam.wavelength;
    for (int i = 0; i < 3; i++) x->beam[i] = beam[i] / x->wavelength; /* as long as XDS writes it */
    db_apply(w->back, x->beam, x->beam);
    db_experiment_spindle_axis(w->experiment, x->spindle);
    db_apply(w->back, x->spindle, x->spindle);
}

static void fill_crystal(const writing *w, db_xparm *x) {
    double a_star[9], reciprocal[9];
    if (!(w->experiment->crystal.cell[0] > 0)) return;
    db_crystal_matrix(&w->experiment->crystal, a_star);
    db_transpose(a_star, reciprocal);
    db_dual_basis(reciprocal, x->real);
    for (int i = 0; i < 3; i++) db_apply(w->back, x->real + 3 * i, x->real + 3 * i);
    memcpy(x->cell, w->experiment->crystal.cell, sizeof x->cell);
}

/* The detector's system is that of the panel if there is one; with several it stays, and the segments are placed
 * in it. */
static void fill_detector(const writing *w, db_xparm *x) {
    double origin[3], axis[3][3];
    place_of(w, 0, origin, axis);
    if (x->segment_count <= 1) {
        memcpy(x->axis, axis, sizeof axis);
        x->distance = db_dot(origin, axis[2]);
        for (int i = 0; i < 2; i++) x->origin[i] = 0.5 - db_dot(origin, axis[i]) / x->pixel_size[i];
        if (x->segment_count == 0) return;
        for (int i = 0; i < 2; i++) x->origin[i] += x->segment->range[2 * i] - 1;
        const db_xparm_segment plain = { .axis = { { 1, 0, 0 }, { 0, 1, 0 } } };
        memcpy(x->segment->origin, plain.origin, sizeof plain.origin);
        memcpy(x->segment->axis, plain.axis, sizeof plain.axis);
        x->segment->distance = 0;
        return;
    }
    /* Several segments: the detector's system stays, and the segments are placed in it. */
    double system[9], local[3];
    memcpy(system, x->axis, sizeof system);
    for (size_t k = 0; k < x->segment_count; k++) {
        db_xparm_segment *const s = &x->segment[k];
        double own[3][3];
        place_of(w, k, origin, axis);
        for (int i = 0; i < 3; i++) db_apply(system, axis[i], own[i]);
        db_apply(system, origin, local);
        for (int i = 0; i < 2; i++) local[i] += x->origin[i] * x->pixel_size[i];
        local[2] -= x->distance;
        memcpy(s->axis, own, sizeof s->axis);
        s->distance = db_dot(local, own[2]);
        for (int i = 0; i < 2; i++)
            s->origin[i] = s->range[2 * i] - 0.5 - db_dot(local, own[i]) / x->pixel_size[i];
    }
}

static void print(FILE *stream, const db_xparm *x) {
    fprintf(stream, "XPARM.XDS    dualbragg\n%6ld %14.6f %12.6f %12.9f %12.9f %12.9f\n",
            x->first_image, x->first_angle, x->osc_range, x->spindle[0], x->spindle[1],
            x->spindle[2]);
    fprintf(stream, " %17.9f %17.9f %17.9f %17.9f\n", x->wavelength, x->beam[0], x->beam[1],
            x->beam[2]);
    fprintf(stream, "%6d %14.6f %14.6f %14.6f %12.6f %12.6f %12.6f\n", x->space_group, x->cell[0],
            x->cell[1], x->cell[2], x->cell[3], x->cell[4], x->cell[5]);
    for (int i = 0; i < 3; i++) print_vector(stream, x->real + 3 * i);
    const size_t segments = x->segment_count ? x->segment_count : 1;
    fprintf(stream, "%9zu %9d %9d %12.8f %12.8f\n", segments, x->pixels[0], x->pixels[1],
            x->pixel_size[0], x->pixel_size[1]);
    fprintf(stream, " %17.9f %17.9f %17.9f\n", x->origin[0], x->origin[1], x->distance);
    for (int i = 0; i < 3; i++) print_vector(stream, x->axis[i]);
    for (size_t k = 0; k < segments; k++) {
        const db_xparm_segment whole = { .range = { 1, x->pixels[0], 1, x->pixels[1] },
                                         .axis = { { 1, 0, 0 }, { 0, 1, 0 } } };
        const db_xparm_segment *const s = x->segment_count ? &x->segment[k] : &whole;
        fprintf(stream, " %9zu %9d %9d %9d %9d\n", k + 1, s->range[0], s->range[1], s->range[2],
                s->range[3]);
        fprintf(stream, " %14.6f %14.6f %14.6f %12.9f %12.9f %12.9f %12.9f %12.9f %12.9f\n",
                s->origin[0], s->origin[1], s->distance, s->axis[0][0], s->axis[0][1],
                s->axis[0][2], s->axis[1][0], s->axis[1][1], s->axis[1][2]);
    }
}

static db_status check_xparm(db_context *context, const char *path, const db_xparm *x,
                             const db_experiment *experiment) {
    const db_detector *const detector = &experiment->detector;
    const size_t count = x->segment_count ? x->segment_count : 1;
    int same = detector->panel_count == count && !detector->curved;
    for (size_t k = 0; k < count && same; k++) {
        const db_panel *const panel = &detector->panels[k];
        const int *const range = x->segment_count ? x->segment[k].range : NULL;
        same = panel->fast_pixels == (range ? range[1] - range[0] + 1 : x->pixels[0]) &&
               panel->slow_pixels == (range ? range[3] - range[2] + 1 : x->pixels[1]);
    }
    return same
               ? DB_OK
               : db_fail(context, DB_ERROR_USAGE,
                         "%s: expected the panels of the file that the experiment came from", path);
}

db_status db_xparm_write(db_context *context, const char *path, const char *source,
                         const db_experiment *experiment) {
    writing w = { .experiment = experiment };
    db_xparm x;
    double turn[9];
    db_text_stream text;
    db_status status = db_xparm_parse(context, source, &x);
    if (status == DB_OK) status = check_xparm(context, path, &x, experiment);
    if (status == DB_OK && !db_xparm_frame(&x, turn))
        status = db_fail(context, DB_ERROR_INPUT, "%s: expected an axis and a beam", source);
    if (status == DB_OK) status = db_text_stream_open(context, &text);
    if (status == DB_OK) {
        db_transpose(turn, w.back);
        fill_beam(&w, &x);
        fill_crystal(&w, &x);
        fill_detector(&w, &x);
        print(text.stream, &x);
        status = db_text_stream_write(context, &text, DB_OK, path);
    }
    db_xparm_clear(&x);
    return status;
}
