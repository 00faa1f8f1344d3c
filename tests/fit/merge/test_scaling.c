/* Intensities of many shots on one scale, and the mean of them. */
#include "support/unit_test.h"
#include "fit/made_up_shots.h"
#include "fit/merge/scaling.h"
#include "fit/merge/scaling_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static db_context *context;
static db_asu_list list;
static const double cell[6] = { 27, 31, 34, 90, 90, 90 };

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

/* A set, and what is made of it. */
typedef struct run {
    made_up set;
    db_scaling scaling;
    db_merged merged;
} run;

static void scale(const made_up_options *options, run *r) {
    const db_scaling_options usual = DB_SCALING_OPTIONS_INIT;
    made_up_make(context, &list, options, &r->set);
    assert_int_equal(db_scaling_make(context, options->shots, &r->scaling), DB_OK);
    assert_int_equal(db_merged_make(context, list.count, &r->merged), DB_OK);
    assert_int_equal(
        db_scale_shots(context, &list, &usual, 1, &r->set.observations, &r->scaling, &r->merged),
        DB_OK);
}

static void clear(run *r) {
    made_up_clear(&r->set);
    db_scaling_clear(&r->scaling);
    db_merged_clear(&r->merged);
}

/* Merged values beside the truth, on its scale. */
typedef struct quality {
    double R, pulls, bias; /* pulls: rms; bias: their mean */
    double correlation;
    size_t count;
} quality;

/* Log of the scale of found values, and how it falls with resolution: neither is known. */
static void fit_scale(const double *found, const double *sigma, const double *truth,
                      double scale[2]) {
    scale[0] = scale[1] = 0;
    for (int step = 0; step < 10; step++) {
        double g[2] = { 0 }, n[3] = { 0 };
        for (size_t r = 0; r < list.count; r++) {
            if (isnan(found[r])) continue;
            const double fall = 1 / (2 * (double)list.d[r] * (double)list.d[r]),
                         model = truth[r] * exp(scale[0] - scale[1] * fall),
                         weight = model / (sigma[r] * sigma[r] + 0.01 * model * model);
            g[0] += weight * (found[r] - model);
            g[1] -= weight * (found[r] - model) * fall;
            n[0] += weight * model;
            n[1] -= weight * model * fall;
            n[2] += weight * model * fall * fall;
        }
        const double determinant = n[0] * n[2] - n[1] * n[1];
        scale[0] += fmax(-1, fmin(1, (g[0] * n[2] - g[1] * n[1]) / determinant));
        scale[1] += fmax(-9, fmin(9, (g[1] * n[0] - g[0] * n[1]) / determinant));
    }
}

static quality compare(const double *found, const double *sigma, const double *truth) {
    double scale[2], off = 0, all = 0, f = 0, t = 0, ff = 0, tt = 0, ft = 0;
    quality q = { 0 };
    fit_scale(found, sigma, truth, scale);
    for (size_t r = 0; r < list.count; r++) {
        if (isnan(found[r])) continue;
        const double fall = 1 / (2 * (double)list.d[r] * (double)list.d[r]),
                     k = exp(scale[0] - scale[1] * fall),
                     pull = (found[r] - k * truth[r]) / sigma[r];
        off += fabs(found[r] / k - truth[r]);
        all += truth[r];
        q.pulls += pull * pull;
        q.bias += pull;
        q.count++;
        f += found[r];
        t += truth[r];
        ff += found[r] * found[r];
        tt += truth[r] * truth[r];
        ft += found[r] * truth[r];
    }
    const double n = (double)q.count;
    q.R = off / all;
    q.pulls = sqrt(q.pulls / n);
    q.bias /= n;
    q.correlation = (ft - f * t / n) / sqrt((ff - f * f / n) * (tt - t * t / n));
    return q;
}

static quality quality_of(const run *r) {
    return compare(r->merged.intensity, r->merged.sigma, r->set.truth);
}

/* Of reflections that several shots show, so that one of them can be told to be wrong. */
static quality quality_of_frequent(const run *r, uint32_t fewest) {
    for (size_t n = 0; n < list.count; n++)
        if (r->merged.multiplicity[n] < fewest) r->merged.intensity[n] = NAN;
    return quality_of(r);
}

static void good_shots_give_the_truth_with_its_errors(void **state) {
    (void)state;
    const made_up_options options = MADE_UP_OPTIONS_INIT;
    run r;
    scale(&options, &r);
    const quality q = quality_of(&r);
    assert_true(q.count > 6800);
    assert_true(q.R < 0.055);
    assert_true(q.pulls > 0.95 && q.pulls < 1.06 && fabs(q.bias) < 0.04);
    assert_true(r.scaling.iterations < 20);
    double log_k = 0, b = 0;
    for (size_t s = 0; s < options.shots; s++) {
        log_k += log(r.scaling.shot[s].scale);
        b += r.scaling.shot[s].b;
    }
    assert_true(fabs(log_k) < 1e-9 * (double)options.shots);
    assert_true(fabs(b) < 1e-9 * (double)options.shots);
    for (int p = 1; p < DB_PARTIALITY_RANGES; p++) {
        assert_true(fabs(r.scaling.errors.noise[p] - 1) < 0.15);
        assert_true(fabs(sqrt(r.scaling.errors.relative[p]) - 0.1) < 0.03);
    }
    clear(&r);
}

/* What other shots, or all, say of a reflection: the mean of Gaussians, of which Wilson's distribution is one. */
static void means_know_what_intensities_are_usual(void **state) {
    (void)state;
    float share[1] = { 0.3F }, variance[1] = { 0.5F };
    unsigned char shell[2] = { 0, 0 }, centric[2] = { 0, 1 }, epsilon[2] = { 1, 2 };
    double sum[2], weight[2], full[2], at_usual[2] = { 0.2, 0.3 };
    float d[2] = { 3, 4 };
    for (uint32_t r = 0; r < 2; r++) {
        db_observation o = {
            .reflection = r, .intensity = 35, .sigma = 4, .light = 5, .partiality = 0.5F
        };
        const db_asu_list two = { .count = 2, .centric = centric, .epsilon = epsilon, .d = d };
        const db_observations all = { .shots = 1, .list = &o };
        db_shot_scale added = { .scale = 2, .b = 7 };
        const db_scaling_work w = { .list = &two,
                                    .observations = &all,
                                    .mean = { 30 },
                                    .shell = shell,
                                    .sum = sum,
                                    .weight = weight,
                                    .usual = at_usual,
                                    .full = full,
                                    .share = share,
                                    .variance = variance,
                                    .added = &added,
                                    .errors = { .noise = { 0, 0, 0, 1.5, 0 },
                                                .relative = { 0, 0, 0, 0.02, 0 } } };
        const double g = 2 * exp(-7 / (2 * (double)(d[r] * d[r]))),
                     usual = r ? 60 : 30, /* twice on the axis; variances by Wilson */
            prior = r ? 1 / (2 * usual * usual) : 1 / (usual * usual), own = (double)share[0];
        sum[r] = own * g * 35 + 4;
        weight[r] = own * g * g + 0.1;
        full[r] = 2 * g * g + 0.7;
        const db_others rest = db_scaling_others(&w, 0, 0);
        assert_true(fabs(rest.full / 0.7 - 1) < 1e-9);
        assert_true(fabs(rest.measured / 40 - 1) < 1e-9 && fabs(rest.precision / 0.1 - 1) < 1e-9);
        assert_true(fabs(rest.variance * (0.1 + prior) - 1) < 1e-9);
        assert_true(fabs(rest.mean / rest.variance / (4 + prior * usual) - 1) < 1e-9);
        const double all_measured = at_usual[r] * sum[r] / weight[r];
        assert_true(fabs(db_scaling_mean(&w, r) * (at_usual[r] + prior) -
                         (all_measured + prior * usual)) < 1e-9 * all_measured);
        sum[r] = own * g * 35; /* no other */
        weight[r] = own * g * g;
        assert_true(db_scaling_others(&w, 0, 0).precision == 0);
        assert_true(fabs(db_scaling_others(&w, 0, 0).mean / usual - 1) < 1e-9);
        /* 35 counted units take 35/5 of the variance of 16, which 20 expected ones replace by 20/5 */
        assert_true(fabs(db_scaling_noise(&o, 0, 20) - (16 - 7 + 4)) < 1e-6);
        assert_true(fabs(db_scaling_variance(&w, &o, 20) - (1.5 * 13 + 0.02 * 400)) < 1e-5);
        o.intensity =
            78; /* hardly any noise but that of the counts; other boxes have a noise of 30 photons */
        assert_true(fabs(db_scaling_noise(&o, 0, -3) - 0.4) < 1e-5);
        assert_true(fabs(db_scaling_noise(&o, 30, -3) - 1.2) < 1e-6);
        assert_true(fabs(db_scaling_photons(&o, 0.4) - 10) < 1e-6);
        /* 8 more than expected are 8/5 more variance */
        assert_true(fabs(db_scaling_square(&o, 8, 4.8) - 10) < 1e-6);
        assert_true(fabs(db_scaling_square(&o, -8, 4) - 16) < 1e-6);
        sum[r] =
            -sum[r]; /* less light than the background: none, and an expected intensity above 0 */
        assert_true(fabs(db_scaling_mean(&w, r) * (at_usual[r] + prior) - prior * usual) < 1e-9);
        o.light = 0;
        assert_true(fabs(db_scaling_noise(&o, 30, 20) - 16) < 1e-6);
    }
}

static double poisson(double mean, uint64_t *random) {
    double count = 0;
    for (double left = exp(mean) * made_up_uniform(random); left > 1; count++)
        left *= made_up_uniform(random);
    return count;
}

/* Measures each reflection of a list `times` times, on one scale, with 3 photons in all by Wilson's distribution. */
static void count_photons(int times, double background, double *truth, db_observations *o) {
    enum { SHOTS = 30 };
    uint64_t random = 7;
    size_t at = 0;
    assert_int_equal(db_observations_make(context, SHOTS, list.count * (size_t)times, o), DB_OK);
    for (size_t r = 0; r < list.count; r++) truth[r] = -3 * log(1 - made_up_uniform(&random));
    for (size_t s = 0; s < SHOTS; s++) {
        for (size_t r = 0; r < list.count; r++) {
            if ((r + s) % SHOTS >= (size_t)times) continue;
            const double light = exp(made_up_uniform(&random) - 0.5) / times,
                         dark = background * (0.3 + 1.4 * made_up_uniform(&random)),
                         counted = poisson(light * truth[r] + dark, &random);
            o->list[at++] =
                (db_observation){ .reflection = (uint32_t)r,
                                  .intensity = (float)((counted - dark) / light),
                                  .sigma = (float)(sqrt(fmax(1e-6, fmax(dark, counted))) / light),
                                  .partiality = 1,
                                  .light = (float)light };
        }
        o->first[s + 1] = at;
    }
}

/* Counts of no photon, or of one, have the error of their mean, and do not bias it: no photon is not surely none, and one is
 * no outlier. */
static void single_photons_have_errors(void **state) {
    (void)state;
    static const struct {
        int times;
        double background;
    } cases[] = { { 2, 0 }, { 8, 0.05 }, { 8, 1 }, { 30, 0 }, { 30, 0.05 }, { 30, 1 } };
    const db_scaling_options held = { .held = 1 };
    double *const truth = calloc(list.count, sizeof *truth);
    assert_non_null(truth);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        db_observations o = { 0 };
        db_scaling scaling;
        db_merged m;
        count_photons(cases[k].times, cases[k].background, truth, &o);
        assert_int_equal(db_scaling_make(context, o.shots, &scaling), DB_OK);
        assert_int_equal(db_merged_make(context, list.count, &m), DB_OK);
        assert_int_equal(db_scale_shots(context, &list, &held, 1, &o, &scaling, &m), DB_OK);
        double pulls = 0, off = 0;
        for (size_t r = 0; r < list.count; r++) {
            const double error = m.intensity[r] - truth[r];
            pulls += error * error / (m.sigma[r] * m.sigma[r]);
            off += error;
        }
        const double n = (double)list.count,
                     photons = 3 + cases[k].times * cases[k].background; /* their variance */
        print_message("%d times, background %.2f: pulls %.2f, off by %.3f\n", cases[k].times,
                      cases[k].background, sqrt(pulls / n), off / n);
        assert_true(fabs(sqrt(pulls / n) - 1) < 0.1);
        assert_true(fabs(off / n) < 4 * sqrt(photons / n));
        db_merged_clear(&m);
        db_scaling_clear(&scaling);
        db_observations_clear(&o);
    }
    free(truth);
}

/* Few reflections that were measured twice, with equal results by chance, do not make all others certain. */
static void few_repeated_measurements_decide_no_errors(void **state) {
    (void)state;
    enum { REPEATED = 8 };
    const size_t n = list.count;
    const db_scaling_options held = { .held = 1 };
    db_observations o = { 0 };
    db_scaling scaling;
    db_merged m;
    size_t at = 0;
    assert_int_equal(db_observations_make(context, 2, n + REPEATED, &o), DB_OK);
    for (size_t s = 0; s < 2; s++) {
        for (size_t r = 0; r < n; r += s ? n / REPEATED : 1)
            if (at < n + REPEATED)
                o.list[at++] = (db_observation){
                    .reflection = (uint32_t)r, .intensity = 100, .sigma = 5, .partiality = 1
                };
        o.first[s + 1] = at;
    }
    assert_int_equal(db_scaling_make(context, o.shots, &scaling), DB_OK);
    assert_int_equal(db_merged_make(context, n, &m), DB_OK);
    assert_int_equal(db_scale_shots(context, &list, &held, 1, &o, &scaling, &m), DB_OK);
    for (size_t r = 0; r < n; r++)
        if (!(m.sigma[r] > (m.multiplicity[r] > 1 ? 0.7 * sqrt(0.5) : 0.7) * 5))
            fail_msg("reflection %zu, %d times: error %g", r, (int)m.multiplicity[r], m.sigma[r]);
    db_merged_clear(&m);
    db_scaling_clear(&scaling);
    db_observations_clear(&o);
}

/* Errors of reflections that were measured once are those of their pixels, and more only as far as a few that were measured
 * twice say so. */
static void errors_of_single_measurements_are_those_of_pixels(void **state) {
    (void)state;
    static const struct {
        size_t repeated;
        double relative, least,
            most; /* error of all measurements beside that of pixels; rms of pulls */
    } cases[] = { { 0, 0, 0.85, 1.15 },
                  { 4, 0, 0.7, 1.15 },
                  { 20, 0, 0.7, 1.15 },
                  { 20, 0.2, 0.7, 1.5 },
                  { 40, 0.2, 0.7, 1.5 } };
    const db_scaling_options held = { .held = 1 };
    const size_t n = list.count;
    double *const truth = calloc(n, sizeof *truth);
    assert_non_null(truth);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const size_t every = n / (cases[k].repeated + 1) + 1;
        db_observations o = { 0 };
        db_scaling scaling;
        db_merged m;
        uint64_t random = 11;
        size_t at = 0;
        double pulls = 0;
        assert_int_equal(db_observations_make(context, 2, 2 * n, &o), DB_OK);
        for (size_t r = 0; r < n; r++) truth[r] = -1000 * log(made_up_uniform(&random));
        for (size_t s = 0; s < 2; s++) {
            for (size_t r = s ? every - 1 : 0; r < n; r += s ? every : 1) {
                const double variance = 100 + truth[r] + pow(cases[k].relative * truth[r], 2),
                             found = truth[r] + sqrt(variance) * made_up_normal(&random);
                o.list[at++] = (db_observation){ .reflection = (uint32_t)r,
                                                 .intensity = (float)found,
                                                 .sigma = (float)sqrt(100 + fmax(0, found)),
                                                 .partiality = 1,
                                                 .light = 1 };
            }
            o.first[s + 1] = at;
        }
        assert_int_equal(db_scaling_make(context, o.shots, &scaling), DB_OK);
        assert_int_equal(db_merged_make(context, n, &m), DB_OK);
        assert_int_equal(db_scale_shots(context, &list, &held, 1, &o, &scaling, &m), DB_OK);
        for (size_t r = 0; r < n; r++) pulls += pow((m.intensity[r] - truth[r]) / m.sigma[r], 2);
        pulls = sqrt(pulls / (double)n);
        print_message("%zu of %zu measured twice, relative error %.1f: pulls %.2f\n", at - n, n,
                      cases[k].relative, pulls);
        assert_true(pulls > cases[k].least && pulls < cases[k].most);
        db_merged_clear(&m);
        db_scaling_clear(&scaling);
        db_observations_clear(&o);
    }
    free(truth);
}

/* Measurements of a reflection: `wrong` of them in each tenth reflection are off by some standard deviations, the second one
 * by 1.7 times as many. */
typedef struct wrong_case {
    int times, wrong;
    double off;
    double least, most; /* rms of pulls of such a reflection */
    double
        error; /* its usual error, as far as the right measurements determine it; 0: they do not */
} wrong_case;

static double truth_of(size_t r) {
    static const double level[3] = { 0, 20, 1000 };
    return level[r % 3];
}
static int is_wrong(size_t r) { return r / 3 % 10 == 0; }

static void measure_wrongly(const wrong_case *k, db_observations *o) {
    enum { SHOTS = 30 };
    const double background = 100, relative = 0.04;
    uint64_t random = 7;
    size_t at = 0;
    assert_int_equal(db_observations_make(context, SHOTS, list.count * (size_t)k->times, o), DB_OK);
    for (size_t s = 0; s < SHOTS; s++) {
        for (size_t r = 0; r < list.count; r++) {
            const size_t turn = (7 * r + s) % SHOTS;
            if (turn >= (size_t)k->times) continue;
            const double truth = truth_of(r),
                         error = sqrt(truth + background + pow(relative * truth, 2)),
                         wrong = is_wrong(r) && turn < (size_t)k->wrong ? turn ? 1.7 : 1 : 0,
                         found = truth + error * (made_up_normal(&random) + wrong * k->off);
            o->list[at++] = (db_observation){ .reflection = (uint32_t)r,
                                              .intensity = (float)found,
                                              .sigma = (float)sqrt(background + fmax(0, found)),
                                              .partiality = 1,
                                              .light = 1 };
        }
        o->first[s + 1] = at;
    }
}

/* rms of the pulls, and mean errors relative to those of the right measurements alone. */
static void check_wrong(const wrong_case *k, const db_merged *m) {
    double pulls[2] = { 0 }, errors[2] = { 0 }, count[2] = { 0 };
    for (size_t r = 0; r < list.count; r++) {
        const int w = is_wrong(r);
        const double truth = truth_of(r), pull = (m->intensity[r] - truth) / m->sigma[r],
                     right = k->times - (w ? k->wrong : 0);
        pulls[w] += pull * pull;
        errors[w] += m->sigma[r] / sqrt((truth + 100 + pow(0.04 * truth, 2)) / right);
        count[w]++;
    }
    for (int w = 0; w < 2; w++) {
        pulls[w] = sqrt(pulls[w] / count[w]);
        errors[w] /= count[w];
    }
    print_message("%d times, %d off by %g: pulls %.2f, others %.2f; errors %.2f, others %.2f\n",
                  k->times, k->wrong, k->off, pulls[1], pulls[0], errors[1], errors[0]);
    assert_true(pulls[0] > 0.8 && pulls[0] < 1.1 && errors[0] < 1.25);
    assert_true(pulls[1] > k->least && pulls[1] < k->most);
    assert_true(!(k->error > 0) || errors[1] < k->error);
}

/* Of three measurements the two that agree count, however far the third one is. Of two that differ each may be right, and the
 * error says so. */
static void measurements_that_agree_count(void **state) {
    (void)state;
    static const wrong_case cases[] = {
        { 3, 1, 20, 0.85, 1.15, 1.2 },    { 3, 1, 200, 0.85, 1.15, 1.2 },
        { 3, 1, 2e4, 0.85, 1.15, 1.2 },   { 3, 1, -200, 0.85, 1.15, 1.2 },
        { 3, 1, -2e4, 0.85, 1.15, 1.2 },  { 4, 2, 200, 0.85, 1.15, 1.2 },
        { 4, 2, -2000, 0.85, 1.15, 1.2 }, { 10, 2, 2e4, 0.85, 1.15, 1.2 },
        { 2, 1, 20, 0.5, 5, 0 },          { 2, 1, 200, 0.5, 1.2, 0 },
        { 2, 1, -2e4, 0.5, 1.2, 0 },
    };
    const db_scaling_options held = { .held = 1 };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        db_observations o = { 0 };
        db_scaling scaling;
        db_merged m;
        measure_wrongly(&cases[k], &o);
        assert_int_equal(db_scaling_make(context, o.shots, &scaling), DB_OK);
        assert_int_equal(db_merged_make(context, list.count, &m), DB_OK);
        assert_int_equal(db_scale_shots(context, &list, &held, 1, &o, &scaling, &m), DB_OK);
        check_wrong(&cases[k], &m);
        db_merged_clear(&m);
        db_scaling_clear(&scaling);
        db_observations_clear(&o);
    }
}

/* Deviations whose variance is a + e times the strength, with numbers of its own for one range of partiality;
 * another has too few to have its own. */
static void error_models_are_found_from_deviations(void **state) {
    (void)state;
    db_deviations *const deviations = calloc(1, sizeof *deviations);
    db_error_model model;
    uint64_t random = 12;
    for (int range = 0; range < DB_PARTIALITY_RANGES; range++)
        for (int n = 0; n < (range == 1 ? 400 : 200000); n++) {
            const double strength = pow(4, n % 7 - 2),
                         variance = range == 3 ? 2 + 0.2 * strength : 1.3 + 0.05 * strength,
                         z = made_up_normal(&random);
            db_deviations_add(deviations, range, strength, variance * z * z);
        }
    db_error_model_fit(deviations, &model);
    for (int range = 0; range < DB_PARTIALITY_RANGES; range++) {
        if (range == 1) continue;
        assert_true(fabs(model.noise[range] / (range == 3 ? 2 : 1.3) - 1) < 0.04);
        assert_true(fabs(model.relative[range] / (range == 3 ? 0.2 : 0.05) - 1) < 0.06);
    }
    assert_true(model.noise[1] > 1.3 && model.noise[1] < 1.7); /* of all ranges together */
    assert_true(model.relative[1] > 0.05 && model.relative[1] < 0.13);
    free(deviations);
    for (int range = 0; range < 5; range++)
        for (int above = 0; above < 2; above++) {
            static const double edge[] = { 0, 0.05, 0.15, 0.35, 0.65, 1 };
            assert_int_equal(db_partiality_range(above ? edge[range] : edge[range + 1] - 1e-9),
                             range);
        }
}

/* Two halves that know nothing of each other: their differences have the size of their errors, and
 * both together make the whole. */
static void halves_are_independent(void **state) {
    (void)state;
    const made_up_options options = MADE_UP_OPTIONS_INIT;
    run r;
    scale(&options, &r);
    double pulls = 0, count = 0, together = 0;
    for (size_t n = 0; n < list.count; n++) {
        const db_merged *const m = &r.merged;
        if (isnan(m->half[0][n]) || isnan(m->half[1][n])) continue;
        const double square = m->half_sigma[0][n] * m->half_sigma[0][n] +
                              m->half_sigma[1][n] * m->half_sigma[1][n],
                     off = m->half[0][n] - m->half[1][n];
        pulls += off * off / square;
        together += fabs(m->intensity[n] - 0.5 * (m->half[0][n] + m->half[1][n])) / m->sigma[n];
        count++;
        assert_in_range(m->half_multiplicity[0][n] + m->half_multiplicity[1][n],
                        m->multiplicity[n] - 2, m->multiplicity[n] + 2);
    }
    assert_true(count > 6500);
    assert_true(fabs(sqrt(pulls / count) - 1) < 0.1);
    assert_true(together / count < 0.6);
    clear(&r);
}

static void measurements_that_are_wrong_do_not_count(void **state) {
    (void)state;
    made_up_options options = MADE_UP_OPTIONS_INIT;
    options.outliers = 0.03;
    run r;
    scale(&options, &r);
    size_t rejected = 0, marked = 0;
    for (size_t s = 0; s < options.shots; s++) {
        assert_int_equal(r.scaling.shot[s].excluded, DB_NOT_EXCLUDED);
        rejected += r.scaling.shot[s].rejected;
    }
    for (size_t i = 0; i < r.set.observations.first[options.shots]; i++)
        if (r.set.observations.list[i].flags & DB_OBSERVATION_REJECTED) marked++;
    assert_int_equal(rejected, marked);
    assert_in_range(rejected, 1300, 2000); /* of 1800 that are wrong */
    const quality q = quality_of_frequent(&r, 6);
    assert_true(q.R < 0.06 && q.pulls < 1.15 && q.correlation > 0.99);
    clear(&r);
}

static void weak_measurements_are_not_biased(void **state) {
    (void)state;
    made_up_options options = MADE_UP_OPTIONS_INIT;
    options.shots = 400;
    options.photons = 20;
    options.background = 5;
    run r;
    scale(&options, &r);
    const quality q = quality_of(&r);
    assert_true(fabs(q.bias) < 0.05 && q.pulls > 0.94 && q.pulls < 1.08);
    clear(&r);
}

static void bad_shots_are_excluded(void **state) {
    (void)state;
    made_up_options options = MADE_UP_OPTIONS_INIT;
    options.shots = 300;
    options.bad[OTHER_CRYSTAL] = options.bad[BLANK] = options.bad[SCATTERED] = 0.1;
    run r;
    scale(&options, &r);
    for (size_t s = 0; s < options.shots; s++) {
        const db_shot_scale *const shot = &r.scaling.shot[s];
        switch (r.set.kind[s]) {
        case GOOD_SHOT:
            assert_int_equal(shot->excluded, DB_NOT_EXCLUDED);
            assert_true(fabs(shot->correlation - shot->expected) < 0.2);
            break;
        case BLANK: assert_int_equal(shot->excluded, DB_EXCLUDED_DARK); break;
        case OTHER_CRYSTAL: assert_int_equal(shot->excluded, DB_EXCLUDED_UNRELATED); break;
        default: assert_int_not_equal(shot->excluded, DB_NOT_EXCLUDED);
        }
    }
    const quality q = quality_of(&r);
    assert_true(q.pulls > 0.95 && q.pulls < 1.06);
    clear(&r);
}

/* Where the model of no shot is good, all correlate less than their errors let expect. */
static void shots_as_poor_as_the_others_are_kept(void **state) {
    (void)state;
    for (double relative = 3; relative < 7; relative += 1.5) {
        size_t excluded = 0;
        made_up_options options = MADE_UP_OPTIONS_INIT;
        options.shots = 20;
        options.each = 1000;
        options.relative = relative;
        run r;
        scale(&options, &r);
        for (size_t s = 0; s < options.shots; s++)
            excluded += r.scaling.shot[s].excluded != DB_NOT_EXCLUDED;
        print_message("relative errors %g: %zu excluded\n", relative, excluded);
        assert_in_range(excluded, 0, 1);
        clear(&r);
    }
}

/* Intensities that hardly differ cannot correlate, and shots of a few are right, too. */
static void shots_of_like_intensities_are_kept(void **state) {
    (void)state;
    const double flat[] = { 1, 0.9, 0.6 };
    for (size_t k = 0; k < 3; k++)
        for (size_t each = 60; each <= 600; each += 540) {
            made_up_options options = MADE_UP_OPTIONS_INIT;
            options.flat = flat[k];
            options.each = each;
            options.seed = 2;
            run r;
            scale(&options, &r);
            for (size_t s = 0; s < options.shots; s++)
                assert_int_equal(r.scaling.shot[s].excluded, DB_NOT_EXCLUDED);
            clear(&r);
        }
}

/* Nothing to merge, or next to nothing: no result, and no fault. */
static void empty_sets_are_merged(void **state) {
    (void)state;
    for (size_t shots = 0; shots < 3; shots++)
        for (size_t each = 0; each < 8; each += 7) {
            made_up_options options = MADE_UP_OPTIONS_INIT;
            options.shots = shots;
            options.each = each;
            run r;
            scale(&options, &r);
            size_t found = 0;
            for (size_t n = 0; n < list.count; n++) {
                if (!isnan(r.merged.intensity[n])) found++;
                assert_true(isnan(r.merged.intensity[n]) || r.merged.sigma[n] > 0);
                assert_true(isnan(r.merged.intensity[n]) == isnan(r.merged.sigma[n]));
            }
            assert_true(found <= shots * each);
            clear(&r);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_shots_give_the_truth_with_its_errors),
        cmocka_unit_test(means_know_what_intensities_are_usual),
        cmocka_unit_test(single_photons_have_errors),
        cmocka_unit_test(few_repeated_measurements_decide_no_errors),
        cmocka_unit_test(errors_of_single_measurements_are_those_of_pixels),
        cmocka_unit_test(measurements_that_agree_count),
        cmocka_unit_test(error_models_are_found_from_deviations),
        cmocka_unit_test(halves_are_independent),
        cmocka_unit_test(measurements_that_are_wrong_do_not_count),
        cmocka_unit_test(weak_measurements_are_not_biased),
        cmocka_unit_test(bad_shots_are_excluded),
        cmocka_unit_test(shots_as_poor_as_the_others_are_kept),
        cmocka_unit_test(shots_of_like_intensities_are_kept),
        cmocka_unit_test(empty_sets_are_merged),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
