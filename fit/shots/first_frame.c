/* What the model of the first shot in use says of all. */
#include "fit/shots/first_frame.h"

#include "base/context_internal.h"
#include "fit/search/automatic.h"
#include "fit/shots/shares.h"
#include "fit/shots/team.h"

#include <math.h>
#include <string.h>

static db_status describe_frame(db_context *context, const db_experiment *model,
                                db_first_frame *first) {
    const db_goniometer *const g = &model->goniometer;
    if (!(model->oversample > 0)) return DB_OK; /* there is no model */
    first->known = 1;
    first->distance = model->detector.distance;
    first->wavelength = model->beam.wavelength;
    first->width = fabs(g->phi_step * g->phi_steps);
    memcpy(first->cell, model->crystal.cell, sizeof first->cell);
    db_crystal_matrix(&model->crystal, first->a_star);
    return db_fit_sphere_is_flat(context, model, &first->is_flat);
}

db_status db_first_frame_tell(const db_shots *all, const db_fit_shots_result *result,
                              db_first_frame *first) {
    const db_fit_team *const team = &all->team;
    size_t s = 0;
    while (s < all->count && !all->summary[s].used) s++; /* rank 0 knows */
    DB_TRY(db_team_broadcast(team, all->context, &s, sizeof s));
    memset(first, 0, sizeof *first);
    if (s == all->count) return DB_OK;
    const int owner = db_shares_owner(all, s / all->chunk), is_mine = team->rank == owner;
    DB_TRY(db_team_common_status(
        team, all->context,
        is_mine ? describe_frame(all->context, &result->shot[s].experiment, first) : DB_OK));
    if (owner > 0 && is_mine) DB_TRY(db_team_send(team, all->context, 0, first, sizeof *first));
    if (owner > 0 && team->rank == 0)
        DB_TRY(db_team_receive(team, all->context, owner, first, sizeof *first));
    return db_team_broadcast(team, all->context, first, sizeof *first);
}
