/* What shots say of intensities by themselves, and the start that is merged from it. */
#include "fit/intensities/work.h"

#include "base/context_internal.h"
#include "fit/intensities/messages.h"
#include "fit/shots/records.h"
#include "fit/shots/workers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Adds the boxes of a shot whose record has been read. */
static void add_shot(const db_reduced_equations *r, const double *value, db_observations *o,
                     size_t *at) {
    for (size_t b = 0; b < r->count; b++) {
        const uint32_t h = r->reflection[b];
        const int16_t *const hkl = r->hkl[b];
        double intensity, variance;
        if (!db_intensity_box(r, b, value ? value[h] : 0, &intensity, &variance)) continue;
        o->list[(*at)++] = (db_observation){
            .reflection = h,
            .intensity = (float)intensity,
            .sigma = (float)sqrt(variance),
            .partiality = r->partiality[b],
            .light = r->light[b],
            .hkl = { hkl[0], hkl[1], hkl[2] },
        };
    }
}

/* Those of this process' shots. */
static db_status observe_own(db_intensity_search *w, const double *value, db_observations *o) {
    const db_shots *const all = w->all;
    size_t count = 0, at = 0;
    for (size_t s = 0; s < all->count; s++) count += w->group[s] ? all->state[s].place.blocks : 0;
    DB_TRY(db_observations_make(all->context, all->count, count, o));
    for (size_t s = 0; s < all->count; s++) {
        db_reduced_equations record;
        o->first[s] = at;
        if (!w->group[s]) continue;
        DB_TRY(db_intensity_search_read(w, s, 0, &record));
        add_shot(&record, value, o, &at);
    }
    o->first[all->count] = at;
    return DB_OK;
}

db_status db_intensity_observe(db_intensity_search *w, int first, db_observations *observations) {
    db_status status = observe_own(w, first ? NULL : w->value[0], observations);
    status = db_workers_common_status(w->all, status);
    return status == DB_OK ? db_intensity_bring(w->all, observations) : status;
}

static const char *reason_of(db_aside aside) {
    switch (aside) {
    case DB_ASIDE_FEW: return "too few of its reflections are on other shots";
    case DB_ASIDE_DARK: return "there is no light at its reflections";
    case DB_ASIDE_UNRELATED:
        return "its intensities have nothing in common with those of the other shots: another "
               "crystal, or a wrong orientation";
    case DB_ASIDE_SCATTERED:
        return "its intensities agree far worse with those of the other shots than theirs do";
    case DB_ASIDE_UNDECIDED:
        return "it could be indexed in several ways, and its intensities do not tell which is "
               "right";
    case DB_ASIDE_OTHER_HAND: return "its Bijvoet differences are those of the other hand";
    case DB_ASIDE_OTHER_CRYSTAL:
        return "its intensities are those of another crystal, which other shots show, too";
    default: return "its intensities could not be brought to the scale of the others";
    }
}

/* Shots are brought to one way of indexing, as far as their intensities tell it, and to one crystal. */
static db_status sort_shots(db_intensity_search *w, db_observations *observations) {
    db_indexing_options options = DB_INDEXING_OPTIONS_INIT;
    const db_shots *const all = w->all;
    db_joint_intensities *const r = w->result;
    return all->settings.joint.reindex
               ? db_indexing_resolve(all->context, w->pass.list, &options, all->reference,
                                     observations, &r->scaling, &r->indexing, &r->kinds)
               : db_find_other_crystals(all->context, w->pass.list, all->reference, observations,
                                        &r->scaling, &r->kinds);
}

/* Scales and temperature factors of shots go into their models; those set aside are told. */
static db_status take_scales(db_intensity_search *w) {
    db_shots *const all = w->all;
    const size_t scale = db_intensity_local_place(w, DB_SCALE),
                 fall = db_intensity_local_place(w, DB_B_FACTOR);
    db_status status = DB_OK;
    for (size_t s = 0; s < all->count && status == DB_OK; s++) {
        const db_shot_scale *const found = &w->result->scaling.shot[s];
        double *const local = all->state[s].best.local;
        if (!w->group[s]) continue;
        if (found->aside == DB_ASIDE_NOT) {
            local[scale] *= found->scale;
            if (fall < w->pass.order.local) local[fall] += found->b;
            continue;
        }
        status = db_shots_exclude(all, all->context, s, DB_ERROR_INPUT, reason_of(found->aside));
    }
    DB_TRY(db_workers_common_status(all, status));
    DB_TRY(db_records_collect(all));
    db_shots_report_excluded(all);
    db_intensity_search_group(w);
    return db_shots_check_count(all);
}

/* Steps of scales are of the order of 1, so that is what scales begin with, too, wherever their models had
 * them. */
static db_status begin_normalized(db_intensity_search *w) {
    const db_joint_intensities *const r = w->result;
    double factor;
    DB_TRY(db_intensity_normalize_scales(w, &factor));
    for (size_t s = 0; s < r->scaling.shots; s++) r->scaling.shot[s].scale /= factor;
    for (size_t h = 0; h < w->reflections; h++) {
        r->merged.intensity[h] *= factor;
        r->merged.sigma[h] *= factor;
    }
    return DB_OK;
}

/* Of all shots, by rank 0. */
static db_status merge(db_intensity_search *w, db_observations *observations, db_merged *merged) {
    const db_shots *const all = w->all;
    db_joint_intensities *const r = w->result;
    db_scaling_options options = DB_SCALING_OPTIONS_INIT;
    options.refine_b = db_intensity_local_place(w, DB_B_FACTOR) < w->pass.order.local;
    options.hands = all->settings.joint.reindex;
    for (size_t s = 0; s < all->count; s++)
        if (!all->summary[s].used) r->scaling.shot[s].aside = DB_ASIDE_BEFORE;
    DB_TRY(sort_shots(w, observations));
    DB_TRY(db_scale_shots(all->context, w->pass.list, &options, (uint64_t)all->settings.joint.seed,
                          observations, &r->scaling, merged));
    if (all->reference)
        r->agreement = db_reference_agreement_find(w->pass.list, all->reference, merged->intensity,
                                                   merged->sigma);
    return DB_OK;
}

db_status db_intensity_start(db_intensity_search *w) {
    db_shots *const all = w->all;
    db_joint_intensities *const r = w->result;
    db_observations observations = { 0 };
    db_status status = db_scaling_make(all->context, all->count, &r->scaling);
    if (status == DB_OK) status = db_merged_make(all->context, w->reflections, &r->merged);
    status = db_workers_common_status(all, status);
    if (status == DB_OK) status = db_intensity_observe(w, 1, &observations);
    if (status == DB_OK)
        status = db_workers_common_status(
            all, all->team.rank == 0 ? merge(w, &observations, &r->merged) : DB_OK);
    if (status == DB_OK) status = db_intensity_share_start(w);
    if (status == DB_OK) w->errors = r->scaling.errors;
    if (status == DB_OK) status = take_scales(w);
    if (status == DB_OK && all->settings.joint.passes > 0) status = begin_normalized(w);
    for (size_t h = 0; h < w->reflections && status == DB_OK; h++)
        w->value[1][h] = r->merged.multiplicity[h] ? r->merged.intensity[h] : 0;
    if (status == DB_OK)
        db_intensity_restraint_begin(w->pass.list, &all->settings.joint, &r->merged, &w->restraint);
    if (status == DB_OK) status = db_intensity_share_restraint(w);
    if (status == DB_OK && all->settings.joint.passes == 0) { /* that is all */
        r->observations = observations;
        return DB_OK;
    }
    db_observations_clear(&observations);
    db_merged_clear(&r->merged);
    return status;
}
