/* The tests of a verdict: names, meanings and limits. */
#include "fit/verdict/verdict_tests.h"

#include "base/shown_text.h"
#include "fit/config/certain.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The brightest spots of a model are often too bright in it, so any intensities agree in order by a few standard
 * deviations. */
static const double LEAST_ORDER = 5;
/* Least squares make a model fainter whose spots overlap the measured ones only in part. */
static const double MOST_BRIGHTNESS = 10;

/* Places of spots may improve, and chance takes some pixels; a model that explains much less than its start has
 * wrong shapes of spots. */
static const double LEAST_OF_START = 0.75;
/* Errors of the distance, if spots also ask for another one. */
static const double MOST_OFF = 3;

static const struct {
    const char *name;
    const char *meaning;
    double least, most;
} tests[DB_FIT_TESTS] = {
    [DB_FIT_TEST_LATTICE] = { "lattice", "log likelihood over no lattice", DB_CERTAIN, INFINITY },
    [DB_FIT_TEST_ROWS] = { "rows", "log likelihood over spots anywhere along rows", DB_CERTAIN,
                           INFINITY },
    [DB_FIT_TEST_SMALLER] = { "smaller", "log likelihood over a smaller cell alone", DB_CERTAIN,
                              INFINITY },
    [DB_FIT_TEST_LARGER] = { "larger", "log likelihood over a larger cell", -DB_CERTAIN, INFINITY },
    [DB_FIT_TEST_MOVED] = { "moved", "log likelihood over the model turned and shifted",
                            -DB_CERTAIN, INFINITY },
    [DB_FIT_TEST_STRETCHED] = { "stretched", "log likelihood over the model with other edges",
                                -DB_CERTAIN, INFINITY },
    [DB_FIT_TEST_START] = { "start", "log likelihood over the start", -INFINITY, INFINITY },
    [DB_FIT_TEST_QUARTERS] = { "quarters", "log likelihood over no lattice in the worst quarter",
                               -DB_CERTAIN, INFINITY },
    [DB_FIT_TEST_HALVES] = { "halves",
                             "log likelihood over no lattice, fitted to the detector's other half",
                             DB_CERTAIN, INFINITY },
    [DB_FIT_TEST_INTENSITIES] = { "intensities",
                                  "order of intensities agrees with calculation (sigma)",
                                  LEAST_ORDER, INFINITY },
    [DB_FIT_TEST_BRIGHTNESS] = { "brightness", "light of the model over measured light",
                                 1 / MOST_BRIGHTNESS, MOST_BRIGHTNESS },
    [DB_FIT_TEST_EXPLAINED] = { "explained", "strong pixels explained, over those of the start",
                                LEAST_OF_START, INFINITY },
    [DB_FIT_TEST_DISTANCE] = { "distance", "distance that spots fit, off the held one (errors)", 0,
                               MOST_OFF },
};

const char *db_fit_test_name(db_fit_test_kind kind) { return tests[kind].name; }
const char *db_fit_test_meaning(db_fit_test_kind kind) { return tests[kind].meaning; }

void db_verdict_forget(db_fit_verdict *v) {
    memset(v, 0, sizeof *v);
    v->usable = 1;
    v->position_rms = v->light_part = v->light_explained = NAN;
    v->intensities_usable = 1;
    for (int k = 0; k < DB_FIT_TESTS; k++)
        v->test[k] = (db_fit_test){ NAN, tests[k].least, tests[k].most, 1 };
}

void db_verdict_test(db_fit_verdict *v, db_fit_test_kind kind, double found, const char *format,
                     ...) {
    db_fit_test *const t = &v->test[kind];
    t->found = found;
    t->passed = isnan(found) || (found >= t->least && found <= t->most);
    if (t->passed) return;
    v->usable = 0;
    if (*v->reason) return;
    va_list arguments;
    va_start(arguments, format);
    db_shown_vformat(v->reason, sizeof v->reason, format, arguments);
    va_end(arguments);
}

const char *db_verdict_heading(db_status status, int usable) {
    return status == DB_OK ? "" : usable ? "NOT CONVERGED: " : "NOT TO BE USED: ";
}

int db_verdict_of_all(const db_fit_shots_result *result) {
    int usable = 1;
    for (size_t s = 0; s < result->shot_count; s++)
        usable &= !result->shot[s].used || result->shot[s].verdict.usable;
    return usable;
}

void db_verdict_sentence(const db_fit_result *r, char text[DB_USE_SIZE]) {
    const db_fit_verdict *const v = &r->verdict;
    const char *const remarks = r->warning_count ? "; see the warnings" : "";
    if (r->status == DB_OK)
        db_shown_format(text, DB_USE_SIZE,
                        "The model may be used: %zu of %zu spots found without it lie at its "
                        "reflections, and it explains %.0f %% of the strong pixels%s.",
                        v->at, v->spots, 100 * r->after.strong_explained, remarks);
    else
        db_shown_format(text, DB_USE_SIZE, "The model %s: %s.",
                        r->status == DB_ERROR_CANCELLED ? "is not refined to the end"
                        : v->usable ? "may not be used yet, its refinement has not converged"
                                    : "must not be used",
                        r->reason);
}
