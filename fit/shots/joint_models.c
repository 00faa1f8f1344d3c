/* What a joint stage leaves: models at its minimum. */
#include "fit/shots/joint_models.h"

#include "base/context_internal.h"
#include "fit/search/stage_end.h"
#include "fit/shots/links.h"
#include "fit/shots/shot_fit.h"
#include "fit/shots/workers.h"

#include <stdlib.h>
#include <string.h>

/* Where models go. */
typedef struct target {
    int stage;
    db_joint_links links;
    const double *unknown;
} target;

/* Which of a shot's own quantities are at a bound. The slope of those that its best point has left out pushes outward; a stage
 * without tails (joint intensities, models that stay) does not know slopes. */
static db_status tell_bounds(const db_shots *all, const db_schur_order *order, db_context *context,
                             size_t shot, const db_variables *variables) {
    const db_shot_point *const best = &all->state[shot].best;
    db_unknowns u;
    DB_TRY(db_local_unknowns(context, &all->settings, order, variables, &u));
    for (size_t i = 0; i < order->local; i++) {
        const double outward = db_schur_is_left_out(order, &best->tail, i);
        const int low = db_stage_bound_of(&u, i, best->local[i], outward);
        db_shots_values(all, shot).at_bound[u.index[i]] =
            low ? low : db_stage_bound_of(&u, i, best->local[i], -outward);
    }
    db_unknowns_clear(&u);
    return DB_OK;
}

/* Moves a model to the best point of its shot. */
static db_status move_model(db_shots *all, const target *to, db_context *context, size_t shot,
                            db_shot_model *model, db_fit_settings *settings,
                            db_variables *variables) {
    const db_schur_order *const order = &to->links.order;
    db_experiment *const e = &model->experiment;
    double values[DB_FIT_MOST_PARAMETERS], linked[DB_FIT_MOST_PARAMETERS];
    DB_TRY(db_shots_settings(all, context, shot, settings));
    db_variables_make(settings, 1u << to->stage, &all->state[shot].start.crystal, e,
                      &model->placement, variables);
    db_joint_links_values(&to->links, shot, to->unknown, linked);
    for (size_t i = 0; i < order->shared + order->local; i++)
        values[order->variable[i]] = i < order->shared
                                         ? linked[i] + db_shots_shift(all, shot, order->index[i])
                                         : all->state[shot].best.local[i - order->shared];
    db_variables_store(variables, values, e);
    db_variables_place(variables, values, &model->placement);
    DB_TRY(db_panel_placement_apply(context, &model->placement, &e->detector));
    db_shots_get(all, e, &model->placement, db_shots_value(all, shot));
    memcpy(all->summary[shot].orientation, e->crystal.orientation, sizeof e->crystal.orientation);
    all->summary[shot].stage = to->stage + 1;
    return tell_bounds(all, order, context, shot, variables);
}

/* The values of a shot become those of its best point. */
static db_status store_shot(db_shots *all, db_context *context, size_t shot, void *user,
                            double *sum) {
    (void)sum;
    db_shot_model model = { .panels = NULL };
    db_fit_settings settings = { .parameters = NULL };
    db_variables *const variables = malloc(sizeof *variables);
    db_status status = variables ? DB_OK : db_fail_memory(context, "the model of a shot");
    if (status == DB_OK) status = db_shot_model_make(all, context, shot, &model);
    if (status == DB_OK)
        status = move_model(all, user, context, shot, &model, &settings, variables);
    db_shot_model_clear(&model);
    db_fit_settings_clear(&settings);
    free(variables);
    return status;
}

db_status db_joint_models_store(db_shots *all, int stage, const double *unknown) {
    target to = { .stage = stage, .unknown = unknown };
    to.links = db_joint_links_make(all, stage);
    DB_TRY(db_workers_each(all, "models", stage, store_shot, &to));
    for (size_t l = 0; l < to.links.order.shared; l++)
        if (to.links.first[l] < to.links.shared)
            all->common.value[to.links.order.index[l]] = unknown[to.links.first[l]];
    db_shots_tie_common(all);
    return DB_OK;
}
