/* Times of single calls for the shoeboxes of a refinement (dualbragg/expert/boxes.h). */
#ifndef DB_BENCH_FIT_BOX_CALLS_H
#define DB_BENCH_FIT_BOX_CALLS_H

#include "scene.h"

/* Wall time of a call (s): medians; of what is made, once. */
typedef struct db_bench_box_calls {
    double
        derivatives; /* a changed crystal: images and derivative images, coefficients, normal equations */
    double image;      /* a changed crystal: the image, and coefficients */
    double sums;       /* coefficients and normal equations, of images that are there */
    double made;       /* plan, boxes, their data, and the first such call */
    double made_again; /* the same, where another plan has been before */
} db_bench_box_calls;

/* Of the shoeboxes and parameters of a refined scene, on the context's device. */
db_status db_bench_box_calls_time(db_context *context, const db_bench_scene *scene,
                                  const db_fit_result *result, db_bench_box_calls *calls);

#endif
