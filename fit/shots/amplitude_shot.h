/* A shot in the stage of joint intensities: its own quantities are fitted at given intensities of
 * its reflections, and what it then says of them becomes its record. */
#ifndef DB_FIT_SHOTS_AMPLITUDE_SHOT_H
#define DB_FIT_SHOTS_AMPLITUDE_SHOT_H

#include "fit/merge/error_model.h"
#include "fit/merge/indexing.h"
#include "fit/merge/scaling.h"
#include "fit/shots/amplitude_record.h"
#include "fit/shots/shot_fit.h"

/* Where the shots are fitted. */
typedef struct db_amplitude_pass {
    db_shots *all;
    int stage;
    db_fit_stage search; /* of local quantities */
    db_arrow_order order;
    const db_asu_list *list;
    int slot;                /* of the records that are written; the others are read */
    int first;               /* 1: there is no record yet; intensities are 0, nothing is fitted, and
                               weights are those of the data */
    int last;                /* 1: the result: statistics of the shots, too */
    const double *before;    /* [reflections] intensities of the records that are read */
    const double *intensity; /* [reflections] those of this pass */
    const double *step;      /* [reflections + shared] from there to here */
    const db_scaling *scaling; /* of the second pass: the records are of the first one, and this
                                  tells their scales; else NULL */
    const db_indexing_result *indexing; /* how reflections of shots are called from the second pass
                                           on; NULL: as the shots index them */
    const double *shared;               /* values of this pass */
    const double *diagonal; /* [reflections] sum over shots of the curvature by an intensity */
    const db_error_model *errors;
    double *loss; /* [shots] receives that of the pass */
    double *base; /* [shots] and that of the records that were read, with the weights of the pass */
} db_amplitude_pass;

/* A db_shot_work; user: the pass. */
db_status db_amplitude_shot_evaluate(db_shots *all, db_context *context, size_t shot, void *user,
                                     double *sum);

/* Reads a record into memory of db_amplitude_shot_size bytes. */
size_t db_amplitude_shot_size(const db_shots *all, const db_arrow_order *order, size_t shot);
db_status db_amplitude_shot_read(const db_shots *all, db_context *context,
                                 const db_arrow_order *order, size_t shot, int slot, void *memory,
                                 db_amplitude_record *record);

/* What single boxes say: intensity and variance by the noise of pixels; 0: nothing. before: the
 * intensity of the record. */
static inline int db_amplitude_box(const db_amplitude_record *record, size_t b, double before,
                                   double *intensity, double *variance) {
    const double curvature = (double)record->curvature[b], trust = (double)record->trust[b];
    if (!(curvature > 0) || !(trust > 0)) return 0;
    *intensity = before - (double)record->pull[b] / curvature;
    *variance = trust / curvature;
    return 1;
}

#endif
