/* What is written of many shots: PREFIX.json, its fields each with what it means, and the
 * report. */
#include "fit/shots_document.h"

#include "base/context_internal.h"
#include "fit/config/quantity.h"
#include "fit/report/report.h"
#include "fit/report/result_fields.h"
#include "fit/report/value_with_error.h"
#include "fit/search/refinement.h"
#include "fit/amplitudes/outputs.h"

#include <dualbragg/fit_shots.h>
#include <stdlib.h>
#include <string.h>

/* What shots share as the result of a refinement of its own. */
typedef struct shared_view {
    db_fit_config config; /* with the shared parameters only */
    db_fit_result result; /* likewise: parameters, errors, correlation, directions, history */
    double *memory;       /* owned */
} shared_view;

static size_t list_shared(const db_fit_shots_result *result, size_t *list) {
    size_t count = 0;
    for (size_t i = 0; i < result->parameter_count; i++)
        if (result->shared[i]) list[count++] = i;
    return count;
}

static db_status take_parameters(db_context *context, const db_fit_config *config,
                                 const db_fit_shots_result *from, const size_t *list,
                                 shared_view *view) {
    db_fit_result *const to = &view->result;
    for (size_t i = 0; i < to->parameter_count; i++) {
        const size_t k = list[i];
        DB_TRY(db_fit_settings_add_parameter(context, &view->config.settings,
                                             &config->settings.parameters[k]));
        to->parameter[i] = from->parameter[k];
        memcpy(to->name[i], from->name[k], sizeof to->name[i]);
        to->start[i] = from->start[k];
        to->refined[i] = from->refined[k];
        to->error_unscaled[i] = from->error_unscaled[k];
        to->error_scaled[i] = from->error_scaled[k];
        to->error_robust[i] = from->error_robust[k];
        to->error[i] = from->error[k];
        to->at_bound[i] = from->at_bound[k];
        for (size_t l = 0; l < to->parameter_count; l++)
            to->correlation[i][l] = from->correlation[k][list[l]];
    }
    return DB_OK;
}

static void take_directions(const db_fit_shots_result *from, const size_t *list,
                            db_fit_result *to) {
    to->direction_count = from->direction_count;
    for (size_t d = 0; d < from->direction_count; d++) {
        to->direction[d].eigenvalue = from->direction[d].eigenvalue;
        to->direction[d].condition = from->direction[d].condition;
        for (size_t i = 0; i < to->parameter_count; i++) {
            to->direction[d].component[i] = from->direction[d].component[list[i]];
            to->direction[d].change[i] = from->direction[d].change[list[i]];
        }
    }
}

static void take_history(const db_fit_shots_result *from, const size_t *list, shared_view *view) {
    db_fit_result *const to = &view->result;
    to->history_count = from->history_count;
    for (size_t h = 0; h < from->history_count; h++) {
        to->history[h] = from->history[h];
        to->history[h].value = view->memory + h * to->parameter_count;
        for (size_t i = 0; i < to->parameter_count; i++)
            to->history[h].value[i] = from->history[h].value[list[i]];
    }
}

static void destroy_view(shared_view **view) {
    if (!view || !*view) return;
    free((*view)->memory);
    free((*view)->result.history);
    free((*view)->result.memory);
    free((*view)->config.settings.parameters);
    free(*view);
    *view = NULL;
}

static db_status make_view(db_context *context, const db_fit_config *config,
                           const db_fit_shots_result *result, shared_view **view) {
    size_t list[DB_FIT_MOST_PARAMETERS] = { 0 };
    shared_view *const v = calloc(1, sizeof *v);
    *view = v;
    if (!v) return db_fail_memory(context, "what the shots share");
    const size_t n = list_shared(result, list);
    v->config = *config;
    v->config.settings.parameters = NULL;
    v->config.settings.parameter_count = 0;
    v->memory = calloc(result->history_count * n + 1, sizeof *v->memory);
    v->result.history = calloc(result->history_count + 1, sizeof *v->result.history);
    if (!v->memory || !v->result.history || db_fit_result_lists(context, n, &v->result) != DB_OK ||
        take_parameters(context, config, result, list, v) != DB_OK) {
        destroy_view(view);
        return db_fail_memory(context, "what the shots share");
    }
    v->result.status = result->status;
    memcpy(v->result.reason, result->reason, sizeof v->result.reason);
    v->result.evaluations = (int)result->history_count;
    v->result.seconds = result->seconds;
    take_directions(result, list, &v->result);
    take_history(result, list, v);
    return DB_OK;
}

/* A shot beside the result that says which parameters are local. */
typedef struct shot_row {
    db_fit_shot_result shot; /* borrowed */
    const db_fit_shots_result *result;
    size_t number;
} shot_row;

static int in_use(const void *of) { return ((const shot_row *)of)->shot.used; }

static const db_indexing *indexing_of(const void *of, double *probability) {
    const shot_row *const row = of;
    return db_amplitude_indexing(row->result, row->number, probability);
}

static int is_indexed(const void *of) {
    double probability;
    return indexing_of(of, &probability) != NULL;
}

static json_t *operator_text(db_document *d, const void *of) {
    double probability;
    char text[DB_INDEXING_TEXT];
    (void)d;
    return json_string(db_indexing_text(indexing_of(of, &probability), text));
}

static json_t *probability_value(db_document *d, const void *of) {
    double probability;
    (void)d;
    (void)indexing_of(of, &probability);
    return json_real(probability);
}

/* A list of what each local parameter of a shot has. */
static json_t *of_locals(db_document *d, const shot_row *of,
                         json_t *(*value)(const db_fit_shot_result *shot, size_t parameter)) {
    json_t *const array = json_array();
    for (size_t i = 0; i < of->result->parameter_count; i++)
        if (!of->result->shared[i]) add(d, array, value(&of->shot, i));
    return array;
}

static json_t *start_value(const db_fit_shot_result *s, size_t i) { return number(s->start[i]); }
static json_t *refined_value(const db_fit_shot_result *s, size_t i) {
    return number(s->refined[i]);
}
static json_t *error_value(const db_fit_shot_result *s, size_t i) { return number(s->error[i]); }
static json_t *text_value(const db_fit_shot_result *s, size_t i) {
    char text[DB_VALUE_TEXT_SIZE];
    return json_string(db_value_with_error(text, s->refined[i], s->error[i]));
}
static json_t *bound_value(const db_fit_shot_result *s, size_t i) {
    return json_string(db_bound_text(s->at_bound[i]));
}

static json_t *start(db_document *d, const void *of) { return of_locals(d, of, start_value); }
static json_t *refined(db_document *d, const void *of) { return of_locals(d, of, refined_value); }
static json_t *error(db_document *d, const void *of) { return of_locals(d, of, error_value); }
static json_t *text(db_document *d, const void *of) { return of_locals(d, of, text_value); }
static json_t *at_bound(db_document *d, const void *of) { return of_locals(d, of, bound_value); }

#define OF shot_row
static const db_json_field shot_rows[] = {
    NAMED("name", shot.name, "", ""),
    NAMED_FLAG("used", shot.used, "no: it has been set aside, and has only a reason"),
    NAMED("reason", shot.reason, "", "why it was set aside, or how its own stages ended"),
    MADE_IF(is_indexed, "operator", operator_text, "text", NULL, "",
            "what the indices of the shot became, so that all shots are indexed one way"),
    MADE_IF(is_indexed, "probability", probability_value, "number", NULL, "",
            "of that way of indexing, beside the others"),
    MADE_IF(in_use, "start", start, "list", NULL, "", "of the local parameters"),
    MADE_IF(in_use, "refined", refined, "list", NULL, "", "of the local parameters"),
    MADE_IF(in_use, "error", error, "list", NULL, "",
            "of the local parameters; errors of shared ones are in them"),
    MADE_IF(in_use, "text", text, "list", NULL, "",
            "refined values with errors in units of the last digit"),
    MADE_IF(in_use, "at_bound", at_bound, "list", NULL, "", "`no`, `lower`, `upper`"),
    NAMED_IF(in_use, "orientation", shot.orientation, "",
             "rotation from the standard frame, row by row, that the misset counts from"),
    NAMED_IF(in_use, "pixels", shot.pixels, "", "in use"),
    NAMED_IF(in_use, "shoeboxes", shot.shoeboxes, "", "in use"),
    NAMED_IF(in_use, "chi2_reduced", shot.chi2_reduced, "",
             "χ² per degree of freedom of starting and refined model"),
    NAMED_IF(in_use, "correlation", shot.correlation, "",
             "of starting and refined model with what was measured, background removed"),
    NAMED_IF(in_use, "centroid_rms", shot.centroid_rms, "pixels",
             "observed minus model centroid, of starting and refined model"),
};
static TABLE(shot_fields, shot_rows);
#undef OF

static json_t *shots(db_document *d, const void *of) {
    const db_fit_shots_result *const r = of;
    json_t *const array = json_array();
    for (size_t s = 0; s < r->shot_count; s++) {
        const shot_row row = { r->shot[s], r, s };
        add(d, array, db_json_object(d, &shot_fields, &row));
    }
    return array;
}

static json_t *converged(db_document *d, const void *of) {
    (void)d;
    return json_boolean(((const db_fit_shots_result *)of)->status == DB_OK);
}

static json_t *local_names(db_document *d, const void *of) {
    const db_fit_shots_result *const r = of;
    json_t *const array = json_array();
    for (size_t i = 0; i < r->parameter_count; i++)
        if (!r->shared[i]) add(d, array, json_string(r->name[i]));
    return array;
}

static json_t *local_units(db_document *d, const void *of) {
    const db_fit_shots_result *const r = of;
    json_t *const array = json_array();
    for (size_t i = 0; i < r->parameter_count; i++)
        if (!r->shared[i]) add(d, array, json_string(db_parameter_describe(r->parameter[i])->unit));
    return array;
}

static json_t *model(db_document *d, const void *of) {
    (void)of;
    return db_document_section(d, &db_config_sections[DB_SECTION_MODEL], d->config);
}

#define OF db_fit_shots_result
static const db_json_field result_rows[] = {
    MADE("schema", db_make_schema, "integer", NULL, "",
         "1; grows when a reader of an older file would be misled"),
    MADE("provenance", db_make_provenance, "object", &db_provenance_fields, "",
         "where the file comes from"),
    MADE("converged", converged, "yes/no", NULL, "", ""),
    VALUE(reason, "", "why the refinement ended"),
    MADE("settings", db_make_settings, "object", &db_settings_fields, "", "what was asked for"),
    MADE("model", model, "object of the configuration", NULL, "",
         "section `model` of the configuration: where all shots start"),
    MADE("shared", db_make_parameters, "list", &db_parameter_fields, "",
         "parameters that all shots share"),
    MADE("correlation", db_make_correlation, "list of lists", NULL, "",
         "of the shared parameters: matrix, 1 on the diagonal, 0 where not defined"),
    MADE("directions", db_make_directions, "list", &db_direction_fields, "",
         "of the shared parameters: eigenvectors of the scaled normal matrix, the worst determined "
         "first"),
    VALUE(chi2_reduced, "",
          "χ² per degree of freedom of starting and refined models, all shots in use"),
    VALUE(shared_misfit, "",
          "how much regions of the detector disagree, over how much their shoeboxes do by "
          "themselves; 1: no more than chance brings"),
    VALUE(pixels, "", "in use"),
    VALUE(shoeboxes, "", "in use"),
    VALUE(used, "", "shots in use"),
    VALUE(seconds, "s", ""),
    MADE("history", db_make_history, "list", &db_history_fields, "",
         "joint evaluations, with the values of the shared parameters"),
    MADE_IF(db_has_amplitudes, "amplitudes", db_make_amplitudes, "object", &db_amplitude_fields, "",
            "intensities that all shots share (`intensity: joint`)"),
    MADE("local", local_names, "list", NULL, "", "names of the local parameters"),
    MADE("local_units", local_units, "list", NULL, "", "their units"),
    MADE("shots", shots, "list", &shot_fields, "", "one per line of the list of shots"),
};
static TABLE(shots_fields, result_rows);
#undef OF

static db_document document(const shared_view *view, const db_fit_shots_result *result) {
    db_document d = db_document_begin(&view->config.settings.panel_groups);
    d.config = &view->config;
    d.result = &view->result;
    db_json_fill(&d, d.root, &shots_fields, result);
    return d;
}

db_status db_fit_shots_write_json(db_context *context, const char *path,
                                  const db_fit_config *config, const db_fit_shots_result *result) {
    shared_view *view;
    DB_TRY(make_view(context, config, result, &view));
    db_document d = document(view, result);
    const db_status status = db_document_end(context, &d, DB_OK, path);
    destroy_view(&view);
    return status;
}

typedef struct report {
    const shared_view *view;
    const db_fit_shots_result *result;
} report;

static db_status print_data(db_context *context, const void *of, FILE *stream) {
    const report *const r = of;
    db_document d = document(r->view, r->result);
    return db_page_print_document(context, "data", &d, stream);
}

db_status db_fit_shots_write_html(db_context *context, const char *path,
                                  const db_fit_config *config, const db_fit_shots_result *result) {
    shared_view *view;
    DB_TRY(make_view(context, config, result, &view));
    const report r = { view, result };
    const db_status status = db_page_write(context, path, &db_report_page, print_data, &r);
    destroy_view(&view);
    return status;
}

void db_show_json_fields(FILE *stream) {
    fputs(
        "# PREFIX.json\n\n"
        "`dualbragg fit` writes everything that it knows about a refinement into PREFIX.json, for "
        "other programs to read.\n"
        "`dualbragg fit --show-json` prints this page.\n\n"
        "Numbers that are not finite are `null`. Lists of numbers that go with parameters are in "
        "the order of `parameters`,\nor of `shared` and `local`. `a[].b` is the value `b` of each "
        "object in the list `a`.\n\n"
        "## PREFIX.json of one image\n\n",
        stream);
    db_json_print_fields(stream, &db_result_fields);
    fputs("\n## PREFIX.json of many shots\n\n", stream);
    db_json_print_fields(stream, &shots_fields);
}
