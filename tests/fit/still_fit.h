/* The refinement of one image in memory, whose result is taken out of that of the list of one. */
#ifndef DB_TESTS_FIT_STILL_FIT_H
#define DB_TESTS_FIT_STILL_FIT_H

#include "base/context_internal.h"
#include "fit/objective/evaluate.h"
#include "fit/objective/model_image.h"
#include "fit/objective/statistics.h"
#include "fit/pixels/shoeboxes.h"
#include "fit/verdict/conclude.h"

#include <dualbragg/fit_shots.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct fit_still_listener {
    int (*progress)(void *user, const db_fit_history *entry); /* not 0 cancels; may be NULL */
    void *user;
    atomic_int cancelled; /* all threads ask for it */
} fit_still_listener;

static inline void fit_still_event(void *user, const db_fit_shots_event *event) {
    fit_still_listener *const l = user;
    if (event->kind == DB_SHOTS_EVALUATED && l->progress)
        l->cancelled |= l->progress(l->user, event->entry) != 0;
}

static inline int fit_still_cancelled(void *user) {
    return ((const fit_still_listener *)user)->cancelled;
}

/* *found is to be destroyed by fit_still_destroy; NULL: an error. */
static inline db_status fit_still(db_context *caller, const db_experiment *begin,
                                  const db_measured_image *measured, const db_fit_settings *wanted,
                                  int (*progress)(void *user, const db_fit_history *entry),
                                  void *user, db_fit_result **found) {
    fit_still_listener listener = { progress, user, 0 };
    const db_fit_still still = { begin, measured, NULL };
    const db_fit_shot_source list = db_fit_still_source(&still);
    db_fit_shots_options options = DB_FIT_SHOTS_OPTIONS_INIT;
    options.progress = fit_still_event;
    options.cancelled = fit_still_cancelled;
    options.user = &listener;
    db_fit_shots_result *run;
    const db_status status = db_fit_run(caller, &list, wanted, &options, &run);
    *found = run ? malloc(sizeof **found) : NULL;
    if (*found) {
        **found = run->shot[0];
        memset(&run->shot[0], 0, sizeof run->shot[0]);
    }
    db_fit_shots_result_destroy(&run);
    return status;
}

static inline void fit_still_destroy(db_fit_result **found) {
    if (*found) db_fit_result_clear(*found);
    free(*found);
    *found = NULL;
}

/* Chi2, pixels, and the explained part of the strong ones, of a model without refinement, in shoeboxes that a model
 * places. */
static inline db_status evaluate_on(db_context *caller, const db_experiment *model,
                                    const db_experiment *placed_by, const db_fit_data *data,
                                    db_fit_statistics *statistics) {
    const db_objective_options request = { .target = data->settings->target };
    db_stage_data taken;
    db_objective objective;
    size_t strong, explained;
    DB_TRY(db_stage_data_take(caller, placed_by, data, 0, 1, DB_SHOEBOXES_STRONG, &taken));
    DB_TRY(db_stage_data_objective(caller, model, data, &taken, &request, &objective));
    DB_TRY(db_stage_data_solve(&taken, data, &objective, NULL));
    db_statistics_residuals(&objective, statistics);
    db_objective_destroy(&objective);
    db_stage_data_clear(&taken);
    DB_TRY(db_model_image(caller, model, data, &explained, NULL));
    DB_TRY(db_statistics_strong_pixels(caller, model, data, &strong));
    statistics->strong_explained = (double)explained / (double)strong;
    return DB_OK;
}

static inline db_status evaluate_still(db_context *caller, const db_experiment *model,
                                       const db_experiment *placed_by,
                                       const db_measured_image *measured,
                                       const db_fit_settings *wanted,
                                       db_fit_statistics *statistics) {
    db_strong_pixels strong;
    db_fit_settings own = *wanted; /* borrows its lists */
    memset(statistics, 0, sizeof *statistics);
    DB_TRY(db_shoebox_size_choose(caller, placed_by, &own));
    DB_TRY(db_strong_pixels_find(caller, measured, &own, &strong));
    const db_fit_data data = { measured, &strong, &own };
    const db_status status = evaluate_on(caller, model, placed_by, &data, statistics);
    db_strong_pixels_clear(&strong);
    return status;
}

#endif
