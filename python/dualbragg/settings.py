"""Settings of a refinement as dataclasses: sections and keys of its configuration, for fit, which checks the values (made
by python/tests/test_types.py --write). None: the default.

    from dualbragg.settings import Data, Model, Refine, Settings, Stage

    found = dualbragg.fit(Settings(image="frame.cbf", model=Model(cell=[78, 78, 38]), data=Data(dmin=2.5),
                                   refine={"cell_a": Refine(range=1)}))
    found = dualbragg.fit(image="frame.cbf", model=Model(find_orientation=True))           # or as keywords
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional, Sequence, TypedDict, Union

from ._configuration import Section

if TYPE_CHECKING:
    from typing import Literal

    from ._keywords import Numbers
    from ._types import Path


@dataclass
class Model(Section):
    """The starting model."""
    geometry: Optional[Literal["given", "header"]] = None
    """header: values that are missing below come from the image header"""
    convention: Optional[Literal["mosflm", "denzo", "adxv", "xds", "dials", "custom"]] = None
    """laboratory frame; mosflm: beam +x, fast axis +z, slow axis -y"""
    expt: Optional[Path] = None
    """DIALS experiment list, .geom or .stream of CrystFEL, XPARM.XDS, NXmx file: its frame, panels, beam, spindle and
    crystal; keys of crystal, beam and spindle take precedence, distance moves the panels; default: the keys below and the
    image header"""
    expt_number: Optional[int] = None
    """which experiment of the list, from 0; default: the only one, or the one of the image"""
    expt_frame: Optional[int] = None
    """which image of the experiment's scan, as the scan counts them; default: the image's, else the first"""
    matrix: Optional[Path] = None
    """MOSFLM orientation matrix (wavelength x A*); with cell: directions from the matrix, edges from cell; default: the
    crystal is in the standard frame"""
    cell: Optional[Union[float, Numbers]] = None
    """A, deg: a, b, c, alpha, beta, gamma; edges left out equal a, angles left out are 90; default: from the matrix, or
    found"""
    symmetry: Optional[str] = None
    """crystal system, lattice (tP), number or symbol of a space group; the cell keeps this symmetry in the refinement;
    default: symmetry of the experiment list; without one, edges and angles are tied only by the key follows"""
    orientation: Optional[Numbers] = None
    """rotation, row by row, from the standard frame (c along z, b in the yz plane); replaces the rotation of the matrix;
    default: from the matrix"""
    find_orientation: Optional[Union[bool, Dict[str, int]]] = None
    """yes: finds the orientation from the spots, and the cell if none is given; a given orientation is ignored. Allowed
    errors: if all edges are refined, 3 % of the scale (cell, distance) and 5 % of an edge, else 0.5 %; beam centre: 10
    pixels if it is refined, else 2. {lattices: N}: finds up to N crystals on one image, or on the frames of a series, and
    refines them together; one of no, yes, {lattices: N}"""
    misset: Optional[Numbers] = None
    """degree: turns the crystal about x, then y, then z of the laboratory"""
    misset_frame: Optional[Numbers] = None
    """degree: turns the axes of misset about x, then y, then z of the laboratory; for sweeps of a rotation series after the
    first, if the goniometer has another setting"""
    crystal_position: Optional[Numbers] = None
    """mm: position of the crystal: x, y, z of the laboratory, from its origin, at spindle angle 0; the spindle turns the
    crystal about the origin"""
    shape: Optional[Literal["square", "round", "gauss", "tophat"]] = None
    """shape of the crystal, which determines the shape of spots"""
    Ncells: Optional[Numbers] = None
    """crystal size in unit cells: Na, Nb, Nc; default: from the widths of the spots"""
    fudge: Optional[float] = None
    """multiplies the squared radius of round, Gaussian and flat spots"""
    mosaic_spread: Optional[float] = None
    """degree: cap angle of the rotations of mosaic domains"""
    mosaic_abc: Optional[Numbers] = None
    """degree: caps of the rotations about a*, about c x a* (b if alpha is 90) and about c, instead of the mosaic spread;
    default: mosaic_spread for all axes"""
    mosaic_domains: Optional[int] = None
    """number of mosaic domains; default: 1, or 10 with a spread"""
    mosaic_seed: Optional[int] = None
    """seed of the rotations of mosaic domains"""
    spots: Optional[Literal["sampled", "closed"]] = None
    """sampled: sum over mosaic domains, sources and phi steps; closed: closed form for Gaussian spreads, without samples;
    default: sampled; closed in fit with free intensities"""
    mosaic_rms: Optional[float] = None
    """degree: spots closed: standard deviation of the rotations of blocks about each axis; a cap (mosaic_spread)
    corresponds to 0.496 of its value; default: 0"""
    mosaic_rms_abc: Optional[Numbers] = None
    """degree: spots closed: standard deviations of the rotations about a*, about c x a* (b if alpha is 90) and about c, in
    addition to mosaic_rms; default: 0"""
    mosaic_tensor: Optional[Numbers] = None
    """degree^2: spots closed: covariances xx, yy, zz, yz, zx, xy of the rotations about x = a*, y = c x a*, z = c, instead
    of mosaic_rms_abc; default: 0"""
    strain_rms: Optional[float] = None
    """spots closed: relative standard deviation of the lattice constants of blocks, which vary together; 0.001 is 0.1 %;
    default: 0"""
    strain_rms_tensor: Optional[Numbers] = None
    """spots closed: relative standard deviations of the strains xx, yy, zz, yz, zx, xy of blocks along x = a*, y = c x a*,
    z = c, in addition to strain_rms; default: 0"""
    strain_system: Optional[Literal["free", "uniaxial", "isotropic", "triclinic", "monoclinic", "orthorhombic",
        "tetragonal", "trigonal", "hexagonal", "cubic"]] = None
    """spots closed: ties of strains: uniaxial: yy = xx; isotropic: zz = yy = xx; a crystal system ties and forbids strains
    by symmetry; default: free"""
    mode1: Optional[Numbers] = None
    """1e-3: spots closed: mode of a bent or graded crystal: matrix xx, xy, xz, yx ... zz along x = a*, y = c x a*, z = c; a
    normal deviate times this matrix turns and strains the lattice of a block; default: none"""
    mode2: Optional[Numbers] = None
    """1e-3: second mode, independent of the first; default: none"""
    mode3: Optional[Numbers] = None
    """1e-3: third mode; default: none"""
    tail1: Optional[Numbers] = None
    """spots closed: heavier tail: fraction of the blocks, and factor on the widths of their rotations and strains; default:
    none"""
    tail2: Optional[Numbers] = None
    """second tail: fraction and factor; default: none"""
    size_correlation: Optional[Numbers] = None
    """spots closed: correlations of the size of blocks, between b and c, c and a, a and b; default: 0; hexagonal axes
    without Ncells: -0.5 between a and b"""
    footprint_rms: Optional[Numbers] = None
    """mm: spots closed: standard deviations of the scattering part of the crystal: horizontal (along the E field),
    vertical; a uniformly lit crystal with straight edges has 0.289 of its edge; default: 0"""
    footprint_correlation: Optional[float] = None
    """correlation of horizontal and vertical footprint; default: 0"""
    divergence_rms: Optional[Numbers] = None
    """mrad: spots closed: standard deviations of the direction of each source: horizontal (along the E field), vertical; a
    full range corresponds to 0.289 of its value, two ranges with the elliptical cut to 1/4 of each; default: 0"""
    divergence_correlation: Optional[float] = None
    """correlation of horizontal and vertical divergence; default: 0"""
    bandwidth_rms: Optional[float] = None
    """spots closed: relative standard deviation of the wavelength of each source; 0.001 is 0.1 %; a full range (dispersion)
    corresponds to 0.289 of its value; default: 0"""
    point_spread_rms: Optional[Numbers] = None
    """mm: spots closed: standard deviations of the detector's point spread along fast and slow, 0.425 of a full width at
    half maximum; default: 0"""
    point_spread_correlation: Optional[float] = None
    """correlation of the point spread along fast and slow; default: 0"""
    b_factor: Optional[float] = None
    """A^2: Debye-Waller factor exp(-2 B (sin(theta)/lambda)^2) on the crystal's intensity"""
    diffuse_sigma: Optional[Union[float, Numbers]] = None
    """A: diffuse halo about spots: standard deviation of displacements along each axis; one for all axes, or along a*, c x
    a* and c; default: no halo"""
    diffuse_gamma: Optional[Union[float, Numbers]] = None
    """A: correlation length of these displacements; one for all axes, or along a*, c x a* and c; default: no halo"""
    wavelength: Optional[float] = None
    """A: central wavelength; default: from the image header"""
    energy: Optional[float] = None
    """eV: energy of the photons, instead of the wavelength; default: the key wavelength"""
    dispersion: Optional[float] = None
    """percent: full relative range of wavelengths"""
    dispersion_steps: Optional[int] = None
    """wavelengths across the dispersion; default: automatic"""
    spectrum: Optional[Path] = None
    """spectrum instead of dispersion: file of two columns, wavelength (A) or energy (eV), and weight; its mean is shifted
    to the key wavelength, if given; default: none"""
    spectrum_stretch: Optional[float] = None
    """width of the spectrum about its mean, as a multiple of the file's"""
    spectrum_resolution: Optional[float] = None
    """eV: resolution of the spectrometer (full width at half maximum), whose blur is removed from the spectrum; 0: no
    blur"""
    divergence: Optional[Numbers] = None
    """mrad: full angular range of the beam: horizontal, vertical; default: none"""
    divergence_steps: Optional[Numbers] = None
    """beam directions across the divergence: horizontal, vertical; default: automatic"""
    beam_tilt: Optional[Numbers] = None
    """mrad: beam steering: horizontal, vertical; detector and crystal stay"""
    polarization: Optional[float] = None
    """Kahn polarization factor, -1 to 1; 0: unpolarized; default: from the image header, else 0"""
    fluence: Optional[float] = None
    """photons/m^2: fluence of the beam"""
    scale: Optional[float] = None
    """factor on the fluence"""
    phi: Optional[float] = None
    """degree: spindle angle of the first step, relative to the matrix"""
    osc: Optional[float] = None
    """degree: oscillation range of the image; negative: it turns backwards; default: from the image header, else 0"""
    phi_steps: Optional[int] = None
    """orientations across the oscillation range; default: 1; 2 with osc; 10 with an osc from the header or the list"""
    spindle_tilt: Optional[Numbers] = None
    """degree: tilts the spindle axis towards the beam, and out of its plane with the beam"""
    distance: Optional[float] = None
    """mm: distance from the sample to the detector along the beam; default: from the image header"""
    close_distance: Optional[float] = None
    """mm: distance from the sample to the detector along its normal; takes precedence over the distance; default: distance
    is used"""
    beam_centre_px: Optional[Numbers] = None
    """pixels: beam centre along fast, slow, from the outer corner of the first pixel; with pivot sample: point closest to
    the sample; default: from the image header"""
    pixel_size: Optional[float] = None
    """mm: edge of the square pixels; default: from the image header"""
    detector_pixels: Optional[Numbers] = None
    """number of pixels along fast, slow; default: from the image header"""
    sensor_material: Optional[Literal["unknown", "Si", "GaAs", "CdTe", "CZT"]] = None
    """material of the sensor, which gives its attenuation depth at the wavelength; default: from the image header"""
    sensor_thickness: Optional[float] = None
    """um: photons are recorded in the sensor, behind the panels' front, and absorbed on the way; 0: all at the front;
    default: from the image header, else 0"""
    attenuation_depth: Optional[float] = None
    """um: depth in the sensor at which 1/e of the photons are left; default: from the image header or the list, else of the
    material, else the thickness"""
    sensor_layers: Optional[int] = None
    """layers of the sensor; one layer places spots correctly, more layers also blur them as the sensor does; default: 1"""
    detector_rotation: Optional[Numbers] = None
    """degree: turns the detector about x, then y, then z of the laboratory"""
    panel_turn: Optional[Numbers] = None
    """degree: turns each panel about its own fast axis, slow axis and normal, through its centre"""
    panel_shift: Optional[Numbers] = None
    """mm: shifts each panel along its own fast axis, slow axis and normal"""
    twotheta: Optional[float] = None
    """degree: turns the detector about the two-theta axis, after the other rotations; default: from the image header, else
    0"""
    pivot: Optional[Literal["beam", "sample"]] = None
    """fixed point when the detector turns: the direct beam's spot, or the sample; default: of the convention"""
    fast_axis: Optional[Numbers] = None
    """fast axis of the detector; default: of the convention (other axes: custom only)"""
    slow_axis: Optional[Numbers] = None
    """slow axis of the detector; default: of the convention (other axes: custom only)"""
    normal: Optional[Numbers] = None
    """normal of the detector, away from the sample; default: of the convention (other axes: custom only)"""
    beam_axis: Optional[Numbers] = None
    """direction of photon travel; default: of the convention (other axes: custom only)"""
    polarization_axis: Optional[Numbers] = None
    """direction of the E field; default: of the convention (other axes: custom only)"""
    spindle_axis: Optional[Numbers] = None
    """rotation axis of the crystal; default: of the convention (other axes: custom only)"""
    twotheta_axis: Optional[Numbers] = None
    """rotation axis of the detector; default: of the convention (other axes: custom only)"""
    oversample: Optional[int] = None
    """sub-pixels along each edge of a pixel; default: automatic, by the widths of the spots"""
    point_pixel: Optional[bool] = None
    """solid angle 1/R^2 without obliquity"""


@dataclass
class Intensity(Section):
    """Free, or known structure factors."""
    hkl: Optional[Path] = None
    """structure factors (electrons): text file of h k l F, list of SHELX, MTZ or CIF file; or a model's coordinates (PDB or
    mmCIF file), from which they are calculated; default: free intensities"""
    hkl_columns: Optional[str] = None
    """column of an MTZ file, or two of Friedel mates; item of a CIF file (block/item where several blocks have
    reflections); F or I (intensities) for text; default: the first amplitudes, else intensities"""
    hkl_space_group: Optional[str] = None
    """number or symbol of the space group that expands a text file; default: text files are not expanded, other files have
    a group"""
    k_sol: Optional[float] = None
    """e/A^3: with coordinates: density of the bulk solvent; 0: none"""
    b_sol: Optional[float] = None
    """A^2: with coordinates: B factor of the bulk solvent"""
    model_resolution: Optional[float] = None
    """A: with coordinates: finest d spacing of calculated structure factors; default: the corners of the detector"""
    anomalous: Optional[bool] = None
    """with coordinates: f' and f'' at the wavelength, so that Friedel mates differ"""
    default_F: Optional[float] = None
    """electrons: structure factor of every reflection that is not in the list"""
    sites: Optional[str] = None
    """with a model: kinds of sites whose f' and f'' follow curves of the photon energy, as -sites of sim: SITES=FILE of
    energy (eV), f', f'', or SITES=table[:SHIFT], a free atom's with its edge SHIFT eV higher; default: the same structure
    factors at all energies"""


@dataclass
class Data(Section):
    """Used pixels of the image, and their noise."""
    target: Optional[Literal["weighted", "gaussian", "poisson", "huber", "student"]] = None
    """function to minimize: weighted: chi2 with variances of the measured counts; gaussian: with variances of the model;
    poisson: for photon counts; huber, student: robust against outliers"""
    huber_limit: Optional[float] = None
    """standard deviations beyond which huber is linear"""
    student_freedom: Optional[float] = None
    """degrees of freedom of student; fewer are more robust"""
    background: Optional[Literal["plane", "constant", "fixed", "smooth", "none"]] = None
    """background of each shoebox or tile: plane and constant are refined; fixed: robust mean of the surroundings; smooth:
    surface through the panel's pixels outside spots; planes become smooth on frames of a series with fewer than half a
    photon per pixel"""
    gain: Optional[float] = None
    """counts/photon: gain of the detector; default: from the image header, else 1; measured if pixels scatter more than
    photon noise"""
    readout_noise: Optional[float] = None
    """counts: standard deviation of one pixel without photons"""
    trusted: Optional[Numbers] = None
    """counts: least and largest trusted count; default: of the image or the experiment list"""
    mask: Optional[Path] = None
    """SMV image of the detector's size (panels one below the other); pixels that are 0 in it are left out; default: none"""
    hot_pixels: Optional[Path] = None
    """text file of pixels to leave out: fast slow [panel], from 0; default: none"""
    modules: Optional[Numbers] = None
    """pixels: modules of a detector with one panel: pixels of a module along fast, slow, and of the gaps between modules;
    default: of a known detector of this size, if panel_groups needs them"""
    hot_sigma: Optional[float] = None
    """hot pixels: single pixels this many standard deviations above their surroundings are left out, unless they are at
    reflections of the model; 0: none"""
    dmin: Optional[float] = None
    """A: finest resolution used; 0: all"""
    dmax: Optional[float] = None
    """A: coarsest resolution used; 0: all"""
    pixels: Optional[Literal["all", "shoeboxes"]] = None
    """pixels that known structure factors are compared with: all, or shoeboxes around the brightest reflections of the
    model (known)"""
    shoebox_half_width: Optional[int] = None
    """pixels: half width w: shoeboxes are (2w + 1) pixels wide; default: the largest that fits between predicted
    reflections, up to 8, or 20 with wide spots"""
    max_shoeboxes: Optional[int] = None
    """largest number of shoeboxes; the strongest are used"""
    reflections: Optional[Path] = None
    """text file of h k l, or indexed reflections of DIALS (.refl): only these get shoeboxes (free); default: reflections
    with strong pixels"""
    spots: Optional[Path] = None
    """text file of fast slow [panel], or spots of DIALS (.refl): only predicted reflections within half a shoebox of one of
    them get shoeboxes (free); default: reflections with strong pixels"""
    boxes: Optional[Path] = None
    """shoeboxes: text file of panel fast_min fast_max slow_min slow_max [h k l], or boxes of DIALS (.refl) (free); default:
    squares around predicted reflections"""
    strong_sigma: Optional[float] = None
    """a pixel is strong if it is this many standard deviations above the local background"""
    min_strong_reflections: Optional[int] = None
    """an image with fewer strong reflections is refused as blank"""
    excitation_angle: Optional[float] = None
    """degree: reflections within this angle of the Ewald sphere are predicted"""
    intensity_limit: Optional[float] = None
    """prior that keeps intensities below this many times the mean at their resolution (in stages with blur 1: below ten
    times this limit); 0: none (free)"""
    intensity_error: Optional[float] = None
    """relative error of known intensities: each shoebox has a factor of its own, with a prior of 1 within this error; 0:
    they are exact (known, with pixels: shoeboxes and a refined scale)"""
    model_error: Optional[float] = None
    """relative error of the model's spots, added to the variance, because no real spot has an ideal shape; default: 0.1
    (free), 0 (known)"""
    roi: Optional[Numbers] = None
    """pixels: region of interest: fast min, max, slow min, max, inclusive; pixels outside are left out; for one panel;
    default: whole image"""


@dataclass
class Shots(Section):
    """Many shots refined together, instead of one image."""
    list: Optional[Path] = None
    """text file: each line has an image or the configuration (.yaml) of a shot, and KEY=VALUE for this shot; or a DIALS
    experiment list (.expt), each image a shot; or a .stream of CrystFEL, each crystal a shot; default: one image, named
    above"""
    series: Optional[bool] = None
    """yes: the images are frames of one rotating crystal: phi comes from their headers; all refined parameters, the
    orientation too, are shared except the scale; parts of a reflection on consecutive frames have one intensity"""
    knots: Optional[float] = None
    """frames: series: orientation and shared scale vary linearly between knots, about this many frames apart; 0:
    constant"""
    outlier_sigma: Optional[float] = None
    """excludes shots whose chi2 is this many robust standard deviations (of its logarithm) above the median; 0: none"""


@dataclass
class Starts(Section):
    """Several starts, for an orientation that is known roughly."""
    count: Optional[int] = None
    """orientations tried, the given one included; 1: only that one"""
    misset: Optional[float] = None
    """degree: largest turn of other starts, which are evenly distributed around the given one; bounds of misset_x, misset_y
    and misset_z must allow it"""
    seed: Optional[int] = None
    """seed of the orientations"""
    keep: Optional[int] = None
    """number of best starts that go through all stages, until one explains half of the strong pixels"""
    evaluations: Optional[int] = None
    """largest number of evaluations of the first stage for each start"""


@dataclass
class Intensities(Section):
    """One intensity of each reflection for all shots (intensity: joint), or merged ones of a series."""
    anomalous: Optional[bool] = None
    """yes: Bijvoet mates have separate intensities"""
    reindex: Optional[bool] = None
    """yes: resolves the indexing ambiguity: if the lattice allows several ways of indexing, shots are reindexed to one way;
    shots with undecided intensities, and shots of the other hand, are excluded"""
    dmin: Optional[float] = None
    """A: finest resolution; default: resolution at half of the detector's rim, or data.dmin"""
    energies: Optional[Numbers] = None
    """eV: least and largest photon energy: reflections whose photons have another mean energy, by the model of their shot,
    are left out; default: all"""
    restraint: Optional[float] = None
    """restrains each intensity to the mean at its resolution, with a standard deviation of this many times the mean;
    reflections that no shot shows have no intensity; default: none"""
    reference: Optional[Path] = None
    """known structure factors: text file of h k l F in the asymmetric unit, MTZ or mmCIF file. Results are compared with
    them after a scale and a B factor, and shots are indexed like them; default: none"""
    reference_columns: Optional[str] = None
    """column of an MTZ file, or two of Friedel mates; item of a CIF file (block/item where several blocks have
    reflections); F or I (intensities) for text; default: the first amplitudes, else intensities"""
    reference_restraint: Optional[float] = None
    """restrains each intensity to the reference, scaled to the data, with a standard deviation of this many times the mean
    at its resolution; instead of restraint; default: none: only compared"""
    passes: Optional[int] = None
    """largest number of passes over all shots, without the first one, which measures single shots; 0: only scales and
    averages the intensities of single shots"""
    seed: Optional[int] = None
    """seed of the halves of the shots"""


@dataclass
class Curves(Section):
    """F' and f'' of the sites of intensity.sites, which many shots share."""
    energies: Optional[Numbers] = None
    """first and last photon energy (eV), and number of points between which curves are straight lines: f' and f'' at all
    points are refined; default: curves stay as they are given"""
    smoothness: Optional[float] = None
    """electrons: prior: standard deviation of the difference between a point and the mean of its neighbours; 0: none;
    default: chosen by the shots: the value that makes them most likely (evidence)"""
    kramers_kronig: Optional[float] = None
    """electrons: prior: standard deviation of f' from the Kramers-Kronig transform of f''; outside the energies f'' is the
    starting curve; 0: none; default: chosen by the shots: the value that makes them most likely (evidence)"""
    wings: Optional[Numbers] = None
    """eV, electrons: prior on points near the first and last energy: how near (eV), and standard deviation from the
    starting curve (electrons), both above 0; 0, 0: none"""


@dataclass
class Refine(Section):
    """Settings of a refined parameter."""
    range: Optional[float] = None
    """bounds at start - range and start + range, instead of min and max; default: no bounds"""
    min: Optional[float] = None
    """lower bound of the value itself; default: no bound"""
    max: Optional[float] = None
    """upper bound of the value itself; default: no bound"""
    scale: Optional[float] = None
    """typical change: unit of the optimizer; default: chosen from the data"""
    follows: Optional[str] = None
    """keeps the value of another refined parameter: b follows a in a tetragonal cell; default: independent"""
    prior: Optional[Numbers] = None
    """prior knowledge: centre and standard deviation; default: none"""
    shared: Optional[Union[bool, Literal["by_setting"]]] = None
    """one value for all images; no effect with one image; by_setting: one orientation for each setting of the goniometer in
    a series, one place of the detector wherever it stands, tilts of each spindle; others as yes; the default if the
    orientation of several sweeps is found; default: yes for detector and spindle axis, else no"""
    earned: Optional[bool] = None
    """yes: refined only if the data ask for it; has an effect without the section stages, and for scale, spindle tilts and
    rotations of blocks by direction in a series also with it"""


@dataclass
class Stage(Section):
    """Stage of a refinement."""
    name: Optional[str] = None
    """shown in the log; default: no. 1, no. 2 ..."""
    refine: Optional[Union[str, Sequence[str]]] = None
    """parameters refined in this stage, a list, or all"""
    dmin: Optional[float] = None
    """A: finest resolution used in this stage; 0: as in data"""
    innermost: Optional[float] = None
    """fraction of the image's spots that this stage uses, nearest to the beam; 0: all"""
    blur: Optional[float] = None
    """divides the crystal size: wider spots reach measured spots that are farther away"""
    algorithm: Optional[str] = None
    """LM: Levenberg-Marquardt on pixels; moments: Levenberg-Marquardt on places and widths of spots in closed form;
    intensities: last stage of intensity: joint, added by itself; or an algorithm of NLopt: LD_LBFGS, LD_SLSQP, LD_CCSAQ,
    LD_MMA, LD_VAR2, LD_TNEWTON_PRECOND ..., or for a search between bounds GN_CRS2_LM, G_MLSL_LDS ..."""
    target: Optional[Literal["weighted", "gaussian", "poisson", "huber", "student"]] = None
    """function to minimize in this stage; default: of data"""
    tolerance: Optional[float] = None
    """the stage ends if a further step promises a smaller relative decrease of the target"""
    step: Optional[float] = None
    """the stage also ends if a further step is shorter than this many standard errors (LM)"""
    max_evaluations: Optional[int] = None
    """largest number of evaluations of the target"""
    earned: Optional[bool] = None
    """moments: parameters that are refined for the first time are kept only if they describe held-out spots better"""
    most_misfit: Optional[float] = None
    """pixels: the stage is left out if chi2 per degree of freedom exceeds this at its start, or if spots contradict its
    result; 0: never"""


@dataclass
class Settings(Section):
    """Whole configuration."""
    image: Optional[Path] = None
    """measured image of any format; default: none: required here or as --image"""
    output: Optional[Path] = None
    """prefix of the output files: .yaml .mat .json .html .log; default: the configuration's name with _refined, in the
    working directory"""
    precision: Optional[Literal["double", "mixed"]] = None
    """arithmetic; mixed is faster: indices in double, the rest in float"""
    model: Optional[Union[Model, Dict[str, Any]]] = None
    """the starting model"""
    panel_groups: Optional[Union[str, Dict[str, Any]]] = None
    """groups of panels that move as one: lists of panels by name; panels; level N"""
    intensity: Optional[Union[Literal["free", "joint"], Intensity, Dict[str, Any]]] = None
    """intensities of reflections: free, joint, or known"""
    refine: Optional[Union[Sequence[str], Mapping[str, Union[Refine, Dict[str, Any]]]]] = None
    """names of refined parameters, or settings of each by name"""
    starts: Optional[Union[Starts, Dict[str, Any]]] = None
    """several starting orientations, for one that is known roughly"""
    stages: Optional[Sequence[Union[Stage, Dict[str, Any]]]] = None
    """stages of the refinement, in their order"""
    data: Optional[Union[Data, Dict[str, Any]]] = None
    """pixels of the image to use, and its noise"""
    shots: Optional[Union[Shots, Dict[str, Any]]] = None
    """many shots refined together, instead of one image"""
    intensities: Optional[Union[Intensities, Dict[str, Any]]] = None
    """one intensity of each reflection for all shots (intensity: joint), or merged ones of a series"""
    curves: Optional[Union[Curves, Dict[str, Any]]] = None
    """refined curves of f' and f'' of kinds of sites, which many shots share"""


class Sections(TypedDict, total=False):
    """Keywords of fit: the members of Settings."""
    output: Path
    precision: Literal["double", "mixed"]
    model: Union[Model, Dict[str, Any]]
    panel_groups: Union[str, Dict[str, Any]]
    intensity: Union[Literal["free", "joint"], Intensity, Dict[str, Any]]
    refine: Union[Sequence[str], Mapping[str, Union[Refine, Dict[str, Any]]]]
    starts: Union[Starts, Dict[str, Any]]
    stages: Sequence[Union[Stage, Dict[str, Any]]]
    data: Union[Data, Dict[str, Any]]
    shots: Union[Shots, Dict[str, Any]]
    intensities: Union[Intensities, Dict[str, Any]]
    curves: Union[Curves, Dict[str, Any]]


class DataKeywords(TypedDict, total=False):
    """Keywords of searches for orientations: the members of Data."""
    target: Literal["weighted", "gaussian", "poisson", "huber", "student"]
    huber_limit: float
    student_freedom: float
    background: Literal["plane", "constant", "fixed", "smooth", "none"]
    gain: float
    readout_noise: float
    trusted: Numbers
    mask: Path
    hot_pixels: Path
    modules: Numbers
    hot_sigma: float
    dmin: float
    dmax: float
    pixels: Literal["all", "shoeboxes"]
    shoebox_half_width: int
    max_shoeboxes: int
    reflections: Path
    spots: Path
    boxes: Path
    strong_sigma: float
    min_strong_reflections: int
    excitation_angle: float
    intensity_limit: float
    intensity_error: float
    model_error: float
    roi: Numbers
