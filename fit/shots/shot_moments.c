/* Spots, then what was observed of them. */
#include "fit/shots/shot_moments.h"

#include "base/context_internal.h"

db_status db_shot_moments_write(db_shots *all, db_context *context, size_t shot,
                                const db_moments *moments) {
    db_shot_moments *const to = &all->state[shot].moments;
    *to = (db_shot_moments){ .count = moments->count, .blur = moments->blur };
    DB_TRY(db_store_put(context, &all->store, moments->spot, to->count * sizeof *moments->spot,
                        &to->spots));
    DB_TRY(db_store_put(context, &all->store, moments->observed,
                        to->count * sizeof *moments->observed, &to->observed));
    return DB_OK;
}

db_status db_shot_moments_read(const db_shots *all, db_context *context, size_t shot,
                               const db_experiment *model, const db_variables *variables,
                               db_moments *moments) {
    const db_shot_moments *const from = &all->state[shot].moments;
    DB_TRY(db_moments_allocate(context, model, from->count, variables, from->blur, moments));
    moments->count = moments->to = from->count;
    db_status status = db_store_get(context, &all->store, from->spots, moments->spot,
                                    from->count * sizeof *moments->spot);
    if (status == DB_OK)
        status = db_store_get(context, &all->store, from->observed, moments->observed,
                              from->count * sizeof *moments->observed);
    if (status != DB_OK) db_moments_clear(moments);
    return status;
}
