/* NeXus files: their groups, and where an image is. */
#if defined(DB_HAVE_HDF5)
#include "io/nexus/nexus_file.h"

#include "base/context_internal.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static int is_of_class(const db_hdf5_object *object, const char *class) {
    char text[64];
    return db_hdf5_is_group(object) &&
           db_hdf5_attribute_text(object, "NX_class", text, sizeof text) &&
           strcmp(text, class) == 0;
}

/* The group with this name, else the first one of the class. */
static db_status find_group(const db_hdf5_object *parent, const char *name, const char *class,
                            db_hdf5_object *found) {
    db_hdf5_names names;
    found->id = -1;
    if (!db_hdf5_is_group(parent)) return DB_OK;
    DB_TRY(db_hdf5_find(parent, name, found));
    if (db_hdf5_is_group(found)) return DB_OK;
    db_hdf5_close(found);
    const db_status status = db_hdf5_names_of(parent, 0, &names);
    for (size_t n = 0; n < names.count && found->id < 0; n++) {
        if (db_hdf5_find(parent, names.name[n], found) != DB_OK) continue; /* a broken link */
        if (!is_of_class(found, class)) db_hdf5_close(found);
    }
    db_hdf5_names_clear(&names);
    return status;
}

db_status db_nexus_each_module(const db_nexus_file *file, db_nexus_module_taker *take, void *user) {
    db_hdf5_names names;
    if (!db_hdf5_is_group(&file->detector)) return DB_OK;
    db_status status = db_hdf5_names_of(&file->detector, 0, &names);
    for (size_t n = 0; n < names.count && status == DB_OK; n++) {
        db_hdf5_object child;
        if (db_hdf5_find(&file->detector, names.name[n], &child) != DB_OK) continue;
        if (is_of_class(&child, "NXdetector_module")) status = take(user, &child, names.name[n]);
        db_hdf5_close(&child);
    }
    db_hdf5_names_clear(&names);
    return status;
}

static db_status open_groups(db_nexus_file *f) {
    DB_TRY(find_group(&f->root, "entry", "NXentry", &f->entry));
    if (f->entry.id < 0) DB_TRY(find_group(&f->root, "entry_1", "NXentry", &f->entry));
    if (f->entry.id < 0)
        return db_fail(f->context, DB_ERROR_INPUT,
                       "%s: expected a group of class NXentry (NeXus, Dectris), found none",
                       f->path);
    DB_TRY(find_group(&f->entry, "data", "NXdata", &f->data));
    DB_TRY(find_group(&f->entry, "instrument", "NXinstrument", &f->instrument));
    DB_TRY(find_group(&f->entry, "sample", "NXsample", &f->sample));
    DB_TRY(find_group(&f->instrument, "detector", "NXdetector", &f->detector));
    DB_TRY(find_group(&f->detector, "detectorSpecific", "NXcollection", &f->specific));
    DB_TRY(find_group(&f->instrument, "beam", "NXbeam", &f->beam));
    if (f->beam.id < 0) DB_TRY(find_group(&f->sample, "beam", "NXbeam", &f->beam));
    return DB_OK;
}

db_status db_nexus_open(db_context *context, const char *path, db_nexus_file *f) {
    *f = (db_nexus_file){ .context = context, .path = path };
    f->root.id = f->entry.id = f->data.id = f->instrument.id = f->detector.id = f->specific.id =
        f->beam.id = f->sample.id = -1;
    DB_TRY(db_hdf5_open(context, path, &f->root));
    const db_status status = open_groups(f);
    if (status != DB_OK) db_nexus_close(f);
    return status;
}

void db_nexus_close(db_nexus_file *f) {
    db_hdf5_object *const all[] = { &f->sample,     &f->beam, &f->specific, &f->detector,
                                    &f->instrument, &f->data, &f->entry,    &f->root };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) db_hdf5_close(all[i]);
}

/* Images in a data set that has shapes as of pixels; 0: it has not. */
static hsize_t images_in(const db_hdf5_object *data, db_nexus_frame *frame) {
    const int rank = db_hdf5_extents(data, frame->extent, 4);
    frame->rank = rank;
    if (rank < 2) return 0;
    for (int d = rank - (rank > 3 ? 3 : 2); d < rank; d++)
        if (frame->extent[d] == 0) return 0;
    return rank == 2 ? 1 : frame->extent[0];
}

/* Images so far while data sets are looked through one after the other. */
typedef struct search {
    const db_nexus_file *file;
    long wanted; /* from 1 */
    hsize_t passed;
    db_nexus_frame *found;
} search;

static db_status look_into(search *s, const db_hdf5_object *group, const char *name) {
    db_nexus_frame *const found = s->found;
    DB_TRY(db_hdf5_find(group, name, &found->data));
    const hsize_t images = images_in(&found->data, found);
    if ((hsize_t)s->wanted <= s->passed + images) {
        found->index = (hsize_t)s->wanted - 1 - s->passed;
        found->number = (size_t)s->wanted - 1;
    } else {
        db_hdf5_close(&found->data);
    }
    s->passed += images;
    return DB_OK;
}

/* data_000001, data_000002 ... of detectors of Dectris. */
static int is_numbered(const char *name) {
    return strncmp(name, "data_", 5) == 0 && name[5] && !name[5 + strspn(name + 5, "0123456789")];
}

static db_status look_into_numbered(search *s) {
    db_hdf5_names names;
    db_status status = db_hdf5_names_of(&s->file->data, 0, &names);
    for (size_t n = 0; n < names.count && status == DB_OK && s->passed < (hsize_t)s->wanted; n++)
        if (is_numbered(names.name[n])) status = look_into(s, &s->file->data, names.name[n]);
    db_hdf5_names_clear(&names);
    return status;
}

static db_status look_through(search *s) {
    static const char *const elsewhere[] = { "data", "data_1/data", "instrument_1/detector_1/data",
                                             "instrument/detector/data" };
    const db_nexus_file *const f = s->file;
    char name[DB_HDF5_PATH] = "data";
    s->found->data.id = -1;
    if (f->data.id >= 0) {
        db_hdf5_attribute_text(&f->data, "signal", name, sizeof name);
        DB_TRY(look_into(s, &f->data, name));
        if (s->passed == 0 && strcmp(name, "data") != 0) DB_TRY(look_into(s, &f->data, "data"));
        if (s->passed == 0) DB_TRY(look_into_numbered(s)); /* else that was a view of all of them */
    }
    for (size_t i = 0; s->passed == 0 && i < sizeof elsewhere / sizeof *elsewhere; i++)
        DB_TRY(look_into(s, &f->entry, elsewhere[i]));
    if (s->passed == 0 && f->detector.id >= 0) DB_TRY(look_into(s, &f->detector, "data"));
    return DB_OK;
}

static db_status fail_no_images(const db_nexus_file *file) {
    return db_fail(file->context, DB_ERROR_INPUT,
                   "%s: expected images as the data set /entry/data/data or data_000001 (or as "
                   "instrument/detector/data), found none",
                   file->path);
}

db_status db_nexus_count_frames(const db_nexus_file *file, size_t *count) {
    db_nexus_frame last = { .data = { .id = -1 } };
    search s = { file, LONG_MAX, 0, &last };
    const db_status status = look_through(&s);
    db_hdf5_close(&last.data);
    *count = (size_t)s.passed;
    if (status != DB_OK) return status;
    return s.passed ? DB_OK : fail_no_images(file);
}

/* The image of a number from 1 on; found->data.id -1: there are only *images. */
static db_status find_number(const db_nexus_file *file, long number, db_nexus_frame *found,
                             hsize_t *images) {
    search s = { file, number, 0, found };
    *found = (db_nexus_frame){ .data = { .id = -1 }, .thresholds = 1 };
    DB_TRY(look_through(&s));
    *images = s.passed;
    if (found->data.id < 0) return DB_OK;
    const db_status status = db_nexus_count_thresholds(file, found);
    if (status != DB_OK) db_hdf5_close(&found->data);
    return status;
}

/* Finds an image by a number beyond the last one: numbers continue with the images of the next threshold. */
static db_status find_threshold(const db_nexus_file *file, hsize_t images, hsize_t number,
                                db_nexus_frame *found) {
    hsize_t all;
    const hsize_t threshold = (number - 1) / images;
    DB_TRY(find_number(file, (long)((number - 1) % images + 1), found, &all));
    if (threshold < (hsize_t)found->thresholds)
        found->threshold = (int)threshold;
    else
        db_hdf5_close(&found->data);
    return DB_OK;
}

db_status db_nexus_find_frame(const db_nexus_file *file, long frame, db_nexus_frame *found) {
    hsize_t images;
    DB_TRY(find_number(file, frame > 0 ? frame : 2, found, &images));
    if (frame == 0) db_hdf5_close(&found->data);
    if (frame > 0 && found->data.id < 0 && images > 0)
        DB_TRY(find_threshold(file, images, (hsize_t)frame, found));
    if (found->data.id >= 0) return DB_OK;
    if (images == 0) return fail_no_images(file);
    if (frame == 0 && images == 1) return db_nexus_find_frame(file, 1, found);
    if (frame == 0)
        return db_fail(file->context, DB_ERROR_INPUT,
                       "%s: has several images; name one of them, the first as %s#1", file->path,
                       file->path);
    return db_fail(file->context, DB_ERROR_INPUT, "%s: expected image %ld, found %llu image%s",
                   file->path, frame, (unsigned long long)images, images == 1 ? "" : "s");
}

size_t db_nexus_number_of(const db_nexus_file *file, long frame) {
    db_nexus_frame found;
    const size_t plain = frame > 0 ? (size_t)frame - 1 : 0;
    if (db_nexus_find_frame(file, frame > 0 ? frame : 1, &found) != DB_OK) return plain;
    db_hdf5_close(&found.data);
    return found.number;
}
#else
typedef int db_without_nexus_file;
#endif
