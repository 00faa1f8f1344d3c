"""The port's Simulator."""

from __future__ import annotations

import collections
import math
import os
from typing import Any, Optional, Sequence

import torch

from dualbragg import errors
from dualbragg.experiment import Experiment
from dualbragg.torch import Renderer
from .config import BeamConfig, CrystalConfig, DetectorConfig, DetectorConvention
from .models.crystal import Crystal
from .models.detector import Detector

_MOST_RENDERERS = 8
_renderers: collections.OrderedDict[str, Renderer] = collections.OrderedDict()  # programs make a new Simulator for each step

# Parameters of the library, with the port's names in each of its configurations.
_CRYSTAL = {"mosaic_spread": "mosaic_spread_deg", "phi": "phi_start_deg"}
_DETECTOR = {"distance": "distance_mm", "detector_rotx": "detector_rotx_deg",
             "detector_roty": "detector_roty_deg", "detector_rotz": "detector_rotz_deg",
             "twotheta": "detector_twotheta_deg"}
_BEAM = {"wavelength": "wavelength_A", "polarization": "polarization_factor"}
_CELL = ("cell_a", "cell_b", "cell_c", "cell_alpha", "cell_beta", "cell_gamma")


def _number(value: Any, what: str) -> float:
    try:
        number = float(value.detach() if isinstance(value, torch.Tensor) else value)
    except (TypeError, ValueError):
        raise errors.UsageError(f"{what}: expected a number, found {value!r}") from None
    if not math.isfinite(number):
        raise errors.UsageError(f"{what}: expected a finite number, found {number}")
    return number


def _axis(value: Sequence[Any] | None) -> tuple[float, ...] | None:
    return None if value is None else tuple(_number(v, "an axis") for v in value)


def _refuse(config: object, defaults: object, names: Sequence[str]) -> None:
    """Raise UnsupportedError for values that this library does not take, unless they are the defaults."""
    for name in names:
        value, default = getattr(config, name), getattr(defaults, name)
        same = value is default or (not isinstance(value, torch.Tensor) and value == default)
        if not same:
            raise errors.UnsupportedError(f"{type(config).__name__}.{name}: expected {default!r}; the "
                                          "keywords of dualbragg.Experiment allow more")


class Simulator:
    """Simulator: renders the image of a Crystal and a Detector in a beam.

    Images have derivatives by these tensors, if they have requires_grad: cell_a ... cell_gamma, N_cells_a ... of the
    crystal; misset_deg, mosaic_spread_deg, phi_start_deg of its config; distance_mm and rotations of the detector's
    config; wavelength_A and polarization_factor of the beam's. Other tensors are used as numbers."""

    crystal: Crystal
    detector: Detector
    crystal_config: CrystalConfig
    beam_config: BeamConfig
    dtype: torch.dtype

    def __init__(self, crystal: Crystal, detector: Detector, crystal_config: Optional[CrystalConfig] = None,
                 beam_config: Optional[BeamConfig] = None, device: Any = None, dtype: torch.dtype = torch.float32,
                 debug_config: Any = None) -> None:
        if device is not None and torch.device(device).type != "cpu":
            raise errors.UnsupportedError(f"device: expected the processor, found {device}")
        if debug_config:
            raise errors.UnsupportedError("debug_config: expected none; `dualbragg sim` traces pixels (-trace_pixel)")
        self.crystal, self.detector = crystal, detector
        self.crystal_config = crystal_config if crystal_config is not None else crystal.config
        self.beam_config = beam_config or crystal.beam_config or BeamConfig()
        self.dtype = dtype

    def _quantities(self) -> dict[str, Any]:
        """Return values of the library's parameters by their names."""
        c, d, b = self.crystal_config, self.detector.config, self.beam_config
        found: dict[str, Any] = {name: getattr(self.crystal, name) for name in _CELL}
        found.update(zip(("misset_x", "misset_y", "misset_z"), c.misset_deg))
        found.update({f"N{x}": getattr(self.crystal, f"N_cells_{x}") for x in "abc"})
        found.update({name: getattr(c, theirs) for name, theirs in _CRYSTAL.items()})
        found.update({name: getattr(d, theirs) for name, theirs in _DETECTOR.items()})
        found.update({name: getattr(b, theirs) for name, theirs in _BEAM.items()})
        return found

    def _keywords(self, oversample: int | None) -> dict[str, Any]:
        """Return all other values as keywords of Experiment."""
        c, d, b = self.crystal_config, self.detector.config, self.beam_config
        _refuse(c, CrystalConfig(), ["misset_random", "mosflm_a_star", "mosflm_b_star", "mosflm_c_star",
                                     "sample_x", "sample_y", "sample_z"])
        _refuse(d, DetectorConfig(), ["close_distance_mm", "curved_detector", "pix0_override_m",
                                      "custom_fdet_vector", "custom_sdet_vector", "custom_odet_vector",
                                      "custom_beam_vector", "roi_xmin", "roi_xmax", "roi_ymin",
                                      "roi_ymax"])
        _refuse(b, BeamConfig(), ["N_source_points", "source_size_mm", "source_directions",
                                  "source_weights", "source_wavelengths", "nopolar"])
        made: dict[str, Any] = dict(
            default_F=c.default_F, shape=c.shape.value, fudge=c.fudge,
            mosaic_domains=c.mosaic_domains, osc=c.osc_range_deg, phi_steps=c.phi_steps,
            detector_pixels=(d.fpixels, d.spixels), pixel_size=_number(d.pixel_size_mm, "pixel_size_mm"),
            convention=d.detector_convention.value, point_pixel=bool(d.point_pixel))
        for name, value, default in (
                ("spindle_axis", _axis(c.spindle_axis), (0.0, 0.0, 1.0)), ("mosaic_seed", c.mosaic_seed, None),
                ("twotheta_axis", _axis(d.twotheta_axis), None), ("dmin", b.dmin, 0),
                ("polarization_axis", _axis(b.polarization_axis), (0.0, 0.0, 1.0)),
                ("water_size", b.water_size_um, 0), ("hkl", self.crystal.hkl_file, None)):
            if value is not None and value != default:
                made[name] = value
        if d.detector_pivot is not None:
            made["pivot"] = d.detector_pivot.value
        sub = oversample if oversample is not None else d.oversample
        if sub > 0:
            made["oversample"] = sub
        if d.detector_abs_um is not None and _number(d.detector_thick_um, "detector_thick_um") > 0:
            made.update(attenuation_depth=_number(d.detector_abs_um, "detector_abs_um"),
                        sensor_thickness=_number(d.detector_thick_um, "detector_thick_um"),
                        sensor_layers=d.detector_thicksteps, layer_depth="front")
        if b.flux > 0 and b.exposure > 0 and b.beamsize_mm > 0:
            made.update(flux=b.flux, exposure=b.exposure, beamsize=b.beamsize_mm)
        else:
            made["fluence"] = _number(b.fluence, "fluence")
        made.update(self._beam_centre(d))
        return made

    def _file_version(self) -> tuple[int, int, int, int] | None:
        """Return what changes if the file of structure factors is written anew."""
        if self.crystal.hkl_file is None:
            return None
        try:
            now = os.stat(self.crystal.hkl_file)
        except OSError:  # which Experiment tells
            return None
        return now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns

    @staticmethod
    def _beam_centre(d: DetectorConfig) -> dict[str, float]:
        """Return the port's beam centre as nanoBragg's flags have it, in mm."""
        if d.beam_center_s is None and d.beam_center_f is None:
            return {}
        if d.detector_convention is not DetectorConvention.MOSFLM:
            raise errors.UnsupportedError("beam_center_s, beam_center_f: expected the convention MOSFLM; "
                                          "dualbragg.Experiment(beam_centre_px=...) serves all")
        return {"Xbeam": _number(d.beam_center_s, "beam_center_s"), "Ybeam": _number(d.beam_center_f, "beam_center_f")}

    def run(self, pixel_batch_size: Optional[int] = None, override_a_star: Any = None, oversample: Optional[int] = None,
            oversample_omega: Optional[bool] = None, oversample_polar: Optional[bool] = None,
            oversample_thick: Optional[bool] = None) -> torch.Tensor:
        """Return the image: photons, (spixels, fpixels)."""
        if override_a_star is not None:
            raise errors.UnsupportedError("override_a_star: expected none")
        quantities, keywords = self._quantities(), self._keywords(oversample)
        learned = {n: v for n, v in quantities.items()
                   if isinstance(v, torch.Tensor) and v.requires_grad}
        fixed = {n: _number(v, n) for n, v in quantities.items() if n not in learned}
        key = repr((sorted(keywords.items()), self._file_version(), sorted(fixed.items()), list(learned), self.dtype))
        render = _renderers.get(key)
        if render is None:
            render = self._renderer(keywords, {n: _number(v, n) for n, v in quantities.items()},
                                    list(learned))
            _renderers[key] = render
            while len(_renderers) > _MOST_RENDERERS:
                _renderers.popitem(last=False)
        _renderers.move_to_end(key)
        image: torch.Tensor = render(torch.stack([v.reshape(()).double() for v in learned.values()]) if learned
                                     else torch.empty(0, dtype=torch.float64))
        mask = self.detector.config.mask_array
        return image if mask is None else image * torch.as_tensor(mask).to(image.dtype)

    def _renderer(self, keywords: dict[str, Any], at: dict[str, float], names: list[str]) -> Renderer:
        experiment = Experiment(
            cell=[at[n] for n in _CELL], misset=[at[f"misset_{x}"] for x in "xyz"],
            Ncells=[at[f"N{x}"] for x in "abc"], mosaic_spread=at["mosaic_spread"], phi=at["phi"],
            distance=at["distance"], detector_rotation=[at[f"detector_rot{x}"] for x in "xyz"],
            twotheta=at["twotheta"], wavelength=at["wavelength"], polarization=at["polarization"],
            **keywords)
        return Renderer(experiment, names, self.dtype)
