/* Predicted spots are those that images show: places, widths and photons of rendered spots, one by
 * one; and the list is that of a search through all nodes. */
#include "support/context.h"
#include "scenes.h"
#include "support/naive_geometry.h"

#include <dualbragg/dualbragg.h>
#include <dualbragg/expert/beam_sources.h>
#include <dualbragg/expert/spot_places.h>

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
    db_spot spots[2] = { { .hkl = { 1, 0, 0 } }, { .hkl = { 1, 0, 0 }, .panel = 1 } };
    assert_int_equal(db_spots_place(context, &e, 0, spots, 2), DB_ERROR_USAGE);
    assert_non_null(strstr(db_context_message(context), "spot 1: there is no panel 1"));
    for (int i = 0; i < 3; i++) e.crystal.cell[i] = 20000; /* names of all would fill the memory */
    assert_int_equal(db_spots_predict(context, &e, NULL, &list), DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(context), "too many reflections to predict"));
    e.spread.spots = DB_SPOTS_SAMPLED;
    assert_int_equal(db_spots_predict(context, &e, NULL, &list), DB_ERROR_UNSUPPORTED);
    assert_null(list.spot);
    db_experiment_clear(&e);
}

/* Of a band of wavelengths, a reflection selects the same whether the band is one source's or many sources'. */
static void a_spot_selects_wavelengths(void **state) {
    (void)state;
    enum { SOURCES = 121 };
    naive_region region;
    db_experiment band = scene_experiment(context, &spot_scenes[0], &region), many;
    double wavelength[SOURCES], weight[SOURCES];
    const double sigma = 2e-3, step = 0.08;
    band.spread.bandwidth = 1e6 * sigma * sigma;
    band.spread.mosaic = 4e-4;
    for (int i = 0; i < 3; i++) band.crystal.Ncells[i] = 200;
    assert_int_equal(db_experiment_copy(context, &band, &many), DB_OK);
    for (int j = 0; j < SOURCES; j++) {
        const double x = step * (j - SOURCES / 2);
        wavelength[j] = band.beam.wavelength * (1 + sigma * x);
        weight[j] = exp(-0.5 * x * x);
    }
    assert_int_equal(db_beam_set_spectrum(context, &many.beam, wavelength, weight, SOURCES, 1),
                     DB_OK);
    many.spread.bandwidth = 1e6 * sigma * sigma * step * step / 12;
    db_predicted_spots one = predict(&band, 1.5, 0, 0), all = predict(&many, 6, 0, 0);
    const double width = sigma * band.beam.wavelength;
    size_t compared = 0, selected = 0;
    for (size_t i = 0, j = 0; i < one.count; i++) {
        const db_spot *const a = &one.spot[i];
        while (j < all.count && memcmp(all.spot[j].hkl, a->hkl, sizeof a->hkl) != 0) j++;
        if (j == all.count) {
            j = 0;
            continue;
        }
        const db_spot *const b = &all.spot[j];
        if (!(fabs(a->wavelength - b->wavelength) < 0.03 * width &&
              fabs(a->wavelength_width - b->wavelength_width) < 0.03 * width))
            fail_msg("%d %d %d: %.7g +- %.3g of a band, %.7g +- %.3g of many sources", a->hkl[0],
                     a->hkl[1], a->hkl[2], a->wavelength, a->wavelength_width, b->wavelength,
                     b->wavelength_width);
        compared++;
        selected += fabs(a->wavelength - band.beam.wavelength) > 0.5 * width &&
                    a->wavelength_width < 0.9 * width;
    }
    print_message("%zu spots, %zu of them away from the middle\n", compared, selected);
    assert_true(compared > 10 && selected > 2);
    db_predicted_spots_clear(&one);
    db_predicted_spots_clear(&all);
    db_experiment_clear(&band);
    db_experiment_clear(&many);
}

/* The sum over sources of photons times wavelength, each rendered by itself, over that of photons. */
static void pixels_have_a_mean_wavelength(void **state) {
    (void)state;
    enum { SOURCES = 3, PIXELS = 900 };
    static const double wavelength[SOURCES] = { 1.28, 1.31, 1.33 }, weight[SOURCES] = { 1, 3, 2 };
    for (int closed = 0; closed < 2; closed++) {
        double image[PIXELS], mean[PIXELS], after[PIXELS], photons[PIXELS] = { 0 },
                                                           sum[PIXELS] = { 0 };
        db_experiment e;
        db_plan *plan;
        db_plan_options options = DB_PLAN_OPTIONS_INIT;
        options.pixel_type = DB_FLOAT64;
        assert_int_equal(db_experiment_init(context, &e), DB_OK);
        memcpy(e.crystal.cell, (double[]){ 40, 50, 60, 90, 100, 90 }, sizeof e.crystal.cell);
        for (int i = 0; i < 3; i++) e.crystal.Ncells[i] = 5;
        e.crystal.misset[0] = 17;
        e.structure_factors.default_F = 10;
        e.spread.spots = closed ? DB_SPOTS_CLOSED : DB_SPOTS_SAMPLED;
        e.spread.mosaic = 0.2;
        e.detector.panels[0].fast_pixels = e.detector.panels[0].slow_pixels = 30;
        e.detector.panels[0].pixel_size[0] = e.detector.panels[0].pixel_size[1] = 1;
        e.detector.centre[0] = e.detector.centre[1] = 14;
        assert_int_equal(db_beam_set_spectrum(context, &e.beam, wavelength, weight, SOURCES, 0),
                         DB_OK);
        e.beam.spectrum_stretch = 1.5;
        assert_int_equal(db_plan_create(context, &e, &options, &plan), DB_OK);
        assert_int_equal(db_plan_forward(plan, image), DB_OK);
        assert_int_equal(db_plan_mean_wavelength(plan, mean), DB_OK);
        assert_int_equal(db_plan_forward(plan, after), DB_OK);
        assert_memory_equal(image, after, sizeof image);
        assert_int_equal(db_plan_set_background(plan, image), DB_OK);
        assert_int_equal(db_plan_mean_wavelength(plan, after), DB_ERROR_UNSUPPORTED);
        assert_non_null(strstr(db_context_message(context), "a background image"));
        assert_int_equal(db_plan_set_background(plan, NULL), DB_OK);
        const double middle = (1.28 + 3 * 1.31 + 2 * 1.33) / 6;
        for (int j = 0; j < SOURCES;
             j++) { /* alone, with the wavelength that the spectrum gave it */
            db_experiment alone = e;
            db_source own = e.beam.sources[j];
            const double stretched = middle + 1.5 * (wavelength[j] - middle);
            own.wavelength_ratio = 1;
            alone.beam.sources = &own;
            alone.beam.source_count = 1;
            alone.beam.wavelength = stretched;
            db_plan *one;
            assert_int_equal(db_plan_create(context, &alone, &options, &one), DB_OK);
            assert_int_equal(db_plan_forward(one, after), DB_OK);
            db_plan_destroy(&one);
            for (int i = 0; i < PIXELS; i++) {
                photons[i] += weight[j] / 6 * after[i];
                sum[i] += weight[j] / 6 * stretched * after[i];
            }
        }
        int bright = 0;
        for (int i = 0; i < PIXELS; i++) {
            if (photons[i] == 0) {
                assert_true(mean[i] == 0);
                continue;
            }
            assert_true(fabs(mean[i] - sum[i] / photons[i]) < 1e-9);
            bright += fabs(mean[i] - middle) > 0.005;
        }
        assert_true(bright > 100);
        db_plan_destroy(&plan);
        options.tolerance = 1e-4 * photons[0]; /* now pixels lack photons, in each image others */
        for (int i = 0; i < PIXELS; i++)
            options.tolerance = fmax(options.tolerance, 0.02 * photons[i]);
        assert_int_equal(db_plan_create(context, &e, &options, &plan), DB_OK);
        assert_int_equal(db_plan_mean_wavelength(plan, mean), DB_OK);
        for (int i = 0; i < PIXELS; i++)
            assert_true(mean[i] == 0 || (mean[i] > 1.26 && mean[i] < 1.35));
        db_plan_destroy(&plan);
        db_experiment_clear(&e);
    }
}

/* Likewise of rays that differ in direction, along one axis, and in wavelength, by dispersion; the image is the mean of
 * theirs. */
static void rays_of_a_grid(int vertical, int closed) {
    enum { PIXELS = 400 };
    const db_beam_spread grid = { vertical ? 0 : 0.04,
                                  vertical ? 0.04 : 0,
                                  0.04,
                                  0.04,
                                  vertical ? 1 : 2,
                                  vertical ? 2 : 1,
                                  0,
                                  0.03,
                                  0.03,
                                  2 };
    double all[PIXELS], mean[PIXELS], image[PIXELS], photons[PIXELS] = { 0 }, sum[PIXELS] = { 0 },
                                                     most = 0;
    db_experiment e;
    db_plan *plan;
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    options.pixel_type = DB_FLOAT64;
    options.precision = DB_PRECISION_DOUBLE;
    assert_int_equal(db_experiment_init(context, &e), DB_OK);
    memcpy(e.crystal.cell, (double[]){ 40, 50, 60, 90, 100, 90 }, sizeof e.crystal.cell);
    for (int i = 0; i < 3; i++) e.crystal.Ncells[i] = 5;
    e.crystal.misset[0] = 17;
    e.structure_factors.default_F = 10;
    e.spread.spots = closed ? DB_SPOTS_CLOSED : DB_SPOTS_SAMPLED;
    e.spread.mosaic = 0.2;
    e.detector.panels[0].fast_pixels = e.detector.panels[0].slow_pixels = 20;
    e.detector.panels[0].pixel_size[0] = e.detector.panels[0].pixel_size[1] = 1;
    e.detector.centre[0] = e.detector.centre[1] = -40; /* where the polarization matters */
    e.beam.wavelength = 1.3;
    e.beam.polarization = 0.9;
    assert_int_equal(db_beam_set_spread(context, &e.beam, &grid), DB_OK);
    assert_int_equal(e.beam.source_count, 4);
    assert_int_equal(db_plan_create(context, &e, &options, &plan), DB_OK);
    assert_int_equal(db_plan_forward(plan, all), DB_OK);
    assert_int_equal(db_plan_mean_wavelength(plan, mean), DB_OK);
    db_plan_destroy(&plan);
    for (size_t j = 0; j < 4; j++) {
        db_experiment alone = e;
        db_source own = e.beam.sources[j];
        const double wavelength = 1.3 * (1 + 0.03 * own.spread[2]);
        own.spread[2] = 0;
        alone.beam.sources = &own;
        alone.beam.source_count = 1;
        alone.beam.wavelength = wavelength;
        assert_int_equal(db_plan_create(context, &alone, &options, &plan), DB_OK);
        assert_int_equal(db_plan_forward(plan, image), DB_OK);
        db_plan_destroy(&plan);
        for (int i = 0; i < PIXELS; i++) {
            photons[i] += image[i] / 4;
            sum[i] += wavelength * image[i] / 4;
        }
    }
    int away = 0;
    for (int i = 0; i < PIXELS; i++) most = fmax(most, photons[i]);
    for (int i = 0; i < PIXELS; i++) {
        assert_true(fabs(all[i] - photons[i]) <= 1e-9 * most);
        if (photons[i] > 1e-9 * most) assert_true(fabs(mean[i] - sum[i] / photons[i]) < 1e-9);
        away += photons[i] > 0 && fabs(mean[i] - 1.3) > 0.005;
    }
    assert_true(away > 50);
    db_experiment_clear(&e);
}

static void rays_of_a_grid_have_their_wavelengths(void **state) {
    (void)state;
    for (int vertical = 0; vertical < 2; vertical++)
        for (int closed = 0; closed < 2; closed++) rays_of_a_grid(vertical, closed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spots_are_where_they_are_shown),
        cmocka_unit_test(lists_are_whole),
        cmocka_unit_test(sources_and_tails_are_one_spot),
        cmocka_unit_test(bands_are_as_wide_as_asked_for),
        cmocka_unit_test(a_spot_selects_wavelengths),
        cmocka_unit_test(pixels_have_a_mean_wavelength),
        cmocka_unit_test(rays_of_a_grid_have_their_wavelengths),
        cmocka_unit_test(what_cannot_be_predicted_is_refused),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
