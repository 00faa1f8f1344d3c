/* Structure factors as the kernels read them: squared on the box, or as they are with a margin for
 * interpolation. */
#include "engine/plan_internal.h"
#include "model/amplitude_box.h"

#include <stdlib.h>

static size_t margin_entries(const db_structure_factors *f) {
    if (!f->amplitude || !f->interpolate) return 0;
    size_t count = 1;
    for (int j = 0; j < 3; j++) count *= (size_t)f->extent[j] + 2 * DB_TABLE_MARGIN;
    return count;
}

/* What the plan's precision needs and it does not have yet. */
db_status db_plan_allocate_table(db_plan *plan) {
    plan->margin_count = margin_entries(&plan->experiment.structure_factors);
    void *made;
    if (plan->margin_count) {
        if (!plan->amplitude_table)
            plan->amplitude_table = malloc(plan->margin_count * sizeof(double));
        made = plan->amplitude_table;
    } else if (plan->precision == DB_PRECISION_MIXED) {
        if (!plan->intensity_float)
            plan->intensity_float = malloc((plan->table_count + 1) * sizeof(float));
        made = plan->intensity_float;
    } else {
        if (!plan->intensity_double)
            plan->intensity_double = malloc((plan->table_count + 1) * sizeof(double));
        made = plan->intensity_double;
    }
    return made ? DB_OK : db_fail_memory(plan->context, "the structure factors of a plan");
}

db_status db_plan_change_precision(db_plan *plan, db_precision precision) {
    plan->precision = precision;
    DB_TRY(db_plan_allocate_table(plan));
    db_plan_fill_table(plan);
    db_plan_fill_values(plan);
    return DB_OK;
}

static void fill_squares(db_plan *plan) {
    const db_structure_factors *f = &plan->experiment.structure_factors;
    for (size_t i = 0; i <= plan->table_count; i++) {
        const double amplitude = i < plan->table_count ? f->amplitude[i] : f->default_F;
        if (plan->intensity_double) plan->intensity_double[i] = amplitude * amplitude;
        if (plan->intensity_float) plan->intensity_float[i] = (float)(amplitude * amplitude);
    }
}

/* The entry of the list at a place of the box with margin. */
static double with_margin(const db_structure_factors *f, const int place[3]) {
    int node[3];
    size_t entry;
    for (int j = 0; j < 3; j++) node[j] = f->min[j] + place[j] - DB_TABLE_MARGIN;
    return db_amplitude_entry(f, node, &entry) ? f->amplitude[entry] : f->default_F;
}

static void fill_amplitudes(db_plan *plan) {
    const db_structure_factors *f = &plan->experiment.structure_factors;
    int place[3], extent[3];
    size_t i = 0;
    for (int j = 0; j < 3; j++) extent[j] = f->extent[j] + 2 * DB_TABLE_MARGIN;
    for (place[0] = 0; place[0] < extent[0]; place[0]++)
        for (place[1] = 0; place[1] < extent[1]; place[1]++)
            for (place[2] = 0; place[2] < extent[2]; place[2]++, i++) {
                plan->amplitude_table[i] = with_margin(f, place);
            }
}

void db_plan_fill_table(db_plan *plan) {
    plan->table_version++;
    if (plan->tolerance > 0)
        plan->largest_intensity = db_largest_intensity(&plan->experiment.structure_factors);
    if (plan->margin_count)
        fill_amplitudes(plan);
    else
        fill_squares(plan);
}
