/* Chains of transformations (depends_on) of NeXus files. */
#if defined(DB_HAVE_HDF5)
#include "io/nexus/nexus_file.h"

#include "base/context_internal.h"
#include "base/vector.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_CHAIN = 64 };

static const double DEGREE = 57.295779513082320877;

typedef struct named_unit {
    const char *name;
    double factor;
} named_unit;

static double factor_of(const named_unit *units, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(units[i].name, name) == 0) return units[i].factor;
    return 0;
}

double db_nexus_length_unit(const char *name) {
    static const named_unit units[] = {
        { "m", 1e3 },        { "metre", 1e3 },       { "metres", 1e3 },
        { "meter", 1e3 },    { "meters", 1e3 },      { "mm", 1 },
        { "millimetre", 1 }, { "millimeter", 1 },    { "cm", 10 },
        { "um", 1e-3 },      { "\xc2\xb5m", 1e-3 },  { "micron", 1e-3 },
        { "microns", 1e-3 }, { "micrometre", 1e-3 }, { "nm", 1e-6 },
    };
    return factor_of(units, sizeof units / sizeof *units, name);
}

double db_nexus_angle_unit(const char *name) {
    static const named_unit units[] = {
        { "deg", 1 },
        { "degree", 1 },
        { "degrees", 1 },
        { "\xc2\xb0", 1 },
        { "rad", 57.295779513082320877 },
        { "radian", 57.295779513082320877 },
        { "radians", 57.295779513082320877 },
        { "mrad", 0.057295779513082320877 },
    };
    return factor_of(units, sizeof units / sizeof *units, name);
}

/* One transformation of a chain. */
typedef struct link {
    db_hdf5_object at;
    int rotates;
    double vector[3], offset[3]; /* unit vector; mm */
    double unit;                 /* to degree, mm */
    char next[DB_HDF5_PATH];     /* "." or "": none */
} link;

static db_status fail_link(const link *l, const char *what, const char *found) {
    return db_fail(l->at.context, DB_ERROR_INPUT, "%s: %s: expected %s, found '%.60s'", l->at.file,
                   l->at.name, what, found);
}

/* A pixel's direction says nothing of where its module stands but for its offset. */
static int is_pixel_direction(const link *l) {
    const char *const name = strrchr(l->at.name, '/');
    return name && (strcmp(name, "/slow_pixel_direction") == 0 ||
                    strcmp(name, "/fast_pixel_direction") == 0);
}

static db_status read_attributes(link *l) {
    char text[64] = "", unit[64] = "";
    double factor = 1;
    memset(l->offset, 0, sizeof l->offset);
    memset(l->vector, 0, sizeof l->vector);
    *l->next = '\0';
    db_hdf5_attribute_text(&l->at, "depends_on", l->next, sizeof l->next);
    db_hdf5_attribute_text(&l->at, "transformation_type", text, sizeof text);
    l->rotates = strcmp(text, "rotation") == 0;
    if (!l->rotates && strcmp(text, "translation") != 0)
        return fail_link(l, "rotation or translation as transformation_type", text);
    if (!db_hdf5_attribute_numbers(&l->at, "vector", l->vector, 3) || !db_normalize(l->vector))
        return fail_link(l, "a vector of some length", "none");
    db_hdf5_attribute_text(&l->at, "units", unit, sizeof unit);
    l->unit = l->rotates ? db_nexus_angle_unit(unit) : db_nexus_length_unit(unit);
    if (!(l->unit > 0))
        return fail_link(l, l->rotates ? "an angle's units" : "a length's units", unit);
    if (!db_hdf5_attribute_numbers(&l->at, "offset", l->offset, 3)) return DB_OK;
    if (db_hdf5_attribute_text(&l->at, "offset_units", unit, sizeof unit))
        factor = db_nexus_length_unit(unit);
    else if (!l->rotates)
        factor = l->unit;
    else
        factor = 1e3;
    if (!(factor > 0)) return fail_link(l, "a length's offset_units", unit);
    for (int i = 0; i < 3; i++) l->offset[i] *= factor;
    return DB_OK;
}

/* Names in a chain begin at the root or in the group of what names them. */
static db_status group_of(const db_hdf5_object *object, db_hdf5_object *group) {
    char path[DB_HDF5_PATH];
    snprintf(path, sizeof path, "%s", object->name);
    char *const slash = strrchr(path, '/');
    if (slash) slash[slash == path] = '\0';
    return db_hdf5_need(object, path, group);
}

/* From a link to the next; l->at is replaced. *more 0: that was the last one, and l->at is closed. */
static db_status next_link(link *l, int *more) {
    db_hdf5_object group, next;
    *more = 0;
    if (!*l->next || strcmp(l->next, ".") == 0) {
        db_hdf5_close(&l->at);
        return DB_OK;
    }
    db_status status = group_of(&l->at, &group);
    if (status == DB_OK) {
        status = db_hdf5_need(&group, l->next, &next);
        db_hdf5_close(&group);
    }
    db_hdf5_close(&l->at);
    DB_TRY(status);
    l->at = next;
    *more = 1;
    return DB_OK;
}

static void turn_by(const double axis[3], double angle, double v[3]) {
    const double c = cos(angle), s = sin(angle), along = db_dot(axis, v) * (1 - c);
    double across[3];
    db_cross(axis, v, across);
    for (int i = 0; i < 3; i++) v[i] = c * v[i] + s * across[i] + along * axis[i];
}

/* The motion by one link after those so far. */
static void apply(const link *l, double value, db_nexus_motion *m) {
    if (l->rotates) {
        for (int column = 0; column < 3; column++) {
            double v[3] = { m->turn[0][column], m->turn[1][column], m->turn[2][column] };
            turn_by(l->vector, value / DEGREE, v);
            for (int i = 0; i < 3; i++) m->turn[i][column] = v[i];
        }
        turn_by(l->vector, value / DEGREE, m->shift);
    }
    for (int i = 0; i < 3; i++)
        m->shift[i] += l->offset[i] + (l->rotates ? 0 : value * l->vector[i]);
}

static db_status value_of(const link *l, size_t frame, double *value) {
    *value = 0;
    if (is_pixel_direction(l)) return DB_OK;
    if (!db_hdf5_number(&l->at, frame, value) || !isfinite(*value))
        return db_fail(l->at.context, DB_ERROR_INPUT, "%s: %s: expected a number for image %zu",
                       l->at.file, l->at.name, frame + 1);
    *value *= l->unit;
    return DB_OK;
}

db_status db_nexus_chain(const db_hdf5_object *from, const char *path, size_t frame,
                         db_nexus_motion *motion) {
    link l = { .at = { .id = -1 } };
    int more = 1;
    *motion = (db_nexus_motion){ .turn = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } };
    if (!*path || strcmp(path, ".") == 0) return DB_OK;
    DB_TRY(db_hdf5_need(from, path, &l.at));
    for (int count = 0; more; count++) {
        double value;
        db_status status =
            count < LONGEST_CHAIN
                ? read_attributes(&l)
                : fail_link(&l, "chains of at most 64 transformations", "more (a circle?)");
        if (status == DB_OK) status = value_of(&l, frame, &value);
        if (status != DB_OK) {
            db_hdf5_close(&l.at);
            return status;
        }
        apply(&l, value, motion);
        DB_TRY(next_link(&l, &more));
    }
    return DB_OK;
}

db_status db_nexus_length(const db_hdf5_object *from, const char *path, size_t index,
                          double *length) {
    db_hdf5_object object;
    char unit[64] = "m";
    double value;
    *length = NAN;
    DB_TRY(db_hdf5_find(from, path, &object));
    if (db_hdf5_number(&object, index, &value)) {
        db_hdf5_attribute_text(&object, "units", unit, sizeof unit);
        *length = value * db_nexus_length_unit(unit);
    }
    db_status status = DB_OK;
    if (!isnan(*length) && !(*length > 0 && isfinite(*length)))
        status = db_fail(from->context, DB_ERROR_INPUT,
                         "%s: %s: expected a length > 0 with units, found %g '%.60s'", object.file,
                         object.name, value, unit);
    db_hdf5_close(&object);
    return status;
}

/* The oscillation range of an axis: up to its end, or by its increment, or to the next image; of the last
 * image as that of the one before. */
static db_status range_of(const link *l, size_t frame, double value, double *range) {
    static const char *const ends[] = { "_end", "_increment_set", "_increment", "_range_average" };
    *range = NAN;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char path[DB_HDF5_PATH + 32];
        double number;
        int found;
        snprintf(path, sizeof path, "%s%s", l->at.name, ends[i]);
        DB_TRY(db_hdf5_find_number(&l->at, path, frame, &number, &found));
        if (!found) continue;
        *range = number * l->unit - (i == 0 ? value : 0);
        return DB_OK;
    }
    double other;
    hsize_t extent = 0;
    if (db_hdf5_extents(&l->at, &extent, 1) != 1) return DB_OK;
    if (extent > frame + 1 && db_hdf5_number(&l->at, frame + 1, &other))
        *range = other * l->unit - value;
    else if (frame > 0 && extent == frame + 1 && db_hdf5_number(&l->at, frame - 1, &other))
        *range = value - other * l->unit;
    return DB_OK;
}

/* Of the chain's rotations the one that moves over an image, or else the last one. */
static db_status scan_of_chain(const db_hdf5_object *sample, const char *path, size_t frame,
                               db_nexus_scan *scan, int *found) {
    link l = { .at = { .id = -1 } };
    int more = 1, moves = 0;
    DB_TRY(db_hdf5_need(sample, path, &l.at));
    for (int count = 0; more; count++) {
        double value = 0, range = NAN;
        db_status status =
            count < LONGEST_CHAIN
                ? read_attributes(&l)
                : fail_link(&l, "chains of at most 64 transformations", "more (a circle?)");
        if (status == DB_OK) status = value_of(&l, frame, &value);
        if (status == DB_OK && l.rotates) status = range_of(&l, frame, value, &range);
        if (status != DB_OK) {
            db_hdf5_close(&l.at);
            return status;
        }
        if (l.rotates && *found) turn_by(l.vector, value / DEGREE, scan->axis);
        if (l.rotates && (!moves || fabs(range) > 0)) {
            memcpy(scan->axis, l.vector, sizeof scan->axis);
            scan->phi = value;
            scan->range = range;
            *found = 1;
            moves |= fabs(range) > 0;
        }
        DB_TRY(next_link(&l, &more));
    }
    return DB_OK;
}

/* Detectors of Dectris name angles and say nothing of axes: omega is the spindle, along the fast
 * axis, which is -x in the frame of NeXus. */
static db_status scan_of_dectris(const db_nexus_file *file, size_t frame, db_nexus_scan *scan,
                                 int *found) {
    double end = NAN;
    int more = 0;
    DB_TRY(db_hdf5_find_number(&file->sample, "goniometer/omega", frame, &scan->phi, found));
    if (!*found) return DB_OK;
    scan->axis[0] = -1;
    DB_TRY(db_hdf5_find_number(&file->sample, "goniometer/omega_end", frame, &end, &more));
    if (more)
        scan->range = end - scan->phi;
    else
        DB_TRY(db_hdf5_find_number(&file->sample, "goniometer/omega_increment", 0, &scan->range,
                                   &more));
    return DB_OK;
}

db_status db_nexus_scan_axis(const db_nexus_file *file, size_t frame, db_nexus_scan *scan,
                             int *found) {
    char path[DB_HDF5_PATH] = "";
    *scan = (db_nexus_scan){ .phi = NAN, .range = NAN };
    *found = 0;
    if (file->sample.id < 0) return DB_OK;
    DB_TRY(db_hdf5_find_text(&file->sample, "depends_on", path, sizeof path, found));
    *found = 0;
    if (*path && strcmp(path, ".") != 0)
        return scan_of_chain(&file->sample, path, frame, scan, found);
    return scan_of_dectris(file, frame, scan, found);
}

static db_status read_direction(const db_hdf5_object *module, const char *name, size_t frame,
                                double direction[3], double *pixel, link *l) {
    double size = NAN;
    DB_TRY(db_hdf5_need(module, name, &l->at));
    db_status status = read_attributes(l);
    if (status == DB_OK && !(db_hdf5_number(&l->at, frame, &size) && size > 0))
        status = fail_link(l, "the size of a pixel", "none");
    db_hdf5_close(&l->at);
    *pixel = size * l->unit;
    memcpy(direction, l->vector, sizeof l->vector);
    return status;
}

static void turn_out(const db_nexus_motion *m, double v[3]) {
    double out[3];
    for (int i = 0; i < 3; i++) out[i] = db_dot(m->turn[i], v);
    memcpy(v, out, sizeof out);
}

db_status db_nexus_read_module(const db_hdf5_object *module, size_t frame, db_nexus_panel *panel) {
    link fast, slow;
    db_nexus_motion motion;
    DB_TRY(read_direction(module, "fast_pixel_direction", frame, panel->fast, &panel->pixel_size[0],
                          &fast));
    DB_TRY(read_direction(module, "slow_pixel_direction", frame, panel->slow, &panel->pixel_size[1],
                          &slow));
    if (!(fabs(db_dot(panel->fast, panel->slow)) < 1e-4))
        return fail_link(&slow, "a vector perpendicular to fast_pixel_direction", "another");
    DB_TRY(db_nexus_chain(module, fast.next, frame, &motion));
    memcpy(panel->origin, fast.offset, sizeof panel->origin);
    turn_out(&motion, panel->fast);
    turn_out(&motion, panel->slow);
    turn_out(&motion, panel->origin);
    for (int i = 0; i < 3; i++) panel->origin[i] += motion.shift[i];
    return DB_OK;
}

db_status db_nexus_module(const db_nexus_file *file, size_t frame, db_nexus_panel *panel,
                          int *found) {
    char name[DB_HDF5_PATH], class[32];
    db_hdf5_object module = { .id = -1 };
    *found = 0;
    for (size_t n = 0; file->detector.id >= 0 && db_hdf5_name_at(&file->detector, n, name); n++) {
        db_hdf5_object child;
        if (db_hdf5_find(&file->detector, name, &child) != DB_OK) continue; /* a broken link */
        if (db_hdf5_is_group(&child) &&
            db_hdf5_attribute_text(&child, "NX_class", class, sizeof class) &&
            strcmp(class, "NXdetector_module") == 0) {
            db_hdf5_close(&module);
            module = child;
            ++*found;
        } else {
            db_hdf5_close(&child);
        }
    }
    if (*found != 1) {
        *found = 0;
        db_hdf5_close(&module);
        return DB_OK;
    }
    const db_status status = db_nexus_read_module(&module, frame, panel);
    db_hdf5_close(&module);
    return status;
}
#else
typedef int db_without_nexus_chain;
#endif
