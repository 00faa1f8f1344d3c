/* A long list of structure factors. */
#ifndef DB_BENCH_STRUCTURE_FACTOR_LIST_H
#define DB_BENCH_STRUCTURE_FACTOR_LIST_H

#include <dualbragg/context.h>

/* Writes h, k, l and F for all indices from -largest to largest; F scatters between 50 and 150. */
db_status db_bench_write_list(db_context *context, const char *path, int largest);

#endif
