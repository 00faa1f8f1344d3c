/** @file
 * Files of sources and spectra. */
#ifndef DUALBRAGG_EXPERT_BEAM_FILES_H
#define DUALBRAGG_EXPERT_BEAM_FILES_H

#include <dualbragg/context.h>
#include <dualbragg/experiment.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Reads a source file (columns x y z weight wavelength; docs/theory/beam.md, Source file) into
 * beam->sources. Wavelengths are in metres; '#' starts a comment. Missing columns take the defaults
 * of the beam.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param beam its sources are replaced
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY; the list then stays */
DB_API db_status db_read_sources(db_context *context, const char *path, db_beam *beam);

/** A spectrum: wavelengths and their weights, > 0. */
typedef struct db_spectrum {
    size_t count;
    double *wavelength; /**< angstrom; owned */
    double *weight;     /**< any unit; owned */
} db_spectrum;

/** Reads two columns: wavelength (angstrom, below 100 in all lines) or photon energy (eV, at least
 * 100 in all lines), and weight; lines of weight 0 are left out. Separated by white space, commas
 * or semicolons; '#' starts a comment. The caller clears *spectrum, which is overwritten; it owns
 * nothing after a failure.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param spectrum overwritten
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY */
DB_API db_status db_read_spectrum(db_context *context, const char *path, db_spectrum *spectrum);

/** Frees the lists and zeroes the struct. Safe on a zeroed struct.
 *
 * @param spectrum to clear */
DB_API void db_spectrum_clear(db_spectrum *spectrum);

#ifdef __cplusplus
}
#endif
#endif
