"""Refinement against measured images, one or many."""

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
from ._library import Watch, check, encoded, ffi, keep_raised, lib, new_context, noticing, text
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
    """What a progress function is told after each evaluation of the target."""
    stage: int  # from 0
    evaluation: int  # within the stage, from 1
    target: float  # chi2 per degree of freedom of the data in use
    gradient_norm: float
    values: dict[str, float]  # of the parameters, in their units


_KINDS = ("done", "evaluated", "excluded", "resumed", "working")


@dataclass(frozen=True)
class ShotsEvent(Record):
    """What a progress function of many shots is told."""
    kind: str  # "done", "evaluated", "excluded", "resumed" or "working"
    stage: int  # from 0
    done: int  # shots so far
    count: int  # and in all
    what: str  # working: what the pass over them does
    target: float  # evaluated: chi2 per degree of freedom; else nan
    shot: str  # excluded: its name
    reason: str  # excluded: why


@dataclass(frozen=True)
class Estimate(Record):
    """What is known of a refined parameter. Errors are nan where it is tied or at a bound, inf where the data do not
    determine it."""
    name: str
    unit: str  # "" where there is none
    start: float
    value: float
    error: float  # the standard error to quote: the larger of the last two
    error_unscaled: float  # from the noise alone
    error_scaled: float  # that times sqrt(chi2 per degree of freedom), if that exceeds 1
    error_robust: float  # from how much spots, or whole regions of the detector, disagree
    at_bound: int  # -1 at the lower one, 1 at the upper one, else 0
    shared: int  # 1: all shots have one value; of a single image always


@dataclass(frozen=True)
class Direction(Record):
    """A combination of parameters, by how well the data determine it."""
    eigenvalue: float
    condition: float  # largest eigenvalue over this one; inf: not determined
    component: Floats  # (parameters,): a unit vector
    change: Floats  # (parameters,), in their units: one standard deviation along it


@dataclass(frozen=True)
class Test(Record):
    """A test of a refined model; found is nan where it could not be made."""
    name: str
    meaning: str
    found: float
    least: float
    most: float
    passed: bool


@dataclass(frozen=True)
class Verdict(Record):
    """Whether a model may be used, by tests that know spots but no model."""
    usable: bool
    reason: str  # which test failed, and what may be wrong; ""
    tests: dict[str, Test] = field(repr=False)
    spots: int  # of the image, the strongest 1000 at most
    at: int  # of them, at reflections
    position_rms: float  # pixels
    intensities: int  # known: compared with calculated ones
    light_spots: int  # free: spots of the final data
    light_part: float  # of them, as bright in the model within a factor of 1.5; nan: fewer than 20
    intensities_usable: bool  # free: light_part is 2/3 or more


@dataclass(frozen=True)
class OtherLattice(Record):
    """What a search for another lattice of the same cell has found among the spots that are left."""
    spots: int  # that tell orientations apart
    indexed: int  # of them, near its nodes; 0: there is none
    by_chance: float  # of indexed, for a lattice turned at random


@dataclass(frozen=True)
class Statistics(Record):
    """How a model agrees with the data."""
    pixels: int
    shoeboxes: int
    chi2: float
    chi2_reduced: float
    rms_residual: float  # counts
    strong_pixels: float
    strong_explained: float  # fraction of them
    correlation: float
    centroid_rms: float  # pixels: observed minus model centroid


_STATUS = {"converged": lambda s: s == lib.DB_OK, "cancelled": lambda s: s == lib.DB_ERROR_CANCELLED}
_OF_ALL = {".json": "json", ".html": "html"}
_OF_JOINT = {".mtz": "mtz", ".hkl": "hkl"}
_PLAIN = ("evaluations", "seconds", "shoebox_half_width", "sigma_z_median", "sigma_z_limit", "distrusted_count",
          "distance_step", "distance_error", "distance_gain", "all_spots", "left_spots", "image_scale")
_OF_ONE = {".yaml": ("yaml", "c"), ".png": ("png", "ci"), ".refl": ("table", "c"), ".hkl": ("intensities", "")}
_TABLES = {"reflections": "reflection_count", "shoeboxes": "shoebox_count", "shells": "shell_count",
           "regions": "region_count", "starts": "start_count", "trials": "trial_count", "distrusted": "distrusted_listed"}


def status_name(status: int) -> str:
    """ "converged", "cancelled" or "not converged". """
    return next((name for name, is_it in _STATUS.items() if is_it(status)), "not converged")


def ended(status: str, reason: str) -> str:
    """How a refinement ended, in a line; the library's reasons may begin with it."""
    return reason if reason.startswith(status) else f"{status}: {reason}"


class Shot(Record):
    """What has been found of a shot. Tables are structured arrays of numpy; their columns are the
    members of the library's structs of the same name (docs/reference/json.md has their units).

    name; used: False where it was excluded, and reason says why; status, reason: how it ended
    estimates: an Estimate for each refined parameter, by name; of many shots the shared ones have the same value in each
    experiment: the refined Experiment; None if it was excluded
    before, after: Statistics of the starting and the refined model on the same pixels; of one of many
        shots residuals and strong pixels are nan

    Of a single image, too:
    verdict: Verdict, and usable
    reflections: hkl, d_spacing (A), position (pixels: fast, slow), counts, square, F, partiality ...
    shoeboxes: hkl, predicted (pixels), intensity, intensity_esd, chi2, centroid_offset, outlier ...;
        pixels(i) has those of one
    shells, regions: goodness of fit by resolution and place
    starts, trials, distrusted: as in the library
    model_image, background: float32 counts of the whole detector, or None
    warnings, advice: what to look at, and what to do about it
    all_spots, left_spots: of the image; of them, at no reflection. other_lattice: spots, indexed and
        by_chance, of another lattice of the same cell among those
    distance_step, distance_error: by how much (mm) the data ask for another distance, where it is held; distance_gain: ln of
        how many times likelier spots are with it
    evaluations, seconds, shoebox_half_width, sigma_z_median, sigma_z_limit, distrusted_count, image_scale"""

    verdict: Verdict
    other_lattice: OtherLattice
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
    _boxes: list[Any]  # of a copy: what pixels returns

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
        self.warnings = [text(c.warnings[i]) for i in range(c.warning_count)]
        self.advice = [text(c.advice[i]) for i in range(c.warning_count)]
        for name, count in _TABLES.items():
            start = getattr(c, name)
            setattr(self, name, table(start, getattr(c, count), ffi.typeof(start).item.cname))
        self.model_image = self._pixels(c.model_image)
        self.background = self._pixels(c.background_image)

    def _pixels(self, start):
        if start == ffi.NULL:
            return None
        return _array(start, (self._c.slow_pixels, self._c.fast_pixels))

    parameters = _former.attribute("parameters", "estimates")

    @property
    def usable(self) -> bool:
        """Whether the model may be used: the verdict."""
        return self.verdict.usable

    @property
    def start(self) -> dict[str, float]:
        """Values at the start by name, in their units."""
        return {n: p.start for n, p in self.estimates.items()}

    @property
    def values(self) -> dict[str, float]:
        """Refined values by name, in their units."""
        return {n: p.value for n, p in self.estimates.items()}

    @property
    def errors(self) -> dict[str, float]:
        """Standard errors by name, in the same units."""
        return {n: p.error for n, p in self.estimates.items()}

    def pixels(self, i: int) -> tuple[NDArray[numpy.float32], ...]:
        """Measured and model counts and their standard deviation (0 or less: not used) of shoebox i,
        each float32 of (slow, fast)."""
        if self._c is None:
            return self._boxes[i]
        box = self._c.shoeboxes[range(self._c.shoebox_count)[i]]
        shape = (box.region.slow_count, box.region.fast_count)
        return tuple(_array(start, shape) for start in (box.measured, box.model, box.sigma))

    def __getstate__(self):
        boxes = [self.pixels(i) for i in range(len(self.shoeboxes))] if hasattr(self, "shoeboxes") else []
        return {**self.__dict__, "_c": None, "_boxes": boxes}

    def __setstate__(self, state):
        self.__dict__.update(state)

    def __repr__(self) -> str:
        return f"<dualbragg.Shot {self.name}: {self.status if self.used else 'excluded'}>"


class FitResult(Record):
    """What a refinement has found, of one image or of many shots.

    status: "converged", "not converged" (also where the verdict refuses the model) or "cancelled"
    reason: why it stopped, or may not be used
    shots: a Shot each. What the one shot of a single image has (experiment, verdict, reflections ...)
        is read from the result as well
    estimates: Estimate by name, of parameters that have one value for all shots; local: names of the
        others
    correlation: (parameters, parameters); directions: the worst determined first
    history: stage, evaluation, target, gradient_norm, value; of many shots the joint evaluations
    table: a structured array with a row for each shot: name, used, chi2_reduced, and value and error
        of each parameter ("misset_x", "misset_x_error")
    used, chi2_reduced: shots in use, and their starting and refined models
    warnings, advice, light_spots, light_part, intensities_usable: of a rotation series; as of an image and its verdict
    document: all that .json has, as a dictionary (docs/reference/json.md): of joint intensities their
        statistics, too
    notices: what was chosen automatically, and what files say and is not used or doubtful
    seconds

    converged, usable; str(result) is a table of the parameters."""

    def __init__(self, c: Any, configuration: Any, notices: list[str], kept: Any) -> None:
        self._c, self._configuration, self._kept = c, configuration, kept
        self._files: dict[str, bytes] = {}  # of a copy: what it writes
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

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not self._in_full:
            raise AttributeError(f"a FitResult of {len(self.shots)} shots has no attribute {name}"
                                 if not name.startswith("_") else name)
        return getattr(self.shots[0], name)

    parameters = _former.attribute("parameters", "estimates")
    shared = _former.attribute("shared", "estimates")

    @property
    def converged(self) -> bool:
        return self.status == "converged"

    @property
    def covariance(self) -> Floats:
        """(parameters, parameters), in their units: what goes with error and correlation."""
        error = numpy.array([p.error for p in self.estimates.values()])
        return self.correlation * error * error[:, None]

    @property
    def document(self) -> dict[str, Any]:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "result.json")
            self.write(path)
            with open(path, encoding="utf-8") as file:
                found: dict[str, Any] = json.load(file)
        return found

    @property
    def table(self) -> Table:
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
        """Writes the result as its name ends: .json (everything) or .html (report); of one image also
        .yaml (a configuration again), .png, .refl (DIALS), .hkl (intensities), .expt (DIALS),
        .mat (MOSFLM); of joint intensities .mtz and .hkl."""
        ending, known = os.path.splitext(os.fspath(path))[1], self._endings()
        if ending not in known:
            raise errors.UsageError(f"{path}: expected a name that ends in " + (
                "one of " + ", ".join(sorted(known)) if len(known) > 2 else " or ".join(known)))
        if ending in self._files:
            with open(path, "wb") as file:
                file.write(self._files[ending])
            return None
        context, name = new_context(), encoded(path)
        given = {"c": self._configuration.c, "i": self._kept[0]}
        if ending == ".expt":
            return self.experiment.to_expt(path)
        if ending == ".mat":
            return self.experiment.write_matrix(path)
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

    def _endings(self):
        if self._files:
            return list(self._files)
        joint = _OF_JOINT if self._c.intensities != ffi.NULL else {}
        return [*_OF_ALL, *joint, *([*_OF_ONE, ".expt", ".mat"] if self._in_full else [])]

    def _written(self):
        """What write makes of each kind of file."""
        found = {}
        with tempfile.TemporaryDirectory() as folder:
            for ending in self._endings():
                path = os.path.join(folder, "result" + ending)
                self.write(path)
                with open(path, "rb") as file:
                    found[ending] = file.read()
        return found

    def __getstate__(self):
        own = {n: v for n, v in self.__dict__.items() if n not in ("_c", "_configuration", "_kept")}
        return {**own, "_files": self._files or self._written()}

    def __setstate__(self, state):
        self.__dict__.update(state)

    def write_models(self, folder: Path, images: bool = False) -> None:
        """Of a list of shots: writes the refined model of each shot in use, as a configuration and as an
        experiment list of its own, and shots.txt, refined.yaml (a configuration of all shots again) and
        refined.expt of all of them, into a folder that is there. images: what the model explains of each,
        too, as dualbragg fit --model-image does."""
        if self._in_full:
            raise errors.UsageError("write_models: expected a list of shots (shots.list), found one image")
        if self._files:
            raise errors.UsageError("write_models: expected the result as fit returned it, found a copy, which has no images")
        context, name, shots = new_context(), encoded(folder), self._kept[0]
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


def _array(start, shape):
    size = 4 * shape[0] * shape[1]
    return numpy.frombuffer(ffi.buffer(start, size), numpy.float32).reshape(shape).copy()


def _verdict(c):
    tests = {}
    for k in range(lib.DB_FIT_TESTS):
        t, name = c.test[k], text(lib.db_fit_test_name(k))
        tests[name] = Test(name, text(lib.db_fit_test_meaning(k)), t.found, t.least, t.most,
                           bool(t.passed))
    plain = {f.name: value(getattr(c, f.name)) for f in dataclasses.fields(Verdict) if f.name != "tests"}
    return Verdict(**{**plain, "usable": bool(c.usable), "intensities_usable": bool(c.intensities_usable)}, tests=tests)


def listed_estimates(c: Any) -> dict[str, Estimate]:
    """Estimate by name, of C's estimates."""
    plain = [f.name for f in dataclasses.fields(Estimate)]
    return {text(e.name): Estimate(**{n: value(getattr(e, n)) for n in plain}) for e in c.list[0:c.count]}


def shared_estimates(c: Any) -> tuple[dict[str, Estimate], Floats, list[Direction], int]:
    """Estimate by name, their correlation, and directions: those that all shots share."""
    found = listed_estimates(c)
    shared = [i for i in range(c.count) if c.list[i].shared]
    whole = numpy.array([numbers(c.correlation[i], c.count) for i in range(c.count)]).reshape(c.count, c.count)
    directions = [Direction(d.eigenvalue, d.condition, numbers(d.component, c.count)[shared],
                            numbers(d.change, c.count)[shared]) for d in c.direction[0:c.direction_count]]
    names = list(found)
    return {names[i]: found[names[i]] for i in shared}, whole[numpy.ix_(shared, shared)], directions, c.count


def _history(start, all_values, count, parameters):
    told = table(start, count, "db_fit_history")
    kind = numpy.dtype([(n, told.dtype[n]) for n in told.dtype.names] +
                       [("value", "f8", (parameters,))])
    made = numpy.empty(count, kind)
    for name in told.dtype.names:
        made[name] = told[name]
    made["value"] = numbers(all_values, count * parameters).reshape(count, parameters)
    return made


class _Watch(Watch):
    """Watches a refinement; what ends it is asked for in another function."""

    def __init__(self, function, names=None):
        super().__init__(function)
        self.names, self.ended = names, False  # names: of one image, whose evaluations are told

    def progressed(self, fraction):
        return self.raised is not None  # the function is told of events

    def happened(self, c):
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
    @ffi.def_extern(onerror=keep_raised)
    def take_event(user, event):
        ffi.from_handle(user).happened(event)

    @ffi.def_extern(error=1, onerror=keep_raised)
    def ask_cancelled(user):
        watch = ffi.from_handle(user)
        return watch.ended or watch.raised is not None


def _refine(context, watch, source, settings, options, asked):
    """C's result of a list of shots."""
    options.progress, options.cancelled = lib.take_event, asked
    options.user = watch.handle
    out = ffi.new("db_fit_shots_result **")
    status = lib.db_fit_run(context, source, settings, options, out)
    result = ffi.gc(out[0], lambda p: lib.db_fit_shots_result_destroy(
        ffi.new("db_fit_shots_result **", p)))
    watch.check(context, lib.DB_OK if out[0] != ffi.NULL else status)
    return result


def read_image(context: Any, configuration: Configuration, image: Any, user: Any) -> tuple[Any, Any]:
    """The image to refine against, masked as the configuration says; user: handle of its notices."""
    if image is None:
        c = ffi.gc(ffi.new("db_measured_image *"), lib.db_measured_image_clear)
        check(context, lib.db_fit_config_read_image(context, configuration.c, c, lib.take_notice,
                                                    user))
        return c, None
    image = as_image(image)
    c, keep = c_image(dataclasses.replace(image, value=numpy.array(image.value)))
    status = lib.db_fit_config_mask_image(context, configuration.c, c, lib.take_notice, user)
    dark = ffi.gc(ffi.new("db_measured_image *"), lib.db_measured_image_clear)
    dark.dark = c.dark  # what the library has made
    check(context, status)
    return c, (keep, dark)


def parameter_names(settings: Any) -> list[str]:
    """Names of what settings refine, motions of groups included."""
    name, found = ffi.new("char[]", lib.DB_FIT_NAME_SIZE), []
    for i in range(settings.parameter_count):
        quantity = lib.db_fit_quantity_of(settings.parameters + i)
        lib.db_fit_quantity_name(ffi.addressof(settings, "panel_groups"), quantity, name)
        found.append(text(name))
    return found


def fit_one(context: Any, configuration: Configuration, image: Any, experiment: Experiment | None, progress: Any,
            notices: list[str], user: Any) -> FitResult:
    """Refines against one image; user: handle of the notices."""
    config = configuration.c
    c, keep = read_image(context, configuration, image, user)
    spots = ffi.gc(ffi.new("db_fit_spots *"), lib.db_fit_spots_clear)
    check(context, lib.db_fit_config_read_spots(context, config, spots))
    if spots.count:
        config.settings.spots = spots
    start = ffi.gc(ffi.new("db_experiment *"), lib.db_experiment_clear)
    watch = _Watch(None, []).of_context(context)  # no function: signals alone
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


def _list_of(context, configuration):
    """The shots that a configuration lists, or the lattices of its image."""
    listed = configuration.c.shot_list[0] != b"\0"
    read = lib.db_fit_shot_list_read if listed else lib.db_fit_shot_list_find
    out = ffi.new("db_fit_shot_list **")
    check(context, read(context, configuration.c, configuration.overrides,
                        len(configuration.texts), out))
    return ffi.gc(out[0], lambda p: lib.db_fit_shot_list_destroy(ffi.new("db_fit_shot_list **", p)))


def remove_checkpoint(path: Path) -> None:
    """Removes a checkpoint of many shots, with all files that belong to it."""
    need_refinement()
    lib.db_fit_checkpoint_remove(encoded(path))


@dataclass
class _Completed:
    """A configuration of all shots, in C."""
    c: object


def fit_many(context: Any, configuration: Configuration, progress: Any, notices: list[str],
             checkpoint: Path | None = None, resume: bool = False, scratch: Path | None = None) -> FitResult:
    """Refines the shots of a configuration."""
    if resume and checkpoint is None:
        raise errors.UsageError("resume: expected checkpoint, the file to go on from, beside it")
    shots = _list_of(context, configuration)
    source = ffi.new("db_fit_shot_source *", lib.db_fit_shot_list_source(shots))
    config = ffi.gc(ffi.new("db_fit_config *"), lib.db_fit_config_clear)
    check(context, lib.db_fit_shot_list_complete(context, shots, config))
    source.configuration, settings = config, ffi.new("db_fit_settings *", config.settings)
    if not settings.gain > 0:
        settings.gain = 1  # of images that do not say
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
    """A temporary folder, which is removed with its last user."""

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp()
        weakref.finalize(self, shutil.rmtree, self.name, ignore_errors=True)


def _listed(images: Any, sections: dict[str, Any]) -> _Folder:
    """A folder with a list of the images, which the section shots then names."""
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
        raise errors.UsageError("image: expected one image, or no shots.list, found a list of images beside it")
    sections["shots"] = {**said, "list": listing}
    return folder


def fit(config: Path | Settings | dict[str, Any] | None = None, *, image: AnyImage | Sequence[Path] | None = None,
        experiment: Experiment | None = None, progress: bool | Callable[[Any], Any] | None = None, device: str = "cpu",
        checkpoint: Path | None = None, resume: bool = False, scratch: Path | None = None,
        **sections: Unpack[Sections]) -> FitResult:
    """Refines parameters against a measured image, or against many (shots.list).

    config: name of a configuration (YAML), a dualbragg.settings.Settings, or a dictionary of its sections
    sections: sections of the configuration as keywords, which add to it or replace what it says, as dataclasses of
        dualbragg.settings or as dictionaries: model=Model(cell=..., find_orientation=True), refine=dict(misset_x=
        Refine(range=0.5)) or refine=["misset_x", "cell_a"], data, intensity, stages ... (docs/reference/configuration.md)
    image: name of a file, a MeasuredImage, or an array of counts (float32, (slow, fast)); the configuration's if left out;
        or a list of names: many shots, of which intensity="joint" makes joint intensities and shots=Shots(series=True) a
        rotation series
    experiment: the model to start from, instead of the section model
    progress: True: shown, on the terminal or in the notebook; or called after each evaluation with an Evaluation (of many
        shots: a ShotsEvent); what it returns, if true, ends the refinement with the best model so far, and an exception goes on
        from here. Ctrl-C does so, too
    checkpoint: of many shots, name of a file that keeps how far the work is; resume: goes on from it, if it
        is there, to the same result. Left for you to remove (dualbragg.remove_checkpoint)
    scratch: of many shots, the folder for their pixels

    Returns a FitResult: also if it did not converge or may not be used, which it says. What cannot be refined at all
    raises dualbragg.Error."""
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
            raise errors.UsageError(f"model.{min(wrong)}: expected no such value beside experiment")
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
