/* Plans whose regions show one reflection each: of spots in closed form a tile's list has no other, of
 * samples those near other nodes count for nothing. */
#include "engine/plan_internal.h"

#include <stdlib.h>
#include <string.h>

static db_status check(const db_plan *plan, const db_plan_options *options) {
    const char *const what = "reflections of regions";
    if (!options->regions)
        return db_fail(plan->context, DB_ERROR_USAGE, "%s: expected regions, found none", what);
    if (options->parameter_count)
        return db_fail(plan->context, DB_ERROR_UNSUPPORTED,
                       "%s: expected a plan without parameters, found %zu", what,
                       options->parameter_count);
    if (plan->experiment.structure_factors.amplitude &&
        plan->experiment.structure_factors.interpolate)
        return db_fail(plan->context, DB_ERROR_UNSUPPORTED,
                       "%s: expected structure factors of nearest nodes, found interpolated ones",
                       what);
    if (plan->experiment.reference.on)
        return db_fail(plan->context, DB_ERROR_UNSUPPORTED,
                       "%s: the reference's arithmetic (compat) shows all", what);
    return DB_OK;
}

db_status db_plan_take_reflections(db_plan *plan, const db_plan_options *options) {
    if (!options->reflections) return DB_OK;
    DB_TRY(check(plan, options));
    plan->reflection = malloc(plan->given_count * sizeof *plan->reflection);
    plan->region_node = malloc(plan->given_count * 3 * sizeof *plan->region_node);
    if (!plan->reflection || !plan->region_node)
        return db_fail_memory(plan->context, "the reflections of regions");
    memcpy(plan->reflection, options->reflections, plan->given_count * sizeof *plan->reflection);
    for (size_t i = 0; i < plan->given_count; i++)
        for (size_t j = 0; j < 3; j++) plan->region_node[3 * i + j] = plan->reflection[i][j];
    if (plan->experiment.spread.spots != DB_SPOTS_CLOSED) plan->job.region_node = plan->region_node;
    return DB_OK;
}

db_status db_plan_need_all_reflections(const db_plan *plan, const char *what) {
    if (!plan->reflection) return DB_OK;
    return db_fail(plan->context, DB_ERROR_UNSUPPORTED,
                   "%s: expected a plan that shows all reflections, found one of each region",
                   what);
}

/* Where the plan's list has a reflection; its end, which is default_F, for those outside. */
static size_t entry_of(const db_plan *plan, const int hkl[3]) {
    const db_structure_factors *f = &plan->experiment.structure_factors;
    size_t entry = 0;
    for (int j = 0; j < 3 && plan->table_count; j++) {
        const long offset = (long)hkl[j] - f->min[j];
        if (offset < 0 || offset >= f->extent[j]) return plan->table_count;
        entry = entry * (size_t)f->extent[j] + (size_t)offset;
    }
    return plan->table_count ? entry : 0;
}

void db_plan_show_reflection(const db_plan *plan, const db_kernel_job *job, size_t region,
                             db_shown_job *own) {
    const size_t entry = entry_of(plan, plan->reflection[region]);
    own->job = *job;
    own->intensity_double[0] = plan->intensity_double ? plan->intensity_double[entry] : 0;
    own->intensity_float[0] = plan->intensity_float ? plan->intensity_float[entry] : 0;
    own->intensity_double[1] = 0; /* of all others */
    own->intensity_float[1] = 0;
    own->job.intensity_double = own->intensity_double;
    own->job.intensity_float = own->intensity_float;
    own->job.table_used = 1;
    for (size_t j = 0; j < 3; j++) {
        own->job.table_min[j] = job->region_node[3 * region + j];
        own->job.table_extent[j] = 1;
    }
}
