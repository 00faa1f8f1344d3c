/* Representative pixels of an image: some spread evenly, some on the brightest reflections predicted. */
#ifndef DB_ENGINE_TRIAL_PIXELS_H
#define DB_ENGINE_TRIAL_PIXELS_H

#include "engine/plan_state.h"

enum { DB_TRIAL_STRIP = 16 }; /* pixels: full lanes on all instruction sets */

/* Number of pixels of regions. */
double db_pixels_of(const db_region *regions, size_t count);

/* Strips of at most DB_TRIAL_STRIP pixels of one row, evenly over the regions; strip i goes to
 * element i * DB_TRIAL_STRIP of an image. */
void db_trial_spread(const db_region *regions, size_t region_count, db_region *strips,
                     size_t strip_count);

/* Moves the plan's regions [first, end of the list), which are such strips, to the places where lattice nodes come
 * nearest to the Ewald sphere, within the regions that the strips represent. Allocates `candidates` candidates. */
db_status db_trial_move_to_spots(db_plan *plan, const db_region *regions, size_t region_count,
                                 size_t first, size_t candidates);

/* As db_trial_move_to_spots, for spots in closed form, and strips that are in no plan yet. */
db_status db_trial_take_spots(db_context *context, const db_experiment *experiment,
                              const db_region *regions, size_t region_count, db_region *strips,
                              size_t first, size_t strip_count);

#endif
