/* A made-up refinement, complete enough for every output: image, configuration, result with
 * shoeboxes and history. */
#ifndef TESTS_FIT_SYNTHETIC_RESULT_H
#define TESTS_FIT_SYNTHETIC_RESULT_H

#include <dualbragg/fit_shots.h>

typedef struct synthetic {
    db_measured_image image;
    db_fit_config config;
    db_fit_result result;
    db_fit_shots_result list; /* of that one: synthetic_list */
} synthetic;

enum { SYNTHETIC_FAST = 420, SYNTHETIC_SLOW = 380, SYNTHETIC_BOXES = 70, SYNTHETIC_STAGES = 3 };

/* Parameters misset_x, cell_a, cell_b (tied), mosaic_spread (at its bound); image "a<b>&c.cbf" (not
 * on disk). */
db_status synthetic_make(db_context *context, synthetic *s);
/* The result as it is now, as a list of one. */
const db_fit_shots_result *synthetic_list(synthetic *s);
void synthetic_clear(synthetic *s);

#endif
