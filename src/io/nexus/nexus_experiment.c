/* Experiments of NXmx files: their modules, where chains of transformations place them. */
#if defined(DB_HAVE_HDF5)
#include "io/nexus/nexus.h"

#include "base/context_internal.h"
#include "base/frame_name.h"
#include "base/rotation.h"
#include "base/vector.h"
#include "io/experiments/plain_experiment.h"
#include "io/nexus/nexus_file.h"
#include "io/nexus/nexus_scan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_MODULES = 4096, LARGEST_MODULE = 65535 };

/* From the frame of NeXus, z along the beam and y up, to that of lists. */
static void to_list(double v[3]) {
    v[0] = -v[0];
    v[2] = -v[2];
}

/* From this program's frame of images to that of lists. */
static void from_own(const double own[3], double v[3]) {
    v[0] = own[2];
    v[1] = own[1];
    v[2] = -own[0];
}

/* A module on its way to a panel. */
typedef struct placed {
    db_frame frame;
    db_panel panel;
    int number; /* of the array in a stack, from 0 */
    char name[64];
} placed;

typedef struct modules {
    size_t frame; /* of the image, from 0 */
    size_t count;
    placed *module;
} modules;

static db_status fail_module(const db_hdf5_object *module, const char *expected) {
    return db_fail(module->context, DB_ERROR_INPUT, "%s: %s: expected %s", module->file,
                   module->name, expected);
}

/* Whole numbers of data_origin or data_size; the last two are slow, fast. */
static db_status read_counts(const db_hdf5_object *module, const char *name, double least,
                             int count[3], int *given) {
    db_hdf5_object data;
    hsize_t extent = 0;
    int good = 1;
    count[0] = 0;
    DB_TRY(db_hdf5_need(module, name, &data));
    const int rank = db_hdf5_extents(&data, &extent, 1);
    if (rank != 1 || extent < 2 || extent > 3) good = 0;
    for (int i = 0; good && i < (int)extent; i++) {
        double value = NAN;
        good = db_hdf5_number(&data, (size_t)i, &value) && value >= least &&
               value <= (double)MOST_MODULES * LARGEST_MODULE && floor(value) >= value;
        if (good) count[3 - (int)extent + i] = (int)value;
    }
    db_hdf5_close(&data);
    *given = (int)extent;
    if (good) return DB_OK;
    return fail_module(module, "data_origin and data_size of two or three whole numbers each");
}

static db_status take_module(const db_hdf5_object *module, const char *name, size_t frame,
                             placed *p) {
    db_nexus_panel at;
    int origin[3], size[3], given, sizes;
    *p = (placed){ .number = 0 };
    snprintf(p->name, sizeof p->name, "%.60s", name);
    DB_TRY(db_nexus_read_module(module, frame, &at));
    DB_TRY(read_counts(module, "data_origin", 0, origin, &given));
    DB_TRY(read_counts(module, "data_size", 1, size, &sizes));
    if (sizes != given || size[1] > LARGEST_MODULE || size[2] > LARGEST_MODULE ||
        (given == 3 && size[0] != 1))
        return fail_module(module, "data_size of one array of 1 to 65535 pixels along each axis");
    p->number = origin[0];
    p->panel.image_offset[0] = origin[2];
    p->panel.image_offset[1] = origin[1];
    p->panel.fast_pixels = size[2];
    p->panel.slow_pixels = size[1];
    memcpy(p->panel.pixel_size, at.pixel_size, sizeof at.pixel_size);
    memcpy(p->frame.fast, at.fast, sizeof at.fast);
    memcpy(p->frame.slow, at.slow, sizeof at.slow);
    memcpy(p->frame.origin, at.origin, sizeof at.origin);
    to_list(p->frame.fast);
    to_list(p->frame.slow);
    to_list(p->frame.origin);
    db_frame_complete(&p->frame);
    return DB_OK;
}

static db_status add_module(void *user, const db_hdf5_object *module, const char *name) {
    modules *const all = user;
    if (all->count == MOST_MODULES) return fail_module(module, "at most 4096 modules");
    return take_module(module, name, all->frame, &all->module[all->count++]);
}

/* Arrays of a stack lie one below the other in the image. */
static int by_number(const void *a, const void *b) {
    const placed *const x = a;
    const placed *const y = b;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    for (int i = 1; i >= 0; i--)
        if (x->panel.image_offset[i] != y->panel.image_offset[i])
            return x->panel.image_offset[i] < y->panel.image_offset[i] ? -1 : 1;
    return 0;
}

static db_status make_detector(db_context *context, const char *path, modules *all,
                               db_experiment *experiment, db_expt_content *content) {
    const size_t count = all->count;
    db_detector *const detector = &experiment->detector;
    db_frame *frame;
    DB_TRY(db_panels_create(context, path, count, detector, content, &frame));
    qsort(all->module, count, sizeof *all->module, by_number);
    const int stacked = all->module[count - 1].number > 0;
    for (size_t p = 1; p < count && stacked; p++)
        if (all->module[p].number == all->module[p - 1].number) {
            free(frame);
            return db_fail(context, DB_ERROR_UNSUPPORTED,
                           "%s: expected one module for each array of a stack, found %s and %s in "
                           "array %d",
                           path, all->module[p - 1].name, all->module[p].name,
                           all->module[p].number);
        }
    for (size_t p = 0; p < count; p++) {
        detector->panels[p] = all->module[p].panel;
        frame[p] = all->module[p].frame;
        if (stacked) detector->panels[p].image_offset[0] = detector->panels[p].image_offset[1] = 0;
        content->panel[p] = (db_expt_panel){ .trusted = { -INFINITY, INFINITY }, .gain = 1 };
        memcpy(content->panel[p].name, all->module[p].name, sizeof content->panel[p].name);
    }
    const db_frame outer = { { 1, 0, 0 }, { 0, -1, 0 }, { 0, 0, -1 }, { 0, 0, 0 } };
    const char *const expected = db_hang_panels(frame, &outer, &experiment->beam, detector);
    free(frame);
    return expected ? db_fail(context, DB_ERROR_INPUT, "%s: expected %s", path, expected) : DB_OK;
}

static void take_scan(const db_image_geometry *g, db_experiment *experiment,
                      db_expt_content *content) {
    db_goniometer *const goniometer = &experiment->goniometer;
    db_detector *const detector = &experiment->detector;
    const double usual[3] = { 0, 0, 1 };
    from_own(isnan(g->spindle_axis[0]) ? usual : g->spindle_axis, goniometer->spindle_axis);
    const int is_still = isnan(g->phi) || !(db_turns(g->osc_range) || isnan(g->osc_range));
    content->osc_range = is_still ? 0 : g->osc_range;
    content->phi = is_still ? 0 : g->phi;
    goniometer->phi = content->phi;
    goniometer->phi_step = isnan(content->osc_range) ? 0 : content->osc_range;
    goniometer->phi_steps = 1;
    db_detector_set_flat(goniometer->spindle_axis, detector);
    content->attenuation_depth = NAN;
    if (!(g->sensor_thickness > 0)) return;
    content->sensor_thickness = g->sensor_thickness;
    content->sensor_material = g->sensor_material;
}

/* Fails unless an image is one of the file's, where these can be counted: they may be elsewhere. */
static db_status check_number(const db_nexus_file *file, long number) {
    size_t images;
    db_nexus_frame found;
    const db_status status = db_nexus_find_frame(file, number, &found);
    if (status == DB_OK) db_hdf5_close(&found.data);
    if (status == DB_OK || status == DB_ERROR_MEMORY) return status;
    const db_status counted = db_nexus_count_frames(file, &images);
    if (counted != DB_OK) return counted == DB_ERROR_MEMORY ? counted : DB_OK;
    return db_nexus_find_frame(file, number, &found); /* which says why */
}

static int is_same_file(const char *one, const char *other) {
    struct stat a, b;
    return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* is_own: the image that is asked for is of this file, not of another with the same detector. */
static db_status read_modules(db_context *context, const char *path, long frame, int is_own,
                              modules *all) {
    db_nexus_file file;
    db_hdf5_guard guard;
    db_hdf5_enter(&guard);
    db_status status = db_nexus_open(context, path, &file);
    if (status == DB_OK) {
        all->frame = db_nexus_number_of(&file, frame);
        if (is_own) status = check_number(&file, frame);
        if (status == DB_OK) status = db_nexus_each_module(&file, add_module, all);
        db_nexus_close(&file);
    }
    db_hdf5_leave(&guard);
    if (status == DB_OK && all->count == 0)
        status = db_fail(context, DB_ERROR_INPUT,
                         "%s: expected groups of class NXdetector_module in the detector, found "
                         "none: its place is not known",
                         path);
    return status;
}

/* Rotations in the frame of lists; 0: they are not known, or none. */
static int take_circles(const db_nexus_scan *scan, db_circles *circles) {
    static const double sign[3] = { -1, 1, -1 }; /* to_list */
    int turned = 0;
    for (int i = 0; i < 9; i++) {
        const double both = sign[i / 3] * sign[i % 3];
        circles->fixed[i] = both * scan->fixed[i] + 0.;
        circles->setting[i] = both * scan->setting[i] + 0.;
        if (!isfinite(scan->fixed[i]) || !isfinite(scan->setting[i])) return 0;
        turned |= fabs(scan->fixed[i] - (i % 4 == 0)) > 1e-12 ||
                  fabs(scan->setting[i] - (i % 4 == 0)) > 1e-12;
    }
    return turned && db_dot(scan->fixed, scan->fixed) > 0;
}

db_status db_nexus_circles(db_context *context, const char *path, db_circles *circles, int *found) {
    db_nexus_file file;
    db_nexus_scan scan;
    db_hdf5_guard guard;
    *found = 0;
    db_hdf5_enter(&guard);
    db_status status = db_nexus_open(context, path, &file);
    if (status == DB_OK) {
        status = db_nexus_scan_find(&file, 0, &scan, found);
        db_nexus_close(&file);
    }
    db_hdf5_leave(&guard);
    *found = status == DB_OK && *found && take_circles(&scan, circles);
    return status;
}

/* The goniometer's circles as one rotation. */
static db_status tell_circles(db_context *context, const char *path, db_expt_content *content) {
    db_circles circles;
    int found = 0;
    if (db_turns(content->osc_range)) DB_TRY(db_nexus_circles(context, path, &circles, &found));
    if (found) db_multiply(circles.setting, circles.fixed, content->circles);
    return DB_OK;
}

db_status db_nexus_experiment(db_context *context, const char *path,
                              const db_expt_selection *selection, db_experiment *experiment,
                              db_expt_content *content) {
    static const double along[3] = { 0, 0, -1 };
    char file[4096];
    const long wanted = selection->image ? db_frame_split(selection->image, file, sizeof file) : 0;
    const long frame = wanted ? wanted : 1;
    const int is_own = wanted && is_same_file(file, path);
    db_image_geometry g;
    modules all = { .module = calloc(MOST_MODULES, sizeof *all.module) };
    if (!all.module) return db_fail_memory(context, path);
    db_status status = DB_OK;
    if (selection->number > 0)
        status = db_fail(context, DB_ERROR_INPUT, "%s: experiment %ld: expected 0, the only one",
                         path, selection->number);
    if (status == DB_OK && frame < 0)
        status = db_fail(context, DB_ERROR_USAGE, "%s: images are counted from 1, found #0", file);
    if (status == DB_OK) status = read_modules(context, path, frame, is_own, &all);
    if (status == DB_OK) status = db_nexus_state(context, path, frame, &g);
    if (status == DB_OK && !(g.wavelength > 0))
        status = db_fail(context, DB_ERROR_INPUT,
                         "%s: expected incident_wavelength in the beam, found none", path);
    if (status == DB_OK) {
        db_beam_set_simple(g.wavelength, along, g.polarization, &experiment->beam, content);
        take_scan(&g, experiment, content);
        status = tell_circles(context, path, content);
        if (status == DB_OK) status = make_detector(context, path, &all, experiment, content);
    }
    free(all.module);
    return status;
}

#else
typedef int db_without_nexus_experiment;
#endif
