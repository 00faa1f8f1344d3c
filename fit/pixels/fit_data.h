/* Data of a refinement: the measured image, and the pixels that are compared with a model. */
#ifndef DB_FIT_PIXELS_FIT_DATA_H
#define DB_FIT_PIXELS_FIT_DATA_H

#include "fit/pixels/strong_pixels.h"

/* An image, its strong pixels, and the settings for them. */
typedef struct db_fit_data {
    const db_measured_image *image;
    const db_strong_pixels *strong;
    const db_fit_settings *settings;
} db_fit_data;

/* Blocks of pixels (shoeboxes or tiles), each with an intensity and a background. */
typedef struct db_fit_blocks {
    size_t count;
    /* 1: the background contains light of other crystals: it is part of the model, and refined
     * backgrounds are added to it */
    int holds_light;
    int oversample;        /* sub-pixels for spots in closed form; 0: the model's */
    double tolerance;      /* photons that a pixel of the model may lack (db_plan_options) */
    db_region *region;     /* offsets and strides address the arrays per pixel */
    float *value;          /* counts */
    float *weight;         /* 1/variance, as far as it is known; 0: not used */
    float *shape_variance; /* part of the variance from the spots' shape error (counts^2) */
    /* local background (counts): start of the refined background, or the fixed one */
    float *background;
    double *ridge; /* [count]: 1/sigma^2 of the prior on the intensity J; NULL: none */
} db_fit_blocks;

#endif
