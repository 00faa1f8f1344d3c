/* Refined models of shots: configurations and experiment lists. */
#include "base/context_internal.h"
#include "base/json_memory.h"
#include "base/json_reader.h"
#include "base/path.h"
#include "fit/config/input_files.h"
#include "fit/config/config_move.h"
#include "fit/config/listed_experiment.h"
#include "fit/config/quantity.h"
#include "fit/report/refined_config.h"
#include "fit/report/result_fields.h"
#include "fit/lists/join_scan.h"
#include "fit/lists/shot_list.h"
#include "fit/verdict/verdict_tests.h"
#include "base/text_stream.h"

#include <dualbragg/expert/fit_configurations.h>
#include <dualbragg/expert/fit_files.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void db_fit_shots_model_name(const db_fit_shots_result *result, size_t shot,
                             char name[DB_FIT_PATH_SIZE]) {
    db_shots_model_name(result->shot[shot].name, shot, result->shot_count, name);
}

db_status db_shots_path(db_context *context, const char *folder, const db_fit_shots_result *result,
                        size_t shot, const char *ending, char path[DB_FIT_PATH_SIZE]) {
    char name[DB_FIT_PATH_SIZE];
    db_fit_shots_model_name(result, shot, name);
    return snprintf(path, DB_FIT_PATH_SIZE, "%s/%s%s", folder, name, ending) < DB_FIT_PATH_SIZE
               ? DB_OK
               : db_fail(context, DB_ERROR_USAGE, "%s: the folder's name is too long", folder);
}

/* A shot with its result. */
typedef struct refined_shot {
    const db_fit_shots_result *all;
    const db_fit_result *shot;
} refined_shot;

static void print_shot(FILE *stream, const void *of) {
    const refined_shot *const s = of;
    fprintf(stream,
            "# dualbragg %s: one of %zu shots refined together\n# %s%s\n# chi2 per degree of "
            "freedom %.4f -> %.4f on %zu pixels\n\n",
            db_version(), s->all->used,
            s->all->status == DB_OK ? "" : "NOT CONVERGED: ", s->all->reason,
            s->shot->before.chi2_reduced, s->shot->after.chi2_reduced, s->shot->after.pixels);
}

/* Removes joint intensities: a shot alone has its own intensities, which its scale would only multiply. */
static void leave_intensities(db_fit_settings *settings) {
    size_t kept = 0;
    settings->joint.wanted = 0;
    for (size_t i = 0; i < settings->parameter_count; i++)
        if (settings->intensity == DB_FIT_KNOWN || settings->parameters[i].parameter != DB_SCALE)
            settings->parameters[kept++] = settings->parameters[i];
    settings->parameter_count = kept;
}

static db_status write_list_of_one(db_context *context, const char *path,
                                   const db_fit_config *config, const db_shot_entry *entry,
                                   const db_experiment *model) {
    char *const whole = db_whole_path(config->image_file);
    const db_expt_image image = { .path = whole ? whole : config->image_file,
                                  .pedestal = entry->pedestal,
                                  .gain = entry->gain,
                                  .trusted = { entry->trusted[0], entry->trusted[1] },
                                  .space_group = db_listed_group(config) };
    const db_status status = db_write_expt(context, path, model, &image);
    free(whole);
    return status;
}

db_status db_fit_shots_write_model(db_context *context, const char *folder,
                                   const db_fit_shot_list *list, const db_fit_shots_result *result,
                                   size_t shot) {
    char path[DB_FIT_PATH_SIZE];
    const refined_shot refined = { result, &result->shot[shot] };
    const db_experiment *const model = &refined.shot->experiment;
    if (model->oversample == 0)
        return db_fail(context, DB_ERROR_USAGE, "%s: another process has its model",
                       result->shot[shot].name);
    db_fit_config config = { .image_file = "" };
    db_status status = db_shot_list_completed(context, list, shot, &config);
    leave_intensities(&config.settings);
    if (status == DB_OK) status = db_shots_path(context, folder, result, shot, ".expt", path);
    if (status == DB_OK)
        status = write_list_of_one(context, path, &config, &list->entry[shot], model);
    if (status == DB_OK) status = db_config_keep_list(context, &config, path);
    if (status == DB_OK) status = db_shots_path(context, folder, result, shot, ".yaml", path);
    if (status == DB_OK)
        status =
            db_refined_config_write(context, path, &config, refined.shot, print_shot, &refined);
    db_fit_config_clear(&config);
    return status;
}

/* Path relative to another file: without their common folder. */
static const char *seen_from(const char *beside, const char *path) {
    const size_t folder = db_folder_length(beside);
    return strncmp(beside, path, folder) == 0 ? path + folder : path;
}

/* Prints a name for a list: in quotes if it has characters with another meaning. */
static void print_name(FILE *stream, const char *name) {
    const char *const quote = strpbrk(name, " \t=[]{}'") ? "\"" : "";
    fprintf(stream, "%s%s%s\n", quote, name, quote);
}

db_status db_fit_shots_write_list(db_context *context, const char *path, const char *folder,
                                  const db_fit_shots_result *result) {
    db_text_stream text;
    DB_TRY(db_text_stream_open(context, &text));
    fprintf(text.stream, "# dualbragg %s: refined models of %zu of %zu shots%s%s\n", db_version(),
            result->used, result->shot_count, result->status == DB_OK ? "" : "; ",
            result->status == DB_OK ? "" : result->reason);
    db_status status = DB_OK;
    for (size_t s = 0; s < result->shot_count && status == DB_OK; s++) {
        const db_fit_result *const shot = &result->shot[s];
        char model[DB_FIT_PATH_SIZE];
        status = db_shots_path(context, folder, result, s, ".yaml", model);
        if (shot->used)
            print_name(text.stream, seen_from(path, model));
        else
            fprintf(text.stream, "# excluded: %s: %s\n", shot->name, shot->reason);
    }
    return db_text_stream_write(context, &text, status, path);
}

static void print_shots(FILE *stream, const void *of) {
    const db_fit_shots_result *const result = of;
    fprintf(stream, "# dualbragg %s: %zu shots refined together\n# %s%s\n\n", db_version(),
            result->used, db_verdict_heading(result->status, db_verdict_of_all(result)),
            result->reason);
}

/* Names the curves that are written beside the configuration, instead of those of the start. */
static db_status name_curves(db_context *context, const char *path, db_fit_config *all,
                             db_setup_sites *kinds) {
    const size_t folder = db_folder_length(path), length = strlen(path),
                 stem = length > 5 && strcmp(path + length - 5, ".yaml") == 0 ? length - 5 : length;
    kinds->count = 0;
    if (!db_fit_refines_curves(&all->settings)) return DB_OK;
    DB_TRY(db_setup_read_sites(context, all->sites, kinds));
    for (int k = 0; k < kinds->count; k++)
        if (snprintf(kinds->kind[k].curve, sizeof kinds->kind[k].curve, "%.*s_curve%d.tsv",
                     (int)(stem - folder), path + folder, k + 1) >= DB_SITE_CURVE_NAME)
            return db_fail(context, DB_ERROR_USAGE, "%s: the names of its curves are too long",
                           path);
    return db_fit_write_sites(context, kinds, all->sites);
}

/* Writes these curves. */
static db_status write_curves(db_context *context, const char *path, const db_fit_config *config,
                              const db_setup_sites *kinds, const db_fit_shots_result *result) {
    db_status status = DB_OK;
    for (int k = 0; k < kinds->count && status == DB_OK; k++) {
        char *const file = db_path_beside(path, kinds->kind[k].curve);
        status = file ? db_write_found_curve(context, file, config, &result->estimates, (size_t)k)
                      : db_fail_memory(context, path);
        free(file);
    }
    return status;
}

db_status db_fit_shots_write_yaml(db_context *context, const char *path, const char *list,
                                  const db_fit_config *config, const db_fit_shots_result *result) {
    db_fit_config all;
    db_setup_sites kinds;
    DB_TRY(db_fit_config_copy(context, config, &all));
    all.output_prefix[0] = '\0';
    db_fit_settings_count_from(&result->estimates, &all.settings);
    snprintf(all.shot_list, sizeof all.shot_list, "%s", seen_from(path, list));
    db_status status = db_fit_config_move_names(context, path, &all);
    if (status == DB_OK) status = name_curves(context, path, &all, &kinds);
    if (status == DB_OK) status = write_curves(context, path, config, &kinds, result);
    if (status == DB_OK) status = db_config_write(context, path, &all, print_shots, result);
    db_fit_config_clear(&all);
    return status;
}

/* Joins the experiment lists of shots: equal models occur once, and frames of one scan are one experiment. */

/* Number of a model in a list; appends it unless the last one is equal; -1: no memory. */
static json_int_t place_of(json_t *list, json_t *model) {
    const size_t count = json_array_size(list);
    if (count && json_equal(json_array_get(list, count - 1), model)) return (json_int_t)count - 1;
    return json_array_append(list, model) == 0 ? (json_int_t)count : -1;
}

/* The joined list. */
typedef struct joined_list {
    size_t failures; /* failed allocations before */
    json_t *whole, *identifiers;
} joined_list;

/* Drops a repeated identifier: frames of a scan have one, but in a list an identifier names one experiment. */
static void drop_known_identifier(json_t *known, json_t *experiment) {
    const char *const own = json_string_value(json_object_get(experiment, "identifier"));
    if (!own || !*own) return;
    if (json_object_get(known, own))
        json_object_set_new(experiment, "identifier", json_string(""));
    else
        json_object_set_new(known, own, json_true());
}

/* List of a kind of models; NULL: no memory. */
static json_t *models_of(json_t *whole, const char *kind) {
    json_t *const list = json_object_get(whole, kind);
    if (list) return list;
    return json_object_set_new(whole, kind, json_array()) == 0 ? json_object_get(whole, kind)
                                                               : NULL;
}

static db_status add_experiment_of(db_context *context, const char *path, const joined_list *to,
                                   json_t *part) {
    json_t *const experiment =
        json_deep_copy(json_array_get(json_object_get(part, "experiment"), 0));
    int complete = experiment != NULL;
    const char *kind;
    json_t *models;
    json_object_foreach(part, kind, models) {
        const json_t *const reference = json_object_get(experiment, kind);
        if (!complete || !json_is_array(models) || !json_is_integer(reference)) continue;
        json_t *const model = json_array_get(models, (size_t)json_integer_value(reference));
        json_t *const list = models_of(to->whole, kind);
        const json_int_t place = model && list ? place_of(list, model) : -1;
        complete = place >= 0 && json_object_set_new(experiment, kind, json_integer(place)) == 0;
    }
    drop_known_identifier(to->identifiers, experiment);
    complete =
        complete && json_array_append(json_object_get(to->whole, "experiment"), experiment) == 0;
    json_decref(experiment);
    if (db_json_failures() != to->failures) return db_fail_memory(context, path);
    return complete ? DB_OK
                    : db_fail(context, DB_ERROR_INPUT, "%s: is no longer as it was written", path);
}

static json_t *empty_list(void) {
    return json_pack("{s:s, s:[], s:[], s:[], s:[], s:[], s:[], s:[], s:[], s:[]}", "__id__",
                     "ExperimentList", "experiment", "imageset", "beam", "detector", "goniometer",
                     "scan", "crystal", "profile", "scaling_model");
}

/* Adds the collected frames. */
static db_status add_run(db_context *context, const char *path, db_scan_run *run,
                         const joined_list *to) {
    if (!run->part) return DB_OK;
    json_t *const part = db_scan_run_join(run);
    const db_status status = add_experiment_of(context, path, to, part);
    json_decref(part);
    return status;
}

static db_status collect_one(db_context *context, const char *path, db_scan_run *run,
                             const joined_list *to) {
    json_t *part = NULL;
    db_json root;
    DB_TRY(db_json_open(context, path, &part, &root));
    int taken = db_scan_run_take(run, part);
    db_status status = DB_OK;
    if (taken == 0) {
        status = add_run(context, path, run, to);
        taken = status == DB_OK ? db_scan_run_take(run, part) : 0;
    }
    if (taken < 1) json_decref(part);
    return taken < 0 ? db_fail_memory(context, path) : status;
}

static db_status collect_experiments(db_context *context, const char *folder,
                                     const db_fit_shots_result *result, const joined_list *to) {
    char path[2 * DB_FIT_PATH_SIZE] = "";
    db_scan_run run = { .part = NULL };
    db_status status = DB_OK;
    for (size_t s = 0; s < result->shot_count && status == DB_OK; s++) {
        char name[DB_FIT_PATH_SIZE];
        if (!result->shot[s].used) continue;
        db_fit_shots_model_name(result, s, name);
        snprintf(path, sizeof path, "%s/%s.expt", folder, name);
        status = collect_one(context, path, &run, to);
    }
    if (status == DB_OK) status = add_run(context, path, &run, to);
    db_scan_run_clear(&run);
    return status;
}

db_status db_fit_shots_write_expt(db_context *context, const char *path, const char *folder,
                                  const db_fit_shots_result *result) {
    const size_t failures = db_json_failures();
    const joined_list joined = { failures, empty_list(), json_object() };
    db_status status = collect_experiments(context, folder, result, &joined);
    if (status == DB_OK)
        status = db_json_write(context, path, joined.whole,
                               JSON_INDENT(2) | JSON_REAL_PRECISION(17), failures);
    json_decref(joined.whole);
    json_decref(joined.identifiers);
    return status;
}
