/* Elimination of unknowns from a quadratic model
 *
 *     value + gradient x + x normal x        (normal: half the second derivatives)
 *
 * by setting each to its best value given those before it: Gaussian elimination from the last
 * unknown to the first, whose rows then give the unknowns from the first to the last. */
#ifndef DB_FIT_OBJECTIVE_ELIMINATE_H
#define DB_FIT_OBJECTIVE_ELIMINATE_H

#include <stddef.h>

/* Eliminates unknowns from..count-1 of normal (lower triangle, rows of `stride`) in place: what is
 * left in the first `from` rows is the model of the others (the Schur complement). Returns by how
 * much the value falls. An unknown that the model does not determine, being a combination of
 * earlier ones to 12 digits, or of no influence, stays where it is: its diagonal becomes 0. */
double db_eliminate(size_t count, size_t from, double *gradient, double *normal, size_t stride);

/* The best step of an eliminated unknown, from its row of the normal matrix and its gradient, those
 * of the unknowns before it being known. */
double db_eliminated_step(const double *row, size_t unknown, double gradient, const double *step);

#endif
