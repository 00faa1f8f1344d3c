/* The curvature of a pixel's loss is half its expected second derivative: exactly, for counts that
 * scatter as the target says, also where few photons are expected and the variance's own slope
 * counts most. */

#include "support/unit_test.h"
#include "fit/objective/loss.h"
#include "loss/pixel_loss.h"

static db_loss gaussian(double gain, double readout) {
    db_fit_settings settings;
    db_fit_settings_init(&settings);
    settings.gain = gain;
    settings.readout_noise = readout;
    return db_loss_make(&settings, DB_FIT_GAUSSIAN);
}

/* Half the second derivative at counts y, from slopes. */
static double bend(const db_loss *loss, double y, double m) {
    const double h = 1e-4 * m;
    return (db_pixel_loss(loss, y, 1, 0, m + h).slope - db_pixel_loss(loss, y, 1, 0, m - h).slope) /
           (4 * h);
}

static void curvature_is_the_expected_bend(void **state) {
    (void)state;
    static const double expected[] = { 2.6, 3, 7, 40, 900 }; /* counts; more than a photon */
    for (int noise = 0; noise < 2; noise++)
        for (int i = 0; i < 5; i++) {
            const db_loss loss = gaussian(noise ? 2.5 : 1, noise ? 1.3 : 0);
            const double m = expected[i];
            const db_pixel_cost cost = db_pixel_loss(&loss, m, 1, 0, m);
            /* Gauss and Hermite: exact for the parabola in y that the bend is */
            const double far = sqrt(3 * cost.variance);
            const double mean = bend(&loss, m - far, m) / 6 + bend(&loss, m, m) * 2 / 3 +
                                bend(&loss, m + far, m) / 6;
            if (!(fabs(cost.curvature - mean) <= 1e-6 * mean))
                fail_msg("%g counts expected: curvature %g, expected bend %g", m, cost.curvature,
                         mean);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(curvature_is_the_expected_bend) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
