#include "cli/progress.h"

#include "cli/stopwatch.h"

#include <stdio.h>
#include <unistd.h>

enum { BAR_WIDTH = 40 };
static const double FIRST_AFTER = 0.5, THEN_EVERY = 0.1; /* s: short work stays silent */

typedef struct bar {
    double next;
    int shown;
} bar;
static bar state;

static int draw(void *user, double fraction) {
    bar *b = user;
    const double time = db_stopwatch();
    if (b->next == 0) b->next = time + FIRST_AFTER;
    if (time < b->next) return 0;
    b->next = time + THEN_EVERY;
    b->shown = 1;
    const int filled = (int)(fraction * BAR_WIDTH);
    fprintf(stderr, "\r[%.*s%*s] %3.0f%%", filled, "########################################",
            BAR_WIDTH - filled, "", 100 * fraction);
    return 0;
}

void db_progress_attach(db_context *context, int wanted) {
    if (!wanted || !isatty(STDERR_FILENO)) return;
    state = (bar){ 0, 0 };
    db_context_set_progress(context, draw, &state);
}

void db_progress_finish(db_context *context) {
    db_context_set_progress(context, NULL, NULL);
    if (state.shown) fprintf(stderr, "\r%*s\r", BAR_WIDTH + 8, "");
    state.shown = 0;
}
