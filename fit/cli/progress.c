/* Progress of refinements on the terminal and in the log; Ctrl-C. */
#define _XOPEN_SOURCE 700
#include "fit/cli/progress.h"

#include "fit/config/config_refine.h"
#include "fit/config/algorithms.h"
#include "cli/signals.h"
#include "fit/config/quantity.h"

#include <dualbragg/expert/fit_quantities.h>

#include <math.h>
#include <signal.h>
#include <string.h>

void db_fit_interrupt_install(void) {
    db_interrupt_install(SIGINT, "\ndualbragg fit: interrupted: writing the best model so far "
                                 "(interrupt again to end at once)\n");
}

enum { SAID_EVERY = 10 };

/* Usual evaluations of a stage, whose number is not known beforehand. */
static const double USUAL = 5;

void db_fit_progress_start(db_fit_progress_state *state, db_context *context, db_fit_log *log) {
    memset(state, 0, sizeof *state);
    state->context = context;
    state->log = log;
    db_progress_bar_start(&state->bar, !log->quiet);
    state->stage = -1;
    state->said = 1;
}

/* A db_progress_function for work beside the stages. */
static int show_work(void *user, double fraction) {
    db_fit_progress_state *const state = user;
    db_progress_bar_draw(&state->bar, fraction, "%s", state->work);
    return state->may_end && db_interrupt_asked();
}

void db_fit_progress_work(db_fit_progress_state *state, const char *work, int may_end) {
    state->work = work;
    state->may_end = may_end;
    db_progress_bar_say(&state->bar, "%s", work);
    db_context_set_progress(state->context, show_work, state);
}

static void say_entry(db_fit_progress_state *state) {
    db_progress_bar_clear(&state->bar);
    (state->many ? db_fit_say : db_fit_detail)(state->log, "  %5d  %12.5f  %10.3e\n",
                                               state->last.evaluation, state->last.target,
                                               state->last.gradient_norm);
    state->said = 1;
}

static const char header[] = "  %5s  %12s  %10s\n";

static void say_joint_stage(db_fit_progress_state *state, int stage) {
    db_progress_bar_clear(&state->bar);
    db_fit_say(state->log, "\nStage %d, %s: all shots together\n", stage + 1,
               state->settings->stages[stage].name);
    db_fit_say(state->log, header, "eval.", "target", "|gradient|");
}

static void say_stage(db_fit_progress_state *state, int stage) {
    db_progress_bar_clear(&state->bar);
    if ((size_t)stage >= state->settings->stage_count) return;
    const db_fit_stage *const s = &state->settings->stages[stage];
    char name[DB_FIT_NAME_SIZE];
    db_fit_detail(state->log, "\n");
    db_fit_say(state->log, "Stage %d, %s: %s", stage + 1, s->name, db_stage_algorithm(s));
    if (s->dmin > 0) db_fit_say(state->log, ", to %g A", s->dmin);
    if (s->innermost > 0)
        db_fit_say(state->log, ", the inner %.0f %% of the spots", 100 * s->innermost);
    if (s->blur > 1) db_fit_say(state->log, ", spots of a crystal 1/%g the size", s->blur);
    db_fit_detail(state->log, "; refines");
    const db_stage_entry entry = db_stage_entry_of(state->settings, (size_t)stage);
    if (entry.refine[DB_FIT_FIRST_CURVE]) db_fit_detail(state->log, " %s", db_curves_name);
    for (int q = 0; q < DB_FIT_FIRST_CURVE; q++)
        if (entry.refine[q])
            db_fit_detail(
                state->log, " %s",
                db_fit_quantity_name(&state->settings->panel_groups, (db_fit_quantity){ q }, name));
    db_fit_say(state->log, "\n");
    db_fit_detail(state->log, header, "eval.", "target", "|gradient|");
}

/* Finished fraction of all stages. A stage ends when it has converged, so its fraction is estimated from the usual
 * number of evaluations; a global search uses all its evaluations. */
static double part_done(const db_fit_progress_state *state) {
    const db_fit_stage *const stage = &state->settings->stages[state->last.stage];
    const int searches =
        stage->kind == DB_STAGE_NLOPT && *stage->nlopt == 'G' && stage->max_evaluations > 0;
    const double within = searches ? (double)state->last.evaluation / (double)stage->max_evaluations
                                   : 1 - exp(-state->last.evaluation / USUAL);
    return (state->stage + within) / (double)state->settings->stage_count;
}

static void draw_stage(db_fit_progress_state *state) {
    const db_fit_settings *const settings = state->settings;
    const size_t stage = (size_t)state->last.stage;
    if (stage >= settings->stage_count) return;
    db_progress_bar_draw(&state->bar, part_done(state),
                         "stage %zu/%zu %.20s, evaluation %d, target %.4f", stage + 1,
                         settings->stage_count, settings->stages[stage].name,
                         state->last.evaluation, state->last.target);
}

/* A db_progress_function for stages: shows that an evaluation is running. */
static int show_stage(void *user, double fraction) {
    db_fit_progress_state *const state = user;
    (void)fraction;
    if (state->stage >= 0)
        draw_stage(state);
    else
        db_progress_bar_draw(&state->bar, (double)NAN, "strong pixels, first evaluation");
    return 0;
}

void db_fit_progress_stages(db_fit_progress_state *state, const db_fit_settings *settings,
                            int many) {
    state->settings = settings;
    state->many = many;
    db_progress_bar_clear(&state->bar);
    if (settings->starts.count > 1 && !many) {
        db_fit_progress_work(state, "trying starts", 1);
        return;
    }
    db_progress_bar_say(&state->bar,
                        many ? "reading the first shot" : "strong pixels, first evaluation");
    if (!many) db_context_set_progress(state->context, show_stage, state);
}

static void tell_entry(db_fit_progress_state *state, const db_fit_history *entry) {
    if (entry->stage != state->stage) {
        if (!state->said) say_entry(state);
        if (state->stage < 0 && !state->many)
            db_context_set_progress(state->context, show_stage, state);
        state->stage = entry->stage;
        (state->many ? say_joint_stage : say_stage)(state, entry->stage);
    }
    state->last = *entry;
    state->said = 0;
    if (state->many || entry->evaluation == 1 || entry->evaluation % SAID_EVERY == 0)
        say_entry(state);
    if (!state->many) draw_stage(state);
}

static void draw_shots(db_fit_progress_state *p, const db_fit_shots_event *e) {
    if (e->what != p->what || e->done < p->done) db_progress_bar_begin(&p->bar);
    p->what = e->what;
    p->done = e->done;
    db_progress_bar_draw(&p->bar, (double)e->done / (double)e->count,
                         "stage %zu of %zu, %s: shot %zu of %zu", (size_t)e->stage + 1,
                         p->settings->stage_count, e->what, e->done, e->count);
}

/* That each further joint stage reads the shots again is no news. */
static void say_done(db_fit_progress_state *p, const db_fit_shots_event *e) {
    if (e->done < e->count) return;
    db_progress_bar_clear(&p->bar);
    if (p->is_read && !e->refined) return;
    p->is_read = 1;
    db_fit_say(p->log, "\n%zu of %zu shots have been read%s\n", e->used, e->count,
               e->refined ? " and refined by themselves" : "");
}

void db_fit_progress_event(void *user, const db_fit_shots_event *event) {
    db_fit_progress_state *const p = user;
    if (event->kind == DB_SHOTS_EVALUATED) tell_entry(p, event->entry);
    if (!p->many) return;
    switch (event->kind) {
    case DB_SHOTS_EVALUATED: break;
    case DB_SHOTS_DONE: say_done(p, event); break;
    case DB_SHOTS_WORKING: draw_shots(p, event); break;
    case DB_SHOTS_RESUMED:
        db_progress_bar_clear(&p->bar);
        db_fit_say(p->log, "The run continues from the checkpoint: %zu of %zu shots, stage %d\n",
                   event->done, event->count, event->stage + 1);
        break;
    case DB_SHOTS_EXCLUDED:
        db_progress_bar_clear(&p->bar);
        db_fit_say(p->log, "excluded: %s: %s\n", event->shot, event->reason);
        break;
    }
}

void db_fit_progress_finish(db_fit_progress_state *state) {
    if (!state->context) return;
    if (!state->said) say_entry(state);
    db_progress_bar_clear(&state->bar);
    db_context_set_progress(state->context, NULL, NULL);
    state->context = NULL;
}
