/* Several crystals on one image, found and refined together: each orientation comes back, and
 * where spots overlap each crystal gets its share of the light. */

#include "support/unit_test.h"
#include "fit/config/orientation.h"
#include "fit/objective/model_image.h"
#include "fit/pixels/predict.h"
#include "fit/rendered_image.h"

#include <dualbragg/fit_shots.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIXELS = 500, MOST = 5 };
static db_context *context;

/* An image of several crystals, and what is found on it. */
typedef struct scene {
    db_experiment e; /* all but the crystal */
    db_crystal truth[MOST];
    size_t count;
    db_measured_image image;
    db_fit_settings settings;
    db_fit_lattice lattices[DB_FIT_MOST_LATTICES];
    size_t found;
} scene;

static db_status copy_image(db_context *own, const db_measured_image *from, db_measured_image *to) {
    const size_t pixels = (size_t)from->fast_pixels * (size_t)from->slow_pixels;
    *to = *from;
    to->value = malloc(pixels * sizeof *to->value);
    to->mask = malloc(pixels);
    if (!to->value || !to->mask) return DB_ERROR_MEMORY;
    memcpy(to->value, from->value, pixels * sizeof *to->value);
    memcpy(to->mask, from->mask, pixels);
    (void)own;
    return DB_OK;
}

static db_status load(void *user, db_context *own, size_t shot, db_measured_image *image,
                      db_experiment *start, db_fit_settings *settings) {
    const scene *const s = user;
    db_status status = copy_image(own, &s->image, image);
    if (status != DB_OK || !start) return status;
    settings->gain = 1;
    status = db_experiment_copy(own, &s->e, start);
    if (status != DB_OK) return status;
    db_crystal *const c = &start->crystal;
    memcpy(c->orientation, s->lattices[shot].orientation, sizeof c->orientation);
    memset(c->misset, 0, sizeof c->misset);
    for (int i = 0; i < 3; i++) c->cell[i] *= 1.001;
    for (int i = 0; i < 3; i++) c->Ncells[i] *= 1.2;
    return DB_OK;
}

static const char *name(void *user, size_t shot) {
    static const char *const names[] = { "a", "b", "c", "d", "e" };
    (void)user;
    return names[shot];
}

static size_t same_image(void *user, size_t shot) {
    (void)user;
    (void)shot;
    return 0;
}

static void make_scene(size_t count, unsigned long seed, double peak, scene *s) {
    memset(s, 0, sizeof *s);
    s->count = count;
    assert_int_equal(rendered_experiment(context, PIXELS, peak, &s->e), DB_OK);
    db_orientation_fold(&s->e.crystal);
    random_crystals(&s->e.crystal, seed, count, s->truth);
    assert_int_equal(rendered_lattices(context, &s->e, s->truth, count, seed, &s->image), DB_OK);
    db_fit_settings_init(&s->settings);
    s->settings.model_error = 0;
    s->settings.target = DB_FIT_POISSON;
    static const db_parameter locals[] = { DB_MISSET_X, DB_MISSET_Y, DB_MISSET_Z, DB_CELLS_A,
                                           DB_CELLS_C };
    for (int i = 0; i < 5; i++) refine_parameter(&s->settings, locals[i], -1);
    refine_parameter(&s->settings, DB_CELLS_B, DB_CELLS_A);
    static const db_parameter shared[] = { DB_CELL_A, DB_CELL_C, DB_BEAM_FAST, DB_BEAM_SLOW };
    for (int i = 0; i < 4; i++) {
        refine_parameter(&s->settings, shared[i], -1);
        s->settings.parameters[s->settings.parameter_count - 1].shared = 1;
    }
    refine_parameter(&s->settings, DB_CELL_B, DB_CELL_A);
    s->settings.parameters[s->settings.parameter_count - 1].shared = 1;
    assert_int_equal(db_fit_find_lattices(context, &s->image, &s->settings, &s->e, count,
                                          s->lattices, &s->found),
                     DB_OK);
    assert_int_equal(s->found, count);
}

static void clear_scene(scene *s) {
    db_measured_image_clear(&s->image);
    db_fit_settings_clear(&s->settings);
    db_experiment_clear(&s->e);
}

/* The true crystal that is nearest to a refined one. */
static size_t nearest(const scene *s, const db_crystal *refined, double *off) {
    size_t which = 0;
    *off = INFINITY;
    for (size_t c = 0; c < s->count; c++) {
        const double angle = tetragonal_misorientation(&s->truth[c], refined);
        if (angle < *off) which = c;
        *off = fmin(*off, angle);
    }
    return which;
}

/* Light in the pixels of the image that count. */
static double sum_around(const scene *s, const float *image, const double position[2]) {
    enum { REACH = 3 };
    const int fast = (int)position[0], slow = (int)position[1];
    double sum = 0;
    if (fast < REACH || slow < REACH || fast >= PIXELS - REACH || slow >= PIXELS - REACH) return 0;
    for (int y = slow - REACH; y <= slow + REACH; y++)
        for (int x = fast - REACH; x <= fast + REACH; x++)
            if (s->image.mask[y * PIXELS + x] == DB_MASK_TRUSTED)
                sum += (double)image[y * PIXELS + x];
    return sum;
}

/* Light of spots, true and as it was found. */
typedef struct shares {
    size_t spots;
    double found, truth, others;
} shares;

/* Adds the bright spots of a crystal on which others shine: at least half as much as its own. */
static void add_shares(const scene *s, const db_crystal *crystal, float *const *truth, size_t which,
                       const float *found, shares *sum) {
    const db_prediction_range range = { s->settings.dmin, 0, s->settings.excitation_angle, 0 };
    db_experiment one = s->e; /* borrows */
    db_predicted_spots prediction;
    one.crystal = *crystal;
    assert_int_equal(db_predict(context, &one, &range, &prediction), DB_OK);
    for (size_t i = 0; i < prediction.count; i++) {
        const double *const at = prediction.spot[i].position;
        const double own = sum_around(s, truth[which], at);
        double others = 0;
        for (size_t c = 0; c < s->count; c++)
            if (c != which) others += sum_around(s, truth[c], at);
        if (!(own > 100) || !(others > 0.5 * own) || others > 2 * own) continue;
        sum->spots++;
        sum->truth += own;
        sum->others += others;
        sum->found += sum_around(s, found, at);
    }
    db_predicted_spots_clear(&prediction);
}

/* What each refined crystal shines, against what each true one does. */
static shares compare_light(const scene *s, const db_fit_shots_result *r) {
    float *truth[MOST], *light[MOST];
    db_experiment refined[MOST];
    db_strong_pixels strong;
    db_fit_settings settings = s->settings; /* borrows */
    shares sum = { 0 };
    settings.gain = 1;
    settings.shoebox_half_width = 5;
    for (size_t c = 0; c < s->count; c++) {
        truth[c] = calloc((size_t)PIXELS * PIXELS, sizeof(float));
        light[c] = calloc((size_t)PIXELS * PIXELS, sizeof(float));
        assert_true(truth[c] && light[c]);
        assert_int_equal(rendered_light(context, &s->e, &s->truth[c], truth[c]), DB_OK);
        refined[c] = r->shot[c].experiment; /* borrows */
    }
    assert_int_equal(db_strong_pixels_find(context, &s->image, &settings, &strong), DB_OK);
    const db_fit_data data = { &s->image, &strong, &settings };
    assert_int_equal(db_lattice_light(context, refined, s->count, &data, light), DB_OK);
    for (size_t c = 0; c < s->count; c++) {
        double off;
        const size_t which = nearest(s, &refined[c].crystal, &off);
        add_shares(s, &refined[c].crystal, truth, which, light[c], &sum);
    }
    db_strong_pixels_clear(&strong);
    for (size_t c = 0; c < s->count; c++) {
        free(truth[c]);
        free(light[c]);
    }
    return sum;
}

static db_fit_shots_result *refine(scene *s, size_t (*image)(void *user, size_t shot)) {
    const db_fit_shot_source source = {
        .count = s->found, .user = s, .load = load, .name = name, .image = image
    };
    db_fit_shots_result *r = NULL;
    (void)db_fit_run(context, &source, &s->settings, NULL, &r);
    if (!r) fail_msg("%s", db_context_message(context));
    return r;
}

static double worst_off(const scene *s, const db_fit_shots_result *r) {
    double worst = 0;
    for (size_t l = 0; l < r->shot_count; l++) {
        double off;
        if (!r->shot[l].used) fail_msg("excluded: %s", r->shot[l].reason);
        (void)nearest(s, &r->shot[l].experiment.crystal, &off);
        worst = fmax(worst, off);
    }
    return worst;
}

static void check_cell(const db_fit_shots_result *r, const double *cell) {
    for (size_t i = 0; i < r->estimates.count; i++) {
        const int edge = r->estimates.list[i].parameter == DB_CELL_A   ? 0
                         : r->estimates.list[i].parameter == DB_CELL_C ? 2
                                                                       : -1;
        if (edge >= 0 && !(fabs(r->estimates.list[i].value / cell[edge] - 1) < 1e-4))
            fail_msg("%s: %g, expected %g", r->estimates.list[i].name, r->estimates.list[i].value,
                     cell[edge]);
    }
}

static void several(size_t count) {
    static scene s;
    make_scene(count, count, 1000, &s);
    db_fit_shots_result *r = refine(&s, same_image);
    const double worst = worst_off(&s, r);
    const shares light = compare_light(&s, r);
    print_message(
        "%zu lattices: %.4f degree off at most, chi2 %.3f -> %.3f; %zu spots on which others "
        "shine %.2f times as much: %.4f of their light; %.1f s\n",
        count, worst, r->chi2_reduced[0], r->chi2_reduced[1], light.spots,
        light.others / light.truth, light.found / light.truth, r->seconds);
    assert_int_equal(r->status, DB_OK);
    assert_true(worst < 0.02);
    check_cell(r, s.e.crystal.cell);
    assert_true(light.spots > 20);
    assert_true(fabs(light.found / light.truth - 1) < 0.02);
    db_fit_shots_result_destroy(&r);
    clear_scene(&s);
}

static void two_crystals_are_refined_together(void **state) {
    (void)state;
    several(2);
}

static void five_crystals_are_refined_together(void **state) {
    (void)state;
    several(5);
}

static int make(void **state) {
    (void)state;
    return db_context_create(&context) == DB_OK ? 0 : -1;
}

static int drop(void **state) {
    (void)state;
    db_context_destroy(&context);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_crystals_are_refined_together),
        cmocka_unit_test(five_crystals_are_refined_together),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
