/* Shoeboxes: squares of pixels around predicted reflections, with the data in them. */
#ifndef DB_FIT_PIXELS_SHOEBOXES_H
#define DB_FIT_PIXELS_SHOEBOXES_H

#include "fit/pixels/fit_data.h"
#include "fit/pixels/predict.h"

/* Least fraction of usable pixels of a box. */
static const double DB_SHOEBOX_USABLE = 0.3;

/* Two reflections share pixels of a box only if they are within three half widths. */
static inline double db_shoebox_sharing_distance(int half_width) { return 3.0 * half_width + 3; }

/* Arrays per pixel: count x pixels, box after box, each row by row. */
typedef struct db_shoeboxes {
    size_t count;
    int width;                 /* of a box (pixels) */
    size_t pixels;             /* width^2 */
    int holds_light;           /* 1: the background holds light of other crystals */
    int holds_parts;           /* 1: boxes are parts of reflections, however weak */
    db_reflection *reflection; /* [count] */
    db_region *region;         /* [count]; offsets into the arrays */
    float *value;              /* counts */
    float *background;         /* local background (counts) */
    uint8_t *own;              /* 1: trusted, and nearer to this reflection than to any other,
                                  and with little light of others */
    uint8_t *strong;           /* 1: strong and own */
    float *weight;             /* 1/variance; 0: not used. NULL until db_shoeboxes_weigh, and: */
    float *shape_variance;     /* part of the variance that is the spots' shape error (counts^2) */
    double *ridge;             /* [count]: 1/sigma^2 of the prior on the intensity J; 0: none */
    double *excess;   /* [count], of bare boxes: counts over the background in own pixels */
    size_t *by_place; /* [count], of bare boxes: their numbers, neighbours after each other */
} db_shoeboxes;

typedef enum db_shoebox_choice {
    DB_SHOEBOXES_ALL,     /* every predicted reflection */
    DB_SHOEBOXES_LIGHT,   /* the same, however few pixels neighbours and edges of panels leave */
    DB_SHOEBOXES_TOUCHED, /* those with any strong pixel: all that can explain some */
    DB_SHOEBOXES_SEEN,    /* those with strong pixels, however few pixels neighbours leave them */
    DB_SHOEBOXES_STRONG,  /* those with strong pixels, or that settings.spots lists, at most
                             settings.max_shoeboxes, strongest first */
    DB_SHOEBOXES_BRIGHT   /* those that the model, with known structure factors, makes brightest,
                             whatever was measured; at most as many; in the region of interest */
} db_shoebox_choice;

static inline int db_is_on_panel(const db_region *r, int fast_pixels, int slow_pixels) {
    return r->fast_start >= 0 && r->slow_start >= 0 &&
           r->fast_start + r->fast_count <= fast_pixels &&
           r->slow_start + r->slow_count <= slow_pixels;
}

/* Square of pixels around a predicted position. */
db_region db_shoebox_square(const db_reflection *reflection, int half_width);

/* Places boxes at the reflections that the experiment predicts down to dmin. A box that reaches
 * over a panel's edge, or has fewer than 30 % usable pixels, is left out. */
db_status db_shoeboxes_place(db_context *context, const db_experiment *experiment,
                             const db_fit_data *data, double dmin, db_shoebox_choice choice,
                             db_shoeboxes *boxes);
/* How many there would be. prediction: NULL: that of the settings' resolution. */
db_status db_shoeboxes_count(db_context *context, const db_experiment *experiment,
                             const db_fit_data *data, const db_prediction *prediction,
                             db_shoebox_choice choice, size_t *count);
/* The same around what the experiment predicts, without data: value, background, strong, weight and
 * shape_variance are NULL. Boxes of many reflections would take far more memory than the image, and
 * longer to get it than to fill it: they are measured in the image (db_boxes_create_in). */
db_status db_shoeboxes_place_bare(db_context *context, const db_experiment *experiment,
                                  const db_fit_data *data, db_shoebox_choice choice,
                                  db_shoeboxes *boxes);
void db_shoeboxes_clear(db_shoeboxes *boxes);

/* Moves a box's data to an earlier place. It has no weights and no ridge yet. */
void db_shoeboxes_move(db_shoeboxes *boxes, size_t from, size_t to);

/* Sub-pixels that the spots of the boxes, in closed form, ask for (db_spots_oversample). */
db_status db_shoeboxes_oversample(db_context *context, const db_shoeboxes *boxes, double error,
                                  int *oversample);

/* Photons that pixels of the boxes may lack: 1e-5 of the peaks that nine of ten of their well excited spots
 * have at least. 0 where spots are sampled, or none is well excited. */
db_status db_shoeboxes_tolerance(db_context *context, const db_experiment *experiment,
                                 const db_shoeboxes *boxes, double *tolerance);

/* The boxes as blocks of pixels; the arrays stay theirs. */
db_fit_blocks db_shoeboxes_blocks(const db_shoeboxes *boxes);

/* Weights: the inverse of photon and readout variance at the larger of local background and
 * measured counts (mean of 3 x 3 pixels), plus (model_error x their excess over the background)^2.
 * They do not depend on the model, so that J and the plane stay linear. */
db_status db_shoeboxes_weigh(db_context *context, const db_fit_settings *settings,
                             double model_error, db_shoeboxes *boxes);

/* Chooses settings->shoebox_half_width: where boxes are given, so that the largest fits; else, if
 * it is 0: the largest, up to the usual one (of wide spots in closed form, one that holds them), with
 * which nine of ten boxes around the reflections that the experiment predicts keep as many pixels from their neighbours as they need (see
 * db_shoeboxes_place). */
db_status db_shoebox_size_choose(db_context *context, const db_experiment *experiment,
                                 db_fit_settings *settings);
/* The same; *prediction: what was predicted for it, of all resolutions that the settings allow, to be cleared by
 * the caller; without reflections (NULL) where the size was known. */
db_status db_shoebox_size_predict(db_context *context, const db_experiment *experiment,
                                  db_fit_settings *settings, db_prediction *prediction);

/* Takes away pixels that the model of another reflection reaches, before the boxes are weighed: a
 * shoebox has one intensity, and light of a neighbour with another would bias the parameters. These
 * are pixels where all other reflections together, were they as strong as the box's own, are above
 * a thousandth of its own highest pixel, or, where boxes are parts of reflections, of that of a
 * whole one. Boxes whose pixels left hold less than half of their own
 * spot, or are too few, go, too. Where fewer than `fewest` boxes would be left, all stay as they
 * are. Own and foreign light are those of the experiment, so that the choice does not depend on
 * what was counted. */
db_status db_overlap_exclude(db_context *context, const db_experiment *experiment,
                             const db_fit_settings *settings, size_t fewest, db_shoeboxes *boxes);

#endif
