/* The parts of db_setup_crystal. */
#ifndef DB_SETUP_SETUP_CRYSTAL_PARTS_H
#define DB_SETUP_SETUP_CRYSTAL_PARTS_H

#include "model/ran1.h"
#include "setup/parts.h"

/* Cell and orientation without misset, from cell constants, a matrix file or both; the ratio of
 * reciprocal vectors goes to experiment->reference. */
db_status db_setup_cell(db_context *context, const db_setup *setup, db_experiment *experiment,
                        const db_setup_notes *notes);

/* Orientation before misset, if given as a rotation matrix. */
db_status db_setup_orientation(db_context *context, const db_setup *setup, db_crystal *crystal);

/* Misset angles: given, or those of a random rotation. */
db_status db_setup_misset(db_context *context, const db_setup *setup, db_crystal *crystal,
                          const db_setup_notes *notes);

/* DB_ERROR_INPUT, naming the seed, unless it starts a proper stream. */
db_status db_setup_check_seed(db_context *context, const char *name, long seed);

#endif
