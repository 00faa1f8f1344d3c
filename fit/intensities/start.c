/* Start of joint intensities, merged from measurements of single shots. */
#include "fit/intensities/search.h"

#include "base/context_internal.h"
#include "fit/intensities/messages.h"
#include "fit/merge/indexing.h"
#include "fit/shots/records.h"
#include "fit/shots/workers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *reason_of(db_exclusion excluded) {
    switch (excluded) {
    case DB_EXCLUDED_FEW: return "it has fewer than three measurements of listed reflections";
    case DB_EXCLUDED_DARK: return "there is no light at its reflections";
    case DB_EXCLUDED_UNRELATED:
        return "its intensities do not correlate with the other shots: another crystal, or a wrong "
               "orientation";
    case DB_EXCLUDED_SCATTERED:
        return "its intensities agree far worse with the other shots than theirs with each other";
    case DB_EXCLUDED_UNDECIDED:
        return "it can be indexed in several ways, and its intensities do not decide between them";
    case DB_EXCLUDED_OTHER_HAND: return "its Bijvoet differences are those of the other hand";
    case DB_EXCLUDED_OTHER_CRYSTAL: return "it belongs to another crystal form, as other shots do";
    default: return "its intensities could not be brought to the scale of the others";
    }
}

/* Brings shots to one way of indexing, as far as their intensities determine it, and to one crystal. */
static db_status sort_shots(const db_intensity_search *w, db_observations *observations) {
    const db_shots *const all = w->all;
    db_joint_intensities *const r = w->result;
    return all->settings.joint.reindex
               ? db_joint_indexing_resolve(all, w->pass.list, all->asu.reference, observations,
                                           &r->scaling, &r->indexing, &r->kinds)
               : db_find_other_crystals(all->context, w->pass.list, all->asu.reference,
                                        observations, &r->scaling, &r->kinds);
}

/* Puts scales and temperature factors of shots into their models; reports excluded shots. */
static db_status take_scales(db_intensity_search *w) {
    db_shots *const all = w->all;
    const db_intensity_pass *const pass = &w->pass;
    const size_t scale = db_intensity_local_place(pass, DB_SCALE),
                 fall = db_intensity_local_place(pass, DB_B_FACTOR);
    db_status status = DB_OK;
    for (size_t s = 0; s < all->count && status == DB_OK; s++) {
        const db_shot_scale *const found = &w->result->scaling.shot[s];
        double *const local = all->state[s].best.local;
        if (!w->records.group[s]) continue;
        if (found->excluded == DB_NOT_EXCLUDED) {
            local[scale] *= found->scale;
            if (fall < pass->order.local) local[fall] += found->b;
            continue;
        }
        status = db_shots_exclude(all, all->context, s, DB_ERROR_INPUT, reason_of(found->excluded));
    }
    DB_TRY(db_workers_common_status(all, status));
    DB_TRY(db_records_collect(all));
    db_shots_report_excluded(all);
    db_intensity_records_group(&w->records);
    return db_shots_check_count(all);
}

/* Begins with scales of the order of 1, like their steps, for models with any scales. */
static db_status begin_normalized(db_intensity_search *w) {
    db_joint_intensities *const r = w->result;
    double factor;
    DB_TRY(db_intensity_normalize_scales(&w->pass, &factor));
    for (size_t s = 0; s < r->scaling.shots; s++) r->scaling.shot[s].scale /= factor;
    db_merged_scale(&r->merged, factor);
    return DB_OK;
}

/* Fails if the shots agree better without some of the group's rotations. */
static db_status check_symmetry(const db_intensity_search *w, const db_observations *observations) {
    const db_asu_list *const list = w->pass.list;
    db_context *const context = w->all->context;
    db_lower_symmetry lower;
    if (!w->all->settings.joint.reindex) return DB_OK;
    DB_TRY(db_lower_symmetry_find(context, list, observations, &w->result->scaling, &lower));
    return db_lower_symmetry_refuse(context, list, "shots", &lower);
}

/* Merges all shots, in rank 0. */
static db_status merge(const db_intensity_search *w, db_observations *observations) {
    const db_shots *const all = w->all;
    const db_asu_list *const list = w->pass.list;
    db_joint_intensities *const r = w->result;
    db_scaling_options options = DB_SCALING_OPTIONS_INIT;
    if (all->team.rank > 0) return DB_OK;
    options.refine_b = db_intensity_local_place(&w->pass, DB_B_FACTOR) < w->pass.order.local;
    options.hands = all->settings.joint.reindex;
    for (size_t s = 0; s < all->count; s++)
        if (!all->summary[s].used) r->scaling.shot[s].excluded = DB_EXCLUDED_BEFORE;
    DB_TRY(sort_shots(w, observations));
    DB_TRY(db_scale_shots(all->context, list, &options, (uint64_t)all->settings.joint.seed,
                          observations, &r->scaling, &r->merged));
    DB_TRY(check_symmetry(w, observations));
    if (all->asu.reference)
        r->agreement = db_reference_agreement_find(list, all->asu.reference, r->merged.intensity,
                                                   r->merged.sigma);
    return DB_OK;
}

static db_status make_room(const db_intensity_search *w) {
    DB_TRY(db_scaling_make(w->all->context, w->all->count, &w->result->scaling));
    return db_merged_make(w->all->context, w->pass.list->count, &w->result->merged);
}

db_status db_intensity_start(db_intensity_search *w) {
    db_shots *const all = w->all;
    const db_asu_list *const list = w->pass.list;
    db_joint_intensities *const r = w->result;
    db_observations observations = { 0 };
    db_status status = db_workers_common_status(all, make_room(w));
    if (status == DB_OK) status = db_intensity_observe(&w->records, NULL, &observations);
    if (status == DB_OK) status = db_workers_common_status(all, merge(w, &observations));
    if (status == DB_OK) status = db_intensity_share_start(all, r);
    if (status == DB_OK) status = take_scales(w);
    if (status == DB_OK && all->settings.joint.passes > 0) status = begin_normalized(w);
    for (size_t h = 0; h < list->count && status == DB_OK; h++)
        w->trial[h] = r->merged.multiplicity[h] ? r->merged.intensity[h] : 0;
    if (status == DB_OK)
        db_intensity_restraint_begin(list, &all->settings.joint, &r->merged, &w->restraint);
    if (status == DB_OK) status = db_intensity_share_restraint(all, &w->restraint, list->count);
    if (status == DB_OK && all->settings.joint.passes == 0) { /* no further passes */
        r->observations = observations;
        return DB_OK;
    }
    db_observations_clear(&observations);
    db_merged_clear(&r->merged);
    return status;
}
