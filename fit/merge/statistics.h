/* How much merged intensities can be trusted, by resolution (docs/theory/merging.md). */
#ifndef DB_FIT_MERGE_STATISTICS_H
#define DB_FIT_MERGE_STATISTICS_H

#include "fit/merge/observations.h"
#include "fit/merge/shells.h"
#include "fit/merge/asymmetric_unit.h"

#include <math.h>
#include <stddef.h>

/* NAN: not defined, as in a shell without reflections, or for a correlation of constants. Bijvoet
 * mates count as reflections of their own unless something else is said. */
typedef struct db_merge_shell {
    double d_max, d_min;          /* angstrom */
    size_t possible, measured;    /* reflections, Bijvoet mates as one */
    double completeness;          /* 0 to 1 */
    double multiplicity;          /* measurements for each of the measured */
    size_t pairs, pairs_measured; /* of Bijvoet mates */
    double mean_intensity, mean_i_over_sigma;
    size_t half_pairs; /* reflections that both halves of the shots show */
    double
        cc_half; /* correlation of the halves (P. A. Karplus & K. Diederichs, Science 336 (2012) 1030) */
    double cc_star;      /* estimate of that with the true intensities: sqrt(2 CC / (1 + CC)) */
    double r_split;      /* sum |I1 - I2| / sum (I1 + I2) x sqrt(2) (T. A. White et al., J. Appl.
                          Cryst. 45 (2012) 335) */
    double cc_anomalous; /* correlation of the halves' Bijvoet differences */
    /* The same two, each value counted as 1 / (1 + variance / S^2), with the variance of what is
     * correlated (of both halves) and S the mean intensity of the reflection's resolution */
    double cc_half_weighted, cc_anomalous_weighted;
    size_t anomalous_pairs;
    size_t reference_count;           /* reflections that a reference has, too */
    double cc_reference, r_reference; /* of intensities, after scale and B of the reference:
                                            correlation; sum |I - I0| / sum |I0| */
    size_t reference_pairs;           /* pairs of Bijvoet mates that both have */
    double cc_anomalous_reference;    /* correlation of their differences */
} db_merge_shell;

/* Scale k and B that bring a reference's intensities to others: k exp(-B / (2 d^2)), by least
 * squares with the standard deviations of the latter and 10 % of the reference. Intensities that do
 * not tell B have 0, and the ratio of sums as k. */
typedef struct db_reference_scale {
    double k, b;
    size_t count; /* reflections that both have */
} db_reference_scale;

/* reference, intensity, sigma: [list->count], NAN where there is none; sigma may be INFINITY there. */
db_reference_scale db_reference_scale_find(const db_asu_list *list, const double *reference,
                                           const double *intensity, const double *sigma);
static inline double db_reference_factor(const db_reference_scale *scale, double d) {
    return scale->k * exp(-scale->b / (2 * d * d));
}

typedef struct db_merge_statistics {
    int shells;
    db_merge_shell shell[DB_MOST_SHELLS], overall;
    db_reference_scale reference; /* k 1 and B 0 without one */
} db_merge_statistics;

/* Shells for tables, of all reflections of the list: about 500 measured ones each, at least 1 and at
 * most 20. */
db_shells db_statistics_shells(const db_asu_list *list, const db_merged *merged);

/* reference: [list->count] intensities, NAN where there is none; or NULL. */
void db_merge_statistics_make(const db_asu_list *list, const db_merged *merged,
                              const db_shells *shells, const double *reference,
                              db_merge_statistics *statistics);

/* Mean intensities of shells of resolution, whatever a few uncertain ones are. */

/* Do intensities agree with a reference? */

typedef struct db_reference_agreement {
    double
        correlation; /* of intensities relative to the mean of their resolution, without the errors of those
                           that were measured; near 1: the same crystal */
    double error; /* of the correlation, by the number of reflections */
    size_t count; /* reflections that both have; 0: nothing is known */
} db_reference_agreement;

/* reference, intensity, sigma: [list->count], NAN where there is none. */
db_reference_agreement db_reference_agreement_find(const db_asu_list *list, const double *reference,
                                                   const double *intensity, const double *sigma);

/* Is the correlation surely (by 2.5 errors) below 0.5, so that it is another crystal, another
 * indexing, or the intensities are hardly measured? */
int db_reference_is_doubtful(const db_reference_agreement *agreement);

#endif
