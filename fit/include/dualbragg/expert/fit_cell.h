/** @file
 * Search for the cell of a crystal, from spots alone. */
#ifndef DUALBRAGG_EXPERT_FIT_CELL_H
#define DUALBRAGG_EXPERT_FIT_CELL_H

#include <dualbragg/fit_config.h>
#include <dualbragg/fit_orientation.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DB_FIT_BRAVAIS_LATTICES = 14 };

/** A possible Bravais lattice of a lattice. */
typedef struct db_fit_bravais {
    char symbol[4]; /**< family and centring: "tP" */
    double cell[6]; /**< angstrom, degree: best for the spots at the given distance */
    /** largest change of an edge (relative) or an angle (radian) to this kind of lattice */
    double strain;
    size_t indexed; /**< spots near its nodes */
    /** spread of the spots about nodes over that for the triclinic lattice, at the best detector distance and
     * tilts: the square of the width of places times the width of turns to the Ewald sphere; NAN: too few spots */
    double misfit;
    int fits; /**< 1: no lower lattice is much likelier */
} db_fit_bravais;

/** A cell found by a search. */
typedef struct db_fit_found_cell {
    db_fit_orientation found; /**< of the triclinic lattice; chance: of all that were tried */
    double reduced
        [6];   /**< reduced cell (Niggli; without gemmi three shortest edges): angstrom, degree */
    int count; /**< of the lattices, the highest symmetry first; the last is triclinic */
    db_fit_bravais lattice[DB_FIT_BRAVAIS_LATTICES];
    int named;  /**< 1: a symmetry was given */
    int chosen; /**< the lattice of the given symmetry, or else the first that fits */
    double
        distance; /**< relative change of the detector distance for the chosen lattice; 0: not found */
    double orientation
        [9]; /**< of the crystal with the chosen lattice, the spindle at 0: the whole rotation (row-major) */
    size_t images;   /**< that were searched */
    size_t agreeing; /**< of them, with this cell */
    size_t searches; /**< 1: of all images together; else of each image or sweep by itself */
} db_fit_found_cell;

/** Spots of images of one crystal, turned back by the angle of the spindle. */
typedef struct db_fit_cell_spots db_fit_cell_spots;

/** Adds the spots of an image.
 *
 * @param context receives the message of a failure
 * @param image measured image
 * @param settings those of the data
 * @param experiment beam, detector and goniometer of the image; its crystal is not used
 * @param spots made with the first image, if it is NULL
 * @return DB_OK or an error */
DB_API db_status db_fit_cell_spots_add(db_context *context, const db_measured_image *image,
                                       const db_fit_settings *settings,
                                       const db_experiment *experiment, db_fit_cell_spots **spots);

/** How many there are; 0 for NULL. */
DB_API size_t db_fit_cell_spots_count(const db_fit_cell_spots *spots);

/** Frees the spots. *spots becomes NULL. */
DB_API void db_fit_cell_spots_destroy(db_fit_cell_spots **spots);

/** Finds the cell and the orientation of a crystal from the strongest spots of one or several images: translations of the
 * lattice by their Fourier sums, then the three of them that most spots agree with.
 *
 * @param context receives the message of a failure
 * @param settings those of the data
 * @param spots of the images; NULL: none
 * @param symmetry crystal system, lattice or space group that the cell must have; "": the lattice that fits
 * @param centring letter of the lattice that this names; 0: none
 * @param cell filled
 * @return DB_OK; DB_ERROR_INPUT if no lattice explains more than chance would, or none has the symmetry;
 *     DB_ERROR_CANCELLED; other errors */
DB_API db_status db_fit_find_cell_of_spots(db_context *context, const db_fit_settings *settings,
                                           const db_fit_cell_spots *spots, const char *symmetry,
                                           int centring, db_fit_found_cell *cell);

/** Finds the cell on an image, for a configuration with find_orientation and without a cell. For others count is 0.
 *
 * @param context receives the message of a failure
 * @param config completed from the image
 * @param image measured image
 * @param cell filled
 * @return as db_fit_find_cell_of_spots */
DB_API db_status db_fit_config_find_cell(db_context *context, db_fit_config *config,
                                         const db_measured_image *image, db_fit_found_cell *cell);

/** Adds the spots of an image to the spots of other images of one crystal, if the configuration names no cell; else does
 * nothing.
 *
 * @param context receives the message of a failure
 * @param config completed from the image
 * @param image measured image
 * @param spots as for db_fit_cell_spots_add
 * @return DB_OK or an error */
DB_API db_status db_fit_config_cell_spots(db_context *context, db_fit_config *config,
                                          const db_measured_image *image,
                                          db_fit_cell_spots **spots);

/** Finds the cell of spots with the symmetry of a configuration.
 *
 * @param context receives the message of a failure
 * @param config with the symmetry that the cell must have
 * @param spots of its images
 * @param cell filled
 * @return as db_fit_find_cell_of_spots */
DB_API db_status db_fit_config_cell_of_spots(db_context *context, const db_fit_config *config,
                                             const db_fit_cell_spots *spots,
                                             db_fit_found_cell *cell);

/** The cell that most images have: the median constants of the largest group of similar cells, with the highest symmetry
 * that fits most of them.
 *
 * @param context receives the message of a failure
 * @param cells found on one image each
 * @param count of them, 1 at least
 * @param images that were searched
 * @param voted filled; its spots are from the image that chance explains least
 * @return DB_OK; DB_ERROR_MEMORY */
DB_API db_status db_fit_vote_on_cell(db_context *context, const db_fit_found_cell *cells,
                                     size_t count, size_t images, db_fit_found_cell *voted);

#ifdef __cplusplus
}
#endif
#endif
