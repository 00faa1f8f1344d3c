/* Weights of pixels of a box, from the mean counts of its own pixels among a pixel and its eight neighbours. With
 * a weight from its own noise, a low pixel would count more than a high one. */
#ifndef DB_LOSS_BOX_WEIGHT_H
#define DB_LOSS_BOX_WEIGHT_H

#include "ad/names.h"
#include "loss/count_variance.h"

#include <dualbragg/expert/boxes.h>

/* Noise for the weights. */
typedef struct db_box_noise {
    double gain, readout_noise; /* counts per photon, counts */
    double model_error;         /* of the spots' shape, relative */
} db_box_noise;

typedef struct db_box_weight {
    float weight;         /* 1/variance */
    float shape_variance; /* part of the variance from the spots' shape error */
} db_box_weight;

/* Sum of a value and its two neighbours, in the order of all sums of nine. */
AD_FN float db_sum_three(float before, float at, float after) { return at + (before + after); }
AD_FN float db_sum_rows(float above, float own, float below) { return above + own + below; }

/* Weight of an own pixel. counts: sum of the own pixels among nine, `number` of them. */
AD_FN db_box_weight db_box_weight_of(const db_box_noise *noise, float counts, float number,
                                     float level) {
    const double background = (double)level;
    const double mean = (double)counts / (double)(number > 0 ? number : 1);
    const double excess = mean > background ? mean - background : 0;
    const double shape_error = noise->model_error * excess;
    const double variance =
        db_count_variance(noise->gain, noise->readout_noise, background + excess);
    const double error = shape_error * shape_error;
    const db_box_weight w = { (float)(1 / (variance + error)), (float)error };
    return w;
}

/* Floats of room for weighing boxes of this size; zeros before the first box of a size. */
static inline size_t db_box_weigh_room(size_t width, size_t rows) {
    return 2 * (rows + 2) * width + width + 2;
}

/* Weights of all pixels of a box, row by row; 0: not used. */
DB_API void db_box_weigh(const db_box_noise *noise, size_t width, size_t rows,
                         const unsigned char *own, const float *value, const float *background,
                         float *room, float *shape_variance, float *weight);

#endif
