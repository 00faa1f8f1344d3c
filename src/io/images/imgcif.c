/* Chains of axes in the tables of CBF files. */
#include "io/images/imgcif.h"

#include "base/context_internal.h"
#include "base/degree.h"
#include "base/vector.h"

#include <math.h>
#include <string.h>

enum { MOST_AXES = 32 }; /* of a chain, and of a goniometer */

static const double identity[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };

db_status db_imgcif_read(db_context *context, const char *path, const char *start, const char *end,
                         db_imgcif *t) {
    *t = (db_imgcif){ .context = context, .path = path };
    const struct {
        const char *category;
        db_cif_table *table;
    } all[] = {
        { "axis", &t->axis },
        { "diffrn_scan_axis", &t->scan_axis },
        { "diffrn_scan_frame_axis", &t->frame_axis },
        { "diffrn_data_frame", &t->data_frame },
        { "array_structure_list", &t->list },
        { "array_structure_list_axis", &t->list_axis },
        { "diffrn_radiation", &t->radiation },
        { "diffrn_radiation_wavelength", &t->wavelength },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        DB_TRY(db_cif_table_read(context, path, start, end, all[i].category, all[i].table));
    return DB_OK;
}

void db_imgcif_clear(db_imgcif *t) {
    db_cif_table *const all[] = { &t->axis, &t->scan_axis, &t->frame_axis, &t->data_frame,
                                  &t->list, &t->list_axis, &t->radiation,  &t->wavelength };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) db_cif_table_clear(all[i]);
}

static db_word value(const db_cif_table *t, size_t row, const char *item) {
    return db_cif_value(t, row, db_cif_column(t, item));
}

/* The first row with that value; -1: none. */
static long row_with(const db_cif_table *t, const char *item, db_word wanted) {
    const int column = db_cif_column(t, item);
    for (size_t row = 0; row < t->rows && wanted.length; row++)
        if (db_same_word(db_cif_value(t, row, column), wanted)) return (long)row;
    return -1;
}

static int number_at(const db_cif_table *t, long row, const char *item, double *n) {
    return row >= 0 && db_cif_number(t, (size_t)row, db_cif_column(t, item), n);
}

int db_imgcif_places(const db_imgcif *t) {
    for (size_t row = 0; row < t->list_axis.rows; row++)
        if (row_with(&t->axis, "id", value(&t->list_axis, row, "axis_id")) >= 0) return 1;
    return 0;
}

static db_status fail_axis(const db_imgcif *t, db_word id, const char *expected) {
    return db_fail(t->context, DB_ERROR_INPUT, "%s: axis %.*s: expected %s", t->path,
                   DB_WORD_ARGUMENTS(id), expected);
}

/* A vector; missing components are 0. */
static void triple(const db_imgcif *t, long row, const char *const items[3], double v[3]) {
    for (int i = 0; i < 3; i++) {
        v[i] = 0;
        number_at(&t->axis, row, items[i], &v[i]);
    }
}

static db_status direction_of(const db_imgcif *t, long row, double vector[3]) {
    static const char *const items[] = { "vector[1]", "vector[2]", "vector[3]" };
    triple(t, row, items, vector);
    if (db_normalize(vector)) return DB_OK;
    return fail_axis(t, value(&t->axis, (size_t)row, "id"), "a vector of some length");
}

/* The row of an axis for the image's frame, which the first row of data_frame names if the table of settings has it;
 * -1: none. */
static long row_in_frame(const db_imgcif *t, db_word id) {
    const db_cif_table *const f = &t->frame_axis;
    db_word frame = t->data_frame.rows ? value(&t->data_frame, 0, "id") : (db_word){ "", 0 };
    int named = 0;
    for (size_t row = 0; row < f->rows; row++)
        named |= db_same_word(value(f, row, "frame_id"), frame);
    if (!named) frame.length = 0; /* another spelling */
    for (size_t row = 0; row < f->rows; row++) {
        const db_word of = value(f, row, "frame_id");
        if (db_same_word(value(f, row, "axis_id"), id) &&
            (frame.length == 0 || of.length == 0 || db_same_word(of, frame)))
            return (long)row;
    }
    return -1;
}

/* The setting of an axis: for axes of pixels, at the first pixel, as CBFlib takes it; else in the frame, else at the
 * scan's start; else 0. */
static double setting_of(const db_imgcif *t, db_word id, int turns, int *known) {
    double setting = 0;
    *known = number_at(&t->list_axis, row_with(&t->list_axis, "axis_id", id),
                       turns ? "angle" : "displacement", &setting) ||
             number_at(&t->frame_axis, row_in_frame(t, id), turns ? "angle" : "displacement",
                       &setting) ||
             number_at(&t->scan_axis, row_with(&t->scan_axis, "axis_id", id),
                       turns ? "angle_start" : "displacement_start", &setting);
    return setting;
}

/* The pose of an object on an axis, in the laboratory: x becomes turn x + shift. */
typedef struct pose {
    double turn[9], shift[3];
} pose;

/* Applies an axis to the pose of an object that it carries. */
static db_status put_on(const db_imgcif *t, long row, pose *p) {
    static const char *const items[] = { "offset[1]", "offset[2]", "offset[3]" };
    const db_word id = value(&t->axis, (size_t)row, "id"),
                  type = value(&t->axis, (size_t)row, "type");
    const int turns = db_word_is(type, "rotation");
    double offset[3], vector[3];
    triple(t, row, items, offset);
    if (turns || db_word_is(type, "translation")) {
        DB_TRY(direction_of(t, row, vector));
        int known;
        const double setting = setting_of(t, id, turns, &known);
        if (turns) {
            db_turn_columns(vector, setting * DB_DEGREE, p->turn);
            db_turn(vector, setting * DB_DEGREE, p->shift);
        }
        for (int i = 0; i < 3 && !turns; i++) offset[i] += setting * vector[i];
    }
    for (int i = 0; i < 3; i++) p->shift[i] += offset[i];
    return DB_OK;
}

static db_status pose_of(const db_imgcif *t, db_word id, pose *p) {
    *p = (pose){ { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, { 0, 0, 0 } };
    for (int n = 0; id.length; n++) {
        const long row = row_with(&t->axis, "id", id);
        if (row < 0) return fail_axis(t, id, "its row in the table axis, found none");
        if (n == MOST_AXES)
            return fail_axis(t, id, "a chain of at most 32 axes, found a longer one");
        DB_TRY(put_on(t, row, p));
        id = value(&t->axis, (size_t)row, "depends_on");
    }
    return DB_OK;
}

/* Does a depend on b, in however many steps? */
static int depends(const db_imgcif *t, db_word a, db_word b) {
    for (int n = 0; n < MOST_AXES && a.length; n++) {
        const long row = row_with(&t->axis, "id", a);
        if (row < 0) return 0;
        a = value(&t->axis, (size_t)row, "depends_on");
        if (db_same_word(a, b)) return 1;
    }
    return 0;
}

/* The row of list_axis for the step of pixels along a dimension of a section, or (length 0) of a whole array. */
static long row_of_pixels(const db_imgcif *t, db_word array, db_word section, int dimension) {
    const db_cif_table *const l = &t->list;
    const int sets = db_cif_column(&t->list_axis, "axis_set_id") >= 0;
    for (size_t row = 0; row < l->rows; row++) {
        double index = 0;
        const db_word of = value(l, row, "array_id"), set = value(l, row, "axis_set_id");
        if ((array.length && of.length && !db_same_word(of, array)) ||
            !db_same_word(value(l, row, "array_section_id"), section) ||
            !number_at(l, (long)row, "index", &index) || index != dimension || set.length == 0)
            continue;
        return row_with(&t->list_axis, sets ? "axis_set_id" : "axis_id", set);
    }
    return -1;
}

static long pixel_row(const db_imgcif *t, db_word array, db_word section, int dimension,
                      int *whole) {
    const db_word all = { "", 0 };
    const long row = row_of_pixels(t, array, section, dimension);
    *whole = row < 0;
    return row >= 0 ? row : row_of_pixels(t, array, all, dimension);
}

db_status db_imgcif_panel(const db_imgcif *t, db_word array, db_word section, const int first[2],
                          db_frame *frame, double pixel_size[2]) {
    db_word id[2] = { { "", 0 }, { "", 0 } };
    double skipped[2] = { 0, 0 };
    double *const along[2] = { frame->fast, frame->slow };
    for (int i = 0; i < 2; i++) {
        double step = NAN;
        pose p;
        int whole = 0;
        const long row = pixel_row(t, array, section, i + 1, &whole);
        if (row >= 0) id[i] = value(&t->list_axis, (size_t)row, "axis_id");
        const long axis = row >= 0 ? row_with(&t->axis, "id", id[i]) : -1;
        if (axis < 0 || !number_at(&t->list_axis, row, "displacement_increment", &step) ||
            !(fabs(step) > 0) || !isfinite(step))
            return db_fail(t->context, DB_ERROR_INPUT,
                           "%s: array_structure_list_axis: expected an axis with a "
                           "displacement_increment for dimension %d of '%.*s', found none",
                           t->path, i + 1, DB_WORD_ARGUMENTS(array));
        DB_TRY(direction_of(t, axis, along[i]));
        DB_TRY(pose_of(t, id[i], &p));
        db_apply(p.turn, along[i], along[i]);
        for (int k = 0; k < 3 && step < 0; k++) along[i][k] = -along[i][k];
        pixel_size[i] = fabs(step);
        if (whole) skipped[i] = first[i] * pixel_size[i];
    }
    pose corner;
    DB_TRY(pose_of(t, depends(t, id[0], id[1]) ? id[0] : id[1], &corner));
    for (int k = 0; k < 3; k++)
        frame->origin[k] =
            corner.shift[k] + skipped[0] * frame->fast[k] + skipped[1] * frame->slow[k];
    if (!(fabs(db_dot(frame->fast, frame->slow)) < 1e-3))
        return fail_axis(t, id[0], "axes of the pixels that are perpendicular to each other");
    db_frame_complete(frame);
    return DB_OK;
}

static int is_circle(const db_imgcif *t, long row) {
    return row >= 0 && db_word_is(value(&t->axis, (size_t)row, "equipment"), "goniometer") &&
           db_word_is(value(&t->axis, (size_t)row, "type"), "rotation");
}

/* Refuses words that are no finite numbers: '.' and '?' are not known. */
static db_status check_numbers(const db_imgcif *t) {
    static const char *const vectors[] = { "vector[1]", "vector[2]", "vector[3]",
                                           "offset[1]", "offset[2]", "offset[3]" };
    static const char *const starts[] = { "angle_start", "angle_increment", "displacement_start" },
                             *const settings[] = { "angle", "angle_increment", "displacement" },
                             *const steps[] = { "angle", "displacement", "displacement_increment" };
    const struct {
        const db_cif_table *table;
        const char *name, *id, *const *item;
        size_t items;
    } all[] = { { &t->axis, "axis", "id", vectors, 6 },
                { &t->scan_axis, "diffrn_scan_axis", "axis_id", starts, 3 },
                { &t->frame_axis, "diffrn_scan_frame_axis", "axis_id", settings, 3 },
                { &t->list_axis, "array_structure_list_axis", "axis_id", steps, 3 } };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (size_t i = 0; i < all[k].items; i++)
            for (size_t row = 0; row < all[k].table->rows; row++) {
                const db_word word = value(all[k].table, row, all[k].item[i]),
                              id = value(all[k].table, row, all[k].id);
                double n;
                if (word.length == 0 ||
                    (number_at(all[k].table, (long)row, all[k].item[i], &n) && isfinite(n)))
                    continue;
                return db_fail(t->context, DB_ERROR_INPUT,
                               "%s: axis %.*s: expected a finite number in %s.%s, found '%.*s'",
                               t->path, DB_WORD_ARGUMENTS(id), all[k].name, all[k].item[i],
                               DB_WORD_ARGUMENTS(word));
            }
    return DB_OK;
}

/* A goniometer has few; to find the innermost one compares each with all. */
static db_status check_circles(const db_imgcif *t) {
    int count = 0;
    for (size_t row = 0; row < t->axis.rows; row++)
        if (is_circle(t, (long)row) && ++count > MOST_AXES)
            return fail_axis(t, value(&t->axis, row, "id"),
                             "a goniometer of at most 32 circles, found more");
    return DB_OK;
}

/* The circle next to the crystal, on which no other depends. -1: there is no goniometer. */
static long innermost(const db_imgcif *t) {
    for (size_t row = 0; row < t->axis.rows; row++) {
        const db_word id = value(&t->axis, row, "id");
        int carries = 0;
        if (!is_circle(t, (long)row)) continue;
        for (size_t other = 0; other < t->axis.rows && !carries; other++)
            carries = is_circle(t, (long)other) && depends(t, value(&t->axis, other, "id"), id);
        if (!carries) return (long)row;
    }
    return -1;
}

/* Tells of an axis of a circle or of the detector whose setting the tables leave open. */
static void tell_open(const db_imgcif *t, db_word id, int turns) {
    const char *const item = turns ? "angle" : "displacement";
    if (row_in_frame(t, id) < 0 && row_with(&t->scan_axis, "axis_id", id) < 0) return;
    db_notice(t->context,
              "%s: axis %.*s: its %s is not known (diffrn_scan_frame_axis.%s, "
              "diffrn_scan_axis.%s_start): the axis is taken to stand at 0",
              t->path, DB_WORD_ARGUMENTS(id), item, item, item);
}

void db_imgcif_tell_open_detector(const db_imgcif *t) {
    for (size_t row = 0; row < t->axis.rows; row++) {
        const db_word id = value(&t->axis, row, "id"), type = value(&t->axis, row, "type");
        const int turns = db_word_is(type, "rotation");
        int known = 1;
        if (db_word_is(value(&t->axis, row, "equipment"), "detector") &&
            (turns || db_word_is(type, "translation")))
            (void)setting_of(t, id, turns, &known);
        if (!known) tell_open(t, id, turns);
    }
}

static double width_of(const db_imgcif *t, db_word id) {
    double width = 0;
    if (!number_at(&t->frame_axis, row_in_frame(t, id), "angle_increment", &width))
        number_at(&t->scan_axis, row_with(&t->scan_axis, "axis_id", id), "angle_increment", &width);
    return width;
}

/* Goes through the circles, from the crystal outwards: those before the one that turns make `fixed`, those after
 * it `setting`. If none turns, the first is the axis. */
db_status db_imgcif_scan_read(const db_imgcif *t, db_imgcif_scan *scan, int *found) {
    DB_TRY(check_numbers(t));
    DB_TRY(check_circles(t));
    long row = innermost(t);
    int turning = 0;
    *found = row >= 0;
    *scan = (db_imgcif_scan){ .axis = { 1, 0, 0 } };
    memcpy(scan->fixed, identity, sizeof identity);
    memcpy(scan->setting, identity, sizeof identity);
    for (int n = 0; n < MOST_AXES && row >= 0; n++) {
        const db_word id = value(&t->axis, (size_t)row, "id");
        int known;
        const double angle = setting_of(t, id, 1, &known), width = width_of(t, id);
        double vector[3];
        if (is_circle(t, row)) {
            if (!known) tell_open(t, id, 1);
            DB_TRY(direction_of(t, row, vector));
            if (fabs(width) > 0 && turning)
                return fail_axis(t, id, "one axis that turns in an image, found a second one");
            if (fabs(width) > 0) {
                turning = 1;
                memcpy(scan->axis, vector, sizeof vector);
                scan->start = angle;
                scan->width = width;
            } else {
                db_turn_columns(vector, angle * DB_DEGREE, turning ? scan->setting : scan->fixed);
            }
        }
        row = row_with(&t->axis, "id", value(&t->axis, (size_t)row, "depends_on"));
    }
    return DB_OK;
}

/* polarizn_source_ratio is difference over sum, which is the Kahn factor; polarizn_source_norm is the angle about
 * the beam between y and the normal of the plane of polarization. */
db_status db_imgcif_beam_read(const db_imgcif *t, db_imgcif_beam *beam) {
    static const db_word source = { "source", 6 };
    const long axis = row_with(&t->axis, "equipment", source);
    double norm = 0, ratio = NAN, wavelength = NAN;
    *beam = (db_imgcif_beam){ { 0, 0, -1 }, NAN, NAN, { 1, 0, 0 } };
    if (axis >= 0) {
        DB_TRY(direction_of(t, axis, beam->direction));
        for (int i = 0; i < 3; i++) beam->direction[i] = -beam->direction[i];
    }
    const db_word id = t->radiation.rows ? value(&t->radiation, 0, "wavelength_id") : source;
    const long row = row_with(&t->wavelength, "id", id);
    number_at(&t->wavelength, row >= 0 ? row : 0, "wavelength", &wavelength);
    if (wavelength > 0 && isfinite(wavelength)) beam->wavelength = wavelength;
    number_at(&t->radiation, 0, "polarizn_source_norm", &norm);
    if (t->radiation.rows && number_at(&t->radiation, 0, "polarizn_source_ratio", &ratio) &&
        ratio >= -1 && ratio <= 1)
        beam->polarization = ratio;
    const double normal[3] = { sin(norm * DB_DEGREE), cos(norm * DB_DEGREE), 0 };
    db_cross(normal, beam->direction, beam->polarization_axis);
    for (int i = 0; i < 3; i++) beam->polarization_axis[i] *= -1;
    if (!db_normalize(beam->polarization_axis))
        return db_fail(t->context, DB_ERROR_INPUT,
                       "%s: diffrn_radiation: expected a beam that is not along the normal of its "
                       "polarization",
                       t->path);
    return DB_OK;
}

void db_imgcif_to_own(const double v[3], double own[3]) {
    const double x = v[0];
    own[0] = -v[2];
    own[1] = v[1];
    own[2] = x;
}
