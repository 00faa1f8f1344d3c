/* A picture of a measured image, by itself or with spots: as PNG or as a page. */
#ifndef DB_FIT_REPORT_VIEW_H
#define DB_FIT_REPORT_VIEW_H

#include "fit/pixels/observed_spots.h"
#include "fit/report/panel_layout.h"

#include <dualbragg/spots.h>

typedef enum db_view_colours {
    DB_VIEW_GREY, /* black on white */
    DB_VIEW_INVERTED,
    DB_VIEW_HEAT
} db_view_colours;

enum { DB_VIEW_MOST_RINGS = 9, DB_VIEW_MOST_NOTES = 8, DB_VIEW_NOTE = 512 };

typedef struct db_view_options {
    db_view_colours colours;
    int logarithmic;
    double counts[2];     /* ends of the scale; NAN: open */
    double percentile[2]; /* ends of the scale as percentiles of the trusted pixels; NAN: open */
    int bin;              /* pixels of the image per pixel of the picture, each way; 0: by `size` */
    int size;             /* longest side of a PNG (pixels) */
    /* part of the picture of all panels: first fast, slow, counts fast, slow; counts 0: all */
    int part[4];
    int ring_count;                  /* -1: chosen */
    double ring[DB_VIEW_MOST_RINGS]; /* A */
} db_view_options;

typedef struct db_view {
    const char *title; /* name of the image */
    const db_measured_image *image;
    const db_experiment *experiment; /* NULL: the place of the detector is unknown */
    db_panel_layout layout;
    const db_observed_spots *observed;
    const db_predicted_spots *predicted;
    size_t note_count;
    char note[DB_VIEW_MOST_NOTES][DB_VIEW_NOTE]; /* notes about unknown facts */
} db_view;

/* Reason why a pixel is not trusted; the highest one that holds. */
enum { DB_VIEW_TRUSTED, DB_VIEW_GAP, DB_VIEW_BAD, DB_VIEW_OVERLOAD };

/* A part of the picture in bins of pixels. */
typedef struct db_view_pixels {
    int first[2]; /* in the picture */
    int fast, slow, bin;
    float *value;     /* largest trusted value; without one, of any pixel; NAN */
    uint8_t *kind;    /* DB_VIEW_*: for bins without a trusted pixel, and with overloads */
    double low, high; /* ends of the scale */
} db_view_pixels;

/* most: most pixels along a side, 0: any number; it decides the bins unless options->bin does; at most
 * `most_count` in all. */
db_status db_view_pixels_make(db_context *context, const db_view *view,
                              const db_view_options *options, int most, double most_count,
                              db_view_pixels *pixels);
void db_view_pixels_clear(db_view_pixels *pixels);

db_status db_view_write_png(db_context *context, const char *path, const db_view *view,
                            const db_view_options *options);
db_status db_view_write_html(db_context *context, const char *path, const db_view *view,
                             const db_view_options *options);

#endif
