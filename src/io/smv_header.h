/* The text header of an SMV image: "{", KEY=value; lines, "}". */
#ifndef DB_IO_SMV_HEADER_H
#define DB_IO_SMV_HEADER_H

#include "base/file_content.h"

typedef struct db_smv_header {
    db_context *context;
    const char *path;  /* for messages */
    const char *start; /* text between the braces */
    const char *end;
    size_t bytes; /* HEADER_BYTES: where the pixels start */
} db_smv_header;

/* Finds the header; the braces must lie within HEADER_BYTES, and those within the file. */
db_status db_smv_header_open(db_context *context, const char *path, const db_file_content *content,
                             db_smv_header *header);

/* Copies the value of a key without white space around and without the semicolon. Keys match
 * exactly; the last of repeated ones counts. 0 if there is none or nothing behind it. Values longer
 * than size - 1 are cut. */
int db_smv_header_text(const db_smv_header *header, const char *key, char *value, size_t size);

/* The number (first word) a key holds; *value is untouched if there is no such key. */
db_status db_smv_header_number(const db_smv_header *header, const char *key, double *value);

/* The same for a number that must be > 0. */
db_status db_smv_header_positive(const db_smv_header *header, const char *key, double *value);

/* The same for two keys that only make sense together: *found is 1 if both are there. */
db_status db_smv_header_pair(const db_smv_header *header, const char *first_key,
                             const char *second_key, double value[2], int *found);

/* The reference's way: `count` numbers behind the first '=' after the last place where the key's
 * name occurs, in whatever key or value; untouched if it occurs nowhere. */
db_status db_smv_header_last_numbers(const db_smv_header *header, const char *key, double *value,
                                     int count);

#endif
