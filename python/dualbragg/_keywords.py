"""Keywords of Experiment as a type, for completion and for checkers: the library's fields, and names of files (made by
python/tests/test_types.py --write)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Sequence, TypedDict, Union

if TYPE_CHECKING:
    from ._types import Floats, Path

Numbers = Union[Sequence[float], "Floats"]


class Keywords(TypedDict, total=False):
    """Keywords of Experiment; dualbragg.fields() has their ranges and explanations."""
    convention: Literal["mosflm", "denzo", "adxv", "xds", "dials", "custom"]
    cell: Union[float, Numbers]  # A, deg
    misset: Numbers  # degree
    misset_frame: Numbers  # degree
    crystal_position: Numbers  # mm
    shape: Literal["square", "round", "gauss", "tophat"]
    Ncells: Numbers
    fudge: float
    mosaic_spread: float  # degree
    mosaic_abc: Numbers  # degree
    mosaic_domains: int
    mosaic_seed: int
    b_factor: float  # A^2
    diffuse_sigma: Union[float, Numbers]  # A
    diffuse_gamma: Union[float, Numbers]  # A
    spots: Literal["sampled", "closed"]
    size_correlation: Numbers
    mosaic_rms: float  # degree
    mosaic_rms_abc: Numbers  # degree
    mosaic_tensor: Numbers  # degree^2
    strain_rms: float
    strain_rms_tensor: Numbers
    strain_system: Literal["free", "uniaxial", "isotropic", "triclinic", "monoclinic", "orthorhombic", "tetragonal",
        "trigonal", "hexagonal", "cubic"]
    mode1: Numbers  # 1e-3
    mode2: Numbers  # 1e-3
    mode3: Numbers  # 1e-3
    tail1: Numbers
    tail2: Numbers
    bandwidth_rms: float
    divergence_rms: Numbers  # mrad
    divergence_correlation: float
    footprint_rms: Numbers  # mm
    footprint_correlation: float
    point_spread_rms: Numbers  # mm
    point_spread_correlation: float
    k_sol: float  # e/A^3
    b_sol: float  # A^2
    model_resolution: float  # A
    anomalous: bool
    default_F: float  # electrons
    wavelength: float  # A
    dispersion: float  # percent
    dispersion_steps: int
    spectrum_stretch: float
    spectrum_resolution: float  # eV
    divergence: Numbers  # mrad
    divergence_steps: Numbers
    polarization: float
    fluence: float  # photons/m^2
    flux: float  # photons/s
    exposure: float  # s
    phi: float  # degree
    osc: float  # degree
    phi_step: float  # degree
    phi_steps: int
    spindle_tilt: Numbers  # degree
    distance: float  # mm
    close_distance: float  # mm
    pixel_size: float  # mm
    detector_pixels: Numbers
    sensor_material: Literal["unknown", "Si", "GaAs", "CdTe", "CZT"]
    sensor_thickness: float  # um
    attenuation_depth: float  # um
    sensor_layers: int
    detector_rotation: Numbers  # degree
    panel_turn: Numbers  # degree
    panel_shift: Numbers  # mm
    twotheta: float  # degree
    pivot: Literal["beam", "sample"]
    fast_axis: Numbers
    slow_axis: Numbers
    normal: Numbers
    beam_axis: Numbers
    polarization_axis: Numbers
    spindle_axis: Numbers
    twotheta_axis: Numbers
    oversample: int
    point_pixel: bool
    water_size: float  # um
    beam_centre_px: Numbers  # pixels
    beam_tilt: Numbers  # mrad
    scale: float
    matrix: Path
    hkl: Path
    sources: Path
    spectrum: Path
    stol: Path
    hkl_columns: str
    hkl_space_group: str
    sites: str
    Xbeam: float
    Ybeam: float
    orientation: Numbers
    sample_size: Numbers
    detector_size: Numbers
    dmin: float
    beamsize: float
    origin: Numbers
    amorphous_size: Numbers
    density: float
    molecular_weight: float
    layer_depth: Literal["mean", "front"]
