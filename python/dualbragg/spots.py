"""Prediction of spots."""

from ._library import check, ffi, finite, lib, new_context
from ._structs import table


def predict(experiment, most_excitation=3.0, most_turn=0.0, least_photons=0.0):
    """Spots of an experiment whose spots are in closed form (spots="closed"), as a structured
    array: hkl, panel, source, position and covariance (pixels: fast, slow, both), photons,
    excitation (standard deviations from the Ewald sphere), turn (degree), recorded (0 to 1), angle
    (degree), resolution (A), width (degree).

    most_excitation: standard deviations; most_turn: so many degrees more; least_photons: of a
    spot."""
    context = new_context()
    limits = dict(most_excitation=most_excitation, most_turn=most_turn, least_photons=least_photons)
    options = ffi.new("db_spot_options *", [ffi.sizeof("db_spot_options"),
                                            *(finite(v, 1, name)[0] for name, v in limits.items())])
    found = ffi.gc(ffi.new("db_predicted_spots *"), lib.db_predicted_spots_clear)
    check(context, lib.db_spots_predict(context, experiment._c, options, found))
    return table(found.spot, found.count, "db_spot")
