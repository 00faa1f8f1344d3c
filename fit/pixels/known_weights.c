#include "fit/pixels/known_weights.h"

#include "fit/pixels/strong_pixels.h"

#include <math.h>

static void weigh_block(const db_fit_blocks *blocks, size_t b, const db_fit_settings *settings,
                        double model_error, const db_objective *model, float *weight,
                        float *shape_variance) {
    const db_region *const r = &blocks->region[b];
    const db_block block = model ? db_objective_block(model, b) : (db_block){ .region = *r };
    for (int s = 0; s < r->slow_count; s++) {
        for (int f = 0; f < r->fast_count; f++) {
            const size_t i = r->offset + (size_t)s * r->stride + (size_t)f;
            if (!(weight[i] > 0)) continue;
            const double expected =
                model ? db_block_pixel(&block, model->solution[b].linear, f, s).expected
                      : (double)blocks->value[i];
            const double background = (double)blocks->background[i];
            const double error = model_error * fmax(0, expected - background);
            const double variance = db_pixel_variance(settings, fmax(expected, background));
            shape_variance[i] = (float)(error * error);
            weight[i] = (float)(1 / (variance + error * error));
        }
    }
}

void db_known_weights(const db_fit_blocks *blocks, const db_fit_settings *settings,
                      double model_error, const db_objective *model, float *weight,
                      float *shape_variance) {
    for (size_t b = 0; b < blocks->count; b++)
        weigh_block(blocks, b, settings, model_error, model, weight, shape_variance);
}
