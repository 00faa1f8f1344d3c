#include "fit/cli/shots_progress.h"

void db_shots_progress_start(db_shots_progress *progress, db_fit_log *log,
                             const db_fit_settings *settings) {
    *progress = (db_shots_progress){ .log = log, .settings = settings, .stage = -1 };
    db_progress_bar_start(&progress->bar, !log->quiet);
    db_progress_bar_say(&progress->bar, "reading the first shot");
}

static void draw(db_shots_progress *p, const db_fit_shots_event *e) {
    if (e->what != p->what || e->done < p->done) db_progress_bar_begin(&p->bar);
    p->what = e->what;
    p->done = e->done;
    db_progress_bar_draw(&p->bar, (double)e->done / (double)e->count,
                         "stage %zu of %zu, %s: shot %zu of %zu", (size_t)e->stage + 1,
                         p->settings->stage_count, e->what, e->done, e->count);
}

static void say_done(db_shots_progress *p, const db_fit_shots_event *e) {
    if (e->done < e->count) return;
    db_progress_bar_clear(&p->bar);
    db_fit_say(p->log, "\n%zu of %zu shots have been read%s\n", e->used, e->count,
               e->refined ? " and refined by themselves" : "");
}

static void say_evaluation(db_shots_progress *p, const db_fit_history *entry) {
    db_progress_bar_clear(&p->bar);
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
    case DB_SHOTS_WORKING: draw(p, event); break;
    case DB_SHOTS_RESUMED:
        db_progress_bar_clear(&p->bar);
        db_fit_say(p->log, "The run goes on from the checkpoint: %zu of %zu shots, stage %d\n",
                   event->done, event->count, event->stage + 1);
        break;
    case DB_SHOTS_ASIDE:
        db_progress_bar_clear(&p->bar);
        db_fit_say(p->log, "set aside: %s: %s\n", event->shot, event->reason);
        break;
    }
}

void db_shots_progress_finish(db_shots_progress *progress) {
    db_progress_bar_clear(&progress->bar);
}
