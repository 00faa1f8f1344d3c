/* Describes a plan to its user. */
#include "engine/plan_amplitudes.h"

size_t db_plan_pixels(const db_plan *plan) { return plan->tiles.pixels; }

db_plan_info db_plan_describe(const db_plan *plan) {
    return (db_plan_info){ .parameters = plan->parameters.list,
                           .parameter_count = plan->parameters.count,
                           .amplitude_count = db_plan_amplitude_values(plan),
                           .regions = plan->tiles.given,
                           .region_count = plan->tiles.given_count,
                           .pixel_type = plan->job.pixel_type,
                           .precision = plan->precision,
                           .experiment = &plan->experiment };
}
