/* Boxes of a measured image on the processor, one at a time. */
#ifndef DB_LOSS_BOX_WINDOW_H
#define DB_LOSS_BOX_WINDOW_H

#include <dualbragg/expert/boxes.h>

/* Data of a box in cached memory, instead of memory for all boxes. */
typedef struct db_box_window {
    float *room; /* for the largest box: memory for weights, then four arrays of its pixels */
    unsigned char *strong;
    size_t width, rows; /* of the last box */
    float *value, *background, *weight, *shape_variance;
    float *shape; /* and shape without the gaps of the plan's image */
    unsigned char *own;
} db_box_window;

/* Makes a window for the largest of the regions; 0: out of memory. To be cleared. */
int db_box_window_make(const db_region *region, size_t count, db_box_window *window);
void db_box_window_clear(db_box_window *window);

/* Fills a box from the frame, weights its pixels, finds its coefficients, and measures it. image: the plan's, with
 * the region at its place. */
void db_measure_box(const db_box_frame *frame, const db_region *region, const float *image,
                    const db_box_rule *rule, db_box_window *window, db_box_measured *measured);

#endif
