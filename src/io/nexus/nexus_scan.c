/* Finds the axis that turns the sample during an image. */
#if defined(DB_HAVE_HDF5)
#include "io/nexus/nexus_scan.h"

#include "base/context_internal.h"
#include "base/vector.h"
#include "io/experiments/dxtbx.h"
#include "io/nexus/nexus_link.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A circle of the sample's goniometer. */
typedef struct circle {
    char name[64];
    double vector[3];
    db_nexus_axis over;
} circle;

/* The circles, from the crystal outwards. */
typedef struct goniometer {
    circle circle[DB_NEXUS_LONGEST_CHAIN];
    int count;
} goniometer;

static int rank_of(const db_nexus_axis *over) {
    return fabs(over->width) > 0 ? 2 : over->moves; /* NAN: not known */
}

/* The number of the circle that turns. */
static int choose_axis(const goniometer *g, int otherwise) {
    int chosen = otherwise;
    for (int i = 0; i < g->count; i++)
        if (rank_of(&g->circle[i].over) > rank_of(&g->circle[chosen].over)) chosen = i;
    return chosen;
}

static void tell_others(const db_nexus_file *file, const goniometer *g, int chosen) {
    for (int i = 0; i < g->count; i++)
        if (i != chosen && rank_of(&g->circle[i].over) == 2)
            db_notice(file->context,
                      "%s: %s turns as well as %s during an image; only that about %s is used",
                      file->path, g->circle[i].name, g->circle[chosen].name,
                      g->circle[chosen].name);
}

static const char *last_name(const char *path) {
    const char *const slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static db_status add_circle(const db_nexus_file *file, const db_nexus_link *l, size_t frame,
                            goniometer *g) {
    circle *const c = &g->circle[g->count];
    int found;
    if (!l->rotates) return DB_OK;
    DB_TRY(db_nexus_axis_at(file, &l->at, l->at.name, frame, &c->over, &found));
    snprintf(c->name, sizeof c->name, "%.63s", last_name(l->at.name));
    memcpy(c->vector, l->vector, sizeof c->vector);
    g->count++;
    return DB_OK;
}

static db_status read_chain(const db_nexus_file *file, const char *path, size_t frame,
                            goniometer *g) {
    db_nexus_link l;
    int there;
    DB_TRY(db_nexus_link_first(&file->sample, path, &l, &there));
    while (there) {
        const db_status status = add_circle(file, &l, frame, g);
        if (status != DB_OK) {
            db_hdf5_close(&l.at);
            return status;
        }
        DB_TRY(db_nexus_link_next(&l, &there));
    }
    return DB_OK;
}

/* Rotation by the circles from one to before another, the first one innermost. */
static void rotation_by(const goniometer *g, int from, int to, double rotation[9]) {
    for (int k = 0; k < 3; k++) {
        double column[3] = { k == 0, k == 1, k == 2 };
        for (int i = from; i < to; i++)
            db_turn_by_degrees(g->circle[i].vector, g->circle[i].over.start, column);
        for (int i = 0; i < 3; i++) rotation[3 * i + k] = column[i];
    }
}

static db_status scan_of_chain(const db_nexus_file *file, const char *path, size_t frame,
                               db_nexus_scan *scan, int *found) {
    goniometer g = { .count = 0 };
    DB_TRY(read_chain(file, path, frame, &g));
    *found = g.count > 0;
    if (!*found) return DB_OK;
    const int chosen = choose_axis(&g, g.count - 1);
    const circle *const c = &g.circle[chosen];
    snprintf(scan->name, sizeof scan->name, "%s", c->name);
    memcpy(scan->axis, c->vector, sizeof scan->axis);
    scan->over = c->over;
    for (int i = chosen + 1; i < g.count; i++) {
        const double angle = g.circle[i].over.start;
        if (!isfinite(angle)) {
            db_notice(file->context,
                      "%s: the circle %s has no angle for image %zu, so that the direction of %s "
                      "is not known",
                      file->path, g.circle[i].name, frame + 1, c->name);
            *found = 0;
            return DB_OK;
        }
        db_turn_by_degrees(g.circle[i].vector, angle, scan->axis);
    }
    rotation_by(&g, 0, chosen, scan->fixed);
    rotation_by(&g, chosen + 1, g.count, scan->setting);
    tell_others(file, &g, chosen);
    return DB_OK;
}

/* Circles of a group that names them, in the order in which they are asked. */
static db_status read_named(const db_nexus_file *file, const char *group, size_t frame,
                            goniometer *g) {
    static const char *const names[] = { "omega", "phi", "chi", "kappa" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        circle *const c = &g->circle[g->count];
        db_hdf5_object data;
        char path[64];
        int found;
        snprintf(path, sizeof path, "%s/%s", group, names[i]);
        DB_TRY(db_nexus_axis_at(file, &file->sample, path, frame, &c->over, &found));
        if (!found) continue;
        snprintf(c->name, sizeof c->name, "%s", names[i]);
        DB_TRY(db_hdf5_find(&file->sample, path, &data));
        if (!db_hdf5_attribute_numbers(&data, "vector", c->vector, 3) || !db_normalize(c->vector))
            c->vector[0] = NAN;
        db_hdf5_close(&data);
        g->count++;
    }
    return DB_OK;
}

/* The scan of a Dectris file, which has named angles, at best with axes beside them. Omega turns about the fast
 * axis, -x in the frame of NeXus. */
static db_status scan_of_dectris(const db_nexus_file *file, size_t frame, db_nexus_scan *scan,
                                 int *found) {
    static const double along_fast[3] = { -1, 0, 0 };
    goniometer g = { .count = 0 };
    DB_TRY(read_named(file, "goniometer", frame, &g));
    if (g.count == 0) DB_TRY(read_named(file, "transformations", frame, &g));
    *found = g.count > 0;
    if (!*found) return DB_OK;
    const circle *const c = &g.circle[choose_axis(&g, 0)];
    snprintf(scan->name, sizeof scan->name, "%s", c->name);
    scan->over = c->over;
    tell_others(file, &g, (int)(c - g.circle));
    const int told = !isnan(c->vector[0]);
    memcpy(scan->axis, told ? c->vector : along_fast, sizeof scan->axis);
    scan->vague = !told && strcmp(c->name, "omega") != 0 && rank_of(&c->over) > 0;
    return DB_OK;
}

static void tell_scan(const db_nexus_file *file, const db_nexus_scan *s) {
    if (s->vague)
        db_notice(file->context,
                  "%s: the crystal turns about %s, whose axis the file does not state; it is taken "
                  "along the fast axis of the detector, as for omega",
                  file->path, s->name);
    if (!isfinite(s->over.start))
        db_notice(file->context, "%s: the angle of %s is not a number: the scan is not known",
                  file->path, s->name);
    if (s->over.moves && isnan(s->over.width))
        db_notice(file->context,
                  "%s: %s is %g degree and differs from image to image, but how far the crystal "
                  "turns during an image is not stated (%s_end, %s_increment); give it (-osc, "
                  "model.osc)",
                  file->path, s->name, s->over.start, s->name, s->name);
}

db_status db_nexus_scan_find(const db_nexus_file *file, size_t frame, db_nexus_scan *scan,
                             int *found) {
    char path[DB_HDF5_PATH] = "";
    *scan = (db_nexus_scan){ .over = { NAN, NAN, 0 } };
    *found = 0;
    if (!db_hdf5_is_group(&file->sample)) return DB_OK;
    DB_TRY(db_hdf5_find_text(&file->sample, "depends_on", path, sizeof path, found));
    *found = 0;
    DB_TRY(*path && strcmp(path, ".") != 0 ? scan_of_chain(file, path, frame, scan, found)
                                           : scan_of_dectris(file, frame, scan, found));
    if (*found) tell_scan(file, scan);
    return DB_OK;
}
#else
typedef int db_without_nexus_scan;
#endif
