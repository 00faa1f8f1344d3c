#include "cli/progress.h"

#include "cli/progress_bar.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PERCENT_END = 100 };

typedef struct meter {
    db_progress_bar bar;
    const char *work; /* name of the work */
    double last;      /* fraction */
    int lines;        /* 1: lines instead of a bar */
    int percent;      /* of the next line */
} meter;
static meter state;

static int draw_progress(void *user, double fraction) {
    meter *m = user;
    if (fraction < m->last) db_progress_bar_begin(&m->bar); /* it is another image */
    m->last = fraction;
    db_progress_bar_draw(&m->bar, fraction, "%s", m->work);
    return 0;
}

/* Prints every percent in the first and the last tenth, every fifth between. */
static int print_lines(void *user, double fraction) {
    meter *m = user;
    while (m->percent < PERCENT_END && m->percent <= 100 * fraction) {
        printf("%d%% done\n", m->percent);
        m->percent += m->percent < 10 || m->percent >= 90 ? 1 : 5;
    }
    fflush(stdout);
    return 0;
}

void db_progress_attach(db_context *context, const db_settings *s) {
    const int terminal = isatty(STDERR_FILENO);
    state = (meter){ .lines = 0 };
    if (s->progress == 0 || s->quiet || s->printout) return;
    db_progress_bar_start(&state.bar, 1);
    state.work = strcmp(s->command, "check") == 0 ? "of the check" : "of the image";
    state.lines = s->setup.compat || (s->progress == 1 && !terminal);
    if (state.lines || terminal)
        db_context_set_progress(context, state.lines ? print_lines : draw_progress, &state);
}

void db_progress_finish(db_context *context) {
    db_context_set_progress(context, NULL, NULL);
    db_progress_bar_clear(&state.bar);
    if (state.lines) (void)print_lines(&state, 1);
    state = (meter){ .lines = 0 };
}
