/* Images of a scan in an experiment list. */
#if defined(DB_HAVE_JANSSON)
#include "io/experiments/expt_scan.h"

#include "base/context_internal.h"
#include "base/frame_name.h"
#include "base/path.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Length of a file's name without the ending of a compressed file, which has the same image. */
static size_t unpacked_length(const char *file) {
    static const char *const endings[] = { ".gz", ".bz2", ".xz" };
    const size_t length = strlen(file);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t own = strlen(endings[i]);
        if (length > own && strcmp(file + length - own, endings[i]) == 0) return length - own;
    }
    return length;
}

/* 1 if the file fits a template such as image_####.cbf; *number: the digits in place of the #. */
static int fits_template(const char *pattern, const char *file, long *number) {
    const char *const end = pattern + unpacked_length(pattern);
    const char *const last = file + unpacked_length(file);
    *number = 0;
    for (; pattern < end && file < last; pattern++, file++) {
        if (*pattern == '#') {
            if (*file < '0' || *file > '9' || *number > 100000000) return 0;
            *number = 10 * *number + (*file - '0');
        } else if (*pattern != *file) {
            return 0;
        }
    }
    return pattern == end && file == last;
}

static int is_same_image(const char *one, const char *other) {
    const size_t length = unpacked_length(one);
    return length == unpacked_length(other) && memcmp(one, other, length) == 0;
}

/* 1 if image i of the set is number `frame` (from 1) of its file. */
static int is_frame(const db_json *imageset, size_t i, long frame) {
    const db_json list = db_json_member(imageset, "single_file_indices");
    const json_t *const index = json_array_get(list.value, i);
    return !index || json_integer_value(index) == (frame > 0 ? frame - 1 : 0);
}

/* The image's number in the set: from 0, or from its name if the set has a template; -1: not in the set. */
long db_imageset_number(const db_json *imageset, const char *image) {
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
        if (name && is_same_image(db_file_name(name), file) && is_frame(imageset, i, frame))
            return (long)i;
    }
    return -1;
}

/* Reads the wavelength of an image, which the scan has if pulses differ. */
static db_status read_wavelength(const db_json *properties, db_scan_place *place) {
    const db_json list = db_json_member(properties, "wavelength");
    const size_t found = json_array_size(list.value);
    if (!list.value) return DB_OK;
    if (found != 1 && found != (size_t)place->count)
        return db_json_fail(&list, "a wavelength of each image of the scan");
    const db_json own = db_json_element(&list, found == 1 ? 0 : (size_t)place->step);
    DB_TRY(db_json_number(&own, &place->wavelength));
    return place->wavelength > 0 ? DB_OK : db_json_fail(&own, "a length > 0 (A)");
}

/* Reads start and width of the image's rotation. Lists before dxtbx 3.11 have the start and width of the first
 * image, later ones the starts of all. */
static db_status read_rotation(const db_json *scan, const db_json *properties,
                               db_scan_place *place) {
    double oscillation[2] = { 0, 0 };
    const db_json old = db_json_member(scan, "oscillation"),
                  starts = db_json_member(properties, "oscillation");
    if (old.value) {
        DB_TRY(db_json_numbers(&old, oscillation, 2));
    } else if (starts.value) {
        const size_t count = json_array_size(starts.value);
        const db_json first = db_json_element(&starts, 0), second = db_json_element(&starts, 1);
        DB_TRY(db_json_number(&first, &oscillation[0]));
        if (count > 1) DB_TRY(db_json_number(&second, &oscillation[1]));
        if (count > 1) oscillation[1] -= oscillation[0];
        const db_json widths = db_json_member(properties, "oscillation_width");
        const db_json width_of_first = db_json_element(&widths, 0);
        if (width_of_first.value) DB_TRY(db_json_number(&width_of_first, &oscillation[1]));
    }
    place->start = oscillation[0] + (double)place->step * oscillation[1];
    place->width = oscillation[1];
    return DB_OK;
}

/* The step in the scan (from 0) of the image asked for. */
static long step_of(const db_json *imageset, const char *image, long number, const int range[2]) {
    if (number > 0) return number - range[0];
    const long named = image ? db_imageset_number(imageset, image) : -1;
    if (named < 0) return 0;
    if (db_json_text(imageset, "template")) return named - range[0];
    return range[0] == range[1] ? 0 : named; /* the scan covers one image of the set, or all */
}

db_status db_scan_place_of(const db_json *scan, const db_json *imageset, const char *image,
                           long number, db_scan_place *place) {
    int range[2] = { 1, 1 };
    *place = (db_scan_place){ .count = 1, .wavelength = NAN };
    if (!scan->value && number > 0)
        return db_json_fail(scan, "a scan, which has the image of that number");
    if (!scan->value) return DB_OK;
    const db_json properties = db_json_member(scan, "properties"),
                  images = db_json_member(scan, "image_range"),
                  times = db_json_member(&properties, "time_of_flight");
    DB_TRY(db_json_integers(&images, range, 2));
    place->count = (long)range[1] - range[0] + 1;
    place->step = step_of(imageset, image, number, range);
    if (place->step < 0 || place->step >= place->count) {
        char expected[80] = "a range with the image in it";
        if (number > 0) snprintf(expected, sizeof expected, "a range with image %ld in it", number);
        return db_json_fail(&images, expected);
    }
    if (times.value)
        return db_fail(times.context, DB_ERROR_UNSUPPORTED,
                       "%s: %s: expected images of one wavelength each, found times of flight",
                       times.path, times.place);
    place->is_scan = 1;
    place->number = range[0] + place->step;
    DB_TRY(read_wavelength(&properties, place));
    return read_rotation(scan, &properties, place);
}

db_status db_mean_at_scan_points(const db_json *model, const char *name, const db_scan_place *place,
                                 double *mean, size_t size, int *found) {
    const db_json list = db_json_member(model, name);
    double value[2][9];
    *found = 0;
    if (!list.value || (json_is_array(list.value) && json_array_size(list.value) == 0))
        return DB_OK;
    if (json_array_size(list.value) != (size_t)place->count + 1)
        return db_fail(
            list.context, DB_ERROR_INPUT,
            "%s: %s: expected %ld points, the ends of the %ld image%s of the scan, found "
            "%zu",
            list.path, list.place, place->count + 1, place->count, place->count == 1 ? "" : "s",
            json_array_size(list.value));
    for (int end = 0; end < 2; end++) {
        const db_json point = db_json_element(&list, (size_t)(place->step + end));
        DB_TRY(db_json_numbers(&point, value[end], size));
    }
    for (size_t i = 0; i < size; i++) mean[i] = 0.5 * (value[0][i] + value[1][i]);
    *found = 1;
    return DB_OK;
}
#else
typedef int db_scans_without_jansson;
#endif
