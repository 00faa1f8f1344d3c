/* The detector of an experiment list: its hierarchy worked out to panels on a plate. */
#if defined(DB_HAVE_JANSSON)
#include "io/experiments/expt_detector.h"
#include "io/experiments/panel_plate.h"

#include "base/context_internal.h"
#include "base/vector.h"

#include <dualbragg/expert/sensor_materials.h>
#include <math.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PANELS = 4096, DEEPEST_GROUP = 32, MOST_MASKS = 10000, LARGEST_PANEL = 65535 };

static const db_frame outside = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 }, { 0, 0, 0 } };

static void turn_out(const db_frame *f, const double local[3], double v[3]) {
    for (int i = 0; i < 3; i++)
        v[i] = f->fast[i] * local[0] + f->slow[i] * local[1] + f->normal[i] * local[2];
}

/* The laboratory frame of a panel or group, from its frame within the parent. */
static db_status read_frame(const db_json *model, const db_frame *parent, db_frame *out) {
    double fast[3], slow[3], origin[3];
    const db_json f = db_json_member(model, "fast_axis"), s = db_json_member(model, "slow_axis"),
                  o = db_json_member(model, "origin");
    DB_TRY(db_json_numbers(&f, fast, 3));
    DB_TRY(db_json_numbers(&s, slow, 3));
    DB_TRY(db_json_numbers(&o, origin, 3));
    if (!db_normalize(fast)) return db_json_fail(&f, "a vector of some length");
    if (!db_normalize(slow)) return db_json_fail(&s, "a vector of some length");
    if (!(fabs(db_dot(fast, slow)) < 1e-4))
        return db_json_fail(&s, "an axis perpendicular to fast_axis");
    turn_out(parent, fast, out->fast);
    turn_out(parent, slow, out->slow);
    turn_out(parent, origin, out->origin);
    for (int i = 0; i < 3; i++) out->origin[i] += parent->origin[i];
    db_frame_complete(out);
    return DB_OK;
}

typedef struct reading {
    db_json panels;
    db_frame *placed; /* [count] */
    char *seen;       /* [count]: is in the hierarchy */
    size_t count;
    db_expt_panel *said;                  /* [count] */
    int groups[DB_EXPT_MOST_LEVELS];      /* met on each level of the hierarchy */
    int path[DB_EXPT_MOST_LEVELS], depth; /* of the group being read */
} reading;

static db_status place_panel(reading *r, size_t index, const db_frame *parent) {
    db_expt_panel *const said = &r->said[index];
    const db_json panel = db_json_element(&r->panels, index);
    if (r->seen[index]) return db_json_fail(&panel, "a panel that stands in one group only");
    r->seen[index] = 1;
    said->level_count = r->depth < DB_EXPT_MOST_LEVELS ? r->depth : DB_EXPT_MOST_LEVELS;
    memcpy(said->group, r->path, sizeof said->group);
    return read_frame(&panel, parent, &r->placed[index]);
}

static db_status place_group(reading *r, const db_json *group, const db_frame *parent) {
    if (r->depth > DEEPEST_GROUP) return db_json_fail(group, "fewer groups within groups");
    const db_json index = db_json_member(group, "panel");
    if (index.value) {
        const json_int_t number = json_integer_value(index.value);
        if (!json_is_integer(index.value) || number < 0 || (size_t)number >= r->count)
            return db_json_fail(&index, "the number of a panel");
        return place_panel(r, (size_t)number, parent);
    }
    db_frame own;
    DB_TRY(read_frame(group, parent, &own));
    if (r->depth < DB_EXPT_MOST_LEVELS) r->path[r->depth] = r->groups[r->depth]++;
    r->depth++;
    const db_json children = db_json_member(group, "children");
    for (size_t i = 0; i < json_array_size(children.value); i++) {
        const db_json child = db_json_element(&children, i);
        DB_TRY(place_group(r, &child, &own));
    }
    r->depth--;
    return DB_OK;
}

/* Panels of no group are placed in the laboratory: in lists without a hierarchy these are all. */
static db_status place_all(reading *r, const db_json *model) {
    const db_json root = db_json_member(model, "hierarchy");
    if (root.value) DB_TRY(place_group(r, &root, &outside));
    for (size_t p = 0; p < r->count; p++)
        if (!r->seen[p]) DB_TRY(place_panel(r, p, &outside));
    return DB_OK;
}

static db_status read_masks(const db_json *model, db_expt_panel *out) {
    const db_json list = db_json_member(model, "mask");
    const size_t count = json_array_size(list.value);
    if (count == 0) return DB_OK;
    if (count > MOST_MASKS) return db_json_fail(&list, "at most 10000 rectangles");
    out->mask = calloc(count, sizeof *out->mask);
    if (!out->mask) return db_fail_memory(list.context, "the masks of a panel");
    out->mask_count = count;
    for (size_t i = 0; i < count; i++) {
        const db_json one = db_json_element(&list, i);
        DB_TRY(db_json_integers(&one, out->mask[i], 4));
    }
    return DB_OK;
}

/* Takes the sensor of the first panel that has a thickness and either an absorption (mu) or a known material. */
static db_status read_sensor(const db_json *model, db_expt_content *content) {
    double thickness = 0, mu = 0;
    const char *const name = db_json_text(model, "material");
    const db_sensor_material material = db_sensor_material_find(name ? name : "");
    DB_TRY(db_json_optional_number(model, "thickness", &thickness));
    DB_TRY(db_json_optional_number(model, "mu", &mu));
    if (!(thickness > 0 && (mu > 0 || material)) || content->sensor_thickness > 0) return DB_OK;
    content->sensor_thickness = 1e3 * thickness;
    content->attenuation_depth = mu > 0 ? 1e3 / mu : NAN;
    content->sensor_material = material;
    return DB_OK;
}

static db_status read_numbers(const db_json *model, db_panel *panel, db_expt_panel *out,
                              db_expt_content *content) {
    int size[2];
    const db_json image = db_json_member(model, "image_size"),
                  pixel = db_json_member(model, "pixel_size");
    DB_TRY(db_json_integers(&image, size, 2));
    DB_TRY(db_json_numbers(&pixel, panel->pixel_size, 2));
    for (int i = 0; i < 2; i++) {
        if (size[i] < 1 || size[i] > LARGEST_PANEL)
            return db_json_fail(&image, "1 to 65535 pixels along fast and slow");
        if (!(panel->pixel_size[i] > 0)) return db_json_fail(&pixel, "lengths > 0 (mm)");
    }
    panel->fast_pixels = size[0];
    panel->slow_pixels = size[1];
    const db_json first = db_json_member(model, "raw_image_offset");
    if (first.value) DB_TRY(db_json_integers(&first, panel->image_offset, 2));
    out->trusted[0] = -INFINITY;
    out->trusted[1] = INFINITY;
    out->gain = 1;
    DB_TRY(db_json_optional_numbers(model, "trusted_range", out->trusted, 2));
    if (!(out->trusted[0] < out->trusted[1])) { /* of lists that do not know it: 0, 0 */
        out->trusted[0] = -INFINITY;
        out->trusted[1] = INFINITY;
    }
    DB_TRY(db_json_optional_number(model, "gain", &out->gain));
    DB_TRY(db_json_optional_number(model, "pedestal", &out->pedestal));
    DB_TRY(read_sensor(model, content));
    const char *const name = db_json_text(model, "name");
    snprintf(out->name, sizeof out->name, "%s", name ? name : "");
    return read_masks(model, out);
}

static db_status read_all(const db_json *model, const db_beam *beam, reading *r,
                          db_detector *detector, db_expt_content *content) {
    db_frame outer = outside;
    r->said = content->panel;
    DB_TRY(place_all(r, model));
    for (size_t p = 0; p < r->count; p++) {
        const db_json panel = db_json_element(&r->panels, p);
        DB_TRY(read_numbers(&panel, &detector->panels[p], &content->panel[p], content));
    }
    const db_json group = db_json_member(model, "hierarchy");
    if (group.value) DB_TRY(read_frame(&group, &outside, &outer));
    const char *const expected = db_hang_panels(r->placed, &outer, beam, detector);
    return expected ? db_json_fail(model, expected) : DB_OK;
}

db_status db_expt_detector(const db_json *model, const db_beam *beam, db_detector *detector,
                           db_expt_content *content) {
    reading r = { .panels = db_json_member(model, "panels") };
    r.count = json_array_size(r.panels.value);
    if (r.count < 1 || r.count > MOST_PANELS) return db_json_fail(&r.panels, "1 to 4096 panels");
    db_panel *const panels = calloc(r.count, sizeof *panels);
    content->panel = calloc(r.count, sizeof *content->panel);
    r.placed = calloc(r.count, sizeof *r.placed);
    r.seen = calloc(r.count, 1);
    db_status status = DB_OK;
    if (!panels || !content->panel || !r.placed || !r.seen) {
        free(panels);
        status = db_fail_memory(model->context, "the panels of an experiment list");
    } else {
        content->panel_count = r.count;
        free(detector->panels);
        detector->panels = panels;
        detector->panel_count = r.count;
        status = read_all(model, beam, &r, detector, content);
    }
    free(r.placed);
    free(r.seen);
    return status;
}
#else
typedef int db_without_jansson;
#endif
