/* What a joint stage leaves: models at its minimum. */
#include "fit/shots/joint_models.h"

#include "base/context_internal.h"
#include "fit/config/misset.h"
#include "fit/shots/workers.h"

#include <stdlib.h>
#include <string.h>

/* Where models go. */
typedef struct target {
    int stage;
    db_arrow_order order;
    const double *shared;
} target;

/* Moves a model to the best point of its shot. */
static db_status move_model(db_shots *all, const target *to, db_context *context, size_t shot,
                            db_shot_model *model, db_fit_settings *settings,
                            db_variables *variables) {
    const db_arrow_order *const order = &to->order;
    db_experiment *const e = &model->experiment;
    db_experiment folded = *e;
    double values[DB_FIT_MOST_PARAMETERS];
    const int turns = db_refinement_turns(&all->settings, to->stage);
    if (turns) db_misset_fold(&folded.crystal);
    DB_TRY(db_shots_settings(all, context, shot, settings));
    db_variables_make(settings, 1u << to->stage, turns ? all->state[shot].turned : NULL, &folded,
                      &model->placement, variables);
    for (size_t i = 0; i < order->shared + order->local; i++)
        values[order->variable[i]] =
            i < order->shared ? to->shared[i] : all->state[shot].best.local[i - order->shared];
    db_refinement_move(variables, values, &folded.crystal, e);
    db_variables_place(variables, values, &model->placement);
    DB_TRY(db_panel_placement_apply(context, &model->placement, &e->detector));
    db_shots_get(all, e, &model->placement, db_shots_value(all, shot));
    memcpy(all->summary[shot].misset, e->crystal.misset, sizeof all->summary[shot].misset);
    all->summary[shot].stage = to->stage + 1;
    return DB_OK;
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

db_status db_joint_models_store(db_shots *all, int stage, const double *shared) {
    target to = { .stage = stage, .shared = shared };
    to.order = db_arrow_order_make(&all->settings, stage, all->shared);
    DB_TRY(db_workers_each(all, "models", stage, store_shot, &to, NULL));
    for (size_t i = 0; i < to.order.shared; i++) all->common[to.order.index[i]] = shared[i];
    db_shots_tie_common(all);
    return DB_OK;
}
