/* Error model of measurements, from their deviations from the mean of the others. */
#ifndef DB_FIT_MERGE_ERROR_MODEL_H
#define DB_FIT_MERGE_ERROR_MODEL_H

#include <dualbragg/context.h>

enum { DB_PARTIALITY_RANGES = 5, DB_STRENGTHS = 10, DB_DEVIATIONS = 240 };

/* Variance of a measurement: noise x variance of pixels + relative x expected value^2, for ranges of partiality. */
typedef struct db_error_model {
    double noise[DB_PARTIALITY_RANGES];
    double relative[DB_PARTIALITY_RANGES];
} db_error_model;

/* Squared deviations over the noise of pixels, counted for ranges of partiality and strength. Only doubles, so
 * that counts of many shots can be added as vectors. */
typedef struct db_deviations {
    double count[DB_PARTIALITY_RANGES][DB_STRENGTHS][DB_DEVIATIONS];
    double strength[DB_PARTIALITY_RANGES][DB_STRENGTHS]; /* sum of (expected J / sigma)^2 */
} db_deviations;

int db_partiality_range(double partiality);

/* Median of the square of a standard normal deviate. */
#define DB_MEDIAN_CHI2 0.454936

/* strength: (expected J / sigma)^2; deviation: squared, over sigma^2. */
void db_deviations_add(db_deviations *deviations, int range, double strength, double deviation);

/* The model whose variances have the counted medians. Ranges with few measurements get the model of all. Where all are few,
 * nothing changes; returns 0. */
int db_error_model_fit(const db_deviations *deviations, db_error_model *model);

/* The model of few deviations, or none: the errors of pixels, and more only as far as they say so. */
void db_error_model_of_few(const db_deviations *deviations, db_error_model *model);

/* Variance of a measurement whose noise has the variance `noise` and whose expected value is J. */
static inline double db_error_variance(const db_error_model *model, int range, double noise,
                                       double J) {
    return model->noise[range] * noise + model->relative[range] * J * J;
}

#endif
