/* Records of shots at the best point, and which shots take part. */
#ifndef DB_FIT_INTENSITIES_RECORDS_H
#define DB_FIT_INTENSITIES_RECORDS_H

#include "fit/intensities/shot.h"

enum { DB_HALF_A = 1, DB_HALF_B = 2, DB_BOTH_HALVES = 3 };

typedef struct db_intensity_records {
    db_shots *all;
    const db_schur_order *order;
    unsigned char
        *group;    /* [shots] DB_HALF_A, DB_HALF_B; 0: excluded, or another process has it; owned */
    void **memory; /* of each thread, for a record; owned */
} db_intensity_records;

/* Clear them, also after a failure. */
db_status db_intensity_records_make(db_shots *all, const db_schur_order *order,
                                    db_intensity_records *records);
void db_intensity_records_clear(db_intensity_records *records);

/* Which shots of this process take part. */
void db_intensity_records_group(db_intensity_records *records);

/* That of a shot (db_joint_system.read); thread: 0 outside of parallel work. */
db_status db_intensity_records_read(void *records, size_t shot, int thread,
                                    db_reduced_equations *record);

/* The intensities that each shot measures by itself. value: intensities at which the records were made; NULL: 0, as in
 * the first pass. Rank 0 gets the measurements of all shots, the others nothing. */
db_status db_intensity_observe(db_intensity_records *records, const double *value,
                               db_observations *observations);

/* Sums over all shots that take part in a pass, and the scale that they have in the mean. */

/* Doubles alone. */
typedef struct db_intensity_totals {
    double loss, base; /* of the pass; of where the linearizations were made */
    double log_scale;  /* logarithms of the scales at the best point */
} db_intensity_totals;
db_status db_intensity_add_up(db_intensity_pass *pass, db_intensity_totals *totals);

/* The place of a parameter among a shot's own quantities; their number: it is none. */
size_t db_intensity_local_place(const db_intensity_pass *pass, db_parameter parameter);

/* Divides the scales of the shots, and their errors, by the geometric mean of the scales, the factor. All
 * processes call it. */
db_status db_intensity_normalize_scales(db_intensity_pass *pass, double *factor);

#endif
