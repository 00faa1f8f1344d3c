/* Bounds for parameters without any. */
#include "fit/config/physical_range.h"

#include "fit/config/orientation.h"
#include "fit/config/quantity.h"

#include <math.h>

void db_reach_of(const db_experiment *start, const db_parameter_facts *facts, double value,
                 double *low, double *high) {
    const double pixel =
        start->detector.panel_count ? start->detector.panels[0].pixel_size[0] : 0.1;
    const double amount = facts->amount, wide = fmax(amount, 4 * fabs(value));
    const double far = facts->reach == DB_REACH_PART     ? amount * value
                       : facts->reach == DB_REACH_BY     ? amount
                       : facts->reach == DB_REACH_PIXELS ? amount * pixel
                                                         : INFINITY;
    *low = facts->reach == DB_REACH_TIMES    ? value / amount
           : facts->reach == DB_REACH_WITHIN ? -wide
                                             : value - far;
    *high = facts->reach == DB_REACH_TIMES    ? value * amount
            : facts->reach == DB_REACH_WITHIN ? wide
                                              : value + far;
    if (facts->kind == DB_KIND_CELLS) *high = fmax(*high, DB_LARGE_BLOCKS);
}

void db_limit_bounds(const db_experiment *start, const db_fit_starts *starts,
                     db_fit_parameter *parameter) {
    db_fit_parameter *const p = parameter;
    const db_parameter_facts *const facts = db_facts_of(p->parameter);
    const double turn =
        db_orientation_axis(p->parameter) >= 0 && starts->count > 1 ? starts->turn : 0;
    double low, high;
    if (db_fit_parameter_is_tied(p)) return;
    db_reach_of(start, facts, p->group < 0 ? db_parameter_get(start, p->parameter) : 0, &low,
                &high);
    if (isinf(p->lower)) p->lower = fmax(facts->least, low - turn);
    if (isinf(p->upper)) p->upper = fmin(facts->most, high + turn);
}
