/* Defaults of a refinement. */
#include "base/context_internal.h"
#include "base/given.h"

#include "fit/config/modes.h"
#include "fit/config/quantity.h"

#include <dualbragg/expert/fit_configurations.h>
#include <dualbragg/expert/fit_quantities.h>
#include <dualbragg/expert/fit_steps.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void db_fit_settings_init(db_fit_settings *settings) {
    memset(settings, 0, sizeof *settings);
    settings->size = sizeof *settings;
    settings->intensity = DB_FIT_FREE;
    settings->target = DB_FIT_WEIGHTED;
    settings->huber_limit = 3;
    settings->student_freedom = 4;
    settings->curves.points[0] = settings->curves.smoothness = settings->curves.kramers_kronig =
        NAN;
    settings->background = DB_FIT_BACKGROUND_PLANE;
    settings->gain = 1;
    settings->shoebox_half_width = 0;
    settings->max_shoeboxes = 400;
    settings->strong_sigma = 5;
    settings->min_strong_reflections = 20;
    settings->excitation_angle = 0.7;
    for (int i = 0; i < 4; i++) settings->roi[i] = -1;
    settings->background_tile = 24;
    settings->precision = DB_PRECISION_MIXED;
    settings->model_error = NAN;
    settings->intensity_limit = 10;
    settings->starts =
        (db_fit_starts){ .count = 1, .turn = 1, .seed = 1, .keep = 3, .evaluations = 12 };
    settings->joint = (db_fit_joint){
        .anomalous = 1,
        .reindex = 1,
        .seed = 1,
        .passes = 16,
        .dmin = NAN,
        .energies = { NAN, NAN },
        .restraint = NAN,
        .reference_restraint = NAN,
    };
}

db_status db_fit_settings_add_parameter(db_context *context, db_fit_settings *settings,
                                        const db_fit_parameter *parameter) {
    const size_t count = settings->parameter_count;
    db_fit_parameter *const grown =
        realloc(settings->parameters, (count + 1) * sizeof *settings->parameters);
    if (!grown) return db_fail_memory(context, "the parameters to refine");
    settings->parameters = grown;
    settings->parameters[settings->parameter_count++] = *parameter;
    return DB_OK;
}

db_status db_fit_panel_groups_add(db_context *context, db_fit_panel_groups *groups,
                                  const char *name) {
    if (groups->count == DB_FIT_MOST_GROUPS)
        return db_fail(context, DB_ERROR_USAGE, "groups of panels: expected at most %d",
                       DB_FIT_MOST_GROUPS);
    void *const grown = realloc(groups->name, (groups->count + 1) * sizeof *groups->name);
    if (!grown) return db_fail_memory(context, "the groups of panels");
    groups->name = grown;
    snprintf(groups->name[groups->count++], sizeof *groups->name, "%s", name);
    return DB_OK;
}

db_status db_fit_panel_groups_put(db_context *context, db_fit_panel_groups *groups, size_t panel,
                                  int group) {
    if (panel >= DB_FIT_MOST_PANELS)
        return db_fail(context, DB_ERROR_USAGE,
                       "groups of panels: expected panels 0 to %d, found %zu",
                       DB_FIT_MOST_PANELS - 1, panel);
    if (panel >= groups->panel_count) {
        short *const grown = realloc(groups->of_panel, (panel + 1) * sizeof *grown);
        if (!grown) return db_fail_memory(context, "the groups of panels");
        groups->of_panel = grown;
        while (groups->panel_count <= panel) grown[groups->panel_count++] = -1;
    }
    groups->of_panel[panel] = (short)group;
    return DB_OK;
}

/* A copy of `count` elements; NULL of none. Without memory *failed becomes 1. */
static void *copy_list(const void *list, size_t count, size_t size, int *failed) {
    if (count == 0) return NULL;
    void *const copy = malloc(count * size);
    if (copy)
        memcpy(copy, list, count * size);
    else
        *failed = 1;
    return copy;
}

static db_status need_lists(db_context *context, const db_fit_settings *s) {
    const db_fit_panel_groups *const groups = &s->panel_groups;
    DB_TRY(db_need_list(context, "parameters of a fit", s->parameters, s->parameter_count));
    DB_TRY(db_need_list(context, "names of groups of panels", groups->name, groups->count));
    return db_need_list(context, "groups of panels", groups->of_panel, groups->panel_count);
}

db_status db_fit_settings_copy(db_context *context, const db_fit_settings *settings,
                               db_fit_settings *copy) {
    const db_fit_panel_groups *const groups = &settings->panel_groups;
    int failed = 0;
    memset(copy, 0, sizeof *copy);
    DB_TRY(need_lists(context, settings));
    *copy = *settings;
    copy->parameters = copy_list(settings->parameters, settings->parameter_count,
                                 sizeof *settings->parameters, &failed);
    copy->panel_groups.name = copy_list(groups->name, groups->count, sizeof *groups->name, &failed);
    copy->panel_groups.of_panel =
        copy_list(groups->of_panel, groups->panel_count, sizeof *groups->of_panel, &failed);
    if (!failed) return DB_OK;
    db_fit_settings_clear(copy);
    return db_fail_memory(context, "the settings of a refinement");
}

void db_fit_settings_clear(db_fit_settings *settings) {
    free(settings->parameters);
    free(settings->panel_groups.name);
    free(settings->panel_groups.of_panel);
    settings->parameters = NULL;
    settings->parameter_count = 0;
    memset(&settings->panel_groups, 0, sizeof settings->panel_groups);
}

/* Fractions of the spots, nearest to the beam, that early stages use. */
static const double NEAR = 0.25, FARTHER = 0.45, FAR = 0.7;

/* Adds a stage with the parameters that can be refined by then, unless there are none. */
static void add_stage(db_fit_settings *settings, const char *name, db_settling subject,
                      double innermost, double blur, int target) {
    const int last = target < 0;
    db_fit_stage *const stage = &settings->stages[settings->stage_count];
    int any = 0;
    memset(stage, 0, sizeof *stage);
    for (size_t i = 0; i < settings->parameter_count; i++) {
        db_fit_parameter *const p = &settings->parameters[i];
        const int refined = db_facts_of(p->parameter)->settling <= subject;
        db_fit_parameter_set_stage(p, settings->stage_count, refined);
        any |= refined && !db_fit_parameter_is_tied(p);
    }
    if (!any) return;
    snprintf(stage->name, sizeof stage->name, "%s", name);
    stage->target = target;
    stage->innermost = innermost;
    stage->step = last ? 0.01 : 0.1;
    stage->blur = blur;
    stage->tolerance = last ? 1e-7 : 1e-4;
    stage->max_evaluations = 100;
    settings->stage_count++;
}

/* Default stages. A displaced spot overlaps its model at low resolution, where errors of orientation and cell
 * displace little, and if the model is wide. Until the model fits, variances come from measured counts: a wrong
 * model must not decide which pixels count. */
void db_fit_settings_default_stages(db_fit_settings *settings) {
    settings->stage_count = 0;
    if (settings->intensity == DB_FIT_KNOWN) {
        add_stage(settings, "coarse", DB_SETTLING_GEOMETRY, 0, 2, DB_FIT_WEIGHTED);
        add_stage(settings, "fine", DB_SETTLING_SHAPE, 0, 1, DB_FIT_WEIGHTED);
        add_stage(settings, "final", DB_SETTLING_SHAPE, 0, 1, -1);
        return;
    }
    add_stage(settings, "orientation", DB_SETTLING_ORIENTATION, NEAR, 3, DB_FIT_WEIGHTED);
    add_stage(settings, "lattice", DB_SETTLING_GEOMETRY, FARTHER, 2, DB_FIT_WEIGHTED);
    add_stage(settings, "extend", DB_SETTLING_GEOMETRY, FAR, 1.5, DB_FIT_WEIGHTED);
    add_stage(settings, "shape", DB_SETTLING_SHAPE, 0, 1, DB_FIT_WEIGHTED);
    /* A better model places shoeboxes again, until the start is forgotten. */
    add_stage(settings, "again", DB_SETTLING_SHAPE, 0, 1, DB_FIT_WEIGHTED);
    add_stage(settings, "final", DB_SETTLING_SHAPE, 0, 1, -1);
}

/* Parameters that a stage of moments adds: modes by their bits, and parameters that the detector must earn. */
enum { MODE_1 = 1, MODE_2 = 2, MODE_3 = 4, DETECTOR = 8 };

/* Moments attract the model from far, so orientation and cell come first, without wide spots. */
static void add_moment_stage(db_fit_settings *settings, const char *name, db_settling subject,
                             double innermost, double blur, unsigned more, int earned) {
    const size_t number = settings->stage_count;
    add_stage(settings, name, subject, innermost, blur, DB_FIT_WEIGHTED);
    if (settings->stage_count == number) return;
    db_fit_stage *const stage = &settings->stages[number];
    int fresh = 0; /* parameters that no earlier stage refines */
    for (size_t i = 0; i < settings->parameter_count; i++) {
        db_fit_parameter *const p = &settings->parameters[i];
        const unsigned own = db_mode_of(p->parameter);
        int refined = db_fit_parameter_in_stage(p, number);
        if (p->earned) refined = (more & DETECTOR) != 0;
        if (own < DB_SPREAD_MODES) refined = (more >> own & 1u) != 0;
        db_fit_parameter_set_stage(p, number, refined);
        fresh |= refined && (number == 0 || !(p->stages & ((1u << number) - 1)));
    }
    if (earned && !fresh) {
        settings->stage_count--;
        return;
    }
    stage->kind = DB_STAGE_MOMENTS;
    stage->earned = earned;
}

/* Default stages for spots in closed form with free intensities: by the moments of spots, then, if the model is
 * right apart from noise, by their pixels. Pixels first would give the decision to the few strongest spots, and
 * free intensities would leave open the middle of a bent crystal. */
void db_fit_closed_stages(db_fit_settings *settings) {
    settings->stage_count = 0;
    add_moment_stage(settings, "orientation", DB_SETTLING_ORIENTATION, NEAR, 3, 0, 0);
    add_moment_stage(settings, "lattice", DB_SETTLING_GEOMETRY, FARTHER, 2, 0, 0);
    add_moment_stage(settings, "extend", DB_SETTLING_GEOMETRY, FAR, 1.5, 0, 0);
    add_moment_stage(settings, "spreads", DB_SETTLING_SHAPE, 0, 1, 0, 0);
    unsigned more = 0;
    add_moment_stage(settings, "detector", DB_SETTLING_SHAPE, 0, 1, more |= DETECTOR, 1);
    add_moment_stage(settings, "mode 1", DB_SETTLING_SHAPE, 0, 1, more |= MODE_1, 1);
    add_moment_stage(settings, "mode 2", DB_SETTLING_SHAPE, 0, 1, more |= MODE_2, 1);
    add_moment_stage(settings, "mode 3", DB_SETTLING_SHAPE, 0, 1, more |= MODE_3, 1);
    add_stage(settings, "final", DB_SETTLING_SHAPE, 0, 1, -1);
    if (settings->stage_count == 0) return;
    settings->stages[settings->stage_count - 1].step = 0.1;
    settings->stages[settings->stage_count - 1].most_misfit = 1.5;
}

int db_fit_has_moments(const db_fit_settings *settings) {
    for (size_t i = 0; i < settings->parameter_count; i++)
        if (settings->parameters[i].group >= 0) return 0;
    return settings->intensity == DB_FIT_FREE;
}

void db_fit_default_stages(db_fit_settings *settings) {
    if (db_fit_has_moments(settings))
        db_fit_closed_stages(settings);
    else
        db_fit_settings_default_stages(settings);
}

db_status db_fit_add_intensity_stage(db_context *context, db_fit_settings *settings) {
    const size_t last = settings->stage_count;
    if (db_fit_is_intensity_stage(settings, (int)last - 1)) return DB_OK;
    if (last == DB_FIT_MAX_STAGES)
        return db_fail(context, DB_ERROR_USAGE,
                       "stages: expected at most %d, since joint intensities add one",
                       DB_FIT_MAX_STAGES - 1);
    unsigned before = 0; /* stages that are kept in any case */
    for (size_t s = 0; s < last; s++) before |= settings->stages[s].earned ? 0 : 1u << s;
    for (size_t i = 0; i < settings->parameter_count; i++) {
        db_fit_parameter *const p = &settings->parameters[i];
        const int degenerate = p->parameter == DB_SCALE || p->parameter == DB_B_FACTOR;
        const int refined = degenerate || (p->stages & before) != 0;
        if (degenerate) p->stages = 0;
        db_fit_parameter_set_stage(p, last, refined);
    }
    /* Variances of measured counts would make faint intensities too small, and sharp spots too certain. */
    const int target = settings->target == DB_FIT_WEIGHTED ? (int)DB_FIT_POISSON : -1;
    settings->stages[last] = (db_fit_stage){ .blur = 1,
                                             .target = target,
                                             .tolerance = 1e-5,
                                             .step = 0.05,
                                             .max_evaluations = 100,
                                             .kind = DB_STAGE_INTENSITIES,
                                             .name = "intensities" };
    settings->stage_count++;
    return DB_OK;
}
