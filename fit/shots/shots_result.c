#include "fit/shots/shots_result.h"

#include "base/context_internal.h"
#include "fit/search/refinement.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Those of a single refinement, and which parameters are shared. */
static db_status make_lists(db_context *context, size_t n, db_fit_shots_result *r) {
    db_fit_result lists = { .memory = NULL };
    DB_TRY(db_fit_result_lists(context, n, &lists));
    r->memory[0] = lists.memory;
    r->parameter_count = n;
    r->parameter = lists.parameter;
    r->name = lists.name;
    r->start = lists.start;
    r->refined = lists.refined;
    r->error_unscaled = lists.error_unscaled;
    r->error_scaled = lists.error_scaled;
    r->error_robust = lists.error_robust;
    r->error = lists.error;
    r->at_bound = lists.at_bound;
    r->correlation = lists.correlation;
    r->direction = lists.direction;
    r->shared = calloc(n + 1, sizeof *r->shared);
    return r->shared ? DB_OK : db_fail_memory(context, "the result");
}

db_status db_shots_result_create(const db_shots *all, db_fit_shots_result **result) {
    const size_t n = all->parameters, each = all->count * n;
    db_fit_shots_result *const r = calloc(1, sizeof *r);
    *result = r;
    if (!r) return db_fail_memory(all->context, "the result");
    DB_TRY(make_lists(all->context, n, r));
    r->shot = calloc(all->count, sizeof *r->shot);
    r->memory[1] = malloc(each * (3 * sizeof(double) + sizeof(int)));
    if (!r->shot || !r->memory[1]) return db_fail_memory(all->context, "the result");
    double *const numbers = r->memory[1];
    int *const at_bound = (int *)(void *)(numbers + 3 * each);
    r->shot_count = all->count;
    for (size_t s = 0; s < all->count; s++) {
        r->shot[s].start = numbers + s * n;
        r->shot[s].refined = numbers + each + s * n;
        r->shot[s].error = numbers + 2 * each + s * n;
        r->shot[s].at_bound = at_bound + s * n;
    }
    for (size_t i = 0; i < n; i++) {
        const db_fit_parameter *const p = &all->settings.parameters[i];
        r->parameter[i] = p->parameter;
        db_fit_quantity_name(&all->settings.panel_groups, db_fit_quantity_of(p), r->name[i]);
        r->shared[i] = all->shared[i];
        r->error[i] = r->error_unscaled[i] = r->error_scaled[i] = r->error_robust[i] = NAN;
        r->correlation[i][i] = 1;
    }
    return DB_OK;
}

/* The model of a shot that this process has read, without amplitudes. */
static db_status take_model(db_shots *all, size_t s, db_fit_shot_result *shot) {
    db_experiment *const start = &all->state[s].start;
    db_panel_placement placement;
    if (!all->state[s].lower || !all->news[s].used) return DB_OK;
    shot->model = *start;
    memset(start, 0, sizeof *start);
    memcpy(shot->model.crystal.orientation, all->news[s].orientation,
           sizeof shot->model.crystal.orientation);
    memcpy(shot->model.crystal.misset, all->news[s].misset, sizeof shot->model.crystal.misset);
    DB_TRY(db_panel_placement_make(all->context, &shot->model.detector, &all->settings.panel_groups,
                                   &placement));
    const db_status status =
        db_shots_put(all, all->context, shot->refined, &shot->model, &placement);
    db_panel_placement_clear(&placement);
    return status;
}

static db_status fill_shot(db_shots *all, size_t s, const db_fit_shots_result *result,
                           db_fit_shot_result *shot) {
    const db_shot_news *const news = &all->news[s];
    const size_t n = all->parameters;
    shot->name = all->source->name(all->source->user, s);
    shot->used = news->used;
    memcpy(shot->reason, news->reason, sizeof shot->reason);
    memcpy(shot->orientation, news->orientation, sizeof shot->orientation);
    memcpy(shot->start, all->begin + s * n, n * sizeof(double));
    memcpy(shot->refined, all->value + s * n, n * sizeof(double));
    memcpy(shot->error, all->error + s * n, n * sizeof(double));
    memcpy(shot->at_bound, all->at_bound + s * n, n * sizeof(int));
    for (size_t i = 0; i < n; i++)
        if (all->shared[i]) {
            shot->refined[i] = result->refined[i];
            shot->error[i] = result->error[i];
        }
    shot->pixels = news->pixels;
    shot->shoeboxes = news->shoeboxes;
    for (int k = 0; k < 2; k++) {
        shot->chi2_reduced[k] = news->degrees > 0 ? news->chi2[k] / news->degrees : (double)NAN;
        shot->correlation[k] = news->correlation[k];
        shot->centroid_rms[k] = news->centroid_rms[k];
    }
    return take_model(all, s, shot);
}

db_status db_shots_result_fill(db_shots *all, db_fit_shots_result *result) {
    double chi2[2] = { 0 }, degrees = 0;
    for (size_t i = 0; i < all->parameters; i++) {
        const int own = all->shared[i];
        result->start[i] = own ? result->start[i] : (double)NAN;
        result->refined[i] = own ? all->common[i] : (double)NAN;
        result->at_bound[i] = own ? all->at_bound[i] : 0;
        degrees -= own && all->settings.parameters[i].follows < 0;
    }
    for (size_t s = 0; s < all->count; s++) {
        const db_shot_news *const news = &all->news[s];
        DB_TRY(fill_shot(all, s, result, &result->shot[s]));
        if (!news->used) continue;
        result->used++;
        result->pixels += news->pixels;
        result->shoeboxes += news->shoeboxes;
        degrees += news->degrees;
        for (int k = 0; k < 2; k++) chi2[k] += news->chi2[k];
    }
    for (int k = 0; k < 2; k++) result->chi2_reduced[k] = chi2[k] / degrees;
    result->history = all->history;
    result->history_values = all->history_values;
    result->history_count = all->history_count;
    all->history = NULL;
    all->history_values = NULL;
    result->shot_evaluations = all->evaluations;
    return DB_OK;
}

void db_fit_shots_result_destroy(db_fit_shots_result **result) {
    if (!result || !*result) return;
    for (size_t s = 0; s < (*result)->shot_count && (*result)->shot; s++)
        db_experiment_clear(&(*result)->shot[s].model);
    free((*result)->shot);
    free((*result)->shared);
    for (int m = 0; m < 2; m++) free((*result)->memory[m]);
    free((*result)->history);
    free((*result)->history_values);
    free(*result);
    *result = NULL;
}
