/* The data of many shoeboxes, one box at a time: with room for one they are looked at while they are
 * at hand, and all of them together need no memory. */
#ifndef DB_FIT_PIXELS_BOX_WINDOW_H
#define DB_FIT_PIXELS_BOX_WINDOW_H

#include "fit/pixels/shoeboxes.h"

typedef struct db_box_window {
    db_shoeboxes box; /* the one that is shown; own and ridge are borrowed */
    db_reflection reflection;
    db_region region; /* offset 0 */
    float *room;
} db_box_window;

/* For boxes as wide as these. To be cleared, unless it fails. */
db_status db_box_window_make(db_context *context, const db_shoeboxes *boxes, db_box_window *window);
void db_box_window_clear(db_box_window *window);

/* Shows a bare box as it would be if all were filled and weighed (db_shoeboxes_weigh). */
void db_box_window_show(const db_fit_data *data, double model_error, const db_shoeboxes *boxes,
                        size_t b, db_box_window *window);

#endif
