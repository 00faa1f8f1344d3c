/** @file
 * Traces of single pixels: the numbers of every sample of a pixel, for printouts
 * and to understand an image. To render images use plans (dualbragg/plan.h). */
#ifndef DUALBRAGG_EXPERT_PIXEL_TRACE_H
#define DUALBRAGG_EXPERT_PIXEL_TRACE_H

#include <dualbragg/experiment.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The model's values for one experiment. Not changed by tracing: usable by several threads. */
typedef struct db_trace db_trace;

/** One term of the sum over layers, sub-pixels, sources, phi steps and mosaic domains. */
typedef struct db_trace_sample {
    int layer, sub_slow, sub_fast;
    size_t source;
    int phi_step, domain;
    double position[3];  /**< in the laboratory (mm) */
    double direction[3]; /**< from the sample to the position; unit vector */
    double wavelength;   /**< angstrom */
    double q[3];         /**< scattering vector (1/angstrom), of length 2 sin(theta)/wavelength */
    double lattice[9]; /**< a, b, c, one after the other, of this phi step and domain (angstrom) */
    double miller[3];  /**< h, k, l */
    double node[3];    /**< the reflection next to them */
    double amplitude;  /**< F_c: structure factor (electrons) */
    double lattice_square; /**< F_latt^2: squared lattice amplitude */
    double omega;          /**< solid angle of the whole pixel (sr); point pixels: 1/R^2 (1/m^2) */
    double polarization;   /**< factor */
    double capture;        /**< part of the photons absorbed in this layer; 1 without a sensor */
    double weight;         /**< of the source, as part of 1 */
    double debye_waller;   /**< factor exp(-2 B (sin(theta)/lambda)^2) */
    int cut;               /**< 1: beyond dmin, left out */
    double intensity;      /**< photons that the sample adds to the pixel */
} db_trace_sample;

/** The whole pixel. Means are over its sub-pixels and sources, with the sources' weights. */
typedef struct db_trace_sum {
    size_t samples, cut; /**< number of samples; number of samples beyond dmin */
    double squares;      /**< sum of F_c^2 F_latt^2 of the samples within dmin */
    double omega;        /**< mean solid angle (sr), over the layers, too */
    double polarization; /**< mean */
    double capture;      /**< mean of the sum over layers */
    double crystal;      /**< photons */
    double background;   /**< photons of water and amorphous matter, and of a diffuse halo */
    double intensity;    /**< photons: both together */
} db_trace_sum;

/** The trace copies what it needs. *trace is NULL on failure: DB_ERROR_INPUT for an impossible
 * experiment, DB_ERROR_MEMORY.
 *
 * @param context receives the message of a failure
 * @param experiment copied as far as it is needed
 * @param trace receives it; to be destroyed by the caller
 * @return DB_OK; DB_ERROR_INPUT or DB_ERROR_MEMORY */
DB_API db_status db_trace_create(db_context *context, const db_experiment *experiment,
                                 db_trace **trace);

/** Frees the trace and sets the caller's pointer to NULL.
 *
 * @param trace to destroy */
DB_API void db_trace_destroy(db_trace **trace);

/** A source as seen by the crystal: unit vector of photon travel, divergence and beam tilt
 * included, wavelength (angstrom) with dispersion, weight as part of 1. source < source_count of
 * the beam.
 *
 * @param trace to ask
 * @param source its number, from 0
 * @param direction receives the unit vector
 * @param wavelength receives it (angstrom)
 * @param weight receives it */
DB_API void db_trace_source(const db_trace *trace, size_t source, double direction[3],
                            double *wavelength, double *weight);

/** Solid angle (sr; point pixels: 1/R^2, 1/m^2) of a whole pixel, taken at its point (fast, slow),
 * in pixels from the panel's corner, at the front of the sensor. panel < panel_count.
 *
 * @param trace to ask
 * @param panel its number, from 0
 * @param fast pixels along fast
 * @param slow pixels along slow
 * @return sr; point pixels: 1/m^2 */
DB_API double db_trace_solid_angle(const db_trace *trace, size_t panel, double fast, double slow);

/** Goes through the samples of a pixel: layer by layer, along slow, then along fast, source, phi
 * step, domain. `sample` (may be NULL) is called for each with a struct valid during the call only.
 * In double precision the pixel agrees with db_plan_forward up to rounding. With
 * experiment->reference.on it still has the correct arithmetic, not the arithmetic of the reference.
 * DB_ERROR_USAGE for a pixel that does not exist.
 *
 * @param context receives the message of a failure
 * @param trace to ask
 * @param panel its number, from 0
 * @param fast number of the pixel along fast, from 0
 * @param slow along slow
 * @param sample called for each sample; may be NULL
 * @param user handed to the function
 * @param sum filled
 * @return DB_OK or DB_ERROR_USAGE */
DB_API db_status db_trace_pixel(db_context *context, const db_trace *trace, size_t panel, int fast,
                                int slow, void (*sample)(void *user, const db_trace_sample *sample),
                                void *user, db_trace_sum *sum);

#ifdef __cplusplus
}
#endif
#endif
