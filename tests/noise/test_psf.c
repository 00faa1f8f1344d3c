/* Point spread functions: shares of pixels against the formulas of their densities, the light's
 * whereabouts, Fourier convolution against the plain sum. */
#include "support/context.h"

#include <dualbragg/dualbragg.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "noise/fourier.h"
#include "noise/psf.h"
#include "noise/psf_kernel.h"

static const double pi = 3.14159265358979323846;

static double gauss_density(double x, double y, double w) {
    return log(16) / pi / (w * w) * exp(-log(16) * (x * x + y * y) / (w * w));
}

static double fiber_density(double x, double y, double w) {
    const double g = noise_psf_fiber_g(w);
    return g / (2 * pi) * pow(g * g + x * x + y * y, -1.5);
}

/* Integral of a density over a pixel by Gauss and Legendre, 64 x 64 cells of 3 x 3 points. */
static double over_pixel(double (*density)(double, double, double), int px, int py, double w) {
    static const double node[3] = { -0.77459666924148337704, 0, 0.77459666924148337704 },
                        weight[3] = { 5.0 / 9, 8.0 / 9, 5.0 / 9 };
    enum { CELLS = 64 };
    const double half = 0.5 / CELLS;
    double sum = 0;
    for (int i = 0; i < CELLS * CELLS; i++) {
        const double x = px - 0.5 + half * (2 * (i % CELLS) + 1),
                     y = py - 0.5 + half * (2 * (i / CELLS) + 1);
        for (int j = 0; j < 9; j++)
            sum += weight[j % 3] * weight[j / 3] *
                   density(x + half * node[j % 3], y + half * node[j / 3], w);
    }
    return sum * half * half;
}

/* What one pixel with one photon in the middle of an image becomes; radius R, (2R+1)^2 pixels, the
 * even part not yet taken off. */
static double *response(db_psf_type type, double w, int radius, int threads, noise_psf *psf) {
    const int side = 2 * radius + 1;
    double *image = calloc((size_t)side * (size_t)side, sizeof *image);
    assert_non_null(image);
    image[radius * side + radius] = 1;
    *psf = noise_psf_of(type, w, radius, 1, side);
    assert_int_equal(psf->radius, radius);
    assert_int_equal(noise_psf_apply(context, threads, psf, side, side, image), DB_OK);
    return image;
}

static void impulse_becomes_the_density_integrated_over_pixels(void **state) {
    (void)state;
    static const double width[] = { 0.3, 1, 2.7, 6 };
    for (int type = DB_PSF_GAUSS; type <= DB_PSF_FIBER; type++)
        for (int i = 0; i < 4; i++) {
            enum { RADIUS = 12, SIDE = 2 * RADIUS + 1 };
            noise_psf psf;
            double *image = response((db_psf_type)type, width[i], RADIUS, 2, &psf), sum = 0;
            for (int p = 0; p < SIDE * SIDE; p++) {
                const double share =
                    over_pixel(type == DB_PSF_GAUSS ? gauss_density : fiber_density,
                               p % SIDE - RADIUS, p / SIDE - RADIUS, width[i]);
                const double even = psf.lost / (SIDE * SIDE);
                assert_true(fabs(image[p] - even - share) < 1e-9);
                sum += image[p];
            }
            /* kernel and even part together are all of the light */
            assert_true(fabs(sum - 1) < 1e-12);
            free(image);
        }
}

/* The lost part is that outside a square: more than outside the circle around it, less than outside
 * the circle within. */
static void lost_fraction_lies_between_those_of_two_circles(void **state) {
    (void)state;
    for (double w = 0.5; w < 20; w *= 1.7)
        for (int radius = 0; radius < 60; radius = 2 * radius + 1) {
            const double in = radius + 0.5, out = in * sqrt(2), g = noise_psf_fiber_g(w);
            const double gauss = noise_psf_gauss_lost(radius, w),
                         fiber = noise_psf_fiber_lost(radius, w);
            assert_true(gauss <= exp(-log(16) * in * in / (w * w)));
            assert_true(gauss >= exp(-log(16) * out * out / (w * w)));
            assert_true(fiber <= g / hypot(g, in) && fiber >= g / hypot(g, out));
        }
}

static void width_is_the_full_width_at_half_maximum(void **state) {
    (void)state;
    for (double w = 0.5; w < 10; w *= 2) {
        assert_true(fabs(gauss_density(w / 2, 0, w) / gauss_density(0, 0, w) - 0.5) < 1e-12);
        assert_true(fabs(fiber_density(0, w / 2, w) / fiber_density(0, 0, w) - 0.5) < 1e-12);
    }
    /* and the variance of the pixel shares that of the density plus that of a pixel, 1/12 */
    double second = 0;
    for (int d = -60; d <= 60; d++) second += d * d * noise_psf_gauss(d, 8);
    assert_true(fabs(second - (8 * 8 / (8 * log(2)) + 1.0 / 12)) < 1e-9);
}

static double *random_image(int fast, int slow, unsigned seed) {
    double *image = malloc((size_t)fast * (size_t)slow * sizeof *image);
    assert_non_null(image);
    for (int i = 0; i < fast * slow; i++) {
        seed = seed * 1664525u + 1013904223u;
        image[i] = seed >> 28 ? 0 : (seed >> 8 & 1023);
    }
    return image;
}

/* Sum over all pixels, term by term. */
static void plain_spread(const noise_psf *psf, int fast, int slow, const double *from, double *to) {
    double light = 0;
    for (int i = 0; i < fast * slow; i++) light += from[i];
    for (int i = 0; i < fast * slow; i++) to[i] = light * psf->lost / (fast * slow);
    for (int i = 0; i < fast * slow; i++)
        for (int j = 0; j < fast * slow; j++) {
            const int dx = abs(i % fast - j % fast), dy = abs(i / fast - j / fast);
            if (dx > psf->radius || dy > psf->radius || from[i] == 0) continue;
            const double g = noise_psf_fiber_g(psf->fwhm);
            to[j] +=
                from[i] * (psf->type == DB_PSF_GAUSS
                               ? noise_psf_gauss(dx, psf->fwhm) * noise_psf_gauss(dy, psf->fwhm)
                               : noise_psf_fiber_corner(dx + 0.5, dy + 0.5, g) -
                                     noise_psf_fiber_corner(dx - 0.5, dy + 0.5, g) -
                                     noise_psf_fiber_corner(dx + 0.5, dy - 0.5, g) +
                                     noise_psf_fiber_corner(dx - 0.5, dy - 0.5, g));
        }
}

static void images_of_all_shapes_agree_with_the_plain_sum(void **state) {
    (void)state;
    static const int shape[][3] = { { 1, 1, 1 },   { 1, 37, 5 },  { 29, 2, 28 }, { 31, 23, 3 },
                                    { 24, 36, 0 }, { 40, 25, 7 }, { 33, 34, 33 } };
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        for (int type = DB_PSF_GAUSS; type <= DB_PSF_FIBER; type++) {
            const int fast = shape[i][0], slow = shape[i][1];
            const noise_psf psf =
                noise_psf_of((db_psf_type)type, 2.3, shape[i][2], 1000, fast > slow ? fast : slow);
            double *image = random_image(fast, slow, (unsigned)i),
                   *wanted = malloc((size_t)(fast * slow) * sizeof *wanted);
            assert_non_null(wanted);
            plain_spread(&psf, fast, slow, image, wanted);
            assert_int_equal(noise_psf_apply(context, 2, &psf, fast, slow, image), DB_OK);
            for (int p = 0; p < fast * slow; p++) assert_true(fabs(image[p] - wanted[p]) < 1e-9);
            free(image);
            free(wanted);
        }
}

static void threads_do_not_change_a_bit(void **state) {
    (void)state;
    enum { FAST = 130, SLOW = 77, COUNT = FAST * SLOW };
    for (int type = DB_PSF_GAUSS; type <= DB_PSF_FIBER; type++) {
        const noise_psf psf = noise_psf_of((db_psf_type)type, 1.5, 0, 1000, FAST);
        double *one = random_image(FAST, SLOW, 3);
        assert_int_equal(noise_psf_apply(context, 1, &psf, FAST, SLOW, one), DB_OK);
        for (int threads = 2; threads <= 4; threads++) {
            double *many = random_image(FAST, SLOW, 3);
            assert_int_equal(noise_psf_apply(context, threads, &psf, FAST, SLOW, many), DB_OK);
            assert_memory_equal(one, many, COUNT * sizeof *one);
            free(many);
        }
        free(one);
    }
}

static void chosen_radius_is_the_smallest_sufficient_one(void **state) {
    (void)state;
    for (int type = DB_PSF_GAUSS; type <= DB_PSF_FIBER; type++)
        for (double most = 10; most < 1e7; most *= 20) {
            const noise_psf psf = noise_psf_of((db_psf_type)type, 1.2, 0, most, 1 << 20);
            assert_true(psf.lost * most <= 0.1 * sqrt(most));
            const double closer = type == DB_PSF_GAUSS ? noise_psf_gauss_lost(psf.radius - 1, 1.2)
                                                       : noise_psf_fiber_lost(psf.radius - 1, 1.2);
            assert_true(psf.radius > 0 && closer * most > 0.1 * sqrt(most));
        }
    assert_int_equal(noise_psf_of(DB_PSF_FIBER, 1, 0, 1e8, 300).radius, 299);
    assert_int_equal(noise_psf_of(DB_PSF_GAUSS, 1, 500, 1, 300).radius, 299);
}

static void transforms_are_sums_of_waves(void **state) {
    (void)state;
    static const int length[] = { 1, 2, 3, 4, 5, 6, 8, 9, 15, 16, 25, 48, 60, 125, 128, 360 };
    for (size_t i = 0; i < sizeof length / sizeof *length; i++) {
        const int n = length[i];
        noise_fourier f;
        noise_complex data[360], copy[360], scratch[360];
        assert_int_equal(noise_fourier_length(n), n);
        assert_int_equal(noise_fourier_init(context, n, &f), DB_OK);
        for (int j = 0; j < n; j++)
            copy[j] = data[j] = (noise_complex){ sin(j * j + 1), cos(3 * j * j) };
        noise_fourier_transform(&f, data, scratch);
        for (int k = 0; k < n; k++) {
            double re = 0, im = 0;
            for (int j = 0; j < n; j++) {
                const double angle = -2 * pi * (j * k % n) / n;
                re += copy[j].re * cos(angle) - copy[j].im * sin(angle);
                im += copy[j].re * sin(angle) + copy[j].im * cos(angle);
            }
            assert_true(hypot(re - data[k].re, im - data[k].im) < 1e-12 * n);
        }
        noise_fourier_clear(&f);
    }
    assert_int_equal(noise_fourier_length(7), 8);
    assert_int_equal(noise_fourier_length(4927), 5000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(impulse_becomes_the_density_integrated_over_pixels),
        cmocka_unit_test(lost_fraction_lies_between_those_of_two_circles),
        cmocka_unit_test(width_is_the_full_width_at_half_maximum),
        cmocka_unit_test(images_of_all_shapes_agree_with_the_plain_sum),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(chosen_radius_is_the_smallest_sufficient_one),
        cmocka_unit_test(transforms_are_sums_of_waves),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
