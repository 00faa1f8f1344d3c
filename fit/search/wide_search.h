/* Orientation of a lattice with approximate scale and beam centre: cell, distance and wavelength may be wrong by a
 * common factor, and the pattern shifted. */
#ifndef DB_FIT_SEARCH_WIDE_SEARCH_H
#define DB_FIT_SEARCH_WIDE_SEARCH_H

#include "fit/search/agreement.h"

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
