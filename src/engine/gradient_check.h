/* Are the derivatives right? Compares, on one set-up, those of db_plan_gradient (interface
 * contraction), those of db_plan_oracle (wide dual numbers) and extrapolated central
 * differences of db_plan_forward.
 *
 * Finite differences mean nothing across a kink or jump, which an image has where a sample's
 * nearest node changes (nearest structure factor; shapes other than the parallelepiped; the edge of
 * TOPHAT), where it crosses the resolution limit or passes into another interval of interpolated
 * structure factors or of amorphous amplitudes. For each pixel only steps within which all its
 * samples keep their nodes are used; pixels without two such steps are left out of the comparison
 * with finite differences, and counted. */
#ifndef DB_ENGINE_GRADIENT_CHECK_H
#define DB_ENGINE_GRADIENT_CHECK_H

#include <dualbragg/plan.h>

typedef struct db_gradient_check_options {
    const db_region *regions; /* NULL: all pixels; offset and stride are not used */
    size_t region_count;
    double contraction_tolerance, difference_tolerance;
} db_gradient_check_options;

/* Differences are the largest over the pixels, relative to the largest derivative of the parameter,
 * or to a millionth of brightest pixel/typical step where that is more (a derivative smaller than
 * this is as good as 0). Where slopes cancel, what rounding leaves of them (1e-15 of brightest
 * pixel/typical step) is no difference of the contraction. */
typedef struct db_gradient_check_row {
    db_parameter parameter;
    double largest;          /* largest |derivative| of any pixel (photons per unit) */
    double contraction;      /* gradient - oracle */
    double difference;       /* oracle - finite differences */
    double difference_error; /* estimated error of the finite differences, of the pixels compared */
    double step;             /* largest step (unit of the parameter) */
    size_t compared, excluded; /* pixels */
    int passed;                /* both within the tolerances, and something was compared */
} db_gradient_check_row;

/* Fills one row per parameter. */
db_status db_gradient_check(db_context *context, const db_experiment *experiment,
                            const db_parameter *parameters, size_t parameter_count,
                            const db_gradient_check_options *options, db_gradient_check_row *rows);

#endif
