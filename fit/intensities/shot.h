/* A shot in the stage of joint intensities. Its own quantities are fitted with given intensities of its
 * reflections. Its boxes then give its linearization, from which records are made: with weights, at any point
 * nearby. */
#ifndef DB_FIT_INTENSITIES_SHOT_H
#define DB_FIT_INTENSITIES_SHOT_H

#include "fit/merge/error_model.h"
#include "fit/merge/indexing.h"
#include "fit/merge/scaling.h"
#include "fit/shots/shot_fit.h"

/* A pass over the shots, at a point. */
typedef struct db_intensity_pass {
    db_shots *all;
    int stage;
    db_fit_stage search; /* of local quantities */
    db_schur_order order;
    size_t most; /* quantities that may move a box */
    const db_asu_list *list;
    int slot; /* slot in which linearizations are written, 0 or 1; the other one is read */
    /* 1: first pass, without records and linearizations; intensities are 0, nothing is fitted,
     * and weights come from the data */
    int first;
    const double *intensity; /* [reflections] of this pass */
    const double *shared;    /* values of this pass */
    /* [reflections + shared] from the records to this point; NULL: from the linearizations */
    const double *step;
    const db_scaling *scaling; /* second pass: scales for the records of the first one; else NULL */
    /* indexing of the shots from the second pass on; NULL: their own */
    const db_indexing_result *indexing;
    const double *diagonal; /* [reflections] sum over shots of the curvature by an intensity */
    const db_error_model *errors;
    double *loss; /* [shots] receives the losses of the pass */
    double *
        base; /* [shots] receives the losses of the linearizations that were read, with the weights of the pass */
} db_intensity_pass;

/* Work on open shots, with the pass as user. Renders a shot and fits its own quantities, with the weights of its
 * record; makes its linearization, and a record at the same point. */
db_status db_intensity_shot_evaluate(void *user, db_context *context, size_t shot,
                                     db_open_shot *open, double *sum);

/* At the minimum: stores the errors of the shot's own quantities, from its record, and its statistics. Compares the light of
 * its boxes with the model's, of the pass' intensities: in its summary, or, for a series, as db_series_note_light. */
db_status db_intensity_shot_conclude(void *user, db_context *context, size_t shot,
                                     db_open_shot *open, double *sum);

/* Work on a shot (db_shot_work). Makes the record from the linearization: after a step, with weights by the boxes'
 * intensities at the new point. */
db_status db_intensity_shot_reweight(db_shots *all, db_context *context, size_t shot, void *user,
                                     double *sum);

/* Reads a record into memory of db_intensity_shot_size bytes. */
size_t db_intensity_shot_size(const db_shots *all, const db_schur_order *order, size_t shot);
db_status db_intensity_shot_read(const db_shots *all, db_context *context,
                                 const db_schur_order *order, size_t shot, void *memory,
                                 db_reduced_equations *record);

/* A linearization and a record in memory. */
typedef struct db_linearized_shot {
    db_linearization linearization;
    db_reduced_equations record;
    double *room; /* memory of the linearization; owned, as the following */
    void *bytes[2];
    size_t size[2]; /* bytes of these */
} db_linearized_shot;

/* Makes a zeroed linearization and record of a shot. */
db_status db_linearized_shot_make(db_context *context, const db_intensity_pass *pass, size_t shot,
                                  db_linearized_shot *memory);
void db_linearized_shot_clear(db_linearized_shot *memory);

/* Reads from and writes to the scratch file: the record, and the linearization of a slot; slot -1: no
 * linearization. */
db_status db_linearized_shot_read(db_context *context, const db_intensity_pass *pass, size_t shot,
                                  int slot, db_linearized_shot *memory);
db_status db_linearized_shot_write(db_context *context, const db_intensity_pass *pass, size_t shot,
                                   int slot, const db_linearized_shot *memory);

/* Measurement of a box by itself. */
typedef struct db_measured_box {
    double intensity, variance; /* by the noise of pixels */
    double partiality;
    double share; /* mean share */
} db_measured_box;

/* Weight of a box, from the mean of its reflection. */
float db_intensity_weight(const db_error_model *errors, const db_measured_box *box, double mean);

/* Intensity of a box alone, with its variance by the noise of pixels; returns 0 if it measures nothing. before:
 * the intensity at which the record was made. */
static inline int db_intensity_box(const db_reduced_equations *record, size_t b, double before,
                                   double *intensity, double *variance) {
    const double curvature = (double)record->curvature[b], trust = (double)record->trust[b];
    if (!(curvature > 0) || !(trust > 0)) return 0;
    *intensity = before - (double)record->pull[b] / curvature;
    *variance = trust / curvature;
    return 1;
}

#endif
