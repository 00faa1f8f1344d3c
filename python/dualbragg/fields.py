"""Keywords of Experiment, and parameters by which images have derivatives: the library's tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._library import ffi, lib, text
from ._records import Record

if TYPE_CHECKING:
    from .experiment import Experiment


@dataclass(frozen=True)
class Field(Record):
    """Keyword of Experiment.

    name: the keyword
    unit: "" if it has none
    count: number of values
    least, most: range of the values, in the unit
    choices: allowed texts; () for numbers
    help: what it means"""
    name: str
    unit: str
    count: int
    least: float
    most: float
    choices: tuple[str, ...]
    help: str


@dataclass(frozen=True)
class Parameter(Record):
    """Quantity by which images have derivatives.

    name: the parameter, as in experiment[name]
    unit: of its values
    scale: typical step, in the unit
    help: what it means"""
    name: str
    unit: str
    scale: float
    help: str


def _choices(field: Any) -> tuple[str, ...]:
    found: list[str] = []
    while field.choices != ffi.NULL and field.choices[len(found)] != ffi.NULL:
        found.append(text(field.choices[len(found)]))
    return tuple(found)


def fields() -> dict[str, Field]:
    """Return the keywords of Experiment by name. help(Experiment) lists the others: files, texts, and numbers of
    nanoBragg's flags."""
    table = [lib.db_setup_fields[i] for i in range(lib.DB_FIELD_COUNT)]
    return {text(f.name): Field(text(f.name), text(f.unit), f.count, f.least, f.most, _choices(f),
                                text(f.help)) for f in table}


def parameters(experiment: Experiment | None = None) -> dict[str, Parameter]:
    """Return the Parameters of an experiment, or of the whole table (None), by name."""
    found = {}
    for p in range(lib.DB_PARAMETER_COUNT):
        if experiment is not None and not lib.db_parameter_exists(experiment._c, p):
            continue
        info = lib.db_parameter_describe(p)
        found[text(info.name)] = Parameter(text(info.name), text(info.unit), info.scale,
                                           text(info.description))
    return found
