/* Copies shoeboxes with their model into a result, and marks those that are outliers. */
#include "fit/verdict/conclude.h"

#include "base/context_internal.h"
#include "base/quantile.h"
#include "fit/objective/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int allocate_box(db_fit_shoebox *box, size_t pixels) {
    box->measured = malloc(pixels * sizeof *box->measured);
    box->model = malloc(pixels * sizeof *box->model);
    box->sigma = malloc(pixels * sizeof *box->sigma);
    return box->measured && box->model && box->sigma;
}

static void fill_pixels(const db_objective *objective, const db_shoeboxes *boxes, size_t b,
                        db_fit_shoebox *box) {
    const db_block block = db_objective_block(objective, b);
    double sum = 0, square = 0; /* of Z */
    for (size_t i = 0; i < boxes->pixels; i++) {
        const size_t at = b * boxes->pixels + i, width = (size_t)boxes->width;
        const int used = boxes->weight[at] > 0;
        const db_pixel_report pixel = db_block_pixel(&block, objective->solution[b].linear,
                                                     (int)(i % width), (int)(i / width));
        box->measured[i] = boxes->value[at];
        box->model[i] = (float)pixel.expected;
        box->sigma[i] = used ? (float)sqrt(pixel.variance) : 0;
        if (!used) continue;
        const double z = ((double)boxes->value[at] - pixel.expected) / sqrt(pixel.variance);
        sum += z;
        square += z * z;
        /* a factor of known intensities would make the light right whatever they are */
        box->light[0] +=
            objective->rule == DB_INTENSITY_NEAR ? (double)objective->shape[at] : pixel.spot;
        box->light[1] += (double)boxes->value[at] - (pixel.expected - pixel.spot);
        if (fabs(z) > fabs(box->worst_z)) box->worst_z = z;
        box->pixels_used++;
        box->strong_pixels += boxes->strong[at];
        box->strong_explained +=
            boxes->strong[at] &&
            db_pixel_explained(pixel.spot, (double)boxes->value[at], (double)boxes->background[at]);
    }
    const double n = box->pixels_used;
    box->chi2 = square;
    box->sigma_z = n > 0 ? sqrt(fmax(0, square / n - sum * sum / (n * n))) : (double)NAN;
}

static void fill_box_of(const db_objective *objective, const db_shoeboxes *boxes, size_t b,
                        double inflation, db_fit_shoebox *box) {
    const db_linear_solution *const solution = &objective->solution[b];
    memcpy(box->hkl, boxes->reflection[b].hkl, sizeof box->hkl);
    memcpy(box->predicted, boxes->reflection[b].position, sizeof box->predicted);
    memcpy(box->background, solution->linear + 1, sizeof box->background);
    box->d_spacing = boxes->reflection[b].resolution;
    box->region = boxes->region[b];
    box->region.offset = 0;
    box->intensity = solution->linear[0];
    box->intensity_esd = sqrt(solution->variance * inflation);
    if (!db_statistics_centroid_offset(objective, boxes, b, box->centroid_offset))
        box->centroid_offset[0] = box->centroid_offset[1] = NAN;
    fill_pixels(objective, boxes, b, box);
    if (objective->settings->intensity == DB_FIT_FREE) return;
    /* Known amplitudes: the intensity is the sum of the model's counts. */
    box->intensity = 0;
    box->intensity_esd = NAN;
    for (size_t i = 0; i < boxes->pixels; i++)
        box->intensity += solution->linear[0] * (double)objective->shape[b * boxes->pixels + i];
}

/* Boxes far worse than the others: their spots have another shape than the model's, or are not
 * spots. */
static db_status mark_outliers(db_context *context, db_fit_result *result) {
    const double reach = 5, to_deviation = 1.4826; /* of the median of deviations, if normal */
    double *const values = malloc((result->shoebox_count + 1) * sizeof *values);
    if (!values) return db_fail_memory(context, "the outliers");
    size_t n = 0;
    for (size_t b = 0; b < result->shoebox_count; b++)
        if (isfinite(result->shoeboxes[b].sigma_z)) values[n++] = result->shoeboxes[b].sigma_z;
    result->sigma_z_median = result->sigma_z_limit = NAN;
    if (n > 0) {
        result->sigma_z_median = db_median(values, n);
        for (size_t i = 0; i < n; i++) values[i] = fabs(values[i] - result->sigma_z_median);
        result->sigma_z_limit =
            result->sigma_z_median + reach * to_deviation * db_median(values, n);
    }
    for (size_t b = 0; b < result->shoebox_count; b++)
        result->shoeboxes[b].outlier = result->shoeboxes[b].sigma_z > result->sigma_z_limit;
    free(values);
    return DB_OK;
}

db_status db_result_boxes_make(db_context *context, const db_objective *objective,
                               const db_shoeboxes *boxes, double inflation, db_fit_result *result) {
    result->shoeboxes = calloc(boxes->count + 1, sizeof *result->shoeboxes);
    if (!result->shoeboxes) return db_fail_memory(context, "the shoeboxes of the result");
    for (size_t b = 0; b < boxes->count; b++) {
        result->shoebox_count++;
        if (!allocate_box(&result->shoeboxes[b], boxes->pixels))
            return db_fail_memory(context, "the shoeboxes of the result");
        fill_box_of(objective, boxes, b, inflation, &result->shoeboxes[b]);
    }
    return mark_outliers(context, result);
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
