/* Intensities of reflections as unknowns of a shot: all boxes of a reflection share one, in parts
 * of the given intensity. What boxes of a reflection say of it and of the shot's variables is
 * summed, the restraint added, and the intensity eliminated: reflections do not meet. */
#ifndef DB_FIT_OBJECTIVE_REFLECTION_INTENSITIES_H
#define DB_FIT_OBJECTIVE_REFLECTION_INTENSITIES_H

#include "fit/objective/objective.h"

/* Moves the intensity of a reflection, and the backgrounds of its boxes, to their best values. */
void db_objective_solve_reflection(db_objective *shot, size_t reflection);

/* What the restraints add to the loss. */
double db_objective_restraint_loss(const db_objective *shot);

/* What its boxes say of a reflection's intensity after the last evaluation (with NORMAL), without
 * the restraint, their backgrounds eliminated: slope and half second derivative of the loss by it,
 * and half the mixed ones with the variables, cross: [variables]. Another shot's may be added: of
 * reflections that several images share. An intensity held at 0 says nothing. */
void db_objective_reflection_sums(const db_objective *shot, size_t reflection, double *gradient,
                                  double *normal, double *cross);

/* Eliminates the reflections' intensities from the blocks' total; with NORMAL adds the products of
 * half of what is left of each reflection's gradient to pulls. */
void db_objective_eliminate_reflections(db_objective *shot, db_objective_depth depth);

/* Standard errors of the intensities, [reflections], given those of the variables and their
 * correlations: error [variables], correlation [variables][variables]. */
void db_objective_reflection_errors(const db_objective *shot, const double *error,
                                    double *const *correlation, double *own);

#endif
