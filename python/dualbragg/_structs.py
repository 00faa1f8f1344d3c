"""Structs of the library as dataclasses and as tables (numpy's structured arrays), with the names of their members."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Sequence

import numpy
from numpy.lib import recfunctions

from . import errors
from ._library import ffi, text

if TYPE_CHECKING:
    from typing import TypeVar

    from _typeshed import DataclassInstance

    from ._types import Floats, Table

    Struct = TypeVar("Struct", bound=DataclassInstance)

_NUMBERS = {"double": "f8", "float": "f4"}


def _format(c: Any) -> str | tuple[Any, tuple[int]] | numpy.dtype[numpy.void] | None:
    """Return numpy's format of a C type; None if it contains more than numbers and texts."""
    if c.kind == "primitive":
        if c.cname in _NUMBERS:
            return _NUMBERS[c.cname]
        return ("i" if int(ffi.cast(c, -1)) < 0 else "u") + str(ffi.sizeof(c))
    if c.kind == "enum":
        return "i4"
    if c.kind == "array":
        if c.item.cname == "char":
            return f"S{c.length}"
        inner = _format(c.item)
        return None if inner is None else (inner, (c.length,))
    if c.kind == "struct":
        return dtype(c.cname)
    return None


def dtype(c_type: Any, leave_out: Sequence[str] = ()) -> numpy.dtype[numpy.void]:
    """Return numpy's type of a struct: its members that are numbers, texts, and structs of these."""
    found = []
    for name, field in ffi.typeof(c_type).fields:
        made = None if name == "reserved" or name in leave_out else _format(field.type)
        if made is not None:
            found.append((name, made, field.offset))
    return numpy.dtype({"names": [n for n, _, _ in found], "formats": [f for _, f, _ in found],
                        "offsets": [o for _, _, o in found], "itemsize": ffi.sizeof(c_type)})


def table(start: Any, count: int, c_type: Any, leave_out: Sequence[str] = ()) -> Table:
    """Return a copy of `count` structs from `start` on, as an array with a column for each member."""
    kind = dtype(c_type, leave_out)
    if count == 0 or start == ffi.NULL:
        return numpy.empty(0, kind)
    return numpy.frombuffer(ffi.buffer(start, count * kind.itemsize), kind).copy()


def packed(made: Table) -> Table:
    """Return the columns of a table, without the gaps between members of a struct."""
    return recfunctions.repack_fields(made, recurse=True)


def copied(given: Table, start: Any, c_type: Any) -> None:
    """Write the columns of a table to an array of structs from `start` on."""
    if len(given):
        kind = dtype(c_type)
        _copy_columns(given, numpy.frombuffer(ffi.buffer(start, len(given) * kind.itemsize), kind), c_type)


def _copy_columns(given: Table, to: Table, what: str) -> None:
    names: Any = given.dtype.names
    known: Any = to.dtype.names
    for name in names:
        if name not in known:
            raise errors.InputError(f"{what}: this version has no member {name}; another version has written it")
        if given.dtype[name].names:
            _copy_columns(given[name], to[name], f"{what}.{name}")
        else:
            to[name] = given[name]


def plain(row: numpy.void) -> dict[str, Any]:
    """Return a row of a table as a dictionary by column, which json takes."""
    assert row.dtype.names is not None
    return {name: plain(row[name]) if row.dtype[name].names else decoded(row[name].tolist()) for name in row.dtype.names}


def decoded(value: Any) -> Any:
    return value.decode(errors="surrogateescape") if isinstance(value, bytes) else value


def records(rows: Sequence[dict[str, Any]], c_type: str) -> Table:
    """Return the table of a struct's columns from dictionaries made by plain()."""
    made = packed(numpy.zeros(len(rows), dtype(c_type)))
    for row, given in zip(made, rows):
        _fill(row, given, c_type)
    return made


def _fill(row: numpy.void, given: dict[str, Any], what: str) -> None:
    assert row.dtype.names is not None
    if set(given) != set(row.dtype.names):
        raise KeyError(f"{what}: {', '.join(sorted(set(given) ^ set(row.dtype.names)))}")
    for name, value in given.items():
        if row.dtype[name].names:
            _fill(row[name], value, f"{what}.{name}")
        else:
            row[name] = value.encode(errors="surrogateescape") if isinstance(value, str) else value


def numbers(start: Any, count: int) -> Floats:
    """Return a copy of `count` doubles from `start` on."""
    if count == 0:
        return numpy.empty(0)
    return numpy.frombuffer(ffi.buffer(start, 8 * count)).copy()


def values(c: Any, kind: type[Struct]) -> Struct:
    """Return a dataclass with the values of the struct's members that have the names of its fields."""
    return kind(**{f.name: value(getattr(c, f.name)) for f in dataclasses.fields(kind)})


def value(member: Any) -> Any:
    """Return a member: a number as it is, an array of numbers as a tuple, characters as a text."""
    if not isinstance(member, ffi.CData):
        return member
    c = ffi.typeof(member)
    if c.kind == "array" and c.item.cname == "char" or c.cname in ("char *", "char const *"):
        return text(member)
    return tuple(member)
