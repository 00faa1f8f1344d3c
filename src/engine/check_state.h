/* Shared by the parts of a check of the derivatives. Images are numbered: one for each parameter, then the image
 * itself. */
#ifndef DB_ENGINE_CHECK_STATE_H
#define DB_ENGINE_CHECK_STATE_H

#include "base/context_internal.h"

#include <dualbragg/plan.h>
#include <math.h>

/* Pieces of rows, one behind the other in an image. */
typedef struct db_check_pixels {
    db_region *strip;
    size_t strips, pixels;
    /* of thinned pixels: the element, in the original ones, of each strip's first pixel */
    size_t *origin;
} db_check_pixels;

/* Chooses all pixels of the regions if they are at most `wanted`, else about `wanted`: some evenly spread, most at
 * the brightest reflections predicted. The same arguments give the same pixels. */
db_status db_check_pixels_choose(db_context *context, const db_experiment *experiment,
                                 const db_region *regions, size_t region_count, double wanted,
                                 db_check_pixels *chosen);

/* Strips [first, end) of these pixels. */
db_status db_check_pixels_part(db_context *context, const db_check_pixels *from, size_t first,
                               size_t end, db_check_pixels *part);

/* Chooses all of these pixels, or about `wanted` of them: the middle of each strip, or of evenly spread strips. */
db_status db_check_pixels_thin(db_context *context, const db_check_pixels *from, double wanted,
                               db_check_pixels *chosen);

void db_check_pixels_clear(db_check_pixels *pixels);

enum { DB_CHECK_MOST = DB_PARAMETER_COUNT + DB_PARAMETER_SLOTS + 1 };

/* Kernels by the parameters of their plans, and by how they work. */
enum { DB_CHECK_ALL, DB_CHECK_TABLE, DB_CHECK_WITHOUT_CELLS, DB_CHECK_SETS };
enum {
    DB_CHECK_DOUBLE,
    DB_CHECK_MIXED,
    DB_CHECK_DOUBLE_CUT, /* with a tolerance */
    DB_CHECK_MIXED_CUT,
    DB_CHECK_WAYS
};

typedef double db_check_values[DB_CHECK_MOST];

typedef struct db_check {
    db_context context; /* a quiet copy of the caller's */
    const struct db_gradient_check_options *options;
    const db_experiment *experiment;
    const db_parameter *parameters;
    size_t count;
    double cut; /* the tolerance of kernels that leave samples out (photons) */
    double largest_index;
    /* of the kernel in double: the largest value, and slope of a sample */
    db_check_values largest, slope;
    /* scales for differences: differences are relative to unit */
    db_check_values unit, natural;
    db_check_values probed, probed_fine;                 /* largest change by a probe of rounding */
    db_check_values worst[DB_CHECK_SETS][DB_CHECK_WAYS]; /* of kernels; -infinity: not tried */
    int used[DB_CHECK_SETS][DB_CHECK_WAYS];              /* 1: there is such a kernel */
    double lacking;                                      /* photons */
    size_t tried, jumping; /* pixels; at a kink or jump so close that rounding may cross it */
    /* of differences of images; step 0: none wanted */
    db_check_values step, difference, difference_error;
    int sided[DB_CHECK_MOST]; /* -1, 0, 1: the side on which the parameter can be moved; 0 both */
    size_t compared[DB_CHECK_MOST], excluded[DB_CHECK_MOST];
} db_check;

/* A batch of pixels, with the oracle's images. */
typedef struct db_check_batch {
    const db_check_pixels *pixels;
    double *oracle[DB_CHECK_MOST];
    double *slope[DB_CHECK_MOST];
    unsigned char *jumps; /* 1: not to be compared */
} db_check_batch;

/* Keeps the larger one; a NaN is the worst of all and stays. */
static inline void db_check_keep_worst(double *worst, double value) {
    if (!isnan(*worst) && !(value <= *worst)) *worst = value;
}

/* Has kernels, oracle and probes render the pixels of a batch and compares them; the oracle's
 * images stay in the batch. */
db_status db_check_kernels(db_check *check, db_check_batch *batch);

/* Values that all comparisons are relative to: the largest of these pixels, slopes from `sloped`
 * of them. */
db_status db_check_scan(db_check *check, const db_check_pixels *pixels, double sloped);

/* Finds a step for parameter number k, and the sides on which it can be taken; step 0: none is possible. */
db_status db_check_find_step(db_check *check, size_t k);

/* Compares parameter number k (or the image) with differences of images, in some of the batch's
 * pixels. */
db_status db_check_differences(db_check *check, const db_check_batch *batch,
                               const db_check_pixels *pixels, size_t k);

#endif
