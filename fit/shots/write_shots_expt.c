/* The experiment lists of shots as one, in which models that are the same stand once. */
#include "base/context_internal.h"
#include "base/json_memory.h"
#include "base/json_reader.h"

#include <dualbragg/fit_shots.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {
    "imageset", "beam", "detector", "goniometer", "scan", "crystal"
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Number of a model in a list, where it is put unless the last one is its like; -1: no memory. */
static json_int_t place_of(json_t *list, json_t *model) {
    const size_t count = json_array_size(list);
    if (count && json_equal(json_array_get(list, count - 1), model)) return (json_int_t)count - 1;
    return json_array_append(list, model) == 0 ? (json_int_t)count : -1;
}

/* failures: of allocations, before the whole was begun. */
static db_status add(db_context *context, const char *path, size_t failures, json_t *whole,
                     json_t *part) {
    json_t *const experiment =
        json_deep_copy(json_array_get(json_object_get(part, "experiment"), 0));
    int complete = experiment != NULL;
    for (int k = 0; k < KINDS && complete; k++) {
        const json_t *const reference = json_object_get(experiment, kinds[k]);
        if (!json_is_integer(reference)) continue;
        json_t *const model =
            json_array_get(json_object_get(part, kinds[k]), (size_t)json_integer_value(reference));
        const json_int_t place = model ? place_of(json_object_get(whole, kinds[k]), model) : -1;
        complete =
            place >= 0 && json_object_set_new(experiment, kinds[k], json_integer(place)) == 0;
    }
    complete = complete && json_array_append(json_object_get(whole, "experiment"), experiment) == 0;
    json_decref(experiment);
    if (db_json_failures() != failures) return db_fail_memory(context, path);
    return complete ? DB_OK
                    : db_fail(context, DB_ERROR_INPUT, "%s: is no longer as it was written", path);
}

static json_t *empty_list(void) {
    json_t *const whole = json_pack("{s:s, s:[], s:[], s:[]}", "__id__", "ExperimentList",
                                    "experiment", "profile", "scaling_model");
    for (int k = 0; k < KINDS && whole; k++) json_object_set_new(whole, kinds[k], json_array());
    return whole;
}

static db_status collect(db_context *context, const char *folder, const db_fit_shots_result *result,
                         size_t failures, json_t *whole) {
    for (size_t s = 0; s < result->shot_count; s++) {
        char name[DB_FIT_PATH_SIZE], path[2 * DB_FIT_PATH_SIZE];
        if (!result->shot[s].used) continue;
        db_fit_shots_model_name(result, s, name);
        snprintf(path, sizeof path, "%s/%s.expt", folder, name);
        json_t *part = NULL;
        db_json root;
        DB_TRY(db_json_open(context, path, &part, &root));
        const db_status status = add(context, path, failures, whole, part);
        json_decref(part);
        DB_TRY(status);
    }
    return DB_OK;
}

db_status db_fit_shots_write_expt(db_context *context, const char *path, const char *folder,
                                  const db_fit_shots_result *result) {
    const size_t failures = db_json_failures();
    json_t *const whole = empty_list();
    db_status status = collect(context, folder, result, failures, whole);
    if (status == DB_OK)
        status =
            db_json_write(context, path, whole, JSON_INDENT(2) | JSON_REAL_PRECISION(17), failures);
    json_decref(whole);
    return status;
}
