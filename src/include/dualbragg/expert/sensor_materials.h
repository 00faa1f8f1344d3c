/** @file
 * Sensor materials of pixel detectors, their attenuation depth, and the depth at which photons are
 * recorded. */
#ifndef DUALBRAGG_EXPERT_SENSOR_MATERIALS_H
#define DUALBRAGG_EXPERT_SENSOR_MATERIALS_H

#include <dualbragg/context.h>
#include <dualbragg/experiment.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Chemical symbol ("Si", "GaAs", "CdTe", "CZT"); "" for DB_SENSOR_UNKNOWN, NULL out of range.
 *
 * @param material which
 * @return static storage */
DB_API const char *db_sensor_material_name(db_sensor_material material);

/** The material of a name, in upper or lower case: symbol, "silicon" and the like, "CdZnTe"; only
 * the name's letters count. DB_SENSOR_UNKNOWN for any other.
 *
 * @param name in any case
 * @return the material */
DB_API db_sensor_material db_sensor_material_find(const char *name);

#ifdef __cplusplus
}
#endif
#endif
