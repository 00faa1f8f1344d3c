/* May a refined model be used? The target alone cannot tell, since it also has minima where
 * orientation or cell are wrong. Spots that were found without a model can. */
#ifndef DB_FIT_VERDICT_VERDICT_H
#define DB_FIT_VERDICT_VERDICT_H

#include "fit/verdict/evidence.h"

/* Judges a model by an image's spots and what they say of it; the tests of intensities stay passed. start:
 * before refinement; NULL: not compared. model_image: its own image, which tells whether its spots overlap. */
db_status db_verdict_of_places(db_context *context, const db_experiment *model,
                               const db_experiment *start, const db_fit_data *data,
                               const db_observed_spots *spots, const db_evidence *evidence,
                               float *model_image, db_fit_verdict *verdict);

/* What a model is asked that is not refined to the end by itself. */
typedef enum db_judgement {
    DB_JUDGE_LATTICE, /* one image, before stages that data have to earn */
    DB_JUDGE_START,   /* a shot of many that has done its own stages: what is shared may be off */
    DB_JUDGE_SHARING, /* after a joint stage: all but moved */
    DB_JUDGE_SHOT     /* after the last stage */
} db_judgement;

/* Finds spots, and judges a model by them. */
db_status db_verdict_of_shot(db_context *context, const db_experiment *model,
                             const db_fit_data *data, db_judgement how, db_fit_verdict *verdict);

/* Before a refinement adds what data have to earn: are spots at the nodes of the lattice at all, and in all of
 * them? The verdict's reason says what is wrong. */
db_status db_verdict_of_lattice(db_context *context, const db_experiment *model,
                                const db_fit_data *data, db_fit_verdict *verdict);

/* Do the data surely ask for another distance than the one held, and so for another cell? by_pixels: 1: pixels have said what
 * they ask for, not moments of spots (db_held_distance_has_moments). */
void db_verdict_of_distance(int by_pixels, db_fit_result *result);

#endif
