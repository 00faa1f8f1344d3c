/* Orientation of a lattice of known cell from points of reciprocal space. */
#ifndef DB_FIT_SEARCH_ORIENTATION_SEARCH_H
#define DB_FIT_SEARCH_ORIENTATION_SEARCH_H

#include "fit/search/agreement.h"

/* Finds the turn (row-major rotation) that brings nodes of a lattice to most of the spots, which are sorted from
 * low to high angles. lattices: number of crystals on the image; this finds one. effort: 1, or a fraction of the
 * work. The identity, and no agreement, if there is no lattice. */
db_status db_orientation_search(db_context *context, const db_search_lattice *lattice,
                                const db_search_spot *spots, size_t count, size_t lattices,
                                double effort, double turn[9], db_agreement *agreement);

/* Turns a lattice to its spots, which it misses by little. */
void db_orientation_refine(const db_search_lattice *lattice, const db_search_spot *spots,
                           size_t count, double turn[9]);

/* Agreement of spots with the nodes of a lattice turned by `turn`, within `times` the tolerance of a crystal that
 * was found. near: 1 for spots near a node, else 0; a spot does not count if chance puts half of all points so
 * near. */
db_agreement db_orientation_agreement(const db_search_lattice *lattice, const double turn[9],
                                      double times, const db_search_spot *spots, size_t count,
                                      unsigned char *near);

/* Orientation of a lattice with approximate scale and beam centre: cell, distance and wavelength may be wrong by a
 * common factor, and the pattern shifted. */

/* Standard deviation of a given beam centre, pixels. */
#define DB_LIKELY_BEAM 5.0

/* Least and most values that a search may find. */
typedef struct db_search_room {
    double scale[2];   /* factor on the cell's edges */
    double edge[3][2]; /* factor on each edge */
    double beam[2][2]; /* pixels by which the direct beam is farther along fast and slow */
} db_search_room;

int db_search_room_is_open(const db_search_room *room);

/* Finds the pose that brings nodes of a lattice to most of the spots, which are sorted from low to high angles.
 * The probability of the agreement counts all scales and beams that were tried. No agreement if there is none. */
db_status db_wide_search(db_context *context, const db_search_lattice *lattice,
                         const db_search_spot *spots, size_t count, const db_search_room *room,
                         db_search_pose *pose, db_agreement *agreement);

#endif
