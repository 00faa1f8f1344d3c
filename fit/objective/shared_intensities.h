/* Intensities that several blocks share: one of all blocks, or one of each reflection.
 *
 * Those of reflections are unknowns of the objective, in parts of the given intensity, each held to
 * it by a restraint. The sums of a reflection's boxes and the restraint give its intensity, which
 * is then eliminated; no two reflections share a box. */
#ifndef DB_FIT_OBJECTIVE_SHARED_INTENSITIES_H
#define DB_FIT_OBJECTIVE_SHARED_INTENSITIES_H

#include "fit/objective/objective.h"

/* Moves the intensity of all blocks, and the background of each, to their best values. */
db_status db_objective_solve_common(db_objective *objective);

/* The same for the intensity of a reflection and the backgrounds of its boxes. */
void db_objective_solve_reflection(db_objective *objective, size_t reflection);

/* What the restraints add to the loss. */
double db_objective_restraint_loss(const db_objective *objective);

/* What the boxes of a reflection contribute to the equation of its intensity after the last
 * evaluation (with NORMAL), without the restraint, their backgrounds eliminated: slope and half
 * second derivative of the loss by the intensity, and half the mixed ones with the variables,
 * cross: [variables]. Those of another image may be added, where images share reflections. An
 * intensity held at 0 adds nothing. */
void db_objective_reflection_sums(const db_objective *objective, size_t reflection,
                                  double *gradient, double *normal, double *cross);

/* Eliminates the reflections' intensities from the blocks' total; with NORMAL adds the products of
 * half of what is left of each reflection's gradient to pulls. */
void db_objective_eliminate_reflections(db_objective *objective, db_objective_depth depth);

/* Standard errors of the intensities, [reflections], given those of the variables and their
 * correlations: error [variables], correlation [variables][variables]. */
void db_objective_reflection_errors(const db_objective *objective, const double *error,
                                    double *const *correlation, double *own);

#endif
