/* Axes of the report's charts. */
#ifndef DB_FIT_REPORT_REPORT_AXIS_H
#define DB_FIT_REPORT_REPORT_AXIS_H

#include <stdio.h>

/* One axis: values from low to high are drawn from position start to end (pixels of the svg). */
typedef struct db_axis {
    double low, high, start, end;
    int logarithmic;
} db_axis;

/* Axis that holds the values from low to high with some room; logarithmic if they are positive and
 * far apart. */
db_axis db_axis_make(double low, double high, double start, double end, int may_be_logarithmic);

double db_axis_place(const db_axis *axis, double value);

/* Positions of round numbers: fills tick[] (at most 12) and returns how many. */
enum { DB_AXIS_TICKS = 12 };
int db_axis_ticks(const db_axis *axis, int wanted, double tick[DB_AXIS_TICKS]);

/* Ticks, grid lines and numbers of a vertical axis at the left of a plot that reaches to `right`.
 */
void db_axis_draw_left(FILE *stream, const db_axis *axis, int wanted, double left, double right);
/* The same below a plot that reaches from `top` to `bottom`. */
void db_axis_draw_bottom(FILE *stream, const db_axis *axis, int wanted, double top, double bottom);

#endif
