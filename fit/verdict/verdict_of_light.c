/* Compares measured intensities of spots with those of the model: their sums and their order. */
#include "fit/verdict/verdict_of_light.h"

#include "base/context_internal.h"
#include "fit/merge/known_amplitudes.h"
#include "fit/verdict/verdict_tests.h"

#include <math.h>
#include <stdlib.h>

/* Least number of intensities for a significant ranking. */
static const size_t FEWEST_INTENSITIES = 40;

void db_verdict_of_brightness(const db_fit_shoebox *boxes, size_t count, db_fit_verdict *v) {
    double model = 0, measured = 0;
    for (size_t b = 0; b < count; b++) {
        model += boxes[b].light[0];
        measured += boxes[b].light[1];
    }
    const double brightness = measured > 0 ? model / measured : (double)NAN;
    db_verdict_test(v, DB_FIT_TEST_BRIGHTNESS, brightness,
                    "the model's spots have %.2g times the light of the measured spots; expected "
                    "%g to %g: refine scale, or widen its bounds",
                    brightness, v->test[DB_FIT_TEST_BRIGHTNESS].least,
                    v->test[DB_FIT_TEST_BRIGHTNESS].most);
}

int db_light_is_alike(double model, double measured) {
    const double factor = 1.5;
    return model * factor > measured && model < factor * measured;
}

void db_light_judge(size_t spots, size_t alike, double *part, int *usable) {
    const double enough = 2.0 / 3;
    *part = spots < DB_FEWEST_LIT ? (double)NAN : (double)alike / (double)spots;
    *usable = !(*part < enough);
}

/* Intensities of the model's spots are too faint, by least squares, if the spots are displaced or have another
 * shape than the measured ones: right models of stills have 0.6 to 1 of their spots within the factor. */
void db_verdict_of_light(const db_fit_shoebox *boxes, size_t count, db_fit_verdict *v) {
    size_t alike = 0;
    v->light_spots = 0;
    for (size_t b = 0; b < count; b++) {
        const double *const light = boxes[b].light;
        if (boxes[b].strong_pixels == 0 || !(light[1] > 0)) continue;
        v->light_spots++;
        alike += (size_t)db_light_is_alike(light[0], light[1]);
    }
    db_light_judge(v->light_spots, alike, &v->light_part, &v->intensities_usable);
}

void db_verdict_of_explained(double before, double after, db_fit_verdict *v) {
    const double few = 0.02; /* of the strong pixels: chance explains this many */
    db_verdict_test(
        v, DB_FIT_TEST_EXPLAINED, before > few ? after / before : (double)NAN,
        "the refined model explains %.1f %% of the strong pixels, the start %.1f %%: "
        "refinement has made it worse; expected at least %g times as many: refine fewer "
        "parameters, or within bounds",
        100 * after, 100 * before, v->test[DB_FIT_TEST_EXPLAINED].least);
}

db_status db_verdict_of_order(db_context *context, const db_structure_factors *factors,
                              const db_fit_shoebox *boxes, size_t count, db_fit_verdict *v) {
    db_ordered_intensity *const list = malloc((count + 1) * sizeof *list);
    if (!list) return db_fail_memory(context, "the ranking of intensities");
    for (size_t b = 0; b < count; b++) {
        const db_fit_shoebox *const box = &boxes[b];
        const double square = db_listed_square(factors, box->hkl);
        if (square > 0 && box->light[0] > 0)
            list[v->intensities++] =
                (db_ordered_intensity){ box->d_spacing, square,
                                        box->light[1] * square / box->light[0] };
    }
    const double sigma = v->intensities >= FEWEST_INTENSITIES
                             ? db_intensity_order(list, v->intensities)
                             : (double)NAN;
    free(list);
    db_verdict_test(
        v, DB_FIT_TEST_INTENSITIES, sigma,
        "the order of the intensities of %zu spots agrees with the calculated order by %.1f "
        "standard deviations of chance; expected at least %g: the structure factors belong to "
        "another crystal, or the indices to an equivalent lattice, turned or mirrored",
        v->intensities, sigma, v->test[DB_FIT_TEST_INTENSITIES].least);
    return DB_OK;
}
