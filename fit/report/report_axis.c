#include "fit/report/report_axis.h"

#include <math.h>

static const double ROOM = 0.06; /* of the axis, beyond the values at either end */
static const double LOGARITHMIC =
    20; /* ratio of the values from which a logarithmic axis shows more */

db_axis db_axis_make(double low, double high, double start, double end, int may_be_logarithmic) {
    db_axis axis = { low, high, start, end, 0 };
    if (may_be_logarithmic && low > 0 && high / low > LOGARITHMIC) {
        const double room = pow(high / low, ROOM);
        axis.low = low / room;
        axis.high = high * room;
        axis.logarithmic = 1;
        return axis;
    }
    double room = (high - low) * ROOM;
    if (!(room > 0)) room = low != 0 ? fabs(low) * 1e-3 : 1;
    axis.low = low - room;
    axis.high = high + room;
    return axis;
}

double db_axis_place(const db_axis *axis, double value) {
    const double fraction = axis->logarithmic ? log(value / axis->low) / log(axis->high / axis->low)
                                              : (value - axis->low) / (axis->high - axis->low);
    return axis->start + fraction * (axis->end - axis->start);
}

/* 1, 2 or 5 times a power of ten, at least `step`. */
static double round_step(double step) {
    const double power = pow(10, floor(log10(step)));
    const double digit = step / power;
    return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

static int logarithmic_ticks(const db_axis *axis, int wanted, double tick[DB_AXIS_TICKS]) {
    static const double few[] = { 1 }, many[] = { 1, 2, 5 };
    const double decades = log10(axis->high / axis->low);
    const double *const digits = decades * 3 > wanted ? few : many;
    const int digit_count = decades * 3 > wanted ? 1 : 3;
    const int stride = (int)fmax(1, ceil(decades / wanted));
    int count = 0;
    for (int e = (int)floor(log10(axis->low)); e <= (int)ceil(log10(axis->high)); e++) {
        if (digit_count == 1 && e % stride != 0) continue;
        for (int d = 0; d < digit_count; d++) {
            const double value = digits[d] * pow(10, e);
            if (value >= axis->low && value <= axis->high && count < DB_AXIS_TICKS)
                tick[count++] = value;
        }
    }
    return count;
}

int db_axis_ticks(const db_axis *axis, int wanted, double tick[DB_AXIS_TICKS]) {
    if (axis->logarithmic) return logarithmic_ticks(axis, wanted, tick);
    const double step = round_step((axis->high - axis->low) / wanted);
    int count = 0;
    for (double k = ceil(axis->low / step); k * step <= axis->high && count < DB_AXIS_TICKS; k++)
        tick[count++] = k * step + 0.0; /* no minus zero */
    return count;
}

/* A tick's number, with as many digits as neighbours need to differ. */
static void print_number(FILE *stream, const db_axis *axis, double value, int wanted) {
    if (axis->logarithmic) {
        fprintf(stream, "%g", value);
        return;
    }
    const double step = round_step((axis->high - axis->low) / wanted);
    const double largest = fmax(fabs(axis->low), fabs(axis->high));
    if (largest >= 1e6 || step < 1e-7)
        fprintf(stream, "%.3g", value);
    else
        fprintf(stream, "%.*f", step < 1 ? (int)ceil(-log10(step) - 1e-9) : 0, value);
}

void db_axis_draw_left(FILE *stream, const db_axis *axis, int wanted, double left, double right) {
    double tick[DB_AXIS_TICKS];
    const int count = db_axis_ticks(axis, wanted, tick);
    for (int i = 0; i < count; i++) {
        const double y = db_axis_place(axis, tick[i]);
        fprintf(stream,
                "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/><text class=\"tick\" x=\"%.1f\" "
                "y=\"%.1f\" text-anchor=\"end\">",
                left, y, right, left - 6, y + 3.5);
        print_number(stream, axis, tick[i], wanted);
        fputs("</text>", stream);
    }
}

void db_axis_draw_bottom(FILE *stream, const db_axis *axis, int wanted, double top, double bottom) {
    double tick[DB_AXIS_TICKS];
    const int count = db_axis_ticks(axis, wanted, tick);
    for (int i = 0; i < count; i++) {
        const double x = db_axis_place(axis, tick[i]);
        fprintf(stream,
                "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/><text class=\"tick\" x=\"%.1f\" "
                "y=\"%.1f\" text-anchor=\"middle\">",
                x, top, bottom, x, bottom + 15);
        print_number(stream, axis, tick[i], wanted);
        fputs("</text>", stream);
    }
}
