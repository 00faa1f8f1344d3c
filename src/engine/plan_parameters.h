/* The parameters that a plan has derivatives by, and what they move. */
#ifndef DB_ENGINE_PLAN_PARAMETERS_H
#define DB_ENGINE_PLAN_PARAMETERS_H

#include "model/model.h"

#include <dualbragg/plan.h>

typedef struct db_plan_parameters {
    const db_experiment *experiment; /* the plan's, which they are parameters of */
    db_parameter *list;
    size_t count;
    size_t beyond_table; /* how many of them are not in the table */
} db_plan_parameters;

/* Copies the list; to be cleared whatever the status. */
db_status db_plan_parameters_create(db_context *context, const db_experiment *experiment,
                                    const db_plan_options *options, db_plan_parameters *parameters);
void db_plan_parameters_clear(db_plan_parameters *parameters);

/* Whether parameter k moves any of these groups of values (DB_MOVES_*), and how many do. */
int db_parameter_moves_any(const db_plan_parameters *parameters, size_t k, unsigned what);
int db_parameters_moving(const db_plan_parameters *parameters, unsigned what);

/* Whether parameter k has a column of its own for what it does to the sources; how many have. Curves of sites
 * move spots in closed form as a whole, and no pixel's factor. */
int db_parameter_has_source_column(const db_plan_parameters *parameters, size_t k);
int db_parameters_with_source_column(const db_plan_parameters *parameters);

/* Whether parameter k has a column of its own for what it does to the sample rotations or to the halo; how
 * many have. */
int db_parameter_has_rotation_column(const db_plan_parameters *parameters, size_t k);
int db_parameters_with_rotation_column(const db_plan_parameters *parameters);

/* Those from number `first` on that get slopes at once. */
db_parameter_slots db_parameters_at_once(const db_plan_parameters *parameters, size_t first);

/* How kernels form a parameter's image of the columns, in the order in which they want them. */
typedef enum db_wanted_kind { DB_WANTED_LATTICE, DB_WANTED_SINGLE, DB_WANTED_OTHER } db_wanted_kind;
db_wanted_kind db_parameter_wanted_kind(const db_plan_parameters *parameters, size_t k);

#endif
