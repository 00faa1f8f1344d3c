#include "fit/cli/shots_tables.h"

#include "fit/shots/spread.h"
#include "fit/report/value_with_error.h"

#include <math.h>

static void say_shared(db_fit_log *log, const db_fit_shots_result *r) {
    int any = 0;
    for (size_t i = 0; i < r->parameter_count; i++) {
        char refined[DB_VALUE_TEXT_SIZE];
        if (!r->shared[i]) continue;
        if (!any++)
            db_fit_say(log, "\n  %-24s  %12s  %-18s  %s\n", "shared by all shots", "start",
                       "refined", "unit");
        db_fit_say(log, "  %-24s  %12.7g  %-18s  %s%s\n", r->name[i], r->start[i],
                   db_value_with_error(refined, r->refined[i], r->error[i]),
                   db_parameter_describe(r->parameter[i])->unit,
                   r->at_bound[i] ? ", at its bound" : "");
    }
}

static void say_local(db_fit_log *log, const db_fit_shots_result *r) {
    db_fit_say(log, "\n  %-24s  %12s  %12s  %12s  %12s\n", "each shot's own", "median",
               "lower decile", "upper decile", "median error");
    for (size_t i = 0; i < r->parameter_count; i++) {
        db_spread values, errors;
        if (r->shared[i]) continue;
        if (!db_shots_spread(r, i, DB_SPREAD_REFINED, &values)) continue;
        const int known = db_shots_spread(r, i, DB_SPREAD_ERROR, &errors);
        db_fit_say(log, "  %-24s  %12.7g  %12.7g  %12.7g  ", r->name[i], values.median, values.low,
                   values.high);
        if (known)
            db_fit_say(log, "%12.3g\n", errors.median);
        else
            db_fit_say(log, "%12s\n", "-");
    }
}

void db_fit_say_shots(db_fit_log *log, const db_fit_shots_result *r) {
    db_fit_say(log, "\nAfter %.2f s: %s%s\n", r->seconds,
               r->status == DB_OK ? "" : "NOT CONVERGED: ", r->reason);
    db_fit_say(log,
               "%zu of %zu shots in use, %zu pixels in %zu shoeboxes: chi2 per degree of freedom "
               "%.4f -> %.4f\n",
               r->used, r->shot_count, r->pixels, r->shoeboxes, r->chi2_reduced[0],
               r->chi2_reduced[1]);
    say_shared(log, r);
    say_local(log, r);
    if (r->used < r->shot_count)
        db_fit_say(log, "\n%zu shot%s set aside:\n", r->shot_count - r->used,
                   r->shot_count - r->used == 1 ? " was" : "s were");
    for (size_t s = 0; s < r->shot_count; s++)
        if (!r->shot[s].used) db_fit_say(log, "  %s: %s\n", r->shot[s].name, r->shot[s].reason);
}
