/* Detectors that count above several thresholds write an array for each, as others do for panels. */
#if defined(DB_HAVE_HDF5)
#include "io/nexus/nexus_file.h"

#include "base/context_internal.h"

#include <math.h>
#include <stdio.h>

static db_status find_in(const db_hdf5_object *parent, const char *name, db_hdf5_object *group) {
    group->id = -1;
    if (!db_hdf5_is_group(parent)) return DB_OK;
    DB_TRY(db_hdf5_find(parent, name, group));
    if (!db_hdf5_is_group(group)) db_hdf5_close(group);
    return DB_OK;
}

/* The group of one threshold, from 1 on, as detectors of Dectris name it, or NXmx; behind the last one the
 * difference of two. id -1: none. */
static db_status find_group(const db_nexus_file *file, int number, db_hdf5_object *group) {
    char name[40], before[40];
    snprintf(name, sizeof name, "threshold_%d", number);
    DB_TRY(find_in(&file->specific, name, group));
    snprintf(name, sizeof name, "threshold_%d_channel", number);
    if (group->id < 0) DB_TRY(find_in(&file->detector, name, group));
    if (group->id >= 0 || number < 2) return DB_OK;
    snprintf(before, sizeof before, "threshold_%d_channel", number - 1);
    DB_TRY(find_in(&file->detector, before, group));
    if (group->id < 0) return DB_OK;
    db_hdf5_close(group);
    return find_in(&file->detector, "difference_channel", group);
}

static db_status count_groups(const db_nexus_file *file, int most, int *count) {
    for (*count = 0; *count < most; ++*count) {
        db_hdf5_object group;
        DB_TRY(find_group(file, *count + 1, &group));
        if (group.id < 0) break;
        db_hdf5_close(&group);
    }
    return DB_OK;
}

db_status db_nexus_threshold_data(const db_nexus_file *file, int number, const char *name,
                                  db_hdf5_object *data) {
    db_hdf5_object group;
    data->id = -1;
    DB_TRY(find_group(file, number + 1, &group));
    if (group.id < 0) return DB_OK;
    const db_status status = db_hdf5_find(&group, name, data);
    db_hdf5_close(&group);
    return status;
}

/* Does the detector state the pixels of one array as its own? A stack of panels has more. */
static db_status is_one_panel(const db_nexus_file *file, const db_nexus_frame *frame, int *one) {
    double size[2] = { NAN, NAN };
    int found;
    if (file->specific.id >= 0) {
        DB_TRY(db_hdf5_find_number(&file->specific, "x_pixels_in_detector", 0, &size[0], &found));
        DB_TRY(db_hdf5_find_number(&file->specific, "y_pixels_in_detector", 0, &size[1], &found));
    }
    *one = fabs(size[0] - (double)frame->extent[3]) < 0.5 &&
           fabs(size[1] - (double)frame->extent[2]) < 0.5;
    return DB_OK;
}

static db_status read_energies(const db_nexus_file *file, int count, char *text, size_t size) {
    size_t length = 0;
    *text = '\0';
    for (int i = 0; i < count && length < size; i++) {
        db_hdf5_object group;
        double energy = NAN;
        int found = 0;
        DB_TRY(find_group(file, i + 1, &group));
        if (group.id < 0) return DB_OK;
        const db_status status =
            db_hdf5_find_number(&group, "threshold_energy", 0, &energy, &found);
        db_hdf5_close(&group);
        DB_TRY(status);
        if (found)
            length += (size_t)snprintf(text + length, size - length, "%s%g",
                                       length ? ", " : " with energies ", energy);
    }
    return DB_OK;
}

db_status db_nexus_tell_thresholds(const db_nexus_file *file, const db_nexus_frame *frame,
                                   size_t images) {
    char energies[128];
    DB_TRY(read_energies(file, frame->thresholds, energies, sizeof energies));
    db_notice(file->context,
              "%s: images of %d thresholds%s: #1 to #%zu belong to the first; the second begins "
              "with %s#%zu",
              file->path, frame->thresholds, energies, images, file->path, images + 1);
    return DB_OK;
}

db_status db_nexus_count_thresholds(const db_nexus_file *file, db_nexus_frame *frame) {
    const hsize_t arrays = frame->rank == 4 ? frame->extent[1] : 1;
    int groups, one;
    frame->thresholds = 1;
    if (arrays < 2 || arrays > 64) return DB_OK;
    DB_TRY(count_groups(file, (int)arrays, &groups));
    DB_TRY(is_one_panel(file, frame, &one));
    if (one || groups == (int)arrays) frame->thresholds = (int)arrays;
    return DB_OK;
}
#else
typedef int db_without_nexus_threshold;
#endif
