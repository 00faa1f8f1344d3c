/* The refinement of one image in memory, whose result is taken out of that of the list of one. */
#ifndef DB_TESTS_FIT_STILL_FIT_H
#define DB_TESTS_FIT_STILL_FIT_H

#include "fit/verdict/conclude.h"

#include <dualbragg/fit_shots.h>
#include <stdlib.h>
#include <string.h>

typedef struct fit_still_listener {
    int (*progress)(void *user, const db_fit_history *entry); /* not 0 cancels; may be NULL */
    void *user;
    int cancelled;
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

#endif
