"""Batches: images of many experiments in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Sequence

import numpy

from . import errors
from ._library import array, check, ffi, lib, pointer
from .experiment import Experiment, need_experiment
from .plan import Vector, _Planned

if TYPE_CHECKING:
    from ._types import Floats, Memory
    from .amplitudes import Amplitudes


def _rows(arrays: Memory, count: int, c_type: str = "void *") -> Any:
    """Return pointers to the rows of an array."""
    return ffi.new(f"{c_type}[]", [pointer(arrays[i], c_type) for i in range(count)])


class Batch(_Planned):
    """Batch of shots: renders many experiments in one call.

    All shots have the counts (panels, pixels, sources, domains) and the structure factors of the experiment that makes
    the batch. Each has its own orientation, cell, beam and detector geometry. Threads work on different shots; results
    have the same bits as with a Plan for each shot.

    Arguments: as for Plan; `progress` is called between shots. Methods take `shots`, a sequence of Experiment."""

    def _create(self, experiment: Experiment) -> None:
        out = ffi.new("db_plan_batch **")
        check(self._context, lib.db_plan_batch_create(self._context, experiment._c, self._options, out))
        self._batch = self._made(out, lib.db_plan_batch_destroy, lib.db_plan_batch_plan)
        self._plan = lib.db_plan_batch_plan(self._batch)

    def share(self, amplitudes: Amplitudes) -> None:
        """Make structure factors variables of all shots: see Plan.share."""
        self._call(lib.db_plan_batch_share_amplitudes, self._batch, self._shared_values(amplitudes),
                   len(amplitudes))
        self._shared = amplitudes

    def update(self, experiment: Experiment) -> None:
        """Use the structure factors of this experiment for all later shots."""
        self._call(lib.db_plan_batch_update, self._batch, need_experiment(experiment)._c)

    @staticmethod
    def _listed(shots: Iterable[Experiment]) -> list[Experiment]:
        """Return the shots as a list."""
        if isinstance(shots, Experiment) or not hasattr(shots, "__iter__"):
            raise errors.UsageError(f"shots: expected a list of experiments, found {type(shots).__name__}")
        shots = list(shots)
        for i, shot in enumerate(shots):
            need_experiment(shot, f"shot {i}")
        return shots

    @classmethod
    def _shots(cls, shots: Iterable[Experiment]) -> tuple[Any, list[Experiment]]:
        """Return pointers to the shots, and a list that must live as long."""
        shots = cls._listed(shots)
        return ffi.new("db_experiment *[]", [shot._c for shot in shots]), shots

    def _images(self, value: Memory | None, count: int, what: str = "out") -> tuple[Memory, Memory]:
        shape = (count, *self.shape)
        if value is None:
            made = self._empty(shape)
            return made, made
        return self._taken(value, what, shape, writable=True), value

    def forward(self, shots: Sequence[Experiment], out: Memory | None = None) -> Memory:
        """Return the images (photons), (shots, *shape).

        out: array of this shape that receives them"""
        c, shots = self._shots(shots)
        count = len(shots)
        images, given = self._images(out, count)
        if count:
            self._call(lib.db_plan_batch_forward, self._batch, c, count, _rows(images, count))
        return given

    def vjp(self, shots: Sequence[Experiment], cotangents: Memory, out: Memory | None = None) -> Floats:
        """Return the gradient of each shot, (shots, parameters): sums over its pixels of cotangent times derivative.

        cotangents: (shots, *shape), of the plan's dtype
        out: array of this shape that receives the images"""
        shots = self._listed(shots)
        found = numpy.empty((len(shots), len(self.names)))
        self._products(shots, cotangents, Vector(found if self.names else None), None, out)
        return found

    def vjp_all(self, shots: Sequence[Experiment], cotangents: Memory) -> Vector:
        """Return the gradient of each shot by parameters and structure factors: a Vector of arrays with a row for each
        shot.

        cotangents: (shots, *shape), of the plan's dtype"""
        shots = self._listed(shots)
        found = Vector(numpy.empty((len(shots), len(self.names))), numpy.empty((len(shots), self.amplitude_count)),
                       numpy.empty((len(shots), 1)))
        self._products(shots, cotangents, found, None)
        return found._replace(default_F=found.default_F[:, 0])

    def vjp_sums(self, shots: Sequence[Experiment], cotangents: Memory) -> Vector:
        """Return the gradient by the structure factors, summed over all shots: a Vector.

        cotangents: (shots, *shape), of the plan's dtype"""
        found = Vector(None, numpy.zeros(self.amplitude_count), numpy.zeros(1))
        self._products(shots, cotangents, None, found)
        return found._replace(default_F=float(found.default_F[0]))

    def products(self, shots: Sequence[Experiment], cotangents: Memory, parameters: Floats | None = None,
                 amplitudes: Floats | None = None) -> None:
        """Compute gradients as vjp and vjp_sums do, in one pass.

        cotangents: (shots, *shape), of the plan's dtype
        parameters: (shots, parameters) float64, receives the gradient of each shot; None: not wanted
        amplitudes: (amplitudes,) float64, receives the sum over all shots; None: not wanted"""
        shots = self._listed(shots)
        if parameters is not None:
            array(parameters, "parameters", (len(shots), len(self.names)), numpy.float64, writable=True)
        if amplitudes is not None:
            array(amplitudes, "amplitudes", (self.amplitude_count,), numpy.float64, writable=True)
        self._products(shots, cotangents, None if parameters is None else Vector(parameters),
                       None if amplitudes is None else Vector(None, amplitudes))

    def _products(self, shots: Iterable[Experiment], cotangents: Memory, each: Vector | None, sums: Vector | None,
                  out: Memory | None = None) -> None:
        """Run db_plan_batch_vjp. each: Vector of arrays with a row for each shot, or None; sums: Vector over all shots,
        or None."""
        c, shots = self._shots(shots)
        count = len(shots)
        cotangents, images = self._cotangents(cotangents, count, out)
        if count and images is not None and sums is None and all(rows is None for rows in each or ()):
            return self._call(lib.db_plan_batch_forward, self._batch, c, count, _rows(images, count))
        if not count or (sums is None and all(rows is None for rows in each or ())):
            return
        vectors = ffi.NULL
        if each is not None:
            vectors = ffi.new("db_plan_vector[]", count)
            for i, vector in enumerate(vectors):
                self._vector(Vector(*(None if rows is None else rows[i] for rows in each)), vector)
        self._call(lib.db_plan_batch_vjp, self._batch, c, count, _rows(cotangents, count),
                   ffi.NULL if images is None else _rows(images, count), vectors,
                   ffi.NULL if sums is None else self._vector(sums))

    def _cotangents(self, cotangents: Memory, count: int, out: Memory | None) -> tuple[Memory, Memory | None]:
        cotangents = self._taken(cotangents, "cotangents", (count, *self.shape))
        if out is None:
            return cotangents, None
        images, _ = self._images(out, count)
        self._apart(cotangents, images, "cotangents and out")
        return cotangents, images

    def jvp(self, shots: Sequence[Experiment], directions: Floats, out: Memory | None = None,
            tangents: Memory | None = None, amplitudes: Floats | None = None) -> tuple[Memory, Memory]:
        """Return the images (photons), and the derivative of each along its direction: two arrays (shots, *shape).

        directions: (shots, parameters) float64, in units of the parameters
        out, tangents: arrays that receive images and derivatives
        amplitudes: (shots, amplitudes) float64, electrons, or (amplitudes,) for all shots; None: 0"""
        c, shots = self._shots(shots)
        count = len(shots)
        array(directions, "directions", (count, len(self.names)), numpy.float64)
        if amplitudes is not None:
            each = numpy.ndim(amplitudes) > 1
            array(amplitudes, "amplitudes", (count, self.amplitude_count)[not each:], numpy.float64)
        (images, given), (moved, tangents) = self._images(out, count), self._images(tangents, count, "tangents")
        self._apart(images, moved, "out and tangents")
        if count:
            vectors = ffi.new("db_plan_vector[]", count)
            for i, vector in enumerate(vectors):
                self._vector(Vector(directions[i], amplitudes[i] if amplitudes is not None and each else amplitudes),
                             vector)
            self._call(lib.db_plan_batch_jvp, self._batch, c, count, vectors, _rows(images, count),
                       _rows(moved, count))
        return given, tangents

    def normal(self, shots: Sequence[Experiment], data: Memory,
               weight: Memory | None = None) -> tuple[Floats, Floats, Floats]:
        """Return the sums of a least-squares step for each shot, as Plan.normal does: chi2 (shots,), gradient (shots,
        parameters) and curvature (shots, parameters, parameters).

        data, weight: (shots, *shape), both float32 or both float64"""
        c, shots = self._shots(shots)
        count = len(shots)
        data = self._taken(data, "data", (count, *self.shape),
                           (numpy.dtype(numpy.float32), numpy.dtype(numpy.float64)))
        kind = data.dtype
        if weight is not None:
            weight = self._taken(weight, "weight", (count, *self.shape), (kind,))
        n = len(self.names)
        chi2, gradients, curvatures = numpy.empty(count), numpy.empty((count, n)), numpy.empty((count, n, n))
        if count:
            self._call(lib.db_plan_batch_normal, self._batch, c, count,
                       lib.DB_FLOAT32 if kind == numpy.float32 else lib.DB_FLOAT64,
                       _rows(data, count), ffi.NULL if weight is None else _rows(weight, count),
                       pointer(chi2, "double *"), pointer(gradients, "double *"),
                       pointer(curvatures, "double *"))
        return chi2, gradients, curvatures
