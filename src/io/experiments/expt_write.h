/* Experiment lists with or without a crystal. */
#ifndef DB_IO_EXPT_WRITE_H
#define DB_IO_EXPT_WRITE_H

#include <dualbragg/io.h>

/* As db_write_expt; has_crystal 0: the list has none. */
db_status db_expt_write(db_context *context, const char *path, const db_experiment *experiment,
                        const db_expt_image *image, int has_crystal);

#endif
