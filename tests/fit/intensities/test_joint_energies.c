/* Joint intensities of reflections whose photons have chosen energies, as beside an absorption edge. */

#include "support/unit_test.h"
#include "fit/rendered_image.h"
#include "fit/stills.h"

#include <dualbragg/expert/beam_sources.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 2, SHOTS = 12 };

/* The beam has two lines. The crystal scatters them with amplitudes of their own. */
static const double WAVELENGTH[LINES] = { 1, 1.1 }, WEIGHT[LINES] = { 1, 1 };
static const double EV = 12398.42; /* times angstrom */
static const int AMPLITUDES[LINES] = { 0, 10 };
static int single; /* 1: each shot has the photons of one line, the even ones of the first */

/* The crystal's image by one line. */
static db_status render_line(db_context *own, const db_experiment *from, int line, size_t shot,
                             db_measured_image *image) {
    db_experiment e;
    db_status status = db_experiment_copy(own, from, &e);
    e.beam.wavelength = WAVELENGTH[line];
#pragma omp critical(amplitudes)
    {
        stills.other_crystal = AMPLITUDES[line];
        if (status == DB_OK) status = stills_fill_amplitudes(&e, stills.brightness, 1);
        stills.other_crystal = 0;
    }
    if (status == DB_OK)
        status = rendered_image(own, &e, 1000 + LINES * shot + (size_t)line, image);
    db_experiment_clear(&e);
    return status;
}

/* The sum of two images with photon noise has photon noise. */
static db_status add_line(db_context *own, const db_experiment *e, int line, size_t shot,
                          db_measured_image *image) {
    db_measured_image other = { 0 };
    const db_status status = render_line(own, e, line, shot, &other);
    for (size_t i = 0; i < STILL_PIXELS * STILL_PIXELS && status == DB_OK; i++)
        if (!image->mask[i]) image->value[i] += other.value[i];
    db_measured_image_clear(&other);
    return status;
}

/* A db_fit_shot_source. */
static db_status load(void *user, db_context *own, size_t shot, db_measured_image *image,
                      db_experiment *start, db_fit_settings *s) {
    (void)user;
    db_experiment e;
    const int first = single ? (int)(shot % LINES) : 0;
    db_status status = db_experiment_copy(own, &stills.truth, &e);
    if (status != DB_OK) return status;
    still_place(shot, &e);
    status = render_line(own, &e, first, shot, image);
    if (status == DB_OK && !single) status = add_line(own, &e, 1, shot, image);
    e.beam.wavelength = WAVELENGTH[first];
    if (status == DB_OK && !single)
        status = db_beam_set_spectrum(own, &e.beam, WAVELENGTH, WEIGHT, LINES, 0);
    if (!start || status != DB_OK) {
        db_experiment_clear(&e);
        return status;
    }
    s->gain = 1;
    *start = e;
    return status;
}

static db_fit_shots_result *run(double least, double largest) {
    const db_fit_shot_source source = { .count = SHOTS, .load = load, .name = still_name };
    const db_fit_joint joint = stills.settings.joint;
    db_fit_shots_result *result = NULL;
    stills.settings.joint.energies[0] = least;
    stills.settings.joint.energies[1] = largest;
    if (db_fit_run(stills.context, &source, &stills.settings, NULL, &result) != DB_OK && !result)
        fail_msg("%s", db_context_message(stills.context));
    stills.settings.joint = joint;
    return result;
}

/* R beside the intensities by a line. */
static double off_line(const db_fit_shots_result *r, int line, double *pull) {
    stills.other_crystal = AMPLITUDES[line];
    const double off = stills_off_truth(&r->intensities->merged, pull);
    stills.other_crystal = 0;
    return off;
}

static size_t measurements(const db_fit_shots_result *r) {
    const db_observations *const o = &r->intensities->observations;
    return o->first[o->shots];
}

/* Each line's reflections by themselves give its amplitudes; together they give neither. */
static void a_range_of_energies_tells_the_amplitudes_there(void **state) {
    (void)state;
    double pull, off[LINES];
    single = 0;
    db_fit_shots_result *const all = run(NAN, NAN);
    for (int k = 0; k < LINES; k++) off[k] = off_line(all, k, &pull);
    print_message("all energies: R %.3f, %.3f beside the lines' own; %zu measurements\n", off[0],
                  off[1], measurements(all));
    assert_true(off[0] > 0.3 && off[1] > 0.3);
    size_t count = 0;
    for (int line = 0; line < LINES; line++) {
        const double energy = EV / WAVELENGTH[line];
        db_fit_shots_result *const r = run(energy - 80, energy + 80);
        for (int k = 0; k < LINES; k++) off[k] = off_line(r, k, &pull);
        (void)off_line(r, line, &pull);
        print_message("%.0f eV: R %.3f, %.3f; pulls %.2f; %zu measurements, %zu shots; %s\n",
                      energy, off[0], off[1], pull, measurements(r), r->used, r->reason);
        assert_int_equal(r->used, SHOTS);
        assert_true(off[line] < 0.08 && off[!line] > 0.5);
        count += measurements(r);
        db_fit_shots_result_destroy(&(db_fit_shots_result *){ r });
    }
    assert_true(count > 0 && count <= measurements(all));
    db_fit_shots_result_destroy(&(db_fit_shots_result *){ all });
}

/* Shots without photons in the range are left out, and say why. */
static void shots_of_other_energies_are_named(void **state) {
    (void)state;
    double pull;
    single = 1;
    db_fit_shots_result *const r = run(12300, 12500);
    print_message("%zu of %d shots: R %.3f; %s\n", r->used, SHOTS, off_line(r, 0, &pull),
                  r->shot[1].reason);
    for (size_t s = 0; s < SHOTS; s++) {
        assert_int_equal(r->shot[s].used, s % LINES == 0);
        if (r->shot[s].used) continue;
        assert_non_null(strstr(r->shot[s].reason, "intensities.energies"));
        assert_non_null(strstr(r->shot[s].reason, "12300 to 12500 eV"));
    }
    assert_true(off_line(r, 0, &pull) < 0.08);
    db_fit_shots_result_destroy(&(db_fit_shots_result *){ r });
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_range_of_energies_tells_the_amplitudes_there),
        cmocka_unit_test(shots_of_other_energies_are_named),
    };
    return cmocka_run_group_tests(tests, stills_set_up, stills_tear_down);
}
