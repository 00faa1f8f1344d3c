/* Experiments of CBF files whose tables place detector and goniometer. */
#include "io/images/cbf.h"

#include "base/context_internal.h"
#include "base/path.h"
#include "base/rotation.h"
#include "base/vector.h"
#include "io/experiments/plain_experiment.h"
#include "io/images/cbf_cuts.h"
#include "io/images/imgcif.h"
#include "io/images/placement.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file and its tables; words point into its content. */
typedef struct placed_file {
    db_context *context;
    const char *path;
    db_imgcif tables;
    db_cbf_arrays arrays;
    db_imgcif_scan scan;
    db_imgcif_beam beam;
    int turns; /* 0: there is no goniometer */
} placed_file;

static db_status open_tables(placed_file *f, const db_file_content *content) {
    db_cbf_binary first;
    DB_TRY(db_cbf_binary_next(f->context, f->path, content, content->bytes, &first));
    return db_imgcif_read(f->context, f->path, content->bytes, db_cbf_text_end(content, &first),
                          &f->tables);
}

static db_status read_placed(placed_file *f, const db_file_content *content) {
    DB_TRY(db_cbf_arrays_open(f->context, f->path, content, &f->arrays));
    DB_TRY(db_imgcif_scan_read(&f->tables, &f->scan, &f->turns));
    db_imgcif_tell_open_detector(&f->tables);
    return db_imgcif_beam_read(&f->tables, &f->beam);
}

static void close_tables(placed_file *f) {
    db_imgcif_clear(&f->tables);
    db_cbf_arrays_clear(&f->arrays);
}

db_status db_cbf_has_axes(db_context *context, const char *path, const db_file_content *content,
                          int *has) {
    placed_file f = { .context = context, .path = path };
    const db_status status = open_tables(&f, content);
    *has = status == DB_OK && db_imgcif_places(&f.tables);
    close_tables(&f);
    return status;
}

/* The spindle in the laboratory. */
static void spindle_of(const db_imgcif_scan *scan, double axis[3]) {
    db_apply(scan->setting, scan->axis, axis);
    db_normalize(axis);
}

/* The place of the only panel, in the frame of images. */
static db_status place_detector(const placed_file *f, db_image_geometry *g, double pixel_size[2]) {
    db_frame panel;
    double origin[3], spindle[3], beam[3];
    DB_TRY(db_imgcif_panel(&f->tables, f->arrays.cuts[0].array, f->arrays.cuts[0].name,
                           f->arrays.cuts[0].start, &panel, pixel_size));
    db_imgcif_to_own(panel.origin, origin);
    db_imgcif_to_own(panel.fast, g->fast_axis);
    db_imgcif_to_own(panel.slow, g->slow_axis);
    db_imgcif_to_own(f->beam.direction, beam);
    spindle_of(&f->scan, spindle);
    db_imgcif_to_own(spindle, g->spindle_axis);
    if (!(beam[0] > 1 - 1e-12) || !db_image_geometry_place(origin, g)) {
        db_notice(
            f->context,
            "%s: the tables place the detector at the sample, or the beam not along z: images "
            "have no room for that, an experiment list (-expt, model.expt) has",
            f->path);
        *g = db_image_geometry_unknown;
    }
    g->phi = f->turns ? f->scan.start : NAN;
    g->osc_range = f->turns ? f->scan.width : NAN;
    return DB_OK;
}

/* Reads the wavelength, the polarization and the pixel sizes: the steps of the first two axes. */
static void tell_plain(const placed_file *f, db_measured_image *image) {
    const db_cif_table *const steps = &f->tables.list_axis;
    const int increment = db_cif_column(steps, "displacement_increment");
    double number;
    if (!isnan(f->beam.wavelength)) image->wavelength = f->beam.wavelength;
    if (isnan(image->polarization)) image->polarization = f->beam.polarization;
    for (int i = 0; i < 2; i++)
        if (db_cif_number(steps, (size_t)i, increment, &number) && fabs(number) > 0)
            image->pixel_size[i] = fabs(number);
}

/* Numbers that do not hold without the axes are left out. */
static void tell_placement(const db_image_geometry *g, db_measured_image *image) {
    const int faces_beam = !isnan(g->distance) && db_image_geometry_faces_beam(g);
    image->phi = image->osc_range = NAN;
    if (faces_beam && db_image_geometry_usual_spindle(g)) {
        image->phi = g->phi;
        image->osc_range = g->osc_range;
    }
    image->distance = faces_beam ? g->distance : NAN;
    image->twotheta = faces_beam ? 0 : NAN;
    for (int i = 0; i < 2; i++)
        image->beam_centre[i] = faces_beam ? g->beam_centre[i] / image->pixel_size[i] : NAN;
}

/* g: the geometry for set-ups; unchanged if there are several panels. */
static db_status read_axes(placed_file *f, const db_file_content *content, db_image_geometry *g,
                           db_measured_image *image) {
    DB_TRY(open_tables(f, content));
    DB_TRY(db_imgcif_beam_read(&f->tables, &f->beam));
    tell_plain(f, image);
    if (!db_imgcif_places(&f->tables)) return DB_OK;
    DB_TRY(read_placed(f, content));
    if (f->arrays.count != 1) return DB_OK;
    DB_TRY(place_detector(f, g, image->pixel_size));
    tell_placement(g, image);
    return DB_OK;
}

db_status db_cbf_tell_axes(db_context *context, const char *path, const db_file_content *content,
                           db_image_geometry *geometry, db_measured_image *image) {
    placed_file f = { .context = context, .path = path };
    const db_status status = read_axes(&f, content, geometry, image);
    close_tables(&f);
    return status;
}

static db_status hang_detector(const placed_file *f, db_experiment *experiment,
                               db_expt_content *content) {
    const db_frame outer = { { 1, 0, 0 }, { 0, -1, 0 }, { 0, 0, -1 }, { 0, 0, 0 } };
    db_detector *const detector = &experiment->detector;
    db_frame *frame;
    DB_TRY(db_panels_create(f->context, f->path, f->arrays.count, detector, content, &frame));
    db_status status = DB_OK;
    for (size_t p = 0; p < f->arrays.count && status == DB_OK; p++) {
        const db_cbf_cut *const cut = &f->arrays.cuts[p];
        db_panel *const panel = &detector->panels[p];
        db_expt_panel *const said = &content->panel[p];
        status = db_imgcif_panel(&f->tables, cut->array, cut->name, cut->start, &frame[p],
                                 panel->pixel_size);
        panel->fast_pixels = cut->count[0];
        panel->slow_pixels = cut->count[1];
        *said = (db_expt_panel){ .trusted = { -INFINITY, INFINITY }, .gain = 1 };
        snprintf(said->name, sizeof said->name, "%.*s", DB_WORD_ARGUMENTS(cut->name));
    }
    const char *const expected =
        status == DB_OK ? db_hang_panels(frame, &outer, &experiment->beam, detector) : NULL;
    free(frame);
    return expected ? db_fail(f->context, DB_ERROR_INPUT, "%s: expected %s", f->path, expected)
                    : status;
}

static void take_scan(const placed_file *f, db_experiment *experiment, db_expt_content *content) {
    db_goniometer *const goniometer = &experiment->goniometer;
    const int turns = f->turns && db_turns(f->scan.width);
    spindle_of(&f->scan, goniometer->spindle_axis);
    content->phi = goniometer->phi = turns ? f->scan.start : 0;
    content->osc_range = goniometer->phi_step = turns ? f->scan.width : 0;
    goniometer->phi_steps = 1;
    if (turns) db_multiply(f->scan.setting, f->scan.fixed, content->circles);
    db_detector_set_flat(goniometer->spindle_axis, &experiment->detector);
}

static db_status make_experiment(const placed_file *f, const db_measured_image *image,
                                 db_experiment *experiment, db_expt_content *content) {
    db_beam *const beam = &experiment->beam;
    if (!(image->wavelength > 0))
        return db_fail(f->context, DB_ERROR_INPUT, "%s: expected a wavelength, found none",
                       f->path);
    db_beam_set_simple(image->wavelength, f->beam.direction, image->polarization, beam, content);
    memcpy(beam->polarization_axis, f->beam.polarization_axis, sizeof beam->polarization_axis);
    take_scan(f, experiment, content);
    content->attenuation_depth = NAN;
    if (image->sensor_thickness > 0) {
        content->sensor_thickness = image->sensor_thickness;
        content->sensor_material = image->sensor_material;
    }
    return hang_detector(f, experiment, content);
}

/* Reads the header's lines "# Key value". */
static db_status read_lines(placed_file *f, const db_file_content *content, int placed,
                            db_measured_image *image) {
    const char *const lines = db_cbf_mini_header_find(content->bytes);
    db_image_init(image, "CBF");
    if (!lines) return DB_OK;
    return db_cbf_mini_header_read(f->context, f->path, lines, placed, image);
}

static db_status read_experiment(placed_file *f, const db_file_content *content,
                                 db_experiment *experiment, db_expt_content *said) {
    db_measured_image image;
    DB_TRY(open_tables(f, content));
    if (!db_imgcif_places(&f->tables))
        return db_fail(
            f->context, DB_ERROR_INPUT,
            "%s: expected tables of axes (axis, array_structure_list_axis) that place the "
            "detector, found none",
            f->path);
    DB_TRY(read_placed(f, content));
    DB_TRY(read_lines(f, content, 1, &image));
    tell_plain(f, &image);
    return make_experiment(f, &image, experiment, said);
}

/* Is the image meant another file that tells its own scan? *content is then that file's. */
static int opens_image(db_context *context, const char *path, const char *image,
                       db_file_content *content) {
    int placed = 0;
    if (!image || strcmp(image, path) == 0 ||
        db_file_content_read(context, image, content) != DB_OK)
        return 0;
    if (db_is_cbf(content) && db_cbf_has_axes(context, image, content, &placed) == DB_OK && placed)
        return 1;
    db_file_content_clear(content);
    return 0;
}

/* Opens the selected image, which has the scan; it may be another file than the one that places the detector. */
static db_status open_image(db_context *context, const char *path,
                            const db_expt_selection *selection, db_file_content *file,
                            db_expt_content *content) {
    const char *const image = selection->image;
    if (selection->number > 0)
        return db_fail(context, DB_ERROR_INPUT, "%s: experiment %ld: expected 0, the only one",
                       path, selection->number);
    if (opens_image(context, path, image, file)) return DB_OK;
    if (image && strcmp(db_file_name(image), db_file_name(path)) != 0)
        snprintf(content->other_image, sizeof content->other_image, "%.127s", db_file_name(path));
    return db_file_content_read(context, path, file);
}

db_status db_cbf_experiment(db_context *context, const char *path,
                            const db_expt_selection *selection, db_experiment *experiment,
                            db_expt_content *content) {
    db_file_content file;
    placed_file f = { .context = context, .path = path };
    DB_TRY(open_image(context, path, selection, &file, content));
    const db_status status = read_experiment(&f, &file, experiment, content);
    close_tables(&f);
    db_file_content_clear(&file);
    return status;
}

static db_status read_geometry(placed_file *f, const db_file_content *content,
                               db_image_geometry *g) {
    db_cbf_binary binary;
    db_measured_image image;
    int placed;
    DB_TRY(db_cbf_binary_next(f->context, f->path, content, content->bytes, &binary));
    if (!binary.bytes || binary.sections != 1)
        return db_fail(f->context, DB_ERROR_UNSUPPORTED,
                       "%s: expected an image of one panel, found %lld sections", f->path,
                       binary.sections);
    DB_TRY(db_cbf_has_axes(f->context, f->path, content, &placed));
    DB_TRY(read_lines(f, content, placed, &image));
    image.fast_pixels = (int)binary.fast_pixels;
    image.slow_pixels = (int)binary.slow_pixels;
    db_image_geometry axes = db_image_geometry_unknown;
    DB_TRY(read_axes(f, content, &axes, &image));
    if (placed && f->arrays.count != 1)
        return db_fail(f->context, DB_ERROR_UNSUPPORTED,
                       "%s: expected an image of one panel, found %zu; give the file also as -expt "
                       "(model.expt), for the places of its panels",
                       f->path, f->arrays.count);
    DB_TRY(db_image_geometry_from(f->context, f->path, &image, g));
    if (!placed) return DB_OK;
    g->distance = axes.distance;
    g->close_distance = axes.close_distance;
    g->phi = axes.phi;
    g->osc_range = axes.osc_range;
    g->twotheta = NAN;
    memcpy(g->beam_centre, axes.beam_centre, sizeof g->beam_centre);
    memcpy(g->near_point, axes.near_point, sizeof g->near_point);
    memcpy(g->normal, axes.normal, sizeof g->normal);
    if (db_image_geometry_faces_beam(&axes) && db_image_geometry_usual_spindle(&axes)) return DB_OK;
    memcpy(g->fast_axis, axes.fast_axis, sizeof g->fast_axis);
    memcpy(g->slow_axis, axes.slow_axis, sizeof g->slow_axis);
    memcpy(g->spindle_axis, axes.spindle_axis, sizeof g->spindle_axis);
    return DB_OK;
}

db_status db_cbf_geometry(db_context *context, const char *path, long frame,
                          db_image_geometry *geometry) {
    db_file_content content;
    placed_file f = { .context = context, .path = path };
    (void)frame; /* there is one */
    DB_TRY(db_file_content_read(context, path, &content));
    const db_status status = read_geometry(&f, &content, geometry);
    close_tables(&f);
    db_file_content_clear(&content);
    return status;
}

db_status db_cbf_circles(db_context *context, const char *path, db_circles *circles, int *found) {
    db_file_content content;
    placed_file f = { .context = context, .path = path };
    *found = 0;
    DB_TRY(db_file_content_read(context, path, &content));
    db_status status = open_tables(&f, &content);
    if (status == DB_OK && db_imgcif_places(&f.tables))
        status = db_imgcif_scan_read(&f.tables, &f.scan, found);
    if (*found) {
        memcpy(circles->fixed, f.scan.fixed, sizeof circles->fixed);
        memcpy(circles->setting, f.scan.setting, sizeof circles->setting);
    }
    close_tables(&f);
    db_file_content_clear(&content);
    return status;
}
