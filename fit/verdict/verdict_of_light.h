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

#endif
