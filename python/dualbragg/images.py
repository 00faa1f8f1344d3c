"""Measured images."""

import math
from dataclasses import dataclass
from typing import Optional

import numpy

from ._library import check, encoded, ffi, lib, new_context, text


@dataclass
class MeasuredImage:
    """A measured image with what its header says; None: it does not say."""
    value: numpy.ndarray  # counts, pedestal subtracted; float32 of (slow, fast)
    mask: numpy.ndarray  # uint8 of the same shape: 0 for a trusted pixel
    format: str
    wavelength: Optional[float]  # A
    distance: Optional[float]  # mm
    pixel_size: Optional[tuple]  # mm, fast and slow
    beam_centre: Optional[tuple]  # pixels, fast and slow
    phi: Optional[float]  # degree
    osc_range: Optional[float]  # degree
    overload: Optional[float]  # counts
    gain: float  # counts per photon
    exposure: Optional[float]  # s
    detector: str


def _said(value):
    return value if math.isfinite(value) else None


def _both(values):
    return tuple(values) if all(math.isfinite(v) for v in values) else None


def load(path):
    """Reads an image of whatever format, told by its content; FILE#N is image N of a file of many.

    Several panels lie one below the other. The arrays are the library's own memory, not copied,
    and live as long as somebody uses them."""
    context = new_context()
    c = ffi.gc(ffi.new("db_measured_image *"), lib.db_measured_image_clear)
    check(context, lib.db_read_image(context, encoded(path), c))
    shape = (c.slow_pixels, c.fast_pixels)
    count = shape[0] * shape[1]
    return MeasuredImage(
        value=_view(c, c.value, count, numpy.float32).reshape(shape),
        mask=_view(c, c.mask, count, numpy.uint8).reshape(shape),
        format=text(c.format), wavelength=_said(c.wavelength), distance=_said(c.distance),
        pixel_size=_both(c.pixel_size), beam_centre=_both(c.beam_centre), phi=_said(c.phi),
        osc_range=_said(c.osc_range), overload=_said(c.overload), gain=c.gain,
        exposure=_said(c.exposure), detector=text(c.detector))


class _Owned:
    """Memory of a struct of the library, for numpy, which keeps this and so the struct."""

    def __init__(self, owner, start, shape, dtype):
        self.owner = owner
        self.__array_interface__ = {"version": 3, "shape": shape, "typestr": numpy.dtype(dtype).str,
                                    "data": (int(ffi.cast("uintptr_t", start)), False)}


def _view(owner, start, count, dtype):
    return numpy.asarray(_Owned(owner, start, (count,), dtype))
