/* Makes lists of shots: from a file, marking shots of the same image; or from lattices found on one image. */
#define _POSIX_C_SOURCE 200809L
#include "fit/config/found_cell.h"
#include "fit/config/orientation.h"
#include "fit/lists/goniometer_settings.h"
#include "fit/lists/identity.h"
#include "fit/lists/shot_list.h"
#include "fit/search/find_orientation.h"
#include "fit/search/starting_model.h"

#include "base/context_internal.h"
#include "base/path.h"

#include <dualbragg/expert/fit_configurations.h>
#include <dualbragg/expert/fit_steps.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The image of an entry. */
typedef struct named_image {
    char *path; /* NULL: not known */
    size_t entry;
} named_image;

static int by_path(const void *a, const void *b) {
    const named_image *const x = a;
    const named_image *const y = b;
    const int order = strcmp(x->path ? x->path : "", y->path ? y->path : "");
    return order ? order : (x->entry > y->entry) - (x->entry < y->entry);
}

/* An image may be named in several ways; what is not there keeps its name. FILE is the only image of a file, FILE#1. */
static char *path_of(const char *name) {
    char *const whole = db_whole_path(name), *const path = whole ? whole : strdup(name),
                *const sign = path ? strrchr(path, '#') : NULL;
    if (sign && strcmp(sign, "#1") == 0) *sign = '\0';
    return path;
}

/* Names the image of an entry. A shot whose configuration cannot be read is excluded later, with the reason. */
static db_status name_image(db_context *context, const db_fit_shot_list *list, size_t shot,
                            named_image *named) {
    const db_shot_entry *const entry = &list->entry[shot];
    named->entry = shot;
    if (!entry->is_config) {
        named->path = path_of(entry->name);
        return db_need_memory(context, named->path, entry->name);
    }
    db_fit_config config = { .image_file = "" };
    db_status status = db_fit_shot_list_config(context, list, shot, &config);
    if (status == DB_OK) {
        named->path = path_of(config.image_file);
        if (!named->path) status = db_fail_memory(context, entry->name);
    }
    db_fit_config_clear(&config);
    return status == DB_ERROR_MEMORY ? status : DB_OK;
}

static db_status find_images(db_context *context, db_fit_shot_list *list) {
    named_image *const named = calloc(list->count + 1, sizeof *named);
    db_status status = db_need_memory(context, named, "the images of the shots");
    for (size_t i = 0; i < list->count && status == DB_OK; i++)
        status = name_image(context, list, i, &named[i]);
    if (status == DB_OK) qsort(named, list->count, sizeof *named, by_path);
    for (size_t i = 1; i < list->count && status == DB_OK; i++)
        if (named[i].path && named[i - 1].path && strcmp(named[i].path, named[i - 1].path) == 0)
            list->entry[named[i].entry].image = list->entry[named[i - 1].entry].image;
    for (size_t i = 0; i < list->count && named; i++) free(named[i].path);
    free(named);
    return status;
}

/* Digests of the settings of entries whose images are listed again; "": none. A shot whose configuration cannot be read is excluded
 * later, with the reason. */
static db_status note_settings(db_context *context, const db_fit_shot_list *list,
                               db_fit_shot_identity *of) {
    for (size_t i = 0; i < list->count; i++) {
        const size_t shots[2] = { i, list->entry[i].image };
        for (int k = 0; k < 2 && shots[0] != shots[1]; k++) {
            db_fit_config config = { .image_file = "" };
            char *const digest = of[shots[k]].configuration;
            if (*digest) continue;
            db_status status = db_fit_shot_list_config(context, list, shots[k], &config);
            if (status == DB_OK) status = db_identity_of_settings(context, &config, digest);
            db_fit_config_clear(&config);
            if (status == DB_ERROR_MEMORY) return status;
        }
    }
    return DB_OK;
}

/* An image that is listed again shows another crystal, which has another orientation. Two models of one crystal would share its
 * light, or count it twice. */
static db_status refuse_repeats(db_context *context, const db_fit_shot_list *list) {
    db_fit_shot_identity *const of = calloc(list->count + 1, sizeof *of);
    db_status status = db_need_memory(context, of, "the settings of the shots");
    if (status == DB_OK) status = note_settings(context, list, of);
    for (size_t i = 0; i < list->count && status == DB_OK; i++) {
        const db_shot_entry *const own = &list->entry[i];
        for (size_t k = own->image; k < i && status == DB_OK; k++)
            if (list->entry[k].image == own->image && *of[i].configuration &&
                strcmp(of[k].configuration, of[i].configuration) == 0)
                status =
                    db_fail(context, DB_ERROR_INPUT,
                            "%s:%d: %s is listed in line %d, too: expected each image once, or "
                            "for each of its crystals with an orientation",
                            list->config.shot_list, own->line, own->name, list->entry[k].line);
    }
    free(of);
    return status;
}

enum { CELL_KEY = 200 };

/* Further results of a search, as keys of a configuration; "": none. */
typedef struct search_keys {
    char cell[CELL_KEY], beam[100];
    double constants[6]; /* of the cell in use */
} search_keys;

static void write_cell(const double cell[6], char key[CELL_KEY]) {
    snprintf(key, CELL_KEY, "model.cell=[%.17g, %.17g, %.17g, %.17g, %.17g, %.17g]", cell[0],
             cell[1], cell[2], cell[3], cell[4], cell[5]);
}

/* Sets the orientation that was found for an entry. */
static db_status orient_entry(db_context *context, const db_fit_lattice *lattice,
                              const search_keys *keys, db_shot_entry *entry) {
    char orientation[DB_ORIENTATION_KEYS][DB_ORIENTATION_KEY_SIZE];
    db_orientation_keys(lattice->orientation, orientation);
    int has_room = (!*keys->cell || db_shot_entry_override(entry, keys->cell)) &&
                   (!*keys->beam || db_shot_entry_override(entry, keys->beam));
    for (int i = 0; i < DB_ORIENTATION_KEYS; i++)
        has_room = has_room && db_shot_entry_override(entry, orientation[i]);
    return db_need_memory(context, has_room, "the orientations of the shots");
}

static db_status add_lattice(db_context *context, const char *image, const db_fit_lattice *lattice,
                             const search_keys *keys, db_fit_shot_list *list) {
    db_shot_entry *const entry = db_shot_entries_add(list, image, (int)list->count + 1);
    if (!entry) return db_fail_memory(context, "the lattices of the image");
    entry->image = 0;
    return orient_entry(context, lattice, keys, entry);
}

/* Names cell and beam centre of the found lattices as keys. An experiment list keeps its beam, which a
 * configuration cannot move. */
static void name_corrections(const db_fit_config *config, const db_fit_lattice *found,
                             db_experiment *start, search_keys *keys) {
    const double *const cell = start->crystal.cell, *const centre = start->detector.centre,
                        *const pixel = start->detector.panels[0].pixel_size;
    int is_given = !config->found_cell && found->beam_shift[0] == 0 && found->beam_shift[1] == 0;
    for (int i = 0; i < 3; i++) is_given &= found->edge_scale[i] == 1;
    if (is_given) return;
    db_lattice_correct(found, start);
    write_cell(cell, keys->cell);
    if (*config->expt_file) return;
    snprintf(keys->beam, sizeof keys->beam, "model.beam_centre_px=[%.17g, %.17g]",
             centre[0] / pixel[0], centre[1] / pixel[1]);
}

/* Searches for lattices on the image of a configuration, which is completed; does nothing if the crystal's
 * orientation is given. */
static db_status search_lattices(db_context *context, size_t most, db_fit_config *own,
                                 db_fit_lattice *lattices, size_t *count, search_keys *keys) {
    db_measured_image image;
    db_experiment start;
    DB_TRY(db_fit_config_read_image(context, own, &image, NULL, NULL));
    db_fit_found_cell cell;
    db_status status = db_fit_config_find_cell(context, own, &image, &cell);
    if (status == DB_OK && cell.count) status = db_found_cell_take(context, &cell, own);
    int open;
    if (status == DB_OK)
        status = db_start_make(context, own, &image, &start, &open, NULL, NULL, NULL);
    if (status == DB_OK) {
        if (open)
            status = db_fit_find_lattices(context, &image, &own->settings, &start, most, lattices,
                                          count);
        if (*count) name_corrections(own, &lattices[0], &start, keys);
        db_experiment_clear(&start);
    }
    db_measured_image_clear(&image);
    return status;
}

static db_status find_lattices(db_context *context, db_fit_shot_list *list) {
    db_fit_config *const config = &list->config;
    db_fit_config own;
    search_keys keys = { .cell = "" };
    db_status status = db_fit_config_copy(context, config, &own);
    if (status == DB_OK)
        status = search_lattices(context, (size_t)config->find_orientation, &own, list->lattice,
                                 &list->lattice_count, &keys);
    if (status == DB_OK && own.found_cell)
        status = db_found_cell_take(context, own.found_cell, config);
    db_fit_config_clear(&own);
    for (size_t l = 0; l < list->lattice_count && status == DB_OK; l++)
        status = add_lattice(context, config->image_file, &list->lattice[l], &keys, list);
    config->image_file[0] = '\0';
    config->find_orientation = 0;
    db_shot_list_share(list, &config->settings);
    return status;
}

/* Shots without a cell; the first one of each of equal parts of the list is searched. */
typedef struct voters {
    size_t count, found, failed; /* failed: shots read and searched without success */
    size_t *shot;
    db_fit_found_cell *cell;
    db_status status;                 /* of the first failure */
    char reason[DB_MESSAGE_SIZE / 2]; /* of settings: of all failures */
} voters;

enum {
    MOST_VOTERS = 30,
    /* Frames of a series, whose spots are searched together: */
    MOST_FRAMES = 120,
    FEWEST_FRAMES = 8,  /* so that a block of frames of another crystal is outnumbered */
    ENOUGH_SPOTS = 1000 /* more than the search uses */
};

/* The frame of a series that is read as the n-th of `most`: each part of the order spans the whole series (steps of
 * the golden ratio, which meet each of the evenly spaced frames once). */
static size_t spread_frame(size_t n, size_t most, size_t count) {
    size_t step = (size_t)(0.6180339887498949 * (double)most), a, b;
    do {
        step++;
        for (a = most, b = step; b > 0;) {
            const size_t rest = a % b;
            a = b;
            b = rest;
        }
    } while (a != 1);
    return n * step % most * count / most;
}

static int are_enough(const db_fit_cell_spots *spots, size_t frames) {
    return frames >= FEWEST_FRAMES && db_fit_cell_spots_count(spots) >= ENOUGH_SPOTS;
}

static db_status find_voters(db_context *context, const db_fit_shot_list *list, voters *v) {
    v->shot = malloc((list->count + 1) * sizeof *v->shot);
    v->cell = malloc(MOST_VOTERS * sizeof *v->cell);
    if (!v->shot || !v->cell) return db_fail_memory(context, "the shots that vote on a cell");
    for (size_t i = 0; i < list->count; i++) {
        db_fit_config config = { .image_file = "" };
        const db_status status = db_fit_shot_list_config(context, list, i, &config);
        if (status == DB_OK && db_cell_is_sought(&config)) v->shot[v->count++] = i;
        db_fit_config_clear(&config);
        if (status == DB_ERROR_MEMORY) return status;
    }
    return DB_OK;
}

/* Work on the image of a shot, with its configuration, which it may take. */
typedef db_status image_task(db_context *context, db_fit_config *config,
                             const db_measured_image *image, void *user);

/* Reads an image and works on it; skips shots that cannot be read, or whose work fails. */
static db_status look_at_image(db_context *context, const db_fit_shot_list *list, size_t shot,
                               image_task *task, void *user) {
    db_fit_config config = { .image_file = "" };
    db_measured_image image;
    db_status status = db_fit_shot_list_config(context, list, shot, &config);
    if (status == DB_OK) status = db_fit_config_read_image(context, &config, &image, NULL, NULL);
    if (status == DB_OK) {
        status = task(context, &config, &image, user);
        db_measured_image_clear(&image);
    }
    db_fit_config_clear(&config);
    return status == DB_ERROR_MEMORY || status == DB_ERROR_CANCELLED ? status : DB_OK;
}

static db_status vote(db_context *context, db_fit_config *config, const db_measured_image *image,
                      void *user) {
    voters *const v = user;
    const db_status status = db_fit_config_find_cell(context, config, image, &v->cell[v->found]);
    v->found += status == DB_OK && v->cell[v->found].count;
    if (status == DB_OK || v->failed++ > 0) return status;
    v->status = status;
    snprintf(v->reason, sizeof v->reason, "%s", db_context_message(context));
    return status;
}

/* Gives shots the cell that most searched shots have. */
static db_status give_cell(db_context *context, const voters *v, db_fit_shot_list *list) {
    db_fit_found_cell cell;
    char key[CELL_KEY], symmetry[DB_FIT_NAME_SIZE + 20];
    const int named = *list->config.symmetry != '\0';
    if (list->config.series && v->found + v->failed == 1)
        cell = v->cell[0];
    else
        DB_TRY(db_fit_vote_on_cell(context, v->cell, v->found, v->found + v->failed, &cell));
    write_cell(cell.lattice[cell.chosen].cell, key);
    snprintf(symmetry, sizeof symmetry, "model.symmetry=%s", cell.lattice[cell.chosen].symbol);
    for (size_t i = 0; i < v->count; i++)
        if (!db_shot_entry_override(&list->entry[v->shot[i]], key) ||
            (!named && !db_shot_entry_override(&list->entry[v->shot[i]], symmetry)))
            return db_fail_memory(context, "the cell of the shots");
    return db_found_cell_take(context, &cell, &list->config);
}

static db_status add_frame(db_context *context, db_fit_config *config,
                           const db_measured_image *image, void *spots) {
    return db_fit_config_cell_spots(context, config, image, spots);
}

/* Searches frames shot[count] of one crystal for a common cell and orientation. */
static db_status search_frames(db_context *context, const db_fit_shot_list *list,
                               const size_t *shot, size_t count, voters *v) {
    const size_t most = count < MOST_FRAMES ? count : MOST_FRAMES;
    db_fit_cell_spots *spots = NULL;
    db_status status = DB_OK;
    for (size_t n = 0; n < most && status == DB_OK && !are_enough(spots, n); n++)
        status =
            look_at_image(context, list, shot[spread_frame(n, most, count)], add_frame, &spots);
    if (status == DB_OK && spots)
        status = db_fit_config_cell_of_spots(context, &list->config, spots, &v->cell[v->found]);
    v->found += status == DB_OK && spots;
    db_fit_cell_spots_destroy(&spots);
    return status;
}

/* Notes why no cell was found on a setting, of which this is the first frame: by the search, or by the last of its images, of
 * which none can be read. */
static void note_failure(const db_context *context, const db_shot_entry *first, voters *v) {
    const size_t length = strlen(v->reason);
    snprintf(v->reason + length, sizeof v->reason - length, "%s%s on: %.240s",
             length ? "; from " : "from ", first->name, db_context_message(context));
}

/* Searches the frames of each setting of the goniometer, which vote. */
static db_status search_settings(db_context *context, const db_fit_shot_list *list, voters *v) {
    const size_t settings = list->crystal_settings;
    size_t *const shot = malloc((v->count + 1) * sizeof *shot);
    db_status status = db_need_memory(context, shot, "the shots that vote on a cell");
    for (size_t k = 0; k < settings && v->found < MOST_VOTERS && status == DB_OK; k++) {
        size_t count = 0;
        for (size_t i = 0; i < v->count; i++)
            if (list->entry[v->shot[i]].setting[DB_FIT_SETTING_CRYSTAL] == k)
                shot[count++] = v->shot[i];
        const size_t before = v->found;
        if (count) status = search_frames(context, list, shot, count, v);
        if ((status != DB_OK && status != DB_ERROR_INPUT) || v->found > before || !count) continue;
        if (settings > 1) note_failure(context, &list->entry[shot[0]], v);
        v->failed += status == DB_ERROR_INPUT;
        if (settings > 1) status = DB_OK;
    }
    free(shot);
    if (status != DB_OK || v->found || !v->failed) return status;
    return db_fail(context, DB_ERROR_INPUT,
                   "%s: no cell was found on any setting of the goniometer: %s",
                   list->config.shot_list, v->reason);
}

/* Orients an entry of a series by a lattice that was found on the first setting of the goniometer. */
static db_status orient_frame(db_context *context, const db_fit_lattice *lattice,
                              const search_keys *keys, db_fit_shot_list *list, size_t shot) {
    db_fit_config config = { .image_file = "" };
    db_fit_lattice turned = *lattice;
    const db_status status = db_fit_shot_list_config(context, list, shot, &config);
    if (status == DB_OK)
        db_orientation_on_setting(lattice->orientation, &config, turned.orientation);
    db_fit_config_clear(&config);
    if (status == DB_ERROR_MEMORY)
        return status; /* others exclude the shot later, with the reason */
    return orient_entry(context, &turned, keys, &list->entry[shot]);
}

static db_status orient_frames(db_context *context, const db_fit_found_cell *cell,
                               db_fit_shot_list *list) {
    const search_keys none = { .cell = "" };
    db_fit_lattice lattice = { .found = cell->found };
    db_status status = DB_OK;
    memcpy(lattice.orientation, cell->orientation, sizeof lattice.orientation);
    for (size_t i = 0; i < list->count && status == DB_OK; i++)
        if (!list->entry[i].is_config) status = orient_frame(context, &lattice, &none, list, i);
    list->config.find_orientation = 0;
    return status;
}

static db_status vote_all(db_context *context, const db_fit_shot_list *list, voters *v) {
    const size_t most = v->count < MOST_VOTERS ? v->count : MOST_VOTERS;
    for (size_t n = 0; n < most; n++)
        DB_TRY(look_at_image(context, list, v->shot[n * v->count / most], vote, v));
    if (v->found || !v->failed) return DB_OK;
    if (!*list->config.shot_list) return db_fail(context, v->status, "%s", v->reason);
    return db_fail(context, v->status, "%s: no cell was found on any of %zu images: %s",
                   list->config.shot_list, v->failed, v->reason);
}

/* Finds the cell of shots without one. */
static db_status find_common_cell(db_context *context, db_fit_shot_list *list) {
    const int series = list->config.series;
    voters v = { 0 };
    db_status status = find_voters(context, list, &v);
    if (status == DB_OK && v.count)
        status = (series ? search_settings : vote_all)(context, list, &v);
    if (status == DB_OK && v.found) status = give_cell(context, &v, list);
    if (status == DB_OK && v.found && series && list->config.find_orientation <= 1 &&
        list->crystal_settings == 1)
        status = orient_frames(context, &v.cell[0], list);
    free(v.shot);
    free(v.cell);
    return status;
}

/* A series whose orientation is searched: spots of its frames, and the first readable frame. */
typedef struct frames {
    int known; /* 1: there is a readable frame */
    int open;  /* 1: the crystal's orientation is open */
    int given; /* 1: one that is given is looked at, which the centring may forbid */
    db_fit_config config;
    db_experiment start;
    db_fit_cell_spots *spots;
} frames;

static db_status look_at_frame(db_context *context, db_fit_config *config,
                               const db_measured_image *image, void *user) {
    frames *const all = user;
    db_experiment start;
    int open;
    DB_TRY(db_start_make(context, config, image, &start, &open, NULL, NULL, NULL));
    all->given &= !open && db_has_other_settings(&config->settings, start.crystal.cell);
    const db_status status =
        open || all->given
            ? db_fit_cell_spots_add(context, image, &config->settings, &start, &all->spots)
            : DB_OK;
    if (status != DB_OK || all->known) {
        db_experiment_clear(&start);
        return status;
    }
    all->known = 1;
    all->open = open;
    all->start = start;
    all->config = *config;
    *config = (db_fit_config){ .image_file = "" };
    return DB_OK;
}

/* Finds up to `most` lattices by spots of as many of the shots shot[count] as needed; none if nothing is open. most: 0: one, the
 * given one, if it has to be turned for the centring. */
static db_status find_by_frames(db_context *context, const db_fit_shot_list *list,
                                const size_t *shot, size_t count, size_t most,
                                db_fit_lattice *lattice, size_t *found, search_keys *keys) {
    const size_t reads = count < MOST_FRAMES ? count : MOST_FRAMES;
    frames *const all = calloc(1, sizeof *all);
    db_status status = db_need_memory(context, all, "the first frame of a series");
    *found = 0;
    if (all) all->given = most == 0;
    for (size_t n = 0; n < reads && status == DB_OK && !(all->known && !all->open && !all->given) &&
                       !are_enough(all->spots, n);
         n++)
        status =
            look_at_image(context, list, shot[spread_frame(n, reads, count)], look_at_frame, all);
    if (status == DB_OK && all->known && all->open && most) {
        status = db_find_lattices_of_spots(context, &all->config.settings, all->spots, &all->start,
                                           most, lattice, found);
        if (*found) name_corrections(&all->config, lattice, &all->start, keys);
        memcpy(keys->constants, all->start.crystal.cell, sizeof keys->constants);
    }
    if (status == DB_OK && all->known && all->given) {
        int turned;
        status =
            db_allow_given_indices_of_spots(context, &all->config.settings, list->config.shot_list,
                                            all->spots, &all->start, &turned);
        if (turned) db_orientation_of(&all->start.crystal, lattice->orientation);
        *found = (size_t)turned;
    }
    if (!all) return status;
    if (all->known) {
        db_experiment_clear(&all->start);
        db_fit_config_clear(&all->config);
    }
    db_fit_cell_spots_destroy(&all->spots);
    free(all);
    return status;
}

/* Copies an entry of an image; the copy is another crystal on it. */
static db_status copy_entry(db_context *context, db_fit_shot_list *list, size_t from) {
    const int line = list->entry[from].line;
    db_shot_entry *const made = db_shot_entries_add(list, list->entry[from].name, line);
    if (!made) return db_fail_memory(context, "the lattices of a series");
    const db_shot_entry *const of = &list->entry[from]; /* the list may have moved */
    int complete = 1;
    made->image = of->image;
    memcpy(made->setting, of->setting, sizeof made->setting);
    for (size_t k = 0; k < of->count && complete; k++)
        complete = db_shot_entry_override(made, of->override[k]);
    return db_need_memory(context, complete, "the lattices of a series");
}

/* Gives the frames of a series their crystals: all frames the first one, then all again, as further shots, the next one. Refined
 * models in the list keep their own. own: the first crystal on each setting of the goniometer; NULL: the same on all. */
static db_status orient_series(db_context *context, const db_fit_lattice *own,
                               const search_keys *keys, db_fit_shot_list *list) {
    const size_t shots = list->count;
    for (size_t l = 1; l < list->lattice_count; l++)
        for (size_t i = 0; i < shots; i++) {
            if (list->entry[i].is_config) continue;
            DB_TRY(copy_entry(context, list, i));
            DB_TRY(orient_frame(context, &list->lattice[l], keys, list, list->count - 1));
        }
    for (size_t i = 0; i < shots && list->lattice_count; i++) {
        const size_t setting = list->entry[i].setting[DB_FIT_SETTING_CRYSTAL];
        if (!list->entry[i].is_config)
            DB_TRY(orient_frame(context, own ? &own[setting] : &list->lattice[0], keys, list, i));
    }
    return DB_OK;
}

/* Finds the orientation on each setting of the goniometer by itself: circles are not set as exactly as spots tell. Indices are
 * those of the surest one, which settings without an own one get. lattice: [settings] */
static db_status orient_settings(db_context *context, db_fit_shot_list *list, size_t settings,
                                 size_t *shot, db_fit_lattice *lattice, search_keys *keys) {
    size_t best = settings;
    for (size_t k = 0; k < settings; k++) {
        search_keys own = { .cell = "" };
        size_t count = 0, found;
        for (size_t i = 0; i < list->count; i++)
            if (list->entry[i].setting[DB_FIT_SETTING_CRYSTAL] == k) shot[count++] = i;
        const db_status status =
            find_by_frames(context, list, shot, count, 1, &lattice[k], &found, &own);
        if (status != DB_OK && status != DB_ERROR_INPUT) return status;
        lattice[k].found.log_probability = found ? lattice[k].found.log_probability : 0;
        if (found && (best == settings ||
                      lattice[k].found.log_probability < lattice[best].found.log_probability)) {
            best = k;
            *keys = own;
        }
    }
    for (size_t k = 0; k < settings && best == settings; k++) lattice[k] = list->lattice[0];
    if (best == settings) return DB_OK;
    list->lattice[0] = lattice[best];
    list->lattice_count = 1;
    for (size_t k = 0; k < settings; k++) {
        const db_fit_lattice own = lattice[k];
        lattice[k] = lattice[best];
        if (k == best || !(own.found.log_probability < 0) ||
            db_goniometer_settings_near(context, keys->constants, own.orientation,
                                        lattice[k].orientation))
            continue;
        lattice[k] = own;
        for (size_t i = 0; i < list->count; i++)
            if (list->entry[i].setting[DB_FIT_SETTING_CRYSTAL] == k)
                list->entry[i].setting[DB_FIT_SETTING_INDEXING] = k + 1;
        db_notice(context,
                  "the orientation on setting %zu of the goniometer is not that which its circles "
                  "tell: its reflections may have other, equivalent indices than those of setting "
                  "%zu, which merged and joint intensities compare",
                  k + 1, best + 1);
    }
    return DB_OK;
}

/* Finds the crystals of a series on its frames together, or on the first, if the given spindle angles are wrong. */
static db_status find_crystals(db_context *context, db_fit_shot_list *list, size_t *shot,
                               search_keys *keys) {
    const size_t most =
        list->config.find_orientation > 1 ? (size_t)list->config.find_orientation : 1;
    db_fit_config own = { .image_file = "" };
    for (size_t i = 0; i < list->count; i++) shot[i] = i;
    db_status status = find_by_frames(context, list, shot, list->count, most, list->lattice,
                                      &list->lattice_count, keys);
    if (status != DB_ERROR_INPUT) return status;
    status = db_fit_shot_list_config(context, list, 0, &own);
    if (status == DB_OK)
        status = search_lattices(context, most, &own, list->lattice, &list->lattice_count, keys);
    db_fit_config_clear(&own);
    return status;
}

/* The given orientation of a series, which all its frames have, gets indices that the centring allows. */
static db_status turn_given(db_context *context, db_fit_shot_list *list, size_t *shot) {
    search_keys keys = { .cell = "" };
    db_fit_lattice lattice;
    size_t found;
    if (list->crystal_settings > 1) return DB_OK;
    for (size_t i = 0; i < list->count; i++) {
        if (list->entry[i].is_config || list->entry[i].image != i) return DB_OK;
        shot[i] = i;
    }
    DB_TRY(find_by_frames(context, list, shot, list->count, 0, &lattice, &found, &keys));
    for (size_t i = 0; i < list->count && found; i++)
        DB_TRY(orient_entry(context, &lattice, &keys, &list->entry[i]));
    return DB_OK;
}

static db_status make_series(db_context *context, db_fit_shot_list *list) {
    const size_t settings = list->crystal_settings;
    size_t *const shot = calloc(list->count + 1, sizeof *shot);
    db_fit_lattice *const own = calloc(settings + 1, sizeof *own);
    search_keys keys = { .cell = "" };
    db_status status = db_need_memory(context, shot && own, "the orientation of a series");
    const int asked = list->config.find_orientation || list->config.automatic,
              one = list->config.find_orientation <= 1;
    if (status == DB_OK && asked && settings > 1 && one)
        status = orient_settings(context, list, settings, shot, own, &keys);
    int each = list->lattice_count == 1;
    if (status == DB_OK && asked && !each) status = find_crystals(context, list, shot, &keys);
    if (status == DB_OK && settings > 1 && !one && list->lattice_count == 1) {
        status = orient_settings(context, list, settings, shot, own, &keys);
        each = 1;
    }
    list->sets_anew = list->has_settings && list->lattice_count > 0;
    list->config.find_orientation = 0;
    db_shot_list_share(list, &list->config.settings);
    if (status == DB_OK && !list->lattice_count) status = turn_given(context, list, shot);
    if (status == DB_OK) status = orient_series(context, each ? own : NULL, &keys, list);
    free(shot);
    free(own);
    return status;
}

/* Makes a list without entries. */
static db_status begin_list(db_context *context, const db_fit_config *config,
                            const char *const *overrides, size_t override_count,
                            db_fit_shot_list **list) {
    db_fit_shot_list *const made = calloc(1, sizeof *made);
    *list = made;
    if (!made) return db_fail_memory(context, "a list of shots");
    made->crystal_settings = 1;
    made->override = calloc(override_count + 1, sizeof *made->override);
    db_status status = made->override ? db_fit_config_copy(context, config, &made->config)
                                      : db_fail_memory(context, "a list of shots");
    for (size_t i = 0; i < override_count && status == DB_OK; i++) {
        made->override[i] = strdup(overrides[i]);
        if (!made->override[i]) status = db_fail_memory(context, "a list of shots");
        made->override_count++;
    }
    return status;
}

db_status db_fit_shot_list_read(db_context *context, const db_fit_config *config,
                                const char *const *overrides, size_t override_count,
                                db_fit_shot_list **list) {
    db_status status = begin_list(context, config, overrides, override_count, list);
    if (status == DB_OK) status = db_shot_entries_read(context, config->shot_list, *list);
    if (status == DB_OK && (*list)->count == 0)
        status =
            db_fail(context, DB_ERROR_INPUT, "%s: expected shots, found none", config->shot_list);
    if (status == DB_OK) status = db_shot_list_take_symmetry(context, *list);
    if (status == DB_OK) status = find_images(context, *list);
    if (status == DB_OK) status = refuse_repeats(context, *list);
    if (status == DB_OK && config->series) status = db_goniometer_settings_take(context, *list);
    if (status == DB_OK) status = find_common_cell(context, *list);
    if (status == DB_OK && config->series) status = make_series(context, *list);
    if (status != DB_OK) db_fit_shot_list_destroy(list);
    return status;
}

/* Takes a single image, with intensities as many shots share them. */
static db_status take_image(db_context *context, db_fit_shot_list *list) {
    if (!db_shot_entries_add(list, list->config.image_file, 1))
        return db_fail_memory(context, "the list of shots");
    list->config.image_file[0] = '\0';
    return find_common_cell(context, list);
}

int db_fit_config_has_many(const db_fit_config *config) {
    return *config->shot_list || config->find_orientation > 1 || config->settings.joint.wanted;
}

db_status db_fit_shot_list_find(db_context *context, const db_fit_config *config,
                                const char *const *overrides, size_t override_count,
                                db_fit_shot_list **list) {
    db_status status = begin_list(context, config, overrides, override_count, list);
    if (status == DB_OK)
        status = (config->find_orientation > 1 ? find_lattices : take_image)(context, *list);
    if (status != DB_OK) db_fit_shot_list_destroy(list);
    return status;
}
