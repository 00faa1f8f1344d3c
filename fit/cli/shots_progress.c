#define _POSIX_C_SOURCE 200809L
#include "fit/cli/shots_progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BAR_WIDTH = 30, LINE_WIDTH = 100 };

void db_shots_progress_start(db_shots_progress *progress, db_fit_log *log,
                             const db_fit_settings *settings) {
    *progress = (db_shots_progress){ .log = log, .settings = settings, .stage = -1 };
    progress->terminal = !log->quiet && isatty(STDERR_FILENO);
}

static void clear_line(db_shots_progress *p) {
    if (p->shown) fprintf(stderr, "\r%*s\r", LINE_WIDTH, "");
    p->shown = 0;
}

static void draw(db_shots_progress *p, const db_fit_shots_event *e) {
    if (!p->terminal || e->count == 0) return;
    const int filled = (int)(BAR_WIDTH * e->done / e->count);
    fprintf(stderr, "\r[%.*s%*s] shot %zu of %zu   ", filled, "##############################",
            BAR_WIDTH - filled, "", e->done, e->count);
    p->shown = 1;
}

static void say_done(db_shots_progress *p, const db_fit_shots_event *e) {
    draw(p, e);
    if (e->done < e->count) return;
    clear_line(p);
    db_fit_say(p->log, "\n%zu shots have been read%s\n", e->count,
               e->stage == 0 ? " and refined by themselves" : " again");
}

static void say_evaluation(db_shots_progress *p, const db_fit_history *entry) {
    clear_line(p);
    if (entry->stage != p->stage) {
        p->stage = entry->stage;
        db_fit_say(p->log, "\nStage %d, %s: all shots together\n  %5s  %12s  %10s\n",
                   entry->stage + 1, p->settings->stages[entry->stage].name, "eval.", "chi2/dof",
                   "|gradient|");
    }
    db_fit_say(p->log, "  %5d  %12.5f  %10.3e\n", entry->evaluation, entry->target,
               entry->gradient_norm);
}

void db_shots_progress_event(void *user, const db_fit_shots_event *event) {
    db_shots_progress *const p = user;
    switch (event->kind) {
    case DB_SHOTS_DONE: say_done(p, event); break;
    case DB_SHOTS_EVALUATED: say_evaluation(p, event->entry); break;
    case DB_SHOTS_ASIDE:
        clear_line(p);
        db_fit_say(p->log, "set aside: %s: %s\n", event->shot, event->reason);
        break;
    }
}

void db_shots_progress_finish(db_shots_progress *progress) { clear_line(progress); }
