/* What is timed: one crystal and detector under conditions from the plainest to realistic ones. */
#ifndef DB_BENCH_LOADS_H
#define DB_BENCH_LOADS_H

#include <dualbragg/experiment.h>

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
    int table;         /* structure factors from a list with all indices up to this one, see
                          db_bench_write_list; 0: no list, all alike */
    int interpolate;
    int sensor_layers;
    int curved;
    double water;                  /* um */
    int boxes, box_fast, box_slow; /* so many regions of so many pixels; 0: the whole detector */
} db_bench_load;

/* The two of the main tables come first; the others have sizes of their own. */
enum { DB_BENCH_PLAIN_LOADS = 2, DB_BENCH_LOADS = 23 };
extern const db_bench_load db_bench_loads[DB_BENCH_LOADS];

/* NULL if there is none of that key. */
const db_bench_load *db_bench_find_load(const char *key, size_t length);

/* Samples per pixel: sources, domains, phi steps, sub-pixels and layers. */
double db_bench_load_samples(const db_bench_load *load);

#endif
