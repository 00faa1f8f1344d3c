"""Tables of pandas and arrays of xarray. Only these functions need pandas and xarray."""

from __future__ import annotations

import dataclasses
import importlib
from typing import Any, Mapping

import numpy

from . import errors
from ._structs import decoded
from .experiment import Experiment
from .fields import parameters
from .images import MeasuredImage
from .plan import Plan

_COLUMNS = {"hkl": "hkl", "position": ("_fast", "_slow"), "predicted": ("_fast", "_slow")}


def needed(package: str, who: str) -> Any:
    """Return a package that only some functions need; raise UnsupportedError if it is missing."""
    try:
        return importlib.import_module(package)
    except ImportError:
        name = package.split(".")[0]
        raise errors.UnsupportedError(f"{who}: needs the package {name} (Debian: python3-{name})") from None


def to_pandas(what: Any) -> Any:
    """Return a pandas.DataFrame.

    what: structured array, such as the spots of predict and the tables of a result; Experiment: its parameters;
        FitResult or Shot: its estimates; dictionary of fields(), parameters() or verdict.tests: a row for each item

    A column with several numbers becomes several columns: h, k, l; position_fast, position_slow; covariance_0,
    covariance_1 ... Needs pandas (Debian: python3-pandas)."""
    pandas = needed("pandas", "to_pandas")
    if isinstance(what, numpy.ndarray) and what.dtype.names is not None:
        return pandas.DataFrame(dict(_columns(what, "")))
    return pandas.DataFrame.from_dict(_rows(what), orient="index").rename_axis("name")


def _rows(what: Any) -> dict[str, dict[str, Any]]:
    if isinstance(what, Experiment):
        return {p.name: {"value": what[p.name], "unit": p.unit, "help": p.help} for p in parameters(what).values()}
    listed = getattr(what, "estimates", what)
    if not isinstance(listed, Mapping) or not all(dataclasses.is_dataclass(v) for v in listed.values()):
        raise errors.UsageError("expected a structured array, an Experiment, a result, or a dictionary from fields(), "
                                f"parameters() or verdict.tests, found {type(what).__name__}")
    return {name: {k: v for k, v in dataclasses.asdict(record).items() if k != "name"} for name, record in listed.items()}


def _columns(table: Any, before: str) -> Any:
    for name in table.dtype.names:
        column, whole = table[name], before + name
        if column.dtype.names:
            yield from _columns(column, whole + "_")
        elif column.dtype.kind == "S":
            yield whole, [decoded(v) for v in column.tolist()]
        elif column.ndim == 1:
            yield whole, column
        else:
            flat = column.reshape(len(column), -1)
            ends = _COLUMNS.get(name, [f"_{i}" for i in range(flat.shape[1])])
            for i, end in enumerate(ends):
                yield (before + end if ends == "hkl" else whole + end), flat[:, i]


def to_xarray(what: Any) -> Any:
    """Return an xarray.Dataset.

    what: Plan: its image and the derivative by each parameter; MeasuredImage: counts and mask; FitResult: estimates and
        their correlation; others: as to_pandas

    Coordinates slow and fast are the middles of pixels, in pixels from the outer corner of the first pixel, like
    positions of spots. Needs xarray (Debian: python3-xarray)."""
    xarray = needed("xarray", "to_xarray")
    if isinstance(what, Plan):
        return _images_of(xarray, what)
    if isinstance(what, MeasuredImage):
        given = {f.name: getattr(what, f.name) for f in dataclasses.fields(what) if f.name not in ("value", "mask")}
        mask = numpy.zeros(what.value.shape, numpy.uint8) if what.mask is None else what.mask
        return xarray.Dataset({"counts": (("slow", "fast"), what.value), "mask": (("slow", "fast"), mask)},
                              _middles(what.value.shape), {k: v for k, v in given.items() if v not in (None, ())})
    made = to_pandas(what).to_xarray()
    if hasattr(what, "correlation"):
        made = made.rename(name="parameter")
        made["correlation"] = (("parameter", "other_parameter"), what.correlation)
        made = made.assign_coords(other_parameter=made.parameter.values)
    return made


def _middles(shape: tuple[int, ...]) -> dict[str, Any]:
    return {axis: numpy.arange(count) + 0.5 for axis, count in zip(("fast", "slow"), shape[::-1])} if len(shape) > 1 else {}


def _images_of(xarray: Any, plan: Plan) -> Any:
    image, derivatives = plan.gradient() if plan.names else (plan.forward(), None)
    axes = ("panel", "slow", "fast")[-image.ndim:] if image.ndim > 1 else ("pixel",)
    found = {"image": (axes, image, {"units": "photons"})}
    places = _middles(image.shape)
    if derivatives is not None:
        found["derivative"] = (("parameter", *axes), derivatives, {"units": "photons per unit"})
        places.update(parameter=list(plan.names), unit=("parameter", plan.units))
    return xarray.Dataset(found, places)
