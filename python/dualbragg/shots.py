"""Refinement of many shots that share parameters."""

import os
from dataclasses import dataclass
from typing import Dict, Optional, Tuple

import numpy

from . import errors
from ._library import Watch, check, encoded, ffi, keep_raised, lib, new_context, noticing, text
from ._configuration import need_refinement
from ._structs import value
from .experiment import Experiment
from .refinement import _history, ended, estimates, parameters, status_name

_KINDS = ("done", "evaluated", "aside", "resumed", "working")


@dataclass(frozen=True)
class ShotsEvent:
    """What a progress function of many shots is told."""
    kind: str  # "done", "evaluated", "aside", "resumed" or "working"
    stage: int  # from 0
    done: int  # shots so far
    count: int  # and in all
    what: str  # working: what the pass over them does
    target: float  # evaluated: chi2 per degree of freedom; else nan
    shot: str  # aside: its name
    reason: str  # aside: why


@dataclass(frozen=True)
class Shot:
    """What was found of one shot. Values and errors are in the parameters' units."""
    name: str
    used: bool
    reason: str  # why it was set aside, or how its own stages ended
    start: Dict[str, float]
    values: Dict[str, float]
    errors: Dict[str, float]
    experiment: Optional[Experiment]  # refined; None if it was set aside
    pixels: int
    shoeboxes: int
    chi2_reduced: Tuple[float, float]  # of the starting and the refined model
    correlation: Tuple[float, float]
    centroid_rms: Tuple[float, float]  # pixels


class ShotsResult:
    """What a refinement of many shots has found.

    status, reason, history, seconds, notices: as of a FitResult
    shared: FitParameter by name, of those that have one value for all shots
    local: names of the others
    correlation: (shared, shared); directions: of shared ones, the worst determined first
    shots: a Shot each
    table: a structured array with a row for each shot: name, used, chi2_reduced, and value and error
        of each parameter ("misset_x", "misset_x_error")
    chi2_reduced: of the starting and the refined models, all shots in use; used, pixels, shoeboxes"""

    def __init__(self, c, notices, shots, configuration, kept):
        self.notices, self._kept = notices, kept
        self._c, self._list, self._configuration = c, shots, configuration
        self.status, self.reason = status_name(c.status), text(c.reason)
        self.shared, self.correlation, self.directions, count = estimates(c.estimates)
        self.local = [n for n in parameters(c.estimates) if n not in self.shared]
        self.history = _history(c.history, c.history_values, c.history_count, count)
        self.used, self.pixels, self.shoeboxes = c.used, c.pixels, c.shoeboxes
        self.chi2_reduced, self.seconds = value(c.chi2_reduced), c.seconds
        self.shots = [_shot(c.shot[s]) for s in range(c.shot_count)]

    @property
    def converged(self):
        return self.status == "converged"

    @property
    def table(self):
        names = list(self.shots[0].values) if self.shots else []
        kind = [("name", "O"), ("used", "?"), ("chi2_reduced", "f8")]
        kind += [(n + end, "f8") for n in names for end in ("", "_error")]
        made = numpy.empty(len(self.shots), kind)
        for row, s in zip(made, self.shots):
            row["name"], row["used"], row["chi2_reduced"] = s.name, s.used, s.chi2_reduced[1]
            for n in names:
                row[n], row[n + "_error"] = s.values[n], s.errors[n]
        return made

    def write(self, path):
        """Writes the result as its name ends: .json (everything) or .html (report)."""
        ending = os.path.splitext(os.fspath(path))[1]
        writers = {".json": "db_fit_shots_write_json", ".html": "db_fit_shots_write_html"}
        if ending not in writers:
            raise errors.UsageError(f"{path}: expected a name that ends in .json or .html")
        context = new_context()
        check(context, getattr(lib, writers[ending])(context, encoded(path), self._configuration, self._c))

    def write_models(self, folder, images=False):
        """Writes the refined model of each shot in use, as a configuration and as an experiment list of its
        own, and shots.txt, refined.yaml (a configuration of all shots again) and refined.expt of all of
        them, into a folder that is there. images: what the model explains of each, too, as dualbragg fit
        --model-image does."""
        context, name = new_context(), encoded(folder)
        for i, shot in enumerate(self.shots):
            if shot.experiment is None:
                continue
            check(context, lib.db_fit_shots_write_model(context, name, self._list, self._c, i))
            if images:
                check(context, lib.db_fit_shots_write_images(context, name, self._list, self._c, i))
        listing = encoded(os.path.join(folder, "shots.txt"))
        check(context, lib.db_fit_shots_write_list(context, listing, name, self._c))
        check(context, lib.db_fit_shots_write_expt(
            context, encoded(os.path.join(folder, "refined.expt")), name, self._c))
        check(context, lib.db_fit_shots_write_yaml(
            context, encoded(os.path.join(folder, "refined.yaml")), listing, self._configuration, self._c))

    def __reduce__(self):
        raise TypeError("a ShotsResult cannot be pickled; write('result.json') keeps it")

    def __str__(self):
        lines = [ended(self.status, self.reason), f"{self.used} of {len(self.shots)} shots used"]
        lines += [f"{p.name:>20} {p.value:14.8g} +- {p.error:<10.3g} {p.unit}"
                  for p in self.shared.values()]
        return "\n".join(lines)

    def __repr__(self):
        return f"<dualbragg.ShotsResult: {self.status}, {self.used} of {len(self.shots)} shots>"


def _shot(c):
    found = parameters(c.estimates)
    there = bool(c.used) and c.model.oversample > 0
    return Shot(name=text(c.name), used=bool(c.used), reason=text(c.reason),
                start={n: p.start for n, p in found.items()},
                values={n: p.value for n, p in found.items()},
                errors={n: p.error for n, p in found.items()},
                experiment=Experiment.copy_of(ffi.addressof(c.model)) if there else None,
                pixels=c.pixels, shoeboxes=c.shoeboxes, chi2_reduced=value(c.chi2_reduced),
                correlation=value(c.correlation), centroid_rms=value(c.centroid_rms))


class _Shots(Watch):
    """Watches the refinement of many shots; what ends it is asked for in another function."""

    def __init__(self, function):
        super().__init__(function)
        self.ended = False

    def happened(self, c):
        if self.function is None or self.raised is not None:
            return
        kind = _KINDS[c.kind]
        event = ShotsEvent(kind, c.stage, c.done, c.count, text(c.what) if kind == "working" else "",
                           c.entry.target if kind == "evaluated" else float("nan"),
                           text(c.shot) if kind == "aside" else "",
                           text(c.reason) if kind == "aside" else "")
        self.ended = bool(self.function(event)) or self.ended


if lib.DB_PYTHON_FIT:
    @ffi.def_extern(onerror=keep_raised)
    def take_event(user, event):
        ffi.from_handle(user).happened(event)

    @ffi.def_extern(error=1, onerror=keep_raised)
    def ask_cancelled(user):
        watch = ffi.from_handle(user)
        return watch.ended or watch.raised is not None


def _list_of(context, configuration):
    """The shots that a configuration lists, or the lattices of its image."""
    listed = configuration.c.shot_list[0] != b"\0"
    read = lib.db_fit_shot_list_read if listed else lib.db_fit_shot_list_find
    out = ffi.new("db_fit_shot_list **")
    check(context, read(context, configuration.c, configuration.overrides,
                        len(configuration.texts), out))
    return ffi.gc(out[0], lambda p: lib.db_fit_shot_list_destroy(ffi.new("db_fit_shot_list **", p)))


def remove_checkpoint(path):
    """Removes a checkpoint of many shots, with all files that belong to it."""
    need_refinement()
    lib.db_fit_checkpoint_remove(encoded(path))


def fit_many(context, configuration, progress, checkpoint=None, resume=False, scratch=None):
    """Refines the shots of a configuration."""
    if resume and checkpoint is None:
        raise errors.UsageError("resume: expected checkpoint, the file to go on from, beside it")
    notices = []
    with noticing(context, notices):
        shots = _list_of(context, configuration)
    source = ffi.new("db_fit_shot_source *", lib.db_fit_shot_list_source(shots))
    tied = ffi.gc(ffi.new("db_fit_config *"), lib.db_fit_config_clear)
    check(context, lib.db_fit_config_copy(context, source.configuration, tied))
    # if no shot can be read nothing is tied; the refinement says why
    if lib.db_fit_shot_list_tie(context, shots, tied) == lib.DB_OK:
        source.configuration = tied
    config, settings = source.configuration, ffi.new("db_fit_settings *", source.configuration.settings)
    if settings.stage_count == 0:
        lib.db_fit_settings_default_joint_stages(settings)
    if not settings.gain > 0:
        settings.gain = 1  # of images that do not say
    watch = _Shots(progress)
    options = ffi.new("db_fit_shots_options *")
    options.outlier_sigma = config.shot_outlier_sigma
    options.series, options.knots = config.series, config.series_knots
    options.progress = lib.take_event
    options.cancelled = ffi.addressof(lib, "pass_question")
    options.user = watch.handle
    named = {n: ffi.new("char[]", encoded(p)) for n, p in (("checkpoint", checkpoint), ("scratch", scratch))
             if p is not None}
    for name, path in named.items():
        setattr(options, name, path)
    options.resume = bool(resume)
    out = ffi.new("db_fit_shots_result **")
    status = lib.db_fit_shots_run(context, source, settings, options, out)
    result = ffi.gc(out[0], lambda p: lib.db_fit_shots_result_destroy(
        ffi.new("db_fit_shots_result **", p)))
    watch.check(context, lib.DB_OK if out[0] != ffi.NULL else status)
    return ShotsResult(result, notices, shots, config, (tied, source, configuration))
