/* State of each shot: starting model, settings, present values, and whether it is in use. */
#include "fit/shots/shots.h"

#include "base/context_internal.h"
#include "fit/config/modes.h"
#include "fit/config/quantity.h"
#include "fit/config/orientation.h"
#include "fit/config/physical_range.h"
#include "fit/pixels/rendering.h"
#include "fit/search/check_settings.h"
#include "fit/search/equivalents.h"
#include "fit/shots/team.h"

#include <dualbragg/expert/fit_configurations.h>
#include <dualbragg/expert/fit_quantities.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

db_status db_shots_exclude(db_shots *all, db_context *context, size_t shot, db_status status,
                           const char *reason) {
    db_shot_summary *const summary = &all->summary[shot];
    if (status == DB_ERROR_MEMORY || status == DB_ERROR_CANCELLED || status == DB_ERROR_DEVICE ||
        all->source->in_full)
        return status;
    const char *const name = all->source->name(all->source->user, shot);
    const char *const text = reason ? reason : db_context_message(context);
    const size_t length = strlen(name);
    /* Whoever reports the reason names the shot. */
    const int named = strncmp(text, name, length) == 0 && strncmp(text + length, ": ", 2) == 0;
    summary->used = 0;
    all->state[shot].excluded_by = status;
    snprintf(summary->reason, sizeof summary->reason, "%s", named ? text + length + 2 : text);
    return DB_OK;
}

void db_shots_report(const db_shots *all, const db_fit_shots_event *event) {
    if (all->options->progress && all->team.rank == 0)
        all->options->progress(all->options->user, event);
}

void db_shots_reason(const db_shots *all, size_t shot, char reason[DB_FIT_REASON_SIZE]) {
    const char *const own = all->summary[shot].reason;
    int length = 0;
    if (all->frames.crystals > 1 && *own)
        length =
            snprintf(reason, DB_FIT_REASON_SIZE, "crystal %zu: ", db_shots_crystal(all, shot) + 1);
    snprintf(reason + length, (size_t)(DB_FIT_REASON_SIZE - length), "%.*s",
             DB_FIT_REASON_SIZE - 1 - length, own);
}

void db_shots_report_excluded(db_shots *all) {
    for (size_t i = 0; i < all->count && all->team.rank == 0; i++) {
        if (all->summary[i].used) all->state[i].reported = 0;
        if (all->summary[i].used || all->state[i].reported) continue;
        char reason[DB_FIT_REASON_SIZE];
        db_shots_reason(all, i, reason);
        const db_fit_shots_event event = { .kind = DB_SHOTS_EXCLUDED,
                                           .shot = all->source->name(all->source->user, i),
                                           .reason = reason };
        db_shots_report(all, &event);
        all->state[i].reported = 1;
    }
}

/* Status if all shots fail: a fault of the configuration is one reason, and wrong use; rank 0 has the first shot. */
static db_status failure_of_all(const db_shots *all) {
    size_t alike = 0;
    while (alike < all->count && !all->summary[alike].used &&
           strcmp(all->summary[alike].reason, all->summary[0].reason) == 0)
        alike++;
    return alike == all->count && all->state[0].excluded_by == DB_ERROR_USAGE ? DB_ERROR_USAGE
                                                                              : DB_ERROR_INPUT;
}

static db_status check_count(const db_shots *all) {
    const size_t used = all->used;
    size_t excluded = 0;
    if (used >= (all->count > 1 ? 2U : 1U)) return DB_OK;
    while (excluded < all->count && all->summary[excluded].used) excluded++;
    return db_fail(all->context, failure_of_all(all),
                   "of %zu shots %zu can be used; the first one excluded, %s: %s", all->count, used,
                   excluded < all->count ? all->source->name(all->source->user, excluded) : "-",
                   excluded < all->count ? all->summary[excluded].reason : "");
}

db_status db_shots_check_count(const db_shots *all) {
    const db_status status = all->team.rank == 0 ? check_count(all) : DB_OK;
    return db_team_common_status(&all->team, all->context, status);
}

db_status db_shots_settings(const db_shots *all, db_context *context, size_t shot,
                            db_fit_settings *settings) {
    const db_shot_state *const state = &all->state[shot];
    DB_TRY(db_fit_settings_copy(context, &all->settings, settings));
    settings->gain = state->gain;
    settings->readout_noise = state->readout_noise;
    settings->choose_oversample = state->choose_oversample;
    settings->centring = state->centring;
    settings->spots = state->spots;
    if (state->is_dim && settings->background == DB_FIT_BACKGROUND_PLANE)
        settings->background = DB_FIT_BACKGROUND_SMOOTH;
    if (state->shoebox_half_width) settings->shoebox_half_width = state->shoebox_half_width;
    for (size_t i = 0; i < all->parameters; i++) {
        settings->parameters[i].lower = state->lower[i];
        settings->parameters[i].upper = state->upper[i];
        settings->parameters[i].moved = state->moved[i];
        if (all->shared[i]) continue;
        settings->parameters[i].prior[0] = state->centre[i];
        settings->parameters[i].prior[1] = state->sigma[i];
    }
    return DB_OK;
}

db_status db_shots_put(const db_shots *all, db_context *context, const double *value,
                       db_experiment *experiment, db_panel_placement *placement) {
    for (size_t i = 0; i < all->parameters; i++) {
        const db_fit_parameter *const p = &all->settings.parameters[i];
        if (p->group < 0)
            db_parameter_set(experiment, p->parameter, value[i]);
        else
            *db_panel_placement_value(placement, p->group,
                                      (int)p->parameter - (int)DB_PANEL_SHIFT_FAST) = value[i];
    }
    return db_panel_placement_apply(context, placement, &experiment->detector);
}

void db_shots_get(const db_shots *all, const db_experiment *experiment,
                  const db_panel_placement *placement, double *value) {
    for (size_t i = 0; i < all->parameters; i++)
        value[i] = db_fit_value(&all->settings.parameters[i], experiment, placement);
}

db_structure_factors db_shots_amplitudes(const db_shots *all, size_t shot) {
    db_structure_factors lent = all->amplitudes;
    if (all->state[shot].curves) lent.sites = all->state[shot].curves;
    return lent;
}

db_status db_shot_model_at(const db_shots *all, db_context *context, size_t shot,
                           const double orientation[9], const double *value, db_shot_model *model) {
    memset(model, 0, sizeof *model);
    db_experiment *const e = &model->experiment;
    *e = all->state[shot].start;
    memcpy(e->crystal.orientation, orientation, sizeof e->crystal.orientation);
    db_status status = db_panel_placement_make(context, &e->detector, &all->settings.panel_groups,
                                               &model->placement);
    const db_structure_factors lent = db_shots_amplitudes(all, shot);
    if (status == DB_OK && all->settings.intensity == DB_FIT_KNOWN)
        status = db_structure_factors_borrow(context, &lent, &e->structure_factors);
    model->sites = status == DB_OK ? e->structure_factors.sites : NULL;
    if (status == DB_OK && model->placement.start) {
        const size_t size = e->detector.panel_count * sizeof *model->panels;
        model->panels = malloc(size);
        if (model->panels)
            e->detector.panels = memcpy(model->panels, e->detector.panels, size);
        else
            status = db_fail_memory(context, "the panels of a shot");
    }
    if (status == DB_OK) status = db_shots_put(all, context, value, e, &model->placement);
    if (status != DB_OK) db_shot_model_clear(model);
    return status;
}

db_status db_shot_model_make(const db_shots *all, db_context *context, size_t shot,
                             db_shot_model *model) {
    return db_shot_model_at(all, context, shot, all->summary[shot].orientation,
                            db_shots_value(all, shot), model);
}

void db_shot_model_clear(db_shot_model *model) {
    db_panel_placement_clear(&model->placement);
    free(model->panels);
    free(model->sites);
    memset(model, 0, sizeof *model);
}

void db_shots_keep_amplitudes(db_shots *all, db_experiment *start) {
    db_structure_factors *const own = &start->structure_factors;
    if (all->settings.intensity != DB_FIT_KNOWN) return;
    if (!all->amplitudes.amplitude) {
        all->amplitudes = *own;
    } else {
        free(own->amplitude);
        free(own->sites);
    }
    *own = (db_structure_factors){ .default_F = 0 };
}

/* Quantity that gives quantity i its value. */
static size_t leader_of(const db_shots *all, size_t i) {
    const int leader = all->settings.parameters[i].follows.number;
    for (size_t l = 0; l < all->parameters && leader >= 0; l++)
        if (db_fit_quantity_of(&all->settings.parameters[l]).number == leader) return l;
    return i;
}

static int is_shared_geometry(const db_shots *all, size_t i) {
    const db_fit_parameter *const p = &all->settings.parameters[i];
    return all->shared[i] && p->group < 0 && db_facts_of(p->parameter)->owner == DB_OWNER_SETUP;
}

/* Does the shot have another detector, or at another place, than the shot with the starting shared values?
 * Refinements of one detector differ by less. */
static int is_elsewhere(const db_shots *all, const db_experiment *start) {
    const double little = 0.05; /* of the usual change in a refinement */
    for (size_t i = 0; i < all->parameters; i++) {
        const db_parameter p = all->settings.parameters[i].parameter;
        double low, high;
        if (!is_shared_geometry(all, i)) continue;
        db_reach_of(start, db_facts_of(p), all->common.start[i], &low, &high);
        if (fabs(db_parameter_get(start, p) - all->common.start[i]) > little * 0.5 * (high - low))
            return 1;
    }
    return 0;
}

double db_shots_shift(const db_shots *all, size_t shot, size_t i) {
    return all->shared[i] ? db_shots_values(all, shot).begin[i] - all->common.start[i] : 0;
}

/* Do frames of a series share angles or position of the crystal, or values at knots? */
static int shares_mounting(const db_shots *all) {
    int shares = 0;
    for (size_t i = 0; i < all->parameters && all->options->series; i++) {
        const db_parameter p = all->settings.parameters[i].parameter;
        shares |=
            (db_orientation_axis(p) >= 0 || db_facts_of(p)->kind == DB_KIND_CRYSTAL_POSITION) &&
            (all->shared[i] || all->varies[i]);
    }
    return shares;
}

/* Sets the model with which a shot's first stage begins: its start, or, for a shot that begins again, this with the shared
 * values of the others. */
static void begin_model(db_shots *all, size_t shot) {
    db_shot_summary *const summary = &all->summary[shot];
    const db_shot_values own = db_shots_values(all, shot);
    summary->opened = 0;
    db_crystal crystal = all->state[shot].start.crystal;
    db_orientation_reference(&all->settings, &crystal, summary->reference);
    memcpy(own.value, own.begin, all->parameters * sizeof *own.value);
    memset(own.at_bound, 0, all->parameters * sizeof *own.at_bound);
    if (db_orientation_is_refined(&all->settings)) {
        db_orientation_fold(&crystal);
        for (size_t i = 0; i < all->parameters; i++)
            if (db_orientation_axis(all->settings.parameters[i].parameter) >= 0) own.value[i] = 0;
    }
    memcpy(summary->orientation, crystal.orientation, sizeof summary->orientation);
    for (size_t i = 0; i < all->parameters && summary->again; i++)
        if (all->shared[i]) own.value[i] = all->common.value[i] + db_shots_shift(all, shot, i);
}

void db_shots_begin_crystal(db_shots *all, size_t shot, const db_experiment *start) {
    db_series_crystal *const c = &all->frames.crystal[db_shots_crystal(all, shot)];
    if (c->is_known) return;
    c->is_known = 1;
    memcpy(c->orientation, start->crystal.orientation, sizeof c->orientation);
    for (size_t i = 0; i < all->parameters; i++) {
        const db_fit_parameter *const from = &all->settings.parameters[leader_of(all, i)];
        c->value[i] = from->group >= 0 ? 0 : db_parameter_get(start, from->parameter);
    }
}

/* Sets starting values, unless a resumed run has them. Motions of groups begin at 0. Where a crystal of a series starts at
 * another orientation than on its first frame, the goniometer has turned it, and the axes of the angles, and the position, that
 * its frames share with it. */
static void set_start(db_shots *all, size_t shot) {
    db_shot_state *const state = &all->state[shot];
    db_crystal *const on_frame = &state->start.crystal;
    const db_series_crystal *const crystal = &all->frames.crystal[db_shots_crystal(all, shot)];
    if (shares_mounting(all)) db_orientation_set_from(crystal->orientation, on_frame);
    db_shot_summary *const summary = &all->summary[shot];
    double *const begin = db_shots_values(all, shot).begin;
    const int elsewhere = is_elsewhere(all, &state->start);
    for (size_t i = 0; i < all->parameters; i++) {
        const db_fit_parameter *const p = &all->settings.parameters[i];
        const db_fit_parameter *const from = &all->settings.parameters[leader_of(all, i)];
        begin[i] = p->group >= 0 ? 0
                   : all->shared[i] && !(elsewhere && is_shared_geometry(all, i))
                       ? all->common.start[i]
                   : all->varies[i] == DB_VARIES_BY_CRYSTAL
                       ? crystal->value[i]
                       : db_parameter_get(&state->start, from->parameter);
        if (p->group < 0) db_parameter_set(&state->start, p->parameter, begin[i]);
    }
    if (summary->stage == 0) begin_model(all, shot);
}

/* A resumed run has found the equivalent orientation with which a shot begins. */
static db_status lay_start(const db_shots *all, db_context *context, size_t shot) {
    const db_shot_summary *const summary = &all->summary[shot];
    int other = 0;
    for (int i = 0; i < 9; i++) other |= fabs(summary->laid[i]) > 0;
    return other ? db_equivalent_turn(context, summary->laid, &all->state[shot].start.crystal)
                 : DB_OK;
}

db_status db_shots_lay(db_shots *all, db_context *context, size_t shot, const double indices[9]) {
    memcpy(all->summary[shot].laid, indices, sizeof all->summary[shot].laid);
    DB_TRY(lay_start(all, context, shot));
    all->summary[shot].stage = 0;
    begin_model(all, shot);
    return DB_OK;
}

/* Checks that all shots refine the same quantities. */
static db_status check_quantities(const db_shots *all, db_context *context,
                                  const db_fit_settings *settings) {
    int same = settings->parameter_count == all->parameters;
    for (size_t i = 0; i < all->parameters && same; i++)
        same = db_fit_quantity_of(&settings->parameters[i]).number ==
               db_fit_quantity_of(&all->settings.parameters[i]).number;
    return same ? DB_OK
                : db_fail(context, DB_ERROR_INPUT,
                          "refines other parameters than the list; expected one symmetry and one "
                          "section refine for all shots");
}

static db_status refuse_shot(const db_shots *all, db_context *context, size_t shot,
                             const char *what) {
    return db_fail(
        context, DB_ERROR_INPUT, "%s: belongs to another refinement: shot %zu, %s: its %s changed",
        all->options->checkpoint, shot + 1, all->source->name(all->source->user, shot), what);
}

/* Identifies the shot; a resumed run must have the same. */
static db_status identify_shot(const db_shots *all, db_context *context, size_t shot) {
    const db_fit_shot_source *const source = all->source;
    db_fit_shot_identity *const known = &all->summary[shot].identity;
    db_fit_shot_identity own = { .image = "" };
    if (!source->identify || !all->options->checkpoint) return DB_OK;
    DB_TRY(source->identify(source->user, context, shot, &own));
    if (*known->image) {
        if (strcmp(known->image, own.image) != 0)
            return refuse_shot(all, context, shot, "image is");
        if (strcmp(known->configuration, own.configuration) != 0)
            return refuse_shot(all, context, shot, "configuration is");
        if (strcmp(known->files, own.files) != 0)
            return refuse_shot(all, context, shot, "files (matrix, mask, list ...) are");
    }
    *known = own;
    return DB_OK;
}

db_status db_shots_read(db_shots *all, db_context *context, size_t shot, db_measured_image *image,
                        db_experiment *start, db_fit_settings *settings) {
    const db_fit_shot_source *const source = all->source;
    db_shot_listener listener = { .notices = &all->notices,
                                  .shot = shot,
                                  .name = source->name(source->user, shot) };
    db_shot_notices_listen(context, &listener);
    db_record_message(context, "%s", ""); /* that of another shot is no reason */
    const db_status status = source->load(source->user, context, shot, image, start, settings);
    db_shot_notices_leave(context, &listener);
    return status == DB_OK || *db_context_message(context)
               ? status
               : db_fail(context, status, "cannot be loaded: %s", db_status_text(status));
}

void db_shots_release(const db_shots *all, db_measured_image *image) {
    if (!image->value) return;
    if (all->source->release)
        all->source->release(all->source->user, image);
    else
        db_measured_image_clear(image);
    memset(image, 0, sizeof *image);
}

/* A table of f' and f'' reaches the energies of the shot that it was made for; in the common amplitudes this is the first one.
 * Refined curves are common to all. */
static db_status keep_curves(const db_shots *all, db_context *context, db_shot_state *state) {
    const db_structure_factors *const own = &state->start.structure_factors;
    const db_site_kinds *const common = all->amplitudes.sites;
    db_structure_factors kept;
    db_experiment with = state->start; /* borrows */
    with.structure_factors = all->amplitudes;
    if (!common || !own->sites || own->sites->count != common->count ||
        db_fit_refines_curves(&all->settings) || db_experiment_check(context, &with) == DB_OK)
        return DB_OK;
    DB_TRY(db_structure_factors_borrow(context, own, &kept));
    state->curves = kept.sites;
    state->curves->part = common->part;
    return DB_OK;
}

/* Does a shoebox have so few photons that its own plane has hardly a minimum, because pixels without counts push
 * it below 0? */
static int is_dim(const db_fit_settings *settings, const db_measured_image *image) {
    const double few = 0.5; /* photons per pixel: some 100 in a shoebox (fit/fine_slices: 0.02) */
    const size_t count = (size_t)image->fast_pixels * (size_t)image->slow_pixels;
    double sum = 0;
    size_t trusted = 0;
    for (size_t i = 0; i < count; i++) {
        if (image->mask[i] != DB_MASK_TRUSTED) continue;
        sum += (double)image->value[i];
        trusted++;
    }
    const double photons = sum / settings->gain, noise = (double)trusted * settings->readout_noise *
                                                         settings->readout_noise /
                                                         (settings->gain * settings->gain);
    return trusted > 0 && photons + noise < few * (double)trusted;
}

static db_status read_shot(db_shots *all, db_context *context, size_t shot,
                           db_measured_image *image) {
    db_shot_state *const state = &all->state[shot];
    if (state->lower) return db_shots_read(all, context, shot, image, NULL, NULL);
    db_fit_settings settings;
    double *const bounds = malloc(5 * all->parameters * sizeof *bounds + 1);
    if (!bounds) return db_fail_memory(context, "the bounds and priors of a shot");
    db_status status = db_fit_settings_copy(context, &all->settings, &settings);
    if (status == DB_OK)
        status = db_shots_read(all, context, shot, image, &state->start, &settings);
    if (status == DB_OK) status = lay_start(all, context, shot);
    if (status == DB_OK) db_modes_leave_zero(&settings, &state->start);
    if (status == DB_OK) status = check_quantities(all, context, &settings);
    if (status == DB_OK)
        status = db_fit_check(context, &state->start, image, &settings, db_series_shares(all));
    if (status == DB_OK) status = keep_curves(all, context, state);
    for (size_t i = 0; status == DB_OK && all->source->in_full && i < all->parameters; i++)
        db_limit_bounds(&state->start, &settings.starts, &settings.parameters[i]);
    if (status == DB_OK) {
        state->gain = settings.gain;
        state->readout_noise = settings.readout_noise;
        state->choose_oversample = settings.choose_oversample;
        state->orientation_found = settings.orientation_found;
        state->centring = settings.centring;
        state->is_dim = db_series_shares(all) && is_dim(&settings, image);
        state->spots = settings.spots;
        state->lower = bounds;
        state->upper = state->lower + all->parameters;
        state->centre = state->upper + all->parameters;
        state->sigma = state->centre + all->parameters;
        state->moved = state->sigma + all->parameters;
        for (size_t i = 0; i < all->parameters; i++) {
            state->lower[i] = settings.parameters[i].lower;
            state->upper[i] = settings.parameters[i].upper;
            state->centre[i] = settings.parameters[i].prior[0];
            state->sigma[i] = settings.parameters[i].prior[1];
            state->moved[i] = settings.parameters[i].moved;
        }
        all->summary[shot].readable = 1;
        all->summary[shot].wavelength = state->start.beam.wavelength;
        db_shots_keep_amplitudes(all, &state->start);
        set_start(all, shot);
    } else {
        db_shots_release(all, image);
        db_experiment_clear(&state->start);
        free(bounds);
    }
    db_fit_settings_clear(&settings);
    return status;
}

/* A resumed joint stage needs every shot with which it began. */
static db_status refuse_loss(const db_shots *all, db_context *context, size_t shot,
                             db_status status) {
    char reason[DB_MESSAGE_SIZE / 2];
    snprintf(reason, sizeof reason, "%s", db_context_message(context));
    return db_fail(context, status,
                   "%s: continues in a joint stage with shot %zu, %s, which cannot be read any "
                   "more (%s); expected this shot, or a run without --resume",
                   all->options->checkpoint, shot + 1, all->source->name(all->source->user, shot),
                   reason);
}

db_status db_shots_load(db_shots *all, db_context *context, size_t shot, db_measured_image *image) {
    const int known = all->state[shot].lower != NULL;
    memset(image, 0, sizeof *image);
    db_status status = read_shot(all, context, shot, image);
    if (status != DB_OK && all->state[shot].needed) return refuse_loss(all, context, shot, status);
    if (status != DB_OK) return db_shots_exclude(all, context, shot, status, NULL);
    if (!known) status = identify_shot(all, context, shot);
    if (status != DB_OK) db_shots_release(all, image);
    return status;
}

void db_shots_tie_common(db_shots *all) {
    for (size_t i = 0; i < all->parameters; i++)
        if (all->shared[i]) all->common.value[i] = all->common.value[leader_of(all, i)];
}

void db_shots_begin_again(db_shots *all, size_t shot) {
    db_shot_summary *const summary = &all->summary[shot];
    if (!summary->readable || summary->used || summary->again) return;
    summary->used = summary->again = 1;
    summary->wrong = DB_SHOT_RIGHT;
    summary->stage = 0;
    summary->reason[0] = '\0';
    if (all->state[shot].lower) begin_model(all, shot); /* else a resumed run reads it first */
}
