/* Quality of merged intensities, by resolution (docs/theory/merging.md). */
#ifndef DB_FIT_MERGE_STATISTICS_H
#define DB_FIT_MERGE_STATISTICS_H

#include "fit/merge/observations.h"
#include "fit/merge/shells.h"
#include "fit/merge/asymmetric_unit.h"

#include <math.h>
#include <stddef.h>

/* Statistics of a shell. NAN: not defined, as in a shell without reflections, or for a correlation of constants.
 * Bijvoet mates count separately unless stated otherwise. */
typedef struct db_merge_shell {
    double d_max, d_min;          /* angstrom */
    size_t possible, measured;    /* reflections, Bijvoet mates count once */
    double completeness;          /* 0 to 1 */
    double multiplicity;          /* measurements per measured reflection */
    size_t pairs, pairs_measured; /* pairs of Bijvoet mates */
    double mean_intensity, mean_i_over_sigma;
    size_t half_pairs; /* reflections that both halves of the shots show */
    /* correlation of the halves (P. A. Karplus & K. Diederichs, Science 336 (2012) 1030) */
    double cc_half;
    /* estimated correlation with the true intensities: sqrt(2 CC / (1 + CC)) */
    double cc_star;
    double r_split;      /* sum |I1 - I2| / sum (I1 + I2) x sqrt(2) (T. A. White et al., J. Appl.
                          Cryst. 45 (2012) 335) */
    double cc_anomalous; /* correlation of Bijvoet differences of the halves */
    /* cc_half and cc_anomalous with weights 1 / (1 + variance / S^2); variance: of the correlated value (both
     * halves), S: mean intensity at the resolution */
    double cc_half_weighted, cc_anomalous_weighted;
    size_t anomalous_pairs;
    size_t reference_count; /* reflections that are also in a reference */
    /* of intensities, after scale and B of the reference: correlation; sum |I - I0| / sum |I0| */
    double cc_reference, r_reference;
    size_t reference_pairs;        /* pairs of Bijvoet mates in both */
    double cc_anomalous_reference; /* correlation of their differences */
} db_merge_shell;

/* Scale k and B from a reference's intensities to others: k exp(-B / (2 d^2)), by least squares with the standard
 * deviations of the others and 10 % of the reference. If B is not determined, it is 0, and k is the ratio of sums. */
typedef struct db_reference_scale {
    double k, b;
    size_t count; /* reflections in both */
} db_reference_scale;

/* reference, intensity, sigma: [list->count], NAN if missing; sigma may then be INFINITY. */
db_reference_scale db_reference_scale_find(const db_asu_list *list, const double *reference,
                                           const double *intensity, const double *sigma);
static inline double db_reference_factor(const db_reference_scale *scale, double d) {
    return scale->k * exp(-scale->b / (2 * d * d));
}

typedef struct db_merge_statistics {
    int shells;
    db_merge_shell shell[DB_MOST_SHELLS], overall;
    db_reference_scale reference; /* without a reference k 1 and B 0 */
} db_merge_statistics;

/* Shells for tables of all reflections of the list: about 500 measured ones each, at least 1 and at most 20. */
db_shells db_statistics_shells(const db_asu_list *list, const db_merged *merged);

/* reference: [list->count] intensities, NAN if missing; or NULL. */
void db_merge_statistics_make(const db_asu_list *list, const db_merged *merged,
                              const db_shells *shells, const double *reference,
                              db_merge_statistics *statistics);

/* Leaves out intensities of which the shots show next to nothing, such as those of reflections far from the Ewald sphere: at
 * their resolution, the medians of errors and of intensities are both less than a tenth of their errors. Statistics without
 * errors, and programs that read amplitudes alone, would take them for the brightest of all. The same for each half.
 * room: [2 list->count] doubles. */
void db_merged_leave_out_unseen(const db_asu_list *list, const db_shells *shells, double *room,
                                db_merged *merged);

/* Mean intensities of shells of resolution, robust against a few uncertain ones. */

/* Do intensities agree with a reference? */

typedef struct db_reference_agreement {
    /* correlation of intensities relative to the mean at their resolution, corrected for
     * measurement errors; near 1: the same crystal */
    double correlation;
    double error; /* error of the correlation, from the number of reflections */
    size_t count; /* reflections in both; 0: nothing is known */
} db_reference_agreement;

/* reference, intensity, sigma: [list->count], NAN if missing. */
db_reference_agreement db_reference_agreement_find(const db_asu_list *list, const double *reference,
                                                   const double *intensity, const double *sigma);

/* Is the correlation surely (by 2.5 errors) below 0.5? Then it is another crystal, another indexing, or the
 * intensities are hardly measured. */
int db_reference_is_doubtful(const db_reference_agreement *agreement);

#endif
