"""Configurations with the port's names and defaults. Lengths are in mm and angles in degree, unless the name has
another unit. Simulator lists the values that may be tensors."""

from dataclasses import dataclass
from enum import Enum
from typing import Any, Optional, Tuple


class DetectorConvention(Enum):
    MOSFLM = "mosflm"
    XDS = "xds"
    DIALS = "dials"
    ADXV = "adxv"
    DENZO = "denzo"
    CUSTOM = "custom"


class DetectorPivot(Enum):
    BEAM = "beam"
    SAMPLE = "sample"


class CrystalShape(Enum):
    SQUARE = "square"
    ROUND = "round"
    GAUSS = "gauss"
    TOPHAT = "tophat"


@dataclass
class CrystalConfig:
    cell_a: Any = 100.0  # A
    cell_b: Any = 100.0
    cell_c: Any = 100.0
    cell_alpha: Any = 90.0
    cell_beta: Any = 90.0
    cell_gamma: Any = 90.0
    misset_deg: Tuple[Any, Any, Any] = (0.0, 0.0, 0.0)
    misset_random: bool = False
    misset_seed: Optional[int] = None
    mosflm_a_star: Any = None
    mosflm_b_star: Any = None
    mosflm_c_star: Any = None
    phi_start_deg: Any = 0.0
    osc_range_deg: float = 0.0
    phi_steps: int = 1
    spindle_axis: Tuple[float, float, float] = (0.0, 0.0, 1.0)
    mosaic_spread_deg: Any = 0.0
    mosaic_domains: int = 1
    mosaic_seed: Optional[int] = None
    N_cells: Tuple[Any, Any, Any] = (1, 1, 1)
    default_F: float = 0.0
    shape: CrystalShape = CrystalShape.SQUARE
    fudge: float = 1.0
    sample_x: Optional[float] = None
    sample_y: Optional[float] = None
    sample_z: Optional[float] = None


@dataclass
class DetectorConfig:
    distance_mm: Any = 100.0
    pixel_size_mm: float = 0.1
    close_distance_mm: Optional[float] = None
    spixels: int = 1024
    fpixels: int = 1024
    beam_center_s: Optional[float] = None
    beam_center_f: Optional[float] = None
    beam_center_source: str = "auto"
    detector_rotx_deg: Any = 0.0
    detector_roty_deg: Any = 0.0
    detector_rotz_deg: Any = 0.0
    detector_twotheta_deg: Any = 0.0
    twotheta_axis: Optional[Tuple[float, float, float]] = None
    detector_convention: DetectorConvention = DetectorConvention.MOSFLM
    detector_pivot: Optional[DetectorPivot] = None
    oversample: int = -1
    oversample_omega: bool = False
    oversample_polar: bool = False
    oversample_thick: bool = False
    curved_detector: bool = False
    point_pixel: bool = False
    pix0_override_m: Any = None
    custom_fdet_vector: Optional[Tuple[float, float, float]] = None
    custom_sdet_vector: Optional[Tuple[float, float, float]] = None
    custom_odet_vector: Optional[Tuple[float, float, float]] = None
    custom_beam_vector: Optional[Tuple[float, float, float]] = None
    detector_abs_um: Any = None
    detector_thick_um: Any = 0.0
    detector_thicksteps: int = 1
    roi_xmin: Optional[int] = None
    roi_xmax: Optional[int] = None
    roi_ymin: Optional[int] = None
    roi_ymax: Optional[int] = None
    mask_array: Any = None


@dataclass
class BeamConfig:
    wavelength_A: Any = 1.0
    N_source_points: int = 1
    source_distance_mm: float = 10000.0
    source_size_mm: float = 0.0
    source_directions: Any = None
    source_weights: Any = None
    source_wavelengths: Any = None
    polarization_factor: Any = 0.0
    nopolar: bool = False
    polarization_axis: Tuple[float, float, float] = (0.0, 0.0, 1.0)
    flux: float = 0.0  # photons/s
    exposure: float = 0.0  # s
    beamsize_mm: float = 0.0
    fluence: float = 125932015286227086360700780544.0  # photons/m^2
    dmin: float = 0.0  # A
    water_size_um: float = 0.0
