"""Plans: everything prepared for rendering one kind of image again and again."""

from __future__ import annotations

import math
import threading
from collections import deque
from typing import TYPE_CHECKING, Any, Callable, Iterable, NamedTuple

import numpy

from . import _former, _html, errors, memory
from ._library import Watch, array, check, ffi, finite, integer, lib, new_context, pointer, text, users
from ._records import Record
from .experiment import Experiment, need_experiment

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from ._types import Floats, Memory, Progress, Region
    from .amplitudes import Amplitudes

_PRECISIONS = {"double": lib.DB_PRECISION_DOUBLE, "mixed": lib.DB_PRECISION_MIXED}


def need_precision(precision: str) -> None:
    """Whether there is such a one."""
    if precision != "auto" and precision not in _PRECISIONS:
        raise errors.UsageError(f"precision: expected auto, double or mixed, found {precision!r}")


class _Vector(NamedTuple):
    values: Floats | None = None  # (parameters,): of each, in its unit
    amplitudes: Floats | None = None  # (amplitudes,), electrons; see Plan.share
    default_F: Any = None  # electrons; of what the list does not have
    background: Memory | None = None  # photons, as an image: of directions; as a gradient the cotangent


@_former.members(parameters="values")
class Vector(_Vector, Record):
    """A number for everything that an image depends on: derivatives of a loss, or a direction. None:
    not wanted, or 0."""
    __slots__ = ()


class _Planned(Record):
    """What plans and batches have in common: their options, and what can be asked of them."""

    _plan: Any
    _stream: Any
    _create: Callable[[Experiment], None]

    def __init__(self, experiment: Experiment, parameters: Iterable[str] = (), *, precision: str = "auto",
                 dtype: DTypeLike = numpy.float32, tolerance: float = 0.0, regions: Iterable[Region] | None = None,
                 device: Any = "cpu", progress: Progress | None = None) -> None:
        if isinstance(parameters, str) or not hasattr(parameters, "__iter__"):
            raise errors.UsageError(f"parameters: expected a list of names, found {parameters!r}")
        need_experiment(experiment)
        self._context = new_context()
        self._shared: Amplitudes | None = None
        self._background: NDArray[Any] | bool | None = None  # True: others' memory, of which there is no copy
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
        self._stream = self._holder = None  # holder: whose values the plan has, if it need not be told again
        self._box = math.prod(experiment._c.structure_factors.extent)
        users.add(self)

    def forked(self) -> None:
        """In a child of fork: one thread, and nobody else who calls."""
        self._lock = threading.Lock()
        lib.db_context_set_threads(self._context, 1)

    @property
    def experiment(self) -> Experiment:
        """A copy of the experiment, as the plan has it; of a batch that of any of the shots."""
        return Experiment.copy_of(lib.db_plan_describe(self._plan).experiment)

    def __getstate__(self):
        if self._background is not None and not isinstance(self._background, numpy.ndarray):
            raise errors.UnsupportedError("a plan whose background is no array of numpy can be neither pickled nor copied")
        o = self._options
        regions = [(r.panel, (r.slow_start, r.slow_start + r.slow_count), (r.fast_start, r.fast_start + r.fast_count))
                   for r in o.regions[0:o.region_count]]
        return dict(experiment=self.experiment, parameters=list(self.names), precision=self.precision, dtype=self.dtype.name,
                    device=self._asked_device, tolerance=o.tolerance, regions=regions or None, shared=self._shared, background=self._background)

    def __setstate__(self, state):
        options = dict(state)
        shared, background = options.pop("shared"), options.pop("background")
        self.__init__(**options)
        if shared is not None:
            self.share(shared)
        if background is not None:
            self.set_background(background)

    def _shared_values(self, amplitudes):
        """The value of each entry of the plan's list, of a dualbragg.Amplitudes."""
        if amplitudes.size != self._box:
            raise errors.UsageError(f"amplitudes: expected those of a list of {self._box} structure factors, "
                                    f"as the plan has, found {amplitudes.size}")
        return ffi.from_buffer("uint32_t[]", amplitudes.value)

    def _made(self, out, destroy, plan=lambda made: made):
        """What was created, freed with its last user, and before it the memory that it has left."""
        context, kind, idle = self._context, ffi.typeof(out), self._idle  # the context lives as long

        def free(made):
            for _, room in idle:
                lib.db_plan_memory_destroy(ffi.cast("db_plan *", plan(made)), ffi.new("void **", room))
            destroy(ffi.new(kind, made))
            return context

        return ffi.gc(out[0], free)

    def _choose(self, experiment, precision):
        if precision == "auto":
            advice = ffi.new("db_precision_advice *")
            check(self._context, lib.db_precision_recommend(self._context, experiment._c,
                                                            self._options, advice))
            self._options.precision = advice.precision
        else:
            self._options.precision = _PRECISIONS[precision]
        return "double" if self._options.precision == lib.DB_PRECISION_DOUBLE else "mixed"

    def _set_regions(self, experiment, regions):
        if regions is None:
            return experiment.shape
        panels, made, offset = experiment.panel_shapes, [], 0
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
        """Where the plan runs: "cpu", "cuda:0"."""
        return text(lib.db_plan_device(self._plan))

    @property
    def _place(self):
        """DLPack's kind and number of the device: of a plan with "auto" it may change."""
        kind, _, number = self.device.partition(":")
        return (memory.CUDA, int(number)) if kind == "cuda" else (memory.CPU, 0)

    def empty(self, count: int | None = None) -> memory.DeviceArray:
        """Room for an image, or for so many, in the memory of the plan's device: a DeviceArray, for `out`,
        `derivatives`, `tangent` ... of calls whose results are to stay there."""
        shape = self.shape if count is None else (integer(count, "count"), *self.shape)
        if shape[0] < 0:
            raise errors.UsageError(f"count: expected 0 or more images, found {count}")
        out = ffi.new("void **")
        self._call(lib.db_plan_memory_create, self._plan_to_change(), lib.DB_MEMORY_DEVICE,
                   math.prod(shape) * self.dtype.itemsize, out)

        def free(room, own=self):  # the plan, and what it has its messages from, live as long
            own._left.append(room)
            own._free_memory()

        return memory.DeviceArray(self, ffi.gc(out[0], free), shape, self.dtype, self._place)

    _LEAST_LOCKED, _MOST_LOCKED = 1 << 20, 4  # bytes, pieces

    def _empty(self, shape: tuple[int, ...]) -> numpy.ndarray:
        """A new array for results. Those of a GPU come to page-locked memory in half the time, and faster yet to
        memory that was used before. It takes long to allocate: for those that come again, if few are kept."""
        nbytes = math.prod(shape) * self.dtype.itemsize
        if nbytes < self._LEAST_LOCKED or self._place[0] != memory.CUDA or not self._comes_again(nbytes):
            return numpy.empty(shape, self.dtype)
        room = self._locked_room(nbytes)
        if room is None:
            return numpy.empty(shape, self.dtype)

        def give_back(room: Any, own: _Planned = self) -> None:
            own._idle.append((nbytes, ffi.cast("void *", room)))

        return numpy.frombuffer(ffi.buffer(ffi.gc(ffi.cast("char *", room), give_back), nbytes), self.dtype).reshape(shape)

    def _comes_again(self, nbytes: int) -> bool:
        again = nbytes in self._sizes
        self._sizes.add(nbytes)
        return again

    def _locked_room(self, nbytes: int) -> Any:
        """Memory that nobody uses any more, or more of it; None: there is enough, or no more."""
        for idle in list(self._idle):
            if idle[0] == nbytes:
                self._idle.remove(idle)
                return idle[1]
        if self._locked == self._MOST_LOCKED and self._idle:  # of another size
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
        """Has a plan on a GPU work on a CUDA stream from now on: its number, or an object of torch or cupy;
        None: its own, as a new plan does.

        Calls whose images all stay in the GPU's memory return when their work is in the stream, unless
        `wait`; images must live until the stream is past the call. A plan on a stream of its own to which
        memory of a GPU is given works on the legacy default stream from then on, and waits."""
        number = None if stream is None else memory.handle_of(stream)
        use = (lib.DB_STREAM_OWN if number is None else
               lib.DB_STREAM_WAIT if wait else lib.DB_STREAM_ASYNCHRONOUS)
        self._call(lib.db_plan_set_stream, self._plan_to_change(), use, ffi.cast("void *", number or 0))
        self._stream = number

    def wait(self) -> None:
        """Until all work of the plan is done; raises a failure of the GPU that no call has told of yet."""
        self._call(lib.db_plan_wait, self._plan_to_change())

    def _plan_to_change(self):
        return ffi.cast("db_plan *", self._plan)

    def _stream_in_use(self):
        if self._stream is None and self._place[0] == memory.CUDA:
            self.set_stream(memory.LEGACY_STREAM, wait=True)
        return self._stream

    def _hand_over(self, stream):
        """Before others read the device's memory on a stream (DLPack's number; -1: they take care)."""
        if self._place[0] == memory.CUDA and stream != -1 and (stream is None or stream != self._stream):
            self.wait()

    def _read(self, to, view):
        self._call(lib.db_plan_memory_read, self._plan_to_change(), pointer(view, "void *"),
                   pointer(to, "void *"), view.nbytes)

    def _taken(self, value, what, shape, types=None, writable=False):
        """The caller's memory, as it is: a numpy array or a view."""
        found = memory.taken(value, what, shape, types or (self.dtype,), self._place, self._stream_in_use)
        if writable and isinstance(found, numpy.ndarray):
            array(found, what, shape, found.dtype, writable=True)
        return found

    def _apart(self, first, second, what):
        if memory.share(first, second):
            raise errors.UsageError(f"{what}: expected arrays that share no memory")

    @property
    def device_note(self) -> str:
        """What of the last vjp_all or jvp_all of a plan on a GPU the processor did; "" if nothing."""
        return text(lib.db_plan_device_note(self._plan))

    @property
    def amplitude_count(self) -> int:
        """How many structure factors there are to have derivatives by: entries of the list's box, or
        values that they share."""
        return lib.db_plan_describe(self._plan).amplitude_count

    def _call(self, function, *arguments):
        """Calls the library for the plan, whose buffers and messages serve one call at a time."""
        if not self._lock.acquire(blocking=False):
            raise errors.UsageError(f"this {type(self).__name__} is in use, by a call of another thread or the "
                                    "one that tells its progress function: each thread needs one of its own")
        try:
            self._watch.check(self._context, function(*arguments))
        finally:
            self._lock.release()
            if self._left:
                self._free_memory()

    def _free_memory(self):
        """Frees device memory that nobody uses, unless a call is under way, which does it when it ends."""
        while self._left and self._lock.acquire(blocking=False):
            try:
                lib.db_plan_wait(self._plan_to_change())
                lib.db_plan_memory_destroy(self._plan_to_change(), ffi.new("void **", self._left.popleft()))
            finally:
                self._lock.release()

    @staticmethod
    def _vector(vector, c=None):
        """The library's struct of a Vector of arrays, which must live as long."""
        c = ffi.new("db_plan_vector *") if c is None else c
        c.size = ffi.sizeof("db_plan_vector")
        for name, values in vector._asdict().items():
            if values is not None and len(values):
                member = "parameters" if name == "values" else name
                setattr(c, member, pointer(values, "void *" if name == "background" else "double *"))
        return c

    def _by_parameters(self, values):
        """The same of an array with an element for each parameter, of which there may be none."""
        c = self._vector(Vector())
        c.parameters = pointer(values, "double *")
        return c

    def __repr__(self) -> str:
        return (f"<dualbragg.{type(self).__name__}: {' x '.join(map(str, self.shape))} pixels, "
                f"{len(self.names)} parameters, {self.precision}, {self.dtype.name}>")


class Plan(_Planned):
    """Renders images of an experiment, and their derivatives.

    parameters: names of those by which derivatives are wanted, in this order
    precision: "auto" (what the library recommends), "double" or "mixed"
    dtype: of images, numpy.float32 or numpy.float64
    tolerance: photons that a pixel may lack, which saves time
    regions: None: all pixels; or a list of (panel, slow, fast), each a slice or (first, end): images
        are then one row, region after region
    device: "cpu" (None), "cuda", "cuda:1", "auto", or a device of torch
    progress: called now and then with the finished fraction; what it returns, if true, cancels, and
        an exception goes on from the call. Ctrl-C ends an image in any case

    A plan is used by one thread at a time, which is checked, and parallelizes inside; other threads of
    Python go on meanwhile. A process that is forked from this one, or spawned by multiprocessing, uses one
    thread. The experiment is copied: update() takes over its changes.
    """

    def _create(self, experiment):
        out = ffi.new("db_plan **")
        check(self._context, lib.db_plan_create(self._context, experiment._c, self._options, out))
        self._plan = self._made(out, lib.db_plan_destroy)

    def _repr_html_(self) -> str:
        return _html.rows("Plan", [("images", " x ".join(map(str, self.shape)), "pixels"),
                                    ("parameters", ", ".join(self.names) or "none", ""),
                                    ("precision", self.precision, self.dtype.name), ("device", self.device, "")]) + _html.pictures(self.forward())

    def update(self, experiment: Experiment) -> None:
        """Takes over the values of an experiment of the same counts (panels, sources, domains)."""
        self._holder = None
        self._call(lib.db_plan_update, self._plan, need_experiment(experiment)._c)

    def _image(self, value, what="out"):
        """Memory for an image, and what the caller gets: the caller's own, or a new array."""
        if value is None:
            made = self._empty(self.shape)
            return made, made
        return self._taken(value, what, self.shape, writable=True), value

    def _seen(self, cotangent, out):
        """Memory of a cotangent, and of an image that is wanted, too, or None."""
        cotangent = self._taken(cotangent, "cotangent", self.shape)
        if out is None:
            return cotangent, None
        image, _ = self._image(out)
        self._apart(cotangent, image, "cotangent and out")
        return cotangent, image

    def set_background(self, background: Memory | None = None) -> None:
        """Adds an image to all that are rendered from now on (photons; copied), and so to what normal
        compares with its data; None: no more."""
        if background is not None:
            background = self._taken(background, "background", self.shape)
        self._call(lib.db_plan_set_background, self._plan,
                   ffi.NULL if background is None else pointer(background, "void *"))
        # memory of the plan's own device would keep the plan for ever
        self._background = background.copy() if isinstance(background, numpy.ndarray) else background is not None or None

    def forward(self, out: Memory | None = None) -> Memory:
        """The image (photons). out: an array that receives it; also a tensor of the plan's GPU, or what
        empty() returns: all images may be such."""
        image, given = self._image(out)
        self._call(lib.db_plan_forward, self._plan, pointer(image, "void *"))
        return given

    def mean_wavelength(self, out: Memory | None = None) -> Memory:
        """The mean wavelength (A) of each pixel's photons, over the sources; 0 where there are none."""
        image, given = self._image(out)
        self._call(lib.db_plan_mean_wavelength, self._plan, pointer(image, "void *"))
        return given

    def gradient(self, out: Memory | None = None, derivatives: Memory | None = None) -> tuple[Memory, Memory]:
        """The image and its derivatives by each parameter (photons per unit), in one pass.

        derivatives: an array of the shape (parameters, *shape) that receives them."""
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
        """Sums over pixels of a least-squares step: chi2, J^T W r and J^T W J with r = image - data.

        data, weight: float32 or float64 of the image's shape; a pixel of weight 0 is left out; None: 1."""
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
        """Sums of cotangent times derivative over all pixels, one for each parameter (float64): the
        gradient of a loss by the parameters, if the cotangent is that by the pixels.

        cotangent: of the images' shape and type; out: an array that receives the image, too."""
        cotangent, image = self._seen(cotangent, out)
        gradient = numpy.empty(len(self.names))
        self._sum(cotangent, image, self._by_parameters(gradient))
        return gradient

    def _sum(self, cotangent, image, gradient):
        self._call(lib.db_plan_vjp, self._plan, pointer(cotangent, "void *"),
                   ffi.NULL if image is None else pointer(image, "void *"), gradient)

    def jvp(self, direction: Floats, out: Memory | None = None,
            tangent: Memory | None = None) -> tuple[Memory, Memory]:
        """The image, and its derivative along a direction in the space of the parameters.

        direction: float64, one for each parameter, in its unit"""
        array(direction, "direction", (len(self.names),), numpy.float64)
        (image, given), (moved, tangent) = self._image(out), self._image(tangent, "tangent")
        self._apart(image, moved, "out and tangent")
        self._call(lib.db_plan_jvp, self._plan, self._by_parameters(direction), pointer(image, "void *"),
                   pointer(moved, "void *"))
        return given, tangent

    def share(self, amplitudes: Amplitudes) -> None:
        """Makes structure factors values of their own (a dualbragg.Amplitudes), which vjp_all and
        jvp_all are about from now on."""
        self._call(lib.db_plan_share_amplitudes, self._plan, self._shared_values(amplitudes), len(amplitudes))
        self._shared = amplitudes

    def vjp_all(self, cotangent: Memory, out: Memory | None = None) -> Vector:
        """As vjp, by all structure factors, too: a Vector, whose values are None if the plan has no parameters."""
        cotangent, image = self._seen(cotangent, out)
        found = Vector(numpy.empty(len(self.names)) if self.names else None,
                       numpy.empty(self.amplitude_count), numpy.empty(1))
        self._sum(cotangent, image, self._vector(found))
        return found._replace(default_F=float(found.default_F[0]))

    def jvp_all(self, direction: Vector, out: Memory | None = None,
                tangent: Memory | None = None) -> tuple[Memory, Memory]:
        """As jvp, along a Vector: the image, and its derivative."""
        if not isinstance(direction, Vector):
            raise errors.UsageError(f"direction: expected a Vector, found {type(direction).__name__}")
        for name, count in (("values", len(self.names)), ("amplitudes", self.amplitude_count)):
            if getattr(direction, name) is not None:
                array(getattr(direction, name), f"direction.{name}", (count,), numpy.float64)
        if direction.background is not None:
            direction = direction._replace(
                background=self._taken(direction.background, "direction.background", self.shape))
        if direction.default_F is not None:
            direction = direction._replace(default_F=numpy.array([float(direction.default_F)]))
        (image, given), (moved, tangent) = self._image(out), self._image(tangent, "tangent")
        self._apart(image, moved, "out and tangent")
        c = self._vector(direction)
        self._call(lib.db_plan_jvp, self._plan, c, pointer(image, "void *"), pointer(moved, "void *"))
        return given, tangent


def _range(given, size, what):
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
