/* How a pixel comes about: every sample that enters it, with the numbers it is made of. For
 * printouts and for understanding an image; rendering is the plan's job (dualbragg/plan.h). */
#ifndef DUALBRAGG_PIXEL_TRACE_H
#define DUALBRAGG_PIXEL_TRACE_H

#include <dualbragg/experiment.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The model's values for one experiment. Not changed by tracing: usable by several threads. */
typedef struct db_trace db_trace;

/* The trace copies what it needs. *trace is NULL on failure: DB_ERROR_INPUT for an impossible
 * experiment, DB_ERROR_MEMORY. */
DB_API db_status db_trace_create(db_context *context, const db_experiment *experiment,
                                 db_trace **trace);

/* Frees the trace and sets the caller's pointer to NULL. */
DB_API void db_trace_destroy(db_trace **trace);

/* A source as the sample sees it: unit vector of photon travel, divergence and beam tilt included,
 * wavelength (angstrom) with dispersion, weight as part of 1. source < source_count of the beam. */
DB_API void db_trace_source(const db_trace *trace, size_t source, double direction[3],
                            double *wavelength, double *weight);

#ifdef __cplusplus
}
#endif
#endif
