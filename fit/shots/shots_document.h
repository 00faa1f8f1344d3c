/* What is written of many shots: the fields of PREFIX.json. */
#ifndef DB_FIT_SHOTS_SHOTS_DOCUMENT_H
#define DB_FIT_SHOTS_SHOTS_DOCUMENT_H

#include "fit/report/result_fields.h"
#include "fit/shots/shared_view.h"

extern const db_json_table db_shots_fields;

/* The whole result. view: of the same; it and the result stay until the document ends. */
db_document db_shots_document(const db_shared_view *view, const db_fit_shots_result *result);

/* The page that says what every value of PREFIX.json is, of one image and of many shots. */
void db_show_json_fields(FILE *stream);

#endif
