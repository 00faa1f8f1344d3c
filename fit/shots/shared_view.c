#include "fit/shots/shared_view.h"

#include "base/context_internal.h"
#include "fit/search/refinement.h"
#include "fit/config/quantity.h"

#include <stdlib.h>
#include <string.h>

static size_t list_shared(const db_fit_shots_result *result, size_t *list) {
    size_t count = 0;
    for (size_t i = 0; i < result->parameter_count; i++)
        if (result->shared[i]) list[count++] = i;
    return count;
}

static db_status take_parameters(db_context *context, const db_fit_config *config,
                                 const db_fit_shots_result *from, const size_t *list,
                                 db_shared_view *view) {
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

static void take_history(const db_fit_shots_result *from, const size_t *list,
                         db_shared_view *view) {
    db_fit_result *const to = &view->result;
    to->history_count = from->history_count;
    for (size_t h = 0; h < from->history_count; h++) {
        to->history[h] = from->history[h];
        to->history[h].value = view->memory + h * to->parameter_count;
        for (size_t i = 0; i < to->parameter_count; i++)
            to->history[h].value[i] = from->history[h].value[list[i]];
    }
}

db_status db_shared_view_make(db_context *context, const db_fit_config *config,
                              const db_fit_shots_result *result, db_shared_view **view) {
    size_t list[DB_FIT_MOST_PARAMETERS] = { 0 };
    db_shared_view *const v = calloc(1, sizeof *v);
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
        db_shared_view_destroy(view);
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

void db_shared_view_destroy(db_shared_view **view) {
    if (!view || !*view) return;
    free((*view)->memory);
    free((*view)->result.history);
    free((*view)->result.memory);
    free((*view)->config.settings.parameters);
    free(*view);
    *view = NULL;
}
