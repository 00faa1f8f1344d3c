/* The sensor: thickness, absorption and layers (docs/theory/detector.md, Sensor). */
#include "setup/parts.h"

#include <dualbragg/expert/sensor_materials.h>
#include <dualbragg/expert/sensor_depth.h>
#include <dualbragg/expert/setup_fields.h>

#include "base/context_internal.h"

/* n layers of the reference are T/(n-1) deep each, n at least 2, if their number is given. */
static void reference_layers(const db_setup *setup, db_detector *detector) {
    if (setup->sensor_layers == 0) return;
    if (detector->sensor_layers < 2) detector->sensor_layers = 2;
    detector->sensor_thickness *= (double)detector->sensor_layers / (detector->sensor_layers - 1);
}

static db_status check_sensor(db_context *context, const db_setup *setup) {
    const double thickness = setup->sensor_thickness, depth = setup->attenuation_depth;
    DB_TRY(db_setup_field_check(context, setup, DB_FIELD_SENSOR_THICKNESS));
    if (depth < 0)
        return db_fail(context, DB_ERROR_INPUT,
                       "attenuation depth of the sensor: expected 0 um or more, found %g", depth);
    DB_TRY(db_setup_field_check(context, setup, DB_FIELD_SENSOR_LAYERS));
    if (setup->compat && (setup->layers_at_front == 0 || setup->sensor_material))
        return db_fail(context, DB_ERROR_UNSUPPORTED, "sensor: nanoBragg (compat) knows no %s",
                       setup->sensor_material ? "materials; expected an attenuation depth"
                                              : "mean depth of layers");
    if (thickness > 0 && (depth == 0 || isinf(depth)))
        return db_fail(
            context, DB_ERROR_INPUT,
            "sensor: a thickness of %g um and an attenuation depth of %g exclude each "
            "other; for a sensor expected a finite depth other than 0, for none expected "
            "no thickness",
            thickness, depth);
    return DB_OK;
}

/* A given attenuation depth has precedence over the material, and the material over the thickness. */
static db_status attenuation_depth(db_context *context, const db_setup *setup, double wavelength,
                                   double *depth, const db_setup_notes *notes) {
    *depth = setup->attenuation_depth;
    if (db_setup_given(*depth)) return DB_OK;
    if (setup->sensor_material) {
        DB_TRY(db_sensor_attenuation_depth(context, setup->sensor_material, wavelength, depth));
        db_setup_note(notes, "attenuation depth of the sensor: %s at %.6g A, %.4g um",
                      db_sensor_material_name(setup->sensor_material), wavelength, *depth);
        return DB_OK;
    }
    *depth = setup->sensor_thickness;
    db_setup_note(notes, "attenuation depth of the sensor: its thickness, %g um", *depth);
    return DB_OK;
}

db_status db_setup_sensor(db_context *context, const db_setup *setup, db_experiment *experiment,
                          const db_setup_notes *notes) {
    db_detector *const detector = &experiment->detector;
    const double depth = setup->attenuation_depth;
    DB_TRY(check_sensor(context, setup));
    detector->sensor_layers = 1;
    detector->sensor_thickness = 0;
    detector->sensor_material = setup->sensor_material;
    if (setup->sensor_thickness == 0) {
        if (depth > 0 && isfinite(depth))
            db_setup_note(notes, "attenuation depth: not used, since the sensor has no thickness");
        if (setup->sensor_layers > 1)
            db_setup_note(notes, "sensor layers: one, since the sensor has no thickness");
        return DB_OK;
    }
    detector->sensor_thickness = setup->sensor_thickness;
    DB_TRY(attenuation_depth(context, setup, experiment->beam.wavelength,
                             &detector->attenuation_depth, notes));
    detector->sensor_layers = setup->sensor_layers ? setup->sensor_layers : 2;
    if (!setup->sensor_layers) db_setup_note(notes, "auto-selected 2 sensor layers");
    /* the reference's flags alone mean its layers, if spots are its own, too */
    const int reference =
        setup->compat || (!setup->sensor_stated && !setup->expt_file && !setup->sensor_material &&
                          setup->spread.spots == DB_SPOTS_SAMPLED);
    detector->layers_at_front = setup->layers_at_front >= 0 ? setup->layers_at_front : reference;
    if (setup->compat) reference_layers(setup, detector);
    return DB_OK;
}
