/* Sub-pixels of spots in closed form: the error of a sum over a grid is that of the sum itself, and as many sub-pixels are
 * chosen as an error asks for. */
#include "support/context.h"

#include "engine/spot_oversample.h"

#include <dualbragg/dualbragg.h>
#include <dualbragg/expert/spot_places.h>

#include <math.h>

static db_spot spot_of(double fast, double slow, double both) {
    return (db_spot){ .covariance = { fast, slow, both } };
}

/* The sum of a Gaussian over sub-pixels, one of which has its middle, less its integral. Variances have the even one of a
 * pixel in them, of which that of a sub-pixel stays. */
static double naive_error(const db_spot *spot, int n) {
    const double even = 1.0 / 12, square = n * n, *const v = spot->covariance,
                 xx = square * (v[0] - even) + even, yy = square * (v[1] - even) + even,
                 xy = square * v[2], determinant = xx * yy - xy * xy;
    double sum = 0;
    for (int x = -60; x <= 60; x++)
        for (int y = -60; y <= 60; y++)
            sum += exp(-0.5 * (yy * x * x - 2 * xy * x * y + xx * y * y) / determinant);
    return sum / (6.283185307179586477 * sqrt(determinant)) - 1;
}

static double error_of(db_spot *spot, size_t count, int n) {
    const db_predicted_spots list = { .spot = spot, .count = count };
    double error = NAN;
    assert_int_equal(db_spots_error_of_sums(context, &list, n, &error), DB_OK);
    return error;
}

static void errors_are_those_of_sums(void **state) {
    (void)state;
    db_spot spots[] = { spot_of(0.4, 0.3, 0.1),    spot_of(0.25, 0.5, -0.12),
                        spot_of(0.2, 0.2, 0),      spot_of(0.6, 0.35, -0.2),
                        spot_of(0.45, 0.45, 0.33), spot_of(0.45, 0.45, -0.33) };
    for (int i = 0; i < 6; i++)
        for (int n = 1; n < 3; n++) {
            const double expected = naive_error(&spots[i], n), found = error_of(&spots[i], 1, n);
            if (!(fabs(found - expected) <= 0.02 * expected + 1e-12))
                fail_msg("spot %d, %d sub-pixels: %g, by the sum %g", i, n, found, expected);
        }
    assert_true(error_of(spots, 0, 1) == 0);
}

/* A tenth of the spots may be worse. */
static void few_spots_may_be_worse(void **state) {
    (void)state;
    db_spot spots[20];
    for (int i = 0; i < 20; i++) {
        const double v = 0.2 + 0.01 * (i * 7 % 20); /* in any order */
        spots[i] = spot_of(v, v, 0);
    }
    db_spot third = spot_of(0.22, 0.22, 0);
    assert_true(fabs(error_of(spots, 20, 1) / error_of(&third, 1, 1) - 1) < 1e-12);
    const db_predicted_spots list = { .spot = spots, .count = 20 };
    for (double error = 1e-1; error > 1e-9; error *= 0.1) {
        int found = 0, least = 1;
        assert_int_equal(db_spots_oversample_for_sums(context, &list, error, 7, &found), DB_OK);
        while (least < 7 && error_of(spots, 20, least) > error) least++;
        assert_int_equal(found, least);
    }
}

/* Parts of a pixel whose fourth cumulant makes no larger error at nine of ten spots, by their short axes. */
static void narrow_spots_have_more_parts(void **state) {
    (void)state;
    db_spot spots[30];
    for (int scale = 1; scale < 6; scale++) {
        const double narrow = 0.15 * scale;
        for (int i = 0; i < 30;
             i++) { /* ellipses of any direction; the fourth is the one that counts */
            const double own = narrow * (0.7 + 0.1 * (i * 11 % 30)), wide = 3 * own,
                         angle = 0.4 * i, c = cos(angle), s = sin(angle), a = own * own,
                         b = wide * wide;
            spots[i] = spot_of(c * c * a + s * s * b, s * s * a + c * c * b, c * s * (a - b));
        }
        const db_predicted_spots list = { .spot = spots, .count = 30 };
        for (double error = 1e-1; error > 1e-6; error *= 0.3) {
            int found = 0, least = 1;
            double width = 0;
            assert_int_equal(db_spots_oversample(context, &list, error, &found, &width), DB_OK);
            assert_true(fabs(width / narrow - 1) < 1e-9);
            while (least < 4 && pow(least * narrow, -4) / 960 > error) least++;
            assert_int_equal(found, least);
        }
        int none = 0;
        double width = 0;
        assert_int_equal(db_spots_oversample(context, &list, 0, &none, &width), DB_ERROR_USAGE);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_those_of_sums),
        cmocka_unit_test(few_spots_may_be_worse),
        cmocka_unit_test(narrow_spots_have_more_parts),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
