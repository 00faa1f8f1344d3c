/* Priors of curves that shots share, against sums written here; edges of refined curves. */

#include "support/unit_test.h"
#include "fit/config/quantity.h"
#include "fit/report/result_fields.h"
#include "fit/result/curves_found.h"
#include "fit/result/estimates.h"
#include "fit/shots/curves.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIALS = 16, POINTS = 9, VALUES = 2 * POINTS, UNKNOWNS = VALUES + 1 };

static db_context *context;
static const double first = 7100, step = 5;
static size_t index_of[UNKNOWNS];

/* Shots that refine the distance and one curve, f' and f''. */
static db_shots *shots_with_curves(void) {
    db_shots *const all = calloc(1, sizeof *all);
    db_site_kinds *const sites = calloc(1, sizeof *sites);
    db_fit_parameter p = db_fit_parameter_free(DB_DISTANCE);
    assert_int_equal(db_context_create(&context), DB_OK);
    assert_true(all && sites);
    sites->count = 1;
    all->context = context;
    all->amplitudes.sites = sites;
    db_fit_settings_init(&all->settings);
    const db_fit_curves curves = { .points = { first, first + step * (POINTS - 1), POINTS } };
    all->settings.curves = curves;
    assert_int_equal(db_fit_settings_add_parameter(context, &all->settings, &p), DB_OK);
    for (size_t i = 0; i < VALUES; i++) {
        p = db_fit_parameter_free(db_parameter_site_curve(0, i >= POINTS, i % POINTS));
        assert_int_equal(db_fit_settings_add_parameter(context, &all->settings, &p), DB_OK);
    }
    for (size_t i = 0; i < UNKNOWNS; i++) {
        index_of[i] = i;
        all->common.start[i] = cos((double)(3 * i));
    }
    return all;
}

static void let_go(db_shots *all) {
    free(all->amplitudes.sites);
    db_fit_settings_clear(&all->settings);
    free(all);
    db_context_destroy(&context);
}

/* The priors of the settings at values, by the unknowns of a stage; checks slopes and curvature by differences. */
static double priors_at(db_shots *all, const double *x) {
    db_unknowns u;
    double loss = 0, gradient[UNKNOWNS] = { 0 }, normal[UNKNOWNS * UNKNOWNS] = { 0 };
    assert_int_equal(db_unknowns_make(context, &all->settings, index_of, UNKNOWNS, &u), DB_OK);
    assert_int_equal(db_curves_restrain(all, &u), DB_OK);
    db_unknowns_add_priors(&u, x, &loss, gradient, normal);
    for (size_t i = 0; i < UNKNOWNS; i++) {
        double at[UNKNOWNS], side[2] = { 0 }, slope[2][UNKNOWNS] = { { 0 } };
        memcpy(at, x, sizeof at);
        for (int k = 0; k < 2; k++) {
            at[i] = x[i] + (k ? 0.5 : -0.5);
            db_unknowns_add_priors(&u, at, &side[k], slope[k], NULL);
        }
        assert_true(fabs(side[1] - side[0] - gradient[i]) < 1e-9 * (1 + fabs(gradient[i])));
        for (size_t k = 0; k < UNKNOWNS; k++)
            assert_true(fabs(0.5 * (slope[1][k] - slope[0][k]) - normal[i * UNKNOWNS + k]) < 1e-9);
    }
    db_unknowns_clear(&u);
    return loss;
}

static double square_of(double x) { return x * x; }

static void some_values(const db_shots *all, double *x) {
    for (size_t i = 0; i < UNKNOWNS; i++) x[i] = all->common.start[i] + sin((double)(i * i));
}

static void smoothness_compares_a_point_with_its_neighbours(void **state) {
    (void)state;
    double x[UNKNOWNS], sum = 0;
    db_shots *const all = shots_with_curves();
    all->settings.curves.smoothness = 0.7;
    some_values(all, x);
    for (int curve = 0; curve < 2; curve++)
        for (int i = 1; i < POINTS - 1; i++) {
            const double *const y = x + 1 + curve * POINTS;
            sum += square_of((y[i] - 0.5 * (y[i - 1] + y[i + 1])) / 0.7);
        }
    assert_true(fabs(priors_at(all, x) - sum) < 1e-9 * sum);
    let_go(all);
}

static void wings_stay_near_the_start(void **state) {
    (void)state;
    double x[UNKNOWNS], sum = 0;
    db_shots *const all = shots_with_curves();
    all->settings.curves.wings[0] = 6;
    all->settings.curves.wings[1] = 0.3;
    some_values(all, x);
    for (size_t i = 0; i < VALUES; i++)
        if (i % POINTS < 2 || i % POINTS >= POINTS - 2)
            sum += square_of((x[1 + i] - all->common.start[1 + i]) / 0.3);
    assert_true(fabs(priors_at(all, x) - sum) < 1e-9 * sum);
    let_go(all);
}

/* What a change of f'', between points by straight lines and to 0 one step beyond the ends, asks of f': the
 * principal value by midpoints on both sides of the pole. */
static double asked_of_first(const double *change, double at) {
    const double fine = 1e-3;
    double sum = 0;
    for (double away = 0.5 * fine; away < step * (POINTS + 2); away += fine)
        for (int side = -1; side <= 1; side += 2) {
            const double x = at + side * away, place = (x - first) / step;
            const int low = (int)floor(place);
            const double part = place - low;
            double value = 0;
            if (low >= 0 && low < POINTS) value += (1 - part) * change[low];
            if (low >= -1 && low < POINTS - 1) value += part * change[low + 1];
            sum += x * value / (at * at - x * x);
        }
    return 2 / 3.14159265358979323846 * fine * sum;
}

static void f_prime_follows_f_second(void **state) {
    (void)state;
    double x[UNKNOWNS], change[POINTS], sum = 0;
    db_shots *const all = shots_with_curves();
    all->settings.curves.kramers_kronig = 0.4;
    some_values(all, x);
    for (int i = 0; i < POINTS; i++)
        change[i] = x[1 + POINTS + i] - all->common.start[1 + POINTS + i];
    for (int i = 0; i < POINTS; i++) {
        const double asked = asked_of_first(change, first + step * i);
        sum += square_of((x[1 + i] - all->common.start[1 + i] - asked) / 0.4);
    }
    assert_true(fabs(priors_at(all, x) - sum) < 1e-3 * sum);
    for (int i = 0; i < POINTS; i++)
        x[1 + i] = all->common.start[1 + i] + asked_of_first(change, first + step * i);
    assert_true(priors_at(all, x) < 1e-4); /* what belongs together costs nothing */
    let_go(all);
}

static void no_curves_no_priors(void **state) {
    (void)state;
    double x[UNKNOWNS];
    db_shots *const all = shots_with_curves();
    all->settings.curves.smoothness = 1;
    some_values(all, x);
    index_of[UNKNOWNS - 1] = 0; /* a stage that leaves a value of the curve */
    assert_true(fabs(priors_at(all, x)) <= 0);
    let_go(all);
}

/* x of matrix x = right, by elimination with pivots. */
static void solve_plainly(size_t n, double *matrix, double *right) {
    for (size_t c = 0; c < n; c++) {
        size_t best = c;
        for (size_t r = c; r < n; r++)
            if (fabs(matrix[r * n + c]) > fabs(matrix[best * n + c])) best = r;
        for (size_t k = 0; k < n; k++) {
            const double kept = matrix[c * n + k];
            matrix[c * n + k] = matrix[best * n + k];
            matrix[best * n + k] = kept;
        }
        const double kept = right[c];
        right[c] = right[best];
        right[best] = kept;
        for (size_t r = 0; r < n; r++) {
            const double factor = matrix[r * n + c] / matrix[c * n + c];
            for (size_t k = c; k < n && r != c; k++)
                matrix[r * n + k] -= factor * matrix[c * n + k];
            if (r != c) right[r] -= factor * right[c];
        }
    }
    for (size_t c = 0; c < n; c++) right[c] /= matrix[c * n + c];
}

/* Shots measure every unknown by itself: value +- 1/sqrt(weight). */
typedef struct measured_values {
    double value[UNKNOWNS], weight[UNKNOWNS];
} measured_values;

/* The inverse of a matrix of all values of the curve, and the log of its determinant. */
static double invert_plainly(const double *matrix, double *inverse) {
    double log_determinant = 0, square[VALUES * VALUES];
    memcpy(square, matrix, sizeof square);
    for (size_t c = 0; c < VALUES; c++) { /* positive definite: pivots without exchanges */
        log_determinant += log(square[c * VALUES + c]);
        for (size_t r = c + 1; r < VALUES; r++) {
            const double factor = square[r * VALUES + c] / square[c * VALUES + c];
            for (size_t k = c; k < VALUES; k++)
                square[r * VALUES + k] -= factor * square[c * VALUES + k];
        }
    }
    for (size_t c = 0; c < VALUES; c++) {
        double copy[VALUES * VALUES], x[VALUES] = { 0 };
        memcpy(copy, matrix, sizeof copy);
        x[c] = 1;
        solve_plainly(VALUES, copy, x);
        for (size_t r = 0; r < VALUES; r++) inverse[r * VALUES + c] = x[r];
    }
    return log_determinant;
}

/* 1 within 10 eV of where f'' of the start bends most, less where it bends less. */
static double lively(const db_shots *all, int point) {
    const double *const second = all->common.start + 1 + POINTS;
    double near = 0, most = 0;
    for (int i = 1; i < POINTS - 1; i++) {
        const double bend = fabs(second[i] - (second[i - 1] + second[i + 1]) / 2);
        most = fmax(most, bend);
        if (fabs(step * (i - point)) <= 10) near = fmax(near, bend);
    }
    return near / most;
}

/* -2 log of the probability of the measured values, if the curve is a sample of a normal distribution: smooth, and all values
 * within 100 of the start. */
static double surprise_of(const db_shots *all, const measured_values *m, double smoothness,
                          double calm) {
    double prior[VALUES * VALUES] = { 0 }, mean[VALUES], spread[VALUES * VALUES],
                          inverse[VALUES * VALUES], copy[VALUES * VALUES];
    for (size_t i = 0; i < VALUES; i++) {
        prior[i * VALUES + i] = 1e-4;
        mean[i] = 1e-4 * all->common.start[1 + i];
    }
    for (size_t curve = 0; curve < 2; curve++)
        for (size_t i = 1; i < POINTS - 1; i++) {
            const double part = lively(all, (int)i), sigma = smoothness * fmax(calm, part),
                         *const own = all->common.start + 1 + curve * POINTS + i,
                         bend = (1 - part) * (own[0] - (own[-1] + own[1]) / 2);
            for (size_t a = 0; a < 3; a++) {
                mean[curve * POINTS + i - 1 + a] += (a == 1 ? 1 : -0.5) * bend / (sigma * sigma);
                for (size_t b = 0; b < 3; b++) {
                    const size_t from = curve * POINTS + i - 1;
                    prior[(from + a) * VALUES + from + b] +=
                        (a == 1 ? 1 : -0.5) * (b == 1 ? 1 : -0.5) / (sigma * sigma);
                }
            }
        }
    memcpy(copy, prior, sizeof copy);
    solve_plainly(VALUES, copy, mean);
    (void)invert_plainly(prior, spread);
    for (size_t i = 0; i < VALUES; i++) spread[i * VALUES + i] += 1 / m->weight[1 + i];
    double surprise = invert_plainly(spread, inverse);
    for (size_t i = 0; i < VALUES; i++)
        for (size_t k = 0; k < VALUES; k++)
            surprise +=
                (m->value[1 + i] - mean[i]) * inverse[i * VALUES + k] * (m->value[1 + k] - mean[k]);
    return surprise;
}

static int widest_told;

static void note_widest(void *user, const char *text) {
    (void)user;
    assert_non_null(
        strstr(text, "curves.smoothness: the shots chose the widest prior, 8 electrons"));
    widest_told++;
}

/* Curves that are smooth, and then ever rougher ones, near the edge of the start or everywhere, with noise. */
static void shots_tell_how_smooth_curves_are(void **state) {
    (void)state;
    static const double sigmas[] = { 0.06, 0.12, 0.25, 0.5, 1, 2, 4, 8 },
                        calms[] = { 1, 0.3, 0.1, 0.03, 0.01 };
    double chosen[TRIALS][2];
    int told = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        db_shots *const all = shots_with_curves();
        double *const sums = calloc(db_schur_sums_size(UNKNOWNS), sizeof *sums), x[UNKNOWNS];
        const int everywhere = trial % 2, rough = trial / 2;
        measured_values m;
        assert_non_null(sums);
        index_of[UNKNOWNS - 1] = UNKNOWNS - 1;
        for (size_t i = 0; i < POINTS; i++) { /* an edge at the first points, and a tail of f' */
            all->common.start[1 + i] = 0.2 * square_of((double)i);
            all->common.start[1 + POINTS + i] = i < 2 ? 0.5 : 3.9;
        }
        for (size_t i = 0; i < UNKNOWNS; i++) {
            const double noise = 0.1 * sin(12.9898 * (double)(1 + i) + trial);
            const int shakes = everywhere || (i - 1) % POINTS < 3;
            x[i] = 0.1 * (double)i; /* the sums are those of any point */
            m.value[i] = 3 + 0.05 * (double)i + (i % 2 ? 0.6 : -0.6) * rough * shakes + noise;
            if (i >= 1 && i <= POINTS) m.value[i] += all->common.start[i];
            m.weight[i] = 60 + 6 * (double)(i % 4);
            sums[1 + i] = 2 * m.weight[i] * (x[i] - m.value[i]);
            sums[1 + UNKNOWNS + i * (i + 1) / 2 + i] = m.weight[i];
        }
        all->settings.curves.smoothness = NAN;
        all->settings.curves.kramers_kronig = 0;
        widest_told = 0;
        db_context_set_notices(context, note_widest, NULL);
        assert_int_equal(db_curves_choose(all, index_of, UNKNOWNS, x, sums), DB_OK);
        assert_int_equal(widest_told, all->settings.curves.smoothness >= 8);
        told += widest_told;
        double least = INFINITY, *const best = chosen[trial];
        for (size_t k = 0; k < sizeof sigmas / sizeof *sigmas; k++)
            for (size_t c = 0; c < sizeof calms / sizeof *calms; c++) {
                const double surprise = surprise_of(all, &m, sigmas[k], calms[c]);
                if (surprise < least) best[0] = sigmas[k], best[1] = calms[c];
                least = fmin(least, surprise);
            }
        assert_true(fabs(all->settings.curves.smoothness - best[0]) < 1e-12);
        assert_true(fabs(all->settings.curves.calm - best[1]) < 1e-12);
        free(sums);
        let_go(all);
    }
    assert_true(chosen[0][0] * chosen[0][1] <= 0.5 && chosen[TRIALS - 1][0] >= 4);
    assert_true(chosen[TRIALS - 2][1] <= 0.1 && chosen[TRIALS - 1][1] >= 1);
    assert_true(told > 0 && told < TRIALS);
}

/* An edge of a step, and its error by independent errors of all f''. */
static void an_edge_is_half_of_the_step(void **state) {
    (void)state;
    db_shots *const all = shots_with_curves();
    db_fit_estimates estimates = { .memory = NULL };
    db_found_curves found;
    const double second[POINTS] = { 0.5, 0.5, 0.7, 0.4, 1.5, 3.5, 4.4, 3.9, 4.1 };
    all->settings.curves.wings[0] = 6;
    assert_int_equal(db_estimates_make(context, &all->settings, &estimates), DB_OK);
    for (size_t i = 0; i < UNKNOWNS; i++) {
        estimates.list[i].value = i > POINTS ? second[i - 1 - POINTS] : -4;
        estimates.list[i].error = 0.1 + 0.01 * (double)i;
    }
    assert_int_equal(
        db_curves_found(context, "A/FES.1:FE1=table", &all->settings, &estimates, &found), DB_OK);
    assert_int_equal(found.count, 1);
    assert_string_equal(found.kind[0].name, "A/FES.1:FE1");
    const double level = 0.25 * (0.5 + 0.5 + 3.9 + 4.1);
    assert_true(fabs(found.kind[0].edge - (first + 4 * step + step * (level - 1.5) / 2)) < 1e-9);
    double variance = 0;
    for (int i = 0; i < POINTS; i++) { /* by differences */
        double moved[2];
        for (int k = 0; k < 2; k++) {
            double y[POINTS];
            memcpy(y, second, sizeof y);
            y[i] += k ? 1e-6 : -1e-6;
            const double half = 0.25 * (y[0] + y[1] + y[7] + y[8]);
            moved[k] = step * (half - y[4]) / (y[5] - y[4]);
        }
        variance += square_of((moved[1] - moved[0]) / 2e-6 * (0.1 + 0.01 * (1 + POINTS + i)));
    }
    assert_true(fabs(found.kind[0].edge_error - sqrt(variance)) < 1e-6);
    db_found_curves_clear(&found);
    for (size_t i = 0; i < UNKNOWNS; i++) estimates.list[i].value = 1; /* no step */
    assert_int_equal(db_curves_found(context, "FE=table", &all->settings, &estimates, &found),
                     DB_OK);
    assert_true(isnan(found.kind[0].edge));
    db_found_curves_clear(&found);
    free(estimates.memory);
    let_go(all);
}

/* A curve of noise rises through the middle at several places, and steeply. Any of them may be the edge. */
static void the_edge_of_noise_may_lie_at_any_crossing(void **state) {
    (void)state;
    db_shots *const all = shots_with_curves();
    db_fit_estimates estimates = { .memory = NULL };
    db_found_curves found;
    const double second[POINTS] = { 0.5, 6, -9, 12, -3, 10, -8, 4, 4 };
    all->settings.curves.wings[0] = 1;
    assert_int_equal(db_estimates_make(context, &all->settings, &estimates), DB_OK);
    for (size_t i = 0; i < UNKNOWNS; i++) {
        estimates.list[i].value = i > POINTS ? second[i - 1 - POINTS] : -4;
        estimates.list[i].error = i == 1 + POINTS || i == 2 * POINTS ? 0.3 : 8;
    }
    assert_int_equal(db_curves_found(context, "FE=table", &all->settings, &estimates, &found),
                     DB_OK);
    const double edge = found.kind[0].edge;
    assert_true(edge > first + 2 * step && edge < first + 3 * step); /* the steepest: -9 to 12 */
    double squares = 0, sum = 0;
    for (int below = 1; below < POINTS; below++) { /* all steps, by their chi2 */
        double chi2 = 0;
        for (int side = 0; side < 2; side++) {
            const int from = side ? below : 0, to = side ? POINTS : below;
            double weight = 0, mean = 0;
            for (int i = from; i < to; i++) {
                const double w = 1 / square_of(estimates.list[1 + POINTS + i].error);
                weight += w;
                mean += w * second[i];
            }
            mean /= weight;
            for (int i = from; i < to; i++)
                chi2 += square_of((second[i] - mean) / estimates.list[1 + POINTS + i].error);
        }
        const double off = fabs(first + step * (below - 0.5) - edge) - step;
        if (off > 0) squares += exp(-0.5 * chi2) * off * off;
        sum += exp(-0.5 * chi2);
    }
    const double doubt = sqrt(squares / sum);
    print_message("edge of noise: %.3f +- %.3f eV, steps %.3f eV off\n", edge,
                  found.kind[0].edge_error, doubt);
    assert_true(doubt > 2 * step && found.kind[0].edge_error > doubt);
    assert_true(found.kind[0].edge_error < hypot(doubt, 2.5 * step));
    db_found_curves_clear(&found);
    free(estimates.memory);
    let_go(all);
}

/* Without wings the levels are the means of what lies 10 eV or more from the step at 7122.5 eV, by their errors. */
static void levels_without_wings_have_all_points_beyond_the_edge(void **state) {
    (void)state;
    db_shots *const all = shots_with_curves();
    db_fit_estimates estimates = { .memory = NULL };
    db_found_curves found;
    /* the ends are hardly known, and say that f'' falls */
    const double second[POINTS] = { 8, 0.6, 0.4, 0.5, 1.5, 3.5, 4.2, 3.9, -9 },
                 error[POINTS] = { 7, 0.3, 0.2, 0.2, 0.2, 0.2, 0.2, 0.4, 6 };
    assert_int_equal(db_estimates_make(context, &all->settings, &estimates), DB_OK);
    for (size_t i = 0; i < UNKNOWNS; i++) {
        estimates.list[i].value = i > POINTS ? second[i - 1 - POINTS] : -4;
        estimates.list[i].error = i > POINTS ? error[i - 1 - POINTS] : 0.3;
    }
    assert_int_equal(db_curves_found(context, "FE=table", &all->settings, &estimates, &found),
                     DB_OK);
    const size_t of_level[] = { 0, 1, 2, 7, 8 };
    double level[2] = { 0, 0 }, weight[2] = { 0, 0 }, variance = 0;
    for (size_t i = 0; i < sizeof of_level / sizeof *of_level; i++) {
        const size_t at = of_level[i], side = at > POINTS / 2;
        level[side] += second[at] / square_of(error[at]);
        weight[side] += 1 / square_of(error[at]);
    }
    for (int side = 0; side < 2; side++) {
        level[side] /= weight[side];
        variance += 0.25 / weight[side];
    }
    const double middle = 0.5 * (level[0] + level[1]), part = (middle - 1.5) / 2;
    variance += square_of((1 - part) * 0.2) + square_of(part * 0.2);
    assert_true(fabs(found.kind[0].rise - (level[1] - level[0])) < 1e-9);
    assert_true(fabs(found.kind[0].edge - (first + 4 * step + step * part)) < 1e-9);
    assert_true(fabs(found.kind[0].edge_error - step / 2 * sqrt(variance)) < 1e-9);
    db_found_curves_clear(&found);
    for (size_t i = 0; i < UNKNOWNS; i++) estimates.list[i].error *= 20; /* no rise is known */
    assert_int_equal(db_curves_found(context, "FE=table", &all->settings, &estimates, &found),
                     DB_OK);
    assert_true(isnan(found.kind[0].edge) && found.kind[0].rise > 3 &&
                found.kind[0].rise_error > 2);
    db_found_curves_clear(&found);
    db_fit_config *const config = calloc(1, sizeof *config);
    assert_non_null(config);
    config->settings = all->settings;
    snprintf(config->sites, sizeof config->sites, "FE=table");
    assert_int_equal(db_write_found_curve(context, "no_edge.tsv", config, &estimates, 0), DB_OK);
    free(config);
    char line[200];
    FILE *const file = fopen("no_edge.tsv", "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    remove("no_edge.tsv");
    assert_non_null(strstr(line, "; no edge, because f'' does not rise"));
    assert_null(strstr(line, "nan"));
    free(estimates.memory);
    let_go(all);
}

/* Area between two f'' within 10 eV, a step and half the edges' distance of their middle, in widths of the mean step. y: f'' of one
 * kind, then of the other; edges at 7120.5 and 7121.9 eV. */
static double area_between(const double *y) {
    double area = 0, rise = 0;
    for (int i = 0; i < POINTS; i++)
        if (fabs(first + step * i - 7121.2) <= 10 + step + 0.75)
            area += step * (y[i] - y[POINTS + i]);
    for (int k = 0; k < 2; k++) /* wings of two points */
        rise += (y[k * POINTS + 7] + y[k * POINTS + 8] - y[k * POINTS] - y[k * POINTS + 1]) / 4;
    return area / rise;
}

static void edges_are_apart_by_an_area(void **state) {
    (void)state;
    db_fit_settings settings;
    db_fit_estimates estimates = { .memory = NULL };
    db_found_curves found;
    const double y[2 * POINTS] = { 0.5, 0.6, 0.7, 0.4, 1.96, 5.0, 4.4, 3.9, 4.1,
                                   0.4, 0.5, 0.8, 0.5, 0.92, 4.4, 4.6, 4.0, 4.2 };
    double variance = 0, slope[2 * POINTS];
    assert_int_equal(db_context_create(&context), DB_OK);
    db_fit_settings_init(&settings);
    settings.curves = (db_fit_curves){ .points = { first, first + step * (POINTS - 1), POINTS },
                                       .wings = { 6, 0.3 } };
    for (int i = 0; i < 2 * VALUES; i++) { /* f' and f'' of both kinds, one point after the other */
        const db_fit_parameter p = db_fit_parameter_free(
            db_parameter_site_curve(i / 2 / POINTS, i % 2, (size_t)(i / 2 % POINTS)));
        assert_int_equal(db_fit_settings_add_parameter(context, &settings, &p), DB_OK);
    }
    assert_int_equal(db_estimates_make(context, &settings, &estimates), DB_OK);
    for (size_t i = 0; i < 2 * VALUES; i++) {
        estimates.list[i].value = i % 2 ? y[i / 2] : -4;
        estimates.list[i].error = 0.1 + 0.01 * (double)i;
        for (size_t k = 0; k < 2 * VALUES; k++)
            estimates.correlation[i][k] = i == k ? 1 : i % VALUES == k % VALUES ? -0.6 : 0.02;
    }
    assert_int_equal(
        db_curves_found(context, "A:FE1=table,A:FE2=table", &settings, &estimates, &found), DB_OK);
    assert_int_equal(found.count, 2);
    assert_true(isnan(found.kind[0].shift) && isnan(found.kind[0].shift_error));
    assert_true(fabs(found.kind[1].shift - area_between(y)) < 1e-9);
    for (size_t i = 0; i < 2 * POINTS; i++) { /* by differences */
        double side[2];
        for (int k = 0; k < 2; k++) {
            double moved[2 * POINTS];
            memcpy(moved, y, sizeof moved);
            moved[i] += k ? 1e-6 : -1e-6;
            side[k] = area_between(moved);
        }
        slope[i] = (side[1] - side[0]) / 2e-6;
    }
    for (size_t i = 0; i < 2 * POINTS; i++)
        for (size_t k = 0; k < 2 * POINTS; k++)
            variance += slope[i] * slope[k] * estimates.correlation[2 * i + 1][2 * k + 1] *
                        estimates.list[2 * i + 1].error * estimates.list[2 * k + 1].error;
    assert_true(fabs(found.kind[1].shift_error - sqrt(variance)) < 1e-6);
    assert_true(fabs(found.kind[0].edge - 7120.5) < 0.1 && fabs(found.kind[1].edge - 7121.9) < 0.1);
    db_found_curves_clear(&found);
    for (size_t i = 0; i < 2 * VALUES; i++) estimates.list[i].value = 1; /* no step */
    assert_int_equal(
        db_curves_found(context, "A:FE1=table,A:FE2=table", &settings, &estimates, &found), DB_OK);
    assert_true(isnan(found.kind[1].shift));
    db_found_curves_clear(&found);
    free(estimates.memory);
    db_fit_settings_clear(&settings);
    db_context_destroy(&context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smoothness_compares_a_point_with_its_neighbours),
        cmocka_unit_test(wings_stay_near_the_start),
        cmocka_unit_test(f_prime_follows_f_second),
        cmocka_unit_test(no_curves_no_priors),
        cmocka_unit_test(shots_tell_how_smooth_curves_are),
        cmocka_unit_test(an_edge_is_half_of_the_step),
        cmocka_unit_test(the_edge_of_noise_may_lie_at_any_crossing),
        cmocka_unit_test(levels_without_wings_have_all_points_beyond_the_edge),
        cmocka_unit_test(edges_are_apart_by_an_area),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
