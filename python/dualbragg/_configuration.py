"""Configuration of a refinement, from the arguments of fit."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from typing import TYPE_CHECKING, Any, Iterator

import numpy

from . import errors
from ._library import check, encoded, ffi, lib

if TYPE_CHECKING:
    from typing import ClassVar

    from typing_extensions import Self

    from ._types import Path


def need_refinement() -> None:
    """Raise UnsupportedError if this build has no refinement."""
    if not lib.DB_PYTHON_FIT:
        raise errors.UnsupportedError("this build of the package has no refinement: it needs NLopt, "
                                      "GSL, libyaml and jansson (Debian: libnlopt-dev libgsl-dev "
                                      "libyaml-dev libjansson-dev)")


class Section:
    """Section of a configuration: a dataclass. Members that are None are left out."""

    if TYPE_CHECKING:
        __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    def to_dict(self) -> dict[str, Any]:
        """Return the section as a dictionary, which json takes, and fit instead of the section."""
        found: dict[str, Any] = _plain(self, type(self).__name__.lower())
        return found

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Return the section of a dictionary made by to_dict. Sections within it may stay dictionaries."""
        unknown = set(values) - {f.name for f in dataclasses.fields(cls)}
        if unknown:
            raise errors.UsageError(f"{cls.__name__}: there is no key {min(unknown)!r}")
        return cls(**values)


def plain_section(value: Any, what: str) -> dict[str, Any]:
    """Return a section as a dictionary."""
    found = _plain(value, what)
    if not isinstance(found, dict):
        raise errors.UsageError(f"{what}: expected a dataclass of dualbragg.settings or a dictionary, found {value!r}")
    return found


def _plain(value: Any, what: str) -> Any:
    """Return a value as JSON, and so YAML, can express it."""
    if isinstance(value, Section):
        given = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return {name: _plain(v, f"{what}.{name}") for name, v in given.items() if v is not None}
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, numpy.generic):
        return _plain(value.item(), what)
    if isinstance(value, float) and not math.isfinite(value):
        raise errors.UsageError(f"{what}: expected a finite number, found {value!r}")
    if isinstance(value, (int, float, str)):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, numpy.ndarray):
        return _plain(value.tolist(), what)
    if isinstance(value, (list, tuple)):
        return [_plain(v, what) for v in value]
    if isinstance(value, dict):
        return {_key(k, what): _plain(v, f"{what}.{k}") for k, v in value.items()}
    raise errors.UsageError(f"{what}: expected a number, a text, a list or a dictionary, found "
                            f"{value!r}")


def _said(name: str, value: Any) -> Any:
    """Return a section as JSON can express it; refine may be a list of names."""
    if name == "refine" and isinstance(value, (list, tuple)):
        value = {_key(n, name): {} for n in value}
    return _plain(value, name)


def _key(key: Any, what: str) -> str:
    if not isinstance(key, str) or not key:
        raise errors.UsageError(f"{what}: expected names as keys, found {key!r}")
    return key


def _lines(path: str, value: Any) -> Iterator[str]:
    """Yield overrides "key.path=value", one for each leaf, so that they add to a file."""
    simple = isinstance(value, dict) and value and not any(c in k for k in value for c in ".=")
    if simple:
        for key, inner in value.items():
            yield from _lines(f"{path}.{key}", inner)
    else:
        yield f"{path}={json.dumps(value, ensure_ascii=False)}"


class Configuration:
    """A db_fit_config, from a file (or none), a dictionary and keywords."""

    texts: list[str]
    overrides: Any
    c: Any
    folder: Any = None  # keeps a temporary folder with files that it names

    def __init__(self, context: Any, file: Path | Section | dict[str, Any] | None, sections: dict[str, Any],
                 image: Path = "") -> None:
        if isinstance(file, Section):
            file = {f.name: v for f in dataclasses.fields(file) if (v := getattr(file, f.name)) is not None}
        given = [sections]
        if isinstance(file, dict):
            given, file = [file, sections], None
        self.texts = [line for part in given for name, value in part.items() for line in _lines(name, _said(name, value))]
        self._bytes = [ffi.new("char[]", t.encode(errors="surrogateescape")) for t in self.texts]
        self.overrides = ffi.new("char *[]", self._bytes)
        self.c = ffi.gc(ffi.new("db_fit_config *"), lib.db_fit_config_clear)
        count = len(self._bytes)
        if file is None:
            status = lib.db_fit_config_make(context, encoded(image), self.overrides, count, self.c)
        else:
            status = lib.db_fit_config_read(context, encoded(file), self.overrides, count, self.c)
        check(context, status)

    @property
    def many(self) -> bool:
        """True for a refinement of many shots, of several lattices of an image, or of joint intensities."""
        return bool(lib.db_fit_config_has_many(self.c))
