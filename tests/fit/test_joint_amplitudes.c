/* Intensities that all shots share come back from rendered shots, with errors that are right and
 * halves that agree; what a shot says of them agrees with differences of its loss. */

#include "support/unit_test.h"
#include "fit/objective/evaluate.h"
#include "fit/objective/stage_data.h"
#include "fit/made_up_team.h"
#include "fit/rendered_image.h"
#include "fit/scratch_file.h"
#include "fit/amplitudes/boxes.h"
#include "fit/amplitudes/outputs.h"
#include "fit/amplitudes/stage.h"
#include "fit/shots/joint_stages.h"

#include <dualbragg/fit_shots.h>
#include <dualbragg/io.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIXELS = 200, SHOTS = 24, FEW = 8 };
static db_context *context;
static double brightness, start_scale = 1;
static db_experiment truth;
static db_fit_settings settings;
static db_asu_list list;
static const double d_min = 2.2;
static double anomalous = 0.1;    /* largest difference of Bijvoet mates, of their mean */
static size_t turned, other_hand; /* the first so many of five shots are indexed another way; one
                                     shot is of the other hand, unless it is 0 */

/* What is wrong with the shots beyond the first so many, in turn; none: 0. */
enum bad { OTHER_LATTICE, OTHER_CRYSTAL, OTHER_HAND, BLANK, SATURATED, KINDS, BAD = 2 * KINDS };
static size_t good;
static int only = KINDS;  /* all bad shots are of this kind */
static int other_crystal; /* other amplitudes */

static double drawn(size_t shot, int number) {
    const double x = sin(12.9898 * (double)(shot + 1) + 78.233 * number) * 43758.5453;
    return x - floor(x);
}

/* Wilson's statistics; Bijvoet mates differ. */
static double amplitude_of(uint32_t number) {
    const uint32_t pair = db_asu_pair(&list, number);
    const double d = (double)list.d[number], mean = exp(-10 / (2 * d * d)),
                 first = drawn(pair, 7 + other_crystal),
                 own = 1 + anomalous * (drawn(number, 8 + other_crystal) - 0.5);
    return sqrt(-log(1 - 0.999 * first) * mean) * own;
}

/* hand: 1, or -1 for the other one. */
static db_status fill_amplitudes(db_experiment *e, double factor, int hand) {
    db_structure_factors *const f = &e->structure_factors;
    size_t count = 1, at = 0;
    for (int i = 0; i < 3; i++) {
        f->min[i] = -list.most[i];
        f->extent[i] = 2 * list.most[i] + 1;
        count *= (size_t)f->extent[i];
    }
    free(f->amplitude);
    f->default_F = 0;
    f->amplitude = calloc(count, sizeof *f->amplitude);
    if (!f->amplitude) return DB_ERROR_MEMORY;
    for (int h = -list.most[0]; h <= list.most[0]; h++)
        for (int k = -list.most[1]; k <= list.most[1]; k++)
            for (int l = -list.most[2]; l <= list.most[2]; l++, at++) {
                const int hkl[3] = { hand * h, hand * k, hand * l };
                const uint32_t number = db_asu_number(&list, hkl);
                if (number != DB_NO_REFLECTION) f->amplitude[at] = factor * amplitude_of(number);
            }
    return DB_OK;
}

static db_status describe(db_experiment *e) {
    const double cell[6] = { 34, 34, 48, 90, 90, 90 };
    db_panel *const panel = &e->detector.panels[0];
    memcpy(e->crystal.cell, cell, sizeof cell);
    e->crystal.shape = DB_SHAPE_GAUSS;
    for (int i = 0; i < 3; i++) e->crystal.cells[i] = 12;
    e->beam.wavelength = 1;
    e->spread.spots = DB_SPOTS_CLOSED;
    e->spread.mosaic = 0.0144;
    e->spread.bandwidth = 4e-6;
    panel->fast_pixels = panel->slow_pixels = PIXELS;
    panel->pixel_size[0] = panel->pixel_size[1] = 0.2;
    e->detector.distance = 45;
    e->detector.centre[0] = e->detector.centre[1] = 0.5 * PIXELS * 0.2;
    e->oversample = 2;
    return fill_amplitudes(e, 1, 1);
}

static void place(size_t shot, db_experiment *e) {
    for (int i = 0; i < 3; i++) e->crystal.misset[i] = 360 * drawn(shot, i);
}

/* Such as an indexing program may choose as well in P4. */
static db_status index_otherwise(db_context *own, db_crystal *crystal) {
    db_indexings ways;
    db_indexings_find(crystal->cell, list.group, 1e-3, &ways);
    return ways.count == 2 ? db_indexing_turn(own, &ways.way[1], crystal) : DB_ERROR_INPUT;
}

/* How a bad shot is rendered; its start is as ever. */
static db_status spoil(size_t shot, db_experiment *e) {
    const int kind = only < KINDS ? only : (int)((shot - good) % KINDS);
    db_status status = DB_OK;
    if (kind == OTHER_LATTICE) {
        e->crystal.cell[0] = e->crystal.cell[1] = 30;
        e->crystal.cell[2] = 55;
    }
    other_crystal = kind == OTHER_CRYSTAL ? 10 : 0;
    if (kind == OTHER_CRYSTAL) status = fill_amplitudes(e, brightness, 1);
    if (kind == OTHER_HAND) status = fill_amplitudes(e, brightness, -1);
    other_crystal = 0;
    if (kind == BLANK) e->beam.scale *= 1e-4;
    if (kind == SATURATED) e->beam.scale *= 300;
    return status;
}

/* As a detector of 16 bits has them, and a reader masks them. */
static void clip(db_measured_image *image) {
    image->overload = 65535;
    for (size_t i = 0; i < PIXELS * PIXELS; i++) {
        if (image->value[i] < 65535) continue;
        image->value[i] = 65535;
        image->mask[i] = 1;
        image->masked++;
    }
}

static db_status load(void *user, db_context *own, size_t shot, db_measured_image *image,
                      db_experiment *start, db_fit_settings *s) {
    (void)user;
    db_experiment e;
    db_status status = db_experiment_copy(own, &truth, &e);
    if (status != DB_OK) return status;
    place(shot, &e);
    const double scale = e.beam.scale;
    e.beam.scale *= exp(0.6 * (drawn(shot, 6) - 0.5));
    if (other_hand && shot == other_hand) status = fill_amplitudes(&e, brightness, -1);
    const int is_bad = good && shot >= good;
    if (status == DB_OK && is_bad) {
#pragma omp critical(spoil)
        status = spoil(shot, &e);
    }
    if (status == DB_OK) status = rendered_image(own, &e, 1000 + shot, image);
    if (status == DB_OK && is_bad) clip(image);
    if (is_bad) memcpy(e.crystal.cell, truth.crystal.cell, sizeof e.crystal.cell);
    e.beam.scale = start_scale * scale;
    if (start && status == DB_OK) {
        for (int i = 0; i < 3; i++) e.crystal.misset[i] += 0.06 * (drawn(shot, 3 + i) - 0.5);
        e.spread.mosaic *= 1.3;
        if (shot % 5 < turned) status = index_otherwise(own, &e.crystal);
        *start = e;
        s->gain = 1;
        return status;
    }
    db_experiment_clear(&e);
    return status;
}

static const char *name(void *user, size_t shot) {
    (void)user;
    (void)shot;
    return "a shot";
}

static int set_up(void **state) {
    (void)state;
    const double cell[6] = { 34, 34, 48, 90, 90, 90 };
    if (db_context_create(&context) != DB_OK ||
        db_asu_list_make(context, cell, "96", d_min, 1, &list) != DB_OK ||
        db_experiment_init(context, &truth) != DB_OK || describe(&truth) != DB_OK)
        return -1;
    /* The brightest spots have some thousand photons. */
    float *const image = malloc(sizeof *image * PIXELS * PIXELS);
    double peak = 0;
    db_plan *plan;
    if (!image || db_plan_create(context, &truth, NULL, &plan) != DB_OK) return -1;
    if (db_plan_forward(plan, image) != DB_OK) return -1;
    db_plan_destroy(&plan);
    for (size_t i = 0; i < PIXELS * PIXELS; i++) peak = fmax(peak, (double)image[i]);
    free(image);
    if (fill_amplitudes(&truth, brightness = sqrt(4000 / peak), 1) != DB_OK) return -1;
    db_fit_settings_init(&settings);
    settings.min_strong_reflections = 10;
    settings.joint.wanted = 1;
    settings.joint.dmin = d_min;
    snprintf(settings.amplitude_group, sizeof settings.amplitude_group, "96");
    for (int p = DB_MISSET_X; p <= (int)DB_MISSET_Z; p++)
        refine_parameter(&settings, (db_parameter)p, -1);
    refine_parameter(&settings, DB_MOSAIC_VARIANCE, -1);
    refine_parameter(&settings, DB_SCALE, -1);
    db_stages_default(context, 1, &settings);
    /* Starts are good: the first stages are not needed. */
    while (settings.stage_count > 2) {
        for (size_t s = 1; s < settings.stage_count; s++)
            db_fit_settings_copy_stage(&settings, s, s - 1);
        settings.stage_count--;
    }
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    db_fit_settings_clear(&settings);
    db_experiment_clear(&truth);
    db_asu_list_clear(&list);
    db_context_destroy(&context);
    return 0;
}

static db_fit_shots_result *run(size_t shots) {
    const db_fit_shot_source source = { .count = shots, .load = load, .name = name };
    db_fit_shots_result *result = NULL;
    if (db_fit_shots_run(context, &source, &settings, NULL, &result) != DB_OK && !result)
        fail_msg("%s", db_context_message(context));
    return result;
}

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
    assert_int_equal(db_fit_shots_write_hkl(context, hkl, r), DB_OK);
    char *const text = read_whole_file(hkl);
    for (const char *c = text; *c; c++) lines += *c == '\n' && c[1] && c[1] != '#';
    free(text);
    assert_int_equal(lines, measured);
    const db_status status = db_fit_shots_write_mtz(context, mtz, r);
    if (status != DB_ERROR_UNSUPPORTED) {
        db_structure_factors read = { .default_F = -1 };
        assert_int_equal(status, DB_OK);
        assert_int_equal(db_fit_shots_write_unmerged(context, scratch_path("unmerged.mtz"), r),
                         DB_OK);
        assert_int_equal(db_read_structure_factors(context, mtz, NULL, &read, NULL, 0), DB_OK);
        assert_true(read.listed > measured / 2);
        free(read.amplitude);
    }
    db_amplitude_statistics(r, &statistics);
    assert_true(statistics.overall.cc_half > 0.95);
    assert_true(statistics.overall.measured <= measured &&
                2 * statistics.overall.measured >= measured);
}

/* Scales of the shots, beside their mean, are right within their errors. */
static void check_scales(const db_fit_shots_result *r) {
    double mean = 0, square = 0;
    size_t at = 0;
    while (r->parameter[at] != DB_SCALE) at++;
    for (size_t s = 0; s < SHOTS; s++)
        mean += (log(r->shot[s].refined[at]) - 0.6 * (drawn(s, 6) - 0.5)) / SHOTS;
    for (size_t s = 0; s < SHOTS; s++) {
        const db_fit_shot_result *const shot = &r->shot[s];
        const double off = log(shot->refined[at]) - 0.6 * (drawn(s, 6) - 0.5) - mean;
        square += pow(off * shot->refined[at] / shot->error[at], 2) / SHOTS;
    }
    print_message("scales: %.3g times their size, pulls %.3f\n", exp(mean), sqrt(square));
    assert_true(sqrt(square) > 0.5 && sqrt(square) < 2);
}

static void intensities_come_back(void **state) {
    (void)state;
    start_scale = 50; /* which the intensities take */
    db_fit_shots_result *r = run(SHOTS);
    start_scale = 1;
    const db_joint_amplitudes *const a = r->amplitudes;
    assert_int_equal(r->status, DB_OK);
    for (size_t s = 0; s < SHOTS; s++)
        if (!r->shot[s].used) print_message("shot %zu: %s\n", s, r->shot[s].reason);
    assert_int_equal(r->used, SHOTS);
    assert_non_null(a);
    assert_int_equal(a->merged.count, list.count);
    double top = 0, bottom = 0, pull = 0, off = 0, sum = 0;
    size_t count = 0, missing = 0;
    pairs halves = { 0 };
    for (uint32_t h = 0; h < list.count; h++) {
        const double I = pow(amplitude_of(h), 2), s = a->merged.sigma[h];
        missing += a->merged.multiplicity[h] == 0;
        if (!a->merged.multiplicity[h]) {
            assert_true(isnan(a->merged.intensity[h]) && isnan(s));
            continue;
        }
        top += I * a->merged.intensity[h] / (s * s);
        bottom += I * I / (s * s);
    }
    const double scale = top / bottom;
    for (uint32_t h = 0; h < list.count; h++) {
        if (a->merged.multiplicity[h] < 2) continue;
        const double I = scale * pow(amplitude_of(h), 2);
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
    for (size_t s = 0; s < SHOTS; s++) { /* shots' own quantities, too */
        db_experiment right;
        assert_int_equal(db_experiment_copy(context, &truth, &right), DB_OK);
        place(s, &right);
        assert_true(misorientation(&r->shot[s].model.crystal, &right.crystal) < 0.02);
        db_experiment_clear(&right);
    }
    db_fit_shots_result_destroy(&r);
}

/* Same lattice, same indices? misorientation() does not tell half turns. */
static int same_matrix(const db_crystal *a, const db_crystal *b) {
    double one[9], other[9], square = 0;
    db_crystal_matrix(a, one);
    db_crystal_matrix(b, other);
    for (int i = 0; i < 9; i++) square += (one[i] - other[i]) * (one[i] - other[i]);
    return square < 1e-6 / (34 * 34);
}

/* Shots of P4, whose lattice can be indexed in two ways; one is of the other hand. */
static db_asu_list kept_list;
static db_fit_joint kept_joint;
static void begin_other_indexing(void) {
    const double cell[6] = { 34, 34, 48, 90, 90, 90 };
    kept_list = list;
    kept_joint = settings.joint;
    settings.joint.dmin = 3;
    snprintf(settings.amplitude_group, sizeof settings.amplitude_group, "75");
    assert_int_equal(db_asu_list_make(context, cell, "75", d_min, 1, &list), DB_OK);
    anomalous = 1.6;
    other_hand = 8;
    assert_int_equal(fill_amplitudes(&truth, brightness, 1), DB_OK);
}

static void end_other_indexing(void) {
    db_asu_list_clear(&list);
    list = kept_list;
    settings.joint = kept_joint;
    snprintf(settings.amplitude_group, sizeof settings.amplitude_group, "96");
    anomalous = 0.1;
    turned = other_hand = 0;
    assert_int_equal(fill_amplitudes(&truth, brightness, 1), DB_OK);
}

/* Two of five shots are indexed the other way that the lattice of P4 has, and one is of the other
 * hand: intensities and models are those of rightly indexed shots. */
static void shots_are_indexed_one_way(void **state) {
    (void)state;
    db_fit_shots_result *r[2];
    begin_other_indexing();
    settings.joint.passes = 1;
    for (int k = 0; k < 2; k++) {
        turned = k ? 2 : 0;
        r[k] = run(SHOTS);
        const db_joint_amplitudes *const a = r[k]->amplitudes;
        for (size_t s = 0; s < SHOTS; s++) {
            db_experiment right;
            assert_int_equal(r[k]->shot[s].used, s != other_hand);
            if (s == other_hand) {
                assert_non_null(strstr(r[k]->shot[s].reason, "other hand"));
                continue;
            }
            assert_int_equal(a->indexing.way[s] != 0, s % 5 < turned);
            assert_int_equal(db_experiment_copy(context, &truth, &right), DB_OK);
            place(s, &right);
            assert_true(same_matrix(&r[k]->shot[s].model.crystal, &right.crystal));
            db_experiment_clear(&right);
        }
        for (size_t i = 0; i < a->observations.first[SHOTS]; i++) {
            const int16_t *const h = a->observations.list[i].hkl;
            assert_int_equal(db_asu_number(&a->list, (const int[3]){ h[0], h[1], h[2] }),
                             a->observations.list[i].reflection);
        }
    }
    const db_merged *const right = &r[0]->amplitudes->merged;
    const db_merged *const found = &r[1]->amplitudes->merged;
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
    end_other_indexing();
}

static void threads_do_not_matter(void **state) {
    (void)state;
    db_fit_settings *const s = &settings;
    const int passes = s->joint.passes;
    db_fit_shots_result *r[2];
    s->joint.passes = 3;
    for (int t = 0; t < 2; t++) {
        db_context_set_threads(context, t + 1);
        r[t] = run(FEW);
    }
    db_context_set_threads(context, 0);
    s->joint.passes = passes;
    const db_merged *const a = &r[0]->amplitudes->merged;
    const db_merged *const b = &r[1]->amplitudes->merged;
    assert_memory_equal(a->multiplicity, b->multiplicity, a->count * sizeof *a->multiplicity);
    for (size_t h = 0; h < a->count; h++) {
        if (!a->multiplicity[h]) continue;
        assert_true(a->intensity[h] == b->intensity[h] && a->sigma[h] == b->sigma[h]);
        assert_true(!(a->half[0][h] < b->half[0][h]) && !(a->half[0][h] > b->half[0][h]));
    }
    for (int t = 0; t < 2; t++) db_fit_shots_result_destroy(&r[t]);
}

enum { TEAM = 3 };
typedef struct team_run {
    size_t shots;
    const char *checkpoint; /* to go on from; NULL: none is kept */
    db_fit_shots_result *result[TEAM];
} team_run;

static void work(void *user, const db_fit_team *team) {
    static const int threads[TEAM] = { 1, 2, 1 };
    team_run *const t = user;
    const db_fit_shot_source source = { .count = t->shots, .load = load, .name = name };
    db_fit_shots_options options = DB_FIT_SHOTS_OPTIONS_INIT;
    db_context *own;
    options.team = team;
    options.checkpoint = t->checkpoint;
    options.resume = t->checkpoint != NULL;
    if (db_context_create(&own) != DB_OK) return;
    db_context_set_threads(own, threads[team->rank]);
    if (db_fit_shots_run(own, &source, &settings, &options, &t->result[team->rank]) != DB_OK)
        print_message("%s\n", db_context_message(own));
    db_context_destroy(&own);
}

static void same_numbers(const double *a, const double *b, size_t count) {
    for (size_t i = 0; i < count; i++)
        assert_true((isnan(a[i]) && isnan(b[i])) || !(a[i] < b[i] || a[i] > b[i]));
}

/* All that files are made of. */
static void same_amplitudes(const db_fit_shots_result *a, const db_fit_shots_result *b) {
    const db_joint_amplitudes *const x = a->amplitudes;
    const db_joint_amplitudes *const y = b->amplitudes;
    const size_t n = x->merged.count, measured = x->observations.first[x->observations.shots];
    assert_int_equal(x->passes, y->passes);
    assert_true(x->wavelength > 0 && !(x->wavelength < y->wavelength));
    assert_memory_equal(x->merged.multiplicity, y->merged.multiplicity,
                        n * sizeof *x->merged.multiplicity);
    same_numbers(x->merged.intensity, y->merged.intensity, n);
    same_numbers(x->merged.sigma, y->merged.sigma, n);
    for (int k = 0; k < 2; k++) {
        same_numbers(x->merged.half[k], y->merged.half[k], n);
        same_numbers(x->merged.half_sigma[k], y->merged.half_sigma[k], n);
    }
    assert_memory_equal(x->observations.first, y->observations.first,
                        (x->observations.shots + 1) * sizeof *x->observations.first);
    assert_memory_equal(x->observations.list, y->observations.list,
                        measured * sizeof *x->observations.list);
    assert_int_equal(a->used, b->used);
    same_numbers(a->chi2_reduced, b->chi2_reduced, 2);
    for (size_t s = 0; s < a->shot_count; s++) {
        const db_fit_shot_result *const shot = &a->shot[s];
        const db_fit_shot_result *const other = &b->shot[s];
        assert_int_equal(shot->used, other->used);
        assert_string_equal(shot->reason, other->reason);
        assert_int_equal(x->indexing.way[s], y->indexing.way[s]);
        same_numbers(shot->orientation, other->orientation, 9);
        same_numbers(shot->chi2_reduced, other->chi2_reduced, 2);
        same_numbers(shot->refined, other->refined, a->parameter_count);
        same_numbers(shot->error, other->error, a->parameter_count);
    }
}

/* Some shots are indexed another way, and one is of the other hand, so that what is found of shots has
 * to come to their processes. */
static void processes_do_not_matter(void **state) {
    (void)state;
    team_run t = { .shots = SHOTS };
    size_t known = 0;
    begin_other_indexing();
    turned = 2;
    for (int passes = 0; passes < 4; passes += 3) {
        settings.joint.passes = passes;
        db_context_set_threads(context, 1);
        db_fit_shots_result *alone = run(SHOTS);
        db_context_set_threads(context, 0);
        made_up_team_run(TEAM, 1, work, &t, NULL);
        for (int r = 0; r < TEAM; r++) assert_non_null(t.result[r]);
        same_amplitudes(alone, t.result[0]);
        assert_int_equal(alone->used, SHOTS - 1);
        for (int r = 0; r < TEAM; r++) { /* the models that processes have */
            for (size_t s = 0; s < SHOTS; s++) {
                const db_crystal *const crystal = &t.result[r]->shot[s].model.crystal;
                if (!(t.result[r]->shot[s].model.oversample > 0)) continue;
                known++;
                assert_memory_equal(crystal->orientation, alone->shot[s].model.crystal.orientation,
                                    sizeof crystal->orientation);
            }
            db_fit_shots_result_destroy(&t.result[r]);
        }
        db_fit_shots_result_destroy(&alone);
    }
    assert_int_equal(known, 2 * (SHOTS - 1));
    end_other_indexing();
}

/* Amplitudes on another scale, with another temperature factor, of which each seventh is missing. */
static db_structure_factors known_amplitudes(double scale, double b) {
    db_experiment e;
    assert_int_equal(db_experiment_copy(context, &truth, &e), DB_OK);
    db_structure_factors factors = e.structure_factors;
    e.structure_factors.amplitude = NULL;
    db_experiment_clear(&e);
    size_t at = 0;
    for (int h = -list.most[0]; h <= list.most[0]; h++)
        for (int k = -list.most[1]; k <= list.most[1]; k++)
            for (int l = -list.most[2]; l <= list.most[2]; l++, at++) {
                const uint32_t number = db_asu_number(&list, (const int[3]){ h, k, l });
                if (number == DB_NO_REFLECTION) continue;
                const double d = (double)list.d[number];
                factors.amplitude[at] = db_asu_pair(&list, number) % 7
                                            ? scale * amplitude_of(number) * exp(-b / (4 * d * d))
                                            : (double)NAN;
            }
    return factors;
}

/* A run that is cancelled after so many joint passes. */
typedef struct patience {
    int passes, most;
} patience;

static void count_pass(void *user, const db_fit_shots_event *event) {
    patience *const p = user;
    p->passes += event->kind == DB_SHOTS_EVALUATED;
}

static int is_over(void *user) {
    const patience *const p = user;
    return p->passes >= p->most;
}

/* The distance is refined for all shots, near a value beside the right one. */
static void share_distance(void) {
    db_fit_parameter *p;
    refine_parameter(&settings, DB_DISTANCE, -1);
    p = &settings.parameters[settings.parameter_count - 1];
    p->prior[0] = 45.02;
    p->prior[1] = 0.005;
    for (size_t s = 0; s + 1 < settings.stage_count; s++) db_fit_parameter_set_stage(p, s, 0);
}

/* After each of the passes; goes on by another number of processes. */
static void interrupted_runs_go_on(void **state) {
    (void)state;
    char path[256];
    db_fit_shots_result *r, *whole;
    begin_other_indexing();
    turned = 2;
    db_structure_factors factors = known_amplitudes(7, 5);
    settings.joint.passes = 3;
    settings.joint.reference = &factors; /* what intensities are held to goes on, too */
    settings.joint.reference_restraint = 1;
    share_distance();
    whole = run(SHOTS);
    snprintf(path, sizeof path, "%s", scratch_path("joint.checkpoint"));
    for (int most = 1; most < whole->amplitudes->passes; most++) {
        const db_fit_shot_source source = { .count = SHOTS, .load = load, .name = name };
        db_fit_shots_options options = DB_FIT_SHOTS_OPTIONS_INIT;
        patience p = { 0, most };
        team_run t = { .shots = SHOTS, .checkpoint = path };
        options.checkpoint = path;
        options.progress = count_pass;
        options.cancelled = is_over;
        options.user = &p;
        assert_int_equal(db_fit_shots_run(context, &source, &settings, &options, &r),
                         DB_ERROR_CANCELLED);
        assert_int_equal(p.passes, most);
        db_fit_shots_result_destroy(&r);
        made_up_team_run(most % 2 ? TEAM : 1, 1, work, &t, NULL);
        assert_non_null(t.result[0]);
        same_amplitudes(whole, t.result[0]);
        assert_int_equal(whole->history_count, t.result[0]->history_count);
        assert_true(t.result[0]->shot_evaluations < whole->shot_evaluations);
        for (int k = 0; k < TEAM; k++) db_fit_shots_result_destroy(&t.result[k]);
        db_fit_checkpoint_remove(path);
    }
    db_fit_shots_result_destroy(&whole);
    settings.joint.reference = NULL;
    settings.joint.reference_restraint = (double)NAN;
    settings.parameter_count--;
    free(factors.amplitude);
    end_other_indexing();
}

/* R of intensities, with the scale that fits; pulls beside the truth (root mean square). */
static double off_truth(const db_merged *m, double *pull) {
    double top = 0, bottom = 0, off = 0, sum = 0, square = 0, count = 0;
    for (uint32_t h = 0; h < list.count; h++) {
        const double I = pow(amplitude_of(h), 2), weight = 1 / (m->sigma[h] * m->sigma[h]);
        if (!m->multiplicity[h]) continue;
        top += weight * I * m->intensity[h];
        bottom += weight * I * I;
    }
    for (uint32_t h = 0; h < list.count; h++) {
        const double I = top / bottom * pow(amplitude_of(h), 2), far = m->intensity[h] - I;
        if (m->multiplicity[h] < 2) continue;
        off += fabs(far);
        sum += I;
        square += far * far / (m->sigma[h] * m->sigma[h]);
        count++;
    }
    *pull = sqrt(square / count);
    return off / sum;
}

/* Three of ten shots are bad, in each way: the intensities change by less than their errors. */
static void bad_shots_do_no_harm(void **state) {
    (void)state;
    static const char *const kinds[KINDS] = { "other lattice", "other crystal", "other hand",
                                              "blank", "saturated" };
    db_fit_shots_result *r[2];
    anomalous = 1.6;
    assert_int_equal(fill_amplitudes(&truth, brightness, 1), DB_OK);
    good = SHOTS;
    start_scale = 50;
    for (int k = 0; k < 2; k++) r[k] = run((size_t)(SHOTS + k * BAD));
    start_scale = 1;
    good = 0;
    const db_merged *const plain = &r[0]->amplitudes->merged;
    const db_merged *const mixed = &r[1]->amplitudes->merged;
    for (size_t s = SHOTS; s < SHOTS + BAD; s++)
        print_message("%s: %s\n", kinds[(s - SHOTS) % KINDS],
                      r[1]->shot[s].used ? "in use" : r[1]->shot[s].reason);
    for (size_t s = 0; s < SHOTS; s++)
        if (!r[1]->shot[s].used) print_message("good shot %zu: %s\n", s, r[1]->shot[s].reason);
    double square = 0, count = 0, largest = 0, pull[2], top = 0, bottom = 0;
    for (size_t h = 0; h < plain->count; h++) {
        if (!plain->multiplicity[h] || !mixed->multiplicity[h]) continue;
        top += plain->intensity[h] * mixed->intensity[h] / pow(plain->sigma[h], 2);
        bottom += pow(mixed->intensity[h] / plain->sigma[h], 2);
    }
    for (size_t h = 0; h < plain->count; h++) {
        if (!plain->multiplicity[h] || !mixed->multiplicity[h]) continue;
        const double off =
            (plain->intensity[h] - top / bottom * mixed->intensity[h]) / plain->sigma[h];
        square += off * off;
        largest = fmax(largest, fabs(off));
        count++;
    }
    const double R[2] = { off_truth(plain, &pull[0]), off_truth(mixed, &pull[1]) };
    print_message(
        "%g intensities with bad shots: %.2f standard errors from those without (rms), at "
        "most %.1f; R %.4f, %.4f; pulls %.2f, %.2f\n",
        count, sqrt(square / count), largest, R[0], R[1], pull[0], pull[1]);
    assert_int_equal(r[0]->used, SHOTS);
    for (size_t s = 0; s < SHOTS; s++) assert_true(r[1]->shot[s].used);
    for (size_t s = SHOTS; s < SHOTS + BAD; s++)
        if ((s - SHOTS) % KINDS != SATURATED) assert_false(r[1]->shot[s].used);
    assert_true(count > 500 && sqrt(square / count) < 0.5);
    assert_true(R[1] < 1.1 * R[0] && pull[1] < 1.2);
    for (int k = 0; k < 2; k++) db_fit_shots_result_destroy(&r[k]);
    anomalous = 0.1;
    assert_int_equal(fill_amplitudes(&truth, brightness, 1), DB_OK);
}

/* Root mean square difference of intensities in standard errors of the first, on one scale. */
static double apart(const db_merged *a, const db_merged *b, size_t *count) {
    double top = 0, bottom = 0, square = 0;
    *count = 0;
    for (size_t h = 0; h < a->count; h++) {
        if (!a->multiplicity[h] || !b->multiplicity[h]) continue;
        top += a->intensity[h] * b->intensity[h] / pow(a->sigma[h], 2);
        bottom += pow(b->intensity[h] / a->sigma[h], 2);
    }
    for (size_t h = 0; h < a->count; h++) {
        if (!a->multiplicity[h] || !b->multiplicity[h]) continue;
        square += pow((a->intensity[h] - top / bottom * b->intensity[h]) / a->sigma[h], 2);
        ++*count;
    }
    return sqrt(square / (double)*count);
}

/* Nearly half of the shots are of one other crystal, in the same cell: they agree with each other. */
static void the_crystal_of_most_shots_is_kept(void **state) {
    (void)state;
    static const size_t others[] = { 0, 10, 20 };
    db_fit_shots_result *r[3];
    good = SHOTS;
    only = OTHER_CRYSTAL;
    for (int k = 0; k < 3; k++) r[k] = run(SHOTS + others[k]);
    good = 0;
    only = KINDS;
    for (int k = 1; k < 3; k++) {
        size_t count;
        double pull;
        const double far = apart(&r[0]->amplitudes->merged, &r[k]->amplitudes->merged, &count),
                     R = off_truth(&r[k]->amplitudes->merged, &pull);
        print_message("%zu shots of another crystal beside %d: %zu in use, %zu intensities %.2f "
                      "standard errors away (rms), R %.4f\n",
                      others[k], SHOTS, r[k]->used, count, far, R);
        for (size_t s = 0; s < SHOTS + others[k]; s++) {
            assert_int_equal(r[k]->shot[s].used, s < SHOTS);
            if (s >= SHOTS) assert_non_null(strstr(r[k]->shot[s].reason, "another crystal"));
        }
        assert_int_equal(r[k]->amplitudes->kinds.count, 2);
        assert_int_equal(r[k]->amplitudes->kinds.shots[0], SHOTS);
        assert_true(count > 500 && far < 0.5);
    }
    assert_int_equal(r[0]->amplitudes->kinds.count, 1);
    for (int k = 0; k < 3; k++) db_fit_shots_result_destroy(&r[k]);
}

/* A reference that is only compared changes nothing; one that holds fast gives its intensities, on
 * the scale of the data, to those that shots show and to no others; halves do without it. */
static void a_reference_holds_what_shots_show(void **state) {
    (void)state;
    const db_fit_joint joint = settings.joint;
    db_structure_factors factors = known_amplitudes(7, 5);
    db_fit_shots_result *r[3];
    settings.joint.passes = 3;
    for (int k = 0; k < 3; k++) {
        settings.joint.reference = k ? &factors : NULL;
        settings.joint.reference_restraint = k == 2 ? 0.002 : (double)NAN;
        r[k] = run(FEW);
        assert_non_null(r[k]->amplitudes);
    }
    settings.joint = joint;
    const db_merged *const plain = &r[0]->amplitudes->merged;
    const db_merged *const compared = &r[1]->amplitudes->merged;
    const db_merged *const held = &r[2]->amplitudes->merged;
    db_merge_statistics statistics[3];
    for (int k = 0; k < 3; k++) db_amplitude_statistics(r[k], &statistics[k]);
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
    size_t held_ones = 0, open_ones = 0, wider = 0;
    for (uint32_t h = 0; h < list.count; h++) {
        const int is_known = db_asu_pair(&list, h) % 7 != 0;
        assert_int_equal(plain->multiplicity[h], compared->multiplicity[h]);
        assert_int_equal(plain->multiplicity[h] == 0, held->multiplicity[h] == 0);
        if (!plain->multiplicity[h]) {
            assert_true(isnan(held->intensity[h]));
            continue;
        }
        assert_true(plain->intensity[h] == compared->intensity[h]);
        assert_true(plain->sigma[h] == compared->sigma[h]);
        wider += is_known && held->sigma[h] >= plain->sigma[h]; /* the data contradict it */
        held_ones += (size_t)is_known;
        open_ones += (size_t)!is_known;
    }
    assert_int_equal(statistics[2].overall.reference_count, held_ones);
    assert_true(held_ones > 300 && open_ones > 30 && 100 * wider < held_ones);
    for (int k = 0; k < 3; k++) db_fit_shots_result_destroy(&r[k]);
    free(factors.amplitude);
}

static void a_reference_of_another_crystal_is_refused(void **state) {
    (void)state;
    double one = 5;
    db_structure_factors factors = {
        .min = { 90, 0, 0 }, .extent = { 1, 1, 1 }, .amplitude = &one, .default_F = (double)NAN
    };
    const db_fit_joint joint = settings.joint;
    const db_fit_shot_source source = { .count = FEW, .load = load, .name = name };
    db_fit_shots_result *result = NULL;
    settings.joint.reference = &factors;
    assert_int_not_equal(db_fit_shots_run(context, &source, &settings, NULL, &result), DB_OK);
    settings.joint = joint;
    assert_null(result);
    assert_non_null(strstr(db_context_message(context), "amplitudes.reference"));
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
    assert_int_equal(db_experiment_copy(context, &truth, &start), DB_OK);
    place(1, &start);
    assert_int_equal(rendered_image(context, &start, 0, image), DB_OK); /* without noise */
    settings.shoebox_half_width = 3;
    const db_fit_data data = { image, &s->strong, &settings };
    assert_int_equal(db_strong_pixels_find(context, image, &settings, &s->strong), DB_OK);
    s->taken = (db_stage_data){ .blur = 1 };
    assert_int_equal(db_amplitude_boxes_take(context, &start, &data, &list, &s->taken.boxes),
                     DB_OK);
    s->taken.blocks = db_shoeboxes_blocks(&s->taken.boxes);
    const db_objective_options request = { .stages = 1u << (settings.stage_count - 1),
                                           .target = DB_FIT_WEIGHTED,
                                           .is_given = 1 };
    assert_int_equal(
        db_stage_data_objective(context, &start, &data, &s->taken, &request, &s->objective), DB_OK);
    const size_t boxes = s->taken.boxes.count;
    assert_true(boxes > 50);
    s->intensity = calloc(boxes, sizeof *s->intensity);
    s->trust = calloc(boxes, sizeof *s->trust);
    for (size_t b = 0; b < boxes; b++) {
        const double F = amplitude_of(db_asu_number(&list, s->taken.boxes.reflection[b].hkl));
        s->intensity[b] = b % 7 ? F * F : -0.1 * F * F;
        s->trust[b] = (float)(0.2 + 0.7 * drawn(b, 1));
    }
    s->objective.trust = s->trust;
    db_experiment_clear(&start);
}

static void slopes_agree_with_differences(void **state) {
    (void)state;
    shot s = { .strong = { 0 } };
    size_t variables[DB_BLOCK_MOST];
    const int half_width = settings.shoebox_half_width;
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
    db_objective_destroy(o);
    db_stage_data_clear(&s.taken);
    db_strong_pixels_clear(&s.strong);
    db_measured_image_clear(&s.image);
    free(s.intensity);
    free(s.trust);
    settings.shoebox_half_width = half_width;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slopes_agree_with_differences),
        cmocka_unit_test(intensities_come_back),
        cmocka_unit_test(shots_are_indexed_one_way),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(processes_do_not_matter),
        cmocka_unit_test(interrupted_runs_go_on),
        cmocka_unit_test(bad_shots_do_no_harm),
        cmocka_unit_test(the_crystal_of_most_shots_is_kept),
        cmocka_unit_test(a_reference_holds_what_shots_show),
        cmocka_unit_test(a_reference_of_another_crystal_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
