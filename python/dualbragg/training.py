"""Noise of a detector, and sets of random shots for machine learning."""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Mapping, Sequence, Tuple, Union

import numpy

from . import errors
from ._library import array, check, ffi, finite, integer, lib, new_context, pointer, text
from ._records import Record
from .experiment import Experiment
from .geometry import random_rotation
from .plan import Plan, need_precision

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from ._types import Sample

_PSF = {None: lib.DB_PSF_NONE, "gauss": lib.DB_PSF_GAUSS, "fiber": lib.DB_PSF_FIBER}
_NUMBERS = ("scale", "flicker", "calibration", "psf_fwhm", "gain", "adc", "readout")
_COUNTS = ("noisy", "calibration_seed", "psf_radius", "bits", "truncate")
_EDGES = ("cell_a", "cell_b", "cell_c")
_EXTRAS = ("crystals", "kind", "expected", "mask", "spectrum")
_SHOT, _CRYSTAL, _BEAM, _BAND, _NOISE, _MASK = range(6)  # purposes of a shot's random numbers
_TRIES = 1000
Spectrum = Union[Tuple[str, Union[float, str]], Tuple[str, Union[float, str], Union[float, str]]]
Mask = Union["NDArray[Any]", Callable[[numpy.random.Generator], "NDArray[Any]"]]


def noise(image: NDArray[numpy.float32], seed: int = 1, *, psf: str | None = None,
          **options: float) -> NDArray[numpy.int32]:
    """Return the numbers that a detector records of an expected image: int32, shape of the image.

    image: photons, (slow, fast) or (panels, slow, fast) float32
    seed: of photons, flicker and readout; one seed gives the same bits on any number of threads
    psf: point spread function: None, "gauss" or "fiber", with psf_fwhm in pixels
    options: scale (photons per unit of the image), flicker, calibration, calibration_seed, gain (ADU per photon), adc
        (offset, 40 ADU), readout (ADU), bits (16 or 32), noisy, truncate, psf_radius: members of db_noise_options
        (dualbragg/noise.h)"""
    given = _noise_options(psf, **options)
    given.seed = _seed(seed)
    if not isinstance(image, numpy.ndarray) or image.ndim not in (2, 3) or not image.size:
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


def _noise_options(psf: str | None = None, **options: Any) -> Any:
    """Return the library's options."""
    given = ffi.new("db_noise_options *", lib.noise_defaults)
    if psf not in _PSF:
        raise errors.UsageError(f"psf: expected None, 'gauss' or 'fiber', found {psf!r}")
    given.psf = _PSF[psf]
    for name, value in options.items():
        if name in _NUMBERS:
            setattr(given, name, finite(value, 1, name)[0])
        elif name in _COUNTS:
            whole = isinstance(value, float) and value.is_integer()
            setattr(given, name, integer(int(value) if whole else value, name))
        else:
            raise errors.UsageError(f"noise: there is no option {name!r}; expected one of "
                                    f"{', '.join((*_NUMBERS, *_COUNTS))}")
    return given


def _try_noise(options: dict[str, Any]) -> None:
    """Raise an exception if the options are wrong."""
    noise(numpy.zeros((1, 1), numpy.float32), **options)


def _seed(seed: int) -> int:
    if (seed := integer(seed, "seed", 33)) < 0:
        raise errors.UsageError(f"seed: expected a whole number from 0 to 4294967295, found {seed}")
    return seed


def _deviation(value: float, name: str) -> float:
    sigma: float = finite(value, 1, name)[0]
    if sigma < 0:
        raise errors.UsageError(f"{name}: expected a standard deviation of 0 or more, found {sigma:g}")
    return sigma


class RandomShots(Record):
    """Set of random shots: images of crystals in random orientations, rendered on request; a map-style dataset for
    torch.utils.data.DataLoader. (dualbragg.torch.ShotStream is an iterable-style dataset.)

    shots[i] is a dictionary: "image" (float32 photons, or int32 numbers with noise), "A" (crystals, 3, 3; 1/A), "U"
    (crystals, 3, 3), and the `labels`. Its bits depend on neither process, thread nor earlier requests.

    experiment: common values of all shots; or a list of experiments, kinds of crystals with the same beam and detector:
        the kind of each crystal is random
    count: number of shots
    seed: whole number; shot i is a function of seed and i alone
    misset_spread: None: uniformly random orientations; else the experiment's orientation, turned about a random axis by
        a normally distributed angle of this standard deviation (degree)
    jitter: parameters that vary, with the standard deviation of their normal distribution, in their units. Values out
        of range are drawn again. Equal edges of the cell stay equal, unless each is named
    ranges: parameters that vary, with the least and most value of their uniform distribution
    spectrum: None; ("sase", width, spike): a pulse of a free-electron laser in each shot; ("band", width): a Gaussian
        band; ("band", least, most): a band of random width. Widths are relative full widths at half maximum, or names
        in bands() ("Si(111)" ...)
    vary: function of an Experiment, which it may change, and a numpy.random.Generator, for anything else that varies
        between crystals. Spawned processes need a function of a module
    crystals: number on each image; (least, most): a random number; values of absent crystals are NaN
    noise: None, or a dictionary of options of dualbragg.noise
    mask: pixels without data, which are -1 in images: an array of the image's shape, True or 1 for such pixels; or a
        function of a numpy.random.Generator that makes such an array for each shot
    labels: names of parameters: (crystals,) each, or (1,) for parameters that the crystals of a shot share, such as the
        beam's. Parameters of jitter and ranges are always labels. Also "crystals" (number), "kind" (of each crystal;
        -1: absent), "expected" (photons without noise), "mask", "spectrum" (of a pulse: wavelength in A and weight of
        each line)
    precision: of Plan; "auto": the advice for shot 0

    A set can be pickled. Each thread has its own plans."""

    kinds: list[Experiment]
    count: int
    seed: int
    misset_spread: float | None
    jitter: dict[str, float]
    ranges: dict[str, tuple[float, float]]
    spectrum: tuple[str, Unpack[tuple[float, ...]]] | None
    vary: Callable[[Experiment, numpy.random.Generator], Any] | None
    crystals: tuple[int, int]
    noise: dict[str, Any] | None
    mask: NDArray[numpy.bool_] | Callable[[numpy.random.Generator], NDArray[Any]] | None
    extras: tuple[str, ...]
    labels: tuple[str, ...]
    precision: str

    def __init__(self, experiment: Experiment | Sequence[Experiment], count: int, *, seed: int = 0,
                 misset_spread: float | None = None, jitter: Mapping[str, float] | None = None,
                 ranges: Mapping[str, tuple[float, float]] | None = None, spectrum: Spectrum | None = None,
                 vary: Callable[[Experiment, numpy.random.Generator], Any] | None = None,
                 crystals: int | tuple[int, int] = 1, noise: dict[str, Any] | None = None, mask: Mask | None = None,
                 labels: Iterable[str] = (), precision: str = "auto") -> None:
        kinds = [experiment] if isinstance(experiment, Experiment) else experiment
        if not isinstance(kinds, (list, tuple)) or not kinds or not all(isinstance(k, Experiment) for k in kinds):
            raise errors.UsageError("experiment: expected an Experiment or a list of Experiments, found "
                                    f"{type(experiment).__name__}")
        self.kinds, self.count, self.seed = [k.copy() for k in kinds], integer(count, "count"), integer(seed, "seed", 64)
        self.crystals = _range_of(crystals, "crystals")
        if self.count < 1 or self.crystals[0] < 1 or self.seed < 0:
            raise errors.UsageError("RandomShots: expected count and crystals of at least 1 and a seed of at least 0, found "
                                    f"{self.count}, {crystals}, {self.seed}")
        common = [_in_common(kind) for kind in self.kinds]
        for other in common[1:]:
            if differ := [name for name in common[0] if name in other and other[name] != common[0][name]]:
                raise errors.UsageError("experiment: expected kinds of crystals with the beam and detector of the first, found "
                                        f"another value of {differ[0]}")
        self.misset_spread = None if misset_spread is None else _deviation(misset_spread, "misset_spread")
        for what, given in (("jitter", jitter), ("ranges", ranges)):
            if not isinstance(given or {}, Mapping):
                raise errors.UsageError(f"{what}: expected a dictionary by name, found {given!r}")
        if isinstance(labels, str):
            raise errors.UsageError(f"labels: expected a list of names, found {labels!r}")
        self.jitter = {name: _deviation(sigma, name) for name, sigma in (jitter or {}).items()}
        self.ranges = {name: _ends(ends, name) for name, ends in (ranges or {}).items()}
        if set(self.jitter) & set(self.ranges):
            raise errors.UsageError(f"{min(set(self.jitter) & set(self.ranges))}: expected in jitter or ranges, found in both")
        if not (vary is None or callable(vary)) or not (noise is None or isinstance(noise, dict) and "seed" not in noise):
            raise errors.UsageError("RandomShots: expected a function as vary and a dictionary without a seed as noise, "
                                    f"found {vary!r}, {noise!r}")
        if noise is not None:
            _try_noise(noise)
        need_precision(precision)
        self.vary, self.noise, self.precision = vary, noise, precision
        self.mask = mask if mask is None or callable(mask) else self._masked(mask)
        names = dict.fromkeys((*self.jitter, *self.ranges, *labels))
        self.extras = tuple(name for name in names if name in _EXTRAS)
        self.labels = tuple(name for name in names if name not in _EXTRAS)
        for name in self.labels:
            self.given[name]  # raises an exception for an unknown parameter
        self.spectrum = None if spectrum is None else _spectrum(spectrum)
        if "spectrum" in self.extras and (self.spectrum is None or self.spectrum[0] != "sase"):
            raise errors.UsageError("labels: expected spectrum=('sase', width, spike) beside the label spectrum")
        for name, ends in self.ranges.items():
            facts = lib.db_parameter_describe(self.given._parameter(name)).facts
            if not facts.least <= ends[0] <= ends[1] <= facts.most:
                raise errors.UsageError(f"{name}: expected values from {facts.least:g} to {facts.most:g}, found {ends}")
            for end in ends:
                self._set(self.given.copy(), name, end)
        self.experiment(0)  # raises an exception for impossible values
        self._of_thread = threading.local()

    @property
    def given(self) -> Experiment:
        """First kind of crystal, with beam and detector of all shots."""
        return self.kinds[0]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_of_thread"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._of_thread = threading.local()

    def __repr__(self) -> str:
        return f"<dualbragg.RandomShots: {self.count} shots of {self.given!r}, seed {self.seed}>"

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Sample]:
        return (self[i] for i in range(self.count))

    def _generator(self, i: int, purpose: int, crystal: int = 0) -> numpy.random.Generator:
        return numpy.random.Generator(numpy.random.Philox(numpy.random.SeedSequence([self.seed, i, purpose, crystal])))

    def _present(self, i: int) -> list[int]:
        """Return the kind of each crystal of shot i."""
        random = self._generator(i, _SHOT)
        return [int(random.integers(len(self.kinds))) for _ in range(random.integers(self.crystals[0], self.crystals[1] + 1))]

    def experiment(self, i: int, crystal: int = 0) -> Experiment:
        """Return the Experiment of a crystal of shot i."""
        i = self._number(i)
        kinds = self._present(i)
        if not 0 <= integer(crystal, "crystal") < len(kinds):
            raise errors.UsageError(f"crystal: expected one from 0 to {len(kinds) - 1} of shot {i}, found {crystal}")
        return self._experiment(i, crystal, self.kinds[kinds[crystal]])

    def _experiment(self, i: int, crystal: int, kind: Experiment) -> Experiment:
        shot, random, common = kind.copy(), self._generator(i, _CRYSTAL, crystal), self._generator(i, _BEAM)
        if self.misset_spread is None:
            shot.U = random_rotation(random)
        else:
            axis = random.normal(size=3)
            angle = numpy.radians(self.misset_spread) * random.normal()
            turn = shot.copy()
            turn.rotation_vector = angle * axis / numpy.linalg.norm(axis)
            shot.U = turn.U @ shot.U
        for name in (*self.jitter, *self.ranges):
            number = shot._parameter_number(name)
            facts = lib.db_parameter_describe(number).facts
            self._set(shot, name, self._drawn(name, shot[name], facts, random if _is_of_crystal(facts) else common))
        if self.spectrum is not None:
            self._give_spectrum(shot, i)
        if self.vary is not None:
            self.vary(shot, random)
        return shot

    def _drawn(self, name: str, value: float, facts: Any, random: numpy.random.Generator) -> float:
        if name in self.ranges:
            return random.uniform(*self.ranges[name])
        for _ in range(_TRIES):
            drawn = value + self.jitter[name] * random.normal()
            if facts.least <= drawn <= facts.most:
                return drawn
        raise errors.UsageError(f"{name}: expected a standard deviation with values from {facts.least:g} to {facts.most:g}, "
                                f"found {self.jitter[name]:g} about {value:g}")

    def _give_spectrum(self, shot: Experiment, i: int) -> None:
        assert self.spectrum is not None
        kind, *widths = self.spectrum
        context = new_context()
        if kind == "sase":
            check(context, lib.db_experiment_set_sase(context, shot._c, *widths, self.seed % 2**62, i))
        else:
            width = math.exp(self._generator(i, _BAND).uniform(math.log(widths[0]), math.log(widths[-1])))
            check(context, lib.db_experiment_set_band(context, shot._c, width))

    def _set(self, shot: Experiment, name: str, value: float) -> None:
        named = (*self.jitter, *self.ranges)
        equal = [edge for edge in _EDGES if name in _EDGES and edge not in named and shot[edge] == shot[name]]
        for each in (name, *equal):
            shot[each] = value

    def _photons(self, shot: Experiment, kind: int) -> NDArray[numpy.float32]:
        """Return the image of a crystal. In every thread its plan has the precision of shot 0."""
        plans: dict[int, Plan] = self._of_thread.__dict__.setdefault("plans", {})
        if kind not in plans:
            plans[kind] = Plan(self._experiment(0, 0, self.kinds[kind]), precision=self.precision)
        plans[kind].update(shot)
        image: NDArray[numpy.float32] = plans[kind].forward()
        return image

    def _masked(self, mask: NDArray[Any]) -> NDArray[numpy.bool_]:
        """Return a mask as an array of bool."""
        mask = numpy.asarray(mask)
        if mask.shape != self.given.shape or mask.dtype.kind not in "bu":
            raise errors.UsageError(f"mask: expected bool or unsigned numbers of the shape {self.given.shape}, found "
                                    f"{mask.dtype.name} of {mask.shape}")
        return mask.astype(bool)

    def _number(self, i: int) -> int:
        """Return the number of a shot; negative numbers count from the end."""
        i = integer(i, "shot")
        if not -self.count <= i < self.count:
            raise IndexError(f"shot {i}: expected one from 0 to {self.count - 1}")
        return i % self.count

    def __getitem__(self, i: int) -> Sample:
        i = self._number(i)
        kinds = self._present(i)
        shots = [self._experiment(i, crystal, self.kinds[kind]) for crystal, kind in enumerate(kinds)]
        for shot in shots[1:]:  # the image has the background once
            shot._c.background.water_size = shot._c.background.thickness = 0
        expected: Any = sum(map(self._photons, shots, kinds))
        image = expected
        if self.noise is not None:
            image = noise(expected, int(self._generator(i, _NOISE).integers(2**32)), **self.noise)
        found = {"A": self._each([s.A for s in shots]), "U": self._each([s.U for s in shots])}
        for name in self.labels:
            of_crystal = _is_of_crystal(lib.db_parameter_describe(shots[0]._parameter_number(name)).facts)
            found[name] = self._each([s[name] for s in shots]) if of_crystal else numpy.array([shots[0][name]])
        extras: dict[str, Any] = dict(crystals=numpy.array(len(shots)), kind=self._each(kinds, -1), expected=expected)
        if "spectrum" in self.extras:
            sources = shots[0]._c.beam.sources[0:shots[0]._c.beam.source_count]
            extras["spectrum"] = numpy.array([(shots[0]["wavelength"] * s.wavelength_ratio, s.weight) for s in sources])
        if self.mask is not None or "mask" in self.extras:
            extras["mask"] = (self._masked(self.mask(self._generator(i, _MASK))) if callable(self.mask) else
                              numpy.zeros(image.shape, bool) if self.mask is None else self.mask.copy())
            image = numpy.where(extras["mask"], image.dtype.type(-1), image)
        return {"image": image, **found, **{name: extras[name] for name in self.extras}}

    def _each(self, values: Sequence[Any], absent: float = math.nan) -> NDArray[Any]:
        """Return an array of values of each crystal, with `absent` for absent crystals."""
        made = numpy.array(values)
        room = numpy.full((self.crystals[1], *made.shape[1:]), absent, made.dtype)
        room[:len(made)] = made
        return room


def _in_common(kind: Experiment) -> dict[str, Any]:
    """Return the values that kinds of crystals on one image must share, by name."""
    _, lists = kind.__getstate__()["_c"]
    values = {name: value for name, value in kind.values.items()
              if not _is_of_crystal(lib.db_parameter_describe(kind._parameter_number(name)).facts)}
    return {**values, "panels": lists["panels"].tobytes(), "sources": lists["sources"].tobytes()}


def _is_of_crystal(facts: Any) -> bool:
    """Return True if crystals of a shot have their own value of a parameter, False if they share it."""
    return bool(facts.owner == lib.DB_OWNER_CRYSTAL or facts.moves == lib.DB_MOVES_LATTICE)


def _range_of(value: int | tuple[int, int], what: str) -> tuple[int, int]:
    """Return the least and the most of a whole number, or of two."""
    ends = value if isinstance(value, (tuple, list)) else (value, value)
    if len(ends) != 2 or not integer(ends[0], what) <= integer(ends[1], what):
        raise errors.UsageError(f"{what}: expected a number or the least and the most, found {value!r}")
    return int(ends[0]), int(ends[1])


def _ends(value: tuple[float, float], name: str) -> tuple[float, float]:
    least, most = finite(value, 2, name)
    if least > most:
        raise errors.UsageError(f"{name}: expected the least and the most value, found {least:g}, {most:g}")
    return float(least), float(most)


def bands() -> dict[str, float]:
    """Return the relative full widths at half maximum of bands by name: Bragg reflections of monochromators, a
    multilayer, an undulator's harmonic."""
    count = ffi.new("size_t *")
    table = lib.db_bands(count)
    return {text(table[i].name): table[i].width for i in range(count[0])}


def _spectrum(given: Spectrum) -> tuple[str, Unpack[tuple[float, ...]]]:
    """Return a spectrum with numbers instead of names."""
    kind, *widths = given if isinstance(given, (tuple, list)) else (given,)
    if (kind, len(widths)) not in (("sase", 2), ("band", 1), ("band", 2)):
        raise errors.UsageError(f"spectrum: expected ('sase', width, spike), ('band', width) or ('band', least, most), found {given!r}")
    known = bands()
    for width in widths:
        if isinstance(width, str) and width not in known:
            raise errors.UsageError(f"spectrum: expected a width or one of {', '.join(known)}, found {width!r}")
    found = [known[w] if isinstance(w, str) else float(finite(w, 1, "spectrum")[0]) for w in widths]
    if min(found) <= 0 or (kind == "band" and found[0] > found[-1]):
        raise errors.UsageError(f"spectrum: expected widths above 0, the least first, found {given!r}")
    return kind, *found
