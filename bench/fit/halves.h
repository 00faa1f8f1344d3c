/* What a refinement of measured spots explains of spots that it has not seen. */
#ifndef DB_BENCH_FIT_HALVES_H
#define DB_BENCH_FIT_HALVES_H

#include <dualbragg/fit.h>

/* Refines the model of a configuration on each half of the observed reflections and prints how well
 * it describes the other half. overrides: "KEY=VALUE", as of db_fit_config_read. */
int db_bench_halves(db_context *context, const char *configuration, const char *const *overrides,
                    size_t override_count);

#endif
