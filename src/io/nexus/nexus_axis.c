/* Angles of an axis during a series of images. */
#if defined(DB_HAVE_HDF5)
#include "io/nexus/nexus_scan.h"

#include "base/context_internal.h"
#include "base/quantile.h"
#include "base/rotation.h"
#include "io/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The largest step (degree) from image to image that counts as the turn of an image. Images further apart are no
 * continuous series. */
static const double WIDEST_STEP = 5;

/* Neighbours on each side from which the usual step is taken. */
enum { NEIGHBOURS = 32 };

/* Numbers of one data set (degree). */
typedef struct values {
    hsize_t count;           /* 0: it is not there */
    double own, first, last; /* of the image (NAN: there is none), the first and last number */
    double near[2 * NEIGHBOURS + 1]; /* of the images around this one, in their order */
    int nears, at;                   /* how many; the place of this image's, or of the last */
} values;

static db_status unit_of(const db_hdf5_object *data, const char *otherwise, double *unit) {
    char name[64];
    snprintf(name, sizeof name, "%.60s", otherwise);
    db_hdf5_attribute_text(data, "units", name, sizeof name);
    *unit = *name ? db_unit_of(DB_UNIT_ANGLE, name) : 1;
    if (*unit > 0) return DB_OK;
    return db_fail(data->context, DB_ERROR_INPUT,
                   "%s: %s: expected units of an angle (deg, rad, mrad), found '%.60s'", data->file,
                   data->name, name);
}

static int read_numbers(const db_hdf5_object *data, size_t frame, values *v) {
    hsize_t extent = 1;
    if (db_hdf5_extents(data, &extent, 1) < 0 || extent == 0) return 0;
    const size_t count = (size_t)extent, own = frame < count ? frame : count - 1,
                 from = own > NEIGHBOURS ? own - NEIGHBOURS : 0,
                 to = count - own > NEIGHBOURS ? own + NEIGHBOURS + 1 : count;
    v->nears = (int)(to - from);
    v->at = (int)(own - from);
    if (!db_hdf5_numbers(data, from, (size_t)v->nears, v->near) ||
        !db_hdf5_number(data, 0, &v->first) || !db_hdf5_number(data, count - 1, &v->last))
        return 0;
    v->count = extent;
    v->own = count > 1 ? (frame < count ? v->near[v->at] : NAN) : frame == 0 ? v->first : NAN;
    return 1;
}

/* Reads the numbers at path + ending. unit: the name of AXIS's unit, which other data sets without a unit share;
 * reading AXIS itself (no ending) sets it. */
static db_status read_values(const db_hdf5_object *from, const char *path, const char *ending,
                             size_t frame, char unit[64], values *v) {
    char name[DB_HDF5_PATH + 32];
    db_hdf5_object data;
    double factor = 1;
    *v = (values){ .count = 0, .own = NAN, .first = NAN, .last = NAN };
    snprintf(name, sizeof name, "%s%s", path, ending);
    DB_TRY(db_hdf5_find(from, name, &data));
    if (data.id < 0 || !read_numbers(&data, frame, v)) {
        db_hdf5_close(&data);
        return DB_OK;
    }
    const db_status status = unit_of(&data, unit, &factor);
    if (!*ending) db_hdf5_attribute_text(&data, "units", unit, 64);
    db_hdf5_close(&data);
    v->own *= factor;
    v->first *= factor;
    v->last *= factor;
    for (int i = 0; i < v->nears; i++) v->near[i] *= factor;
    return status;
}

/* The step at this image, or the median of the neighbours if it differs much; NAN: there is only one number. */
static double step_of(const values *v, int *moves) {
    double steps[2 * NEIGHBOURS];
    const int count = v->nears - 1;
    if (v->count < 2) return NAN;
    for (int i = 0; i < count; i++) {
        steps[i] = db_folded_turn(v->near[i + 1] - v->near[i]);
        *moves |= db_turns(steps[i]);
    }
    const double own = steps[v->at < count ? v->at : count - 1];
    const double usual = db_median(steps, (size_t)count);
    return fabs(own - usual) <= 0.5 * fabs(usual) ? own : usual;
}

/* The turn of an image that the file states; NAN: none. Zeros stand for "not known". */
static db_status stated_width(const db_nexus_file *file, const db_hdf5_object *from,
                              const char *path, size_t frame, char unit[64], double *width) {
    static const char *const endings[] = { "_increment_set", "_increment", "_range_average" };
    values v;
    *width = NAN;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        DB_TRY(read_values(from, path, endings[i], frame, unit, &v));
        const double number = v.count == 1 ? v.first : v.own;
        if (v.count && isfinite(number) && db_turns(number)) {
            *width = number;
            return DB_OK;
        }
    }
    DB_TRY(read_values(from, path, "_range_total", frame, unit, &v));
    if (v.count != 1 || !isfinite(v.first) || !db_turns(v.first)) return DB_OK;
    size_t images = 0;
    if (db_nexus_count_frames(file, &images) == DB_OK) *width = v.first / (double)images;
    return DB_OK;
}

/* The turn from an angle to another, of `images`: the stated one if that leads there, too, past 360 degree. */
static double turn_between(double from, double to, double images, double stated) {
    const double width = (to - from) / images, beside = db_folded_turn(to - from - stated * images);
    if (fabs(beside) <= 0.5 * fabs(stated))
        return fabs(width - stated) > fabs(stated) ? stated : width;
    return images > 1 ? width : db_turn_of_ends(width);
}

/* The turn from the image's start to its end; NAN: one of them is missing. */
static db_status width_to_end(const db_nexus_file *file, const db_hdf5_object *from,
                              const char *path, size_t frame, const values *starts, double stated,
                              char unit[64], double *width) {
    values ends;
    *width = NAN;
    DB_TRY(read_values(from, path, "_end", frame, unit, &ends));
    if (!ends.count) return DB_OK;
    if (ends.count > 1 || starts->count > 1) {
        *width = turn_between(starts->own, ends.own, 1, stated); /* one number each */
    } else if (starts->count == 1) {
        size_t images = 1; /* of all that lie between */
        if (db_nexus_count_frames(file, &images) != DB_OK) return DB_OK;
        *width = turn_between(starts->first, ends.first, (double)images, stated);
    }
    return DB_OK;
}

/* The angle at the image's start: stated, or from another image's start and the width. */
static double start_of(const values *v, size_t frame, double width) {
    const double behind = isfinite(width) ? width : 0;
    if (!isnan(v->own)) return v->own;
    if (v->count == 1) return v->first + (double)frame * behind;
    return isfinite(width) ? v->last + ((double)frame + 1 - (double)v->count) * width : NAN;
}

db_status db_nexus_axis_at(const db_nexus_file *file, const db_hdf5_object *from, const char *path,
                           size_t frame, db_nexus_axis *axis, int *found) {
    values starts;
    char unit[64] = "";
    *axis = (db_nexus_axis){ NAN, NAN, 0 };
    DB_TRY(read_values(from, path, "", frame, unit, &starts));
    if (!starts.count) DB_TRY(read_values(from, path, "_start", frame, unit, &starts));
    *found = starts.count > 0;
    if (!*found) return DB_OK;
    double stated, to_end;
    const double step = step_of(&starts, &axis->moves);
    DB_TRY(stated_width(file, from, path, frame, unit, &stated));
    DB_TRY(width_to_end(file, from, path, frame, &starts, isnan(stated) ? step : stated, unit,
                        &to_end));
    const double by_steps = fabs(step) <= WIDEST_STEP ? step : NAN;
    axis->width = isfinite(to_end) && (db_turns(to_end) || isnan(stated)) ? to_end
                  : isfinite(stated)                                      ? stated
                                                                          : by_steps;
    if (!db_turns(axis->width) && !(isnan(axis->width) && axis->moves)) axis->width = 0;
    axis->moves |= fabs(axis->width) > 0;
    axis->start = start_of(&starts, frame, axis->width);
    return DB_OK;
}
#else
typedef int db_without_nexus_axis;
#endif
