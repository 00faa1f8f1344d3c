/* Notices of what an experiment list says that is not used. */
#ifndef DB_IO_EXPT_UNUSED_H
#define DB_IO_EXPT_UNUSED_H

#include "base/json_reader.h"

/* Gives notices of keys of the beam that are not used, and of an image outside the scan's valid ranges. number: of
 * the image in its scan; 0: there is no scan. */
void db_expt_tell_unused(const db_json *beam, const db_json *scan, const char *identifier,
                         long number);

#endif
