/** @file
 * Lists of sources that stand for a divergent beam or a spectrum. */
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

#ifdef __cplusplus
}
#endif
#endif
