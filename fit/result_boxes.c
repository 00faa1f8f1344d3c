#include "fit/result_boxes.h"

#include "core/context_internal.h"
#include "fit/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int allocate(db_fit_shoebox *box, size_t pixels) {
    box->measured = malloc(pixels * sizeof *box->measured);
    box->model = malloc(pixels * sizeof *box->model);
    box->sigma = malloc(pixels * sizeof *box->sigma);
    return box->measured && box->model && box->sigma;
}

static void fill_pixels(const db_target *target, const db_shoeboxes *boxes, size_t b,
                        db_fit_shoebox *box) {
    const double *const linear = target->solution[b].linear;
    for (size_t i = 0; i < boxes->pixels; i++) {
        const size_t at = b * boxes->pixels + i, width = (size_t)boxes->width;
        const double bragg = linear[0] * (double)target->shape[at];
        const double plane =
            db_block_plane(linear, &boxes->region[b], (int)(i % width), (int)(i / width));
        const double weight = (double)boxes->weight[at];
        box->measured[i] = boxes->value[at];
        box->model[i] = (float)(bragg + plane);
        box->sigma[i] = weight > 0 ? (float)(1 / sqrt(weight)) : 0;
        if (!(weight > 0)) continue;
        const double residual = (double)boxes->value[at] - bragg - plane;
        box->chi2 += weight * residual * residual;
        box->pixels_used++;
        box->strong_pixels += boxes->strong[at];
        box->strong_explained +=
            boxes->strong[at] &&
            db_pixel_explained(bragg, (double)boxes->value[at], (double)boxes->background[at]);
    }
}

static void fill(const db_target *target, const db_shoeboxes *boxes, size_t b, double inflation,
                 db_fit_shoebox *box) {
    const db_varpro_solution *const solution = &target->solution[b];
    memcpy(box->hkl, boxes->reflection[b].hkl, sizeof box->hkl);
    memcpy(box->predicted, boxes->reflection[b].position, sizeof box->predicted);
    memcpy(box->background, solution->linear + 1, sizeof box->background);
    box->d_spacing = boxes->reflection[b].d_spacing;
    box->region = boxes->region[b];
    box->region.offset = 0;
    box->intensity = solution->linear[0];
    box->intensity_esd = sqrt(solution->intensity_variance * inflation);
    fill_pixels(target, boxes, b, box);
    if (target->settings->intensity == DB_FIT_FREE) return;
    /* Known amplitudes: the intensity is what the model adds up to. */
    box->intensity = 0;
    box->intensity_esd = NAN;
    for (size_t i = 0; i < boxes->pixels; i++)
        box->intensity += solution->linear[0] * (double)target->shape[b * boxes->pixels + i];
}

db_status db_result_boxes_make(db_context *context, const db_target *target,
                               const db_shoeboxes *boxes, double inflation, db_fit_result *result) {
    result->shoeboxes = calloc(boxes->count + 1, sizeof *result->shoeboxes);
    if (!result->shoeboxes) return db_fail_memory(context, "the shoeboxes of the result");
    for (size_t b = 0; b < boxes->count; b++) {
        result->shoebox_count++;
        if (!allocate(&result->shoeboxes[b], boxes->pixels))
            return db_fail_memory(context, "the shoeboxes of the result");
        fill(target, boxes, b, inflation, &result->shoeboxes[b]);
    }
    return DB_OK;
}

void db_result_boxes_free(db_fit_result *result) {
    for (size_t b = 0; b < result->shoebox_count; b++) {
        free(result->shoeboxes[b].measured);
        free(result->shoeboxes[b].model);
        free(result->shoeboxes[b].sigma);
    }
    free(result->shoeboxes);
    result->shoeboxes = NULL;
    result->shoebox_count = 0;
}
