/* Why there is no derivative by a quantity. */
#include "model/not_differentiable.h"

#include <stddef.h>
#include <string.h>

#define COUNT "a whole number"
#define RANDOM "a seed: its neighbours are other random numbers"
#define CHOICE "a choice"
#define REGION "it selects the pixels and does not change their values"
#define PROPORTIONAL "the image is proportional to it; scale is the parameter for that"
#define PIXELS "it is known from how the detector was made; distance and panel_* are parameters"
#define EXPOSURE "it is known from how the image was taken; phi is a parameter"
#define FILE_GIVEN "it is a file"
#define CENTRE "the parameters are called beam_fast and beam_slow"
#define DETECTOR_AXIS "it is a direction; detector_rotx, detector_roty and detector_rotz turn it"
#define BEAM_AXIS "it is a direction; beam_horizontal and beam_vertical turn it"
#define ORIENTATION "the parameters are called misset_x, misset_y and misset_z"
#define THICKNESS "the parameter is called sensor_thickness"
#define DEPTH "the parameter is called attenuation_depth"
#define MOSAIC "the parameter is called mosaic_spread"
#define SQUARE_OF(name) "the parameter is called " name ", the square of it"
#define SQUARES_OF(names) "the parameters are called " names "; variances, the squares of it"
#define COVARIANCE(name) "the parameter is called " name ", a covariance"
#define MODE(name) "the parameters are called " name "_xx, " name "_xy ... " name "_zz"
#define WAVELENGTH "the parameter is called wavelength"
#define DIVERGENCE "the parameters are called divergence_horizontal and divergence_vertical"
#define AMORPHOUS "the parameter is called amorphous_thickness; photons are proportional to both"
#define OUTPUT "it changes what is written, not the image"

/* See docs/theory/derivatives.md, Kinks and jumps. */
static const struct {
    const char *name;
    const char *reason;
} table[] = {
    { "oversample", COUNT },
    { "phisteps", COUNT },
    { "phi_steps", COUNT },
    { "mosaic_domains", COUNT },
    { "mosaic_dom", COUNT },
    { "thicksteps", COUNT },
    { "detector_thicksteps", COUNT },
    { "sensor_layers", COUNT },
    { "dispsteps", COUNT },
    { "divsteps", COUNT },
    { "hdivsteps", COUNT },
    { "vdivsteps", COUNT },
    { "detpixels", COUNT },
    { "samplesize", "it is rounded up to whole cells; Na, Nb and Nc are parameters" },
    { "N", "it sets three values; Na, Nb and Nc are parameters" },
    { "dmin", "the image jumps where a sample crosses the limit" },
    { "dmin", "the image jumps where a sample crosses the limit" },
    { "beamsize", "it clips the sizes of crystal and amorphous matter; scale is a parameter" },
    { "default_F", "without a list of amplitudes the parameter is scale; with a list the "
                   "parameters are F:H:K:L" },
    { "fluence", PROPORTIONAL },
    { "flux", PROPORTIONAL },
    { "exposure", PROPORTIONAL },
    { "mosaic_seed", RANDOM },
    { "misset_seed", RANDOM },
    { "seed", RANDOM },
    { "interpolate", CHOICE },
    { "point_pixel", CHOICE },
    { "curved_det", CHOICE },
    { "pivot", CHOICE },
    { "roi", REGION },
    { "mask", REGION },
    { "adc", OUTPUT },
    { "gain", OUTPUT },
    { "noise", "photons are counted in whole numbers" },
    /* flags of quantities that have a parameter of another name, or none */
    { "cell",
      "the parameters are called cell_a, cell_b, cell_c, cell_alpha, cell_beta, cell_gamma" },
    { "misset", ORIENTATION },
    { "misset_spread", ORIENTATION },
    { "crystal_position", "the parameters are called crystal_x, crystal_y and crystal_z" },
    { "mat", ORIENTATION },
    { "matrix", ORIENTATION },
    { "umat", ORIENTATION },
    { "fudge", "it is a factor of the spots' size, as Na, Nb and Nc are, which are parameters" },
    { "mosaic", MOSAIC },
    { "mosaicity", MOSAIC },
    { "mosaic_abc", "the parameters are called mosaic_a, mosaic_b and mosaic_c" },
    { "spots", CHOICE },
    { "strain_system", CHOICE },
    { "mosaic_rms", SQUARE_OF("mosaic_variance") },
    { "mosaic_rms_abc", SQUARES_OF("mosaic_xx, mosaic_yy, mosaic_zz") },
    { "mosaic_tensor", "the parameters are called mosaic_xx, mosaic_yy ... mosaic_xy" },
    { "strain_rms", SQUARE_OF("strain_variance") },
    { "strain_rms_tensor", SQUARES_OF("strain_xx, strain_yy ... strain_xy") },
    { "mode", MODE("mode1") },
    { "mode1", MODE("mode1") },
    { "mode2", MODE("mode2") },
    { "mode3", MODE("mode3") },
    { "tail", "the parameters are called tail_fraction_1 and tail_width_1" },
    { "tail1", "the parameters are called tail_fraction_1 and tail_width_1" },
    { "tail2", "the parameters are called tail_fraction_2 and tail_width_2" },
    { "size_correlation", "the parameters are called size_bc, size_ca and size_ab" },
    { "bandwidth_rms", SQUARE_OF("bandwidth_variance") },
    { "divergence_rms", SQUARES_OF("divergence_hh, divergence_vv") },
    { "divergence_correlation", COVARIANCE("divergence_hv") },
    { "footprint_rms", SQUARES_OF("footprint_hh, footprint_vv") },
    { "footprint_correlation", COVARIANCE("footprint_hv") },
    { "point_spread_rms", SQUARES_OF("point_spread_ff, point_spread_ss") },
    { "point_spread_correlation", COVARIANCE("point_spread_fs") },
    { "hkl", FILE_GIVEN "; F:H:K:L are parameters" },
    { "stol", FILE_GIVEN "; amorphous_thickness is a parameter" },
    { "thickness", AMORPHOUS },
    { "amorphous_width", AMORPHOUS },
    { "amorphous_height", AMORPHOUS },
    { "density", AMORPHOUS },
    { "MW", AMORPHOUS },
    { "molecules", AMORPHOUS },
    { "water", "the parameter is called water_size" },
    { "lambda", WAVELENGTH },
    { "energy", WAVELENGTH },
    { "divergence", DIVERGENCE },
    { "hdivrange", "the parameter is called divergence_horizontal" },
    { "vdivrange", "the parameter is called divergence_vertical" },
    { "hdivstep", DIVERGENCE ", at a fixed number of steps" },
    { "vdivstep", DIVERGENCE ", at a fixed number of steps" },
    { "sourcefile", FILE_GIVEN "; source_weight:J are parameters" },
    { "spectrumfile", FILE_GIVEN "; spectrum_stretch is a parameter" },
    { "polar", "the parameter is called polarization" },
    { "osc", EXPOSURE },
    { "phistep", EXPOSURE },
    { "spindle_tilt", "the parameters are called spindle_tilt_beam and spindle_tilt_across" },
    { "spindle_axis", "it is a direction; spindle_tilt_beam and spindle_tilt_across turn it" },
    { "pixel", PIXELS },
    { "pixel_size", PIXELS },
    { "detsize", REGION },
    { "close_distance", "the parameter is called distance" },
    { "Xbeam", CENTRE },
    { "Ybeam", CENTRE },
    { "Xclose", CENTRE },
    { "Yclose", CENTRE },
    { "ORGX", CENTRE },
    { "ORGY", CENTRE },
    { "fdet_vector", DETECTOR_AXIS },
    { "sdet_vector", DETECTOR_AXIS },
    { "odet_vector", DETECTOR_AXIS },
    { "twotheta_axis", "it is a direction; twotheta is the angle about it" },
    { "beam_vector", BEAM_AXIS },
    { "polar_vector", "it is a direction; polarization is its degree" },
    { "pix0_vector", "the parameters are called beam_fast, beam_slow and distance" },
    { "panel_turn",
      "the parameters are called panel_turn_fast, panel_turn_slow, panel_turn_normal" },
    { "panel_shift",
      "the parameters are called panel_shift_fast, panel_shift_slow, panel_shift_normal" },
    { "detector_thick", THICKNESS },
    { "detector_thickness", THICKNESS },
    { "detector_abs", DEPTH },
};

const char *db_not_differentiable(const char *name) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(name, table[i].name) == 0) return table[i].reason;
    return NULL;
}
