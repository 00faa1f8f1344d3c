/* Samples of Gaussian distributions for the engine that sums over samples: what spots in closed form
 * are compared with. */
#ifndef DB_BENCH_GAUSSIAN_SAMPLES_H
#define DB_BENCH_GAUSSIAN_SAMPLES_H

#include <dualbragg/plan.h>

/* How numbers are drawn. */
typedef enum db_bench_draw {
    DB_BENCH_RANDOM,         /* independent of each other */
    DB_BENCH_LOW_DISCREPANCY /* an additive sequence that fills space evenly (Roberts' R4) */
} db_bench_draw;

/* The experiment's spread by samples instead of in closed form: a number of domains, which the next
 * function turns, and rays, whose directions and wavelengths are drawn at random. The footprint,
 * strains and modes, which the sampled engine does not have, are lost. */
db_status db_bench_sample_spread(db_context *context, db_experiment *experiment, int domains,
                                 int rays);

/* Gives the mosaic domains of a plan normally distributed rotations with a standard deviation of
 * crystal.mosaic_spread about each axis; they stay through updates of the same seed. seed: 0, 1 ...
 * are different domains. The plan's values are those of its next update. */
void db_bench_gaussian_domains(db_plan *plan, db_bench_draw draw, unsigned seed);

#endif
