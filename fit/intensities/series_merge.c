/* Passages of a rotation series become observations, which are scaled and merged. */

#include "base/context_internal.h"
#include "base/vector.h"
#include "fit/intensities/joint_intensities.h"
#include "fit/intensities/restraint.h"
#include "fit/merge/smooth_scales.h"

#include <dualbragg/expert/symmetry.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double LEAST_RECORDED = 0.05; /* of a passage: less depends too much on the model */
static const double KNOTS_APART = 5;       /* degree of rotation */
static const double KNOTS_OF_FRAMES = 10;  /* frames, of a crystal that does not turn */

/* Work of merging. */
typedef struct merging {
    const db_shots *all;
    const db_fit_shots_result *from;
    db_joint_intensities *to;
    const db_first_frame *first;
    db_sweep_time *time; /* [passages] */
    size_t *shot;        /* [passages] frame on which its middle is */
} merging;

/* The space group of the settings, or P 1 if they name none: a lattice or a crystal system leaves it open. */
static db_status name_group(const db_shots *all, const double cell[6], const char **name) {
    db_space_group *const group = malloc(sizeof *group);
    if (!group) return db_fail_memory(all->context, "the space group of a series");
    *name = all->settings.amplitude_group;
    const db_status status =
        **name ? db_space_group_of_cell(all->context, *name, cell, group) : DB_OK;
    free(group);
    if (status == DB_OK || status == DB_ERROR_MEMORY) return status;
    db_notice(all->context,
              "symmetry '%s' is no space group for merged intensities, which are those of P 1: %s",
              *name, db_context_message(all->context));
    *name = "";
    return DB_OK;
}

/* Noise of settings and crystals without light is no measurement. */
static int is_measured(const db_shots *all, const db_fit_passage *p) {
    return !(all->frames.is_dark && all->frames.is_dark[p->first]) && p->pixels > 0 &&
           p->photons > 0 && p->recorded >= LEAST_RECORDED && p->square_sigma > 0 &&
           isfinite(p->square_sigma) && isfinite(p->square);
}

/* Lists the reflections of the asymmetric unit to the finest resolution that was measured. */
static db_status list_measured(merging *m) {
    const db_shots *const all = m->all;
    const double *const cell = m->first->cell;
    double most = 0;
    for (size_t n = 0; n < m->from->passage_count; n++) {
        const db_fit_passage *const p = &m->from->passages[n];
        const double hkl[3] = { p->hkl[0], p->hkl[1], p->hkl[2] };
        double q[3];
        db_apply(m->first->a_star, hkl, q);
        if (is_measured(all, p)) most = fmax(most, db_length(q));
    }
    const double measured = 1 / (most * (1 + 1e-6)), asked = all->settings.joint.dmin,
                 finest = asked > measured ? asked : measured;
    const char *group;
    DB_TRY(name_group(all, cell, &group));
    return db_asu_list_make(all->context, cell, group, finest, all->settings.joint.anomalous,
                            &m->to->list);
}

/* Sweeps begin with their first frames in use, and the last one ends with its last. */
static db_status find_runs(merging *m) {
    const db_shots *const all = m->all;
    const double width = m->first->width, apart = all->options->knots > 0 ? all->options->knots
                                                  : width > 0 ? fmax(1, KNOTS_APART / width)
                                                              : KNOTS_OF_FRAMES;
    double last = 0;
    const size_t sweeps = all->frames.sweep ? all->frames.sweep[all->count - 1] + 1 : 1;
    double *const begin = calloc(sweeps + 1, sizeof *begin);
    if (!begin) return db_fail_memory(all->context, "the sweeps of a series");
    for (size_t s = 0; s < all->count; s++)
        if (all->summary[s].used) last = (double)s + 1;
    for (size_t w = 0; w <= sweeps; w++) begin[w] = last;
    for (size_t s = all->count; s-- > 0;)
        for (size_t w = all->frames.sweep ? all->frames.sweep[s] + 1 : 1;
             all->summary[s].used && w-- > 0;)
            begin[w] = (double)s; /* a sweep without a frame in use ends where it begins */
    const db_status status =
        db_smooth_scales_make(all->context, sweeps, begin, apart, &m->to->smooth);
    free(begin);
    return status;
}

/* Places passages: frames, and times within sweeps. */
static void place_passages(merging *m) {
    for (size_t n = 0; n < m->from->passage_count; n++) {
        const db_fit_passage *const p = &m->from->passages[n];
        const size_t sweep = m->all->frames.sweep ? m->all->frames.sweep[p->first] : 0;
        const double at = fmin(fmax(p->position[2], (double)p->first), (double)p->last + 1);
        m->time[n] = (db_sweep_time){ (uint32_t)sweep, (float)at };
        m->shot[n] = (size_t)fmin(floor(at), (double)p->last);
    }
}

static db_observation observation_of(const merging *m, const db_fit_passage *p) {
    return (
        db_observation){ .reflection = db_asu_number(&m->to->list, p->hkl),
                         .intensity = (float)p->square,
                         .sigma = (float)p->square_sigma,
                         .partiality = (float)fmin(1, p->recorded),
                         .light = (float)p->photons,
                         .hkl = { (int16_t)p->hkl[0], (int16_t)p->hkl[1], (int16_t)p->hkl[2] } };
}

/* Makes observations of the passages, frame by frame; time: [observations], in their order. */
static db_status observe_passages(merging *m, db_sweep_time *time) {
    db_observations *const o = &m->to->observations;
    const size_t shots = m->all->count;
    size_t count = 0;
    for (size_t n = 0; n < m->from->passage_count; n++)
        count += (size_t)is_measured(m->all, &m->from->passages[n]);
    DB_TRY(db_observations_make(m->all->context, shots, count, o));
    for (size_t n = 0; n < m->from->passage_count; n++)
        if (is_measured(m->all, &m->from->passages[n])) o->first[m->shot[n] + 1]++;
    for (size_t s = 0; s < shots; s++) o->first[s + 1] += o->first[s];
    for (size_t n = m->from->passage_count; n-- > 0;) { /* backwards, as ends become beginnings */
        const db_fit_passage *const p = &m->from->passages[n];
        if (!is_measured(m->all, p)) continue;
        const size_t at = --o->first[m->shot[n] + 1];
        o->list[at] = observation_of(m, p);
        time[at] = m->time[n];
    }
    for (size_t s = 0; s < shots; s++) o->first[s] = o->first[s + 1];
    o->first[shots] = count;
    return DB_OK;
}

/* Takes the known intensities of the reflections. A file without any of them does not spoil the results. */
static db_status take_reference(merging *m) {
    const db_structure_factors *const known = m->all->settings.joint.reference;
    db_context *const context = m->all->context;
    if (!known) return DB_OK;
    const db_status status =
        db_intensity_reference_make(context, &m->to->list, known, &m->to->reference);
    if (status != DB_ERROR_INPUT) return status;
    db_notice(context, "%s", db_context_message(context));
    return DB_OK;
}

/* Brings the crystals to one way of indexing. Those whose intensities do not tell it among others are left out. */
static db_status sort_crystals(const merging *m) {
    const db_shots *const all = m->all;
    db_observations *const o = &m->to->observations;
    db_scaling scaling = { 0 };
    if (!all->settings.joint.reindex) return DB_OK;
    DB_TRY(db_scaling_make(all->context, all->count, &scaling));
    const db_status status = db_joint_indexing_resolve(all, &m->to->list, m->to->reference, o,
                                                       &scaling, &m->to->indexing, NULL);
    for (size_t s = 0; s < all->count && status == DB_OK; s++)
        for (size_t i = o->first[s]; i < o->first[s + 1]; i++)
            if (scaling.shot[s].excluded == DB_EXCLUDED_UNDECIDED)
                o->list[i].reflection = DB_NO_REFLECTION;
    db_scaling_clear(&scaling);
    return status;
}

/* Brings observations to the scale of the first frame. */
static void apply_scales(merging *m, const db_sweep_time *time) {
    db_observations *const o = &m->to->observations;
    for (size_t i = 0; i < o->first[o->shots]; i++) {
        db_observation *const one = &o->list[i];
        if (one->reflection == DB_NO_REFLECTION) continue;
        const double d = (double)m->to->list.d[one->reflection],
                     g = db_smooth_scale_at(&m->to->smooth, &time[i], 1 / (2 * d * d));
        one->intensity = (float)((double)one->intensity / g);
        one->sigma = (float)((double)one->sigma / g);
        one->light = (float)((double)one->light * g);
    }
}

static db_status merge_passages(merging *m) {
    const db_shots *const all = m->all;
    db_joint_intensities *const to = m->to;
    const db_scaling_options options = { .held = 1 };
    db_sweep_time *const time = calloc(m->from->passage_count + 1, sizeof *time);
    m->time = calloc(m->from->passage_count + 1, sizeof *m->time);
    m->shot = calloc(m->from->passage_count + 1, sizeof *m->shot);
    db_status status =
        db_need_memory(all->context, time && m->time && m->shot, "the intensities of a series");
    if (status == DB_OK) status = find_runs(m);
    if (status == DB_OK) {
        place_passages(m);
        status = observe_passages(m, time);
    }
    if (status == DB_OK) status = take_reference(m);
    if (status == DB_OK) status = sort_crystals(m);
    if (status == DB_OK)
        status =
            db_smooth_scales_fit(all->context, &to->list, &to->observations, time, &to->smooth);
    if (status == DB_OK) {
        apply_scales(m, time);
        status = db_scaling_make(all->context, all->count, &to->scaling);
    }
    if (status == DB_OK) status = db_merged_make(all->context, to->list.count, &to->merged);
    if (status == DB_OK)
        status =
            db_scale_shots(all->context, &to->list, &options, (uint64_t)all->settings.joint.seed,
                           &to->observations, &to->scaling, &to->merged);
    if (status == DB_OK) status = db_joint_symmetry_check(all, to);
    if (status == DB_OK && to->reference)
        to->agreement = db_reference_agreement_find(&to->list, to->reference, to->merged.intensity,
                                                    to->merged.sigma);
    free(time);
    return status;
}

db_status db_series_merge(const db_shots *all, const db_first_frame *first,
                          db_fit_shots_result *result) {
    merging m = { .all = all, .from = result, .first = first };
    size_t measured = 0;
    for (size_t n = 0; n < result->passage_count; n++)
        measured += (size_t)is_measured(all, &result->passages[n]);
    if (!measured) return DB_OK;
    m.to = result->merged = calloc(1, sizeof *result->merged);
    if (!m.to) return db_fail_memory(all->context, "the intensities of a series");
    m.to->wavelength = first->wavelength;
    db_status status = list_measured(&m);
    if (status == DB_OK) status = merge_passages(&m);
    free(m.time);
    free(m.shot);
    return status;
}
