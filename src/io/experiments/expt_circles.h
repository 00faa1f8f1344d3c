/* Circles of a goniometer beside the one that turns, in lists. */
#ifndef DB_IO_EXPT_CIRCLES_H
#define DB_IO_EXPT_CIRCLES_H

#include <dualbragg/context.h>

/* Rotations (row-major): of the crystal on the spindle, and of the spindle. */
typedef struct db_circles {
    double fixed[9], setting[9];
} db_circles;

/* Gives them to the only experiment of a list that db_write_expt wrote, whose crystal and spindle have
 * them in: they are taken out there. A still stays as it is. */
db_status db_expt_put_circles(db_context *context, const char *path, const db_circles *circles);

#endif
