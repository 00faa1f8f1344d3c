/** @file
 * Search for the orientation of a crystal of known cell, or of several on one image. */
#ifndef DUALBRAGG_FIT_ORIENTATION_H
#define DUALBRAGG_FIT_ORIENTATION_H

#include <dualbragg/fit_settings.h>
#include <dualbragg/measured_image.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Result of a search for the orientation. */
typedef struct db_fit_orientation {
    size_t spots;           /**< spots that distinguish orientations */
    size_t indexed;         /**< of them, near nodes of the lattice */
    double by_chance;       /**< expected `indexed` for a lattice in a random orientation */
    double log_probability; /**< ln of the probability that a random orientation has as many */
} db_fit_orientation;

/** Finds the orientation of a crystal of known cell (indexing) that explains the image's spots best. The given
 * orientation is ignored; db_crystal.orientation becomes the whole rotation. If settings refine all edges of
 * the cell, the edges may be off by a common factor of up to 3 %, one of them by 5 %, and if they refine the beam centre, it may
 * be off by up to 10 pixels, both within the bounds of settings; the experiment gets the found values. Of
 * orientations that are equivalent by symmetry any may be found. DB_ERROR_INPUT if no
 * orientation explains more than chance would. The context's
 * progress gets the fraction of the largest possible work.
 *
 * @param context receives the message of a failure
 * @param image measured image
 * @param settings those of the data
 * @param experiment its crystal is turned; its cell and beam centre are corrected where settings refine them
 * @param found filled
 * @return DB_OK; DB_ERROR_INPUT if no orientation explains more than chance would;
 *     DB_ERROR_CANCELLED; other errors */
DB_API db_status db_fit_find_orientation(db_context *context, const db_measured_image *image,
                                         const db_fit_settings *settings, db_experiment *experiment,
                                         db_fit_orientation *found);

enum { DB_FIT_MOST_LATTICES = 16 };

/** A lattice found by a search. */
typedef struct db_fit_lattice {
    double orientation[9];    /**< rotation of the lattice's crystal, misset included (row-major) */
    db_fit_orientation found; /**< from the spots that earlier lattices leave */
    double edge_scale[3];     /**< factors on the edges, equal for all lattices; 1 if not refined */
    double beam_shift
        [2]; /**< mm, of the beam centre along fast and slow, equal for all lattices; 0 if not refined */
} db_fit_lattice;

/** Finds several lattices of one cell: the one that explains most of the strongest spots, then, from
 * the spots that it leaves, the next one, until no orientation explains more than
 * chance would. A lattice within about half a degree of an earlier one is not listed.
 *
 * @param context receives the message of a failure
 * @param image measured image
 * @param settings those of the data
 * @param experiment cell, beam, detector and goniometer; not changed
 * @param most lattices to look for, 1 to DB_FIT_MOST_LATTICES
 * @param lattices receives them; room for `most`
 * @param count receives how many were found
 * @return DB_OK: at least one; DB_ERROR_INPUT if no orientation explains more than chance would;
 *     DB_ERROR_CANCELLED; other errors */
DB_API db_status db_fit_find_lattices(db_context *context, const db_measured_image *image,
                                      const db_fit_settings *settings,
                                      const db_experiment *experiment, size_t most,
                                      db_fit_lattice *lattices, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
