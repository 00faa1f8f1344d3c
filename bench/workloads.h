/* Workloads: one crystal and detector, under simple to realistic conditions. */
#ifndef DB_BENCH_WORKLOADS_H
#define DB_BENCH_WORKLOADS_H

#include <dualbragg/context.h>
#include <dualbragg/experiment.h>
#include <dualbragg/plan.h>

/* A count of 0 stands for 1, anything else that is 0 for "none" or for the common value. */
typedef struct db_bench_load {
    const char *key;      /* on the command line */
    const char *name;     /* in the tables */
    int size;             /* pixels along fast and slow; 0: all sizes of the command line */
    int mosaic_domains;   /* 0: a perfect crystal */
    double mosaic_spread; /* degree */
    int phi_steps;        /* 0: a still */
    double phi, osc;      /* start and range (degree) */
    int divergence_steps; /* along each of two directions, within 2 mrad */
    int dispersion_steps; /* within 1 % */
    int oversample;
    db_crystal_shape shape;
    double cell;       /* edge (A); 0: 100 */
    int cells;         /* along each axis; 0: 5 */
    double wavelength; /* A; 0: 6.2 */
    /* largest index of a list of structure factors (db_bench_write_list); 0: no list, all alike */
    int table;
    int interpolate;
    int sensor_layers;
    int curved;
    double water; /* um */
    int boxes, box_fast,
        box_slow; /* number of regions, and their pixels along fast and slow; 0: the whole detector */
} db_bench_load;

/* The two of the main tables come first; the others have sizes of their own. */
enum { DB_BENCH_PLAIN_LOADS = 2, DB_BENCH_LOADS = 23 };
extern const db_bench_load db_bench_loads[DB_BENCH_LOADS];

/* NULL if there is none of that key. */
const db_bench_load *db_bench_find_load(const char *key, size_t length);

/* Samples per pixel: sources, domains, phi steps, sub-pixels and layers. */
double db_bench_load_samples(const db_bench_load *load);

/* Loads at their sizes, as the library takes them and as other programs do. */

typedef struct db_bench_workload {
    int size; /* pixels along fast and slow */
    const db_bench_load *load;
    const char *list; /* file of structure factors, for the loads that use one; borrowed */
} db_bench_workload;

enum {
    DB_BENCH_PARAMETERS = 16,
    DB_BENCH_MORE_PARAMETERS = 32,
    DB_BENCH_MOST_PARAMETERS = 40, /* of any call; see bench/closed_spots.h */
    DB_BENCH_PRECISIONS = 2
};

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

/* A long list of structure factors. */

/* Writes h, k, l and F for all indices from -largest to largest; F scatters between 50 and 150. */
db_status db_bench_write_list(db_context *context, const char *path, int largest);

#endif
