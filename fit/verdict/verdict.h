/* May a refined model be used? The target cannot tell, because it also has minima at wrong orientations and cells.
 * Spots that were found without a model can. */
#ifndef DB_FIT_VERDICT_VERDICT_H
#define DB_FIT_VERDICT_VERDICT_H

#include "fit/verdict/renumbered.h"
#include "fit/verdict/rivals.h"

/* Judges a model by an image's spots and their evidence; tests of intensities stay passed. start: model before
 * refinement; NULL: not compared. model_image: the model's own image, which shows whether its spots overlap. */
db_status db_verdict_of_places(db_context *context, const db_experiment *model,
                               const db_experiment *start, const db_fit_data *data,
                               const db_observed_spots *spots, const db_evidence *evidence,
                               float *model_image, db_fit_verdict *verdict);

/* A wrong lattice that was fitted to all spots need not have made any of them: it is fitted to half of the detector, and judged
 * by the other half. */
db_status db_verdict_of_halves(db_context *context, const db_evidence *evidence,
                               db_fit_verdict *verdict);

/* Tests of a model that is not yet refined to the end by itself. */
typedef enum db_judgement {
    DB_JUDGE_LATTICE, /* one image, before stages that data must earn */
    DB_JUDGE_START,   /* a shot of many after its own stages: shared parameters may be wrong */
    DB_JUDGE_SHARING, /* a shot after a joint stage: all tests but moved, stretched, start and halves */
    DB_JUDGE_SHOT     /* a shot after the last stage */
} db_judgement;

/* Finds spots and judges a model by them. panels: adds its equations of displaced panels; centrings: gets what its spots say of
 * them; NULL: none are wanted. */
db_status db_verdict_of_shot(db_context *context, const db_experiment *model,
                             const db_fit_data *data, db_judgement how,
                             const db_shot_panels *panels, db_centrings *centrings,
                             db_fit_verdict *verdict);

/* Before stages that data must earn: are the spots at nodes of the lattice, and do they show all nodes? The
 * verdict's reason names the fault. other: gets the likeliest other indices, which are then not tested; or NULL. */
db_status db_verdict_of_lattice(db_context *context, const db_experiment *model,
                                const db_fit_data *data, db_fit_verdict *verdict,
                                db_other_indices *other);

/* Do the data ask for another distance than the held one, and so for another cell? by_pixels: 1: pixels give the
 * distance, not moments of spots (db_fit_has_moments). */
void db_verdict_of_distance(int by_pixels, db_fit_result *result);

#endif
