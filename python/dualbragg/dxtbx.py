"""Objects of dxtbx and cctbx as experiments, images and structure factors, and back.

    from dualbragg import dxtbx

    crystal = dxtbx.from_experiments(experiments, 0, Ncells=(20, 20, 20), default_F=100)
    crystal.set_amplitudes(*dxtbx.amplitudes(miller_array))
    measured = dxtbx.load(experiments[0].imageset)
    experiments = dxtbx.to_experiments(crystal)

Objects are taken for what they can do (to_dict, get_raw_data, indices ...), so that neither package
is needed but for the way back.
"""

from __future__ import annotations

import json
import os
import tempfile
from typing import TYPE_CHECKING, Any

import numpy

from . import errors
from ._library import integer
from .experiment import Experiment
from .images import MeasuredImage

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from ._keywords import Keywords
    from ._types import Floats

_MODELS = ("beam", "detector", "goniometer", "scan", "crystal")


def _dictionary(model, what):
    if not callable(getattr(model, "to_dict", None)):
        raise errors.UsageError(f"{what}: expected a model of dxtbx (with to_dict), found "
                                f"{type(model).__name__}")
    return model.to_dict()


def _plain(value):
    """What json does not know: numbers and arrays of numpy and flex."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "__iter__"):
        return list(value)
    raise errors.UsageError(f"model: cannot say {type(value).__name__} in a list of experiments")


def from_models(*, beam: Any, detector: Any, crystal: Any = None, goniometer: Any = None, scan: Any = None,
                **keywords: Unpack[Keywords]) -> Experiment:
    """An Experiment of single models of dxtbx: Beam, Detector, Crystal, Goniometer, Scan.

    keywords: those of dualbragg.Experiment, for what the models do not say (Ncells, default_F,
    fluence, mosaic_spread ...) or say otherwise."""
    given = dict(beam=beam, detector=detector, goniometer=goniometer, scan=scan, crystal=crystal)
    listed: dict[str, Any] = {"__id__": "ExperimentList", "imageset": [], "profile": [], "scaling_model": []}
    entry: dict[str, Any] = {"__id__": "Experiment", "identifier": ""}
    for name, model in given.items():
        listed[name] = [] if model is None else [_dictionary(model, name)]
        if model is not None:
            entry[name] = 0
    listed["experiment"] = [entry]
    text = json.dumps(listed, default=_plain)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "models.expt")
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return Experiment(expt=path, **keywords)


def from_experiments(experiments: Any, number: int | None = None, **keywords: Unpack[Keywords]) -> Experiment:
    """An Experiment of one of an ExperimentList (number: from 0; may be left out if there is one), or of
    a single dxtbx Experiment. keywords as for from_models."""
    if not hasattr(experiments, "detector"):
        try:
            count = len(experiments)
        except TypeError:
            raise errors.UsageError("experiments: expected an Experiment or ExperimentList of dxtbx, "
                                    f"found {type(experiments).__name__}") from None
        if number is None and count != 1:
            raise errors.UsageError(f"number: expected one from 0 to {count - 1}, since there are {count} "
                                    "experiments")
        number = integer(number or 0, "number")
        if not 0 <= number < count:
            raise errors.UsageError(f"number: expected one from 0 to {count - 1}, found {number}")
        experiments = experiments[number]
    return from_models(**{n: getattr(experiments, n, None) for n in _MODELS}, **keywords)


def to_experiments(experiment: Experiment) -> Any:
    """A dxtbx ExperimentList of one experiment, without an image. Needs dxtbx (Debian:
    python3-dials)."""
    try:
        from dxtbx.model.experiment_list import ExperimentListFactory
    except ImportError:
        raise errors.UnsupportedError("to_experiments: needs the package dxtbx (Debian: "
                                      "python3-dials)") from None
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "models.expt")
        experiment.to_expt(path)
        return ExperimentListFactory.from_json_file(path, check_format=False)


def _numpy(flex):
    return flex.as_numpy_array() if hasattr(flex, "as_numpy_array") else numpy.asarray(flex)


def load(imageset: Any, index: int = 0) -> MeasuredImage:
    """A MeasuredImage of an image of an imageset: its counts less the pedestal, its mask and trusted
    range, its gain. Panels, which are alike in width, are one below the other. The counts are copied."""
    panels = imageset.get_raw_data(index)
    masks = imageset.get_mask(index)
    listed = list(imageset.get_detector(index))
    values = [_numpy(p).astype(numpy.float32) for p in panels]
    widths = {v.shape[1] for v in values}
    if len(widths) != 1 or len(values) != len(listed):
        raise errors.UsageError(f"imageset: expected {len(listed)} panels of one width, found "
                                f"{[v.shape for v in values]}")
    pedestals = [p.get_pedestal() for p in listed]
    gains = {p.get_gain() for p in listed}
    if len(gains) != 1:
        raise errors.UsageError(f"imageset: expected panels of one gain, found {sorted(gains)}")
    gain = gains.pop()
    whole = numpy.ascontiguousarray(numpy.concatenate(
        [v - numpy.float32(p) for v, p in zip(values, pedestals)]))
    # DB_MASK_BAD is 1
    mask = numpy.concatenate([~_numpy(m).astype(bool) for m in masks]).astype(numpy.uint8)
    return MeasuredImage(whole, mask, format="dxtbx", gain=gain if gain > 0 else 1.0,
                         panel_rows=tuple(len(v) for v in values) if len(values) > 1 else None)


def amplitudes(array: Any) -> tuple[NDArray[numpy.int32], Floats]:
    """hkl (reflections, 3) and amplitudes (reflections,) of a miller array of cctbx, for
    Experiment.set_amplitudes: intensities become amplitudes, symmetry and Friedel's law are expanded."""
    for needed in ("indices", "data", "expand_to_p1"):
        if not hasattr(array, needed):
            raise errors.UsageError("array: expected a miller array of cctbx, found "
                                    f"{type(array).__name__}")
    if array.is_xray_intensity_array():
        array = array.as_amplitude_array()
    elif array.is_complex_array():
        array = array.amplitudes()
    array = array.expand_to_p1()
    if not array.anomalous_flag():
        array = array.generate_bijvoet_mates()
    hkl = numpy.array(list(array.indices()), dtype=numpy.int32).reshape(-1, 3)
    return hkl, _numpy(array.data()).astype(float)
