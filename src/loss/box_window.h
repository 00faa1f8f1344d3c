/* Boxes of a measured image on the processor, one at a time. */
#ifndef DB_LOSS_BOX_WINDOW_H
#define DB_LOSS_BOX_WINDOW_H

#include <dualbragg/expert/boxes.h>

/* A box's data, in memory that is at hand: all boxes together need none. */
typedef struct db_box_window {
    float *room; /* of the largest box: for weighing, then four arrays of its pixels */
    unsigned char *strong;
    size_t width, rows; /* of the last box */
    float *value, *background, *weight, *shape_variance;
    float *shape; /* and what the plan's image leaves gaps in */
    unsigned char *own;
} db_box_window;

/* For the largest of the regions; 0: out of memory. To be cleared. */
int db_box_window_make(const db_region *region, size_t count, db_box_window *window);
void db_box_window_clear(db_box_window *window);

/* Fills a box from the frame, weighs its pixels, finds its coefficients, and measures it. image: the plan's,
 * in which the region has its place. */
void db_measure_box(const db_box_frame *frame, const db_region *region, const float *image,
                    const db_box_rule *rule, db_box_window *window, db_box_measured *measured);

#endif
