/* A line on a terminal that says how far work is, and how long it will still take. */
#ifndef DB_CLI_PROGRESS_BAR_H
#define DB_CLI_PROGRESS_BAR_H

typedef struct db_progress_bar {
    int wanted; /* 1: stderr is a terminal, and the user has not asked for silence */
    int shown;
    double begin, next; /* s: of the work; when the line may be drawn again */
} db_progress_bar;

/* wanted: 0: nothing is ever drawn. */
void db_progress_bar_start(db_progress_bar *bar, int wanted);

/* New work begins, so that the time left is counted anew. */
void db_progress_bar_begin(db_progress_bar *bar);

/* Draws the line, but not before work has taken half a second, and not more often than people can
 * see. fraction: of the work that is done; NAN: not known. Then printf style: what is done. */
void db_progress_bar_draw(db_progress_bar *bar, double fraction, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Says at once what begins, for work that cannot say how far it is. */
void db_progress_bar_say(db_progress_bar *bar, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Removes the line, for others to be printed. */
void db_progress_bar_clear(db_progress_bar *bar);

#endif
