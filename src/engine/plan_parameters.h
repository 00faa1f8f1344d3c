/* Parameters by which a plan has derivatives, and the groups of values that they move. */
#ifndef DB_ENGINE_PLAN_PARAMETERS_H
#define DB_ENGINE_PLAN_PARAMETERS_H

#include "model/model.h"

#include <dualbragg/plan.h>

typedef struct db_plan_parameters {
    const db_experiment *experiment; /* the plan's experiment */
    db_parameter *list;
    size_t count;
    size_t beyond_table; /* how many parameters of the list are not in the table of parameters */
} db_plan_parameters;

/* Copies the list of the options. Clear the parameters after a failure, too. */
db_status db_plan_parameters_create(db_context *context, const db_experiment *experiment,
                                    const db_plan_options *options, db_plan_parameters *parameters);
void db_plan_parameters_clear(db_plan_parameters *parameters);

/* Does parameter k move one of these groups of values (DB_MOVES_*)? How many parameters do? */
int db_parameter_moves_any(const db_plan_parameters *parameters, size_t k, unsigned what);
int db_parameters_moving(const db_plan_parameters *parameters, unsigned what);

/* Does parameter k have a column of its own for its effect on the sources? How many parameters do? In closed form
 * curves of sites have none: they change spots as a whole, and no factor of a pixel. */
int db_parameter_has_source_column(const db_plan_parameters *parameters, size_t k);
int db_parameters_with_source_column(const db_plan_parameters *parameters);

/* Does parameter k have a column of its own for its effect on sample rotations or halo? How many parameters do? */
int db_parameter_has_rotation_column(const db_plan_parameters *parameters, size_t k);
int db_parameters_with_rotation_column(const db_plan_parameters *parameters);

/* Parameters from number `first` on that have slopes in one pass of the model. */
db_parameter_slots db_parameters_at_once(const db_plan_parameters *parameters, size_t first);

/* Kinds of parameters by the columns that make up their images, in the order in which kernels want the images. */
typedef enum db_wanted_kind { DB_WANTED_LATTICE, DB_WANTED_SINGLE, DB_WANTED_OTHER } db_wanted_kind;
db_wanted_kind db_parameter_wanted_kind(const db_plan_parameters *parameters, size_t k);

#endif
