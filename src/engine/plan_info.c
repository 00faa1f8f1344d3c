/* What a plan tells of itself. */
#include "engine/plan_amplitudes.h"

#include <stdio.h>

size_t db_plan_pixels(const db_plan *plan) { return plan->pixels; }

size_t db_plan_parameter_count(const db_plan *plan) { return plan->parameter_count; }

db_parameter db_plan_parameter(const db_plan *plan, size_t number) {
    return number < plan->parameter_count ? plan->parameters[number] : DB_PARAMETER_COUNT;
}

void db_plan_parameter_name(const db_plan *plan, size_t number, char *name, size_t size) {
    if (number < plan->parameter_count)
        db_parameter_name(plan->parameters[number], name, size);
    else
        snprintf(name, size, "%s", "");
}

const char *db_plan_parameter_unit(const db_plan *plan, size_t number) {
    const db_parameter_info *info = db_parameter_describe(db_plan_parameter(plan, number));
    return info ? info->unit : NULL;
}

double db_plan_parameter_value(const db_plan *plan, size_t number) {
    return number < plan->parameter_count
               ? db_parameter_get(&plan->experiment, plan->parameters[number])
               : 0;
}

size_t db_plan_amplitude_count(const db_plan *plan) { return db_plan_amplitude_values(plan); }

const db_region *db_plan_regions(const db_plan *plan, size_t *count) {
    *count = plan->given_count;
    return plan->given;
}

db_pixel_type db_plan_pixel_type(const db_plan *plan) { return plan->job.pixel_type; }

db_precision db_plan_precision(const db_plan *plan) { return plan->precision; }
