/* The reference program's order of summation (docs/theory/pixel.md, With -compat), quirks included,
 * from the same physics as every other image. */
#ifndef DB_KERNEL_REFERENCE_ORDER_H
#define DB_KERNEL_REFERENCE_ORDER_H

#include "kernel/job.h"

#include <dualbragg/experiment.h>

/* The data that this order needs beside the job. The detector is placed as in db_reference_mode. */
typedef struct db_kernel_reference {
    const db_experiment *experiment;
    double reciprocal[9]; /* rows a*, b*, c* (1/angstrom) at phi = 0, for GAUSS and TOPHAT */
    double background;    /* photons/sr that every pixel's sum starts with */
    double steps;         /* sources x phi steps x domains x sub-pixels */
    double fluence;       /* r_e^2 x fluence x scale */
    const int *phi_step;  /* [phi_steps]: the step whose cell vectors each step uses */
} db_kernel_reference;

/* A db_kernel_function for images; job->reference must be set. Always in double precision. */
void db_kernel_reference_order(const db_kernel_job *job, const db_tile *tile, size_t tiles,
                               double *sums, void *room);

#endif
