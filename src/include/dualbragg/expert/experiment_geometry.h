/** @file
 * Geometry of an experiment: axes, angles, wavelengths, places of pixels. */
#ifndef DUALBRAGG_EXPERT_EXPERIMENT_GEOMETRY_H
#define DUALBRAGG_EXPERT_EXPERIMENT_GEOMETRY_H

#include <dualbragg/experiment.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** 1 if spots are sampled, or if no variance of db_spread
 * is negative along any axis. db_experiment_check allows
 * slightly negative variances, for finite differences.
 *
 * @param experiment to ask
 * @return 1 or 0 */
DB_API int db_spread_is_possible(const db_experiment *experiment);

/** Wavelength of a source (angstrom), stretch and dispersion included. source < source_count.
 *
 * @param experiment with the source
 * @param source its number, from 0
 * @return angstrom */
DB_API double db_experiment_source_wavelength(const db_experiment *experiment, size_t source);

/** The misset angles (degree) that bring a crystal of the standard frame (orientation: identity)
 * into the orientation of this one, its own misset included.
 *
 * @param crystal to ask
 * @param angle receives them (degree) */
DB_API void db_crystal_misset(const db_crystal *crystal, double angle[3]);

/** Spindle axis with its tilts: unit vector.
 *
 * @param experiment to ask
 * @param axis receives it */
DB_API void db_experiment_spindle_axis(const db_experiment *experiment, double axis[3]);

/** Direction of photon travel with the tilt of the beam, before divergence: unit vector.
 *
 * @param experiment to ask
 * @param direction receives it */
DB_API void db_experiment_beam_direction(const db_experiment *experiment, double direction[3]);

/** Spindle angle in the middle of the exposure (degree). Sampled spots have orientations at the steps; spots in
 * closed form, also between them.
 *
 * @param experiment to ask
 * @param half receives half of the range (degree); may be NULL
 * @return degree */
DB_API double db_goniometer_middle(const db_experiment *experiment, double *half);

/** Position of the crystal in the laboratory in the middle of the exposure (mm). Images see every pixel from there.
 *
 * @param experiment to ask
 * @param position receives it (mm) */
DB_API void db_experiment_crystal_position(const db_experiment *experiment, double position[3]);

/** The laboratory position (mm) of a point of a panel given in pixels from the panel's outer
 * corner. It does not depend on the position of the crystal.
 *
 * @param experiment with the panel
 * @param panel its number, from 0
 * @param fast pixels along fast
 * @param slow pixels along slow
 * @param position receives it (mm)
 * @return DB_OK; DB_ERROR_USAGE for a panel that does not exist */
DB_API db_status db_experiment_pixel_position(const db_experiment *experiment, size_t panel,
                                              double fast, double slow, double position[3]);

/** Number of pixels of all panels together; panel p's pixels start where those of panel p-1 end.
 *
 * @param experiment with the panels
 * @return their number */
DB_API size_t db_experiment_pixels(const db_experiment *experiment);

#ifdef __cplusplus
}
#endif
#endif
