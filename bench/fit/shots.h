/* Many shots that share a detector: images on disk, then their refinement together. */
#ifndef DB_BENCH_FIT_SHOTS_H
#define DB_BENCH_FIT_SHOTS_H

#include <dualbragg/fit_shots.h>

/* Writes a number of images into a folder, and shots.txt and shots.yaml, whose starting models have
 * errors. */
int db_bench_shots_render(db_context *context, int count, const char *folder);

/* Refines them; prints time, memory, and how far the result is from the truth. */
int db_bench_shots_refine(db_context *context, const char *folder);

#endif
