/* Shoeboxes about the brightest spots that are predicted. */
#ifndef DB_BENCH_SHOEBOXES_H
#define DB_BENCH_SHOEBOXES_H

#include <dualbragg/plan.h>

typedef struct db_bench_boxes {
    db_region *region; /* packed one after another; to be freed with free() */
    size_t count;
} db_bench_boxes;

/* At most `most` boxes of box x box pixels on the first panel that do not overlap, brightest spots
 * first. */
db_status db_bench_boxes_predict(db_context *context, const db_experiment *experiment, int box,
                                 size_t most, db_bench_boxes *boxes);

#endif
