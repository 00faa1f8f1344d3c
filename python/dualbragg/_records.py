"""Objects as dictionaries for json, and back, bit for bit."""

from __future__ import annotations

import base64
import dataclasses
from typing import TYPE_CHECKING, Any, Callable

import numpy

from . import errors

if TYPE_CHECKING:
    from typing_extensions import Self

_FEW = 256  # longest array that is written as single numbers
_kinds: dict[str, type[Record]] = {}


class Record:
    """Record with to_dict and from_dict: a dataclass, a named tuple, or a class with a state that pickle takes."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        _kinds[cls.__name__] = cls

    def to_dict(self) -> dict[str, Any]:
        """Return all values as a dictionary that json takes; from_dict makes the same object from it."""
        return {"$record": type(self).__name__, **{name: plain(value) for name, value in _state(self).items()}}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Return the object of a dictionary made by to_dict."""
        try:
            if values["$record"] != cls.__name__:
                raise KeyError(cls.__name__)
            state = {name: made(value) for name, value in values.items() if name != "$record"}
            if not hasattr(cls, "__setstate__") and (dataclasses.is_dataclass(cls) or issubclass(cls, tuple)):
                return cls(**state)
            record = object.__new__(cls)
            found: Any = record
            found.__setstate__(state) if hasattr(cls, "__setstate__") else found.__dict__.update(state)
            return record
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            if isinstance(error, errors.Error):
                raise
            raise errors.UsageError(f"{cls.__name__}.from_dict: expected a dictionary made by to_dict: {error!r}") from None


def _state(record: Any) -> dict[str, Any]:
    state: dict[str, Any]
    if hasattr(record, "_asdict"):
        state = record._asdict()
        return state
    if hasattr(type(record), "__setstate__"):
        state = record.__getstate__()
        return state
    if not dataclasses.is_dataclass(record):
        state = vars(record)
        return state
    return {f.name: getattr(record, f.name) for f in dataclasses.fields(record)}


def plain(value: Any) -> Any:
    """Return a value as json takes it; for types that json lacks, a dictionary whose first key begins with $."""
    if isinstance(value, numpy.generic) and value.dtype.names is None:
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    for kind, say in _says.items():
        if isinstance(value, kind):
            return say(value)
    raise errors.UsageError(f"to_dict: json cannot express {value!r}; pickle may")


def _array(array: numpy.ndarray) -> Any:
    shape = list(array.shape)
    if array.dtype.names is not None:
        return {"$table": {name: plain(numpy.ascontiguousarray(array[name])) for name in array.dtype.names}, "shape": shape}
    told = {"type": array.dtype.str, "shape": shape}
    if array.size <= _FEW and array.dtype.kind in "iufb":
        return {"$array": array.ravel().tolist(), **told}
    return {"$array": base64.b64encode(array.tobytes()).decode(), **told}


_says: dict[type, Callable[[Any], Any]] = {
    Record: lambda v: {"$record": type(v).__name__, **v.to_dict()},
    dict: lambda v: {name: plain(inner) for name, inner in v.items()},
    list: lambda v: [plain(inner) for inner in v],
    tuple: lambda v: {"$tuple": [plain(inner) for inner in v]},
    bytes: lambda v: {"$bytes": base64.b64encode(v).decode()},
    numpy.ndarray: _array,
}


def made(value: Any) -> Any:
    """Return the value that plain() has converted."""
    if isinstance(value, list):
        return [made(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    kind = next(iter(value), "")
    if not kind.startswith("$"):
        return {name: made(inner) for name, inner in value.items()}
    content = value[kind]
    if kind in _makes:
        return _makes[kind](value, content)
    return _kinds[content].from_dict(value)


def _made_array(value: dict[str, Any], content: Any) -> numpy.ndarray:
    kind, shape = numpy.dtype(value["type"]), tuple(value["shape"])
    if isinstance(content, str):
        return numpy.frombuffer(base64.b64decode(content), kind).reshape(shape).copy()
    return numpy.array(content, kind).reshape(shape)


def _made_table(value: dict[str, Any], content: Any) -> numpy.ndarray:
    columns = {name: made(column) for name, column in content.items()}
    shape = tuple(value["shape"])
    table = numpy.empty(shape, [(name, column.dtype, column.shape[len(shape):]) for name, column in columns.items()])
    for name, column in columns.items():
        table[name] = column
    return table


_makes: dict[str, Callable[[Any, Any], Any]] = {
    "$tuple": lambda _, v: tuple(made(inner) for inner in v),
    "$bytes": lambda _, v: base64.b64decode(v),
    "$array": _made_array,
    "$table": _made_table,
}
