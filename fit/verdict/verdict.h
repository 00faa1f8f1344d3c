/* May a refined model be used? The target alone cannot tell, since it also has minima where
 * orientation or cell are wrong. Spots that were found without a model can. */
#ifndef DB_FIT_VERDICT_VERDICT_H
#define DB_FIT_VERDICT_VERDICT_H

#include "fit/verdict/judged_spots.h"

/* Judges a model by the positions of the image's spots; the tests of intensities stay passed. The
 * model's image tells how far its own spots would lie from their reflections; NULL: at them. */
db_status db_verdict_of_places(db_context *context, const db_experiment *model,
                               const db_fit_data *data, const db_judged_spots *judged,
                               float *model_image, db_fit_verdict *verdict);

/* The same, without asking which reflections are excited. */
db_status db_verdict_of_positions(db_context *context, const db_experiment *model,
                                  const db_fit_data *data, db_fit_verdict *verdict);

/* Before a refinement adds what data have to earn: are spots at the places of the lattice at all? More is
 * asked than of a refined model, and nothing of how many spots there are or of which reflections are
 * excited. The verdict's reason says what is wrong. */
db_status db_verdict_of_lattice(db_context *context, const db_experiment *model,
                                const db_fit_data *data, int *is_right, db_fit_verdict *verdict);

/* Do the data surely ask for another distance than the one held, and so for another cell? step: by how
 * much, NAN: not asked. */
void db_verdict_of_distance(double held, double step, double error, db_fit_verdict *verdict);

#endif
