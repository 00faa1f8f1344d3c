/* Records of shots at the best point, and shots that take part. */
#ifndef DB_FIT_INTENSITIES_RECORDS_H
#define DB_FIT_INTENSITIES_RECORDS_H

#include "fit/intensities/shot.h"

enum { DB_HALF_A = 1, DB_HALF_B = 2, DB_BOTH_HALVES = 3 };

typedef struct db_intensity_records {
    db_shots *all;
    const db_schur_order *order;
    unsigned char
        *group;    /* [shots] DB_HALF_A, DB_HALF_B; 0: excluded, or in another process; owned */
    void **memory; /* memory of each thread for a record; owned */
} db_intensity_records;

/* Makes records; clear them, also after a failure. */
db_status db_intensity_records_make(db_shots *all, const db_schur_order *order,
                                    db_intensity_records *records);
void db_intensity_records_clear(db_intensity_records *records);

/* Marks the shots of this process that take part. */
void db_intensity_records_group(db_intensity_records *records);

/* Record of a shot (db_joint_system.read); thread: 0 outside of parallel work. */
db_status db_intensity_records_read(void *records, size_t shot, int thread,
                                    db_reduced_equations *record);

/* Intensities that each shot measures by itself. value: intensities at which the records were made; NULL: 0, as in
 * the first pass. Rank 0 gets the measurements of all shots, others nothing. */
db_status db_intensity_observe(db_intensity_records *records, const double *value,
                               db_observations *observations);

/* Sums over all shots of a pass, and their mean scale. */

/* Only doubles. */
typedef struct db_intensity_totals {
    double loss, base; /* of the pass; of the linearizations */
    double log_scale;  /* sum of the logarithms of scales at the best point */
} db_intensity_totals;
db_status db_intensity_add_up(db_intensity_pass *pass, db_intensity_totals *totals);

/* Number of a parameter among a shot's own quantities; their count if it is none. */
size_t db_intensity_local_place(const db_intensity_pass *pass, db_parameter parameter);

/* Divides the scales of the shots, and their errors, by the geometric mean of the scales, the factor. All
 * processes call it. */
db_status db_intensity_normalize_scales(db_intensity_pass *pass, double *factor);

#endif
