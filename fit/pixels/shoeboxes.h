/* Shoeboxes: squares of pixels around predicted reflections, with the data in them. */
#ifndef DB_FIT_PIXELS_SHOEBOXES_H
#define DB_FIT_PIXELS_SHOEBOXES_H

#include "fit/pixels/fit_data.h"
#include "fit/pixels/predict.h"
#include <stdint.h>

/* Least fraction of usable pixels of a box. */
static const double DB_SHOEBOX_USABLE = 0.3;

/* Largest distance at which two reflections share pixels of a box: three half widths. */
static inline double db_shoebox_sharing_distance(int half_width) { return 3.0 * half_width + 3; }

/* Arrays per pixel: count x pixels, box after box, each row by row. */
typedef struct db_shoeboxes {
    size_t count;
    int width;           /* of a box (pixels) */
    size_t pixels;       /* width^2 */
    int holds_light;     /* 1: the background holds light of other crystals */
    int holds_parts;     /* 1: boxes are parts of reflections, however weak */
    db_spot *reflection; /* [count] */
    db_region *region;   /* [count]; offsets into the arrays */
    float *value;        /* counts */
    float *background;   /* local background (counts) */
    /* 1: trusted, nearest to this reflection, and with little light of others */
    uint8_t *own;
    uint8_t *strong; /* 1: strong and own */
    /* 1/variance; 0: not used. NULL until db_shoeboxes_weigh, as is shape_variance */
    float *weight;
    float *shape_variance; /* part of the variance that is the spots' shape error (counts^2) */
    double *ridge;         /* [count]: 1/sigma^2 of the prior on the intensity J; 0: none */
    double *excess;        /* [count], bare boxes: counts over the background in own pixels */
    size_t *by_place;      /* [count], bare boxes: their numbers, ordered by place */
} db_shoeboxes;

typedef enum db_shoebox_choice {
    DB_SHOEBOXES_ALL,     /* all predicted reflections */
    DB_SHOEBOXES_LIGHT,   /* all, even with few pixels left by neighbours and edges of panels */
    DB_SHOEBOXES_TOUCHED, /* reflections with any strong pixel, which they might explain */
    /* reflections with strong pixels, even with few pixels left by neighbours */
    DB_SHOEBOXES_SEEN,
    /* reflections with strong pixels, or in settings.spots; at most settings.max_shoeboxes,
     * strongest first */
    DB_SHOEBOXES_STRONG,
    /* reflections brightest by known structure factors, not by counts, in the region of interest; at
     * most settings.max_shoeboxes */
    DB_SHOEBOXES_BRIGHT
} db_shoebox_choice;

static inline int db_is_on_panel(const db_region *r, int fast_pixels, int slow_pixels) {
    return r->fast_start >= 0 && r->slow_start >= 0 &&
           r->fast_start + r->fast_count <= fast_pixels &&
           r->slow_start + r->slow_count <= slow_pixels;
}

/* Square of pixels around a predicted position. */
db_region db_shoebox_square(const db_spot *reflection, int half_width);

/* Places boxes at the reflections that the experiment predicts down to dmin. Leaves out boxes that reach over a
 * panel's edge, or have fewer than 30 % usable pixels. */
db_status db_shoeboxes_place(db_context *context, const db_experiment *experiment,
                             const db_fit_data *data, double dmin, db_shoebox_choice choice,
                             db_shoeboxes *boxes);
/* Number of such boxes. prediction: NULL: of the settings' resolution. */
db_status db_shoeboxes_count(db_context *context, const db_experiment *experiment,
                             const db_fit_data *data, const db_predicted_spots *prediction,
                             db_shoebox_choice choice, size_t *count);
/* Places boxes at the reflections that the experiment predicts, without data: value, background, strong, weight
 * and shape_variance are NULL. Boxes of many reflections would take far more memory than the image, so they are
 * measured in the image (db_boxes_create_in). */
db_status db_shoeboxes_place_bare(db_context *context, const db_experiment *experiment,
                                  const db_fit_data *data, db_shoebox_choice choice,
                                  db_shoeboxes *boxes);
void db_shoeboxes_clear(db_shoeboxes *boxes);

/* Moves a box's data to an earlier place, before it has weights and ridge. */
void db_shoeboxes_move(db_shoeboxes *boxes, size_t from, size_t to);

/* Sub-pixels for the shape of spots in closed form, right to an error of their peaks (db_spots_oversample), and for their
 * photons (db_spots_oversample_for_sums), of which intensities are made. */
db_status db_fit_oversample(db_context *context, const db_predicted_spots *spots, double error,
                            int *oversample);
/* The same for the spots of the boxes. */
db_status db_shoeboxes_oversample(db_context *context, const db_shoeboxes *boxes, double error,
                                  int *oversample);

/* Photons that pixels of the boxes may lack: 1e-5 of the peak that nine of ten of their well excited spots exceed.
 * 0 if spots are sampled, or none is well excited. */
db_status db_shoeboxes_tolerance(db_context *context, const db_experiment *experiment,
                                 const db_shoeboxes *boxes, double *tolerance);

/* The boxes as blocks of pixels, which borrow the arrays. */
db_fit_blocks db_shoeboxes_blocks(const db_shoeboxes *boxes);

/* Weights: the inverse of photon and readout variance at the larger of local background and
 * measured counts (mean of 3 x 3 pixels), plus (model_error x their excess over the background)^2.
 * They do not depend on the model, so that J and the plane stay linear. */
db_status db_shoeboxes_weigh(db_context *context, const db_fit_settings *settings,
                             double model_error, db_shoeboxes *boxes);

/* Chooses settings->shoebox_half_width. With given boxes: so that the largest fits. Else, if it is 0: the largest,
 * up to the usual one (for wide spots in closed form, one that contains them), with which nine of ten boxes around
 * the predicted reflections keep enough pixels from their neighbours (see db_shoeboxes_place). */
db_status db_shoebox_size_choose(db_context *context, const db_experiment *experiment,
                                 db_fit_settings *settings);
/* As db_shoebox_size_choose; *prediction: the predicted reflections, at all resolutions of the settings, to be
 * cleared by the caller; without reflections (NULL) if the size was known. */
db_status db_shoebox_size_predict(db_context *context, const db_experiment *experiment,
                                  db_fit_settings *settings, db_predicted_spots *prediction);

/* Removes pixels with light of other reflections, before boxes are weighed: a shoebox has one intensity, and light
 * of a neighbour with another one would bias the parameters. A pixel is removed if all other reflections together,
 * were they as strong as the box's own, exceed a thousandth of its highest pixel, or, for boxes of parts of
 * reflections, of the highest pixel of a whole one. Boxes whose remaining pixels contain less than half of their
 * spot, or are too few, are removed, too. If fewer than `fewest` boxes would remain, all stay unchanged. The
 * experiment gives own and foreign light, so the choice does not depend on counts. */
db_status db_overlap_exclude(db_context *context, const db_experiment *experiment,
                             const db_fit_settings *settings, size_t fewest, db_shoeboxes *boxes);

/* Shoeboxes of a list: each is any rectangle of pixels. */

/* Assigns boxes to reflections: *given, to be freed, has a box or NULL for each predicted reflection. A box with
 * indices belongs to this reflection, if it is predicted there; a box without to the reflection predicted nearest
 * to its middle. */
db_status db_given_boxes_assign(db_context *context, const db_fit_spots *boxes,
                                const db_predicted_spots *prediction, const db_fit_spot ***given);

/* Half the width (pixels) of squares around the largest box. */
int db_given_boxes_half_width(const db_fit_spots *boxes);

/* Square of pixels around a box, moved to be on a panel of these sizes. */
db_region db_given_box_region(const db_fit_spot *box, int half_width, const int pixels[2]);

/* Clears pixels of the square outside the box; returns whether any are left. */
int db_given_box_pixels(const db_fit_spot *box, const db_region *region, uint8_t *own);

/* Sharing of pixels by neighbouring reflections. */

/* Predicted reflections sorted into square cells of the panels. */
typedef struct db_reflection_grid {
    const db_predicted_spots *prediction;
    double cell;       /* pixels */
    int columns, rows; /* of one panel */
    size_t panels;
    size_t *start;         /* [panels * columns * rows + 1]: first entry of each cell in `entry` */
    size_t *entry;         /* [count]: indices of reflections, cell by cell */
    double (*position)[2]; /* [count]: their positions, in the same order */
} db_reflection_grid;

/* cell: pixels; at least the largest distance at which reflections share pixels. */
db_status db_reflection_grid_make(db_context *context, const db_predicted_spots *prediction,
                                  const db_detector *detector, double cell,
                                  db_reflection_grid *grid);
void db_reflection_grid_clear(db_reflection_grid *grid);

/* Clears own[] at pixels of a square region (fast index fastest) that are nearer to another reflection than to
 * number `reflection`. */
void db_reflection_grid_share(const db_reflection_grid *grid, size_t reflection,
                              const db_region *region, uint8_t *own);

#endif
