/* Loads at their sizes, as the library takes them and as other programs do. */
#ifndef DB_BENCH_WORKLOADS_H
#define DB_BENCH_WORKLOADS_H

#include "bench/loads.h"

#include <dualbragg/plan.h>

typedef struct db_bench_workload {
    int size; /* pixels along fast and slow */
    const db_bench_load *load;
    const char *list; /* file of structure factors, for the loads that use one; borrowed */
} db_bench_workload;

enum { DB_BENCH_PARAMETERS = 16, DB_BENCH_MORE_PARAMETERS = 32, DB_BENCH_PRECISIONS = 2 };

/* The first 16: those whose derivative images the gradients store. All: normal equations of many
 * parameters, of which three need a sensor or water. */
extern const db_parameter db_bench_parameters[DB_BENCH_MORE_PARAMETERS];

/* "double", "mixed" */
const char *db_bench_precision_name(db_precision precision);

/* Pixels that are rendered, and samples of all of them. */
double db_bench_workload_pixels(const db_bench_workload *workload);
double db_bench_workload_samples(const db_bench_workload *workload);

/* The workload as the library takes it. *experiment must not own anything. */
db_status db_bench_experiment(db_context *context, const db_bench_workload *workload,
                              db_experiment *experiment);

/* Its regions, spread over the detector and packed one after another, to be freed with free(); NULL
 * for the whole detector. */
db_status db_bench_regions(db_context *context, const db_bench_workload *workload,
                           db_region **regions);

/* The workload as flags that every nanoBragg-compatible program understands; for whole detectors.
 * The list stays borrowed. */
typedef struct db_bench_flags {
    const char *word[72];
    char number[40][24];
    int count, numbers;
} db_bench_flags;
void db_bench_workload_flags(const db_bench_workload *workload, db_bench_flags *flags);

#endif
