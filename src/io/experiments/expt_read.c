/* DIALS experiment lists (.expt): the models of dxtbx in JSON, read into an experiment. */
#include <dualbragg/io.h>

#include "base/context_internal.h"
#include "io/format_readers.h"
#include "io/images/image_layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *db_expt_map_name(db_expt_map map) {
    static const char *const names[] = { "mask", "gain", "pedestal", "dx", "dy" };
    return map < DB_EXPT_MAP_COUNT ? names[map] : "";
}

#if defined(DB_HAVE_JANSSON)
#include "base/json_kept.h"
#include "io/experiments/dxtbx.h"
#include "io/experiments/expt_detector.h"
#include "io/experiments/expt_scan.h"
#include "io/experiments/expt_unused.h"
#include "io/experiments/plain_experiment.h"
#include "base/path.h"
#include "base/rotation.h"
#include "base/vector.h"

#include <stdio.h>

/* The models of the chosen experiment; those that it lacks have no value. */
typedef struct models {
    db_json experiment, beam, detector, goniometer, scan, crystal, imageset;
} models;

/* The model that an experiment refers to by its number, in the list of all models of that kind. */
static db_status model_of(const db_json *root, const db_json *experiment, const char *kind,
                          db_json *model) {
    const db_json reference = db_json_member(experiment, kind), list = db_json_member(root, kind);
    *model = list;
    model->value = NULL;
    if (!reference.value) return DB_OK;
    const json_int_t number = json_integer_value(reference.value);
    if (!json_is_integer(reference.value) || number < 0 ||
        (size_t)number >= json_array_size(list.value))
        return db_json_fail(&reference, "the number of a model in the list");
    *model = db_json_element(&list, (size_t)number);
    return model->value && !json_is_object(model->value) ? db_json_fail(model, "an object") : DB_OK;
}

/* *found: 1 if the experiment has the image, or image is NULL. Experiments may share a sequence; the scan of each
 * then tells its images. */
static db_status experiment_shows(const db_json *root, const db_json *experiment, const char *image,
                                  int *found) {
    db_json imageset, scan;
    int range[2];
    *found = 1;
    if (!image) return DB_OK;
    DB_TRY(model_of(root, experiment, "imageset", &imageset));
    DB_TRY(model_of(root, experiment, "scan", &scan));
    const long number = db_imageset_number(&imageset, image);
    *found = number >= 0;
    const db_json images = db_json_member(&scan, "image_range");
    if (!images.value || !db_json_text(&imageset, "template")) return DB_OK;
    DB_TRY(db_json_integers(&images, range, 2));
    *found = number >= range[0] && number <= range[1];
    return DB_OK;
}

/* Fails because several experiments fit; the message names the first of them. */
static db_status fail_several(const db_json *list, const char *image, size_t count,
                              const size_t first[2]) {
    return db_fail(list->context, DB_ERROR_INPUT,
                   "%s: %zu experiments%s%s, the first ones number %zu and %zu (from 0); expected "
                   "the number of one",
                   list->path, count, image ? " show " : "", image ? db_file_name(image) : "",
                   first[0], first[1]);
}

static db_status select_one(const db_json *root, const db_expt_selection *selection,
                            size_t *number) {
    const db_json list = db_json_member(root, "experiment");
    const size_t count = json_array_size(list.value);
    if (count == 0) return db_json_fail(&list, "a list of experiments");
    if (selection->number >= 0) {
        *number = (size_t)selection->number;
        if (*number < count) return DB_OK;
        return db_fail(root->context, DB_ERROR_INPUT,
                       "%s: experiment %ld: expected a number from 0 to %zu", root->path,
                       selection->number, count - 1);
    }
    size_t fitting = 0, first[2] = { 0, 0 };
    for (size_t i = 0; i < count; i++) {
        const db_json one = db_json_element(&list, i);
        int found = 0;
        DB_TRY(experiment_shows(root, &one, count > 1 ? selection->image : NULL, &found));
        if (!found) continue;
        if (fitting < 2) first[fitting] = i;
        fitting++;
    }
    *number = first[0];
    if (fitting == 1) return DB_OK;
    if (fitting > 1) return fail_several(&list, selection->image, fitting, first);
    return db_fail(root->context, DB_ERROR_INPUT,
                   "%s: none of the %zu experiments shows %s; expected the number of one",
                   root->path, count, db_file_name(selection->image));
}

/* Refuses beams of several wavelengths: the model would use one of them only. */
static db_status check_beam(const models *m) {
    const char *const kind = db_json_text(&m->beam, "__id__");
    double range[2] = { 0, 0 };
    if (!kind || strcmp(kind, "monochromatic") == 0 || strcmp(kind, "xfel") == 0) return DB_OK;
    if (strcmp(kind, "polychromatic") == 0) {
        DB_TRY(db_json_optional_numbers(&m->beam, "wavelength_range", range, 2));
        return db_fail(
            m->beam.context, DB_ERROR_UNSUPPORTED,
            "%s: %s: expected a monochromatic beam, found a polychromatic one (%g to %g A) without "
            "a spectrum; give the beam a wavelength, and its spectrum beside the list",
            m->beam.path, m->beam.place, range[0], range[1]);
    }
    return db_fail(m->beam.context, DB_ERROR_UNSUPPORTED,
                   "%s: %s: expected a beam that is monochromatic, found '%.40s'", m->beam.path,
                   m->beam.place, kind);
}

/* For a beam that moves along the scan: its vector to the source (against) and wavelength at the image. */
static db_status move_beam(const models *m, const db_scan_place *place, double against[3],
                           double *wavelength) {
    double s0[3];
    int found;
    DB_TRY(db_mean_at_scan_points(&m->beam, "s0_at_scan_points", place, s0, 3, &found));
    if (!found) return DB_OK;
    const double length = db_length(s0);
    const db_json points = db_json_member(&m->beam, "s0_at_scan_points");
    if (!(length > 1e-6)) return db_json_fail(&points, "vectors of length 1/wavelength");
    *wavelength = 1 / length;
    for (int i = 0; i < 3; i++) against[i] = -s0[i];
    return DB_OK;
}

static db_status read_beam(const models *m, const db_scan_place *place, db_beam *beam) {
    double against[3], normal[3] = { 0, 1, 0 }, fraction = DB_LISTED_POLARIZATION;
    if (!m->beam.value) return db_json_fail(&m->beam, "the experiment's beam");
    DB_TRY(check_beam(m));
    const db_json direction = db_json_member(&m->beam, "direction"),
                  wavelength = db_json_member(&m->beam, "wavelength"),
                  plane = db_json_member(&m->beam, "polarization_normal"),
                  polarized = db_json_member(&m->beam, "polarization_fraction");
    DB_TRY(db_json_numbers(&direction, against, 3));
    beam->wavelength = NAN;
    DB_TRY(move_beam(m, place, against, &beam->wavelength));
    if (!isnan(place->wavelength)) beam->wavelength = place->wavelength;
    if (isnan(beam->wavelength)) DB_TRY(db_json_number(&wavelength, &beam->wavelength));
    if (plane.value) DB_TRY(db_json_numbers(&plane, normal, 3));
    if (polarized.value) DB_TRY(db_json_number(&polarized, &fraction));
    if (!(beam->wavelength > 0)) return db_json_fail(&wavelength, "a length > 0 (A)");
    if (!(fraction >= 0 && fraction <= 1)) return db_json_fail(&polarized, "a part of 1");
    if (!db_normalize(against)) return db_json_fail(&direction, "a vector of some length");
    /* E is perpendicular to the beam and to the normal of its plane. */
    db_cross(against, normal, beam->polarization_axis);
    if (!db_normalize(beam->polarization_axis))
        return db_json_fail(&plane, "a vector that is not along the beam");
    for (int i = 0; i < 3; i++) beam->direction[i] = -against[i];
    beam->polarization = 2 * fraction - 1;
    beam->source_count = 1;
    beam->sources[0] = (db_source){ .wavelength_ratio = 1, .weight = 1 };
    memcpy(beam->sources[0].direction, beam->direction, sizeof beam->direction);
    return DB_OK;
}

static db_status read_axis(const db_json *at, double axis[3]) {
    DB_TRY(db_json_numbers(at, axis, 3));
    return db_normalize(axis) ? DB_OK : db_json_fail(at, "a vector of some length");
}

/* A goniometer: `fixed` turns the crystal first, then the axis turns it, then `setting`. Row-major. */
typedef struct gonio {
    double axis[3], fixed[9], setting[9];
} gonio;

static void turn_rows(const double axis[3], double angle, double matrix[9]) {
    for (int column = 0; column < 3; column++) {
        double v[3] = { matrix[column], matrix[3 + column], matrix[6 + column] };
        db_turn_by_degrees(axis, angle, v);
        for (int i = 0; i < 3; i++) matrix[3 * i + column] = v[i];
    }
}

/* Reads a goniometer of several axes, from the crystal outwards; one of them turns. */
static db_status read_axes(const db_json *model, gonio *g) {
    const db_json axes = db_json_member(model, "axes"), angles = db_json_member(model, "angles"),
                  turning = db_json_member(model, "scan_axis");
    const size_t count = json_array_size(axes.value);
    const json_int_t scan_axis = json_integer_value(turning.value);
    double angle[16];
    if (count < 1 || count > 16) return db_json_fail(&axes, "1 to 16 axes");
    if (!json_is_integer(turning.value) || scan_axis < 0 || (size_t)scan_axis >= count)
        return db_json_fail(&turning, "the number of an axis");
    DB_TRY(db_json_numbers(&angles, angle, count));
    for (size_t i = 0; i < count; i++) {
        const db_json at = db_json_element(&axes, i);
        double axis[3];
        DB_TRY(read_axis(&at, axis));
        if ((json_int_t)i < scan_axis)
            turn_rows(axis, angle[i], g->fixed);
        else if ((json_int_t)i > scan_axis)
            turn_rows(axis, angle[i], g->setting);
        else
            memcpy(g->axis, axis, sizeof axis);
    }
    return DB_OK;
}

/* The nearest rotation to a mean of two. */
static void make_rotation(double matrix[9]) {
    double *const x = matrix;
    double *const y = matrix + 3;
    db_normalize(x);
    const double along = db_dot(x, y);
    for (int i = 0; i < 3; i++) y[i] -= along * x[i];
    db_normalize(y);
    db_cross(x, y, matrix + 6);
}

/* Makes what is nearly a rotation one. */
static db_status take_rotation(const db_json *model, const char *name, double near,
                               double matrix[9]) {
    double cofactors[9];
    const db_json at = db_json_member(model, name);
    const double determinant = db_cofactors(matrix, cofactors);
    if (!(db_distortion(matrix) <= near && determinant > 0))
        return db_json_fail(&at, "nine numbers that are a rotation");
    make_rotation(matrix);
    return DB_OK;
}

static db_status read_rotation(const db_json *model, const char *name, double matrix[9]) {
    const double rounding = 1e-3; /* of matrices written with few digits */
    DB_TRY(db_json_optional_numbers(model, name, matrix, 9));
    return take_rotation(model, name, rounding, matrix);
}

static db_status read_fixed_gonio(const db_json *model, gonio *g) {
    *g = (gonio){ { 1, 0, 0 }, { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, { 1, 0, 0, 0, 1, 0, 0, 0, 1 } };
    if (!model->value) return DB_OK;
    if (db_json_member(model, "axes").value) return read_axes(model, g);
    const db_json axis = db_json_member(model, "rotation_axis");
    DB_TRY(read_axis(&axis, g->axis));
    DB_TRY(read_rotation(model, "fixed_rotation", g->fixed));
    return read_rotation(model, "setting_rotation", g->setting);
}

/* The goniometer at an image of its scan. */
static db_status read_gonio(const db_json *model, const db_scan_place *place, gonio *g) {
    int found;
    DB_TRY(read_fixed_gonio(model, g));
    DB_TRY(db_mean_at_scan_points(model, "setting_rotation_at_scan_points", place, g->setting, 9,
                                  &found));
    const double shorter = 0.2; /* a mean of two, by an eighth of the square of their angle */
    return found ? take_rotation(model, "setting_rotation_at_scan_points", shorter, g->setting)
                 : DB_OK;
}

/* The reciprocal matrix (columns a*, b*, c*) from the crystal's real axes, as mounted on the goniometer. */
static db_status read_axes_of_crystal(const db_json *crystal, double a_star[9]) {
    static const char *const names[] = { "real_space_a", "real_space_b", "real_space_c" };
    double real[9]; /* A */
    double dual[9]; /* rows a*, b*, c* */
    for (int i = 0; i < 3; i++) {
        const db_json at = db_json_member(crystal, names[i]);
        DB_TRY(db_json_numbers(&at, real + 3 * i, 3));
    }
    if (!(db_dual_basis(real, dual) > 0))
        return db_json_fail(crystal, "a right-handed basis real_space_a, _b, _c");
    db_transpose(dual, a_star);
    return DB_OK;
}

/* Columns of a matrix, turned. */
static void turn_columns_by(const double rotation[9], double matrix[9]) {
    for (int column = 0; column < 3; column++) {
        double v[3] = { matrix[column], matrix[3 + column], matrix[6 + column] }, turned[3];
        db_apply(rotation, v, turned);
        for (int i = 0; i < 3; i++) matrix[3 * i + column] = turned[i];
    }
}

static db_status read_crystal(const models *m, const gonio *g, const db_scan_place *place,
                              db_crystal *crystal, db_expt_content *content) {
    double a_star[9];
    if (!m->crystal.value) return DB_OK;
    DB_TRY(read_axes_of_crystal(&m->crystal, a_star));
    DB_TRY(db_mean_at_scan_points(&m->crystal, "A_at_scan_points", place, a_star, 9,
                                  &content->varies));
    const double volume = db_dual_basis(a_star, (double[9]){ 0 });
    const db_json points = db_json_member(&m->crystal, "A_at_scan_points");
    if (!(volume > 0)) return db_json_fail(&points, "matrices of right-handed axes a*, b*, c*");
    if (db_turns(place->width)) { /* a still describes the crystal as it stands in the beam */
        turn_columns_by(g->fixed, a_star);
        turn_columns_by(g->setting, a_star);
    }
    DB_TRY(db_crystal_set_matrix(m->crystal.context, crystal, a_star));
    content->has_crystal = 1;
    const char *const group = db_json_text(&m->crystal, "space_group_hall_symbol");
    snprintf(content->space_group, sizeof content->space_group, "%s%s",
             group && !strchr(" -0123456789", *group) ? " " : "", group ? group : "");
    double half = NAN;
    DB_TRY(db_json_optional_number(&m->crystal, "mosaicity", &content->mosaicity));
    DB_TRY(db_json_optional_number(&m->crystal, "ML_half_mosaicity_deg", &half));
    if (!isnan(half)) content->mosaicity = 2 * half;
    return db_json_optional_number(&m->crystal, "ML_domain_size_ang", &content->domain_size);
}

static db_status read_models(const models *m, const db_expt_selection *selection,
                             db_experiment *experiment, db_expt_content *content) {
    db_goniometer *const goniometer = &experiment->goniometer;
    gonio g;
    if (!m->detector.value) return db_json_fail(&m->detector, "the experiment's detector");
    db_scan_place place;
    DB_TRY(db_scan_place_of(&m->scan, &m->imageset, selection->image, selection->frame, &place));
    DB_TRY(read_beam(m, &place, &experiment->beam));
    DB_TRY(read_gonio(&m->goniometer, &place, &g));
    DB_TRY(db_expt_detector(&m->detector, &experiment->beam, &experiment->detector, content));
    db_apply(g.setting, g.axis, goniometer->spindle_axis);
    if (!db_normalize(goniometer->spindle_axis))
        return db_json_fail(&m->goniometer, "a setting rotation");
    const int is_still = !db_turns(place.width);
    content->phi = is_still ? 0 : place.start;
    content->osc_range = is_still ? 0 : place.width;
    content->has_frame = place.is_scan;
    content->frame = place.number;
    db_expt_tell_unused(&m->beam, &m->scan, content->identifier, place.is_scan ? place.number : 0);
    goniometer->phi = content->phi;
    goniometer->phi_step = content->osc_range;
    goniometer->phi_steps = 1;
    if (!is_still) db_multiply(g.setting, g.fixed, content->circles);
    db_detector_set_flat(goniometer->spindle_axis, &experiment->detector);
    return read_crystal(m, &g, &place, &experiment->crystal, content);
}

/* A list's only experiment may show another image than the one asked for. */
static void note_other_image(const db_json *imageset, const char *image, db_expt_content *content) {
    if (!image || !imageset->value || db_imageset_number(imageset, image) >= 0) return;
    const db_json images = db_json_member(imageset, "images");
    const char *first = db_json_text(imageset, "template");
    if (!first) first = json_string_value(json_array_get(images.value, 0));
    if (first)
        snprintf(content->other_image, sizeof content->other_image, "%.127s", db_file_name(first));
}

/* Names of the files with a value per pixel. Relative names start at the list's folder. */
static db_status read_maps(const db_json *imageset, db_expt_content *content) {
    for (int k = 0; k < DB_EXPT_MAP_COUNT; k++) {
        const char *const name = db_json_text(imageset, db_expt_map_name((db_expt_map)k));
        if (!name || !*name) continue;
        content->map[k] = db_path_beside(imageset->path, name);
        if (!content->map[k]) return db_fail_memory(imageset->context, imageset->path);
    }
    return DB_OK;
}

static db_status read_list(const db_json *root, const db_expt_selection *selection,
                           db_experiment *experiment, db_expt_content *content) {
    size_t number = 0;
    models m;
    DB_TRY(select_one(root, selection, &number));
    const db_json list = db_json_member(root, "experiment");
    m.experiment = db_json_element(&list, number);
    content->number = (long)number;
    const char *const identifier = db_json_text(&m.experiment, "identifier");
    snprintf(content->identifier, sizeof content->identifier, "%s", identifier ? identifier : "");
    DB_TRY(model_of(root, &m.experiment, "beam", &m.beam));
    DB_TRY(model_of(root, &m.experiment, "detector", &m.detector));
    DB_TRY(model_of(root, &m.experiment, "goniometer", &m.goniometer));
    DB_TRY(model_of(root, &m.experiment, "scan", &m.scan));
    DB_TRY(model_of(root, &m.experiment, "crystal", &m.crystal));
    DB_TRY(model_of(root, &m.experiment, "imageset", &m.imageset));
    note_other_image(&m.imageset, selection->image, content);
    DB_TRY(read_maps(&m.imageset, content));
    return read_models(&m, selection, experiment, content);
}
#endif

db_status db_expt_read(db_context *context, const char *path, const db_expt_selection *selection,
                       db_experiment *experiment, db_expt_content *content) {
#if defined(DB_HAVE_JANSSON)
    const json_t *document;
    db_json root;
    DB_TRY(db_json_open_kept(context, path, &document, &root));
    const db_status status = read_list(&root, selection, experiment, content);
    db_json_give_back(document);
    return status;
#else
    (void)selection;
    (void)experiment;
    (void)content;
    return db_fail(context, DB_ERROR_UNSUPPORTED,
                   "%s: this build has no JSON support (jansson), which experiment lists need",
                   path);
#endif
}

db_status db_expt_count(db_context *context, const char *path, size_t *count) {
    *count = 0;
#if defined(DB_HAVE_JANSSON)
    const json_t *document;
    db_json root;
    DB_TRY(db_json_open_kept(context, path, &document, &root));
    const db_json list = db_json_member(&root, "experiment");
    *count = json_array_size(list.value);
    const db_status status = *count ? DB_OK : db_json_fail(&list, "a list of experiments");
    db_json_give_back(document);
    return status;
#else
    return db_fail(context, DB_ERROR_UNSUPPORTED,
                   "%s: this build has no JSON support (jansson), which experiment lists need",
                   path);
#endif
}

void db_expt_content_clear(db_expt_content *content) {
    for (size_t p = 0; p < content->panel_count; p++) free(content->panel[p].mask);
    free(content->panel);
    for (int k = 0; k < DB_EXPT_MAP_COUNT; k++) free(content->map[k]);
    db_image_layout_destroy(content->layout);
    memset(content, 0, sizeof *content);
}
