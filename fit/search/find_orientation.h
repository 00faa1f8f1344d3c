/* Finds the orientation of another crystal beside the model's. */
#ifndef DB_FIT_SEARCH_FIND_ORIENTATION_H
#define DB_FIT_SEARCH_FIND_ORIENTATION_H

#include "fit/merge/metric_operators.h"
#include "fit/pixels/observed_spots.h"

#include <dualbragg/expert/fit_cell.h>

/* Searches among spots that a model leaves, the strongest first, for another lattice of the same cell in another
 * orientation, by the `most` strongest. found: indexed 0 if there is none. left: NULL; else spots are all of an image, those
 * that are not near the model's nodes are searched, *left is their number, and the model's lattice is no part of the other. */
db_status db_find_other_lattice(db_context *context, const db_experiment *model,
                                const db_fit_settings *settings, const db_observed_spots *spots,
                                size_t most, size_t *left, db_fit_orientation *found);

/* As db_fit_find_orientation, with the spots of the image. */
db_status db_find_orientation_of_spots(db_context *context, const db_fit_settings *settings,
                                       db_image_spots *spots, db_experiment *experiment,
                                       db_fit_orientation *found);

/* Finds orientations of up to `most` crystals from spots of several images. start: model of one image. DB_ERROR_INPUT if
 * there is none. */
db_status db_find_lattices_of_spots(db_context *context, const db_fit_settings *settings,
                                    const db_fit_cell_spots *spots, const db_experiment *start,
                                    size_t most, db_fit_lattice *lattices, size_t *count);

/* Turns a crystal of given orientation, with a notice, if most of its spots get indices that the centring of settings allows
 * only by another way of indexing the cell, or if known amplitudes fit only another way, and this is certain. name: of the
 * image. */
db_status db_allow_given_indices(db_context *context, const db_fit_settings *settings,
                                 const char *name, db_image_spots *spots,
                                 db_experiment *experiment);

/* The same by spots of several images. *turned: 1: it is turned. */
db_status db_allow_given_indices_of_spots(db_context *context, const db_fit_settings *settings,
                                          const char *name, const db_fit_cell_spots *spots,
                                          db_experiment *start, int *turned);

/* Is there a way of indexing a cell that makes other nodes forbidden by the centring of settings? */
int db_has_other_settings(const db_fit_settings *settings, const double cell[6]);

/* Sets scale and beam centre of an experiment to those of a found lattice. */
void db_lattice_correct(const db_fit_lattice *lattice, db_experiment *experiment);

#endif
