/* Checks the derivatives of one set-up: those of all kernels against wide dual numbers (the oracle), and the
 * oracle against extrapolated differences of images in long double; and the images against one another.
 * Differences of images mean nothing across a kink or jump. An image has these where a sample's nearest node
 * changes (nearest structure factor; shapes other than the parallelepiped; the edge of TOPHAT), crosses the
 * resolution limit, or enters another interval of interpolated structure factors or amorphous amplitudes. So for
 * each pixel only steps are used within which all its samples keep their nodes. Pixels without two such steps are
 * left out of the comparison with differences, and counted. */
#ifndef DB_ENGINE_GRADIENT_CHECK_H
#define DB_ENGINE_GRADIENT_CHECK_H

#include <dualbragg/plan.h>

typedef enum db_check_verdict {
    DB_CHECK_OK,
    DB_CHECK_DIFFERS,
    DB_CHECK_TOO_ROUGH,   /* the differences of images are less exact than their tolerance */
    DB_CHECK_NOT_COMPARED /* most pixels are at kinks, or no step in the parameter is possible */
} db_check_verdict;

/* Makes a derivative wrong, for tests of the check itself: `images` are the oracle's or a kernel's.
 */
typedef void (*db_check_falsify)(void *user, int oracle, db_parameter parameter, double *image,
                                 size_t pixels);

typedef struct db_gradient_check_options {
    const db_region *regions; /* NULL: all pixels; offset and stride are not used */
    size_t region_count;
    /* relative to a parameter's largest derivative; rounding errors are added */
    double contraction_tolerance, difference_tolerance;
    double tolerance; /* photons (db_plan_options); 0: a thousandth of the brightest pixel */
    int all;          /* 0: as many pixels as some seconds allow */
    db_check_falsify falsify; /* NULL: nothing */
    void *falsify_user;
} db_gradient_check_options;

/* Differences are the largest of all pixels, relative to the largest derivative of the parameter, or to a
 * millionth of its natural size (brightest pixel times the largest logarithmic slope of a sample) if that is more:
 * smaller derivatives count as 0. */
typedef struct db_gradient_check_row {
    db_parameter parameter;    /* DB_PARAMETER_COUNT: the image itself */
    double largest;            /* largest |derivative| of any pixel (photons per unit) */
    double contraction;        /* kernels in double - oracle */
    double rounding;           /* estimated bound on the contribution of rounding */
    double mixed;              /* kernels in mixed precision - oracle; NAN: not compared */
    double difference;         /* oracle - differences of images; NAN: not asked for */
    double difference_error;   /* estimated error of the latter, of the pixels compared */
    double step;               /* largest step (unit of the parameter) */
    size_t compared, excluded; /* pixels, of the differences of images */
    db_check_verdict verdict;
    const char *failed; /* the comparison that failed; static storage */
} db_gradient_check_row;

typedef struct db_gradient_check_extent {
    double pixels, tried,
        differenced; /* all; by kernels and oracle; and by differences of images */
    size_t parameters_differenced;
    int without_samples; /* 1: kernels that leave samples out were among those tried */
    double lacking;      /* photons that they left out of a pixel at most, of `tolerance` */
    double tolerance;
} db_gradient_check_extent;

/* Fills one row per parameter, and one more for the image. Progress goes to the context's callback.
 */
db_status db_gradient_check(db_context *context, const db_experiment *experiment,
                            const db_parameter *parameters, size_t parameter_count,
                            const db_gradient_check_options *options, db_gradient_check_row *rows,
                            db_gradient_check_extent *extent);

/* Some of the experiment's parameters beyond the table: weights of sources, if there are several,
 * and structure factors of bright reflections. Returns their number, at most DB_PARAMETER_SLOTS. */
db_status db_gradient_check_beyond_table(db_context *context, const db_experiment *experiment,
                                         const db_gradient_check_options *options,
                                         db_parameter *parameters, size_t *count);

#endif
