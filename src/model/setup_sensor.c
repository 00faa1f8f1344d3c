/* The sensor: thickness, absorption and layers (model.md 8). */
#include "model/setup_parts.h"

#include "core/context_internal.h"

/* n layers of the reference are T/(n-1) deep each, n at least 2, if their number is given. */
static void reference_layers(const db_setup *setup, db_detector *detector) {
    if (setup->sensor_layers == 0) return;
    if (detector->sensor_layers < 2) detector->sensor_layers = 2;
    detector->sensor_thickness *= (double)detector->sensor_layers / (detector->sensor_layers - 1);
}

db_status db_setup_sensor(db_context *context, const db_setup *setup, db_detector *detector,
                          const db_setup_notes *notes) {
    const double thickness = setup->sensor_thickness, depth = setup->attenuation_depth;
    if (!(thickness >= 0 && isfinite(thickness)))
        return db_fail(context, DB_ERROR_INPUT,
                       "sensor thickness: expected 0 um (no sensor) or more, found %g", thickness);
    if (depth < 0)
        return db_fail(context, DB_ERROR_INPUT,
                       "attenuation depth of the sensor: expected 0 um or more, found %g", depth);
    if (setup->sensor_layers < 0)
        return db_fail(context, DB_ERROR_INPUT,
                       "sensor layers: expected 0 (automatic) or more, found %d",
                       setup->sensor_layers);
    detector->sensor_layers = 1;
    detector->sensor_thickness = 0;
    if (thickness == 0) {
        if (depth > 0 && isfinite(depth))
            db_setup_note(notes, "attenuation depth: not used, since the sensor has no thickness");
        if (setup->sensor_layers > 1)
            db_setup_note(notes, "sensor layers: one, since the sensor has no thickness");
        return DB_OK;
    }
    if (depth == 0 || isinf(depth))
        return db_fail(
            context, DB_ERROR_INPUT,
            "sensor: a thickness of %g um and an attenuation depth of %g exclude each "
            "other; for a sensor expected a finite depth other than 0, for none expected "
            "no thickness",
            thickness, depth);
    detector->sensor_thickness = thickness;
    detector->attenuation_depth = db_setup_given(depth) ? depth : thickness;
    detector->sensor_layers = setup->sensor_layers ? setup->sensor_layers : 2;
    if (!db_setup_given(depth))
        db_setup_note(notes, "attenuation depth of the sensor: its thickness, %g um", thickness);
    if (!setup->sensor_layers) db_setup_note(notes, "auto-selected 2 sensor layers");
    if (setup->compat) reference_layers(setup, detector);
    return DB_OK;
}
