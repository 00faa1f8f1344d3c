/* Rendered stills of one crystal. */
#include "fit/stills.h"

#include "fit/rendered_image.h"
#include "fit/shots/joint_stages.h"
#include "support/unit_test.h"

#include <dualbragg/expert/fit_steps.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

still_setup stills = { .start_scale = 1, .start_size = 1, .anomalous = 0.1, .only = KINDS };
static const double d_min = 2.2;

double still_drawn(size_t shot, int number) {
    const double x = sin(12.9898 * (double)(shot + 1) + 78.233 * number) * 43758.5453;
    return x - floor(x);
}

/* Wilson's statistics; Bijvoet mates differ. */
double still_amplitude(uint32_t number) {
    const uint32_t pair = db_asu_pair(&stills.list, number);
    const double d = (double)stills.list.d[number], mean = exp(-10 / (2 * d * d)),
                 first = still_drawn(pair, 7 + stills.other_crystal),
                 own = 1 + stills.anomalous * (still_drawn(number, 8 + stills.other_crystal) - 0.5);
    return sqrt(-log(1 - 0.999 * first) * mean) * own;
}

/* hand: 1, or -1 for the other one. */
db_status stills_fill_amplitudes(db_experiment *e, double factor, int hand) {
    db_structure_factors *const f = &e->structure_factors;
    size_t count = 1, at = 0;
    for (int i = 0; i < 3; i++) {
        f->min[i] = -stills.list.most[i];
        f->extent[i] = 2 * stills.list.most[i] + 1;
        count *= (size_t)f->extent[i];
    }
    free(f->amplitude);
    f->default_F = 0;
    f->amplitude = calloc(count, sizeof *f->amplitude);
    if (!f->amplitude) return DB_ERROR_MEMORY;
    for (int h = -stills.list.most[0]; h <= stills.list.most[0]; h++)
        for (int k = -stills.list.most[1]; k <= stills.list.most[1]; k++)
            for (int l = -stills.list.most[2]; l <= stills.list.most[2]; l++, at++) {
                const int hkl[3] = { hand * h, hand * k, hand * l };
                const uint32_t number = db_asu_number(&stills.list, hkl);
                if (number != DB_NO_REFLECTION) f->amplitude[at] = factor * still_amplitude(number);
            }
    return DB_OK;
}

static db_status describe(db_experiment *e) {
    const double cell[6] = { 34, 34, 48, 90, 90, 90 };
    db_panel *const panel = &e->detector.panels[0];
    memcpy(e->crystal.cell, cell, sizeof cell);
    e->crystal.shape = DB_SHAPE_GAUSS;
    for (int i = 0; i < 3; i++) e->crystal.Ncells[i] = 12;
    e->beam.wavelength = 1;
    e->spread.spots = DB_SPOTS_CLOSED;
    e->spread.mosaic = 0.0144;
    e->spread.bandwidth = 4e-6;
    panel->fast_pixels = panel->slow_pixels = STILL_PIXELS;
    panel->pixel_size[0] = panel->pixel_size[1] = 0.2;
    e->detector.distance = 45;
    e->detector.centre[0] = e->detector.centre[1] = 0.5 * STILL_PIXELS * 0.2;
    e->oversample = 2;
    return stills_fill_amplitudes(e, 1, 1);
}

void still_place(size_t shot, db_experiment *e) {
    for (int i = 0; i < 3; i++) e->crystal.misset[i] = 360 * still_drawn(shot, i);
}

/* Such as an indexing program may choose as well in P4. */
static db_status index_otherwise(db_context *own, db_crystal *crystal) {
    db_indexings ways;
    db_indexings_find(crystal->cell, stills.list.group, 1e-3, &ways);
    return ways.count == 2 ? db_indexing_turn(own, &ways.way[1], crystal) : DB_ERROR_INPUT;
}

/* How a bad shot is rendered; its start is as ever. */
static db_status spoil(size_t shot, db_experiment *e) {
    const int kind = stills.only < KINDS ? stills.only : (int)((shot - stills.good) % KINDS);
    db_status status = DB_OK;
    if (kind == OTHER_LATTICE) {
        e->crystal.cell[0] = e->crystal.cell[1] = 30;
        e->crystal.cell[2] = 55;
    }
    stills.other_crystal = kind == OTHER_CRYSTAL ? 10 : 0;
    if (kind == OTHER_CRYSTAL) status = stills_fill_amplitudes(e, stills.brightness, 1);
    if (kind == OTHER_HAND) status = stills_fill_amplitudes(e, stills.brightness, -1);
    stills.other_crystal = 0;
    if (kind == BLANK) e->beam.scale *= 1e-4;
    if (kind == SATURATED) e->beam.scale *= 300;
    return status;
}

/* As a detector of 16 bits has them, and a reader masks them. */
static void clip(db_measured_image *image) {
    image->overload = 65535;
    for (size_t i = 0; i < STILL_PIXELS * STILL_PIXELS; i++) {
        if (image->value[i] < 65535) continue;
        image->value[i] = 65535;
        image->mask[i] = 1;
        image->masked++;
    }
}

size_t still_image(void *user, size_t shot) {
    (void)user;
    if (stills.images) return shot % stills.images;
    return stills.lattices ? shot - shot % stills.lattices : shot;
}

/* The image of a shot, which other lattices may shine on, too. */
static db_status render(size_t shot, db_context *own, db_experiment *e, db_measured_image *image) {
    enum { MOST = 4 };
    db_crystal crystals[MOST];
    const size_t first = still_image(NULL, shot);
    if (!stills.lattices) return rendered_image(own, e, 1000 + shot, image);
    const db_crystal as_it_is = e->crystal;
    for (size_t k = 0; k < stills.lattices; k++) {
        still_place(first + k * (stills.images ? stills.images : 1), e);
        crystals[k] = e->crystal;
    }
    e->crystal = as_it_is;
    return rendered_lattices(own, e, crystals, stills.lattices, 1000 + first, image);
}

db_status still_load(void *user, db_context *own, size_t shot, db_measured_image *image,
                     db_experiment *start, db_fit_settings *s) {
    (void)user;
    db_experiment e;
    db_status status = db_experiment_copy(own, &stills.truth, &e);
    if (status != DB_OK) return status;
    still_place(stills.width > 0 ? 0 : shot, &e);
    const double scale = e.beam.scale;
    e.beam.scale *= exp(0.6 * (still_drawn(still_image(NULL, shot), 6) - 0.5));
    e.goniometer.phi = stills.width * (double)shot;
    e.goniometer.phi_steps = stills.width > 0 ? 2 : 1;
    e.goniometer.phi_step = stills.width / 2;
    if (stills.other_hand && shot == stills.other_hand)
        status = stills_fill_amplitudes(&e, stills.brightness, -1);
    const int is_bad = stills.good && shot >= stills.good;
    if (status == DB_OK && is_bad) {
#pragma omp critical(spoil)
        status = spoil(shot, &e);
    }
    if (status == DB_OK) status = render(shot, own, &e, image);
    if (status == DB_OK && is_bad) clip(image);
    if (is_bad) memcpy(e.crystal.cell, stills.truth.crystal.cell, sizeof e.crystal.cell);
    e.beam.scale = stills.start_scale * scale;
    if (start && status == DB_OK) {
        const size_t start_of = stills.width > 0 ? 0 : shot;
        for (int i = 0; i < 3; i++)
            e.crystal.misset[i] += 0.06 * (still_drawn(start_of, 3 + i) - 0.5);
        for (int i = 0; i < 3; i++) e.crystal.Ncells[i] *= stills.start_size;
        e.spread.mosaic *= 1.3;
        if (shot % 5 < stills.turned) status = index_otherwise(own, &e.crystal);
        *start = e;
        s->gain = 1;
        return status;
    }
    db_experiment_clear(&e);
    return status;
}

const char *still_name(void *user, size_t shot) {
    (void)user;
    (void)shot;
    return "a shot";
}

int stills_set_up(void **state) {
    (void)state;
    const double cell[6] = { 34, 34, 48, 90, 90, 90 };
    if (db_context_create(&stills.context) != DB_OK ||
        db_asu_list_make(stills.context, cell, "96", d_min, 1, &stills.list) != DB_OK ||
        db_experiment_init(stills.context, &stills.truth) != DB_OK ||
        describe(&stills.truth) != DB_OK)
        return -1;
    /* The brightest spots have some thousand photons. */
    float *const image = malloc(sizeof *image * STILL_PIXELS * STILL_PIXELS);
    double peak = 0;
    db_plan *plan;
    if (!image || db_plan_create(stills.context, &stills.truth, NULL, &plan) != DB_OK) return -1;
    if (db_plan_forward(plan, image) != DB_OK) return -1;
    db_plan_destroy(&plan);
    for (size_t i = 0; i < STILL_PIXELS * STILL_PIXELS; i++) peak = fmax(peak, (double)image[i]);
    free(image);
    if (stills_fill_amplitudes(&stills.truth, stills.brightness = sqrt(4000 / peak), 1) != DB_OK)
        return -1;
    db_fit_settings_init(&stills.settings);
    stills.settings.min_strong_reflections = 10;
    stills.settings.joint.wanted = 1;
    stills.settings.joint.dmin = d_min;
    snprintf(stills.settings.amplitude_group, sizeof stills.settings.amplitude_group, "96");
    for (int p = DB_MISSET_X; p <= (int)DB_MISSET_Z; p++)
        refine_parameter(&stills.settings, (db_parameter)p, -1);
    refine_parameter(&stills.settings, DB_MOSAIC_VARIANCE, -1);
    refine_parameter(&stills.settings, DB_SCALE, -1);
    db_stages_default(stills.context, &stills.settings, 0, 0);
    /* Starts are good: the first stages are not needed. */
    while (stills.settings.stage_count > 2) {
        for (size_t s = 1; s < stills.settings.stage_count; s++)
            copy_stage(&stills.settings, s, s - 1);
        stills.settings.stage_count--;
    }
    return 0;
}

int stills_tear_down(void **state) {
    (void)state;
    db_fit_settings_clear(&stills.settings);
    db_experiment_clear(&stills.truth);
    db_asu_list_clear(&stills.list);
    db_context_destroy(&stills.context);
    return 0;
}

db_fit_shots_result *stills_run(size_t shots) {
    const db_fit_shot_source source = { .count = shots, .load = still_load, .name = still_name };
    db_fit_shots_result *result = NULL;
    if (db_fit_run(stills.context, &source, &stills.settings, NULL, &result) != DB_OK && !result)
        fail_msg("%s", db_context_message(stills.context));
    return result;
}

/* Shots of P4, whose lattice can be indexed in two ways; one is of the other hand. */
static db_asu_list kept_list;
static db_fit_joint kept_joint;
void stills_begin_other_indexing(void) {
    const double cell[6] = { 34, 34, 48, 90, 90, 90 };
    kept_list = stills.list;
    kept_joint = stills.settings.joint;
    stills.settings.joint.dmin = 3;
    snprintf(stills.settings.amplitude_group, sizeof stills.settings.amplitude_group, "75");
    assert_int_equal(db_asu_list_make(stills.context, cell, "75", d_min, 1, &stills.list), DB_OK);
    stills.anomalous = 1.6;
    stills.other_hand = 8;
    assert_int_equal(stills_fill_amplitudes(&stills.truth, stills.brightness, 1), DB_OK);
}

void stills_end_other_indexing(void) {
    db_asu_list_clear(&stills.list);
    stills.list = kept_list;
    stills.settings.joint = kept_joint;
    snprintf(stills.settings.amplitude_group, sizeof stills.settings.amplitude_group, "96");
    stills.anomalous = 0.1;
    stills.turned = stills.other_hand = 0;
    assert_int_equal(stills_fill_amplitudes(&stills.truth, stills.brightness, 1), DB_OK);
}

/* Amplitudes on another scale, with another temperature factor, of which each seventh is missing. */
db_structure_factors stills_known_amplitudes(double scale, double b) {
    db_experiment e;
    assert_int_equal(db_experiment_copy(stills.context, &stills.truth, &e), DB_OK);
    db_structure_factors factors = e.structure_factors;
    e.structure_factors.amplitude = NULL;
    db_experiment_clear(&e);
    size_t at = 0;
    for (int h = -stills.list.most[0]; h <= stills.list.most[0]; h++)
        for (int k = -stills.list.most[1]; k <= stills.list.most[1]; k++)
            for (int l = -stills.list.most[2]; l <= stills.list.most[2]; l++, at++) {
                const uint32_t number = db_asu_number(&stills.list, (const int[3]){ h, k, l });
                if (number == DB_NO_REFLECTION) continue;
                const double d = (double)stills.list.d[number];
                factors.amplitude[at] =
                    db_asu_pair(&stills.list, number) % 7
                        ? scale * still_amplitude(number) * exp(-b / (4 * d * d))
                        : (double)NAN;
            }
    return factors;
}

/* R of intensities, with the scale that fits; pulls beside the truth (root mean square). */
double stills_off_truth(const db_merged *m, double *pull) {
    double top = 0, bottom = 0, off = 0, sum = 0, square = 0, count = 0;
    for (uint32_t h = 0; h < stills.list.count; h++) {
        const double I = pow(still_amplitude(h), 2), weight = 1 / (m->sigma[h] * m->sigma[h]);
        if (!m->multiplicity[h]) continue;
        top += weight * I * m->intensity[h];
        bottom += weight * I * I;
    }
    for (uint32_t h = 0; h < stills.list.count; h++) {
        const double I = top / bottom * pow(still_amplitude(h), 2), far = m->intensity[h] - I;
        if (m->multiplicity[h] < 2) continue;
        off += fabs(far);
        sum += I;
        square += far * far / (m->sigma[h] * m->sigma[h]);
        count++;
    }
    *pull = sqrt(square / count);
    return off / sum;
}
