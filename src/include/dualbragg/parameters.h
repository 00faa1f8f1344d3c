/** @file
 * The table of differentiable parameters: the one place where each is declared. Gradients, command
 * line, fit, checks and documentation all draw from it. */
#ifndef DUALBRAGG_PARAMETERS_H
#define DUALBRAGG_PARAMETERS_H

#include <dualbragg/experiment.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Groups of interface values (the numbers that the model hands to the pixel loop) that depend on a
 * parameter. */
enum {
    DB_MOVES_LATTICE = 1,        /**< real-space lattice vectors at the first phi step */
    DB_MOVES_ROTATIONS = 2,      /**< lattice vectors of each phi step and mosaic domain */
    DB_MOVES_CELLS = 4,          /**< cell counts */
    DB_MOVES_PANELS = 8,         /**< panel origins and axes, as seen from the crystal */
    DB_MOVES_SOURCES = 16,       /**< directions, wavelengths, polarization of the sources */
    DB_MOVES_SCALE = 32,         /**< overall factor */
    DB_MOVES_SENSOR = 64,        /**< thickness of a sensor layer, attenuation */
    DB_MOVES_BACKGROUND = 128,   /**< amounts of water and amorphous matter */
    DB_MOVES_AMPLITUDE = 256,    /**< one structure factor */
    DB_MOVES_DEBYE_WALLER = 512, /**< Debye-Waller factor */
    /** orientation of the crystal: moves its lattice vectors; with an anisotropic mosaic spread the lattice
     * vectors of each phi step and mosaic domain */
    DB_MOVES_ORIENTATION = 1024,
    DB_MOVES_SPREAD = 2048, /**< covariances of spots in closed form */
    DB_MOVES_CURVES = 4096, /**< f' and f'' of kinds of sites at the energies of the sources */
    DB_MOVES_HALO = 8192    /**< the diffuse halo */
};

/** Range of a parameter without bounds in a refinement, from its start, with an amount. */
typedef enum db_reach {
    DB_REACH_ANY,    /**< anywhere */
    DB_REACH_PART,   /**< by a part of its value */
    DB_REACH_BY,     /**< by an amount in its unit */
    DB_REACH_PIXELS, /**< by a number of pixels */
    DB_REACH_TIMES,  /**< up to a multiple of its value, down to one over this multiple */
    DB_REACH_WITHIN  /**< to an amount either way, or to four times its value */
} db_reach;

/** Effect of a step of a parameter on spots, which a search must keep in their shoeboxes. */
typedef enum db_lever {
    DB_LEVER_NONE, /**< little */
    DB_LEVER_STRETCH, /**< a relative change moves them by this fraction of their distance from the beam */
    DB_LEVER_TURN, /**< an angle (degree) moves them by this angle times their distance from the beam */
    DB_LEVER_BEAM, /**< an angle (mrad) moves them by up to twice this angle times their distance from the crystal */
    DB_LEVER_SHIFT, /**< a step in mm moves all of them by this step */
    DB_LEVER_SIZE   /**< the widths of spots are proportional to the inverse of the value */
} db_lever;

/** First of the usual stages that refines a parameter. */
typedef enum db_settling {
    DB_SETTLING_ORIENTATION,
    DB_SETTLING_GEOMETRY,
    DB_SETTLING_SHAPE
} db_settling;

/** Owner of a parameter. */
typedef enum db_owner {
    DB_OWNER_CRYSTAL, /**< each crystal, also several on one image */
    DB_OWNER_SHOT,    /**< of each image */
    DB_OWNER_SETUP    /**< detector and spindle: many images share it */
} db_owner;

/** Whether a parameter is refined by default. */
typedef enum db_choosing {
    DB_CHOOSING_ASKED,  /**< only if it is named */
    DB_CHOOSING_CHOSEN, /**< yes */
    DB_CHOOSING_EARNED  /**< if it describes held-out spots better */
} db_choosing;

/** Facts that the parameters of a kind share; name, unit and typical step are each parameter's own.
 * X(kind, groups of values that it moves, least, most, range in a refinement: reach and amount, lever: effect
 * of a step on spots, first stage that refines it, owner, whether it is refined if nobody names it) */
/* clang-format off */
#define DB_PARAMETER_KIND_LIST(X)                                                                  \
    X(CELL_EDGE, LATTICE, 1, INFINITY, PART, 0.05, STRETCH, GEOMETRY, SHOT, CHOSEN)                \
    X(CELL_ANGLE, LATTICE, 1, 179, BY, 5, TURN, GEOMETRY, SHOT, CHOSEN)                            \
    X(MISSET, ORIENTATION, -INFINITY, INFINITY, BY, 5, TURN, ORIENTATION, CRYSTAL, CHOSEN)         \
    X(CRYSTAL_POSITION, PANELS, -1000, 1000, BY, 5, SHIFT, GEOMETRY, CRYSTAL, ASKED)               \
    X(CELLS, CELLS, 1, INFINITY, TIMES, 100, SIZE, SHAPE, CRYSTAL, ASKED)                          \
    X(MOSAIC_CAP, ROTATIONS, 0, 90, BY, 5, NONE, SHAPE, CRYSTAL, ASKED)                            \
    /* below 0: the amplitudes may have too large a B */                                           \
    X(B_FACTOR, DEBYE_WALLER, -10, 1000, ANY, 0, NONE, GEOMETRY, CRYSTAL, ASKED)                   \
    X(DIFFUSE_SIGMA, HALO, 0, INFINITY, TIMES, 10, NONE, SHAPE, CRYSTAL, ASKED)                    \
    X(DIFFUSE_GAMMA, HALO, 1e-3, INFINITY, TIMES, 10, NONE, SHAPE, CRYSTAL, ASKED)                 \
    X(PHI, ORIENTATION, -INFINITY, INFINITY, BY, 5, TURN, ORIENTATION, SHOT, ASKED)                \
    X(SPINDLE_TILT, ROTATIONS, -INFINITY, INFINITY, BY, 5, NONE, GEOMETRY, SETUP, ASKED)           \
    X(WAVELENGTH, SOURCES, 1e-4, INFINITY, PART, 0.05, STRETCH, GEOMETRY, SHOT, ASKED)             \
    X(SPECTRUM_STRETCH, SOURCES, 0, INFINITY, TIMES, 10, NONE, GEOMETRY, SHOT, ASKED)              \
    X(BEAM_TILT, SOURCES, -INFINITY, INFINITY, BY, 87.26646259971648, BEAM, GEOMETRY, SHOT, ASKED) \
    X(DIVERGENCE, SOURCES, 0, INFINITY, BY, 87.26646259971648, NONE, GEOMETRY, SHOT, ASKED)        \
    X(DISPERSION, SOURCES, 0, 1, ANY, 0, NONE, GEOMETRY, SHOT, ASKED)                              \
    X(POLARIZATION, SOURCES, -1, 1, ANY, 0, NONE, SHAPE, SHOT, ASKED)                              \
    X(SCALE, SCALE, 1e-30, INFINITY, ANY, 0, NONE, SHAPE, CRYSTAL, ASKED)                          \
    X(DISTANCE, PANELS, 1e-3, INFINITY, PART, 0.1, STRETCH, GEOMETRY, SETUP, EARNED)               \
    X(BEAM_CENTRE, PANELS, -INFINITY, INFINITY, PIXELS, 20, SHIFT, GEOMETRY, SETUP, CHOSEN)        \
    X(DETECTOR_TURN, PANELS, -INFINITY, INFINITY, BY, 5, TURN, GEOMETRY, SETUP, EARNED)            \
    X(TWOTHETA, PANELS, -INFINITY, INFINITY, BY, 5, TURN, GEOMETRY, SETUP, ASKED)                  \
    X(PANEL_SHIFT, PANELS, -INFINITY, INFINITY, PIXELS, 20, SHIFT, GEOMETRY, SETUP, ASKED)         \
    X(PANEL_SHIFT_NORMAL, PANELS, -INFINITY, INFINITY, PIXELS, 20, NONE, GEOMETRY, SETUP, ASKED)   \
    X(PANEL_TURN, PANELS, -INFINITY, INFINITY, BY, 5, TURN, GEOMETRY, SETUP, ASKED)                \
    X(SENSOR, SENSOR, 1e-3, INFINITY, ANY, 0, NONE, GEOMETRY, SETUP, ASKED)                        \
    X(WATER, BACKGROUND, 0, INFINITY, ANY, 0, NONE, GEOMETRY, SHOT, ASKED)                         \
    X(AMORPHOUS, BACKGROUND, 0, INFINITY, ANY, 0, NONE, GEOMETRY, SHOT, ASKED)                     \
    X(SIZE_CORRELATION, SPREAD, -0.999, 0.999, ANY, 0, NONE, SHAPE, CRYSTAL, ASKED)                \
    X(MOSAIC_VARIANCE, SPREAD, 0, 8100, WITHIN, 1, NONE, SHAPE, CRYSTAL, CHOSEN)                   \
    X(MOSAIC_TENSOR, SPREAD, 0, 8100, WITHIN, 1, NONE, SHAPE, CRYSTAL, ASKED)                      \
    X(MOSAIC_COVARIANCE, SPREAD, -INFINITY, INFINITY, ANY, 0, NONE, SHAPE, CRYSTAL, ASKED)         \
    X(STRAIN_VARIANCE, SPREAD, 0, INFINITY, ANY, 0, NONE, SHAPE, CRYSTAL, ASKED)                   \
    X(STRAIN_TENSOR, SPREAD, 0, INFINITY, ANY, 0, NONE, SHAPE, CRYSTAL, ASKED)                     \
    X(MODE, SPREAD, -INFINITY, INFINITY, WITHIN, 20, NONE, SHAPE, CRYSTAL, EARNED)                 \
    X(BANDWIDTH_VARIANCE, SPREAD, 0, INFINITY, WITHIN, 400, NONE, SHAPE, SHOT, CHOSEN)             \
    X(DIVERGENCE_VARIANCE, SPREAD, 0, INFINITY, WITHIN, 4, NONE, SHAPE, SHOT, CHOSEN)              \
    X(DIVERGENCE_COVARIANCE, SPREAD, -INFINITY, INFINITY, ANY, 0, NONE, SHAPE, SHOT, ASKED)        \
    X(FOOTPRINT_VARIANCE, SPREAD, 0, INFINITY, WITHIN, 0.25, NONE, SHAPE, CRYSTAL, CHOSEN)         \
    X(FOOTPRINT_COVARIANCE, SPREAD, -INFINITY, INFINITY, ANY, 0, NONE, SHAPE, CRYSTAL, ASKED)      \
    X(POINT_SPREAD_VARIANCE, SPREAD, 0, INFINITY, ANY, 0, NONE, SHAPE, SETUP, ASKED)               \
    X(POINT_SPREAD_COVARIANCE, SPREAD, -INFINITY, INFINITY, ANY, 0, NONE, SHAPE, SETUP, ASKED)     \
    X(TAIL_FRACTION, SPREAD, 0, 0.999, ANY, 0, NONE, SHAPE, CRYSTAL, ASKED)                        \
    X(TAIL_WIDTH, SPREAD, 1e-3, 1000, ANY, 0, NONE, SHAPE, CRYSTAL, ASKED)                         \
    X(SOURCE_WEIGHT, SOURCES, 0, INFINITY, ANY, 0, NONE, SHAPE, SHOT, ASKED)                       \
    X(AMPLITUDE, AMPLITUDE, 0, INFINITY, ANY, 0, NONE, SHAPE, SETUP, ASKED)                        \
    X(SITE_CURVE, CURVES, -INFINITY, INFINITY, ANY, 0, NONE, SHAPE, SETUP, ASKED)
/* clang-format on */

/** Kinds of parameters. */
typedef enum db_parameter_kind {
#define DB_KIND_ENUM(kind, moves, least, most, reach, amount, lever, settling, owner, choosing)    \
    DB_KIND_##kind,
    DB_PARAMETER_KIND_LIST(DB_KIND_ENUM)
#undef DB_KIND_ENUM
        DB_KIND_COUNT
} db_parameter_kind;

/** Facts of a kind of parameters. */
typedef struct db_parameter_facts {
    db_parameter_kind kind;
    unsigned moves; /**< DB_MOVES_* */
    double least;   /**< possible value, inclusive; -INFINITY: none */
    double most;    /**< possible value, inclusive; INFINITY: none */
    db_reach reach;
    double amount; /**< of the reach */
    db_lever lever;
    db_settling settling;
    db_owner owner;
    db_choosing choosing;
} db_parameter_facts;

/* A component of a mode of the blocks: X as in DB_PARAMETER_LIST. */
#define DB_MODE_COMPONENT(X, number, index, at, IJ, ij)                                            \
    X(MODE##number##_##IJ, "mode" #number "_" #ij, spread.mode[index][at], "1e-3", 0.1, MODE,      \
      "component " #ij " of mode " #number " of the blocks' lattices")
#define DB_MODE_LIST(X, number, index)                                                             \
    DB_MODE_COMPONENT(X, number, index, 0, XX, xx)                                                 \
    DB_MODE_COMPONENT(X, number, index, 1, XY, xy)                                                 \
    DB_MODE_COMPONENT(X, number, index, 2, XZ, xz)                                                 \
    DB_MODE_COMPONENT(X, number, index, 3, YX, yx)                                                 \
    DB_MODE_COMPONENT(X, number, index, 4, YY, yy)                                                 \
    DB_MODE_COMPONENT(X, number, index, 5, YZ, yz)                                                 \
    DB_MODE_COMPONENT(X, number, index, 6, ZX, zx)                                                 \
    DB_MODE_COMPONENT(X, number, index, 7, ZY, zy)                                                 \
    DB_MODE_COMPONENT(X, number, index, 8, ZZ, zz)

/** X(identifier, name, member of db_experiment, unit, scale, kind, description)
 * scale: a typical step, in the parameter's unit, that changes an image noticeably; optimizers
 * divide by it. */
/* clang-format off */
#define DB_PARAMETER_LIST(X)                                                                       \
    X(CELL_A, "cell_a", crystal.cell[0], "A", 0.1, CELL_EDGE, "unit cell edge a")                  \
    X(CELL_B, "cell_b", crystal.cell[1], "A", 0.1, CELL_EDGE, "unit cell edge b")                  \
    X(CELL_C, "cell_c", crystal.cell[2], "A", 0.1, CELL_EDGE, "unit cell edge c")                  \
    X(CELL_ALPHA, "cell_alpha", crystal.cell[3], "deg", 0.1, CELL_ANGLE, "unit cell angle alpha")  \
    X(CELL_BETA, "cell_beta", crystal.cell[4], "deg", 0.1, CELL_ANGLE, "unit cell angle beta")     \
    X(CELL_GAMMA, "cell_gamma", crystal.cell[5], "deg", 0.1, CELL_ANGLE, "unit cell angle gamma")  \
    X(MISSET_X, "misset_x", crystal.misset[0], "deg", 0.1, MISSET,                                 \
      "crystal rotation about laboratory x")                                                       \
    X(MISSET_Y, "misset_y", crystal.misset[1], "deg", 0.1, MISSET,                                 \
      "crystal rotation about laboratory y, after x")                                              \
    X(MISSET_Z, "misset_z", crystal.misset[2], "deg", 0.1, MISSET,                                 \
      "crystal rotation about laboratory z, after x and y")                                        \
    X(CRYSTAL_X, "crystal_x", crystal.position[0], "mm", 0.05, CRYSTAL_POSITION,                   \
      "position of the crystal along laboratory x, at spindle angle 0")                            \
    X(CRYSTAL_Y, "crystal_y", crystal.position[1], "mm", 0.05, CRYSTAL_POSITION,                   \
      "position of the crystal along laboratory y, at spindle angle 0")                            \
    X(CRYSTAL_Z, "crystal_z", crystal.position[2], "mm", 0.05, CRYSTAL_POSITION,                   \
      "position of the crystal along laboratory z, at spindle angle 0")                            \
    X(CELLS_A, "Na", crystal.Ncells[0], "cells", 1, CELLS, "crystal size along a")                 \
    X(CELLS_B, "Nb", crystal.Ncells[1], "cells", 1, CELLS, "crystal size along b")                 \
    X(CELLS_C, "Nc", crystal.Ncells[2], "cells", 1, CELLS, "crystal size along c")                 \
    X(MOSAIC_SPREAD, "mosaic_spread", crystal.mosaic_spread, "deg", 0.05, MOSAIC_CAP,              \
      "cap angle of the mosaic rotations, at fixed random domains")                                \
    X(MOSAIC_A, "mosaic_a", crystal.mosaic_abc[0], "deg", 0.05, MOSAIC_CAP,                        \
      "cap of anisotropic mosaic rotations about a*")                                              \
    X(MOSAIC_B, "mosaic_b", crystal.mosaic_abc[1], "deg", 0.05, MOSAIC_CAP,                        \
      "cap of anisotropic mosaic rotations about c x a*, which is b where alpha is 90 degree")     \
    X(MOSAIC_C, "mosaic_c", crystal.mosaic_abc[2], "deg", 0.05, MOSAIC_CAP,                        \
      "cap of anisotropic mosaic rotations about c")                                               \
    X(B_FACTOR, "b_factor", crystal.b_factor, "A^2", 1, B_FACTOR,                                  \
      "B of the Debye-Waller factor exp(-2 B (sin(theta)/lambda)^2) of intensities")               \
    X(DIFFUSE_SIGMA, "diffuse_sigma", crystal.diffuse_sigma[0], "A", 0.05, DIFFUSE_SIGMA,          \
      "standard deviation of displacements along each axis, of the diffuse halo")                  \
    X(DIFFUSE_SIGMA_A, "diffuse_sigma_a", crystal.diffuse_sigma[0], "A", 0.05, DIFFUSE_SIGMA,      \
      "standard deviation of displacements along a*, of an anisotropic halo")                      \
    X(DIFFUSE_SIGMA_B, "diffuse_sigma_b", crystal.diffuse_sigma[1], "A", 0.05, DIFFUSE_SIGMA,      \
      "standard deviation of displacements along c x a*, of an anisotropic halo")                  \
    X(DIFFUSE_SIGMA_C, "diffuse_sigma_c", crystal.diffuse_sigma[2], "A", 0.05, DIFFUSE_SIGMA,      \
      "standard deviation of displacements along c, of an anisotropic halo")                       \
    X(DIFFUSE_GAMMA, "diffuse_gamma", crystal.diffuse_gamma[0], "A", 5, DIFFUSE_GAMMA,             \
      "correlation length of displacements along each axis, of the diffuse halo")                  \
    X(DIFFUSE_GAMMA_A, "diffuse_gamma_a", crystal.diffuse_gamma[0], "A", 5, DIFFUSE_GAMMA,         \
      "correlation length of displacements along a*, of an anisotropic halo")                      \
    X(DIFFUSE_GAMMA_B, "diffuse_gamma_b", crystal.diffuse_gamma[1], "A", 5, DIFFUSE_GAMMA,         \
      "correlation length of displacements along c x a*, of an anisotropic halo")                  \
    X(DIFFUSE_GAMMA_C, "diffuse_gamma_c", crystal.diffuse_gamma[2], "A", 5, DIFFUSE_GAMMA,         \
      "correlation length of displacements along c, of an anisotropic halo")                       \
    X(PHI, "phi", goniometer.phi, "deg", 0.1, PHI, "spindle angle of the first step")              \
    X(SPINDLE_TILT_BEAM, "spindle_tilt_beam", goniometer.tilt[0], "deg", 0.1, SPINDLE_TILT,        \
      "tilt of the spindle axis towards the beam")                                                 \
    X(SPINDLE_TILT_ACROSS, "spindle_tilt_across", goniometer.tilt[1], "deg", 0.1, SPINDLE_TILT,    \
      "tilt of the spindle axis out of its plane with the beam")                                   \
    X(WAVELENGTH, "wavelength", beam.wavelength, "A", 0.005, WAVELENGTH,                           \
      "central wavelength, with all sources in proportion, at fixed crystal")                      \
    X(SPECTRUM_STRETCH, "spectrum_stretch", beam.spectrum_stretch, "1", 0.05, SPECTRUM_STRETCH,    \
      "width of the sources' spectrum about its mean, as a multiple of the given one")             \
    X(BEAM_HORIZONTAL, "beam_horizontal", beam.tilt[0], "mrad", 1, BEAM_TILT,                      \
      "beam tilt about beam x polarization, at fixed detector")                                    \
    X(BEAM_VERTICAL, "beam_vertical", beam.tilt[1], "mrad", 1, BEAM_TILT,                          \
      "beam tilt about the polarization axis, at fixed detector")                                  \
    X(DIVERGENCE_HORIZONTAL, "divergence_horizontal", beam.divergence[0], "mrad", 0.1, DIVERGENCE, \
      "full range of the horizontal divergence, at a fixed number of sources")                     \
    X(DIVERGENCE_VERTICAL, "divergence_vertical", beam.divergence[1], "mrad", 0.1, DIVERGENCE,     \
      "full range of the vertical divergence, at a fixed number of sources")                       \
    X(DISPERSION, "dispersion_range", beam.dispersion, "1", 0.001, DISPERSION,                     \
      "full relative range of wavelengths, at a fixed number of sources")                          \
    X(POLARIZATION, "polarization", beam.polarization, "1", 0.1, POLARIZATION, "Kahn factor")      \
    X(SCALE, "scale", beam.scale, "1", 0.1, SCALE, "factor on the fluence")                        \
    X(DISTANCE, "distance", detector.distance, "mm", 0.1, DISTANCE, "detector distance")           \
    X(BEAM_FAST, "beam_fast", detector.centre[0], "mm", 0.1, BEAM_CENTRE,                          \
      "beam centre (pivot sample: point closest to the sample) along fast")                        \
    X(BEAM_SLOW, "beam_slow", detector.centre[1], "mm", 0.1, BEAM_CENTRE,                          \
      "beam centre (pivot sample: point closest to the sample) along slow")                        \
    X(DETECTOR_ROTX, "detector_rotx", detector.rotation[0], "deg", 0.1, DETECTOR_TURN,             \
      "detector rotation about laboratory x")                                                      \
    X(DETECTOR_ROTY, "detector_roty", detector.rotation[1], "deg", 0.1, DETECTOR_TURN,             \
      "detector rotation about laboratory y, after x")                                             \
    X(DETECTOR_ROTZ, "detector_rotz", detector.rotation[2], "deg", 0.1, DETECTOR_TURN,             \
      "detector rotation about laboratory z, after x and y")                                       \
    X(TWOTHETA, "twotheta", detector.twotheta, "deg", 0.1, TWOTHETA,                               \
      "detector rotation about the two-theta axis")                                                \
    X(PANEL_SHIFT_FAST, "panel_shift_fast", detector.panel_shift[0], "mm", 0.1, PANEL_SHIFT,       \
      "shift of each panel along its own fast axis")                                               \
    X(PANEL_SHIFT_SLOW, "panel_shift_slow", detector.panel_shift[1], "mm", 0.1, PANEL_SHIFT,       \
      "shift of each panel along its own slow axis")                                               \
    X(PANEL_SHIFT_NORMAL, "panel_shift_normal", detector.panel_shift[2], "mm", 0.1,                \
      PANEL_SHIFT_NORMAL, "shift of each panel along its own normal")                              \
    X(PANEL_TURN_FAST, "panel_turn_fast", detector.panel_turn[0], "deg", 0.1, PANEL_TURN,          \
      "rotation of each panel about its own fast axis, through its centre")                        \
    X(PANEL_TURN_SLOW, "panel_turn_slow", detector.panel_turn[1], "deg", 0.1, PANEL_TURN,          \
      "rotation of each panel about its own slow axis, through its centre")                        \
    X(PANEL_TURN_NORMAL, "panel_turn_normal", detector.panel_turn[2], "deg", 0.1, PANEL_TURN,      \
      "rotation of each panel about its own normal, through its centre")                           \
    X(SENSOR_THICKNESS, "sensor_thickness", detector.sensor_thickness, "um", 10, SENSOR,           \
      "thickness of the detector's sensor, at a fixed number of layers")                           \
    X(ATTENUATION_DEPTH, "attenuation_depth", detector.attenuation_depth, "um", 10, SENSOR,        \
      "attenuation depth of the sensor")                                                           \
    X(WATER_SIZE, "water_size", background.water_size, "um", 1, WATER,                             \
      "edge of the cube of water in the beam")                                                     \
    X(AMORPHOUS_THICKNESS, "amorphous_thickness", background.thickness, "mm", 0.01, AMORPHOUS,     \
      "thickness of the amorphous layer in the beam")                                              \
    X(SIZE_BC, "size_bc", spread.size_correlation[0], "1", 0.1, SIZE_CORRELATION,                  \
      "correlation of the block's size between b and c")                                           \
    X(SIZE_CA, "size_ca", spread.size_correlation[1], "1", 0.1, SIZE_CORRELATION,                  \
      "correlation of the block's size between c and a")                                           \
    X(SIZE_AB, "size_ab", spread.size_correlation[2], "1", 0.1, SIZE_CORRELATION,                  \
      "correlation of the block's size between a and b")                                           \
    X(MOSAIC_VARIANCE, "mosaic_variance", spread.mosaic, "deg^2", 0.01, MOSAIC_VARIANCE,           \
      "variance of the rotations of blocks about each axis")                                       \
    X(MOSAIC_XX, "mosaic_xx", spread.mosaic_tensor[0], "deg^2", 0.01, MOSAIC_TENSOR,               \
      "variance of the rotations of blocks about a*")                                              \
    X(MOSAIC_YY, "mosaic_yy", spread.mosaic_tensor[1], "deg^2", 0.01, MOSAIC_TENSOR,               \
      "variance of the rotations of blocks about c x a*")                                          \
    X(MOSAIC_ZZ, "mosaic_zz", spread.mosaic_tensor[2], "deg^2", 0.01, MOSAIC_TENSOR,               \
      "variance of the rotations of blocks about c")                                               \
    X(MOSAIC_YZ, "mosaic_yz", spread.mosaic_tensor[3], "deg^2", 0.01, MOSAIC_COVARIANCE,           \
      "covariance of the rotations of blocks about c x a* and c")                                  \
    X(MOSAIC_ZX, "mosaic_zx", spread.mosaic_tensor[4], "deg^2", 0.01, MOSAIC_COVARIANCE,           \
      "covariance of the rotations of blocks about c and a*")                                      \
    X(MOSAIC_XY, "mosaic_xy", spread.mosaic_tensor[5], "deg^2", 0.01, MOSAIC_COVARIANCE,           \
      "covariance of the rotations of blocks about a* and c x a*")                                 \
    X(STRAIN_VARIANCE, "strain_variance", spread.strain, "1e-6", 1, STRAIN_VARIANCE,               \
      "variance of the isotropic strain of blocks")                                                \
    X(STRAIN_XX, "strain_xx", spread.strain_tensor[0], "1e-6", 1, STRAIN_TENSOR,                   \
      "variance of the strain xx of blocks")                                                       \
    X(STRAIN_YY, "strain_yy", spread.strain_tensor[1], "1e-6", 1, STRAIN_TENSOR,                   \
      "variance of the strain yy of blocks")                                                       \
    X(STRAIN_ZZ, "strain_zz", spread.strain_tensor[2], "1e-6", 1, STRAIN_TENSOR,                   \
      "variance of the strain zz of blocks")                                                       \
    X(STRAIN_YZ, "strain_yz", spread.strain_tensor[3], "1e-6", 1, STRAIN_TENSOR,                   \
      "variance of the strain yz of blocks")                                                       \
    X(STRAIN_ZX, "strain_zx", spread.strain_tensor[4], "1e-6", 1, STRAIN_TENSOR,                   \
      "variance of the strain zx of blocks")                                                       \
    X(STRAIN_XY, "strain_xy", spread.strain_tensor[5], "1e-6", 1, STRAIN_TENSOR,                   \
      "variance of the strain xy of blocks")                                                       \
    DB_MODE_LIST(X, 1, 0)                                                                          \
    DB_MODE_LIST(X, 2, 1)                                                                          \
    DB_MODE_LIST(X, 3, 2)                                                                          \
    X(BANDWIDTH_VARIANCE, "bandwidth_variance", spread.bandwidth, "1e-6", 1, BANDWIDTH_VARIANCE,   \
      "relative variance of the wavelengths of each source")                                       \
    X(DIVERGENCE_HH, "divergence_hh", spread.divergence[0], "mrad^2", 0.1, DIVERGENCE_VARIANCE,    \
      "variance of the horizontal direction of each source")                                       \
    X(DIVERGENCE_VV, "divergence_vv", spread.divergence[1], "mrad^2", 0.1, DIVERGENCE_VARIANCE,    \
      "variance of the vertical direction of each source")                                         \
    X(DIVERGENCE_HV, "divergence_hv", spread.divergence[2], "mrad^2", 0.1, DIVERGENCE_COVARIANCE,  \
      "covariance of the directions of each source")                                               \
    X(FOOTPRINT_HH, "footprint_hh", spread.footprint[0], "mm^2", 0.001, FOOTPRINT_VARIANCE,        \
      "horizontal variance of the footprint, the scattering part of the crystal")                  \
    X(FOOTPRINT_VV, "footprint_vv", spread.footprint[1], "mm^2", 0.001, FOOTPRINT_VARIANCE,        \
      "vertical variance of the footprint")                                                        \
    X(FOOTPRINT_HV, "footprint_hv", spread.footprint[2], "mm^2", 0.001, FOOTPRINT_COVARIANCE,      \
      "covariance of the footprint")                                                               \
    X(POINT_SPREAD_FF, "point_spread_ff", spread.point_spread[0], "mm^2", 0.001,                   \
      POINT_SPREAD_VARIANCE, "variance of the point spread along fast")                            \
    X(POINT_SPREAD_SS, "point_spread_ss", spread.point_spread[1], "mm^2", 0.001,                   \
      POINT_SPREAD_VARIANCE, "variance of the point spread along slow")                            \
    X(POINT_SPREAD_FS, "point_spread_fs", spread.point_spread[2], "mm^2", 0.001,                   \
      POINT_SPREAD_COVARIANCE, "covariance of the point spread")                                   \
    X(TAIL_FRACTION_1, "tail_fraction_1", spread.tail_fraction[0], "1", 0.05, TAIL_FRACTION,       \
      "fraction of the blocks in tail 1")                                                          \
    X(TAIL_WIDTH_1, "tail_width_1", spread.tail_width[0], "1", 0.1, TAIL_WIDTH,                    \
      "width of tail 1, as a multiple of the main Gaussian's")                                     \
    X(TAIL_FRACTION_2, "tail_fraction_2", spread.tail_fraction[1], "1", 0.05, TAIL_FRACTION,       \
      "fraction of the blocks in tail 2")                                                          \
    X(TAIL_WIDTH_2, "tail_width_2", spread.tail_width[1], "1", 0.1, TAIL_WIDTH,                    \
      "width of tail 2, as a multiple of the main Gaussian's")
/* clang-format on */

/** Parameters by which images have derivatives. */
typedef enum db_parameter {
#define DB_PARAMETER_ENUM(id, name, member, unit, scale, kind, text) DB_##id,
    DB_PARAMETER_LIST(DB_PARAMETER_ENUM)
#undef DB_PARAMETER_ENUM
        DB_PARAMETER_COUNT
} db_parameter;

/** Parameters whose number depends on the experiment: the weight of source number j, f' and f'' of a
 * kind of sites at a point of its curve, and the structure factor of one reflection (in a list,
 * amplitude of h, k, l from -512 to 511). They are values of db_parameter beyond the table; a plan takes
 * at most DB_PARAMETER_SLOTS of them, but for f' and f'' any number where spots are in closed form. */
enum {
    DB_PARAMETER_SLOTS = 8,
    DB_SOURCE_WEIGHT_FIRST = 1 << 20,
    DB_SITE_CURVE_FIRST = 1 << 29,
    DB_AMPLITUDE_FIRST = 1 << 30
};

/** The weight of a source as a parameter.
 *
 * @param source its number, from 0
 * @return the parameter; DB_PARAMETER_COUNT for a number that is too large */
DB_API db_parameter db_parameter_source_weight(size_t source);

/** f' or f'' of a kind of sites at one point of its curve as a parameter.
 *
 * @param kind its number, from 0
 * @param second 0: f'; 1: f''
 * @param point number of the point, from 0
 * @return the parameter; DB_PARAMETER_COUNT for a number that is too large */
DB_API db_parameter db_parameter_site_curve(int kind, int second, size_t point);

/** The structure factor of one reflection as a parameter.
 *
 * @param h -512 to 511
 * @param k -512 to 511
 * @param l -512 to 511
 * @return the parameter; DB_PARAMETER_COUNT for indices out of range */
DB_API db_parameter db_parameter_amplitude(int h, int k, int l);

/** 1 if the experiment has this parameter: one of the table (of sensor, water, amorphous matter and spectrum
 * only if the experiment has them; one mosaic spread, or the three of an anisotropic one), or the weight of
 * a source or a listed reflection that exists.
 *
 * @param experiment to ask
 * @param parameter which
 * @return 1 or 0 */
DB_API int db_parameter_exists(const db_experiment *experiment, db_parameter parameter);

/** Writes the parameter's name as db_parameter_find reads it: the name in the table, source_weight:J
 * (from 0), fp:KIND:POINT or fdp:KIND:POINT (numbers from 0), or F:H:K:L.
 *
 * @param parameter which
 * @param name receives it
 * @param size room there, in bytes */
DB_API void db_parameter_name(db_parameter parameter, char *name, size_t size);

/** Facts of a parameter. */
typedef struct db_parameter_info {
    const char *name;
    const char *unit;
    const char *description;
    double scale;                    /**< typical step, in unit */
    const db_parameter_facts *facts; /**< facts of its kind */
} db_parameter_info;

/** Entry of the table; NULL if out of range. Source weights, f', f'' and structure factors share one
 * entry each. Static storage, thread-safe.
 *
 * @param parameter which
 * @return the entry, or NULL */
DB_API const db_parameter_info *db_parameter_describe(db_parameter parameter);

/** Finds a parameter by its name (see db_parameter_name). DB_ERROR_USAGE gives the
 * reason if there is no derivative by a count, a seed, dmin ..., or the nearest
 * parameter if the name is unknown. A former name finds its parameter, with a notice.
 * context may be NULL.
 *
 * @param context receives the message of a failure
 * @param name of the parameter
 * @param parameter receives it
 * @return DB_OK or DB_ERROR_USAGE */
DB_API db_status db_parameter_find(db_context *context, const char *name, db_parameter *parameter);

/** A parameter's value. Thread-safe for an experiment that nobody changes.
 *
 * @param experiment to ask
 * @param parameter which
 * @return the value in its unit; 0 if the experiment has no such parameter */
DB_API double db_parameter_get(const db_experiment *experiment, db_parameter parameter);

/** Sets a parameter's value, without a check (see db_experiment_check). A parameter that does not exist is ignored.
 *
 * @param experiment to change
 * @param parameter which
 * @param value in its unit */
DB_API void db_parameter_set(db_experiment *experiment, db_parameter parameter, double value);

#ifdef __cplusplus
}
#endif
#endif
