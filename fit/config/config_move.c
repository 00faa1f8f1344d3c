/* File names of a configuration: of its outputs, and relative names rewritten for another folder. */
#include "fit/config/config_move.h"

#include "base/context_internal.h"
#include "base/frame_name.h"
#include "base/path.h"
#include "fit/config/input_files.h"

#include <dualbragg/expert/fit_quantities.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

db_status db_fit_complete_output_prefix(db_context *context, db_fit_config *config) {
    const size_t used = strlen(config->output_prefix), room = sizeof config->output_prefix - used;
    if (used && config->output_prefix[used - 1] != '/') return DB_OK;
    char file[DB_FIT_PATH_SIZE], number[24] = "";
    const long image = db_frame_split(config->config_file, file, sizeof file); /* without a file */
    const char *const name = db_file_name(file);
    const char *const dot = strrchr(name, '.');
    const size_t length = dot && dot != name ? (size_t)(dot - name) : strlen(name);
    if (image > 0) snprintf(number, sizeof number, "_%ld", image);
    if (snprintf(config->output_prefix + used, room, "%.*s%s_refined", (int)length, name, number) <
        (int)room)
        return DB_OK;
    return db_fail(context, DB_ERROR_USAGE, "%s: the file name is too long", config->config_file);
}

/* Rewrites a file name for a configuration in another folder: names are relative to it. */
static db_status rename_from(db_context *context, const char *yaml_path,
                             char name[DB_FIT_PATH_SIZE]) {
    if (!*name || *name == '/') return DB_OK;
    const size_t folder = db_folder_length(yaml_path), own = db_folder_length(name);
    if (folder == own && memcmp(yaml_path, name, folder) == 0) {
        memmove(name, name + own, strlen(name + own) + 1);
        return DB_OK;
    }
    char *const whole = db_whole_path(name);
    const int fits = whole && strlen(whole) < DB_FIT_PATH_SIZE;
    if (fits) memcpy(name, whole, strlen(whole) + 1);
    free(whole);
    if (!fits) return db_fail(context, DB_ERROR_FILE, "%s: cannot be found any more", name);
    return DB_OK;
}

static db_status rename_curve_file(void *user, db_context *context, char name[DB_FIT_PATH_SIZE]) {
    return rename_from(context, user, name);
}

/* "PREFIX.expt" for "PREFIX.yaml". */
static db_status name_list(db_context *context, const char *yaml_path,
                           char name[DB_FIT_PATH_SIZE]) {
    const size_t length = strlen(yaml_path), folder = db_folder_length(yaml_path);
    const size_t stem =
        length > 5 && strcmp(yaml_path + length - 5, ".yaml") == 0 ? length - 5 : length;
    const int size =
        snprintf(name, DB_FIT_PATH_SIZE, "%.*s.expt", (int)(stem - folder), yaml_path + folder);
    return size < DB_FIT_PATH_SIZE
               ? DB_OK
               : db_fail(context, DB_ERROR_USAGE, "%s: the name is too long", yaml_path);
}

db_status db_fit_config_move_names(db_context *context, const char *path, db_fit_config *config) {
    char *const names[] = { config->image_file,      config->hkl_file,  config->spectrum_file,
                            config->mask_file,       config->spot_file, config->hot_pixel_file,
                            config->reflection_file, config->box_file,  config->reference_file,
                            config->matrix_file,     config->expt_file };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        DB_TRY(rename_from(context, path, names[i]));
    return db_fit_each_curve_file(context, config->sites, rename_curve_file,
                                  (void *)(uintptr_t)path);
}

db_status db_fit_config_move(db_context *context, const char *path, db_fit_config *config) {
    DB_TRY(db_fit_config_move_names(context, path, config));
    return *config->expt_file ? name_list(context, path, config->expt_file) : DB_OK;
}

/* Value that a refinement found for a quantity; NAN: not refined, or each shot has its own. */
static double value_found(const db_fit_estimates *found, const char *name) {
    for (size_t i = 0; i < found->count; i++)
        if (strcmp(found->list[i].name, name) == 0) return found->list[i].value;
    return NAN;
}

void db_fit_settings_count_from(const db_fit_estimates *found, db_fit_settings *settings) {
    for (size_t i = 0; i < settings->parameter_count; i++) {
        db_fit_parameter *const p = &settings->parameters[i];
        char name[DB_FIT_NAME_SIZE];
        db_fit_quantity_name(&settings->panel_groups, db_fit_quantity_of(p), name);
        const double moved = p->group < 0 ? 0 : value_found(found, name);
        if (isnan(moved)) continue;
        p->lower -= moved;
        p->upper -= moved;
        p->prior[0] -= moved;
    }
}
