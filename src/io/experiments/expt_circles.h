/* The circles of a goniometer that stand still, in experiment lists. */
#ifndef DB_IO_EXPT_CIRCLES_H
#define DB_IO_EXPT_CIRCLES_H

#include <dualbragg/context.h>

/* Rotations (row-major): of the crystal on the spindle, and of the spindle. */
typedef struct db_circles {
    double fixed[9], setting[9];
} db_circles;

/* Writes the circles into a list that db_write_expt wrote for one experiment. Its crystal and spindle include the
 * circles' turns, which are taken out of them. The list of a still stays unchanged. */
db_status db_expt_put_circles(db_context *context, const char *path, const db_circles *circles);

#endif
