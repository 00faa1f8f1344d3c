/* Spots that one common shift would bring to reflections. */
#ifndef DB_FIT_VERDICT_DISPLACED_SPOTS_H
#define DB_FIT_VERDICT_DISPLACED_SPOTS_H

#include "fit/verdict/judged_spots.h"
#include "fit/verdict/spot_pattern.h"

/* What spots at reflections are asked for. */
typedef struct db_spot_limits {
    double chance;   /* of as many at them, at most */
    double contrast; /* spots at them for each beside them, at least */
} db_spot_limits;

/* Spots of a list in no ring of a pattern; returns how many. */
size_t db_spots_elsewhere(const db_spot_pattern *p, const db_spot_choice *all,
                          db_observed_spot *spot);

/* The shift (pixels, fast, slow) that brings more of the spots, at most DB_MOST_JUDGED, to reflections
 * of a pattern than any other, and how many more than lie there as they are. Shifts are those of
 * single spots to reflections that are excited well. */
size_t db_most_displaced(const db_spot_limits *limits, const db_spot_pattern *well,
                         const db_spot_pattern *pattern, const db_observed_spot *spot, size_t count,
                         double shift[2]);

#endif
