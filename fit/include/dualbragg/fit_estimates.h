/** @file
 * Estimates of refined parameters, for one shot and for shared parameters of many. */
#ifndef DUALBRAGG_FIT_ESTIMATES_H
#define DUALBRAGG_FIT_ESTIMATES_H

#include <dualbragg/parameters.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Estimate of a parameter. A standard error is NAN if the parameter is
 * tied or at its bound, INFINITY if the data do not determine it. */
typedef struct db_fit_estimate {
    const char *name; /**< db_fit_quantity_name; valid as long as the result */
    const char *unit;
    db_parameter parameter;
    int at_bound; /**< -1 lower, 1 upper, 0 inside */
    int shared;   /**< 1: all shots have one value; 0: each has its own; a single shot: 1 */
    int by_crystal; /**< 1: not shared, but one value for all frames of a crystal, of a series of several */
    double start;
    double value;
    double error_unscaled; /**< from the variances alone */
    /** error_unscaled times sqrt(chi2_reduced) if it
     * exceeds 1: misfit counts as additional noise */
    double error_scaled;
    /** from the scatter between parts of the data (shoeboxes, tiles, shots), or
     * between regions of the detector if these scatter more: needs neither the
     * right noise nor independent residuals within a part; NAN: too few parts */
    double error_robust;
    /** the one to quote: the larger of the last two, with what a held distance adds in squares */
    double error;
    /** 1: not shared, but one value for all frames of a series with one setting (db_fit_setting) */
    int by_setting;
} db_fit_estimate;

/** A combination of parameters: an eigenvector of the normal matrix J^T J scaled to unit
 * diagonal, so that the unit of each parameter is its error with all others known. */
typedef struct db_fit_direction {
    /** from 0, the data do not determine it, to the number of parameters; 1 for all if no two
     * parameters are correlated */
    double eigenvalue;
    double condition;  /**< largest eigenvalue over this one; INFINITY: not determined */
    double *component; /**< of the parameters; a unit vector; the largest is positive */
    /** of the parameters, in their units: one standard deviation along this direction, which raises
     * chi2 by 1; NAN: not determined */
    double *change;
} db_fit_direction;

/** Estimates of the parameters of the settings, in their order, with correlations. */
typedef struct db_fit_estimates {
    size_t count;
    db_fit_estimate *list;
    double **correlation; /**< [i][k]: 1 on the diagonal; 0: not defined; NULL for one of many
                               shots */
    db_fit_direction
        *direction; /**< the worst determined first; 0 for parameters that are not shared */
    size_t direction_count;
    /** scatter between regions of the detector, divided by the scatter expected from
     * their shoeboxes (a ratio of standard deviations, over all directions; 1 if it
     * may be chance): above 1 if neighbours miss the data in the same direction */
    double shared_misfit;
    void *memory; /**< owned: behind all lists */
} db_fit_estimates;

#ifdef __cplusplus
}
#endif
#endif
