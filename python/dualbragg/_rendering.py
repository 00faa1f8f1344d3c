"""Images, and products of their derivatives, at values of parameters, as arrays: what dualbragg.torch and dualbragg.jax
share."""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Sequence

import numpy

from . import errors
from ._library import address, ffi, lib, users
from .amplitudes import Amplitudes
from .batch import Batch
from .experiment import Experiment
from .fields import parameters as describe
from .plan import Plan

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from ._types import Floats, Memory

# Differences: first step in typical steps; number of tries; allowed difference between results of one and of two steps,
# relative to the largest result, and to the change by typical steps.
_STEP, _TRIES, _APART, _LITTLE = 4e-4, 4, 1e-3, 1e-6
SECOND_ORDERS = ("error", "gauss-newton", "differences")


class Rendering:
    """Plan with its own experiment, which gets values of parameters and of structure factors (Amplitudes, or None). In
    a sequence of experiments each is a shot, and images have an axis of shots.

    Shapes: values and directions (..., *front, parameters) float64; images and cotangents (..., *front, *image), arrays
        of numpy or views of the memory of the plan's device; front is (shots,), or () for one experiment. Factors, the
        values of structure factors, are (..., amplitudes) float64, or None; their dimensions in front are the first
        ones of the values, and all rows of values behind these share them.
    stream: number of a stream for the plan's work, or 0: calls return when images are finished"""

    compiled: dict[Any, Any]
    front: tuple[int, ...]
    image: tuple[int, ...]
    shape: tuple[int, ...]
    experiment: Experiment
    plan: Plan
    given: list[Experiment]
    count: int
    amplitudes: Amplitudes | None
    keywords: dict[str, Any]
    second_order: str
    _batch: Batch | None
    _shots: list[Experiment]
    _room: Memory | None
    _factors: Floats | None
    _factors_of_batch: Floats | None
    _exact: Rendering | None

    def __init__(self, experiment: Experiment | Sequence[Experiment], parameters: Iterable[str], dtype: DTypeLike,
                 amplitudes: Amplitudes | None, keywords: dict[str, Any], *, second_order: str = "error",
                 one_list: bool = False) -> None:
        """Prepare. one_list: True: all shots are known to have the structure factors of the first."""
        if second_order not in SECOND_ORDERS:
            raise errors.UsageError(f"second_order: expected one of {', '.join(SECOND_ORDERS)}, found "
                                    f"{second_order!r}")
        given = [experiment] if isinstance(experiment, Experiment) else _experiments(experiment)
        self.front = () if isinstance(experiment, Experiment) else (len(given),)
        self.experiment = given[0].copy()
        self.plan = Plan(self.experiment, parameters, dtype=dtype, **keywords)
        self._batch, self._shots, self._room = None, [], None
        self._numbers = [self.experiment._parameter(n) for n in self.plan.names]
        bare = self.experiment.without_list()
        of_list = [n for n, number in zip(self.plan.names, self._numbers) if not lib.db_parameter_exists(bare._c, number)]
        self._one_by_one = bool(of_list)  # parameters of the list: a batch would render all rows with one list
        if not (of_list or one_list):
            _need_one_list(given)
        self.given = [given[0].copy(), *(shot.copy() if of_list else shot.without_list() for shot in given[1:])]
        self._others = [Rendering(shot, self.plan.names, dtype, None, keywords) for shot in given[1:] if of_list]
        self.image = tuple(self.plan.shape)
        self.shape = (*self.front, *self.image)
        self.count = len(self.plan.names)
        self.amplitudes, self.keywords, self.second_order = amplitudes, keywords, second_order
        self._factors = self._factors_of_batch = self._exact = None
        if amplitudes is not None:
            if not isinstance(amplitudes, Amplitudes):
                raise errors.UsageError("amplitudes: expected a dualbragg.Amplitudes, found "
                                        f"{type(amplitudes).__name__}")
            self.plan.share(amplitudes)
        self._at = self._one()
        self._lock = threading.Lock()  # threads of the caller wait for each other
        users.add(self)

    def arguments(self, keywords: dict[str, Any] | None = None) -> tuple[
            Experiment | list[Experiment], list[str], numpy.dtype[Any], Amplitudes | None, dict[str, Any]]:
        """Return arguments that make an equal Rendering. keywords: of its plan; None: unchanged."""
        given = self.given if self.front else self.given[0]
        return given, self.plan.names, self.plan.dtype, self.amplitudes, keywords or self.keywords

    def again(self, dtype: DTypeLike, keywords: dict[str, Any]) -> Rendering:
        """Return the same Rendering with another type of pixels or on another device."""
        given, names, _, amplitudes, _ = self.arguments()
        return Rendering(given, names, dtype, amplitudes, keywords, second_order=self.second_order, one_list=True)

    def __reduce__(self) -> tuple[Callable[..., Rendering], tuple[Any, ...]]:
        return _remake, (*self.arguments(), self.second_order)

    def _one(self) -> Any:
        """Return the struct for the library's calls for one image."""
        at = ffi.new("struct rendering *")
        self._memory = ffi.new("double[]", self.count or 1), ffi.new("void *[]", self.count or 1)
        at.experiment, at.plan, at.parameter = self.experiment._c, self.plan._plan, self.plan._parameters
        at.last, at.derivative = self._memory
        at.count = at.bad = self.count
        at.image_bytes = math.prod(self.image) * self.plan.dtype.itemsize
        return at

    def forked(self) -> None:
        """In a child of fork, take a new lock: nobody else calls."""
        self._lock = threading.Lock()

    def scales(self) -> Floats:
        """Return a typical step of each parameter, in its unit."""
        table = describe()
        return numpy.array([table[n].scale if n in table else 1.0 for n in self.plan.names])

    def factor_scale(self) -> float:
        """Return the root mean square of the structure factors (electrons)."""
        return float(numpy.sqrt((self.start_factors()**2).mean())) or 1.0

    def start(self) -> Floats:
        """Return the values of the given experiments."""
        return numpy.array([[shot[n] for n in self.plan.names] for shot in self.given]).reshape(*self.front, self.count)

    def start_factors(self) -> Floats:
        """Return the structure factors of the first given experiment."""
        assert self.amplitudes is not None
        return self.amplitudes.get(self.given[0])

    def call(self, function: Any, values: int, stream: int, *memory: int) -> None:
        """Run one of the library's calls for an image, at values; `memory` are addresses."""
        with self._lock:
            self._call(function, values, stream, memory)

    def _call(self, function: Any, values: int, stream: int, memory: Sequence[int]) -> None:
        """Run a call while the lock is held."""
        at, plan = self._at, self.plan
        if plan._holder is not self:  # the plan has another Rendering's values
            at.current, plan._holder = 0, self
        try:
            plan._call(function, at, values, stream, *memory)
        except errors.UsageError:
            bad, at.bad = at.bad, at.count
            if bad == at.count:
                raise
            value = ffi.cast("double *", values)[bad]
            raise errors.UsageError(f"{plan.names[bad]}: expected a finite number, found {value!r}") from None
        if stream:
            plan._stream = stream

    def _put(self, factors: Floats) -> None:
        """Set the experiment's structure factors, unless they are the same."""
        if self._factors is None or not numpy.array_equal(self._factors, factors):
            assert self.amplitudes is not None
            self._factors = None
            self.amplitudes.put(self.experiment, numpy.ascontiguousarray(factors))
            self._factors, self._at.current = factors.copy(), 0

    def _parts(self, values: Floats, factors: Floats | None,
               stream: int) -> Iterator[tuple[slice, int, list[Experiment] | None]]:
        """Yield rows of values that share structure factors: a slice, the address of the first row, and shots for the
        batch (None: one image). The lock is held."""
        rows = self._rows(values)
        alone = [None] * (len(rows) if self._one_by_one else 1)
        each: Any = alone if factors is None else factors.reshape(-1, factors.shape[-1])
        size = len(rows) // max(len(each), 1)
        for n, own in enumerate(each):
            part = slice(n * size, (n + 1) * size)
            if own is not None:
                self._put(own)
            yield part, address(rows) + 8 * self.count * part.start, self._many(rows, part, stream)

    def _of(self, part: slice) -> Rendering:
        """Renders the image of one row."""
        shot = part.start % len(self.given) if self._others else 0
        return self._others[shot - 1] if shot else self

    def _many(self, rows: Floats, part: slice, stream: int) -> list[Experiment] | None:
        if self._one_by_one or (part.stop - part.start == 1 and not self.front):
            return None
        if self._batch is None:
            self._batch = Batch(self.given[0], self.plan.names, dtype=self.plan.dtype, **self.keywords)
            if self.amplitudes is not None:
                self._batch.share(self.amplitudes)
        if stream:
            self._batch.set_stream(stream)
        if self._factors_of_batch is not self._factors:
            self._batch.update(self.experiment)
            self._factors_of_batch = self._factors
        while len(self._shots) < part.stop - part.start:
            self._shots.append(self.given[len(self._shots) % len(self.given)].without_list())
        shots = self._shots[:part.stop - part.start]
        for shot, row in zip(shots, rows[part]):
            shot.set_values(self.plan.names, self._numbers, row.tolist())
        return shots

    def _rows(self, values: Floats) -> Floats:
        return values.reshape(math.prod(values.shape[:-1]), self.count)

    def _images(self, images: Memory) -> Memory:
        return images.reshape(-1, *self.image)

    def _empty(self, shape: tuple[int, ...]) -> NDArray[Any]:
        return numpy.empty(shape, self.plan.dtype)

    def new(self, values: Floats) -> NDArray[Any]:
        """Return memory for the images at values."""
        return self._empty((*values.shape[:-1], *self.image))

    def unused(self, stream: int = 0, count: int = 1) -> Memory:
        """Return memory for images that nobody wants: on the device, if calls do not wait."""
        if not stream:
            return self._empty((count, *self.image))
        if self._room is None or len(self._room) < count:
            self._room = self.plan.empty(count)
        return self._room

    def forward(self, values: Floats, factors: Floats | None, images: Memory, stream: int = 0) -> Memory:
        """Render the images at values."""
        with self._lock:
            for part, at, shots in self._parts(values, factors, stream):
                own = self._images(images)[part]
                if shots is None:
                    self._of(part)._call(lib.rendering_forward, at, stream, (address(own),))
                else:
                    assert self._batch is not None
                    self._batch.forward(shots, own)
        return images

    def vjp(self, values: Floats, factors: Floats | None, cotangent: Memory, stream: int = 0,
            wanted: tuple[bool, ...] = (True, True)) -> tuple[Floats, Floats | None]:
        """Return gradients by the values and by the factors (None without factors); 0 for those not wanted."""
        by_values = numpy.zeros(values.shape)
        by_factors: Any = None if factors is None else numpy.zeros(factors.shape)
        wanted = wanted[0] and self.count > 0, wanted[1] and factors is not None
        every = self.jacobian(values, factors, self._empty) if isinstance(cotangent, numpy.ndarray) else None
        if every is not None:
            numpy.matmul(cotangent.reshape(-1, every.shape[1]), every.T, out=self._rows(by_values), dtype=float)
        elif any(wanted):
            with self._lock:
                sums: Any = None if factors is None else by_factors.reshape(-1, factors.shape[-1])
                for n, (part, at, shots) in enumerate(self._parts(values, factors, stream)):
                    own, rows = self._images(cotangent)[part], self._rows(by_values)[part]
                    if shots is None:
                        self._of(part)._call(lib.rendering_vjp, at, stream, (
                            address(own), address(rows) if wanted[0] else 0, address(sums[n]) if wanted[1] else 0))
                    else:
                        assert self._batch is not None
                        self._batch.products(shots, own, rows if wanted[0] else None, sums[n] if wanted[1] else None)
        return by_values, by_factors

    def jvp(self, values: Floats, factors: Floats | None, direction: Floats, by_factors: Floats | None, images: Memory,
            stream: int = 0) -> Memory:
        """Compute the derivative images along a direction of the values, and of the factors (None without factors)."""
        every = self.jacobian(values, factors, self._empty) if isinstance(images, numpy.ndarray) else None
        if every is not None:
            images.reshape(-1, every.shape[1])[:] = self._rows(direction) @ every
            return images
        all_factors: Any = factors
        all_moves: Any = by_factors
        moves = factors is not None and (not self.count or all_moves.any())
        with self._lock:
            along: Any = all_moves.reshape(-1, all_factors.shape[-1]) if moves else None
            for n, (part, at, shots) in enumerate(self._parts(values, factors, stream)):
                own, rows = self._images(images)[part], self._rows(direction)[part]
                unused = self.unused(stream, part.stop - part.start)
                if shots is None:
                    self._of(part)._call(lib.rendering_jvp, at, stream, (
                        address(rows), address(along[n]) if moves else 0, address(unused), address(own)))
                else:
                    assert self._batch is not None
                    self._batch.jvp(shots, rows, unused[:len(shots)], own, along[n] if moves else None)
        return images

    def jacobian(self, values: Floats, factors: Floats | None, empty: Callable[[tuple[int, ...]], Any],
                 stream: int = 0) -> Any:
        """Return the derivative images (parameters, pixels), from one pass, if products with them are the least work:
        all rows of values are equal, and there are at least as many rows as parameters. Else return None.

        empty: function that returns memory of a shape"""
        if values.ndim < 2 or factors is not None or not self.count or self.front:
            return None
        rows = self._rows(values)
        if len(rows) < max(2, self.count) or (rows[1:] != rows[0]).any():
            return None
        image, found = self.unused(stream), empty((self.count, *self.image))
        self.call(lib.rendering_gradient, address(rows), stream, address(image), address(found))
        return found.reshape(self.count, -1)

    def exact(self) -> Rendering:
        """Return an equal Rendering in double precision."""
        own: Any = (self.plan.precision, self.plan.dtype)
        if own == ("double", numpy.float64):
            return self
        if self._exact is None:
            self._exact = self.again(numpy.float64, {**self.keywords, "precision": "double"})
        return self._exact

    def difference(self, first: Callable[[Floats, Floats | None], Sequence[Any]], values: Floats, factors: Floats | None,
                   direction: Floats, by_factors: Floats | None) -> list[Any]:
        """Return the derivatives of first(values, factors) along a direction.

        They are central differences of fourth order. Their steps get smaller until differences of one and of two steps
        agree."""
        if self.second_order == "error":
            raise errors.UnsupportedError("second derivatives of images: the library has none; "
                                          "Renderer(second_order='gauss-newton') leaves them out, "
                                          "'differences' estimates them")
        size: Any = abs(direction / self.scales()).max(-1, initial=0)
        if factors is not None:
            assert by_factors is not None
            own = abs(by_factors).max(-1) / self.factor_scale()
            size = numpy.maximum(size.reshape(*own.shape, -1).max(-1, initial=0), own)
        h: Floats = numpy.where(size > 0, _STEP / numpy.where(size > 0, size, 1), 1.0)
        failed: errors.Error = errors.UnsupportedError("second derivatives of images: differences of first derivatives do not "
                                                       "settle, so the image is not smooth there")
        for _ in range(_TRIES):
            try:
                one, two = (self._central(first, values, factors, direction, by_factors, n * h) for n in (1, 2))
                if all(_agree(a, b, at, size.max(initial=0)) for (a, at), (b, _) in zip(one, two) if a is not None):
                    return [None if a is None else a + (a - b) / 3 for (a, _), (b, _) in zip(one, two)]
            except errors.InputError as error:  # a step beyond the range of a parameter
                failed = error
            h = h / 8
        raise failed

    def _central(self, first: Callable[[Floats, Floats | None], Sequence[Any]], values: Floats, factors: Floats | None,
                 direction: Floats, by_factors: Any, h: Floats) -> list[tuple[Any, Any]]:
        """Return central differences with steps h for each row of values, each with the result at the first step; None
        for None."""
        each = numpy.broadcast_to(h.reshape(h.shape + (1,) * (values.ndim - 1 - h.ndim)), values.shape[:-1])
        ahead, behind = [first(values + sign * each[..., None] * direction,
                               None if factors is None else factors + sign * h[..., None] * by_factors)
                         for sign in (1, -1)]
        return [(None, None) if a is None else ((a - b) / (2 * self._like(steps, a)), a)
                for a, b, steps in zip(ahead, behind, (each, h))]

    @staticmethod
    def _like(steps: Floats, found: Any) -> Any:
        """Return the steps in the shape of a result, of numpy or torch."""
        if 0 in found.shape:
            return 1
        steps = steps.reshape(steps.shape + (1,) * (found.ndim - steps.ndim))
        return found.new_tensor(steps) if hasattr(found, "new_tensor") else steps.astype(found.dtype)


def _agree(one: Any, two: Any, at: Any, size: float) -> bool:
    """Return True if differences agree, apart from the little that typical steps change."""
    if 0 in one.shape:
        return True
    return float(abs(one - two).max()) <= _APART * float(abs(one).max()) + _LITTLE * size * float(abs(at).max())


def _remake(given: Experiment | Sequence[Experiment], names: Sequence[str], dtype: DTypeLike, amplitudes: Amplitudes | None,
            keywords: dict[str, Any], second_order: str) -> Rendering:
    return Rendering(given, names, dtype, amplitudes, keywords, second_order=second_order, one_list=True)


def _experiments(given: Iterable[Experiment]) -> list[Experiment]:
    """Return the shots of a sequence."""
    try:
        shots = list(given)
    except TypeError:
        shots = []
    if not shots or not all(isinstance(shot, Experiment) for shot in shots):
        raise errors.UsageError(f"experiment: expected an Experiment or a sequence of Experiments, found {given!r}")
    return shots


def _need_one_list(shots: Sequence[Experiment]) -> None:
    """Raise UsageError if shots have different structure factors, which a batch refuses."""
    for n, shot in enumerate(shots[1:], 1):
        if not _same_list(shots[0], shot):
            raise errors.UsageError(f"experiment: shot {n}: expected the structure factors of the first shot, found others")


def _same_list(one: Experiment, other: Experiment) -> bool:
    a, b = one._c.structure_factors, other._c.structure_factors
    if (list(a.min), list(a.extent), a.default_F) != (list(b.min), list(b.extent), b.default_F):
        return False
    count = math.prod(a.extent) if a.amplitude != ffi.NULL else 0
    if count and ffi.buffer(a.amplitude, 8 * count) != ffi.buffer(b.amplitude, 8 * count):
        return False
    if a.sites == ffi.NULL or b.sites == ffi.NULL:
        same: bool = a.sites == b.sites
        return same
    curves = [list(shot.site_curves.values()) for shot in (one, other)]
    return (len(curves[0]) == len(curves[1]) and all(map(numpy.array_equal, *curves)) and
            numpy.array_equal(one.site_parts, other.site_parts))
