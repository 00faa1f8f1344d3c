/* Joint intensities that are compared with a reference, or held to it. */

#include "support/unit_test.h"
#include "fit/intensities/restraint.h"
#include "fit/intensities/outputs.h"
#include "fit/stills.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A reference that is only compared changes nothing; one that holds fast gives its intensities, on
 * the scale of the data, to those that shots show and to no others; halves do without it. */
static void a_reference_holds_what_shots_show(void **state) {
    (void)state;
    const db_fit_joint joint = stills.settings.joint;
    db_structure_factors factors = stills_known_amplitudes(7, 5);
    db_fit_shots_result *r[3];
    stills.settings.joint.passes = 3;
    for (int k = 0; k < 3; k++) {
        stills.settings.joint.reference = k ? &factors : NULL;
        stills.settings.joint.reference_restraint = k == 2 ? 0.002 : (double)NAN;
        r[k] = stills_run(FEW_STILLS);
        assert_non_null(r[k]->intensities);
    }
    stills.settings.joint = joint;
    /* reflections that no shot shows have no part in the target */
    const double target = r[0]->history[r[0]->history_count - 1].target,
                 with_restraint = r[2]->history[r[2]->history_count - 1].target;
    print_message("target %.3f per degree of freedom, held %.3f\n", target, with_restraint);
    assert_true(fabs(with_restraint - target) < 0.5 * target);
    const db_merged *const plain = &r[0]->intensities->merged;
    const db_merged *const compared = &r[1]->intensities->merged;
    const db_merged *const held = &r[2]->intensities->merged;
    db_merge_statistics statistics[3];
    for (int k = 0; k < 3; k++) db_intensity_statistics(r[k], &statistics[k]);
    assert_int_equal(statistics[0].overall.reference_count, 0);
    print_message("beside the reference: R %.3f, held %.4f, CC of differences %.3f, %.3f; B %.2f; "
                  "CC1/2 %.3f, %.3f\n",
                  statistics[1].overall.r_reference, statistics[2].overall.r_reference,
                  statistics[1].overall.cc_anomalous_reference,
                  statistics[2].overall.cc_anomalous_reference, statistics[1].reference.b,
                  statistics[1].overall.cc_half, statistics[2].overall.cc_half);
    assert_true(statistics[1].overall.cc_reference > 0.95);
    assert_true(statistics[1].overall.r_reference > 0.01);
    assert_true(fabs(statistics[1].reference.b + 5) < 1.5);
    assert_true(statistics[2].overall.r_reference < 0.02 * statistics[1].overall.r_reference);
    assert_true(statistics[2].overall.cc_anomalous_reference > 0.99);
    /* no agreement of the halves that the reference brought */
    assert_true(statistics[2].overall.cc_half < statistics[1].overall.cc_half + 0.01);
    /* the models differ a little, and with them which reflections they hardly show */
    size_t held_ones = 0, open_ones = 0, wider = 0, at_limit = 0;
    for (uint32_t h = 0; h < stills.list.count; h++) {
        const int is_known = db_asu_pair(&stills.list, h) % 7 != 0;
        assert_int_equal(plain->multiplicity[h], compared->multiplicity[h]);
        assert_int_equal(held->multiplicity[h] == 0, isnan(held->intensity[h]));
        held_ones += is_known && held->multiplicity[h];
        at_limit += (plain->multiplicity[h] == 0) != (held->multiplicity[h] == 0);
        if (!plain->multiplicity[h] || !held->multiplicity[h]) continue;
        assert_true(plain->intensity[h] == compared->intensity[h]);
        assert_true(plain->sigma[h] == compared->sigma[h]);
        wider += is_known && held->sigma[h] >= plain->sigma[h]; /* the data contradict it */
        open_ones += (size_t)!is_known;
    }
    assert_int_equal(statistics[2].overall.reference_count, held_ones);
    assert_true(held_ones > 300 && open_ones > 30 && 100 * wider < held_ones);
    print_message("%zu of %zu reflections are hardly shown by one model\n", at_limit, held_ones);
    assert_true(20 * at_limit < held_ones);
    for (int k = 0; k < 3; k++) db_fit_shots_result_destroy(&r[k]);
    free(factors.amplitude);
}

/* Intensities are held to those of another crystal: it is said. Held to those of their own, the refinement
 * ends. */
static void a_reference_of_another_crystal_is_told(void **state) {
    (void)state;
    const db_fit_joint joint = stills.settings.joint;
    char line[DB_REFERENCE_LINE];
    for (int wrong = 0; wrong < 2; wrong++) {
        stills.other_crystal = wrong ? 10 : 0;
        db_structure_factors factors = stills_known_amplitudes(7, 5);
        stills.other_crystal = 0;
        stills.settings.joint.reference = &factors;
        stills.settings.joint.reference_restraint = 0.3;
        db_fit_shots_result *r = stills_run(FEW_STILLS);
        stills.settings.joint = joint;
        assert_non_null(r->intensities);
        db_intensity_reference_line(r, line);
        print_message("correlation of a %s reference %.3f, error %.3f, %d passes: %s; %s\n",
                      wrong ? "wrong" : "right", r->intensities->agreement.correlation,
                      r->intensities->agreement.error, r->intensities->passes, r->reason, line);
        assert_int_equal(*line != '\0', wrong);
        if (wrong) assert_non_null(strstr(line, "another crystal"));
        assert_true(wrong || r->status == DB_OK);
        db_fit_shots_result_destroy(&r);
        free(factors.amplitude);
    }
}

static void a_reference_without_reflections_is_refused(void **state) {
    (void)state;
    double one = 5;
    db_structure_factors factors = {
        .min = { 90, 0, 0 }, .extent = { 1, 1, 1 }, .amplitude = &one, .default_F = (double)NAN
    };
    const db_fit_joint joint = stills.settings.joint;
    const db_fit_shot_source source = { .count = FEW_STILLS,
                                        .load = still_load,
                                        .name = still_name };
    db_fit_shots_result *result = NULL;
    stills.settings.joint.reference = &factors;
    assert_int_equal(db_fit_run(stills.context, &source, &stills.settings, NULL, &result),
                     DB_ERROR_INPUT);
    stills.settings.joint = joint;
    assert_null(result);
    assert_non_null(strstr(db_context_message(stills.context), "intensities.reference"));
}

/* In hexagonal axes of R; amplitudes of indices that both kinds of lattices have are in either list. */
static void a_reference_with_reverse_indices_is_refused(void **state) {
    (void)state;
    enum { MOST = 6, SIDE = 2 * MOST + 1 };
    static const double cell[6] = { 60, 60, 50, 90, 90, 120 };
    static double amplitude[SIDE * SIDE * SIDE];
    const db_structure_factors factors = { .min = { -MOST, -MOST, -MOST },
                                           .extent = { SIDE, SIDE, SIDE },
                                           .amplitude = amplitude,
                                           .default_F = (double)NAN };
    db_asu_list list;
    assert_int_equal(db_asu_list_make(stills.context, cell, "R 3", 8, 0, &list), DB_OK);
    for (int reverse = 0; reverse < 2; reverse++) {
        double *intensity;
        for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
            const int h = i / SIDE / SIDE - MOST, k = i / SIDE % SIDE - MOST, l = i % SIDE - MOST;
            amplitude[i] = ((reverse ? h - k : k - h) + l) % 3 == 0 ? 5 : (double)NAN;
        }
        assert_int_equal(db_intensity_reference_make(stills.context, &list, &factors, &intensity),
                         reverse ? DB_ERROR_INPUT : DB_OK);
        free(intensity);
    }
    assert_non_null(
        strstr(db_context_message(stills.context),
               "intensities.reference: of 733 amplitudes 733 have reverse indices of R"));
    db_asu_list_clear(&list);
}

/* Relative to the truth, by the factor that fits best; of reflections that are known and well measured. */
static double off_by(const db_merged *measured, const double *intensity) {
    double top = 0, bottom = 0, off = 0;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t h = 0; h < stills.list.count; h++) {
            const double I = pow(still_amplitude(h), 2);
            if (!(measured->intensity[h] > 6 * measured->sigma[h]) || isnan(intensity[h])) continue;
            if (pass == 0) top += intensity[h];
            if (pass == 0) bottom += I;
            if (pass == 1) off += fabs(intensity[h] * bottom / top - I);
        }
    return off / bottom;
}

/* Structure factors that are known to 20 percent, refined from one image: it knows the strong ones better. */
static void one_image_refines_known_structure_factors(void **state) {
    (void)state;
    const db_fit_joint joint = stills.settings.joint;
    db_structure_factors factors = stills_known_amplitudes(7, 0);
    size_t count = 1;
    for (int i = 0; i < 3; i++) count *= (size_t)factors.extent[i];
    for (size_t i = 0; i < count; i++) factors.amplitude[i] *= 1 + 0.7 * (still_drawn(i, 3) - 0.5);
    stills.settings.joint.reference = &factors;
    stills.settings.joint.reference_restraint = 1;
    db_fit_shots_result *r = stills_run(1);
    stills.settings.joint = joint;
    const db_joint_intensities *const a = r->intensities;
    const double given = off_by(&a->merged, a->reference),
                 found = off_by(&a->merged, a->merged.intensity);
    print_message("strong reflections of one image: off by %.3f, given %.3f; %s\n", found, given,
                  r->reason);
    assert_int_equal(r->status, DB_OK);
    assert_true(given > 0.05 && found < 0.6 * given);
    db_fit_shots_result_destroy(&r);
    free(factors.amplitude);
}

/* If all intensities are multiplied by a factor, restraints that follow them say the same. */
static void restraints_follow_a_factor(void **state) {
    (void)state;
    enum { COUNT = 4 };
    const double factor = 0.3;
    double strength[COUNT] = { 0.5, 2, 0, 1 }, centre[COUNT] = { 3, 1, 0, 7 }, pull[COUNT],
           intensity[COUNT] = { 2, 4, 9, -1 };
    db_intensity_restraint r = {
        .scale = { .k = 2 }, .strength = strength, .centre = centre, .pull = pull
    };
    for (int h = 0; h < COUNT; h++) pull[h] = strength[h] * (intensity[h] - centre[h]);
    const double before = db_intensity_restraint_loss(&r, intensity, COUNT);
    db_intensity_restraint_scale(&r, COUNT, factor);
    for (int h = 0; h < COUNT; h++) intensity[h] *= factor;
    assert_true(before > 10);
    assert_true(fabs(db_intensity_restraint_loss(&r, intensity, COUNT) - before) < 1e-9 * before);
    for (int h = 0; h < COUNT; h++)
        assert_true(fabs(pull[h] - strength[h] * (intensity[h] - centre[h])) < 1e-9);
    assert_true(fabs(r.scale.k - 0.6) < 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(restraints_follow_a_factor),
        cmocka_unit_test(a_reference_holds_what_shots_show),
        cmocka_unit_test(a_reference_of_another_crystal_is_told),
        cmocka_unit_test(one_image_refines_known_structure_factors),
        cmocka_unit_test(a_reference_without_reflections_is_refused),
        cmocka_unit_test(a_reference_with_reverse_indices_is_refused),
    };
    return cmocka_run_group_tests(tests, stills_set_up, stills_tear_down);
}
