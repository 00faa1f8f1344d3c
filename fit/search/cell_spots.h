/* Spots of images of one crystal, whose spindle is turned back. */
#ifndef DB_FIT_SEARCH_CELL_SPOTS_H
#define DB_FIT_SEARCH_CELL_SPOTS_H

#include "fit/search/search_spots.h"

struct db_fit_cell_spots {
    db_search_spots list; /* spindle at 0 */
    size_t images;
};

#endif
