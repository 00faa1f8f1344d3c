/* Images of HDF5 files: their pixels, masks, and the values of their experiment. */
#include "io/nexus/nexus.h"

#include "base/context_internal.h"
#include "base/rotation.h"

#if defined(DB_HAVE_HDF5)
#include "io/hdf5/hdf5_chunks.h"
#include "io/nexus/kept_mask.h"
#include "io/nexus/nexus_counts.h"
#include "io/nexus/nexus_file.h"
#include "io/nexus/nexus_header.h"
#include "io/nexus/nexus_numbers.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Pixels of one image, or claims of it. */
static const hsize_t MOST_PIXELS = (hsize_t)1 << 28;

typedef struct reading {
    db_nexus_file file;
    db_nexus_frame frame;
    db_measured_image *image;
    db_nexus_header header;
    db_file_state mask; /* to be kept, if it has pixels */
} reading;

static db_status read_header(reading *r) {
    r->header = (db_nexus_header){ .file = &r->file, .number = r->frame.number, .image = r->image };
    return db_nexus_header_read(&r->header);
}

/* Arrays of an image that lie one below the other. */
static hsize_t panels_of(const db_nexus_frame *f) {
    return f->rank == 4 && f->thresholds == 1 ? f->extent[1] : 1;
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

/* Gathers one panel after the other. */
static db_status gather_modules(const db_nexus_frame *f, db_hdf5_pieces *pieces) {
    hsize_t start[4] = { 0 }, size[4] = { 1, 1, 1, 1 };
    const size_t width = (size_t)f->extent[f->rank - 1], height = (size_t)f->extent[f->rank - 2];
    size[f->rank - 1] = width;
    size[f->rank - 2] = height;
    if (f->rank > 2) start[0] = f->index;
    for (hsize_t p = 0; p < panels_of(f); p++) {
        if (f->rank == 4) start[1] = f->thresholds > 1 ? (hsize_t)f->threshold : p;
        DB_TRY(db_hdf5_gather(&f->data, f->rank, start, size, (size_t)p * width * height, width,
                              pieces));
    }
    return DB_OK;
}

/* Finds the image in a mask of any known shape: slow x fast, with an axis for thresholds or panels and one for
 * images, or axes of extent 1. *own 1: the mask belongs to this image only. Returns 0 if the shape does not fit. */
static int place_mask(const db_nexus_frame *f, int rank, const hsize_t *extent, hsize_t start[4],
                      int *own) {
    const hsize_t panels = panels_of(f), arrays = (hsize_t)f->thresholds;
    int axes = rank - 2;
    memset(start, 0, 4 * sizeof *start);
    *own = 0;
    if (axes < 0 || extent[rank - 1] != f->extent[f->rank - 1] ||
        extent[rank - 2] != f->extent[f->rank - 2])
        return 0;
    if (panels > 1 && (axes < 1 || extent[--axes] != panels)) return 0;
    if (arrays > 1 && axes > 0 && extent[axes - 1] == arrays) start[--axes] = (hsize_t)f->threshold;
    for (axes--; axes >= 0; axes--) {
        if (extent[axes] == 1) continue;
        if (*own || extent[axes] <= f->number) return 0;
        start[axes] = f->number;
        *own = 1;
    }
    return 1;
}

static db_status gather_panels(const reading *r, const db_hdf5_object *mask, int rank,
                               const hsize_t *extent, hsize_t start[4], db_hdf5_pieces *pieces) {
    const hsize_t panels = panels_of(&r->frame);
    hsize_t size[4] = { 1, 1, 1, 1 };
    size[rank - 1] = extent[rank - 1];
    size[rank - 2] = extent[rank - 2];
    const size_t pixels = (size_t)(size[rank - 1] * size[rank - 2]);
    for (hsize_t p = 0; p < panels; p++) {
        if (panels > 1) start[rank - 3] = p;
        DB_TRY(db_hdf5_gather(mask, rank, start, size, (size_t)p * pixels, (size_t)size[rank - 1],
                              pieces));
    }
    return DB_OK;
}

/* Adds a mask; keeps: 1 if it is the only one. */
static db_status gather_mask(reading *r, const db_hdf5_object *mask, int keeps,
                             db_hdf5_pieces *pieces) {
    hsize_t extent[4], start[4];
    int own;
    const int rank = db_hdf5_extents(mask, extent, 4);
    if (!place_mask(&r->frame, rank, extent, start, &own))
        return db_fail(mask->context, DB_ERROR_INPUT,
                       "%s: %s: expected a mask of the image's shape, or one for each image, found "
                       "another",
                       mask->file, mask->name);
    const size_t count = (size_t)r->image->fast_pixels * (size_t)r->image->slow_pixels;
    if (keeps && !own && db_file_state_get(mask, count, r->frame.threshold, &r->mask) &&
        db_kept_mask_apply(&r->mask, r->image->mask)) {
        r->mask.pixels = 0; /* nothing new */
        return DB_OK;
    }
    return gather_panels(r, mask, rank, extent, start, pieces);
}

/* Gathers the detector's mask and the threshold's. */
static db_status gather_masks(reading *r, size_t covered, db_hdf5_pieces *pieces) {
    const db_hdf5_object *const detector = &r->file.detector;
    const size_t count = (size_t)r->image->fast_pixels * (size_t)r->image->slow_pixels;
    db_hdf5_object mask[2] = { { .id = -1 }, { .id = -1 } };
    db_status status = DB_OK;
    if (detector->id < 0) return DB_OK;
    if (r->frame.rank == 4 && panels_of(&r->frame) == 1)
        status = db_nexus_threshold_data(&r->file, r->frame.threshold, "pixel_mask", &mask[1]);
    if (status == DB_OK) status = db_hdf5_find(detector, "pixel_mask", &mask[0]);
    if (status == DB_OK && mask[0].id < 0)
        status = db_hdf5_find(detector, "detectorSpecific/pixel_mask", &mask[0]);
    const int keeps = covered >= count && (mask[0].id < 0 || mask[1].id < 0);
    for (int i = 0; i < 2; i++) {
        if (status == DB_OK && mask[i].id >= 0) status = gather_mask(r, &mask[i], keeps, pieces);
        db_hdf5_close(&mask[i]);
    }
    return status;
}

static db_status allocate_modules(reading *r) {
    const db_nexus_frame *const f = &r->frame;
    db_measured_image *const image = r->image;
    const hsize_t panels = panels_of(f), height = f->extent[f->rank - 2];
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

/* Gives the notice about thresholds; counts the images only if there are several. */
static db_status tell_thresholds(const reading *r) {
    size_t images;
    if (r->frame.thresholds < 2) return DB_OK;
    DB_TRY(db_nexus_count_frames(&r->file, &images));
    return db_nexus_tell_thresholds(&r->file, &r->frame, images);
}

/* The part that libhdf5 is needed for. */
static db_status collect_modules(reading *r, long frame, db_hdf5_pieces *pixels,
                                 db_hdf5_pieces *mask) {
    DB_TRY(db_nexus_find_frame(&r->file, frame, &r->frame));
    DB_TRY(tell_thresholds(r));
    DB_TRY(read_header(r));
    DB_TRY(check_pixels(r));
    DB_TRY(gather_modules(&r->frame, pixels));
    if (pixels->count == 0)
        return db_fail(r->file.context, DB_ERROR_INPUT, "%s: image %zu is in none of the sources",
                       r->file.path, r->frame.number + 1);
    DB_TRY(allocate_modules(r));
    return gather_masks(r, pixels->covered, mask);
}

/* Pieces of one image may come from data sets of several types. */
static void subtract_pedestal(const reading *r) {
    db_measured_image *const image = r->image;
    const size_t count = (size_t)image->fast_pixels * (size_t)image->slow_pixels;
    if (isfinite(r->header.limits.underload))
        image->underload = r->header.limits.underload - image->pedestal;
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

static db_status unpack_frame(reading *r, const db_hdf5_pieces *pixels,
                              const db_hdf5_pieces *mask) {
    db_nexus_sink s;
    const db_hdf5_format *const first = &pixels->piece[0].format;
    for (size_t i = 1; i < pixels->count; i++)
        if (pixels->piece[i].format.kind != first->kind ||
            pixels->piece[i].format.width != first->width)
            return db_fail(r->file.context, DB_ERROR_UNSUPPORTED,
                           "%s: expected pixels of one type, found several", r->file.path);
    db_nexus_sink_init(&r->header.limits, first, r->image, &s);
    db_nexus_mark_gaps(pixels, r->image);
    DB_TRY(db_hdf5_unpack_flags(r->file.context, r->file.path, mask, db_nexus_take_mask, &s));
    if (r->mask.pixels) keep_mask(r);
    DB_TRY(db_hdf5_unpack(r->file.context, r->file.path, pixels, db_nexus_take_pixels, &s));
    if (s.settles) db_decide_marks(r->image);
    subtract_pedestal(r);
    return DB_OK;
}

/* Fills the image's placement. An image has no axes: values that need them are left out. For those, readers take a
 * file with chains as an experiment list. */
static void tell_placement(reading *r) {
    const db_nexus_header *const h = &r->header;
    const db_image_geometry *const g = &h->geometry;
    db_measured_image *const image = r->image;
    image->twotheta = g->twotheta;
    if (!h->usual_spindle && !h->by_chain && db_turns(image->osc_range))
        db_notice(r->file.context,
                  "%s: the crystal turns about another axis than the detector's fast axis; fit "
                  "needs an experiment list (--expt) for this axis",
                  r->file.path);
    if (!h->usual_spindle) image->phi = image->osc_range = NAN;
    if (!h->faces_beam || (h->by_chain && !h->usual_spindle)) return;
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
        status = collect_modules(&r, frame, &pixels, &mask);
        db_hdf5_close(&r.frame.data);
        db_nexus_close(&r.file);
    }
    db_hdf5_leave(&guard);
    if (status == DB_OK) tell_placement(&r);
    if (status == DB_OK) status = unpack_frame(&r, &pixels, &mask);
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
    db_image_geometry *const g = &r->header.geometry;
    double size[2] = { NAN, NAN };
    if (r->file.specific.id >= 0) {
        DB_TRY(db_nexus_positive(&r->file.specific, "x_pixels_in_detector", &size[0]));
        DB_TRY(db_nexus_positive(&r->file.specific, "y_pixels_in_detector", &size[1]));
    }
    if (size[0] >= 1 && size[1] >= 1 && size[0] < 1e6 && size[1] < 1e6) {
        g->fast_pixels = (int)size[0];
        g->slow_pixels = (int)size[1];
        return DB_OK;
    }
    DB_TRY(db_nexus_find_frame(&r->file, frame > 0 ? frame : 1, &r->frame));
    DB_TRY(check_pixels(r));
    if (panels_of(&r->frame) > 1)
        return db_fail(
            r->file.context, DB_ERROR_UNSUPPORTED,
            "%s: expected an image of one panel, found several; for their places give the file "
            "also as -expt (model.expt), if it has a module for each, or an experiment list",
            r->file.path);
    g->fast_pixels = (int)r->frame.extent[r->frame.rank - 1];
    g->slow_pixels = (int)r->frame.extent[r->frame.rank - 2];
    return DB_OK;
}

/* sized: 1 asks for the size of the image, which has one panel, too. */
static db_status read_geometry(reading *r, long frame, int sized) {
    r->frame =
        (db_nexus_frame){ .data = { .id = -1 }, .number = db_nexus_number_of(&r->file, frame) };
    DB_TRY(read_header(r));
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
    *geometry = r.header.geometry;
    geometry->pixel_size = image->pixel_size[0];
    geometry->wavelength = image->wavelength;
    geometry->phi = image->phi;
    geometry->osc_range = image->osc_range;
    geometry->polarization = image->polarization;
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

db_status db_nexus_circles(db_context *context, const char *path, db_circles *circles, int *found) {
    (void)circles;
    *found = 0;
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
