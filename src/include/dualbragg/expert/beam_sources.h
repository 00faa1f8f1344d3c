/** @file
 * Lists of sources for a divergent beam or a spectrum. */
#ifndef DUALBRAGG_EXPERT_BEAM_SOURCES_H
#define DUALBRAGG_EXPERT_BEAM_SOURCES_H

#include <dualbragg/experiment.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Replaces each source by `count` sources, one for each wavelength (angstrom), whose weights
 * multiply its own. The beam's wavelength becomes their mean; with keep_wavelength 1 it stays, and
 * the spectrum is shifted there in proportion. DB_ERROR_INPUT without positive weights and
 * wavelengths.
 *
 * @param context receives the message of a failure
 * @param beam to change
 * @param wavelength angstrom, `count` of them
 * @param weight any unit, `count` of them
 * @param count number of wavelengths
 * @param keep_wavelength 1: the beam keeps its wavelength
 * @return DB_OK; DB_ERROR_INPUT or DB_ERROR_MEMORY; the list then stays */
DB_API db_status db_beam_set_spectrum(db_context *context, db_beam *beam, const double *wavelength,
                                      const double *weight, size_t count, int keep_wavelength);

/** Replaces the list of sources by a grid over divergence and dispersion.
 *
 * @param context receives the message of a failure
 * @param beam to change
 * @param spread ranges and steps
 * @return DB_OK; DB_ERROR_INPUT for impossible ranges; DB_ERROR_MEMORY; the list then stays */
DB_API db_status db_beam_set_spread(db_context *context, db_beam *beam,
                                    const db_beam_spread *spread);

/** Gives a beam of one wavelength the spectrum of one pulse of a free-electron laser: spikes below a
 * Gaussian. A function of seed and shot alone; the number of sources depends on the widths.
 *
 * @param context receives the message of a failure
 * @param experiment to change
 * @param width relative full width at half maximum of the spectrum; above 0, below 0.2
 * @param spike full width of a spike, more than 1/300 of width
 * @param seed of the set
 * @param shot number in the set
 * @return DB_OK; DB_ERROR_INPUT for other widths, and if the beam has a spectrum; DB_ERROR_MEMORY */
DB_API db_status db_experiment_set_sase(db_context *context, db_experiment *experiment,
                                        double width, double spike, long seed, size_t shot);

/** Gives a beam a Gaussian band: of spots in closed form its variance (db_spread.bandwidth), of
 * sampled ones 17 sources for each direction, whose beam must have one wavelength.
 *
 * @param context receives the message of a failure
 * @param experiment to change
 * @param width relative full width at half maximum; above 0, below 0.2
 * @return as db_experiment_set_sase */
DB_API db_status db_experiment_set_band(db_context *context, db_experiment *experiment,
                                        double width);

/** A band that has a name. */
typedef struct db_band {
    const char *name;
    double width; /**< relative full width at half maximum */
} db_band;

/** Bands by name: of Bragg reflections of monochromators, of a multilayer, of an undulator's harmonic.
 *
 * @param count receives how many there are
 * @return the table; static storage */
DB_API const db_band *db_bands(size_t *count);

#ifdef __cplusplus
}
#endif
#endif
