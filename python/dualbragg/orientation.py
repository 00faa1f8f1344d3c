"""Indexing: the orientation of crystals of known cell, from the spots of an image."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import errors
from ._configuration import Configuration, need_refinement
from ._library import Watch, ffi, integer, lib, new_context, noticing
from ._records import Record
from ._structs import value
from .experiment import Experiment, need_experiment
from .refinement import read_image

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._types import AnyImage, Progress
    from .settings import DataKeywords


@dataclass(frozen=True)
class Orientation(Record):
    """Result of a search for an orientation.

    experiment: copy of the Experiment with this orientation, misset 0
    spots: spots that distinguish orientations
    indexed: of them, near nodes of the lattice
    by_chance: expected `indexed` for a random orientation
    log_probability: ln of the probability that a random orientation has as many"""
    experiment: Experiment
    spots: int
    indexed: int
    by_chance: float
    log_probability: float


def _search(experiment: Experiment, image: AnyImage, data: DataKeywords,
            progress: Progress | None) -> tuple[Any, Watch, Any, Any, tuple[Any, Configuration]]:
    """Return context, watch and the arguments of the library's search functions."""
    need_refinement()
    need_experiment(experiment)
    context = new_context()
    file = image if isinstance(image, (str, os.PathLike)) else None
    configuration = Configuration(context, None, {"data": data} if data else {}, file or "")
    if file is None and image is None:
        raise errors.UsageError("image: expected a file name, a MeasuredImage or an array")
    with noticing(context, []) as user:
        c, keep = read_image(context, configuration, None if file else image, user)
    settings = configuration.c.settings
    if math.isnan(settings.gain):
        settings.gain = c.gain
    watch = Watch(progress).of_context(context)
    return context, watch, c, settings, (keep, configuration)


def find_orientation(experiment: Experiment, image: AnyImage, *, progress: Progress | None = None,
                     **data: Unpack[DataKeywords]) -> Orientation:
    """Find the orientation of a crystal of known cell from the spots of an image; the experiment's own orientation is
    ignored.

    experiment: cell, beam, detector and spindle; not changed
    image: name of a file, a MeasuredImage, or counts, (slow, fast) float32
    progress: True: shown; or a function that is called with the finished fraction: a true result cancels the search
        (CancelledError)
    data: keys of the configuration's section data: dmin=2.5 (A), gain, trusted, mask ...

    Return an Orientation. Raise InputError if no orientation explains more spots than chance."""
    context, watch, c, settings, keep = _search(experiment, image, data, progress)
    turned, found = experiment.copy(), ffi.new("db_fit_orientation *")
    watch.check(context, lib.db_fit_find_orientation(context, c, ffi.addressof(settings), turned._c,
                                                     found))
    del keep
    return Orientation(turned, found.spots, found.indexed, found.by_chance, found.log_probability)


def find_lattices(experiment: Experiment, image: AnyImage,
                  most: int = lib.DB_FIT_MOST_LATTICES if lib.DB_PYTHON_FIT else 1, *,
                  progress: Progress | None = None, **data: Unpack[DataKeywords]) -> list[Orientation]:
    """Find several crystals of one cell on an image: each from the spots that earlier ones leave.

    most: crystals to look for
    Other arguments: as for find_orientation.

    Return a list of Orientation. Raise InputError if no orientation explains more spots than chance."""
    context, watch, c, settings, keep = _search(experiment, image, data, progress)
    most = integer(most, "most")
    if not 1 <= most <= lib.DB_FIT_MOST_LATTICES:
        raise errors.UsageError(f"most: expected 1 to {lib.DB_FIT_MOST_LATTICES} lattices, found "
                                f"{most!r}")
    lattices, count = ffi.new("db_fit_lattice[]", most), ffi.new("size_t *")
    watch.check(context, lib.db_fit_find_lattices(context, c, ffi.addressof(settings), experiment._c,
                                                  most, lattices, count))
    del keep
    return [_lattice(experiment, lattices[i]) for i in range(count[0])]


def _lattice(experiment: Experiment, c: Any) -> Orientation:
    turned, found = experiment.copy(), c.found
    turned._c.crystal.orientation = value(c.orientation)
    turned._c.crystal.misset = [0, 0, 0]
    return Orientation(turned, found.spots, found.indexed, found.by_chance, found.log_probability)
