/* Error against time: a crop of a scene in closed form and by more and more samples, beside very many
 * samples. */
#ifndef DB_BENCH_CONVERGENCE_H
#define DB_BENCH_CONVERGENCE_H

#include "bench/options.h"

#include <dualbragg/context.h>

typedef struct db_bench_convergence_point {
    const char *method;  /* "closed form", "random samples", "low-discrepancy samples" */
    int domains;         /* 0: closed form */
    int oversample;      /* sub-pixels along each side */
    double seconds;      /* least of a few warm calls, update included */
    double rms, largest; /* differences from the reference, in parts of its brightest pixel */
} db_bench_convergence_point;

enum { DB_BENCH_CONVERGENCE_POINTS = 11 };

typedef struct db_bench_convergence {
    int count; /* 0: not measured */
    db_bench_convergence_point point[DB_BENCH_CONVERGENCE_POINTS];
    int size; /* pixels along each side of the crop */
    int reference_domains, reference_oversample;
    double reference_rms, reference_largest; /* half the difference of the reference's two halves */
} db_bench_convergence;

/* All in mixed precision but the reference, which is in double precision. */
db_status db_bench_converge(db_context *context, const db_bench_options *options,
                            db_bench_convergence *results);

#endif
