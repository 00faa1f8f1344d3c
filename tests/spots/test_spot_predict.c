/* Predicted spots are those that images show: places, widths and photons of rendered spots, one by
 * one; and the list is that of a search through all nodes. */
#include "support/context.h"
#include "scenes.h"
#include "support/naive_geometry.h"

#include <dualbragg/dualbragg.h>
#include <dualbragg/expert/beam_sources.h>

#include <math.h>
#include <string.h>

enum { MOST_CHECKED = 12, HALF = 60, SIDE = 2 * HALF + 1 };
static db_predicted_spots predict(const db_experiment *e, double most_excitation, double most_turn,
                                  double least_photons) {
    db_predicted_spots list;
    db_spot_options options = DB_SPOT_OPTIONS_INIT;
    options.most_excitation = most_excitation;
    options.most_turn = most_turn;
    options.least_photons = least_photons;
    if (db_spots_predict(context, e, &options, &list) != DB_OK)
        fail_msg("%s", db_context_message(context));
    return list;
}

/* What an image of one reflection alone shows around a place. */
typedef struct {
    double photons, mean[2], covariance[3], highest[2];
} shown;

/* The maximum of the Gaussian through 3 x 3 pixels, from the middle of the one in the middle. */
static void highest_of(const double *middle, double off[2]) {
    double l[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) l[i][j] = log(middle[(i - 1) * SIDE + j - 1]);
    const double x = 0.5 * (l[1][2] - l[1][0]), y = 0.5 * (l[2][1] - l[0][1]),
                 xx = l[1][2] - 2 * l[1][1] + l[1][0], yy = l[2][1] - 2 * l[1][1] + l[0][1],
                 xy = 0.25 * (l[2][2] - l[2][0] - l[0][2] + l[0][0]),
                 determinant = xx * yy - xy * xy;
    off[0] = (xy * y - yy * x) / determinant;
    off[1] = (xy * x - xx * y) / determinant;
}

static shown show(const db_experiment *e, const db_spot *spot) {
    static double image[SIDE * SIDE];
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_experiment alone;
    db_plan *plan;
    const double f = e->structure_factors.default_F;
    const int extent[3] = { 1, 1, 1 };
    const db_region region = { .panel = spot->panel,
                               .fast_start = (int)spot->position[0] - HALF,
                               .slow_start = (int)spot->position[1] - HALF,
                               .fast_count = SIDE,
                               .slow_count = SIDE,
                               .stride = SIDE };
    shown s = { 0 };
    assert_int_equal(db_experiment_copy(context, e, &alone), DB_OK);
    assert_int_equal(db_experiment_set_amplitudes(context, &alone, spot->hkl, extent, &f), DB_OK);
    alone.structure_factors.default_F = 0;
    options.pixel_type = DB_FLOAT64;
    options.regions = &region;
    options.region_count = 1;
    assert_int_equal(db_plan_create(context, &alone, &options, &plan), DB_OK);
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    db_plan_destroy(&plan);
    db_experiment_clear(&alone);
    size_t peak = 0;
    for (size_t i = 0; i < SIDE * SIDE; i++) {
        s.photons += image[i];
        s.mean[0] += image[i] * (double)(i % SIDE);
        s.mean[1] += image[i] * (double)(i / SIDE);
        if (image[i] > image[peak]) peak = i;
    }
    for (int a = 0; a < 2; a++) s.mean[a] /= s.photons;
    for (size_t i = 0; i < SIDE * SIDE; i++) {
        const double x = (double)(i % SIDE) - s.mean[0], y = (double)(i / SIDE) - s.mean[1];
        s.covariance[0] += image[i] * x * x / s.photons;
        s.covariance[1] += image[i] * y * y / s.photons;
        s.covariance[2] += image[i] * x * y / s.photons;
    }
    highest_of(image + peak, s.highest);
    s.highest[0] += region.fast_start + 0.5 + (double)(peak % SIDE);
    s.highest[1] += region.slow_start + 0.5 + (double)(peak / SIDE);
    s.mean[0] += region.fast_start + 0.5;
    s.mean[1] += region.slow_start + 0.5;
    return s;
}

/* The largest differences from what is shown. */
typedef struct {
    double photons, mean, highest, covariance;
} differences;

static void compare(const db_spot *spot, const shown *s, differences *worst) {
    const double size = sqrt(s->covariance[0] * s->covariance[1]);
    worst->photons = fmax(worst->photons, fabs(spot->photons / s->photons - 1));
    for (int a = 0; a < 2; a++) {
        worst->mean = fmax(worst->mean, fabs(spot->position[a] - s->mean[a]));
        worst->highest = fmax(worst->highest, fabs(spot->position[a] - s->highest[a]));
    }
    for (int n = 0; n < 3; n++)
        worst->covariance =
            fmax(worst->covariance, fabs(spot->covariance[n] - s->covariance[n]) / size);
}

static void spots_are_where_they_are_shown(void **state) {
    (void)state;
    for (size_t i = 0; i < spot_scene_count; i++) {
        naive_region region;
        db_experiment e = scene_experiment(context, &spot_scenes[i], &region);
        db_predicted_spots all = predict(&e, 2, 0, 0);
        differences worst = { 0 };
        size_t checked = 0;
        for (size_t n = 0; n < all.count; n += all.count / MOST_CHECKED + 1) {
            const db_spot *const spot = &all.spot[n];
            if (spot->recorded < 1e-3) continue;
            const shown s = show(&e, spot);
            compare(spot, &s, &worst);
            checked++;
        }
        print_message("%-34s %6zu spots, %2zu checked: photons %.1e, middle %.3f, highest %.3f "
                      "pixels, covariance %.1e\n",
                      spot_scenes[i].name, all.count, checked, worst.photons, worst.mean,
                      worst.highest, worst.covariance);
        assert_true(checked > 5 && worst.photons < 2e-3 && worst.mean < 0.1 &&
                    worst.covariance < 5e-3);
        /* where a passage is cut off, and of several sources, the maximum is elsewhere */
        assert_true(worst.highest < 0.05 || e.goniometer.phi_step != 0 || e.beam.source_count > 1);
        db_predicted_spots_clear(&all);
        db_experiment_clear(&e);
    }
}

/* Variances of c along u of blocks of Gaussian shape and isotropic mosaic. */
static double width_of(const db_experiment *e, const double star[9], const double u[3],
                       const double r[3]) {
    const double mosaic = e->spread.mosaic * pow(NAIVE_PI / 180, 2), k = e->beam.wavelength;
    double side[3], sum = 0;
    for (int j = 0; j < 3; j++) {
        const double along = star[j] * u[0] + star[3 + j] * u[1] + star[6 + j] * u[2];
        sum += 0.63 / 4 * pow(along / e->crystal.Ncells[j], 2);
    }
    naive_cross(u, r, side);
    return sqrt(k * k * (sum + mosaic * naive_dot(side, side)));
}

/* All nodes of a sphere of resolution, all of which the panel records: those near enough to the Ewald
 * sphere, by standard deviations and by turns, are the list's. */
static void check_list(const db_experiment *e, double most_excitation, double most_turn) {
    db_predicted_spots list = predict(e, most_excitation, most_turn, 0);
    double star[9];
    size_t found = 0;
    db_crystal_matrix(&e->crystal, star);
    for (int h = -40; h <= 40; h++)
        for (int k = -40; k <= 40; k++)
            for (int l = -50; l <= 50; l++) {
                double r[3], c[3], u[3], side[3];
                for (int i = 0; i < 3; i++) {
                    r[i] = star[3 * i] * h + star[3 * i + 1] * k + star[3 * i + 2] * l;
                    c[i] = e->beam.direction[i] + e->beam.wavelength * r[i];
                }
                if (naive_dot(r, r) > 1 / (e->dmin * e->dmin) || (!h && !k && !l)) continue;
                const double length = sqrt(naive_dot(c, c));
                for (int i = 0; i < 3; i++) u[i] = c[i] / length;
                naive_cross(u, r, side);
                const double width = width_of(e, star, u, r),
                             arm = e->beam.wavelength * sqrt(naive_dot(side, side)),
                             far = most_excitation * width + most_turn * NAIVE_PI / 180 * arm;
                if (fabs(length - 1) > far || fabs(length - 1) > 0.1) continue;
                const db_spot *const spot = &list.spot[found];
                if (found >= list.count || spot->hkl[0] != h || spot->hkl[1] != k ||
                    spot->hkl[2] != l)
                    fail_msg("%d %d %d is missing", h, k, l);
                assert_true(fabs(spot->excitation - (length - 1) / width) < 1e-8);
                assert_true(fabs(spot->turn - (length - 1) / arm * 180 / NAIVE_PI) < 1e-8);
                assert_true(fabs(spot->resolution - 1 / sqrt(naive_dot(r, r))) < 1e-9);
                found++;
            }
    print_message("%zu spots within %g standard deviations and %g degree\n", found, most_excitation,
                  most_turn);
    assert_true(found > 100 && found == list.count);
    db_predicted_spots_clear(&list);
}

static void lists_are_whole(void **state) {
    (void)state;
    db_experiment e = scene_start(context);
    const aim at = { { 9, 7, 11 }, 35, 20, 0.05 };
    aim_crystal(&e, at);
    e.spread.mosaic = 0.05 * 0.05;
    check_list(&e, 1, 0);
    check_list(&e, 4.5, 0);
    check_list(&e, 3, 0.5);
    e.spread.mosaic = 0;
    check_list(&e, 0, 0.7);
    db_experiment_clear(&e);
}

/* A spectrum's lines, Gaussians of heavier tails, and two sources: one spot each. */
static void sources_and_tails_are_one_spot(void **state) {
    (void)state;
    db_experiment e = scene_start(context);
    const aim at = { { 9, 7, 11 }, 35, 20, 0.05 };
    const double wavelength[3] = { 0.998, 1, 1.003 }, weight[3] = { 1, 3, 2 };
    differences worst = { 0 };
    size_t checked = 0;
    aim_crystal(&e, at);
    e.spread.mosaic = 0.1 * 0.1;
    e.spread.tails = 2;
    e.spread.tail_fraction[0] = e.spread.tail_fraction[1] = 0.2;
    e.spread.tail_width[0] = 2;
    e.spread.tail_width[1] = 0.5;
    assert_int_equal(db_beam_set_spectrum(context, &e.beam, wavelength, weight, 3, 1), DB_OK);
    db_predicted_spots list = predict(&e, 2, 0, 0);
    for (size_t n = 0; n < list.count; n++) {
        const db_spot *const spot = &list.spot[n];
        if (n > 0 && memcmp(spot->hkl, spot[-1].hkl, sizeof spot->hkl) == 0)
            fail_msg("%d %d %d is listed twice", spot->hkl[0], spot->hkl[1], spot->hkl[2]);
        if (n % (list.count / MOST_CHECKED + 1) || spot->excitation > 1) continue;
        const shown s = show(&e, spot);
        compare(spot, &s, &worst);
        checked++;
    }
    print_message("%zu spots, %zu checked: photons %.1e, middle %.3f pixels, covariance %.1e\n",
                  list.count, checked, worst.photons, worst.mean, worst.covariance);
    assert_true(checked > 5 && worst.photons < 1e-3 && worst.mean < 0.01 &&
                worst.covariance < 5e-3);
    db_predicted_spots bright = predict(&e, 2, 0, 1e3);
    size_t expected = 0;
    for (size_t n = 0; n < list.count; n++) expected += list.spot[n].photons >= 1e3;
    assert_int_equal(bright.count, expected);
    assert_true(bright.count > 0 && bright.count < list.count);
    db_predicted_spots_clear(&bright);
    db_predicted_spots_clear(&list);
    db_experiment_clear(&e);
}

/* Full width at half maximum of a Gaussian with the variance of the sources' energies. */
static double width_of_energies(const db_beam *beam) {
    double sum[3] = { 0, 0, 0 };
    for (size_t j = 0; j < beam->source_count; j++) {
        const double at = 1 / beam->sources[j].wavelength_ratio, weight = beam->sources[j].weight;
        sum[0] += weight;
        sum[1] += weight * at;
        sum[2] += weight * at * at;
    }
    return sqrt(8 * log(2) * (sum[2] / sum[0] - pow(sum[1] / sum[0], 2)));
}

/* In closed form as a variance, of samples as sources: the same width. */
static void bands_are_as_wide_as_asked_for(void **state) {
    (void)state;
    db_experiment e = scene_start(context);
    size_t count = 0;
    const db_band *const known = db_bands(&count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(db_experiment_set_band(context, &e, known[i].width), DB_OK);
        assert_true(fabs(1e-3 * sqrt(8 * log(2) * e.spread.bandwidth) / known[i].width - 1) <
                    1e-12);
        assert_true(i == 0 || known[i].width > known[i - 1].width);
    }
    assert_int_equal(e.beam.source_count, 1);
    e.spread.spots = DB_SPOTS_SAMPLED;
    assert_int_equal(db_experiment_set_band(context, &e, 0.01), DB_OK);
    assert_true(fabs(width_of_energies(&e.beam) / 0.01 - 1) < 0.01);
    assert_int_equal(db_experiment_set_band(context, &e, 0.01),
                     DB_ERROR_INPUT); /* has a spectrum */
    assert_int_equal(db_experiment_set_sase(context, &e, 0.01, 1e-3, 1, 0), DB_ERROR_INPUT);
    assert_int_equal(db_experiment_set_band(context, &e, 0), DB_ERROR_INPUT);
    assert_int_equal(db_experiment_set_sase(context, &e, 0.01, 1e-6, 1, 0), DB_ERROR_INPUT);
    db_experiment_clear(&e);
}

static void what_cannot_be_predicted_is_refused(void **state) {
    (void)state;
    db_experiment e = scene_start(context);
    db_spot_options options = DB_SPOT_OPTIONS_INIT;
    db_predicted_spots list;
    options.most_excitation = 11;
    assert_int_equal(db_spots_predict(context, &e, &options, &list), DB_ERROR_USAGE);
    options = (db_spot_options)DB_SPOT_OPTIONS_INIT;
    options.size = 1;
    assert_int_equal(db_spots_predict(context, &e, &options, &list), DB_ERROR_USAGE);
    for (int i = 0; i < 3; i++) e.crystal.cell[i] = 20000; /* names of all would fill the memory */
    assert_int_equal(db_spots_predict(context, &e, NULL, &list), DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(context), "too many reflections to predict"));
    e.spread.spots = DB_SPOTS_SAMPLED;
    assert_int_equal(db_spots_predict(context, &e, NULL, &list), DB_ERROR_UNSUPPORTED);
    assert_null(list.spot);
    db_experiment_clear(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spots_are_where_they_are_shown),
        cmocka_unit_test(lists_are_whole),
        cmocka_unit_test(sources_and_tails_are_one_spot),
        cmocka_unit_test(bands_are_as_wide_as_asked_for),
        cmocka_unit_test(what_cannot_be_predicted_is_refused),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
