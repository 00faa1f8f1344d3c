"""Orientation of crystals of a known cell, from the spots of an image (indexing)."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
    """What a search has found."""
    experiment: Experiment  # with this orientation, misset 0
    spots: int  # that tell orientations apart
    indexed: int  # of them, near nodes of the lattice
    by_chance: float  # of `indexed`, for a lattice turned at random
    log_probability: float  # ln of the probability that one turned at random has as many


def _search(experiment, image, data, progress):
    """Context, watch, and what the library's functions take."""
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
    """Finds the orientation of a crystal of known cell from an image's spots, whatever orientation
    the experiment has.

    image: name of a file, a MeasuredImage, or an array of counts (float32, (slow, fast))
    data: values of the configuration's section data: dmin=2.5 (A), gain, trusted, mask ...
    progress: True: shown; or called with the finished fraction; what it returns, if true, cancels

    Returns an Orientation, whose experiment is turned. InputError if none explains more spots than
    chance would."""
    context, watch, c, settings, keep = _search(experiment, image, data, progress)
    turned, found = experiment.copy(), ffi.new("db_fit_orientation *")
    watch.check(context, lib.db_fit_find_orientation(context, c, ffi.addressof(settings), turned._c,
                                                     found))
    del keep
    return Orientation(turned, found.spots, found.indexed, found.by_chance, found.log_probability)


def find_lattices(experiment: Experiment, image: AnyImage,
                  most: int = lib.DB_FIT_MOST_LATTICES if lib.DB_PYTHON_FIT else 1, *,
                  progress: Progress | None = None, **data: Unpack[DataKeywords]) -> list[Orientation]:
    """Finds several crystals of one cell on an image: a list of Orientation, each from the spots that
    those before it leave. Arguments as for find_orientation; most: lattices to look for."""
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


def _lattice(experiment, c):
    turned, found = experiment.copy(), c.found
    turned._c.crystal.orientation = value(c.orientation)
    turned._c.crystal.misset = [0, 0, 0]
    return Orientation(turned, found.spots, found.indexed, found.by_chance, found.log_probability)
