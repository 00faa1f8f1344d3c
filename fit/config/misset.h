/* The misset as what refinement turns: small rotations about the laboratory's axes, on top of an
 * orientation. Its three angles are such rotations only near 0; far from it they are turns about
 * axes that have turned themselves, of which two coincide where the middle angle is 90 degree. So
 * each stage starts by folding the misset into the orientation. */
#ifndef DB_FIT_CONFIG_MISSET_H
#define DB_FIT_CONFIG_MISSET_H

#include <dualbragg/fit.h>

/* Folds the misset into the orientation: the crystal stays as it is, the misset becomes 0. */
void db_misset_fold(db_crystal *crystal);

/* The misset angles (degree) that bring a crystal of this orientation where another one is. The
 * inverse of folding. */
void db_misset_from(const double orientation[9], const db_crystal *crystal, double angle[3]);

/* Is the middle angle so near 90 degree that the others are hardly determined one by one? */
int db_misset_degenerate(const db_crystal *crystal);

#endif
