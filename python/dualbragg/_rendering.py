"""Images and products with their derivatives at values of parameters, as arrays: what dualbragg.torch
and dualbragg.jax have in common."""

import math
import threading

import numpy

from . import errors
from ._library import users
from .amplitudes import Amplitudes
from .batch import Batch
from .fields import parameters as describe
from .plan import Plan, Vector


class Rendering:
    """A plan, and an experiment of its own, which takes the values of its parameters, and behind them
    those of structure factors (an Amplitudes, or None).

    Values and directions are float64 of (..., parameters), images and cotangents of (..., *shape), of numpy
    or in the memory of the plan's device. stream: that the plan works on then, as Plan.set_stream has it, or
    None: calls return when images are there."""

    def __init__(self, experiment, parameters, dtype, amplitudes, keywords):
        self.given, self.experiment = experiment.copy(), experiment.copy()
        self.plan = Plan(self.experiment, parameters, dtype=dtype, **keywords)
        self._batch, self._shots, self._rooms = None, [], {}
        self._numbers = [self.experiment._parameter(n) for n in self.plan.names]
        self.amplitudes, self.keywords = amplitudes, keywords
        if amplitudes is not None:
            if not isinstance(amplitudes, Amplitudes):
                raise errors.UsageError("amplitudes: expected a dualbragg.Amplitudes, found "
                                        f"{type(amplitudes).__name__}")
            self.plan.share(amplitudes)
        self._lock = threading.Lock()  # callers may have threads of their own, which wait
        users.add(self)

    def forked(self):
        """In a child of fork nobody else calls."""
        self._lock = threading.Lock()

    @property
    def shape(self):
        return tuple(self.plan.shape)

    @property
    def count(self):
        return len(self.plan.names) + (0 if self.amplitudes is None else len(self.amplitudes))

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

    def _at(self, values):
        """The plan at these values; the lock is held."""
        split = len(self.plan.names)
        if self.amplitudes is not None:
            self.amplitudes.put(self.experiment, values[split:])
        self.experiment.set_values(self.plan.names, self._numbers, values[:split].tolist())
        self.plan.update(self.experiment)
        return self.plan

    def _rows(self, values):
        return values.reshape(math.prod(values.shape[:-1]), self.count)

    def _images(self, images):
        return images.reshape(-1, *self.shape)

    def _many(self, values):
        """Shots at rows of values, for the batch; None: one, or with structure factors of their own each."""
        rows, split = self._rows(values), len(self.plan.names)
        if len(rows) < 2 or (rows[1:, split:] != rows[0, split:]).any():
            return None
        if self._batch is None:
            self._batch = Batch(self.given, self.plan.names, dtype=self.plan.dtype, **self.keywords)
            if self.amplitudes is not None:
                self._batch.share(self.amplitudes)
        if self.amplitudes is not None:
            self.amplitudes.put(self.experiment, rows[0, split:])
            self._batch.update(self.experiment)
        while len(self._shots) < len(rows):
            self._shots.append(self.given.without_list())
        for shot, row in zip(self._shots, rows):
            shot.set_values(self.plan.names, self._numbers, row[:split].tolist())
        return self._shots[:len(rows)]

    def new(self, values):
        """Room for the images at values."""
        return numpy.empty((*values.shape[:-1], *self.shape), self.plan.dtype)

    def _turn(self, stream):
        """The lock is held."""
        if stream is None:
            return
        for own in (self.plan, self._batch):
            if own is not None:
                own.set_stream(stream)

    def _unused(self, count=None, stream=None):
        """Room for images that nobody wants: on the device, if nothing is to wait for it."""
        if stream is None:
            return numpy.empty(self.shape if count is None else (count, *self.shape), self.plan.dtype)
        if count not in self._rooms:
            self._rooms[count] = self.plan.empty(count)
        return self._rooms[count]

    def forward(self, values, images, stream=None):
        with self._lock:
            shots = self._many(values)
            self._turn(stream)
            if shots:
                self._batch.forward(shots, self._images(images))
                return images
            for row, image in zip(self._rows(values), self._images(images)):
                self._at(row).forward(image)
        return images

    def vjp(self, values, cotangent, stream=None):
        gradient = numpy.empty(values.shape)
        with self._lock:
            shots = self._many(values)
            self._turn(stream)
            split = len(self.plan.names)
            if shots and self.amplitudes is None:
                gradient.reshape(-1, self.count)[:] = self._batch.vjp(shots, self._images(cotangent))
                return gradient
            if shots:
                found = self._batch.vjp_all(shots, self._images(cotangent))
                gradient.reshape(-1, self.count)[:, :split] = found.parameters
                gradient.reshape(-1, self.count)[:, split:] = found.amplitudes
                return gradient
            for row, image, out in zip(self._rows(values), self._images(cotangent),
                                       self._rows(gradient)):
                if self.amplitudes is None:
                    out[:] = self._at(row).vjp(image)
                else:
                    found = self._at(row).vjp_all(image)
                    if split:
                        out[:split] = found.parameters
                    out[split:] = found.amplitudes
        return gradient

    def jvp(self, values, direction, images, stream=None):
        with self._lock:
            shots = self._many(values)
            self._turn(stream)
            if shots:
                along, split = self._rows(direction), len(self.plan.names)
                own = None if self.amplitudes is None else numpy.ascontiguousarray(along[:, split:])
                self._batch.jvp(shots, numpy.ascontiguousarray(along[:, :split]),
                                self._unused(len(shots), stream), self._images(images), own)
                return images
            unused = self._unused(None, stream)
            for row, along, image in zip(self._rows(values), self._rows(direction),
                                         self._images(images)):
                if self.amplitudes is None:
                    self._at(row).jvp(along, unused, image)
                else:
                    split = len(self.plan.names)
                    both = Vector(along[:split] if split else None, along[split:])
                    self._at(row).jvp_all(both, unused, image)
        return images
