/* What is written of a refinement as JSON, of one image and of many shots. */
#ifndef DB_FIT_DOCUMENT_H
#define DB_FIT_DOCUMENT_H

#include <stdio.h>

/* Prints the page that says what every value of PREFIX.json is. */
void db_show_json_fields(FILE *stream);

#endif
