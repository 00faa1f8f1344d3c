/* Reads lists of reflections that get shoeboxes: from files, and of a configuration. */
#include "fit/config/detector_modules.h"
#include "fit/config/listed_experiment.h"
#include "base/context_internal.h"
#include "base/growth.h"
#include "base/text_reader.h"
#include "fit/pixels/predict.h"

#include <dualbragg/io.h>
#include <dualbragg/expert/file_kind.h>
#include <dualbragg/expert/fit_steps.h>
#include <dualbragg/expert/listed_shots.h>
#include <dualbragg/expert/reflection_tables.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static db_status append_spot(db_context *context, db_fit_spots *spots, size_t *room,
                             const db_fit_spot *spot) {
    DB_GROW(context, spots->spot, *room, spots->count + 1, "the list of spots");
    spots->spot[spots->count++] = *spot;
    return DB_OK;
}

enum { MOST_NUMBERS = 8, LARGEST_BOX = 201 };

/* Numbers of a line, 0 if there are none. Words beyond the last column are ignored; -1: another word is no number. */
static int numbers_of(const char *line, int columns, double value[MOST_NUMBERS]) {
    int count = 0;
    for (int i = 0; i < MOST_NUMBERS; i++) value[i] = 0;
    while (count < columns) {
        const db_word word = db_next_word(&line, DB_WHITE_SPACE ",");
        if (word.length == 0) break;
        if (!db_word_number(word, &value[count])) return -1;
        count++;
    }
    return count;
}

static int are_whole(const double *value, int count) {
    for (int i = 0; i < count; i++)
        if (value[i] != rint(value[i]) || !(fabs(value[i]) < 1e6)) return 0;
    return 1;
}

static int is_box(const int box[4]) {
    for (int i = 0; i < 4; i += 2)
        if (box[i] < 0 || box[i + 1] < box[i] || box[i + 1] - box[i] >= LARGEST_BOX) return 0;
    return 1;
}

static db_status bad_line(db_context *context, const db_text *text, const char *expected) {
    return db_fail(context, DB_ERROR_INPUT, "%s:%zu: expected %s, found '%.60s'", text->path,
                   text->line_number, expected, text->line);
}

static db_status read_box(db_context *context, const db_text *text, int count,
                          const double value[MOST_NUMBERS], db_fit_spot *spot) {
    const int complete = (count == 5 || count == 8) && are_whole(value, count) && value[0] >= 0;
    for (int i = 0; i < 4 && complete; i++) spot->box[i] = (int)value[1 + i];
    if (!complete || !is_box(spot->box))
        return bad_line(context, text,
                        "panel fast_min fast_max slow_min slow_max, at most 201 pixels wide, and "
                        "perhaps h k l");
    spot->panel = (size_t)value[0];
    for (int i = 0; i < 3; i++) spot->hkl[i] = (int)value[5 + i];
    return DB_OK;
}

static db_status read_line(db_context *context, const db_text *text, db_fit_listing listing,
                           db_fit_spot *spot) {
    double value[MOST_NUMBERS];
    const int columns = listing == DB_FIT_LISTED_BY_BOX ? MOST_NUMBERS : 3,
              count = numbers_of(text->line, columns, value);
    *spot = (db_fit_spot){ .panel = 0 };
    if (listing == DB_FIT_LISTED_BY_BOX) return read_box(context, text, count, value, spot);
    if (listing == DB_FIT_LISTED_BY_INDEX) {
        if (count < 3 || !are_whole(value, 3))
            return bad_line(context, text, "three whole numbers h k l");
        for (int i = 0; i < 3; i++) spot->hkl[i] = (int)value[i];
        return DB_OK;
    }
    if (count < 2 || !are_whole(value + 2, 1) || value[2] < 0)
        return bad_line(context, text, "fast slow, and perhaps the number of a panel");
    for (int i = 0; i < 2; i++) spot->position[i] = value[i];
    spot->panel = (size_t)value[2];
    return DB_OK;
}

static db_status read_list(db_context *context, db_text *text, db_fit_spots *spots) {
    size_t room = 0;
    while (db_text_next_line(text)) {
        db_fit_spot spot;
        DB_TRY(read_line(context, text, spots->listing, &spot));
        DB_TRY(append_spot(context, spots, &room, &spot));
    }
    if (spots->count) return DB_OK;
    return db_fail(context, DB_ERROR_INPUT, "%s: expected lines of reflections, found none",
                   text->path);
}

/* Selects the experiment whose reflections count, unless it is given: the only one. */
static db_status choose_experiment(db_context *context, const char *path,
                                   const db_reflection_table *table, int *experiment) {
    int least = INT_MAX, most = -1;
    if (!table->experiment || *experiment >= 0) return DB_OK;
    for (size_t i = 0; i < table->count; i++) {
        const int id = table->experiment[i];
        if (id < 0) continue;
        least = id < least ? id : least;
        most = id > most ? id : most;
    }
    if (most > least)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: reflections of experiments %d to %d; expected reflections of one "
                       "experiment, or an experiment list in the model",
                       path, least, most);
    *experiment = most;
    return DB_OK;
}

static db_status bad_row(db_context *context, const char *path, size_t row, const char *what) {
    return db_fail(context, DB_ERROR_INPUT, "%s: row %zu: %s", path, row, what);
}

/* Takes a row of a table. */
static db_status take_row(db_context *context, const char *path, const db_reflection_table *table,
                          size_t row, db_fit_listing listing, db_fit_spot *spot) {
    *spot = (db_fit_spot){ .panel = 0 };
    if (listing != DB_FIT_LISTED_BY_POSITION && table->hkl)
        memcpy(spot->hkl, table->hkl[row], sizeof spot->hkl);
    if (listing == DB_FIT_LISTED_BY_INDEX) return DB_OK;
    spot->panel = table->panel[row];
    if (spot->panel >= 1000000) return bad_row(context, path, row, "no such panel");
    if (listing == DB_FIT_LISTED_BY_BOX) {
        /* ends are exclusive */
        for (int i = 0; i < 4; i++) spot->box[i] = table->box[row][i] - i % 2;
        if (is_box(spot->box)) return DB_OK;
        return bad_row(context, path, row, "bbox is no box of at most 201 pixels in width");
    }
    for (int i = 0; i < 2; i++) spot->position[i] = table->position[row][i];
    if (isfinite(spot->position[0]) && isfinite(spot->position[1])) return DB_OK;
    return bad_row(context, path, row, "position is not finite");
}

static int has_columns(const db_reflection_table *table, db_fit_listing listing) {
    switch (listing) {
    case DB_FIT_LISTED_BY_INDEX: return table->hkl != NULL;
    case DB_FIT_LISTED_BY_POSITION: return table->position && table->panel;
    default: return table->box && table->panel;
    }
}

static const char *const columns[] = {
    [DB_FIT_LISTED_BY_INDEX] = "miller_index (of indexed reflections)",
    [DB_FIT_LISTED_BY_POSITION] = "xyzobs.px.value and panel (of observed spots)",
    [DB_FIT_LISTED_BY_BOX] = "bbox and panel (of shoeboxes)",
};

static int is_indexed(const db_fit_spot *spot) {
    return spot->hkl[0] || spot->hkl[1] || spot->hkl[2];
}

static db_status read_table(db_context *context, const char *path, const db_reflection_table *table,
                            int experiment, db_fit_spots *spots) {
    size_t room = 0;
    if (!has_columns(table, spots->listing))
        return db_fail(context, DB_ERROR_INPUT, "%s: expected a reflection table with %s", path,
                       columns[spots->listing]);
    DB_TRY(choose_experiment(context, path, table, &experiment));
    for (size_t i = 0; i < table->count; i++) {
        db_fit_spot spot;
        if (table->experiment && table->experiment[i] != experiment) continue;
        DB_TRY(take_row(context, path, table, i, spots->listing, &spot));
        if (spots->listing == DB_FIT_LISTED_BY_INDEX && !is_indexed(&spot)) continue;
        DB_TRY(append_spot(context, spots, &room, &spot));
    }
    if (spots->count) return DB_OK;
    return db_fail(context, DB_ERROR_INPUT, "%s: expected reflections of experiment %d, found none",
                   path, experiment);
}

static db_status read_reflections(db_context *context, const char *path,
                                  const db_file_content *content, int experiment,
                                  const char *identifier, db_fit_spots *spots) {
    db_reflection_table table;
    DB_TRY(db_reflection_table_read(context, path, content->bytes, content->size, &table));
    experiment = db_reflection_table_number(&table, experiment, identifier);
    const db_status status = read_table(context, path, &table, experiment, spots);
    db_reflection_table_clear(&table);
    return status;
}

static db_status read_text(db_context *context, const char *path, const db_file_kind *kind,
                           db_fit_spots *spots) {
    db_text text;
    if (*kind->label && !kind->uncertain && !(kind->holds & DB_HOLDS_SPOTS))
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: expected a list of spots (lines of numbers, or .refl of DIALS), found "
                       "%s",
                       path, kind->name);
    DB_TRY(db_text_open(context, path, &text));
    const db_status status = read_list(context, &text, spots);
    db_text_close(&text);
    return status;
}

static db_status read_stream(db_context *context, const char *path,
                             const db_expt_selection *selection, db_fit_spots *spots) {
    db_reflection_table table;
    if (spots->listing != DB_FIT_LISTED_BY_POSITION)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: expected a reflection table or lines of numbers, found a stream of "
                       "CrystFEL, whose peaks serve data.spots",
                       path);
    DB_TRY(db_read_stream_spots(context, path, selection, &table));
    const db_status status = read_table(context, path, &table, 0, spots);
    db_reflection_table_clear(&table);
    return status;
}

static db_status read_content(db_context *context, const char *path,
                              const db_expt_selection *selection, const char *identifier,
                              db_fit_spots *spots) {
    db_file_content content;
    db_file_kind kind;
    DB_TRY(db_recognize_file(context, path, &kind));
    if (strcmp(kind.label, ".stream") == 0) /* the file may be larger than the memory */
        return read_stream(context, path, selection, spots);
    DB_TRY(db_file_content_read(context, path, &content));
    const db_status status =
        db_is_reflection_table(content.bytes, content.size)
            ? read_reflections(context, path, &content, (int)selection->number, identifier, spots)
            : read_text(context, path, &kind, spots);
    db_file_content_clear(&content);
    return status;
}

/* Reads spots of a file. identifier: of the experiment; "": none, or unknown. */
static db_status read_spots(db_context *context, const char *path, db_fit_listing listing,
                            const db_expt_selection *selection, const char *identifier,
                            db_fit_spots *spots) {
    *spots = (db_fit_spots){ .listing = listing };
    const db_status status = read_content(context, path, selection, identifier, spots);
    if (status != DB_OK)
        db_fit_spots_clear(spots);
    else if (listing == DB_FIT_LISTED_BY_INDEX)
        qsort(spots->spot, spots->count, sizeof *spots->spot, db_spots_by_hkl);
    return status;
}

db_status db_fit_spots_read(db_context *context, const char *path, db_fit_listing listing,
                            int experiment, db_fit_spots *spots) {
    const db_expt_selection selection = { .number = experiment };
    return read_spots(context, path, listing, &selection, "", spots);
}

void db_fit_spots_clear(db_fit_spots *spots) {
    free(spots->spot);
    memset(spots, 0, sizeof *spots);
}

/* Place of a spot. */
static void place_of(const db_fit_spots *spots, const db_fit_spot *spot, double at[2]) {
    for (int i = 0; i < 2; i++)
        at[i] = spots->listing == DB_FIT_LISTED_BY_POSITION
                    ? spot->position[i]
                    : 0.5 * (spot->box[2 * i] + spot->box[2 * i + 1] + 1);
}

/* Moves a place of the whole array onto a panel; 0: it is not there. Boxes end with their panel. */
static int onto_panel(const db_panel *panel, const double at[2], db_fit_spot *spot) {
    const int size[2] = { panel->fast_pixels, panel->slow_pixels };
    for (int i = 0; i < 2; i++) {
        const int first = panel->image_offset[i];
        if (!(at[i] >= first && at[i] < first + size[i])) return 0;
    }
    for (int i = 0; i < 2; i++) {
        int *const box = &spot->box[2 * i];
        spot->position[i] -= panel->image_offset[i];
        for (int end = 0; end < 2; end++) {
            box[end] -= panel->image_offset[i];
            if (box[end] < 0) box[end] = 0;
            if (box[end] >= size[i]) box[end] = size[i] - 1;
        }
    }
    return 1;
}

/* Lists of the image as one array have everything on panel 0. Spots in gaps between panels are removed. */
static void onto_panels(const db_detector *detector, db_fit_spots *spots) {
    size_t kept = 0;
    if (spots->listing == DB_FIT_LISTED_BY_INDEX || !db_detector_is_one_array(detector)) return;
    for (size_t i = 0; i < spots->count; i++) {
        db_fit_spot spot = spots->spot[i];
        double at[2];
        int there = spot.panel != 0;
        place_of(spots, &spot, at);
        for (size_t p = 0; p < detector->panel_count && !there; p++) {
            there = onto_panel(&detector->panels[p], at, &spot);
            if (there) spot.panel = p;
        }
        if (there) spots->spot[kept++] = spot;
    }
    spots->count = kept;
}

static db_status read_of_list(db_context *context, const db_fit_config *config, const char *path,
                              db_fit_spots *spots, db_listed *listed) {
    int cut;
    DB_TRY(db_fit_cut_detector(context, config, &listed->experiment, NULL, &cut));
    const db_expt_selection own = { listed->content.number, db_listed_experiment(config).image, 0 };
    DB_TRY(read_spots(context, path, spots->listing, &own, listed->content.identifier, spots));
    onto_panels(&listed->experiment.detector, spots);
    return DB_OK;
}

db_status db_fit_config_read_spots(db_context *context, const db_fit_config *config,
                                   db_fit_spots *spots) {
    const db_fit_listing listing = *config->box_file    ? DB_FIT_LISTED_BY_BOX
                                   : *config->spot_file ? DB_FIT_LISTED_BY_POSITION
                                                        : DB_FIT_LISTED_BY_INDEX;
    const char *const path = listing == DB_FIT_LISTED_BY_BOX        ? config->box_file
                             : listing == DB_FIT_LISTED_BY_POSITION ? config->spot_file
                                                                    : config->reflection_file;
    db_listed listed;
    *spots = (db_fit_spots){ .listing = listing };
    if (!*path) return DB_OK;
    const db_expt_selection bare = { -1, db_listed_experiment(config).image, 0 };
    if (!*config->expt_file) return read_spots(context, path, listing, &bare, "", spots);
    DB_TRY(db_listed_read(context, config, &listed));
    const db_status status = read_of_list(context, config, path, spots, &listed);
    db_listed_clear(&listed);
    return status;
}
