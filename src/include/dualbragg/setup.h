/** @file
 * Setting up an experiment in the terms of users: detector conventions,
 * beam centres in a convention's meaning, sizes, automatic counts. The
 * command line and the YAML reader fill a db_setup; db_setup_resolve
 * turns it into a db_experiment. The rules are in docs/theory. */
#ifndef DUALBRAGG_SETUP_H
#define DUALBRAGG_SETUP_H

#include <dualbragg/experiment.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Conventions for detector and beam centre. */
typedef enum db_convention {
    DB_CONVENTION_MOSFLM,
    DB_CONVENTION_DENZO,
    DB_CONVENTION_ADXV,
    DB_CONVENTION_XDS,
    DB_CONVENTION_DIALS,
    DB_CONVENTION_CUSTOM,
    DB_CONVENTION_COUNT
} db_convention;

/** Geometry of an image's header, and other values of headers and lists;
 * they are used for open values. NAN (pivot: -1, steps: 0): not in the file.
 * F, S: along fast and slow from the outer corner of the first pixel. */
typedef struct db_stated_placement {
    double distance, close_distance; /**< mm, along the beam and along the normal */
    double beam_centre[2];           /**< F, S of the direct beam (mm) */
    double near_point[2];            /**< F, S of the point closest to the sample (mm) */
    int pivot;                       /**< a db_pivot, for `convention` only */
    db_convention convention;
    int phi_steps;        /**< in the oscillation range */
    char space_group[96]; /**< of a list's crystal: Hall symbol or number; "" */
} db_stated_placement;

/** Spots, and spreads of spots in closed form, as users give them: standard deviations ("rms") of
 * Gaussian distributions, whose squares db_spread holds. NAN: not given, that is 0. */
typedef struct db_spread_setup {
    db_spot_model spots;             /**< DB_SPOTS_SAMPLED; spreads are refused with it */
    double size_correlation[3];      /**< db_spread's */
    double mosaic_rms;               /**< degree, about any axis */
    double mosaic_rms_abc[3];        /**< degree, about a*, c x a*, c; in addition */
    double mosaic_tensor[6];         /**< degree^2, db_spread's; instead of mosaic_rms_abc */
    double strain_rms;               /**< relative, along all directions together */
    double strain_rms_tensor[6];     /**< relative, of xx, yy, zz, yz, zx, xy; in addition */
    int strain_system;               /**< a db_strain_system; 0: all six are free */
    double mode[DB_SPREAD_MODES][9]; /**< 1e-3, db_spread's */
    double tail[DB_SPREAD_TAILS][2]; /**< fraction, width: db_spread's */
    double bandwidth_rms;            /**< relative */
    double divergence_rms[2];        /**< mrad, horizontal, vertical */
    double divergence_correlation;   /**< of the two, -1 to 1 */
    double footprint_rms[2];         /**< mm, horizontal, vertical */
    double footprint_correlation;    /**< of horizontal and vertical, -1 to 1 */
    double point_spread_rms[2];      /**< mm, along fast, slow; slow NAN: as along fast */
    double point_spread_correlation; /**< of fast and slow, -1 to 1 */
    double reserved[8]; /**< 0: room for new members, see docs/decisions/public-structs.md */
} db_spread_setup;

/** Which components of the strain of blocks are independent: a db_strain_ties, or the symmetry of
 * the lattice, which also says which are 0. */
typedef enum db_strain_system {
    DB_STRAINS_FREE,
    DB_STRAINS_UNIAXIAL,
    DB_STRAINS_ISOTROPIC,
    DB_STRAINS_TRICLINIC,
    DB_STRAINS_MONOCLINIC,
    DB_STRAINS_ORTHORHOMBIC,
    DB_STRAINS_TETRAGONAL,
    DB_STRAINS_TRIGONAL,
    DB_STRAINS_HEXAGONAL,
    DB_STRAINS_CUBIC
} db_strain_system;

/** An open number is NAN (a count 0) until it is given.
 * An open vector has a first component of NAN. */
typedef struct db_setup {
    /* crystal */
    double cell[6]; /**< A, degree; open edges after the first copy a, open angles are 90 */
    const char *matrix_file; /**< MOSFLM matrix, borrowed; NULL */
    double misset[3];        /**< degree; 0 */
    int misset_random;       /**< 1: uniformly random orientation instead of misset */
    long misset_seed;        /**< default 1 */
    double misset_spread;    /**< degree: largest angle of the random rotation; NAN = open: any */
    /** rotation matrix, row by row, applied before misset; first NAN = open */
    double orientation[9];
    double Ncells[3];      /**< 1 */
    double sample_size[3]; /**< mm; 0 = not given: N = ceil(size/axis) instead of cells */
    db_crystal_shape shape;
    double fudge;
    double mosaic_spread; /**< degree */
    double mosaic_abc[3]; /**< degree: db_crystal's, instead; first NAN = open: isotropic */
    int mosaic_domains;   /**< 0: automatic (1, or 10 with a spread) */
    long mosaic_seed;
    double b_factor; /**< A^2; 0 */
    /** A: db_crystal's; one for all axes, the others open, or three. First NAN = open: no halo */
    double diffuse_sigma[3], diffuse_gamma[3];
    db_spread_setup spread;
    /* structure factors */
    const char *hkl_file;        /**< see db_read_structure_factors; borrowed; NULL */
    const char *hkl_columns;     /**< db_structure_factor_options.columns */
    const char *hkl_space_group; /**< db_structure_factor_options.space_group */
    double default_F;
    int interpolate;        /**< -1 automatic, 0 nearest, 1 tricubic */
    const char *cache_file; /**< structure factor cache: written with a list, read without; NULL */
    double dmin;            /**< A; 0: no limit */
    /* background */
    double water_size;     /**< um; 0 */
    const char *stol_file; /**< amorphous amplitudes, borrowed; NULL */
    int stol_abscissa;     /**< a db_stol_abscissa */
    /** mm, thickness (along the beam), width, height; 0.1; the last two are clipped to the beam
     * size */
    double amorphous_size[3];
    double density, molecular_weight; /**< g/cm^3, g/mol; 1 and 18 */
    double molecules; /**< of amorphous matter in the beam, instead of a density; NAN = open */
    /* beam */
    double wavelength;                        /**< A; 1 */
    double fluence, flux, exposure, beamsize; /**< photons/m^2; photons/s, s, mm */
    double dispersion;                        /**< relative full width; 0 */
    int dispersion_steps;
    double divergence_range[2]; /**< radian, horizontal and vertical; NAN = open */
    double divergence_step[2];  /**< radian, horizontal and vertical; NAN = open */
    int divergence_steps[2];
    int round_divergence;
    const char *source_file;
    const char *spectrum_file; /**< instead of a dispersion; borrowed; NULL */
    int wavelength_given;      /**< 1: wavelength was given, and a spectrum is shifted to have its
                                    mean there */
    double spectrum_stretch;   /**< db_beam's; 1 */
    /** eV, full width at half maximum with which a spectrometer blurred the spectrum; 0: not */
    double spectrum_resolution;
    double polarization;
    int polarized;
    /* spindle */
    double phi, osc, phi_step; /**< degree; osc, phi_step NAN = open */
    int phi_steps;             /**< -1 = open */
    double spindle_tilt[2];    /**< degree: towards the beam, out of the plane with the beam */
    /* detector */
    db_convention convention;
    double pixel_size;               /**< mm; 0.1 */
    double detector_size[2];         /**< mm, fast, slow; 102.4 */
    int detector_pixels[2];          /**< 0 = from size */
    double distance, close_distance; /**< mm; NAN = open */
    double beam_centre[2];           /**< X, Y as the convention defines them (mm); NAN */
    double close_point[2];           /**< Xclose, Yclose (mm); NAN */
    double org[2];                   /**< ORGX, ORGY (pixels); NAN */
    int pivot;                       /**< -1 open, else db_pivot: an explicit -pivot */
    /** -1 none, else db_pivot last implied by another flag; used in CUSTOM only */
    int pivot_hint;
    double fast_axis[3], slow_axis[3], normal[3], beam_axis[3], polarization_axis[3],
        spindle_axis[3], twotheta_axis[3]; /**< CUSTOM vectors; first component NAN = open */
    double origin[3];                      /**< pix0 vector (m); first component NAN = open */
    double rotation[3], twotheta;          /**< degree */
    double panel_turn[3], panel_shift[3];  /**< degree, mm: db_detector's */
    int point_pixel, curved;
    double sensor_thickness; /**< um; 0 */
    /** um; NAN = open: depth of the material, else the thickness; INFINITY or 0: no sensor */
    double attenuation_depth;
    db_sensor_material sensor_material; /**< DB_SENSOR_UNKNOWN = open */
    int sensor_layers;                  /**< 0 = open: 2 */
    /** db_detector's; -1 = open: 0 for sensors of known material, of image headers and of experiment
     * lists, else 1 */
    int layers_at_front;
    int sensor_stated; /**< 1: thickness or attenuation come from a header or list */
    int oversample;    /**< 0 = automatic */
    db_stated_placement stated;
    /** experiment list for frame, detector, spindle, and the
     * crystal if it is not given; see db_setup_read_expt */
    const char *expt_file;  /**< borrowed; NULL */
    int expt_number;        /**< from 0; -1: open */
    const char *expt_image; /**< borrowed; NULL: open */
    /* the reference's way */
    int compat;
    int oversample_omega, oversample_polar, oversample_thick; /**< with compat only */
    /* structure factors of coordinates in hkl_file */
    double k_sol, b_sol;     /**< bulk solvent: e/A^3, A^2; 0.35 and 46 */
    double model_resolution; /**< A: resolution of calculated ones; NAN = open: of the detector */
    int anomalous;           /**< 1: with f' and f'' at the wavelength; 0: without */
    int expt_frame;          /**< image of the experiment's scan, as the scan counts; 0: open */
    /** pixels along fast, slow, from the outer corner of the first pixel, in every convention, instead of
     * beam_centre, close_point and org: the direct beam, with the pivot at the sample the near point; NAN */
    double beam_centre_px[2];
    double beam_tilt[2]; /**< mrad: db_beam's; 0 */
    double scale;        /**< db_beam's; 1 */
    /** kinds of sites in the coordinates of hkl_file whose f' and f'' follow curves of the photon
     * energy (db_site_kinds): SITES=CURVE[,SITES=CURVE...], SITES as db_site_choice.sites, CURVE a file
     * of db_read_site_curve, or table[:SHIFT], a free atom's with its edge SHIFT eV higher; borrowed;
     * NULL: none */
    const char *sites;
    /** [3]: first and last energy (eV) and number of points on which all these curves are put
     * (db_site_curve_onto); borrowed; NULL: their own */
    const double *site_points;
    double misset_frame[3];     /**< degree: turns the axes of misset, see db_crystal; 0 */
    double crystal_position[3]; /**< mm: db_crystal's; 0 */
    /** tables of sites reach from 1/(1 + this) of the lowest energy of the sources to 1 + this times the highest, or 2 %
     * beyond both, whichever is more: other shots of the run have such energies; 0 */
    double site_reach;
    double reserved[7]; /**< 0: room for new members, see docs/decisions/public-structs.md */
} db_setup;

/** First column of a file of amorphous amplitudes. */
typedef enum db_stol_abscissa {
    DB_STOL,  /**< sin(theta)/lambda (1/angstrom) */
    DB_4STOL, /**< 4 sin(theta)/lambda */
    DB_Q      /**< 4 pi sin(theta)/lambda */
} db_stol_abscissa;

/** All defaults.
 *
 * @param setup overwritten */
DB_API void db_setup_init(db_setup *setup);

/** The file that a header belongs to: for masks, the reference turns the beam centre upside down. */
typedef enum db_header_role { DB_HEADER_OF_IMAGE, DB_HEADER_OF_MASK } db_header_role;

/** Fills a setup from an image's header: size and number of pixels, wavelength, phi, oscillation
 * range, two-theta, distance and beam centre. Values that are given later take precedence.
 *
 * By default from SMV and miniCBF; keys must match exactly. Direct beam and near point come from
 * the DENZO_, MOSFLM_ and XDS_ keys, else from BEAM_CENTER_X/Y as ADSC headers define them, and
 * hold in any convention. Headers of db_write_smv also have convention, pivot, rotations of the
 * detector and the number of phi steps. Values that the header lacks stay, with a notice (notices
 * may be NULL). With setup->compat from SMV in the reference's way (quirks header-* of
 * docs/reference/quirks.md): the last occurrence of a key's text is used, BEAM_CENTER_X/Y are the
 * current convention's numbers, two-theta is ignored.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param role image or mask
 * @param setup completed
 * @param notices told each automatic choice or warning, as a line that is valid during the call;
 *     may be NULL
 * @param user handed to the function
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY */
DB_API db_status db_setup_read_header(db_context *context, const char *path, db_header_role role,
                                      db_setup *setup,
                                      void (*notices)(void *user, const char *line), void *user);

/** Fills a setup from an experiment of a DIALS experiment list (see db_read_expt): wavelength,
 * polarization, phi, oscillation range, sensor. Values that are given later take precedence. The
 * setup keeps the file's name. db_setup_resolve takes from the file the laboratory frame,
 * panels, axes and direction of the beam, and cell and orientation if the setup has none. Then a
 * distance moves the plate of the panels, and rotations and two-theta turn it; conventions, beam
 * centre, origin, size and number of pixels cannot be given. path and image are borrowed; image
 * may be NULL, number -1. expt_frame of the setup selects the image of a scan, before any name.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param number of the experiment, from 0; -1: open
 * @param image that the experiment shows; may be NULL
 * @param setup completed; borrows path and image
 * @param notices told each automatic choice or warning, as a line that is valid during the call;
 *     may be NULL
 * @param user handed to the function
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY; DB_ERROR_UNSUPPORTED without
 *     jansson */
DB_API db_status db_setup_read_expt(db_context *context, const char *path, int number,
                                    const char *image, db_setup *setup,
                                    void (*notices)(void *user, const char *line), void *user);

/** Resolves a setup. *experiment must not own anything (it is overwritten); clear it with
 * db_experiment_clear. notices (may be NULL) receives one line per automatic choice or warning that
 * the user should see; it is called with text valid during the call only.
 *
 * @param context receives the message of a failure
 * @param setup to resolve; not changed
 * @param experiment overwritten; to be cleared by the caller
 * @param notices told each automatic choice or warning, as a line that is valid during the call;
 *     may be NULL
 * @param user handed to the function
 * @return DB_OK or an error */
DB_API db_status db_setup_resolve(db_context *context, const db_setup *setup,
                                  db_experiment *experiment,
                                  void (*notices)(void *user, const char *line), void *user);

#ifdef __cplusplus
}
#endif
#endif
