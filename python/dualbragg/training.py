"""Noise of a detector, and sets of random shots for learning."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Mapping

import numpy

from . import errors
from ._library import array, check, ffi, finite, integer, lib, new_context, pointer
from ._records import Record
from .experiment import Experiment
from .geometry import random_rotation
from .plan import Plan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._types import Sample

_PSF = {None: lib.DB_PSF_NONE, "gauss": lib.DB_PSF_GAUSS, "fiber": lib.DB_PSF_FIBER}
_NUMBERS = ("scale", "flicker", "calibration", "psf_fwhm", "gain", "adc", "readout")
_COUNTS = ("noisy", "calibration_seed", "psf_radius", "bits", "truncate")
_EDGES = ("cell_a", "cell_b", "cell_c")


def noise(image: NDArray[numpy.float32], seed: int = 1, *, psf: str | None = None,
          **options: float) -> NDArray[numpy.int32]:
    """What a detector records of an expected image: int32 numbers of the same shape.

    image: float32 photons of (slow, fast), or of (panels, slow, fast)
    seed: of photons, flicker and readout; the same seed gives the same bits on any number of threads
    psf: None, "gauss" or "fiber", with psf_fwhm in pixels
    options: scale (photons per unit of the image), flicker, calibration, calibration_seed, gain (ADU per
    photon), adc (offset, 40), readout (ADU), bits (16 or 32), noisy, truncate, psf_radius, as in
    dualbragg/noise.h"""
    given = ffi.new("db_noise_options *", lib.noise_defaults)
    given.seed = _seed(seed)
    if psf not in _PSF:
        raise errors.UsageError(f"psf: expected None, 'gauss' or 'fiber', found {psf!r}")
    given.psf = _PSF[psf]
    for name, value in options.items():
        if name in _NUMBERS:
            setattr(given, name, finite(value, 1, name)[0])
        elif name in _COUNTS:
            setattr(given, name, integer(int(value), name))
        else:
            raise errors.UsageError(f"noise: there is no option {name!r}; expected one of "
                                    f"{', '.join((*_NUMBERS, *_COUNTS))}")
    if not isinstance(image, numpy.ndarray) or image.ndim not in (2, 3):
        raise errors.UsageError("image: expected an array of the shape (slow, fast) or (panels, slow, fast), found "
                                f"{getattr(image, 'shape', type(image).__name__)}")
    array(image, "image", image.shape, numpy.float32)
    numbers, context = numpy.empty(image.shape, numpy.int32), new_context()
    panels = zip(image.reshape(-1, *image.shape[-2:]), numbers.reshape(-1, *image.shape[-2:]))
    for panel, (expected, number) in enumerate(panels):
        frame = ffi.new("db_noise_frame *")
        frame.panel, (frame.slow_pixels, frame.fast_pixels) = panel, expected.shape
        frame.expected, frame.number = pointer(expected, "float *"), pointer(number, "int32_t *")
        check(context, lib.db_noise_apply(context, given, frame, ffi.NULL))
    return numbers


def _seed(seed):
    if (seed := integer(seed, "seed", 33)) < 0:
        raise errors.UsageError(f"seed: expected a whole number from 0 to 4294967295, found {seed}")
    return seed


def _deviation(value, name):
    if (sigma := finite(value, 1, name)[0]) < 0:
        raise errors.UsageError(f"{name}: expected a standard deviation of 0 or more, found {sigma:g}")
    return sigma


class RandomShots(Record):
    """Shots of crystals in random orientations, rendered when they are asked for: a map-style dataset, as
    torch.utils.data.DataLoader takes it.

    shots[i] is a dictionary: "image" (float32 photons, or int32 numbers with noise), "A" (crystals, 3, 3; 1/A),
    "U" (crystals, 3, 3), and the values of `labels`, (crystals,) each. It has the same bits in any process and
    thread, and whatever has been asked for before.

    experiment: what all shots have in common
    count: how many there are
    seed: a whole number; shot i is a function of seed and i alone
    misset_spread: None: all orientations alike; else the experiment's, turned about a random axis by a normally
        distributed angle of this standard deviation (degree)
    jitter: parameters that differ between crystals, with the standard deviation of their normal distribution, in
        their units; edges of the cell that are equal stay so, unless each is named
    vary: a function of an Experiment, which it may change, and a numpy.random.Generator, for all else that
        differs. Processes that are spawned take functions of modules only
    crystals: on each image
    noise: None, or options of dualbragg.noise (a dictionary)
    labels: names of parameters; those of jitter are labels anyway
    precision: that of Plan

    It can be pickled. Each thread has a plan of its own."""

    def __init__(self, experiment: Experiment, count: int, *, seed: int = 0, misset_spread: float | None = None,
                 jitter: Mapping[str, float] | None = None,
                 vary: Callable[[Experiment, numpy.random.Generator], Any] | None = None, crystals: int = 1,
                 noise: dict[str, Any] | None = None, labels: Iterable[str] = (), precision: str = "auto") -> None:
        if not isinstance(experiment, Experiment):
            raise errors.UsageError(f"experiment: expected an Experiment, found {type(experiment).__name__}")
        self.given, self.count, self.seed = experiment.copy(), integer(count, "count"), integer(seed, "seed", 64)
        self.crystals = integer(crystals, "crystals")
        if self.count < 1 or self.crystals < 1 or self.seed < 0:
            raise errors.UsageError("RandomShots: expected count and crystals of at least 1 and a seed of at least 0, found "
                                    f"{self.count}, {self.crystals}, {self.seed}")
        self.misset_spread = None if misset_spread is None else _deviation(misset_spread, "misset_spread")
        self.jitter = {name: _deviation(sigma, name) for name, sigma in (jitter or {}).items()}
        if not (vary is None or callable(vary)) or not (noise is None or isinstance(noise, dict) and "seed" not in noise):
            raise errors.UsageError("RandomShots: expected a function as vary and a dictionary without a seed as noise, "
                                    f"found {vary!r}, {noise!r}")
        self.vary, self.noise, self.precision = vary, noise, precision
        self.labels = tuple(dict.fromkeys((*self.jitter, *labels)))
        for name in self.labels:
            self.given[name]  # an error if there is none
        self._of_thread = threading.local()

    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if name != "_of_thread"}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._of_thread = threading.local()

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Sample]:
        return (self[i] for i in range(self.count))

    def _generator(self, i, crystal):
        return numpy.random.Generator(numpy.random.Philox(numpy.random.SeedSequence([self.seed, i, crystal])))

    def experiment(self, i: int, crystal: int = 0) -> Experiment:
        """The experiment of a crystal of shot i."""
        shot, random = self.given.copy(), self._generator(i, crystal)
        if self.misset_spread is None:
            shot.U = random_rotation(random)
        else:
            axis = random.normal(size=3)
            angle = numpy.radians(self.misset_spread) * random.normal()
            turn = shot.copy()
            turn.rotation_vector = angle * axis / numpy.linalg.norm(axis)
            shot.U = turn.U @ shot.U
        for name, sigma in self.jitter.items():
            self._set(shot, name, shot[name] + sigma * random.normal())
        if self.vary is not None:
            self.vary(shot, random)
        return shot

    def _set(self, shot, name, value):
        equal = [edge for edge in _EDGES if name in _EDGES and edge not in self.jitter and self.given[edge] == self.given[name]]
        for each in (name, *equal):
            shot[each] = value

    def _plan(self, shot):
        if not hasattr(self._of_thread, "plan"):
            self._of_thread.plan = Plan(shot, precision=self.precision)
        else:
            self._of_thread.plan.update(shot)
        return self._of_thread.plan

    def __getitem__(self, i: int) -> Sample:
        i = integer(i, "shot")
        if not -self.count <= i < self.count:
            raise IndexError(f"shot {i}: expected one from 0 to {self.count - 1}")
        i %= self.count
        shots = [self.experiment(i, crystal) for crystal in range(self.crystals)]
        image = self._plan(shots[0]).forward()
        for shot in shots[1:]:
            image += self._plan(shot).forward()
        if self.noise is not None:
            image = noise(image, int(self._generator(i, self.crystals).integers(2**32)), **self.noise)
        return {"image": image, "A": numpy.array([s.A for s in shots]), "U": numpy.array([s.U for s in shots]),
                **{name: numpy.array([s[name] for s in shots]) for name in self.labels}}
