"""Refinement against one or many measured images."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import tempfile
import weakref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy

from . import _former, _html, errors
from ._progress import function_of
from ._configuration import Configuration, need_refinement, plain_section
from ._library import Watch, check, encoded, extern, ffi, keep_raised, lib, new_context, noticing, text
from ._records import Record
from ._structs import numbers, table, value, values
from .experiment import Experiment
from .images import as_image, c_image

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from ._types import AnyImage, Floats, Path, Table
    from .settings import Sections, Settings


@dataclass(frozen=True)
class Evaluation(Record):
    """Evaluation of the target, for progress functions.

    stage: from 0
    evaluation: within the stage, from 1
    target: by pixels chi2 per degree of freedom of the data in use; by moments the loss of the spots
    gradient_norm: norm of the gradient, in the optimizer's coordinates
    values: of the parameters by name, in their units"""
    stage: int
    evaluation: int
    target: float
    gradient_norm: float
    values: dict[str, float]


_KINDS = ("done", "evaluated", "excluded", "resumed", "working")


@dataclass(frozen=True)
class ShotsEvent(Record):
    """Event in a refinement of many shots, for progress functions.

    kind: "done", "evaluated", "excluded", "resumed" or "working"
    stage: from 0
    done, count: shots so far, and in all
    what: working: name of the pass over the shots
    target: evaluated: chi2 per degree of freedom; else nan
    shot, reason: excluded: name of the shot, and why"""
    kind: str
    stage: int
    done: int
    count: int
    what: str
    target: float
    shot: str
    reason: str


@dataclass(frozen=True)
class Estimate(Record):
    """Estimate of a refined parameter. Errors are nan if the parameter is tied or at a bound, inf if the data do not
    determine it.

    name: the parameter
    unit: "" if it has none
    start, value: before and after refinement
    error: standard error to quote: the larger of error_scaled and error_robust
    error_unscaled: from the noise alone
    error_scaled: error_unscaled times sqrt(chi2 per degree of freedom), if this exceeds 1
    error_robust: from the scatter between spots, or between regions of the detector
    at_bound: -1 at the lower bound, 1 at the upper bound, else 0
    shared: 1: all shots have one value, always so for a single image; 0: each shot has its own"""
    name: str
    unit: str
    start: float
    value: float
    error: float
    error_unscaled: float
    error_scaled: float
    error_robust: float
    at_bound: int
    shared: int


@dataclass(frozen=True)
class Direction(Record):
    """Combination of parameters, and how well the data determine it.

    eigenvalue: of the normal matrix scaled to unit diagonal
    condition: largest eigenvalue over this one; inf: not determined
    component: (parameters,), a unit vector
    change: (parameters,) in their units: one standard deviation along the direction"""
    eigenvalue: float
    condition: float
    component: Floats
    change: Floats


@dataclass(frozen=True)
class Test(Record):
    """Test of a refined model.

    name, meaning: name of the test, and meaning of its result
    found: the result; nan: the test could not be made
    least, most: a passed test has a result between them
    passed: also True if the test could not be made"""
    name: str
    meaning: str
    found: float
    least: float
    most: float
    passed: bool


@dataclass(frozen=True)
class Verdict(Record):
    """Verdict: may the model be used? Its tests use spots that were found without a model.

    usable: all tests are passed
    reason: failed test and possible causes; "" if none failed
    tests: Test by name
    spots: spots of the image, the strongest 1000 at most
    at: of them, likelier at reflections than at random places
    position_rms: pixels, distance of these spots from their predicted places
    intensities: known intensities: number that were compared with calculated ones
    light_spots: free intensities: spots of the final data
    light_part: fraction of light_spots whose brightness in the model is right within a factor of 1.5; nan: fewer than
        20
    intensities_usable: free intensities: light_part is 2/3 or more
    centring: letter of a centring that the symmetry does not name, if spots are at its reflections only; None: none
    centring_gain: log likelihood of the spots with its reflections minus with all; 0: no centring"""
    usable: bool
    reason: str
    tests: dict[str, Test] = field(repr=False)
    spots: int
    at: int
    position_rms: float
    intensities: int
    light_spots: int
    light_part: float
    intensities_usable: bool
    centring: str | None
    centring_gain: float


@dataclass(frozen=True)
class OtherLattice(Record):
    """Result of a search for another lattice of the same cell among spots at no reflection.

    spots: spots that distinguish orientations
    indexed: of them, near nodes of the lattice; 0: no lattice was found
    by_chance: expected `indexed` for a random orientation"""
    spots: int
    indexed: int
    by_chance: float


@dataclass(frozen=True)
class Mates(Record):
    """Symmetry mates on an image (partialities of 0.05 and more), and the error of partialities by their scatter.

    pairs: their measurements, less one for each reflection
    error: e, which adds e^2 (1 + ln(partiality)^2) F^4 to the variance of F^2; 0: the mates show none, have
        unrelated intensities, or are fewer than ten pairs
    gain: in log likelihood of the mates, by the likeliest error
    strong_pairs: pairs in which one is above 5 standard errors
    noise_scatter, scatter: robust scatter of these in standard errors, by noise alone and as given"""
    pairs: int
    error: float
    gain: float
    strong_pairs: int
    noise_scatter: float
    scatter: float


@dataclass(frozen=True)
class Statistics(Record):
    """Agreement of a model with the data.

    pixels, shoeboxes: in use
    chi2, chi2_reduced: with the variances of the target
    rms_residual: counts
    strong_pixels: of the image in the resolution range, and of reflections that the model predicts
    strong_explained: fraction of strong_pixels where the model has half to twice the observed counts above background
    correlation: model against measured counts, background removed
    centroid_rms: pixels, measured minus model centroid"""
    pixels: int
    shoeboxes: int
    chi2: float
    chi2_reduced: float
    rms_residual: float
    strong_pixels: float
    strong_explained: float
    correlation: float
    centroid_rms: float


_STATUS: dict[str, Callable[[int], bool]] = {"converged": lambda s: s == lib.DB_OK,
                                           "cancelled": lambda s: s == lib.DB_ERROR_CANCELLED}
_OF_ALL = {".json": "json", ".html": "html"}
_OF_JOINT = {".mtz": "mtz", ".hkl": "hkl"}
_PLAIN = ("evaluations", "seconds", "shoebox_half_width", "sigma_z_median", "sigma_z_limit", "distrusted_count",
          "distance_step", "distance_error", "distance_gain", "all_spots", "left_spots", "image_scale")
_OF_ONE = {".yaml": ("yaml", "c"), ".png": ("png", "ci"), ".refl": ("table", "c"), ".hkl": ("intensities", "")}
_TABLES = {"reflections": "reflection_count", "shoeboxes": "shoebox_count", "shells": "shell_count",
           "regions": "region_count", "starts": "start_count", "trials": "trial_count", "distrusted": "distrusted_listed"}


_OF_MODEL = (".yaml", ".expt")
_OF_MODEL_IMAGES = ("_model.bin", "_background.bin", ".hkl", ".refl")


def _identity(path: str) -> tuple[int, int] | None:
    """Return what identifies an existing file; None: there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def status_name(status: int) -> str:
    """Return "converged", "cancelled" or "not converged"."""
    return next((name for name, is_it in _STATUS.items() if is_it(status)), "not converged")


def ended(status: str, reason: str) -> str:
    """Return a line about the end of a refinement; the library's reason may begin with the status."""
    return reason if reason.startswith(status) else f"{status}: {reason}"


class Shot(Record):
    """Result of a shot. Tables are structured arrays; docs/reference/json.md has the units of their columns.

    name: of the shot
    used: False: the shot was excluded
    status, reason: how the refinement ended, or why the shot was excluded
    estimates: Estimate of each refined parameter, by name; shared parameters have the same value in all shots
    experiment: the refined Experiment; None if the shot was excluded
    before, after: Statistics of the starting and the refined model on the same pixels; residuals and strong pixels are
        nan in a list of shots

    Further members, of a single image only:

    verdict, usable: Verdict, and whether the model may be used
    reflections: hkl, d_spacing (A), position (pixels: fast, slow), counts, square, F, partiality ...
    shoeboxes: hkl, predicted (pixels), intensity, intensity_esd, chi2, centroid_offset, outlier ...; pixels(i) returns
        the pixels of shoebox i
    shells, regions: goodness of fit by resolution and by place
    starts, trials, distrusted: starts tried, conditional stages, pixels with little weight in a robust target
    model_image, background: counts of the whole detector, (slow, fast) float32, or None
    warnings, advice: points to check, and what to do about each
    all_spots, left_spots: spots of the image, and those at no reflection
    other_lattice: OtherLattice among left_spots
    mates: Mates
    distance_step, distance_error: mm, change of a distance that was held for which the data ask, and its error
    distance_gain: gain in log likelihood of the spots by this change
    evaluations, seconds, shoebox_half_width, sigma_z_median, sigma_z_limit, distrusted_count, image_scale: numbers of
        the run"""

    name: str
    used: bool
    status: str
    reason: str
    estimates: dict[str, Estimate]
    experiment: Experiment | None
    before: Statistics
    after: Statistics
    verdict: Verdict
    other_lattice: OtherLattice
    mates: Mates
    warnings: list[str]
    advice: list[str]
    reflections: Table
    shoeboxes: Table
    shells: Table
    regions: Table
    starts: Table
    trials: Table
    distrusted: Table
    model_image: NDArray[numpy.float32] | None
    background: NDArray[numpy.float32] | None
    evaluations: int
    seconds: float
    shoebox_half_width: int
    sigma_z_median: float
    sigma_z_limit: float
    distrusted_count: int
    distance_step: float
    distance_error: float
    distance_gain: float
    all_spots: int
    left_spots: int
    image_scale: float
    _boxes: list[tuple[NDArray[numpy.float32], ...]]  # results of pixels(i), in a copy

    def __init__(self, c: Any, in_full: bool) -> None:
        self._c = c
        self.name, self.used = text(c.name), bool(c.used)
        self.status, self.reason = status_name(c.status), text(c.reason)
        self.estimates = listed_estimates(c.estimates)
        there = self.used and c.experiment.oversample > 0
        self.experiment = Experiment.copy_of(ffi.addressof(c.experiment)) if there else None
        self.before, self.after = values(c.before, Statistics), values(c.after, Statistics)
        if not in_full:
            return
        self.verdict = _verdict(c.verdict)
        for name in _PLAIN:
            setattr(self, name, getattr(c, name))
        self.other_lattice = values(c.other_lattice, OtherLattice)
        self.mates = values(c.mates, Mates)
        self.warnings = [text(c.warnings[i]) for i in range(c.warning_count)]
        self.advice = [text(c.advice[i]) for i in range(c.warning_count)]
        for name, count in _TABLES.items():
            start = getattr(c, name)
            setattr(self, name, table(start, getattr(c, count), ffi.typeof(start).item.cname))
        self.model_image = self._pixels(c.model_image)
        self.background = self._pixels(c.background_image)

    def _pixels(self, start: Any) -> NDArray[numpy.float32] | None:
        if start == ffi.NULL:
            return None
        return _array(start, (self._c.slow_pixels, self._c.fast_pixels))

    parameters: property = _former.attribute("parameters", "estimates")

    @property
    def usable(self) -> bool:
        """True if the model may be used: the verdict."""
        return self.verdict.usable

    @property
    def start(self) -> dict[str, float]:
        """Values before refinement by name, in their units."""
        return {n: p.start for n, p in self.estimates.items()}

    @property
    def values(self) -> dict[str, float]:
        """Refined values by name, in their units."""
        return {n: p.value for n, p in self.estimates.items()}

    @property
    def errors(self) -> dict[str, float]:
        """Standard errors by name, in the units of the values."""
        return {n: p.error for n, p in self.estimates.items()}

    def pixels(self, i: int) -> tuple[NDArray[numpy.float32], ...]:
        """Return measured counts, model counts and standard deviations (0 or less: pixel not used) of shoebox i, each
        (slow, fast) float32."""
        if self._c is None:
            return self._boxes[i]
        box = self._c.shoeboxes[range(self._c.shoebox_count)[i]]
        shape = (box.region.slow_count, box.region.fast_count)
        return tuple(_array(start, shape) for start in (box.measured, box.model, box.sigma))

    def __getstate__(self) -> dict[str, Any]:
        boxes = [self.pixels(i) for i in range(len(self.shoeboxes))] if hasattr(self, "shoeboxes") else []
        return {**self.__dict__, "_c": None, "_boxes": boxes}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __repr__(self) -> str:
        return f"<dualbragg.Shot {self.name}: {self.status if self.used else 'excluded'}>"


class FitResult(Record):
    """Result of a refinement of one image or of many shots. str(result) is a table of the parameters.

    status: "converged", "not converged" (also if the verdict rejects the model) or "cancelled"
    converged: status is "converged"
    reason: why the refinement ended, or why the model may not be used
    shots: Shot of each shot. The result of a single image also has the members of its Shot (experiment, verdict,
        usable, reflections ...)
    estimates: Estimate by name, of parameters with one value for all shots
    local: names of the other parameters
    correlation, covariance: (parameters, parameters) of estimates; covariance in their units
    directions: Direction of combinations of parameters, the worst determined first
    history: table of evaluations: stage, evaluation, target, gradient_norm, value; of many shots, joint evaluations
        only
    table: structured array with a row for each shot: name, used, chi2_reduced, and value and error of each parameter
        ("misset_x", "misset_x_error")
    used: number of shots that were not excluded
    chi2_reduced: chi2 per degree of freedom of the starting and of the refined models
    warnings, advice: as in Shot
    light_spots, light_part, intensities_usable: of a rotation series; as in Verdict
    centring, centring_gain: of many shots together; as in Verdict
    document: dictionary with the content of PREFIX.json (docs/reference/json.md), statistics of joint intensities
        included
    notices: lines about automatic choices, and about contents of files that are doubtful or not used
    seconds: time of the run"""

    status: str
    reason: str
    shots: list[Shot]
    estimates: dict[str, Estimate]
    local: list[str]
    correlation: Floats
    directions: list[Direction]
    history: Table
    used: int
    chi2_reduced: tuple[float, float]
    warnings: list[str]
    advice: list[str]
    light_spots: int
    light_part: float
    intensities_usable: bool
    centring: str | None
    centring_gain: float
    notices: list[str]
    seconds: float

    def __init__(self, c: Any, configuration: Any, notices: list[str], kept: Any) -> None:
        self._c, self._configuration, self._kept = c, configuration, kept
        self._files: dict[str, bytes] = {}  # in a copy: content of the files that it can write
        self._read: dict[str, str] = {}  # in a copy: files that the refinement has read, by their keys
        self.notices = notices
        self.status, self.reason = status_name(c.status), text(c.reason)
        self.estimates, self.correlation, self.directions, count = shared_estimates(c.estimates)
        self.local = [n for n in listed_estimates(c.estimates) if n not in self.estimates]
        history = c.history[0].value if c.history_count else ffi.NULL
        self.history = _history(c.history, history, c.history_count, count)
        self.used, self.seconds, self.chi2_reduced = c.used, c.seconds, value(c.chi2_reduced)
        self._in_full = bool(c.in_full)
        self.shots = [Shot(c.shot[s], self._in_full) for s in range(c.shot_count)]
        if not self._in_full:
            self.warnings = [text(c.warnings[i]) for i in range(c.warning_count)]
            self.advice = [text(c.advice[i]) for i in range(c.warning_count)]
            self.light_spots, self.light_part = c.light_spots, c.light_part
            self.intensities_usable = bool(c.intensities_usable)
            self.centring, self.centring_gain = _letter(c.centring), c.centring_gain

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not self._in_full:
            raise AttributeError(f"a FitResult of {len(self.shots)} shots has no attribute {name}"
                                 if not name.startswith("_") else name)
        return getattr(self.shots[0], name)

    parameters: property = _former.attribute("parameters", "estimates")
    shared: property = _former.attribute("shared", "estimates")

    @property
    def converged(self) -> bool:
        """True if status is "converged"."""
        return self.status == "converged"

    @property
    def covariance(self) -> Floats:
        """Covariance of the estimates (parameters, parameters), in their units; the square roots of its diagonal are
        the errors."""
        error: Floats = numpy.array([p.error for p in self.estimates.values()])
        return self.correlation * error * error[:, None]

    @property
    def document(self) -> dict[str, Any]:
        """Dictionary with the content of PREFIX.json (docs/reference/json.md)."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "result.json")
            self.write(path)
            with open(path, encoding="utf-8") as file:
                found: dict[str, Any] = json.load(file)
        return found

    @property
    def table(self) -> Table:
        """Structured array with a row for each shot: name, used, chi2_reduced, value and error of each parameter."""
        names = list(self.shots[0].values) if self.shots else []
        kind = [("name", "O"), ("used", "?"), ("chi2_reduced", "f8")]
        kind += [(n + end, "f8") for n in names for end in ("", "_error")]
        made = numpy.empty(len(self.shots), kind)
        for row, s in zip(made, self.shots):
            row["name"], row["used"], row["chi2_reduced"] = s.name, s.used, s.after.chi2_reduced
            for n, p in s.estimates.items():
                row[n], row[n + "_error"] = p.value, p.error
        return made

    def write(self, path: Path) -> None:
        """Write the result to a file; its ending selects the format.

        path: .json (everything) or .html (report); of one image also .yaml (configuration), .png, .refl (DIALS), .hkl
            (intensities), .expt (DIALS), .mat (MOSFLM); of joint intensities also .mtz and .hkl. A file that the refinement
            has read is not replaced: UsageError"""
        ending, known = os.path.splitext(os.fspath(path))[1], self._endings()
        if ending not in known:
            raise errors.UsageError(f"{path}: expected a name that ends in " + (
                "one of " + ", ".join(sorted(known)) if len(known) > 2 else " or ".join(known)))
        self._keep_inputs("write", [os.fspath(path)], "name")
        if ending in self._files:
            context, kept = new_context(), self._files[ending]
            return check(context, lib.db_write_text(context, encoded(path), kept, len(kept)))
        context, name = new_context(), encoded(path)
        given = {"c": self._configuration.c, "i": self._kept[0]}
        if ending == ".expt":
            group = given["c"].symmetry if given["c"].symmetry[0] != b"\0" else given["c"].setup.stated.space_group
            unnamed = ffi.new("char[]", b"")
            said = ffi.new("db_expt_image *", dict(path=unnamed, gain=1, space_group=group))
            return check(context, lib.db_write_expt(context, name, self.experiment._c, said))
        if ending == ".mat":
            self.experiment.write_matrix(path)
            return None
        if ending in _OF_JOINT and not self._in_full:
            check(context, getattr(lib, "db_fit_shots_write_" + _OF_JOINT[ending])(context, name, self._c))
        elif ending in _OF_ALL:
            image = [given["i"] if self._in_full else ffi.NULL] if ending == ".html" else []
            check(context, getattr(lib, "db_fit_write_" + _OF_ALL[ending])(
                context, name, given["c"], *image, self._c))
        else:
            function, needs = _OF_ONE[ending]
            check(context, getattr(lib, "db_fit_write_" + function)(
                context, name, *[given[n] for n in needs], self._c.shot))
        return None

    def _endings(self) -> list[str]:
        if self._files:
            return list(self._files)
        joint = _OF_JOINT if self._c.intensities != ffi.NULL else {}
        return [*_OF_ALL, *joint, *([*_OF_ONE, ".expt", ".mat"] if self._in_full else [])]

    def _written(self) -> dict[str, bytes]:
        """Return the content of each kind of file that write() makes."""
        found = {}
        with tempfile.TemporaryDirectory() as folder:
            for ending in self._endings():
                path = os.path.join(folder, "result" + ending)
                self.write(path)
                with open(path, "rb") as file:
                    found[ending] = file.read()
        return found

    def __getstate__(self) -> dict[str, Any]:
        own = {n: v for n, v in self.__dict__.items() if n not in ("_c", "_configuration", "_kept")}
        return {**own, "_files": self._files or self._written(), "_read": self._inputs()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def write_models(self, folder: Path, images: bool = False) -> None:
        """Write the refined models of a list of shots into an existing folder: a configuration and an experiment list
        for each shot, and shots.txt, refined.yaml (a configuration of all shots) and refined.expt for all of them; refined
        curves of f' and f'' are in refined_curve1.tsv ...

        images: True: also writes images and tables of each model, as `dualbragg fit --model-image` does"""
        if self._in_full:
            raise errors.UsageError("write_models: expected a list of shots (shots.list), found one image")
        if self._files:
            raise errors.UsageError("write_models: expected the result as fit returned it, found a copy, which has no images")
        context, name, shots = new_context(), encoded(folder), self._kept[0]
        self._keep_inputs("write_models", self._model_names(folder, images), "folder")
        for i, shot in enumerate(self.shots):
            if shot.experiment is None:
                continue
            check(context, lib.db_fit_shots_write_model(context, name, shots, self._c, i))
            if images:
                check(context, lib.db_fit_shots_write_images(context, name, shots, self._c, i))
        listing = encoded(os.path.join(folder, "shots.txt"))
        check(context, lib.db_fit_shots_write_list(context, listing, name, self._c))
        check(context, lib.db_fit_shots_write_expt(
            context, encoded(os.path.join(folder, "refined.expt")), name, self._c))
        check(context, lib.db_fit_shots_write_yaml(
            context, encoded(os.path.join(folder, "refined.yaml")), listing, self._configuration.c, self._c))

    def _inputs(self) -> dict[str, str]:
        """Return the files that the refinement has read, by their keys."""
        if self._files:
            return self._read
        found: list[tuple[str, str]] = []
        context, user = new_context(), ffi.new_handle(found)
        if isinstance(self._configuration, Configuration):
            lib.db_fit_config_each_input(self._configuration.c, ffi.NULL, lib.take_input, user)
        else:
            check(context, lib.db_fit_shot_list_inputs(context, self._kept[0], lib.take_input, user))
        return {said: os.path.abspath(file) for said, file in found}

    def _model_names(self, folder: Path, images: bool) -> list[str]:
        """Return the names of the files that write_models makes."""
        names = ["shots.txt", "refined.expt", "refined.yaml", *(f"refined_curve{k}.tsv" for k in range(1, 5))]
        model = ffi.new("char[]", lib.DB_FIT_PATH_SIZE)
        for i, shot in enumerate(self.shots):
            if shot.experiment is not None:
                lib.db_fit_shots_model_name(self._c, i, model)
                names += [text(model) + ending for ending in _OF_MODEL + (_OF_MODEL_IMAGES if images else ())]
        return [os.path.join(os.fspath(folder), name) for name in names]

    def _keep_inputs(self, what: str, paths: Sequence[str], other: str) -> None:
        """Raise UsageError if a file that is to be written is one that the refinement has read."""
        existing = {path: found for path in paths if (found := _identity(path)) is not None}
        inputs = {_identity(file): said for said, file in self._inputs().items()} if existing else {}
        for path, found in existing.items():
            if found in inputs:
                raise errors.UsageError(f"{what}: {path} would replace the input of {inputs[found]}; choose another {other}")

    def __str__(self) -> str:
        lines = [ended(self.status, self.reason)]
        if not self._in_full:
            lines.append(f"{self.used} of {len(self.shots)} shots used")
        elif not self.usable and self.reason != self.verdict.reason:
            lines.append(f"not to be used: {self.verdict.reason}")
        lines += [f"{p.name:>20} {p.value:14.8g} +- {p.error:<10.3g} {p.unit}"
                  for p in self.estimates.values()]
        lines += [f"warning: {w}" for w in self.warnings]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        title, *warnings = [line for line in str(self).splitlines() if " +- " not in line]
        found = [(p.name, f"{p.value:.8g}", f"\u00b1 {p.error:.3g}", p.unit) for p in self.estimates.values()]
        shown = _html.rows(title, [*found, *((line,) for line in warnings)])
        if not self._in_full or self.experiment is None:
            return shown
        return (shown + _html.rows("Experiment", self.experiment._rows()) +
                (_html.picture(self.model_image) if self.model_image is not None else ""))

    def __repr__(self) -> str:
        return (f"<dualbragg.FitResult: {self.status}, {self.used} of {len(self.shots)} shots, "
                f"{len(self.estimates)} parameters, chi2/dof {self.chi2_reduced[1]:.3g}>")


def _array(start: Any, shape: tuple[int, int]) -> NDArray[numpy.float32]:
    size = 4 * shape[0] * shape[1]
    return numpy.frombuffer(ffi.buffer(start, size), numpy.float32).reshape(shape).copy()


def _letter(c: int) -> str | None:
    """Return a letter; None: there is none."""
    return chr(c) if c else None


def _verdict(c: Any) -> Verdict:
    tests = {}
    for k in range(lib.DB_FIT_TESTS):
        t, name = c.test[k], text(lib.db_fit_test_name(k))
        tests[name] = Test(name, text(lib.db_fit_test_meaning(k)), t.found, t.least, t.most,
                           bool(t.passed))
    plain = {f.name: value(getattr(c, f.name)) for f in dataclasses.fields(Verdict) if f.name != "tests"}
    found: dict[str, Any] = {"usable": bool(c.usable), "intensities_usable": bool(c.intensities_usable),
                             "centring": _letter(c.centring)}
    return Verdict(**{**plain, **found}, tests=tests)


def listed_estimates(c: Any) -> dict[str, Estimate]:
    """Return Estimate by name, from the library's estimates."""
    plain = [f.name for f in dataclasses.fields(Estimate)]
    return {text(e.name): Estimate(**{n: value(getattr(e, n)) for n in plain}) for e in c.list[0:c.count]}


def shared_estimates(c: Any) -> tuple[dict[str, Estimate], Floats, list[Direction], int]:
    """Return the estimates that all shots share: by name, their correlation, directions, and the number of all
    estimates."""
    found = listed_estimates(c)
    shared = [i for i in range(c.count) if c.list[i].shared]
    whole = numpy.array([numbers(c.correlation[i], c.count) for i in range(c.count)]).reshape(c.count, c.count)
    directions = [Direction(d.eigenvalue, d.condition, numbers(d.component, c.count)[shared],
                            numbers(d.change, c.count)[shared]) for d in c.direction[0:c.direction_count]]
    names = list(found)
    return {names[i]: found[names[i]] for i in shared}, whole[numpy.ix_(shared, shared)], directions, c.count


def _history(start: Any, all_values: Any, count: int, parameters: int) -> Table:
    told = table(start, count, "db_fit_history")
    assert told.dtype.names is not None
    kind = numpy.dtype([(n, told.dtype[n]) for n in told.dtype.names] +
                       [("value", "f8", (parameters,))])
    made = numpy.empty(count, kind)
    for name in told.dtype.names:
        made[name] = told[name]
    made["value"] = numbers(all_values, count * parameters).reshape(count, parameters)
    return made


class _Watch(Watch):
    """Watch over a refinement, which asks another function whether it must end."""

    def __init__(self, function: bool | Callable[[Any], Any] | None, names: list[str] | None = None) -> None:
        super().__init__(function)
        self.names, self.ended = names, False  # names: of parameters of one image: only evaluations are reported

    def progressed(self, fraction: float) -> bool:
        return self.raised is not None  # the progress function gets events instead

    def happened(self, c: Any) -> None:
        kind = _KINDS[c.kind]
        if self.raised is not None or (self.names is not None and kind != "evaluated"):
            return
        if self.names is not None:
            self.ended = bool(self.tell(None if self.function is None else Evaluation(
                c.entry.stage, c.entry.evaluation, c.entry.target, c.entry.gradient_norm,
                dict(zip(self.names, numbers(c.entry.value, len(self.names)).tolist()))))) or self.ended
        elif self.function is not None:
            self.ended = bool(self.function(ShotsEvent(
                kind, c.stage, c.done, c.count, text(c.what) if kind == "working" else "",
                c.entry.target if kind == "evaluated" else float("nan"),
                text(c.shot) if kind == "excluded" else "",
                text(c.reason) if kind == "excluded" else ""))) or self.ended


if lib.DB_PYTHON_FIT:
    @extern(onerror=keep_raised)
    def take_event(user: Any, event: Any) -> None:
        ffi.from_handle(user).happened(event)

    @extern()
    def take_input(user: Any, key: Any, file: Any) -> None:
        ffi.from_handle(user).append((f"{text(key)} {text(file)}", text(file)))

    @extern(error=1, onerror=keep_raised)
    def ask_cancelled(user: Any) -> bool:
        watch: _Watch = ffi.from_handle(user)
        return watch.ended or watch.raised is not None


def _refine(context: Any, watch: _Watch, source: Any, settings: Any, options: Any, asked: Any) -> Any:
    """Return the library's result of a list of shots."""
    options.progress, options.cancelled = lib.take_event, asked
    options.user = watch.handle
    out = ffi.new("db_fit_shots_result **")
    status = lib.db_fit_run(context, source, settings, options, out)
    result = ffi.gc(out[0], lambda p: lib.db_fit_shots_result_destroy(
        ffi.new("db_fit_shots_result **", p)))
    watch.check(context, lib.DB_OK if out[0] != ffi.NULL else status)
    return result


def read_image(context: Any, configuration: Configuration, image: Any, user: Any) -> tuple[Any, Any]:
    """Return the image to refine against, with the mask of the configuration. user: handle of its notices."""
    if image is None:
        c = ffi.gc(ffi.new("db_measured_image *"), lib.db_measured_image_clear)
        check(context, lib.db_fit_config_read_image(context, configuration.c, c, lib.take_notice,
                                                    user))
        return c, None
    image = as_image(image)
    c, keep = c_image(dataclasses.replace(image, value=numpy.array(image.value)))
    status = lib.db_fit_config_mask_image(context, configuration.c, c, lib.take_notice, user)
    dark = ffi.gc(ffi.new("db_measured_image *"), lib.db_measured_image_clear)
    dark.dark = c.dark  # memory of the library, which is freed with `dark`
    check(context, status)
    return c, (keep, dark)


def parameter_names(settings: Any) -> list[str]:
    """Return the names of refined parameters in settings, motions of panel groups included."""
    name, found = ffi.new("char[]", lib.DB_FIT_NAME_SIZE), []
    for i in range(settings.parameter_count):
        quantity = lib.db_fit_quantity_of(settings.parameters + i)
        lib.db_fit_quantity_name(ffi.addressof(settings, "panel_groups"), quantity, name)
        found.append(text(name))
    return found


def fit_one(context: Any, configuration: Configuration, image: Any, experiment: Experiment | None, progress: Any,
            notices: list[str], user: Any) -> FitResult:
    """Refine against one image. user: handle of the notices."""
    config = configuration.c
    c, keep = read_image(context, configuration, image, user)
    spots = ffi.gc(ffi.new("db_fit_spots *"), lib.db_fit_spots_clear)
    check(context, lib.db_fit_config_read_spots(context, config, spots))
    if spots.count:
        config.settings.spots = spots
    start = ffi.gc(ffi.new("db_experiment *"), lib.db_experiment_clear)
    watch = _Watch(None, []).of_context(context)  # no function: only signals cancel
    if experiment is None:
        status = lib.db_fit_config_start(context, config, c, start, lib.take_notice, user)
    else:
        check(context, lib.db_experiment_copy(context, experiment._c, start))
        status = lib.db_fit_config_start_at(context, config, c, start, lib.take_notice, user)
    watch.check(context, status)
    watch.function, watch.names = function_of(progress), parameter_names(config.settings)
    name = config.image_file if config.image_file[0] != b"\0" else ffi.NULL
    still = ffi.new("db_fit_still *", dict(start=start, image=c, name=name))
    source = ffi.new("db_fit_shot_source *", lib.db_fit_still_source(still))
    result = _refine(context, watch, source, ffi.addressof(config, "settings"),
                     ffi.new("db_fit_shots_options *"), lib.ask_cancelled)
    return FitResult(result, configuration, notices, (c, keep, spots))


def _list_of(context: Any, configuration: Configuration) -> Any:
    """Return the shots of a configuration, or the lattices of its image."""
    listed = configuration.c.shot_list[0] != b"\0"
    read = lib.db_fit_shot_list_read if listed else lib.db_fit_shot_list_find
    out = ffi.new("db_fit_shot_list **")
    check(context, read(context, configuration.c, configuration.overrides,
                        len(configuration.texts), out))
    return ffi.gc(out[0], lambda p: lib.db_fit_shot_list_destroy(ffi.new("db_fit_shot_list **", p)))


def remove_checkpoint(path: Path) -> None:
    """Remove a checkpoint of many shots, with all its files. Raise UsageError if the file is no checkpoint.

    path: the `checkpoint` of fit"""
    need_refinement()
    context = new_context()
    check(context, lib.db_fit_checkpoint_remove(context, encoded(path)))


@dataclass
class _Completed:
    """Configuration of all shots in C."""
    c: object


def fit_many(context: Any, configuration: Configuration, progress: Any, notices: list[str],
             checkpoint: Path | None = None, resume: bool = False, scratch: Path | None = None) -> FitResult:
    """Refine the shots of a configuration."""
    if resume and checkpoint is None:
        raise errors.UsageError("resume: expected checkpoint, the file to continue from")
    shots = _list_of(context, configuration)
    source = ffi.new("db_fit_shot_source *", lib.db_fit_shot_list_source(shots))
    config = ffi.gc(ffi.new("db_fit_config *"), lib.db_fit_config_clear)
    check(context, lib.db_fit_shot_list_complete(context, shots, config))
    source.configuration, settings = config, ffi.new("db_fit_settings *", config.settings)
    if not settings.gain > 0:
        settings.gain = 1  # for images without a gain
    options = ffi.new("db_fit_shots_options *")
    options.outlier_sigma = config.shot_outlier_sigma
    options.series, options.knots = config.series, config.series_knots
    named = {n: ffi.new("char[]", encoded(p)) for n, p in (("checkpoint", checkpoint), ("scratch", scratch))
             if p is not None}
    for name, path in named.items():
        setattr(options, name, path)
    options.resume = bool(resume)
    result = _refine(context, _Watch(progress), source, settings, options,
                     ffi.addressof(lib, "pass_question"))
    return FitResult(result, _Completed(config), notices, (shots, source, configuration))


class _Folder:
    """Temporary folder, which is removed with its last user."""

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp()
        weakref.finalize(self, shutil.rmtree, self.name, ignore_errors=True)


def _listed(images: Any, sections: dict[str, Any]) -> _Folder:
    """Return a folder with a list of the images, and set shots.list to it."""
    if not images:
        raise errors.UsageError("image: expected a name, or a list of names, found none")
    lines = []
    for name in images:
        if not isinstance(name, (str, os.PathLike)) or '"' in os.fspath(name) or "\n" in os.fspath(name):
            raise errors.UsageError("image: expected an array, or a list of names of files, without quotes, found a list of "
                                    f"{name if isinstance(name, str) else type(name).__name__}")
        lines.append(f'"{os.path.abspath(name)}"\n')
    folder = _Folder()
    listing = os.path.join(folder.name, "shots.txt")
    with open(listing, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.writelines(lines)
    said = plain_section(sections.get("shots", {}), "shots")
    if "list" in said:
        raise errors.UsageError("image: expected no list of images beside shots.list, found one")
    sections["shots"] = {**said, "list": listing}
    return folder


def fit(config: Path | Settings | dict[str, Any] | None = None, *, image: AnyImage | Sequence[Path] | None = None,
        experiment: Experiment | None = None, progress: bool | Callable[[Any], Any] | None = None, device: str = "cpu",
        checkpoint: Path | None = None, resume: bool = False, scratch: Path | None = None,
        **sections: Unpack[Sections]) -> FitResult:
    """Refine parameters against one or many measured images.

    config: name of a configuration (YAML), a dualbragg.settings.Settings, or a dictionary of its sections
    image: name of a file, a MeasuredImage, or counts, (slow, fast) float32; None: the configuration's image; a list of
        names: many shots, for example with intensity="joint" for joint intensities or shots=Shots(series=True) for a
        rotation series
    experiment: Experiment to start from, instead of the section model
    progress: True: shown on the terminal or in the notebook; or a function that is called with an Evaluation (many
        shots: a ShotsEvent): a true result ends the refinement with the best model so far. An exception in it, and
        Ctrl-C, end the refinement and are raised by this call
    device: "cpu", "cuda" ...
    checkpoint: of many shots: name of a file that saves the state of the run. It stays until you remove it
        (dualbragg.remove_checkpoint)
    resume: True: continues from the checkpoint, if it exists, to the same result
    scratch: of many shots: folder for their pixels
    sections: sections of the configuration, which add to `config` or replace its values, as dataclasses of
        dualbragg.settings or as dictionaries: model=Model(cell=..., find_orientation=True),
        refine=dict(misset_x=Refine(range=0.5)) or refine=["misset_x", "cell_a"], data, intensity, stages ...
        (docs/reference/configuration.md)

    Return a FitResult, also if the refinement did not converge or the model may not be used: look at its status. Raise
    an Error if the input cannot be refined."""
    need_refinement()
    context = new_context()
    check(context, lib.db_context_set_device(context, str(device).encode()))
    given: dict[str, Any] = dict(sections)
    shots = None
    if isinstance(image, (list, tuple)):
        shots, image = _listed(image, given), None
    if isinstance(image, (str, os.PathLike)):
        given["image"], image = image, None
    if experiment is not None:
        if not isinstance(experiment, Experiment):
            raise errors.UsageError("experiment: expected a dualbragg.Experiment, found "
                                    f"{type(experiment).__name__}")
        wrong = set(plain_section(given.get("model", {}), "model")) - {"symmetry", "find_orientation"}
        if wrong:
            raise errors.UsageError(f"model.{min(wrong)}: expected only symmetry and find_orientation beside experiment")
    notices: list[str] = []
    with noticing(context, notices) as user:
        configuration = Configuration(context, config, given)
        configuration.folder = shots  # it lives as long
        if configuration.many:
            if experiment is not None or image is not None:
                raise errors.UsageError("fit: expected neither experiment nor an array as image for a "
                                        "list of shots")
            return fit_many(context, configuration, progress, notices, checkpoint, resume, scratch)
        for name, unfit in (("checkpoint", checkpoint), ("resume", resume or None), ("scratch", scratch)):
            if unfit is not None:
                raise errors.UsageError(f"{name}: expected a list of shots (shots.list), found one image")
        if configuration.c.config_file[0] == b"\0":
            configuration.c.config_file = b"arguments"  # what messages name
        if image is not None:
            configuration.c.image_file[0] = b"\0"
        elif configuration.c.image_file[0] == b"\0":
            raise errors.UsageError("fit: expected an image: a file name, a MeasuredImage or an array")
        return fit_one(context, configuration, image, experiment, progress, notices, user)
