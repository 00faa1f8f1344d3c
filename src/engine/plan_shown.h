/* Plans whose regions show one reflection each. */
#ifndef DB_ENGINE_PLAN_SHOWN_H
#define DB_ENGINE_PLAN_SHOWN_H

#include "engine/plan_state.h"
#include "model/site_kinds.h"

/* DB_ERROR_UNSUPPORTED if each region of the plan shows one reflection. what: name of the call, for the message. */
db_status db_plan_need_all_reflections(const db_plan *plan, const char *what);

/* The job of one tile: its table has only the reflection of its region. */
typedef struct db_shown_job {
    db_kernel_job job;
    double intensity_double[2];
    float intensity_float[2];
    double site_part[2 * DB_MOST_SITE_PART];
} db_shown_job;
void db_plan_show_reflection(const db_plan *plan, const db_kernel_job *job, size_t region,
                             db_shown_job *own);

#endif
