"""Structure factors as variables: derivatives by each of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

from . import errors
from ._library import array, check, ffi, indices, lib, new_context
from ._records import Record
from .experiment import need_experiment

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ._types import Floats
    from .experiment import Experiment

NONE = numpy.iinfo(numpy.uint32).max  # DB_NO_AMPLITUDE


def _box_of(factors: Any) -> tuple[int, ...]:
    """Return the first indices and the extent of a list of structure factors."""
    return (*factors.min, *factors.extent)


class Amplitudes(Record):
    """Structure factors that are variables, for Plan.share, torch and jax.

    experiment: its list of structure factors contains the reflections
    hkl: (values, 3) whole numbers, the reflection of each value
    symmetry: space group ("P 43 21 2", 96): equivalent reflections share a value; needs gemmi in the build. None: they
        do not
    friedel: True: h k l and -h -k -l share a value

    Reflections without a value keep the amplitude of the list."""

    hkl: NDArray[numpy.int64]
    symmetry: str | int | None
    friedel: bool
    box: tuple[int, ...]
    lines: NDArray[numpy.int64]
    value: NDArray[numpy.uint32]
    entries: NDArray[numpy.intp]

    def __init__(self, experiment: Experiment, hkl: ArrayLike, symmetry: str | int | None = None,
                 friedel: bool = False) -> None:
        index = indices(hkl, "values")
        factors = need_experiment(experiment)._c.structure_factors
        if factors.sites != ffi.NULL:
            raise errors.UnsupportedError("Amplitudes: structure factors that depend on the photon energy have no derivatives by "
                                          "single amplitudes; f' and f'' of kinds of sites are parameters")
        low, extent = numpy.array(list(factors.min)), numpy.array(list(factors.extent))
        self.hkl, self.symmetry, self.friedel = index, symmetry, friedel
        self.box = _box_of(factors)
        outside = ((index < low) | (index >= low + extent)).any(1)
        if outside.any():
            raise errors.UsageError(f"hkl: {tuple(index[outside][0].tolist())} is not in the experiment's "
                                    "list of structure factors")
        shifted = index - low
        lines = (shifted[:, 0] * extent[1] + shifted[:, 1]) * extent[2] + shifted[:, 2]
        self.lines = lines  # entry of the box for each line of hkl
        kinds = self._classes(factors, experiment._c.crystal.cell)
        line_of = numpy.full(kinds.max() + 1, NONE, numpy.uint32)
        line_of[kinds[lines]] = numpy.arange(len(index))
        first = line_of[kinds[lines]]
        twice = numpy.flatnonzero(first != numpy.arange(len(index)))
        if len(twice):
            one, other = twice[0], first[twice[0]]
            raise errors.UsageError(f"hkl: {tuple(index[one].tolist())} and {tuple(index[other].tolist())} share a value; "
                                    "expected one of them")
        self.value = line_of[kinds]  # number of the value, for each entry of the box
        self.entries = numpy.flatnonzero(self.value != NONE)

    def __repr__(self) -> str:
        return (f"<dualbragg.Amplitudes: {len(self)} values of {self.size} entries, "
                f"{self.symmetry or 'no symmetry'}{', Friedel mates alike' if self.friedel else ''}>")

    @property
    def size(self) -> int:
        """Number of entries of the experiment's list."""
        return math.prod(self.box[3:])

    def __len__(self) -> int:
        return len(self.hkl)

    def _classes(self, factors: Any, cell: Any) -> NDArray[numpy.uint32]:
        kinds = numpy.arange(self.size, dtype=numpy.uint32)
        if self.symmetry is None and not self.friedel:
            return kinds
        group = ffi.NULL
        if self.symmetry is not None:
            context, found = new_context(), ffi.new("db_space_group *")
            check(context, lib.db_space_group_of_cell(context, str(self.symmetry).encode(), cell, found))
            group = ffi.addressof(found, "symmetry")
        lib.db_amplitude_classes(ffi.addressof(factors), group, bool(self.friedel),
                                 ffi.from_buffer("uint32_t[]", kinds))
        return kinds

    def _box(self, experiment: Experiment) -> Floats:
        factors = need_experiment(experiment)._c.structure_factors
        if _box_of(factors) != tuple(self.box):
            raise errors.UsageError("amplitudes: expected the experiment whose list of structure factors they were made from")
        return numpy.frombuffer(ffi.buffer(factors.amplitude, 8 * self.size))

    def get(self, experiment: Experiment) -> Floats:
        """Return the values from an experiment: (values,) electrons."""
        found: Floats = self._box(experiment)[self.lines]
        return found

    def put(self, experiment: Experiment, values: Floats) -> None:
        """Set the structure factors of all reflections in an experiment.

        values: (values,) float64, electrons"""
        array(values, "values", (len(self),), numpy.float64)
        bad = numpy.flatnonzero(~numpy.isfinite(values))
        if len(bad):
            raise errors.UsageError(f"amplitudes: expected finite numbers, found {values[bad[0]]} for "
                                    f"{tuple(self.hkl[bad[0]].tolist())}")
        self._box(experiment)[self.entries] = values[self.value[self.entries]]
