/* The table of keys: sections, ranges, defaults and help texts. */
#include "fit/config/config_keys.h"

#include <dualbragg/expert/setup_fields.h>

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define ANY -DBL_MAX, DBL_MAX
#define POSITIVE DBL_MIN, DBL_MAX
#define NOT_NEGATIVE 0, DBL_MAX
#define COUNT_FROM(least) (least), INT_MAX

#define IN_CONFIG(member) offsetof(db_fit_config, member)
#define IN_STAGE(member) offsetof(db_stage_entry, stage.member)
#define IN_REFINE(member) offsetof(db_refine_entry, member)

/* clang-format off */
/* A key of its own: its field, the effect of leaving it out, and an example. */
#define OWN(key_open, sample, ...) \
    { .is = &(const db_setup_field){ __VA_ARGS__ }, .open = (key_open), .example = (sample) }
#define NUMBERS(key, n, where, limits, key_unit, key_open, sample, text) \
    OWN(key_open, sample, .name = (key), .kind = DB_FIELD_NUMBER, .count = (n), .offset = (where), .factor = 1, \
        RANGE(limits), .unit = (key_unit), .help = (text))
#define INTEGERS(key, n, where, limits, key_unit, key_open, open_value, sample, text) \
    OWN(key_open, sample, .name = (key), .kind = DB_FIELD_INTEGER, .count = (n), .offset = (where), .factor = 1, \
        RANGE(limits), .unit = (key_unit), .open = (open_value), .help = (text))
#define CHOICE(key, where, list, key_open, open_value, sample, text) \
    OWN(key_open, sample, .name = (key), .kind = DB_FIELD_CHOICE, .count = 1, .offset = (where), .factor = 1, \
        .unit = "", .open = (open_value), .choices = (list), .help = (text))
#define OTHER(key, its_kind, where, key_open, sample, text) \
    OWN(key_open, sample, .name = (key), .kind = (its_kind), .count = 1, .offset = (where), .factor = 1, .unit = "", \
        .open = -1, .help = (text))
/* A field of the set-up. */
#define FIELD(id, key_open, sample) \
    { .is = &db_setup_fields[DB_FIELD_##id], .base = offsetof(db_fit_config, setup), .open = (key_open), \
      .example = (sample) }
#define RANGE(limits) RANGE_OF limits
#define RANGE_OF(...) RANGE_FROM_TO(__VA_ARGS__)
#define RANGE_FROM_TO(low, high) .least = (low), .most = (high)
/* clang-format on */

static const char *const geometries[] = { "given", "header", NULL };
static const char *const no_yes[] = { "no", "yes", NULL };
static const char *const sharing[] = { "no", "yes", "by_setting", NULL };
static const char *const precisions[] = { "double", "mixed", NULL };

_Static_assert(sizeof(db_precision) == sizeof(int) && sizeof(db_fit_target) == sizeof(int) &&
                   sizeof(db_fit_background) == sizeof(int) && sizeof(db_fit_pixels) == sizeof(int),
               "choices are stored as int");

static const char *const targets[] = {
    "weighted", "gaussian", "poisson", "huber", "student", NULL
};
static const char *const pixel_choices[] = { "all", "shoeboxes", NULL };
static const char *const backgrounds[] = { "plane", "constant", "fixed", "smooth", "none", NULL };

#define BY_SHOTS "chosen by the shots: the value that makes them most likely (evidence)"
#define FROM_HEADER "from the image header"
#define THAT_OF_CONVENTION "of the convention (other axes: custom only)"

/* clang-format off */
static const db_config_key top_keys[] = {
    OTHER("image", DB_KEY_FILE, IN_CONFIG(image_file), "none: required here or as --image", "frame_0001.cbf",
        "measured image of any format"),
    OTHER("output", DB_KEY_FILE, IN_CONFIG(output_prefix),
          "the configuration's name with _refined, in the working directory", "frame_0001",
          "prefix of the output files: .yaml .mat .json .html .log"),
    CHOICE("precision", IN_CONFIG(settings.precision), precisions, NULL, 0, NULL,
        "arithmetic; mixed is faster: indices in double, the rest in float"),
};

static const db_config_key model_keys[] = {
    CHOICE("geometry", IN_CONFIG(header_geometry), geometries, NULL, 0, NULL,
        "header: values that are missing below come from the image header"),
    FIELD(CONVENTION, NULL, NULL),
    OTHER("expt", DB_KEY_FILE, IN_CONFIG(expt_file), "the keys below and the image header", "refined.expt",
        "DIALS experiment list, .geom or .stream of CrystFEL, XPARM.XDS, NXmx file: its frame, panels, beam, spindle "
        "and crystal; keys of crystal, beam and spindle take precedence, distance moves the panels"),
    FIELD(EXPT_NUMBER, "the only one, or the one of the image", "0"),
    FIELD(EXPT_FRAME, "the image's, else the first", "17"),
    OTHER("matrix", DB_KEY_FILE, IN_CONFIG(matrix_file), "the crystal is in the standard frame", "crystal.mat",
        "MOSFLM orientation matrix (wavelength x A*); with cell: directions from the matrix, edges from cell"),
    FIELD(CELL, "from the matrix, or found", "[58.4, 58.4, 152.2, 90, 90, 90]"),
    OTHER("symmetry", DB_KEY_NAME, IN_CONFIG(symmetry),
        "symmetry of the experiment list; without one, edges and angles are tied only by the key follows", "P 43 21 2",
        "crystal system, lattice (tP), number or symbol of a space group; the cell keeps this symmetry in the "
        "refinement"),
    NUMBERS("orientation", 9, IN_CONFIG(orientation), (-1.000001, 1.000001), "", "from the matrix",
        "[1, 0, 0, 0, 1, 0, 0, 0, 1]",
        "rotation, row by row, from the standard frame (c along z, b in the yz plane); replaces the rotation of the "
        "matrix"),
    OTHER("find_orientation", DB_KEY_LATTICES, IN_CONFIG(find_orientation), NULL, NULL,
        "yes: finds the orientation from the spots, and the cell if none is given; a given orientation is ignored. "
        "Allowed errors: if all edges are refined, 3 % of the scale (cell, distance) and 5 % of an edge, else 0.5 %; beam "
        "centre: 10 pixels if it is refined, else 2. {lattices: N}: finds up to N "
        "crystals on one image, or on the frames of a series, and refines them together; one of no, yes, "
        "{lattices: N}"),
    FIELD(MISSET, NULL, NULL),
    FIELD(MISSET_FRAME, NULL, NULL),
    FIELD(CRYSTAL_POSITION, NULL, NULL),
    FIELD(SHAPE, NULL, NULL),
    FIELD(NCELLS, "from the widths of the spots", "[20, 20, 20]"),
    FIELD(FUDGE, NULL, NULL),
    FIELD(MOSAIC_SPREAD, NULL, NULL),
    FIELD(MOSAIC_ABC, "mosaic_spread for all axes", "[0.1, 0.1, 0.3]"),
    FIELD(MOSAIC_DOMAINS, "1, or 10 with a spread", "25"),
    FIELD(MOSAIC_SEED, NULL, NULL),
    FIELD(SPOTS, NULL, NULL),
    FIELD(MOSAIC_RMS, "0", "0.1"),
    FIELD(MOSAIC_RMS_ABC, "0", "[0.1, 0.1, 0.2]"),
    FIELD(MOSAIC_TENSOR, "0", "[0.01, 0.01, 0.04, 0, 0, 0.005]"),
    FIELD(STRAIN_RMS, "0", "0.001"),
    FIELD(STRAIN_RMS_TENSOR, "0", "[0.001, 0.001, 0.002, 0, 0, 0]"),
    FIELD(STRAIN_SYSTEM, "free", "tetragonal"),
    FIELD(MODE_1, "none", "[0.5, 0, 0, 0, 0.5, 2, 0, -2, 0.5]"),
    FIELD(MODE_2, "none", "[0, 0, 0, 0, 0, 1, 0, -1, 0]"),
    FIELD(MODE_3, "none", "[0, 1, 0, -1, 0, 0, 0, 0, 0]"),
    FIELD(TAIL_1, "none", "[0.2, 3]"),
    FIELD(TAIL_2, "none", "[0.05, 8]"),
    FIELD(SIZE_CORRELATION, "0; hexagonal axes without Ncells: -0.5 between a and b", "[0, 0, 0.3]"),
    FIELD(FOOTPRINT_RMS, "0", "[0.05, 0.02]"),
    FIELD(FOOTPRINT_CORRELATION, "0", "0.3"),
    FIELD(DIVERGENCE_RMS, "0", "[0.3, 0.1]"),
    FIELD(DIVERGENCE_CORRELATION, "0", "0.3"),
    FIELD(BANDWIDTH_RMS, "0", "0.0005"),
    FIELD(POINT_SPREAD_RMS, "0", "[0.05, 0.05]"),
    FIELD(POINT_SPREAD_CORRELATION, "0", "0.3"),
    FIELD(B_FACTOR, NULL, NULL),
    FIELD(DIFFUSE_SIGMA, "no halo", "0.3"),
    FIELD(DIFFUSE_GAMMA, "no halo", "40"),
    FIELD(WAVELENGTH, FROM_HEADER, "0.9686"),
    NUMBERS("energy", 1, IN_CONFIG(energy), (POSITIVE), "eV", "the key wavelength", "12800",
        "energy of the photons, instead of the wavelength"),
    FIELD(DISPERSION, NULL, NULL),
    FIELD(DISPERSION_STEPS, "automatic", "5"),
    OTHER("spectrum", DB_KEY_FILE, IN_CONFIG(spectrum_file), "none", "spectrum.dat",
        "spectrum instead of dispersion: file of two columns, wavelength (A) or energy (eV), and weight; its mean is "
        "shifted to the key wavelength, if given"),
    FIELD(SPECTRUM_STRETCH, NULL, NULL),
    FIELD(SPECTRUM_RESOLUTION, NULL, NULL),
    FIELD(DIVERGENCE, "none", "[0.1, 0.1]"),
    FIELD(DIVERGENCE_STEPS, "automatic", "[3, 3]"),
    FIELD(BEAM_TILT, NULL, NULL),
    FIELD(POLARIZATION, FROM_HEADER ", else 0", "0.98"),
    FIELD(FLUENCE, NULL, NULL),
    FIELD(SCALE, NULL, NULL),
    FIELD(PHI, NULL, NULL),
    FIELD(OSC, FROM_HEADER ", else 0", "0.1"),
    FIELD(PHI_STEPS, "1; 2 with osc; 10 with an osc from the header or the list", "10"),
    FIELD(SPINDLE_TILT, NULL, NULL),
    FIELD(DISTANCE, FROM_HEADER, "351.0"),
    FIELD(CLOSE_DISTANCE, "distance is used", "351.0"),
    FIELD(BEAM_CENTRE_PX, FROM_HEADER, "[1262.0, 1307.4]"),
    FIELD(PIXEL_SIZE, FROM_HEADER, "0.172"),
    FIELD(DETECTOR_PIXELS, FROM_HEADER, "[2463, 2527]"),
    FIELD(SENSOR_MATERIAL, FROM_HEADER, "Si"),
    FIELD(SENSOR_THICKNESS, FROM_HEADER ", else 0", "450"),
    FIELD(ATTENUATION_DEPTH, "from the image header or the list, else of the material, else the thickness", "250"),
    FIELD(SENSOR_LAYERS, "1", "3"),
    FIELD(DETECTOR_ROTATION, NULL, NULL),
    FIELD(PANEL_TURN, NULL, NULL),
    FIELD(PANEL_SHIFT, NULL, NULL),
    FIELD(TWOTHETA, FROM_HEADER ", else 0", "0.0"),
    FIELD(PIVOT, "of the convention", "beam"),
    FIELD(FAST_AXIS, THAT_OF_CONVENTION, "[0, 0, 1]"),
    FIELD(SLOW_AXIS, THAT_OF_CONVENTION, "[0, -1, 0]"),
    FIELD(NORMAL, THAT_OF_CONVENTION, "[1, 0, 0]"),
    FIELD(BEAM_AXIS, THAT_OF_CONVENTION, "[1, 0, 0]"),
    FIELD(POLARIZATION_AXIS, THAT_OF_CONVENTION, "[0, 0, 1]"),
    FIELD(SPINDLE_AXIS, THAT_OF_CONVENTION, "[0, 0, 1]"),
    FIELD(TWOTHETA_AXIS, THAT_OF_CONVENTION, "[0, 1, 0]"),
    FIELD(OVERSAMPLE, "automatic, by the widths of the spots", "2"),
    FIELD(POINT_PIXEL, NULL, NULL),
};

static const db_config_key intensity_keys[] = {
    OTHER("hkl", DB_KEY_FILE, IN_CONFIG(hkl_file), "free intensities", "structure_factors.hkl",
        "structure factors (electrons): text file of h k l F, list of SHELX, MTZ or CIF file; or a model's coordinates (PDB or "
        "mmCIF file), from which they are calculated"),
    OTHER("hkl_columns", DB_KEY_NAME, IN_CONFIG(hkl_columns), "the first amplitudes, else intensities", "F(+),F(-)",
        "column of an MTZ file, or two of Friedel mates; item of a CIF file (block/item where several blocks have "
        "reflections); F or I (intensities) for text"),
    OTHER("hkl_space_group", DB_KEY_NAME, IN_CONFIG(hkl_space_group),
          "text files are not expanded, other files have a group", "P 61 2 2",
          "number or symbol of the space group that expands a text file"),
    FIELD(K_SOL, NULL, NULL),
    FIELD(B_SOL, NULL, NULL),
    FIELD(MODEL_RESOLUTION, "the corners of the detector", "1.5"),
    FIELD(ANOMALOUS, NULL, NULL),
    FIELD(DEFAULT_F, NULL, NULL),
    OTHER("sites", DB_KEY_SITES, IN_CONFIG(sites), "the same structure factors at all energies",
        "FES:FE1=reduced.tsv,FES:FE2=table:1",
        "with a model: kinds of sites whose f' and f'' follow curves of the photon energy, as -sites of sim: SITES=FILE of "
        "energy (eV), f', f'', or SITES=table[:SHIFT], a free atom's with its edge SHIFT eV higher"),
};

static const db_config_key data_keys[] = {
    CHOICE("target", IN_CONFIG(settings.target), targets, NULL, 0, NULL,
        "function to minimize: weighted: chi2 with variances of the measured counts; gaussian: with variances of the "
        "model; poisson: for photon counts; huber, student: robust against outliers"),
    NUMBERS("huber_limit", 1, IN_CONFIG(settings.huber_limit), (POSITIVE), "", NULL, NULL,
        "standard deviations beyond which huber is linear"),
    NUMBERS("student_freedom", 1, IN_CONFIG(settings.student_freedom), (POSITIVE), "", NULL, NULL,
        "degrees of freedom of student; fewer are more robust"),
    CHOICE("background", IN_CONFIG(settings.background), backgrounds, NULL, 0, NULL,
        "background of each shoebox or tile: plane and constant are refined; fixed: robust mean of the surroundings; "
        "smooth: surface through the panel's pixels outside spots; planes become smooth on frames of a series with fewer "
        "than half a photon per pixel"),
    NUMBERS("gain", 1, IN_CONFIG(settings.gain), (POSITIVE), "counts/photon",
        FROM_HEADER ", else 1; measured if pixels scatter more than photon noise", "1.0",
        "gain of the detector"),
    NUMBERS("readout_noise", 1, IN_CONFIG(settings.readout_noise), (NOT_NEGATIVE), "counts", NULL, NULL,
        "standard deviation of one pixel without photons"),
    NUMBERS("trusted", 2, IN_CONFIG(trusted), (ANY), "counts", "of the image or the experiment list",
        "[-10, 65000]", "least and largest trusted count"),
    OTHER("mask", DB_KEY_FILE, IN_CONFIG(mask_file), "none", "mask.img",
        "SMV image of the detector's size (panels one below the other); pixels that are 0 in it are left out"),
    OTHER("hot_pixels", DB_KEY_FILE, IN_CONFIG(hot_pixel_file), "none", "hot.txt",
        "text file of pixels to leave out: fast slow [panel], from 0"),
    INTEGERS("modules", 4, IN_CONFIG(modules), (COUNT_FROM(0)), "pixels",
        "of a known detector of this size, if panel_groups needs them", 0, "[1030, 514, 10, 37]",
        "modules of a detector with one panel: pixels of a module along fast, slow, and of the gaps between modules"),
    NUMBERS("hot_sigma", 1, IN_CONFIG(hot_sigma), (NOT_NEGATIVE), "", NULL, NULL,
        "hot pixels: single pixels this many standard deviations above their surroundings are left out, unless they are at "
        "reflections of the model; 0: none"),
    NUMBERS("dmin", 1, IN_CONFIG(settings.dmin), (NOT_NEGATIVE), "A", NULL, NULL, "finest resolution used; 0: all"),
    NUMBERS("dmax", 1, IN_CONFIG(settings.dmax), (NOT_NEGATIVE), "A", NULL, NULL, "coarsest resolution used; 0: all"),
    CHOICE("pixels", IN_CONFIG(settings.pixels), pixel_choices, NULL, 0, NULL,
        "pixels that known structure factors are compared with: all, or shoeboxes around the brightest reflections "
        "of the model (known)"),
    INTEGERS("shoebox_half_width", 1, IN_CONFIG(settings.shoebox_half_width), (1, 100), "pixels",
        "the largest that fits between predicted reflections, up to 8, or 20 with wide spots", 0, "6",
        "half width w: shoeboxes are (2w + 1) pixels wide"),
    INTEGERS("max_shoeboxes", 1, IN_CONFIG(settings.max_shoeboxes), (1, 1000000), "", NULL, 0, NULL,
        "largest number of shoeboxes; the strongest are used"),
    OTHER("reflections", DB_KEY_FILE, IN_CONFIG(reflection_file), "reflections with strong pixels", "reflections.txt",
        "text file of h k l, or indexed reflections of DIALS (.refl): only these get shoeboxes (free)"),
    OTHER("spots", DB_KEY_FILE, IN_CONFIG(spot_file), "reflections with strong pixels", "spots.txt",
        "text file of fast slow [panel], or spots of DIALS (.refl): only predicted reflections within half a "
        "shoebox of one of them get shoeboxes (free)"),
    OTHER("boxes", DB_KEY_FILE, IN_CONFIG(box_file), "squares around predicted reflections", "boxes.txt",
        "shoeboxes: text file of panel fast_min fast_max slow_min slow_max [h k l], or boxes of DIALS (.refl) (free)"),
    NUMBERS("strong_sigma", 1, IN_CONFIG(settings.strong_sigma), (POSITIVE), "", NULL, NULL,
        "a pixel is strong if it is this many standard deviations above the local background"),
    INTEGERS("min_strong_reflections", 1, IN_CONFIG(settings.min_strong_reflections), (1, 1000000),
             "", NULL, 0, NULL, "an image with fewer strong reflections is refused as blank"),
    NUMBERS("excitation_angle", 1, IN_CONFIG(settings.excitation_angle), (POSITIVE), "degree", NULL, NULL,
        "reflections within this angle of the Ewald sphere are predicted"),
    NUMBERS("intensity_limit", 1, IN_CONFIG(settings.intensity_limit), (NOT_NEGATIVE), "", NULL, NULL,
        "prior that keeps intensities below this many times the mean at their resolution (in stages with "
        "blur 1: below ten times this limit); 0: none (free)"),
    NUMBERS("intensity_error", 1, IN_CONFIG(settings.intensity_error), (NOT_NEGATIVE), "", NULL, NULL,
        "relative error of known intensities: each shoebox has a factor of its own, with a prior of 1 within this error; 0: "
        "they are exact (known, with pixels: shoeboxes and a refined scale)"),
    NUMBERS("model_error", 1, IN_CONFIG(settings.model_error), (NOT_NEGATIVE), "", "0.1 (free), 0 (known)", "0.1",
        "relative error of the model's spots, added to the variance, because no real spot has an ideal shape"),
    INTEGERS("roi", 4, IN_CONFIG(settings.roi), (COUNT_FROM(0)), "pixels", "whole image", -1,
        "[200, 1800, 200, 1800]", "region of interest: fast min, max, slow min, max, inclusive; pixels outside are left out; for one panel"),
};

static const db_config_key shots_keys[] = {
    OTHER("list", DB_KEY_FILE, IN_CONFIG(shot_list), "one image, named above", "shots.txt",
        "text file: each line has an image or the configuration (.yaml) of a shot, and KEY=VALUE for this shot; or a "
        "DIALS experiment list (.expt), each image a shot; or a .stream of CrystFEL, each crystal a shot"),
    CHOICE("series", IN_CONFIG(series), no_yes, NULL, 0, NULL,
        "yes: the images are frames of one rotating crystal: phi comes from their headers; all refined parameters, "
        "the orientation too, are shared except the scale; parts of a reflection on consecutive frames have one "
        "intensity"),
    NUMBERS("knots", 1, IN_CONFIG(series_knots), (NOT_NEGATIVE), "frames", NULL, NULL,
        "series: orientation and shared scale vary linearly between knots, about this many frames apart; 0: constant"),
    NUMBERS("outlier_sigma", 1, IN_CONFIG(shot_outlier_sigma), (NOT_NEGATIVE), "", NULL, NULL,
        "excludes shots whose chi2 is this many robust standard deviations (of its logarithm) above the median; 0: "
        "none"),
};

static const db_config_key refine_keys[] = {
    NUMBERS("range", 1, IN_REFINE(range), (POSITIVE), "", "no bounds", "0.5",
        "bounds at start - range and start + range, instead of min and max"),
    NUMBERS("min", 1, IN_REFINE(lower), (ANY), "", "no bound", "58.0", "lower bound of the value itself"),
    NUMBERS("max", 1, IN_REFINE(upper), (ANY), "", "no bound", "59.0", "upper bound of the value itself"),
    NUMBERS("scale", 1, IN_REFINE(scale), (POSITIVE), "", "chosen from the data", "0.1",
        "typical change: unit of the optimizer"),
    OTHER("follows", DB_KEY_PARAMETER, IN_REFINE(follows), "independent", "cell_a",
        "keeps the value of another refined parameter: b follows a in a tetragonal cell"),
    NUMBERS("prior", 2, IN_REFINE(prior), (ANY), "", "none", "[58.5, 0.1]",
        "prior knowledge: centre and standard deviation"),
    CHOICE("shared", IN_REFINE(shared), sharing, "yes for detector and spindle axis, else no", -1, "yes",
        "one value for all images; no effect with one image; by_setting: one orientation for each setting of the goniometer "
        "in a series, one place of the detector wherever it stands, tilts of each spindle; others as yes; the default if the "
        "orientation of several sweeps is found"),
    CHOICE("earned", IN_REFINE(earned), no_yes, NULL, 0, "yes",
        "yes: refined only if the data ask for it; has an effect without the section stages, and "
        "for scale, spindle tilts and rotations of blocks by direction in a series also with it"),
};

static const db_config_key stage_keys[] = {
    OTHER("name", DB_KEY_NAME, IN_STAGE(name), "no. 1, no. 2 ...", "coarse", "shown in the log"),
    OTHER("refine", DB_KEY_PARAMETER_SET, offsetof(db_stage_entry, refine), NULL, NULL,
        "parameters refined in this stage, a list, or all"),
    NUMBERS("dmin", 1, IN_STAGE(dmin), (NOT_NEGATIVE), "A", NULL, NULL,
        "finest resolution used in this stage; 0: as in data"),
    NUMBERS("innermost", 1, IN_STAGE(innermost), (0, 1), "", NULL, NULL,
        "fraction of the image's spots that this stage uses, nearest to the beam; 0: all"),
    NUMBERS("blur", 1, IN_STAGE(blur), (1, 1000), "", NULL, NULL,
        "divides the crystal size: wider spots reach measured spots that are farther away"),
    OTHER("algorithm", DB_KEY_ALGORITHM, offsetof(db_stage_entry, stage), NULL, NULL,
        "LM: Levenberg-Marquardt on pixels; moments: Levenberg-Marquardt on places and widths of spots in closed "
        "form; intensities: last stage of intensity: joint, added by itself; or an algorithm of NLopt: LD_LBFGS, "
        "LD_SLSQP, LD_CCSAQ, LD_MMA, LD_VAR2, LD_TNEWTON_PRECOND ..., or for a search between bounds GN_CRS2_LM, "
        "G_MLSL_LDS ..."),
    CHOICE("target", IN_STAGE(target), targets, "of data", -1, "weighted", "function to minimize in this stage"),
    NUMBERS("tolerance", 1, IN_STAGE(tolerance), (1e-15, 1), "", NULL, NULL,
        "the stage ends if a further step promises a smaller relative decrease of the target"),
    NUMBERS("step", 1, IN_STAGE(step), (NOT_NEGATIVE), "", NULL, NULL,
        "the stage also ends if a further step is shorter than this many standard errors (LM)"),
    INTEGERS("max_evaluations", 1, IN_STAGE(max_evaluations), (1, 1000000), "", NULL, 0, NULL,
        "largest number of evaluations of the target"),
    CHOICE("earned", IN_STAGE(earned), no_yes, NULL, 0, NULL,
        "moments: parameters that are refined for the first time are kept only if they describe held-out spots better"),
    NUMBERS("most_misfit", 1, IN_STAGE(most_misfit), (NOT_NEGATIVE), "", NULL, NULL,
        "pixels: the stage is left out if chi2 per degree of freedom exceeds this at its start, or if spots "
        "contradict its result; 0: never"),
};

static const db_config_key starts_keys[] = {
    INTEGERS("count", 1, IN_CONFIG(settings.starts.count), (1, 1000000), "", NULL, 0, NULL,
        "orientations tried, the given one included; 1: only that one"),
    NUMBERS("misset", 1, IN_CONFIG(settings.starts.turn), (DBL_MIN, 180), "degree", NULL, NULL,
        "largest turn of other starts, which are evenly distributed around the given one; bounds of misset_x, "
        "misset_y and misset_z must allow it"),
    INTEGERS("seed", 1, IN_CONFIG(settings.starts.seed), (0, 1000000), "", NULL, 0, NULL,
        "seed of the orientations"),
    INTEGERS("keep", 1, IN_CONFIG(settings.starts.keep), (1, 1000000), "", NULL, 0, NULL,
        "number of best starts that go through all stages, until one explains half of the strong pixels"),
    INTEGERS("evaluations", 1, IN_CONFIG(settings.starts.evaluations), (1, 1000000), "", NULL, 0, NULL,
        "largest number of evaluations of the first stage for each start"),
};

static const db_config_key amplitudes_keys[] = {
    CHOICE("anomalous", IN_CONFIG(settings.joint.anomalous), no_yes, NULL, 0, NULL,
        "yes: Bijvoet mates have separate intensities"),
    CHOICE("reindex", IN_CONFIG(settings.joint.reindex), no_yes, NULL, 0, NULL,
        "yes: resolves the indexing ambiguity: if the lattice allows several ways of indexing, shots are reindexed "
        "to one way; shots with undecided intensities, and shots of the other hand, are excluded"),
    NUMBERS("dmin", 1, IN_CONFIG(settings.joint.dmin), (POSITIVE), "A", "resolution at half of the detector's rim, or data.dmin", "1.8",
        "finest resolution"),
    NUMBERS("energies", 2, IN_CONFIG(settings.joint.energies), (NOT_NEGATIVE), "eV", "all", "[7090, 7112]",
        "least and largest photon energy: reflections whose photons have another mean energy, by the model of their "
        "shot, are left out"),
    NUMBERS("restraint", 1, IN_CONFIG(settings.joint.restraint), (POSITIVE), "", "none", "3",
        "restrains each intensity to the mean at its resolution, with a standard deviation of this many times the "
        "mean; reflections that no shot shows have no intensity"),
    OTHER("reference", DB_KEY_FILE, IN_CONFIG(reference_file), "none", "known.mtz",
        "known structure factors: text file of h k l F in the asymmetric unit, MTZ or mmCIF file. Results are "
        "compared with them after a scale and a B factor, and shots are indexed like them"),
    OTHER("reference_columns", DB_KEY_NAME, IN_CONFIG(reference_columns), "the first amplitudes, else intensities", "F(+),F(-)",
        "column of an MTZ file, or two of Friedel mates; item of a CIF file (block/item where several blocks have "
        "reflections); F or I (intensities) for text"),
    NUMBERS("reference_restraint", 1, IN_CONFIG(settings.joint.reference_restraint), (POSITIVE), "", "none: only compared", "0.3",
        "restrains each intensity to the reference, scaled to the data, with a standard deviation of this many times "
        "the mean at its resolution; instead of restraint"),
    INTEGERS("passes", 1, IN_CONFIG(settings.joint.passes), (0, 1000), "", NULL, 0, NULL,
        "largest number of passes over all shots, without the first one, which measures single shots; 0: only scales and averages the intensities of single shots"),
    INTEGERS("seed", 1, IN_CONFIG(settings.joint.seed), (0, 1000000), "", NULL, 0, NULL,
        "seed of the halves of the shots"),
};

static const db_config_key curves_keys[] = {
    NUMBERS("energies", 3, IN_CONFIG(settings.curves.points), (NOT_NEGATIVE), "", "curves stay as they are given",
        "[7090, 7150, 31]",
        "first and last photon energy (eV), and number of points between which curves are straight lines: f' and f'' at "
        "all points are refined"),
    NUMBERS("smoothness", 1, IN_CONFIG(settings.curves.smoothness), (NOT_NEGATIVE), "electrons", BY_SHOTS, "1",
        "prior: standard deviation of the difference between a point and the mean of its neighbours; 0: none"),
    NUMBERS("kramers_kronig", 1, IN_CONFIG(settings.curves.kramers_kronig), (NOT_NEGATIVE), "electrons", BY_SHOTS, "0.4",
        "prior: standard deviation of f' from the Kramers-Kronig transform of f''; outside the energies "
        "f'' is the starting curve; 0: none"),
    NUMBERS("wings", 2, IN_CONFIG(settings.curves.wings), (NOT_NEGATIVE), "eV, electrons", NULL, NULL,
        "prior on points near the first and last energy: how near (eV), and standard deviation from the starting "
        "curve (electrons), both above 0; 0, 0: none"),
};

/* clang-format on */

#define SECTION(section_name, text, list)                                                          \
    { (section_name), (text), (list), sizeof(list) / sizeof((list)[0]) }

const db_config_section db_config_sections[DB_SECTION_COUNT] = {
    [DB_SECTION_TOP] = SECTION("", "", top_keys),
    [DB_SECTION_MODEL] = SECTION("model", "the starting model", model_keys),
    [DB_SECTION_INTENSITY] =
        SECTION("intensity", "free, or known structure factors", intensity_keys),
    [DB_SECTION_DATA] = SECTION("data", "used pixels of the image, and their noise", data_keys),
    [DB_SECTION_SHOTS] =
        SECTION("shots", "many shots refined together, instead of one image", shots_keys),
    [DB_SECTION_STARTS] =
        SECTION("starts", "several starts, for an orientation that is known roughly", starts_keys),
    [DB_SECTION_AMPLITUDES] = SECTION("intensities",
                                      "one intensity of each reflection for all shots (intensity: "
                                      "joint), or merged ones of a series",
                                      amplitudes_keys),
    [DB_SECTION_CURVES] =
        SECTION("curves", "f' and f'' of the sites of intensity.sites, which many shots share",
                curves_keys),
};
const db_config_section db_refine_section = SECTION("refine", "parameters to refine", refine_keys);
const db_config_section db_stage_section = SECTION("stages", "run one after the other", stage_keys);

int db_config_takes_parameter(db_parameter parameter) {
    return (unsigned)parameter < DB_PARAMETER_COUNT &&
           !(db_facts_of(parameter)->moves & (DB_MOVES_SENSOR | DB_MOVES_BACKGROUND));
}

const db_config_key *db_config_key_find(const db_config_section *section, const char *name) {
    for (size_t i = 0; i < section->count; i++)
        if (strcmp(section->keys[i].is->name, name) == 0) return &section->keys[i];
    return NULL;
}

void *db_config_field(const db_config_key *key, const void *base) {
    return (char *)(uintptr_t)base + key->base + key->is->offset;
}

int db_config_integer(const void *field, int index) {
    int value;
    memcpy(&value, (const char *)field + (size_t)index * sizeof value, sizeof value);
    return value;
}

int db_config_key_values(const db_config_key *key, const void *base) {
    const double *const number = db_config_field(key, base);
    int count = key->is->fewest ? key->is->fewest : key->is->count;
    while (count < key->is->count && !isnan(number[count])) count++;
    return count;
}

int db_config_key_is_open(const db_config_key *key, const void *base) {
    const void *const field = db_config_field(key, base);
    switch (key->is->kind) {
    case DB_FIELD_NUMBER: return isnan(*(const double *)field) || isinf(*(const double *)field);
    case DB_FIELD_INTEGER:
    case DB_FIELD_CHOICE:
    case DB_KEY_PARAMETER: return key->open && db_config_integer(field, 0) == key->is->open;
    case DB_KEY_FILE:
    case DB_KEY_SITES:
    case DB_KEY_NAME: return *(const char *)field == '\0';
    case DB_FIELD_SEED:
    case DB_KEY_LATTICES:
    case DB_KEY_ALGORITHM:
    case DB_KEY_PARAMETER_SET: return 0;
    }
    return 0;
}
