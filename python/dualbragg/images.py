"""Measured images."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy

from . import _former, _html, errors
from ._records import Record
from ._library import array, check, encoded, ffi, integer, lib, new_context, noticing, pointer, text

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from ._types import Path


@_former.members(beam_centre="beam_centre_px")
@dataclass(repr=False)
class MeasuredImage(Record):
    """Measured image, with the facts of its header. None: the header does not contain it.

    value: counts, pedestal subtracted; (slow, fast) float32
    mask: (slow, fast) uint8, 0 for trusted pixels; None: all are trusted
    format: of the file, or "array"
    wavelength: A
    distance: mm
    pixel_size: mm, along fast and slow
    beam_centre_px: pixels along fast and slow, from the outer corner of the first pixel
    phi, osc_range: degree, start and range of the rotation
    overload: counts
    gain: counts per photon
    exposure: s
    detector: its name
    polarization: Kahn factor
    twotheta: degree
    pedestal: counts, already subtracted
    readout_noise: counts, standard deviation of a pixel
    sensor_thickness, attenuation_depth: um
    sensor_material: "Si", "CdTe" ...; "": not known
    panel_rows: rows of each panel, one panel below the other; None: one panel
    notices: lines about contents of the file that are doubtful or not used

    To refine against arrays of your own: MeasuredImage(counts, mask, gain=1)."""
    value: NDArray[numpy.float32]
    mask: NDArray[numpy.uint8] | None = None
    format: str = "array"
    wavelength: float | None = None
    distance: float | None = None
    pixel_size: tuple[float, float] | None = None
    beam_centre_px: tuple[float, float] | None = None
    phi: float | None = None
    osc_range: float | None = None
    overload: float | None = None
    gain: float = 1.0
    exposure: float | None = None
    detector: str = ""
    polarization: float | None = None
    twotheta: float | None = None
    pedestal: float = 0.0
    readout_noise: float = 0.0
    sensor_thickness: float | None = None
    attenuation_depth: float | None = None
    sensor_material: str = ""
    panel_rows: tuple[int, ...] | None = None
    notices: tuple[str, ...] = ()

    def _said(self) -> list[tuple[str, Any]]:
        """Return names and values of the facts that are known and differ from the default."""
        return [(f.name, getattr(self, f.name)) for f in fields(self)
                if f.name not in ("value", "mask", "notices") and getattr(self, f.name) not in (None, "", f.default)]

    def __repr__(self) -> str:
        known = "".join(f", {name} {value}" for name, value in self._said())
        return f"<dualbragg.MeasuredImage: {' x '.join(map(str, numpy.shape(self.value)))} pixels{known}>"

    def _repr_html_(self) -> str:
        masked = 0 if self.mask is None else int((self.mask != 0).sum())
        shown = [("pixels", " x ".join(map(str, self.value.shape))), ("masked", masked), *self._said()]
        return _html.rows("MeasuredImage", shown) + _html.picture(self.value if self.mask is None else self.value * (self.mask == 0))


# Members with one number: those that a header may lack, and those with a default; and those that must exceed 0.
_OPEN = ("wavelength", "distance", "phi", "osc_range", "exposure", "polarization", "twotheta",
         "sensor_thickness", "attenuation_depth")
_KNOWN = ("gain", "pedestal", "readout_noise")
_ABOVE_0 = ("wavelength", "distance", "gain", "sensor_thickness", "attenuation_depth")


def _said(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _both(values: Any) -> tuple[float, float] | None:
    return tuple(values) if all(math.isfinite(v) for v in values) else None


def _one(value: Any, what: str) -> float:
    if not isinstance(value, (int, float, numpy.number)) or not math.isfinite(value):
        raise errors.UsageError(f"image.{what}: expected a finite number, found {value!r}")
    return float(value)


def as_image(image: Any) -> MeasuredImage:
    """Return a caller's image, the name of a file, a MeasuredImage or an array of counts, as a MeasuredImage."""
    if isinstance(image, (str, os.PathLike)):
        return load(image)
    if isinstance(image, numpy.ndarray):
        image = MeasuredImage(image)
    if not isinstance(image, MeasuredImage):
        raise errors.UsageError(f"image: expected a file name, an array or a MeasuredImage, found {type(image).__name__}")
    return image


def c_image(image: Any) -> tuple[Any, Any]:
    """Return the library's struct of a MeasuredImage or array, and objects that must live as long.

    The struct uses the caller's counts, which nobody changes, and has a mask of its own."""
    image = as_image(image)
    counts = image.value
    if not isinstance(counts, numpy.ndarray) or counts.ndim != 2 or counts.size == 0:
        raise errors.UsageError("image: expected an array of the shape (slow, fast), found "
                                f"{getattr(counts, 'shape', type(counts).__name__)}")
    array(counts, "image", counts.shape, numpy.float32)
    if image.mask is None:
        mask = numpy.zeros(counts.shape, numpy.uint8)
    else:
        mask = array(image.mask, "image.mask", counts.shape, numpy.uint8).copy()
    bad = numpy.argwhere(~numpy.isfinite(counts) & (mask == 0))
    if len(bad):
        raise errors.InputError(f"image: pixel ({bad[0][1]}, {bad[0][0]}) (fast, slow) is "
                                f"{counts[tuple(bad[0])]}; expected a finite number, or a masked pixel")
    c = ffi.new("db_measured_image *")
    c.slow_pixels, c.fast_pixels = counts.shape
    c.value, c.mask = pointer(counts, "float *"), pointer(mask, "uint8_t *")
    c.format, c.detector = (name.encode(errors="surrogateescape")[:room] for name, room in ((image.format, 15), (image.detector, 63)))
    for name in _OPEN + _KNOWN:
        given = getattr(image, name)
        setattr(c, name, math.nan if given is None and name in _OPEN else _one(given, name))
        if name in _ABOVE_0 and getattr(c, name) <= 0 or name == "readout_noise" and c.readout_noise < 0:
            raise errors.UsageError(f"image.{name}: expected a number {'above' if name in _ABOVE_0 else 'from'} 0, found {given!r}")
    for name, member in (("pixel_size", "pixel_size"), ("beam_centre_px", "beam_centre")):
        given = getattr(image, name)
        setattr(c, member, [math.nan] * 2 if given is None else [_one(v, name) for v in given])
    c.sensor_material = lib.db_sensor_material_find(image.sensor_material.encode(errors="surrogateescape"))
    c.overload = math.inf if image.overload is None else _one(image.overload, "overload")
    panels = ffi.NULL
    if image.panel_rows is not None and len(image.panel_rows) > 1:
        panels = ffi.new("db_image_panel[]", len(image.panel_rows))
        row = 0
        for panel, rows in zip(panels, image.panel_rows):
            panel.first_row, panel.slow_pixels = row, integer(rows, "image.panel_rows")
            if rows < 1:
                raise errors.UsageError(f"image.panel_rows: expected numbers above 0, found {rows}")
            row += rows
        if row != c.slow_pixels:
            raise errors.UsageError(f"image.panel_rows: expected {c.slow_pixels} rows in all, found {row}")
        c.panels, c.panel_count = panels, len(image.panel_rows)
    return c, (image, counts, mask, panels)


def load(path: Path) -> MeasuredImage:
    """Read a measured image; its content tells the format.

    path: name of the file; FILE#N is image N, from 1, of a file with many images

    Panels are one below the other. The arrays are the library's memory, not copied, and live as long as they are used."""
    context = new_context()
    c = ffi.gc(ffi.new("db_measured_image *"), lib.db_measured_image_clear)
    notices: list[str] = []
    with noticing(context, notices):
        check(context, lib.db_read_image(context, encoded(path), c))
    shape = (c.slow_pixels, c.fast_pixels)
    count = shape[0] * shape[1]
    return MeasuredImage(
        value=_view(c, c.value, count, numpy.float32).reshape(shape),
        mask=_view(c, c.mask, count, numpy.uint8).reshape(shape),
        format=text(c.format), wavelength=_said(c.wavelength), distance=_said(c.distance),
        pixel_size=_both(c.pixel_size), beam_centre_px=_both(c.beam_centre), phi=_said(c.phi),
        osc_range=_said(c.osc_range), overload=_said(c.overload), gain=c.gain,
        exposure=_said(c.exposure), detector=text(c.detector), polarization=_said(c.polarization),
        twotheta=_said(c.twotheta), pedestal=c.pedestal, readout_noise=c.readout_noise,
        sensor_thickness=_said(c.sensor_thickness), attenuation_depth=_said(c.attenuation_depth),
        sensor_material=text(lib.db_sensor_material_name(c.sensor_material)),
        panel_rows=tuple(c.panels[p].slow_pixels for p in range(c.panel_count)) or None,
        notices=tuple(notices))


class _Owned:
    """Memory of a struct of the library, for numpy, which keeps the struct alive."""

    def __init__(self, owner: Any, start: Any, shape: tuple[int, ...], dtype: DTypeLike) -> None:
        self.owner = owner
        self.__array_interface__ = {"version": 3, "shape": shape, "typestr": numpy.dtype(dtype).str,
                                    "data": (int(ffi.cast("uintptr_t", start)), False)}


def _view(owner: Any, start: Any, count: int, dtype: DTypeLike) -> NDArray[Any]:
    return numpy.asarray(_Owned(owner, start, (count,), dtype))
