/* Has a refined model the light that its spots have? Its places may be right where this is not
 * (docs/theory/verdict.md). */
#ifndef DB_FIT_VERDICT_VERDICT_OF_LIGHT_H
#define DB_FIT_VERDICT_VERDICT_OF_LIGHT_H

#include <dualbragg/fit.h>

/* Known structure factors, after the positions: is the model as bright as its spots? */
void db_verdict_of_brightness(const db_fit_shoebox *boxes, size_t count, db_fit_verdict *verdict);

/* Is the order of intensities that of the structure factors? boxes: chosen by the model. */
db_status db_verdict_of_order(db_context *context, const db_structure_factors *factors,
                              const db_fit_shoebox *boxes, size_t count, db_fit_verdict *verdict);

/* Free intensities: does the refined model explain the pixels at least about as well as the start?
 * before, after: fractions of the strong pixels. */
void db_verdict_of_explained(double before, double after, db_fit_verdict *verdict);

/* Free intensities: of how many spots is the model as bright as they are? */
void db_verdict_of_light(const db_fit_shoebox *boxes, size_t count, db_fit_verdict *verdict);

/* Is a spot as bright in the model? */
int db_light_is_alike(double model, double measured);

enum { DB_FEWEST_LIT = 20 }; /* spots that tell */

/* What part of spots is; may their intensities be used? */
void db_light_judge(size_t spots, size_t alike, double *part, int *usable);

/* A line in files with intensities that may not be used. */
#define DB_INTENSITIES_UNUSABLE                                                                    \
    "# NOT TO BE USED: for less than 2/3 of the spots the model has the right brightness, within " \
    "a factor of 1.5\n"

#endif
