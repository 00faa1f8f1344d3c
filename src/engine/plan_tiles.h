/* Pixels that a plan renders: the regions of its options, and their tiles. */
#ifndef DB_ENGINE_PLAN_TILES_H
#define DB_ENGINE_PLAN_TILES_H

#include "kernel/job.h"

#include <dualbragg/plan.h>

typedef struct db_plan_tiles {
    db_region *given; /* regions of the options */
    size_t given_count;
    db_region *regions; /* sampled spots: the given regions; closed form: their tiles */
    size_t region_count;
    size_t pixels; /* number of elements of an image */
    int (*reflection)
        [3]; /* [region_count]: the only reflection of a region; NULL: all (plan_shown.c) */
    double *region_node; /* the same reflections as doubles, for kernels with samples */
    db_tile *list;
    size_t count;
} db_plan_tiles;

/* Takes the options' regions and reflections, and cuts tiles. Clear tiles after a failure, too. */
db_status db_plan_tiles_create(db_context *context, const db_experiment *experiment,
                               const db_plan_options *options, db_plan_tiles *tiles);
void db_plan_tiles_clear(db_plan_tiles *tiles);

/* All pixels of all panels, one region per panel; the caller frees them. NULL without memory. */
db_region *db_whole_panels(const db_detector *detector);

/* DB_OK if there is a region, and all regions lie on panels of the experiment. */
db_status db_regions_check(db_context *context, const db_experiment *experiment,
                           const db_region *regions, size_t count);

#endif
