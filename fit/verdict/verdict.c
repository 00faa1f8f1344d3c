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
#include "fit/verdict/displaced_spots.h"
#include "fit/verdict/excited_spots.h"
#include "fit/verdict/verdict_tests.h"

#include <math.h>
#include <stdlib.h>

typedef struct judge {
    db_context *context;
    const db_experiment *model;
    const db_fit_data *data;
    const db_observed_spots *spots;   /* in the resolution range, the strongest first */
    const db_judged_spots *predicted; /* with all that is predicted; NULL: not asked for */
    size_t strongest;                 /* so many of them are asked where they lie */
    double well_excited;              /* degree: turned by less, domains reflect */
    double contrast;                  /* asked of spots that are not crowded */
    double of_own; /* how far from chance to the contrast of its own image, if they are */
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
            longer.crystal.Ncells[k] = fmax(1, longer.crystal.Ncells[k] / m);
            DB_TRY(db_spot_pattern_make(j->context, &longer, j->data, j->well_excited, &p));
            db_spot_choice choice = db_strongest_spots(j->spots);
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

/* Are the reflections with spots those near the Ewald sphere? */
static db_status judge_excitation(const judge *j) {
    db_fit_verdict *const v = j->verdict;
    db_excited_spots found;
    DB_TRY(db_excited_spots_rank(j->context, j->predicted, &found));
    v->predicted = found.predicted;
    v->seen = found.seen;
    db_verdict_test(
        v, DB_FIT_TEST_EXCITATION, found.sigma,
        "reflections with spots are nearer to the Ewald sphere than those without by %.1f standard "
        "deviations of what chance brings; expected at least %g: spots are where the lattice has "
        "reflections, but others than it excites: the orientation is wrong",
        found.sigma, least_of(j, DB_FIT_TEST_EXCITATION));
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

/* Of the spots in no ring: how many more can one shift bring to reflections than lie at some as
 * they are? Strong reflections shine even where they are excited weakly, and an orientation that
 * is off by a little excites others than it should: both ask for all reflections that are
 * predicted, not only for those that are excited well. */
static db_status judge_displaced(const judge *j, const db_spot_pattern *p,
                                 const db_spot_places *found) {
    db_fit_verdict *const v = j->verdict;
    const db_spot_choice all = db_strongest_spots(j->spots);
    db_observed_spot spot[DB_MOST_JUDGED];
    double shift[2] = { 0 };
    const size_t count = db_spots_elsewhere(p, &all, spot);
    size_t displaced = 0;
    if ((double)count > most_of(j, DB_FIT_TEST_DISPLACED) * (double)found->inner && found->inner) {
        const db_spot_limits limits = { most_of(j, DB_FIT_TEST_CHANCE),
                                        least_of(j, DB_FIT_TEST_PLACES) };
        db_spot_pattern own = { 0 };
        if (!j->predicted)
            DB_TRY(db_spot_pattern_make(j->context, j->model, j->data,
                                        j->data->settings->excitation_angle, &own));
        displaced = db_most_displaced(&limits, p, j->predicted ? &j->predicted->predicted : &own,
                                      spot, count, shift);
        db_spot_pattern_clear(&own);
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
    const db_spot_choice choice = db_strongest_spots(j->spots);
    const db_spot_places found = db_spot_places_look(p, &choice),
                         best = db_spot_places_best(p, &choice);
    DB_TRY(expect_contrast(j, model_image, p, &found, &best));
    DB_TRY(judge_between(j, &found));
    judge_multiples(j, &found);
    judge_places(j, &found, best.log_chance);
    DB_TRY(judge_displaced(j, p, &found)); /* first, as it says by how much */
    return judge_quarters(j, p, &choice);
}

static db_status judge_spots(judge *j, float *model_image) {
    db_fit_geometry geometry;
    db_spot_pattern p;
    DB_TRY(db_fit_geometry_of(j->context, j->model, &geometry));
    /* three standard deviations, which those in closed form have anyway */
    j->well_excited = j->model->spread.spots == DB_SPOTS_CLOSED ? 0 : 3 * geometry.mosaic_angle;
    db_fit_geometry_clear(&geometry);
    j->verdict->spots = j->strongest = db_strongest_spots(j->spots).count;
    DB_TRY(db_spot_pattern_make(j->context, j->model, j->data, j->well_excited, &p));
    const db_status status = judge_pattern(j, model_image, &p);
    db_spot_pattern_clear(&p);
    return status == DB_OK && j->predicted ? judge_excitation(j) : status;
}

/* Of a model without modes, whose spots are less sharp than they will be, more is asked: right ones
 * have shown 6 spots at reflections for each beside them, wrong ones 2.4. Spreads that a wrong lattice
 * has widened make its own image look crowded. */
static const double EARLY_CONTRAST = 3, EARLY_QUARTER = 1.5, EARLY_OF_OWN = 2.0 / 3, HALF_WAY = 0.5;

static db_status look(db_context *context, const db_experiment *model, const db_fit_data *data,
                      const db_observed_spots *spots, const db_judged_spots *predicted,
                      float *model_image, db_fit_verdict *v) {
    judge j = { .context = context,
                .model = model,
                .data = data,
                .spots = spots,
                .predicted = predicted,
                .contrast = v->test[DB_FIT_TEST_PLACES].least,
                .of_own = predicted ? HALF_WAY : EARLY_OF_OWN,
                .verdict = v };
    return judge_spots(&j, model_image);
}

db_status db_verdict_of_places(db_context *context, const db_experiment *model,
                               const db_fit_data *data, const db_judged_spots *judged,
                               float *model_image, db_fit_verdict *verdict) {
    db_verdict_forget(verdict);
    return look(context, model, data, &judged->seen, judged, model_image, verdict);
}

db_status db_verdict_of_positions(db_context *context, const db_experiment *model,
                                  const db_fit_data *data, db_fit_verdict *verdict) {
    db_observed_spots spots;
    db_verdict_forget(verdict);
    DB_TRY(db_judged_spots_find(context, model, data, &spots));
    const db_status status = look(context, model, data, &spots, NULL, NULL, verdict);
    db_observed_spots_clear(&spots);
    return status;
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
                            const db_fit_data *data, const db_observed_spots *spots,
                            float *model_image, db_fit_verdict *v) {
    db_verdict_forget(v);
    v->test[DB_FIT_TEST_PLACES].least = EARLY_CONTRAST;
    v->test[DB_FIT_TEST_QUARTERS].least = EARLY_QUARTER;
    return look(context, model, data, spots, NULL, model_image, v);
}

static db_status judge_lattice(db_context *context, const db_experiment *model,
                               const db_fit_data *data, const db_observed_spots *spots,
                               int *is_right, db_fit_verdict *v) {
    const size_t pixels = (size_t)data->image->fast_pixels * (size_t)data->image->slow_pixels;
    DB_TRY(look_early(context, model, data, spots, NULL, v));
    *is_right = is_lattice(v);
    if (*is_right || v->test[DB_FIT_TEST_PLACES].passed) return DB_OK;
    /* crowded spots? */
    size_t explained;
    db_model_images own = { .whole = malloc(pixels * sizeof *own.whole),
                            .background = malloc(pixels * sizeof *own.background) };
    db_status status = own.whole && own.background
                           ? db_model_image(context, model, data, &explained, &own)
                           : db_fail_memory(context, "the model's image");
    if (status == DB_OK) status = look_early(context, model, data, spots, own.whole, v);
    if (status == DB_OK) *is_right = is_lattice(v);
    free(own.whole);
    free(own.background);
    free(own.reflection);
    return status;
}

db_status db_verdict_of_lattice(db_context *context, const db_experiment *model,
                                const db_fit_data *data, int *is_right, db_fit_verdict *verdict) {
    db_observed_spots spots;
    DB_TRY(db_judged_spots_find(context, model, data, &spots));
    const db_status status = judge_lattice(context, model, data, &spots, is_right, verdict);
    db_observed_spots_clear(&spots);
    return status;
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
