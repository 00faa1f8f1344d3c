/* Amplitudes from intensities that may be negative (S. French & K. Wilson, Acta Cryst. A34 (1978) 517): the
 * posterior mean of F. True intensities are positive, and distributed around the mean at their resolution by
 * Wilson's law. */
#ifndef DB_FIT_MERGE_FRENCH_WILSON_H
#define DB_FIT_MERGE_FRENCH_WILSON_H

#include "fit/merge/observations.h"
#include "fit/merge/shells.h"

/* Posterior mean and standard deviation of F for a measured intensity with the error sigma > 0; mean: the expected
 * intensity, > 0. Numerical integrals, valid however negative or large I is. */
void db_french_wilson(double intensity, double sigma, double mean, int centric, double *F,
                      double *sigma_F);

/* Expected intensity at each resolution: means of shells, relative to epsilon. */
typedef struct db_wilson_mean {
    db_shells shells;
    double mean[DB_MOST_SHELLS]; /* > 0 */
} db_wilson_mean;

/* From merged intensities. A shell without any gets the mean of the shell before; a mean below its error becomes
 * the error. */
void db_wilson_mean_make(const db_asu_list *list, const double *intensity, const double *sigma,
                         const db_shells *shells, db_wilson_mean *mean);

/* The mean at a resolution: between middles of shells its logarithm is linear in 1/d^3. */
double db_wilson_mean_at(const db_wilson_mean *mean, double d);

/* F and its error for all reflections of a list; NAN without intensity. */
void db_amplitudes_of(const db_asu_list *list, const db_wilson_mean *mean, const double *intensity,
                      const double *sigma, double *F, double *sigma_F);

#endif
