"""Former names of members and keywords: they work for one release, with a warning."""

from __future__ import annotations

import functools
import sys
import warnings
from typing import Any, Callable, TypeVar

Class = TypeVar("Class", bound=type)


def told(text: str, kind: type[Warning] = DeprecationWarning) -> None:
    """Give a warning at the line that calls the package."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in (__package__, "contextlib"):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, kind, stacklevel=level)


def attribute(former: str, now: str) -> property:
    """Return a property with a former name, which reads the present one."""
    def read(self: Any) -> Any:
        told(f"{type(self).__name__}.{former} is called {now} now")
        return getattr(self, now)

    return property(read)


def members(**names: str) -> Callable[[Class], Class]:
    """Return a decorator for a dataclass or a named tuple whose members had other names.

    names: present names by former names"""
    def decorate(kind: Class) -> Class:
        method = "__new__" if issubclass(kind, tuple) else "__init__"
        make = getattr(kind, method)

        @functools.wraps(make)
        def made(self: Any, *arguments: Any, **keywords: Any) -> Any:
            for former, now in names.items() if keywords else ():
                if former in keywords:
                    if now in keywords:
                        raise TypeError(f"{kind.__name__}: {former} is the former name of {now}; expected one of them")
                    told(f"{kind.__name__}: {former}= is called {now}= now")
                    keywords[now] = keywords.pop(former)
            return make(self, *arguments, **keywords)

        setattr(kind, method, made)
        for former, now in names.items():
            setattr(kind, former, attribute(former, now))
        return kind

    return decorate
