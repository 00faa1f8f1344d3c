/* Settings of goniometer and detector on the frames of a series, as files and configurations say. */
#include "fit/lists/goniometer_settings.h"

#include "base/context_internal.h"
#include "base/degree.h"
#include "base/frame_name.h"
#include "base/shot_notices.h"
#include "base/vector.h"
#include "fit/config/listed_experiment.h"
#include "fit/config/config_print.h"
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
    int sought; /* 1: the orientation is to be found, and the file's laboratory may be used */
    int given;  /* 1: the crystal is that of the configuration or list */
    double circles[9], crystal[9]; /* turn by the circles; orientation that is given */
    double spindle[3], normal[3], distance,
        place[2]; /* of the first panel, sideways from the beam (mm) */
} setting;

/* Is there no number of a detector in a laboratory that is not the file's? */
static int takes_place(const db_setup *s) {
    const double numbers[] = { s->beam_centre_px[0], s->beam_centre[0], s->org[0],
                               s->close_point[0],    s->origin[0],      s->pixel_size,
                               s->fast_axis[0],      s->slow_axis[0],   s->spindle_axis[0],
                               s->twotheta };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!isnan(numbers[i])) return 0;
    return s->convention == DB_CONVENTION_MOSFLM && !s->detector_pixels[0] && s->pivot < 0 &&
           !s->curved && !s->compat;
}

/* Does the configuration leave the orientation, the setting of the goniometer, and the place of the detector to search and
 * files? */
static int is_open(const db_fit_config *config) {
    return (config->find_orientation || config->automatic) && config->header_geometry &&
           !*config->matrix_file && isnan(config->orientation[0]) && takes_place(&config->setup) &&
           !db_orientation_has_setting(config);
}

static void take_listed(const db_listed *own, setting *to) {
    to->known = 1;
    to->given = own->content.has_crystal;
    memcpy(to->circles, own->content.circles, sizeof to->circles);
    if (to->given) db_orientation_of(&own->experiment.crystal, to->crystal);
    memcpy(to->spindle, own->experiment.goniometer.spindle_axis, sizeof to->spindle);
    memcpy(to->normal, own->experiment.detector.normal, sizeof to->normal);
    to->distance = own->experiment.detector.distance;
    for (int i = 0; i < 2; i++)
        to->place[i] =
            own->experiment.detector.panels[0].origin[i] - own->experiment.detector.centre[i];
}

/* Images before the first that says how it was taken. After so many the instrument is one that does not say it: they cannot
 * all be damaged. */
enum { MOST_SILENT = 16 };

/* What files of images say: the file that was read last, since frames of one file stand alike. */
typedef struct image_files {
    int silent; /* images that do not say how they were taken, before the first that does */
    char last[DB_FIT_PATH_SIZE];
    setting said;
} image_files;

/* Reads what the experiment list of a frame says, or the image itself. */
static db_status read_setting(db_context *context, const db_fit_config *config, image_files *files,
                              setting *to) {
    const int listed = *config->expt_file != '\0';
    db_expt_selection selection = { .number = -1, .image = config->image_file };
    db_listed own;
    char name[DB_FIT_PATH_SIZE];
    if (!listed && files->silent == MOST_SILENT) return DB_OK;
    if (listed) {
        selection = db_listed_experiment(config);
        snprintf(name, sizeof name, "%s", config->expt_file);
    } else if (db_frame_split(config->image_file, name, sizeof name) > 0 &&
               strcmp(name, files->last) == 0) {
        *to = files->said;
        return DB_OK;
    }
    const db_status status = db_listed_select(context, name, &selection, &own);
    if (status == DB_OK) {
        take_listed(&own, to);
        to->listed = listed;
        db_listed_clear(&own);
    }
    if (!listed && status != DB_OK && status != DB_ERROR_FILE && !files->said.known)
        files->silent++;
    if (!listed && status == DB_OK) {
        snprintf(files->last, sizeof files->last, "%s", name);
        files->said = *to;
    }
    return status == DB_ERROR_MEMORY ? status : DB_OK;
}

/* Each kind of notice is told once, for its first frame. */
static db_status read_settings(db_context *context, const db_fit_shot_list *list, setting *all) {
    image_files files = { .silent = 0 };
    db_shot_notices notices;
    db_status status = DB_OK;
    db_shot_notices_begin(context, &notices);
    for (size_t i = 0; i < list->count && status != DB_ERROR_MEMORY; i++) {
        db_fit_config config = { .image_file = "" };
        db_shot_listener listener = { .notices = &notices, .shot = i, .name = list->entry[i].name };
        db_shot_notices_listen(context, &listener);
        status = db_fit_shot_list_config(context, list, i, &config);
        if (status == DB_OK) status = read_setting(context, &config, &files, &all[i]);
        db_shot_notices_leave(context, &listener);
        if (status == DB_OK) all[i].given |= db_orientation_given(context, &config, all[i].crystal);
        all[i].sought = all[i].known && !all[i].given && status == DB_OK && is_open(&config) &&
                        !list->entry[i].is_config;
        db_fit_config_clear(&config);
    }
    db_shot_notices_tell(&notices, list->count);
    db_shot_notices_clear(&notices);
    return status == DB_ERROR_MEMORY ? status : DB_OK;
}

/* What is compared: orientations, if all are given; else what files say of circles, spindle and detector. */
static int tells_setting(const setting *a, int sought) { return sought ? a->known : a->given; }

/* Is it the same setting? Circles and arms are set anew by more; the orientations and distances of one sweep that was refined
 * frame by frame differ by less. */
static int is_same(const setting *a, const setting *b, int sought, db_fit_setting of) {
    const double turn = 0.5, way = sought ? 5e-4 : 5e-3; /* degree; part of the distance, */
    const double aside = 5e-3; /* and along the detector: headers may follow the beam */
    const int known = a->known && b->known,
              spindle = !known || db_dot(a->spindle, b->spindle) > cos(turn * DB_DEGREE);
    if (of == DB_FIT_SETTING_CRYSTAL)
        return spindle && db_orientation_between(sought ? a->circles : a->crystal,
                                                 sought ? b->circles : b->crystal) < turn;
    if (of == DB_FIT_SETTING_SPINDLE || !known) return spindle;
    return db_dot(a->normal, b->normal) > cos(turn * DB_DEGREE) &&
           fabs(a->distance - b->distance) < way * fabs(a->distance) &&
           hypot(a->place[0] - b->place[0], a->place[1] - b->place[1]) < aside * fabs(a->distance);
}

/* Numbers the settings in the order in which they appear. A frame that says nothing has that of the frame before, or behind.
 * Returns how many there are. */
static size_t number_settings(const setting *all, int sought, db_fit_setting of, size_t *first,
                              db_fit_shot_list *list) {
    size_t count = 0, before = 0;
    for (size_t i = 0; i < list->count; i++) {
        size_t k = 0;
        if (tells_setting(&all[i], sought)) {
            while (k < count && !is_same(&all[first[k]], &all[i], sought, of)) k++;
            if (k == count) first[count++] = i;
            before = k;
        }
        list->entry[i].setting[of] = before;
    }
    return count;
}

static size_t count_fewest(const db_fit_shot_list *list, size_t settings, size_t *frames) {
    size_t fewest = list->count;
    memset(frames, 0, list->count * sizeof *frames);
    for (size_t i = 0; i < list->count; i++)
        frames[list->entry[i].setting[DB_FIT_SETTING_CRYSTAL]]++;
    for (size_t k = 0; k < settings; k++) fewest = frames[k] < fewest ? frames[k] : fewest;
    return fewest;
}

/* Hands an entry what its file says, relative to the first one. */
static db_status take_setting(db_context *context, const setting *first, const setting *own,
                              db_shot_entry *entry) {
    char turn[DB_ORIENTATION_KEY_SIZE], file[DB_FIT_PATH_SIZE], *expt = NULL;
    db_orientation_setting_key(first->circles, own->circles, turn);
    (void)db_frame_split(entry->name, file, sizeof file);
    if (!own->listed) DB_TRY(db_yaml_setting(context, "model.expt", file, &expt));
    const int added =
        db_shot_entry_override(entry, turn) && (!expt || db_shot_entry_override(entry, expt));
    free(expt);
    return db_need_memory(context, added, "the settings of the goniometer");
}

/* Circles that files name, but the configuration leaves no room for. */
static void say_unused(db_context *context, const db_fit_shot_list *list, const setting *all) {
    const setting *first = NULL;
    for (size_t i = 0; i < list->count; i++) {
        if (!all[i].known || all[i].given) continue;
        if (!first) first = &all[i];
        if (is_same(first, &all[i], 1, DB_FIT_SETTING_CRYSTAL)) continue;
        db_notice(context,
                  "%s: the circles of the goniometer stand otherwise than on %s, which is not "
                  "used, because the configuration places the detector itself: leave out the "
                  "pixel size, beam centre, axes and convention, or name the orientation of each "
                  "sweep",
                  list->entry[i].name, list->entry[first - all].name);
        return;
    }
}

db_status db_goniometer_settings_take(db_context *context, db_fit_shot_list *list) {
    setting *const all = calloc(list->count + 1, sizeof *all);
    size_t *const first = calloc(list->count + 1, sizeof *first), from = list->count;
    db_status status = db_need_memory(context, all && first, "the settings of the goniometer");
    if (status == DB_OK) status = read_settings(context, list, all);
    for (size_t i = list->count; i-- > 0 && status == DB_OK;)
        if (all[i].sought) from = i;
    const int sought = from < list->count;
    for (int s = 0; s < DB_FIT_SETTING_INDEXING && status == DB_OK; s++) {
        const size_t count = number_settings(all, sought, (db_fit_setting)s, first, list);
        list->has_settings |= count > 1;
        if (s != DB_FIT_SETTING_CRYSTAL) continue;
        list->crystal_settings = count > 1 ? count : 1;
        list->fewest_frames = count_fewest(list, count, first);
    }
    if (status == DB_OK && !sought && (list->config.find_orientation || list->config.automatic))
        say_unused(context, list, all);
    for (size_t i = from; i < list->count && list->has_settings && status == DB_OK; i++)
        if (all[i].sought) status = take_setting(context, &all[from], &all[i], &list->entry[i]);
    free(all);
    free(first);
    return status;
}

int db_goniometer_settings_near(db_context *context, const double cell[6], const double found[9],
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
        const double off = db_orientation_between(crystal.orientation, orientation);
        if (!(off < nearest)) continue;
        nearest = off;
        memcpy(best, crystal.orientation, sizeof best);
    }
    if (nearest < most) memcpy(orientation, best, sizeof best);
    return nearest < most;
}
