/* Messages between processes in the stage of joint intensities. */
#include "fit/intensities/messages.h"

#include "base/context_internal.h"
#include "fit/shots/records.h"
#include "fit/shots/shares.h"
#include "fit/shots/team.h"
#include "fit/shots/workers.h"

#include <stdlib.h>
#include <string.h>

/* Makes room in rank 0 for the measurements of all shots; shot s has count[s]. */
static db_status make_room(db_shots *all, const size_t *count, db_observations *o) {
    size_t sum = 0;
    for (size_t s = 0; s < all->count; s++) sum += count[s];
    DB_TRY(db_observations_make(all->context, all->count, sum, o));
    for (size_t s = 0; s < all->count; s++) o->first[s + 1] = o->first[s] + count[s];
    return DB_OK;
}

/* Passes lists in the order of the shots. */
static db_status pass_lists(const db_shots *all, const size_t *count, const db_observations *own,
                            const db_observations *to) {
    const int rank = all->team.rank;
    for (size_t s = 0; s < all->count; s++) {
        const int owner = db_shares_owner(all, s / all->chunk);
        const size_t bytes = count[s] * sizeof *own->list;
        if (!bytes || (rank > 0 && owner != rank)) continue;
        db_observation *const place = rank == 0 && to->first ? to->list + to->first[s] : NULL;
        if (owner == rank && place)
            memcpy(place, own->list + own->first[s], bytes);
        else
            DB_TRY(place ? db_team_receive(&all->team, all->context, owner, place, bytes)
                         : db_team_send(&all->team, all->context, 0, own->list + own->first[s],
                                        bytes));
    }
    return DB_OK;
}

static db_status bring(db_shots *all, size_t *count, const db_observations *own,
                       db_observations *to) {
    for (size_t s = 0; s < all->count; s++) count[s] = own->first[s + 1] - own->first[s];
    DB_TRY(db_records_hear(all, count, sizeof *count));
    DB_TRY(db_workers_common_status(all, all->team.rank ? DB_OK : make_room(all, count, to)));
    return pass_lists(all, count, own, to);
}

db_status db_intensity_bring(db_shots *all, db_observations *observations) {
    db_observations gathered = { 0 };
    if (all->team.size == 1) return DB_OK;
    size_t *const count = calloc(all->count + 1, sizeof *count);
    db_status status = db_workers_common_status(
        all, count ? DB_OK : db_fail_memory(all->context, "the intensities of the shots"));
    if (status == DB_OK && count && observations->first)
        status = bring(all, count, observations, &gathered);
    free(count);
    db_observations_clear(observations);
    *observations = gathered;
    return status;
}

static db_status broadcast(const db_shots *all, void *data, size_t size) {
    return db_team_broadcast(&all->team, all->context, data, size);
}

static db_status share_merged(const db_shots *all, db_merged *m) {
    const size_t values = m->count * sizeof *m->intensity,
                 counts = m->count * sizeof *m->multiplicity;
    DB_TRY(broadcast(all, m->intensity, values));
    DB_TRY(broadcast(all, m->sigma, values));
    DB_TRY(broadcast(all, m->multiplicity, counts));
    for (int h = 0; h < 2; h++) {
        DB_TRY(broadcast(all, m->half[h], values));
        DB_TRY(broadcast(all, m->half_sigma[h], values));
        DB_TRY(broadcast(all, m->half_multiplicity[h], counts));
    }
    return DB_OK;
}

db_status db_intensity_share_restraint(const db_shots *all, db_intensity_restraint *r,
                                       size_t reflections) {
    const size_t bytes = reflections * sizeof(double);
    if (!r->strength) return DB_OK;
    DB_TRY(broadcast(all, &r->scale, sizeof r->scale));
    DB_TRY(broadcast(all, r->centre, bytes));
    DB_TRY(broadcast(all, r->strength, bytes));
    return broadcast(all, r->pull, bytes);
}

static db_status share_indexing(db_shots *all, db_indexing_result *indexing) {
    if (!all->settings.joint.reindex) return DB_OK;
    const db_status status =
        all->team.rank == 0
            ? DB_OK
            : db_indexing_result_make(all->context, &all->reflections, all->count, indexing);
    DB_TRY(db_workers_common_status(all, status));
    return db_records_tell(all, indexing->way, sizeof *indexing->way);
}

db_status db_intensity_share_start(db_shots *all, db_joint_intensities *r) {
    db_scaling *const scaling = &r->scaling;
    DB_TRY(share_merged(all, &r->merged));
    DB_TRY(broadcast(all, &scaling->errors, sizeof scaling->errors));
    DB_TRY(db_records_tell(all, scaling->shot, sizeof *scaling->shot));
    return share_indexing(all, &r->indexing);
}

db_status db_intensity_bring_wavelength(db_shots *all, const db_fit_shots_result *result) {
    size_t shot = 0;
    if (!result->intensities) return DB_OK;
    double *const wavelength = &result->intensities->wavelength;
    while (all->team.rank == 0 && shot < all->count && !all->summary[shot].used) shot++;
    DB_TRY(broadcast(all, &shot, sizeof shot));
    if (shot == all->count) return DB_OK;
    const int owner = db_shares_owner(all, shot / all->chunk), rank = all->team.rank;
    if (rank == owner) *wavelength = result->shot[shot].experiment.beam.wavelength;
    if (owner == 0) return DB_OK;
    if (rank == owner)
        return db_team_send(&all->team, all->context, 0, wavelength, sizeof *wavelength);
    return rank == 0
               ? db_team_receive(&all->team, all->context, owner, wavelength, sizeof *wavelength)
               : DB_OK;
}
