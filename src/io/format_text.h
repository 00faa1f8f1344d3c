/* Texts, told by how they begin. */
#ifndef DB_IO_FORMAT_TEXT_H
#define DB_IO_FORMAT_TEXT_H

#include "base/file_content.h"

/* What is looked at to tell a file: its name, and its first bytes with a zero behind them. */
typedef struct db_file_head {
    const char *path;
    db_file_content start;
} db_file_head;

int db_is_experiment_list(const db_file_head *head); /* JSON of dxtbx */
int db_is_json_object(const db_file_head *head);
int db_is_cif(const db_file_head *head); /* a data block, comments before it */
int db_is_pdb(const db_file_head *head);
int db_is_amplitude_cache(const db_file_head *head);  /* db_write_structure_factor_cache */
int db_is_matrix(const db_file_head *head);           /* three lines of three numbers */
int db_is_reflection_lines(const db_file_head *head); /* h k l F */
int db_is_columns(const db_file_head *head);          /* lines of two numbers or more */

#endif
