/* DIALS experiment lists (.expt): dxtbx models in JSON. The list has the frame that dxtbx gives images of
 * nanoBragg's family: x along the spindle, z against the beam, y = z x x. All laboratory vectors are turned into
 * it together, so the convention of the experiment does not matter. */
#include "io/experiments/expt_write.h"

#include <dualbragg/expert/modules.h>
#include <dualbragg/expert/sensor_materials.h>
#include <dualbragg/expert/dials_frame.h>
#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/expert/symmetry.h>

#include "base/context_internal.h"

#if defined(DB_HAVE_JANSSON)
#include "io/experiments/dxtbx.h"
#include "io/reflections/reflection_list.h"
#include "base/json_memory.h"
#include "base/vector.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_COUNT = 65535, GROUP_SIZE = 100 };

/* What the models are made from. A value that cannot be allocated is NULL, and so is everything that contains it,
 * up to the whole list. */
typedef struct source {
    const db_experiment *experiment;
    const db_expt_image *image; /* NULL: there is none */
    const db_expt_panel *panel; /* NULL: as the image */
    double frame[3][3];         /* rows: the axes x, y, z in the laboratory */
    db_image_template sequence;
    int is_scan, has_crystal;
    char space_group[GROUP_SIZE]; /* Hall symbol */
} source;

static json_t *append_member(json_t *array, json_t *item) {
    if (json_array_append_new(array, item) == 0) return array;
    json_decref(array);
    return NULL;
}

static json_t *put_member(json_t *object, const char *key, json_t *value) {
    if (json_object_set_new(object, key, value) == 0) return object;
    json_decref(object);
    return NULL;
}

static json_t *vector(const double v[3]) { return json_pack("[f,f,f]", v[0], v[1], v[2]); }

/* A laboratory vector in dxtbx' frame. */
static json_t *turned_by(const source *from, const double v[3]) {
    double r[3];
    for (int i = 0; i < 3; i++) r[i] = db_dot(from->frame[i], v);
    return vector(r);
}

static json_t *beam_model(const source *from) {
    const db_beam *beam = &from->experiment->beam;
    double against[3], normal[3];
    db_experiment_beam_direction(from->experiment, against);
    for (int i = 0; i < 3; i++) against[i] = -against[i];
    db_cross(beam->polarization_axis, against, normal);
    db_normalize(normal);
    return json_pack("{s:s, s:o, s:f, s:f, s:f, s:o, s:f, s:f, s:f}", "__id__", "monochromatic",
                     "direction", turned_by(from, against), "wavelength", beam->wavelength,
                     "divergence", 0.0, "sigma_divergence", 0.0, "polarization_normal",
                     turned_by(from, normal), "polarization_fraction", (1 + beam->polarization) / 2,
                     "flux", 0.0, "transmission", 1.0);
}

/* Unit vector and length of the panel's edge from its first corner to (fast, slow), in pixels. */
static void edge(const db_experiment *experiment, size_t panel, double fast, double slow,
                 const double origin[3], double axis[3]) {
    (void)db_experiment_pixel_position(experiment, panel, fast, slow, axis);
    for (int i = 0; i < 3; i++) axis[i] -= origin[i];
    db_normalize(axis);
}

/* dxtbx has right angles only: axes that are not get the nearest ones that are, about the panel's
 * middle. */
static void make_right_angle(const db_experiment *experiment, size_t index, double origin[3],
                             double fast[3], double slow[3]) {
    const db_panel *const panel = &experiment->detector.panels[index];
    double sum[3], difference[3];
    if (fabs(db_dot(fast, slow)) < 1e-9) return;
    (void)db_experiment_pixel_position(experiment, index, 0.5 * panel->fast_pixels,
                                       0.5 * panel->slow_pixels, origin);
    for (int i = 0; i < 3; i++) {
        sum[i] = fast[i] + slow[i];
        difference[i] = fast[i] - slow[i];
    }
    db_normalize(sum);
    db_normalize(difference);
    for (int i = 0; i < 3; i++) {
        fast[i] = sqrt(0.5) * (sum[i] + difference[i]);
        slow[i] = sqrt(0.5) * (sum[i] - difference[i]);
        origin[i] -= 0.5 * panel->fast_pixels * panel->pixel_size[0] * fast[i] +
                     0.5 * panel->slow_pixels * panel->pixel_size[1] * slow[i];
    }
}

/* What the image says of every panel. */
static db_expt_panel panel_of_image(const db_expt_image *image) {
    db_expt_panel said = { .trusted = { -1, LARGEST_COUNT }, .gain = 1 };
    if (!image) return said;
    said.gain = image->gain;
    said.pedestal = image->pedestal;
    for (int i = 0; i < 2 && image->trusted[0] < image->trusted[1]; i++)
        said.trusted[i] = image->trusted[i] + image->pedestal;
    return said;
}

/* Names that are no UTF-8 cannot be in JSON: they are replaced, as missing ones. */
static json_t *name_of_panel(const db_expt_panel *said, size_t index) {
    json_t *const own = *said->name ? json_string(said->name) : NULL;
    return own ? own : json_sprintf("Panel%zu", index);
}

static json_t *mask_of_panel(const db_expt_panel *said) {
    json_t *list = json_array();
    for (size_t i = 0; i < said->mask_count; i++) {
        const int *const m = said->mask[i];
        list = append_member(list, json_pack("[i,i,i,i]", m[0], m[1], m[2], m[3]));
    }
    return list;
}

static json_t *panel_model(const source *from, size_t index) {
    const db_panel *panel = &from->experiment->detector.panels[index];
    const db_expt_panel said = from->panel ? from->panel[index] : panel_of_image(from->image);
    const db_detector *detector = &from->experiment->detector;
    const int sensor = detector->sensor_thickness > 0;
    double origin[3], fast[3], slow[3];
    (void)db_experiment_pixel_position(from->experiment, index, 0, 0, origin);
    edge(from->experiment, index, panel->fast_pixels, 0, origin, fast);
    edge(from->experiment, index, 0, panel->slow_pixels, origin, slow);
    make_right_angle(from->experiment, index, origin, fast, slow);
    json_t *model = json_pack(
        "{s:o, s:s, s:o, s:o, s:o, s:[i,i], s:[i,i], s:[f,f], s:[f,f]}", "name",
        name_of_panel(&said, index), "type", sensor ? "SENSOR_PAD" : "SENSOR_CCD", "fast_axis",
        turned_by(from, fast), "slow_axis", turned_by(from, slow), "origin",
        turned_by(from, origin), "raw_image_offset", panel->image_offset[0], panel->image_offset[1],
        "image_size", panel->fast_pixels, panel->slow_pixels, "pixel_size", panel->pixel_size[0],
        panel->pixel_size[1], "trusted_range", said.trusted[0], said.trusted[1]);
    json_t *rest = json_pack("{s:f, s:s, s:f, s:s, s:o, s:f, s:f, s:{s:s}}", "thickness",
                             sensor ? 1e-3 * detector->sensor_thickness : 0.0, "material",
                             sensor ? db_sensor_material_name(detector->sensor_material) : "", "mu",
                             sensor ? 1e3 / detector->attenuation_depth : 0.0, "identifier", "",
                             "mask", mask_of_panel(&said), "gain", said.gain, "pedestal",
                             said.pedestal, "px_mm_strategy", "type",
                             sensor ? "ParallaxCorrectedPxMmStrategy" : "SimplePxMmStrategy");
    if (json_object_update(model, rest) != 0) {
        json_decref(model);
        model = NULL;
    }
    json_decref(rest);
    return model;
}

static json_t *detector_model(const source *from) {
    json_t *panels = json_array();
    json_t *children = json_array();
    for (size_t p = 0; p < from->experiment->detector.panel_count; p++) {
        panels = append_member(panels, panel_model(from, p));
        children = append_member(children, json_pack("{s:I}", "panel", (json_int_t)p));
    }
    return json_pack(
        "{s:o, s:{s:s, s:s, s:[f,f,f], s:[f,f,f], s:[f,f,f], s:[i,i], s:[i,i], s:[f,f], s:[f,f], "
        "s:f, s:s, s:f, s:s, s:[], s:f, s:f, s:{s:s}, s:o}}",
        "panels", panels, "hierarchy", "name", "", "type", "", "fast_axis", 1.0, 0.0, 0.0,
        "slow_axis", 0.0, 1.0, 0.0, "origin", 0.0, 0.0, 0.0, "raw_image_offset", 0, 0, "image_size",
        0, 0, "pixel_size", 0.0, 0.0, "trusted_range", 0.0, 0.0, "thickness", 0.0, "material", "",
        "mu", 0.0, "identifier", "", "mask", "gain", 1.0, "pedestal", 0.0, "px_mm_strategy", "type",
        "SimplePxMmStrategy", "children", children);
}

static double oscillation(const db_goniometer *goniometer) {
    return goniometer->phi_step * goniometer->phi_steps;
}

/* -1 for a scan that turns backwards: lists cannot hold it, so it is written as a turn about the opposite axis. */
static double sense(const source *from) {
    return oscillation(&from->experiment->goniometer) < 0 ? -1 : 1;
}

static json_t *goniometer_model(const source *from) {
    double axis[3];
    db_experiment_spindle_axis(from->experiment, axis);
    for (int i = 0; i < 3; i++) axis[i] *= sense(from);
    return json_pack("{s:o, s:[f,f,f,f,f,f,f,f,f], s:[f,f,f,f,f,f,f,f,f]}", "rotation_axis",
                     turned_by(from, axis), "fixed_rotation", 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0,
                     0.0, 1.0, "setting_rotation", 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0);
}

static json_t *scan_model(const source *from) {
    const db_goniometer *goniometer = &from->experiment->goniometer;
    const int number = from->sequence.number;
    return json_pack("{s:[i,i], s:i, s:[f,f], s:[f], s:[f], s:{}}", "image_range", number, number,
                     "batch_offset", 0, "oscillation", sense(from) * goniometer->phi,
                     fabs(oscillation(goniometer)), "exposure_time", 1.0, "epochs", 0.0,
                     "valid_image_ranges");
}

/* A Hall symbol begins with a space or "-", no other name does. */
static db_status find_group(db_context *context, const char *name, const double cell[6],
                            db_space_group *group) {
    if (*name == ' ' || *name == '-') {
        const db_status status = db_space_group_of_list(context, name, group);
        if (status == DB_ERROR_MEMORY || (status == DB_OK && db_space_group_fits(group, cell)))
            return status;
    }
    return db_space_group_of_cell(context, name, cell, group);
}

/* Hall symbol of the image's space group, in the setting of the cell. One that is in no table stays as it is. */
static db_status hall_symbol(db_context *context, const char *name, const double cell[6],
                             char symbol[GROUP_SIZE]) {
    db_space_group *group = NULL;
    snprintf(symbol, GROUP_SIZE, " P 1");
    if (!name || !*name) return DB_OK;
    group = malloc(sizeof *group);
    if (!group) return db_fail_memory(context, "the space group of a list");
    const db_status status = find_group(context, name, cell, group);
    const char *const hall = group->number ? group->hall : name;
    if (status == DB_OK && strlen(hall) + 1 < GROUP_SIZE)
        snprintf(symbol, GROUP_SIZE, " %s", hall + strspn(hall, " "));
    free(group);
    return status == DB_ERROR_MEMORY ? status : DB_OK;
}

/* Real-space vectors: of a scan at phi = 0, of a still as the crystal stands in the beam. */
static json_t *crystal_model(const source *from) {
    const db_experiment *e = from->experiment;
    double a_star[9];
    double axis[9];
    double cell[9];
    db_crystal_matrix(&e->crystal, a_star);
    db_transpose(a_star, axis);
    db_dual_basis(axis, cell);
    if (!from->is_scan) {
        double spindle[3];
        db_experiment_spindle_axis(e, spindle);
        for (int i = 0; i < 3; i++) db_turn_by_degrees(spindle, e->goniometer.phi, cell + 3 * i);
    }
    return json_pack("{s:s, s:o, s:o, s:o, s:s}", "__id__", "crystal", "real_space_a",
                     turned_by(from, cell), "real_space_b", turned_by(from, cell + 3),
                     "real_space_c", turned_by(from, cell + 6), "space_group_hall_symbol",
                     from->space_group);
}

static json_t *imageset_model(const source *from) {
    json_t *model = json_pack("{s:s, s:n, s:n, s:n, s:n, s:n, s:{s:s, s:b}}", "__id__",
                              from->is_scan ? "ImageSequence" : "ImageSet", "mask", "gain",
                              "pedestal", "dx", "dy", "params", "dynamic_shadowing", "Auto",
                              "multi_panel", db_detector_is_one_array(&from->experiment->detector));
    if (from->is_scan) return put_member(model, "template", json_string(from->sequence.text));
    if (!from->sequence.in_file)
        return put_member(model, "images", json_pack("[s]", from->image->path));
    model = put_member(model, "single_file_indices", json_pack("[i]", from->sequence.number - 1));
    return put_member(model, "images", json_pack("[s]", from->sequence.text));
}

/* JSON is UTF-8. */
static db_status check_name(db_context *context, const char *path, const char *name) {
    const size_t failures = db_json_failures();
    json_t *const text = json_string(name);
    const int held = text || db_json_failures() != failures; /* else said with the whole list */
    json_decref(text);
    return held ? DB_OK
                : db_fail(
                      context, DB_ERROR_INPUT,
                      "%s: the list cannot hold the name of its image: expected UTF-8, found '%s'",
                      path, name);
}

/* Stills are named one by one, images of scans by a template. */
static int names_image(const source *from) {
    return from->is_scan ? from->sequence.numbered : from->image && *from->image->path;
}

/* The list, or NULL. */
static json_t *experiment_list(const source *from) {
    json_t *experiment = json_pack("{s:s, s:s, s:i, s:i, s:i}", "__id__", "Experiment",
                                   "identifier", "", "beam", 0, "detector", 0, "goniometer", 0);
    json_t *scans = json_array();
    json_t *imagesets = json_array();
    json_t *crystals = json_array();
    if (from->has_crystal) {
        experiment = put_member(experiment, "crystal", json_integer(0));
        crystals = append_member(crystals, crystal_model(from));
    }
    if (from->is_scan) {
        experiment = put_member(experiment, "scan", json_integer(0));
        scans = append_member(scans, scan_model(from));
    }
    if (names_image(from)) {
        experiment = put_member(experiment, "imageset", json_integer(0));
        imagesets = append_member(imagesets, imageset_model(from));
    }
    return json_pack("{s:s, s:[o], s:o, s:[o], s:[o], s:[o], s:o, s:o, s:[], s:[]}", "__id__",
                     "ExperimentList", "experiment", experiment, "imageset", imagesets, "beam",
                     beam_model(from), "detector", detector_model(from), "goniometer",
                     goniometer_model(from), "scan", scans, "crystal", crystals, "profile",
                     "scaling_model");
}

#endif

db_status db_expt_write(db_context *context, const char *path, const db_experiment *experiment,
                        const db_expt_image *image, const db_expt_panel *panel, int has_crystal) {
#if defined(DB_HAVE_JANSSON)
    DB_TRY(db_experiment_check(context, experiment));
    if (experiment->detector.curved)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "%s: a DIALS experiment list holds flat panels, the detector is curved",
                       path);
    source from = { .experiment = experiment,
                    .image = image,
                    .panel = panel,
                    .has_crystal = has_crystal,
                    .is_scan = oscillation(&experiment->goniometer) != 0 };
    db_dials_frame(experiment, from.frame);
    DB_TRY(check_name(context, path, image ? image->path : ""));
    DB_TRY(hall_symbol(context, image ? image->space_group : NULL, experiment->crystal.cell,
                       from.space_group));
    DB_TRY(db_image_template_of(context, image ? image->path : "", &from.sequence));
    if (image && *image->path && !names_image(&from))
        db_notice(context,
                  "%s: leaves the image out: expected a number before the extension, as of every "
                  "image of a scan, found %s",
                  path, image->path);
    const size_t failures = db_json_failures();
    json_t *const list = experiment_list(&from);
    free(from.sequence.text);
    const db_status status =
        db_json_write(context, path, list, JSON_INDENT(2) | JSON_REAL_PRECISION(17), failures);
    json_decref(list);
    return status;
#else
    (void)experiment;
    (void)image;
    (void)panel;
    (void)has_crystal;
    return db_fail(context, DB_ERROR_UNSUPPORTED,
                   "%s: this build has no JSON support (jansson), which experiment lists need",
                   path);
#endif
}

db_status db_write_expt(db_context *context, const char *path, const db_experiment *experiment,
                        const db_expt_image *image) {
    return db_expt_write(context, path, experiment, image, NULL, 1);
}
