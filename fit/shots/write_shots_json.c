#include "base/context_internal.h"
#include "fit/verdict/direction_text.h"
#include "fit/report/json_document.h"
#include "fit/shots/shared_view.h"

/* Grows when a reader of the last one would be misled; docs/reference/json.md describes it. */
enum { SCHEMA = 1 };

static const char *bound_text(int at_bound) {
    return at_bound < 0 ? "lower" : at_bound > 0 ? "upper" : "no";
}

static json_t *shared_array(db_document *d, const db_fit_result *shared) {
    json_t *const array = json_array();
    for (size_t i = 0; i < shared->parameter_count; i++) {
        json_t *const entry = json_object();
        set(d, entry, "name", json_string(shared->name[i]));
        set(d, entry, "unit", json_string(db_parameter_describe(shared->parameter[i])->unit));
        set(d, entry, "start", number(shared->start[i]));
        set(d, entry, "refined", number(shared->refined[i]));
        set(d, entry, "error", number(shared->error[i]));
        set(d, entry, "error_unscaled", number(shared->error_unscaled[i]));
        set(d, entry, "error_scaled", number(shared->error_scaled[i]));
        set(d, entry, "error_robust", number(shared->error_robust[i]));
        set(d, entry, "at_bound", json_string(bound_text(shared->at_bound[i])));
        add(d, array, entry);
    }
    return array;
}

static json_t *directions_array(db_document *d, const db_fit_result *shared) {
    json_t *const array = json_array();
    for (size_t i = 0; i < shared->direction_count; i++) {
        const db_fit_direction *const direction = &shared->direction[i];
        json_t *const entry = json_object();
        char words[DB_DIRECTION_TEXT_SIZE];
        set(d, entry, "text", json_string(db_direction_text(words, shared, direction)));
        set(d, entry, "eigenvalue", number(direction->eigenvalue));
        set(d, entry, "condition", number(direction->condition));
        set(d, entry, "component", numbers(d, direction->component, shared->parameter_count));
        set(d, entry, "change", numbers(d, direction->change, shared->parameter_count));
        add(d, array, entry);
    }
    return array;
}

static json_t *history_array(db_document *d, const db_fit_result *shared) {
    json_t *const array = json_array();
    for (size_t i = 0; i < shared->history_count; i++) {
        json_t *const entry = json_object();
        set(d, entry, "stage", json_integer(shared->history[i].stage));
        set(d, entry, "evaluation", json_integer(shared->history[i].evaluation));
        set(d, entry, "target", number(shared->history[i].target));
        set(d, entry, "values", numbers(d, shared->history[i].value, shared->parameter_count));
        add(d, array, entry);
    }
    return array;
}

static json_t *local_names(db_document *d, const db_fit_shots_result *result) {
    json_t *const array = json_array();
    for (size_t i = 0; i < result->parameter_count; i++)
        if (!result->shared[i]) add(d, array, json_string(result->name[i]));
    return array;
}

/* Values of the local parameters of a shot. */
static json_t *local_numbers(db_document *d, const db_fit_shots_result *result,
                             const double *values) {
    json_t *const array = json_array();
    for (size_t i = 0; i < result->parameter_count; i++)
        if (!result->shared[i]) add(d, array, number(values[i]));
    return array;
}

static json_t *shot_object(db_document *d, const db_fit_shots_result *result,
                           const db_fit_shot_result *shot) {
    json_t *const entry = json_object();
    set(d, entry, "name", db_document_text(shot->name));
    set(d, entry, "used", json_boolean(shot->used));
    set(d, entry, "reason", db_document_text(shot->reason));
    if (!shot->used) return entry;
    set(d, entry, "start", local_numbers(d, result, shot->start));
    set(d, entry, "refined", local_numbers(d, result, shot->refined));
    set(d, entry, "error", local_numbers(d, result, shot->error));
    json_t *const at_bound = json_array();
    for (size_t i = 0; i < result->parameter_count; i++)
        if (!result->shared[i]) add(d, at_bound, json_string(bound_text(shot->at_bound[i])));
    set(d, entry, "at_bound", at_bound);
    set(d, entry, "orientation", numbers(d, shot->orientation, 9));
    set(d, entry, "pixels", json_integer((json_int_t)shot->pixels));
    set(d, entry, "shoeboxes", json_integer((json_int_t)shot->shoeboxes));
    set(d, entry, "chi2_reduced", numbers(d, shot->chi2_reduced, 2));
    set(d, entry, "correlation", numbers(d, shot->correlation, 2));
    set(d, entry, "centroid_rms", numbers(d, shot->centroid_rms, 2));
    return entry;
}

static void compose(db_document *d, const db_fit_config *config, const db_shared_view *view,
                    const db_fit_shots_result *result) {
    const db_fit_result *const shared = &view->result;
    json_t *const root = d->root, *const correlation = json_array(), *const shots = json_array();
    set(d, root, "schema", json_integer(SCHEMA));
    set(d, root, "provenance", db_document_provenance(d, config));
    set(d, root, "converged", json_boolean(result->status == DB_OK));
    set(d, root, "reason", db_document_text(result->reason));
    set(d, root, "settings", db_document_settings(d, config));
    set(d, root, "shared", shared_array(d, shared));
    for (size_t i = 0; i < shared->parameter_count; i++)
        add(d, correlation, numbers(d, shared->correlation[i], shared->parameter_count));
    set(d, root, "correlation", correlation);
    set(d, root, "directions", directions_array(d, shared));
    set(d, root, "chi2_reduced", numbers(d, result->chi2_reduced, 2));
    set(d, root, "pixels", json_integer((json_int_t)result->pixels));
    set(d, root, "shoeboxes", json_integer((json_int_t)result->shoeboxes));
    set(d, root, "used", json_integer((json_int_t)result->used));
    set(d, root, "seconds", number(result->seconds));
    set(d, root, "history", history_array(d, shared));
    set(d, root, "local", local_names(d, result));
    for (size_t s = 0; s < result->shot_count; s++)
        add(d, shots, shot_object(d, result, &result->shot[s]));
    set(d, root, "shots", shots);
}

db_status db_fit_shots_write_json(db_context *context, const char *path,
                                  const db_fit_config *config, const db_fit_shots_result *result) {
    db_shared_view *view;
    DB_TRY(db_shared_view_make(context, config, result, &view));
    db_document d = db_document_begin(&config->settings.panel_groups);
    compose(&d, config, view, result);
    const db_status status = db_document_end(context, &d, DB_OK, path);
    db_shared_view_destroy(&view);
    return status;
}
