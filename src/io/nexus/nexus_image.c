/* Images of HDF5 files: what their NeXus groups say of the experiment, and their pixels. */
#include "io/nexus/nexus.h"

#include "base/context_internal.h"

#if defined(DB_HAVE_HDF5)
#include "base/vector.h"
#include "io/hdf5/hdf5_chunks.h"
#include "io/nexus/kept_mask.h"
#include "io/nexus/nexus_counts.h"
#include "io/nexus/nexus_file.h"

#include <dualbragg/sensor.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Pixels of one image, or claims of it. */
static const hsize_t MOST_PIXELS = (hsize_t)1 << 28;

/* What is read of the experiment besides what images have room for. */
typedef struct reading {
    db_nexus_file file;
    db_nexus_frame frame;
    db_measured_image *image;
    db_image_geometry geometry;
    db_nexus_limits limits;
    int faces_beam, usual_spindle; /* axes are those of the default convention */
    db_mask_key mask;              /* to be kept, if it has pixels */
} reading;

static db_status read_wavelength(reading *r) {
    static const char *const weights[] = { "incident_wavelength_weights",
                                           "incident_wavelength_weight" };
    const db_hdf5_object *const beam = &r->file.beam;
    db_hdf5_object object;
    char unit[64] = "angstrom";
    double value;
    if (beam->id < 0) return DB_OK;
    for (size_t i = 0; i < 2; i++) {
        DB_TRY(db_hdf5_find(beam, weights[i], &object));
        const int weighted = object.id >= 0;
        db_hdf5_close(&object);
        if (weighted)
            return db_fail(beam->context, DB_ERROR_UNSUPPORTED,
                           "%s: %s: expected one wavelength, found a spectrum (%s); give it as a "
                           "file of its own",
                           beam->file, beam->name, weights[i]);
    }
    DB_TRY(db_hdf5_find(beam, "incident_wavelength", &object));
    if (object.id < 0) return DB_OK;
    const int found = db_hdf5_number(&object, r->frame.number, &value);
    db_hdf5_attribute_text(&object, "units", unit, sizeof unit);
    db_hdf5_close(&object);
    const double factor = strcmp(unit, "angstrom") == 0 || strcmp(unit, "angstroms") == 0 ||
                                  strcmp(unit, "Angstrom") == 0 || strcmp(unit, "A") == 0 ||
                                  strcmp(unit, "\xc3\x85") == 0
                              ? 1
                              : 1e7 * db_nexus_length_unit(unit);
    if (!found || !(value * factor > 0))
        return db_fail(beam->context, DB_ERROR_INPUT,
                       "%s: %s/incident_wavelength: expected a length > 0 for image %zu, with "
                       "units, found units '%.60s'",
                       beam->file, beam->name, r->frame.number + 1, unit);
    r->image->wavelength = value * factor;
    return DB_OK;
}

static db_status read_number(const db_hdf5_object *group, const char *name, double *value) {
    int found;
    return group->id < 0 ? DB_OK : db_hdf5_find_number(group, name, 0, value, &found);
}

/* Gain and pedestal of our own files; NXmx has no names for them. */
static db_status read_counting(const reading *r) {
    char creator[64] = "";
    double gain = NAN, pedestal = NAN;
    db_hdf5_attribute_text(&r->file.root, "creator", creator, sizeof creator);
    if (strncmp(creator, "dualbragg", strlen("dualbragg")) != 0) return DB_OK;
    DB_TRY(read_number(&r->file.detector, "gain", &gain));
    DB_TRY(read_number(&r->file.detector, "pedestal", &pedestal));
    if (gain > 0 && isfinite(gain)) r->image->gain = gain;
    if (isfinite(pedestal)) r->image->pedestal = pedestal;
    return DB_OK;
}

static db_status read_detector(reading *r) {
    const db_hdf5_object *const d = &r->file.detector;
    db_measured_image *const image = r->image;
    char material[64] = "";
    double metres = NAN, thickness = NAN;
    int found;
    if (d->id < 0) return DB_OK;
    DB_TRY(read_number(d, "count_time", &image->exposure));
    DB_TRY(
        read_number(&r->file.specific, "countrate_correction_count_cutoff", &r->limits.saturation));
    DB_TRY(read_number(d, "saturation_value", &r->limits.saturation));
    DB_TRY(read_number(d, "underload_value", &r->limits.underload));
    DB_TRY(read_number(d, "bit_depth_image", &r->limits.bits));
    DB_TRY(db_hdf5_find_text(d, "description", image->detector, sizeof image->detector, &found));
    DB_TRY(read_number(d, "sensor_thickness", &thickness));
    if (thickness != 0) DB_TRY(db_nexus_length(d, "sensor_thickness", 0, &metres)); /* 0: none */
    DB_TRY(db_hdf5_find_text(d, "sensor_material", material, sizeof material, &found));
    if (metres > 2 * DB_NO_SENSOR && metres < 100) { /* mm */
        image->sensor_thickness = 1e3 * metres;
        image->sensor_material = db_sensor_material_find(material);
    }
    return read_counting(r);
}

/* From the frame of NeXus to this program's: beam, up, along the fast axis of detectors that face
 * the beam. */
static void to_own_frame(double v[3]) {
    const double x = v[0];
    v[0] = v[2];
    v[2] = -x;
}

/* Distance and direct beam, from where the panel stands. */
static db_status place(reading *r, db_nexus_panel *panel) {
    static const double beam[3] = { 1, 0, 0 };
    db_image_geometry *const g = &r->geometry;
    double normal[3], to_beam[3];
    to_own_frame(panel->origin);
    to_own_frame(panel->fast);
    to_own_frame(panel->slow);
    db_cross(panel->fast, panel->slow, normal);
    double cosine = db_dot(beam, normal), close = db_dot(panel->origin, normal);
    if (close < 0) {
        cosine = -cosine;
        close = -close;
    }
    if (!(close > 0 && cosine > 0.02))
        return db_fail(r->file.context, DB_ERROR_UNSUPPORTED,
                       "%s: expected a detector that the direct beam meets (depends_on)",
                       r->file.path);
    g->distance = close / cosine;
    for (int i = 0; i < 3; i++) to_beam[i] = g->distance * beam[i] - panel->origin[i];
    g->beam_centre[0] = db_dot(to_beam, panel->fast);
    g->beam_centre[1] = db_dot(to_beam, panel->slow);
    for (int i = 0; i < 3; i++) {
        g->fast_axis[i] = panel->fast[i];
        g->slow_axis[i] = panel->slow[i];
    }
    memcpy(r->image->pixel_size, panel->pixel_size, sizeof panel->pixel_size);
    return DB_OK;
}

/* What detectors of Dectris say without chains: a panel that faces the beam, at 2 theta. */
static db_status place_plainly(reading *r) {
    const db_hdf5_object *const d = &r->file.detector;
    db_image_geometry *const g = &r->geometry;
    double centre[2] = { NAN, NAN };
    if (d->id < 0) return DB_OK;
    DB_TRY(db_nexus_length(d, "x_pixel_size", 0, &r->image->pixel_size[0]));
    DB_TRY(db_nexus_length(d, "y_pixel_size", 0, &r->image->pixel_size[1]));
    DB_TRY(db_nexus_length(d, "detector_distance", 0, &g->distance));
    if (isnan(g->distance)) DB_TRY(db_nexus_length(d, "distance", 0, &g->distance));
    DB_TRY(read_number(d, "beam_center_x", &centre[0]));
    DB_TRY(read_number(d, "beam_center_y", &centre[1]));
    DB_TRY(read_number(d, "goniometer/two_theta_start", &g->twotheta));
    for (int i = 0; i < 2; i++) g->beam_centre[i] = centre[i] * r->image->pixel_size[i];
    return DB_OK;
}

static db_status read_placement(reading *r) {
    db_nexus_panel panel;
    int found;
    DB_TRY(db_nexus_module(&r->file, r->frame.number, &panel, &found));
    return found ? place(r, &panel) : place_plainly(r);
}

static db_status read_scan(reading *r) {
    db_nexus_scan scan;
    int found;
    DB_TRY(db_nexus_scan_axis(&r->file, r->frame.number, &scan, &found));
    if (!found) return DB_OK;
    to_own_frame(scan.axis);
    memcpy(r->geometry.spindle_axis, scan.axis, sizeof scan.axis);
    r->image->phi = scan.phi;
    r->image->osc_range = scan.range;
    return DB_OK;
}

static int is_along(const double v[3], double x, double y, double z) {
    static const double TOLERANCE = 1e-5;
    return isnan(v[0]) ||
           (fabs(v[0] - x) < TOLERANCE && fabs(v[1] - y) < TOLERANCE && fabs(v[2] - z) < TOLERANCE);
}

/* Axes need not be told where they are those that are taken anyway. */
static void settle_axes(reading *r) {
    db_image_geometry *const g = &r->geometry;
    r->faces_beam = is_along(g->fast_axis, 0, 0, 1) && is_along(g->slow_axis, 0, -1, 0);
    r->usual_spindle = is_along(g->spindle_axis, 0, 0, 1);
    if (!r->faces_beam || !r->usual_spindle) return;
    g->fast_axis[0] = g->slow_axis[0] = g->spindle_axis[0] = NAN;
}

static db_status read_experiment(reading *r) {
    r->geometry = db_image_geometry_unknown;
    r->limits = (db_nexus_limits){ NAN, NAN, NAN };
    DB_TRY(read_wavelength(r));
    DB_TRY(read_detector(r));
    DB_TRY(read_placement(r));
    DB_TRY(read_scan(r));
    settle_axes(r);
    return DB_OK;
}

static db_status check_pixels(const reading *r) {
    const db_nexus_frame *const f = &r->frame;
    hsize_t pixels = 1;
    for (int d = f->rank > 2 ? 1 : 0; d < f->rank; d++) {
        if (f->extent[d] > MOST_PIXELS) pixels = MOST_PIXELS + 1;
        if (pixels <= MOST_PIXELS) pixels *= f->extent[d];
    }
    if (pixels <= MOST_PIXELS) return DB_OK;
    return db_fail(r->file.context, DB_ERROR_INPUT,
                   "%s: %s: expected at most 2^28 pixels in an image, found more", f->data.file,
                   f->data.name);
}

/* Gathers one panel after the other. lead: numbers in front of the panel's. */
static db_status gather(const db_hdf5_object *data, int rank, const hsize_t *extent, hsize_t index,
                        db_hdf5_pieces *pieces) {
    hsize_t start[4] = { 0 }, size[4] = { 1, 1, 1, 1 };
    const size_t width = (size_t)extent[rank - 1], height = (size_t)extent[rank - 2];
    const hsize_t panels = rank == 4 ? extent[1] : 1;
    size[rank - 1] = width;
    size[rank - 2] = height;
    if (rank > 2) start[0] = index;
    for (hsize_t p = 0; p < panels; p++) {
        if (rank == 4) start[1] = p;
        DB_TRY(db_hdf5_gather(data, rank, start, size, (size_t)p * width * height, width, pieces));
    }
    return DB_OK;
}

/* The mask of the detector, if it has one of the image's shape. */
static db_status gather_mask(reading *r, size_t covered, db_hdf5_pieces *pieces) {
    static const char *const names[] = { "pixel_mask", "detectorSpecific/pixel_mask" };
    db_hdf5_object mask = { .id = -1 };
    hsize_t extent[4];
    for (size_t i = 0; i < 2 && mask.id < 0 && r->file.detector.id >= 0; i++)
        DB_TRY(db_hdf5_find(&r->file.detector, names[i], &mask));
    if (mask.id < 0) return DB_OK;
    const int rank = db_hdf5_extents(&mask, extent, 4), own = r->frame.rank;
    int fits = rank == (own == 4 ? 3 : 2);
    for (int i = 1; fits && i <= rank; i++) fits = extent[rank - i] == r->frame.extent[own - i];
    db_status status = DB_OK;
    if (!fits)
        status = db_fail(mask.context, DB_ERROR_INPUT,
                         "%s: %s: expected a mask of the image's shape, found another", mask.file,
                         mask.name);
    const hsize_t panels = rank == 3 ? extent[0] : 1;
    const size_t count = (size_t)r->image->fast_pixels * (size_t)r->image->slow_pixels;
    const int keeps = fits && covered >= count && db_mask_key_get(&mask, count, &r->mask);
    const int known = keeps && db_kept_mask_apply(&r->mask, r->image->mask);
    if (known) r->mask.pixels = 0; /* nothing new */
    for (hsize_t p = 0; p < panels && status == DB_OK && !known; p++) {
        const hsize_t start[3] = { p, 0, 0 }, size[3] = { 1, extent[rank - 2], extent[rank - 1] };
        const size_t pixels = (size_t)(size[1] * size[2]);
        status = db_hdf5_gather(&mask, rank, start + (3 - rank), size + (3 - rank),
                                (size_t)p * pixels, (size_t)size[2], pieces);
    }
    db_hdf5_close(&mask);
    return status;
}

static db_status allocate(reading *r) {
    const db_nexus_frame *const f = &r->frame;
    db_measured_image *const image = r->image;
    const hsize_t panels = f->rank == 4 ? f->extent[1] : 1, height = f->extent[f->rank - 2];
    DB_TRY(db_image_allocate(r->file.context, r->file.path, (long long)f->extent[f->rank - 1],
                             (long long)(panels * height), image));
    if (panels == 1) return DB_OK;
    image->panels = calloc((size_t)panels, sizeof *image->panels);
    if (!image->panels) return db_fail_memory(r->file.context, r->file.path);
    image->panel_count = (size_t)panels;
    for (size_t p = 0; p < (size_t)panels; p++) {
        image->panels[p].first_row = (int)(p * (size_t)height);
        image->panels[p].slow_pixels = (int)height;
    }
    return DB_OK;
}

/* The part that libhdf5 is needed for. */
static db_status collect(reading *r, long frame, db_hdf5_pieces *pixels, db_hdf5_pieces *mask) {
    DB_TRY(db_nexus_find_frame(&r->file, frame, &r->frame));
    DB_TRY(read_experiment(r));
    DB_TRY(check_pixels(r));
    DB_TRY(gather(&r->frame.data, r->frame.rank, r->frame.extent, r->frame.index, pixels));
    if (pixels->count == 0)
        return db_fail(r->file.context, DB_ERROR_INPUT, "%s: image %zu is in none of the sources",
                       r->file.path, r->frame.number + 1);
    DB_TRY(allocate(r));
    return gather_mask(r, pixels->covered, mask);
}

/* Pieces of one image may come from data sets of several types. */
static void subtract_pedestal(db_measured_image *image) {
    const size_t count = (size_t)image->fast_pixels * (size_t)image->slow_pixels;
    if (image->pedestal == 0) return;
    for (size_t i = 0; i < count; i++)
        image->value[i] = (float)((double)image->value[i] - image->pedestal);
    image->overload -= image->pedestal;
}

static void keep_mask(const reading *r) {
    db_hdf5_guard guard;
    db_hdf5_enter(&guard);
    db_kept_mask_set(&r->mask, r->image->mask);
    db_hdf5_leave(&guard);
}

static db_status unpack(reading *r, const db_hdf5_pieces *pixels, const db_hdf5_pieces *mask) {
    db_nexus_sink s;
    const db_hdf5_format *const first = &pixels->piece[0].format;
    for (size_t i = 1; i < pixels->count; i++)
        if (pixels->piece[i].format.kind != first->kind ||
            pixels->piece[i].format.width != first->width)
            return db_fail(r->file.context, DB_ERROR_UNSUPPORTED,
                           "%s: expected pixels of one type, found several", r->file.path);
    db_nexus_sink_init(&r->limits, first, r->image, &s);
    db_nexus_mark_gaps(pixels, r->image);
    DB_TRY(db_hdf5_unpack_flags(r->file.context, r->file.path, mask, db_nexus_take_mask, &s));
    if (r->mask.pixels) keep_mask(r);
    DB_TRY(db_hdf5_unpack(r->file.context, r->file.path, pixels, db_nexus_take_pixels, &s));
    subtract_pedestal(r->image);
    return DB_OK;
}

/* Images have no room for axes: numbers that do not hold without them are left out. */
static void tell_placement(reading *r) {
    const db_image_geometry *const g = &r->geometry;
    db_measured_image *const image = r->image;
    image->twotheta = g->twotheta;
    if (!r->usual_spindle) image->phi = image->osc_range = NAN;
    if (!r->faces_beam) return;
    image->distance = g->distance;
    for (int i = 0; i < 2; i++) image->beam_centre[i] = g->beam_centre[i] / image->pixel_size[i];
}

db_status db_nexus_read(db_context *context, const char *path, long frame,
                        db_measured_image *image) {
    reading r = { .image = image };
    db_hdf5_pieces pixels = { 0 }, mask = { 0 };
    db_hdf5_guard guard;
    db_hdf5_enter(&guard);
    db_status status = db_nexus_open(context, path, &r.file);
    if (status == DB_OK) {
        r.frame.data.id = -1;
        status = collect(&r, frame, &pixels, &mask);
        db_hdf5_close(&r.frame.data);
        db_nexus_close(&r.file);
    }
    db_hdf5_leave(&guard);
    if (status == DB_OK) tell_placement(&r);
    if (status == DB_OK) status = unpack(&r, &pixels, &mask);
    db_hdf5_pieces_clear(&pixels);
    db_hdf5_pieces_clear(&mask);
    return status;
}

db_status db_nexus_count(db_context *context, const char *path, size_t *count) {
    db_nexus_file file;
    db_hdf5_guard guard;
    *count = 0;
    db_hdf5_enter(&guard);
    db_status status = db_nexus_open(context, path, &file);
    if (status == DB_OK) {
        status = db_nexus_count_frames(&file, count);
        db_nexus_close(&file);
    }
    db_hdf5_leave(&guard);
    return status;
}

/* Masters that came without their pixels state the size of the image. */
static db_status read_size(reading *r, long frame) {
    db_image_geometry *const g = &r->geometry;
    double size[2] = { NAN, NAN };
    DB_TRY(read_number(&r->file.specific, "x_pixels_in_detector", &size[0]));
    DB_TRY(read_number(&r->file.specific, "y_pixels_in_detector", &size[1]));
    if (size[0] >= 1 && size[1] >= 1 && size[0] < 1e6 && size[1] < 1e6) {
        g->fast_pixels = (int)size[0];
        g->slow_pixels = (int)size[1];
        return DB_OK;
    }
    DB_TRY(db_nexus_find_frame(&r->file, frame > 0 ? frame : 1, &r->frame));
    DB_TRY(check_pixels(r));
    if (r->frame.rank == 4)
        return db_fail(r->file.context, DB_ERROR_UNSUPPORTED,
                       "%s: expected an image of one panel, found several: where they stand is "
                       "told by the file itself as -expt (model.expt), if it has a module for "
                       "each, or by an experiment list",
                       r->file.path);
    g->fast_pixels = (int)r->frame.extent[r->frame.rank - 1];
    g->slow_pixels = (int)r->frame.extent[r->frame.rank - 2];
    return DB_OK;
}

/* sized: 1 asks for the size of the image, which has one panel, too. */
static db_status read_geometry(reading *r, long frame, int sized) {
    r->frame.data.id = -1;
    r->frame.number = frame > 0 ? (size_t)frame - 1 : 0;
    DB_TRY(read_experiment(r));
    const db_status status = sized ? read_size(r, frame) : DB_OK;
    db_hdf5_close(&r->frame.data);
    return status;
}

static db_status read_all(db_context *context, const char *path, long frame, int sized,
                          db_measured_image *image, db_image_geometry *geometry) {
    reading r = { .image = image };
    db_hdf5_guard guard;
    db_image_init(image, "HDF5");
    db_hdf5_enter(&guard);
    db_status status = db_nexus_open(context, path, &r.file);
    if (status == DB_OK) {
        status = read_geometry(&r, frame, sized);
        db_nexus_close(&r.file);
    }
    db_hdf5_leave(&guard);
    DB_TRY(status);
    *geometry = r.geometry;
    geometry->pixel_size = image->pixel_size[0];
    geometry->wavelength = image->wavelength;
    geometry->phi = image->phi;
    geometry->osc_range = image->osc_range;
    geometry->sensor_thickness = image->sensor_thickness;
    geometry->sensor_material = image->sensor_material;
    return DB_OK;
}

db_status db_nexus_geometry(db_context *context, const char *path, long frame,
                            db_image_geometry *geometry) {
    db_measured_image image;
    DB_TRY(read_all(context, path, frame, 1, &image, geometry));
    const double ratio = image.pixel_size[1] / image.pixel_size[0];
    if (fabs(ratio - 1) > 1e-9)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "%s: expected square pixels, found a ratio of %g", path, ratio);
    return DB_OK;
}

db_status db_nexus_state(db_context *context, const char *path, long frame,
                         db_image_geometry *geometry) {
    db_measured_image image;
    return read_all(context, path, frame, 0, &image, geometry);
}
#else
#include "io/hdf5/without_hdf5.h"

db_status db_nexus_read(db_context *context, const char *path, long frame,
                        db_measured_image *image) {
    (void)frame;
    (void)image;
    return db_fail_without_hdf5(context, path, "read");
}

db_status db_nexus_count(db_context *context, const char *path, size_t *count) {
    *count = 0;
    return db_fail_without_hdf5(context, path, "read");
}

db_status db_nexus_geometry(db_context *context, const char *path, long frame,
                            db_image_geometry *geometry) {
    (void)frame;
    (void)geometry;
    return db_fail_without_hdf5(context, path, "read");
}

db_status db_nexus_experiment(db_context *context, const char *path,
                              const db_expt_selection *selection, db_experiment *experiment,
                              db_expt_content *content) {
    (void)selection;
    (void)experiment;
    (void)content;
    return db_fail_without_hdf5(context, path, "read");
}
#endif
