/* The places of a plan's spots in closed form, and the brightest of each pixel. */
#ifndef DB_ENGINE_SPOT_PLACES_H
#define DB_ENGINE_SPOT_PLACES_H

#include "engine/plan_state.h"

/* A pixel of one of the plan's regions, and the spot that is bright there. */
typedef struct db_spot_place {
    double brightness; /* without the pixel's factors */
    size_t region, spot;
    int fast, slow; /* from the region's first pixel */
} db_spot_place;

/* For each region and spot that reaches it: the pixel nearest to the spot's middle, the brightest first. Makes the
 * plan's spots current. The caller frees the list. */
db_status db_spot_places(db_plan *plan, db_spot_place **list, size_t *count);

/* The number of pairs of a pixel and a spot that reaches it in these regions (NULL: all panels), with this
 * tolerance; and the number of pixels. */
db_status db_spot_pixels_of(db_context *context, const db_experiment *experiment,
                            const db_region *regions, size_t region_count, double tolerance,
                            double *spots, double *pixels);

/* Adds to each pixel's number a hash of the spots that shine there and of the kinds of angles at
 * which they are expanded (engine/node_signature.h). */
db_status db_spots_sign(db_context *context, const db_experiment *experiment,
                        const db_region *regions, size_t region_count, uint64_t *signature);

#endif
