/* Arrays of numbers that DIALS has pickled: masks, gains, pedestals. */
#ifndef DB_IO_FLEX_PICKLE_H
#define DB_IO_FLEX_PICKLE_H

#include "base/file_content.h"

int db_is_pickle(const db_file_content *content);

/* Reads one array per panel, of known shapes (fast, slow), one after another. DB_ERROR_UNSUPPORTED unless the
 * arrays are of booleans or numbers. */
db_status db_flex_pickle_read(db_context *context, const char *path, const db_file_content *content,
                              size_t panel_count, const int (*shape)[2], float *value);

#endif
