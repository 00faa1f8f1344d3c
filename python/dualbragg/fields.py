"""What an experiment can be made of, and what it has derivatives by: the library's own tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ._library import ffi, lib, text
from ._records import Record

if TYPE_CHECKING:
    from .experiment import Experiment


@dataclass(frozen=True)
class Field(Record):
    """A keyword of Experiment."""
    name: str
    unit: str  # "" where there is none
    count: int  # of values
    least: float  # in the unit
    most: float
    choices: tuple[str, ...]  # of texts; () where it is a number
    help: str


@dataclass(frozen=True)
class Parameter(Record):
    """A quantity by which images have derivatives."""
    name: str
    unit: str
    scale: float  # a typical step, in the unit
    help: str


def _choices(field):
    found = []
    while field.choices != ffi.NULL and field.choices[len(found)] != ffi.NULL:
        found.append(text(field.choices[len(found)]))
    return tuple(found)


def fields() -> dict[str, Field]:
    """Keywords of Experiment by name. Files and what else has no unit are in Experiment's text."""
    table = [lib.db_setup_fields[i] for i in range(lib.DB_FIELD_COUNT)]
    return {text(f.name): Field(text(f.name), text(f.unit), f.count, f.least, f.most, _choices(f),
                                text(f.help)) for f in table}


def parameters(experiment: Experiment | None = None) -> dict[str, Parameter]:
    """Parameters by name: all of the table, or those that an experiment has."""
    found = {}
    for p in range(lib.DB_PARAMETER_COUNT):
        if experiment is not None and not lib.db_parameter_exists(experiment._c, p):
            continue
        info = lib.db_parameter_describe(p)
        found[text(info.name)] = Parameter(text(info.name), text(info.unit), info.scale,
                                           text(info.description))
    return found
