/* Stages of a refinement of many shots: the usual ones, which of them are joint, and their
 * order. */
#include "fit/shots/joint_stages.h"

#include "base/context_internal.h"
#include "fit/config/algorithms.h"
#include "fit/config/orientation.h"
#include "fit/config/quantity.h"

#include <dualbragg/expert/fit_configurations.h>
#include <dualbragg/expert/fit_quantities.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A parameter that follows another is shared if that one is. */
static int is_shared(const db_fit_settings *settings, const db_fit_parameter *p) {
    for (size_t l = 0; l < settings->parameter_count && db_fit_parameter_is_tied(p); l++)
        if (db_fit_quantity_of(&settings->parameters[l]).number == p->follows.number)
            return db_fit_parameter_is_shared(&settings->parameters[l]);
    return db_fit_parameter_is_shared(p);
}

/* A scale that free intensities would take, but for those that frames share. */
static int needs_frames(const db_fit_settings *settings, const db_fit_parameter *p) {
    return p->parameter == DB_SCALE && settings->intensity == DB_FIT_FREE;
}

/* Stage number `to` refines what stage number `from` does, but for what is shared if only_local. 0:
 * that is nothing. */
static int take_over(db_fit_settings *settings, size_t from, size_t to, int only_local) {
    int any = 0;
    for (size_t i = 0; i < settings->parameter_count; i++) {
        db_fit_parameter *const p = &settings->parameters[i];
        const int refined = db_fit_parameter_in_stage(p, from) &&
                            !(only_local && (is_shared(settings, p) || needs_frames(settings, p)));
        db_fit_parameter_set_stage(p, to, refined);
        any |= refined && !db_fit_parameter_is_tied(p);
    }
    return any;
}

/* Of the stages of a shot by itself, what is not shared; then joint ones. */
static void share_stages(db_fit_settings *settings) {
    /* What is shared is wrong yet, so that no shot's own minimum is right; before joint intensities,
     * which refine all anew, even less so. */
    const double enough = settings->joint.wanted ? 1e-2 : 1e-3;
    const size_t last = settings->stage_count - 1;
    const db_fit_stage final = settings->stages[last];
    size_t kept = 0;
    for (size_t s = 0; s < last; s++) {
        if (!take_over(settings, s, kept, 1)) continue;
        settings->stages[kept] = settings->stages[s];
        settings->stages[kept++].tolerance = enough;
    }
    /* Two joint stages: the pixels of the first one are chosen by models of the wrong detector. The
     * second may be that of joint intensities. */
    for (int pass = 0; pass < (settings->joint.wanted ? 1 : 2); pass++) {
        db_fit_stage *const stage = &settings->stages[kept];
        (void)take_over(settings, last, kept++, 0);
        *stage = final;
        snprintf(stage->name, sizeof stage->name, "%s", pass == 0 ? "joint" : "final");
        if (pass == 1) continue;
        stage->tolerance = settings->joint.wanted ? 1e-3 : 1e-4;
        stage->step = 0.1;
    }
    settings->stage_count = kept;
}

void db_stages_default(db_context *context, db_fit_settings *settings) {
    int any = 0;
    for (size_t i = 0; i < settings->parameter_count; i++)
        any |= db_fit_parameter_is_shared(&settings->parameters[i]);
    if (settings->joint.wanted)
        db_fit_closed_stages(settings);
    else
        db_fit_settings_default_stages(settings);
    if (any && settings->stage_count) share_stages(settings);
    /* By pixels all shots are refined together. */
    if (!any && settings->joint.wanted && settings->stage_count > 1) settings->stage_count--;
    if (settings->joint.wanted) (void)db_fit_add_intensity_stage(context, settings);
}

void db_fit_settings_default_joint_stages(db_fit_settings *settings) {
    db_stages_default(NULL, settings);
}

void db_stages_mark_shared(db_shots *all) {
    for (size_t i = 0; i < all->parameters; i++) {
        const db_fit_parameter *const p = &all->settings.parameters[i];
        const int shared = !all->source->in_full && is_shared(&all->settings, p);
        all->varies[i] = shared && all->options->series && all->options->knots > 0 &&
                         (db_orientation_axis(p->parameter) >= 0 || p->parameter == DB_SCALE);
        all->shared[i] = shared && !all->varies[i];
    }
}

/* Does a stage refine something that shots share, be it intensities, or that varies along them? */
static int is_joint(const db_shots *all, int stage) {
    if (db_fit_is_intensity_stage(&all->settings, stage)) return 1;
    for (size_t i = 0; i < all->parameters; i++) {
        const db_fit_parameter *const p = &all->settings.parameters[i];
        if ((all->shared[i] || all->varies[i]) && !db_fit_parameter_is_tied(p) &&
            db_fit_parameter_in_stage(p, (size_t)stage))
            return 1;
    }
    return 0;
}

/* The scales of a series' frames: relative to each other, where frames meet. */
static db_status check_scale(const db_shots *all) {
    const db_fit_settings *const settings = &all->settings;
    for (size_t i = 0; i < all->parameters; i++) {
        const db_fit_parameter *const p = &settings->parameters[i];
        if (!needs_frames(settings, p) || !db_series_shares(all)) continue;
        if (all->shared[i])
            return db_fail(all->context, DB_ERROR_USAGE,
                           "parameter scale: shared by all frames of a series, whose free "
                           "intensities it would only multiply; expected shared: no, or "
                           "shots.knots");
        for (size_t s = 0; s < settings->stage_count; s++)
            if (db_fit_parameter_in_stage(p, s) && !is_joint(all, (int)s))
                return db_fail(all->context, DB_ERROR_USAGE,
                               "stage %s: scale is refined by frames together; expected a stage "
                               "that refines a shared parameter, too",
                               settings->stages[s].name);
    }
    return DB_OK;
}

/* Intensities that all shots share. */
static db_status check_amplitudes(const db_shots *all) {
    const db_fit_settings *const settings = &all->settings;
    int scale = 0;
    for (size_t i = 0; i < all->parameters; i++)
        scale |= settings->parameters[i].parameter == DB_SCALE && !all->shared[i];
    if (settings->intensity != DB_FIT_FREE)
        return db_fail(all->context, DB_ERROR_USAGE,
                       "joint intensities: expected free intensities, found known ones");
    if (!scale)
        return db_fail(all->context, DB_ERROR_USAGE,
                       "joint intensities: expected scale among the parameters, one of each shot");
    if (!db_fit_is_intensity_stage(settings, (int)settings->stage_count - 1))
        return db_fail(all->context, DB_ERROR_USAGE,
                       "joint intensities: the last stage must be that of the amplitudes");
    return DB_OK;
}

db_status db_stages_check(const db_shots *all) {
    const db_fit_settings *const settings = &all->settings;
    int any = 0;
    if (all->source->in_full) return DB_OK; /* each shot's are checked when it is read */
    if (settings->parameter_count < 1 || settings->stage_count < 1)
        return db_fail(all->context, DB_ERROR_USAGE,
                       "fit settings: expected parameters and stages, found %zu and %zu",
                       settings->parameter_count, settings->stage_count);
    if (settings->starts.count > 1 && is_joint(all, 0))
        return db_fail(
            all->context, DB_ERROR_USAGE,
            "starts: %d of them are tried by stages of each shot by itself; stage %s, the "
            "first, refines what shots share",
            settings->starts.count, settings->stages[0].name);
    if (settings->joint.wanted) DB_TRY(check_amplitudes(all));
    for (size_t s = 0; s < settings->stage_count; s++) {
        const db_fit_stage *const stage = &settings->stages[s];
        if (!is_joint(all, (int)s)) continue;
        any = 1;
        if (stage->kind == DB_STAGE_MOMENTS || stage->kind == DB_STAGE_NLOPT)
            return db_fail(all->context, DB_ERROR_USAGE,
                           "stage %s: refines parameters that shots share, for which there is only "
                           "the algorithm LM, found %s",
                           stage->name, db_stage_algorithm(stage));
    }
    DB_TRY(check_scale(all));
    if (any && !is_joint(all, (int)settings->stage_count - 1))
        return db_fail(all->context, DB_ERROR_USAGE,
                       "stage %s: the last stage must refine a shared parameter, as one before it "
                       "does",
                       settings->stages[settings->stage_count - 1].name);
    return DB_OK;
}

db_segment db_segment_from(const db_shots *all, int stage) {
    const int count = (int)all->settings.stage_count;
    db_segment segment = { stage, stage, -1 };
    while (segment.to < count && !is_joint(all, segment.to)) segment.to++;
    if (segment.to < count) segment.joint = segment.to;
    return segment;
}

int db_stages_last_segment(const db_shots *all) {
    int from = 0;
    for (int stage = 0; stage < (int)all->settings.stage_count;) {
        const db_segment segment = db_segment_from(all, stage);
        from = stage;
        stage = segment.joint >= 0 ? segment.joint + 1 : (int)all->settings.stage_count;
    }
    return from;
}
