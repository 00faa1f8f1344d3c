"""Images and products with their derivatives at values of parameters, as arrays: what dualbragg.torch
and dualbragg.jax have in common."""

import threading

import numpy

from . import errors
from .fields import parameters as describe
from .plan import Plan


class Rendering:
    """A plan, and an experiment of its own, which takes the values of its parameters.

    Values and directions are float64 of (..., parameters), images and cotangents of (..., *shape)."""

    def __init__(self, experiment, parameters, dtype, keywords):
        self.experiment = experiment.copy()
        self.plan = Plan(self.experiment, parameters, dtype=dtype, **keywords)
        self._numbers = [self.experiment._parameter(n) for n in self.plan.names]
        self.keywords = keywords
        self._lock = threading.Lock()  # callers may have threads of their own

    @property
    def shape(self):
        return tuple(self.plan.shape)

    @property
    def count(self):
        return len(self.plan.names)

    def scales(self):
        """A typical step of each parameter, in its unit."""
        table = describe()
        return [table[n].scale if n in table else 1.0 for n in self.plan.names]

    def start(self):
        """Values of the experiment."""
        return [self.experiment[n] for n in self.plan.names]

    def check_shape(self, values):
        if len(values.shape) < 1 or values.shape[-1] != self.count:
            raise errors.UsageError(f"values: expected the shape ({self.count},) or (..., {self.count}), "
                                    f"found {tuple(values.shape)}")

    def _at(self, values):
        """The plan at these values; the lock is held."""
        self.experiment.set_values(self.plan.names, self._numbers, values.tolist())
        self.plan.update(self.experiment)
        return self.plan

    def _rows(self, values):
        return values.reshape(-1, self.count)

    def _images(self, images):
        return images.reshape(-1, *self.shape)

    def forward(self, values):
        images = numpy.empty((*values.shape[:-1], *self.shape), self.plan.dtype)
        with self._lock:
            for row, image in zip(self._rows(values), self._images(images)):
                self._at(row).forward(image)
        return images

    def vjp(self, values, cotangent):
        gradient = numpy.empty(values.shape)
        with self._lock:
            for row, image, out in zip(self._rows(values), self._images(cotangent),
                                       self._rows(gradient)):
                out[:] = self._at(row).vjp(image)
        return gradient

    def jvp(self, values, direction):
        images = numpy.empty((*values.shape[:-1], *self.shape), self.plan.dtype)
        unused = numpy.empty(self.shape, self.plan.dtype)
        with self._lock:
            for row, along, image in zip(self._rows(values), self._rows(direction),
                                         self._images(images)):
                self._at(row).jvp(along, unused, image)
        return images
