/* Copies what the experiment of one list holds beside the geometry into a list that was written from it. */
#include <dualbragg/io.h>
#include <dualbragg/expert/file_kind.h>

#include "base/context_internal.h"
#include "base/frame_name.h"

#if defined(DB_HAVE_JANSSON)
#include "base/json_memory.h"
#include "base/json_kept.h"
#include "base/vector.h"
#include "io/format_readers.h"
#include "io/formats.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST_GROUP = 32 };

/* Axes and origin of a group in the laboratory. */
typedef struct frame {
    double fast[3], slow[3], normal[3], origin[3];
} frame;

/* Both lists, each with the experiment in question. */
typedef struct pair {
    json_t *written, *experiment; /* to be changed */
    const json_t *from, *original;
} pair;

/* The model of a kind that an experiment refers to; NULL: it has none. */
static json_t *model_of(const json_t *list, const json_t *experiment, const char *kind) {
    const json_t *const reference = json_object_get(experiment, kind);
    const json_int_t number = json_integer_value(reference);
    if (!json_is_integer(reference) || number < 0) return NULL;
    return json_array_get(json_object_get(list, kind), (size_t)number);
}

/* Puts a model into the written list, as the only one of its kind. */
static void put_model(const pair *p, const char *kind, json_t *model) {
    json_t *const list = json_array();
    json_array_append_new(list, model);
    json_object_set_new(p->written, kind, list);
    json_object_set_new(p->experiment, kind, json_integer(0));
}

static void copy_members(const json_t *from, const char *const *names, json_t *to) {
    for (; *names; names++) {
        json_t *const value = json_object_get(from, *names);
        if (value) json_object_set(to, *names, value);
    }
}

static void keep_beam(const pair *p) {
    static const char *const refined[] = {
        "__id__", "direction", "wavelength", "polarization_normal", "polarization_fraction", NULL
    };
    json_t *const beam = json_deep_copy(model_of(p->from, p->original, "beam"));
    const json_t *const own = model_of(p->written, p->experiment, "beam");
    if (!beam || !own) {
        json_decref(beam);
        return;
    }
    copy_members(own, refined, beam);
    json_object_del(beam, "s0_at_scan_points");
    put_model(p, "beam", beam);
}

/* Written without a known space group. */
static int is_triclinic(const json_t *crystal) {
    const char *const group =
        json_string_value(json_object_get(crystal, "space_group_hall_symbol"));
    return !group || strcmp(group, " P 1") == 0;
}

/* A space group that the refinement was told replaces the one of the original. */
static void keep_crystal(const pair *p) {
    static const char *const refined[] = { "real_space_a", "real_space_b", "real_space_c", NULL };
    static const char *const outdated[] = { "A_at_scan_points",
                                            "B_covariance",
                                            "B_covariance_at_scan_points",
                                            "recalculated_unit_cell",
                                            "recalculated_cell_parameter_sd",
                                            "recalculated_cell_volume_sd",
                                            NULL };
    static const char *const group[] = { "space_group_hall_symbol", NULL };
    json_t *const crystal = json_deep_copy(model_of(p->from, p->original, "crystal"));
    const json_t *const own = model_of(p->written, p->experiment, "crystal");
    if (!crystal || !own) {
        json_decref(crystal);
        return;
    }
    copy_members(own, refined, crystal);
    if (!is_triclinic(own)) copy_members(own, group, crystal);
    for (const char *const *name = outdated; *name; name++) json_object_del(crystal, *name);
    put_model(p, "crystal", crystal);
}

static int read_vector(const json_t *model, const char *name, double v[3]) {
    const json_t *const list = json_object_get(model, name);
    if (json_array_size(list) != 3) return 0;
    for (size_t i = 0; i < 3; i++) v[i] = json_number_value(json_array_get(list, i));
    return 1;
}

static void turn_out(const frame *f, const double local[3], double v[3]) {
    for (int i = 0; i < 3; i++)
        v[i] = f->fast[i] * local[0] + f->slow[i] * local[1] + f->normal[i] * local[2];
}

/* The laboratory frame of a group, computed as the reader does. */
static int group_frame(const json_t *group, const frame *parent, frame *own) {
    double fast[3], slow[3], origin[3];
    if (!read_vector(group, "fast_axis", fast) || !read_vector(group, "slow_axis", slow) ||
        !read_vector(group, "origin", origin) || !db_normalize(fast) || !db_normalize(slow))
        return 0;
    turn_out(parent, fast, own->fast);
    turn_out(parent, slow, own->slow);
    turn_out(parent, origin, own->origin);
    for (int i = 0; i < 3; i++) own->origin[i] += parent->origin[i];
    db_cross(own->fast, own->slow, own->normal);
    if (!db_normalize(own->normal)) return 0;
    db_cross(own->normal, own->fast, own->slow);
    return 1;
}

/* A vector of the laboratory in a group's frame. */
static void put_local(json_t *panel, const char *name, const frame *parent, const double v[3]) {
    json_object_set_new(panel, name,
                        json_pack("[f,f,f]", db_dot(v, parent->fast), db_dot(v, parent->slow),
                                  db_dot(v, parent->normal)));
}

/* Gives a panel of the original the place of the written panel in the laboratory. */
static int place_panel(json_t *panel, const json_t *own, const frame *parent) {
    double fast[3], slow[3], origin[3];
    if (!panel || !read_vector(own, "fast_axis", fast) || !read_vector(own, "slow_axis", slow) ||
        !read_vector(own, "origin", origin))
        return 0;
    for (int i = 0; i < 3; i++) origin[i] -= parent->origin[i];
    put_local(panel, "fast_axis", parent, fast);
    put_local(panel, "slow_axis", parent, slow);
    put_local(panel, "origin", parent, origin);
    return 1;
}

static int place_group(json_t *panels, const json_t *own, const json_t *group, const frame *parent,
                       int depth) {
    const json_t *const index = json_object_get(group, "panel");
    const json_t *const children = json_object_get(group, "children");
    const size_t number = (size_t)json_integer_value(index);
    frame f;
    if (index)
        return place_panel(json_array_get(panels, number), json_array_get(own, number), parent);
    if (depth > DEEPEST_GROUP || !group_frame(group, parent, &f)) return 0;
    for (size_t i = 0; i < json_array_size(children); i++)
        if (!place_group(panels, own, json_array_get(children, i), &f, depth + 1)) return 0;
    return 1;
}

/* Keeps the names, masks and groups of panels; groups stay in place, panels move within them. Does nothing if the
 * panels do not match. */
static void keep_detector(const pair *p) {
    static const frame outside = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 }, { 0, 0, 0 } };
    json_t *const detector = json_deep_copy(model_of(p->from, p->original, "detector"));
    const json_t *const own =
        json_object_get(model_of(p->written, p->experiment, "detector"), "panels");
    json_t *const panels = json_object_get(detector, "panels");
    const json_t *const root = json_object_get(detector, "hierarchy");
    const size_t count = json_array_size(panels);
    int good = detector && count > 0 && count == json_array_size(own);
    for (size_t i = 0; i < count && good; i++) /* panels of no group */
        good = place_panel(json_array_get(panels, i), json_array_get(own, i), &outside);
    if (good && json_is_object(root)) good = place_group(panels, own, root, &outside, 0);
    if (good)
        put_model(p, "detector", detector);
    else
        json_decref(detector);
}

/* Do the names of images lead to them from any folder? */
static int is_absolute(const json_t *imageset) {
    const char *name = json_string_value(json_object_get(imageset, "template"));
    if (!name) name = json_string_value(json_array_get(json_object_get(imageset, "images"), 0));
    return name && *name == '/';
}

/* A scan of one image that does not turn. */
static int is_still(const json_t *scan) {
    const json_t *const range = json_object_get(scan, "image_range");
    const json_t *const properties = json_object_get(scan, "properties");
    const json_t *width = json_array_get(json_object_get(scan, "oscillation"), 1);
    if (!width) width = json_array_get(json_object_get(properties, "oscillation_width"), 0);
    return json_array_size(range) == 2 &&
           json_equal(json_array_get(range, 0), json_array_get(range, 1)) &&
           json_number_value(width) == 0;
}

/* Keeps the images, and for a still its scan and goniometer. A frame that turns was written with its own scan,
 * spindle and crystal. */
static void keep_images(const pair *p) {
    json_t *const scan = model_of(p->from, p->original, "scan");
    json_t *const images = model_of(p->from, p->original, "imageset");
    json_t *const goniometer = model_of(p->from, p->original, "goniometer");
    if (model_of(p->written, p->experiment, "scan")) return;
    if (scan ? !is_still(scan) : json_array_size(json_object_get(images, "images")) != 1) return;
    if (goniometer) put_model(p, "goniometer", json_deep_copy(goniometer));
    if (!is_absolute(images)) return;
    if (scan) put_model(p, "scan", json_deep_copy(scan));
    put_model(p, "imageset", json_deep_copy(images));
}

/* Keeps models of other kinds (profiles of spots, scales) and other keys of the experiment. */
static void keep_others(const pair *p) {
    static const char *const known[] = { "__id__",     "identifier", "beam",    "detector",
                                         "goniometer", "scan",       "crystal", "imageset" };
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)p->original, key, value) {
        const json_t *const model = model_of(p->from, p->original, key);
        int own = 0;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) own |= !strcmp(key, known[i]);
        if (own) continue;
        if (model)
            put_model(p, key, json_deep_copy(model));
        else if (!json_is_integer(value))
            json_object_set_new(p->experiment, key, json_deep_copy(value));
    }
}

static db_status keep_experiment(db_context *context, const char *path, json_t *written,
                                 const json_t *from, size_t number, int other_image,
                                 size_t failures) {
    pair p = { .written = written, .from = from };
    p.experiment = json_array_get(json_object_get(written, "experiment"), 0);
    p.original = json_array_get(json_object_get(from, "experiment"), number);
    json_t *const identifier = json_object_get(p.original, "identifier");
    if (!p.experiment || !p.original)
        return db_fail(context, DB_ERROR_INPUT, "%s: is no longer the list that was written", path);
    if (json_is_string(identifier) && !other_image)
        json_object_set_new(p.experiment, "identifier", json_string(json_string_value(identifier)));
    keep_beam(&p);
    keep_detector(&p);
    keep_crystal(&p);
    if (!other_image) keep_images(&p);
    if (!other_image) keep_others(&p);
    return db_json_write(context, path, written, JSON_INDENT(2) | JSON_REAL_PRECISION(17),
                         failures);
}

static db_status keep_circles(db_context *context, const char *path, const db_format *format,
                              const char *from) {
    db_circles circles;
    int found;
    DB_TRY(format->circles(context, from, &circles, &found));
    return found ? db_expt_put_circles(context, path, &circles) : DB_OK;
}
#endif

db_status db_expt_keep(db_context *context, const char *path, const char *from, size_t number,
                       int other_image) {
#if defined(DB_HAVE_JANSSON)
    json_t *written = NULL;
    const json_t *original = NULL;
    db_json at;
    const db_format *format;
    char file[4096]; /* without the number of an image */
    db_frame_split(from, file, sizeof file);
    DB_TRY(db_format_of_file(context, file, DB_HOLDS_GEOMETRY, &format));
    if (format && format->circles) return keep_circles(context, path, format, file);
    if (format && format->geometry != db_expt_read) return DB_OK; /* geometries, images: no list */
    const size_t failures = db_json_failures();
    db_status status = db_json_open(context, path, &written, &at);
    if (status == DB_OK) status = db_json_open_kept(context, from, &original, &at);
    if (status == DB_OK)
        status = keep_experiment(context, path, written, original, number, other_image, failures);
    db_json_give_back(original);
    json_decref(written);
    return status;
#else
    (void)from;
    (void)number;
    (void)other_image;
    return db_fail(context, DB_ERROR_UNSUPPORTED,
                   "%s: this build has no JSON support (jansson), which experiment lists need",
                   path);
#endif
}
