/* Folding the misset into the orientation and taking it out again. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "fit/misset.h"
#include "fit/rendered_image.h"

#include <math.h>
#include <string.h>

static db_crystal crystal_at(double x, double y, double z) {
    return (db_crystal){ .cell = { 58.4, 61, 152.2, 90, 97, 90 },
                         .orientation = { 0, 0, 1, 1, 0, 0, 0, 1, 0 },
                         .misset = { x, y, z },
                         .cells = { 10, 10, 10 } };
}

static void folding_leaves_the_crystal(void **state) {
    (void)state;
    static const double angles[][3] = { { 0, 0, 0 },      { 27, -41, 13 },  { 170, 80, -120 },
                                        { 10, 90, 20 },   { -30, -90, 70 }, { 0.01, 89.9999, 0 },
                                        { 1e-5, 0, 2e-5 } };
    for (size_t i = 0; i < sizeof angles / sizeof angles[0]; i++) {
        const db_crystal crystal = crystal_at(angles[i][0], angles[i][1], angles[i][2]);
        db_crystal folded = crystal, back;
        db_misset_fold(&folded);
        for (int k = 0; k < 3; k++) assert_true(folded.misset[k] == 0);
        assert_true(misorientation(&crystal, &folded) < 1e-9);
        back = crystal;
        db_misset_from(crystal.orientation, &folded, back.misset);
        if (!(misorientation(&crystal, &back) < 1e-6))
            fail_msg("angles %zu come back as %g %g %g", i, back.misset[0], back.misset[1],
                     back.misset[2]);
    }
}

/* Small missets on top of a folded one are turns about the laboratory's axes: three of one degree
 * about the same axis add up, wherever the crystal is. */
static void turns_about_a_laboratory_axis_add_up(void **state) {
    (void)state;
    for (int axis = 0; axis < 3; axis++) {
        db_crystal step = crystal_at(30, 89, -50), whole;
        db_misset_fold(&step);
        whole = step;
        for (int i = 0; i < 3; i++) {
            step.misset[axis] = 1;
            db_misset_fold(&step);
        }
        whole.misset[axis] = 3;
        assert_true(misorientation(&step, &whole) < 1e-9);
    }
}

static void degenerate_angles_are_known(void **state) {
    (void)state;
    const db_crystal near = crystal_at(10, 88, 0), far = crystal_at(10, 60, 0);
    assert_true(db_misset_degenerate(&near));
    assert_false(db_misset_degenerate(&far));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folding_leaves_the_crystal),
        cmocka_unit_test(turns_about_a_laboratory_axis_add_up),
        cmocka_unit_test(degenerate_angles_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
