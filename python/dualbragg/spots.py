"""Prediction of spots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._library import check, ffi, finite, lib, new_context
from ._structs import table
from .experiment import need_experiment

if TYPE_CHECKING:
    from ._types import Table
    from .experiment import Experiment


def predict(experiment: Experiment, most_excitation: float = 3.0, most_turn: float = 0.0,
            least_photons: float = 0.0) -> Table:
    """Return the spots of an experiment in closed form (spots="closed") as a structured array.

    most_excitation: largest distance from the Ewald sphere, standard deviations
    most_turn: additional distance as a rotation of the crystal, degree
    least_photons: fewest photons of a spot

    Columns: hkl, panel, source, position and covariance (pixels: fast, slow, both), photons, excitation (standard
        deviations from the Ewald sphere), turn (degree), recorded (partiality, 0 to 1), angle (degree), resolution (A),
        width (degree), wavelength and wavelength_width of the photons (A)."""
    context = new_context()
    limits = dict(most_excitation=most_excitation, most_turn=most_turn, least_photons=least_photons)
    options = ffi.new("db_spot_options *", [ffi.sizeof("db_spot_options"),
                                            *(finite(v, 1, name)[0] for name, v in limits.items())])
    found = ffi.gc(ffi.new("db_predicted_spots *"), lib.db_predicted_spots_clear)
    check(context, lib.db_spots_predict(context, need_experiment(experiment)._c, options, found))
    return table(found.spot, found.count, "db_spot")
