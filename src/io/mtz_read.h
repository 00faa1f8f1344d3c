/* MTZ reflection files: a table of 32-bit floats, and behind it a header of 80-character records
 * (CCP4's library manual, "MTZ format").
 *
 * Read here and not by libccp4, because files come from anywhere: that library prints, ends the
 * program at what it calls fatal, and trusts what the header says of sizes. */
#ifndef DB_IO_MTZ_READ_H
#define DB_IO_MTZ_READ_H

#include "io/reflection_list.h"

int db_is_mtz(const db_file_content *content);

/* Amplitudes of an MTZ file, expanded by its operators. columns: labels, one or two (of Friedel
 * mates) with a comma between; NULL: chosen. chosen: names what was taken. */
db_status db_mtz_read(db_context *context, const char *path, const db_file_content *content,
                      const char *columns, char *chosen, size_t chosen_size,
                      db_reflection_list *list);

#endif
