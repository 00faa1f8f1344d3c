/* Plans whose regions show one reflection each. In closed form a tile's list contains no other spot; sampled spots
 * leave out samples near other nodes. */
#include "engine/plan_shown.h"

db_status db_plan_need_all_reflections(const db_plan *plan, const char *what) {
    if (!plan->tiles.reflection) return DB_OK;
    return db_fail(plan->context, DB_ERROR_UNSUPPORTED,
                   "%s: expected a plan that shows all reflections, found one of each region",
                   what);
}

/* Entry of a reflection in the plan's list. A reflection outside the list has the entry after the last, default_F. */
static size_t entry_of(const db_plan *plan, const int hkl[3]) {
    const db_structure_factors *f = &plan->experiment.structure_factors;
    size_t entry = 0;
    for (int j = 0; j < 3 && plan->table.count; j++) {
        const long offset = (long)hkl[j] - f->min[j];
        if (offset < 0 || offset >= f->extent[j]) return plan->table.count;
        entry = entry * (size_t)f->extent[j] + (size_t)offset;
    }
    return plan->table.count ? entry : 0;
}

void db_plan_show_reflection(const db_plan *plan, const db_kernel_job *job, size_t region,
                             db_shown_job *own) {
    const size_t entry = entry_of(plan, plan->tiles.reflection[region]);
    own->job = *job;
    own->intensity_double[0] =
        plan->table.intensity_double ? plan->table.intensity_double[entry] : 0;
    own->intensity_float[0] = plan->table.intensity_float ? plan->table.intensity_float[entry] : 0;
    own->intensity_double[1] = 0; /* all other reflections */
    own->intensity_float[1] = 0;
    own->job.intensity_double = own->intensity_double;
    own->job.intensity_float = own->intensity_float;
    const size_t each = db_site_part(job->site_kinds);
    for (size_t i = 0; job->site_kinds && i < each; i++) {
        own->site_part[i] = plan->table.site_part[entry * each + i];
        own->site_part[each + i] = 0;
    }
    own->job.site_part = own->site_part;
    own->job.table_used = 1;
    for (size_t j = 0; j < 3; j++) {
        own->job.table_min[j] = job->region_node[3 * region + j];
        own->job.table_extent[j] = 1;
    }
}
