/* Experiments of XPARM.XDS files. */
#include "io/experiments/xparm.h"

#include "base/context_internal.h"
#include "base/vector.h"
#include "io/experiments/dxtbx.h"
#include "io/experiments/plain_experiment.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The spindle may be at this cosine to the beam at most for x to be along it: 80 degree. */
static const double STEEPEST = 0.1736;

int db_xparm_frame(const db_xparm *xparm, double turn[9]) {
    double *const x = turn;
    double *const y = turn + 3;
    double *const z = turn + 6;
    double axis[3], along[3];
    memcpy(axis, xparm->spindle, sizeof axis);
    memcpy(along, xparm->beam, sizeof along);
    if (!db_normalize(axis) || !db_normalize(along)) return 0;
    for (int i = 0; i < 3; i++) z[i] = -along[i];
    db_cross(z, axis, y);
    if (!(db_length(y) > 1e-6)) { /* any direction that is not along the beam */
        const double other[3] = { fabs(z[0]) < 0.9, fabs(z[0]) >= 0.9, 0 };
        db_cross(z, other, y);
    }
    db_normalize(y);
    db_cross(y, z, x);
    if (fabs(db_dot(axis, along)) > STEEPEST) return 1;
    memcpy(x, axis, sizeof axis);
    db_cross(x, y, z);
    return 1;
}

/* A file that is being made into an experiment. */
typedef struct placing {
    db_context *context;
    const char *path;
    const db_xparm *xparm;
    double turn[9]; /* from the file's frame */
} placing;

static db_status fail_xparm(const placing *p, const char *expected) {
    return db_fail(p->context, DB_ERROR_INPUT, "%s: expected %s", p->path, expected);
}

/* Makes the axes exactly perpendicular: the file has six digits. */
static db_status read_axes(const placing *p, const double x[3], const double y[3],
                           db_frame *frame) {
    memcpy(frame->fast, x, sizeof frame->fast);
    memcpy(frame->slow, y, sizeof frame->slow);
    if (!db_normalize(frame->fast) || !db_normalize(frame->slow) ||
        !(fabs(db_dot(frame->fast, frame->slow)) < 1e-4))
        return fail_xparm(
            p, "axes of x and y that are perpendicular to each other, of the detector and "
               "of each segment");
    db_frame_complete(frame);
    return DB_OK;
}

/* Pixel numbers count centres from 1: the outer corner of the first pixel is at 0.5. */
static void put_origin(const db_xparm *x, const double corner[2], double distance,
                       db_frame *frame) {
    for (int i = 0; i < 3; i++)
        frame->origin[i] = corner[0] * x->pixel_size[0] * frame->fast[i] +
                           corner[1] * x->pixel_size[1] * frame->slow[i] +
                           distance * frame->normal[i];
}

/* A vector of the detector's system, in the frame of the file. */
static void from_detector(const db_frame *detector, double v[3]) {
    const double x = v[0], y = v[1], z = v[2];
    for (int i = 0; i < 3; i++)
        v[i] = x * detector->fast[i] + y * detector->slow[i] + z * detector->normal[i];
}

/* Places a segment: the file gives it in the detector's system, whose origin is at pixel 0. */
static db_status place_segment(const placing *p, const db_frame *detector,
                               const db_xparm_segment *segment, db_frame *frame) {
    const db_xparm *const x = p->xparm;
    DB_TRY(read_axes(p, segment->axis[0], segment->axis[1], frame));
    const double corner[2] = { segment->range[0] - 0.5 - segment->origin[0],
                               segment->range[2] - 0.5 - segment->origin[1] };
    put_origin(x, corner, segment->distance, frame);
    for (int i = 0; i < 2; i++) frame->origin[i] -= x->origin[i] * x->pixel_size[i];
    frame->origin[2] += x->distance;
    from_detector(detector, frame->fast);
    from_detector(detector, frame->slow);
    from_detector(detector, frame->normal);
    from_detector(detector, frame->origin);
    return DB_OK;
}

static void turn_frame(const double turn[9], db_frame *frame) {
    db_apply(turn, frame->fast, frame->fast);
    db_apply(turn, frame->slow, frame->slow);
    db_apply(turn, frame->normal, frame->normal);
    db_apply(turn, frame->origin, frame->origin);
}

static size_t panels_of(const db_xparm *x) { return x->segment_count ? x->segment_count : 1; }

/* First and last pixel along x, along y, from 1. */
static void range_of(const db_xparm *x, size_t panel, int range[4]) {
    const int all[4] = { 1, x->pixels[0], 1, x->pixels[1] };
    memcpy(range, x->segment_count ? x->segment[panel].range : all, sizeof all);
}

static void size_panels(const db_xparm *x, db_detector *detector, db_expt_content *content) {
    for (size_t k = 0; k < panels_of(x); k++) {
        db_panel *const panel = &detector->panels[k];
        db_expt_panel *const said = &content->panel[k];
        int range[4];
        range_of(x, k, range);
        memcpy(panel->pixel_size, x->pixel_size, sizeof panel->pixel_size);
        panel->fast_pixels = range[1] - range[0] + 1;
        panel->slow_pixels = range[3] - range[2] + 1;
        for (int i = 0; i < 2; i++) /* images hold the whole detector */
            panel->image_offset[i] = range[2 * i] - 1;
        *said = (db_expt_panel){ .trusted = { -INFINITY, INFINITY }, .gain = 1 };
        if (x->segment_count > 1) snprintf(said->name, sizeof said->name, "segment_%zu", k + 1);
    }
}

static db_status hang_panels(const placing *p, const db_beam *beam, db_frame *frame,
                             db_detector *detector) {
    const db_xparm *const x = p->xparm;
    const double corner[2] = { 0.5 - x->origin[0], 0.5 - x->origin[1] };
    db_frame whole;
    DB_TRY(read_axes(p, x->axis[0], x->axis[1], &whole));
    put_origin(x, corner, x->distance, &whole);
    frame[0] = whole;
    for (size_t k = 0; k < x->segment_count; k++)
        DB_TRY(place_segment(p, &whole, &x->segment[k], &frame[k]));
    for (size_t k = 0; k < panels_of(x); k++) turn_frame(p->turn, &frame[k]);
    turn_frame(p->turn, &whole);
    const char *const expected = db_hang_panels(frame, &whole, beam, detector);
    return expected ? fail_xparm(p, expected) : DB_OK;
}

static db_status read_detector(const placing *p, const db_beam *beam, db_detector *detector,
                               db_expt_content *content) {
    const size_t count = panels_of(p->xparm);
    db_frame *frame;
    DB_TRY(db_panels_create(p->context, p->path, count, detector, content, &frame));
    size_panels(p->xparm, detector, content);
    const db_status status = hang_panels(p, beam, frame, detector);
    free(frame);
    return status;
}

static void read_beam(const placing *p, db_beam *beam, db_expt_content *content) {
    double direction[3];
    db_apply(p->turn, p->xparm->beam, direction);
    db_normalize(direction);
    db_beam_set_simple(p->xparm->wavelength, direction, NAN, beam, content);
}

/* The angle at which the image begins, told by the number in its name. */
static db_status read_scan(const placing *p, const char *image, db_goniometer *goniometer,
                           db_expt_content *content) {
    const db_xparm *const x = p->xparm;
    long number = x->first_image;
    if (image) {
        db_image_template named;
        DB_TRY(db_image_template_of(p->context, image, &named));
        if (named.numbered) number = named.number;
        free(named.text);
    }
    content->phi = x->first_angle + (double)(number - x->first_image) * x->osc_range;
    content->osc_range = x->osc_range;
    db_apply(p->turn, x->spindle, goniometer->spindle_axis);
    db_normalize(goniometer->spindle_axis);
    goniometer->phi = content->phi;
    goniometer->phi_step = content->osc_range;
    goniometer->phi_steps = 1;
    return DB_OK;
}

/* The file has cell edges twice: as constants and as the axes, which are used. */
static void compare_edges(const placing *p) {
    for (int i = 0; i < 3; i++) {
        const double said = p->xparm->cell[i], length = db_length(p->xparm->real + 3 * i);
        if (fabs(said / length - 1) > 2e-3)
            db_notice(p->context,
                      "%s: edge %c of the cell, %.6g A, is not the length of its axis, %.6g A: the "
                      "axes are taken",
                      p->path, "abc"[i], said, length);
    }
}

/* A file of XDS before it knows the crystal has 0 there. */
static db_status read_crystal(const placing *p, db_crystal *crystal, db_expt_content *content) {
    double real[9], dual[9], a_star[9];
    const double *const given = p->xparm->real;
    if (!(db_dot(given, given) > 0) && !(db_dot(given + 3, given + 3) > 0)) return DB_OK;
    for (int i = 0; i < 3; i++) db_apply(p->turn, given + 3 * i, real + 3 * i);
    if (!(db_dual_basis(real, dual) > 0)) return fail_xparm(p, "a right-handed basis of the cell");
    db_transpose(dual, a_star);
    DB_TRY(db_crystal_set_matrix(p->context, crystal, a_star));
    content->has_crystal = 1;
    if (p->xparm->space_group > 0)
        snprintf(content->space_group, sizeof content->space_group, "%d", p->xparm->space_group);
    compare_edges(p);
    return DB_OK;
}

static db_status read_models(const placing *p, const char *image, db_experiment *experiment,
                             db_expt_content *content) {
    db_detector *const detector = &experiment->detector;
    read_beam(p, &experiment->beam, content);
    DB_TRY(read_scan(p, image, &experiment->goniometer, content));
    DB_TRY(read_detector(p, &experiment->beam, detector, content));
    db_detector_set_flat(experiment->goniometer.spindle_axis, detector);
    content->attenuation_depth = NAN;
    return read_crystal(p, &experiment->crystal, content);
}

db_status db_xparm_read(db_context *context, const char *path, const db_expt_selection *selection,
                        db_experiment *experiment, db_expt_content *content) {
    db_xparm xparm;
    db_status status = db_xparm_parse(context, path, &xparm);
    placing p = { .context = context, .path = path, .xparm = &xparm };
    if (status == DB_OK && selection->number > 0)
        status = db_fail(context, DB_ERROR_INPUT, "%s: experiment %ld: expected 0, the only one",
                         path, selection->number);
    if (status == DB_OK && !db_xparm_frame(&xparm, p.turn))
        status = fail_xparm(&p, "a rotation axis and a beam of some length");
    if (status == DB_OK) status = read_models(&p, selection->image, experiment, content);
    db_xparm_clear(&xparm);
    return status;
}
