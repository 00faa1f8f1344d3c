"""Prediction of spots."""

import numpy

from ._library import check, ffi, lib, new_context

# name, columns of it in db_spot
_COLUMNS = [("hkl", "i4", 3), ("panel", "i8", 1), ("source", "i8", 1), ("position", "f8", 2),
            ("covariance", "f8", 3), ("photons", "f8", 1), ("excitation", "f8", 1),
            ("turn", "f8", 1), ("recorded", "f8", 1), ("angle", "f8", 1), ("resolution", "f8", 1),
            ("width", "f8", 1)]


def _layout():
    members = dict(ffi.typeof("db_spot").fields)
    return numpy.dtype({"names": [n for n, _, _ in _COLUMNS],
                        "formats": [f if c == 1 else (f, c) for _, f, c in _COLUMNS],
                        "offsets": [members[n].offset for n, _, _ in _COLUMNS],
                        "itemsize": ffi.sizeof("db_spot")})


def predict(experiment, most_excitation=3.0, most_turn=0.0, least_photons=0.0):
    """Spots of an experiment whose spots are in closed form (spots="closed"), as a structured
    array: hkl, panel, source, position and covariance (pixels: fast, slow, both), photons,
    excitation (standard deviations from the Ewald sphere), turn (degree), recorded (0 to 1), angle
    (degree), resolution (A), width (degree).

    most_excitation: standard deviations; most_turn: so many degrees more; least_photons: of a
    spot."""
    context = new_context()
    options = ffi.new("db_spot_options *", [ffi.sizeof("db_spot_options"), most_excitation,
                                            most_turn, least_photons])
    found = ffi.gc(ffi.new("db_predicted_spots *"), lib.db_predicted_spots_clear)
    check(context, lib.db_spots_predict(context, experiment._c, options, found))
    if found.count == 0:
        return numpy.empty(0, _layout())
    size = found.count * ffi.sizeof("db_spot")
    return numpy.frombuffer(ffi.buffer(found.spot, size), _layout()).copy()
