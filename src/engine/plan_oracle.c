#include "engine/plan_oracle.h"

#include "base/stage.h"
#include "engine/execute.h"
#include "base/threads.h"
#include "kernel/oracle.h"

/* A tile's rows as a region of their own. */
static db_region rows_of(const db_plan *plan, const db_tile *tile) {
    db_region r = plan->regions[tile->region];
    r.offset += (size_t)tile->row_begin * r.stride;
    r.slow_start += tile->row_begin;
    r.slow_count = tile->row_end - tile->row_begin;
    return r;
}

static void render_tiles(const db_plan *plan, const db_oracle *oracle, double *image,
                         double *const *derivatives) {
    const long tiles = (long)plan->tile_count;
#if defined(_OPENMP)
    const int threads = db_threads_for(plan->context, tiles);
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1)
#endif
    for (long t = 0; t < tiles; t++) {
        const db_region rows = rows_of(plan, &plan->tiles[t]);
        db_oracle_render(oracle, &rows, 1, image, derivatives);
    }
}

db_status db_plan_oracle_shaken(db_plan *plan, db_interface_shake shake, void *user, double *image,
                                double *const *derivatives) {
    DB_TRY(db_plan_need_parameters(plan));
    db_stage_begin(plan->context, "oracle");
    for (size_t first = 0; first < plan->parameter_count; first += DB_SLOPES_AT_ONCE) {
        const db_parameter_slots slots = db_plan_slots(plan, first);
        const db_oracle oracle = { &plan->experiment, &plan->dual, &slots, &plan->curve.job };
        db_model_dual(&plan->experiment, plan->directions, &slots, &plan->dual);
        if (shake) shake(user, &plan->experiment, &plan->dual);
        render_tiles(plan, &oracle, image, derivatives + first);
    }
    db_stage_end(plan->context, "oracle");
    return DB_OK;
}

db_status db_plan_oracle(db_plan *plan, double *image, double *const *derivatives) {
    return db_plan_oracle_shaken(plan, NULL, NULL, image, derivatives);
}
