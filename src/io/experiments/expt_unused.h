/* What an experiment list says and nobody uses. */
#ifndef DB_IO_EXPT_UNUSED_H
#define DB_IO_EXPT_UNUSED_H

#include "base/json_reader.h"

/* Tells, as a notice, what of a beam is not used, and that an image is not among those that are valid.
 * number: of the image in its scan; 0: there is no scan. */
void db_expt_tell_unused(const db_json *beam, const db_json *scan, const char *identifier,
                         long number);

#endif
