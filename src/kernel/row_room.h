/* Memory for the terms that a row's pixels share (kernel/row.h): up to a megabyte, too much for a thread's stack.
 * The plan owns it, one piece per thread. */
#ifndef DB_KERNEL_ROW_ROOM_H
#define DB_KERNEL_ROW_ROOM_H

#include "kernel/job.h"

/* Jobs with more sources x samples, or more sub-pixels, than this do without. */
enum { DB_MOST_ROW_TERMS = 2048, DB_MOST_SUB_ROWS = 4 };

/* Devices read terms 16 bytes at a time. */
#if !defined(DB_ROW_TERM_ALIGNMENT)
#define DB_ROW_TERM_ALIGNMENT
#endif

/* One source and sample, for the three lattice vectors: coefficients of powers of f in kappa a.x,
 * and -a.s0, to which INDEX_SHIFT is added where only the offset from the nearest node counts. */
typedef struct DB_ROW_TERM_ALIGNMENT {
    double linear[3][2], constant[3];
} row_term;

/* Shared by all rows of a panel: kappa a.x at its corner, and its slope along slow. */
typedef struct {
    double corner[3], along_slow[3];
} panel_term;

/* Bytes that any instance needs for a job; 0: it does without. */
static inline size_t db_row_room(const db_kernel_job *job) {
    const size_t terms = job->source_count * job->sample_count, rows = (size_t)job->oversample,
                 most_lanes = 16;
    if (terms > DB_MOST_ROW_TERMS || rows > DB_MOST_SUB_ROWS) return 0;
    return terms * (sizeof(panel_term) + rows * sizeof(row_term)) +
           (rows * job->source_count * (2 + 3) + (2 + rows) * 3 * (terms + most_lanes)) *
               sizeof(double);
}

#endif
