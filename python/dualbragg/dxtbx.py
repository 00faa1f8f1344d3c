"""Conversion between objects of dxtbx or cctbx and experiments, images, structure factors.

    from dualbragg import dxtbx

    crystal = dxtbx.from_experiments(experiments, 0, Ncells=(20, 20, 20), default_F=100)
    crystal.set_amplitudes(*dxtbx.amplitudes(miller_array))
    measured = dxtbx.load(experiments[0].imageset)
    experiments = dxtbx.to_experiments(crystal)

Objects need the right methods (to_dict, get_raw_data, indices ...), not the right class. So only to_experiments imports
dxtbx."""

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


def _dictionary(model: Any, what: str) -> dict[str, Any]:
    if not callable(getattr(model, "to_dict", None)):
        raise errors.UsageError(f"{what}: expected a model of dxtbx (with to_dict), found "
                                f"{type(model).__name__}")
    made: dict[str, Any] = model.to_dict()
    return made


def _plain(value: Any) -> Any:
    """Convert numbers and arrays of numpy and flex, which json does not know."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "__iter__"):
        return list(value)
    raise errors.UsageError(f"model: expected numbers, texts and lists, found {type(value).__name__}")


def from_models(*, beam: Any, detector: Any, crystal: Any = None, goniometer: Any = None, scan: Any = None,
                **keywords: Unpack[Keywords]) -> Experiment:
    """Return the Experiment of single dxtbx models: Beam, Detector, Crystal, Goniometer, Scan.

    keywords: as for dualbragg.Experiment; they add values that the models lack (Ncells, default_F, fluence,
        mosaic_spread ...), or replace values of the models"""
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
    """Return the Experiment of a dxtbx Experiment, or of one in an ExperimentList.

    number: in the list, from 0; None: the only one
    keywords: as for from_models"""
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
    """Return a dxtbx ExperimentList with this experiment, without an image. Needs dxtbx (Debian: python3-dials)."""
    try:
        from dxtbx.model.experiment_list import ExperimentListFactory
    except ImportError:
        raise errors.UnsupportedError("to_experiments: needs the package dxtbx (Debian: "
                                      "python3-dials)") from None
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "models.expt")
        experiment.to_expt(path)
        return ExperimentListFactory.from_json_file(path, check_format=False)


def _numpy(flex: Any) -> NDArray[Any]:
    return flex.as_numpy_array() if hasattr(flex, "as_numpy_array") else numpy.asarray(flex)


def load(imageset: Any, index: int = 0) -> MeasuredImage:
    """Return the MeasuredImage of an image of an imageset: counts minus pedestal (copied), gain, and mask, which
    includes the trusted range.

    Panels must have one width; they are one below the other."""
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
    """Return hkl (reflections, 3) and amplitudes (reflections,) of a cctbx miller array, for Experiment.set_amplitudes.

    Intensities become amplitudes; equivalent reflections are added by symmetry and Friedel's law."""
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
