/* The oracle of a plan, with its input as it is or shaken. */
#ifndef DB_ENGINE_PLAN_ORACLE_H
#define DB_ENGINE_PLAN_ORACLE_H

#include "engine/plan_internal.h"

/* db_plan_oracle after `shake` (may be NULL) has changed the interface values; called once for
 * every DB_SLOPES_AT_ONCE parameters. */
typedef void (*db_interface_shake)(void *user, const db_experiment *experiment,
                                   db_dual_interface *interface);
db_status db_plan_oracle_shaken(db_plan *plan, db_interface_shake shake, void *user, double *image,
                                double *const *derivatives);

#endif
