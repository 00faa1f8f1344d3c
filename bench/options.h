/* The command line of the benchmark. */
#ifndef DB_BENCH_OPTIONS_H
#define DB_BENCH_OPTIONS_H

#include "bench/library_calls.h"
#include "bench/workloads.h"

#include <dualbragg/plan.h>

enum { DB_BENCH_MAX_SIZES = 16 };

typedef struct db_bench_options {
    int sizes[DB_BENCH_MAX_SIZES]; /* pixels along each side */
    int size_count;
    int load[DB_BENCH_LOADS]; /* 1: is measured; those of the main tables always are */
    int spots;                /* 1: spots in closed form are measured, too */
    int quick;                /* sizes of the loads and figures are divided by 4 */
    int repeats;              /* rounds */
    int threads;              /* as given: 0 means all */
    const char *isa;          /* NULL: the context's default */
    const char *device;       /* NULL: the context's default */
    const char *output;       /* prefix of the reports, or NULL */
    const char *reference;    /* program beside which ours is timed, or NULL */
    const char *program;      /* ours, or NULL: found beside the benchmark */
    double sample_limit;      /* samples of the largest image of the main tables */
    double reference_limit;   /* samples of the largest image the reference is asked for */
    /* a single call instead of all measurements; NULL load: none */
    const db_bench_load *once;
    db_precision once_precision;
    db_bench_output once_output;
    int help, version;
    /* as given */
    const char *size_list;
    const char *load_list;
    const char *once_text;
} db_bench_options;

/* Reads the command line and NB_C_BIN. Strings are borrowed from argv and the environment. */
db_status db_bench_read_options(db_context *context, int argc, char **argv,
                                db_bench_options *options);

void db_bench_print_help(void);

#endif
