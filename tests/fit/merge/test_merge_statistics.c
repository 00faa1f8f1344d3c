/* Statistics of merged intensities, amplitudes from them, and their files. */
#include "support/unit_test.h"
#include "fit/made_up_shots.h"
#include "fit/merge/french_wilson.h"
#include "fit/merge/merged_files.h"
#include "fit/merge/scaling.h"
#include "fit/merge/statistics.h"
#include "fit/scratch_file.h"

#include <dualbragg/io.h>
#include <dualbragg/expert/amplitude_files.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static db_context *context;
static db_asu_list list;
static db_merged merged;
static const double cell[6] = { 24, 29, 33, 90, 90, 90 };

static int make(void **state) {
    (void)state;
    if (db_context_create(&context) != DB_OK) return -1;
    if (db_asu_list_make(context, cell, "P212121", 2.5, 1, &list) != DB_OK &&
        db_asu_list_make(context, cell, "", 2.5, 1, &list) != DB_OK)
        return -1;
    return db_merged_make(context, list.count, &merged) == DB_OK ? 0 : -1;
}

static int drop(void **state) {
    (void)state;
    db_merged_clear(&merged);
    db_asu_list_clear(&list);
    db_context_destroy(&context);
    return 0;
}

/* Intensities with noise of a known size; some are missing, by all shots or by one half. */
static void draw(uint64_t seed, double noise) {
    uint64_t random = seed;
    for (size_t r = 0; r < list.count; r++) {
        const double I = -100 * log(1 - made_up_uniform(&random));
        const int missing = made_up_uniform(&random) < 0.1, half = made_up_uniform(&random) < 0.2;
        merged.intensity[r] = missing ? NAN : I;
        merged.sigma[r] = missing ? NAN : noise;
        merged.multiplicity[r] = missing ? 0 : 3 + (uint32_t)(r % 5);
        for (int h = 0; h < 2; h++) {
            const int there = !missing && !(h == 1 && half);
            merged.half[h][r] = there ? I + 1.4 * noise * made_up_normal(&random) : NAN;
            merged.half_sigma[h][r] = there ? 1.4 * noise : NAN;
            merged.half_multiplicity[h][r] = there ? 2 : 0;
        }
    }
}

static double naive_correlation(const double *x, const double *y, size_t n) {
    double mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < n; i++) {
        mx += x[i] / (double)n;
        my += y[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        yy += (y[i] - my) * (y[i] - my);
        xy += (x[i] - mx) * (y[i] - my);
    }
    return xy / sqrt(xx * yy);
}

/* One shell, by lists of what is in it. */
static void check_shell(const db_merge_shell *s, double d_max, double d_min) {
    double *const value = malloc(4 * list.count * sizeof *value);
    double *const x = value, *const y = x + list.count, *const u = y + list.count,
                  *const v = u + list.count;
    size_t n = 0, pairs = 0, possible = 0, measured = 0, observations = 0;
    double apart = 0, together = 0, strength = 0, over_sigma = 0, seen = 0;
    for (uint32_t r = 0; r < list.count; r++) {
        const double d = (double)list.d[r];
        const uint32_t mate = list.mate[r];
        if (d > d_max || d <= d_min) continue;
        observations += merged.multiplicity[r];
        if (!isnan(merged.intensity[r])) {
            strength += merged.intensity[r];
            over_sigma += merged.intensity[r] / merged.sigma[r];
            seen++;
        }
        if (mate >= r) {
            possible++;
            if (!isnan(merged.intensity[r]) || !isnan(merged.intensity[mate])) measured++;
            const double a = merged.half[0][r] - merged.half[0][mate],
                         b = merged.half[1][r] - merged.half[1][mate];
            if (mate > r && !isnan(a) && !isnan(b)) {
                u[pairs] = a;
                v[pairs++] = b;
            }
        }
        if (isnan(merged.half[0][r]) || isnan(merged.half[1][r])) continue;
        x[n] = merged.half[0][r];
        y[n] = merged.half[1][r];
        apart += fabs(x[n] - y[n]);
        together += 0.5 * (x[n] + y[n]);
        n++;
    }
    assert_int_equal(s->possible, possible);
    assert_int_equal(s->measured, measured);
    assert_int_equal(s->half_pairs, n);
    assert_int_equal(s->anomalous_pairs, pairs);
    assert_true(fabs(s->completeness - (double)measured / (double)possible) < 1e-12);
    assert_true(fabs(s->multiplicity - (double)observations / (double)measured) < 1e-9);
    assert_true(fabs(s->mean_intensity * seen / strength - 1) < 1e-9);
    assert_true(fabs(s->mean_i_over_sigma * seen / over_sigma - 1) < 1e-9);
    assert_true(fabs(s->cc_half - naive_correlation(x, y, n)) < 1e-9);
    assert_true(fabs(s->cc_anomalous - naive_correlation(u, v, pairs)) < 1e-9);
    assert_true(fabs(s->r_split - apart / together / sqrt(2)) < 1e-9);
    assert_true(fabs(s->cc_star * s->cc_star * (1 + s->cc_half) - 2 * s->cc_half) < 1e-9);
    free(value);
}

static void shells_have_the_statistics_of_their_reflections(void **state) {
    (void)state;
    db_merge_statistics s;
    draw(3, 20);
    for (size_t r = 0; r < list.count; r++) merged.sigma[r] *= 1 + (double)(r % 3);
    const db_shells shells = { 4, 40, 2.4 };
    db_merge_statistics_make(&list, &merged, &shells, NULL, &s);
    assert_int_equal(s.shells, 4);
    for (int b = 0; b < 4; b++) check_shell(&s.shell[b], s.shell[b].d_max, s.shell[b].d_min);
    check_shell(&s.overall, 40, 2.4);
    assert_true(isnan(s.overall.cc_reference) && isnan(s.overall.r_reference));
    /* CC* is about the correlation with the truth: noise^2 = 400 beside 100^2 */
    assert_true(fabs(s.overall.cc_star - 0.981) < 0.01);
}

/* Weighted correlations are the others where errors are small, and those of sure reflections where a few
 * others have errors far above the mean intensity. */
static void uncertain_reflections_count_little(void **state) {
    (void)state;
    const db_shells shells = { 4, 40, 2.4 };
    db_merge_statistics sure, mixed;
    uint64_t random = 8;
    draw(3, 2);
    db_merge_statistics_make(&list, &merged, &shells, NULL, &sure);
    for (int b = 0; b < 4; b++) {
        assert_true(fabs(sure.shell[b].cc_half_weighted - sure.shell[b].cc_half) < 1e-4);
        assert_true(fabs(sure.shell[b].cc_anomalous_weighted - sure.shell[b].cc_anomalous) < 1e-4);
    }
    for (size_t r = 0; r < list.count; r += 50) {
        const double noise = 4000;
        merged.intensity[r] += noise * made_up_normal(&random);
        merged.sigma[r] = noise;
        for (int h = 0; h < 2; h++) {
            merged.half[h][r] += noise * made_up_normal(&random);
            merged.half_sigma[h][r] = 1.4 * noise;
        }
    }
    db_merge_statistics_make(&list, &merged, &shells, NULL, &mixed);
    print_message("CC1/2 %.3f, with uncertain ones %.3f, weighted %.3f; CC_ano %.3f, %.3f, %.3f\n",
                  sure.overall.cc_half, mixed.overall.cc_half, mixed.overall.cc_half_weighted,
                  sure.overall.cc_anomalous, mixed.overall.cc_anomalous,
                  mixed.overall.cc_anomalous_weighted);
    assert_true(mixed.overall.cc_half < 0.3 && mixed.overall.cc_anomalous < 0.3);
    assert_true(fabs(mixed.overall.cc_half_weighted - sure.overall.cc_half) < 0.01);
    assert_true(fabs(mixed.overall.cc_anomalous_weighted - sure.overall.cc_anomalous) < 0.01);
    assert_int_equal(mixed.overall.half_pairs, sure.overall.half_pairs);
}

/* One of the same crystal agrees in spite of noise, scale and fall with resolution; another does not;
 * a few uncertain intensities change nothing. */
static void a_reference_of_another_crystal_is_doubtful(void **state) {
    (void)state;
    double *const right = malloc(list.count * sizeof *right), *const wrong = malloc(list.count *
                                                                                    sizeof *wrong);
    uint64_t random = 5;
    draw(6, 1);
    for (size_t r = 0; r < list.count; r++) {
        const double d = (double)list.d[r], fall = exp(-20 / (2 * d * d));
        right[r] = r % 7 ? 3 * merged.intensity[r] * fall : (double)NAN;
        wrong[r] = -log(1 - made_up_uniform(&random)) * fall;
        const double noise = r % 40 ? 60 : 30000;
        merged.intensity[r] += noise * made_up_normal(&random);
        merged.sigma[r] = noise;
    }
    const db_reference_agreement same = db_reference_agreement_find(&list, right, merged.intensity,
                                                                    merged.sigma),
                                 other = db_reference_agreement_find(&list, wrong, merged.intensity,
                                                                     merged.sigma);
    print_message("the same crystal: %.2f, error %.2f, of %zu; another: %.2f\n", same.correlation,
                  same.error, same.count, other.correlation);
    assert_true(fabs(same.correlation - 1) < 4 * same.error && same.error < 0.1);
    assert_true(fabs(other.correlation) < 4 * other.error);
    assert_false(db_reference_is_doubtful(&same));
    assert_true(db_reference_is_doubtful(&other));
    for (size_t r = 0; r < list.count; r++) right[r] = NAN;
    const db_reference_agreement none =
        db_reference_agreement_find(&list, right, merged.intensity, merged.sigma);
    assert_int_equal(none.count, 0);
    assert_false(db_reference_is_doubtful(&none));
    free(right);
    free(wrong);
}

static void a_reference_is_scaled_first(void **state) {
    (void)state;
    db_merge_statistics s;
    draw(4, 3);
    double *const reference = malloc(list.count * sizeof *reference);
    double off = 0, all = 0;
    for (size_t r = 0; r < list.count; r++) {
        const double d = (double)list.d[r];
        reference[r] = merged.half[0][r] / 7 * exp(11 / (2 * d * d));
        if (isnan(reference[r])) continue;
        off += fabs(merged.half[0][r] - merged.intensity[r]);
        all += fabs(merged.half[0][r]);
    }
    const db_shells shells = db_statistics_shells(&list, &merged);
    db_merge_statistics_make(&list, &merged, &shells, reference, &s);
    assert_true(fabs(s.reference.k / 7 - 1) < 0.01);
    assert_true(fabs(s.reference.b - 11) < 0.2);
    assert_true(fabs(s.overall.r_reference - off / all) < 0.002);
    assert_true(s.overall.cc_reference > 0.99);
    double *const u = malloc(2 * list.count * sizeof *u), *const v = u + list.count;
    size_t pairs = 0;
    for (uint32_t r = 0; r < list.count; r++) {
        const uint32_t mate = list.mate[r];
        if (mate <= r || isnan(reference[r]) || isnan(reference[mate])) continue;
        u[pairs] = merged.half[0][r] - merged.half[0][mate];
        v[pairs++] = merged.intensity[r] - merged.intensity[mate];
    }
    assert_int_equal(s.overall.reference_pairs, pairs);
    assert_true(fabs(s.overall.cc_anomalous_reference - naive_correlation(u, v, pairs)) < 1e-4);
    free(u);
    free(reference);
}

/* Of noise alone there is no temperature factor. */
static void noise_has_no_scale_that_runs_away(void **state) {
    (void)state;
    uint64_t random = 8;
    double *const reference = malloc(list.count * sizeof *reference);
    draw(6, 3);
    for (size_t r = 0; r < list.count; r++) {
        const double d = (double)list.d[r];
        reference[r] = fabs(merged.intensity[r]);
        merged.sigma[r] = 100 * exp(20 / d);
        merged.intensity[r] = d > 5 ? reference[r] : merged.sigma[r] * made_up_normal(&random);
    }
    const db_reference_scale scale =
        db_reference_scale_find(&list, reference, merged.intensity, merged.sigma);
    print_message("k %g, B %g\n", scale.k, scale.b);
    assert_true(isfinite(scale.k) && fabs(scale.b) < 150);
    /* an intensity of which nothing is known is none */
    db_reference_scale without[2];
    for (int k = 0; k < 2; k++) {
        for (size_t r = 0; r < list.count; r += 3) {
            merged.intensity[r] = k ? 0 : (double)NAN;
            merged.sigma[r] = k ? (double)INFINITY : (double)NAN;
        }
        without[k] = db_reference_scale_find(&list, reference, merged.intensity, merged.sigma);
    }
    assert_int_equal(without[1].count, without[0].count);
    assert_true(fabs(without[1].k - without[0].k) <= 1e-9 * without[0].k);
    assert_true(fabs(without[1].b - without[0].b) <= 1e-9);
    free(reference);
}

static void nothing_is_said_of_too_little(void **state) {
    (void)state;
    db_merge_statistics s;
    for (size_t r = 0; r < list.count; r++) {
        merged.intensity[r] = merged.sigma[r] = NAN;
        merged.multiplicity[r] = 0;
        for (int h = 0; h < 2; h++) merged.half[h][r] = merged.half_sigma[h][r] = NAN;
    }
    const db_shells shells = { 3, 40, 2.4 };
    for (size_t there = 0; there < 3; there++) {
        db_merge_statistics_make(&list, &merged, &shells, NULL, &s);
        const db_merge_shell *const o = &s.overall;
        assert_int_equal(o->half_pairs, there);
        assert_true(isnan(o->cc_half) && isnan(o->cc_star) && isnan(o->cc_anomalous));
        assert_true(there ? o->r_split == 0 && o->multiplicity == 2 : isnan(o->r_split));
        assert_true(there ? o->mean_i_over_sigma == 4 : isnan(o->mean_intensity));
        const size_t r = 5 + 2 * there; /* no mates; constants have no correlation */
        merged.intensity[r] = merged.half[0][r] = merged.half[1][r] = 8;
        merged.sigma[r] = 2;
        merged.multiplicity[r] = 2;
    }
    db_merge_statistics_make(&list, &merged, &(db_shells){ 3, 3, 2.9 }, NULL, &s);
    assert_int_equal(s.overall.measured, 0); /* all are at low resolution */
}

/* The same mean by a plain sum over true intensities. */
static void naive_french_wilson(double I, double sigma, double mean, int centric, double *F,
                                double *sigma_F) {
    const int steps = 400000;
    const double most = fmax(I, 0) + 12 * sigma, step = sqrt(most) / steps;
    double highest = -INFINITY, sum = 0, first = 0, second = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < steps; i++) {
            const double f = (i + 0.5) * step, J = f * f, off = (I - J) / sigma,
                         log_weight =
                             -0.5 * off * off - J / (centric ? 2 * mean : mean) +
                             (centric ? 0 : log(f)); /* dJ = 2 f df; centric: J^(-1/2) dJ */
            if (pass == 0) {
                highest = fmax(highest, log_weight);
                continue;
            }
            const double weight = exp(log_weight - highest);
            sum += weight;
            first += weight * f;
            second += weight * J;
        }
    *F = first / sum;
    *sigma_F = sqrt(second / sum - *F * *F);
}

static void amplitudes_are_means_of_what_is_possible(void **state) {
    (void)state;
    static const double measured[] = { -30, -4, -1, -0.01, 0, 0.3, 1, 3, 10, 60, 400 },
                        expected[] = { 0.05, 1, 30 };
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++)
        for (size_t m = 0; m < sizeof expected / sizeof *expected; m++)
            for (int centric = 0; centric < 2; centric++) {
                double F, sigma, naive, naive_sigma;
                db_french_wilson(measured[i] * 2.5, 2.5, expected[m] * 2.5, centric, &F, &sigma);
                naive_french_wilson(measured[i] * 2.5, 2.5, expected[m] * 2.5, centric, &naive,
                                    &naive_sigma);
                assert_true(fabs(F / naive - 1) < 1e-5);
                assert_true(fabs(sigma / naive_sigma - 1) < 1e-3);
            }
    double F, sigma;
    db_french_wilson(1e8, 1, 1e6, 0, &F, &sigma); /* far above the noise: the root, and half of
                                                     the relative error */
    assert_true(fabs(F - 1e4) < 1e-4 && fabs(sigma * 2e4 - 1) < 1e-3);
    for (int centric = 0; centric < 2; centric++) { /* far below: finite, small */
        db_french_wilson(-1e6, 1, 1, centric, &F, &sigma);
        assert_true(F > 0 && F < 1e-2 && sigma > 0 && sigma < F);
        db_french_wilson(1, 1e6, 1, centric, &F, &sigma); /* nothing but the prior */
        assert_true(fabs(F - (centric ? sqrt(2 / 3.14159265) : sqrt(3.14159265) / 2)) < 1e-3);
    }
}

static void missing_reflections_stay_missing(void **state) {
    (void)state;
    double *const F = malloc(2 * list.count * sizeof *F);
    draw(5, 30);
    const db_shells shells = { 5, 40, 2.4 };
    db_wilson_mean mean;
    db_wilson_mean_make(&list, merged.intensity, merged.sigma, &shells, &mean);
    for (double d = 2.4; d < 50; d *= 1.1)
        assert_true(fabs(db_wilson_mean_at(&mean, d) / 100 - 1) < 0.5);
    db_amplitudes_of(&list, &mean, merged.intensity, merged.sigma, F, F + list.count);
    for (size_t r = 0; r < list.count; r++) {
        assert_true(isnan(merged.intensity[r]) == isnan(F[r]));
        assert_true(isnan(F[r]) || (F[r] > 0 && F[list.count + r] > 0));
    }
    free(F);
}

/* ---- files */

static double amplitude_at(const db_structure_factors *f, const int hkl[3]) {
    size_t at = 0;
    for (int i = 0; i < 3; i++) {
        const int from = hkl[i] - f->min[i];
        if (from < 0 || from >= f->extent[i]) return -1;
        at = at * (size_t)f->extent[i] + (size_t)from;
    }
    return f->amplitude[at];
}

static db_structure_factors read_file(const char *path, const char *columns) {
    db_structure_factors f = { .default_F = -1 };
    const db_structure_factor_options options = { .columns = columns };
    char told[200];
    assert_int_equal(
        db_read_structure_factors(context, path, columns ? &options : NULL, &f, told, sizeof told),
        DB_OK);
    return f;
}

/* What our reader finds is what was written, with any asymmetric units. */
static void check_read(const char *path, const char *columns, const double *intensity) {
    db_structure_factors f = read_file(path, columns);
    for (size_t r = 0; r < list.count; r++) {
        const double wanted = sqrt(fmax(0, intensity[r]));
        if (isnan(intensity[r])) continue;
        assert_true(fabs(amplitude_at(&f, list.hkl[r]) - wanted) < 1e-5 * (1 + wanted));
    }
    free(f.amplitude);
}

static void files_are_read_back(void **state) {
    (void)state;
    const char *const mtz = scratch_path("merged.mtz"), *const hkl = scratch_path("merged.hkl");
    double *const mean = malloc(list.count * sizeof *mean);
    draw(6, 10);
    assert_int_equal(db_merged_write_hkl(context, hkl, &list, &merged, ""), DB_OK);
    const db_status status = db_merged_write_mtz(context, mtz, &list, &merged, 1.3);
    for (size_t r = 0; r < list.count; r++) {
        const double a = merged.intensity[r], b = merged.intensity[list.mate[r]];
        mean[r] = isnan(a) ? b : isnan(b) ? a : 0.5 * (a + b);
    }
    if (status == DB_OK) {
        check_read(mtz, "I(+),I(-)", merged.intensity);
        check_read(mtz, "IHALF2(+),IHALF2(-)", merged.half[1]);
        check_read(mtz, "IMEAN", mean);
        db_structure_factors of_mtz = read_file(mtz, "F(+),F(-)"), of_hkl = read_file(hkl, NULL);
        for (size_t r = 0; r < list.count; r++) {
            const double F = amplitude_at(&of_mtz, list.hkl[r]);
            if (isnan(merged.intensity[r])) continue;
            assert_true(F > 0 && fabs(amplitude_at(&of_hkl, list.hkl[r]) - F) < 1e-5 * F);
        }
        free(of_mtz.amplitude);
        free(of_hkl.amplitude);
    } else {
        assert_int_equal(status, DB_ERROR_UNSUPPORTED);
        assert_non_null(strstr(db_context_message(context), "gemmi-dev"));
    }
    free(mean);
}

/* An MTZ file, by its format alone: 20 words, then rows of floats, then records of 80 characters. */
typedef struct raw_mtz {
    char name[40][31];
    int columns, rows;
    float *value;
} raw_mtz;

static raw_mtz read_raw(const char *path) {
    raw_mtz m = { .columns = 0 };
    int32_t head[2];
    char record[81] = "", label[31];
    FILE *const file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(head, 4, 2, file), 2);
    assert_memory_equal(head, "MTZ ", 4);
    fseek(file, 4L * (head[1] - 1), SEEK_SET);
    while (fread(record, 1, 80, file) == 80 && strncmp(record, "END ", 4) != 0) {
        if (strncmp(record, "NCOL", 4) == 0) sscanf(record, "NCOL %*d %d", &m.rows);
        if (sscanf(record, "COLUMN %30s", label) == 1) strcpy(m.name[m.columns++], label);
    }
    const size_t count = (size_t)m.columns * (size_t)m.rows;
    m.value = malloc(count * sizeof *m.value);
    fseek(file, 80, SEEK_SET);
    assert_int_equal(fread(m.value, sizeof *m.value, count, file), count);
    fclose(file);
    return m;
}

static double raw_value(const raw_mtz *m, int row, const char *name) {
    int c = 0;
    while (c < m->columns && strcmp(m->name[c], name) != 0) c++;
    assert_true(c < m->columns);
    return (double)m->value[row * m->columns + c];
}

/* Both missing, or the same but for a float's rounding. */
static void assert_alike(double found, double wanted) {
    assert_true(isnan(found) ? isnan(wanted) : fabs(found - wanted) <= 3e-7 * fabs(wanted));
}

static void check_mates(const raw_mtz *m, int row, const char *name, const double *value,
                        uint32_t plus, uint32_t minus) {
    char column[31];
    snprintf(column, sizeof column, "%s(+)", name);
    assert_alike(raw_value(m, row, column), value[plus]);
    snprintf(column, sizeof column, "%s(-)", name);
    assert_alike(raw_value(m, row, column), minus == plus ? (double)NAN : value[minus]);
}

/* Each column of the merged file has what its name says. */
static void columns_have_their_values(void **state) {
    (void)state;
    const char *const path = scratch_path("columns.mtz");
    draw(9, 7);
    for (size_t r = 0; r < list.count; r++) {
        merged.sigma[r] *= 1 + (double)(r % 3);
        merged.half_sigma[1][r] *= 1 + (double)(r % 4);
    }
    if (db_merged_write_mtz(context, path, &list, &merged, 1.3) == DB_ERROR_UNSUPPORTED) return;
    raw_mtz m = read_raw(path);
    assert_true(m.rows > 500);
    for (int row = 0; row < m.rows; row++) {
        const int hkl[3] = { (int)raw_value(&m, row, "H"), (int)raw_value(&m, row, "K"),
                             (int)raw_value(&m, row, "L") };
        const uint32_t plus = db_asu_number(&list, hkl), minus = list.mate[plus];
        check_mates(&m, row, "I", merged.intensity, plus, minus);
        check_mates(&m, row, "SIGI", merged.sigma, plus, minus);
        check_mates(&m, row, "IHALF1", merged.half[0], plus, minus);
        check_mates(&m, row, "SIGIHALF1", merged.half_sigma[0], plus, minus);
        check_mates(&m, row, "IHALF2", merged.half[1], plus, minus);
        check_mates(&m, row, "SIGIHALF2", merged.half_sigma[1], plus, minus);
        double sum = 0, weight = 0, count = 0;
        for (int k = 0; k < 1 + (plus != minus); k++) {
            const uint32_t r = k ? minus : plus;
            count += merged.multiplicity[r];
            if (isnan(merged.intensity[r])) continue;
            sum += merged.intensity[r] / (merged.sigma[r] * merged.sigma[r]);
            weight += 1 / (merged.sigma[r] * merged.sigma[r]);
        }
        assert_alike(raw_value(&m, row, "IMEAN"), sum / weight);
        assert_alike(raw_value(&m, row, "SIGIMEAN"), 1 / sqrt(weight));
        assert_alike(raw_value(&m, row, "N"), count);
        assert_alike(raw_value(&m, row, "N(+)"), merged.multiplicity[plus]);
        if (plus != minus) assert_alike(raw_value(&m, row, "N(-)"), merged.multiplicity[minus]);
        const double F = raw_value(&m, row, "F"), error = raw_value(&m, row, "SIGF"),
                     strength = sum / sqrt(weight);
        if (strength > 20) { /* the prior means nothing: F^2 = I, 2 F dF = dI */
            assert_true(fabs(F * F * weight / sum - 1) < 0.02);
            assert_true(fabs(2 * F * error * sqrt(weight) - 1) < 0.02);
        }
    }
    free(m.value);
}

/* Rows of a file, by their shots: the measurements on the scale of all, with errors, parts and what was
 * not used. */
static void check_unmerged(const char *path, const made_up *set, const db_scaling *scaling,
                           size_t shots) {
    raw_mtz m = read_raw(path);
    char *const met = calloc((size_t)m.rows, 1);
    int wanted = 0;
    for (size_t s = 0; s < shots; s++)
        for (size_t i = set->observations.first[s]; i < set->observations.first[s + 1]; i++) {
            const db_observation *const o = &set->observations.list[i];
            if (o->reflection == DB_NO_REFLECTION || scaling->shot[s].excluded) continue;
            const double d = (double)list.d[o->reflection],
                         k = scaling->shot[s].scale * exp(-scaling->shot[s].b / (2 * d * d));
            int row = 0;
            for (; row < m.rows; row++)
                if (!met[row] && raw_value(&m, row, "BATCH") == (double)(s + 1) &&
                    fabs(raw_value(&m, row, "I") * k - (double)o->intensity) <=
                        1e-6 * fabs((double)o->intensity) &&
                    raw_value(&m, row, "FRACTIONCALC") == (double)o->partiality)
                    break;
            assert_true(row < m.rows);
            met[row] = 1;
            wanted++;
            const int hkl[3] = { (int)raw_value(&m, row, "H"), (int)raw_value(&m, row, "K"),
                                 (int)raw_value(&m, row, "L") };
            const int mate = (int)raw_value(&m, row, "M/ISYM") % 2 == 0;
            const uint32_t here = db_asu_number(&list, hkl);
            assert_int_equal(mate ? list.mate[here] : here, o->reflection);
            assert_true(fabs(raw_value(&m, row, "SIGI") * k / (double)o->sigma - 1) < 1e-6);
            assert_true(fabs(raw_value(&m, row, "SCALEUSED") * k - 1) < 1e-6);
            assert_int_equal((int)raw_value(&m, row, "FLAG"),
                             (o->flags & DB_OBSERVATION_REJECTED) != 0);
        }
    assert_int_equal(m.rows, wanted);
    free(met);
    free(m.value);
}

static void unmerged_files_are_written(void **state) {
    (void)state;
    made_up_options options = MADE_UP_OPTIONS_INIT;
    options.shots = 20;
    options.each = 100;
    made_up set;
    db_scaling scaling;
    made_up_make(context, &list, &options, &set);
    assert_int_equal(db_scaling_make(context, options.shots, &scaling), DB_OK);
    for (size_t s = 0; s < options.shots; s++) {
        scaling.shot[s].scale = 1 + 0.1 * (double)s;
        scaling.shot[s].b = (double)s - 8;
        set.observations.list[set.observations.first[s] + s].flags = DB_OBSERVATION_REJECTED;
        set.observations.list[set.observations.first[s] + s + 1].reflection = DB_NO_REFLECTION;
    }
    scaling.shot[3].excluded = DB_EXCLUDED_DARK;
    const char *const path = scratch_path("unmerged.mtz");
    const db_status status =
        db_unmerged_write_mtz(context, path, &list, &set.observations, &scaling, 1.3);
    if (status != DB_ERROR_UNSUPPORTED) {
        assert_int_equal(status, DB_OK);
        check_unmerged(path, &set, &scaling, options.shots);
        /* none is left: an error, and no file */
        for (size_t s = 0; s < options.shots; s++) scaling.shot[s].excluded = DB_EXCLUDED_DARK;
        assert_int_equal(unlink(path), 0);
        assert_int_equal(
            db_unmerged_write_mtz(context, path, &list, &set.observations, &scaling, 1.3),
            DB_ERROR_INPUT);
        assert_int_not_equal(access(path, F_OK), 0);
    }
    made_up_clear(&set);
    db_scaling_clear(&scaling);
}

/* Reflections whose errors are far above all others are left out, of all shots and of halves, also where nothing is bright;
 * weak data stay. */
static void unseen_reflections_are_left_out(void **state) {
    (void)state;
    const db_shells shells = { .count = 4, .low = 30, .high = 2.5 };
    double *const room = malloc(2 * list.count * sizeof *room);
    assert_non_null(room);
    for (int weak = 0; weak < 2; weak++) {
        const double noise = weak ? 1000 : 5, usual = weak ? 1000 : 69; /* 69: median by Wilson */
        size_t before = 0, after = 0, halves = 0;
        draw(5, noise);
        for (size_t r = 0; r < list.count; r++) {
            before += merged.multiplicity[r] > 0 ? 1 : 0;
            if (!merged.multiplicity[r]) continue;
            if (r % 10 == 1) merged.sigma[r] = 14 * usual;
            if (r % 10 == 2) merged.sigma[r] = 7 * usual; /* not good, but measured */
            if (r % 10 == 3) merged.half_sigma[0][r] = 20 * usual;
        }
        db_merged_leave_out_unseen(&list, &shells, room, &merged);
        for (size_t r = 0; r < list.count; r++) {
            const int seen = merged.multiplicity[r] > 0;
            assert_int_equal(seen, !isnan(merged.intensity[r]) && !isnan(merged.sigma[r]));
            after += seen ? 1 : 0;
            if (r % 10 == 3 && seen) halves += merged.half_multiplicity[0][r] > 0 ? 1 : 0;
            if (r % 10 == 1) assert_false(seen);
        }
        assert_in_range(10 * (before - after), before - before / 5, before + before / 5);
        assert_int_equal(halves, 0);
    }
    free(room);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shells_have_the_statistics_of_their_reflections),
        cmocka_unit_test(uncertain_reflections_count_little),
        cmocka_unit_test(unseen_reflections_are_left_out),
        cmocka_unit_test(a_reference_of_another_crystal_is_doubtful),
        cmocka_unit_test(a_reference_is_scaled_first),
        cmocka_unit_test(noise_has_no_scale_that_runs_away),
        cmocka_unit_test(nothing_is_said_of_too_little),
        cmocka_unit_test(amplitudes_are_means_of_what_is_possible),
        cmocka_unit_test(missing_reflections_stay_missing),
        cmocka_unit_test(files_are_read_back),
        cmocka_unit_test(columns_have_their_values),
        cmocka_unit_test(unmerged_files_are_written),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
