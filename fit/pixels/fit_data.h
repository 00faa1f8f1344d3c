/* What is measured, and the pixels of it that a refinement compares with a model. */
#ifndef DB_FIT_PIXELS_FIT_DATA_H
#define DB_FIT_PIXELS_FIT_DATA_H

#include "fit/pixels/strong_pixels.h"

/* An image, its strong pixels, and how to treat them. */
typedef struct db_fit_data {
    const db_measured_image *image;
    const db_strong_pixels *strong;
    const db_fit_settings *settings;
} db_fit_data;

/* Blocks of pixels (shoeboxes or tiles), each with an intensity and a background. */
typedef struct db_fit_blocks {
    size_t count;
    int holds_light;       /* 1: the background holds light of other crystals: it is a part of the
                              model, and what is refined of a background comes on top */
    int oversample;        /* sub-pixels that spots in closed form ask for; 0: the model's */
    double tolerance;      /* photons that a pixel of the model may lack (db_plan_options) */
    db_region *region;     /* offsets and strides address the arrays per pixel */
    float *value;          /* counts */
    float *weight;         /* 1/variance as far as known beforehand; 0: not used */
    float *shape_variance; /* what of the variance is the spots' shape error (counts^2) */
    float *background;     /* local background (counts): where the iteration for the background
                              begins, and what it is where it is fixed */
    double *ridge;         /* [count]: 1/sigma^2 of the prior on the intensity J; NULL: none */
} db_fit_blocks;

#endif
