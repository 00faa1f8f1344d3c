/* Agreement of a model with the data. */
#include "fit/objective/statistics.h"

#include "base/context_internal.h"
#include "base/threads.h"
#include "fit/pixels/measured_image.h"

#include <math.h>
#include <string.h>

/* left_out: pixels of blocks without weight. */
static void add_block(const db_objective *objective, size_t b, db_residual_sums *m,
                      double *left_out) {
    const db_block block = db_objective_block(objective, b);
    const db_region *const r = &block.region;
    const int counts = db_objective_trust(objective, b) > 0;
    for (int s = 0; s < r->slow_count; s++) {
        for (int f = 0; f < r->fast_count; f++) {
            const size_t i = r->offset + (size_t)s * r->stride + (size_t)f;
            if (!(block.weight[i] > 0)) continue;
            if (!counts) {
                ++*left_out;
                continue;
            }
            const db_pixel_report pixel =
                db_block_pixel(&block, objective->solution[b].linear, f, s);
            db_residual_add(m, pixel.trust / pixel.variance,
                            (double)block.value[i] - (pixel.expected - pixel.spot), pixel.spot);
        }
    }
}

void db_statistics_residuals(const db_objective *objective, db_fit_statistics *statistics) {
    db_residual_sums m = { 0 };
    double left_out = 0;
    for (size_t b = 0; b < objective->blocks.count; b++) add_block(objective, b, &m, &left_out);
    const double pixels = (double)m.pixels,
                 degrees = objective->degrees * pixels / fmax(1, pixels + left_out);
    const double correlation = db_residual_correlation(&m);
    statistics->pixels = m.pixels;
    statistics->chi2 = m.chi2;
    statistics->chi2_reduced = m.chi2 / degrees;
    statistics->rms_residual = sqrt(m.square / (double)m.pixels);
    statistics->correlation = isnan(correlation) ? 0 : correlation;
}

/* Sums over the strong pixels of a box. */
static db_place_sums observed_sums(const db_shoeboxes *boxes, size_t b) {
    db_place_sums m = { 0 };
    for (int s = 0; s < boxes->width; s++) {
        for (int f = 0; f < boxes->width; f++) {
            const size_t i = b * boxes->pixels + (size_t)(s * boxes->width + f);
            if (boxes->strong[i])
                db_place_add((double)boxes->value[i] - (double)boxes->background[i], f, s, &m);
        }
    }
    return m;
}

/* Observed centroid over the strong pixels, model centroid over all own pixels. */
int db_statistics_centroid_offset(const db_objective *objective, const db_shoeboxes *boxes,
                                  size_t b, double offset[2]) {
    const double *const linear = objective->solution[b].linear;
    const db_place_sums observed = observed_sums(boxes, b);
    db_place_sums model = { 0 };
    for (int s = 0; s < boxes->width; s++) {
        for (int f = 0; f < boxes->width; f++) {
            const size_t i = b * boxes->pixels + (size_t)(s * boxes->width + f);
            if (boxes->own[i]) db_place_add(linear[0] * (double)objective->shape[i], f, s, &model);
        }
    }
    if (!(observed.weight > 0) || !(model.weight > 0)) return 0;
    offset[0] = observed.fast / observed.weight - model.fast / model.weight;
    offset[1] = observed.slow / observed.weight - model.slow / model.weight;
    return 1;
}

void db_statistics_centroids(const db_objective *objective, const db_shoeboxes *boxes,
                             db_fit_statistics *statistics) {
    double sum = 0, offset[2];
    size_t count = 0;
    for (size_t b = 0; b < boxes->count; b++) {
        if (!db_statistics_centroid_offset(objective, boxes, b, offset)) continue;
        sum += offset[0] * offset[0] + offset[1] * offset[1];
        count++;
    }
    statistics->shoeboxes = boxes->count;
    statistics->centroid_rms = count ? sqrt(sum / (double)count) : NAN;
}

static size_t explained_in_block(const db_objective *objective, const db_fit_data *data, size_t b) {
    const db_region *const r = &objective->blocks.region[b];
    size_t count = 0;
    for (int s = 0; s < r->slow_count; s++) {
        const size_t first = db_measured_index(data->image, r, 0, s);
        const uint8_t *const row = data->strong->strong + first, *const end = row + r->fast_count;
        for (const uint8_t *next = row;
             next < end && (next = memchr(next, 1, (size_t)(end - next))) != NULL; next++) {
            const size_t fast = (size_t)(next - row), at = first + fast,
                         i = r->offset + (size_t)s * r->stride + fast;
            if (!(objective->blocks.weight[i] > 0)) continue;
            const double bragg = objective->solution[b].linear[0] * (double)objective->shape[i];
            count += (size_t)db_pixel_explained(bragg, (double)data->image->value[at],
                                                (double)data->strong->background[at]);
        }
    }
    return count;
}

size_t db_statistics_explained(const db_objective *objective, const db_fit_data *data) {
    const long blocks = (long)objective->blocks.count;
    size_t count = 0;
#pragma omp parallel for num_threads(db_threads(objective->context)) reduction(+ : count)
    for (long b = 0; b < blocks; b++) count += explained_in_block(objective, data, (size_t)b);
    return count;
}

db_status db_statistics_strong_pixels(db_context *context, const db_experiment *experiment,
                                      const db_fit_data *data, size_t *count) {
    const int columns = data->image->fast_pixels;
    db_fit_geometry geometry;
    DB_TRY(db_fit_geometry_of(context, experiment, &geometry));
    *count = 0;
    for (size_t p = 0; p < db_measured_panels(data->image); p++) {
        const int top = db_measured_first_row(data->image, p),
                  rows = db_measured_rows(data->image, p);
        for (int slow = 0; slow < rows; slow++) {
            const uint8_t *const begin =
                data->strong->strong + (size_t)(top + slow) * (size_t)columns;
            const uint8_t *const end = begin + columns;
            for (const uint8_t *next = begin;
                 next < end && (next = memchr(next, 1, (size_t)(end - next))) != NULL; next++) {
                const double middle[2] = { (double)(next - begin) + 0.5, slow + 0.5 };
                *count += (size_t)db_fit_geometry_is_wanted(&geometry, data->settings, p, middle);
            }
        }
    }
    db_fit_geometry_clear(&geometry);
    return DB_OK;
}
