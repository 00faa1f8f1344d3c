/* What to look at before a result is used. */
#ifndef DB_FIT_VERDICT_WARNINGS_H
#define DB_FIT_VERDICT_WARNINGS_H

#include <dualbragg/fit.h>

/* Fills the result's warnings, replacing those it has. */
db_status db_fit_warnings_make(db_context *context, db_fit_result *result);

#endif
