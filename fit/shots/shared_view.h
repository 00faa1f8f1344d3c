/* What shots share as the result of a refinement of its own, for those who show results. */
#ifndef DB_FIT_SHOTS_SHARED_VIEW_H
#define DB_FIT_SHOTS_SHARED_VIEW_H

#include <dualbragg/fit_shots.h>

typedef struct db_shared_view {
    db_fit_config config; /* with the shared parameters only; borrows the rest */
    db_fit_result result; /* likewise: parameters, errors, correlation, directions, history */
    double *memory;       /* owned */
} db_shared_view;

/* *view is NULL on failure. */
db_status db_shared_view_make(db_context *context, const db_fit_config *config,
                              const db_fit_shots_result *result, db_shared_view **view);
void db_shared_view_destroy(db_shared_view **view);

#endif
