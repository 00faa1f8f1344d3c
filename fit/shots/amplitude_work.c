/* Records of shots at the best point, and which shots take part. */
#include "fit/shots/amplitude_work.h"

#include "base/context_internal.h"

db_status db_amplitude_work_read(void *user, size_t shot, int thread, db_amplitude_record *record) {
    const db_amplitude_work *const w = user;
    db_context *const context = w->all->worker_count > 1 ? w->all->worker[thread] : w->all->context;
    const db_status status = db_amplitude_shot_read(w->all, context, &w->pass.order, shot, w->best,
                                                    w->memory[thread], record);
    if (status != DB_OK && context != w->all->context) {
#pragma omp critical(db_amplitude_message)
        db_record_message(w->all->context, "%s", db_context_message(context));
    }
    return status;
}

void db_amplitude_work_group(db_amplitude_work *w) {
    const uint64_t seed = (uint64_t)w->all->settings.joint.seed;
    for (size_t s = 0; s < w->all->count; s++)
        w->group[s] = (unsigned char)(!w->all->summary[s].used   ? 0
                                      : db_half_of_shot(seed, s) ? DB_HALF_B
                                                                 : DB_HALF_A);
}
