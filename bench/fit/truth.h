/* Refinement by centroids and by pixels compared with the truth, on rendered images. */
#ifndef DB_BENCH_FIT_TRUTH_H
#define DB_BENCH_FIT_TRUTH_H

#include <dualbragg/fit.h>

/* Refines large stills (scene.h) by the centroids of their spots and by their pixels, from the same
 * start, and prints how far each ends from the truth. */
int db_bench_truth(db_context *context, int images);

#endif
