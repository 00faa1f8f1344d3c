/* Spots of an image as points of reciprocal space. */
#ifndef DB_FIT_SEARCH_SEARCH_SPOTS_H
#define DB_FIT_SEARCH_SEARCH_SPOTS_H

#include "fit/pixels/observed_spots.h"
#include "fit/search/agreement.h"

#include <dualbragg/expert/fit_cell.h>

typedef struct db_search_spots {
    size_t count;
    db_search_spot *spot; /* owned: to be freed */
} db_search_spots;

/* The spots in the resolution range, the strongest first. */
db_status db_search_spots_list(db_context *context, const db_experiment *experiment,
                               const db_fit_settings *settings, const db_observed_spots *seen,
                               db_search_spots *list);

/* Sorts spots, the strongest first. */
void db_search_spots_sort(db_search_spots *list);

/* The strongest spots, `count` of them, sorted from low to high angles; NULL without memory. */
db_search_spot *db_search_spots_strongest(const db_search_spots *left, size_t most, size_t *count);

/* Spots of images of one crystal, rotated to a spindle angle of 0. */

struct db_fit_cell_spots {
    db_search_spots list; /* spindle at 0 */
    size_t images;
    int is_flat; /* the Ewald sphere (db_fit_sphere_is_flat) */
};

/* As db_fit_cell_spots_add. own: spots of the image. */
db_status db_cell_spots_add(db_context *context, const db_fit_settings *settings,
                            const db_experiment *experiment, db_image_spots *own,
                            db_fit_cell_spots **spots);

#endif
