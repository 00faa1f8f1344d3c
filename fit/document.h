/* Documents of a refinement, of one image and of many shots. */
#ifndef DB_FIT_DOCUMENT_H
#define DB_FIT_DOCUMENT_H

#include <stdio.h>

/* Prints the page about all values of PREFIX.json. */
void db_show_json_fields(FILE *stream);

#endif
