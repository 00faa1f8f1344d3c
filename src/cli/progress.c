#include "cli/progress.h"

#include "cli/stopwatch.h"

#include <stdio.h>
#include <unistd.h>

enum { BAR_WIDTH = 40, PERCENT_END = 100 };
static const double FIRST_AFTER = 0.5, THEN_EVERY = 0.1; /* s: short work stays silent */

typedef struct meter {
    double next; /* when the bar is drawn again */
    int shown;   /* 1: there is a bar to remove */
    int lines;   /* 1: lines instead of a bar */
    int percent; /* of the next line */
} meter;
static meter state;

static int draw(void *user, double fraction) {
    meter *m = user;
    const double time = db_stopwatch();
    if (m->next == 0) m->next = time + FIRST_AFTER;
    if (time < m->next) return 0;
    m->next = time + THEN_EVERY;
    m->shown = 1;
    const int filled = (int)(fraction * BAR_WIDTH);
    fprintf(stderr, "\r[%.*s%*s] %3.0f%%", filled, "########################################",
            BAR_WIDTH - filled, "", 100 * fraction);
    return 0;
}

/* Every percent of the first and the last tenth, every fifth between. */
static int print_lines(void *user, double fraction) {
    meter *m = user;
    while (m->percent < PERCENT_END && m->percent <= 100 * fraction) {
        printf("%d%% done\n", m->percent);
        m->percent += m->percent < 10 || m->percent >= 90 ? 1 : 5;
    }
    fflush(stdout);
    return 0;
}

void db_progress_attach(const db_session *session) {
    const db_settings *s = &session->settings;
    const int terminal = isatty(STDERR_FILENO);
    state = (meter){ 0, 0, 0, 0 };
    if (s->progress == 0 || s->quiet || s->printout) return;
    state.lines = s->setup.compat || (s->progress == 1 && !terminal);
    if (state.lines || terminal)
        db_context_set_progress(session->context, state.lines ? print_lines : draw, &state);
}

void db_progress_finish(const db_session *session) {
    db_context_set_progress(session->context, NULL, NULL);
    if (state.shown) fprintf(stderr, "\r%*s\r", BAR_WIDTH + 8, "");
    if (state.lines) (void)print_lines(&state, 1);
    state = (meter){ 0, 0, 0, 0 };
}
