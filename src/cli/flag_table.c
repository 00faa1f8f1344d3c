/* The flags of sim, grad, check, amorphous, orient, noise and view. Where nanoBragg has a flag, its name
 * and unit are nanoBragg's. */
#include "cli/flags.h"

#include <dualbragg/expert/setup_fields.h>

#define FLAGS_FILL db_settings
#define MEMBER(m) offsetof(db_settings, m)
#define NUMBERS(n, m, f) .kind = DB_FLAG_NUMBER, .least = n, .most = n, DB_TO(m), .factor = f
#define NUMBER(m, f) NUMBERS(1, m, f)
#define INTEGERS(n, m, low) .kind = DB_FLAG_INTEGER, .least = n, .most = n, DB_TO(m), .minimum = low
#define INTEGER(m, low) INTEGERS(1, m, low)
#define SEED(m) DB_ONE(SEED), DB_TO(m)
#define TEXT(m) DB_ONE(TEXT), DB_TO(m)
#define OUTPUT(m) TEXT(m), .writes = ~0u
#define FLOATS "bin f32"
#define HDF5 "h5 hdf5 nxs"
#define SMV "img smv"
#define LIST "expt json"
#define CHOICE(m, ...)                                                                             \
    DB_ONE(CHOICE), DB_TO(m), .choices = (const char *const[]) { __VA_ARGS__, NULL }
/* A value of the set-up. Unit, number of values, range and, by default, help come from the field. */
#define FIELD(id) .field = &db_setup_fields[DB_FIELD_##id]
#define ELEMENT(id, number) FIELD(id), .element = number
#define VECTOR(id) FIELD(id), .arguments = "X Y Z", .vector = 1, .group = DB_GROUP_DETECTOR
#define NO_EFFECT(values, why)                                                                     \
    .kind = DB_FLAG_NUMBER, .least = values, .most = values, .status = DB_FLAG_ACCEPTED,           \
    .remark = why
#define NO_EFFECT_TEXT(why)                                                                        \
    .kind = DB_FLAG_TEXT, .status = DB_FLAG_ACCEPTED, .remark = why, .help = "no effect"
#define COMPAT_ONLY(why) .status = DB_FLAG_COMPAT, .remark = why
#define IMPLIES(what) .pivot = DB_IMPLIES_##what
#define GRADIENTS DB_FOR_GRAD | DB_FOR_CHECK
#define IMAGES DB_FOR_SIM | DB_FOR_AMORPHOUS
#define RENDERERS DB_FOR_CRYSTALS | DB_FOR_AMORPHOUS
#define AMOUNT DB_SETS(matter_given, 1)

/* Flags in nanoBragg's documents that its program ignores. */
#define NOT_READ(values, instead)                                                                  \
    NO_EFFECT(values, "nanoBragg does not read it either; write " instead), .help = "no effect"

static const char per_sample[] =
    "solid angle, polarization and absorption are always taken at every sample";

static db_flag flags[] = {
// clang-format off
    /* crystal */
#define G .group = DB_GROUP_CRYSTAL
    { G, .name = "-cell", .arguments = "A [B C ALPHA BETA GAMMA]", .unit = "A, degree", .kind = DB_FLAG_NUMBER,
      .least = 1, .most = 6, .member = MEMBER(setup.cell), .factor = 1, .also = DB_FOR_ORIENT | DB_FOR_VIEW,
      .help = "unit cell; missing edges equal A; without angles they are 90; with -mat only the edge lengths are used" },
    { G, .name = "-mat", .aliases = "-matrix", .arguments = "FILE", TEXT(setup.matrix_file), .also = DB_FOR_ORIENT | DB_FOR_VIEW,
      .help = "MOSFLM orientation matrix (A* times wavelength, nine numbers), divided by the wavelength" },
    { G, .name = "-misset", .arguments = "X Y Z | random", FIELD(MISSET), .words = "random rand",
      .word_member = MEMBER(setup.misset_random), .expected = "three angles or the word random",
      .also = DB_FOR_ORIENT | DB_FOR_VIEW,
      .help = "turns the crystal about x, then y, then z of the laboratory; random: a uniformly random rotation" },
    { G, .name = "-misset_frame", .arguments = "X Y Z", FIELD(MISSET_FRAME), .also = DB_FOR_ORIENT | DB_FOR_VIEW },
    { G, .name = "-crystal_position", .arguments = "X Y Z", FIELD(CRYSTAL_POSITION), .also = DB_FOR_VIEW },
    { G, .name = "-misset_seed", .arguments = "SEED", SEED(setup.misset_seed), DB_SETS(misset_seed_given, 1),
      .also = DB_FOR_ORIENT, .help = "seed of -misset random; default that of -seed, else 1" },
    { G, .name = "-misset_spread", .aliases = "-spread", .arguments = "ANGLE", .unit = "degree",
      NUMBER(setup.misset_spread, 1), .also = DB_FOR_ORIENT,
      .help = "largest angle of -misset random; the angles are then distributed like those of mosaic domains" },
    { G, .name = "-umat", .aliases = "-umatrix", .arguments = "U11 U12 ... U33", NUMBERS(9, setup.orientation, 1),
      .also = DB_FOR_ORIENT | DB_FOR_VIEW,
      .help = "rotation matrix, row by row, that orients the crystal of -cell before -misset; the nearest rotation "
              "is taken" },
    { G, .name = "-keywords", .arguments = "FILE", TEXT(keyword_file), .commands = DB_FOR_ORIENT,
      .help = "input of UBtoA: CELL, WAVE, UMAT, MISSET, RANDOM, MATRIX, one a line; - is the standard input" },
    { G, .name = "-N", .also = DB_FOR_VIEW, .arguments = "CELLS", FIELD(NCELLS), .fill = 3,
      .help = "crystal size in unit cells along a, b and c; whole numbers for -square_xtal with sampled spots" },
    { G, .name = "-Na", .arguments = "CELLS", ELEMENT(NCELLS, 1), .help = "crystal size in unit cells along a" },
    { G, .name = "-Nb", .arguments = "CELLS", ELEMENT(NCELLS, 2), .help = "crystal size in unit cells along b" },
    { G, .name = "-Nc", .arguments = "CELLS", ELEMENT(NCELLS, 3), .help = "crystal size in unit cells along c" },
    { G, .name = "-samplesize", .aliases = "-sample_size -xtalsize -xtal_size", .arguments = "SIZE", .unit = "mm",
      NUMBER(setup.sample_size, 1), .fill = 3, .also = DB_FOR_AMORPHOUS,
      .help = "crystal size instead of -N, rounded up to cells; clipped to the beam size along b and c. In "
              "amorphous: size of the amorphous matter" },
    { G, .name = "-sample_thickness", .aliases = "-sample_thick -sample_x -xtal_thickness -xtal_thick -xtal_x",
      .arguments = "SIZE", .unit = "mm", NUMBER(setup.sample_size[0], 1), .also = DB_FOR_AMORPHOUS,
      .help = "crystal size along a. In amorphous: thickness" },
    { G, .name = "-sample_width", .aliases = "-sample_y -xtal_width -xtal_y -width", .arguments = "SIZE",
      .unit = "mm", NUMBER(setup.sample_size[1], 1), .also = DB_FOR_AMORPHOUS,
      .help = "crystal size along b. In amorphous: width" },
    { G, .name = "-sample_height",
      .aliases = "-sample_heigh -sample_z -xtal_height -xtal_heigh -xtal_z -height -heigh", .arguments = "SIZE",
      .unit = "mm", NUMBER(setup.sample_size[2], 1), .also = DB_FOR_AMORPHOUS,
      .help = "crystal size along c. In amorphous: height" },
    { G, .name = "-square_xtal", DB_SETS(setup.shape, DB_SHAPE_SQUARE),
      .help = "parallelepiped: interference function of N cells (default)" },
    { G, .name = "-round_xtal", DB_SETS(setup.shape, DB_SHAPE_ROUND), .help = "ellipsoidal crystal" },
    { G, .name = "-gauss_xtal", DB_SETS(setup.shape, DB_SHAPE_GAUSS), .help = "Gaussian spots" },
    { G, .name = "-tophat_spots", .aliases = "-binary_spots", DB_SETS(setup.shape, DB_SHAPE_TOPHAT),
      .help = "flat spots; their derivatives with respect to position are zero" },
    { G, .name = "-fudge", .arguments = "FACTOR", FIELD(FUDGE) },
    { G, .name = "-mosaic", .aliases = "-mosaic_spread -mosaicity -mosaic_spr -mosaici", .arguments = "SPREAD",
      FIELD(MOSAIC_SPREAD) },
    { G, .name = "-mosaic_abc", .arguments = "A B C", FIELD(MOSAIC_ABC) },
    { G, .name = "-mosaic_domains", .aliases = "-mosaic_dom", .arguments = "COUNT", FIELD(MOSAIC_DOMAINS), .open_below = 1 },
    { G, .name = "-mosaic_seed", .arguments = "SEED", FIELD(MOSAIC_SEED) },
    { G, .name = "-mosaic_rms", .also = DB_FOR_VIEW, .arguments = "RMS", FIELD(MOSAIC_RMS) },
    { G, .name = "-mosaic_rms_abc", .arguments = "A B C", FIELD(MOSAIC_RMS_ABC) },
    { G, .name = "-mosaic_tensor", .arguments = "XX YY ZZ YZ ZX XY", FIELD(MOSAIC_TENSOR) },
    { G, .name = "-strain_rms", .arguments = "RMS", FIELD(STRAIN_RMS) },
    { G, .name = "-strain_rms_tensor", .arguments = "XX YY ZZ YZ ZX XY", FIELD(STRAIN_RMS_TENSOR) },
    { G, .name = "-strain_system", .arguments = "free|uniaxial|isotropic|cubic|tetragonal|...", FIELD(STRAIN_SYSTEM) },
    { G, .name = "-mode1", .aliases = "-mode", .arguments = "XX XY XZ YX YY YZ ZX ZY ZZ", FIELD(MODE_1) },
    { G, .name = "-mode2", .arguments = "XX XY ... ZZ", FIELD(MODE_2) },
    { G, .name = "-mode3", .arguments = "XX XY ... ZZ", FIELD(MODE_3) },
    { G, .name = "-tail1", .aliases = "-tail", .arguments = "FRACTION WIDTH", FIELD(TAIL_1) },
    { G, .name = "-tail2", .arguments = "FRACTION WIDTH", FIELD(TAIL_2) },
    { G, .name = "-size_correlation", .arguments = "BC CA AB", FIELD(SIZE_CORRELATION) },
    { G, .name = "-footprint_rms", .arguments = "H [V]", FIELD(FOOTPRINT_RMS), .least = 1 },
    { G, .name = "-footprint_correlation", .arguments = "R", FIELD(FOOTPRINT_CORRELATION) },
    { G, .name = "-diffuse_sigma", .arguments = "SIGMA [B C]", FIELD(DIFFUSE_SIGMA), .least = 1 },
    { G, .name = "-diffuse_gamma", .arguments = "GAMMA [B C]", FIELD(DIFFUSE_GAMMA), .least = 1 },
    { G, .name = "-b_factor", .aliases = "-bfactor", .arguments = "B", FIELD(B_FACTOR) },
#undef G
    /* structure factors */
#define G .group = DB_GROUP_STRUCTURE_FACTORS
    { G, .name = "-hkl", .also = DB_FOR_VIEW, .aliases = "-model", .arguments = "FILE", .unit = "electrons", TEXT(setup.hkl_file),
      .help = "structure factors: text lines h k l F in P1 with both Friedel mates; a list of SHELX; an MTZ or CIF file, expanded by its space group; or a model: coordinates in a PDB or mmCIF file, from which structure factors are calculated, with bulk solvent" },
    { G, .name = "-hkl_columns", .needs = "-hkl", .also = DB_FOR_VIEW, .arguments = "LABEL[,LABEL]", TEXT(setup.hkl_columns),
      .help = "column of an MTZ file (two for Friedel mates, as 'F(+),F(-)'); item of a CIF file (BLOCK/ITEM or BLOCK/ if several blocks have reflections, ITEM@ID or @ID if several wavelengths have); F or I (intensities) for text; default: the first amplitudes, else intensities" },
    { G, .name = "-hkl_space_group", .needs = "-hkl", .also = DB_FOR_VIEW, .arguments = "GROUP", TEXT(setup.hkl_space_group),
      .help = "number or symbol of the space group that expands text; it must agree with the cell, which also determines the axes of R 3; default: text is not expanded" },
    { G, .name = "-k_sol", .needs = "-hkl", .arguments = "DENSITY", FIELD(K_SOL) },
    { G, .name = "-b_sol", .needs = "-hkl", .arguments = "B", FIELD(B_SOL) },
    { G, .name = "-model_resolution", .needs = "-hkl", .arguments = "D", FIELD(MODEL_RESOLUTION) },
    { G, .name = "-anomalous", .needs = "-hkl", .arguments = "no|yes", FIELD(ANOMALOUS) },
    { G, .name = "-sites", .arguments = "SITES=CURVE[,...]", .unit = "eV, electrons", TEXT(setup.sites),
      .help = "structure factors that depend on the photon energy, each source of a spectrum at its own: kinds of sites in "
              "the coordinates of -hkl, [CHAIN/]RESIDUE[.NUMBER]:ATOM with + between, as FES:FE1 or A/FES.104:FE1; CURVE "
              "is a file of three columns, energy (eV), f' and f'', or table[:SHIFT], the free atom's with its edge SHIFT "
              "eV higher" },
    { G, .name = "-default_F", .arguments = "F", FIELD(DEFAULT_F) },
    { G, .name = "-nointerpolate", DB_SETS(setup.interpolate, 0), .help = "takes the entry nearest to h, k, l" },
    { G, .name = "-interpolate", DB_SETS(setup.interpolate, 1),
      .help = "tricubic interpolation of the list; default for crystals of at most 2 cells in some direction, unless -spots closed, -sites or a halo is given" },
    { G, .name = "-dump", .arguments = "FILE", OUTPUT(setup.cache_file), .with = MEMBER(setup.hkl_file),
      .help = "structure factors in binary form: written with -hkl, read without" },
#undef G
    /* amorphous matter */
#define G .group = DB_GROUP_AMORPHOUS
    { G, .name = "-stol", .arguments = "FILE", .unit = "1/A, electrons", TEXT(setup.stol_file),
      DB_SETS(setup.stol_abscissa, DB_STOL),
      .help = "background of amorphous matter: file of two columns, sin(theta)/lambda and the amplitude of one "
              "molecule" },
    { G, .name = "-4stol", .arguments = "FILE", .unit = "1/A, electrons", TEXT(setup.stol_file),
      DB_SETS(setup.stol_abscissa, DB_4STOL), .help = "as -stol; the first column is 4 sin(theta)/lambda" },
    { G, .name = "-Q", .arguments = "FILE", .unit = "1/A, electrons", TEXT(setup.stol_file),
      DB_SETS(setup.stol_abscissa, DB_Q), .help = "as -stol; the first column is 4 pi sin(theta)/lambda" },
    { G, .name = "-amorphous_thickness", .aliases = "-thickness -thick", .arguments = "SIZE", .unit = "mm",
      NUMBER(setup.amorphous_size[0], 1), AMOUNT, .help = "thickness of the amorphous matter, along the beam; default 0.1" },
    { G, .name = "-amorphous_width", .arguments = "SIZE", .unit = "mm", NUMBER(setup.amorphous_size[1], 1), AMOUNT,
      .help = "width of the amorphous matter, across the beam; default 0.1; clipped to the beam size" },
    { G, .name = "-amorphous_height", .arguments = "SIZE", .unit = "mm", NUMBER(setup.amorphous_size[2], 1), AMOUNT,
      .help = "height of the amorphous matter, across the beam; default 0.1; clipped to the beam size" },
    { G, .name = "-density", .aliases = "-sample_density -sample_den", .arguments = "DENSITY", .unit = "g/cm^3",
      NUMBER(setup.density, 1), AMOUNT, .help = "density of the amorphous matter; default 1" },
    { G, .name = "-MW", .aliases = "-molecular_weight -molec", .arguments = "WEIGHT", .unit = "g/mol",
      NUMBER(setup.molecular_weight, 1), AMOUNT, .help = "molecular weight of the molecule of -stol; default 18" },
    { G, .name = "-molecules", .aliases = "-sample_molecules", .arguments = "COUNT", NUMBER(setup.molecules, 1),
      AMOUNT, .help = "molecules of the amorphous matter in the beam, instead of a density" },
    { G, .name = "-stolout", .arguments = "FILE", NO_EFFECT_TEXT("neither dualbragg nor nanoBragg writes this file") },
#undef G
    /* beam */
#define G .group = DB_GROUP_BEAM
    { G, .name = "-lambda", .also = DB_FOR_ORIENT | DB_FOR_NOISE | DB_FOR_VIEW, .aliases = "-wavelength -wave",
      .arguments = "WAVELENGTH", FIELD(WAVELENGTH), DB_SETS(setup.wavelength_given, 1) },
    { G, .name = "-energy", .also = DB_FOR_ORIENT | DB_FOR_NOISE | DB_FOR_VIEW, .arguments = "ENERGY", .unit = "eV",
      NUMBER(setup.wavelength, 12398.42), DB_SETS(setup.wavelength_given, 1), .reciprocal = 1,
      .help = "photon energy instead of the wavelength" },
    { G, .name = "-fluence", .also = DB_FOR_NOISE, .arguments = "FLUENCE", FIELD(FLUENCE),
      .help = "fluence of the beam; default 1.25932e29, for which r_e^2 x fluence = 1" },
    { G, .name = "-flux", .also = DB_FOR_NOISE, .arguments = "FLUX", FIELD(FLUX) },
    { G, .name = "-exposure", .also = DB_FOR_NOISE, .arguments = "TIME", FIELD(EXPOSURE) },
    { G, .name = "-beamsize", .also = DB_FOR_NOISE, .arguments = "SIZE", .unit = "mm", NUMBER(setup.beamsize, 1),
      .help = "edge of the square beam, for -flux and -samplesize; default 0.1" },
    { G, .name = "-dispersion", .arguments = "WIDTH", FIELD(DISPERSION) },
    { G, .name = "-dispsteps", .arguments = "COUNT", FIELD(DISPERSION_STEPS), .open_below = 1 },
    { G, .name = "-dispstep", .arguments = "COUNT", NOT_READ(1, "-dispsteps") },
    { G, .name = "-divergence", .arguments = "RANGE", FIELD(DIVERGENCE), .fill = 2,
      .help = "full range, horizontal and vertical" },
    { G, .name = "-hdivrange", .arguments = "RANGE", ELEMENT(DIVERGENCE, 1),
      .help = "full horizontal range, about beam x polarization" },
    { G, .name = "-vdivrange", .arguments = "RANGE", ELEMENT(DIVERGENCE, 2),
      .help = "full vertical range, about the polarization axis" },
    { G, .name = "-divergence_rms", .also = DB_FOR_VIEW, .commands = DB_FOR_CRYSTALS, .arguments = "H [V]", FIELD(DIVERGENCE_RMS),
      .least = 1 },
    { G, .name = "-divergence_correlation", .commands = DB_FOR_CRYSTALS, .arguments = "R",
      FIELD(DIVERGENCE_CORRELATION) },
    { G, .name = "-bandwidth_rms", .also = DB_FOR_VIEW, .commands = DB_FOR_CRYSTALS, .arguments = "RMS", FIELD(BANDWIDTH_RMS) },
    { G, .name = "-hdiv", .arguments = "RANGE", NOT_READ(1, "-hdivrange") },
    { G, .name = "-vdiv", .arguments = "RANGE", NOT_READ(1, "-vdivrange") },
    { G, .name = "-hdivstep", .arguments = "STEP", .unit = "mrad", NUMBER(setup.divergence_step[0], 1e-3),
      .help = "step of the grid, horizontal" },
    { G, .name = "-vdivstep", .arguments = "STEP", .unit = "mrad", NUMBER(setup.divergence_step[1], 1e-3),
      .help = "step of the grid, vertical" },
    { G, .name = "-hdivsteps", .arguments = "COUNT", ELEMENT(DIVERGENCE_STEPS, 1), .open_below = 1,
      .help = "points of the grid, horizontal" },
    { G, .name = "-vdivsteps", .arguments = "COUNT", ELEMENT(DIVERGENCE_STEPS, 2), .open_below = 1,
      .help = "points of the grid, vertical" },
    { G, .name = "-divsteps", .arguments = "COUNT", FIELD(DIVERGENCE_STEPS), .open_below = 1, .fill = 2,
      .help = "points of the grid, both" },
    { G, .name = "-round_div", DB_SETS(setup.round_divergence, 1), .help = "elliptical cut of the grid (default)" },
    { G, .name = "-square_div", DB_SETS(setup.round_divergence, 0), .help = "the whole grid" },
    { G, .name = "-sourcefile", .arguments = "FILE", .unit = "wavelengths in m", TEXT(setup.source_file),
      .help = "sources instead of divergence and dispersion: lines x y z weight wavelength" },
    { G, .name = "-spectrumfile", .arguments = "FILE", .unit = "A or eV", TEXT(setup.spectrum_file),
      .help = "spectrum instead of dispersion: two columns, wavelength or energy, and weight; its mean is the central wavelength, or is shifted to -lambda or -energy" },
    { G, .name = "-spectrum_stretch", .arguments = "FACTOR", FIELD(SPECTRUM_STRETCH),
      .help = "factor on the width of the spectrum (or of the wavelengths of -sourcefile) about its mean; default 1" },
    { G, .name = "-spectrum_resolution", .arguments = "FWHM", FIELD(SPECTRUM_RESOLUTION),
      .help = "resolution of the spectrometer (full width at half maximum), whose blur is removed from the spectrum of -spectrumfile; default 0, no blur" },
    { G, .name = "-polar", .arguments = "K", FIELD(POLARIZATION), DB_SETS(setup.polarized, 1) },
    { G, .name = "-nopolar", DB_SETS(setup.polarized, 0), .help = "no polarization factor at all" },
    { G, .name = "-coherent", NO_EFFECT(0, "sources and domains always add up incoherently"), .help = "no effect" },
#undef G
    /* spindle */
#define G .group = DB_GROUP_SPINDLE
    { G, .name = "-phi", .also = DB_FOR_NOISE | DB_FOR_VIEW, .arguments = "ANGLE", FIELD(PHI) },
    { G, .name = "-osc", .also = DB_FOR_NOISE | DB_FOR_VIEW, .arguments = "RANGE", FIELD(OSC),
      .help = "oscillation range; sampled spots without -phistep or -phisteps take two steps" },
    { G, .name = "-phistep", .arguments = "STEP", FIELD(PHI_STEP) },
    { G, .name = "-phisteps", .arguments = "COUNT", INTEGER(setup.phi_steps, 0), .open_below = 1, .help = "number of steps" },
    { G, .name = "-spindle_tilt", .arguments = "TOWARDS ACROSS", FIELD(SPINDLE_TILT) },
#undef G
    /* detector */
#define G .group = DB_GROUP_DETECTOR
    { G, .name = "-pixel", .also = DB_FOR_VIEW, .aliases = "-pixel_size -pixelsize", .arguments = "SIZE", FIELD(PIXEL_SIZE) },
    { G, .name = "-detsize", .arguments = "SIZE", .unit = "mm", NUMBER(setup.detector_size, 1), .fill = 2,
      .help = "detector size along fast and slow; default 102.4" },
    { G, .name = "-detsize_f", .arguments = "SIZE", .unit = "mm", NUMBER(setup.detector_size[0], 1),
      .help = "along fast" },
    { G, .name = "-detsize_s", .arguments = "SIZE", .unit = "mm", NUMBER(setup.detector_size[1], 1),
      .help = "along slow" },
    { G, .name = "-detsize_x", .arguments = "SIZE", NOT_READ(1, "-detsize_f") },
    { G, .name = "-detsize_y", .arguments = "SIZE", NOT_READ(1, "-detsize_s") },
    { G, .name = "-detpixels", .arguments = "COUNT", INTEGER(setup.detector_pixels, 1), .fill = 2,
      .help = "pixels along fast and slow, instead of sizes" },
    { G, .name = "-detpixels_f", .aliases = "-detpixels_x", .arguments = "COUNT",
      INTEGER(setup.detector_pixels[0], 1), .help = "along fast" },
    { G, .name = "-detpixels_s", .aliases = "-detpixels_y", .arguments = "COUNT",
      INTEGER(setup.detector_pixels[1], 1), .help = "along slow" },
    { G, .name = "-distance", .also = DB_FOR_VIEW, .arguments = "D", FIELD(DISTANCE), IMPLIES(BEAM) },
    { G, .name = "-close_distance", .also = DB_FOR_VIEW, .arguments = "Z", FIELD(CLOSE_DISTANCE), IMPLIES(SAMPLE) },
    { G, .name = "-Xbeam", .also = DB_FOR_VIEW, .arguments = "X", .unit = "mm", NUMBER(setup.beam_centre[0], 1), IMPLIES(BEAM),
      .help = "direct beam, in the convention's meaning" },
    { G, .name = "-Ybeam", .also = DB_FOR_VIEW, .arguments = "Y", .unit = "mm", NUMBER(setup.beam_centre[1], 1), IMPLIES(BEAM),
      .help = "direct beam, in the convention's meaning" },
    { G, .name = "-Xclose", .arguments = "X", .unit = "mm", NUMBER(setup.close_point[0], 1), IMPLIES(SAMPLE),
      .help = "point closest to the sample, along fast; for conventions with pivot sample, and custom" },
    { G, .name = "-Yclose", .arguments = "Y", .unit = "mm", NUMBER(setup.close_point[1], 1), IMPLIES(SAMPLE),
      .help = "point closest to the sample, along slow" },
    { G, .name = "-ORGX", .also = DB_FOR_VIEW, .arguments = "X", .unit = "pixel", NUMBER(setup.org[0], 1), IMPLIES(SAMPLE),
      .help = "point closest to the sample along fast, as XDS counts: the centre of the first pixel is 1" },
    { G, .name = "-ORGY", .also = DB_FOR_VIEW, .arguments = "Y", .unit = "pixel", NUMBER(setup.org[1], 1), IMPLIES(SAMPLE),
      .help = "point closest to the sample along slow, counted as for -ORGX" },
    { G, .name = "-pivot", .also = DB_FOR_VIEW, .arguments = "beam|sample", FIELD(PIVOT),
      .help = "fixed point when the detector turns: the direct beam's spot, or the sample; takes precedence over the convention" },
    { G, .name = "-mosflm", .also = DB_FOR_VIEW, DB_SETS(setup.convention, DB_CONVENTION_MOSFLM), IMPLIES(BEAM),
      .help = "convention MOSFLM (default): beam along x, Xbeam along slow, half a pixel further, pivot beam" },
    { G, .name = "-denzo", .also = DB_FOR_VIEW, DB_SETS(setup.convention, DB_CONVENTION_DENZO), IMPLIES(BEAM),
      .help = "convention DENZO: as MOSFLM without the half pixel" },
    { G, .name = "-adxv", .also = DB_FOR_VIEW, DB_SETS(setup.convention, DB_CONVENTION_ADXV), IMPLIES(BEAM),
      .help = "convention ADXV: beam along z, Ybeam counts upwards, pivot beam" },
    { G, .name = "-xds", .also = DB_FOR_VIEW, DB_SETS(setup.convention, DB_CONVENTION_XDS), IMPLIES(SAMPLE),
      .help = "convention XDS: beam along z, pivot sample, -ORGX -ORGY" },
    { G, .name = "-dials", .also = DB_FOR_VIEW, DB_SETS(setup.convention, DB_CONVENTION_DIALS), IMPLIES(BEAM),
      .help = "convention DIALS: as XDS with a vertical spindle and polarization" },
    { VECTOR(FAST_AXIS), .name = "-fdet_vector", .also = DB_FOR_VIEW, .help = "fast axis; makes the convention custom" },
    { VECTOR(SLOW_AXIS), .name = "-sdet_vector", .also = DB_FOR_VIEW, .help = "slow axis; makes the convention custom" },
    { VECTOR(NORMAL), .name = "-odet_vector", .help = "normal, away from the sample; convention custom" },
    { G, .name = "-xdet_vector", .arguments = "X Y Z", NOT_READ(3, "-fdet_vector") },
    { G, .name = "-ydet_vector", .arguments = "X Y Z", NOT_READ(3, "-sdet_vector") },
    { G, .name = "-zdet_vector", .arguments = "X Y Z", NOT_READ(3, "-odet_vector") },
    { VECTOR(BEAM_AXIS), .name = "-beam_vector", .also = DB_FOR_VIEW, .help = "direction of photon travel; convention custom" },
    { VECTOR(POLARIZATION_AXIS), .name = "-polar_vector", .help = "along the E field; convention custom" },
    { VECTOR(SPINDLE_AXIS), .name = "-spindle_axis", .also = DB_FOR_VIEW, .help = "spindle axis; convention custom" },
    { VECTOR(TWOTHETA_AXIS), .name = "-twotheta_axis", .help = "two-theta axis; convention custom" },
    { G, .name = "-pix0_vector", .arguments = "X Y Z", .unit = "m", NUMBERS(3, setup.origin, 1), .vector = 1,
      .help = "outer corner of the first pixel after all rotations; sets distance and beam centre; convention custom" },
    { G, .name = "-pix0_vector_mm", .also = DB_FOR_VIEW, .arguments = "X Y Z", .unit = "mm", NUMBERS(3, setup.origin, 1e-3), .vector = 1,
      .help = "as -pix0_vector, in mm" },
    { G, .name = "-detector_rotx", .also = DB_FOR_VIEW, .arguments = "ANGLE", ELEMENT(DETECTOR_ROTATION, 1),
      .help = "turns the detector about x of the laboratory" },
    { G, .name = "-detector_roty", .also = DB_FOR_VIEW, .arguments = "ANGLE", ELEMENT(DETECTOR_ROTATION, 2), .help = "about y, after x" },
    { G, .name = "-detector_rotz", .also = DB_FOR_VIEW, .arguments = "ANGLE", ELEMENT(DETECTOR_ROTATION, 3),
      .help = "about z, after x and y" },
    { G, .name = "-twotheta", .also = DB_FOR_VIEW, .arguments = "ANGLE", FIELD(TWOTHETA), IMPLIES(SAMPLE) },
    { G, .name = "-panel_turn", .commands = RENDERERS, .arguments = "FAST SLOW NORMAL", FIELD(PANEL_TURN) },
    { G, .name = "-panel_shift", .commands = RENDERERS, .arguments = "FAST SLOW NORMAL", FIELD(PANEL_SHIFT) },
    { G, .name = "-point_pixel", .commands = RENDERERS, DB_SETS(setup.point_pixel, 1),
      .help = "solid angle 1/R^2 without obliquity" },
    { G, .name = "-roi", .also = DB_FOR_VIEW, .arguments = "XMIN XMAX YMIN YMAX", .unit = "pixel", INTEGERS(4, roi, 0),
      .help = "only these pixels (fast, slow), both ends included; other pixels are 0, but view leaves them out" },
    { G, .name = "-curved_det", .commands = RENDERERS, DB_SETS(setup.curved, 1),
      .help = "pixels on a sphere around the sample that touches the plane at the direct beam" },
    { G, .name = "-detector_abs", .commands = RENDERERS, .aliases = "-detector_absorb -detector_absorption",
      .arguments = "DEPTH|inf", FIELD(ATTENUATION_DEPTH), .infinite = 1,
      .help = "attenuation depth of the sensor; default: of its material, else its thickness; inf or 0: no sensor" },
    { G, .name = "-detector_thick", .commands = RENDERERS, .aliases = "-detector_thickness", .arguments = "THICKNESS",
      FIELD(SENSOR_THICKNESS), .help = "sensor thickness; default 0: all photons are recorded at the front" },
    { G, .name = "-detector_thicksteps", .commands = RENDERERS, .aliases = "-thicksteps", .arguments = "COUNT",
      FIELD(SENSOR_LAYERS) },
    { G, .name = "-detector_material", .commands = RENDERERS, .arguments = "Si|GaAs|CdTe|CZT",
      FIELD(SENSOR_MATERIAL) },
    { G, .name = "-detector_layer_depth", .commands = RENDERERS, .aliases = "-layer_depth", .arguments = "mean|front",
      CHOICE(setup.layers_at_front, "mean", "front"),
      .help = "place where a layer records photons: its mean depth of absorption, or its front (as nanoBragg does); default front; mean with -spots closed, -expt, -detector_material, and a sensor from the header of -img" },
    { G, .name = "-point_spread_rms", .commands = DB_FOR_CRYSTALS, .arguments = "F [S]", FIELD(POINT_SPREAD_RMS),
      .least = 1 },
    { G, .name = "-point_spread_correlation", .commands = DB_FOR_CRYSTALS, .arguments = "R",
      FIELD(POINT_SPREAD_CORRELATION) },
    { G, .name = "-mask", .also = DB_FOR_VIEW, .arguments = "FILE", TEXT(mask_file),
      .help = "SMV image of the detector's size: pixels that are 0 in it are left out; its header sets the geometry as -img does" },
    { G, .name = "-img", .also = DB_FOR_VIEW, .aliases = "-header", .arguments = "FILE", TEXT(img_file),
      .help = "image whose header gives size, pixel, wavelength, phi, two-theta, distance, beam centre and sensor; flags take precedence" },
    { G, .name = "-expt", .also = DB_FOR_VIEW, .commands = DB_FOR_CRYSTALS, .arguments = "FILE", TEXT(setup.expt_file),
      .help = "DIALS experiment list (.expt), .geom of CrystFEL or XPARM.XDS: beam, panels, spindle and crystal, in the frame of the file; flags of crystal, beam and spindle take precedence, -distance moves the panels" },
    { G, .name = "-expt_number", .needs = "-expt", .also = DB_FOR_VIEW, .commands = DB_FOR_CRYSTALS, .arguments = "NUMBER", FIELD(EXPT_NUMBER),
      .help = "number of the experiment in the list, from 0; default: the only one, or the one of -img" },
    { G, .name = "-expt_frame", .needs = "-expt", .commands = DB_FOR_CRYSTALS, .arguments = "NUMBER", FIELD(EXPT_FRAME),
      .help = "number of the image in the experiment's scan, as the scan counts; default: -img, or the first" },
#undef G
    /* sampling */
#define G .group = DB_GROUP_SAMPLING
    { G, .name = "-spots", .commands = DB_FOR_CRYSTALS, .arguments = "sampled|closed", FIELD(SPOTS) },
    { G, .name = "-oversample", .arguments = "COUNT", FIELD(OVERSAMPLE), .open_below = 1 },
    { G, .name = "-oversample_omega", DB_SETS(setup.oversample_omega, 1), COMPAT_ONLY(per_sample),
      .help = "solid angle of every sample" },
    { G, .name = "-oversample_polar", DB_SETS(setup.oversample_polar, 1), COMPAT_ONLY(per_sample),
      .help = "polarization of every sample" },
    { G, .name = "-oversample_thick", DB_SETS(setup.oversample_thick, 1), COMPAT_ONLY(per_sample),
      .help = "absorption of every sample" },
    { G, .name = "-dmin", .also = DB_FOR_VIEW, .arguments = "D", .unit = "A", NUMBER(setup.dmin, 1),
      .help = "leaves out the crystal's scattering at smaller d spacings; default 0: none is left out" },
    { G, .name = "-water", .arguments = "SIZE", FIELD(WATER_SIZE) },
#undef G
    /* output */
#define G .group = DB_GROUP_OUTPUT
    { G, .name = "-floatfile", .aliases = "-floatimage", .arguments = "FILE", TEXT(float_file), .writes = IMAGES, .endings = FLOATS " " HDF5,
      .commands = IMAGES, .also = DB_FOR_NOISE,
      .help = "image in photons as 32-bit floats, little-endian, without a header (- is standard output); if the name ends in .h5, .hdf5 or .nxs as -hdf5file. In noise: the input, raw floats or any image with a header (FILE.h5#N is image N)" },
    { G, .name = "-hdf5file", .aliases = "-hdf5image -nxmxfile", .arguments = "FILE", OUTPUT(hdf5_file), .endings = HDF5,
      .commands = IMAGES, .for_terminal = 1,
      .help = "image in photons with the experiment, as HDF5 (NeXus, NXmx), which DIALS reads; see docs/howto/nxmx.md" },
    { G, .name = "-intfile", .aliases = "-intimage", .arguments = "FILE", OUTPUT(int_file), .endings = SMV, .commands = IMAGES,
      .also = DB_FOR_NOISE,
      .help = "SMV image, unsigned 16 bit, pixel = photons x scale + adc; in noise: photons x gain + adc" },
    { G, .name = "-pngfile", .aliases = "-pngimage", .arguments = "FILE", OUTPUT(png_file), .endings = "png", .commands = IMAGES,
      .help = "picture" },
    { G, .name = "-wavelengthfile", .arguments = "FILE", .unit = "A", OUTPUT(wavelength_file), .endings = FLOATS " " HDF5,
      .commands = DB_FOR_SIM,
      .help = "mean wavelength of each pixel's photons, over the sources, as 32-bit floats; 0 where there are none; HDF5 as "
              "-hdf5file, also of many shots" },
    { G, .name = "-scale", .arguments = "FACTOR", NUMBER(scale, 1), .ranged = 1, .open_below = 1, .commands = IMAGES, .also = DB_FOR_NOISE,
      .help = "counts per photon of -intfile; default (0): brightest pixel at 55000. In noise: photons per unit of -floatfile, default 1" },
    { G, .name = "-adc", .aliases = "-adcoffset", .arguments = "OFFSET", NUMBER(adc, 1), .ranged = 1, .minimum = -65535,
      .maximum = 65535, DB_SETS(adc_given, 1), .commands = IMAGES,
      .also = DB_FOR_NOISE, .help = "offset of -intfile and -noisefile; default 40" },
    { G, .name = "-exptfile", .arguments = "FILE", OUTPUT(expt_file), .endings = LIST, .for_terminal = 1, .commands = DB_FOR_SIM,
      .help = "DIALS experiment list (.expt): beam, exact detector, goniometer, crystal, scan, and the name of the image" },
    { G, .name = "-spotfile", .arguments = "FILE", OUTPUT(spot_file), .for_terminal = 1, .commands = DB_FOR_SIM,
      .help = "list of the spots of all panels within three standard deviations of the Ewald sphere: indices, place, variances, photons, excitation; text, or JSON if the name ends in .json; with -spots closed" },
    { G, .name = "-pgmfile", .aliases = "-pgmimage", .arguments = "FILE", OUTPUT(pgm_file), .endings = "pgm", DB_SETS(pgm, 1),
      .commands = IMAGES, .help = "picture, 8-bit grey" },
    { G, .name = "-pgmscale", .arguments = "FACTOR", NUMBER(pgm_scale, 1), DB_SETS(pgm, 1), .commands = IMAGES,
      .help = "grey levels per photon of -pgmfile; default (0): 50 at the root mean square deviation" },
    { G, .name = "-nopgm", DB_SETS(pgm, 0), .help = "no PGM, unless -pgmfile follows" },
    { G, .name = "-o", .arguments = "FILE", OUTPUT(output_file), .for_terminal = 1, .commands = DB_FOR_ORIENT | DB_FOR_VIEW,
      .help = "output: in orient the orientation matrix, in view a picture (FILE.png) or a page (FILE.html)" },
    { G, .name = "-print", .arguments = "matrix|flags", CHOICE(print_as, "matrix", "flags"),
      .commands = DB_FOR_ORIENT,
      .help = "prints the matrix, or cell, misset angles and wavelength as flags of sim" },
    { G, .name = "-seed", .arguments = "SEED", SEED(seed), .also = DB_FOR_ORIENT | DB_FOR_NOISE,
      .help = "seed of all random numbers that have no other seed; default 1" },
    { G, .name = "-printout", DB_SETS(printout, 1), .commands = IMAGES,
      .help = "prints Miller indices, factors and intensity of every rendered pixel" },
    { G, .name = "-printout_pixel", .arguments = "FAST SLOW", .unit = "pixel", INTEGERS(2, printout_pixel, 0),
      DB_SETS(printout, 1), .commands = IMAGES, .help = "-printout for one pixel" },
    { G, .name = "-trace_pixel", .arguments = "SLOW FAST", .unit = "pixel", INTEGERS(2, trace_pixel, 0),
      .commands = IMAGES, .help = "prints every sample of one pixel" },
#undef G
    /* many shots */
#define G .group = DB_GROUP_SHOTS
    { G, .name = "--shots", .arguments = "FILE", TEXT(shots_file),
      .help = "renders a list of shots into one file with labels (-hdf5file or -noisefile FILE.h5): a text file with a shot in each line, an optional name and KEY=VALUE, such as misset=[1,2,3] matrix=a.mat cell=[...] fluence=1e24 spectrum=a.txt seed=5; flags hold for all shots; see docs/howto/training-sets.md" },
    { G, .name = "--random", .arguments = "COUNT", INTEGER(random_shots, 1),
      .help = "renders COUNT shots in random orientations (from -seed) into one file with labels" },
    { G, .name = "--range", .needs = "--shots --random", .arguments = "FIRST LAST", INTEGERS(2, range, 1),
      .help = "only these shots of the set, from 1; each is equal to the shot in the whole set" },
    { G, .name = "--resume", .needs = "--shots --random", DB_SETS(resume, 1),
      .help = "continues files of an earlier run with these flags that ended by Ctrl-C" },
    { G, .name = "-jitter_cell", .needs = "--shots --random", .arguments = "FRACTION", NUMBER(cell_jitter, 1), .ranged = 1, .maximum = 0.1,
      .help = "relative standard deviation of the edges of each shot's cell; equal edges stay equal; default 0" },
    { G, .name = "-jitter_fluence", .needs = "--shots --random", .arguments = "FRACTION", NUMBER(fluence_jitter, 1), .ranged = 1, .maximum = 10,
      .help = "standard deviation of the logarithm of each shot's fluence; default 0" },
    { G, .name = "-jitter_wavelength", .needs = "--shots --random", .arguments = "FRACTION", NUMBER(wavelength_jitter, 1), .ranged = 1, .maximum = 0.1,
      .help = "relative standard deviation of each shot's wavelength; default 0" },
    { G, .name = "-sase", .needs = "--shots --random", .arguments = "WIDTH SPIKE", NUMBERS(2, sase, 1),
      .help = "gives each shot the spectrum of a free-electron laser: spikes under a Gaussian; relative full widths at half maximum of spectrum and spikes, such as 0.002 0.0002" },
    { G, .name = "-noreflections", .needs = "--shots --random", DB_SETS(no_reflections, 1),
      .help = "leaves lists of reflections out of the labels; with sampled spots these lists take time" },
#undef G
    /* noise */
#define G .group = DB_GROUP_NOISE
    { G, .name = "-noisefile", .aliases = "-noiseimage", .arguments = "FILE", OUTPUT(noise_file), .endings = SMV " " HDF5,
      DB_SETS(noise_wanted, 1),
      .help = "image with noise as a detector records it: photons x gain + adc; SMV, or HDF5 (NXmx) if the name ends in .h5, .hdf5 or .nxs, then without an offset unless -adc is given" },
    { G, .name = "-noisefloatfile", .arguments = "FILE", OUTPUT(noise_float_file), .endings = FLOATS, DB_SETS(noise_wanted, 1),
      .help = "image with noise as 32-bit floats, neither rounded nor limited" },
    { G, .name = "-nonoise", DB_SETS(noise_wanted, 0),
      .help = "no image with noise (of this flag and -noisefile the last one wins)" },
    { G, .name = "-gain", .arguments = "GAIN", .unit = "ADU/photon", NUMBER(noise.gain, 1), DB_SETS(noise_given, 1),
      .help = "counts per photon; default 1" },
    { G, .name = "-readout", .aliases = "-readout_noise", .arguments = "SIGMA", .unit = "ADU",
      NUMBER(noise.readout, 1), DB_SETS(noise_given, 1), .help = "standard deviation of the readout noise; default 0" },
    { G, .name = "-flicker", .arguments = "FRACTION", NUMBER(noise.flicker, 1), DB_SETS(noise_given, 1),
      .help = "relative standard deviation of the brightness of images; one random number per image; default 0" },
    { G, .name = "-calibration", .arguments = "FRACTION", NUMBER(noise.calibration, 1), DB_SETS(noise_given, 1),
      .help = "relative standard deviation of the pixels' sensitivity, one pattern for all images; default 0, in noise 0.03" },
    { G, .name = "-calib_seed", .aliases = "-calibration_seed", .arguments = "SEED", SEED(calibration_seed),
      DB_SETS(noise_given, 1), .help = "seed of the pattern of -calibration; default 123456789" },
    { G, .name = "-psf", .arguments = "none|gauss|fiber", CHOICE(noise.psf, "none", "gauss", "fiber"),
      DB_SETS(noise_given, 1), .help = "point spread function; default none" },
    { G, .name = "-psf_fwhm", .arguments = "WIDTH", .unit = "um", NUMBER(psf_width, 1), DB_SETS(noise_given, 1),
      .help = "full width at half maximum of the point spread function" },
    { G, .name = "-psf_radius", .arguments = "RADIUS", .unit = "pixel", INTEGER(noise.psf_radius, 0),
      DB_SETS(noise_given, 1),
      .help = "radius of the point spread function; light beyond it is spread evenly over all pixels; default (0): far enough for the brightest pixel" },
    { G, .name = "-bits", .arguments = "16|32", INTEGER(noise.bits, 0), DB_SETS(noise_given, 1),
      .help = "width of a pixel; default 16; 32 raises the limit from 65535 to 2147483647" },
    { G, .name = "-truncate", DB_SETS(noise.truncate, 1), .help = "truncates numbers instead of rounding them" },
#undef G
    /* pictures of measured images */
#define G .group = DB_GROUP_VIEW
    { G, .name = "-colours", .aliases = "-colors", .arguments = "grey|inverted|heat",
      CHOICE(view.colours, "grey", "inverted", "heat"), .help = "black on white (default), white on black, or dark to bright" },
    { G, .name = "-counts", .arguments = "LOW HIGH", .unit = "counts", NUMBERS(2, view.counts, 1),
      .help = "counts at the ends of the colour scale; default: chosen so that spots and background are visible" },
    { G, .name = "-percentile", .arguments = "LOW HIGH", .unit = "%", NUMBERS(2, view.percentile, 1), .ranged = 1,
      .maximum = 100, .help = "ends of the colour scale as percentiles of the shown pixels" },
    { G, .name = "-log", DB_SETS(view.logarithmic, 1), .help = "logarithmic colours, from the low end" },
    { G, .name = "-size", .arguments = "PIXELS", INTEGER(view.size, 16), .maximum = 20000,
      .help = "longest side of a PNG; default 1400; larger images are shown in blocks by their largest trusted pixel" },
    { G, .name = "-bin", .arguments = "COUNT", INTEGER(view.bin, 1), .maximum = 1000,
      .help = "edge of these blocks in pixels, instead of -size; a page has all pixels by default, up to 24 million" },
    { G, .name = "-rings", .arguments = "D ...", .unit = "A", .kind = DB_FLAG_NUMBER, .least = 1, .most = 9,
      .member = MEMBER(view.ring), .factor = 1, .ranged = 1, .minimum = 0.01, .help = "resolution rings; default: round ones" },
    { G, .name = "-norings", DB_SETS(view.no_rings, 1), .help = "no resolution rings" },
    { G, .name = "-strong", .arguments = "SIGMA", NUMBER(view.strong, 1), .ranged = 1, .minimum = 1, .maximum = 1000,
      .help = "threshold of observed spots: three or more adjacent pixels, this many standard deviations above the background; default 6" },
    { G, .name = "-noobserved", DB_SETS(view.no_observed, 1), .help = "no search for observed spots" },
    { G, .name = "-near", .arguments = "ANGLE", .unit = "degree", NUMBER(view.near, 1), .ranged = 1, .maximum = 10,
      .help = "adds predicted spots that a turn by ANGLE would bring to the Ewald sphere; default 0" },
    { G, .name = "-sum", .arguments = "COUNT", INTEGER(view.sum, 1), .maximum = 100000,
      .help = "adds COUNT images of the file, from the named one" },
#undef G
    /* derivatives */
#define G .group = DB_GROUP_DERIVATIVES
    { G, .name = "-params", .aliases = "-parameters", .arguments = "A,B,...|all", TEXT(parameters),
      .commands = GRADIENTS, .help = "parameters to differentiate by" },
    { G, .name = "-outdir", .arguments = "DIRECTORY", TEXT(output_directory), .commands = DB_FOR_GRAD,
      .help = "existing directory for the results; default the current one" },
    { G, .name = "-prefix", .arguments = "NAME", TEXT(prefix), .commands = DB_FOR_GRAD,
      .help = "first part of the names of the output files NAME_image.f32, NAME_PARAMETER.f32, .png; default grad" },
    { G, .name = "--all", DB_SETS(check_all, 1), .commands = DB_FOR_CHECK,
      .help = "checks every pixel and every parameter, which may take long; default: a fixed sample" },
    { G, .name = "-difference_tolerance", .arguments = "X", NUMBER(difference_tolerance, 1), .ranged = 1, .commands = DB_FOR_CHECK,
      .help = "largest allowed difference to finite differences, relative to the largest derivative; default 1e-7" },
    { G, .name = "-oracle_tolerance", .arguments = "X", NUMBER(contraction_tolerance, 1), .ranged = 1, .commands = DB_FOR_CHECK,
      .help = "largest allowed difference to the oracle, in addition to rounding errors, relative to the largest derivative; default 1e-11" },
    { G, .name = "--list-params", .aliases = "--list-parameters", DB_SETS(list_parameters, 1),
      .help = "prints the table of parameters" },
#undef G
    /* control */
#define G .group = DB_GROUP_CONTROL
    { G, .name = "--threads", .also = DB_FOR_VIEW, .arguments = "COUNT", INTEGER(threads, 0),
      .help = "default (0): all processors; results have the same bits for any number" },
    { G, .name = "--precision", .arguments = "auto|double|mixed", CHOICE(precision_choice, "auto", "double", "mixed"),
      .commands = DB_FOR_SIM | DB_FOR_GRAD | DB_FOR_AMORPHOUS,
      .help = "arithmetic; mixed: Miller indices in double, the rest in single; auto (default): mixed for large "
              "jobs where it stays within 1e-6 of the maximum; see docs/reference/precision.md" },
    { G, .name = "--tolerance", .arguments = "PHOTONS", NUMBER(tolerance, 1), .ranged = 1,
      .commands = DB_FOR_SIM | DB_FOR_GRAD | DB_FOR_CHECK,
      .help = "photons that a pixel may lack: tails of spots are left out, which saves time for large crystals; default 0: none are left out (-spots closed: 1e-6 of the peak of the brightest spot; check: 1e-3 of the brightest pixel); see docs/reference/precision.md" },
    { G, .name = "--isa", .arguments = "auto|sse2|neon|avx2|avx512", TEXT(isa),
      .help = "instruction set; default the best one of the processor" },
    { G, .name = "--device", .arguments = DB_DEVICE_NAMES, TEXT(device),
      .help = "device: the processor (default); the first or the Nth NVIDIA GPU; one GPU for each process of a machine, in turn; auto: a GPU if it can do the work and is predicted to be faster; see docs/howto/gpu.md" },
    { G, .name = "-progress", DB_SETS(progress, 1),
      .help = "progress bar on terminals, else lines; default: only the bar" },
    { G, .name = "-noprogress", DB_SETS(progress, 0), .help = "no progress" },
    { G, .name = "--profile", .arguments = "FILE", OUTPUT(profile_file), .for_terminal = 1,
      .help = "writes the times of all stages, for chrome://tracing, and prints a table on stderr; see docs/howto/profile.md" },
    { G, .name = "--quiet", .aliases = "-q", DB_SETS(quiet, 1), .also = DB_FOR_ORIENT | DB_FOR_VIEW,
      .help = "errors and requested files only" },
    { G, .name = "--digits", .arguments = "COUNT", INTEGER(digits, 1),
      .help = "significant digits of printed numbers; default 6" },
    { G, .name = "-show_config", .aliases = "-echo_config", NO_EFFECT(0, NULL),
      .help = "no effect: the set-up is always printed, except with --quiet" },
    { G, .name = "-dtype", .arguments = "float32|float64", NO_EFFECT_TEXT("--precision chooses the arithmetic") },
    { G, .name = "-pixel_batch_size", .aliases = "-pixel-batch-size", .arguments = "COUNT",
      NO_EFFECT(1, "memory does not depend on it"), .help = "no effect" },
    { G, .name = "-compat", DB_SETS(setup.compat, 1), .commands = DB_FOR_CRYSTALS | DB_FOR_ORIENT,
      .help = "makes nanoBragg's image and files, with its errors; see docs/howto/from-nanobragg.md" },
    { G, .name = "--help", .aliases = "-h", DB_SETS(help, 1), .ends = 1, .also = DB_FOR_ORIENT | DB_FOR_VIEW, .help = "this text" },
#undef G
    // clang-format on
};

void db_flags_complete(void) {
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        db_flag_complete(&flags[i], MEMBER(setup));
}

static const char *const commands[] = { "sim",    "grad",  "check", "amorphous",
                                        "orient", "noise", "view",  NULL };

static const char *const groups[] = {
    [DB_GROUP_CRYSTAL] = "Crystal",
    [DB_GROUP_STRUCTURE_FACTORS] = "Structure factors",
    [DB_GROUP_AMORPHOUS] = "Amorphous matter",
    [DB_GROUP_BEAM] = "Beam",
    [DB_GROUP_SPINDLE] = "Spindle",
    [DB_GROUP_DETECTOR] = "Detector",
    [DB_GROUP_SAMPLING] = "Sampling",
    [DB_GROUP_OUTPUT] = "Output",
    [DB_GROUP_SHOTS] = "Many shots",
    [DB_GROUP_NOISE] = "Noise and detector",
    [DB_GROUP_VIEW] = "Pictures of measured images",
    [DB_GROUP_DERIVATIVES] = "Derivatives",
    [DB_GROUP_CONTROL] = "Control",
    [DB_GROUP_COUNT] = NULL,
};

/* Commands without a crystal have no flags about one. */
static const unsigned group_commands[DB_GROUP_COUNT] = {
    [DB_GROUP_CRYSTAL] = DB_FOR_CRYSTALS,
    [DB_GROUP_STRUCTURE_FACTORS] = DB_FOR_CRYSTALS,
    [DB_GROUP_AMORPHOUS] = RENDERERS,
    [DB_GROUP_BEAM] = RENDERERS,
    [DB_GROUP_SPINDLE] = DB_FOR_CRYSTALS,
    [DB_GROUP_DETECTOR] = RENDERERS | DB_FOR_NOISE,
    [DB_GROUP_SAMPLING] = RENDERERS,
    [DB_GROUP_OUTPUT] = RENDERERS,
    [DB_GROUP_SHOTS] = DB_FOR_SIM,
    [DB_GROUP_NOISE] = IMAGES | DB_FOR_NOISE,
    [DB_GROUP_VIEW] = DB_FOR_VIEW,
    [DB_GROUP_DERIVATIVES] = DB_FOR_CRYSTALS,
    [DB_GROUP_CONTROL] = RENDERERS | DB_FOR_NOISE,
};

#define TABLE(name, its_bit)                                                                       \
    {                                                                                              \
        .command = (name), .flags = flags, .count = sizeof flags / sizeof *flags,                  \
        .bit = (its_bit), .commands = commands, .groups = groups, .group_commands = group_commands \
    }
const db_flag_table db_sim_flags = TABLE("sim", DB_FOR_SIM);
const db_flag_table db_grad_flags = TABLE("grad", DB_FOR_GRAD);
const db_flag_table db_check_flags = TABLE("check", DB_FOR_CHECK);
const db_flag_table db_amorphous_flags = TABLE("amorphous", DB_FOR_AMORPHOUS);
const db_flag_table db_orient_flags = TABLE("orient", DB_FOR_ORIENT);
const db_flag_table db_noise_flags = TABLE("noise", DB_FOR_NOISE);
const db_flag_table db_view_flags = {
    .command = "view",
    .flags = flags,
    .count = sizeof flags / sizeof *flags,
    .bit = DB_FOR_VIEW,
    .commands = commands,
    .groups = groups,
    .group_commands = group_commands,
    .takes_words = 1,
};
