/* Readers of one format each, of which the functions without a format in their names choose. */
#ifndef DB_IO_FORMAT_READERS_H
#define DB_IO_FORMAT_READERS_H

#include <dualbragg/io.h>
#include <dualbragg/expert/experiment_list_content.h>
#include <dualbragg/expert/listed_shots.h>

/* As db_read_expt, of an experiment list; content is initialized. */
db_status db_expt_read(db_context *context, const char *path, const db_expt_selection *selection,
                       db_experiment *experiment, db_expt_content *content);

/* Experiments of a list. */
db_status db_expt_count(db_context *context, const char *path, size_t *count);

/* As db_list_shots, of an experiment list. */
db_status db_expt_shots(db_context *context, const char *path, db_listed_shots *shots);

/* Appends a shot, whose image is owned from then on, or freed: 0, there is no memory. */
int db_listed_shots_add(db_listed_shots *shots, long number, char *image);

/* As db_read_mosflm_matrix, of lines of numbers. */
db_status db_mosflm_matrix_read(db_context *context, const char *path, double matrix[9]);

#endif
