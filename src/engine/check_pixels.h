/* Which pixels a check of the derivatives looks at. */
#ifndef DB_ENGINE_CHECK_PIXELS_H
#define DB_ENGINE_CHECK_PIXELS_H

#include <dualbragg/plan.h>

/* Pieces of rows, one behind the other in an image. */
typedef struct db_check_pixels {
    db_region *strip;
    size_t strips, pixels;
    size_t *origin; /* of thinned ones: element of each strip's first pixel in what they are from */
} db_check_pixels;

/* All pixels of the regions if they are not more than `wanted`, else about so many: some evenly
 * spread, most where the brightest reflections are foreseen. The same for the same arguments. */
db_status db_check_pixels_choose(db_context *context, const db_experiment *experiment,
                                 const db_region *regions, size_t region_count, double wanted,
                                 db_check_pixels *chosen);

/* Strips [first, end) of these pixels. */
db_status db_check_pixels_part(db_context *context, const db_check_pixels *from, size_t first,
                               size_t end, db_check_pixels *part);

/* All of these pixels, or about so many: the middle of each strip, or of strips evenly spread. */
db_status db_check_pixels_thin(db_context *context, const db_check_pixels *from, double wanted,
                               db_check_pixels *chosen);

void db_check_pixels_clear(db_check_pixels *pixels);

#endif
