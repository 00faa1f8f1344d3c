/* A lattice that is wrong may still meet many spots: where two of its three directions are right,
 * spots lie in its rows, and some near its reflections. What chance brings is therefore not
 * estimated for spots anywhere, but for spots anywhere along a row. Around each reflection that the
 * model excites well are two rings, one as wide as the other, which end half way to where the next
 * reflection's begin. Spots of a wrong lattice are as often in the outer as in the inner one, or,
 * where no direction is right, three times as often; those of the right one are in the inner. */
#include "fit/verdict.h"

#include "core/context_internal.h"
#include "fit/nearest_reflection.h"
#include "fit/observed_spots.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST = 400,  /* strongest spots, which count, as in the search for the orientation */
    REACHES = 3, /* widths of the rings that are tried, each half of the one before */
    MULTIPLES = 2
};

/* A refinement tries few lattices that differ, its stages and reaches some more. */
static const double SIGNIFICANT = 1e-5;
/* Of the spots: other lattices, ice and artefacts may be most of an image. */
static const double LEAST_PART = 0.1;
/* In the inner ring for each in the outer; 1 where one direction of the lattice is wrong. */
static const double LEAST_CONTRAST = 2;
/* Of the reflections that spots lie at: whose index is a multiple. */
static const double MOSTLY = 0.9;
/* Of the spots that lie at reflections: so many lie half way between them. */
static const double MANY_BETWEEN = 0.25;
/* Standard deviations of rankings by chance. */
static const double LEAST_SIGMA = 3;
/* The brightest of a model are among those that it makes too bright, which puts a few standard
 * deviations of order into any intensities; and fewer than so many cannot show more. */
static const double LEAST_ORDER = 5;
static const size_t FEWEST_INTENSITIES = 40;
/* Least squares make a model fainter whose spots overlap the measured ones in part only. */
static const double MOST_BRIGHTNESS = 10;

typedef struct judge {
    db_context *context;
    const db_fit_data *data;
    db_observed_spots spots; /* in the resolution range, the strongest first */
    size_t strongest;        /* so many of them are asked where they lie */
    double well_excited;     /* degree: turned by less, domains reflect */
    db_fit_verdict *verdict;
} judge;

/* Reflections of a model and where they end. */
typedef struct pattern {
    db_prediction prediction;
    db_reflection_grid grid;
    double *reach; /* pixels: outer end of the outer ring */
} pattern;

static void clear_pattern(pattern *p) {
    free(p->reach);
    if (p->grid.start) db_reflection_grid_clear(&p->grid);
    db_prediction_clear(&p->prediction);
}

/* Half the distance to the nearest other reflection, or half a shoebox. */
static db_status measure_reaches(const judge *j, pattern *p) {
    const double most = j->data->settings->shoebox_half_width;
    p->reach = malloc((p->prediction.count + 1) * sizeof *p->reach);
    if (!p->reach) return db_fail_memory(j->context, "the surroundings of reflections");
    for (size_t i = 0; i < p->prediction.count; i++) {
        const db_reflection *const r = &p->prediction.reflection[i];
        double distance = 2 * most;
        db_reflection_grid_nearest(&p->grid, r->panel, r->position, i, &distance);
        p->reach[i] = 0.5 * distance;
    }
    return DB_OK;
}

static db_status make_pattern(const judge *j, const db_experiment *model, double excitation,
                              pattern *p) {
    const db_fit_settings *const settings = j->data->settings;
    const db_prediction_range range = { settings->dmin, settings->dmax, excitation };
    int pixels[2] = { j->data->image->fast_pixels, 0 };
    memset(p, 0, sizeof *p);
    for (size_t k = 0; k < model->detector.panel_count; k++)
        if (model->detector.panels[k].slow_pixels > pixels[1])
            pixels[1] = model->detector.panels[k].slow_pixels;
    DB_TRY(db_predict(j->context, model, &range, &p->prediction));
    db_status status = db_reflection_grid_make(j->context, &p->prediction, pixels,
                                               2.0 * settings->shoebox_half_width, &p->grid);
    if (status == DB_OK) status = measure_reaches(j, p);
    if (status != DB_OK) clear_pattern(p);
    return status;
}

/* Where spots lie: in the inner and in the outer rings. */
typedef struct places {
    size_t inner, outer;
    double square;         /* sum of squared distances of those in the inner (pixels^2) */
    double log_chance;     /* of as many in the inner ones, were both alike */
    double part;           /* of reach: end of the outer rings */
    size_t multiple[3][2]; /* of those in the inner ones, with an index h, k, l that 2, 3 divide */
} places;

/* The reflection in whose rings a spot is; count: none. */
static size_t around(const pattern *p, const db_observed_spot *spot, double *distance) {
    *distance = 2 * p->grid.cell;
    const size_t nearest = db_reflection_grid_nearest(&p->grid, spot->panel, spot->position,
                                                      p->prediction.count, distance);
    return nearest < p->prediction.count && *distance < p->reach[nearest] ? nearest
                                                                          : p->prediction.count;
}

/* axis: only reflections count whose index along it `divisor` does not divide; -1: all. */
static places look(const judge *j, const pattern *p, double part, int axis, int divisor) {
    places found = { .part = part };
    for (size_t i = 0; i < j->strongest; i++) {
        double distance;
        const size_t n = around(p, &j->spots.spot[i], &distance);
        if (n == p->prediction.count || distance >= part * p->reach[n]) continue;
        const int *const hkl = p->prediction.reflection[n].hkl;
        if (axis >= 0 && hkl[axis] % divisor == 0) continue;
        if (distance >= 0.5 * part * p->reach[n]) {
            found.outer++;
            continue;
        }
        found.inner++;
        found.square += distance * distance;
        for (int k = 0; k < 3; k++)
            for (int m = 0; m < MULTIPLES; m++) found.multiple[k][m] += hkl[k] % (m + 2) == 0;
    }
    const unsigned n = (unsigned)(found.inner + found.outer);
    const double chance = found.inner ? gsl_cdf_binomial_Q((unsigned)found.inner - 1, 0.5, n) : 1;
    found.log_chance = chance > 0 ? log(chance) : -700;
    return found;
}

/* With the rings that tell most. */
static places look_best(const judge *j, const pattern *p, int axis, int divisor) {
    places best = look(j, p, 1, axis, divisor);
    for (int i = 1; i < REACHES; i++) {
        const places other = look(j, p, ldexp(1, -i), axis, divisor);
        if (other.log_chance < best.log_chance) best = other;
    }
    return best;
}

static int is_significant(const places *found) {
    return found->log_chance < log(SIGNIFICANT) &&
           (double)found->inner >= LEAST_CONTRAST * (double)found->outer;
}

/* --- the tests -------------------------------------------------------------------------------- */

static const struct {
    const char *name, *meaning;
    double least, most;
} tests[DB_FIT_TESTS] = {
    [DB_FIT_TEST_PLACES] = { "places", "spots at reflections for each beside them", LEAST_CONTRAST,
                             INFINITY },
    [DB_FIT_TEST_CHANCE] = { "chance", "chance of as many if the lattice were wrong", 0,
                             SIGNIFICANT },
    [DB_FIT_TEST_PART] = { "part", "part of the spots at reflections beyond chance", LEAST_PART,
                           INFINITY },
    [DB_FIT_TEST_MULTIPLE] = { "multiple", "part of them with an index that 2 or 3 divides", 0,
                               MOSTLY },
    [DB_FIT_TEST_BETWEEN] = { "between", "spots half or a third way between, for each at one", 0,
                              MANY_BETWEEN },
    [DB_FIT_TEST_EXCITATION] = { "excitation",
                                 "reflections with spots nearer to Ewald sphere (sigma)",
                                 LEAST_SIGMA, INFINITY },
    [DB_FIT_TEST_INTENSITIES] = { "intensities", "order of intensities is that calculated (sigma)",
                                  LEAST_ORDER, INFINITY },
    [DB_FIT_TEST_BRIGHTNESS] = { "brightness", "light of the model for that measured",
                                 1 / MOST_BRIGHTNESS, MOST_BRIGHTNESS },
};

const char *db_fit_test_name(db_fit_test_kind kind) { return tests[kind].name; }
const char *db_fit_test_meaning(db_fit_test_kind kind) { return tests[kind].meaning; }

/* The first test that fails gives the reason. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
static void
test(db_fit_verdict *v, db_fit_test_kind kind, double found, const char *format, ...) {
    db_fit_test *const t = &v->test[kind];
    *t = (db_fit_test){ found, tests[kind].least, tests[kind].most, 1 };
    t->passed = isnan(found) || (found >= t->least && found <= t->most);
    if (t->passed) return;
    v->usable = 0;
    if (*v->reason) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(v->reason, sizeof v->reason, format, arguments);
    va_end(arguments);
}

static void forget_tests(db_fit_verdict *v) {
    memset(v, 0, sizeof *v);
    v->usable = 1;
    v->position_rms = NAN;
    for (int k = 0; k < DB_FIT_TESTS; k++)
        v->test[k] = (db_fit_test){ NAN, tests[k].least, tests[k].most, 1 };
}

static void judge_contrast(db_fit_verdict *v) {
    test(
        v, DB_FIT_TEST_PLACES, (double)v->at / fmax(1, (double)v->beside),
        "%zu spots lie at reflections, but %zu beside them, as they do where one direction of the "
        "lattice is wrong; expected %g times as many at reflections: cell, beam centre or distance "
        "are wrong, or spots are farther apart from their places than from each other",
        v->at, v->beside, LEAST_CONTRAST);
}

/* Are spots where the lattice has reflections that are excited well? */
static void judge_places(const judge *j, const places *found, double log_chance) {
    db_fit_verdict *const v = j->verdict;
    const double outer = (double)found->outer, inner = (double)found->inner;
    v->at = found->inner;
    v->beside = found->outer;
    v->position_rms = found->inner ? sqrt(found->square / inner) : (double)NAN;
    /* a list may name one crystal's spots of many */
    const double all =
        j->data->settings->spots ? fmax(1, inner + outer) : fmax(1, (double)v->spots);
    /* the first that fails says why: many spots in rows, or few anywhere near */
    if (2 * (inner + outer) >= all) judge_contrast(v);
    test(v, DB_FIT_TEST_PART, (inner - outer) / all,
         "of the %zu strongest spots only %zu lie at reflections that the model excites, and %zu "
         "beside them, where as many would lie by chance; expected an excess of %.0f %% of the "
         "spots: orientation or cell are wrong (model.find_orientation: yes looks for the "
         "orientation), the spots are another crystal's, or the model's crystal is too large or "
         "perfect to excite what is seen (Na, Nb, Nc, mosaic_spread)",
         v->spots, v->at, v->beside, 100 * LEAST_PART);
    judge_contrast(v);
    test(
        v, DB_FIT_TEST_CHANCE, exp(log_chance),
        "%zu spots at reflections and %zu beside them would be so by chance once in %.0f times, if "
        "the lattice were wrong; expected a chance below %.0e: too few spots to judge by, or a "
        "wrong orientation or cell",
        v->at, v->beside, exp(-log_chance), SIGNIFICANT);
}

/* Would a cell whose edge is a half or a third do as well? */
static void judge_multiples(const judge *j, const places *found) {
    double most = is_significant(found) ? 0 : (double)NAN;
    int axis = 0, divisor = 2;
    for (int k = 0; k < 3; k++)
        for (int m = 0; m < MULTIPLES; m++) {
            const double part = (double)found->multiple[k][m] / fmax(1, (double)found->inner);
            if (!(part > most)) continue;
            most = part;
            axis = k;
            divisor = m + 2;
        }
    test(j->verdict, DB_FIT_TEST_MULTIPLE, most,
         "of the spots at reflections %.0f %% have an index %c that %d divides; expected at most "
         "%.0f %%: the cell's edge %c is %d times too long",
         100 * most, "hkl"[axis], divisor, 100 * MOSTLY, "abc"[axis], divisor);
}

/* Does a cell whose edge is twice or three times as long explain many more spots? */
static db_status judge_between(const judge *j, const db_experiment *model, const places *found) {
    double most = 0;
    int axis = 0, times = 2;
    const double elsewhere = (double)j->strongest - (double)found->inner;
    const int may_be = elsewhere > MANY_BETWEEN * (double)found->inner && found->inner > 0;
    for (int k = 0; k < 3 && may_be; k++)
        for (int m = 2; m < 2 + MULTIPLES; m++) {
            db_experiment longer = *model; /* borrows */
            pattern p;
            longer.crystal.cell[k] *= m;
            longer.crystal.cells[k] = fmax(1, longer.crystal.cells[k] / m);
            DB_TRY(make_pattern(j, &longer, j->well_excited, &p));
            const places between = look_best(j, &p, k, m);
            clear_pattern(&p);
            const double part = (double)between.inner / fmax(1, (double)found->inner);
            if (!is_significant(&between) || part <= most) continue;
            most = part;
            axis = k;
            times = m;
        }
    test(j->verdict, DB_FIT_TEST_BETWEEN, most,
         "%.0f spots lie between reflections, where a cell with an edge %c of %d times the length "
         "has them, and %zu at reflections; expected at most %.0f %% of those: the cell's edge %c "
         "is "
         "too short",
         most * (double)found->inner, "abc"[axis], times, found -> inner, 100 * MANY_BETWEEN,
         "abc"[axis]);
    return DB_OK;
}

typedef struct excited {
    double turn; /* degree, to the Ewald sphere */
    int seen;
} excited;

static int nearer_first(const void *a, const void *b) {
    const double x = ((const excited *)a)->turn, y = ((const excited *)b)->turn;
    return (x > y) - (x < y);
}

/* Standard deviations by which reflections with spots are nearer to the Ewald sphere than those
 * without (Mann & Whitney, Ann. Math. Stat. 18, 50, 1947). */
static double rank(excited *list, size_t count, size_t seen) {
    const double n = (double)seen, m = (double)(count - seen);
    double before = 0, pairs = 0;
    qsort(list, count, sizeof *list, nearer_first);
    for (size_t i = 0; i < count; i++) {
        if (list[i].seen)
            before++;
        else
            pairs += before;
    }
    return seen && seen < count ? (pairs - 0.5 * n * m) / sqrt(n * m * (n + m + 1) / 12)
                                : (double)NAN;
}

/* Are those seen that are near the Ewald sphere? */
static db_status judge_excitation(const judge *j, const db_experiment *model) {
    db_fit_verdict *const v = j->verdict;
    pattern p;
    DB_TRY(make_pattern(j, model, j->data->settings->excitation_angle, &p));
    const size_t count = p.prediction.count;
    excited *const list = malloc((count + 1) * sizeof *list);
    for (size_t i = 0; i < count && list; i++)
        list[i] = (excited){ fabs(p.prediction.reflection[i].excitation), 0 };
    for (size_t i = 0; i < j->spots.count && list; i++) {
        double distance;
        const size_t n = around(&p, &j->spots.spot[i], &distance);
        if (n < count && distance < 0.5 * p.reach[n]) list[n].seen = 1;
    }
    clear_pattern(&p);
    if (!list) return db_fail_memory(j->context, "the ranking of reflections");
    v->predicted = count;
    for (size_t i = 0; i < count; i++) v->seen += (size_t)list[i].seen;
    const double sigma = rank(list, count, v->seen);
    free(list);
    test(
        v, DB_FIT_TEST_EXCITATION, sigma,
        "reflections with spots are nearer to the Ewald sphere than those without by %.1f standard "
        "deviations of what chance brings; expected at least %g: spots are where the lattice has "
        "reflections, but others than it excites: the orientation is wrong",
        sigma, LEAST_SIGMA);
    return DB_OK;
}

static int stronger_first(const void *a, const void *b) {
    const double x = ((const db_observed_spot *)a)->counts,
                 y = ((const db_observed_spot *)b)->counts;
    return (x < y) - (x > y);
}

static int in_range(const db_fit_geometry *geometry, const db_fit_settings *settings,
                    const db_observed_spot *spot) {
    const int *const roi = settings->roi;
    const double *const at = spot->position;
    const double d = db_fit_geometry_resolution(geometry, spot->panel, at[0], at[1]);
    if (d < settings->dmin || (settings->dmax > 0 && d > settings->dmax)) return 0;
    return settings->intensity == DB_FIT_FREE ||
           ((roi[0] < 0 || at[0] >= roi[0]) && (roi[1] < 0 || at[0] <= roi[1] + 1) &&
            (roi[2] < 0 || at[1] >= roi[2]) && (roi[3] < 0 || at[1] <= roi[3] + 1));
}

static db_status take_spots(judge *j, const db_experiment *model) {
    db_fit_geometry geometry;
    size_t count = 0;
    DB_TRY(db_observed_spots_find(j->context, j->data->image, j->data->strong, &j->spots));
    const db_status status = db_fit_geometry_of(j->context, model, &geometry);
    if (status != DB_OK) {
        db_observed_spots_clear(&j->spots);
        return status;
    }
    for (size_t i = 0; i < j->spots.count; i++)
        if (in_range(&geometry, j->data->settings, &j->spots.spot[i]))
            j->spots.spot[count++] = j->spots.spot[i];
    j->well_excited = 3 * geometry.mosaic_angle;
    db_fit_geometry_clear(&geometry);
    qsort(j->spots.spot, count, sizeof *j->spots.spot, stronger_first);
    j->spots.count = count;
    j->verdict->spots = j->strongest = count < MOST ? count : MOST;
    return DB_OK;
}

db_status db_verdict_of_places(db_context *context, const db_experiment *model,
                               const db_fit_data *data, db_fit_verdict *verdict) {
    judge j = { .context = context, .data = data, .verdict = verdict };
    pattern p;
    forget_tests(verdict);
    DB_TRY(take_spots(&j, model));
    db_status status = make_pattern(&j, model, j.well_excited, &p);
    if (status == DB_OK) {
        /* Where spots lie far from their places, a part of them may still agree: the widest rings
         * ask all. The narrower ones may tell more of few. */
        const places found = look(&j, &p, 1, -1, 1), best = look_best(&j, &p, -1, 1);
        clear_pattern(&p);
        status = judge_between(&j, model, &found);
        judge_multiples(&j, &found);
        judge_places(&j, &found, best.log_chance);
    }
    if (status == DB_OK) status = judge_excitation(&j, model);
    db_observed_spots_clear(&j.spots);
    return status;
}

/* What a shoebox says of its reflection. */
typedef struct intensity {
    double d_spacing;
    double calculated, measured; /* F^2, and what it would have to be for the light measured */
} intensity;

static int coarser_first(const void *a, const void *b) {
    const double x = ((const intensity *)a)->d_spacing, y = ((const intensity *)b)->d_spacing;
    return (x < y) - (x > y);
}

static double square_of(const db_structure_factors *factors, const int hkl[3]) {
    size_t at = 0;
    for (int i = 0; i < 3; i++) {
        const int from = hkl[i] - factors->min[i];
        if (from < 0 || from >= factors->extent[i]) return 0;
        at = at * (size_t)factors->extent[i] + (size_t)from;
    }
    return factors->amplitude ? factors->amplitude[at] * factors->amplitude[at] : 0;
}

/* Standard deviations by which the order of measured intensities is that of calculated ones, each
 * compared with those of like resolution only, as both fall with it (Kendall, Biometrika 30, 81,
 * 1938). */
static double rank_intensities(intensity *list, size_t count) {
    enum { GROUP = 8 };
    double sum = 0, variance = 0;
    qsort(list, count, sizeof *list, coarser_first);
    for (size_t first = 0; first + GROUP <= count; first += GROUP) {
        for (size_t i = first; i < first + GROUP; i++)
            for (size_t k = first; k < i; k++) {
                const double order = (list[i].calculated - list[k].calculated) *
                                     (list[i].measured - list[k].measured);
                sum += (order > 0) - (order < 0);
            }
        variance += GROUP * (GROUP - 1) * (2 * GROUP + 5) / 18.0;
    }
    return variance > 0 ? sum / sqrt(variance) : (double)NAN;
}

db_status db_verdict_of_intensities(db_context *context, const db_fit_result *result,
                                    db_fit_verdict *v) {
    const db_structure_factors *const factors = &result->experiment.structure_factors;
    intensity *const list = malloc((result->shoebox_count + 1) * sizeof *list);
    double sum[2] = { 0 };
    if (!list) return db_fail_memory(context, "the ranking of intensities");
    for (size_t b = 0; b < result->shoebox_count; b++) {
        const db_fit_shoebox *const box = &result->shoeboxes[b];
        const double square = square_of(factors, box->hkl);
        const double model = box->light[0], measured = box->light[1];
        sum[0] += model;
        sum[1] += measured;
        if (square > 0 && model > 0)
            list[v->intensities++] =
                (intensity){ box->d_spacing, square, measured * square / model };
    }
    const double sigma =
        v->intensities >= FEWEST_INTENSITIES ? rank_intensities(list, v->intensities) : (double)NAN;
    const double brightness = sum[1] > 0 ? sum[0] / sum[1] : (double)NAN;
    free(list);
    test(v, DB_FIT_TEST_BRIGHTNESS, brightness,
         "the model's spots have %.2g times the light of those measured; expected %g to %g: scale "
         "is "
         "to be refined, or wider bounds for it",
         brightness, 1 / MOST_BRIGHTNESS, MOST_BRIGHTNESS);
    test(v, DB_FIT_TEST_INTENSITIES, sigma,
         "intensities of %zu spots are in the order of those calculated by %.1f standard "
         "deviations of "
         "what chance brings; expected at least %g: the structure factors are another crystal's, "
         "or the "
         "indices are those of an equivalent lattice, turned or mirrored",
         v->intensities, sigma, LEAST_ORDER);
    return DB_OK;
}
