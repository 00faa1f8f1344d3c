/* Refinement by pixels compared with refinement by the centroids of spots. */
#ifndef DB_BENCH_FIT_CENTROIDS_H
#define DB_BENCH_FIT_CENTROIDS_H

#include <dualbragg/fit.h>

/* Refines the model of a configuration on one half of the observed reflections by centroids and by
 * pixels, and prints how well each predicts the other half, for several random halves. */
int db_bench_centroids(db_context *context, int splits, const char *configuration);

#endif
