/** @file
 * Depth of absorption in a sensor. */
#ifndef DUALBRAGG_EXPERT_SENSOR_DEPTH_H
#define DUALBRAGG_EXPERT_SENSOR_DEPTH_H

#include <dualbragg/experiment.h>
#include <dualbragg/expert/sensor_materials.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Depth (um) at which 1/e of the photons of a wavelength (angstrom) are left: 1/(mu/rho x rho), by
 * interpolation of tabulated mass attenuation coefficients. DB_ERROR_USAGE without a material,
 * DB_ERROR_INPUT outside 1 to 150 keV.
 *
 * @param context receives the message of a failure
 * @param material of the sensor
 * @param wavelength angstrom
 * @param depth receives it (um)
 * @return DB_OK; DB_ERROR_USAGE or DB_ERROR_INPUT */
DB_API db_status db_sensor_attenuation_depth(db_context *context, db_sensor_material material,
                                             double wavelength, double *depth);

/** Depth behind a panel's front (mm, along its normal) at which a detector records photons on
 * average, which arrive at an angle of this cosine to the normal: 0 without a sensor and on a
 * curved detector. Parallax moves spots by it times the angle's tangent.
 *
 * @param detector with the sensor
 * @param obliquity cosine of the angle between ray and normal
 * @return mm */
DB_API double db_sensor_depth(const db_detector *detector, double obliquity);

#ifdef __cplusplus
}
#endif
#endif
