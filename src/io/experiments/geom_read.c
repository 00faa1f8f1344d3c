/* Experiments of CrystFEL's geometry files. */
#include "io/experiments/geom.h"

#include "base/context_internal.h"
#include "base/growth.h"
#include "base/text_reader.h"
#include "base/vector.h"
#include "io/experiments/plain_experiment.h"
#include "base/photon_energy.h"
#include "io/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double MM = 1e3; /* per m */

/* The largest cosine of the angle between the axes of a panel: 0.6 degree from a right angle. */
static const double MOST_SHEAR = 0.01;

/* A value that is a number or a path in the image's file, and its unit. */
typedef struct quantity {
    const char *key; /* for messages */
    const char *text;
} quantity;

static db_status fail_geometry(const db_geom *geom, const quantity *q, const char *expected) {
    return db_fail(geom->context, DB_ERROR_INPUT, "%s: %s: expected %s, found '%.60s'",
                   geom->layout->path, q->key, expected, q->text);
}

/* Number, or the text of a path; *unit begins behind it. */
static db_status read_value(const db_geom *geom, const quantity *q, const db_geom_image *image,
                            double *value, const char **unit, int *is_path) {
    const char *cursor = q->text;
    const db_word word = db_next_word(&cursor, DB_WHITE_SPACE);
    char path[512];
    *unit = cursor + strspn(cursor, DB_WHITE_SPACE);
    *is_path = !db_word_number(word, value);
    if (!*is_path) return DB_OK;
    if (word.length == 0 || *word.start != '/' || word.length >= sizeof path)
        return fail_geometry(geom, q, "a number, or a path in the image's file");
    memcpy(path, word.start, word.length);
    path[word.length] = '\0';
    if (image->name) return db_layout_header(geom->context, image->name, path, value);
    return db_fail(geom->context, DB_ERROR_USAGE,
                   "%s: %s is in the image's file (%s); expected the name of an image",
                   geom->layout->path, q->key, path);
}

/* A length in metres. path_unit: the unit (m) of a value from a file that has none. */
static db_status read_length(const db_geom *geom, const quantity *q, const db_geom_image *image,
                             double path_unit, double *metres) {
    const char *unit;
    int is_path;
    double value = NAN;
    DB_TRY(read_value(geom, q, image, &value, &unit, &is_path));
    const double factor = *unit ? db_unit_of(DB_UNIT_LENGTH, unit) / MM : is_path ? path_unit : 1;
    if (!(factor > 0)) return fail_geometry(geom, q, "a length in m or mm");
    *metres = value * factor;
    return isfinite(*metres) ? DB_OK : fail_geometry(geom, q, "a length that is finite");
}

static db_status take_voltage(const db_geom *geom, const quantity *q, double voltage,
                              double *wavelength) {
    const double least = 1e4, most = 1e7; /* of microscopes */
    if (!(voltage >= least && voltage <= most))
        return fail_geometry(geom, q, "10 kV to 10 MV, in V, kV or MV");
    *wavelength = db_electron_wavelength(voltage);
    db_notice(geom->context, "%s: %s: the model computes X-rays of that wavelength",
              geom->layout->path, q->key);
    return DB_OK;
}

static db_status read_wavelength(const db_geom *geom, const db_geom_image *image,
                                 double *wavelength) {
    const quantity q = { geom->wavelength_key, geom->wavelength };
    const char *unit;
    double value = NAN;
    int is_path;
    if (image->photon_energy > 0) {
        *wavelength = DB_EV_ANGSTROM / image->photon_energy;
        if (q.key && strcmp(q.key, "electron_voltage") == 0)
            db_notice(geom->context,
                      "%s: %s: the wavelength is that of photon_energy_eV, %.6g A: the model "
                      "computes X-rays of that wavelength",
                      geom->layout->path, q.key, *wavelength);
        return DB_OK;
    }
    if (!q.text)
        return db_fail(geom->context, DB_ERROR_INPUT,
                       "%s: expected photon_energy, wavelength or electron_voltage, found none",
                       geom->layout->path);
    DB_TRY(read_value(geom, &q, image, &value, &unit, &is_path));
    if (strcmp(q.key, "electron_voltage") == 0)
        return take_voltage(geom, &q, value * db_unit_of(DB_UNIT_VOLTAGE, unit), wavelength);
    const int is_energy = strcmp(q.key, "photon_energy") == 0;
    if (is_energy) {
        const double ev = *unit ? db_unit_of(DB_UNIT_ENERGY, unit) : 1;
        *wavelength = ev > 0 ? DB_EV_ANGSTROM / (value * ev) : NAN;
    } else {
        static const double ANGSTROM = 1e-7; /* mm */
        *wavelength = value * (db_unit_of(DB_UNIT_LENGTH, unit) / ANGSTROM);
    }
    if (*wavelength > 0 && isfinite(*wavelength)) return DB_OK;
    return fail_geometry(geom, &q,
                         is_energy ? "an energy > 0 in eV or keV" : "a length > 0 in A or m");
}

static double mean_offset(const db_geom *geom) {
    double sum = 0;
    for (size_t p = 0; p < geom->layout->panel_count; p++) sum += geom->panel[p].coffset;
    return sum / (double)geom->layout->panel_count;
}

db_status db_geom_place_panel(const db_geom *geom, const db_geom_image *image, size_t index,
                              db_geom_place *place) {
    const db_geom_panel *const panel = &geom->panel[index];
    const quantity clen = { "clen", panel->clen },
                   shift[2] = { { "detector_shift_x", geom->shift[0] },
                                { "detector_shift_y", geom->shift[1] } };
    double metres = 0;
    if (strchr(panel->clen, '/') && image->camera_length > 0)
        metres = image->camera_length - mean_offset(geom);
    else
        DB_TRY(read_length(geom, &clen, image, 1 / MM, &metres));
    place->clen = MM * metres;
    place->origin[2] = MM * (metres + panel->coffset);
    for (int i = 0; i < 2; i++) {
        double moved = 0;
        if (shift[i].text) DB_TRY(read_length(geom, &shift[i], image, 1, &moved));
        place->origin[i] = MM * (panel->corner[i] / panel->res + moved + image->shift[i]);
    }
    for (int i = 0; i < 3; i++) {
        place->fast[i] = MM * panel->fast[i] / panel->res;
        place->slow[i] = MM * panel->slow[i] / panel->res;
    }
    return DB_OK;
}

static db_status place_frame(const db_geom *geom, const db_geom_image *image, size_t p,
                             db_panel *panel, db_frame *frame) {
    const db_layout_panel *const at = &geom->layout->panel[p];
    db_geom_place place;
    DB_TRY(db_geom_place_panel(geom, image, p, &place));
    memcpy(frame->origin, place.origin, sizeof place.origin);
    memcpy(frame->fast, place.fast, sizeof place.fast);
    memcpy(frame->slow, place.slow, sizeof place.slow);
    db_geom_turn(frame->origin);
    db_geom_turn(frame->fast);
    db_geom_turn(frame->slow);
    panel->pixel_size[0] = db_length(frame->fast);
    panel->pixel_size[1] = db_length(frame->slow);
    panel->fast_pixels = at->size[0];
    panel->slow_pixels = at->size[1];
    if (!db_normalize(frame->fast) || !db_normalize(frame->slow))
        return db_fail(geom->context, DB_ERROR_INPUT,
                       "%s:%zu: panel %s: expected fs and ss of some length, found %s = 0",
                       geom->layout->path, geom->panel[p].line, at->name,
                       panel->pixel_size[0] > 0 ? "ss" : "fs");
    if (!(fabs(db_dot(frame->fast, frame->slow)) < MOST_SHEAR))
        return db_fail(
            geom->context, DB_ERROR_INPUT,
            "%s:%zu: panel %s: expected fs and ss at a right angle, found a cosine of %g",
            geom->layout->path, geom->panel[p].line, at->name, db_dot(frame->fast, frame->slow));
    db_cross(frame->fast, frame->slow, frame->normal);
    db_normalize(frame->normal);
    return DB_OK;
}

static db_status add_mask(db_context *context, db_expt_panel *said, size_t *room,
                          const int rectangle[4]) {
    DB_GROW(context, said->mask, *room, said->mask_count + 1, "bad regions");
    memcpy(said->mask[said->mask_count++], rectangle, 4 * sizeof *rectangle);
    return DB_OK;
}

/* Panels that do not count, and borders. */
static db_status mask_edges(const db_geom *geom, size_t p, db_expt_panel *said, size_t *room) {
    const int *const size = geom->layout->panel[p].size;
    const int edge = geom->panel[p].edge;
    const int f = edge < size[0] ? edge : size[0], s = edge < size[1] ? edge : size[1];
    const int borders[4][4] = { { 0, 0, size[0], s },
                                { 0, size[1] - s, size[0], size[1] },
                                { 0, 0, f, size[1] },
                                { size[0] - f, 0, size[0], size[1] } };
    const int all[4] = { 0, 0, size[0], size[1] };
    if (geom->panel[p].no_index) DB_TRY(add_mask(geom->context, said, room, all));
    for (int i = 0; i < 4 && edge > 0; i++) DB_TRY(add_mask(geom->context, said, room, borders[i]));
    return DB_OK;
}

/* Bad regions by fs and ss, which count in the array. */
static db_status mask_regions(const db_geom *geom, size_t p, db_expt_panel *said, size_t *room) {
    const db_layout_panel *const at = &geom->layout->panel[p];
    for (size_t b = 0; b < geom->bad_count; b++) {
        const db_geom_bad *const bad = &geom->bad[b];
        int rectangle[4];
        if (bad->kind != 1) continue;
        if (bad->panel_number != p) continue;
        for (int i = 0; i < 2; i++) {
            const double first = bad->range[2 * i] - at->first[i],
                         end = bad->range[2 * i + 1] - at->first[i] + 1;
            rectangle[i] = (int)fmin(fmax(ceil(first), 0), at->size[i]);
            rectangle[2 + i] = (int)fmin(fmax(floor(end), 0), at->size[i]);
        }
        DB_TRY(add_mask(geom->context, said, room, rectangle));
    }
    return DB_OK;
}

/* A region without pixels would mask nothing. */
static db_status check_order(const db_geom *geom, const db_geom_bad *bad) {
    static const char *const axes[2][2] = { { "fs", "ss" }, { "x", "y" } };
    for (int i = 0; i < 2; i++) {
        const char *const axis = axes[bad->kind - 1][i];
        const double least = bad->range[2 * i], most = bad->range[2 * i + 1];
        if (most < least)
            return db_fail(geom->context, DB_ERROR_INPUT,
                           "%s:%zu: bad region %s: expected max_%s of at least min_%s, %g, found "
                           "%g",
                           geom->layout->path, bad->line, bad->name, axis, axis, least, most);
    }
    return DB_OK;
}

static db_status check_regions(const db_geom *geom) {
    for (size_t b = 0; b < geom->bad_count; b++) {
        db_geom_bad *const bad = &geom->bad[b];
        int whole = bad->kind != 0;
        for (int i = 0; i < 4; i++) whole &= !isnan(bad->range[i]);
        if (!whole)
            return db_fail(geom->context, DB_ERROR_INPUT,
                           "%s:%zu: bad region %s: expected min_fs, max_fs, min_ss and max_ss, or "
                           "min_x, max_x, min_y and max_y",
                           geom->layout->path, bad->line, bad->name);
        DB_TRY(check_order(geom, bad));
        if (bad->kind != 1) continue;
        if (!bad->panel && geom->layout->panel_count == 1) continue;
        if (!bad->panel ||
            !db_name_table_find(&geom->panels, bad->panel, strlen(bad->panel), &bad->panel_number))
            return db_fail(geom->context, DB_ERROR_INPUT,
                           "%s:%zu: bad region %s: expected the name of its panel, found '%.60s'",
                           geom->layout->path, bad->line, bad->name,
                           bad->panel ? bad->panel : "none");
    }
    return DB_OK;
}

static db_status say_panel(const db_geom *geom, size_t p, double wavelength, db_expt_panel *said) {
    const db_geom_panel *const panel = &geom->panel[p];
    const char *const key =
        geom->wavelength_key; /* NULL: the image of a stream has a photon energy */
    const int are_electrons =
        wavelength < DB_SHORTEST_X_RAY || (key && strcmp(key, "electron_voltage") == 0);
    size_t room = 0;
    *said = (db_expt_panel){ .trusted = { panel->least, fmin(panel->most, panel->max_adu) },
                             .gain = 1 };
    snprintf(said->name, sizeof said->name, "%s", geom->layout->panel[p].name);
    if (said->trusted[0] > said->trusted[1])
        return db_fail(geom->context, DB_ERROR_INPUT,
                       "%s: panel %s: flag_lessthan %g is above %s %g, so that no pixel is left; "
                       "expected it below",
                       geom->layout->path, said->name, said->trusted[0],
                       panel->most < panel->max_adu ? "flag_morethan" : "max_adu",
                       said->trusted[1]);
    if (panel->adu_per_photon > 0)
        said->gain = panel->adu_per_photon;
    else if (panel->adu_per_ev > 0)
        said->gain = panel->adu_per_ev *
                     (are_electrons ? db_electron_energy(wavelength) : DB_EV_ANGSTROM / wavelength);
    DB_TRY(mask_edges(geom, p, said, &room));
    return mask_regions(geom, p, said, &room);
}

/* Regions by x and y are known only with the pixels. */
static db_status keep_regions(db_geom *geom) {
    db_image_layout *const layout = geom->layout;
    layout->region = calloc(geom->bad_count + 1, sizeof *layout->region);
    if (!layout->region) return db_fail_memory(geom->context, layout->path);
    for (size_t b = 0; b < geom->bad_count; b++) {
        const double *const r = geom->bad[b].range;
        if (geom->bad[b].kind == 2)
            layout->region[layout->region_count++] =
                (db_layout_region){ { r[0], r[1] }, { r[2], r[3] } };
    }
    return DB_OK;
}

static void set_still(db_experiment *experiment) {
    static const double axis[3] = { 1, 0, 0 };
    db_goniometer *const goniometer = &experiment->goniometer;
    memcpy(goniometer->spindle_axis, axis, sizeof axis);
    goniometer->phi = goniometer->phi_step = 0;
    goniometer->phi_steps = 1;
    db_detector_set_flat(axis, &experiment->detector);
}

/* CrystFEL's z is along the beam, so that such panels see what is scattered backwards. */
static void tell_upstream(const db_geom *geom, const db_frame *frame) {
    size_t count = 0, first = 0;
    for (size_t p = geom->layout->panel_count; p-- > 0;)
        if (frame[p].origin[2] > 0) {
            count++;
            first = p;
        }
    if (count)
        db_notice(geom->context,
                  "%s:%zu: panel %s: clen + coffset is %g mm, below 0, so %zu of %zu panels are "
                  "upstream of the sample; it is positive downstream",
                  geom->layout->path, geom->panel[first].line, geom->layout->panel[first].name,
                  -frame[first].origin[2], count, geom->layout->panel_count);
}

static db_status place_all(const db_geom *geom, const db_geom_image *image,
                           db_experiment *experiment, db_frame *frame) {
    static const db_frame outer = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 }, { 0, 0, 0 } };
    db_detector *const detector = &experiment->detector;
    for (size_t p = 0; p < detector->panel_count; p++)
        DB_TRY(place_frame(geom, image, p, &detector->panels[p], &frame[p]));
    tell_upstream(geom, frame);
    const char *const expected = db_hang_panels(frame, &outer, &experiment->beam, detector);
    if (!expected) return DB_OK;
    return db_fail(geom->context, DB_ERROR_INPUT, "%s: expected %s", geom->layout->path, expected);
}

static db_status make_detector(const db_geom *geom, const db_geom_image *image,
                               db_experiment *experiment, db_expt_content *content) {
    db_frame *frame;
    DB_TRY(db_panels_create(geom->context, geom->layout->path, geom->layout->panel_count,
                            &experiment->detector, content, &frame));
    const db_status status = place_all(geom, image, experiment, frame);
    free(frame);
    return status;
}

db_status db_geom_experiment(db_geom *geom, const db_geom_image *image, db_experiment *experiment,
                             db_expt_content *content) {
    static const double along[3] = { 0, 0, -1 };
    double wavelength = NAN;
    DB_TRY(read_wavelength(geom, image, &wavelength));
    db_beam_set_simple(wavelength, along, NAN, &experiment->beam, content);
    set_still(experiment);
    DB_TRY(check_regions(geom));
    DB_TRY(make_detector(geom, image, experiment, content));
    for (size_t p = 0; p < content->panel_count; p++)
        DB_TRY(say_panel(geom, p, wavelength, &content->panel[p]));
    DB_TRY(db_geom_groups(geom, content));
    DB_TRY(keep_regions(geom));
    content->attenuation_depth = NAN;
    content->layout = geom->layout;
    geom->layout = NULL;
    return DB_OK;
}

db_status db_geom_read(db_context *context, const char *path, const db_expt_selection *selection,
                       db_experiment *experiment, db_expt_content *content) {
    const db_geom_image image = { selection->image, NAN, NAN, { 0, 0 } };
    db_geom geom;
    DB_TRY(db_geom_open(context, path, &geom));
    db_status status = DB_OK;
    if (selection->number > 0)
        status = db_fail(context, DB_ERROR_INPUT, "%s: experiment %ld: expected 0, the only one",
                         path, selection->number);
    if (status == DB_OK) status = db_geom_experiment(&geom, &image, experiment, content);
    db_geom_clear(&geom);
    return status;
}

db_status db_geom_open(db_context *context, const char *path, db_geom *geom) {
    db_text text;
    *geom = (db_geom){ .context = context };
    DB_TRY(db_text_open(context, path, &text)); /* refuses what is no text */
    db_status status = db_geom_parse(context, path, text.content.bytes, 1, geom);
    if (status != DB_OK) db_geom_clear(geom);
    return status;
}
