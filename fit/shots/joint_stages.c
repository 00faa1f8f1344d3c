/* Stages of a refinement of many shots: default stages, joint ones, and their order. */
#include "fit/shots/joint_stages.h"

#include "base/context_internal.h"
#include "fit/config/algorithms.h"
#include "fit/config/orientation.h"
#include "fit/config/modes.h"
#include "fit/config/quantity.h"

#include <dualbragg/expert/fit_configurations.h>
#include <dualbragg/expert/fit_quantities.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Is a parameter shared? One that follows another is shared if that one is. */
static int is_shared(const db_fit_settings *settings, const db_fit_parameter *p) {
    for (size_t l = 0; l < settings->parameter_count && db_fit_parameter_is_tied(p); l++)
        if (db_fit_quantity_of(&settings->parameters[l]).number == p->follows.number)
            return db_fit_parameter_is_shared(&settings->parameters[l]);
    return db_fit_parameter_is_shared(p);
}

/* Does a scale need common intensities of frames? Free intensities would compensate for it. */
static int needs_frames(const db_fit_settings *settings, const db_fit_parameter *p) {
    return p->parameter == DB_SCALE && settings->intensity == DB_FIT_FREE;
}

static int is_mode(const db_fit_parameter *p) { return db_mode_of(p->parameter) < DB_SPREAD_MODES; }

/* Copies the refined parameters of stage number `from` to `to`; only local ones if only_local. 0: there are none. */
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

/* Stages of each shot for local parameters; then joint ones. */
static void share_stages(db_fit_settings *settings) {
    /* Shared parameters are still wrong, so a shot's own minimum is not right; even less so before joint
     * intensities, which refine everything again. */
    const double enough = settings->joint.wanted ? 1e-2 : 1e-3;
    const size_t last = settings->stage_count - 1;
    const db_fit_stage final = settings->stages[last];
    size_t kept = 0;
    for (size_t s = 0; s < last; s++) {
        if (!take_over(settings, s, kept, 1)) continue;
        settings->stages[kept] = settings->stages[s];
        settings->stages[kept++].tolerance = enough;
    }
    /* Two joint stages: models with the wrong detector choose the pixels of the first one. The second may be the
     * one of joint intensities. */
    for (int pass = 0; pass < (settings->joint.wanted ? 1 : 2); pass++) {
        db_fit_stage *const stage = &settings->stages[kept];
        (void)take_over(settings, last, kept++, 0);
        *stage = final;
        snprintf(stage->name, sizeof stage->name, "%s", pass == 0 ? "joint" : "final");
        stage->most_misfit = 0; /* what shots share makes most of the misfit at its start */
        if (pass == 1) continue;
        stage->tolerance = settings->joint.wanted ? 1e-3 : 1e-4;
        stage->step = 0.1;
    }
    settings->stage_count = kept;
}

/* Stages of one image with their refined parameters, before they become stages of many. */
typedef struct single_stages {
    size_t count;
    db_fit_stage stage[DB_FIT_MAX_STAGES];
    unsigned refined[DB_FIT_MOST_PARAMETERS]; /* bits, as db_fit_parameter.stages */
} single_stages;

static void take_single(const db_fit_settings *settings, single_stages *single) {
    single->count = settings->stage_count;
    memcpy(single->stage, settings->stages, sizeof single->stage);
    for (size_t i = 0; i < settings->parameter_count; i++)
        single->refined[i] = settings->parameters[i].stages;
}

/* Adds stage s of these as a stage of each shot for its local parameters. 0: it has none, or, if it must be
 * earned, no new ones. */
static int add_own(db_fit_settings *settings, const single_stages *single, size_t s) {
    const size_t to = settings->stage_count;
    const int earned = single->stage[s].earned;
    int any = 0;
    for (size_t i = 0; i < settings->parameter_count; i++) {
        db_fit_parameter *const p = &settings->parameters[i];
        const int refined = (int)(single->refined[i] >> s & 1) && !is_shared(settings, p) &&
                            !needs_frames(settings, p);
        db_fit_parameter_set_stage(p, to, refined);
        any |= refined && !db_fit_parameter_is_tied(p) && (!earned || is_mode(p));
    }
    if (!any) return 0;
    settings->stages[to] = single->stage[s];
    settings->stages[to].tolerance = fmax(1e-3, single->stage[s].tolerance);
    settings->stage_count++;
    return 1;
}

/* Do moments leave a quantity to the pixels? They have no light. In a series sizes of blocks widen spots as rotations,
 * footprint and divergence do, and how frames share the light of a reflection tells them apart: by moments alone sizes run off
 * to blocks without end, or to flat ones, from where pixels do not come back. */
static int is_left_to_pixels(const db_fit_parameter *p, int series) {
    const db_parameter_kind kind = db_facts_of(p->parameter)->kind;
    return p->parameter == DB_SCALE ||
           (series && (kind == DB_KIND_CELLS || kind == DB_KIND_SIZE_CORRELATION));
}

/* Adds the last of these as a joint stage, in which modes stay as each shot's own stages left them. */
static void add_joint(db_fit_settings *settings, const single_stages *single, int series,
                      const char *name, db_stage_kind kind) {
    const size_t to = settings->stage_count++, last = single->count - 1;
    db_fit_stage *const stage = &settings->stages[to];
    for (size_t i = 0; i < settings->parameter_count; i++) {
        db_fit_parameter *const p = &settings->parameters[i];
        db_fit_parameter_set_stage(p, to,
                                   (int)(single->refined[i] >> last & 1) &&
                                       (!is_mode(p) || is_shared(settings, p)) &&
                                       !(kind == DB_STAGE_MOMENTS && is_left_to_pixels(p, series)));
    }
    *stage = single->stage[last];
    stage->kind = kind;
    snprintf(stage->name, sizeof stage->name, "%s", name);
    if (kind != DB_STAGE_MOMENTS) return;
    stage->target = DB_FIT_WEIGHTED;
    stage->tolerance = 1e-4;
    stage->most_misfit = 0;
}

/* Stages for spots in closed form: each shot by itself, with the detector unchanged; all together, by the moments
 * of their spots; modes of each shot, and all together again; then by pixels, or joint intensities. Frames of a
 * series share the light of their spots, which moments do not contain: pixels determine the crystal's rotation,
 * and the last stage has all observed parts. */
static void share_closed_stages(db_fit_settings *settings, int series) {
    single_stages single;
    int modes = 0;
    take_single(settings, &single);
    settings->stage_count = 0;
    for (size_t s = 0; s + 1 < single.count; s++)
        if (!single.stage[s].earned) (void)add_own(settings, &single, s);
    add_joint(settings, &single, series, "joint", DB_STAGE_MOMENTS);
    for (size_t s = 0; s + 1 < single.count; s++)
        if (single.stage[s].earned) modes += add_own(settings, &single, s);
    if (modes) add_joint(settings, &single, series, "together", DB_STAGE_MOMENTS);
    if (series) add_joint(settings, &single, series, "pixels", DB_STAGE_PIXELS);
    if (!settings->joint.wanted) add_joint(settings, &single, series, "final", DB_STAGE_PIXELS);
    for (size_t s = 0; s < settings->stage_count && series; s++) {
        db_fit_stage *const stage = &settings->stages[s];
        if (stage->kind != DB_STAGE_PIXELS) continue;
        stage->most_misfit = 0;
        if (s + 1 < settings->stage_count) stage->tolerance = 1e-4;
    }
}

static void choose_stages(db_fit_settings *settings, int any, int series, int by_pixels) {
    const int closed = db_fit_has_moments(settings) && (!by_pixels || series);
    if (closed || settings->joint.wanted)
        db_fit_closed_stages(settings);
    else
        db_fit_settings_default_stages(settings);
    if (!any || !settings->stage_count) return;
    if (closed)
        share_closed_stages(settings, series);
    else
        share_stages(settings);
}

/* A series ends with the likelihood of photons: with variances of measured counts, spots with another width than
 * the model's would lose light, and faint ones would come out too small. */
static void end_by_photons(db_fit_settings *settings) {
    if (settings->stage_count && settings->intensity == DB_FIT_FREE &&
        settings->target == DB_FIT_WEIGHTED)
        settings->stages[settings->stage_count - 1].target = DB_FIT_POISSON;
}

/* Scales of frames that have to be earned, and rotations by direction, wait for the last stage: with an orientation or spread
 * that is still wrong, they would bring the light of reflections to the wrong frames. Tilts of the spindle wait for a stage by
 * pixels, which asks whether they are earned. */
static void delay_earned(db_fit_settings *settings) {
    for (size_t i = 0; i < settings->parameter_count; i++) {
        db_fit_parameter *const p = &settings->parameters[i];
        const db_parameter_kind kind = db_facts_of(p->parameter)->kind;
        const int is_tilt = kind == DB_KIND_SPINDLE_TILT,
                  is_rotation = kind == DB_KIND_MOSAIC_TENSOR || kind == DB_KIND_MOSAIC_COVARIANCE;
        for (size_t s = 0; s < settings->stage_count && p->earned; s++)
            if (((p->parameter == DB_SCALE || is_rotation) && s + 1 < settings->stage_count) ||
                (is_tilt && settings->stages[s].kind == DB_STAGE_MOMENTS))
                db_fit_parameter_set_stage(p, s, 0);
    }
}

void db_stages_default(db_context *context, db_fit_settings *settings, int series, int by_pixels) {
    int any = 0;
    for (size_t i = 0; i < settings->parameter_count; i++)
        any |= db_fit_parameter_is_shared(&settings->parameters[i]);
    choose_stages(settings, any, series, by_pixels);
    /* By pixels all shots are refined together. */
    if (!any && settings->joint.wanted && settings->stage_count > 1) settings->stage_count--;
    if (settings->joint.wanted) {
        (void)db_fit_add_intensity_stage(context, settings);
    } else if (series) {
        end_by_photons(settings);
        delay_earned(settings);
    }
}

void db_stages_begin_alone(db_fit_settings *settings) {
    int shares = 0;
    unsigned before[DB_FIT_MOST_PARAMETERS];
    if (settings->stage_count < 1 || settings->stage_count >= DB_FIT_MAX_STAGES) return;
    for (size_t i = 0; i < settings->parameter_count; i++) {
        const db_fit_parameter *const p = &settings->parameters[i];
        before[i] = p->stages;
        shares |= db_fit_parameter_in_stage(p, 0) && is_shared(settings, p);
    }
    const int any = take_over(settings, 0, 0, 1);
    for (size_t i = 0; i < settings->parameter_count; i++) {
        db_fit_parameter *const p = &settings->parameters[i];
        p->stages = any && shares ? before[i] << 1 | (p->stages & 1) : before[i];
    }
    if (!any || !shares) return;
    memmove(settings->stages + 1, settings->stages,
            settings->stage_count++ * sizeof *settings->stages);
    snprintf(settings->stages[0].name, sizeof settings->stages[0].name, "starts");
    settings->stages[0].tolerance = fmax(1e-3, settings->stages[0].tolerance);
}

int db_setting_of(db_parameter parameter) {
    if (db_orientation_axis(parameter) >= 0) return DB_FIT_SETTING_CRYSTAL;
    switch (db_facts_of(parameter)->kind) {
    case DB_KIND_SPINDLE_TILT: return DB_FIT_SETTING_SPINDLE;
    case DB_KIND_DISTANCE:
    case DB_KIND_BEAM_CENTRE:
    case DB_KIND_DETECTOR_TURN:
    case DB_KIND_TWOTHETA: return DB_FIT_SETTING_DETECTOR;
    default: return -1;
    }
}

/* Is a quantity set anew with each setting, of which there are several? */
static int follows_setting(const db_shots *all, const db_fit_parameter *p) {
    const db_fit_parameter *leader = p;
    for (size_t l = 0; l < all->parameters && db_fit_parameter_is_tied(p); l++)
        if (db_fit_quantity_of(&all->settings.parameters[l]).number == p->follows.number)
            leader = &all->settings.parameters[l];
    const int setting = db_setting_of(leader->parameter);
    return leader->shared == DB_FIT_SHARED_BY_SETTING && setting >= 0 &&
           all->frames.setting_count[setting] > 1;
}

void db_stages_mark_shared(db_shots *all) {
    for (size_t i = 0; i < all->parameters; i++) {
        const db_fit_parameter *const p = &all->settings.parameters[i];
        const int shared = !all->source->in_full && is_shared(&all->settings, p);
        const int at_knots = all->options->knots > 0 &&
                             (db_orientation_axis(p->parameter) >= 0 || p->parameter == DB_SCALE),
                  by_crystal = all->frames.crystals > 1 && p->group < 0 &&
                               db_facts_of(p->parameter)->owner == DB_OWNER_CRYSTAL,
                  by_setting = p->group < 0 && follows_setting(all, p);
        all->varies[i] = !shared || !all->options->series ? DB_VARIES_NOT
                         : at_knots                       ? DB_VARIES_AT_KNOTS
                         : by_setting                     ? DB_VARIES_BY_SETTING
                         : by_crystal                     ? DB_VARIES_BY_CRYSTAL
                                                          : DB_VARIES_NOT;
        all->shared[i] = shared && !all->varies[i];
    }
}

/* Does a stage refine shared parameters, joint intensities, or parameters that vary along the series? */
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

/* Checks the scale of a series' frames, which is relative between frames that meet. */
static db_status check_scale(const db_shots *all) {
    const db_fit_settings *const settings = &all->settings;
    for (size_t i = 0; i < all->parameters; i++) {
        const db_fit_parameter *const p = &settings->parameters[i];
        if (!needs_frames(settings, p) || !db_series_shares(all)) continue;
        if (all->shared[i] || all->varies[i] == DB_VARIES_BY_CRYSTAL)
            return db_fail(all->context, DB_ERROR_USAGE,
                           "parameter scale: if shared by all frames of a series, it would only "
                           "multiply their free intensities; expected shared: no, or "
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

/* Checks joint intensities. */
static db_status check_intensities(const db_shots *all) {
    const db_fit_settings *const settings = &all->settings;
    int scale = 0;
    for (size_t i = 0; i < all->parameters; i++)
        scale |= settings->parameters[i].parameter == DB_SCALE && !all->shared[i];
    if (settings->intensity != DB_FIT_FREE)
        return db_fail(all->context, DB_ERROR_USAGE,
                       "joint intensities: expected free intensities, found known ones");
    if (!scale)
        return db_fail(all->context, DB_ERROR_USAGE,
                       "joint intensities: expected scale among the parameters, not shared");
    if (!db_fit_is_intensity_stage(settings, (int)settings->stage_count - 1))
        return db_fail(all->context, DB_ERROR_USAGE,
                       "joint intensities: expected the stage of the intensities last");
    return DB_OK;
}

db_status db_stages_check(const db_shots *all) {
    const db_fit_settings *const settings = &all->settings;
    int any = 0;
    if (all->source->in_full) return DB_OK; /* each shot is checked when it is read */
    if (settings->parameter_count < 1 || settings->stage_count < 1)
        return db_fail(all->context, DB_ERROR_USAGE,
                       "fit settings: expected parameters and stages, found %zu and %zu",
                       settings->parameter_count, settings->stage_count);
    if (settings->starts.count > 1 && is_joint(all, 0))
        return db_fail(all->context, DB_ERROR_USAGE,
                       "starts: %d starts are tried by stages of single shots; but stage %s, the "
                       "first, refines what all shots share%s",
                       settings->starts.count, settings->stages[0].name,
                       all->options->series ? "; expected model.find_orientation: yes" : "");
    if (settings->joint.wanted) DB_TRY(check_intensities(all));
    for (size_t s = 0; s < settings->stage_count; s++) {
        const db_fit_stage *const stage = &settings->stages[s];
        if (!is_joint(all, (int)s)) continue;
        any = 1;
        const int last = s + 1 == settings->stage_count,
                  moments =
                      stage->kind == DB_STAGE_MOMENTS && !last && settings->panel_groups.count == 0;
        if (stage->kind == DB_STAGE_NLOPT || (stage->kind == DB_STAGE_MOMENTS && !moments))
            return db_fail(all->context, DB_ERROR_USAGE,
                           "stage %s: refines shared parameters; expected algorithm LM (or "
                           "moments, before the last stage and without groups of panels), found %s",
                           stage->name, db_stage_algorithm(stage));
        if (stage->earned)
            return db_fail(all->context, DB_ERROR_USAGE,
                           "stage %s: refines shared parameters; expected earned: no", stage->name);
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
    if (segment.to < count)
        segment.joint = segment.to;
    else if (all->image && stage + 1 < count)
        segment.to = count - 1;
    return segment;
}

/* Only where structure factors are known: intensities of their own let spots stay near their places. */
int db_stage_lets_begin_again(const db_shots *all, int stage) {
    const db_segment first = db_segment_from(all, 0);
    return stage == first.joint && first.to > 0 && !all->options->series &&
           all->settings.intensity == DB_FIT_KNOWN;
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
