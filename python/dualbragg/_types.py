"""Types for annotations of several modules; programs do not need them at run time."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, Dict, Tuple, Union

import numpy
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .images import MeasuredImage

Path = Union[str, "os.PathLike[str]"]
Floats = NDArray[numpy.float64]
Table = NDArray[numpy.void]  # a structured array
Memory = Any  # an array of numpy, or memory that packages share by DLPack
AnyImage = Union[Path, "MeasuredImage", NDArray[numpy.float32]]
Random = Union[int, numpy.random.Generator, None]
Progress = Union[bool, Callable[[float], Any]]
Region = Tuple[int, Union[slice, Tuple[int, int]], Union[slice, Tuple[int, int]]]
Sample = Dict[str, NDArray[Any]]
