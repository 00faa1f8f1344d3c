"""Plans: preparations for rendering one kind of image many times."""

from __future__ import annotations

import math
import threading
from collections import deque
from typing import TYPE_CHECKING, Any, Callable, Iterable, NamedTuple

import numpy

from . import _former, _html, errors, memory
from ._library import (Shared, Watch, array, check, ffi, finite, integer, lib, new_context, pointer, shared_context, text,
                       users)
from ._records import Record
from .amplitudes import _box_of
from .experiment import Experiment, need_experiment

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from ._rendering import Rendering
    from ._types import Floats, Memory, Progress, Region
    from .amplitudes import Amplitudes

_PRECISIONS = {"double": lib.DB_PRECISION_DOUBLE, "mixed": lib.DB_PRECISION_MIXED}


def need_precision(precision: str) -> None:
    """Raise UsageError if the precision is none of auto, double and mixed."""
    if precision != "auto" and precision not in _PRECISIONS:
        raise errors.UsageError(f"precision: expected auto, double or mixed, found {precision!r}")


class _Vector(NamedTuple):
    values: Floats | None = None
    amplitudes: Floats | None = None
    default_F: Any = None
    background: Memory | None = None


@_former.members(parameters="values")
class Vector(_Vector, Record):
    """Vector with a number for each variable of an image: the gradient of a loss, or a direction. None: not computed,
    or 0.

    values: (parameters,) by parameters, in their units
    amplitudes: (amplitudes,) by structure factors, electrons; see Plan.share
    default_F: by the amplitude of reflections that the list lacks, electrons; with Plan.share also of those without a value,
        whose amplitudes all change by as much
    background: by the background, photons, shape of an image; of directions only, because the gradient is the cotangent"""
    __slots__ = ()


class _Planned(Record):
    """Options and properties that plans and batches share."""

    names: list[str]
    dtype: numpy.dtype[Any]
    shape: tuple[int, ...]
    precision: str
    _plan: Any
    _stream: int | None
    _holder: Rendering | None
    _create: Callable[[Experiment], None]

    def __init__(self, experiment: Experiment, parameters: Iterable[str] = (), *, precision: str = "auto",
                 dtype: DTypeLike = numpy.float32, tolerance: float = 0.0, regions: Iterable[Region] | None = None,
                 device: Any = "cpu", progress: Progress | None = None) -> None:
        if isinstance(parameters, str) or not hasattr(parameters, "__iter__"):
            raise errors.UsageError(f"parameters: expected a list of names, found {parameters!r}")
        need_experiment(experiment)
        self._context = new_context()
        self._shared: Amplitudes | None = None
        self._background: NDArray[Any] | bool | None = None  # True: memory of another package, without a copy
        self._lock = threading.Lock()
        self._left: deque[Any] = deque()
        self._idle: deque[tuple[int, Any]] = deque()
        self._sizes: set[int] = set()
        self._locked = 0
        place = "cpu" if device is None else str(device)  # torch's devices, too
        check(self._context, lib.db_context_set_device(self._context, place.encode()))
        self._asked_device = place
        self.names = list(parameters)
        numbers = [experiment._parameter(name) for name in self.names]
        self.dtype = numpy.dtype(dtype)
        if self.dtype not in (numpy.float32, numpy.float64):
            raise errors.UsageError(f"dtype: expected float32 or float64, found {self.dtype.name}")
        need_precision(precision)
        tolerance = finite(tolerance, 1, "tolerance")[0]
        if tolerance < 0:
            raise errors.UsageError(f"tolerance: expected photons of at least 0, found {tolerance:g}")
        o = self._options = ffi.new("db_plan_options *")
        o.size = ffi.sizeof("db_plan_options")
        o.pixel_type = lib.DB_FLOAT32 if self.dtype == numpy.float32 else lib.DB_FLOAT64
        self._parameters = ffi.new("db_parameter[]", numbers)
        if numbers:
            o.parameters, o.parameter_count = self._parameters, len(numbers)
        o.tolerance = tolerance
        self.shape = self._set_regions(experiment, regions)
        self._watch = Watch(progress).of_context(self._context)
        self.precision = self._choose(experiment, precision)
        self._create(experiment)
        self._stream = self._holder = None  # holder: Rendering whose values the plan has
        self._box = _box_of(experiment._c.structure_factors)
        users.add(self)

    def forked(self) -> None:
        """In a child of fork, use one thread and a new lock: nobody else calls."""
        self._lock = threading.Lock()
        lib.db_context_set_threads(self._context, 1)

    @property
    def experiment(self) -> Experiment:
        """Copy of the plan's experiment; of a batch, the experiment of any shot."""
        return Experiment.copy_of(lib.db_plan_describe(self._plan).experiment)

    def __getstate__(self) -> dict[str, Any]:
        if self._background is not None and not isinstance(self._background, numpy.ndarray):
            raise errors.UnsupportedError("a plan whose background is no array of numpy can be neither pickled nor copied")
        o = self._options
        regions = [(r.panel, (r.slow_start, r.slow_start + r.slow_count), (r.fast_start, r.fast_start + r.fast_count))
                   for r in o.regions[0:o.region_count]]
        return dict(experiment=self.experiment, parameters=list(self.names), precision=self.precision, dtype=self.dtype.name,
                    device=self._asked_device, tolerance=o.tolerance, regions=regions or None, shared=self._shared, background=self._background)

    def __setstate__(self, state: dict[str, Any]) -> None:
        made: Any = self
        options = dict(state)
        shared, background = options.pop("shared"), options.pop("background")
        made.__init__(**options)
        if shared is not None:
            made.share(shared)
        if background is not None:
            made.set_background(background)

    def _shared_values(self, amplitudes: Amplitudes) -> Any:
        """Return the number of the value for each entry of the plan's list, from Amplitudes."""
        if tuple(amplitudes.box) != self._box:
            found = tuple(amplitudes.box)
            raise errors.UsageError(f"amplitudes: expected a list of structure factors from h k l {self._box[:3]} on, of the extent "
                                    f"{self._box[3:]}, as the plan has, found {found[:3]} and {found[3:]}")
        array(amplitudes.value, "amplitudes.value", (math.prod(self._box[3:]),), numpy.uint32)
        return ffi.from_buffer("uint32_t[]", amplitudes.value)

    def _made(self, out: Any, destroy: Callable[[Any], Any], plan: Callable[[Any], Any] = lambda made: made) -> Any:
        """Return a created object, which is freed with its last user, after the memory that belongs to it."""
        context, made, idle, left = shared_context(self._context), out[0], self._idle, self._left
        context.join()

        def free() -> None:
            for room in [room for _, room in idle] + list(left):
                lib.db_plan_memory_destroy(ffi.cast("db_plan *", plan(made)), ffi.new("void **", room))
            destroy(ffi.new(ffi.typeof(out), made))
            context.leave()

        owners = self._owners = Shared(free)
        return ffi.gc(made, lambda _: owners.leave())

    def _choose(self, experiment: Experiment, precision: str) -> str:
        if precision == "auto":
            advice = ffi.new("db_precision_advice *")
            check(self._context, lib.db_precision_recommend(self._context, experiment._c,
                                                            self._options, advice))
            self._options.precision = advice.precision
        else:
            self._options.precision = _PRECISIONS[precision]
        return "double" if self._options.precision == lib.DB_PRECISION_DOUBLE else "mixed"

    def _set_regions(self, experiment: Experiment, regions: Iterable[Region] | None) -> tuple[int, ...]:
        if regions is None:
            return experiment.shape
        panels, made, offset = experiment.panel_shapes, [], 0
        region: Any
        for n, region in enumerate(regions):
            what = f"region {n}"
            try:
                panel, slow, fast = region
            except (TypeError, ValueError):
                raise errors.UsageError(f"{what}: expected (panel, slow, fast), found "
                                        f"{region!r}") from None
            panel = integer(panel, what + ": panel")
            if not 0 <= panel < len(panels):
                raise errors.UsageError(f"{what}: expected a panel from 0 to {len(panels) - 1}, "
                                        f"found {panel}")
            ranges = [_range(r, size, f"{what}: {axis}") for r, size, axis in
                      zip((slow, fast), panels[panel], ("slow", "fast"))]
            (slow, slow_count), (fast, fast_count) = ranges
            made.append((panel, fast, slow, fast_count, slow_count, offset, fast_count))
            offset += fast_count * slow_count
        if not made:
            raise errors.UsageError("regions: expected at least one")
        self._regions = ffi.new("db_region[]", made)
        self._options.regions, self._options.region_count = self._regions, len(made)
        return (offset,)

    @property
    def units(self) -> list[str]:
        """Units of the parameters."""
        return [text(lib.db_parameter_describe(p).unit) for p in self._parameters]

    @property
    def device(self) -> str:
        """Device of the plan: "cpu", "cuda:0" ..."""
        return text(lib.db_plan_device(self._plan))

    @property
    def _place(self) -> tuple[int, int]:
        """DLPack's kind and number of the device, which may change for a plan with "auto"."""
        kind, _, number = self.device.partition(":")
        return (memory.CUDA, int(number)) if kind == "cuda" else (memory.CPU, 0)

    def empty(self, count: int | None = None) -> memory.DeviceArray:
        """Return memory on the plan's device for an image, or for `count` images: a DeviceArray.

        Use it as `out`, `derivatives`, `tangent` ... of calls whose results are to stay on the device."""
        shape = self.shape if count is None else (integer(count, "count"), *self.shape)
        if shape[0] < 0:
            raise errors.UsageError(f"count: expected 0 or more images, found {count}")
        out = ffi.new("void **")
        self._call(lib.db_plan_memory_create, self._plan_to_change(), lib.DB_MEMORY_DEVICE,
                   math.prod(shape) * self.dtype.itemsize, out)

        owners = self._owners
        owners.join()

        def free(room: Any, own: _Planned = self) -> None:
            own._left.append(room)
            own._free_memory()
            owners.leave()

        return memory.DeviceArray(self, ffi.gc(out[0], free), shape, self.dtype, self._place)

    _LEAST_LOCKED, _MOST_LOCKED = 1 << 20, 4  # bytes, pieces

    def _empty(self, shape: tuple[int, ...]) -> numpy.ndarray:
        """Return a new array for results.

        A GPU copies to page-locked memory in half the time, and faster still to memory that was used before. Such
        memory takes long to allocate, so it serves large arrays of a size that comes again, and few are kept."""
        nbytes = math.prod(shape) * self.dtype.itemsize
        if nbytes < self._LEAST_LOCKED or self._place[0] != memory.CUDA or not self._comes_again(nbytes):
            return numpy.empty(shape, self.dtype)
        room = self._locked_room(nbytes)
        if room is None:
            return numpy.empty(shape, self.dtype)

        owners = self._owners
        owners.join()

        def give_back(room: Any, own: _Planned = self) -> None:
            own._idle.append((nbytes, ffi.cast("void *", room)))
            owners.leave()

        return numpy.frombuffer(ffi.buffer(ffi.gc(ffi.cast("char *", room), give_back), nbytes), self.dtype).reshape(shape)

    def _comes_again(self, nbytes: int) -> bool:
        again = nbytes in self._sizes
        self._sizes.add(nbytes)
        return again

    def _locked_room(self, nbytes: int) -> Any:
        """Return idle page-locked memory, or new one; None: all pieces are in use, or the system has no more."""
        for idle in list(self._idle):
            if idle[0] == nbytes:
                self._idle.remove(idle)
                return idle[1]
        if self._locked == self._MOST_LOCKED and self._idle:  # all idle pieces have other sizes: one is freed
            self._left.append(self._idle.popleft()[1])
            self._locked -= 1
        out = ffi.new("void **")
        if self._locked == self._MOST_LOCKED:
            return None
        try:
            self._call(lib.db_plan_memory_create, self._plan_to_change(), lib.DB_MEMORY_HOST, nbytes, out)
        except errors.OutOfMemoryError:
            return None
        self._locked += 1
        return out[0]

    def set_stream(self, stream: Any = None, wait: bool = False) -> None:
        """Set the CUDA stream of a plan on a GPU.

        stream: number, or an object of torch or cupy; None: the plan's own stream, as in a new plan
        wait: True: calls return when their work is done

        Without `wait`, a call whose images are all in the GPU's memory returns when its work is in the stream; the
        images must live until the stream has done it. A plan on its own stream that receives memory of a GPU changes to
        the legacy default stream, and waits."""
        number = None if stream is None else memory.handle_of(stream)
        use = (lib.DB_STREAM_OWN if number is None else
               lib.DB_STREAM_WAIT if wait else lib.DB_STREAM_ASYNCHRONOUS)
        self._call(lib.db_plan_set_stream, self._plan_to_change(), use, ffi.cast("void *", number or 0))
        self._stream = number

    def wait(self) -> None:
        """Wait until all work of the plan is done. Raise a failure of the GPU that no call has raised yet."""
        self._call(lib.db_plan_wait, self._plan_to_change())

    def _plan_to_change(self) -> Any:
        return ffi.cast("db_plan *", self._plan)

    def _stream_in_use(self) -> int | None:
        if self._stream is None and self._place[0] == memory.CUDA:
            self.set_stream(memory.LEGACY_STREAM, wait=True)
        return self._stream

    def _hand_over(self, stream: int | None) -> None:
        """Wait, if needed, before others read the device's memory on a stream (DLPack's number; -1: they wait
        themselves)."""
        if self._place[0] == memory.CUDA and stream != -1 and (stream is None or stream != self._stream):
            self.wait()

    def _read(self, to: NDArray[Any], view: memory.View) -> None:
        self._call(lib.db_plan_memory_read, self._plan_to_change(), pointer(view, "void *"),
                   pointer(to, "void *"), view.nbytes)

    def _taken(self, value: Memory, what: str, shape: tuple[int, ...], types: tuple[numpy.dtype[Any], ...] | None = None,
               writable: bool = False) -> Memory:
        """Return the caller's memory, which is used as it is: a numpy array or a view."""
        found = memory.taken(value, what, shape, types or (self.dtype,), self._place, self._stream_in_use)
        if writable and isinstance(found, numpy.ndarray):
            array(found, what, shape, found.dtype, writable=True)
        return found

    def _apart(self, first: Memory, second: Memory, what: str) -> None:
        if memory.share(first, second):
            raise errors.UsageError(f"{what}: expected arrays that share no memory")

    @property
    def device_note(self) -> str:
        """Part of the last vjp_all or jvp_all of a plan on a GPU that the processor has computed; "" if none."""
        return text(lib.db_plan_device_note(self._plan))

    @property
    def amplitude_count(self) -> int:
        """Number of structure factors with derivatives: entries of the list's box, or shared values (Plan.share)."""
        count: int = lib.db_plan_describe(self._plan).amplitude_count
        return count

    def _call(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Call the library. Raise UsageError during another call, because buffers and messages of a plan serve one call
        at a time."""
        if not self._lock.acquire(blocking=False):
            raise errors.UsageError(f"this {type(self).__name__} is in use by another thread, or by the call whose progress "
                                    "function this is: each thread needs its own")
        try:
            self._watch.check(self._context, function(*arguments))
        finally:
            self._lock.release()
            if self._left:
                self._free_memory()

    def _free_memory(self) -> None:
        """Free device memory that nobody uses; a call that is running does it when it ends."""
        while self._left and self._lock.acquire(blocking=False):
            try:
                lib.db_plan_wait(self._plan_to_change())
                lib.db_plan_memory_destroy(self._plan_to_change(), ffi.new("void **", self._left.popleft()))
            finally:
                self._lock.release()

    @staticmethod
    def _vector(vector: Vector, c: Any = None) -> Any:
        """Return the library's struct of a Vector of arrays, which must live as long."""
        c = ffi.new("db_plan_vector *") if c is None else c
        c.size = ffi.sizeof("db_plan_vector")
        for name, values in vector._asdict().items():
            if values is not None and len(values):
                member = "parameters" if name == "values" else name
                setattr(c, member, pointer(values, "void *" if name == "background" else "double *"))
        return c

    def _by_parameters(self, values: Floats) -> Any:
        """Return the library's struct of an array with an element for each parameter, which may be empty."""
        c = self._vector(Vector())
        c.parameters = pointer(values, "double *")
        return c

    def __repr__(self) -> str:
        return (f"<dualbragg.{type(self).__name__}: {' x '.join(map(str, self.shape))} pixels, "
                f"{len(self.names)} parameters, {self.precision}, {self.dtype.name}>")


class Plan(_Planned):
    """Plan: renders images of an experiment, and their derivatives.

    experiment: copied; update() takes later changes
    parameters: names of parameters with derivatives, in this order
    precision: "auto" (the library's advice), "double" or "mixed"
    dtype: of images, numpy.float32 or numpy.float64
    tolerance: photons that a pixel may lack, to save time
    regions: None: all pixels; or a list of (panel, slow, fast), slow and fast each a slice or (first, end): images are
        then one row, region after region
    device: "cpu" (or None), "cuda", "cuda:1", "auto", or a torch.device
    progress: True: shown; or a function that is called with the finished fraction: a true result cancels the call
        (CancelledError), an exception is raised by it. Ctrl-C always ends a call

    One thread at a time may use a plan; a second call raises UsageError. A call uses several threads, and other threads
    of Python run meanwhile. Processes made by fork or by multiprocessing use one thread."""

    def _create(self, experiment: Experiment) -> None:
        out = ffi.new("db_plan **")
        check(self._context, lib.db_plan_create(self._context, experiment._c, self._options, out))
        self._plan = self._made(out, lib.db_plan_destroy)

    def _repr_html_(self) -> str:
        return _html.rows("Plan", [("images", " x ".join(map(str, self.shape)), "pixels"),
                                    ("parameters", ", ".join(self.names) or "none", ""),
                                    ("precision", self.precision, self.dtype.name), ("device", self.device, "")]) + _html.pictures(self.forward())

    def update(self, experiment: Experiment) -> None:
        """Set the values of an experiment with the same counts (panels, sources, domains)."""
        self._holder = None
        self._call(lib.db_plan_update, self._plan, need_experiment(experiment)._c)

    def _image(self, value: Memory | None, what: str = "out") -> tuple[Memory, Memory]:
        """Return memory for an image, and the image for the caller: `value`, or a new array."""
        if value is None:
            made = self._empty(self.shape)
            return made, made
        return self._taken(value, what, self.shape, writable=True), value

    def _seen(self, cotangent: Memory, out: Memory | None) -> tuple[Memory, Memory | None]:
        """Return memory of a cotangent, and of the image or None."""
        cotangent = self._taken(cotangent, "cotangent", self.shape)
        if out is None:
            return cotangent, None
        image, _ = self._image(out)
        self._apart(cotangent, image, "cotangent and out")
        return cotangent, image

    def set_background(self, background: Memory | None = None) -> None:
        """Set a background that is added to all later images. normal() then compares the sum with its data.

        background: photons, shape of an image, copied; None: no background"""
        if background is not None:
            background = self._taken(background, "background", self.shape)
        self._call(lib.db_plan_set_background, self._plan,
                   ffi.NULL if background is None else pointer(background, "void *"))
        # memory of the plan's own device would keep the plan for ever
        self._background = background.copy() if isinstance(background, numpy.ndarray) else background is not None or None

    def forward(self, out: Memory | None = None) -> Memory:
        """Return the image (photons).

        out: array that receives it, also a tensor of the plan's GPU, or memory from empty(). This holds for all images
            of a plan"""
        image, given = self._image(out)
        self._call(lib.db_plan_forward, self._plan, pointer(image, "void *"))
        return given

    def mean_wavelength(self, out: Memory | None = None) -> Memory:
        """Return the mean wavelength (A) of each pixel's photons over the sources; 0 in pixels without photons.

        out: array that receives it"""
        image, given = self._image(out)
        self._call(lib.db_plan_mean_wavelength, self._plan, pointer(image, "void *"))
        return given

    def gradient(self, out: Memory | None = None, derivatives: Memory | None = None) -> tuple[Memory, Memory]:
        """Return the image (photons) and its derivatives by the parameters (photons per unit), computed in one pass.

        out: array that receives the image
        derivatives: (parameters, *shape) array that receives the derivatives"""
        image, given = self._image(out)
        shape = (len(self.names), *self.shape)
        if derivatives is None:
            derivatives = self._empty(shape)
        found = self._taken(derivatives, "derivatives", shape, writable=True)
        self._apart(image, found, "out and derivatives")
        rows = ffi.new("void *[]", [pointer(d, "void *") for d in found])
        self._call(lib.db_plan_gradient, self._plan, pointer(image, "void *"), rows)
        return given, derivatives

    def normal(self, data: Memory, weight: Memory | None = None) -> tuple[float, Floats, Floats]:
        """Return the sums of a least-squares step over all pixels: chi2 = r^T W r, gradient J^T W r and curvature J^T W
        J, with r = image - data.

        data: photons, shape of the image, float32 or float64
        weight: 1/photons^2, type of data; pixels with weight 0 are left out; None: 1"""
        data = self._taken(data, "data", self.shape, (numpy.dtype(numpy.float32), numpy.dtype(numpy.float64)))
        if weight is not None:
            weight = self._taken(weight, "weight", self.shape, (data.dtype,))
        count = len(self.names)
        chi2 = ffi.new("double *")
        gradient, curvature = numpy.empty(count), numpy.empty((count, count))
        self._call(lib.db_plan_normal, self._plan,
                   lib.DB_FLOAT32 if data.dtype == numpy.float32 else lib.DB_FLOAT64,
                   pointer(data, "void *"), ffi.NULL if weight is None else pointer(weight, "void *"), chi2,
                   pointer(gradient, "double *"), pointer(curvature, "double *"))
        return chi2[0], gradient, curvature

    def vjp(self, cotangent: Memory, out: Memory | None = None) -> Floats:
        """Return the sum over all pixels of cotangent times derivative, for each parameter: (parameters,) float64.

        If the cotangent is the gradient of a loss by the pixels, this is the gradient of the loss by the parameters.

        cotangent: shape and dtype of the image
        out: array that receives the image"""
        cotangent, image = self._seen(cotangent, out)
        gradient = numpy.empty(len(self.names))
        self._sum(cotangent, image, self._by_parameters(gradient))
        return gradient

    def _sum(self, cotangent: Memory, image: Memory | None, gradient: Any) -> None:
        self._call(lib.db_plan_vjp, self._plan, pointer(cotangent, "void *"),
                   ffi.NULL if image is None else pointer(image, "void *"), gradient)

    def jvp(self, direction: Floats, out: Memory | None = None,
            tangent: Memory | None = None) -> tuple[Memory, Memory]:
        """Return the image, and its derivative along a direction of the parameters.

        direction: (parameters,) float64, in their units
        out, tangent: arrays that receive image and derivative"""
        array(direction, "direction", (len(self.names),), numpy.float64)
        (image, given), (moved, tangent) = self._image(out), self._image(tangent, "tangent")
        self._apart(image, moved, "out and tangent")
        self._call(lib.db_plan_jvp, self._plan, self._by_parameters(direction), pointer(image, "void *"),
                   pointer(moved, "void *"))
        return given, tangent

    def share(self, amplitudes: Amplitudes) -> None:
        """Make the structure factors of Amplitudes the variables of vjp_all and jvp_all, instead of the list's entries."""
        self._call(lib.db_plan_share_amplitudes, self._plan, self._shared_values(amplitudes), len(amplitudes))
        self._shared = amplitudes

    def vjp_all(self, cotangent: Memory, out: Memory | None = None) -> Vector:
        """Return the gradient by parameters and structure factors: a Vector. Its values are None if the plan has no
        parameters.

        cotangent: shape and dtype of the image
        out: array that receives the image"""
        cotangent, image = self._seen(cotangent, out)
        found = Vector(numpy.empty(len(self.names)) if self.names else None,
                       numpy.empty(self.amplitude_count), numpy.empty(1))
        self._sum(cotangent, image, self._vector(found))
        return found._replace(default_F=float(found.default_F[0]))

    def jvp_all(self, direction: Vector, out: Memory | None = None,
                tangent: Memory | None = None) -> tuple[Memory, Memory]:
        """Return the image, and its derivative along a direction of parameters, structure factors and background: a
        Vector.

        out, tangent: arrays that receive image and derivative"""
        if not isinstance(direction, Vector):
            raise errors.UsageError(f"direction: expected a Vector, found {type(direction).__name__}")
        for name, count in (("values", len(self.names)), ("amplitudes", self.amplitude_count)):
            if getattr(direction, name) is not None:
                array(getattr(direction, name), f"direction.{name}", (count,), numpy.float64)
        if direction.background is not None:
            direction = direction._replace(
                background=self._taken(direction.background, "direction.background", self.shape))
        if direction.default_F is not None:
            direction = direction._replace(default_F=finite(direction.default_F, 1, "direction.default_F"))
        (image, given), (moved, tangent) = self._image(out), self._image(tangent, "tangent")
        self._apart(image, moved, "out and tangent")
        c = self._vector(direction)
        self._call(lib.db_plan_jvp, self._plan, c, pointer(image, "void *"), pointer(moved, "void *"))
        return given, tangent


def _range(given: slice | tuple[int, int], size: int, what: str) -> tuple[int, int]:
    if isinstance(given, slice):
        first, end, step = given.indices(size)
        if step != 1:
            raise errors.UsageError(f"{what}: expected a slice of step 1, found {step}")
    else:
        try:
            first, end = given
        except (TypeError, ValueError):
            raise errors.UsageError(f"{what}: expected a slice or (first, end), found "
                                    f"{given!r}") from None
        first, end = integer(first, what), integer(end, what)
    if not 0 <= first < end <= size:
        raise errors.UsageError(f"{what}: expected pixels from 0 to {size}, found {first} to {end}")
    return first, end - first
