#include "fit/synthetic_result.h"

#include "fit/config/found_cell.h"
#include "fit/config/quantity.h"
#include "fit/result/estimates.h"
#include "fit/verdict/warnings.h"

#include <dualbragg/expert/fit_configurations.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HALF = 6, WIDTH = 2 * HALF + 1, EVALUATIONS = 24 };

/* Uniform in 0..1, the same on every machine. */
static double uniform(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) / 16777216.0;
}

static double noise(unsigned *state) { /* about normal, sigma 1 */
    double sum = 0;
    for (int i = 0; i < 12; i++) sum += uniform(state);
    return sum - 6;
}

static double spot(double df, double ds, double width) {
    return exp(-0.5 * (df * df + ds * ds) / (width * width));
}

static void make_image(db_measured_image *image, unsigned *state) {
    const size_t count = (size_t)SYNTHETIC_FAST * SYNTHETIC_SLOW;
    memset(image, 0, sizeof *image);
    image->fast_pixels = SYNTHETIC_FAST;
    image->slow_pixels = SYNTHETIC_SLOW;
    image->value = malloc(count * sizeof *image->value);
    image->mask = calloc(count, 1);
    snprintf(image->format, sizeof image->format, "miniCBF");
    image->wavelength = 0.97;
    image->distance = 200;
    image->pixel_size[0] = image->pixel_size[1] = 0.2;
    image->beam_centre[0] = 211.25;
    image->beam_centre[1] = 188.5;
    image->polarization = 0.98;
    image->phi = 90;
    image->osc_range = 0;
    image->twotheta = NAN;
    image->gain = 1;
    if (!image->value || !image->mask) return;
    for (size_t i = 0; i < count; i++) {
        const double f = (double)(i % SYNTHETIC_FAST) - 211, s = (double)(i / SYNTHETIC_FAST) - 188;
        const double background = 8 + 20 * exp(-(f * f + s * s) / 9000);
        image->value[i] = (float)fmax(0, nearbyint(background + sqrt(background) * noise(state)));
        if (i / SYNTHETIC_FAST % 200 > 192) image->mask[i] = DB_MASK_GAP;
    }
}

static int make_box(const db_measured_image *image, int number, unsigned *state,
                    db_fit_shoebox *box) {
    const int column = number % 10, line = number / 10;
    const double fast = 25 + 39 * column + 8 * uniform(state),
                 slow = 24 + 50 * line + 8 * uniform(state);
    const double height = 500 * exp(-0.06 * number), shift = number % 7 == 3 ? 2.5 : 0.2;
    box->hkl[0] = column - 5;
    box->hkl[1] = line - 3;
    box->hkl[2] = number;
    box->d_spacing = 8 - 0.08 * number;
    box->region = (db_region){ 0, (int)fast - HALF, (int)slow - HALF, WIDTH, WIDTH, 0, WIDTH };
    box->predicted[0] = fast;
    box->predicted[1] = slow;
    box->measured = malloc(sizeof(float) * WIDTH * WIDTH);
    box->model = malloc(sizeof(float) * WIDTH * WIDTH);
    box->sigma = malloc(sizeof(float) * WIDTH * WIDTH);
    if (!box->measured || !box->model || !box->sigma) return 0;
    for (int i = 0; i < WIDTH * WIDTH; i++) {
        const int f = box->region.fast_start + i % WIDTH, s = box->region.slow_start + i / WIDTH;
        const size_t pixel = (size_t)s * SYNTHETIC_FAST + (size_t)f;
        const double true_spot = height * spot(f + 0.5 - fast - shift, s + 0.5 - slow, 1.3);
        image->value[pixel] += (float)nearbyint(true_spot + sqrt(true_spot) * noise(state));
        box->measured[i] = image->value[pixel];
        box->model[i] = (float)(10 + height * spot(f + 0.5 - fast, s + 0.5 - slow, 1.3));
        box->sigma[i] = image->mask[pixel] ? 0 : sqrtf(box->model[i]);
        const float residual =
            box->sigma[i] > 0 ? (box->measured[i] - box->model[i]) / box->sigma[i] : 0;
        box->pixels_used += box->sigma[i] > 0;
        box->chi2 += (double)(residual * residual);
    }
    box->intensity = height * 10;
    box->intensity_esd = sqrt(height * 10) + 10;
    box->strong_pixels = height > 20 ? 9 : 0;
    box->sigma_z = sqrt(box->chi2 / fmax(1, box->pixels_used));
    box->worst_z = number % 2 ? 3.1 : -2.9;
    box->outlier = box->sigma_z > 3;
    box->centroid_offset[0] = height > 20 ? shift : NAN;
    box->centroid_offset[1] = height > 20 ? 0.1 : NAN;
    box->strong_explained = shift < 1 ? box->strong_pixels : 2;
    return 1;
}

static void make_history(db_fit_result *r) {
    for (size_t i = 0; i < r->history_count; i++) {
        db_fit_history *const h = &r->history[i];
        h->value = r->history_values + i * r->estimates.count;
        h->stage = (int)(i * SYNTHETIC_STAGES / r->history_count);
        h->evaluation = (int)(i % (r->history_count / SYNTHETIC_STAGES)) + 1;
        const double decay = exp(-0.2 * (double)i);
        h->target = 1.2 + 60 * decay + (h->stage == 1 ? 2 : 0);
        h->gradient_norm = 100 * decay;
        for (size_t p = 0; p < r->estimates.count; p++)
            h->value[p] = r->estimates.list[p].value +
                          (r->estimates.list[p].start - r->estimates.list[p].value) * decay;
    }
    r->history[4].target = NAN; /* an evaluation that failed */
}

static void make_numbers(db_context *context, db_fit_config *config, db_fit_result *r) {
    static const db_parameter parameters[] = { DB_MISSET_X, DB_CELL_A, DB_CELL_B,
                                               DB_MOSAIC_SPREAD };
    static const double start[] = { 0.2, 58.9, 58.9, 0.1 },
                        refined[] = { 0.0123, 58.412345678901, 58.412345678901, 0 };
    static const double error[] = { 0.0021, 0.0153, NAN, 0.03 };
    r->status = DB_NOT_CONVERGED;
    snprintf(r->reason, sizeof r->reason, "stage fine: mosaic_spread reached its lower bound 0");
    for (size_t i = 0; i < 4; i++) {
        db_fit_parameter p = db_fit_parameter_free(parameters[i]);
        if (parameters[i] != DB_MISSET_X) p.stages = 0;
        p.lower = start[i] - 1;
        p.upper = start[i] + 1;
        if (db_fit_settings_add_parameter(NULL, &config->settings, &p) != DB_OK) abort();
    }
    if (db_estimates_make(context, &config->settings, &r->estimates) != DB_OK) abort();
    for (size_t i = 0; i < 4; i++) {
        r->estimates.list[i].start = start[i];
        r->estimates.list[i].value = refined[i];
        r->estimates.list[i].error = error[i];
        r->estimates.list[i].error_unscaled = error[i] / 1.5;
        r->estimates.list[i].error_scaled = error[i] / 1.2;
        r->estimates.list[i].error_robust = error[i];
        for (size_t k = 0; k < 4; k++)
            r->estimates.correlation[i][k] = i == k             ? 1
                                             : i == 2 || k == 2 ? NAN
                                             : i + k == 1       ? -0.81
                                                                : 0.15;
    }
    config->settings.parameters[0].range = 1;
    config->settings.parameters[2].follows = db_fit_quantity_make(DB_CELL_A, -1);
    config->settings.parameters[1].prior[0] = 58.5;
    config->settings.parameters[1].prior[1] = 0.1;
    config->settings.parameters[3].lower = 0;
    r->estimates.list[3].at_bound = -1;
    r->before =
        (db_fit_statistics){ 11000, SYNTHETIC_BOXES, 660000, 60.1, 31.2, 340, 0.31, 0.42, 2.31 };
    r->after =
        (db_fit_statistics){ 11000, SYNTHETIC_BOXES, 13200, 1.21, 4.3, 340, 0.93, 0.97, 0.34 };
    r->verdict = (db_fit_verdict){ .usable = 1,
                                   .spots = 400,
                                   .at = 380,
                                   .position_rms = 1.14,
                                   .light_part = NAN,
                                   .intensities_usable = 1 };
    for (int k = 0; k < DB_FIT_TESTS; k++)
        r->verdict.test[k] = (db_fit_test){ k < 6 ? 0.5 * k : (double)NAN, 0, INFINITY, 1 };
    r->evaluations = EVALUATIONS;
    r->seconds = 1.5;
    r->estimates.direction_count = 2;
    r->estimates.direction[0].eigenvalue = 0.19;
    r->estimates.direction[0].condition = 9.5;
    r->estimates.direction[0].component[0] = 0.71;
    r->estimates.direction[0].component[1] = -0.7;
    r->estimates.direction[0].change[0] = 0.004;
    r->estimates.direction[0].change[1] = -0.02;
    r->estimates.direction[1].eigenvalue = 1.81;
    r->estimates.direction[1].condition = 1;
    r->estimates.direction[1].component[1] = 0.9;
}

/* Three far off, of which the last is not listed. */
static int make_distrusted(db_fit_result *r) {
    r->distrusted = calloc(3, sizeof *r->distrusted);
    if (!r->distrusted) return 0;
    r->distrusted[0] = (db_fit_pixel){ 0, 117, 93, 4021, 12.5, 811.3, 7.6e-6 };
    r->distrusted[1] = (db_fit_pixel){ 0, 20, 301, 0, 60.25, -7.76, 0.078 };
    r->distrusted_count = 3;
    r->distrusted_listed = 2;
    return 1;
}

static int make_starts(db_fit_result *r) {
    static const db_fit_start starts[2] = {
        { 1, { 0.3, -0.4, 0.1 }, 1.2, 0.8, 7, 0.9, 1 },
        { 0, { 0, 0, 0 }, 1.9, 0.2, 12, NAN, 0 },
    };
    r->starts = malloc(sizeof starts);
    if (!r->starts) return 0;
    memcpy(r->starts, starts, sizeof starts);
    r->start_count = 2;
    return 1;
}

/* Shells and regions with made-up figures; the last region is empty. */
static int make_goodness(db_fit_result *r) {
    r->shells = calloc(5, sizeof *r->shells);
    r->regions = calloc(4, sizeof *r->regions);
    if (!r->shells || !r->regions) return 0;
    for (; r->shell_count < 5; r->shell_count++) {
        const double d = 8 - 1.2 * (double)r->shell_count;
        r->shells[r->shell_count] = (db_fit_shell){
            d, d - 1.2, { 2200, 60 - d, 0.95, 0.2 }, { 2200, 1.8 - 0.1 * d, 0.3, 0.97 }
        };
    }
    for (; r->region_count < 4; r->region_count++) {
        const int a = (int)r->region_count;
        db_fit_region *const region = &r->regions[a];
        *region = (db_fit_region){ 0,
                                   a % 2 * SYNTHETIC_FAST / 2,
                                   a / 2 * SYNTHETIC_SLOW / 2,
                                   SYNTHETIC_FAST / 2,
                                   SYNTHETIC_SLOW / 2,
                                   20,
                                   { 0.3, -0.9 },
                                   { 3000, 60, 0.9, 0.3 },
                                   { 3000, 1.2 + a, 0.3, 0.95 } };
    }
    r->regions[3] = (db_fit_region){
        0, SYNTHETIC_FAST / 2, SYNTHETIC_SLOW / 2,   SYNTHETIC_FAST / 2,  SYNTHETIC_SLOW / 2,
        0, { NAN, NAN },       { 0, NAN, NAN, NAN }, { 0, NAN, NAN, NAN }
    };
    return 1;
}

db_status synthetic_make(db_context *context, synthetic *s) {
    unsigned state = 7;
    memset(s, 0, sizeof *s);
    db_fit_config *const config = &s->config;
    db_fit_result *const r = &s->result;
    db_fit_config_init(config);
    snprintf(config->image_file, sizeof config->image_file, "a<b>&c.cbf");
    snprintf(config->config_file, sizeof config->config_file, "made_up.yaml");
    snprintf(config->command, sizeof config->command, "dualbragg fit made_up.yaml \"data.dmin=2\"");
    const db_fit_found_cell cell = {
        .found = { 400, 305, 4.1, -664 },
        .reduced = { 58.9, 58.9, 152.2, 90, 90, 90 },
        .count = 1,
        .lattice = { { "tP", { 58.9, 58.9, 152.2, 90, 90, 90 }, 0, 297, 1, 1 } },
        .images = 1,
        .agreeing = 1,
        .searches = 1
    };
    if (db_found_cell_keep(context, &cell, config) != DB_OK) abort();
    for (int i = 0; i < 6; i++) config->setup.cell[i] = i < 2 ? 58.9 : i == 2 ? 152.2 : 90;
    make_image(&s->image, &state);
    if (!s->image.value || !s->image.mask) return DB_ERROR_MEMORY;
    r->history_values = calloc(EVALUATIONS * 4, sizeof *r->history_values);
    if (!r->history_values) return DB_ERROR_MEMORY;
    make_numbers(context, config, r);
    for (size_t i = 0; i < SYNTHETIC_STAGES; i++) {
        static const char *const names[] = { "coarse", "medium", "fine" };
        snprintf(config->settings.stages[i].name, DB_FIT_NAME_SIZE, "%s", names[i]);
        config->settings.stages[i].kind = DB_STAGE_NLOPT;
        snprintf(config->settings.stages[i].nlopt, DB_FIT_NAME_SIZE, "LD_LBFGS");
        config->settings.stages[i].blur = 1;
        config->settings.stages[i].tolerance = 1e-4;
        config->settings.stages[i].max_evaluations = 100;
    }
    config->settings.stage_count = SYNTHETIC_STAGES;
    r->history = calloc(EVALUATIONS, sizeof *r->history);
    r->shoeboxes = calloc(SYNTHETIC_BOXES, sizeof *r->shoeboxes);
    if (!r->history || !r->shoeboxes || !make_goodness(r) || !make_distrusted(r) || !make_starts(r))
        return DB_ERROR_MEMORY;
    r->estimates.shared_misfit = 1.7;
    r->trials = calloc(1, sizeof *r->trials);
    if (!r->trials) return DB_ERROR_MEMORY;
    r->distance_step = -0.4;
    r->distance_error = 0.3;
    r->distance_gain = 1.2;
    r->all_spots = 412;
    r->left_spots = 60;
    r->other_lattice = (db_fit_orientation){ 55, 31, 1.5, -60 };
    r->trials[r->trial_count++] = (db_fit_trial){ 1, 1, 0, 12.5, 11.25, 340, 0.25 };
    r->sigma_z_median = 1.1;
    r->sigma_z_limit = 3;
    r->history_count = EVALUATIONS;
    make_history(r);
    for (; r->shoebox_count < SYNTHETIC_BOXES; r->shoebox_count++)
        if (!make_box(&s->image, (int)r->shoebox_count, &state, &r->shoeboxes[r->shoebox_count]))
            return DB_ERROR_MEMORY;
    const db_status status =
        db_fit_config_start(context, config, &s->image, &r->experiment, NULL, NULL);
    if (status != DB_OK) return status;
    for (size_t i = 0; i < r->estimates.count; i++)
        db_parameter_set(&r->experiment, r->estimates.list[i].parameter,
                         r->estimates.list[i].value);
    return db_fit_warnings_make(context, r);
}

const db_fit_shots_result *synthetic_list(synthetic *s) {
    db_fit_result *const r = &s->result;
    r->name = s->config.image_file;
    r->used = 1;
    r->crystal = 1;
    s->list = (db_fit_shots_result){ .status = r->status,
                                     .in_full = 1,
                                     .estimates = r->estimates,
                                     .seconds = r->seconds,
                                     .history = r->history,
                                     .history_count = r->history_count,
                                     .shot_count = 1,
                                     .shot = r };
    memcpy(s->list.reason, r->reason, sizeof s->list.reason);
    return &s->list;
}

void synthetic_clear(synthetic *s) {
    db_fit_result *const r = &s->result;
    for (size_t i = 0; i < r->shoebox_count; i++) {
        free(r->shoeboxes[i].measured);
        free(r->shoeboxes[i].model);
        free(r->shoeboxes[i].sigma);
    }
    free(r->shoeboxes);
    free(r->history);
    free(r->history_values);
    free(r->estimates.memory);
    free(r->shells);
    free(r->regions);
    free(r->distrusted);
    free(r->warnings);
    free(r->advice);
    free(r->starts);
    free(r->trials);
    db_experiment_clear(&r->experiment);
    db_fit_config_clear(&s->config);
    free(s->image.value);
    free(s->image.mask);
}
