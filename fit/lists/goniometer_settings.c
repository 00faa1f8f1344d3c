/* Settings of goniometer and detector on the frames of a series, as files and configurations say. */
#include "fit/lists/goniometer_settings.h"

#include "base/context_internal.h"
#include "base/degree.h"
#include "base/frame_name.h"
#include "base/vector.h"
#include "fit/config/listed_experiment.h"
#include "fit/config/orientation.h"
#include "fit/merge/indexing.h"

#include <dualbragg/expert/fit_steps.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How crystal, spindle and detector stand on a frame; rotations row-major. */
typedef struct setting {
    int known;  /* 1: a file places spindle and detector, */
    int listed; /* as an experiment list, which the configuration names; 0: the image itself */
    int sought; /* 1: the orientation is to be found; 0: the crystal is that of the configuration or list */
    double crystal[9]; /* turn by the circles; or orientation of the crystal */
    double spindle[3], normal[3], distance;
} setting;

/* Does the configuration leave the orientation, the setting of the goniometer, and the place of the detector to search and
 * files? */
static int is_open(const db_fit_config *config) {
    const db_setup *const s = &config->setup;
    const int open = (config->find_orientation || config->automatic) && config->header_geometry &&
                     !*config->matrix_file && isnan(config->orientation[0]) && isnan(s->distance) &&
                     isnan(s->close_distance) && isnan(s->beam_centre_px[0]) &&
                     isnan(s->beam_centre[0]) && isnan(s->org[0]) && isnan(s->close_point[0]) &&
                     isnan(s->origin[0]);
    return open && !db_orientation_has_setting(config);
}

static void take_listed(const db_fit_config *config, const db_listed *own, setting *to) {
    to->known = 1;
    to->sought = !own->content.has_crystal && is_open(config);
    memcpy(to->crystal, own->content.circles, sizeof to->crystal);
    if (own->content.has_crystal) db_orientation_of(&own->experiment.crystal, to->crystal);
    memcpy(to->spindle, own->experiment.goniometer.spindle_axis, sizeof to->spindle);
    memcpy(to->normal, own->experiment.detector.normal, sizeof to->normal);
    to->distance = own->experiment.detector.distance;
}

/* Reads what the experiment list of a frame says, or the image itself. *file: where the setting before came from; an image of
 * the same file has the same. */
static db_status read_setting(db_context *context, const db_fit_config *config,
                              const setting *before, char file[DB_FIT_PATH_SIZE], setting *to) {
    const int listed = *config->expt_file != '\0';
    db_expt_selection selection = { .number = -1, .image = config->image_file };
    db_listed own;
    char name[DB_FIT_PATH_SIZE];
    if (listed) {
        selection = db_listed_experiment(config);
        snprintf(name, sizeof name, "%s", config->expt_file);
    } else if (db_frame_split(config->image_file, name, sizeof name) > 0 &&
               strcmp(name, file) == 0) {
        *to = *before;
        return DB_OK;
    }
    snprintf(file, DB_FIT_PATH_SIZE, "%s", listed ? "" : name);
    const db_status status = db_listed_select(context, name, &selection, &own);
    if (status != DB_OK) return status == DB_ERROR_MEMORY ? status : DB_OK;
    take_listed(config, &own, to);
    to->listed = listed;
    db_listed_clear(&own);
    return DB_OK;
}

/* What the configuration says of the crystal. */
static void take_orientation(const db_fit_config *config, setting *to) {
    if (isnan(config->orientation[0])) return;
    to->sought = 0;
    memcpy(to->crystal, config->orientation, sizeof to->crystal);
}

static db_status read_settings(db_context *context, const db_fit_shot_list *list, setting *all) {
    char file[DB_FIT_PATH_SIZE] = "";
    int placed = 1; /* 0: images of the instrument do not say how they were taken */
    for (size_t i = 0; i < list->count; i++) {
        db_fit_config config = { .image_file = "" };
        all[i] = (setting){ .crystal = { 1, 0, 0, 0, 1, 0, 0, 0, 1 } };
        db_status status = db_fit_shot_list_config(context, list, i, &config);
        if (status == DB_OK && (placed || *config.expt_file))
            status = read_setting(context, &config, &all[i > 0 ? i - 1 : 0], file, &all[i]);
        if (status == DB_OK) take_orientation(&config, &all[i]);
        placed &= i > 0 || all[i].known;
        db_fit_config_clear(&config);
        if (status == DB_ERROR_MEMORY) return status;
    }
    return DB_OK;
}

static double angle_between(const double a[9], const double b[9]) {
    double trace = 0;
    for (int i = 0; i < 9; i++) trace += a[i] * b[i];
    return acos(fmin(fmax(0.5 * (trace - 1), -1), 1)) / DB_DEGREE;
}

/* Is it the same setting? Circles and arms are set anew by more; the orientations of one sweep that was refined frame by frame
 * differ by less. */
static int is_same(const setting *a, const setting *b, db_fit_setting of) {
    const double turn = 0.5, way = 0.005; /* degree; part of the distance */
    const int known = a->known && b->known,
              spindle = !known || db_dot(a->spindle, b->spindle) > cos(turn * DB_DEGREE);
    if (of == DB_FIT_SETTING_CRYSTAL)
        return spindle && angle_between(a->crystal, b->crystal) < turn;
    if (of == DB_FIT_SETTING_SPINDLE || !known) return spindle;
    return db_dot(a->normal, b->normal) > cos(turn * DB_DEGREE) &&
           fabs(a->distance - b->distance) < way * fabs(a->distance);
}

/* Numbers the settings in the order in which they appear. Returns how many there are. */
static size_t number_settings(const setting *all, db_fit_setting of, size_t *first,
                              db_fit_shot_list *list) {
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        size_t k = 0;
        while (k < count && !is_same(&all[first[k]], &all[i], of)) k++;
        if (k == count) first[count++] = i;
        list->entry[i].setting[of] = k;
    }
    return count;
}

static db_status take_setting(db_context *context, const setting *first, const setting *own,
                              db_shot_entry *entry) {
    char turn[DB_ORIENTATION_KEY_SIZE], expt[DB_FIT_PATH_SIZE + 20], file[DB_FIT_PATH_SIZE];
    db_orientation_setting_key(first->crystal, own->crystal, turn);
    (void)db_frame_split(entry->name, file, sizeof file);
    snprintf(expt, sizeof expt, "model.expt=%s", file);
    return db_need_memory(context,
                          db_shot_entry_override(entry, turn) &&
                              (own->listed || db_shot_entry_override(entry, expt)),
                          "the settings of the goniometer");
}

static size_t count_fewest(const db_fit_shot_list *list, size_t settings, size_t *frames) {
    size_t fewest = list->count;
    memset(frames, 0, settings * sizeof *frames);
    for (size_t i = 0; i < list->count; i++)
        frames[list->entry[i].setting[DB_FIT_SETTING_CRYSTAL]]++;
    for (size_t k = 0; k < settings; k++) fewest = frames[k] < fewest ? frames[k] : fewest;
    return fewest;
}

db_status db_goniometer_settings_take(db_context *context, db_fit_shot_list *list) {
    setting *const all = calloc(list->count + 1, sizeof *all);
    size_t *const first = calloc(list->count + 1, sizeof *first), most = 1;
    db_status status = db_need_memory(context, all && first, "the settings of the goniometer");
    if (status == DB_OK) status = read_settings(context, list, all);
    for (int s = 0; s < DB_FIT_SETTINGS && status == DB_OK; s++) {
        const size_t count = number_settings(all, (db_fit_setting)s, first, list);
        most = count > most ? count : most;
        if (s == DB_FIT_SETTING_CRYSTAL) list->fewest_frames = count_fewest(list, count, first);
    }
    for (size_t i = 0; i < list->count && most > 1 && status == DB_OK; i++)
        if (all[i].known && all[i].sought && all[0].sought && !list->entry[i].is_config)
            status = take_setting(context, &all[0], &all[i], &list->entry[i]);
    free(all);
    free(first);
    return status;
}

size_t db_goniometer_settings_count(const db_fit_shot_list *list) {
    size_t count = 1;
    for (size_t i = 0; i < list->count; i++) {
        const size_t number = list->entry[i].setting[DB_FIT_SETTING_CRYSTAL];
        if (number >= count) count = number + 1;
    }
    return count;
}

void db_goniometer_settings_near(db_context *context, const double cell[6], const double found[9],
                                 double orientation[9]) {
    const double most = 5; /* degree: circles of measured sweeps were wrong by 0.8 */
    static const db_space_group none = { .number = 1, .centring_count = 1 };
    double nearest = most, best[9];
    db_indexings ways;
    db_indexings_find(cell, &none, DB_INDEXING_STRAIN, &ways);
    for (int w = 0; w < ways.count; w++) {
        db_crystal crystal = { .cell = { 0 } };
        memcpy(crystal.cell, cell, sizeof crystal.cell);
        memcpy(crystal.orientation, found, sizeof crystal.orientation);
        if (db_indexing_turn(context, &ways.way[w], &crystal) != DB_OK) continue;
        const double off = angle_between(crystal.orientation, orientation);
        if (!(off < nearest)) continue;
        nearest = off;
        memcpy(best, crystal.orientation, sizeof best);
    }
    if (nearest < most) memcpy(orientation, best, sizeof best);
}
