/* DIALS experiment lists (.expt): the models of dxtbx in JSON, read into an experiment. */
#include <dualbragg/io.h>

#include "base/context_internal.h"
#include "io/format_readers.h"
#include "io/image_layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if defined(DB_HAVE_JANSSON)
#include "io/dxtbx.h"
#include "io/expt_detector.h"
#include "base/frame_name.h"
#include "base/path.h"
#include "base/vector.h"

#include <stdio.h>

/* The models of the experiment taken; without value where it has none. */
typedef struct models {
    db_json experiment, beam, detector, goniometer, scan, crystal, imageset;
} models;

/* Does a template such as image_####.cbf stand for the file? *number: what is in place of the
 * signs. */
static int fits_template(const char *pattern, const char *file, long *number) {
    *number = 0;
    for (; *pattern && *file; pattern++, file++) {
        if (*pattern == '#') {
            if (*file < '0' || *file > '9' || *number > 100000000) return 0;
            *number = 10 * *number + (*file - '0');
        } else if (*pattern != *file) {
            return 0;
        }
    }
    return *pattern == *file;
}

/* Is image number i of a set's list the one of that number in its file? */
static int is_frame(const db_json *imageset, size_t i, long frame) {
    const db_json list = db_json_member(imageset, "single_file_indices");
    const json_t *const index = json_array_get(list.value, i);
    return !index || json_integer_value(index) == (frame > 0 ? frame - 1 : 0);
}

/* The number of the image in the set, from 0 or as its name says; -1: it is not there. */
static long image_number(const db_json *imageset, const char *image) {
    char whole[4096];
    const long frame = db_frame_split(image, whole, sizeof whole);
    const char *const file = db_file_name(whole);
    const char *const template = db_json_text(imageset, "template");
    long number;
    if (template)
        return !fits_template(db_file_name(template), file, &number) ? -1 : frame ? frame : number;
    const db_json images = db_json_member(imageset, "images");
    for (size_t i = 0; i < json_array_size(images.value); i++) {
        const char *const name = json_string_value(json_array_get(images.value, i));
        if (name && strcmp(db_file_name(name), file) == 0 && is_frame(imageset, i, frame))
            return (long)i;
    }
    return -1;
}

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

/* 1 if the experiment's images include the one looked for, or none is. Experiments may share a
 * sequence, of which each has the images that its scan says. */
static db_status shows(const db_json *root, const db_json *experiment, const char *image,
                       int *found) {
    db_json imageset, scan;
    int range[2];
    *found = 1;
    if (!image) return DB_OK;
    DB_TRY(model_of(root, experiment, "imageset", &imageset));
    DB_TRY(model_of(root, experiment, "scan", &scan));
    const long number = image_number(&imageset, image);
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
        DB_TRY(shows(root, &one, count > 1 ? selection->image : NULL, &found));
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

/* Beams of several wavelengths in one shot would be rendered with one of them: they are refused. */
static db_status check_beam(const models *m) {
    const char *const kind = db_json_text(&m->beam, "__id__");
    double range[2] = { 0, 0 };
    if (!kind || strcmp(kind, "monochromatic") == 0 || strcmp(kind, "xfel") == 0) return DB_OK;
    if (strcmp(kind, "polychromatic") == 0) {
        DB_TRY(db_json_optional_numbers(&m->beam, "wavelength_range", range, 2));
        return db_fail(m->beam.context, DB_ERROR_UNSUPPORTED,
                       "%s: %s: expected a monochromatic beam, found a polychromatic one (%g to %g "
                       "A), of whose spectrum the list says no more; give the beam a wavelength, "
                       "and its spectrum beside the list",
                       m->beam.path, m->beam.place, range[0], range[1]);
    }
    return db_fail(m->beam.context, DB_ERROR_UNSUPPORTED,
                   "%s: %s: expected a beam that is monochromatic, found '%.40s'", m->beam.path,
                   m->beam.place, kind);
}

/* shot: the image's own wavelength, of pulses that differ; NAN: it has none. */
static db_status read_beam(const models *m, double shot, db_beam *beam) {
    double against[3], normal[3] = { 0, 1, 0 }, fraction = 0.5;
    if (!m->beam.value) return db_json_fail(&m->beam, "the experiment's beam");
    DB_TRY(check_beam(m));
    const db_json direction = db_json_member(&m->beam, "direction"),
                  wavelength = db_json_member(&m->beam, "wavelength"),
                  plane = db_json_member(&m->beam, "polarization_normal"),
                  polarized = db_json_member(&m->beam, "polarization_fraction");
    DB_TRY(db_json_numbers(&direction, against, 3));
    if (isnan(shot)) DB_TRY(db_json_number(&wavelength, &beam->wavelength));
    if (!isnan(shot)) beam->wavelength = shot;
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

/* Rotations of a goniometer: what stands on the spindle is turned by `fixed` first, by `setting`
 * after the spindle. Row-major. */
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

/* Several axes, from the crystal outwards; one of them turns. */
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

static db_status read_gonio(const db_json *model, gonio *g) {
    *g = (gonio){ { 1, 0, 0 }, { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, { 1, 0, 0, 0, 1, 0, 0, 0, 1 } };
    if (!model->value) return DB_OK;
    if (db_json_member(model, "axes").value) return read_axes(model, g);
    const db_json axis = db_json_member(model, "rotation_axis");
    DB_TRY(read_axis(&axis, g->axis));
    DB_TRY(db_json_optional_numbers(model, "fixed_rotation", g->fixed, 9));
    return db_json_optional_numbers(model, "setting_rotation", g->setting, 9);
}

/* The wavelength of an image, which stands in the scan where pulses differ. step: number of the image
 * in the scan, which has `count` of them. */
static db_status read_wavelength(const db_json *properties, long step, long count,
                                 double *wavelength) {
    const db_json list = db_json_member(properties, "wavelength");
    const size_t found = json_array_size(list.value);
    if (!list.value) return DB_OK;
    if (found != 1 && found != (size_t)count)
        return db_json_fail(&list, "a wavelength of each image of the scan");
    const db_json own = db_json_element(&list, found == 1 ? 0 : (size_t)step);
    DB_TRY(db_json_number(&own, wavelength));
    return *wavelength > 0 ? DB_OK : db_json_fail(&own, "a length > 0 (A)");
}

/* Start and width (degree) of the image's rotation, and its wavelength (NAN: that of the beam). Lists before dxtbx 3.11 have start and width of
 * the first image, later ones the starts of all. */
static db_status read_scan(const models *m, const char *image, double *start, double *width,
                           double *wavelength) {
    double oscillation[2] = { 0, 0 };
    int range[2] = { 1, 1 };
    *start = *width = 0;
    *wavelength = NAN;
    if (!m->scan.value) return DB_OK;
    const db_json old = db_json_member(&m->scan, "oscillation"),
                  properties = db_json_member(&m->scan, "properties"),
                  images = db_json_member(&m->scan, "image_range");
    const db_json starts = db_json_member(&properties, "oscillation");
    DB_TRY(db_json_integers(&images, range, 2));
    if (old.value) {
        DB_TRY(db_json_numbers(&old, oscillation, 2));
    } else if (starts.value) {
        const size_t count = json_array_size(starts.value);
        const db_json first = db_json_element(&starts, 0), second = db_json_element(&starts, 1);
        DB_TRY(db_json_number(&first, &oscillation[0]));
        if (count > 1) DB_TRY(db_json_number(&second, &oscillation[1]));
        if (count > 1) oscillation[1] -= oscillation[0];
        const db_json widths = db_json_member(&properties, "oscillation_width");
        const db_json width_of_first = db_json_element(&widths, 0);
        if (width_of_first.value) DB_TRY(db_json_number(&width_of_first, &oscillation[1]));
    }
    const long number = image ? image_number(&m->imageset, image) : -1;
    const int is_template = db_json_text(&m->imageset, "template") != NULL;
    const int is_one = range[0] == range[1]; /* of the images of a set */
    const long step = number < 0 ? 0 : is_template ? number - range[0] : is_one ? 0 : number;
    if (step < 0 || step > (long)range[1] - range[0])
        return db_json_fail(&images, "a range with the image in it");
    const db_json times = db_json_member(&properties, "time_of_flight");
    if (times.value)
        return db_fail(times.context, DB_ERROR_UNSUPPORTED,
                       "%s: %s: expected images of one wavelength each, found times of flight",
                       times.path, times.place);
    DB_TRY(read_wavelength(&properties, step, (long)range[1] - range[0] + 1, wavelength));
    *start = oscillation[0] + (double)step * oscillation[1];
    *width = oscillation[1];
    if (*width < 0) { /* the same exposure, the other way round */
        *start += *width;
        *width = -*width;
    }
    return DB_OK;
}

static db_status read_crystal(const models *m, const gonio *g, int is_still, db_crystal *crystal,
                              db_expt_content *content) {
    static const char *const names[] = { "real_space_a", "real_space_b", "real_space_c" };
    double real[9]; /* A */
    double dual[9]; /* rows a*, b*, c* */
    double a_star[9];
    if (!m->crystal.value) return DB_OK;
    for (int i = 0; i < 3; i++) {
        double v[3], turned[3];
        const db_json at = db_json_member(&m->crystal, names[i]);
        DB_TRY(db_json_numbers(&at, v, 3));
        db_apply(g->fixed, v, turned);
        db_apply(g->setting, turned, real + 3 * i);
        if (is_still) memcpy(real + 3 * i, v, sizeof v); /* described as it stands in the beam */
    }
    if (!(db_dual_basis(real, dual) > 0))
        return db_json_fail(&m->crystal, "a right-handed basis real_space_a, _b, _c");
    db_transpose(dual, a_star);
    DB_TRY(db_crystal_set_matrix(m->crystal.context, crystal, a_star));
    content->has_crystal = 1;
    const char *const group = db_json_text(&m->crystal, "space_group_hall_symbol");
    snprintf(content->space_group, sizeof content->space_group, "%s", group ? group : "");
    double half = NAN;
    DB_TRY(db_json_optional_number(&m->crystal, "mosaicity", &content->mosaicity));
    DB_TRY(db_json_optional_number(&m->crystal, "ML_half_mosaicity_deg", &half));
    if (!isnan(half)) content->mosaicity = 2 * half;
    return db_json_optional_number(&m->crystal, "ML_domain_size_ang", &content->domain_size);
}

static db_status read_models(const models *m, const char *image, db_experiment *experiment,
                             db_expt_content *content) {
    db_goniometer *const goniometer = &experiment->goniometer;
    gonio g;
    if (!m->detector.value) return db_json_fail(&m->detector, "the experiment's detector");
    double wavelength;
    DB_TRY(read_scan(m, image, &content->phi, &content->osc_range, &wavelength));
    DB_TRY(read_beam(m, wavelength, &experiment->beam));
    DB_TRY(read_gonio(&m->goniometer, &g));
    DB_TRY(db_expt_detector(&m->detector, &experiment->beam, &experiment->detector, content));
    db_apply(g.setting, g.axis, goniometer->spindle_axis);
    if (!db_normalize(goniometer->spindle_axis))
        return db_json_fail(&m->goniometer, "a setting rotation");
    const int is_still = content->osc_range == 0;
    if (is_still) content->phi = 0;
    goniometer->phi = content->phi;
    goniometer->phi_step = content->osc_range;
    goniometer->phi_steps = 1;
    for (int i = 0; i < 3; i++) {
        experiment->detector.twotheta_axis[i] = -goniometer->spindle_axis[i];
        experiment->detector.rotation[i] = 0;
    }
    experiment->detector.twotheta = 0;
    experiment->detector.curved = 0;
    return read_crystal(m, &g, is_still, &experiment->crystal, content);
}

/* A list's only experiment may show another image than the one asked for. */
static void note_other_image(const db_json *imageset, const char *image, db_expt_content *content) {
    if (!image || !imageset->value || image_number(imageset, image) >= 0) return;
    const db_json images = db_json_member(imageset, "images");
    const char *first = db_json_text(imageset, "template");
    if (!first) first = json_string_value(json_array_get(images.value, 0));
    if (first)
        snprintf(content->other_image, sizeof content->other_image, "%.127s", db_file_name(first));
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
    return read_models(&m, selection->image, experiment, content);
}
#endif

db_status db_expt_read(db_context *context, const char *path, const db_expt_selection *selection,
                       db_experiment *experiment, db_expt_content *content) {
#if defined(DB_HAVE_JANSSON)
    json_t *document;
    db_json root;
    DB_TRY(db_json_open(context, path, &document, &root));
    const db_status status = read_list(&root, selection, experiment, content);
    json_decref(document);
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

void db_expt_content_clear(db_expt_content *content) {
    for (size_t p = 0; p < content->panel_count; p++) free(content->panel[p].mask);
    free(content->panel);
    db_image_layout_destroy(content->layout);
    memset(content, 0, sizeof *content);
}
