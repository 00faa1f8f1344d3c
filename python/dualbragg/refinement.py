"""Refinement against a measured image; many of them are in shots.py."""

import dataclasses
import os
from dataclasses import dataclass, field
from typing import Dict, Optional

import numpy

from . import errors
from ._configuration import Configuration, need_refinement
from ._library import Watch, check, encoded, ffi, keep_raised, lib, new_context, noticing, text
from ._structs import numbers, table, value, values
from .experiment import Experiment
from .images import as_image, c_image


@dataclass(frozen=True)
class Evaluation:
    """What a progress function is told after each evaluation of the target."""
    stage: int  # from 0
    evaluation: int  # within the stage, from 1
    target: float  # chi2 per degree of freedom of the data in use
    gradient_norm: float
    values: Dict[str, float]  # of the parameters, in their units


@dataclass(frozen=True)
class FitParameter:
    """A refined parameter. Errors are nan where it is tied or at a bound, inf where the data do not
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


@dataclass(frozen=True)
class Direction:
    """A combination of parameters, by how well the data determine it."""
    eigenvalue: float
    condition: float  # largest eigenvalue over this one; inf: not determined
    component: numpy.ndarray  # (parameters,): a unit vector
    change: numpy.ndarray  # (parameters,), in their units: one standard deviation along it


@dataclass(frozen=True)
class Test:
    """A test of a refined model; found is nan where it could not be made."""
    name: str
    meaning: str
    found: float
    least: float
    most: float
    passed: bool


@dataclass(frozen=True)
class Verdict:
    """Whether a model may be used, by tests that know spots but no model."""
    usable: bool
    reason: str  # which test failed, and what may be wrong; ""
    tests: Dict[str, Test] = field(repr=False)
    spots: int  # of the image, the strongest 400 at most
    at: int  # of them, near reflections
    beside: int
    position_rms: float  # pixels
    predicted: int  # reflections near the Ewald sphere
    seen: int  # of them, with a spot


@dataclass(frozen=True)
class Statistics:
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
_WRITERS = {".json": ("json", "c"), ".yaml": ("yaml", "c"), ".html": ("html", "ci"),
            ".png": ("png", "ci"), ".refl": ("table", "c"), ".hkl": ("intensities", "")}


def status_name(status):
    """ "converged", "cancelled" or "not converged". """
    return next((name for name, is_it in _STATUS.items() if is_it(status)), "not converged")


def ended(status, reason):
    """How a refinement ended, in a line; the library's reasons may begin with it."""
    return reason if reason.startswith(status) else f"{status}: {reason}"


class FitResult:
    """What a refinement has found. Tables are structured arrays of numpy; their columns are the
    members of the library's structs of the same name (docs/reference/json.md has their units).

    status: "converged", "not converged" (also where the verdict refuses the model) or "cancelled"
    reason: why it stopped, or may not be used
    verdict: Verdict; parameters: FitParameter by name
    correlation: (parameters, parameters); directions: the worst determined first
    experiment: the refined Experiment
    before, after: Statistics of the starting and the refined model on the same pixels
    reflections: hkl, d_spacing (A), position (pixels: fast, slow), counts, square, F, partiality ...
    shoeboxes: hkl, predicted (pixels), intensity, intensity_esd, chi2, centroid_offset, outlier ...;
        pixels(i) has those of one
    amplitudes: refined structure factors; shells, regions: goodness of fit by resolution and place
    history: stage, evaluation, target, gradient_norm, value
    starts, trials, distrusted: as in the library
    model_image, background: float32 counts of the whole detector, or None
    warnings, advice: what to look at, and what to do about it; notices: what was chosen automatically, and
        what files say and is not used or doubtful
    seconds, evaluations

    converged, usable; str(result) is a table of the parameters."""

    def __init__(self, c, configuration, image, notices):
        self._c, self._configuration, self._image = c, configuration, image
        self.notices = notices
        self.status = status_name(c.status)
        self.reason = text(c.reason)
        self.verdict = _verdict(c.verdict)
        self.parameters, self.correlation, self.directions, count = estimates(c.estimates)
        self.experiment = Experiment.copy_of(ffi.addressof(c.experiment))
        self.before, self.after = values(c.before, Statistics), values(c.after, Statistics)
        self.evaluations, self.seconds = c.evaluations, c.seconds
        self.history = _history(c.history, c.history_values, c.history_count, count)
        self.warnings = [text(c.warnings[i]) for i in range(c.warning_count)]
        self.advice = [text(c.advice[i]) for i in range(c.warning_count)]
        for name, (start, number, kind) in {
                "reflections": (c.reflections, c.reflection_count, "db_fit_reflection"),
                "shoeboxes": (c.shoeboxes, c.shoebox_count, "db_fit_shoebox"),
                "amplitudes": (c.amplitudes, c.amplitude_count, "db_fit_amplitude"),
                "shells": (c.shells, c.shell_count, "db_fit_shell"),
                "regions": (c.regions, c.region_count, "db_fit_region"),
                "starts": (c.starts, c.start_count, "db_fit_start"),
                "trials": (c.trials, c.trial_count, "db_fit_trial"),
                "distrusted": (c.distrusted, c.distrusted_listed, "db_fit_pixel")}.items():
            setattr(self, name, table(start, number, kind))
        self.model_image = self._pixels(c.model_image)
        self.background = self._pixels(c.background_image)

    def _pixels(self, start):
        if start == ffi.NULL:
            return None
        shape = (self._c.slow_pixels, self._c.fast_pixels)
        size = 4 * shape[0] * shape[1]
        return numpy.frombuffer(ffi.buffer(start, size), numpy.float32).reshape(shape).copy()

    @property
    def converged(self):
        return self.status == "converged"

    @property
    def usable(self):
        """Whether the model may be used: the verdict."""
        return self.verdict.usable

    @property
    def values(self):
        """Refined values by name, in their units."""
        return {n: p.value for n, p in self.parameters.items()}

    @property
    def errors(self):
        """Standard errors by name, in the same units."""
        return {n: p.error for n, p in self.parameters.items()}

    @property
    def covariance(self):
        """(parameters, parameters), in their units: what goes with error and correlation."""
        error = numpy.array(list(self.errors.values()))
        return self.correlation * error * error[:, None]

    def pixels(self, i):
        """Measured and model counts and their standard deviation (0 or less: not used) of shoebox i,
        each float32 of (slow, fast)."""
        box = self._c.shoeboxes[range(self._c.shoebox_count)[i]]
        shape = (box.region.slow_count, box.region.fast_count)
        return tuple(numpy.frombuffer(ffi.buffer(start, 4 * shape[0] * shape[1]),
                                      numpy.float32).reshape(shape).copy()
                     for start in (box.measured, box.model, box.sigma))

    def write(self, path):
        """Writes the result as its name ends: .json (everything), .yaml (a configuration again),
        .html (report), .png, .refl (DIALS), .hkl (intensities), .expt (DIALS), .mat (MOSFLM)."""
        ending = os.path.splitext(os.fspath(path))[1]
        context, name = new_context(), encoded(path)
        if ending == ".expt":
            return self.experiment.to_expt(path)
        if ending == ".mat":
            return self.experiment.write_matrix(path)
        if ending not in _WRITERS:
            known = ", ".join(sorted([*_WRITERS, ".expt", ".mat"]))
            raise errors.UsageError(f"{path}: expected a name that ends in one of {known}")
        function, needs = _WRITERS[ending]
        given = {"c": self._configuration.c, "i": self._image[0]}
        check(context, getattr(lib, "db_fit_write_" + function)(
            context, name, *[given[n] for n in needs], self._c))
        return None

    def __str__(self):
        lines = [ended(self.status, self.reason)]
        if not self.usable and self.reason != self.verdict.reason:
            lines.append(f"not to be used: {self.verdict.reason}")
        lines += [f"{p.name:>20} {p.value:14.8g} +- {p.error:<10.3g} {p.unit}"
                  for p in self.parameters.values()]
        lines += [f"warning: {w}" for w in self.warnings]
        return "\n".join(lines)

    def __repr__(self):
        return (f"<dualbragg.FitResult: {self.status}, {len(self.parameters)} parameters, "
                f"chi2/dof {self.after.chi2_reduced:.3g}>")

    def __reduce__(self):
        raise TypeError("a FitResult cannot be pickled; write('result.json') keeps it")


def _verdict(c):
    tests = {}
    for k in range(lib.DB_FIT_TESTS):
        t, name = c.test[k], text(lib.db_fit_test_name(k))
        tests[name] = Test(name, text(lib.db_fit_test_meaning(k)), t.found, t.least, t.most,
                           bool(t.passed))
    plain = {n: value(getattr(c, n)) for n in ("reason", "spots", "at", "beside", "position_rms",
                                               "predicted", "seen")}
    return Verdict(usable=bool(c.usable), tests=tests, **plain)


def parameters(c):
    """FitParameter by name, of C's estimates."""
    plain = [f.name for f in dataclasses.fields(FitParameter)]
    return {text(e.name): FitParameter(**{n: value(getattr(e, n)) for n in plain}) for e in c.list[0:c.count]}


def estimates(c):
    """FitParameter by name, their correlation, and directions: those that all shots share."""
    found = parameters(c)
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


class _Fitting(Watch):
    """Watches the refinement of one image."""

    def __init__(self, function, names):
        super().__init__(function)
        self.names = names

    def progressed(self, fraction):
        return self.raised is not None  # the function is told of evaluations

    def evaluated(self, entry):
        if self.function is None:
            return self.tell(None)
        told = dict(zip(self.names, numbers(entry.value, len(self.names)).tolist()))
        return self.tell(Evaluation(entry.stage, entry.evaluation, entry.target,
                                    entry.gradient_norm, told))


if lib.DB_PYTHON_FIT:
    @ffi.def_extern(error=1, onerror=keep_raised)
    def take_evaluation(user, entry):
        return ffi.from_handle(user).evaluated(entry)


def read_image(context, configuration, image, user):
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


def parameter_names(settings):
    """Names of what settings refine, motions of groups included."""
    name, found = ffi.new("char[]", lib.DB_FIT_NAME_SIZE), []
    for i in range(settings.parameter_count):
        quantity = lib.db_fit_quantity_of(settings.parameters + i)
        lib.db_fit_quantity_name(ffi.addressof(settings, "panel_groups"), quantity, name)
        found.append(text(name))
    return found


def fit_one(context, configuration, image, experiment, progress):
    """Refines against one image."""
    notices, config = [], configuration.c
    with noticing(context, notices) as user:
        c, keep = read_image(context, configuration, image, user)
        spots = ffi.gc(ffi.new("db_fit_spots *"), lib.db_fit_spots_clear)
        check(context, lib.db_fit_config_read_spots(context, config, spots))
        if spots.count:
            config.settings.spots = spots
        start = ffi.gc(ffi.new("db_experiment *"), lib.db_experiment_clear)
        watch = _Fitting(None, []).of_context(context)  # no function: signals alone
        if experiment is None:
            status = lib.db_fit_config_start(context, config, c, start, lib.take_notice, user)
        else:
            check(context, lib.db_experiment_copy(context, experiment._c, start))
            status = lib.db_fit_config_start_at(context, config, c, start, lib.take_notice, user)
        watch.check(context, status)
    watch.function, watch.names = progress, parameter_names(config.settings)
    out = ffi.new("db_fit_result **")
    status = lib.db_fit_run(context, start, c, ffi.addressof(config, "settings"),
                            lib.take_evaluation, watch.handle, out)
    result = ffi.gc(out[0], lambda p: lib.db_fit_result_destroy(ffi.new("db_fit_result **", p)))
    watch.check(context, lib.DB_OK if out[0] != ffi.NULL else status)
    return FitResult(result, configuration, (c, keep, spots), notices)


def fit(config=None, *, image=None, experiment: Optional[Experiment] = None, progress=None,
        device="cpu", checkpoint=None, resume=False, scratch=None, **sections):
    """Refines parameters against a measured image, or against many (shots.list).

    config: name of a configuration (YAML), or a dictionary of its sections
    sections: sections of the configuration as keywords, which add to it or replace what it says:
        model=dict(cell=..., find_orientation=True), refine=dict(misset_x=dict(range=0.5)) or
        refine=["misset_x", "cell_a"], data, intensity, stages ... (docs/reference/configuration.md)
    image: name of a file, a MeasuredImage, or an array of counts (float32, (slow, fast)); the
        configuration's if left out
    experiment: the model to start from, instead of the section model
    progress: called after each evaluation with an Evaluation (of many shots: a ShotsEvent); what it
        returns, if true, ends the refinement with the best model so far, and an exception goes on
        from here. Ctrl-C does so, too
    checkpoint: of many shots, name of a file that keeps how far the work is; resume: goes on from it, if it
        is there, to the same result. Left for you to remove (dualbragg.remove_checkpoint)
    scratch: of many shots, the folder for their pixels

    Returns a FitResult, or a ShotsResult of many shots: also if it did not converge or may not be
    used, which it says. What cannot be refined at all raises dualbragg.Error."""
    need_refinement()
    context = new_context()
    check(context, lib.db_context_set_device(context, device.encode()))
    file = image if isinstance(image, (str, os.PathLike)) else None
    if file is not None:
        sections["image"] = file
        image = None
    if experiment is not None:
        if not isinstance(experiment, Experiment):
            raise errors.UsageError("experiment: expected a dualbragg.Experiment, found "
                                    f"{type(experiment).__name__}")
        wrong = set(sections.get("model", {})) - {"symmetry", "find_orientation"}
        if wrong:
            raise errors.UsageError(f"model.{min(wrong)}: expected no such value beside experiment")
    configuration = Configuration(context, config, sections)
    if configuration.many:
        if experiment is not None or image is not None:
            raise errors.UsageError("fit: expected neither experiment nor an array as image for a "
                                    "list of shots")
        from .shots import fit_many
        return fit_many(context, configuration, progress, checkpoint, resume, scratch)
    for name, given in (("checkpoint", checkpoint), ("resume", resume or None), ("scratch", scratch)):
        if given is not None:
            raise errors.UsageError(f"{name}: expected a list of shots (shots.list), found one image")
    if configuration.c.config_file[0] == b"\0":
        configuration.c.config_file = b"arguments"  # what messages name
    if image is not None:
        configuration.c.image_file[0] = b"\0"
    elif configuration.c.image_file[0] == b"\0":
        raise errors.UsageError("fit: expected an image: a file name, a MeasuredImage or an array")
    return fit_one(context, configuration, image, experiment, progress)
