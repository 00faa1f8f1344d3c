#define _POSIX_C_SOURCE 200809L
#include "fit/cli/fit_progress.h"

#include <string.h>
#include <unistd.h>

enum { SAID_EVERY = 10, BAR_WIDTH = 30, LINE_WIDTH = 100 };

void db_fit_progress_start(db_fit_progress_state *state, db_fit_log *log,
                           const db_fit_settings *settings) {
    memset(state, 0, sizeof *state);
    state->log = log;
    state->settings = settings;
    state->terminal = !log->quiet && isatty(STDERR_FILENO);
    state->stage = -1;
    state->said = 1;
}

static void clear_line(db_fit_progress_state *state) {
    if (state->shown) fprintf(stderr, "\r%*s\r", LINE_WIDTH, "");
    state->shown = 0;
}

static void say_entry(db_fit_progress_state *state) {
    clear_line(state);
    db_fit_say(state->log, "  %5d  %12.5f  %10.3e\n", state->last.evaluation, state->last.target,
               state->last.gradient_norm);
    state->said = 1;
}

static void say_stage(db_fit_progress_state *state, int stage) {
    clear_line(state);
    if ((size_t)stage >= state->settings->stage_count) return;
    const db_fit_stage *const s = &state->settings->stages[stage];
    char name[DB_FIT_NAME_SIZE];
    db_fit_say(state->log, "\nStage %d, %s: %s", stage + 1, s->name, s->algorithm);
    if (s->dmin > 0) db_fit_say(state->log, ", to %g A", s->dmin);
    if (s->blur > 1) db_fit_say(state->log, ", spots of a crystal 1/%g the size", s->blur);
    db_fit_say(state->log, "; refines");
    for (int q = 0; q < DB_FIT_MOST_PARAMETERS; q++)
        if (s->active[q])
            db_fit_say(state->log, " %s",
                       db_fit_quantity_name(&state->settings->panel_groups, q, name));
    db_fit_say(state->log, "\n  %5s  %12s  %10s\n", "eval.", "chi2/dof", "|gradient|");
}

static void draw(db_fit_progress_state *state) {
    const db_fit_settings *const settings = state->settings;
    const size_t stage = (size_t)state->last.stage;
    if (stage >= settings->stage_count) return;
    const int most = settings->stages[stage].max_evaluations;
    const int filled = most > 0 && state->last.evaluation < most
                           ? BAR_WIDTH * state->last.evaluation / most
                           : BAR_WIDTH;
    fprintf(stderr, "\r[%.*s%*s] stage %zu/%zu %.20s  %d/%d  chi2/dof %.4f   ", filled,
            "##############################", BAR_WIDTH - filled, "", stage + 1,
            settings->stage_count, settings->stages[stage].name, state->last.evaluation, most,
            state->last.target);
    state->shown = 1;
}

int db_fit_progress_entry(void *user, const db_fit_history *entry) {
    db_fit_progress_state *const state = user;
    if (entry->stage != state->stage) {
        if (!state->said) say_entry(state);
        state->stage = entry->stage;
        say_stage(state, entry->stage);
    }
    state->last = *entry;
    state->said = 0;
    if (entry->evaluation == 1 || entry->evaluation % SAID_EVERY == 0) say_entry(state);
    if (state->terminal) draw(state);
    return 0;
}

void db_fit_progress_finish(db_fit_progress_state *state) {
    if (!state->said) say_entry(state);
    clear_line(state);
}
