/* Orientation of a lattice of known cell from points of reciprocal space. */
#ifndef DB_FIT_SEARCH_ORIENTATION_SEARCH_H
#define DB_FIT_SEARCH_ORIENTATION_SEARCH_H

#include "fit/search/agreement.h"

/* Finds the turn (row-major rotation) that brings nodes of a lattice to most of the
 * spots, which go from low to high angles. lattices: how many crystals there may be, of which this finds one.
 * effort: 1, or a part of the work that may be spent. The identity, and no agreement, if there are none. */
db_status db_orientation_search(db_context *context, const db_search_lattice *lattice,
                                const db_search_spot *spots, size_t count, size_t lattices,
                                double effort, double turn[9], db_agreement *agreement);

/* How spots agree with the nodes of a lattice turned by `turn`, within so many of the tolerances of a crystal
 * that was found. near: 1 for those that are near a node, and else 0; spots that chance would put so
 * near half of the time do not count. */
db_agreement db_orientation_agreement(const db_search_lattice *lattice, const double turn[9],
                                      double times, const db_search_spot *spots, size_t count,
                                      unsigned char *near);

#endif
