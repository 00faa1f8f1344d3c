/** @file
 * The experiment to simulate: crystal, beam, goniometer,
 * detector, structure factors, in common units.
 *
 * These are independent plain values. The model (src/model) converts them to
 * the input of the pixel loop, with derivatives. You may fill all structs by
 * hand; db_experiment_init gives every member its documented default. */
#ifndef DUALBRAGG_EXPERIMENT_H
#define DUALBRAGG_EXPERIMENT_H

#include <dualbragg/context.h>
#include <dualbragg/crystal_shape.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The crystal. */
typedef struct db_crystal {
    double cell[6]; /**< a, b, c (angstrom), alpha, beta, gamma (degree) */
    /** row-major rotation from the standard frame (c along z, b in the yz plane) to the laboratory,
     * applied before misset; identity by default */
    double orientation[9];
    double misset[3]; /**< rotations about laboratory x, then y, then z (degree) */
    double Ncells[3]; /**< N_a, N_b, N_c: crystal size in unit cells, >= 1 */
    db_crystal_shape shape;
    double fudge;         /**< multiplies the squared radius of ROUND, GAUSS and TOPHAT spots; 1 */
    double mosaic_spread; /**< cap angle of the mosaic rotations (degree) */
    /** 1: three caps (degree) instead of mosaic_spread, for the components of each rotation (axis
     * times angle) along the crystal's axes x, y, z of the standard frame: a*, c x a* and c */
    int mosaic_anisotropic;
    /** 1: diffuse_sigma and diffuse_gamma have a number for each axis; 0: the first number is for all axes */
    int diffuse_anisotropic;
    double mosaic_abc[3];
    int mosaic_domains; /**< number of domains, >= 1; 1 without spread */
    long mosaic_seed;   /**< seed of the mosaic rotations; 12345678 */
    /** B of the Debye-Waller factor exp(-2 B (sin(theta)/lambda)^2) on the
     * crystal's intensity at each scattering vector (angstrom^2); 0 */
    double b_factor;
    /** rotations about laboratory x, then y, then z (degree) that turn the axes of misset: for a goniometer
     * setting other than the one at which misset turns about the laboratory's axes; 0 */
    double misset_frame[3];
    /** diffuse halo about spots: atoms are displaced by normal deviates, whose standard deviations along
     * x, y, z of the standard frame (a*, c x a* and c) are diffuse_sigma (angstrom), and whose correlation
     * falls with the distance as exp(-|r|), r in units of diffuse_gamma (angstrom) along the same axes.
     * Structure factors contain the Debye-Waller factor of the displacements. First diffuse_gamma 0: no
     * halo */
    double diffuse_sigma[3], diffuse_gamma[3];
    /** position of the crystal (mm) from the laboratory's origin, at spindle angle 0. The goniometer turns it as it
     * turns the axes of misset: by misset_frame, then by the spindle; 0 */
    double position[3];
    double reserved[2]; /**< 0: room for new members, see docs/decisions/public-structs.md */
} db_crystal;

/** One source: a ray direction and a wavelength. */
typedef struct db_source {
    double direction[3]; /**< unit vector of photon travel, before divergence and beam tilt */
    /** place of the source within the beam's ranges, usually -1/2 to 1/2: [0] of the horizontal
     * divergence, an angle of spread[0] x divergence[0] about the vertical axis beam x
     * polarization; [1] of the vertical divergence, about the polarization axis, applied first;
     * [2] of the dispersion */
    double spread[3];
    /** wavelength of this source / wavelength of the beam, without stretch (see
     * db_beam) and without the factor 1 + spread[2] * dispersion of the dispersion */
    double wavelength_ratio;
    double weight; /**< relative intensity; weights are normalized by their sum */
} db_source;

/** The beam: its sources, spectrum, polarization and strength. */
typedef struct db_beam {
    double direction[3];         /**< unit vector of photon travel */
    double polarization_axis[3]; /**< unit vector along the E field */
    /** central wavelength (angstrom); wavelengths of all sources
     * are multiples of it, so that it shifts a spectrum */
    double wavelength;
    /** factor on the width of the spectrum: multiplies the difference of each
     * source's wavelength_ratio from their mean (weighted by db_source.weight); 1 */
    double spectrum_stretch;
    double divergence[2]; /**< full ranges (mrad): horizontal, vertical; see db_source.spread */
    double dispersion;    /**< full relative range of wavelengths; see db_source.spread */
    /** beam steering (mrad): horizontal, vertical, about the axes of db_source.spread;
     * turns all sources, but not detector, crystal and polarization axis */
    double tilt[2];
    double polarization; /**< Kahn factor, -1 to 1; 0 = unpolarized */
    int polarized;       /**< 0: no polarization correction at all (factor 1) */
    double fluence;      /**< photons/m^2 */
    double scale;        /**< free overall factor; 1 */
    size_t source_count; /**< >= 1 */
    db_source *sources;  /**< owned by the experiment */
    double reserved[8];  /**< 0: room for new members, see docs/decisions/public-structs.md */
} db_beam;

/** The spindle that turns the crystal. */
typedef struct db_goniometer {
    double spindle_axis[3]; /**< unit vector, before tilts */
    /** tilts of the spindle axis (degree): with u the direction of axis x beam, [1] turns
     * the axis about u x axis, out of its plane with the beam, then [0] about u, towards the
     * beam. If the axis is parallel to the beam, the polarization axis replaces the beam. */
    double tilt[2];
    double phi;         /**< spindle angle of the first step (degree) */
    double phi_step;    /**< degree */
    int phi_steps;      /**< >= 1 */
    double reserved[8]; /**< 0: room for new members, see docs/decisions/public-structs.md */
} db_goniometer;

/** A flat panel, in the frame of the detector plate (x = plate fast axis, y = slow axis, z =
 * normal; lengths in mm). A one-panel detector has origin 0, fast 1 0 0, slow 0 1 0, normal
 * 0 0 1. */
typedef struct db_panel {
    double origin[3];    /**< outer corner of the first pixel (mm) */
    double fast_axis[3]; /**< unit vectors */
    double slow_axis[3];
    double normal[3];     /**< away from the sample */
    double pixel_size[2]; /**< along fast, slow (mm) */
    int fast_pixels, slow_pixels;
    /** fast, slow of its first pixel in an image with all panels in one array; 0 */
    int image_offset[2];
} db_panel;

/** Fixed point when the detector turns. */
typedef enum db_pivot {
    DB_PIVOT_BEAM,  /**< the direct beam stays on the beam centre */
    DB_PIVOT_SAMPLE /**< the detector swings around the sample */
} db_pivot;

/** Materials of sensors; see dualbragg/expert/sensor_materials.h. */
typedef enum db_sensor_material {
    DB_SENSOR_UNKNOWN,
    DB_SENSOR_SI,
    DB_SENSOR_GAAS,
    DB_SENSOR_CDTE,
    DB_SENSOR_CZT, /**< Cd0.9 Zn0.1 Te */
    DB_SENSOR_MATERIAL_COUNT
} db_sensor_material;

/** The detector: a rigid plate that carries a list of panels. */
typedef struct db_detector {
    /** of the plate, before rotations (unit vectors) */
    double fast_axis[3], slow_axis[3], normal[3];
    double rotation[3];      /**< about laboratory x, then y, then z (degree) */
    double twotheta_axis[3]; /**< unit vector */
    double twotheta;         /**< degree, applied after rotation */
    db_pivot pivot;
    /** sample to plate (mm): along the beam, or along the normal if distance_is_close */
    double distance;
    int distance_is_close; /**< 0 or 1 */
    /** (mm, along fast, slow, from the plate's origin): where the direct beam hits (pivot beam), or
     * the point closest to the sample (pivot sample) */
    double centre[2];
    size_t panel_count; /**< >= 1 */
    db_panel *panels;   /**< owned by the experiment */
    /** motion of every panel in its own frame, about its own centre: rotations about its
     * fast axis (slow towards normal), then its slow axis (normal towards fast), then
     * its normal (fast towards slow), with axes as before the motion, then shifts along
     * these axes; see dualbragg/expert/panel_motion.h for motions of some panels */
    double panel_turn[3];  /**< degree */
    double panel_shift[3]; /**< mm */
    /** 1: pixels lie on a sphere around the sample, where a sheet that touches it at the direct
     * beam's spot wraps around it; one panel only */
    int curved;
    /* sensor: photons are absorbed in layers behind the panels' front */
    int sensor_layers;        /**< >= 1; 1 by default */
    double sensor_thickness;  /**< um; 0: all photons are recorded at the front */
    double attenuation_depth; /**< um, at which 1/e of the photons are left; > 0 with a thickness */
    /** depth at which a layer records photons: 0: its mean depth of absorption,
     * so that a spot's place is right for any number of layers; 1: its front */
    int layers_at_front;
    db_sensor_material sensor_material; /**< only for names in files: attenuation_depth is used */
    double reserved[8]; /**< 0: room for new members, see docs/decisions/public-structs.md */
} db_detector;

enum { DB_MOST_SITE_KINDS = 4, DB_SITE_KIND_NAME = 64 };

/** A kind of sites whose scattering depends on the photon energy, and its curve: f' and f'' between two
 * points follow a straight line. */
typedef struct db_site_kind {
    char name[DB_SITE_KIND_NAME];
    size_t count;     /**< points of the curve, >= 2 */
    double *energy;   /**< eV, ascending */
    double *f_prime;  /**< f' (electrons) at each energy */
    double *f_second; /**< f'' (electrons) at each energy */
} db_site_kind;

/** Structure factors that depend on the photon energy, of every entry of a box:
 * F(hkl, E) = F of all other scattering + sum over kinds of (f'(E) + i f''(E)) G(hkl), where G is the sum over the
 * kind's sites in the cell of occupancy x Debye-Waller factor x exp(2 pi i h.x). Entries do not share
 * values: Friedel mates differ. */
typedef struct db_site_kinds {
    int count; /**< 1 to DB_MOST_SITE_KINDS */
    db_site_kind kind[DB_MOST_SITE_KINDS];
    /** [entries of the box][1 + count][2], in the order of db_structure_factors.amplitude: real and
     * imaginary part of F of all other scattering (electrons), then of each kind's G */
    double *part;
} db_site_kinds;

/** Amplitudes on a box of Miller indices; outside the box, and without a list, default_F holds.
 * Index of (h,k,l): ((h-min[0])*extent[1] + (k-min[1]))*extent[2] + (l-min[2]). */
typedef struct db_structure_factors {
    int interpolate; /**< 1: tricubic interpolation of the list; 0: the nearest entry */
    int min[3];
    int extent[3];     /**< number of entries per axis; 0 0 0 without a list */
    double *amplitude; /**< electrons; owned by the experiment; NULL without a list */
    double default_F;  /**< electrons */
    size_t listed;     /**< number of amplitudes in the file, for reports; 0 without a list */
    /** NULL: structure factors do not depend on the photon energy. Else images use `sites`, each source at
     * its own energy, and `amplitude` serves reports of single numbers. One block of memory, owned by the
     * experiment; see db_experiment_set_site_kinds */
    db_site_kinds *sites;
    double reserved[3]; /**< 0: room for new members, see docs/decisions/public-structs.md */
} db_structure_factors;

/** Scattering that does not come from the crystal and is not limited by dmin: water
 * with a constant amplitude, and an amorphous layer with a given amplitude curve. */
typedef struct db_background {
    double water_size; /**< edge of a cube of water (um); 0: none */
    /* amorphous layer; count 0: none */
    size_t count;      /**< number of points of the amplitude curve */
    double *stol;      /**< sin(theta)/lambda (1/angstrom), ascending; owned by the experiment */
    double *amplitude; /**< per molecule (electrons; negative: scatters negatively); owned */
    double thickness;  /**< mm, along the beam */
    double area;       /**< mm^2, lit up by the beam */
    double density;    /**< g/cm^3 */
    double molecular_weight; /**< g/mol */
    double reserved[4];      /**< 0: room for new members, see docs/decisions/public-structs.md */
} db_background;

/** Arithmetic of the reference program, with its order of summation (docs/theory/pixel.md,
 * With -compat). Filled by db_setup_resolve; forward images only. */
typedef struct db_reference_mode {
    int on;
    int oversample_omega, oversample_polar, oversample_thick;
    /** the reference's reciprocal vectors / the right ones, for the shapes GAUSS and TOPHAT */
    double reciprocal_scale;
    /** the reference's detector (m): outer corner of the first pixel, axes (with the reference's
     * lengths, which may differ from 1), distance along the normal and along the beam */
    double origin[3], fast_axis[3], slow_axis[3], normal[3], close_distance, distance;
} db_reference_mode;

/** How the image of a spot is computed. */
typedef enum db_spot_model {
    /** sum over samples: mosaic domains, sources, phi steps; members of db_spread have no effect */
    DB_SPOTS_SAMPLED,
    /** in closed form, for Gaussian distributions (docs/theory/spots.md): numbers of
     * domains, phi steps and sensor layers, mosaic_spread and mosaic_abc have no effect */
    DB_SPOTS_CLOSED
} db_spot_model;

/** Ties of the strains of blocks by the symmetry of the lattice. Axes as in db_spread.
 * Parameters exist for independent strains only, not for tied or forbidden ones. */
typedef enum db_strain_ties {
    DB_STRAIN_FREE,      /**< all six components independent */
    DB_STRAIN_UNIAXIAL,  /**< strain_tensor[0] is the strain along x and y, [1] has no effect,
                           [3] to [5] are 0: tetragonal, trigonal and hexagonal lattices */
    DB_STRAIN_ISOTROPIC, /**< strain_tensor[0] is the strain along x, y and z, [1] and
                            [2] have no effect, [3] to [5] are 0: cubic lattices */
    DB_STRAIN_NO_SHEAR,  /**< [3] to [5] are 0: orthorhombic lattices */
    DB_STRAIN_SHEAR_YZ,  /**< of [3] to [5] only [3] is not 0: monoclinic lattices, unique axis a */
    DB_STRAIN_SHEAR_ZX,  /**< only [4]: unique axis b */
    DB_STRAIN_SHEAR_XY   /**< only [5]: unique axis c */
} db_strain_ties;

enum {
    DB_SPREAD_MODES = 3, /**< of blocks; see db_spread.mode */
    DB_SPREAD_TAILS = 2  /**< Gaussians beside the first; see db_spread.tail_fraction */
};

/** Spreads of spots in closed form: variances of Gaussian distributions (squares of
 * standard deviations), because variances add up and images depend on them smoothly at
 * 0. Tensors are xx, yy, zz, yz, zx, xy along the crystal's axes x, y, z of the standard
 * frame: a*, c x a* and c. A block of the crystal has the lattice (1 + E) A, with the
 * lattice A of db_crystal; distributions are independent. All are 0 by default. */
typedef struct db_spread {
    db_spot_model spots;
    /** correlations of the block's size, between b and c, c and a, a and b: with N_a, N_b, N_c
     * they make a tensor in Miller indices, (w^2/(N_i N_j)) correlation_ij; the shape determines w
     * (docs/theory/spots.md) */
    double size_correlation[3];
    double mosaic;           /**< rotations of blocks about each axis (degree^2) */
    double mosaic_tensor[6]; /**< rotations about the three axes, in addition (degree^2) */
    double strain;           /**< strain of blocks, equal along all directions (1e-6) */
    /** strains E_xx, E_yy, E_zz, E_yz = E_zy, E_zx = E_xz, E_xy = E_yx, independent of each other,
     * in addition (1e-6) */
    double strain_tensor[6];
    db_strain_ties strain_ties;
    /** correlated rotations and strains: E = sum over modes of a normal deviate times this matrix
     * (row-major; 1e-3, i.e. mrad or per mille). One mode is a bent or graded crystal. */
    double mode[DB_SPREAD_MODES][9];
    double bandwidth; /**< relative variance of each source's wavelength (1e-6) */
    /** of each source's direction (mrad^2): horizontal, vertical, and their covariance. Horizontal:
     * along the E field; vertical: along E x beam */
    double divergence[3];
    /** of the scattering part of the crystal, across the beam (mm^2):
     * horizontal, vertical, covariance; directions as of the divergence */
    double footprint[3];
    double point_spread[3]; /**< of the detector (mm^2): along fast, along slow, covariance */
    /** heavier tails: the distribution of the blocks' rotations and
     * strains is a sum of Gaussians; number 1 + i has this fraction of all
     * blocks and this multiple of the standard deviation of number 0 */
    int tails; /**< how many: 0 to DB_SPREAD_TAILS */
    double tail_fraction[DB_SPREAD_TAILS];
    double tail_width[DB_SPREAD_TAILS];
    double reserved[8]; /**< 0: room for new members, see docs/decisions/public-structs.md */
} db_spread;

/** Everything that determines an image. */
typedef struct db_experiment {
    db_crystal crystal;
    db_spread spread;
    db_beam beam;
    db_goniometer goniometer;
    db_detector detector;
    db_structure_factors structure_factors;
    db_background background;
    /** resolution limit (A) of the crystal: smaller d spacings are left out; 0: none */
    double dmin;
    int oversample;  /**< sub-pixels along each edge of a pixel, >= 1 */
    int point_pixel; /**< 1: solid angle 1/R^2 instead of a flat pixel's */
    db_reference_mode reference;
    double reserved[8]; /**< 0: room for new members, see docs/decisions/public-structs.md */
} db_experiment;

/** Fluence for which r_e^2 x fluence = 1 (photons/m^2): the reference's default. */
#define DB_DEFAULT_FLUENCE 125932015286227086360700780544.0
/** Thomson scattering length squared (m^2). */
#define DB_THOMSON_R2 7.94079248018965e-30
/** Molecules per mole. */
#define DB_AVOGADRO 6.02214179e23

/** Fills *experiment with defaults (no cell; one source; a one-panel MOSFLM detector of 1024 x 1024
 * pixels of 0.1 mm at 100 mm). Allocates the source and panel lists.
 *
 * @param context receives the message of a failure
 * @param experiment overwritten; owns its lists
 * @return DB_OK; DB_ERROR_MEMORY */
DB_API db_status db_experiment_init(db_context *context, db_experiment *experiment);

/** Deep copy; *copy must not own anything (it is overwritten).
 *
 * @param context receives the message of a failure
 * @param experiment to copy
 * @param copy overwritten
 * @return DB_OK; DB_ERROR_MEMORY; *copy then owns nothing */
DB_API db_status db_experiment_copy(db_context *context, const db_experiment *experiment,
                                    db_experiment *copy);

/** Frees the lists and zeroes the struct. Safe on a zeroed struct.
 *
 * @param experiment to clear */
DB_API void db_experiment_clear(db_experiment *experiment);

/** Replaces the list of sources by a copy of `count` (1 or more) of them.
 *
 * @param context receives the message of a failure
 * @param experiment to change
 * @param sources `count` of them
 * @param count their number
 * @return DB_OK; DB_ERROR_USAGE for none; DB_ERROR_MEMORY; the list then stays */
DB_API db_status db_experiment_set_sources(db_context *context, db_experiment *experiment,
                                           const db_source *sources, size_t count);

/** Replaces the list of panels by a copy of `count` (1 or more) of them.
 *
 * @param context receives the message of a failure
 * @param experiment to change
 * @param panels `count` of them
 * @param count their number
 * @return DB_OK; DB_ERROR_USAGE for none; DB_ERROR_MEMORY; the list then stays */
DB_API db_status db_experiment_set_panels(db_context *context, db_experiment *experiment,
                                          const db_panel *panels, size_t count);

/** Replaces the list of structure factors by a copy of extent[0] * extent[1] * extent[2] amplitudes
 * (electrons) in the order of db_structure_factors, from index `min` on. They do not depend on the photon
 * energy. amplitude NULL: no list. default_F stays. DB_ERROR_USAGE for an extent below 1.
 *
 * @param context receives the message of a failure
 * @param experiment to change
 * @param min smallest h, k, l
 * @param extent number of indices h, k, l
 * @param amplitude electrons; NULL: no list
 * @return DB_OK; DB_ERROR_USAGE or DB_ERROR_MEMORY; the list then stays */
DB_API db_status db_experiment_set_amplitudes(db_context *context, db_experiment *experiment,
                                              const int min[3], const int extent[3],
                                              const double *amplitude);

/** Replaces the kinds of sites, which depend on the photon energy, by a copy, and the amplitudes of the box
 * by |F| at the beam's wavelength. There must be a list (db_experiment_set_amplitudes), which is not
 * interpolated. Each kind needs a name of its own, and a curve of two or more points of ascending energies
 * (eV) that includes the energies of all sources.
 *
 * @param context receives the message of a failure
 * @param experiment to change
 * @param sites NULL: none; the amplitudes then stay
 * @return DB_OK; DB_ERROR_INPUT, naming the kind; DB_ERROR_USAGE; DB_ERROR_MEMORY; nothing is then changed */
DB_API db_status db_experiment_set_site_kinds(db_context *context, db_experiment *experiment,
                                              const db_site_kinds *sites);

/** Replaces the amplitudes of amorphous matter by copies: `count` values of sin(theta)/lambda
 * (1/angstrom), ascending, and the amplitude of one molecule there (electrons). count 0: none.
 *
 * @param context receives the message of a failure
 * @param experiment to change
 * @param stol 1/angstrom
 * @param amplitude electrons
 * @param count number of points; 0: none
 * @return DB_OK; DB_ERROR_MEMORY; the lists then stay */
DB_API db_status db_experiment_set_amorphous(db_context *context, db_experiment *experiment,
                                             const double *stol, const double *amplitude,
                                             size_t count);

/** Checks every value (finite, in range, cell possible, axes orthogonal, detector not behind the
 * sample ...). DB_ERROR_INPUT with a message naming the first bad one.
 *
 * @param context receives the message of a failure
 * @param experiment to check
 * @return DB_OK or DB_ERROR_INPUT */
DB_API db_status db_experiment_check(db_context *context, const db_experiment *experiment);

/** A grid of sources over divergence and dispersion (db_beam_set_spread). */
typedef struct db_beam_spread {
    double horizontal_range, vertical_range; /**< full ranges (radian) */
    double horizontal_step, vertical_step;   /**< radian */
    int horizontal_steps, vertical_steps;    /**< >= 1 */
    int round;                               /**< 1: elliptical cut of the grid */
    double dispersion;                       /**< full relative width of the wavelength */
    double dispersion_step;                  /**< relative */
    int dispersion_steps;                    /**< >= 1 */
} db_beam_spread;

/** Sets cell and orientation from a reciprocal matrix A* (1/angstrom), row-major,
 * columns a*, b*, c*. The misset stays, and turns the crystal further. DB_ERROR_INPUT if singular or left-handed.
 *
 * @param context receives the message of a failure
 * @param crystal to change
 * @param a_star 1/angstrom, row-major
 * @return DB_OK; DB_ERROR_INPUT; nothing is then changed */
DB_API db_status db_crystal_set_matrix(db_context *context, db_crystal *crystal,
                                       const double a_star[9]);

/** Reciprocal matrix (1/angstrom; row-major, columns a*, b*, c*) of the crystal at phi = 0, misset
 * included.
 *
 * @param crystal to ask
 * @param a_star receives it (1/angstrom, row-major) */
DB_API void db_crystal_matrix(const db_crystal *crystal, double a_star[9]);

#ifdef __cplusplus
}
#endif
#endif
