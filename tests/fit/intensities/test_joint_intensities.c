/* Intensities that all shots share come back from rendered shots, with errors that are right and
 * halves that agree; what a shot says of them agrees with differences of its loss. */

#include "support/unit_test.h"
#include "fit/intensities/sizes.h"
#include "fit/intensities/joint_intensities.h"
#include "fit/intensities/outputs.h"
#include "fit/objective/evaluate.h"
#include "fit/objective/stage_data.h"
#include "fit/rendered_image.h"
#include "fit/scratch_file.h"
#include "fit/stills.h"
#include "support/failing_allocation.h"

#include <dualbragg/expert/amplitude_files.h>
#include <dualbragg/expert/fit_files.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sums for a correlation. */
typedef struct pairs {
    double n, x, y, xx, yy, xy;
} pairs;

static void add_pair(pairs *p, double x, double y) {
    p->n++;
    p->x += x;
    p->y += y;
    p->xx += x * x;
    p->yy += y * y;
    p->xy += x * y;
}

static double correlation(const pairs *p) {
    return (p->n * p->xy - p->x * p->y) /
           sqrt((p->n * p->xx - p->x * p->x) * (p->n * p->yy - p->y * p->y));
}

/* Files and tables of a result have the reflections that were measured. */
static void check_outputs(const db_fit_shots_result *r, size_t measured) {
    const char *const mtz = scratch_path("joint.mtz"), *const hkl = scratch_path("joint.hkl");
    db_merge_statistics statistics;
    size_t lines = 0;
    assert_int_equal(db_fit_shots_write_hkl(stills.context, hkl, r), DB_OK);
    char *const text = read_whole_file(hkl);
    for (const char *c = text; *c; c++) lines += *c == '\n' && c[1] && c[1] != '#';
    free(text);
    assert_int_equal(lines, measured);
    const db_status status = db_fit_shots_write_mtz(stills.context, mtz, r);
    if (status != DB_ERROR_UNSUPPORTED) {
        db_structure_factors read = { .default_F = -1 };
        assert_int_equal(status, DB_OK);
        assert_int_equal(
            db_fit_shots_write_unmerged(stills.context, scratch_path("unmerged.mtz"), r), DB_OK);
        assert_int_equal(db_read_structure_factors(stills.context, mtz, NULL, &read, NULL, 0),
                         DB_OK);
        assert_true(read.listed > measured / 2);
        free(read.amplitude);
    }
    db_intensity_statistics(r, &statistics);
    assert_true(statistics.overall.cc_half > 0.95);
    assert_true(statistics.overall.measured <= measured &&
                2 * statistics.overall.measured >= measured);
}

/* Scales of the shots, beside their mean, are right within their errors. */
static void check_scales(const db_fit_shots_result *r) {
    double mean = 0, square = 0;
    size_t at = 0;
    while (r->estimates.list[at].parameter != DB_SCALE) at++;
    for (size_t s = 0; s < STILLS; s++)
        mean +=
            (log(r->shot[s].estimates.list[at].value) - 0.6 * (still_drawn(s, 6) - 0.5)) / STILLS;
    for (size_t s = 0; s < STILLS; s++) {
        const db_fit_result *const shot = &r->shot[s];
        const double off =
            log(shot->estimates.list[at].value) - 0.6 * (still_drawn(s, 6) - 0.5) - mean;
        square +=
            pow(off * shot->estimates.list[at].value / shot->estimates.list[at].error, 2) / STILLS;
    }
    print_message("scales: %.3g times their size, pulls %.3f\n", exp(mean), sqrt(square));
    assert_true(sqrt(square) > 0.5 && sqrt(square) < 2);
}

static void intensities_come_back(void **state) {
    (void)state;
    stills.start_scale = 50; /* which the intensities take */
    db_fit_shots_result *r = stills_run(STILLS);
    stills.start_scale = 1;
    const db_joint_intensities *const a = r->intensities;
    assert_int_equal(r->status, DB_OK);
    for (size_t s = 0; s < STILLS; s++)
        if (!r->shot[s].used) print_message("shot %zu: %s\n", s, r->shot[s].reason);
    assert_int_equal(r->used, STILLS);
    assert_non_null(a);
    assert_int_equal(a->merged.count, stills.list.count);
    double top = 0, bottom = 0, pull = 0, off = 0, sum = 0;
    size_t count = 0, missing = 0;
    pairs halves = { 0 };
    for (uint32_t h = 0; h < stills.list.count; h++) {
        const double I = pow(still_amplitude(h), 2), s = a->merged.sigma[h];
        missing += a->merged.multiplicity[h] == 0;
        if (!a->merged.multiplicity[h]) {
            assert_true(isnan(a->merged.intensity[h]) && isnan(s));
            continue;
        }
        top += I * a->merged.intensity[h] / (s * s);
        bottom += I * I / (s * s);
    }
    const double scale = top / bottom;
    for (uint32_t h = 0; h < stills.list.count; h++) {
        if (a->merged.multiplicity[h] < 2) continue;
        const double I = scale * pow(still_amplitude(h), 2);
        const double far = (a->merged.intensity[h] - I) / a->merged.sigma[h];
        pull += far * far;
        off += fabs(a->merged.intensity[h] - I);
        sum += I;
        count++;
        if (a->merged.half_multiplicity[0][h] && a->merged.half_multiplicity[1][h])
            add_pair(&halves, a->merged.half[0][h], a->merged.half[1][h]);
    }
    print_message("%zu intensities, %zu missing: R %.3f, pulls %.3f, CC1/2 %.4f (%g pairs), %d "
                  "passes, chi2 %.3f\n",
                  count, missing, off / sum, sqrt(pull / (double)count), correlation(&halves),
                  halves.n, a->passes, r->chi2_reduced[1]);
    assert_true(count > 500 && missing > 0);
    assert_true(off / sum < 0.08);
    assert_true(sqrt(pull / (double)count) > 0.9 && sqrt(pull / (double)count) < 1.15);
    assert_true(correlation(&halves) > 0.95);
    check_outputs(r, a->merged.count - missing);
    check_scales(r);
    for (size_t s = 0; s < STILLS; s++) { /* shots' own quantities, too */
        db_experiment right;
        assert_int_equal(db_experiment_copy(stills.context, &stills.truth, &right), DB_OK);
        still_place(s, &right);
        assert_true(misorientation(&r->shot[s].experiment.crystal, &right.crystal) < 0.02);
        db_experiment_clear(&right);
    }
    db_fit_shots_result_destroy(&r);
}

/* The distance is refined for all shots, from where it is right, near another value. */
static db_fit_parameter *share_distance(double centre, double sigma) {
    db_fit_settings *const s = &stills.settings;
    refine_parameter(s, DB_DISTANCE, -1);
    db_fit_parameter *const p = &s->parameters[s->parameter_count - 1];
    p->shared = 1;
    p->prior[0] = centre;
    p->prior[1] = sigma;
    for (size_t k = 0; k + 1 < s->stage_count; k++) db_fit_parameter_set_stage(p, k, 0);
    return p;
}

/* Only the stage of intensities refines them. */
static void what_is_at_a_bound_is_told(void **state) {
    (void)state;
    db_fit_settings *const s = &stills.settings;
    const double farthest = 45.003;
    size_t mosaic = 0;
    while (s->parameters[mosaic].parameter != DB_MOSAIC_VARIANCE) mosaic++;
    const db_fit_parameter kept = s->parameters[mosaic];
    for (size_t k = 0; k + 1 < s->stage_count; k++)
        db_fit_parameter_set_stage(&s->parameters[mosaic], k, 0);
    s->parameters[mosaic].lower = 1.2 * db_parameter_get(&stills.truth, DB_MOSAIC_VARIANCE);
    share_distance(45.05, 5e-4)->upper = farthest;
    db_fit_shots_result *r = stills_run(FEW_STILLS);
    const db_fit_estimate *const distance = &r->estimates.list[s->parameter_count - 1];
    assert_int_equal(distance->at_bound, 1);
    assert_true(fabs(distance->value - farthest) < 1e-9 && isnan(distance->error));
    for (size_t k = 0; k < FEW_STILLS; k++) {
        const db_fit_estimate *const of = r->shot[k].estimates.list;
        assert_int_equal(of[mosaic].at_bound, -1);
        assert_int_equal(of[s->parameter_count - 2].at_bound, 0);
        assert_true(isnan(of[mosaic].error) && of[s->parameter_count - 2].error > 0);
    }
    db_fit_shots_result_destroy(&r);
    s->parameters[mosaic] = kept;
    s->parameter_count--;
}

/* Sizes of blocks at most double in a pass: of nodes without width, which a straight line may promise, derivatives vanish. Here
 * a prior wants more at once. */
static void sizes_at_most_double_in_a_pass(void **state) {
    (void)state;
    db_fit_settings *const s = &stills.settings;
    double before = stills.truth.crystal.Ncells[0], farthest = 1;
    refine_parameter(s, DB_CELLS_A, -1);
    db_fit_parameter *const p = &s->parameters[s->parameter_count - 1];
    p->shared = 1;
    p->scale = 0.01 * before;
    p->prior[0] = 3 * before;
    p->prior[1] = 1e-3 * before;
    for (size_t k = 0; k + 1 < s->stage_count; k++) db_fit_parameter_set_stage(p, k, 0);
    db_fit_shots_result *r = stills_run(FEW_STILLS);
    for (size_t k = 0; k < r->history_count; k++) {
        const double now = r->history[k].value[s->parameter_count - 1];
        farthest = fmax(farthest, now / before);
        before = fmax(before, now); /* a pass that is taken back is tried again from before it */
    }
    print_message("%zu passes, at most %.2f cells, longest step %.3f\n", r->history_count, before,
                  farthest);
    assert_true(farthest > 1.5 && farthest < 2.001);
    db_fit_shots_result_destroy(&r);
    s->parameter_count--;
}

/* The light of a block grows with each of two edges of which one follows the other. */
static void light_of_equal_edges_is_held(void **state) {
    (void)state;
    const unsigned char shared[2] = { 1, 1 };
    const double last = 10, now = 20;
    db_fit_settings two;
    db_fit_settings_init(&two);
    refine_parameter(&two, DB_CELLS_A, -1);
    refine_parameter(&two, DB_CELLS_B, -1);
    const db_schur_order apart = db_schur_order_make(&two, 0, shared);
    assert_int_equal(apart.shared, 2);
    two.parameters[1].follows = db_fit_quantity_of(&two.parameters[0]);
    const db_schur_order order = db_schur_order_make(&two, 0, shared);
    assert_int_equal(order.shared, 1);
    assert_true(fabs(db_sizes_factor(&two, &order, &last, &now) - 0.25) < 1e-12);
    db_fit_settings_clear(&two);
}

/* Blocks that begin much too small or too large end at their size, in few passes. */
static void sizes_come_back(void **state) {
    (void)state;
    enum { SHOTS = 16 };
    static const double begin[2] = { 0.6, 2.5 };
    static const int passes[2] = { 8, 14 };
    db_fit_settings *const s = &stills.settings;
    const size_t first = s->parameter_count;
    for (int i = 0; i < 3; i++) {
        refine_parameter(s, (db_parameter)(DB_CELLS_A + i), -1);
        s->parameters[first + (size_t)i].shared = 1;
        for (size_t k = 0; k + 1 < s->stage_count; k++)
            db_fit_parameter_set_stage(&s->parameters[first + (size_t)i], k, 0);
    }
    for (int k = 0; k < 2; k++) {
        stills.start_size = begin[k];
        db_fit_shots_result *r = stills_run(SHOTS);
        print_message("from %.1f times the size, %d passes:", begin[k], r->intensities->passes);
        assert_int_equal(r->status, DB_OK);
        for (size_t i = first; i < first + 3; i++) {
            const db_fit_estimate *const e = &r->estimates.list[i];
            const double off = e->value - stills.truth.crystal.Ncells[i - first];
            print_message(" %.2f(%.2f)", e->value, e->error);
            assert_true(fabs(off) < 4 * e->error && e->error < 0.2 * e->value);
        }
        print_message("\n");
        assert_in_range(r->intensities->passes, 3, passes[k]);
        db_fit_shots_result_destroy(&r);
    }
    stills.start_size = 1;
    s->parameter_count = first;
}

/* A shift of the panel does to the image what the distance does, shared or not. A shared one that each shot's own makes up for
 * is told, too. */
static void what_shots_do_not_determine_has_no_finite_error(void **state) {
    (void)state;
    static const struct {
        int shared[2];
        const char *warning;
    } cases[] = {
        { { 0, 0 }, "in 8 of 8 shots the data do not determine distance, panel_shift_normal" },
        { { 1, 1 }, "the data do not determine distance +0.71 with panel_shift_normal -0.71" },
        { { 1, 0 }, "the data do not determine distance +1.00" },
        { { 0, 1 }, "the data do not determine panel_shift_normal +1.00" },
    };
    db_fit_settings *const s = &stills.settings;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const int alike = cases[c].shared[0] == cases[c].shared[1];
        for (int which = 0; which < 2; which++) {
            refine_parameter(s, which ? DB_PANEL_SHIFT_NORMAL : DB_DISTANCE, -1);
            db_fit_parameter *const p = &s->parameters[s->parameter_count - 1];
            p->shared = cases[c].shared[which];
            for (size_t k = 0; k + 1 < s->stage_count; k++) db_fit_parameter_set_stage(p, k, 0);
        }
        db_fit_shots_result *r = stills_run(FEW_STILLS);
        const size_t first = s->parameter_count - 2;
        for (size_t k = 0; k < FEW_STILLS; k++)
            for (size_t i = 0; i < s->parameter_count; i++) {
                const double error = r->shot[k].estimates.list[i].error;
                const int is_open = i >= first && (alike || cases[c].shared[i - first]);
                assert_true(is_open ? isinf(error) : error > 0 && isfinite(error));
            }
        assert_string_equal(r->warnings[0], cases[c].warning);
        if (!alike) /* neither runs away */
            for (size_t i = first; i < s->parameter_count; i++)
                assert_true(fabs(r->shot[0].estimates.list[i].value - (i > first ? 0 : 45)) < 0.5);
        db_fit_shots_result_destroy(&r);
        s->parameter_count -= 2;
    }
}

/* Same lattice, same indices? misorientation() does not tell half turns. */
static int same_matrix(const db_crystal *a, const db_crystal *b) {
    double one[9], other[9], square = 0;
    db_crystal_matrix(a, one);
    db_crystal_matrix(b, other);
    for (int i = 0; i < 9; i++) square += (one[i] - other[i]) * (one[i] - other[i]);
    return square < 1e-6 / (34 * 34);
}

/* Two of five shots are indexed the other way that the lattice of P4 has, and one is of the other
 * hand: intensities and models are those of rightly indexed shots. */
static void shots_are_indexed_one_way(void **state) {
    (void)state;
    db_fit_shots_result *r[2];
    stills_begin_other_indexing();
    stills.settings.joint.passes = 1;
    for (int k = 0; k < 2; k++) {
        stills.turned = k ? 2 : 0;
        r[k] = stills_run(STILLS);
        const db_joint_intensities *const a = r[k]->intensities;
        for (size_t s = 0; s < STILLS; s++) {
            db_experiment right;
            assert_int_equal(r[k]->shot[s].used, s != stills.other_hand);
            if (s == stills.other_hand) {
                assert_non_null(strstr(r[k]->shot[s].reason, "other hand"));
                continue;
            }
            assert_int_equal(a->indexing.way[s] != 0, s % 5 < stills.turned);
            assert_int_equal(db_experiment_copy(stills.context, &stills.truth, &right), DB_OK);
            still_place(s, &right);
            assert_true(same_matrix(&r[k]->shot[s].experiment.crystal, &right.crystal));
            db_experiment_clear(&right);
        }
        for (size_t i = 0; i < a->observations.first[STILLS]; i++) {
            const int16_t *const h = a->observations.list[i].hkl;
            assert_int_equal(db_asu_number(&a->list, (const int[3]){ h[0], h[1], h[2] }),
                             a->observations.list[i].reflection);
        }
    }
    const db_merged *const right = &r[0]->intensities->merged;
    const db_merged *const found = &r[1]->intensities->merged;
    size_t count = 0;
    double largest = 0;
    for (size_t h = 0; h < right->count; h++) {
        assert_int_equal(right->multiplicity[h], found->multiplicity[h]);
        if (!right->multiplicity[h]) continue;
        largest = fmax(largest, fabs(right->intensity[h] - found->intensity[h]) / right->sigma[h]);
        count++;
    }
    print_message("%zu intensities of P4: at most %.2g standard errors apart\n", count, largest);
    assert_true(count > 500 && largest < 0.01);
    for (int k = 0; k < 2; k++) db_fit_shots_result_destroy(&r[k]);
    stills_end_other_indexing();
}

/* A shot's objective at given intensities, some of them negative: slopes and mixed derivatives by
 * an intensity and by the shot's quantities, against differences of the loss. */
typedef struct shot {
    db_measured_image image;
    db_strong_pixels strong;
    db_stage_data taken;
    db_objective objective;
    double *intensity;
    float *trust;
    int half_width; /* of boxes, in the settings */
} shot;

static double loss_at(shot *s, const double *value) {
    db_objective *const o = &s->objective;
    db_objective_restart(o);
    for (size_t b = 0; b < o->blocks.count; b++) o->solution[b].linear[0] = s->intensity[b];
    assert_int_equal(db_objective_evaluate(o, value, DB_OBJECTIVE_NORMAL), DB_OK);
    return o->loss;
}

static void open_shot(shot *s) {
    db_experiment start;
    db_measured_image *const image = &s->image;
    assert_int_equal(db_experiment_copy(stills.context, &stills.truth, &start), DB_OK);
    still_place(1, &start);
    assert_int_equal(rendered_image(stills.context, &start, 0, image), DB_OK); /* without noise */
    s->half_width = stills.settings.shoebox_half_width;
    stills.settings.shoebox_half_width = 3;
    const db_fit_data data = { image, &s->strong, &stills.settings };
    assert_int_equal(db_strong_pixels_find(stills.context, image, &stills.settings, &s->strong),
                     DB_OK);
    s->taken = (db_stage_data){ .blur = 1 };
    assert_int_equal(
        db_intensity_boxes_take(stills.context, &start, &data, &stills.list, &s->taken.boxes),
        DB_OK);
    s->taken.blocks = db_shoeboxes_blocks(&s->taken.boxes);
    const db_objective_options request = { .stages = 1u << (stills.settings.stage_count - 1),
                                           .target = DB_FIT_WEIGHTED,
                                           .is_given = 1 };
    assert_int_equal(
        db_stage_data_objective(stills.context, &start, &data, &s->taken, &request, &s->objective),
        DB_OK);
    const size_t boxes = s->taken.boxes.count;
    assert_true(boxes > 50);
    s->intensity = calloc(boxes, sizeof *s->intensity);
    s->trust = calloc(boxes, sizeof *s->trust);
    for (size_t b = 0; b < boxes; b++) {
        const double F =
            still_amplitude(db_asu_number(&stills.list, s->taken.boxes.reflection[b].hkl));
        s->intensity[b] = b % 7 ? F * F : -0.1 * F * F;
        s->trust[b] = (float)(0.2 + 0.7 * still_drawn(b, 1));
    }
    s->objective.trust = s->trust;
    db_experiment_clear(&start);
}

static void close_shot(shot *s) {
    db_objective_destroy(&s->objective);
    db_stage_data_clear(&s->taken);
    db_strong_pixels_clear(&s->strong);
    db_measured_image_clear(&s->image);
    free(s->intensity);
    free(s->trust);
    stills.settings.shoebox_half_width = s->half_width;
}

static void slopes_agree_with_differences(void **state) {
    (void)state;
    shot s = { .strong = { 0 } };
    size_t variables[DB_BLOCK_MOST];
    open_shot(&s);
    db_objective *const o = &s.objective;
    const double *const at = o->variables.start;
    const double loss = loss_at(&s, at);
    for (size_t b = 0; b < o->blocks.count; b += 5) {
        const size_t n = db_objective_block_variables(o, b, variables);
        const double slope = (double)s.trust[b] * db_objective_block_gradient(o, b)[n],
                     curvature = (double)s.trust[b] *
                                 db_objective_block_normal(o, b)[n * (n + DB_LINEAR) + n],
                     kept = s.intensity[b], h = 1 / sqrt(curvature);
        s.intensity[b] = kept + h;
        const double up = loss_at(&s, at);
        s.intensity[b] = kept - h;
        const double down = loss_at(&s, at);
        s.intensity[b] = kept;
        (void)loss_at(&s, at);
        if (!(fabs(up - down - 2 * h * slope) < 1e-5 * (fabs(2 * h * slope) + 1)) ||
            !(fabs(up + down - 2 * loss - 2 * h * h * curvature) < 1e-4))
            fail_msg("box %zu: slope %g, by differences %g; curvature %g, by differences %g", b,
                     slope, (up - down) / (2 * h), curvature, (up + down - 2 * loss) / (2 * h * h));
    }
    close_shot(&s);
}

/* Partialities, by which errors are modelled, follow the models of the shots. */
static void partialities_are_those_of_the_refined_models(void **state) {
    (void)state;
    const db_prediction_range range = { .excitation_angle = stills.settings.excitation_angle };
    db_fit_shots_result *r = stills_run(FEW_STILLS);
    const db_observations *const o = &r->intensities->observations;
    size_t compared = 0;
    double worst = 0;
    assert_int_equal(r->used, FEW_STILLS);
    for (size_t s = 0; s < FEW_STILLS; s++) {
        db_predicted_spots now;
        assert_int_equal(db_predict(stills.context, &r->shot[s].experiment, &range, &now), DB_OK);
        for (size_t i = o->first[s]; i < o->first[s + 1]; i++) {
            const int16_t *const own = o->list[i].hkl;
            const int hkl[3] = { own[0], own[1], own[2] };
            for (size_t k = 0; k < now.count; k++) {
                if (db_compare_hkl(now.spot[k].hkl, hkl) != 0) continue;
                const double off = fabs(now.spot[k].recorded - (double)o->list[i].partiality);
                worst = fmax(worst, off);
                compared++;
            }
        }
        db_predicted_spots_clear(&now);
    }
    print_message("%zu partialities are off by at most %.2g\n", compared, worst);
    assert_true(compared > 200 && compared == o->first[FEW_STILLS] && worst < 1e-3);
    db_fit_shots_result_destroy(&r);
}

/* Lack of memory anywhere leaves no boxes, or, where it does not matter, the right ones. */
static void boxes_are_let_go_of(void **state) {
    (void)state;
    enum { TRIALS = 40 };
    shot s = { .strong = { 0 } };
    db_experiment start;
    int failures = 0;
    if (!can_fail_allocations()) skip();
    db_context_set_threads(stills.context, 1); /* others do not share the allocations */
    open_shot(&s);
    const db_fit_data data = { &s.image, &s.strong, &stills.settings };
    assert_int_equal(db_experiment_copy(stills.context, &stills.truth, &start), DB_OK);
    still_place(1, &start);
    long allocations = 0;
    size_t right = 0;
    for (long trial = -1; trial < TRIALS; trial++) {
        db_shoeboxes boxes = { .count = 0 };
        fail_allocation(trial < 0 ? -1 : trial * allocations / TRIALS);
        const db_status status =
            db_intensity_boxes_take(stills.context, &start, &data, &stills.list, &boxes);
        const long made = stop_failing_allocations(NULL);
        if (trial < 0) {
            allocations = made;
            right = boxes.count;
        }
        failures += status != DB_OK;
        if (status == DB_OK ? boxes.count != right : boxes.reflection != NULL)
            fail_msg("trial %ld: status %d, %zu boxes", trial, (int)status, boxes.count);
        db_shoeboxes_clear(&boxes);
    }
    assert_in_range(failures, TRIALS / 2, TRIALS);
    db_experiment_clear(&start);
    close_shot(&s);
    db_context_set_threads(stills.context, 0);
}

/* Shots of P 4, indexed in two ways, are refined as of P 4 2 2. */
static void too_high_a_symmetry_is_refused(void **state) {
    (void)state;
    const db_fit_shot_source source = { .count = STILLS, .load = still_load, .name = still_name };
    db_fit_shots_result *result = NULL;
    stills_begin_other_indexing();
    stills.turned = 2;
    strcpy(stills.settings.amplitude_group, "89");
    const db_status status = db_fit_run(stills.context, &source, &stills.settings, NULL, &result);
    print_message("%s\n", db_context_message(stills.context));
    assert_int_equal(status, DB_ERROR_INPUT);
    assert_non_null(
        strstr(db_context_message(stills.context), "better with 4 of them, without k,h,-l"));
    db_fit_shots_result_destroy(&result);
    stills_end_other_indexing();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slopes_agree_with_differences),
        cmocka_unit_test(intensities_come_back),
        cmocka_unit_test(partialities_are_those_of_the_refined_models),
        cmocka_unit_test(boxes_are_let_go_of),
        cmocka_unit_test(shots_are_indexed_one_way),
        cmocka_unit_test(too_high_a_symmetry_is_refused),
        cmocka_unit_test(what_is_at_a_bound_is_told),
        cmocka_unit_test(sizes_at_most_double_in_a_pass),
        cmocka_unit_test(light_of_equal_edges_is_held),
        cmocka_unit_test(sizes_come_back),
        cmocka_unit_test(what_shots_do_not_determine_has_no_finite_error),
    };
    return cmocka_run_group_tests(tests, stills_set_up, stills_tear_down);
}
