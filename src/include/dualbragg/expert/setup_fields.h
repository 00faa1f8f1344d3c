/** @file
 * Fields of a set-up: name, unit, range and meaning of those members of db_setup that take values.
 * Flags of the command line, keys of a configuration and the checks of db_setup_resolve come from
 * this table; programs with a user interface of their own, and bindings of other languages, may
 * read it too. */
#ifndef DUALBRAGG_EXPERT_SETUP_FIELDS_H
#define DUALBRAGG_EXPERT_SETUP_FIELDS_H

#include <dualbragg/setup.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Type of the values of a field. */
typedef enum db_field_kind {
    DB_FIELD_NUMBER,  /**< double */
    DB_FIELD_INTEGER, /**< int */
    DB_FIELD_SEED,    /**< long */
    DB_FIELD_CHOICE,  /**< int or enum: index of one of the choices */
    DB_FIELD_KINDS
} db_field_kind;

/** A member of db_setup. */
typedef struct db_setup_field {
    const char *name; /**< as a configuration has it: "mosaic_spread" */
    const char *what; /**< as messages call it: "mosaic spread" */
    const char *unit; /**< "": no unit */
    const char *help;
    int kind;   /**< a db_field_kind */
    int count;  /**< of values */
    int fewest; /**< fewest values of a list that may end early (missing values are open); else 0 */
    size_t offset;      /**< of the first in db_setup */
    double factor;      /**< stored = factor x value in the unit */
    double least, most; /**< of values in the unit, inclusive */
    /** numbers: 1 if NAN means open; whole numbers and choices: the stored value that means open */
    int open;
    /** meaning of an open value, such as "automatic"; NULL: it has a default value */
    const char *automatic;
    const char *const *choices; /**< NULL-terminated; NULL */
    int shared;                 /**< 1: shots of one file cannot differ in it */
} db_setup_field;

/** Fields by identifier. */
typedef enum db_setup_field_id {
    DB_FIELD_CONVENTION,
    DB_FIELD_EXPT_NUMBER,
    DB_FIELD_EXPT_FRAME,
    DB_FIELD_CELL,
    DB_FIELD_MISSET,
    DB_FIELD_MISSET_FRAME,
    DB_FIELD_CRYSTAL_POSITION,
    DB_FIELD_SHAPE,
    DB_FIELD_NCELLS,
    DB_FIELD_FUDGE,
    DB_FIELD_MOSAIC_SPREAD,
    DB_FIELD_MOSAIC_ABC,
    DB_FIELD_MOSAIC_DOMAINS,
    DB_FIELD_MOSAIC_SEED,
    DB_FIELD_B_FACTOR,
    DB_FIELD_DIFFUSE_SIGMA,
    DB_FIELD_DIFFUSE_GAMMA,
    DB_FIELD_SPOTS,
    DB_FIELD_SIZE_CORRELATION,
    DB_FIELD_MOSAIC_RMS,
    DB_FIELD_MOSAIC_RMS_ABC,
    DB_FIELD_MOSAIC_TENSOR,
    DB_FIELD_STRAIN_RMS,
    DB_FIELD_STRAIN_RMS_TENSOR,
    DB_FIELD_STRAIN_SYSTEM,
    DB_FIELD_MODE_1,
    DB_FIELD_MODE_2,
    DB_FIELD_MODE_3,
    DB_FIELD_TAIL_1,
    DB_FIELD_TAIL_2,
    DB_FIELD_BANDWIDTH_RMS,
    DB_FIELD_DIVERGENCE_RMS,
    DB_FIELD_DIVERGENCE_CORRELATION,
    DB_FIELD_FOOTPRINT_RMS,
    DB_FIELD_FOOTPRINT_CORRELATION,
    DB_FIELD_POINT_SPREAD_RMS,
    DB_FIELD_POINT_SPREAD_CORRELATION,
    DB_FIELD_K_SOL,
    DB_FIELD_B_SOL,
    DB_FIELD_MODEL_RESOLUTION,
    DB_FIELD_ANOMALOUS,
    DB_FIELD_DEFAULT_F,
    DB_FIELD_WAVELENGTH,
    DB_FIELD_DISPERSION,
    DB_FIELD_DISPERSION_STEPS,
    DB_FIELD_SPECTRUM_STRETCH,
    DB_FIELD_SPECTRUM_RESOLUTION,
    DB_FIELD_DIVERGENCE,
    DB_FIELD_DIVERGENCE_STEPS,
    DB_FIELD_POLARIZATION,
    DB_FIELD_FLUENCE,
    DB_FIELD_FLUX,
    DB_FIELD_EXPOSURE,
    DB_FIELD_PHI,
    DB_FIELD_OSC,
    DB_FIELD_PHI_STEP,
    DB_FIELD_PHI_STEPS,
    DB_FIELD_SPINDLE_TILT,
    DB_FIELD_DISTANCE,
    DB_FIELD_CLOSE_DISTANCE,
    DB_FIELD_PIXEL_SIZE,
    DB_FIELD_DETECTOR_PIXELS,
    DB_FIELD_SENSOR_MATERIAL,
    DB_FIELD_SENSOR_THICKNESS,
    DB_FIELD_ATTENUATION_DEPTH,
    DB_FIELD_SENSOR_LAYERS,
    DB_FIELD_DETECTOR_ROTATION,
    DB_FIELD_PANEL_TURN,
    DB_FIELD_PANEL_SHIFT,
    DB_FIELD_TWOTHETA,
    DB_FIELD_PIVOT,
    DB_FIELD_FAST_AXIS,
    DB_FIELD_SLOW_AXIS,
    DB_FIELD_NORMAL,
    DB_FIELD_BEAM_AXIS,
    DB_FIELD_POLARIZATION_AXIS,
    DB_FIELD_SPINDLE_AXIS,
    DB_FIELD_TWOTHETA_AXIS,
    DB_FIELD_OVERSAMPLE,
    DB_FIELD_POINT_PIXEL,
    DB_FIELD_WATER_SIZE,
    DB_FIELD_BEAM_CENTRE_PX,
    DB_FIELD_BEAM_TILT,
    DB_FIELD_SCALE,
    DB_FIELD_COUNT
} db_setup_field_id;

/** The table, by identifier. */
DB_API extern const db_setup_field db_setup_fields[];

/** NULL if there is none of that name.
 *
 * @param name of the field; a former name finds the field that has another one now
 * @return the field, or NULL; static storage */
DB_API const db_setup_field *db_setup_field_find(const char *name);

/** Fails with DB_ERROR_INPUT, naming field and range, if a
 * value of the set-up is out of range. Open values pass.
 *
 * @param context receives the message of a failure
 * @param setup to check
 * @param id which field
 * @return DB_OK or DB_ERROR_INPUT */
DB_API db_status db_setup_field_check(db_context *context, const db_setup *setup,
                                      db_setup_field_id id);

#ifdef __cplusplus
}
#endif
#endif
