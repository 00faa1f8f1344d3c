/* Colours of pixel values. */
#ifndef DB_IO_COLOUR_H
#define DB_IO_COLOUR_H

#include <dualbragg/io.h>

enum { DB_COLOUR_LEVELS = 1024 };

/* The scale of one picture. */
typedef struct db_colour_scale {
    uint8_t level[DB_COLOUR_LEVELS][3]; /* red, green, blue from the low to the high end */
    uint8_t missing[3];                 /* of pixels that are NAN */
    float low, high;                    /* values at the ends; low < high */
} db_colour_scale;

/* Builds the scale; ends that are NAN are chosen from the pixels. */
db_status db_colour_scale_make(db_context *context, db_colour_map map, const float *pixels,
                               size_t count, double low, double high, db_colour_scale *scale);

/* The colour of a value. */
const uint8_t *db_colour_of(const db_colour_scale *scale, float value);

#endif
