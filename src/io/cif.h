/* Tables of a CIF file: loops and single items (S. R. Hall, F. H. Allen & I. D. Brown, Acta Cryst.
 * A47 (1991) 655; imgCIF and mmCIF write them alike). */
#ifndef DB_IO_CIF_H
#define DB_IO_CIF_H

#include "base/text_reader.h"

/* The rows of one category, such as array_intensities; words point into the text. Quotes are taken
 * off; a text field is what stands between its semicolons. */
typedef struct db_cif_table {
    size_t columns, rows;
    db_word *item;  /* [columns] names behind "_category."; owned */
    db_word *value; /* [rows * columns], row by row; owned */
} db_cif_table;

/* A data block: its text. */
typedef struct db_cif_block {
    const char *start, *end;
    db_word name; /* without "data_" */
} db_cif_block;

/* Goes on to the next block of a text, from one that is all zero to the first; a text without blocks is
 * one. start is NULL behind the last. */
db_status db_cif_next_block(db_context *context, const char *path, const char *start,
                            const char *end, db_cif_block *block);

/* Reads the first table of a category (several items outside a loop make one row) from the text
 * [start, end), of which the first data block counts; tags are those of mmCIF and imgCIF ("_cell.length_a")
 * or of the core dictionary ("_cell_length_a"). No such category: no rows, no columns.
 * Category and items match without regard to case. path is for messages. */
db_status db_cif_table_read(db_context *context, const char *path, const char *start,
                            const char *end, const char *category, db_cif_table *table);

/* Reads the table of a category in a block of the text that begins at start. */
db_status db_cif_block_table(db_context *context, const char *path, const char *start,
                             const db_cif_block *block, const char *category, db_cif_table *table);
void db_cif_table_clear(db_cif_table *table);

/* Index of a column; -1 if there is none. */
int db_cif_column(const db_cif_table *table, const char *item);

/* The value of a row; of length 0 without such a column, and for '.' and '?'. */
db_word db_cif_value(const db_cif_table *table, size_t row, int column);

/* The value of a row as a number; 0 if it is no number. A standard uncertainty in brackets is left out. */
int db_cif_number(const db_cif_table *table, size_t row, int column, double *number);

/* Is the word this text? Are both the same? */
int db_word_is(db_word word, const char *text);
int db_same_word(db_word a, db_word b);

#endif
