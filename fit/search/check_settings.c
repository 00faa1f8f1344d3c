/* Checks settings against each other, the image and the model, with a message for each fault. */
#include "fit/search/check_settings.h"

#include "base/context_internal.h"
#include "base/given.h"
#include "base/measured_pixels.h"
#include "base/vector.h"
#include "fit/config/algorithms.h"
#include "fit/config/config_refine.h"
#include "fit/config/orientation.h"
#include "fit/pixels/geometry.h"
#include "fit/config/quantity.h"

#include <dualbragg/expert/fit_quantities.h>
#include <dualbragg/expert/symmetry.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *name_of(db_parameter p) { return db_parameter_describe(p)->name; }

/* Checks values against the ranges of the configuration's keys. */
static db_status check_values(db_context *context, const db_fit_settings *s) {
    static const int sections[] = { DB_SECTION_TOP,    DB_SECTION_INTENSITY,  DB_SECTION_DATA,
                                    DB_SECTION_STARTS, DB_SECTION_AMPLITUDES, DB_SECTION_CURVES };
    if (s->size != sizeof *s)
        return db_fail(context, DB_ERROR_USAGE,
                       "fit settings: size is %zu, expected %zu (use db_fit_settings_init)",
                       s->size, sizeof *s);
    DB_TRY(DB_NEED_ZEROS(context, "fit settings", s));
    DB_TRY(db_need_list(context, "parameters of a fit", s->parameters, s->parameter_count));
    DB_TRY(db_need_choice(context, "intensities of a fit", (int)s->intensity, DB_FIT_KNOWN));
    DB_TRY(db_need_choice(context, "target of a fit", (int)s->target, DB_FIT_STUDENT));
    DB_TRY(db_need_choice(context, "pixels of a fit", (int)s->pixels, DB_FIT_PIXELS_SHOEBOXES));
    DB_TRY(
        db_need_choice(context, "background of a fit", (int)s->background, DB_FIT_BACKGROUND_NONE));
    for (size_t k = 0; k < sizeof sections / sizeof *sections; k++)
        DB_TRY(db_config_check_part(
            context, sections[k] == DB_SECTION_STARTS ? "starts" : "fit settings",
            &db_config_sections[sections[k]], offsetof(db_fit_config, settings), sizeof *s, s));
    if (isnan(s->gain) || s->background_tile < 1)
        return db_fail(context, DB_ERROR_USAGE,
                       "fit settings: gain is %g, background_tile %d; expected more than 0",
                       s->gain, s->background_tile);
    if (s->dmax > 0 && s->dmax <= s->dmin)
        return db_fail(context, DB_ERROR_USAGE, "fit settings: dmax %g A is not above dmin %g A",
                       s->dmax, s->dmin);
    return DB_OK;
}

/* Is the region of interest on the image? Free intensities need a mask of its other pixels, which readers of images make. */
static db_status check_region(db_context *context, const db_measured_image *image,
                              const db_fit_settings *settings) {
    const int *const roi = settings->roi, fast = image->fast_pixels, slow = image->slow_pixels;
    const int end[2] = { roi[1] < 0 ? fast - 1 : roi[1], roi[3] < 0 ? slow - 1 : roi[3] };
    if (roi[0] > end[0] || roi[2] > end[1] || roi[1] >= fast || roi[3] >= slow)
        return db_fail(
            context, DB_ERROR_USAGE,
            "fit settings: roi %d to %d, %d to %d is not within the image of %d x %d pixels",
            roi[0], roi[1], roi[2], roi[3], fast, slow);
    for (int s = 0; s < slow && settings->intensity == DB_FIT_FREE; s++)
        for (int f = 0; f < fast; f++)
            if ((f < roi[0] || f > end[0] || s < roi[2] || s > end[1]) &&
                !image->mask[(size_t)s * (size_t)fast + (size_t)f])
                return db_fail(context, DB_ERROR_USAGE,
                               "fit settings: roi with free intensities: expected a mask of all "
                               "pixels outside, found pixel %d, %d without one",
                               f, s);
    return DB_OK;
}

static db_status check_image(db_context *context, const db_experiment *start,
                             const db_measured_image *image, const db_fit_settings *settings) {
    const int *const roi = settings->roi, fast = image->fast_pixels;
    const db_detector *const detector = &start->detector;
    if (!image->value || !image->mask)
        return db_fail(context, DB_ERROR_USAGE,
                       "measured image: expected values and a mask of its pixels, found NULL");
    DB_TRY(DB_NEED_ZEROS(context, "measured image", image));
    DB_TRY(db_need_panels(context, image));
    if (detector->panel_count != db_measured_panels(image))
        return db_fail(context, DB_ERROR_INPUT,
                       "the image has %zu panel%s, the detector of the starting model %zu",
                       db_measured_panels(image), db_measured_panels(image) == 1 ? "" : "s",
                       detector->panel_count);
    for (size_t p = 0; p < detector->panel_count; p++) {
        const db_panel *const panel = &detector->panels[p];
        if (panel->fast_pixels != fast || panel->slow_pixels != db_measured_rows(image, p))
            return db_fail(context, DB_ERROR_INPUT,
                           "the image has %d x %d pixels%s, the detector of the starting model "
                           "%d x %d",
                           fast, db_measured_rows(image, p),
                           detector->panel_count > 1 ? " on a panel" : "", panel->fast_pixels,
                           panel->slow_pixels);
    }
    if (detector->panel_count > 1 && (roi[0] >= 0 || roi[1] >= 0 || roi[2] >= 0 || roi[3] >= 0))
        return db_fail(context, DB_ERROR_USAGE,
                       "data.roi is for one panel, the detector has %zu; expected data.mask",
                       detector->panel_count);
    DB_TRY(check_region(context, image, settings));
    if (start->crystal.shape == DB_SHAPE_TOPHAT)
        return db_fail(context, DB_ERROR_USAGE,
                       "crystal shape tophat cannot be refined: its derivatives vanish; use gauss");
    return DB_OK;
}

static const char *quantity_name(const db_fit_settings *settings, db_fit_quantity quantity,
                                 char name[DB_FIT_NAME_SIZE]) {
    db_parameter parameter;
    int group;
    if (quantity.number < 0 || quantity.number >= DB_FIT_MOST_QUANTITIES) return "an unknown one";
    db_fit_quantity_at(quantity, &parameter, &group);
    return group >= (int)settings->panel_groups.count
               ? "an unknown one"
               : db_fit_quantity_name(&settings->panel_groups, quantity, name);
}

static db_status check_follower(db_context *context, const db_fit_settings *settings, size_t i) {
    char own[DB_FIT_NAME_SIZE], first[DB_FIT_NAME_SIZE];
    const db_fit_parameter *const p = &settings->parameters[i];
    const size_t leader = db_fit_parameter_index(settings, p->follows);
    if (leader < settings->parameter_count && leader != i &&
        !db_fit_parameter_is_tied(&settings->parameters[leader]) &&
        (settings->parameters[leader].group < 0) == (p->group < 0))
        return DB_OK;
    return db_fail(context, DB_ERROR_USAGE,
                   "parameter %s follows %s, which is not refined on its own",
                   quantity_name(settings, db_fit_quantity_of(p), own),
                   quantity_name(settings, p->follows, first));
}

static db_status check_bounds(db_context *context, const db_experiment *start,
                              const db_fit_settings *settings, const db_fit_parameter *p) {
    char text[DB_FIT_NAME_SIZE];
    const double value = p->group < 0 ? db_parameter_get(start, p->parameter) : 0;
    const char *const name = quantity_name(settings, db_fit_quantity_of(p), text);
    if (isnan(p->lower) || isnan(p->upper) || p->lower >= p->upper)
        return db_fail(context, DB_ERROR_USAGE,
                       "parameter %s: bounds cross, lower %.10g is not below upper %.10g", name,
                       p->lower, p->upper);
    if (value < p->lower || value > p->upper)
        return db_fail(context, DB_ERROR_USAGE,
                       "parameter %s: starts at %.10g, outside its bounds %.10g to %.10g", name,
                       value, p->lower, p->upper);
    if (!isfinite(p->prior[0]) || !(p->prior[1] > 0))
        return db_fail(
            context, DB_ERROR_USAGE,
            "parameter %s: prior %g +- %g, expected a finite centre and sigma more than 0", name,
            p->prior[0], p->prior[1]);
    if (!isnan(p->scale) && !(p->scale > 0 && isfinite(p->scale)))
        return db_fail(context, DB_ERROR_USAGE, "parameter %s: scale is %g, expected more than 0",
                       name, p->scale);
    return DB_OK;
}

/* Refuses a refined range of the beam without sources in it: the range scales their places. */
static db_status check_spread(db_context *context, const db_experiment *start, db_parameter p) {
    const int axis = p == DB_DIVERGENCE_HORIZONTAL ? 0
                     : p == DB_DIVERGENCE_VERTICAL ? 1
                     : p == DB_DISPERSION          ? 2
                                                   : -1;
    if (axis < 0) return DB_OK;
    for (size_t j = 0; j < start->beam.source_count; j++)
        if (start->beam.sources[j].spread[axis] != 0) return DB_OK;
    return db_fail(context, DB_ERROR_USAGE,
                   "parameter %s can only be refined from a positive start with at least 2 steps",
                   name_of(p));
}

/* Refuses the spindle beside the position of the crystal where the image has no derivative by it, and the position with a
 * curved detector. */
static db_status check_carrying(db_context *context, const db_experiment *start, db_parameter p,
                                const db_fit_settings *settings) {
    const db_parameter_kind kind = db_facts_of(p)->kind;
    db_experiment carried = *start; /* borrows */
    if (kind == DB_KIND_CRYSTAL_POSITION && !db_parameter_exists(start, p))
        return db_fail(
            context, DB_ERROR_USAGE,
            "parameter %s: expected a flat detector, found a curved one, which is a sphere "
            "around the crystal",
            name_of(p));
    for (size_t i = 0; i < settings->parameter_count; i++)
        if (db_facts_of(settings->parameters[i].parameter)->kind == DB_KIND_CRYSTAL_POSITION)
            carried.crystal.position[0] = 1;
    if ((kind == DB_KIND_PHI || kind == DB_KIND_SPINDLE_TILT) && !db_parameter_exists(&carried, p))
        return db_fail(
            context, DB_ERROR_USAGE,
            "parameter %s: the spindle also moves a crystal that is off the origin; expected "
            "spots: closed in the model, without a halo",
            name_of(p));
    return DB_OK;
}

/* Refuses a parameter without influence on the image. */
static db_status check_influence(db_context *context, const db_experiment *start, db_parameter p,
                                 const db_fit_settings *settings, int is_frame) {
    if (p == DB_SCALE && settings->intensity == DB_FIT_FREE && !is_frame && !settings->joint.wanted)
        return db_fail(context, DB_ERROR_USAGE,
                       "parameter scale cannot be refined with free intensities, which it would "
                       "only multiply; expected intensity: {hkl: FILE}, or frames of a series "
                       "(shots.series)");
    const db_parameter_facts *const facts = db_facts_of(p);
    const int closed = start->spread.spots == DB_SPOTS_CLOSED,
              of_closed = (facts->moves & DB_MOVES_SPREAD) != 0,
              cap = facts->kind == DB_KIND_MOSAIC_CAP;
    if (of_closed && !db_parameter_exists(start, p))
        return db_fail(
            context, DB_ERROR_USAGE, "parameter %s: %s", name_of(p),
            !closed ? "is a parameter of spots in closed form; expected spots: closed in the model"
            : facts->kind != DB_KIND_STRAIN_TENSOR
                ? "the model has no such tail; expected tail1, or both"
                : "the strain system of the model has no such strain");
    if (!db_parameter_exists(start, p) && (facts->moves & DB_MOVES_HALO))
        return db_fail(
            context, DB_ERROR_USAGE, "parameter %s: %s", name_of(p),
            !(start->crystal.diffuse_gamma[0] > 0)
                ? "expected diffuse_sigma and diffuse_gamma in the model, found none"
            : start->crystal.diffuse_anisotropic
                ? "the model has three numbers of diffuse_sigma, of diffuse_gamma or of both, so "
                  "each axis has its own of both: expected diffuse_sigma_a, diffuse_gamma_a and so "
                  "on"
                : "the model has one diffuse_sigma and one diffuse_gamma for all axes: expected "
                  "diffuse_sigma or diffuse_gamma");
    if (facts->kind == DB_KIND_DIFFUSE_SIGMA && !(db_parameter_get(start, p) > 0))
        return db_fail(
            context, DB_ERROR_USAGE,
            "parameter %s can only be refined from a positive start: at 0 the halo, which "
            "grows with its square, has no derivative",
            name_of(p));
    if (!db_parameter_exists(start, p) && (facts->moves & DB_MOVES_CURVES))
        return db_fail(context, DB_ERROR_USAGE,
                       "curves: the model has no curve with as many points; expected known "
                       "structure factors with intensity.sites");
    DB_TRY(check_carrying(context, start, p, settings));
    if (cap && closed)
        return db_fail(context, DB_ERROR_USAGE,
                       "parameter %s: a cap is for sampled spots only; for spots in closed form "
                       "refine mosaic_variance, or mosaic_xx, mosaic_yy ...",
                       name_of(p));
    if (cap && !db_parameter_exists(start, p))
        return db_fail(context, DB_ERROR_USAGE,
                       "parameter %s: the model's mosaic spread is %s; expected %s", name_of(p),
                       p == DB_MOSAIC_SPREAD ? "anisotropic" : "the same about all axes",
                       p == DB_MOSAIC_SPREAD ? "mosaic_a, mosaic_b, mosaic_c"
                                             : "mosaic_spread, or mosaic_abc in the model");
    if (cap && (start->crystal.mosaic_domains < 2 || !(db_parameter_get(start, p) > 0)))
        return db_fail(context, DB_ERROR_USAGE,
                       "parameter %s can only be refined from a positive start with at least 2 "
                       "mosaic domains, found %g degree and %d",
                       name_of(p), db_parameter_get(start, p), start->crystal.mosaic_domains);
    return check_spread(context, start, p);
}

/* Refuses groups of panels beside own motions of all panels, which would move them twice. */
static db_status check_motion(db_context *context, const db_experiment *start,
                              const db_fit_settings *settings, const db_fit_parameter *p) {
    const db_fit_panel_groups *const groups = &settings->panel_groups;
    const int is_motion =
        p->parameter >= DB_PANEL_SHIFT_FAST && p->parameter <= DB_PANEL_TURN_NORMAL;
    if (p->group < 0) {
        if (!is_motion) return DB_OK;
        for (size_t i = 0; i < settings->parameter_count; i++)
            if (settings->parameters[i].group >= 0)
                return db_fail(context, DB_ERROR_USAGE,
                               "parameter %s, of all panels, cannot be refined beside motions of "
                               "groups of panels",
                               name_of(p->parameter));
        return DB_OK;
    }
    if (!is_motion)
        return db_fail(context, DB_ERROR_USAGE, "group %s: %s is no motion of a group of panels",
                       groups->name[p->group], name_of(p->parameter));
    if (start->detector.panel_count < 2)
        return db_fail(context, DB_ERROR_USAGE,
                       "group %s: the detector has one panel, which distance, beam centre and "
                       "detector rotation move",
                       groups->name[p->group]);
    return DB_OK;
}

db_status db_fit_check_quantities(db_context *context, const db_fit_settings *settings) {
    if (settings->parameter_count < 1 || settings->parameter_count > DB_FIT_MOST_PARAMETERS)
        return db_fail(context, DB_ERROR_USAGE, "fit settings: %zu parameters, expected 1 to %d",
                       settings->parameter_count, DB_FIT_MOST_PARAMETERS);
    for (size_t i = 0; i < settings->parameter_count; i++) {
        const db_fit_parameter *const p = &settings->parameters[i];
        if ((unsigned)p->parameter >= DB_PARAMETER_COUNT &&
            (!db_fit_parameter_is_of_curve(p) || db_fit_quantity_of(p).number < 0))
            return db_fail(context, DB_ERROR_USAGE, "parameter number %d does not exist",
                           (int)p->parameter);
        if (p->group >= 0 && (size_t)p->group >= settings->panel_groups.count)
            return db_fail(context, DB_ERROR_USAGE,
                           "parameter %s is of group %d of panels, but there are %zu",
                           name_of(p->parameter), p->group, settings->panel_groups.count);
    }
    return DB_OK;
}

static db_status check_parameters(db_context *context, const db_experiment *start,
                                  const db_fit_settings *settings, int is_frame) {
    char name[DB_FIT_NAME_SIZE];
    DB_TRY(db_fit_check_quantities(context, settings));
    for (size_t i = 0; i < settings->parameter_count; i++) {
        const db_fit_parameter *const p = &settings->parameters[i];
        DB_TRY(DB_NEED_ZEROS(context, name_of(p->parameter), p));
        DB_TRY(check_motion(context, start, settings, p));
        if (db_fit_parameter_index(settings, db_fit_quantity_of(p)) != i)
            return db_fail(context, DB_ERROR_USAGE, "parameter %s is listed twice",
                           quantity_name(settings, db_fit_quantity_of(p), name));
        DB_TRY(check_influence(context, start, p->parameter, settings, is_frame));
        DB_TRY(db_fit_parameter_is_tied(p) ? check_follower(context, settings, i)
                                           : check_bounds(context, start, settings, p));
    }
    return DB_OK;
}

static db_status check_stage(db_context *context, const db_fit_settings *settings, size_t s) {
    const db_fit_stage *const stage = &settings->stages[s];
    char name[DB_FIT_NAME_SIZE + 8];
    int any = 0;
    for (size_t i = 0; i < settings->parameter_count; i++) {
        const db_fit_parameter *const p = &settings->parameters[i];
        any |= !db_fit_parameter_is_tied(p) && db_fit_parameter_in_stage(p, s);
    }
    if (!any)
        return db_fail(context, DB_ERROR_USAGE, "stage %s: no parameter to refine", stage->name);
    snprintf(name, sizeof name, "stage %s", stage->name);
    DB_TRY(DB_NEED_ZEROS(context, name, stage));
    DB_TRY(db_need_choice(context, name, stage->target + 1, DB_FIT_STUDENT + 1));
    DB_TRY(db_config_check_part(context, name, &db_stage_section, offsetof(db_stage_entry, stage),
                                sizeof *stage, stage));
    DB_TRY(db_need_choice(context, name, (int)stage->kind, DB_STAGE_NLOPT + 1));
    DB_TRY(db_stage_check_method(context, stage));
    const int moments = stage->kind == DB_STAGE_MOMENTS;
    if (moments && settings->intensity != DB_FIT_FREE)
        return db_fail(context, DB_ERROR_USAGE,
                       "stage %s: the algorithm moments needs free intensities", stage->name);
    if (stage->kind == DB_STAGE_INTENSITIES &&
        (!settings->joint.wanted || s + 1 < settings->stage_count))
        return db_fail(context, DB_ERROR_USAGE,
                       "stage %s: the algorithm intensities is only for the last stage of many "
                       "shots with intensity: joint",
                       stage->name);
    if (stage->earned && !moments)
        return db_fail(context, DB_ERROR_USAGE, "stage %s: earned is for the algorithm moments",
                       stage->name);
    return DB_OK;
}

/* Bounds of the angles must include all turns of the starts. */
static db_status check_turns(db_context *context, const db_experiment *start,
                             const db_fit_settings *settings) {
    const double most = settings->starts.turn;
    if (settings->stages[0].earned)
        return db_fail(context, DB_ERROR_USAGE,
                       "starts: the first stage, %s, tries %d starts and must always be kept; "
                       "expected earned: no",
                       settings->stages[0].name, settings->starts.count);
    for (int axis = 0; axis < 3; axis++) {
        const db_parameter p = db_orientation_parameter(axis);
        const size_t i = db_fit_parameter_index(settings, db_fit_quantity_make(p, -1));
        if (i == settings->parameter_count ||
            !db_fit_parameter_in_stage(&settings->parameters[i], 0))
            return db_fail(
                context, DB_ERROR_USAGE,
                "starts: %d of them differ by their orientation, but %s is not refined in the "
                "first stage",
                settings->starts.count, name_of(p));
        const db_fit_parameter *const parameter = &settings->parameters[i];
        const double value = db_parameter_get(start, p);
        if (!db_fit_parameter_is_tied(parameter) &&
            (value - most < parameter->lower || value + most > parameter->upper))
            return db_fail(context, DB_ERROR_USAGE,
                           "starts: turns by up to %g degree leave the bounds of %s, %g to %g: "
                           "expected a wider range or a smaller angle of starts",
                           most, name_of(p), parameter->lower, parameter->upper);
    }
    return DB_OK;
}

db_status db_fit_check_data(db_context *context, const db_experiment *start,
                            const db_measured_image *image, const db_fit_settings *settings) {
    DB_TRY(check_values(context, settings));
    DB_TRY(db_experiment_check(context, start));
    if (settings->intensity == DB_FIT_FREE && start->spread.spots != DB_SPOTS_CLOSED)
        return db_fail(context, DB_ERROR_USAGE,
                       "free intensities: expected spots in closed form, found sampled ones, which "
                       "need known structure factors");
    return check_image(context, start, image, settings);
}

db_status db_fit_check_spacing(db_context *context, const db_experiment *start) {
    db_fit_geometry g;
    double longest = 0, pixel = INFINITY;
    DB_TRY(db_fit_geometry_of(context, start, &g));
    for (int i = 0; i < 3; i++) {
        const double row[3] = { g.a_star[i], g.a_star[3 + i], g.a_star[6 + i] };
        longest = fmax(longest, db_length(row));
    }
    db_fit_geometry_clear(&g);
    for (size_t p = 0; p < start->detector.panel_count; p++)
        for (int i = 0; i < 2; i++) pixel = fmin(pixel, start->detector.panels[p].pixel_size[i]);
    const double *const cell = start->crystal.cell,
                        apart = start->beam.wavelength * longest /
                                pixel; /* pixels for each mm of distance */
    if (!(fabs(start->detector.distance) * apart < 1)) return DB_OK;
    return db_fail(
        context, DB_ERROR_INPUT,
        "detector distance %g mm: neighbouring reflections of a cell of %g, %g, %g A are "
        "%.2g pixels apart at most (wavelength %g A, pixels of %g mm), so that no image "
        "tells them apart; expected more than %.3g mm",
        start->detector.distance, cell[0], cell[1], cell[2], fabs(start->detector.distance) * apart,
        start->beam.wavelength, pixel, 1 / apart);
}

/* Factors of intensities that are not exact. */
static db_status check_intensity_error(db_context *context, const db_fit_settings *settings) {
    const char *const missed = settings->intensity == DB_FIT_FREE      ? "known structure factors"
                               : settings->pixels == DB_FIT_PIXELS_ALL ? "pixels: shoeboxes"
                               : db_fit_settings_find(settings, DB_SCALE) ? NULL
                                                                          : "scale to be refined";
    if (!(settings->intensity_error > 0) || !missed) return DB_OK;
    return db_fail(
        context, DB_ERROR_USAGE,
        "data.intensity_error is %g, so each shoebox has a factor of its own: expected %s",
        settings->intensity_error, missed);
}

db_status db_fit_check(db_context *context, const db_experiment *start,
                       const db_measured_image *image, const db_fit_settings *settings,
                       int is_frame) {
    DB_TRY(db_fit_check_data(context, start, image, settings));
    DB_TRY(db_fit_check_spacing(context, start));
    DB_TRY(check_parameters(context, start, settings, is_frame));
    if (settings->stage_count < 1 || settings->stage_count > DB_FIT_MAX_STAGES)
        return db_fail(context, DB_ERROR_USAGE, "fit settings: %zu stages, expected 1 to %d",
                       settings->stage_count, DB_FIT_MAX_STAGES);
    for (size_t s = 0; s < settings->stage_count; s++) DB_TRY(check_stage(context, settings, s));
    DB_TRY(check_intensity_error(context, settings));
    return settings->starts.count > 1 ? check_turns(context, start, settings) : DB_OK;
}
