/* Scales of sweeps that decay, from reflections that were measured again. */
#include "support/unit_test.h"
#include "fit/made_up_shots.h"
#include "fit/merge/smooth_scales.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static db_context *context;
static db_asu_list list;
static const double cell[6] = { 27, 31, 34, 90, 90, 90 };
enum { SWEEPS = 2, FRAMES = 60, EACH = 300, MEASURED = SWEEPS * FRAMES * EACH };

static int make(void **state) {
    (void)state;
    if (db_context_create(&context) != DB_OK) return -1;
    return db_asu_list_make(context, cell, "", 2.6, 1, &list) == DB_OK ? 0 : -1;
}

static int drop(void **state) {
    (void)state;
    db_asu_list_clear(&list);
    db_context_destroy(&context);
    return 0;
}

/* Scale and B at a time: the second sweep begins elsewhere. */
static double true_log_k(size_t sweep, double since, double decay) {
    return decay * ((sweep ? -0.7 : 0) - 0.01 * since + 0.1 * sin(since / 10));
}
static double true_b(size_t sweep, double since, double decay) {
    return decay * ((sweep ? 4 : 0) + 0.1 * since);
}

typedef struct decaying {
    double *truth;
    db_observations observations;
    db_sweep_time *time;
    db_smooth_scales scales;
} decaying;

/* What is measured: with an error of 5 %; no reflection twice; photons, as many as the intensity, above two. */
typedef enum way_to_measure { USUAL, APART, PHOTONS } way_to_measure;

/* Measures reflections of both sweeps. */
static void measure(double decay, way_to_measure way, decaying *d) {
    uint64_t random = 5;
    double begin[SWEEPS + 1];
    d->truth = calloc(list.count, sizeof *d->truth);
    d->time = calloc(MEASURED, sizeof *d->time);
    assert_non_null(d->truth);
    assert_non_null(d->time);
    assert_int_equal(db_observations_make(context, SWEEPS * FRAMES, MEASURED, &d->observations),
                     DB_OK);
    for (size_t r = 0; r < list.count; r++) d->truth[r] = -100 * log(1 - made_up_uniform(&random));
    for (size_t w = 0; w <= SWEEPS; w++) begin[w] = (double)(w * FRAMES);
    for (size_t s = 0, n = 0; s < SWEEPS * FRAMES; s++) {
        d->observations.first[s] = n;
        for (int k = 0; k < EACH; k++, n++) {
            const size_t sweep = s / FRAMES;
            const double since = (double)(s % FRAMES) + made_up_uniform(&random);
            const uint32_t r = (uint32_t)((double)list.count * made_up_uniform(&random));
            const double fall = 1 / (2 * (double)list.d[r] * (double)list.d[r]),
                         J = d->truth[r] * exp(true_log_k(sweep, since, decay) -
                                               fall * true_b(sweep, since, decay)),
                         sigma = way == PHOTONS ? sqrt(J + 2) : 0.05 * J + 0.5,
                         measured = J + sigma * made_up_normal(&random);
            d->time[n] = (db_sweep_time){ (uint32_t)sweep, (float)(since + begin[sweep]) };
            d->observations.list[n] = (db_observation){
                .reflection = way == APART ? (n < list.count ? (uint32_t)n : DB_NO_REFLECTION) : r,
                .intensity = (float)measured,
                .sigma = (float)(way == PHOTONS ? sqrt(fmax(0, measured) + 2) : sigma),
                .partiality = 1,
                .light = way == PHOTONS ? 1 : 0
            };
            if (n % 97 == 0) d->observations.list[n].intensity *= 5; /* something else */
        }
    }
    d->observations.first[SWEEPS * FRAMES] = MEASURED;
    assert_int_equal(db_smooth_scales_make(context, SWEEPS, begin, 10, &d->scales), DB_OK);
    assert_int_equal(db_smooth_scales_fit(context, &list, &d->observations, d->time, &d->scales),
                     DB_OK);
}

static void forget(decaying *d) {
    free(d->truth);
    free(d->time);
    db_observations_clear(&d->observations);
    db_smooth_scales_clear(&d->scales);
}

/* The largest error of log of the scale at a resolution, at any time, after a common factor. */
static double worst_of(const decaying *d, double decay, double fall) {
    double least = INFINITY, most = -INFINITY;
    for (size_t w = 0; w < SWEEPS; w++)
        for (double since = 0; since < FRAMES; since += 0.5) {
            const db_sweep_time time = { (uint32_t)w, (float)(since + (double)(w * FRAMES)) };
            const double off = log(db_smooth_scale_at(&d->scales, &time, fall)) -
                               true_log_k(w, since, decay) + fall * true_b(w, since, decay);
            least = fmin(least, off);
            most = fmax(most, off);
        }
    return most - least;
}

static void scales_follow_the_decay(void **state) {
    (void)state;
    decaying d;
    measure(1, USUAL, &d);
    const double coarse = worst_of(&d, 1, 0.5 / 100), fine = worst_of(&d, 1, 0.5 / 9);
    print_message("off by %.3f at 10 A, %.3f at 3 A; steps %.3f, %.2f A^2\n", coarse, fine,
                  d.scales.step_k, d.scales.step_b);
    assert_true(coarse < 0.05); /* of 1.4 */
    assert_true(fine < 0.05);   /* of 2.0 */
    assert_int_equal(d.scales.first[SWEEPS], 14);
    forget(&d);
}

/* Steps are restrained as strongly as the data make likely: none are left here. */
static void steady_crystals_keep_their_scale(void **state) {
    (void)state;
    for (int way = USUAL; way <= PHOTONS; way += PHOTONS - USUAL) {
        decaying d;
        measure(0, way, &d);
        print_message("steady: off by %.4f at 3 A; steps %.4f, %.3f A^2\n",
                      worst_of(&d, 0, 0.5 / 9), d.scales.step_k, d.scales.step_b);
        assert_true(worst_of(&d, 0, 0.5 / 9) < 0.003);
        assert_true(d.scales.step_k < 0.0005);
        assert_true(d.scales.step_b < 0.01);
        forget(&d);
    }
}

/* Photons are as many as their variance. A mean that changes the weights of its own measurements must not make curvatures
 * negative, as it did where steps are short. */
static void photons_show_the_decay(void **state) {
    (void)state;
    static const double decay[] = { 1, 0.1 }, most[] = { 0.05, 0.03 };
    for (int k = 0; k < 2; k++) {
        decaying d;
        measure(decay[k], PHOTONS, &d);
        const double coarse = worst_of(&d, decay[k], 0.5 / 100),
                     fine = worst_of(&d, decay[k], 0.5 / 9);
        print_message("photons: off by %.3f at 10 A, %.3f at 3 A; steps %.3f, %.2f A^2\n", coarse,
                      fine, d.scales.step_k, d.scales.step_b);
        assert_true(coarse < most[k]);
        assert_true(fine < most[k]);
        forget(&d);
    }
}

static void nothing_common_leaves_scales_alone(void **state) {
    (void)state;
    decaying d;
    measure(1, APART, &d);
    assert_int_equal(d.scales.shared, 0);
    assert_true(d.scales.step_k > 0.05); /* as at the start: nothing says that steps are small */
    for (size_t k = 0; k < d.scales.first[SWEEPS]; k++) {
        assert_true(fabs(d.scales.log_k[k]) < 1e-9);
        assert_true(fabs(d.scales.b[k]) < 1e-9);
    }
    forget(&d);
}

/* Pairs of measurements on frames between gaps; the first one of a pair is wrong by a factor. */
typedef struct wrong_pair {
    double first, second, factor;
} wrong_pair;

/* Scales of a sweep with few reflections, each measured twice, 2 to 12 frames apart or 100, which changes by `decay`. Frames
 * 20 to 50 have no measurements but those of `wrong`. Returns the worst error of log k of these, and of the rest. */
static void scale_of_few(const wrong_pair *wrong, size_t wrong_count, double decay,
                         double worst[2]) {
    enum { PAIRS = 70, MOST = 2 * (PAIRS + 8), LONG = 200 };
    const double begin[2] = { 0, LONG };
    uint64_t random = 7;
    db_observations few;
    db_smooth_scales scales;
    double fall = 0;
    db_sweep_time *const time = calloc(MOST, sizeof *time);
    assert_non_null(time);
    assert_int_equal(db_observations_make(context, 1, MOST, &few), DB_OK);
    const size_t count = 2 * (PAIRS + wrong_count);
    for (size_t n = 0; n < count; n++) {
        const size_t pair = n / 2, bad = pair < PAIRS ? wrong_count : pair - PAIRS;
        double at = 50 + (double)((37 * pair) % 90), factor = 1;
        if (n % 2) at += pair % 3 ? 2 + (double)(pair % 11) : 60;
        if (pair % 5 == 0) at = n % 2 ? 19.0 * (double)pair / PAIRS : 150;
        if (bad < wrong_count) {
            at = n % 2 ? wrong[bad].second : wrong[bad].first;
            factor = n % 2 ? 1 : wrong[bad].factor;
        }
        const double J = 100 * exp(decay * at / LONG) * (1 + 0.15 * made_up_normal(&random));
        time[n] = (db_sweep_time){ 0, (float)at };
        few.list[n] = (db_observation){ .reflection = (uint32_t)(7 * pair),
                                        .intensity = (float)(J * factor),
                                        .sigma = 1,
                                        .partiality = 1 };
        fall += 0.5 * pow((double)list.d[7 * pair], -2) / (double)count;
    }
    few.first[1] = count;
    assert_int_equal(db_smooth_scales_make(context, 1, begin, 5, &scales), DB_OK);
    assert_int_equal(db_smooth_scales_fit(context, &list, &few, time, &scales), DB_OK);
    const double origin = log(db_smooth_scale_at(&scales, &(db_sweep_time){ 0, 100 }, fall));
    worst[0] = worst[1] = 0;
    for (size_t n = 0; n < count; n++) {
        double *const of = &worst[n / 2 < PAIRS];
        *of = fmax(*of, fabs(log(db_smooth_scale_at(&scales, &time[n], fall)) - origin -
                             decay * ((double)time[n].at - 100) / LONG));
    }
    print_message("few: decay %g: log k off by %.3f, else by %.3f; steps %.3f\n", decay, worst[0],
                  worst[1], scales.step_k);
    free(time);
    db_observations_clear(&few);
    db_smooth_scales_clear(&scales);
}

/* Measurements that are wrong by far do not widen the steps: else the scale would follow them. */
static void wrong_measurements_widen_no_steps(void **state) {
    (void)state;
    static const wrong_pair wrong[] = { { 31.5, 33.5, 20 },   { 31.5, 33.5, 70 },
                                        { 31.5, 33.5, 1000 }, { 31.5, 33.5, 15000 },
                                        { 33.5, 37, 74 },     { 33.5, 37, 16 },
                                        { 33.5, 37.2, 200 } };
    static const double decay[] = { 0, 1, 2 };
    for (size_t k = 0; k < sizeof decay / sizeof *decay; k++) {
        double right[2], worst[2];
        scale_of_few(wrong, 0, decay[k], right);
        scale_of_few(wrong, sizeof wrong / sizeof *wrong, decay[k], worst);
        assert_true(worst[0] < 0.3);
        assert_true(worst[1] < right[1] + 0.05);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scales_follow_the_decay),
        cmocka_unit_test(photons_show_the_decay),
        cmocka_unit_test(steady_crystals_keep_their_scale),
        cmocka_unit_test(wrong_measurements_widen_no_steps),
        cmocka_unit_test(nothing_common_leaves_scales_alone),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
