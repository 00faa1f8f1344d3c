/* Judges a refined model by spots that were found without it. A wrong lattice may still meet many
 * spots: where two of its three directions are right, spots lie in its rows, and some near its
 * reflections. Chance is therefore estimated not for spots anywhere, but for spots anywhere along a
 * row. Around each reflection that the model excites well are two rings of equal width, which end
 * half way to the rings of the next reflection. Spots of a wrong lattice are in the outer ring as
 * often as in the inner one, or three times as often where no direction is right; spots of the
 * right lattice are in the inner ring (docs/theory/verdict.md, Spots in rings). */
#include "fit/verdict/verdict.h"

#include "base/context_internal.h"
#include "fit/objective/model_image.h"
#include "fit/verdict/judged_spots.h"
#include "fit/verdict/spot_pattern.h"
#include "fit/verdict/verdict_tests.h"

#include <math.h>
#include <stdlib.h>

typedef struct judge {
    db_context *context;
    const db_experiment *model;
    const db_fit_data *data;
    db_observed_spots spots; /* in the resolution range, the strongest first */
    size_t strongest;        /* so many of them are asked where they lie */
    double well_excited;     /* degree: turned by less, domains reflect */
    double contrast;         /* asked of spots that are not crowded */
    double of_own;           /* how far from chance to the contrast of its own image, if they are */
    db_fit_verdict *verdict;
} judge;

static double least_of(const judge *j, db_fit_test_kind kind) {
    return j->verdict->test[kind].least;
}
static double most_of(const judge *j, db_fit_test_kind kind) { return j->verdict->test[kind].most; }

static int is_significant(const judge *j, const db_spot_places *found) {
    return found->log_chance < log(most_of(j, DB_FIT_TEST_CHANCE)) &&
           db_spot_places_contrast(found) >= least_of(j, DB_FIT_TEST_PLACES);
}

static void judge_contrast(const judge *j) {
    db_fit_verdict *const v = j->verdict;
    db_verdict_test(
        v, DB_FIT_TEST_PLACES, (double)v->at / fmax(1, (double)v->beside),
        "%zu spots lie at reflections, but %zu beside them, as they do where one direction of the "
        "lattice is wrong; expected %g times as many at reflections: cell, beam centre or distance "
        "are wrong, or spots are farther apart from their places than from each other",
        v->at, v->beside, least_of(j, DB_FIT_TEST_PLACES));
}

/* Are spots where the lattice has reflections that are excited well? */
static void judge_places(const judge *j, const db_spot_places *found, double log_chance) {
    db_fit_verdict *const v = j->verdict;
    const double outer = (double)found->outer, inner = (double)found->inner;
    v->at = found->inner;
    v->beside = found->outer;
    v->position_rms = found->inner ? sqrt(found->square / inner) : (double)NAN;
    /* a list may name one crystal's spots of many */
    const double all =
        j->data->settings->spots ? fmax(1, inner + outer) : fmax(1, (double)v->spots);
    /* the first that fails says why: many spots in rows, or few anywhere near */
    if (2 * (inner + outer) >= all) judge_contrast(j);
    db_verdict_test(
        v, DB_FIT_TEST_PART, (inner - outer) / all,
        "of the %zu strongest spots only %zu lie at reflections that the model excites, and %zu "
        "beside them, where as many would lie by chance; expected an excess of %.0f %% of the "
        "spots: orientation or cell are wrong (model.find_orientation: yes looks for the "
        "orientation), the spots are another crystal's, or the model's crystal is too large or "
        "perfect to excite what is seen (Na, Nb, Nc, mosaic_spread)",
        v->spots, v->at, v->beside, 100 * least_of(j, DB_FIT_TEST_PART));
    judge_contrast(j);
    db_verdict_test(
        v, DB_FIT_TEST_CHANCE, exp(log_chance),
        "%zu spots at reflections and %zu beside them would be so by chance once in %.0f times, if "
        "the lattice were wrong; expected a chance below %.0e: too few spots to judge by, or a "
        "wrong orientation or cell",
        v->at, v->beside, exp(-log_chance), most_of(j, DB_FIT_TEST_CHANCE));
}

/* Would a cell whose edge is a half or a third do as well? */
static void judge_multiples(const judge *j, const db_spot_places *found) {
    double most = is_significant(j, found) ? 0 : (double)NAN;
    int axis = 0, divisor = 2;
    for (int k = 0; k < 3; k++)
        for (int m = 0; m < DB_SPOT_MULTIPLES; m++) {
            const double part = (double)found->multiple[k][m] / fmax(1, (double)found->inner);
            if (!(part > most)) continue;
            most = part;
            axis = k;
            divisor = m + 2;
        }
    db_verdict_test(
        j->verdict, DB_FIT_TEST_MULTIPLE, most,
        "of the spots at reflections %.0f %% have an index %c that %d divides; expected at most "
        "%.0f %%: the cell's edge %c is %d times too long",
        100 * most, "hkl"[axis], divisor, 100 * most_of(j, DB_FIT_TEST_MULTIPLE), "abc"[axis],
        divisor);
}

/* Does a cell whose edge is twice or three times as long explain many more spots? */
static db_status judge_between(const judge *j, const db_spot_places *found) {
    double most = 0;
    int axis = 0, times = 2;
    const double elsewhere = (double)j->strongest - (double)found->inner;
    const int may_be =
        elsewhere > most_of(j, DB_FIT_TEST_BETWEEN) * (double)found->inner && found->inner > 0;
    for (int k = 0; k < 3 && may_be; k++)
        for (int m = 2; m < 2 + DB_SPOT_MULTIPLES; m++) {
            db_experiment longer = *j->model; /* borrows */
            db_spot_pattern p;
            longer.crystal.cell[k] *= m;
            longer.crystal.cells[k] = fmax(1, longer.crystal.cells[k] / m);
            DB_TRY(db_spot_pattern_make(j->context, &longer, j->data, j->well_excited, &p));
            db_spot_choice choice = db_strongest_spots(&j->spots);
            choice.axis = k;
            choice.divisor = m;
            const db_spot_places between = db_spot_places_best(&p, &choice);
            db_spot_pattern_clear(&p);
            const double part = (double)between.inner / fmax(1, (double)found->inner);
            if (!is_significant(j, &between) || part <= most) continue;
            most = part;
            axis = k;
            times = m;
        }
    const size_t at = found->inner;
    db_verdict_test(
        j->verdict, DB_FIT_TEST_BETWEEN, most,
        "%.0f spots lie between reflections, where a cell with an edge %c of %d times the length "
        "has them, and %zu at reflections; expected at most %.0f %% of those: the cell's edge %c "
        "is too short",
        most * (double)at, "abc"[axis], times, at, 100 * most_of(j, DB_FIT_TEST_BETWEEN),
        "abc"[axis]);
    return DB_OK;
}

typedef struct excited {
    double apart; /* from the Ewald sphere; see db_reflection */
    int seen;
} excited;

static int nearer_first(const void *a, const void *b) {
    const double x = ((const excited *)a)->apart, y = ((const excited *)b)->apart;
    return (x > y) - (x < y);
}

/* By how many standard deviations reflections with spots are nearer to the Ewald sphere than those
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

/* Are the reflections with spots those near the Ewald sphere? */
static db_status judge_excitation(const judge *j) {
    db_fit_verdict *const v = j->verdict;
    db_spot_pattern p;
    DB_TRY(db_spot_pattern_make(j->context, j->model, j->data, j->data->settings->excitation_angle,
                                &p));
    const size_t count = p.prediction.count;
    excited *const list = malloc((count + 1) * sizeof *list);
    for (size_t i = 0; i < count && list; i++)
        list[i] = (excited){ p.prediction.reflection[i].apart, 0 };
    for (size_t i = 0; i < j->spots.count && list; i++) {
        double distance;
        const size_t n = db_spot_pattern_around(&p, &j->spots.spot[i], &distance);
        if (n < count && distance < 0.5 * p.reach[n]) list[n].seen = 1;
    }
    db_spot_pattern_clear(&p);
    if (!list) return db_fail_memory(j->context, "the ranking of reflections");
    v->predicted = count;
    for (size_t i = 0; i < count; i++) v->seen += (size_t)list[i].seen;
    const double sigma = rank(list, count, v->seen);
    free(list);
    db_verdict_test(
        v, DB_FIT_TEST_EXCITATION, sigma,
        "reflections with spots are nearer to the Ewald sphere than those without by %.1f standard "
        "deviations of what chance brings; expected at least %g: spots are where the lattice has "
        "reflections, but others than it excites: the orientation is wrong",
        sigma, least_of(j, DB_FIT_TEST_EXCITATION));
    return DB_OK;
}

/* Where the spots of the model's own image lie, found in the same way as the measured ones. */
static db_status look_at_own(const judge *j, float *model_image, const db_spot_pattern *p,
                             db_spot_places *own) {
    db_measured_image image = *j->data->image; /* borrows */
    db_strong_pixels strong;
    db_observed_spots spots;
    const db_fit_data own_data = { &image, &strong, j->data->settings };
    image.value = model_image;
    DB_TRY(db_strong_pixels_find(j->context, &image, j->data->settings, &strong));
    const db_status status = db_judged_spots_find(j->context, j->model, &own_data, &spots);
    db_strong_pixels_clear(&strong);
    DB_TRY(status);
    const db_spot_choice choice = db_strongest_spots(&spots);
    *own = db_spot_places_look(p, &choice);
    db_observed_spots_clear(&spots);
    return DB_OK;
}

/* Where spots overlap or are cut by the Ewald sphere, even those of the right model lie beside
 * their reflections. The limit is then a part of the way from chance to the contrast of the model's own
 * image, whose spots are found only where that decides. */
static db_status expect_contrast(const judge *j, float *model_image, const db_spot_pattern *p,
                                 const db_spot_places *found, const db_spot_places *best) {
    db_fit_test *const t = &j->verdict->test[DB_FIT_TEST_PLACES];
    db_spot_places own;
    if (!model_image || db_spot_places_contrast(found) >= t->least ||
        best->log_chance >= log(most_of(j, DB_FIT_TEST_CHANCE)))
        return DB_OK;
    DB_TRY(look_at_own(j, model_image, p, &own));
    t->least = fmin(t->least, fmax(1, 1 + j->of_own * (db_spot_places_contrast(&own) - 1)));
    return DB_OK;
}

/* Spots of a list in no ring of a pattern; returns how many. */
static size_t spots_elsewhere(const db_spot_pattern *p, const db_spot_choice *all,
                              db_observed_spot *spot) {
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++) {
        double distance;
        if (db_spot_pattern_around(p, &all->spot[i], &distance) == p->prediction.count)
            spot[count++] = all->spot[i];
    }
    return count;
}

/* What would bring a spot to the nearest well excited reflection (pixels); 0: none is near. */
static int shift_of(const db_spot_pattern *p, const db_observed_spot *spot, double shift[2]) {
    double distance = 2 * p->grid.cell;
    const size_t n = db_reflection_grid_nearest(&p->grid, spot->panel, spot->position,
                                                p->prediction.count, &distance);
    if (n == p->prediction.count) return 0;
    for (int a = 0; a < 2; a++)
        shift[a] = p->prediction.reflection[n].position[a] - spot->position[a];
    return 1;
}

/* The shift that brings more of the spots to reflections of a pattern than any other, and how many
 * more than lie there as they are. Shifts are those of single spots to well excited reflections. */
static size_t most_displaced(const judge *j, const db_spot_pattern *well,
                             const db_spot_pattern *pattern, const db_observed_spot *spot,
                             size_t count, double shift[2]) {
    db_observed_spot moved[DB_MOST_JUDGED];
    const db_spot_choice as_they_are = { spot, count, 1, -1, 1 },
                         choice = { moved, count, 1, -1, 1 };
    const db_spot_places here = db_spot_places_look(pattern, &as_they_are);
    size_t most = here.inner;
    for (size_t i = 0; i < count; i++) {
        double by[2];
        if (!shift_of(well, &spot[i], by)) continue;
        for (size_t k = 0; k < count; k++) {
            moved[k] = spot[k];
            for (int a = 0; a < 2; a++) moved[k].position[a] += by[a];
        }
        const db_spot_places there = db_spot_places_look(pattern, &choice);
        /* as many shifts are tried as there are spots */
        if (there.log_chance + log((double)count) >= log(most_of(j, DB_FIT_TEST_CHANCE)) ||
            db_spot_places_contrast(&there) < least_of(j, DB_FIT_TEST_PLACES) ||
            there.inner <= most)
            continue;
        most = there.inner;
        for (int a = 0; a < 2; a++) shift[a] = -by[a];
    }
    return most - here.inner;
}

/* Of the spots in no ring: how many more can one shift bring to reflections than lie at some as
 * they are? Strong reflections shine even where they are excited weakly, and an orientation that
 * is off by a little excites others than it should: both ask for all reflections that are
 * predicted, not only for those that are excited well. */
static db_status judge_displaced(const judge *j, const db_spot_pattern *p,
                                 const db_spot_places *found) {
    db_fit_verdict *const v = j->verdict;
    const db_spot_choice all = db_strongest_spots(&j->spots);
    db_observed_spot spot[DB_MOST_JUDGED];
    double shift[2] = { 0 };
    const size_t count = spots_elsewhere(p, &all, spot);
    size_t displaced = 0;
    if ((double)count > most_of(j, DB_FIT_TEST_DISPLACED) * (double)found->inner && found->inner) {
        db_spot_pattern predicted;
        DB_TRY(db_spot_pattern_make(j->context, j->model, j->data,
                                    j->data->settings->excitation_angle, &predicted));
        displaced = most_displaced(j, p, &predicted, spot, count, shift);
        db_spot_pattern_clear(&predicted);
    }
    db_verdict_test(
        v, DB_FIT_TEST_DISPLACED, (double)displaced / fmax(1, (double)found->inner),
        "%zu spots lie %.1f, %.1f pixels (fast, slow) from reflections, all alike, and "
        "%zu at reflections; expected at most %.0f %% of those: the model explains a "
        "part of the detector only, with a beam centre or an orientation that are wrong",
        displaced, shift[0], shift[1], found->inner, 100 * most_of(j, DB_FIT_TEST_DISPLACED));
    return DB_OK;
}

/* A lattice that is wrong in one direction, or a beam centre that is, may agree with the spots of a part
 * of the detector, to which it was refined, but not with those of another. Where spots are crowded less
 * is asked, as of all of them. */
static db_status judge_quarters(const judge *j, const db_spot_pattern *p,
                                const db_spot_choice *choice) {
    db_fit_test *const t = &j->verdict->test[DB_FIT_TEST_QUARTERS];
    db_spot_places worst;
    int made;
    DB_TRY(db_spot_places_worst(j->context, j->model, p, choice, &worst, &made));
    t->least = 1 + (t->least - 1) * (least_of(j, DB_FIT_TEST_PLACES) - 1) / (j->contrast - 1);
    db_verdict_test(
        j->verdict, DB_FIT_TEST_QUARTERS, made ? db_spot_places_contrast(&worst) : (double)NAN,
        "in a part of the detector with a quarter of the spots %zu lie at reflections and %zu "
        "beside them, as by chance; expected %.2f times as many at reflections: the model explains "
        "another part only, with a cell, a beam centre or an orientation that are wrong",
        worst.inner, worst.outer, t->least);
    return DB_OK;
}

static db_status judge_pattern(const judge *j, float *model_image, const db_spot_pattern *p) {
    /* The widest rings include most spots, so they tell whether only a part of the spots agrees.
     * Narrower rings may be more significant for few spots. */
    const db_spot_choice choice = db_strongest_spots(&j->spots);
    const db_spot_places found = db_spot_places_look(p, &choice),
                         best = db_spot_places_best(p, &choice);
    DB_TRY(expect_contrast(j, model_image, p, &found, &best));
    DB_TRY(judge_between(j, &found));
    judge_multiples(j, &found);
    judge_places(j, &found, best.log_chance);
    DB_TRY(judge_displaced(j, p, &found)); /* first, as it says by how much */
    return judge_quarters(j, p, &choice);
}

static db_status judge_spots(judge *j, float *model_image, int with_excitation) {
    db_fit_geometry geometry;
    db_spot_pattern p;
    DB_TRY(db_fit_geometry_of(j->context, j->model, &geometry));
    /* three standard deviations, which those in closed form have anyway */
    j->well_excited = j->model->spread.spots == DB_SPOTS_CLOSED ? 0 : 3 * geometry.mosaic_angle;
    db_fit_geometry_clear(&geometry);
    j->verdict->spots = j->strongest = db_strongest_spots(&j->spots).count;
    DB_TRY(db_spot_pattern_make(j->context, j->model, j->data, j->well_excited, &p));
    const db_status status = judge_pattern(j, model_image, &p);
    db_spot_pattern_clear(&p);
    return status == DB_OK && with_excitation ? judge_excitation(j) : status;
}

/* Of a model without modes, whose spots are less sharp than they will be, more is asked: right ones
 * have shown 6 spots at reflections for each beside them, wrong ones 2.4. Spreads that a wrong lattice
 * has widened make its own image look crowded. */
static const double EARLY_CONTRAST = 3, EARLY_QUARTER = 1.5, EARLY_OF_OWN = 2.0 / 3, HALF_WAY = 0.5;

static db_status look(db_context *context, const db_experiment *model, const db_fit_data *data,
                      float *model_image, int with_excitation, db_fit_verdict *v) {
    judge j = { .context = context,
                .model = model,
                .data = data,
                .contrast = v->test[DB_FIT_TEST_PLACES].least,
                .of_own = with_excitation ? HALF_WAY : EARLY_OF_OWN,
                .verdict = v };
    DB_TRY(db_judged_spots_find(context, model, data, &j.spots));
    const db_status status = judge_spots(&j, model_image, with_excitation);
    db_observed_spots_clear(&j.spots);
    return status;
}

db_status db_verdict_of_places(db_context *context, const db_experiment *model,
                               const db_fit_data *data, float *model_image,
                               db_fit_verdict *verdict) {
    db_verdict_forget(verdict);
    return look(context, model, data, model_image, 1, verdict);
}

db_status db_verdict_of_positions(db_context *context, const db_experiment *model,
                                  const db_fit_data *data, db_fit_verdict *verdict) {
    db_verdict_forget(verdict);
    return look(context, model, data, NULL, 0, verdict);
}

static int is_lattice(const db_fit_verdict *v) {
    static const db_fit_test_kind asked[] = { DB_FIT_TEST_PLACES, DB_FIT_TEST_QUARTERS,
                                              DB_FIT_TEST_MULTIPLE, DB_FIT_TEST_BETWEEN,
                                              DB_FIT_TEST_DISPLACED };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        if (!v->test[asked[i]].passed) return 0;
    return 1;
}

static db_status look_early(db_context *context, const db_experiment *model,
                            const db_fit_data *data, float *model_image, db_fit_verdict *v) {
    db_verdict_forget(v);
    v->test[DB_FIT_TEST_PLACES].least = EARLY_CONTRAST;
    v->test[DB_FIT_TEST_QUARTERS].least = EARLY_QUARTER;
    return look(context, model, data, model_image, 0, v);
}

db_status db_verdict_of_lattice(db_context *context, const db_experiment *model,
                                const db_fit_data *data, int *is_right, db_fit_verdict *v) {
    const size_t pixels = (size_t)data->image->fast_pixels * (size_t)data->image->slow_pixels;
    DB_TRY(look_early(context, model, data, NULL, v));
    *is_right = is_lattice(v);
    if (*is_right || v->test[DB_FIT_TEST_PLACES].passed) return DB_OK;
    /* crowded spots? */
    size_t explained;
    db_model_images own = { .whole = malloc(pixels * sizeof *own.whole),
                            .background = malloc(pixels * sizeof *own.background) };
    db_status status = own.whole && own.background
                           ? db_model_image(context, model, data, &explained, &own)
                           : db_fail_memory(context, "the model's image");
    if (status == DB_OK) status = look_early(context, model, data, own.whole, v);
    if (status == DB_OK) *is_right = is_lattice(v);
    free(own.whole);
    free(own.background);
    free(own.reflection);
    return status;
}

/* Least number of intensities for a significant ranking. */
static const size_t FEWEST_INTENSITIES = 40;

/* What a shoebox says of its reflection. */
typedef struct intensity {
    double d_spacing;
    double calculated, measured; /* F^2, and the F^2 that would give the measured intensity */
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

/* By how many standard deviations the order of measured intensities agrees with that of calculated
 * ones. Each is compared only with others of similar resolution, since both decrease with it
 * (Kendall, Biometrika 30, 81, 1938). */
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

void db_verdict_of_brightness(const db_fit_shoebox *boxes, size_t count, db_fit_verdict *v) {
    double model = 0, measured = 0;
    for (size_t b = 0; b < count; b++) {
        model += boxes[b].light[0];
        measured += boxes[b].light[1];
    }
    const double brightness = measured > 0 ? model / measured : (double)NAN;
    db_verdict_test(
        v, DB_FIT_TEST_BRIGHTNESS, brightness,
        "the model's spots have %.2g times the light of those measured; expected %g to %g: scale "
        "is to be refined, or wider bounds for it",
        brightness, v->test[DB_FIT_TEST_BRIGHTNESS].least, v->test[DB_FIT_TEST_BRIGHTNESS].most);
}

/* Intensities are those of the model's spots. Where these lie beside the measured ones, or are shaped
 * unlike them, least squares make them too faint: stills of right models have 0.6 to 1 of their spots
 * within the factor. */
void db_verdict_of_light(const db_fit_shoebox *boxes, size_t count, db_fit_verdict *v) {
    const double factor = 1.5, enough = 2.0 / 3;
    const size_t few = 20;
    size_t within = 0;
    v->light_spots = 0;
    for (size_t b = 0; b < count; b++) {
        const double *const light = boxes[b].light;
        if (boxes[b].strong_pixels == 0 || !(light[1] > 0)) continue;
        v->light_spots++;
        within += light[0] * factor > light[1] && light[0] < factor * light[1];
    }
    v->light_part = v->light_spots < few ? (double)NAN : (double)within / (double)v->light_spots;
    v->intensities_usable = !(v->light_part < enough);
}

void db_verdict_of_explained(double before, double after, db_fit_verdict *v) {
    const double few = 0.02; /* of the strong pixels: chance explains as many */
    db_verdict_test(
        v, DB_FIT_TEST_EXPLAINED, before > few ? after / before : (double)NAN,
        "the refined model explains %.1f %% of the strong pixels, the start %.1f %%: "
        "refinement has made it worse; expected at least %g times as many: refine fewer "
        "parameters, or within bounds",
        100 * after, 100 * before, v->test[DB_FIT_TEST_EXPLAINED].least);
}

void db_verdict_of_distance(double held, double step, double error, db_fit_verdict *v) {
    const double few = 5e-3; /* of the distance: an image is hardly ever taken with a better one */
    db_verdict_test(v, DB_FIT_TEST_DISTANCE, fabs(step) < few * held ? 0 : fabs(step) / error,
                    "the distance was held at %.6g mm, and the data surely ask for %.6g +- %.2g "
                    "mm; expected at "
                    "most %g errors: edges of the cell are wrong by as many percent; refine the "
                    "distance, with a "
                    "range, or correct it",
                    held, held + step, error, v->test[DB_FIT_TEST_DISTANCE].most);
}

db_status db_verdict_of_order(db_context *context, const db_structure_factors *factors,
                              const db_fit_shoebox *boxes, size_t count, db_fit_verdict *v) {
    intensity *const list = malloc((count + 1) * sizeof *list);
    if (!list) return db_fail_memory(context, "the ranking of intensities");
    for (size_t b = 0; b < count; b++) {
        const db_fit_shoebox *const box = &boxes[b];
        const double square = square_of(factors, box->hkl);
        if (square > 0 && box->light[0] > 0)
            list[v->intensities++] =
                (intensity){ box->d_spacing, square, box->light[1] * square / box->light[0] };
    }
    const double sigma =
        v->intensities >= FEWEST_INTENSITIES ? rank_intensities(list, v->intensities) : (double)NAN;
    free(list);
    db_verdict_test(
        v, DB_FIT_TEST_INTENSITIES, sigma,
        "intensities of %zu spots are in the order of those calculated by %.1f standard "
        "deviations of what chance brings; expected at least %g: the structure factors are another "
        "crystal's, or the indices are those of an equivalent lattice, turned or mirrored",
        v->intensities, sigma, v->test[DB_FIT_TEST_INTENSITIES].least);
    return DB_OK;
}
