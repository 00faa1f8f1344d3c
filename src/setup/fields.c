#include <dualbragg/expert/setup_fields.h>

#include "base/context_internal.h"
#include "base/given.h"
#include "model/model.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#define ANY -DBL_MAX, DBL_MAX
#define POSITIVE DBL_MIN, DBL_MAX
#define NOT_NEGATIVE 0, DBL_MAX
#define FROM(least) (least), INT_MAX

_Static_assert(sizeof(db_crystal_shape) == sizeof(int) && sizeof(db_convention) == sizeof(int) &&
                   sizeof(db_sensor_material) == sizeof(int) &&
                   sizeof(db_spot_model) == sizeof(int),
               "choices are stored as int");

static const char *const conventions[] = {
    "mosflm", "denzo", "adxv", "xds", "dials", "custom", NULL
};
static const char *const shapes[] = { "square", "round", "gauss", "tophat", NULL };
static const char *const pivots[] = { "beam", "sample", NULL };
static const char *const materials[] = { "unknown", "Si", "GaAs", "CdTe", "CZT", NULL };
static const char *const spot_models[] = { "sampled", "closed", NULL };
static const char *const strain_systems[] = { "free",       "uniaxial",   "isotropic",
                                              "triclinic",  "monoclinic", "orthorhombic",
                                              "tetragonal", "trigonal",   "hexagonal",
                                              "cubic",      NULL };
static const char *const no_yes[] = { "no", "yes", NULL };

/* clang-format off */
/* A row ends with its help, and with SHARED where all shots of a file share the field. */
#define SHARED .shared = 1
#define ROW(...) ROW_FROM(0, __VA_ARGS__)
#define ROW_FROM(least_count, its_name, its_what, its_unit, its_kind, n, member, by, limits, its_open, otherwise, list, ...) \
    { .name = (its_name), .what = (its_what), .unit = (its_unit), .kind = DB_FIELD_##its_kind, \
      .count = (n), .fewest = (least_count), .offset = offsetof(db_setup, member), .factor = (by), LIMITS limits, .open = (its_open), \
      .automatic = (otherwise), .choices = (list), .help = __VA_ARGS__ }
#define LIMITS(...) LIMITS_FROM_TO(__VA_ARGS__)
#define LIMITS_FROM_TO(low, high) .least = (low), .most = (high)
#define NUMBERS(name, what, unit, n, member, limits, ...) \
    ROW(name, what, unit, NUMBER, n, member, 1, limits, 0, NULL, NULL, __VA_ARGS__)
#define OPEN_NUMBERS(name, what, unit, n, member, limits, otherwise, ...) \
    ROW(name, what, unit, NUMBER, n, member, 1, limits, 1, otherwise, NULL, __VA_ARGS__)
#define SCALED(name, what, unit, n, member, by, limits, ...) \
    ROW(name, what, unit, NUMBER, n, member, by, limits, 0, NULL, NULL, __VA_ARGS__)
#define SPREAD(name, what, unit, n, member, limits, ...) \
    ROW(name, what, unit, NUMBER, n, spread.member, 1, limits, 1, "0", NULL, __VA_ARGS__)
#define INTEGERS(name, what, n, member, limits, its_open, otherwise, ...) \
    ROW(name, what, "", INTEGER, n, member, 1, limits, its_open, otherwise, NULL, __VA_ARGS__)
#define CHOICE(name, what, member, list, its_open, otherwise, ...) \
    ROW(name, what, "", CHOICE, 1, member, 1, (0, 0), its_open, otherwise, list, __VA_ARGS__)

const db_setup_field db_setup_fields[] = {
    [DB_FIELD_CONVENTION] = CHOICE("convention", "convention", convention, conventions, INT_MIN,
        NULL, "laboratory frame; mosflm: beam +x, fast axis +z, slow axis -y", SHARED),
    [DB_FIELD_EXPT_NUMBER] = INTEGERS("expt_number", "number of the experiment", 1, expt_number, (FROM(0)), -1,
        "the only one, or the one of the image", "which experiment of the list, from 0", SHARED),
    [DB_FIELD_EXPT_FRAME] = INTEGERS("expt_frame", "number of the image", 1, expt_frame, (FROM(0)), 0,
        "the named image, or the first one", "which image of the experiment's scan, as the scan counts them", SHARED),
    [DB_FIELD_CELL] = ROW_FROM(1, "cell", "unit cell", "A, deg", NUMBER, 6, cell, 1, (POSITIVE), 1, "from the matrix", NULL,
        "a, b, c, alpha, beta, gamma; edges left out equal a, angles left out are 90"),
    [DB_FIELD_MISSET] = NUMBERS("misset", "misset", "degree", 3, misset, (ANY),
        "turns the crystal about x, then y, then z of the laboratory"),
    [DB_FIELD_MISSET_FRAME] = NUMBERS("misset_frame", "frame of the misset", "degree", 3, misset_frame, (ANY),
        "turns the axes of misset about x, then y, then z of the laboratory; for sweeps of a rotation series after the first, if the goniometer has another setting"),
    [DB_FIELD_CRYSTAL_POSITION] = NUMBERS("crystal_position", "position of the crystal", "mm", 3, crystal_position, (-1000, 1000),
        "position of the crystal: x, y, z of the laboratory, from its origin, at spindle angle 0; the spindle turns the crystal about the origin"),
    [DB_FIELD_SHAPE] = CHOICE("shape", "crystal shape", shape, shapes, INT_MIN, NULL, "shape of the crystal, which determines the shape of spots"),
    [DB_FIELD_NCELLS] = NUMBERS("Ncells", "crystal size", "", 3, Ncells, (1, 1e9), "crystal size in unit cells: Na, Nb, Nc"),
    [DB_FIELD_FUDGE] = NUMBERS("fudge", "fudge", "", 1, fudge, (POSITIVE),
        "multiplies the squared radius of round, Gaussian and flat spots"),
    [DB_FIELD_MOSAIC_SPREAD] = NUMBERS("mosaic_spread", "mosaic spread", "degree", 1, mosaic_spread, (NOT_NEGATIVE),
        "cap angle of the rotations of mosaic domains"),
    [DB_FIELD_MOSAIC_ABC] = OPEN_NUMBERS("mosaic_abc", "anisotropic mosaic spread", "degree", 3, mosaic_abc, (NOT_NEGATIVE),
        "the mosaic spread for all axes",
        "caps of the rotations about a*, about c x a* (b if alpha is 90) and about c, instead of the mosaic spread"),
    [DB_FIELD_MOSAIC_DOMAINS] = INTEGERS("mosaic_domains", "mosaic domains", 1, mosaic_domains, (FROM(1)), 0,
        "1, or 10 with a spread", "number of mosaic domains"),
    [DB_FIELD_MOSAIC_SEED] = ROW("mosaic_seed", "mosaic seed", "", SEED, 1, mosaic_seed, 1, (1, 2147483646), INT_MIN, NULL, NULL,
        "seed of the rotations of mosaic domains"),
    [DB_FIELD_B_FACTOR] = NUMBERS("b_factor", "B factor", "A^2", 1, b_factor, (ANY),
        "Debye-Waller factor exp(-2 B (sin(theta)/lambda)^2) on the crystal's intensity"),
    [DB_FIELD_DIFFUSE_SIGMA] = ROW_FROM(1, "diffuse_sigma", "sigma of the diffuse halo", "A", NUMBER, 3, diffuse_sigma, 1, (NOT_NEGATIVE), 1,
        "no halo", NULL, "diffuse halo about spots: standard deviation of displacements along each axis; one for all axes, or along a*, c x a* and c"),
    [DB_FIELD_DIFFUSE_GAMMA] = ROW_FROM(1, "diffuse_gamma", "gamma of the diffuse halo", "A", NUMBER, 3, diffuse_gamma, 1, (POSITIVE), 1,
        "no halo", NULL, "correlation length of these displacements; one for all axes, or along a*, c x a* and c"),
    [DB_FIELD_SPOTS] = CHOICE("spots", "spots", spread.spots, spot_models, INT_MIN, NULL,
        "sampled: sum over mosaic domains, sources and phi steps; closed: closed form for Gaussian spreads, without samples; default: sampled; closed in fit with free intensities", SHARED),
    [DB_FIELD_SIZE_CORRELATION] = SPREAD("size_correlation", "correlation of the size", "", 3, size_correlation, (-1, 1),
        "spots closed: correlations of the size of blocks, between b and c, c and a, a and b"),
    [DB_FIELD_MOSAIC_RMS] = SPREAD("mosaic_rms", "mosaic spread (rms)", "degree", 1, mosaic_rms, (0, 180),
        "spots closed: standard deviation of the rotations of blocks about each axis; a cap (mosaic_spread) corresponds to 0.496 of its value"),
    [DB_FIELD_MOSAIC_RMS_ABC] = SPREAD("mosaic_rms_abc", "mosaic spread (rms) about axes", "degree", 3, mosaic_rms_abc, (0, 180),
        "spots closed: standard deviations of the rotations about a*, about c x a* (b if alpha is 90) and about c, in addition to mosaic_rms"),
    [DB_FIELD_MOSAIC_TENSOR] = SPREAD("mosaic_tensor", "mosaic tensor", "degree^2", 6, mosaic_tensor, (ANY),
        "spots closed: covariances xx, yy, zz, yz, zx, xy of the rotations about x = a*, y = c x a*, z = c, instead of mosaic_rms_abc"),
    [DB_FIELD_STRAIN_RMS] = SPREAD("strain_rms", "strain (rms)", "", 1, strain_rms, (0, 1),
        "spots closed: relative standard deviation of the lattice constants of blocks, which vary together; 0.001 is 0.1 %"),
    [DB_FIELD_STRAIN_RMS_TENSOR] = SPREAD("strain_rms_tensor", "strains (rms)", "", 6, strain_rms_tensor, (0, 1),
        "spots closed: relative standard deviations of the strains xx, yy, zz, yz, zx, xy of blocks along x = a*, "
        "y = c x a*, z = c, in addition to strain_rms"),
    [DB_FIELD_STRAIN_SYSTEM] = CHOICE("strain_system", "strain system", spread.strain_system, strain_systems, 0,
        "free", "spots closed: ties of strains: uniaxial: yy = xx; isotropic: zz = yy = xx; a crystal system ties and forbids strains by symmetry"),
    [DB_FIELD_MODE_1] = OPEN_NUMBERS("mode1", "mode 1", "1e-3", 9, spread.mode[0], (ANY), "none",
        "spots closed: mode of a bent or graded crystal: matrix xx, xy, xz, yx ... zz along x = a*, y = c x a*, z = c; a normal deviate times this matrix turns and strains the lattice of a block"),
    [DB_FIELD_MODE_2] = OPEN_NUMBERS("mode2", "mode 2", "1e-3", 9, spread.mode[1], (ANY), "none", "second mode, independent of the first"),
    [DB_FIELD_MODE_3] = OPEN_NUMBERS("mode3", "mode 3", "1e-3", 9, spread.mode[2], (ANY), "none", "third mode"),
    [DB_FIELD_TAIL_1] = OPEN_NUMBERS("tail1", "tail 1", "", 2, spread.tail[0], (NOT_NEGATIVE), "none",
        "spots closed: heavier tail: fraction of the blocks, and factor on the widths of their rotations and strains"),
    [DB_FIELD_TAIL_2] = OPEN_NUMBERS("tail2", "tail 2", "", 2, spread.tail[1], (NOT_NEGATIVE), "none", "second tail: fraction and factor"),
    /* at most 0.2: the closed form is off by about the bandwidth, and a wider Gaussian has wavelengths below 0 */
    [DB_FIELD_BANDWIDTH_RMS] = SPREAD("bandwidth_rms", "bandwidth (rms)", "", 1, bandwidth_rms, (0, 0.2),
        "spots closed: relative standard deviation of the wavelength of each source; 0.001 is 0.1 %; a full range (dispersion) corresponds to 0.289 of its value"),
    [DB_FIELD_DIVERGENCE_RMS] = SPREAD("divergence_rms", "divergence (rms)", "mrad", 2, divergence_rms, (0, 1570),
        "spots closed: standard deviations of the direction of each source: horizontal (along the E field), vertical; a full range corresponds to 0.289 of its value, two ranges with the elliptical cut to 1/4 of each"),
    [DB_FIELD_DIVERGENCE_CORRELATION] = SPREAD("divergence_correlation", "correlation of the divergence", "", 1,
        divergence_correlation, (-1, 1), "correlation of horizontal and vertical divergence"),
    [DB_FIELD_FOOTPRINT_RMS] = SPREAD("footprint_rms", "footprint (rms)", "mm", 2, footprint_rms, (NOT_NEGATIVE),
        "spots closed: standard deviations of the scattering part of the crystal: horizontal (along the E field), vertical; a uniformly lit crystal with straight edges has 0.289 of its edge"),
    [DB_FIELD_FOOTPRINT_CORRELATION] = SPREAD("footprint_correlation", "correlation of the footprint", "", 1,
        footprint_correlation, (-1, 1), "correlation of horizontal and vertical footprint"),
    [DB_FIELD_POINT_SPREAD_RMS] = SPREAD("point_spread_rms", "point spread (rms)", "mm", 2, point_spread_rms, (NOT_NEGATIVE),
        "spots closed: standard deviations of the detector's point spread along fast and slow, 0.425 of a full width at half maximum"),
    [DB_FIELD_POINT_SPREAD_CORRELATION] = SPREAD("point_spread_correlation", "correlation of the point spread", "", 1,
        point_spread_correlation, (-1, 1), "correlation of the point spread along fast and slow"),
    [DB_FIELD_K_SOL] = NUMBERS("k_sol", "k_sol", "e/A^3", 1, k_sol, (0, 10),
        "with coordinates: density of the bulk solvent; 0: none", SHARED),
    [DB_FIELD_B_SOL] = NUMBERS("b_sol", "B_sol", "A^2", 1, b_sol, (0, 10000),
        "with coordinates: B factor of the bulk solvent", SHARED),
    [DB_FIELD_MODEL_RESOLUTION] = OPEN_NUMBERS("model_resolution", "resolution of the model", "A", 1, model_resolution,
        (0.3, 1000), "dmin, else the corners of the detector", "with coordinates: finest d spacing of calculated structure factors", SHARED),
    [DB_FIELD_ANOMALOUS] = CHOICE("anomalous", "anomalous scattering", anomalous, no_yes, INT_MIN, NULL,
        "with coordinates: f' and f'' at the wavelength, so that Friedel mates differ", SHARED),
    [DB_FIELD_DEFAULT_F] = NUMBERS("default_F", "default F", "electrons", 1, default_F, (NOT_NEGATIVE),
        "structure factor of every reflection that is not in the list", SHARED),
    [DB_FIELD_WAVELENGTH] = NUMBERS("wavelength", "wavelength", "A", 1, wavelength, (POSITIVE), "central wavelength"),
    [DB_FIELD_DISPERSION] = SCALED("dispersion", "dispersion", "percent", 1, dispersion, 0.01, (0, 100),
        "full relative range of wavelengths"),
    [DB_FIELD_DISPERSION_STEPS] = INTEGERS("dispersion_steps", "dispersion steps", 1, dispersion_steps, (FROM(1)), 0,
        "2, one at each end", "wavelengths across the dispersion"),
    [DB_FIELD_SPECTRUM_STRETCH] = NUMBERS("spectrum_stretch", "spectrum stretch", "", 1, spectrum_stretch, (ANY),
        "width of the spectrum about its mean, as a multiple of the file's"),
    [DB_FIELD_SPECTRUM_RESOLUTION] = NUMBERS("spectrum_resolution", "spectrum resolution", "eV", 1, spectrum_resolution, (NOT_NEGATIVE),
        "resolution of the spectrometer (full width at half maximum), whose blur is removed from the spectrum; 0: no blur"),
    [DB_FIELD_DIVERGENCE] = ROW("divergence", "divergence", "mrad", NUMBER, 2, divergence_range, 1e-3, (NOT_NEGATIVE), 1, "none", NULL,
        "full angular range of the beam: horizontal, vertical"),
    [DB_FIELD_DIVERGENCE_STEPS] = INTEGERS("divergence_steps", "divergence steps", 2, divergence_steps, (FROM(1)), 0,
        "automatic", "beam directions across the divergence: horizontal, vertical"),
    [DB_FIELD_POLARIZATION] = NUMBERS("polarization", "polarization", "", 1, polarization, (-1, 1),
        "Kahn polarization factor, -1 to 1; 0: unpolarized", SHARED),
    [DB_FIELD_FLUENCE] = NUMBERS("fluence", "fluence", "photons/m^2", 1, fluence, (POSITIVE), "fluence of the beam"),
    [DB_FIELD_FLUX] = NUMBERS("flux", "flux", "photons/s", 1, flux, (NOT_NEGATIVE),
        "with exposure and beam size, instead of the fluence"),
    [DB_FIELD_EXPOSURE] = NUMBERS("exposure", "exposure", "s", 1, exposure, (POSITIVE), "exposure time", SHARED),
    [DB_FIELD_PHI] = NUMBERS("phi", "phi", "degree", 1, phi, (ANY), "spindle angle of the first step, relative to the matrix"),
    [DB_FIELD_OSC] = OPEN_NUMBERS("osc", "osc", "degree", 1, osc, (ANY), "no rotation",
        "oscillation range of the image; negative: it turns backwards"),
    [DB_FIELD_PHI_STEP] = OPEN_NUMBERS("phi_step", "phi step", "degree", 1, phi_step, (NOT_NEGATIVE),
        "range / number of steps", "spindle step; each step is at the start of its interval"),
    [DB_FIELD_PHI_STEPS] = INTEGERS("phi_steps", "phi steps", 1, phi_steps, (FROM(1)), -1,
        "1, or 2 with a range", "orientations across the oscillation range"),
    [DB_FIELD_SPINDLE_TILT] = NUMBERS("spindle_tilt", "spindle tilt", "degree", 2, spindle_tilt, (ANY),
        "tilts the spindle axis towards the beam, and out of its plane with the beam", SHARED),
    [DB_FIELD_DISTANCE] = OPEN_NUMBERS("distance", "detector distance", "mm", 1, distance, (POSITIVE),
        "100", "distance from the sample to the detector along the beam", SHARED),
    [DB_FIELD_CLOSE_DISTANCE] = OPEN_NUMBERS("close_distance", "detector close distance", "mm", 1, close_distance, (POSITIVE),
        "none", "distance from the sample to the detector along its normal; takes precedence over the distance", SHARED),
    [DB_FIELD_PIXEL_SIZE] = NUMBERS("pixel_size", "pixel size", "mm", 1, pixel_size, (POSITIVE), "edge of the square pixels", SHARED),
    [DB_FIELD_DETECTOR_PIXELS] = INTEGERS("detector_pixels", "detector pixels", 2, detector_pixels, (FROM(1)), 0,
        "from the size", "number of pixels along fast, slow", SHARED),
    [DB_FIELD_SENSOR_MATERIAL] = CHOICE("sensor_material", "material of the sensor", sensor_material, materials, 0,
        "none", "material of the sensor, which gives its attenuation depth at the wavelength", SHARED),
    [DB_FIELD_SENSOR_THICKNESS] = NUMBERS("sensor_thickness", "sensor thickness", "um", 1, sensor_thickness, (NOT_NEGATIVE),
        "photons are recorded in the sensor, behind the panels' front, and absorbed on the way; 0: all at the front", SHARED),
    [DB_FIELD_ATTENUATION_DEPTH] = OPEN_NUMBERS("attenuation_depth", "attenuation depth of the sensor", "um", 1,
        attenuation_depth, (POSITIVE), "of the material, else the thickness", "depth in the sensor at which 1/e of the photons are left", SHARED),
    [DB_FIELD_SENSOR_LAYERS] = INTEGERS("sensor_layers", "sensor layers", 1, sensor_layers, (1, 10000), 0,
        "2", "layers of the sensor; one layer places spots correctly, more layers also blur them as the sensor does"),
    [DB_FIELD_DETECTOR_ROTATION] = NUMBERS("detector_rotation", "detector rotation", "degree", 3, rotation, (ANY),
        "turns the detector about x, then y, then z of the laboratory", SHARED),
    [DB_FIELD_PANEL_TURN] = NUMBERS("panel_turn", "panel turn", "degree", 3, panel_turn, (ANY),
        "turns each panel about its own fast axis, slow axis and normal, through its centre", SHARED),
    [DB_FIELD_PANEL_SHIFT] = NUMBERS("panel_shift", "panel shift", "mm", 3, panel_shift, (ANY),
        "shifts each panel along its own fast axis, slow axis and normal", SHARED),
    [DB_FIELD_TWOTHETA] = NUMBERS("twotheta", "two-theta", "degree", 1, twotheta, (ANY),
        "turns the detector about the two-theta axis, after the other rotations", SHARED),
    [DB_FIELD_PIVOT] = CHOICE("pivot", "pivot", pivot, pivots, -1,
        "of the convention", "fixed point when the detector turns: the direct beam's spot, or the sample", SHARED),
    [DB_FIELD_FAST_AXIS] = OPEN_NUMBERS("fast_axis", "fast axis", "", 3, fast_axis, (ANY), "of the convention", "fast axis of the detector", SHARED),
    [DB_FIELD_SLOW_AXIS] = OPEN_NUMBERS("slow_axis", "slow axis", "", 3, slow_axis, (ANY), "of the convention", "slow axis of the detector", SHARED),
    [DB_FIELD_NORMAL] = OPEN_NUMBERS("normal", "detector normal", "", 3, normal, (ANY), "of the convention", "normal of the detector, away from the sample", SHARED),
    [DB_FIELD_BEAM_AXIS] = OPEN_NUMBERS("beam_axis", "beam axis", "", 3, beam_axis, (ANY), "of the convention", "direction of photon travel", SHARED),
    [DB_FIELD_POLARIZATION_AXIS] = OPEN_NUMBERS("polarization_axis", "polarization axis", "", 3, polarization_axis, (ANY),
        "of the convention", "direction of the E field", SHARED),
    [DB_FIELD_SPINDLE_AXIS] = OPEN_NUMBERS("spindle_axis", "spindle axis", "", 3, spindle_axis, (ANY),
        "of the convention", "rotation axis of the crystal", SHARED),
    [DB_FIELD_TWOTHETA_AXIS] = OPEN_NUMBERS("twotheta_axis", "two-theta axis", "", 3, twotheta_axis, (ANY),
        "of the convention", "rotation axis of the detector", SHARED),
    [DB_FIELD_OVERSAMPLE] = INTEGERS("oversample", "oversample", 1, oversample, (1, DB_MOST_OVERSAMPLE), 0,
        "chosen by the widths of the spots", "sub-pixels along each edge of a pixel", SHARED),
    [DB_FIELD_POINT_PIXEL] = CHOICE("point_pixel", "point pixel", point_pixel, no_yes, INT_MIN,
        NULL, "solid angle 1/R^2 without obliquity", SHARED),
    [DB_FIELD_WATER_SIZE] = NUMBERS("water_size", "water size", "um", 1, water_size, (NOT_NEGATIVE),
        "adds the scattering of a cube of water of this edge"),
    [DB_FIELD_BEAM_CENTRE_PX] = OPEN_NUMBERS("beam_centre_px", "beam centre (pixels)", "pixels", 2, beam_centre_px, (ANY),
        "the convention's point, else the middle",
        "beam centre along fast, slow, from the outer corner of the first pixel; with pivot sample: point closest to the sample", SHARED),
    [DB_FIELD_BEAM_TILT] = NUMBERS("beam_tilt", "beam tilt", "mrad", 2, beam_tilt, (ANY),
        "beam steering: horizontal, vertical; detector and crystal stay", SHARED),
    [DB_FIELD_SCALE] = NUMBERS("scale", "scale", "", 1, scale, (POSITIVE), "factor on the fluence"),
};
/* clang-format on */
_Static_assert(sizeof db_setup_fields / sizeof *db_setup_fields == DB_FIELD_COUNT,
               "every field has its row");

const db_setup_field *db_setup_field_find(const char *name) {
    if (strcmp(name, "cells") == 0) return &db_setup_fields[DB_FIELD_NCELLS]; /* its former name */
    for (int i = 0; i < DB_FIELD_COUNT; i++)
        if (strcmp(db_setup_fields[i].name, name) == 0) return &db_setup_fields[i];
    return NULL;
}

static db_status check_number(db_context *context, const db_setup_field *field, double stored) {
    const double value = stored / field->factor;
    if ((isnan(stored) && field->open) || (value >= field->least && value <= field->most))
        return DB_OK;
    if (field->most < DBL_MAX)
        return db_fail(context, DB_ERROR_INPUT, "%s: expected a number from %g to %g%s%s, found %g",
                       field->what, field->least, field->most, *field->unit ? " " : "", field->unit,
                       value);
    if (field->least > 0)
        return db_fail(context, DB_ERROR_INPUT, "%s: expected a positive number%s%s%s, found %g",
                       field->what, *field->unit ? " (" : "", field->unit, *field->unit ? ")" : "",
                       value);
    return db_fail(context, DB_ERROR_INPUT, "%s: expected 0%s%s or more, found %g", field->what,
                   *field->unit ? " " : "", field->unit, value);
}

static db_status check_integer(db_context *context, const db_setup_field *field, int value) {
    if (value == field->open || (value >= field->least && value <= field->most)) return DB_OK;
    if (value < field->least)
        return db_fail(context, DB_ERROR_INPUT, "%s: expected 0 (automatic) or more, found %d",
                       field->what, value);
    return db_fail(context, DB_ERROR_INPUT, "%s: expected %g to %g, found %d", field->what,
                   field->least, field->most, value);
}

/* Names of choices end in NULL. */
static db_status check_choice(db_context *context, const db_setup_field *field, int value) {
    int last = 0;
    while (field->choices[last + 1]) last++;
    return value == field->open ? DB_OK : db_need_choice(context, field->what, value, last);
}

db_status db_setup_field_check(db_context *context, const db_setup *setup, db_setup_field_id id) {
    const db_setup_field *const field = &db_setup_fields[id];
    const char *const first = (const char *)setup + field->offset;
    for (int i = 0; i < field->count; i++)
        if (field->kind == DB_FIELD_NUMBER)
            DB_TRY(check_number(context, field, ((const double *)(const void *)first)[i]));
        else if (field->kind == DB_FIELD_INTEGER)
            DB_TRY(check_integer(context, field, ((const int *)(const void *)first)[i]));
        else if (field->kind == DB_FIELD_CHOICE)
            DB_TRY(check_choice(context, field, ((const int *)(const void *)first)[i]));
    return DB_OK;
}
