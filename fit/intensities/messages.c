/* Messages between processes in the stage of joint intensities. */
#include "fit/intensities/messages.h"

#include "base/context_internal.h"
#include "fit/shots/records.h"
#include "fit/shots/shares.h"
#include "fit/shots/team.h"
#include "fit/shots/workers.h"

#include <stdlib.h>
#include <string.h>

/* Gathers this process' lists in `to`, in the order of the shots. bytes, item: [shots] of these lists. */
static db_status bring(db_shots *all, size_t *bytes, void **item, const db_observations *own,
                       db_observations *to) {
    size_t sum = 0;
    for (size_t s = 0; s < all->count; s++) {
        bytes[s] = (own->first[s + 1] - own->first[s]) * sizeof *own->list;
        item[s] = db_shots_own(all, s) ? own->list + own->first[s] : NULL;
    }
    DB_TRY(db_records_hear(all, bytes, sizeof *bytes));
    for (size_t s = 0; s < all->count; s++) sum += bytes[s] / sizeof *own->list;
    DB_TRY(db_workers_common_status(
        all, all->team.rank ? DB_OK : db_observations_make(all->context, all->count, sum, to)));
    for (size_t s = 0; s < all->count && to->first; s++) {
        to->first[s + 1] = to->first[s] + bytes[s] / sizeof *to->list;
        if (item[s]) memcpy(to->list + to->first[s], item[s], bytes[s]);
        item[s] = to->list + to->first[s];
    }
    return db_records_gather_known(all, bytes, item, 0);
}

db_status db_intensity_bring(db_shots *all, db_observations *observations) {
    db_observations gathered = { 0 };
    if (all->team.size == 1) return DB_OK;
    size_t *const bytes = calloc(all->count + 1, sizeof *bytes);
    void **const item = calloc(all->count + 1, sizeof *item);
    db_status status = db_workers_need_memory(all, bytes && item, "the intensities of the shots");
    if (status == DB_OK && bytes && item && observations->first)
        status = bring(all, bytes, item, observations, &gathered);
    free(bytes);
    free(item);
    db_observations_clear(observations);
    *observations = gathered;
    return status;
}

static db_status broadcast(const db_shots *all, void *data, size_t size) {
    return db_team_broadcast(&all->team, all->context, data, size);
}

static db_status share_merged(const db_shots *all, db_merged *m) {
    DB_TRY(broadcast(all, m->intensity, m->count * sizeof *m->intensity));
    DB_TRY(broadcast(all, m->sigma, m->count * sizeof *m->sigma));
    return broadcast(all, m->multiplicity, m->count * sizeof *m->multiplicity);
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
            : db_indexing_result_make(all->context, &all->asu.reflections, all->count, indexing);
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
