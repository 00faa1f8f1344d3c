/* What is timed: one crystal and detector, at several image sizes and numbers of samples per pixel.
 */
#ifndef DB_BENCH_WORKLOADS_H
#define DB_BENCH_WORKLOADS_H

#include <dualbragg/plan.h>

typedef struct db_bench_sampling {
    int samples;          /* per pixel: mosaic_domains * phi_steps */
    int mosaic_domains;   /* 1: a perfect crystal */
    double mosaic_spread; /* degree */
    int phi_steps;        /* 1: a still */
    double phi, osc;      /* start and range (degree) */
} db_bench_sampling;

typedef struct db_bench_workload {
    int size; /* pixels along fast and slow */
    const db_bench_sampling *sampling;
} db_bench_workload;

enum { DB_BENCH_PARAMETERS = 16, DB_BENCH_SAMPLINGS = 2, DB_BENCH_PRECISIONS = 2 };

/* The table of samplings, and the parameters whose derivative images the gradients store. */
extern const db_bench_sampling db_bench_samplings[DB_BENCH_SAMPLINGS];
extern const db_parameter db_bench_parameters[DB_BENCH_PARAMETERS];

/* "double", "mixed" */
const char *db_bench_precision_name(db_precision precision);

/* Samples of the whole image. */
double db_bench_workload_samples(const db_bench_workload *workload);

/* The workload as the library takes it. *experiment must not own anything. */
db_status db_bench_experiment(db_context *context, const db_bench_workload *workload,
                              db_experiment *experiment);

/* The workload as flags that every nanoBragg-compatible program understands. */
typedef struct db_bench_flags {
    char text[40][24];
    int count;
} db_bench_flags;
void db_bench_workload_flags(const db_bench_workload *workload, db_bench_flags *flags);

#endif
