/* Does a refined model have the light of its spots? Its places may be right even if not (docs/theory/verdict.md). */
#ifndef DB_FIT_VERDICT_VERDICT_OF_LIGHT_H
#define DB_FIT_VERDICT_VERDICT_OF_LIGHT_H

#include <dualbragg/fit.h>

/* Known structure factors: is the model as bright as its spots, at the right places? */
void db_verdict_of_brightness(const db_fit_shoebox *boxes, size_t count, db_fit_verdict *verdict);

/* Do measured intensities have the order of the structure factors? boxes: chosen by the model. */
db_status db_verdict_of_order(db_context *context, const db_structure_factors *factors,
                              const db_fit_shoebox *boxes, size_t count, db_fit_verdict *verdict);

/* Free intensities: does the refined model explain at least about as many pixels as the start? before, after:
 * fractions of the strong pixels. */
void db_verdict_of_explained(double before, double after, db_fit_verdict *verdict);

/* Free intensities: the fraction of spots with the right brightness in the model. */
void db_verdict_of_light(const db_fit_shoebox *boxes, size_t count, db_fit_verdict *verdict);

/* Does a spot have the right brightness in the model? */
int db_light_is_alike(double model, double measured);

enum { DB_FEWEST_LIT = 20 }; /* fewest spots for a fraction */

/* Fraction of spots with the right brightness; may their intensities be used? */
void db_light_judge(size_t spots, size_t alike, double *part, int *usable);

/* A line in files with intensities that must not be used. */
#define DB_INTENSITIES_UNUSABLE                                                                    \
    "# NOT TO BE USED: for less than 2/3 of the spots the model has the right brightness, within " \
    "a factor of 1.5\n"

#endif
