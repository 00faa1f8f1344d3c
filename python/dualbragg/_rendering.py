"""Images and products with their derivatives at values of parameters, as arrays: what dualbragg.torch
and dualbragg.jax have in common."""

import math
import threading

import numpy

from . import errors
from ._library import address, ffi, lib, users
from .amplitudes import Amplitudes
from .batch import Batch
from .fields import parameters as describe
from .plan import Plan


class Rendering:
    """A plan, and an experiment of its own, which takes the values of its parameters, and behind them
    those of structure factors (an Amplitudes, or None).

    Values and directions are float64 of (..., parameters), images and cotangents of (..., *shape), of numpy
    or views of the memory of the plan's device. stream: that the plan works on then, a number, or 0: calls
    return when images are there."""

    def __init__(self, experiment, parameters, dtype, amplitudes, keywords):
        self.given, self.experiment = experiment.copy(), experiment.copy()
        self.plan = Plan(self.experiment, parameters, dtype=dtype, **keywords)
        self._batch, self._shots, self._room = None, [], None
        self._numbers = [self.experiment._parameter(n) for n in self.plan.names]
        self.shape = tuple(self.plan.shape)
        self.count = len(self.plan.names)
        self.amplitudes, self.keywords = amplitudes, keywords
        if amplitudes is not None:
            if not isinstance(amplitudes, Amplitudes):
                raise errors.UsageError("amplitudes: expected a dualbragg.Amplitudes, found "
                                        f"{type(amplitudes).__name__}")
            self.plan.share(amplitudes)
            self.count += len(amplitudes)
        self._at = self._one()
        self._lock = threading.Lock()  # callers may have threads of their own, which wait
        users.add(self)

    def _one(self):
        """What the library's calls for one image take."""
        split = len(self.plan.names)
        at = ffi.new("struct rendering *")
        self._memory = ffi.new("double[]", split or 1), ffi.new("void *[]", split or 1)
        at.experiment, at.plan, at.parameter = self.experiment._c, self.plan._plan, self.plan._parameters
        at.last, at.derivative = self._memory
        at.count = at.bad = split
        at.image_bytes = math.prod(self.shape) * self.plan.dtype.itemsize
        at.amplitudes = self.amplitudes is not None
        return at

    def forked(self):
        """In a child of fork nobody else calls."""
        self._lock = threading.Lock()

    def scales(self):
        """A typical step of each parameter, in its unit."""
        table = describe()
        scales = [table[n].scale if n in table else 1.0 for n in self.plan.names]
        if self.amplitudes is not None:
            given = self.amplitudes.get(self.given)
            scales += [float(numpy.sqrt((given**2).mean())) or 1.0] * len(given)
        return scales

    def start(self):
        """Values of the experiment that was given."""
        return [self.given[n] for n in self.plan.names]

    def call(self, function, values, stream, *memory):
        """One of the library's calls for an image, at values; memory is given by addresses."""
        with self._lock:
            self._call(function, values, stream, memory)

    def _call(self, function, values, stream, memory):
        """The lock is held."""
        at, plan = self._at, self.plan
        if self.amplitudes is not None:
            split = len(plan.names)
            numbers = ffi.buffer(ffi.cast("double *", values), 8 * self.count)
            self.amplitudes.put(self.experiment, numpy.frombuffer(numbers)[split:])
            at.current = 0
        if plan._holder is not self:  # others have moved it
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

    def _each(self, function, values, stream, *memory):
        """The same for each row of values; memory: arrays that have as many rows, or an address that serves
        all of them. The lock is held."""
        rows, start = math.prod(values.shape[:-1]), address(values)
        steps = [(a, 0) if isinstance(a, int) else (address(a), a.nbytes // max(rows, 1)) for a in memory]
        for i in range(rows):
            self._call(function, start + 8 * self.count * i, stream, [a + i * step for a, step in steps])

    def _rows(self, values):
        return values.reshape(math.prod(values.shape[:-1]), self.count)

    def _images(self, images):
        return images.reshape(-1, *self.shape)

    def _many(self, values, stream):
        """Shots at rows of values, for the batch; None: one, or with structure factors of their own each.
        The lock is held."""
        if values.ndim < 2:
            return None
        rows, split = self._rows(values), len(self.plan.names)
        if len(rows) < 2 or (rows[1:, split:] != rows[0, split:]).any():
            return None
        if self._batch is None:
            self._batch = Batch(self.given, self.plan.names, dtype=self.plan.dtype, **self.keywords)
            if self.amplitudes is not None:
                self._batch.share(self.amplitudes)
        if stream:
            self._batch.set_stream(stream)
        if self.amplitudes is not None:
            self.amplitudes.put(self.experiment, rows[0, split:])
            self._batch.update(self.experiment)
        while len(self._shots) < len(rows):
            self._shots.append(self.given.without_list())
        for shot, row in zip(self._shots, rows):
            shot.set_values(self.plan.names, self._numbers, row[:split].tolist())
        return self._shots[:len(rows)]

    def _empty(self, shape):
        return numpy.empty(shape, self.plan.dtype)

    def new(self, values):
        """Room for the images at values."""
        return self._empty((*values.shape[:-1], *self.shape))

    def unused(self, stream=0, count=None):
        """Room for images that nobody wants: on the device, if nothing is to wait for it."""
        if not stream:
            return numpy.empty((count or 1, *self.shape), self.plan.dtype)
        if self._room is None or len(self._room) < (count or 1):
            self._room = self.plan.empty(count or 1)
        return self._room

    def forward(self, values, images, stream=0):
        with self._lock:
            shots = self._many(values, stream)
            if shots:
                self._batch.forward(shots, self._images(images))
            else:
                self._each(lib.rendering_forward, values, stream, images)
        return images

    def vjp(self, values, cotangent, stream=0):
        gradient = numpy.empty(values.shape)
        every = self.jacobian(values, self._empty) if isinstance(cotangent, numpy.ndarray) else None
        if every is not None:
            numpy.matmul(cotangent.reshape(-1, every.shape[1]), every.T, out=self._rows(gradient), dtype=float)
            return gradient
        with self._lock:
            shots = self._many(values, stream)
            if not shots:
                self._each(lib.rendering_vjp, values, stream, cotangent, gradient)
            elif self.amplitudes is None:
                self._rows(gradient)[:] = self._batch.vjp(shots, self._images(cotangent))
            else:
                found, split = self._batch.vjp_all(shots, self._images(cotangent)), len(self.plan.names)
                self._rows(gradient)[:, :split] = found.values
                self._rows(gradient)[:, split:] = found.amplitudes
        return gradient

    def jvp(self, values, direction, images, stream=0):
        every = self.jacobian(values, self._empty) if isinstance(images, numpy.ndarray) else None
        if every is not None:
            images.reshape(-1, every.shape[1])[:] = self._rows(direction) @ every
            return images
        with self._lock:
            shots = self._many(values, stream)
            if shots:
                along, split = self._rows(direction), len(self.plan.names)
                own = None if self.amplitudes is None else numpy.ascontiguousarray(along[:, split:])
                self._batch.jvp(shots, numpy.ascontiguousarray(along[:, :split]),
                                self.unused(stream, len(shots)), self._images(images), own)
            else:
                unused = self.unused(stream)
                self._each(lib.rendering_jvp, values, stream, direction, address(unused), images)
        return images

    def jacobian(self, values, empty, stream=0):
        """The derivative images (parameters, pixels), in one pass, where all rows of values are the same and as
        many as parameters at least, so that products with them are the least work; else None. empty: makes
        room of a shape."""
        if values.ndim < 2 or self.amplitudes is not None or not self.count:
            return None
        rows = self._rows(values)
        if len(rows) < max(2, self.count) or (rows[1:] != rows[0]).any():
            return None
        image, found = self.unused(stream), empty((self.count, *self.shape))
        self.call(lib.rendering_gradient, address(rows), stream, address(image), address(found))
        return found.reshape(self.count, -1)
