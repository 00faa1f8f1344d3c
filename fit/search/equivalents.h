/* Equivalent orientations of a crystal whose blocks have less symmetry than its lattice.
 *
 * A parallelepiped of equal edges in hexagonal axes, or any block with Na other than Nb in tetragonal ones, has other edges
 * in each of some orientations that make spots at the same places. A search for the orientation ends at any of them; pixels
 * know which one it is, by the shapes of spots. */
#ifndef DB_FIT_SEARCH_EQUIVALENTS_H
#define DB_FIT_SEARCH_EQUIVALENTS_H

#include "fit/search/refinement.h"

/* Which equivalent orientation of the model makes the pixels of a stage likeliest? indices: the change of indices to it;
 * *is_other: 0: it is the model's own, as it always is of sampled spots, which are not looked at. */
db_status db_equivalents_find(db_refinement *r, int stage, double indices[9], int *is_other);

/* The orientation in which the same nodes have other indices. */
db_status db_equivalent_turn(db_context *context, const double indices[9], db_crystal *crystal);

#endif
