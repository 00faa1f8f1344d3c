/* Experiment lists with or without a crystal. */
#ifndef DB_IO_EXPT_WRITE_H
#define DB_IO_EXPT_WRITE_H

#include <dualbragg/io.h>
#include <dualbragg/expert/experiment_list_content.h>

/* As db_write_expt. panel: what the list says of each panel besides its place, with finite trusted ranges; NULL: what
 * the image says. has_crystal 0: the list has none. */
db_status db_expt_write(db_context *context, const char *path, const db_experiment *experiment,
                        const db_expt_image *image, const db_expt_panel *panel, int has_crystal);

#endif
