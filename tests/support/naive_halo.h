/* The diffuse halo of docs/theory/halo.md from numbers and libm alone. */
#ifndef DB_TESTS_SUPPORT_NAIVE_HALO_H
#define DB_TESTS_SUPPORT_NAIVE_HALO_H

#include <dualbragg/experiment.h>

/* Squared amplitude of one orientation of the crystal at its Miller indices, without Debye-Waller
 * factor; 0 without a halo. */
double naive_halo(const db_experiment *e, const double h[3]);

#endif
