/* Chains of transformations (depends_on) of NeXus files. */
#if defined(DB_HAVE_HDF5)
#include "io/nexus/nexus_file.h"

#include "base/context_internal.h"
#include "base/vector.h"
#include "io/experiments/dxtbx.h"
#include "io/nexus/nexus_link.h"
#include "io/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static db_status fail_at_link(const db_nexus_link *l, const char *expected, const char *found) {
    return db_fail(l->at.context, DB_ERROR_INPUT, "%s: %s: expected %s, found '%.60s'", l->at.file,
                   l->at.name, expected, found);
}

/* 1 for a pixel's direction, of which only the offset places its module. */
static int is_pixel_direction(const db_nexus_link *l) {
    const char *const name = strrchr(l->at.name, '/');
    return name && (strcmp(name, "/slow_pixel_direction") == 0 ||
                    strcmp(name, "/fast_pixel_direction") == 0);
}

/* Fills all but `at` and `number` from the attributes of `at`. */
static db_status read_link(db_nexus_link *l) {
    char text[64] = "", unit[64] = "";
    double factor = 1;
    memset(l->offset, 0, sizeof l->offset);
    memset(l->vector, 0, sizeof l->vector);
    *l->next = '\0';
    db_hdf5_attribute_text(&l->at, "depends_on", l->next, sizeof l->next);
    db_hdf5_attribute_text(&l->at, "transformation_type", text, sizeof text);
    l->rotates = strcmp(text, "rotation") == 0;
    if (!l->rotates && strcmp(text, "translation") != 0)
        return fail_at_link(l, "rotation or translation as transformation_type", text);
    if (!db_hdf5_attribute_numbers(&l->at, "vector", l->vector, 3) || !db_normalize(l->vector))
        return fail_at_link(l, "a vector of some length", "none");
    db_hdf5_attribute_text(&l->at, "units", unit, sizeof unit);
    l->unit = l->rotates ? db_unit_of(DB_UNIT_ANGLE, unit) : db_unit_of(DB_UNIT_LENGTH, unit);
    if (!db_hdf5_attribute_numbers(&l->at, "offset", l->offset, 3)) return DB_OK;
    if (db_hdf5_attribute_text(&l->at, "offset_units", unit, sizeof unit))
        factor = db_unit_of(DB_UNIT_LENGTH, unit);
    else if (!l->rotates)
        factor = l->unit;
    else
        factor = 1e3;
    if (!(factor > 0)) return fail_at_link(l, "a length's offset_units", unit);
    for (int i = 0; i < 3; i++) l->offset[i] *= factor;
    return DB_OK;
}

/* Fails without a unit; call it only for values that are used. */
static db_status check_units(const db_nexus_link *l) {
    char unit[64] = "";
    if (l->unit > 0) return DB_OK;
    db_hdf5_attribute_text(&l->at, "units", unit, sizeof unit);
    return fail_at_link(l, l->rotates ? "an angle's units" : "a length's units", unit);
}

/* The group of an object, where relative names in its chain begin. */
static db_status group_of(const db_hdf5_object *object, db_hdf5_object *group) {
    char path[DB_HDF5_PATH];
    snprintf(path, sizeof path, "%s", object->name);
    char *const slash = strrchr(path, '/');
    if (slash) slash[slash == path] = '\0';
    return db_hdf5_need(object, path, group);
}

db_status db_nexus_link_first(const db_hdf5_object *from, const char *path, db_nexus_link *l,
                              int *there) {
    *l = (db_nexus_link){ .at = { .id = -1 } };
    *there = *path && strcmp(path, ".") != 0;
    if (!*there) return DB_OK;
    DB_TRY(db_hdf5_need(from, path, &l->at));
    const db_status status = read_link(l);
    if (status != DB_OK) db_hdf5_close(&l->at);
    return status;
}

db_status db_nexus_link_next(db_nexus_link *l, int *there) {
    db_hdf5_object group = { .id = -1 }, next = { .id = -1 };
    *there = *l->next && strcmp(l->next, ".") != 0;
    db_status status = DB_OK;
    if (*there && ++l->number == DB_NEXUS_LONGEST_CHAIN)
        status = fail_at_link(l, "chains of at most 64 transformations", "more (a circle?)");
    if (*there && status == DB_OK) status = group_of(&l->at, &group);
    if (*there && status == DB_OK) status = db_hdf5_need(&group, l->next, &next);
    db_hdf5_close(&group);
    db_hdf5_close(&l->at);
    if (!*there || status != DB_OK) return status;
    l->at = next;
    status = read_link(l);
    if (status != DB_OK) db_hdf5_close(&l->at);
    return status;
}

/* The motion by one link after those so far. */
static void apply(const db_nexus_link *l, double value, db_nexus_motion *m) {
    if (l->rotates) {
        for (int column = 0; column < 3; column++) {
            double v[3] = { m->turn[0][column], m->turn[1][column], m->turn[2][column] };
            db_turn_by_degrees(l->vector, value, v);
            for (int i = 0; i < 3; i++) m->turn[i][column] = v[i];
        }
        db_turn_by_degrees(l->vector, value, m->shift);
    }
    for (int i = 0; i < 3; i++)
        m->shift[i] += l->offset[i] + (l->rotates ? 0 : value * l->vector[i]);
}

static db_status value_of(const db_nexus_link *l, size_t frame, double *value) {
    *value = 0;
    if (is_pixel_direction(l)) return DB_OK;
    if (!db_hdf5_number(&l->at, frame, value) || !isfinite(*value))
        return db_fail(l->at.context, DB_ERROR_INPUT, "%s: %s: expected a number for image %zu",
                       l->at.file, l->at.name, frame + 1);
    *value *= l->unit;
    return check_units(l);
}

/* The motion by a transformation and all that it depends on, at image number `frame` (from 0). path
 * begins at `from`, "." is no motion. */
static db_status read_motion_chain(const db_hdf5_object *from, const char *path, size_t frame,
                                   db_nexus_motion *motion) {
    db_nexus_link l;
    int there;
    *motion = (db_nexus_motion){ .turn = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } };
    DB_TRY(db_nexus_link_first(from, path, &l, &there));
    while (there) {
        double value;
        const db_status status = value_of(&l, frame, &value);
        if (status != DB_OK) {
            db_hdf5_close(&l.at);
            return status;
        }
        apply(&l, value, motion);
        DB_TRY(db_nexus_link_next(&l, &there));
    }
    return DB_OK;
}

static db_status read_direction(const db_hdf5_object *module, const char *name, size_t frame,
                                double direction[3], double *pixel, db_nexus_link *l) {
    double size = NAN;
    DB_TRY(db_hdf5_need(module, name, &l->at));
    db_status status = read_link(l);
    if (status == DB_OK) status = check_units(l);
    if (status == DB_OK && !(db_hdf5_number(&l->at, frame, &size) && size > 0))
        status = fail_at_link(l, "the size of a pixel", "none");
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
    db_nexus_link fast, slow;
    db_nexus_motion motion;
    DB_TRY(read_direction(module, "fast_pixel_direction", frame, panel->fast, &panel->pixel_size[0],
                          &fast));
    DB_TRY(read_direction(module, "slow_pixel_direction", frame, panel->slow, &panel->pixel_size[1],
                          &slow));
    if (!(fabs(db_dot(panel->fast, panel->slow)) < 1e-4))
        return fail_at_link(&slow, "a vector perpendicular to fast_pixel_direction", "another");
    DB_TRY(read_motion_chain(module, fast.next, frame, &motion));
    memcpy(panel->origin, fast.offset, sizeof panel->origin);
    turn_out(&motion, panel->fast);
    turn_out(&motion, panel->slow);
    turn_out(&motion, panel->origin);
    for (int i = 0; i < 3; i++) panel->origin[i] += motion.shift[i];
    return DB_OK;
}

/* The first of the modules, and their number. */
typedef struct single {
    size_t frame;
    int count;
    db_nexus_panel *panel;
} single;

static db_status take_single(void *user, const db_hdf5_object *module, const char *name) {
    single *const s = user;
    (void)name;
    return s->count++ ? DB_OK : db_nexus_read_module(module, s->frame, s->panel);
}

db_status db_nexus_module(const db_nexus_file *file, size_t frame, db_nexus_panel *panel,
                          int *found) {
    single s = { .frame = frame, .panel = panel };
    const db_status status = db_nexus_each_module(file, take_single, &s);
    *found = status == DB_OK && s.count == 1;
    return status;
}
#else
typedef int db_without_nexus_chain;
#endif
