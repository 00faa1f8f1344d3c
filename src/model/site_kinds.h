/* Structure factors that depend on the photon energy: numbers of db_site_kinds. */
#ifndef DB_MODEL_SITE_KINDS_H
#define DB_MODEL_SITE_KINDS_H

#include "model/site_part.h"

#include <dualbragg/experiment.h>

static inline int db_site_count(const db_structure_factors *f) {
    return f->sites ? f->sites->count : 0;
}

/* A copy in one block of memory, which free() releases; NULL without memory. entries: of the box. */
db_site_kinds *db_site_kinds_copy(const db_site_kinds *sites, size_t entries);

/* 1 if two have the same numbers of kinds and points, so that the values of one fit into the other; NULL: no
 * kinds. */
int db_site_kinds_alike(const db_site_kinds *a, const db_site_kinds *b);

/* Copies curves and names, without parts, from one that is alike. */
void db_site_kinds_take_curves(const db_site_kinds *from, db_site_kinds *to);

/* DB_ERROR_INPUT, naming the kind, where curves are none or do not reach all sources. */
db_status db_site_kinds_check(db_context *context, const db_experiment *experiment);

/* DB_ERROR_INPUT, naming the kind, where the longest of the sources' wavelengths (A) is none of X-rays. */
db_status db_site_check_photons(db_context *context, const char *name, double longest);

/* A bound of |F|^2 of an entry (its part) at all energies. */
double db_site_largest_square(const db_site_kinds *sites, const double *part);

#endif
