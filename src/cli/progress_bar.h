/* A line on a terminal with the finished fraction of work, and the time left. */
#ifndef DB_CLI_PROGRESS_BAR_H
#define DB_CLI_PROGRESS_BAR_H

typedef struct db_progress_bar {
    int wanted; /* 1: stderr is a terminal, and the user wants a bar */
    int shown;
    double begin, next; /* s: start of the work; next time to draw */
} db_progress_bar;

/* wanted: 0: nothing is drawn. */
void db_progress_bar_start(db_progress_bar *bar, int wanted);

/* Begins new work, and with it the time left. */
void db_progress_bar_begin(db_progress_bar *bar);

/* Draws the line, but not in the first half second of work, and not more often than people can see. fraction:
 * finished; NAN: unknown. Then printf style: the work. */
void db_progress_bar_draw(db_progress_bar *bar, double fraction, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Names work at once that cannot report its progress. */
void db_progress_bar_say(db_progress_bar *bar, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Removes the line before other lines are printed. */
void db_progress_bar_clear(db_progress_bar *bar);

#endif
