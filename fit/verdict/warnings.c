/* Warnings of a result: weakly determined, badly fitted or far off parameters. */
#include "fit/verdict/warnings.h"

#include "fit/verdict/held_distance.h"
#include "fit/verdict/other_lattice.h"

#include "base/shown_text.h"
#include "base/context_internal.h"
#include "fit/config/quantity.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMED = 4 };
static const double LEAST_NAMED = 0.2;

const char *db_direction_text(char text[DB_DIRECTION_TEXT_SIZE], const db_fit_estimates *found,
                              const db_fit_direction *direction) {
    unsigned char named[DB_FIT_MOST_PARAMETERS] = { 0 };
    size_t length = 0;
    text[0] = '\0';
    for (int n = 0; n < MOST_NAMED; n++) {
        size_t next = found->count;
        for (size_t i = 0; i < found->count; i++)
            if (!named[i] && fabs(direction->component[i]) >= LEAST_NAMED &&
                (next == found->count ||
                 fabs(direction->component[i]) > fabs(direction->component[next])))
                next = i;
        if (next == found->count) break;
        named[next] = 1;
        const int printed =
            snprintf(text + length, DB_DIRECTION_TEXT_SIZE - length, "%s%s %+.2f",
                     n == 0 ? "" : " with ", found->list[next].name, direction->component[next]);
        if (printed < 0 || (size_t)printed >= DB_DIRECTION_TEXT_SIZE - length) break;
        length += (size_t)printed;
    }
    return text;
}

/* Limits beyond which there is a warning. */
static const double WEAK_CONDITION = 1e4; /* errors grow by its root */
static const double STRONG_CORRELATION = 0.95;
static const double MISFIT = 2; /* chi2 per degree of freedom */
static const double OVERESTIMATED =
    0.5; /* chi2 per degree of freedom, if variances are too large */
static const double FEW_EXPLAINED = 0.5;  /* of the strong pixels */
static const double LARGE_SHIFT = 0.5;    /* pixels, mean of a region */
static const size_t ENOUGH_SPOTS = 5;     /* of a region */
static const double MANY_OUTLIERS = 0.02; /* of the shoeboxes */

static const double NEAR_LEAST = 1.25; /* times the limit of a test */

static const double DETERMINED_DISTANCE = 1e-3; /* error of a distance, relative */
static const double WRONG_DISTANCE = 2e-3, SIGNIFICANT_STEP = 2.5;

#define UNLIKE                                                                                     \
    "intensities are not to be used: of %zu spots only %.0f %% have the right brightness in the "  \
    "model (within a factor of 1.5); expected at least 67 %%."
static const char LEAVE_ONE_OUT[] =
    "leave one of these parameters out, tie them, or give one a prior";
static const char CHECK_FILES[] =
    "check wavelength and distance of these files: an image determines only cell over wavelength, "
    "so a wrong one changes all edges by one factor; crystals of another kind have edges that "
    "change by different factors";

/* The warnings of a result. */
typedef struct list {
    const db_fit_estimates *estimates;
    double distance;             /* mm */
    const db_fit_result *result; /* of one image; else NULL */
    char (*text)[DB_FIT_WARNING_SIZE];
    const char **advice;
    size_t count, room;
    int failed;
} list;

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static void
warn(list *l, const char *advice, const char *format, ...) {
    if (l->count == l->room) {
        const size_t room = 2 * l->room + 8;
        void *const texts = realloc(l->text, room * sizeof *l->text);
        if (texts) l->text = texts;
        void *const advices = realloc((void *)l->advice, room * sizeof *l->advice);
        if (advices) l->advice = advices;
        if (!texts || !advices) {
            l->failed = 1;
            return;
        }
        l->room = room;
    }
    l->advice[l->count] = advice;
    va_list arguments;
    va_start(arguments, format);
    db_shown_vformat(l->text[l->count++], DB_FIT_WARNING_SIZE, format, arguments);
    va_end(arguments);
}

static size_t place_of(const db_fit_estimates *e, db_parameter parameter) {
    size_t i = 0;
    while (i < e->count && e->list[i].parameter != parameter) i++;
    return i;
}

/* Are these footprint and divergence along one axis? Spots near the beam have the width footprint + divergence x
 * distance^2 (mm^2), so the two compensate each other. */
static int widen_alike(const db_fit_estimates *e, size_t i, size_t k) {
    const int a = (int)e->list[i].parameter, b = (int)e->list[k].parameter;
    return (a == DB_FOOTPRINT_HH && b == DB_DIVERGENCE_HH) ||
           (a == DB_FOOTPRINT_VV && b == DB_DIVERGENCE_VV);
}

/* A variance held at its bound has no error. */
static double error_or_none(const db_fit_estimate *e) { return e->error > 0 ? e->error : 0; }

/* The width of spots, which determines only a sum of both. */
static void about_width(list *l, size_t footprint, size_t divergence) {
    const db_fit_estimates *const e = l->estimates;
    const db_fit_estimate *const f = &e->list[footprint], *const d = &e->list[divergence];
    const double factor = 1e-6 * l->distance * l->distance; /* mm^2 per mrad^2 */
    const double own[2] = { error_or_none(f), factor * error_or_none(d) };
    const double both = e->correlation[footprint][divergence] * own[0] * own[1];
    warn(l, "quote the sum",
         "%s and %s widen spots alike: the spots determine their sum alone (footprint + "
         "divergence x distance^2), which is %.3g +- %.1g mm^2",
         f->name, d->name, f->value + factor * d->value,
         sqrt(own[0] * own[0] + own[1] * own[1] + 2 * both));
}

/* Of two parameters that widen spots alike: is this one 0 and the other not? */
static int is_at_zero_beside(const db_fit_estimates *e, size_t i) {
    const db_fit_estimate *const own = &e->list[i];
    for (size_t k = 0; k < e->count && own->at_bound < 0 && own->value <= 0; k++)
        if ((widen_alike(e, i, k) || widen_alike(e, k, i)) && !e->list[k].at_bound &&
            e->list[k].error > 0)
            return 1;
    return 0;
}

static void about_widths(list *l) {
    static const db_parameter pairs[2][2] = { { DB_FOOTPRINT_HH, DB_DIVERGENCE_HH },
                                              { DB_FOOTPRINT_VV, DB_DIVERGENCE_VV } };
    const db_fit_estimates *const e = l->estimates;
    for (int p = 0; p < 2; p++) {
        const size_t i = place_of(e, pairs[p][0]), k = place_of(e, pairs[p][1]);
        if (i == e->count || k == e->count) continue;
        if (is_at_zero_beside(e, i) || is_at_zero_beside(e, k) ||
            fabs(e->correlation[i][k]) > STRONG_CORRELATION)
            about_width(l, i, k);
    }
}

/* Does most of an error come from what is held? A warning of its own says so, and correlations follow from it. */
static int is_widened(const db_fit_estimate *e) {
    const double own = fmax(e->error_scaled, e->error_robust);
    return e->error * e->error > 2 * own * own;
}

static void about_undetermined(list *l) {
    const db_fit_estimates *const e = l->estimates;
    for (size_t k = 0; k < e->direction_count; k++) {
        char text[DB_DIRECTION_TEXT_SIZE];
        if (isinf(e->direction[k].condition))
            warn(l, LEAVE_ONE_OUT, "the data do not determine %s",
                 db_direction_text(text, e, &e->direction[k]));
    }
}

static void about_parameters(list *l) {
    const db_fit_estimates *const e = l->estimates;
    for (size_t i = 0; i < e->count; i++)
        if (e->list[i].at_bound && !is_at_zero_beside(e, i))
            warn(l, "widen the bound, or hold the parameter",
                 "%s ends at its %s bound %.8g: it has no standard error, and the errors of other "
                 "parameters hold for this value only",
                 e->list[i].name, e->list[i].at_bound < 0 ? "lower" : "upper", e->list[i].value);
    about_undetermined(l);
    for (size_t k = 0; k < e->direction_count; k++) {
        const db_fit_direction *const d = &e->direction[k];
        char text[DB_DIRECTION_TEXT_SIZE];
        if (isfinite(d->condition) && d->condition > WEAK_CONDITION)
            warn(l, LEAVE_ONE_OUT, "the data hardly determine %s: condition %.0e",
                 db_direction_text(text, e, d), d->condition);
    }
    for (size_t i = 0; i < e->count; i++)
        for (size_t k = i + 1; k < e->count; k++)
            if (fabs(e->correlation[i][k]) > STRONG_CORRELATION && !widen_alike(e, i, k) &&
                !widen_alike(e, k, i) && !(is_widened(&e->list[i]) && is_widened(&e->list[k])))
                warn(l, "quote both with their correlation, or hold one of them",
                     "%s and %s are strongly correlated (%+.3f)", e->list[i].name, e->list[k].name,
                     e->correlation[i][k]);
    about_widths(l);
}

/* Cell edges scale with a distance that is held. */
static void about_distance(list *l) {
    const db_fit_result *const r = l->result;
    const double held = r->experiment.detector.distance, step = r->distance_step,
                 error = r->distance_error;
    if (isnan(step)) return;
    if (fabs(step) > SIGNIFICANT_STEP * error && fabs(step) > WRONG_DISTANCE * held)
        warn(l, "check the distance, or refine it with a range",
             "the distance was held at %.6g mm, but the data fit %.6g +- %.2g mm; an error of the "
             "distance changes the cell's edges by the same factor",
             held, held + step, error);
    else if (!isfinite(error))
        warn(l, "calibrate the distance by other means, or refine it with many images together",
             "this image does not determine the distance: it was held at %.6g mm; an error of the "
             "distance changes the cell's edges by the same factor",
             held);
    else if (!(error < DETERMINED_DISTANCE * held))
        warn(
            l, "calibrate the distance by other means, or refine it with many images together",
            "this image does not determine the distance: it was held at %.6g mm, and the data fit "
            "%.6g +- %.2g mm; an error of the distance changes the cell's edges by the same factor",
            held, held + step, error);
}

/* Spots at no reflection of the model. */
static void about_other_lattice(list *l) {
    const db_fit_result *const r = l->result;
    const db_fit_orientation *const other = &r->other_lattice;
    static const char both[] =
        "model.find_orientation: {lattices: 2} finds both and refines them together";
    if (other->indexed == 0) return;
    if (!db_many_spots_left(r->left_spots, r->all_spots)) {
        warn(l, both,
             "a second lattice: the model lies between two, and meets spots of both; of the %zu "
             "strongest spots that the first one leaves, a second one of the same cell explains "
             "%zu (expected by chance: %.0f)",
             other->spots, other->indexed, other->by_chance);
        return;
    }
    warn(l, both,
         "a second lattice: %zu of %zu spots lie at no reflection of the model; of %zu of these, "
         "another lattice of the same cell explains %zu (expected by chance: %.0f); where spots of "
         "both lattices overlap, intensities are sums",
         r->left_spots, r->all_spots, other->spots, other->indexed, other->by_chance);
}

/* Is a number that a test found just above its least one? NAN, and a least one of -INFINITY: no. */
static int is_near_least(const db_fit_test *t) {
    return t->found < (t->least < 0 ? t->least / NEAR_LEAST : NEAR_LEAST * t->least);
}

/* letter: 0: none. */
static void about_centring(list *l, int letter, double gain) {
    if (letter)
        warn(
            l,
            "name a space group with this centring (model.symmetry), which leaves them out, unless "
            "they are only weak",
            "the lattice looks centred (%c), which no symmetry names: the log likelihood of the "
            "spots with the reflections of this centring exceeds the one with all reflections of "
            "the cell by %.1f; no spots show the other reflections, which are listed, too",
            letter, gain);
}

/* Warnings of the verdict: tests passed by little; intensities that must not be used. */
static void about_verdict(list *l) {
    const db_fit_verdict *const v = &l->result->verdict;
    if (l->result->status != DB_OK || !v->usable) return;
    for (int k = 0; k < DB_FIT_TESTS; k++) {
        const db_fit_test *const t = &v->test[k];
        const int is_low = is_near_least(t);
        if (!is_low && !(t->found > t->most / NEAR_LEAST)) continue;
        warn(l, "compare with another start; look at the spots beside reflections in the report",
             "the test `%s` is barely passed: found %.3g, expected %s %.3g",
             db_fit_test_name((db_fit_test_kind)k), t->found, is_low ? "at least" : "at most",
             is_low ? t->least : t->most);
    }
    about_centring(l, v->centring, v->centring_gain);
    if (!v->intensities_usable)
        warn(l,
             "use orientation and cell; for intensities refine mosaic spread, modes and other "
             "spreads, or sum pixels at the places in PREFIX.refl",
             UNLIKE " Orientation and cell may be used", v->light_spots, 100 * v->light_part);
}

static void about_misfit(list *l, double chi2_reduced, const char *part, const char *parts) {
    if (chi2_reduced > MISFIT)
        warn(l,
             "refine the crystal's size and mosaic spread; compare measured and model spots in the "
             "shoeboxes",
             "chi2 per degree of freedom is %.2f: the misfit exceeds the noise; standard errors "
             "include misfit that differs from %s to %s, not misfit that all %s share",
             chi2_reduced, part, part, parts);
}

static void about_fit(list *l) {
    const db_fit_result *const r = l->result;
    const db_fit_statistics *const s = &r->after;
    about_misfit(l, s->chi2_reduced, "region", "spots");
    if (s->chi2_reduced < OVERESTIMATED && s->pixels > 0)
        warn(l, "give data.gain and data.readout_noise of your detector; lower data.model_error",
             "chi2 per degree of freedom is %.2f: gain, readout noise or model error are "
             "overestimated, and so are the standard errors",
             s->chi2_reduced);
    if (s->strong_pixels > 0 && s->strong_explained < FEW_EXPLAINED)
        warn(l, "look in the residual image for spots of another lattice, ice, or edges of spots",
             "only %.0f %% of the strong pixels are explained: the rest may belong to another "
             "lattice, or the spots have another shape than the model's",
             100 * s->strong_explained);
    if (s->chi2_reduced > r->before.chi2_reduced)
        warn(l, "compare both models; start again with fewer stages, or from a better start",
             "the starting model fits the data of the last stage better than the refined one");
}

static int refines(const db_fit_result *r, db_parameter parameter) {
    for (size_t i = 0; i < r->estimates.count; i++)
        if (r->estimates.list[i].parameter == parameter) return 1;
    return 0;
}

/* A wrong size of the model's spots looks like misfit. */
static void about_sizes(list *l) {
    const db_fit_result *const r = l->result;
    const int size = refines(r, DB_CELLS_A) || refines(r, DB_CELLS_B) || refines(r, DB_CELLS_C);
    const int closed = r->experiment.spread.spots == DB_SPOTS_CLOSED;
    const int spread = refines(r, DB_MOSAIC_SPREAD) || refines(r, DB_MOSAIC_A) ||
                       refines(r, DB_MOSAIC_VARIANCE) || refines(r, DB_MOSAIC_XX);
    if (size || (r->after.chi2_reduced <= MISFIT && r->after.strong_explained >= FEW_EXPLAINED))
        return;
    warn(l,
         closed ? "refine Na, Nb, Nc and mosaic_variance" : "refine Na, Nb, Nc and mosaic_spread",
         "the crystal's size is held at Na %.3g, Nb %.3g, Nc %.3g: the model cannot fit spots of "
         "another size; refine Na, Nb, Nc%s",
         r->experiment.crystal.Ncells[0], r->experiment.crystal.Ncells[1],
         r->experiment.crystal.Ncells[2],
         spread   ? ""
         : closed ? ", mosaic_variance"
                  : ", mosaic_spread");
}

static void about_places(list *l) {
    const db_fit_result *const r = l->result;
    size_t outliers = 0;
    for (size_t b = 0; b < r->shoebox_count; b++)
        outliers += (size_t)(r->shoeboxes[b].outlier != 0);
    if ((double)outliers > MANY_OUTLIERS * (double)r->shoebox_count)
        warn(l, "look at these shoeboxes in the report; data.target: student lets them count less",
             "%zu of %zu shoeboxes are outliers: sigma Z above %.2f, median %.2f", outliers,
             r->shoebox_count, r->sigma_z_limit, r->sigma_z_median);
    size_t shifted = 0, worst = 0;
    double most = 0;
    for (size_t a = 0; a < r->region_count; a++) {
        const db_fit_region *const region = &r->regions[a];
        const double shift = hypot(region->shift[0], region->shift[1]);
        if (region->spots < ENOUGH_SPOTS || !(shift > LARGE_SHIFT)) continue;
        shifted++;
        if (shift > most) {
            most = shift;
            worst = a;
        }
    }
    if (shifted > 0)
        warn(l,
             "look at the map of shifts in the report: arrows that change from panel to panel "
             "mean moved panels; arrows that all point outwards mean a wrong distance or cell",
             "in %zu regions of the detector spots lie off the model by more than %.1f pixels on "
             "average, at most by %.2f around pixel %d, %d%s",
             shifted, LARGE_SHIFT, most,
             r->regions[worst].fast_start + r->regions[worst].fast_count / 2,
             r->regions[worst].slow_start + r->regions[worst].slow_count / 2,
             r->experiment.detector.panel_count > 1 ? " of a panel" : "");
}

db_status db_fit_warnings_make(db_context *context, db_fit_result *result) {
    list l = { .estimates = &result->estimates,
               .distance = result->experiment.detector.distance,
               .result = result };
    free(result->warnings);
    free((void *)result->advice);
    about_parameters(&l);
    about_distance(&l);
    about_other_lattice(&l);
    about_verdict(&l);
    about_fit(&l);
    about_sizes(&l);
    about_places(&l);
    result->warnings = l.text;
    result->advice = l.advice;
    result->warning_count = l.count;
    return db_need_memory(context, !l.failed, "the warnings");
}

/* Edges of a series' cell scale with a distance that is not refined, which no series tests. */
static void about_series_distance(list *l) {
    const db_fit_estimate *const edge = db_held_distance_edge(l->estimates);
    char within[40];
    snprintf(within, sizeof within, "allow for by %g %%", 100 * DB_USUAL_DISTANCE_ERROR);
    if (edge)
        warn(l, "refine distance with a range, or calibrate it by other means",
             "the distance was held at %.6g mm and has not been tested; an error of the distance "
             "changes the cell's edges by the same factor, which their errors %s",
             l->distance, is_widened(edge) ? within : "do not include");
}

db_status db_fit_series_warnings_make(db_context *context, double distance,
                                      db_fit_shots_result *result) {
    list l = { .estimates = &result->estimates, .distance = distance };
    if (!result->intensities) {
        about_parameters(&l);
        about_series_distance(&l);
    }
    if (!result->intensities_usable)
        warn(&l,
             "for intensities refine mosaic spread (mosaic_xx, mosaic_yy, mosaic_zz if rotations "
             "differ between the axes), size of the blocks and a scale of each frame",
             UNLIKE, result->light_spots, 100 * result->light_part);
    result->warnings = l.text;
    result->advice = l.advice;
    result->warning_count = l.count;
    return db_need_memory(context, !l.failed, "the warnings");
}

/* Adds printed text to what a text has; cuts what is too long. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
append_text(char text[DB_FIT_WARNING_SIZE], const char *format, ...) {
    const size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text + length, DB_FIT_WARNING_SIZE - length, format, arguments);
    va_end(arguments);
}

/* Quantities of single shots that their data do not determine. */
static void about_own(list *l, const db_fit_shots_result *r) {
    unsigned char named[DB_FIT_MOST_PARAMETERS] = { 0 };
    char which[DB_FIT_WARNING_SIZE] = "";
    size_t shots = 0;
    for (size_t s = 0; s < r->shot_count; s++) {
        const db_fit_result *const shot = &r->shot[s];
        int any = 0;
        for (size_t i = 0; i < shot->estimates.count && shot->used; i++) {
            const db_fit_estimate *const e = &shot->estimates.list[i];
            if (e->shared || !isinf(e->error)) continue;
            if (!named[i]) append_text(which, "%s%s", *which ? ", " : "", e->name);
            named[i] = 1;
            any = 1;
        }
        shots += (size_t)any;
    }
    if (shots)
        warn(l, LEAVE_ONE_OUT, "in %zu of %zu shots the data do not determine %s", shots, r->used,
             which);
}

/* The list that a result has, to be continued. */
static list list_of(const db_fit_shots_result *result) {
    return (list){ .estimates = &result->estimates,
                   .text = result->warnings,
                   .advice = result->advice,
                   .count = result->warning_count,
                   .room = result->warning_count };
}

static db_status give_list(db_context *context, const list *l, db_fit_shots_result *result) {
    result->warnings = l->text;
    result->advice = l->advice;
    result->warning_count = l->count;
    return db_need_memory(context, !l->failed, "the warnings");
}

db_status db_fit_undetermined_warnings_add(db_context *context, db_fit_shots_result *result) {
    list l = list_of(result);
    if (result->in_full) return DB_OK; /* each shot has warnings of its own */
    if (!result->passages || result->intensities) about_undetermined(&l);
    about_own(&l, result);
    about_misfit(&l, result->chi2_reduced[1], "shot", "shots");
    return give_list(context, &l, result);
}

db_status db_fit_dark_warning_add(db_context *context, const char *dark, size_t fewest,
                                  db_fit_shots_result *result) {
    list l = list_of(result);
    if (!*dark) return DB_OK;
    warn(&l, "leave these images out: their intensities are noise, too",
         "fewer than %zu spots are on the images of %s: nothing of its own was refined%s", fewest,
         dark, result->merged ? ", and its intensities are not merged" : "");
    return give_list(context, &l, result);
}

db_status db_fit_centring_warning_add(db_context *context, db_fit_shots_result *result) {
    list l = list_of(result);
    if (result->in_full || result->status != DB_OK) return DB_OK;
    about_centring(&l, result->centring, result->centring_gain);
    return give_list(context, &l, result);
}

db_status db_fit_cells_warning_add(db_context *context, db_fit_shots_result *result) {
    list l = list_of(result);
    char which[DB_FIT_WARNING_SIZE] = "";
    db_other_cells found;
    DB_TRY(db_other_cells_find(context, result, &found));
    if (!found.count) return DB_OK;
    for (size_t n = 0; n < DB_OTHER_CELLS_NAMED && n < found.count; n++) {
        append_text(which, "%s%s", n ? ", " : "", result->shot[found.shot[n]].name);
        for (size_t k = 0; k < found.edges && n == 0; k++)
            append_text(which, "%s%s %+.2f %%%s", k ? ", " : " (", found.name[k],
                        100 * found.change[k], k + 1 == found.edges ? ")" : "");
    }
    warn(&l, CHECK_FILES,
         "in %zu of %zu shots edges of the cell differ from the other shots, whose edges scatter "
         "by %.2g %%: %s%s",
         found.count, found.compared, 100 * found.scatter, which,
         found.count > DB_OTHER_CELLS_NAMED ? ", ..." : "");
    return give_list(context, &l, result);
}
