#define _DEFAULT_SOURCE /* TIOCGWINSZ */
#include "cli/progress_bar.h"

#include "base/shown_text.h"
#include "cli/stopwatch.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDTH = 30, STEP = 10, MOST = 160, USUAL_COLUMNS = 80, DURATION_SIZE = 32 };
static const double FIRST_AFTER = 0.5, THEN_EVERY = 0.1; /* s: short work shows nothing */

void db_progress_bar_start(db_progress_bar *bar, int wanted) {
    *bar = (db_progress_bar){ .wanted = wanted && isatty(STDERR_FILENO) };
    db_progress_bar_begin(bar);
}

void db_progress_bar_begin(db_progress_bar *bar) {
    bar->begin = db_stopwatch();
    if (!bar->shown) bar->next = bar->begin + FIRST_AFTER;
}

/* "12 s", "3 min", "1 h 20 min" */
static const char *duration_text(double seconds, char text[DURATION_SIZE]) {
    const double whole = ceil(seconds), minutes = ceil(seconds / 60);
    if (!(seconds < 3e7))
        snprintf(text, DURATION_SIZE, "very long");
    else if (whole < 100)
        snprintf(text, DURATION_SIZE, "%.0f s", whole);
    else if (minutes < 60)
        snprintf(text, DURATION_SIZE, "%.0f min", minutes);
    else
        snprintf(text, DURATION_SIZE, "%.0f h %.0f min", floor(minutes / 60), fmod(minutes, 60));
    return text;
}

/* Columns without the last one, in which some terminals begin another line. */
static int columns(void) {
    struct winsize size;
    const int known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    return (known ? size.ws_col : USUAL_COLUMNS) - 1;
}

/* The text is cut to one line, because a second one would stay. The bar becomes shorter first, in steps, so that
 * it does not flicker. */
static void draw_bar(db_progress_bar *bar, double fraction, const char *format, va_list arguments) {
    char what[MOST], left[DURATION_SIZE], line[2 * MOST];
    const double now = db_stopwatch(), part = fmin(fmax(fraction, 0), 1);
    const int room = columns(), known = isfinite(fraction);
    db_shown_vformat(what, sizeof what, format, arguments);
    if (known)
        snprintf(line, sizeof line, "%3.0f %% %s", floor(100 * part), what);
    else
        snprintf(line, sizeof line, "%s", what);
    if (part > 0.01 && part < 1) {
        const size_t used = strlen(line);
        snprintf(line + used, sizeof line - used, ", about %s left",
                 duration_text((now - bar->begin) * (1 - part) / part, left));
    }
    const int beside = room - (int)strlen(line) - 3;
    const int width = beside < WIDTH ? beside / STEP * STEP : WIDTH;
    if (known && width > 0) {
        const int filled = (int)(part * width);
        fprintf(stderr, "\r[%.*s%*s] %s\033[K", filled, "##############################",
                width - filled, "", line);
    } else {
        fprintf(stderr, "\r%.*s\033[K", room, line);
    }
    bar->next = now + THEN_EVERY;
    bar->shown = 1;
}

void db_progress_bar_draw(db_progress_bar *bar, double fraction, const char *format, ...) {
    va_list arguments;
    if (!bar->wanted || db_stopwatch() < bar->next) return;
    va_start(arguments, format);
    draw_bar(bar, fraction, format, arguments);
    va_end(arguments);
}

void db_progress_bar_say(db_progress_bar *bar, const char *format, ...) {
    va_list arguments;
    if (!bar->wanted) return;
    va_start(arguments, format);
    draw_bar(bar, (double)NAN, format, arguments);
    va_end(arguments);
    bar->begin = bar->next = db_stopwatch();
}

void db_progress_bar_clear(db_progress_bar *bar) {
    if (!bar->shown) return;
    fputs("\r\033[K", stderr);
    bar->shown = 0;
    bar->next = db_stopwatch() + THEN_EVERY; /* so that lines in between do not delay it */
}
