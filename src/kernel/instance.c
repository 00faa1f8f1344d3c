/* One kernel instance per instruction set, precision and kind. Compiled many times, with different
 * definitions:
 *   DB_INSTANCE_ISA_*         which vectors (the compiler's flags say the rest)
 *   DB_INSTANCE_PRECISION_*   DOUBLE: all double; MIXED: Miller indices double, the rest float
 *   DB_INSTANCE_KIND          0 forward, 1 gradient, 2 gradient with cell counts N
 *   DB_INSTANCE_GENERAL       0: for plain jobs only, one loop per shape; 1: for all jobs
 *   DB_INSTANCE_TAG           makes the one external name unique */
#include "kernel/region_rows.h"

#define INSTANCE_NAME_(tag) db_kernel_##tag
#define INSTANCE_NAME(tag) INSTANCE_NAME_(tag)
void INSTANCE_NAME(DB_INSTANCE_TAG)(const db_kernel_job *job, const db_tile *tile, size_t tiles,
                                    double *sums, void *room);
void INSTANCE_NAME(DB_INSTANCE_TAG)(const db_kernel_job *job, const db_tile *tile, size_t tiles,
                                    double *sums, void *room) {
    for (size_t t = 0; t < tiles; t++)
        render_rows(job, &job->region[tile[t].region], tile[t].row_begin, tile[t].row_end, sums,
                    room);
}
